/* Instances of user classes: existing ones and those that the trace makes.
 *
 * Invariants: the version of an existing instance's type is guarded once, so
 * what the type says needs no other guard; instance attributes are read where
 * they lie, never through __getattribute__ of Python.
 *
 * Not in here: attributes (instance_attr.c), operators (instance_ops.c), making
 * instances (class_call.c), the part of a builtin base (payload.c), replaying
 * stores (sideeffects/).
 */
#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

static DtInstanceVar *
instance_of(DtVar *self)
{
    return (DtInstanceVar *)self;
}

DtStatus
dt_instance_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                  DtVar **out)
{
    (void)trusted; /* the type can change under a trusted object */
    if (dt_type_has_odd_keys(Py_TYPE(object))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "an object of a class with names that are no texts");
    }
    DT_TRY(dt_guard_type_version(trace, source, Py_TYPE(object)));
    DtInstanceVar *self = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->object = object;
    self->cls = Py_TYPE(object);
    DT_TRY(dt_trace_keep(trace, (PyObject *)self->cls));
    *out = &self->base;
    return dt_payload_build(trace, self);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static PyTypeObject *
instance_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return instance_of(self)->cls;
}

static DtStatus
reconstruct_around_array(DtCodegen *codegen, DtInstanceVar *self)
{
    PyObject *function = dt_array_part_find(self)->rebuild();
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(dt_codegen_var(codegen, self->cls_var));
    DT_TRY(dt_codegen_var(codegen, self->contents));
    DT_TRY(dt_codegen_var(codegen, self->more != NULL ? self->more : self->contents));
    return dt_codegen_call(codegen, 3);
}

/* A new instance is made empty; the journal stores its attributes. */
static DtStatus
instance_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    if (done) {
        return DT_OK;
    }
    if (instance_of(self)->object != NULL) {
        return dt_codegen_const(codegen, instance_of(self)->object);
    }
    if (dt_substitute_hides_class(instance_of(self)->cls)) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "an object that stands for one of a C type leaves the function");
    }
    if (dt_exception_is(self)) {
        return dt_exception_reconstruct(codegen, self);
    }
    if (dt_array_part_find(instance_of(self)) != NULL) {
        return reconstruct_around_array(codegen, instance_of(self));
    }
    if (instance_of(self)->contents != NULL) {
        return dt_payload_reconstruct_hidden(codegen, instance_of(self));
    }
    if (instance_of(self)->payload != NULL) {
        return dt_payload_reconstruct(codegen, instance_of(self));
    }
    PyObject *new = PyObject_GetAttrString((PyObject *)&PyBaseObject_Type, "__new__");
    new = dt_trace_keep_take(dt_codegen_trace(codegen), new);
    if (new == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, new));
    DT_TRY(dt_codegen_var(codegen, instance_of(self)->cls_var));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
instance_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                  void *arg)
{
    DtVar *cls = instance_of(self)->cls_var;
    if (instance_of(self)->object == NULL && cls != NULL) {
        DT_TRY(visit(trace, cls, arg));
    }
    if (dt_exception_is(self)) {
        return dt_exception_children(trace, self, visit, arg);
    }
    DtVar *payload = instance_of(self)->payload;
    payload = payload != NULL ? payload : instance_of(self)->contents;
    if (instance_of(self)->object == NULL && instance_of(self)->attributes != NULL) {
        DT_TRY(visit(trace, &instance_of(self)->attributes->base, arg));
    }
    if (dt_array_part_find(instance_of(self)) != NULL && instance_of(self)->more != NULL) {
        DT_TRY(visit(trace, instance_of(self)->more, arg));
    }
    return payload != NULL ? visit(trace, payload, arg) : DT_OK;
}

static void
instance_repr(DtVar *self, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<%s object>", instance_of(self)->cls->tp_name);
}


const DtVarType dt_kind_type_INSTANCE = {
    .kind = DT_KIND_INSTANCE,
    .base = &dt_instance_ops,
    .tp_getattro = dt_instance_getattr,
    .tp_setattro = dt_instance_setattr,
    .python_type = instance_type,
    .reconstruct = instance_reconstruct,
    .children = instance_children,
    .repr = instance_repr,
};
