/* id() of objects that existed before: the number is not known, but whose it is.
 *
 *   id(a) == id(b), id(a) in {id(b), ...} ─► a is b, which is guarded
 *   id(a) leaves the trace                ─► id(a) is called again
 *
 * All these objects were alive when the call began, so no two of them have one number, whatever
 * becomes of them.  A new object may get the number of one that is gone: id() of it breaks.
 *
 * Invariant: the number is never a constant of the trace.  Another call may pass another object,
 * and a plain int may be the number of one: comparing them breaks.
 */
#include "variables/kinds.h"

static DtStatus
refuse(DtTrace *trace, const char *what, DtVar *var)
{
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "id() of %s %s", what,
                    dt_kinds_type_name(trace, var));
}

/* Whether `is` says for such an object which one it is. */
static bool
has_identity(DtKind kind)
{
    switch (kind) {
    case DT_KIND_ARRAY:
    case DT_KIND_LIST:
    case DT_KIND_DICT:
    case DT_KIND_SET:
    case DT_KIND_BYTEARRAY:
    case DT_KIND_INSTANCE:
    case DT_KIND_FUNCTION:
    case DT_KIND_CLASS:
    case DT_KIND_MODULE:
    case DT_KIND_OPAQUE:
        return true;
    default:
        return false;
    }
}

DtStatus
dt_identity_of(DtTrace *trace, DtVar *callable, const DtArgs *args, DtVar **out)
{
    DtVar *target;
    DT_TRY(dt_var_realize(trace, args->pos[0], &target));
    if (!has_identity(target->type->kind)) {
        return refuse(trace, "a", target);
    }
    if (target->source == NULL) {
        return refuse(trace, "a new", target);
    }
    DtIdentityVar *self = DT_KINDS_NEW(trace, IDENTITY, DtIdentityVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->target = target;
    self->callable = callable;
    *out = &self->base;
    return DT_OK;
}

const void *
dt_identity_address(DtVar *self)
{
    DtVar *target = ((DtIdentityVar *)self)->target;
    PyObject *object = dt_payload_object(target);
    return object != NULL ? (const void *)object : target;
}

/* Never equal to an int. */
static bool
is_no_number(DtVar *var)
{
    switch (var->type->kind) {
    case DT_KIND_CONSTANT:
        return !PyNumber_Check(dt_payload_object(var));
    case DT_KIND_TUPLE:
    case DT_KIND_LIST:
    case DT_KIND_DICT:
    case DT_KIND_FUNCTION:
        return true;
    default:
        return false;
    }
}

static DtStatus
identity_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    bool same;
    PyTypeObject *type = dt_var_python_type(trace, right);
    if (left->type->kind == DT_KIND_IDENTITY && right->type->kind == DT_KIND_IDENTITY
        && (op == Py_EQ || op == Py_NE)) {
        DT_TRY(dt_var_is(trace, ((DtIdentityVar *)left)->target, ((DtIdentityVar *)right)->target,
                         &same));
        return dt_var_bool(trace, same == (op == Py_EQ), out);
    }
    if (is_no_number(right)) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "comparison of the address of an object and a %s",
                    type != NULL ? type->tp_name : right->type->name);
}

static DtStatus
identity_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    (void)op;
    (void)left;
    (void)right;
    (void)out;
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "arithmetic with the address of an object");
}

static DtStatus
identity_bool(DtTrace *trace, DtVar *self, bool *out)
{
    (void)trace;
    (void)self;
    *out = true;
    return DT_OK;
}

static PyTypeObject *
identity_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyLong_Type;
}

static DtStatus
identity_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtIdentityVar *self = (DtIdentityVar *)var;
    DT_TRY(dt_codegen_push_callable(codegen, dt_payload_object(self->callable)));
    DT_TRY(dt_codegen_var(codegen, self->target));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
identity_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                  void *arg)
{
    return visit(trace, ((DtIdentityVar *)var)->target, arg);
}

const DtVarType dt_kind_type_IDENTITY = {
    .kind = DT_KIND_IDENTITY,
    .nb_binary = identity_binary,
    .tp_richcompare = identity_compare,
    .nb_bool = identity_bool,
    .python_type = identity_type,
    .reconstruct = identity_reconstruct,
    .children = identity_children,
};
