/* Bound methods of Python functions, and methods of builtin kinds bound to a
 * tracker.
 *
 * Not in here: what a method of a builtin kind does (the rows of that kind).
 */
#include "compat/type.h"
#include "variables/kinds.h"

/* ---- Bound methods --------------------------------------------------------------------------- */

DtStatus
dt_method_new(DtTrace *trace, DtVar *function, DtVar *self, DtVar **out)
{
    DtMethodVar *method = DT_KINDS_NEW(trace, BOUND_METHOD, DtMethodVar, NULL);
    if (method == NULL) {
        return DT_ERROR;
    }
    method->function = function;
    method->self = self;
    *out = &method->base;
    return DT_OK;
}

/* A method that the adapter of the object knows by its name. */
static bool
is_of_adapter(PyObject *method)
{
    PyObject *function = PyMethod_GET_FUNCTION(method), *self = PyMethod_GET_SELF(method);
    return PyFunction_Check(function) && dt_adapter_of_array(self) != NULL
           && dt_type_lookup(Py_TYPE(self), ((PyFunctionObject *)function)->func_name) == function;
}

DtStatus
dt_method_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DtVar *function, *self;
    if (!trusted) {
        DT_TRY(dt_guard_type(trace, source, &PyMethod_Type));
    }
    const DtSource *function_source = dt_source_get(trace, DT_SOURCE_METHOD_FUNC, source, NULL, 0);
    const DtSource *self_source = dt_source_get(trace, DT_SOURCE_METHOD_SELF, source, NULL, 0);
    if (function_source == NULL || self_source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_build(trace, PyMethod_GET_FUNCTION(object), function_source, &function));
    DT_TRY(dt_var_build(trace, PyMethod_GET_SELF(object), self_source, &self));
    if (is_of_adapter(object)) {
        PyObject *name = ((PyFunctionObject *)PyMethod_GET_FUNCTION(object))->func_name;
        DT_TRY(dt_var_realize(trace, function, &function)); /* guards it */
        DT_TRY(dt_var_getattr(trace, self, name, out));
        (*out)->source = source;
        return DT_OK;
    }
    DT_TRY(dt_method_new(trace, function, self, out));
    (*out)->source = source;
    return DT_OK;
}

static DtStatus
method_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtMethodVar *self = (DtMethodVar *)var;
    DtArgs with_self;
    DT_TRY(dt_args_prepend(trace, args, self->self, &with_self));
    return dt_var_call(trace, self->function, &with_self, out);
}

bool
dt_method_is_of_c(DtVar *function)
{
    PyObject *object = function->type->kind == DT_KIND_BUILTIN ? dt_payload_object(function) : NULL;
    return object != NULL
           && (Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyWrapperDescr_Type)
               || Py_IS_TYPE(object, &PyClassMethodDescr_Type));
}

/* What a bound method of C has from its descriptor and nobody can change. */
static bool
is_said_by_descriptor(PyObject *name)
{
    static const char *const names[] = {"__name__", "__doc__", "__text_signature__", NULL};
    return dt_kinds_is_among(name, names);
}

static DtStatus
method_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtMethodVar *self = (DtMethodVar *)var;
    if (PyUnicode_CompareWithASCIIString(name, "__self__") == 0) {
        *out = self->self;
        return DT_OK;
    }
    DtVar *function = dt_var_peek(self->function);
    if (dt_method_is_of_c(function)) {
        return is_said_by_descriptor(name) ? dt_var_getattr(trace, function, name, out)
                                           : dt_kind_base.tp_getattro(trace, var, name, out);
    }
    if (PyUnicode_CompareWithASCIIString(name, "__func__") == 0) {
        *out = self->function;
        return DT_OK;
    }
    /* Only what the type of methods lacks is looked up in the function. */
    if (PyUnicode_CompareWithASCIIString(name, "__doc__") != 0
        && dt_type_lookup(&PyMethod_Type, name) != NULL) {
        return dt_kind_base.tp_getattro(trace, var, name, out);
    }
    return dt_var_getattr(trace, self->function, name, out);
}

/* types.MethodType(function, obj) */
static DtStatus
make_method(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out)
{
    (void)cls;
    DtVar *function, *self;
    DT_TRY(dt_var_realize(trace, args->pos[0], &function));
    DT_TRY(dt_var_realize(trace, args->pos[1], &self));
    PyTypeObject *type = dt_var_python_type(trace, function);
    if (type == NULL || function->type->kind == DT_KIND_BUILTIN) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a method made of a %s",
                        function->type->name);
    }
    if (type->tp_call == NULL) {
        return dt_raise(trace, PyExc_TypeError, "first argument must be callable");
    }
    if (dt_var_peek_constant(self) == Py_None) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a method made for None");
    }
    return dt_method_new(trace, function, self, out);
}

