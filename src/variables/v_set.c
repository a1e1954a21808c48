/* Sets and frozensets: the entries of a dict without values (v_dict.c).
 *
 * Iterating a set follows the real order of hashing, which the trace does not
 * know for sets that it made: that is a graph break unless there is at most
 * one element.
 */
#include <string.h>

#include "variables/kinds.h"

DtStatus
dt_set_new(DtTrace *trace, PyTypeObject *cls, DtDictVar **out)
{
    *out = DT_KINDS_NEW(trace, SET, DtDictVar, NULL);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->cls = cls;
    (*out)->base.mutation = cls == &PySet_Type ? DT_VALUE_MUTATION_NEW : DT_IMMUTABLE;
    return DT_OK;
}

static DtStatus
put(DtTrace *trace, DtDictVar *set, DtVar *item)
{
    DtEntry entry;
    DT_TRY(dt_dict_key(trace, item, &entry));
    if (dt_dict_find(set, &entry) == NULL && dt_vec_push(&trace->arena, set, entry) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

DtStatus
dt_var_set(DtTrace *trace, DtVar *const *items, uint32_t count, DtVar **out)
{
    DtDictVar *set;
    DT_TRY(dt_set_new(trace, &PySet_Type, &set));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(put(trace, set, items[i]));
    }
    *out = &set->base;
    return DT_OK;
}

/* Only sets that can't change are inputs: no source reads an element of a set. */
DtStatus
dt_set_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    if (!PyFrozenSet_CheckExact(object)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a set that existed before");
    }
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DtDictVar *self;
    DT_TRY(dt_set_new(trace, &PyFrozenSet_Type, &self));
    self->base.source = source;
    self->object = object;
    /* The order of the real set, as an iteration of the program would see it. */
    PyObject *items = dt_trace_keep_take(trace, PySequence_Tuple(object));
    if (items == NULL) {
        return DT_ERROR;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        DtVar *var;
        if (dt_constant_is_safe(item)) {
            DT_TRY(dt_var_const(trace, item, &var));
        }
        else {
            DT_TRY(dt_build_known(trace, item, &var));
        }
        DT_TRY(put(trace, self, var));
    }
    *out = &self->base;
    return DT_OK;
}

/* ---- Methods
 * -------------------------------------------------------------------------------------- */

static DtStatus
set_add(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtEntry entry;
    DT_TRY(dt_dict_key(trace, args->pos[0], &entry));
    DT_TRY(dt_kinds_will_change(trace, self));
    *out = dt_none(trace);
    return put(trace, (DtDictVar *)self, args->pos[0]);
}

static DtStatus
set_update(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    *out = dt_none(trace);
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar **items;
        uint32_t count;
        DT_TRY(dt_var_unpack(trace, args->pos[i], &items, &count));
        DT_TRY(dt_kinds_will_change(trace, self));
        for (uint32_t k = 0; k < count; k++) {
            DT_TRY(put(trace, (DtDictVar *)self, items[k]));
        }
    }
    return DT_OK;
}

static DtStatus
remove_item(DtTrace *trace, DtDictVar *set, DtVar *item, bool *found)
{
    DtEntry key;
    DT_TRY(dt_dict_key(trace, item, &key));
    DtEntry *entry = dt_dict_find(set, &key);
    *found = entry != NULL;
    if (entry == NULL) {
        return DT_OK;
    }
    uint32_t at = (uint32_t)(entry - set->items);
    DT_TRY(dt_kinds_will_change(trace, &set->base));
    memmove(set->items + at, set->items + at + 1, (set->count - at - 1) * sizeof(DtEntry));
    set->count--;
    return DT_OK;
}

static DtStatus
set_discard(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool found;
    *out = dt_none(trace);
    return remove_item(trace, (DtDictVar *)self, args->pos[0], &found);
}

static DtStatus
set_remove(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool found;
    *out = dt_none(trace);
    DT_TRY(remove_item(trace, (DtDictVar *)self, args->pos[0], &found));
    return found ? DT_OK : dt_kinds_raise(trace, "KeyError", "an element that is not in the set");
}

static DtStatus
set_clear(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DT_TRY(dt_kinds_will_change(trace, self));
    ((DtDictVar *)self)->count = 0;
    *out = dt_none(trace);
    return DT_OK;
}

static DtStatus
set_copy(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtDictVar *from = (DtDictVar *)self, *copy;
    DT_TRY(dt_set_new(trace, from->cls, &copy));
    for (uint32_t i = 0; i < from->count; i++) {
        DT_TRY(put(trace, copy, from->items[i].key_var));
    }
    *out = &copy->base;
    return DT_OK;
}

