/* Arrays: every question goes to the adapter of the library.
 *
 * Not in here: any knowledge of a library; binary operators and comparisons
 * (dispatch.c asks the adapter before any slot).
 */
#include "variables/kinds.h"

DtStatus
dt_var_array(DtTrace *trace, DtNode *node, uint32_t result, DtMeta *meta, DtVar **out)
{
    DtArrayVar *self = DT_KINDS_NEW(trace, ARRAY, DtArrayVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->adapter = meta->adapter;
    self->node = node;
    self->result = result;
    self->meta = meta;
    *out = &self->base;
    return DT_OK;
}

static DtStatus
unary(DtTrace *trace, const char *op, DtVar *var, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->unary(self->adapter, trace, op, self, out);
}

static DtStatus
array_negative(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, "negative", self, out);
}

static DtStatus
array_positive(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, "positive", self, out);
}

static DtStatus
array_invert(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, "invert", self, out);
}

static DtStatus
array_bool(DtTrace *trace, DtVar *var, bool *out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->truth(self->adapter, trace, self, out);
}

static DtStatus
array_length(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->length(self->adapter, trace, self, out);
}

static DtStatus
array_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->subscript(self->adapter, trace, self, key, out);
}

static DtStatus
array_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DtArrayVar *self = (DtArrayVar *)var;
    if (value == NULL) {
        return dt_kinds_raise(trace, "ValueError", "cannot delete array elements");
    }
    return self->adapter->ass_subscript(self->adapter, trace, self, key, value);
}

static DtStatus
array_contains(DtTrace *trace, DtVar *var, DtVar *item, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->contains != NULL
               ? self->adapter->contains(self->adapter, trace, self, item, out)
               : dt_break(trace, DT_BREAK_ARRAY_BRANCH, "`in` an array");
}

static DtStatus
array_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->getattr(self->adapter, trace, self, name, out);
}

static DtStatus
array_setattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    DtArrayVar *self = (DtArrayVar *)var;
    if (value != NULL && self->adapter->setattr != NULL) {
        return self->adapter->setattr(self->adapter, trace, self, name, value);
    }
    return dt_break(trace, DT_BREAK_ARRAY_MUTATION, "attribute '%s' of an array is set",
                    dt_kinds_text(name));
}

static DtStatus
array_iter(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->iter(self->adapter, trace, self, out);
}

static PyTypeObject *
array_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtArrayVar *)self)->meta->type;
}

static void
array_repr(DtVar *var, DtStrbuf *buf)
{
    DtArrayVar *self = (DtArrayVar *)var;
    dt_strbuf_addf(buf, "<%s of %u dimensions>", self->meta->type->tp_name,
                   (unsigned)self->meta->ndim);
}

const DtVarType dt_kind_type_ARRAY = {
    .kind = DT_KIND_ARRAY,
    .nb_negative = array_negative,
    .nb_positive = array_positive,
    .nb_invert = array_invert,
    .nb_bool = array_bool,
    .sq_length = array_length,
    .mp_subscript = array_subscript,
    .mp_ass_subscript = array_ass_subscript,
    .sq_contains = array_contains,
    .tp_getattro = array_getattro,
    .tp_setattro = array_setattro,
    .tp_iter = array_iter,
    .python_type = array_type,
    .repr = array_repr,
};
