/* Weak references without a callback.
 *
 *   existing ──call──► what it refers to, an input (REFERENT), or None: it is dead
 *   new      ──call──► its object, as long as that is certain to be alive
 *
 * Invariant: an object lives if a variable of an active frame holds it, or if it existed before and
 * the trace has neither changed nor let go of anything since.  CPython has one reference of an
 * object: so has the trace; whether an existing one is the same is a break.
 */
#include "compat/referents.h"
#include "variables/kinds.h"

DtStatus
dt_weakref_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                 DtVar **out)
{
    (void)trusted; /* its type, and what it refers to, are guarded */
    DtWeakrefVar *self = DT_KINDS_NEW(trace, WEAKREF, DtWeakrefVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    self->object = object;
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_weakref_referent(DtTrace *trace, PyObject *reference, const DtSource *source, DtVar **out)
{
    PyObject *object = dt_referents_get(reference);
    const DtSource *inner =
        source != NULL ? dt_source_get(trace, DT_SOURCE_REFERENT, source, NULL, 0) : NULL;
    if (inner == NULL || object == NULL) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                           "a weak reference of unknown origin");
    }
    DT_TRY(dt_trace_keep(trace, object));
    return dt_var_build(trace, object, inner, out);
}

static DtStatus
weakref_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtWeakrefVar *self = (DtWeakrefVar *)var;
    if (args->npos + args->nkw > 0) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "a weak reference is given arguments");
    }
    *out = self->target;
    if (self->object != NULL) {
        DT_TRY(dt_weakref_referent(trace, self->object, var->source, out));
    }
    /* Something that was changed may have kept it alive; one that is dead stays so. */
    bool existed = self->object != NULL || self->target->source != NULL;
    bool certain = (existed && trace->effects == 0 && dt_frame_holds_found(trace))
                   || (self->object != NULL && dt_var_peek_constant(*out) == Py_None)
                   || dt_frame_holds(trace, *out);
    return certain ? DT_OK
                   : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                              "a weak reference to what may be dead by now");
}

/* By what they refer to, as long as both are alive. */
static DtStatus
weakref_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    const DtArgs none = {0};
    DtVar *referents[2];
    *out = dt_not_implemented(trace);
    if (right->type->kind != DT_KIND_WEAKREF || (op != Py_EQ && op != Py_NE)) {
        return DT_OK;
    }
    DT_TRY(weakref_call(trace, left, &none, &referents[0]));
    DT_TRY(weakref_call(trace, right, &none, &referents[1]));
    if (dt_var_peek_constant(referents[0]) == Py_None
        || dt_var_peek_constant(referents[1]) == Py_None) {
        bool same;
        DT_TRY(dt_var_is(trace, left, right, &same));
        return dt_var_bool(trace, same == (op == Py_EQ), out);
    }
    return dt_var_compare(trace, op, referents[0], referents[1], out);
}

/* ---- weakref.ref() --------------------------------------------------------------------------- */

static DtStatus
call_ref(DtTrace *trace, DtVar *callable, const DtArgs *args, DtVar **out)
{
    DtVar *target, *callback = args->npos > 1 ? args->pos[1] : NULL;
    DT_TRY(dt_var_given(trace, &callback));
    DT_TRY(dt_var_realize(trace, args->pos[0], &target));
    PyTypeObject *type = dt_var_python_type(trace, target);
    if (callback != NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a weak reference with a callback");
    }
    if (type != NULL && !PyType_SUPPORTS_WEAKREFS(type)) {
        return dt_kinds_mismatch(trace, callable, "ref", args);
    }
    if (target->type->kind != DT_KIND_INSTANCE || type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a weak reference to a %s",
                        dt_kinds_type_name(trace, target));
    }
    DtWeakrefVar *self = dt_map_get(&trace->weakrefs, target);
    if (self == NULL) {
        self = DT_KINDS_NEW(trace, WEAKREF, DtWeakrefVar, NULL);
        if (self == NULL) {
            return DT_ERROR;
        }
        self->target = target;
        if (dt_map_set(&trace->arena, &trace->weakrefs, target, self) != 0) {
            return dt_no_memory();
        }
    }
    *out = &self->base;
    return DT_OK;
}

static const DtMethodRow class_rows[] = {
    {"ref", call_ref, 1, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_weakref_table = {"_weakref", class_rows};

static PyTypeObject *
weakref_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    PyObject *object = ((DtWeakrefVar *)self)->object;
    return object != NULL ? Py_TYPE(object) : &_PyWeakref_RefType;
}

static DtStatus
weakref_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtWeakrefVar *self = (DtWeakrefVar *)var;
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&_PyWeakref_RefType));
    DT_TRY(dt_codegen_var(codegen, self->target));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
weakref_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                 void *arg)
{
    DtWeakrefVar *self = (DtWeakrefVar *)var;
    return self->target != NULL ? visit(trace, self->target, arg) : DT_OK;
}

const DtVarType dt_kind_type_WEAKREF = {
    .kind = DT_KIND_WEAKREF,
    .tp_call = weakref_call,
    .tp_richcompare = weakref_compare,
    .python_type = weakref_type,
    .reconstruct = weakref_reconstruct,
    .children = weakref_children,
};
