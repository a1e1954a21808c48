/* The callables of NumPy: found by name at first use, by identity afterwards.
 *
 * Rows are in ops.def.  Everything of NumPy that has no row is a graph break that names it.
 * Not in here: what the functions do, how their arguments are read (args.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

#include "compat/type.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

typedef enum RowKind { ROW_UFUNC, ROW_FUNC, ROW_CALLEE } RowKind;

static const struct Row {
    RowKind kind;
    const char *name;
    const char *module;
    const char *path;
    const char *target;
    const char *reduce_target;
    DtNpFunction function;
} rows[DT_NP_OP_COUNT] = {
#define NP_UFUNC(NAME)                                                                             \
    [DT_NP_##NAME] = {ROW_UFUNC, #NAME, "numpy", #NAME, "numpy." #NAME, "numpy." #NAME ".reduce",  \
                      NULL},
#define NP_FUNC(NAME, HANDLER)                                                                     \
    [DT_NP_##NAME] = {ROW_FUNC, #NAME, "numpy", #NAME, "numpy." #NAME, NULL, HANDLER},
#define NP_FUNC_AT(ID, PATH, HANDLER)                                                              \
    [DT_NP_##ID] = {ROW_FUNC, #ID, "numpy", PATH, "numpy." PATH, NULL, HANDLER},
#define NP_CALLEE(ID, MODULE, PATH, TARGET)                                                        \
    [DT_NP_##ID] = {ROW_CALLEE, #ID, MODULE, PATH, TARGET, NULL, NULL},
#include "adapters/numpy/ops.def"
};

static const struct MethodRow {
    const char *name;
    DtNpMethod call;
} method_rows[] = {
#define NP_METHOD(NAME, HANDLER) {#NAME, HANDLER},
#include "adapters/numpy/ops.def"
};

static const struct AttrRow {
    const char *name;
    DtNpAttr get;
} attr_rows[] = {
#define NP_ATTR(NAME, HANDLER) {#NAME, HANDLER},
#include "adapters/numpy/ops.def"
};

/* ---- Objects --------------------------------------------------------------------------------- */

static PyObject *callees[DT_NP_OP_COUNT]; /* owned by the process */
static PyObject *reduces[DT_NP_OP_COUNT];
static bool missing[DT_NP_OP_COUNT];
static PyObject *module_attrs; /* dict of what dt_np_module_attr() has found */

const char *
dt_np_target(DtNpOp op)
{
    return dt_np_is_foreign(op) ? dt_np_foreign_target(op) : rows[op].target;
}

const char *
dt_np_name(DtNpOp op)
{
    return rows[op].name;
}

bool
dt_np_is_ufunc(DtNpOp op)
{
    return dt_np_is_foreign(op) || rows[op].kind == ROW_UFUNC;
}

static PyObject *
look_up(const char *module, const char *path)
{
    PyObject *object = PyImport_ImportModule(module);
    while (object != NULL && path != NULL) {
        const char *dot = strchr(path, '.');
        PyObject *name =
            PyUnicode_FromStringAndSize(path, dot != NULL ? dot - path : (Py_ssize_t)strlen(path));
        PyObject *next = name != NULL ? PyObject_GetAttr(object, name) : NULL;
        Py_XDECREF(name);
        Py_SETREF(object, next);
        path = dot != NULL ? dot + 1 : NULL;
    }
    return object;
}

PyObject *
dt_np_callee(DtNpOp op)
{
    if (dt_np_is_foreign(op)) {
        return dt_np_foreign_callee(op);
    }
    if (callees[op] == NULL && !missing[op]) {
        callees[op] = look_up(rows[op].module, rows[op].path);
        if (callees[op] == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear(); /* a name that this version of NumPy does not have */
            missing[op] = true;
        }
    }
    return callees[op];
}

const char *
dt_np_reduce_target(DtNpOp op)
{
    return rows[op].reduce_target;
}

PyObject *
dt_np_reduce_callee(DtNpOp op)
{
    if (reduces[op] == NULL) {
        PyObject *ufunc = dt_np_callee(op);
        reduces[op] = ufunc != NULL ? PyObject_GetAttrString(ufunc, "reduce") : NULL;
    }
    return reduces[op];
}

