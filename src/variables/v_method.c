/* Bound methods of Python functions, methods of builtin kinds bound to a
 * tracker, and partial objects.
 *
 * Not in here: what a method of a builtin kind does (the rows of that kind).
 */
#include <string.h>

#include "compat/dict.h"
#include "variables/kinds.h"

/* ---- Bound methods -------------------------------------------------------------------------------- */

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

DtStatus
dt_var_bound_method(DtTrace *trace, DtVar *function, DtVar *self, DtVar **out)
{
    return dt_method_new(trace, function, self, out);
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

static DtStatus
method_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtMethodVar *self = (DtMethodVar *)var;
    if (PyUnicode_CompareWithASCIIString(name, "__self__") == 0) {
        *out = self->self;
        return DT_OK;
    }
    if (PyUnicode_CompareWithASCIIString(name, "__func__") == 0) {
        *out = self->function;
        return DT_OK;
    }
    return dt_var_getattr(trace, self->function, name, out);
}

static PyTypeObject *
method_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyMethod_Type;
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

/* ---- Methods of builtin kinds ---------------------------------------------------------------------- */

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

const DtVarType dt_kind_type_METHOD_ROW = {
    .kind = DT_KIND_METHOD_ROW,
    .tp_call = row_call,
    .python_type = row_type,
    .reconstruct = row_reconstruct,
    .children = row_children,
};

/* ---- functools.partial ------------------------------------------------------------------------------ */

/* The three attributes are read-only members; what they hold is guarded by the object's identity. */
DtStatus
dt_partial_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DtPartialVar *self = DT_KINDS_NEW(trace, PARTIAL, DtPartialVar, source);
    PyObject *function = PyObject_GetAttrString(object, "func");
    PyObject *args = PyObject_GetAttrString(object, "args");
    PyObject *keywords = PyObject_GetAttrString(object, "keywords");
    DtStatus status = DT_ERROR;
    if (self == NULL || function == NULL || args == NULL || keywords == NULL) {
        goto done;
    }
    self->object = object;
    const DtSource *inner = dt_source_get(trace, DT_SOURCE_PARTIAL_FUNC, source, NULL, 0);
    if (inner == NULL) {
        goto done;
    }
    DT_TRY_DONE(dt_build_trusted(trace, function, inner, &self->function));
    self->npos = (uint32_t)PyTuple_GET_SIZE(args);
    self->nkw = (uint32_t)PyDict_GET_SIZE(keywords);
    self->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->npos + 1);
    self->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->nkw + 1);
    self->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, self->nkw + 1);
    if (self->pos == NULL || self->kw == NULL || self->kwnames == NULL) {
        status = dt_no_memory();
        goto done;
    }
    if (self->nkw > 0 && source->kind != DT_SOURCE_OBJECT) {
        /* The dict of keywords can change in place, and no source reads into it. */
        status = dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a partial with keyword arguments");
        goto done;
    }
    for (uint32_t i = 0; i < self->npos; i++) {
        PyObject *item = PyTuple_GET_ITEM(args, i);
        if (!dt_constant_is_safe(item)) {
            status = dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                              "a partial that holds a %s", Py_TYPE(item)->tp_name);
            goto done;
        }
        DT_TRY_DONE(dt_var_const(trace, item, &self->pos[i]));
    }
    *out = &self->base;
    status = DT_OK;
done:
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return status;
}

static DtStatus
partial_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtPartialVar *self = (DtPartialVar *)var;
    DtVar **pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->npos + args->npos + 1);
    if (pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < self->npos + args->npos; i++) {
        pos[i] = i < self->npos ? self->pos[i] : args->pos[i - self->npos];
    }
    DtArgs all = *args;
    all.pos = pos;
    all.npos = self->npos + args->npos;
    return dt_var_call(trace, self->function, &all, out);
}

static PyTypeObject *
partial_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    PyObject *object = ((DtPartialVar *)var)->object;
    return object != NULL ? Py_TYPE(object) : NULL;
}

const DtVarType dt_kind_type_PARTIAL = {
    .kind = DT_KIND_PARTIAL,
    .tp_call = partial_call,
    .python_type = partial_type,
};
