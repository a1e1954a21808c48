/* Builtin functions: known ones by a row, methods of builtin types by the
 * tracker they are called on, methods of constants by calling them.
 *
 * Not in here: the rows (builtins.c, builtins_math.c); builtin classes are
 * classes (v_class.c) that find their row here.
 */
#include <string.h>

#include "variables/iterators.h"

/* Object -> row; objects are kept for the life of the process. */
static DtArena table_arena;
static DtMap rows_by_object;

const DtMethodRow *
dt_builtin_find(PyObject *object)
{
    return dt_map_get(&rows_by_object, object);
}

int
dt_builtin_register(PyObject *object, const DtMethodRow *row)
{
    if (dt_map_set(&table_arena, &rows_by_object, object, (void *)(uintptr_t)row) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    Py_INCREF(object);
    return 0;
}

static int
register_table(const DtBuiltinTable *table)
{
    PyObject *module = PyImport_ImportModule(table->module);
    if (module == NULL) {
        return -1;
    }
    int result = 0;
    for (const DtMethodRow *row = table->rows; row->name != NULL && result == 0; row++) {
        PyObject *object = PyObject_GetAttrString(module, row->name);
        if (object == NULL) {
            /* Newer versions have functions that older ones lack. */
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
                result = -1;
                break;
            }
            PyErr_Clear(); /* AttributeError, see above */
            continue;
        }
        result = dt_builtin_register(object, row);
        Py_DECREF(object);
    }
    Py_DECREF(module);
    return result;
}

int
dt_builtin_init(void)
{
    if (rows_by_object.count > 0) {
        return 0;
    }
    dt_arena_init(&table_arena);
    const DtBuiltinTable *tables[] = {&dt_builtin_table,
                                      &dt_builtin_math_table,
                                      &dt_builtin_operator_table,
                                      &dt_builtin_functools_table,
                                      &dt_builtin_types_table,
                                      &dt_builtin_itertools_table,
                                      &dt_builtin_itertools_pools_table,
                                      &dt_builtin_itertools_groups_table};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (register_table(tables[i]) < 0) {
            return -1;
        }
    }
    return dt_iter_groups_init() < 0 ? -1 : dt_iter_chain_init();
}

DtStatus
dt_builtin_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                 DtVar **out)
{
    DtObjectVar *self;
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_object_new(trace, DT_KIND_BUILTIN, object, source, &self));
    self->row = dt_builtin_find(object);
    *out = &self->base;
    return DT_OK;
}

/* ---- Calling
 * ---------------------------------------------------------------------------------------- */

/* Methods of constants that make objects as large as an argument says. */
static bool
result_is_bounded(PyObject *args)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i);
        if (PyLong_Check(arg)) {
            int overflow;
            long value = PyLong_AsLongAndOverflow(arg, &overflow);
            if (overflow != 0 || value > 100000) {
                return false;
            }
        }
        else if (PyUnicode_Check(arg) && PyUnicode_GET_LENGTH(arg) > 100000) {
            return false;
        }
    }
    return true;
}

/* The arguments as constants: a tuple, or NULL with *status set (DT_OK: some is no constant). */
static PyObject *
constant_arguments(DtTrace *trace, const DtArgs *args, DtStatus *status)
{
    *status = DT_OK;
    PyObject *tuple = PyTuple_New(args->npos);
    for (uint32_t i = 0; tuple != NULL && i < args->npos; i++) {
        DtVar *arg;
        *status = dt_var_realize(trace, args->pos[i], &arg);
        if (*status != DT_OK) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyObject *value = NULL;
        if (arg->type->kind == DT_KIND_LIST) {
            /* str.join and its like take a list of constants. */
            DtVar *copy;
            DtSeqVar *list = (DtSeqVar *)arg;
            *status = dt_var_tuple(trace, list->items, list->count, &copy);
            arg = *status == DT_OK ? copy : NULL;
        }
        value = arg != NULL ? dt_var_as_constant(trace, arg) : NULL;
        if (value == NULL || !dt_constant_is_safe(value)) {
            Py_DECREF(tuple);
            return NULL;
        }
        Py_INCREF(value);
        PyTuple_SET_ITEM(tuple, i, value);
    }
    if (tuple == NULL) {
        *status = DT_ERROR;
    }
    return tuple;
}

