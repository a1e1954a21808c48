/* The callables of NumPy: found by name at first use, by identity afterwards; and how their arguments are read.
 *
 * Rows are in ops.def.  Everything of NumPy that has no row is a graph break that names it.
 * Not in here: what the functions do.
 */
#include "adapters/numpy/internal.h"

#include <string.h>

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
    [DT_NP_##NAME] = {ROW_UFUNC, #NAME, "numpy", #NAME, "numpy." #NAME, "numpy." #NAME ".reduce", NULL},
#define NP_FUNC(NAME, HANDLER)                                                                     \
    [DT_NP_##NAME] = {ROW_FUNC, #NAME, "numpy", #NAME, "numpy." #NAME, NULL, HANDLER},
#define NP_CALLEE(ID, MODULE, PATH, TARGET) [DT_NP_##ID] = {ROW_CALLEE, #ID, MODULE, PATH, TARGET, NULL, NULL},
#define NP_METHOD(NAME, HANDLER)
#define NP_ATTR(NAME, HANDLER)
#include "adapters/numpy/ops.def"
#undef NP_UFUNC
#undef NP_FUNC
#undef NP_CALLEE
#undef NP_METHOD
#undef NP_ATTR
};

static const struct MethodRow {
    const char *name;
    DtNpMethod call;
} method_rows[] = {
#define NP_UFUNC(NAME)
#define NP_FUNC(NAME, HANDLER)
#define NP_CALLEE(ID, MODULE, PATH, TARGET)
#define NP_METHOD(NAME, HANDLER) {#NAME, HANDLER},
#define NP_ATTR(NAME, HANDLER)
#include "adapters/numpy/ops.def"
#undef NP_UFUNC
#undef NP_FUNC
#undef NP_CALLEE
#undef NP_METHOD
#undef NP_ATTR
};

static const struct AttrRow {
    const char *name;
    DtNpAttr get;
} attr_rows[] = {
#define NP_UFUNC(NAME)
#define NP_FUNC(NAME, HANDLER)
#define NP_CALLEE(ID, MODULE, PATH, TARGET)
#define NP_METHOD(NAME, HANDLER)
#define NP_ATTR(NAME, HANDLER) {#NAME, HANDLER},
#include "adapters/numpy/ops.def"
#undef NP_UFUNC
#undef NP_FUNC
#undef NP_CALLEE
#undef NP_METHOD
#undef NP_ATTR
};

/* ---- Objects ------------------------------------------------------------------------------------------ */

static PyObject *callees[DT_NP_OP_COUNT]; /* owned by the process */
static PyObject *reduces[DT_NP_OP_COUNT];
static bool missing[DT_NP_OP_COUNT];
static PyObject *module_attrs; /* dict of what dt_np_module_attr() has found */

const char *
dt_np_target(DtNpOp op)
{
    return rows[op].target;
}

const char *
dt_np_name(DtNpOp op)
{
    return rows[op].name;
}

bool
dt_np_is_ufunc(DtNpOp op)
{
    return rows[op].kind == ROW_UFUNC;
}

static PyObject *
look_up(const char *module, const char *path)
{
    PyObject *object = PyImport_ImportModule(module);
    while (object != NULL && path != NULL) {
        const char *dot = strchr(path, '.');
        PyObject *name = PyUnicode_FromStringAndSize(path, dot != NULL ? dot - path : (Py_ssize_t)strlen(path));
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

/* An open hash from callables to rows; the first row of an object wins. */
#define MAP_SIZE 1024
static struct {
    PyObject *object;
    int16_t op;
} object_map[MAP_SIZE];
static bool map_filled;

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

static int
fill_map(void)
{
    for (int op = 0; op < DT_NP_OP_COUNT; op++) {
        PyObject *object = rows[op].kind != ROW_CALLEE ? dt_np_callee((DtNpOp)op) : NULL;
        if (object == NULL) {
            if (PyErr_Occurred()) {
                return -1;
            }
            continue;
        }
        uint32_t slot = map_slot(object);
        if (object_map[slot].object == NULL) {
            object_map[slot].object = object;
            object_map[slot].op = (int16_t)op;
        }
    }
    map_filled = true;
    return 0;
}

/* The row of a callable, or -1 (-2 with an error set). */
static int
find_row(PyObject *object)
{
    if (!map_filled && fill_map() < 0) {
        return -2;
    }
    uint32_t slot = map_slot(object);
    return object_map[slot].object != NULL ? object_map[slot].op : -1;
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

/* Does the callable say that it comes from numpy?  Reads the own dicts of functions and types only. */
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
        return object == (PyObject *)&PyArrayDescr_Type || dt_np_scalar_type_num((PyTypeObject *)object) >= 0;
    }
    if (method_ufunc(object) != NULL || is_from_numpy(object)) {
        return true;
    }
    int row = find_row(object);
    if (row == -2) {
        PyErr_Clear(); /* a NumPy that can't be read owns nothing; the trace breaks on the call */
    }
    return row >= 0;
}

/* ---- Calls ---------------------------------------------------------------------------------------------- */

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
        PyObject *name = PyObject_GetAttrString(object, "__name__"); /* a C getter or the own dict */
        const char *text = name != NULL ? PyUnicode_AsUTF8(name) : NULL;
        Py_XDECREF(name); /* the function keeps its name */
        if (text != NULL) {
            return text;
        }
        PyErr_Clear(); /* only the text of a message is lost */
    }
    return Py_TYPE(object)->tp_name;
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
    DT_TRY(dt_np_dtype_arg(trace, "numpy.dtype", slot, &dtype));
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, dtype, 0);
    return source != NULL ? dt_var_build(trace, dtype, source, out) : DT_ERROR;
}