PyObject *
dt_np_module_attr(const char *name)
{
    if (module_attrs == NULL) {
        module_attrs = PyDict_New();
        if (module_attrs == NULL) {
            return NULL;
        }
    }
    PyObject *found = PyDict_GetItemString(module_attrs, name);
    if (found != NULL) {
        return found;
    }
    found = look_up("numpy", name);
    if (found == NULL) {
        return NULL;
    }
    int failed = PyDict_SetItemString(module_attrs, name, found);
    Py_DECREF(found); /* the dict keeps it */
    return failed ? NULL : found;
}

/* An open hash from callables to the rows that were found for them. */
#define MAP_SIZE 1024
static struct {
    PyObject *object;
    int16_t op;
} object_map[MAP_SIZE];
static uint32_t map_count;

static uint32_t
map_slot(const PyObject *object)
{
    uint32_t slot = (uint32_t)(((uintptr_t)object >> 4) * 2654435761u) % MAP_SIZE;
    while (object_map[slot].object != NULL && object_map[slot].object != object) {
        slot = (slot + 1) % MAP_SIZE;
    }
    return slot;
}

_Static_assert(DT_NP_OP_COUNT < MAP_SIZE / 2, "the map of callables is too small");

static const char *callable_name(PyObject *object);

/* The row of a callable, or the number of a foreign ufunc, or -1 (-2 with an error set).  Rows are
 * told by the name that the callable has itself, then by identity, so that the first trace need not
 * look all of them up. */
static int
find_row(PyObject *object)
{
    uint32_t slot = map_slot(object);
    if (object_map[slot].object != NULL) {
        return object_map[slot].op;
    }
    const char *name = callable_name(object);
    if (name == NULL) {
        return -2;
    }
    int found = -1;
    for (int op = 0; op < DT_NP_OP_COUNT && found < 0; op++) {
        const char *last = strrchr(rows[op].path, '.');
        if (rows[op].kind == ROW_CALLEE
            || strcmp(last != NULL ? last + 1 : rows[op].path, name) != 0) {
            continue;
        }
        PyObject *callee = dt_np_callee((DtNpOp)op);
        if (callee == NULL && PyErr_Occurred()) {
            return -2;
        }
        found = callee == object ? op : -1;
    }
    if (found >= 0 && map_count < MAP_SIZE / 2) {
        slot = map_slot(object);          /* looking a callee up may have run code */
        object_map[slot].object = object; /* kept by its row */
        object_map[slot].op = (int16_t)found;
        map_count++;
    }
    return found < 0 && Py_IS_TYPE(object, &PyUFunc_Type) ? dt_np_foreign_op(object) : found;
}

bool
dt_np_has_row(PyObject *callable)
{
    int row = find_row(callable);
    if (row == -2) {
        PyErr_Clear(); /* MemoryError of a name: the call will say so */
    }
    return row != -1;
}

/* The ufunc of a bound ufunc method such as np.add.reduce, or NULL. */
static PyObject *
method_ufunc(PyObject *object)
{
    if (!PyCFunction_Check(object)) {
        return NULL;
    }
    PyObject *self = PyCFunction_GET_SELF(object);
    return self != NULL && Py_IS_TYPE(self, &PyUFunc_Type) ? self : NULL;
}

/* Does the callable say that it comes from numpy?  Reads the own dicts of functions and types only.
 */
static bool
is_from_numpy(PyObject *object)
{
    PyObject *module = NULL;
    if (PyFunction_Check(object)) {
        module = ((PyFunctionObject *)object)->func_module;
    }
    else if (PyCFunction_Check(object)) {
        module = ((PyCFunctionObject *)object)->m_module;
    }
    if (module == NULL || !PyUnicode_Check(module)) {
        return false;
    }
    const char *name = PyUnicode_AsUTF8(module);
    if (name == NULL) {
        PyErr_Clear(); /* a module name with surrogates is not numpy's */
        return false;
    }
    return strncmp(name, "numpy", 5) == 0 && (name[5] == '\0' || name[5] == '.');
}

/* The class of numpy's functions that dispatch on __array_function__, or NULL. */
static PyTypeObject *
dispatcher_type(void)
{
    PyObject *object = dt_np_callee(DT_NP_concatenate);
    return object != NULL && !PyFunction_Check(object) ? Py_TYPE(object) : NULL;
}

