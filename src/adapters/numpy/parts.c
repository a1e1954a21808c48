/* Instances of classes of Python that derive from ndarray: traced like instances of any class, with
 * the plain array of their memory inside (DtInstanceVar.contents).
 *
 *   x * 2, np.exp(x), x.sum()   the same of the plain array ─► a view of the class, which is told
 *   x[1:], x.T, x.reshape(...)  by __array_finalize__(x), as NumPy tells it; all of it is followed
 *   x.shape, len(x), x[0, 0]    the same of the plain array
 *
 * Which calls tell whom, and how often, was measured: tests/adapters/test_numpy_parts.py compares.
 * A class with __array_ufunc__ is asked through that.  What is not in the table below is a break:
 * copies (which own their memory), functions of C, __array_wrap__ of the program.
 */
#include "adapters/numpy/parts.h"

#include "compat/import.h"
#include "compat/type_names.h"

typedef enum PartSort {
    PART_PLAIN,    /* what the plain array gives */
    PART_VIEW,     /* a view of it, told once */
    PART_TAKEN,    /* the same, but what was selected by index arrays is a view of its own, too */
    PART_UFUNC,    /* the result of ufuncs */
    PART_REDUCED,  /* of reductions and accumulations */
    PART_IN_PLACE, /* ufuncs into the memory */
} PartSort;

static const struct PartRow {
    const char *name;
    PartSort sort;
} part_rows[] = {
#define BOTH(NAME)                                                                                 \
    {"__" NAME "__", PART_UFUNC}, {"__r" NAME "__", PART_UFUNC},                                   \
    {                                                                                              \
        "__i" NAME "__", PART_IN_PLACE                                                             \
    }
    BOTH("add"),
    BOTH("sub"),
    BOTH("mul"),
    BOTH("truediv"),
    BOTH("floordiv"),
    BOTH("mod"),
    BOTH("and"),
    BOTH("or"),
    BOTH("xor"),
    BOTH("lshift"),
    BOTH("rshift"),
    BOTH("pow"),
#undef BOTH
    {"__matmul__", PART_UFUNC},
    {"__rmatmul__", PART_UFUNC},
    {"__lt__", PART_UFUNC},
    {"__le__", PART_UFUNC},
    {"__eq__", PART_UFUNC},
    {"__ne__", PART_UFUNC},
    {"__gt__", PART_UFUNC},
    {"__ge__", PART_UFUNC},
    {"__neg__", PART_UFUNC},
    {"__pos__", PART_UFUNC},
    {"__invert__", PART_UFUNC},
    {"__abs__", PART_UFUNC},
    {"sum", PART_REDUCED},
    {"prod", PART_REDUCED},
    {"max", PART_REDUCED},
    {"min", PART_REDUCED},
    {"mean", PART_REDUCED},
    {"any", PART_REDUCED},
    {"all", PART_REDUCED},
    {"cumsum", PART_REDUCED},
    {"cumprod", PART_REDUCED},
    {"__getitem__", PART_TAKEN},
    {"reshape", PART_VIEW},
    {"ravel", PART_VIEW},
    {"transpose", PART_VIEW},
    {"swapaxes", PART_VIEW},
    {"diagonal", PART_VIEW},
    {"__len__", PART_PLAIN},
    {"__setitem__", PART_PLAIN},
    {"item", PART_PLAIN},
    {"tolist", PART_PLAIN},
    {"nonzero", PART_PLAIN},
    {"fill", PART_PLAIN},
    /* attributes */
    {"T", PART_VIEW},
    {"shape", PART_PLAIN},
    {"ndim", PART_PLAIN},
    {"size", PART_PLAIN},
    {"dtype", PART_PLAIN},
    {"itemsize", PART_PLAIN},
    {"nbytes", PART_PLAIN},
    {"strides", PART_PLAIN},
};

/* ---- Methods and attributes ------------------------------------------------------------------ */

static const struct PartRow *
find_row(PyObject *name)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(part_rows); i++) {
        if (PyUnicode_CompareWithASCIIString(name, part_rows[i].name) == 0) {
            return &part_rows[i];
        }
    }
    return NULL;
}

/* What a method or attribute that makes a view has given for the plain array. */
static DtStatus
give_view(DtTrace *trace, DtInstanceVar *self, PartSort sort, DtVar *result, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, result, &result));
    DtArrayVar *array = dt_np_array_of(result);
    if (sort == PART_PLAIN || array == NULL || !dt_np_is_ndarray(array)) {
        *out = result;
        return DT_OK;
    }
    bool copied = (array->meta->layout & (DT_LAYOUT_FRESH | DT_LAYOUT_VIEW)) == DT_LAYOUT_FRESH;
    if (result == self->contents || (copied && sort == PART_VIEW)) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %s that is copied, or itself",
                        self->cls->tp_name);
    }
    return dt_parts_dress(trace, self, result, copied ? NULL : &self->base, out);
}

/* ndarray.view(self[, dtype or type]) */
static DtStatus
call_view(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    bool done = false;
    if (args->npos + args->nkw == 1) {
        DtVar *given = args->npos > 0 ? args->pos[0] : args->kw[0];
        DT_TRY(dt_np_view_as_part(trace, &self->base, (DtArrayVar *)self->contents, given, &done,
                                  out));
    }
    if (done) {
        return DT_OK;
    }
    DT_TRY(dt_np_m_view(trace, (DtArrayVar *)self->contents, args, out));
    return dt_parts_dress(trace, self, *out, &self->base, out);
}

