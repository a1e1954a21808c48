/* Builtin functions: known ones by a row, methods of builtin types by the
 * tracker they are called on, methods of constants by calling them.
 *
 * Not in here: the rows (builtins.c, builtins_math.c); builtin classes are
 * classes (v_class.c) that find their row here.
 */
#include <string.h>

#include "compat/type.h"
#include "variables/fold.h"
#include "variables/iterators/iterators.h"
#include "variables/text.h"
#include "variables/pure.h"
#include "variables/substitutes.h"

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
                                      &dt_builtin_numbers_table,
                                      &dt_builtin_math_table,
                                      &dt_builtin_cmath_table,
                                      &dt_builtin_operator_table,
                                      &dt_builtin_functools_table,
                                      &dt_builtin_types_table,
                                      &dt_builtin_mapping_proxy_table,
                                      &dt_builtin_weakref_table,
                                      &dt_builtin_exec_table,
                                      &dt_builtin_check_table,
                                      &dt_builtin_abc_table,
                                      &dt_builtin_abc_check_table,
                                      &dt_builtin_method_table,
                                      &dt_builtin_itertools_table,
                                      &dt_builtin_itertools_endless_table,
                                      &dt_builtin_itertools_filters_table,
                                      &dt_builtin_itertools_pools_table,
                                      &dt_builtin_itertools_groups_table,
                                      &dt_builtin_classes_table,
                                      &dt_builtin_descriptors_table,
                                      &dt_builtin_sys_table,
                                      &dt_builtin_warnings_table};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (register_table(tables[i]) < 0) {
            return -1;
        }
    }
    return dt_math_init() < 0 || dt_iter_groups_init() < 0 || dt_iter_chain_init() < 0 ? -1
           : dt_class_hooks_init() < 0 ? -1
                                       : dt_class_alias_init();
}

/* The object that a builtin method or a slot of a builtin object is bound to; NULL: none. */
static PyObject *
receiver_of(PyObject *object)
{
    PyObject *self = NULL;
    if (PyCFunction_CheckExact(object)) {
        return PyCFunction_GET_SELF(object);
    }
    if (!PyType_Check(object) && !(Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        && Py_TYPE(object)->tp_dictoffset == 0 && !Py_IS_TYPE(object, &PyMethodDescr_Type)
        && !Py_IS_TYPE(object, &PyWrapperDescr_Type)
        && !Py_IS_TYPE(object, &PyClassMethodDescr_Type)) {
        self = PyObject_GetAttrString(object, "__self__");
        PyErr_Clear();    /* it has none */
        Py_XDECREF(self); /* the object keeps it */
    }
    return self;
}

/* A bound slot method is known by identity, but can't be referred to weakly: an entry would keep it
 * and what it is bound to, although each call may bring another one. */
static bool
would_be_kept(const DtTrace *trace, PyObject *object, const DtSource *source, bool trusted)
{
    return !trusted && source != NULL && !PyType_SUPPORTS_WEAKREFS(Py_TYPE(object))
           && !dt_build_is_static(trace, source) && receiver_of(object) != NULL;
}

DtStatus
dt_builtin_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                 DtVar **out)
{
    DtObjectVar *self;
    if (would_be_kept(trace, object, source, trusted)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a %s, which an entry would keep alive",
                        Py_TYPE(object)->tp_name);
    }
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_object_new(trace, DT_KIND_BUILTIN, object, source, &self));
    self->row = dt_builtin_find(object);
    *out = &self->base;
    return DT_OK;
}

/* ---- Calling --------------------------------------------------------------------------------- */

DtStatus
dt_builtin_break(DtTrace *trace, PyObject *function, DtBreakId id, const char *before,
                 const char *after)
{
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    if (name == NULL) {
        return dt_raise_from_exception(trace);
    }
    DtStatus status = dt_break(trace, id, "%s%s()%s", before, dt_kinds_text(name), after);
    Py_DECREF(name);
    return status;
}

/* Class methods and static methods of builtin types that only make a value of their arguments. */
static const char *const pure_class_methods[] = {
    "from_bytes", "fromhex", "maketrans", "__getformat__", NULL,
};