bool
dt_np_owns_callable(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    if (Py_IS_TYPE(object, &PyUFunc_Type) || Py_IS_TYPE(object, dispatcher_type())) {
        return true;
    }
    if (PyType_Check(object)) {
        return object == (PyObject *)&PyArrayDescr_Type
               || dt_np_scalar_type_num((PyTypeObject *)object) >= 0
               || dt_np_is_called_type(object);
    }
    return method_ufunc(object) != NULL || is_from_numpy(object);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* A name for messages, without running code. */
static const char *
callable_name(PyObject *object)
{
    if (Py_IS_TYPE(object, &PyUFunc_Type)) {
        return ((PyUFuncObject *)object)->name;
    }
    if (PyFunction_Check(object)) {
        return PyUnicode_AsUTF8(((PyFunctionObject *)object)->func_name);
    }
    if (PyCFunction_Check(object)) {
        return ((PyCFunctionObject *)object)->m_ml->ml_name;
    }
    if (Py_IS_TYPE(object, dispatcher_type())) {
        PyObject *name =
            PyObject_GetAttrString(object, "__name__"); /* a C getter or the own dict */
        const char *text = name != NULL ? PyUnicode_AsUTF8(name) : NULL;
        Py_XDECREF(name); /* the function keeps its name */
        if (text != NULL) {
            return text;
        }
        PyErr_Clear(); /* only the text of a message is lost */
    }
    return Py_TYPE(object)->tp_name;
}

/* What stands for the dtype of objects, which arrays of the graph don't have. */
static bool
names_objects(PyObject *spec)
{
    static const char *const names[] = {"O", "object", NULL};
    return spec == (PyObject *)&PyBaseObject_Type
           || (spec != NULL && PyUnicode_CheckExact(spec) && dt_kinds_is_among(spec, names));
}

/* np.dtype(...) of something constant. */
static DtStatus
call_dtype(DtTrace *trace, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"dtype"};
    DtVar *slot;
    PyObject *dtype;
    DT_TRY(dt_np_bind(trace, "numpy.dtype", NULL, args, names, 1, 1, 1, &slot));
    if (dt_np_is_default(slot)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "numpy.dtype(None)");
    }
    if (names_objects(dt_var_as_constant(trace, slot))) {
        dtype = dt_trace_keep_take(trace, (PyObject *)PyArray_DescrFromType(NPY_OBJECT));
        return dtype != NULL ? dt_build_known(trace, dtype, out) : DT_ERROR;
    }
    DT_TRY(dt_np_dtype_arg(trace, "numpy.dtype", slot, &dtype));
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, dtype, 0);
    return source != NULL ? dt_var_build(trace, dtype, source, out) : DT_ERROR;
}

/* Functions and methods whose out= gets what they would return. */
static bool
takes_out(const char *name)
{
    static const char *const names[] = {
        "matmul",      "dot",     "sum",    "prod",   "max",       "min",        "any",
        "all",         "mean",    "var",    "std",    "ptp",       "amax",       "amin",
        "clip",        "round",   "around", "cumsum", "cumprod",   "argmax",     "argmin",
        "concatenate", "stack",   "take",   "trace",  "choose",    "outer",      "einsum",
        "nansum",      "nanprod", "nanmax", "nanmin", "nancumsum", "nancumprod",
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Takes the keyword argument out= off; NULL: there is none (or memory is out, and the handler will
 * refuse the argument). */
static DtVar *
take_out(DtTrace *trace, DtArgs *args)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i], "out") != 0) {
            continue;
        }
        DtVar **kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->nkw);
        PyObject **names = DT_ARENA_ARRAY(&trace->arena, PyObject *, args->nkw);
        if (kw == NULL || names == NULL) {
            return NULL;
        }
        DtVar *target = args->kw[i];
        for (uint32_t j = 0, k = 0; j < args->nkw; j++) {
            if (j != i) {
                kw[k] = args->kw[j];
                names[k++] = args->kwnames[j];
            }
        }
        args->kw = kw;
        args->kwnames = names;
        args->nkw--;
        return target;
    }
    return NULL;
}

/* Methods of NumPy scalars write into `target`, if there is one, but give a scalar. */
static DtStatus
need_array(DtTrace *trace, DtVar *target, DtVar *of)
{
    if (target == NULL || of == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, of, &of));
    const DtArrayVar *array = dt_np_any_array(dt_var_peek(of));
    return array == NULL || dt_np_is_ndarray(array)
               ? DT_OK
               : dt_break(trace, DT_BREAK_ARRAY_OP, "out= for a NumPy scalar");
}