DtStatus
dt_np_call(const DtAdapter *adapter, DtTrace *trace, PyObject *callable, const DtArgs *args, DtVar **out)
{
    (void)adapter;
    if (callable == (PyObject *)&PyArrayDescr_Type) {
        return call_dtype(trace, args, out);
    }
    if (PyType_Check(callable)) {
        return dt_np_call_scalar_type(trace, (PyTypeObject *)callable, args, out);
    }
    PyObject *ufunc = method_ufunc(callable);
    int row = find_row(ufunc != NULL ? ufunc : callable);
    if (row == -2) {
        return DT_ERROR;
    }
    if (row >= 0 && ufunc == NULL) {
        return rows[row].kind == ROW_UFUNC ? dt_np_call_ufunc(trace, (DtNpOp)row, args, out)
                                           : rows[row].function(trace, (DtNpOp)row, args, out);
    }
    if (row >= 0 && rows[row].kind == ROW_UFUNC
        && strcmp(((PyCFunctionObject *)callable)->m_ml->ml_name, "reduce") == 0) {
        return dt_np_call_reduce(trace, (DtNpOp)row, args, out);
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "numpy: %s%s%s is not captured",
                    ufunc != NULL ? ((PyUFuncObject *)ufunc)->name : "", ufunc != NULL ? "." : "",
                    callable_name(callable));
}

DtStatus
dt_np_call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
                  const DtArgs *args, DtVar **out)
{
    (void)adapter;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(method_rows); i++) {
        if (PyUnicode_CompareWithASCIIString(name, method_rows[i].name) == 0) {
            return method_rows[i].call(trace, self, args, out);
        }
    }
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "the method %s of an array is not captured", text);
}

DtStatus
dt_np_getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    (void)adapter;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(attr_rows); i++) {
        if (PyUnicode_CompareWithASCIIString(name, attr_rows[i].name) == 0) {
            return attr_rows[i].get(trace, self, out);
        }
    }
    PyObject *found = _PyType_Lookup(self->meta->type, name);
    if (found != NULL && Py_IS_TYPE(found, &PyMethodDescr_Type)) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    if (found == NULL) {
        return dt_break(trace, DT_BREAK_RAISES, "an array has no attribute %s", text);
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "the attribute %s of an array", text);
}

/* ---- Arguments -------------------------------------------------------------------------------------------- */

static DtStatus
bind_one(DtTrace *trace, DtVar *value, DtVar **slot)
{
    DT_TRY(dt_var_realize(trace, value, &value));
    *slot = dt_var_peek(value);
    return DT_OK;
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
    const char *text = PyUnicode_AsUTF8(args->kwnames[index]);
    if (text == NULL) {
        return DT_ERROR;
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with the argument %s", function, text);
}

DtStatus
dt_np_bind(DtTrace *trace, const char *function, DtVar *self, const DtArgs *args, const char *const *names,
           uint32_t count, uint32_t npos, uint32_t required, DtVar **slots)
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
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s without its argument %s", function, names[i]);
        }
    }
    return DT_OK;
}

bool
dt_np_is_none(DtVar *var)
{
    return var == NULL || (var->type->kind == DT_KIND_CONSTANT && ((DtConstVar *)var)->value == Py_None);
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

/* What numpy turns into a dtype without running a user's code. */
static bool
is_plain_dtype_spec(PyObject *object)
{
    return PyArray_DescrCheck(object) || PyUnicode_CheckExact(object) || object == (PyObject *)&PyFloat_Type
           || object == (PyObject *)&PyLong_Type || object == (PyObject *)&PyBool_Type
           || object == (PyObject *)&PyComplex_Type
           || (PyType_Check(object) && dt_np_scalar_type_num((PyTypeObject *)object) >= 0);
}

DtStatus
dt_np_dtype_arg(DtTrace *trace, const char *function, DtVar *var, PyObject **out)
{
    PyArray_Descr *descr;
    *out = NULL;
    if (dt_np_is_default(var)) {
        return DT_OK;
    }
    PyObject *object = known_object(trace, var);
    if (object == NULL || !is_plain_dtype_spec(object)) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: dtype= is not a constant", function);
    }
    if (!PyArray_DescrConverter(object, &descr)) {
        return dt_break_from_exception(trace);
    }
    if (!dt_np_dtype_captured(descr)) {
        Py_DECREF(descr);
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s with such a dtype", function);
    }
    *out = dt_trace_keep_take(trace, (PyObject *)descr);
    return *out != NULL ? DT_OK : DT_ERROR;
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
        return PyErr_Occurred() ? DT_ERROR
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
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: an argument is no int", function);
    }
    return DT_OK;
}

static DtStatus
normalise_axis(DtTrace *trace, const char *function, int64_t axis, uint32_t ndim, uint32_t *out)
{
    if (axis < -(int64_t)ndim || axis >= (int64_t)ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "%s: axis %lld of %u dimensions", function, (long long)axis,
                        ndim);
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
dt_np_axes(DtTrace *trace, const char *function, DtVar *var, uint32_t ndim, uint32_t *mask, bool *all)
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
        return PyErr_Occurred() ? DT_ERROR
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