static bool
is_pure_class_method(PyObject *object, PyObject *receiver)
{
    if (!PyCFunction_CheckExact(object)
        || (receiver != NULL
            && (!PyType_CheckExact(receiver)
                || (((PyTypeObject *)receiver)->tp_flags & Py_TPFLAGS_HEAPTYPE)))) {
        return false;
    }
    const char *name = ((PyCFunctionObject *)object)->m_ml->ml_name;
    for (const char *const *pure = pure_class_methods; *pure != NULL; pure++) {
        if (strcmp(name, *pure) == 0) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_builtin_class_method(DtTrace *trace, PyTypeObject *type, PyObject *name, DtVar **out)
{
    PyObject *method = PyObject_GetAttr((PyObject *)type, name); /* a builtin type: no user code */
    method = dt_trace_keep_take(trace, method);
    return method != NULL ? dt_build_known(trace, method, out) : DT_ERROR;
}

/* A class method of a C type that has a polyfill, which is given the class before the arguments. */
static DtStatus
call_class_method_polyfill(DtTrace *trace, PyObject *method, const DtArgs *args, DtVar **out,
                           bool *done)
{
    PyTypeObject *type = (PyTypeObject *)PyCFunction_GET_SELF(method);
    PyObject *name = PyUnicode_InternFromString(((PyCFunctionObject *)method)->m_ml->ml_name);
    PyObject *descriptor = name != NULL ? dt_type_lookup(type, name) : NULL, *function = NULL;
    Py_XDECREF(name);
    *done = false;
    if (name == NULL) {
        return DT_ERROR;
    }
    if (descriptor != NULL && Py_IS_TYPE(descriptor, &PyClassMethodDescr_Type)) {
        DT_TRY(dt_substitute_find_descriptor(trace, descriptor, &function));
    }
    if (function == NULL) {
        return DT_OK;
    }
    DtVar *callable, *first;
    DtArgs all;
    *done = true;
    DT_TRY(dt_build_known(trace, function, &callable));
    DT_TRY(dt_build_known(trace, (PyObject *)type, &first));
    DT_TRY(dt_args_prepend(trace, args, first, &all));
    return dt_substitute_fits(function, &all) ? dt_var_call(trace, callable, &all, out)
                                              : dt_fold_failure(trace, method, args);
}

static DtStatus
builtin_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtObjectVar *self = (DtObjectVar *)var;
    if (self->row != NULL) {
        return dt_kinds_call_row(trace, var, self->row, args, out);
    }
    PyObject *object = self->object, *receiver = receiver_of(object);
    if (receiver != NULL && dt_constant_is_safe(receiver)) {
        return dt_text_call_method(trace, object, receiver, args, out);
    }
    if (Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyWrapperDescr_Type)) {
        return dt_inherited_call(trace, object, args, out);
    }
    if (PyCFunction_CheckExact(object) && receiver != NULL && PyType_Check(receiver)) {
        bool done;
        DT_TRY(call_class_method_polyfill(trace, object, args, out, &done));
        if (done) {
            return DT_OK;
        }
    }
    if (dt_class_makes_alias(object) && args->npos == 1 && args->nkw == 0) {
        return dt_class_alias(trace, receiver, args->pos[0], out);
    }
    if (is_pure_class_method(object, receiver)) {
        return dt_fold_call(trace, object, NULL, args, out);
    }
    if (PyCFunction_CheckExact(object) && receiver != NULL && PyType_CheckExact(receiver)
        && strcmp(((PyCFunctionObject *)object)->m_ml->ml_name, "fromkeys") == 0
        && receiver == (PyObject *)&PyDict_Type) {
        return dt_kinds_call_row(trace, var, &dt_dict_fromkeys_row, args, out);
    }
    if (PyCFunction_CheckExact(object) && receiver != NULL && PyType_Check(receiver)
        && strcmp(((PyCFunctionObject *)object)->m_ml->ml_name, "__new__") == 0) {
        return dt_class_new(trace, (PyTypeObject *)receiver, args, out);
    }
    if (PyCFunction_Check(object) && PyCFunction_GET_SELF(object) != NULL
        && dt_pure_is(PyCFunction_GET_SELF(object))) {
        return dt_pure_call_method(trace, object, args, out);
    }
    if (dt_pure_is_function(object)) {
        return dt_pure_call(trace, object, args, out);
    }
    return dt_builtin_break(trace, object, DT_BREAK_UNKNOWN_CALLABLE, "builtin ", "");
}

/* What a builtin function or method says of itself and nobody can change. */
static DtStatus
builtin_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    static const char *const fixed[] = {"__name__",           "__qualname__", "__doc__",
                                        "__text_signature__", "__objclass__", NULL};
    PyObject *object = ((DtObjectVar *)self)->object;
    bool is_fixed = dt_kinds_is_among(name, fixed);
    if (PyCFunction_Check(object) && self->source != NULL
        && PyUnicode_CompareWithASCIIString(name, "__module__") == 0) {
        PyObject *module = ((PyCFunctionObject *)object)->m_module; /* which can be assigned */
        const DtSource *source = dt_source_attr(trace, self->source, name);
        return source == NULL   ? DT_ERROR
               : module != NULL ? dt_var_build_lazy(trace, module, source, out)
                                : dt_break(trace, DT_BREAK_ATTRIBUTE, "the module of a method");
    }
    PyObject *found = is_fixed ? dt_type_lookup(Py_TYPE(object), name) : NULL;
    if (found == NULL || (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        || !(Py_IS_TYPE(found, &PyGetSetDescr_Type) || Py_IS_TYPE(found, &PyMemberDescr_Type))) {
        return dt_kind_base.tp_getattro(trace, self, name, out);
    }
    PyObject *value = dt_trace_keep_take(trace, PyObject_GetAttr(object, name));
    if (value == NULL) {
        return DT_ERROR;
    }
    return dt_constant_is_safe(value) ? dt_var_const(trace, value, out)
                                      : dt_build_known(trace, value, out);
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
    .tp_getattro = builtin_getattro,
    .python_type = builtin_type,
    .as_constant = builtin_as_constant,
    .reconstruct = builtin_reconstruct,
};