static bool
is_named(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

static DtStatus
part_call(DtTrace *trace, DtInstanceVar *self, PyObject *descriptor, const DtArgs *args,
          DtVar **out)
{
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    const struct PartRow *row = find_row(name);
    DtArgs plain;
    DtVar *bound, *result;
    PyObject *own;
    if (is_named(name, "__array_finalize__") && args->npos == 1 && args->nkw == 0) {
        *out = dt_none(trace);
        return DT_OK;
    }
    if (is_named(name, "view")) {
        return call_view(trace, self, args, out);
    }
    if (row == NULL || dt_type_find(&PyArray_Type, name) != descriptor) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "ndarray.%s() of a %s", dt_kinds_text(name),
                        self->cls->tp_name);
    }
    DT_TRY(dt_parts_own(trace, self, "__array_ufunc__", &own));
    if (own != NULL && row->sort >= PART_UFUNC) {
        return dt_parts_ask_array_ufunc(trace, self, row->name, args, out);
    }
    if (row->sort >= PART_UFUNC) {
        DT_TRY(dt_parts_need_plain_ufuncs(trace, self));
        DT_TRY(row->name[0] == '_' ? dt_parts_need_operands(trace, self, args) : DT_OK);
    }
    DT_TRY(dt_parts_plain_args(trace, self, args, &plain));
    DT_TRY(dt_var_getattr(trace, self->contents, name, &bound));
    DT_TRY(dt_var_call(trace, bound, &plain, &result));
    DT_TRY(dt_var_realize(trace, result, &result));
    if (dt_var_peek_constant(result) == Py_NotImplemented) {
        *out = result;
        return DT_OK;
    }
    switch (row->sort) {
    case PART_UFUNC:
    case PART_REDUCED:
        return dt_parts_wrap(trace, self, result, out);
    case PART_IN_PLACE:
        *out = &self->base;
        return result == self->contents ? DT_OK
                                        : dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of a %s",
                                                   row->name, self->cls->tp_name);
    default:
        return give_view(trace, self, row->sort, result, out);
    }
}

static DtStatus
part_get(DtTrace *trace, DtInstanceVar *self, PyObject *name, DtVar **out)
{
    const struct PartRow *row = find_row(name);
    DtVar *result;
    if (row == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "attribute '%s' of a %s", dt_kinds_text(name),
                        self->cls->tp_name);
    }
    DT_TRY(dt_var_getattr(trace, self->contents, name, &result));
    return give_view(trace, self, row->sort, result, out);
}

/* ---- What instance trackers ask -------------------------------------------------------------- */

static bool
part_fits(PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return dt_np_dtype_captured(PyArray_DESCR(array)) && PyArray_NDIM(array) <= DT_NP_MAXDIMS;
}

static DtStatus
part_build(DtTrace *trace, DtInstanceVar *self)
{
    return dt_np_build_part(trace, self->object, self->base.source, &self->contents);
}

/* ndarray.__new__(cls, *args) */
static DtStatus
part_make(DtTrace *trace, DtInstanceVar *self, const DtArgs *args)
{
    (void)args;
    return dt_break(trace, DT_BREAK_ARRAY_KIND, "an instance of %s is made by its shape",
                    self->cls->tp_name);
}

/* (cls, array, owner): the same memory as an instance of `cls`, which is not told that it has been
 * made.  Whose memory it is, NumPy says by the class, so that comes after it. */
static PyObject *
dressed(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
    static PyObject *bare, *name; /* kept by the process */
    assert(count == 3);
    (void)count;
    PyArrayObject *array = (PyArrayObject *)args[1];
    if (name == NULL && (name = PyUnicode_InternFromString("__class__")) == NULL) {
        return NULL;
    }
    if (bare == NULL && (bare = dt_import_attr("dyntrace._numpy_parts", "Bare")) == NULL) {
        return NULL;
    }
    Py_INCREF(PyArray_DESCR(array));
    PyObject *made = PyArray_NewFromDescr(
        (PyTypeObject *)bare, PyArray_DESCR(array), PyArray_NDIM(array), PyArray_DIMS(array),
        PyArray_STRIDES(array), PyArray_DATA(array), PyArray_FLAGS(array), NULL);
    Py_INCREF(args[2]);
    if (made == NULL || PyObject_GenericSetAttr(made, name, args[0]) < 0) {
        Py_DECREF(args[2]);
        Py_CLEAR(made);
    }
    else if (PyArray_SetBaseObject((PyArrayObject *)made, args[2]) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *
part_rebuild(void)
{
    static PyMethodDef method = {"dressed", (PyCFunction)(void (*)(void))dressed, METH_FASTCALL,
                                 NULL};
    static PyObject *function; /* kept by the process */
    if (function == NULL) {
        function = PyCFunction_New(&method, NULL);
    }
    return function;
}

DtArrayPart dt_np_part = {
    .fits = part_fits,
    .adapter = &dt_np_adapter,
    .build = part_build,
    .make = part_make,
    .call = part_call,
    .get = part_get,
    .rebuild = part_rebuild,
};