/* A builtin method bound to a constant: 'abc'.upper() */
static DtStatus
call_constant_method(DtTrace *trace, PyObject *method, const DtArgs *args, DtVar **out)
{
    DtStatus status;
    PyObject *values = constant_arguments(trace, args, &status);
    if (values == NULL) {
        return status != DT_OK ? status
                               : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                          "%s() of a constant with arguments that are none",
                                          ((PyCFunctionObject *)method)->m_ml->ml_name);
    }
    if (!result_is_bounded(values)) {
        Py_DECREF(values);
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the result of %s() may be very large",
                        ((PyCFunctionObject *)method)->m_ml->ml_name);
    }
    PyObject *keywords = args->nkw > 0 ? PyDict_New() : NULL;
    for (uint32_t i = 0; i < args->nkw && keywords != NULL; i++) {
        PyObject *value = dt_var_as_constant(trace, args->kw[i]);
        if (value == NULL || !dt_constant_is_safe(value)) {
            Py_DECREF(values);
            Py_DECREF(keywords);
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a keyword that is no constant");
        }
        if (PyDict_SetItem(keywords, args->kwnames[i], value) < 0) {
            Py_CLEAR(keywords);
        }
    }
    PyObject *result = NULL;
    if (args->nkw == 0 || keywords != NULL) {
        result = PyObject_Call(method, values, keywords);
    }
    Py_DECREF(values);
    Py_XDECREF(keywords);
    return dt_constant_wrap_take(trace, result, out);
}

static DtStatus
builtin_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtObjectVar *self = (DtObjectVar *)var;
    if (self->row != NULL) {
        return dt_kinds_call_row(trace, var, self->row, args, out);
    }
    PyObject *object = self->object;
    if (PyCFunction_CheckExact(object) && PyCFunction_GET_SELF(object) != NULL
        && dt_constant_is_safe(PyCFunction_GET_SELF(object))) {
        return call_constant_method(trace, object, args, out);
    }
    if (Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyWrapperDescr_Type)) {
        return dt_slot_method_call(trace, object, args, out);
    }
    if (PyCFunction_CheckExact(object) && PyCFunction_GET_SELF(object) != NULL
        && PyType_Check(PyCFunction_GET_SELF(object))
        && strcmp(((PyCFunctionObject *)object)->m_ml->ml_name, "__new__") == 0) {
        return dt_class_new(trace, (PyTypeObject *)PyCFunction_GET_SELF(object), args, out);
    }
    PyObject *name = PyObject_GetAttrString(object, "__name__");
    if (name == NULL) {
        return dt_break_from_exception(trace);
    }
    DtStatus status =
        dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "builtin %s()", dt_kinds_text(name));
    Py_DECREF(name);
    return status;
}

static PyTypeObject *
builtin_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(((DtObjectVar *)self)->object);
}

static PyObject *
builtin_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtObjectVar *)self)->object;
}

static DtStatus
builtin_reconstruct(DtCodegen *codegen, DtVar *self)
{
    if (self->source != NULL && self->source->kind != DT_SOURCE_OBJECT) {
        bool done;
        DT_TRY(dt_kinds_load_source(codegen, self, &done));
        if (done) {
            return DT_OK;
        }
    }
    return dt_codegen_const(codegen, ((DtObjectVar *)self)->object);
}

const DtVarType dt_kind_type_BUILTIN = {
    .kind = DT_KIND_BUILTIN,
    .tp_call = builtin_call,
    .python_type = builtin_type,
    .as_constant = builtin_as_constant,
    .reconstruct = builtin_reconstruct,
};
