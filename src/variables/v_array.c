/* Arrays: every slot goes to the array's adapter.
 *
 * Operators and comparisons do not come here: dispatch.c asks the adapter as
 * soon as one operand is an array.
 *
 * Not in here: anything about a library.
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

DtStatus
dt_var_adapter_method(DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    return dt_kinds_method_row(trace, &self->base, NULL, name, out);
}

/* An optional slot that the adapter leaves out is a graph break that names it. */
static DtStatus
not_offered(DtTrace *trace, DtArrayVar *self, const char *what)
{
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of an array of %s", what, self->adapter->name);
}

static DtStatus
unary(DtTrace *trace, DtVar *var, const char *op, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->unary != NULL ? self->adapter->unary(self->adapter, trace, op, self, out)
                                        : not_offered(trace, self, op);
}

static DtStatus
array_negative(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, self, "-", out);
}

static DtStatus
array_positive(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, self, "+", out);
}

static DtStatus
array_invert(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, self, "~", out);
}

static DtStatus
array_bool(DtTrace *trace, DtVar *var, bool *out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->truth != NULL
               ? self->adapter->truth(self->adapter, trace, self, out)
               : dt_break(trace, DT_BREAK_ARRAY_BRANCH, "the truth of an array of %s",
                          self->adapter->name);
}

static DtStatus
array_length(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->length != NULL ? self->adapter->length(self->adapter, trace, self, out)
                                         : not_offered(trace, self, "len()");
}

static DtStatus
array_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->subscript != NULL
               ? self->adapter->subscript(self->adapter, trace, self, key, out)
               : not_offered(trace, self, "[]");
}

static DtStatus
array_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->ass_subscript != NULL
               ? self->adapter->ass_subscript(self->adapter, trace, self, key, value)
               : not_offered(trace, self, "[] =");
}

/* `in` compares elements: its answer depends on them. */
static DtStatus
array_contains(DtTrace *trace, DtVar *var, DtVar *item, DtVar **out)
{
    (void)item;
    (void)out;
    return dt_break(trace, DT_BREAK_ARRAY_BRANCH, "'in' an array of %s",
                    ((DtArrayVar *)var)->adapter->name);
}

static DtStatus
array_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_of(trace, var, out);
    }
    return self->adapter->getattr(self->adapter, trace, self, name, out);
}

static DtStatus
array_iter(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtArrayVar *self = (DtArrayVar *)var;
    return self->adapter->iter != NULL ? self->adapter->iter(self->adapter, trace, self, out)
                                       : not_offered(trace, self, "iter()");
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
    dt_strbuf_addf(buf, "<%s(", self->meta->type->tp_name);
    for (int i = 0; i < self->meta->ndim; i++) {
        dt_strbuf_add(buf, i > 0 ? ", " : "");
        dt_sym_print(self->meta->shape[i], buf);
    }
    dt_strbuf_add(buf, ")>");
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
    .tp_iter = array_iter,
    .python_type = array_type,
    .repr = array_repr,
};
