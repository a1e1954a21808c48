/* How the arguments of NumPy's functions are read: by position or name, as constants, dtypes, axes.
 *
 * An argument that has no symbolic form is a graph break that names function and argument.
 * Not in here: operands (nodes.c).
 */
#include "adapters/numpy/internal.h"
#include "variables/kinds.h"

static DtStatus
bind_one(DtTrace *trace, DtVar *value, DtVar **slot)
{
    return dt_np_realize(trace, value, slot);
}

static DtStatus
bind_keyword(DtTrace *trace, const char *function, const DtArgs *args, uint32_t index,
             const char *const *names, uint32_t count, DtVar **slots)
{
    for (uint32_t i = 0; i < count; i++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[index], names[i]) != 0) {
            continue;
        }
        if (slots[i] != NULL) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s got %s twice", function, names[i]);
        }
        return bind_one(trace, args->kw[index], &slots[i]);
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with the argument %s", function,
                    dt_kinds_text(args->kwnames[index]));
}

DtStatus
dt_np_bind(DtTrace *trace, const char *function, DtVar *self, const DtArgs *args,
           const char *const *names, uint32_t count, uint32_t npos, uint32_t required,
           DtVar **slots)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = NULL;
    }
    if (self != NULL) {
        slots[given++] = self;
    }
    if (args->npos + given > npos) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s with %u positional arguments", function,
                        args->npos);
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(bind_one(trace, args->pos[i], &slots[given++]));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        DT_TRY(bind_keyword(trace, function, args, i, names, count, slots));
    }
    for (uint32_t i = 0; i < required; i++) {
        if (slots[i] == NULL) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s without its argument %s", function,
                            names[i]);
        }
    }
    return DT_OK;
}

bool
dt_np_is_none(DtVar *var)
{
    return var == NULL
           || (var->type->kind == DT_KIND_CONSTANT && ((DtConstVar *)var)->value == Py_None);
}

bool
dt_np_is_default(DtVar *var)
{
    if (dt_np_is_none(var)) {
        return true;
    }
    PyObject *no_value = dt_np_module_attr("_NoValue");
    if (no_value == NULL) {
        PyErr_Clear(); /* without the sentinel no argument can be it */
        return false;
    }
    return dt_payload_object(var) == no_value;
}

DtStatus
dt_np_need_default(DtTrace *trace, const char *function, const char *name, DtVar *var)
{
    if (!dt_np_is_default(var)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with %s=", function, name);
    }
    return DT_OK;
}

/* A constant of the trace or an object known by identity, or NULL. */
static PyObject *
known_object(DtTrace *trace, DtVar *var)
{
    PyObject *object = dt_payload_object(var);
    return object != NULL ? object : dt_var_as_constant(trace, var);
}

bool
dt_np_is_dtype_spec(PyObject *object)
{
    return PyArray_DescrCheck(object) || dt_np_names_dtype(object)
           || object == (PyObject *)&PyFloat_Type || object == (PyObject *)&PyLong_Type
           || object == (PyObject *)&PyBool_Type || object == (PyObject *)&PyComplex_Type
           || object == (PyObject *)&PyUnicode_Type || object == (PyObject *)&PyBytes_Type
           || (PyType_Check(object) && dt_np_scalar_type_num((PyTypeObject *)object) >= 0);
}

/* What is brought to texts of no length gets one from its own dtype, as long as any item of it may
 * be.  DT_OWNED, NULL with an exception. */
static PyArray_Descr *
text_dtype(PyArray_Descr *text, PyObject *from)
{
    npy_intp one = 1;
    Py_INCREF(from);
    PyObject *item = PyArray_Zeros(1, &one, dt_np_descr(from), 0);
    PyObject *cast = item != NULL ? PyObject_CallMethod(item, "astype", "O", text) : NULL;
    PyArray_Descr *found = cast != NULL ? PyArray_DESCR((PyArrayObject *)cast) : NULL;
    Py_XINCREF(found);
    Py_XDECREF(item);
    Py_XDECREF(cast);
    return found;
}

/* `from`: what is brought to the dtype, or NULL. */
static DtStatus
read_dtype(DtTrace *trace, const char *function, DtVar *var, bool only_numbers, PyObject *from,
           PyObject **out)
{
    PyArray_Descr *descr;
    *out = NULL;
    if (dt_np_is_default(var)) {
        return DT_OK;
    }
    PyObject *object = known_object(trace, var);
    if (object == NULL || !dt_np_is_dtype_spec(object)) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: dtype= is not a constant", function);
    }
    if (!PyArray_DescrConverter(object, &descr)) {
        return dt_break_on_exception(trace);
    }
    bool text = descr->type_num == NPY_UNICODE || descr->type_num == NPY_STRING;
    if (text && from != NULL && PyDataType_ELSIZE(descr) == 0) {
        Py_SETREF(descr, text_dtype(descr, from));
        if (descr == NULL) {
            return dt_break_on_exception(trace);
        }
    }
    *out = dt_trace_keep_take(trace, (PyObject *)descr);
    if (*out == NULL) {
        return DT_ERROR;
    }
    bool called = !only_numbers && dt_np_dtype_called(descr);
    return called || dt_np_dtype_captured(descr)
               ? DT_OK
               : dt_break(trace, DT_BREAK_ARRAY_KIND, "%s with such a dtype", function);
}

DtStatus
dt_np_dtype_arg(DtTrace *trace, const char *function, DtVar *var, PyObject **out)
{
    return read_dtype(trace, function, var, true, NULL, out);
}

DtStatus
dt_np_any_dtype_arg(DtTrace *trace, const char *function, DtVar *var, PyObject **out)
{
    return read_dtype(trace, function, var, false, NULL, out);
}