/* Instances of classes derived from ndarray among the arguments. */
static DtStatus
call_with_parts(DtTrace *trace, int row, PyObject *callable, const DtArgs *args, DtVar **out)
{
    bool found = false;
    if (row >= 0 && dt_np_is_ufunc((DtNpOp)row)) {
        return dt_np_call_ufunc_of_parts(trace, (DtNpOp)row, args, out);
    }
    if (row >= 0 && rows[row].kind == ROW_FUNC && dt_np_takes_parts((DtNpOp)row)) {
        return rows[row].function(trace, (DtNpOp)row, args, out);
    }
    if (Py_IS_TYPE(callable, dispatcher_type())) {
        DT_TRY(dt_np_call_implementation(trace, callable, args, &found, out));
    }
    return found ? DT_OK
                 : dt_break(trace, DT_BREAK_ARRAY_KIND,
                            "numpy: %s of an array of a class derived from ndarray",
                            callable_name(callable));
}

/* A function with a rule, or a dry run where the rule does not know an argument. */
static DtStatus
call_function(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    bool called;
    DT_TRY(dt_np_holds_called(trace, args, &called));
    if (called) {
        return dt_np_call_any_dtype(trace, op, rows[op].function, args, out);
    }
    DtArgs rest = *args;
    DtVar *target = takes_out(rows[op].name) ? take_out(trace, &rest) : NULL;
    bool dry = dt_np_dry_form(rows[op].name, args) >= 0;
    DT_TRY(need_array(trace, target, rest.npos > 0 ? rest.pos[0] : NULL));
    DT_TRY((dry ? dt_np_fn_dry : rows[op].function)(trace, op, &rest, out));
    return target != NULL ? dt_np_put_into(trace, target, dt_np_target(op), out) : DT_OK;
}

/* ufunc.reduce() and its like. */
static DtStatus
call_method_of_ufunc(DtTrace *trace, DtNpOp op, PyObject *callable, const DtArgs *args, DtVar **out)
{
    const char *method = ((PyCFunctionObject *)callable)->m_ml->ml_name;
    DtArgs rest = *args;
    DtVar *target = take_out(trace, &rest);
    DT_TRY(strcmp(method, "reduce") == 0 ? dt_np_call_reduce(trace, op, callable, &rest, out)
           : strcmp(method, "at") == 0
               ? dt_np_call_at(trace, op, callable, args, out)
               : dt_np_call_ufunc_method(trace, op, method, callable, &rest, out));
    return target != NULL ? dt_np_put_into(trace, target, dt_np_target(op), out) : DT_OK;
}

/* A polyfill, or the function of Python that is behind a dispatcher; *found false: there is none.
 */
static DtStatus
call_without_row(DtTrace *trace, PyObject *callable, const DtArgs *args, bool *found, DtVar **out)
{
    PyObject *substitute = NULL;
    DT_TRY(dt_substitute_find_object(trace, callable, "numpy", &substitute));
    *found = substitute != NULL && dt_substitute_fits(substitute, args);
    if (*found) {
        DtVar *function;
        DT_TRY(dt_build_known(trace, substitute, &function));
        return dt_var_call(trace, function, args, out);
    }
    return substitute == NULL && Py_IS_TYPE(callable, dispatcher_type())
               ? dt_np_call_implementation(trace, callable, args, found, out)
               : DT_OK;
}