static const DtMethodRow types_rows[] = {
    {"MethodType", make_method, 2, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_method_table = {"types", types_rows};

/* The type of a slot wrapper bound to an object: the C API of newer versions does not name it. */
static PyTypeObject *
bound_wrapper_type(void)
{
    static PyTypeObject *type = NULL; /* a static type */
    if (type == NULL) {
        PyObject *bound = PyObject_GetAttrString(Py_None, "__str__");
        type = bound != NULL ? Py_TYPE(bound) : NULL;
        Py_XDECREF(bound);
        PyErr_Clear(); /* no memory: the type is unknown this time */
    }
    return type;
}

static PyTypeObject *
method_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    DtVar *function = dt_var_peek(((DtMethodVar *)self)->function);
    return !dt_method_is_of_c(function)                                    ? &PyMethod_Type
           : Py_IS_TYPE(dt_payload_object(function), &PyWrapperDescr_Type) ? bound_wrapper_type()
                                                                           : &PyCFunction_Type;
}

static DtStatus
method_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DtMethodVar *self = (DtMethodVar *)var;
    DtVar *function = dt_var_peek(self->function);
    if (dt_method_is_of_c(function)) {
        PyObject *bind = PyObject_GetAttrString(dt_payload_object(function), "__get__");
        bind = dt_trace_keep_take(dt_codegen_trace(codegen), bind);
        if (bind == NULL) {
            return DT_ERROR;
        }
        /* Without a type, methods that are told their class crash (method_get of CPython). */
        PyObject *type = (PyObject *)((PyDescrObject *)dt_payload_object(function))->d_type;
        DT_TRY(dt_codegen_push_callable(codegen, bind));
        if (Py_IS_TYPE(dt_payload_object(function), &PyClassMethodDescr_Type)) {
            DT_TRY(dt_codegen_const(codegen, Py_None));
            DT_TRY(dt_codegen_var(codegen, self->self));
        }
        else {
            DT_TRY(dt_codegen_var(codegen, self->self));
            DT_TRY(dt_codegen_const(codegen, type));
        }
        return dt_codegen_call(codegen, 2);
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&PyMethod_Type));
    DT_TRY(dt_codegen_var(codegen, self->function));
    DT_TRY(dt_codegen_var(codegen, self->self));
    return dt_codegen_call(codegen, 2);
}

static DtStatus
method_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                void *arg)
{
    DtMethodVar *self = (DtMethodVar *)var;
    DT_TRY(visit(trace, self->function, arg));
    return visit(trace, self->self, arg);
}

const DtVarType dt_kind_type_BOUND_METHOD = {
    .kind = DT_KIND_BOUND_METHOD,
    .tp_call = method_call,
    .tp_getattro = method_getattro,
    .python_type = method_type,
    .reconstruct = method_reconstruct,
    .children = method_children,
};

/* ---- Methods of builtin kinds ---------------------------------------------------------------- */

DtStatus
dt_var_adapter_method(DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    return dt_kinds_method_row(trace, &self->base, NULL, name, out);
}

static DtStatus
row_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtMethodRowVar *self = (DtMethodRowVar *)var;
    if (self->row != NULL) {
        return dt_kinds_call_row(trace, self->self, self->row, args, out);
    }
    DtArrayVar *array = (DtArrayVar *)self->self;
    return array->adapter->call_method(array->adapter, trace, array, self->name, args, out);
}

static PyTypeObject *
row_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyCFunction_Type;
}

static DtStatus
row_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtMethodRowVar *self = (DtMethodRowVar *)var;
    DT_TRY(dt_codegen_var(codegen, self->self));
    return dt_codegen_name(codegen, DT_OP_LOAD_ATTR, self->name);
}

static DtStatus
row_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    return visit(trace, ((DtMethodRowVar *)var)->self, arg);
}

static DtStatus
row_name(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_const(trace, ((DtMethodRowVar *)self)->name, out);
}

static DtStatus
row_self(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = ((DtMethodRowVar *)self)->self;
    return DT_OK;
}

static const DtGetSetRow row_getsets[] = {
    {"__self__", row_self},
    {"__name__", row_name},
    {NULL, NULL},
};

const DtVarType dt_kind_type_METHOD_ROW = {
    .kind = DT_KIND_METHOD_ROW,
    .getsets = row_getsets,
    .tp_call = row_call,
    .python_type = row_type,
    .reconstruct = row_reconstruct,
    .children = row_children,
};