DtStatus
dt_np_cast_dtype_arg(DtTrace *trace, const char *function, DtVar *var, PyObject *from,
                     PyObject **out)
{
    return read_dtype(trace, function, var, false, from, out);
}

DtStatus
dt_np_bool_arg(DtTrace *trace, const char *function, DtVar *var, bool absent, bool *out)
{
    *out = absent;
    if (dt_np_is_default(var)) {
        return DT_OK;
    }
    PyObject *value = dt_var_as_constant(trace, var);
    if (value == NULL || !(PyBool_Check(value) || PyLong_CheckExact(value))) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: a flag is not a constant", function);
    }
    *out = PyObject_IsTrue(value) > 0;
    return DT_OK;
}

static bool
int_value(PyObject *object, int64_t *out)
{
    int overflow;
    if (object == NULL || !PyLong_CheckExact(object)) {
        return false;
    }
    *out = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

DtStatus
dt_np_int_arg(DtTrace *trace, const char *function, DtVar *var, int64_t *out)
{
    if (!int_value(dt_var_as_constant(trace, var), out)) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: an argument is no int", function);
    }
    return DT_OK;
}

static DtStatus
normalise_axis(DtTrace *trace, const char *function, int64_t axis, uint32_t ndim, uint32_t *out)
{
    if (axis < -(int64_t)ndim || axis >= (int64_t)ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "%s: axis %lld of %u dimensions", function,
                        (long long)axis, ndim);
    }
    *out = (uint32_t)(axis < 0 ? axis + ndim : axis);
    return DT_OK;
}

DtStatus
dt_np_axis(DtTrace *trace, const char *function, DtVar *var, uint32_t ndim, uint32_t *out)
{
    int64_t axis;
    DT_TRY(dt_np_int_arg(trace, function, var, &axis));
    return normalise_axis(trace, function, axis, ndim, out);
}

DtStatus
dt_np_axes(DtTrace *trace, const char *function, DtVar *var, uint32_t ndim, uint32_t *mask,
           bool *all)
{
    int64_t axis;
    uint32_t normal;
    *all = dt_np_is_none(var);
    *mask = *all ? (ndim == 32 ? UINT32_MAX : (1u << ndim) - 1) : 0;
    if (*all) {
        return DT_OK;
    }
    PyObject *value = dt_var_as_constant(trace, var);
    if (int_value(value, &axis)) {
        /* A 0-d array accepts the axes 0 and -1. */
        if (ndim == 0 && (axis == 0 || axis == -1)) {
            return DT_OK;
        }
        DT_TRY(normalise_axis(trace, function, axis, ndim, &normal));
        *mask = 1u << normal;
        return DT_OK;
    }
    if (value == NULL || !PyTuple_CheckExact(value)) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: axis is not a constant", function);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (!int_value(PyTuple_GET_ITEM(value, i), &axis)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s: an axis is no int", function);
        }
        DT_TRY(normalise_axis(trace, function, axis, ndim, &normal));
        if (*mask & (1u << normal)) {
            return dt_break(trace, DT_BREAK_RAISES, "%s: an axis twice", function);
        }
        *mask |= 1u << normal;
    }
    return DT_OK;
}

DtStatus
dt_np_items(DtTrace *trace, DtVar *var, DtVar ***items, uint32_t *count, bool *is_sequence)
{
    *is_sequence = true;
    if (var->type->kind == DT_KIND_GROWING_LIST) {
        DT_TRY(dt_growing_list_read(trace, var));
    }
    if (var->type->kind == DT_KIND_TUPLE || var->type->kind == DT_KIND_LIST) {
        *items = ((DtSeqVar *)var)->items;
        *count = ((DtSeqVar *)var)->count;
        return DT_OK;
    }
    PyObject *value = var->type->kind == DT_KIND_CONSTANT ? ((DtConstVar *)var)->value : NULL;
    if (value == NULL || !PyTuple_CheckExact(value)) {
        *is_sequence = false;
        return DT_OK;
    }
    *count = (uint32_t)PyTuple_GET_SIZE(value);
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, *count + 1);
    if (*items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < *count; i++) {
        DT_TRY(dt_var_const(trace, PyTuple_GET_ITEM(value, i), &(*items)[i]));
    }
    return DT_OK;
}

DtStatus
dt_np_need_text(DtTrace *trace, const char *function, const char *name, DtVar *var,
                const char *value)
{
    PyObject *given = var != NULL ? dt_var_as_constant(trace, var) : NULL;
    if (var == NULL
        || (given != NULL && PyUnicode_Check(given)
            && PyUnicode_CompareWithASCIIString(given, value) == 0)) {
        return DT_OK;
    }
    return PyErr_Occurred() ? DT_ERROR
                            : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with %s=", function, name);
}

DtStatus
dt_np_order_arg(DtTrace *trace, const char *function, DtVar *var, const DtMeta *meta, bool *fortran)
{
    PyObject *order = NULL;
    *fortran = false;
    if (var == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, var, &var));
    order = dt_var_as_constant(trace, var);
    bool text = order != NULL && PyUnicode_Check(order);
    bool as_it_lies = text && meta != NULL
                      && (PyUnicode_CompareWithASCIIString(order, "K") == 0
                          || PyUnicode_CompareWithASCIIString(order, "A") == 0);
    if (as_it_lies && (meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))) {
        *fortran = !(meta->layout & DT_LAYOUT_C);
        return DT_OK;
    }
    *fortran = text && PyUnicode_CompareWithASCIIString(order, "F") == 0;
    if (*fortran || (text && PyUnicode_CompareWithASCIIString(order, "C") == 0)) {
        return DT_OK;
    }
    return PyErr_Occurred() ? DT_ERROR
                            : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with order=", function);
}