/* ---- Slots
 * ---------------------------------------------------------------------------------------- */

static DtStatus
combine(DtTrace *trace, DtBinaryOp op, DtDictVar *a, DtDictVar *b, DtVar **out)
{
    DtDictVar *made;
    DT_TRY(dt_set_new(trace, a->cls, &made));
    for (uint32_t i = 0; i < a->count; i++) {
        bool common = dt_dict_find(b, &a->items[i]) != NULL;
        if (op == DT_BINARY_OR || (op == DT_BINARY_AND) == common) {
            DT_TRY(put(trace, made, a->items[i].key_var));
        }
    }
    for (uint32_t i = 0; i < b->count && (op == DT_BINARY_OR || op == DT_BINARY_XOR); i++) {
        if (dt_dict_find(a, &b->items[i]) == NULL) {
            DT_TRY(put(trace, made, b->items[i].key_var));
        }
    }
    *out = &made->base;
    return DT_OK;
}

static DtStatus
set_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (left->type->kind != DT_KIND_SET || right->type->kind != DT_KIND_SET) {
        return DT_OK;
    }
    DtBinaryOp plain = (DtBinaryOp)DT_BINARY_PLAIN(op);
    if (plain != DT_BINARY_OR && plain != DT_BINARY_AND && plain != DT_BINARY_XOR
        && plain != DT_BINARY_SUBTRACT) {
        return DT_OK;
    }
    DtDictVar *self = (DtDictVar *)left;
    DT_TRY(combine(trace, plain, self, (DtDictVar *)right, out));
    if (!DT_BINARY_IS_INPLACE(op) || self->cls != &PySet_Type) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, left));
    self->items = ((DtDictVar *)*out)->items;
    self->count = ((DtDictVar *)*out)->count;
    self->capacity = ((DtDictVar *)*out)->capacity;
    *out = left;
    return DT_OK;
}

static DtStatus
set_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtDictVar *)self)->count, out);
}

static DtStatus
set_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtEntry entry;
    DT_TRY(dt_dict_key(trace, item, &entry));
    return dt_var_bool(trace, dt_dict_find((DtDictVar *)self, &entry) != NULL, out);
}

static DtStatus
set_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtDictVar *set = (DtDictVar *)self;
    if (set->count > 1 && set->object == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the order of a set made in the function");
    }
    return dt_iter_dict(trace, set, 0, out);
}

static DtStatus
set_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (left->type->kind != DT_KIND_SET || right->type->kind != DT_KIND_SET) {
        return DT_OK;
    }
    DtDictVar *a = (DtDictVar *)left, *b = (DtDictVar *)right;
    uint32_t common = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        common += dt_dict_find(b, &a->items[i]) != NULL;
    }
    bool below = common == a->count, above = common == b->count;
    bool result = op == Py_EQ   ? below && above
                  : op == Py_NE ? !(below && above)
                  : op == Py_LE ? below
                  : op == Py_LT ? below && !above
                  : op == Py_GE ? above
                                : above && !below;
    return dt_var_bool(trace, result, out);
}

static PyTypeObject *
set_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtDictVar *)self)->cls;
}

static DtStatus
set_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DtDictVar *self = (DtDictVar *)var;
    bool frozen = self->cls == &PyFrozenSet_Type;
    if (frozen) {
        DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&PyFrozenSet_Type));
    }
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(dt_codegen_var(codegen, self->items[i].key_var));
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_SET, (int32_t)self->count));
    return frozen ? dt_codegen_call(codegen, 1) : DT_OK;
}

static DtStatus
set_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    DtDictVar *self = (DtDictVar *)var;
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(visit(trace, self->items[i].key_var, arg));
    }
    return DT_OK;
}

static const DtMethodRow set_methods[] = {
    {"add", set_add, 1, 1, false},       {"clear", set_clear, 0, 0, false},
    {"copy", set_copy, 0, 0, false},     {"discard", set_discard, 1, 1, false},
    {"remove", set_remove, 1, 1, false}, {"update", set_update, 0, -1, false},
    {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_SET = {
    .kind = DT_KIND_SET,
    .nb_binary = set_binary,
    .sq_length = set_length,
    .sq_contains = set_contains,
    .tp_iter = set_iter,
    .tp_richcompare = set_compare,
    .methods = set_methods,
    .python_type = set_type,
    .reconstruct = set_reconstruct,
    .children = set_children,
};
