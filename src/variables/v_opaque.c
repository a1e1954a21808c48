/* Objects that are known by identity only: dtypes, sentinels, files, anything.
 *
 * They can be passed on, compared by `is`, and given to array functions as
 * constants.  Reading an attribute would run code that nobody knows.
 */
#include "variables/kinds.h"

DtStatus
dt_object_new(DtTrace *trace, DtKind kind, PyObject *object, const DtSource *source,
              DtObjectVar **out)
{
    DtObjectVar *self = dt_kinds_new(trace, kind, sizeof(DtObjectVar), source);
    if (self == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(trace, object));
    self->object = object;
    *out = self;
    return DT_OK;
}

DtStatus
dt_opaque_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DtObjectVar *self;
    DT_TRY(dt_object_new(trace, DT_KIND_OPAQUE, object, source, &self));
    *out = &self->base;
    return DT_OK;
}

static DtStatus
opaque_bool(DtTrace *trace, DtVar *var, bool *out)
{
    PyTypeObject *type = Py_TYPE(((DtObjectVar *)var)->object);
    if ((type->tp_as_number == NULL || type->tp_as_number->nb_bool == NULL)
        && (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_length == NULL)
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_length == NULL)) {
        *out = true; /* such objects are true */
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "the truth of a %s", type->tp_name);
}

static DtStatus
opaque_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    (void)out;
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s", dt_kinds_text(name),
                    Py_TYPE(((DtObjectVar *)var)->object)->tp_name);
}

static DtStatus
opaque_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    (void)args;
    (void)out;
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a call of a %s",
                    Py_TYPE(((DtObjectVar *)var)->object)->tp_name);
}

/* Types without comparison slots compare by identity. */
static DtStatus
opaque_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, left);
    if (type == NULL || type->tp_richcompare != PyBaseObject_Type.tp_richcompare
        || (op != Py_EQ && op != Py_NE)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a comparison of a %s",
                        dt_kinds_type_name(trace, left));
    }
    bool same;
    DT_TRY(dt_var_is(trace, left, right, &same));
    if (!same) { /* the other side may still have an opinion */
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_var_bool(trace, op == Py_EQ, out);
}

static PyTypeObject *
opaque_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(((DtObjectVar *)self)->object);
}

static PyObject *
opaque_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtObjectVar *)self)->object;
}

static DtStatus
opaque_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    return done ? DT_OK : dt_codegen_const(codegen, ((DtObjectVar *)var)->object);
}

static void
opaque_repr(DtVar *var, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<%s object>", Py_TYPE(((DtObjectVar *)var)->object)->tp_name);
}

const DtVarType dt_kind_type_OPAQUE = {
    .kind = DT_KIND_OPAQUE,
    .nb_bool = opaque_bool,
    .tp_call = opaque_call,
    .tp_getattro = opaque_getattro,
    .tp_richcompare = opaque_compare,
    .python_type = opaque_type,
    .as_constant = opaque_as_constant,
    .reconstruct = opaque_reconstruct,
    .repr = opaque_repr,
};
