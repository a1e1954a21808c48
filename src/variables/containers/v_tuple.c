/* Tuples.  Items of an input are lazy, so only what is looked at is guarded.
 *
 * Not in here: what named tuples add (v_namedtuple.c).
 */
#include "variables/kinds.h"

DtStatus
dt_var_tuple(DtTrace *trace, DtVar *const *items, uint32_t count, DtVar **out)
{
    return dt_sequence_new(trace, DT_KIND_TUPLE, items, count, out);
}

DtStatus
dt_tuple_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    Py_ssize_t count = PyTuple_GET_SIZE(object);
    if (!trusted) {
        DT_TRY(dt_guard_length(trace, source, &PyTuple_Type, count));
    }
    DtVar *made;
    DT_TRY(dt_sequence_new(trace, DT_KIND_TUPLE, NULL, 0, &made));
    DtSeqVar *self = (DtSeqVar *)made;
    self->items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (self->items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DtSource *item = dt_source_index(trace, source, i);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, PyTuple_GET_ITEM(object, i), item, &self->items[i]));
    }
    self->count = self->capacity = (uint32_t)count;
    self->base.source = source;
    self->object = object;
    *out = made;
    return DT_OK;
}

static DtStatus
tuple_repeat(DtTrace *trace, DtSeqVar *self, DtVar *times, DtVar **out)
{
    DtVar **items;
    uint32_t total;
    *out = dt_not_implemented(trace);
    DT_TRY(dt_sequence_repeated(trace, self, times, &items, &total));
    if (items == NULL) {
        return DT_OK;
    }
    if (self->cls == &PyTuple_Type && total == self->count) {
        *out = &self->base; /* CPython makes no copy either */
        return DT_OK;
    }
    return dt_var_tuple(trace, items, total, out);
}

static DtStatus
tuple_concat(DtTrace *trace, DtSeqVar *left, DtSeqVar *right, DtVar **out)
{
    if (left->count == 0 && right->cls == &PyTuple_Type) {
        *out = &right->base; /* CPython makes no copy either */
        return DT_OK;
    }
    if (right->count == 0 && left->cls == &PyTuple_Type) {
        *out = &left->base;
        return DT_OK;
    }
    uint32_t total = left->count + right->count;
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, total + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < total; i++) {
        items[i] = i < left->count ? left->items[i] : right->items[i - left->count];
    }
    return dt_var_tuple(trace, items, total, out);
}

static DtStatus
tuple_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    DtBinaryOp plain = (DtBinaryOp)DT_BINARY_PLAIN(op);
    bool left_tuple = left->type->kind == DT_KIND_TUPLE;
    bool right_tuple = right->type->kind == DT_KIND_TUPLE;
    *out = dt_not_implemented(trace);
    if (plain == DT_BINARY_ADD && left_tuple && right_tuple) {
        return tuple_concat(trace, (DtSeqVar *)left, (DtSeqVar *)right, out);
    }
    if (plain == DT_BINARY_MULTIPLY && left_tuple != right_tuple) {
        return tuple_repeat(trace, (DtSeqVar *)(left_tuple ? left : right),
                            left_tuple ? right : left, out);
    }
    return DT_OK;
}

static DtStatus
tuple_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    if (left->type->kind != DT_KIND_TUPLE || right->type->kind != DT_KIND_TUPLE) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_sequence_compare(trace, op, (DtSeqVar *)left, (DtSeqVar *)right, out);
}

static DtStatus
tuple_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    if (((DtSeqVar *)self)->cls != &PyTuple_Type) {
        return dt_namedtuple_getattr(trace, (DtSeqVar *)self, name, out);
    }
    return dt_kind_base.tp_getattro(trace, self, name, out);
}

static PyTypeObject *
tuple_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtSeqVar *)self)->cls;
}

static PyObject *
tuple_as_constant(DtTrace *trace, DtVar *var)
{
    DtSeqVar *self = (DtSeqVar *)var;
    if (var->source != NULL && var->source->kind == DT_SOURCE_OBJECT) {
        return var->source->key;
    }
    if (self->cls != &PyTuple_Type) {
        return NULL; /* its class would be lost */
    }
    PyObject *tuple = PyTuple_New(self->count);
    for (uint32_t i = 0; tuple != NULL && i < self->count; i++) {
        PyObject *item = dt_var_as_constant(trace, self->items[i]);
        if (item == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        Py_INCREF(item);
        PyTuple_SET_ITEM(tuple, i, item);
    }
    return dt_trace_keep_take(trace, tuple);
}

static DtStatus
tuple_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DtSeqVar *self = (DtSeqVar *)var;
    if (self->cls != &PyTuple_Type) {
        return dt_namedtuple_reconstruct(codegen, self);
    }
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(dt_codegen_var(codegen, self->items[i]));
    }
    return dt_codegen_op(codegen, DT_OP_BUILD_TUPLE, (int32_t)self->count);
}

static DtStatus
tuple_getnewargs(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtSeqVar *items = (DtSeqVar *)self;
    if (items->cls != &PyTuple_Type) {
        DT_TRY(dt_var_tuple(trace, items->items, items->count, &self));
    }
    return dt_var_tuple(trace, &self, 1, out);
}

static const DtMethodRow tuple_methods[] = {
    {"__getnewargs__", tuple_getnewargs, 0, 0, false},
    {"index", dt_sequence_index, 1, 3, false},
    {"count", dt_sequence_count, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_TUPLE = {
    .kind = DT_KIND_TUPLE,
    .nb_binary = tuple_binary,
    .sq_length = dt_sequence_length,
    .mp_subscript = dt_sequence_subscript,
    .sq_contains = dt_sequence_contains,
    .tp_getattro = tuple_getattro,
    .tp_iter = dt_iter_sequence,
    .tp_richcompare = tuple_compare,
    .methods = tuple_methods,
    .python_type = tuple_type,
    .as_constant = tuple_as_constant,
    .reconstruct = tuple_reconstruct,
    .children = dt_sequence_children,
    .repr = dt_sequence_repr,
};