DtStatus
dt_np_call(const DtAdapter *adapter, DtTrace *trace, PyObject *callable, const DtArgs *args,
           DtVar **out)
{
    (void)adapter;
    if (callable == (PyObject *)&PyArrayDescr_Type) {
        return call_dtype(trace, args, out);
    }
    if (dt_np_is_called_type(callable)) {
        return dt_np_make_date(trace, (PyTypeObject *)callable, args, out);
    }
    if (PyType_Check(callable)) {
        return dt_np_call_scalar_type(trace, (PyTypeObject *)callable, args, out);
    }
    bool found = false;
    if (Py_IS_TYPE(callable, dispatcher_type())) {
        DT_TRY(dt_np_try_array_function(trace, callable, args, &found, out));
    }
    if (found) {
        return DT_OK;
    }
    PyObject *ufunc = method_ufunc(callable);
    int row = find_row(ufunc != NULL ? ufunc : callable);
    if (row == -2) {
        return DT_ERROR;
    }
    bool parts;
    DT_TRY(dt_np_holds_part(trace, args, &parts));
    if (parts) {
        return call_with_parts(trace, ufunc == NULL ? row : -1, callable, args, out);
    }
    if (row >= 0 && ufunc == NULL) {
        return dt_np_is_ufunc((DtNpOp)row) ? dt_np_call_ufunc(trace, (DtNpOp)row, args, out)
                                           : call_function(trace, (DtNpOp)row, args, out);
    }
    if (row >= 0 && row < DT_NP_OP_COUNT && rows[row].kind == ROW_UFUNC) {
        return call_method_of_ufunc(trace, (DtNpOp)row, callable, args, out);
    }
    if (ufunc == NULL) {
        DT_TRY(call_without_row(trace, callable, args, &found, out));
        if (found) {
            return DT_OK;
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "numpy: %s%s%s is not captured",
                    ufunc != NULL ? ((PyUFuncObject *)ufunc)->name : "", ufunc != NULL ? "." : "",
                    callable_name(callable));
}

DtStatus
dt_np_call_followed(DtTrace *trace, DtArrayVar *self, PyObject *name, const DtArgs *args,
                    DtBreakId id, const char *what, DtVar **out)
{
    PyObject *descriptor = dt_type_lookup(self->meta->type, name), *substitute = NULL;
    DtArgs with_self;
    DT_TRY(dt_args_prepend(trace, args, &self->base, &with_self));
    if (descriptor != NULL && dt_np_is_ndarray(self)) {
        DT_TRY(dt_substitute_find_object(trace, descriptor, "numpy", &substitute));
    }
    if (substitute == NULL || !dt_substitute_fits(substitute, &with_self)) {
        return dt_break(trace, id, "the %s %s of an array is not captured", what,
                        dt_kinds_text(name));
    }
    DtVar *function;
    DT_TRY(dt_build_known(trace, substitute, &function));
    return dt_var_call(trace, function, &with_self, out);
}

DtStatus
dt_np_call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
                  const DtArgs *args, DtVar **out)
{
    const char *text = dt_kinds_text(name);
    const struct MethodRow *row = method_rows, *end = row + Py_ARRAY_LENGTH(method_rows);
    int form = dt_np_dry_form(text, args);
    DtArgs rest = *args;
    DtVar *target = takes_out(text) ? take_out(trace, &rest) : NULL;
    (void)adapter;
    while (row < end && PyUnicode_CompareWithASCIIString(name, row->name) != 0) {
        row++;
    }
    if (row == end) {
        return dt_np_call_followed(trace, self, name, args, DT_BREAK_ARRAY_OP, "method", out);
    }
    DT_TRY(need_array(trace, target, &self->base));
    DT_TRY(form >= 0 ? dt_np_call_dry(trace, (DtNpOp)form, &self->base, &rest, out)
                     : row->call(trace, self, &rest, out));
    return target != NULL ? dt_np_put_into(trace, target, row->name, out) : DT_OK;
}

DtStatus
dt_np_getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
              DtVar **out)
{
    (void)adapter;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(attr_rows); i++) {
        if (PyUnicode_CompareWithASCIIString(name, attr_rows[i].name) == 0) {
            return attr_rows[i].get(trace, self, out);
        }
    }
    PyObject *found = dt_type_lookup(self->meta->type, name);
    if (found != NULL && Py_IS_TYPE(found, &PyMethodDescr_Type)) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    if (found == NULL) {
        return dt_kinds_raise(trace, "AttributeError", "'%s' object has no attribute '%s'",
                              self->meta->type->tp_name, dt_kinds_text(name));
    }
    if (dt_slot_method_find(self->meta->type, name) == found) {
        DtVar *function;
        DT_TRY(dt_build_known(trace, found, &function));
        return dt_method_new(trace, function, &self->base, out);
    }
    DtArgs none = {0};
    return dt_np_call_followed(trace, self, name, &none, DT_BREAK_ARRAY_OP, "attribute", out);
}

/* The polyfill of an attribute is asked with the new value, too, if it takes one. */
DtStatus
dt_np_setattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
              DtVar *value)
{
    DtVar *ignored;
    DtArgs args = dt_args_of(&value, 1);
    (void)adapter;
    return dt_np_call_followed(trace, self, name, &args, DT_BREAK_ARRAY_MUTATION, "assignment to",
                               &ignored);
}

DtStatus
dt_np_contains(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *item, DtVar **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__contains__"));
    DtArgs args = dt_args_of(&item, 1);
    (void)adapter;
    return name != NULL
               ? dt_np_call_followed(trace, self, name, &args, DT_BREAK_ARRAY_BRANCH, "method", out)
               : DT_ERROR;
}
