/* Lists, made by the trace or existing before it.
 *
 * Invariant: items change only after dt_kinds_will_change().
 *
 * Not in here: reading a list that existed before (v_growing_list.c), replaying
 * the changes (sideeffects/).
 */
#include <limits.h>
#include <string.h>

#include "variables/builtins/builtin_args.h"
#include "variables/fold.h"

DtStatus
dt_var_list(DtTrace *trace, DtVar *const *items, uint32_t count, DtVar **out)
{
    return dt_sequence_new(trace, DT_KIND_LIST, items, count, out);
}

/* ---- Changing -------------------------------------------------------------------------------- */

DtStatus
dt_list_splice(DtTrace *trace, DtSeqVar *self, int64_t at, int64_t removed, DtVar *const *added,
               uint32_t nadded)
{
    uint32_t count = self->count - (uint32_t)removed + nadded;
    uint32_t tail = self->count - (uint32_t)(at + removed);
    DtVar **into = self->items;
    if (count > self->capacity) {
        uint32_t capacity = count + count / 2 + 4;
        into = DT_ARENA_ARRAY(&trace->arena, DtVar *, capacity);
        if (into == NULL) {
            return dt_no_memory();
        }
        if (at > 0) {
            memcpy(into, self->items, (size_t)at * sizeof(DtVar *));
        }
        self->capacity = capacity;
    }
    if (tail > 0) {
        memmove(into + at + nadded, self->items + at + removed, tail * sizeof(DtVar *));
    }
    if (nadded > 0) {
        memmove(into + at, added, nadded * sizeof(DtVar *));
    }
    self->items = into;
    self->count = count;
    return DT_OK;
}

static DtStatus
list_insert_at(DtTrace *trace, DtSeqVar *self, int64_t at, DtVar *item)
{
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    return dt_list_splice(trace, self, at, 0, &item, 1);
}

static DtStatus
return_none(DtTrace *trace, DtVar **out)
{
    *out = dt_none(trace);
    return DT_OK;
}

static DtStatus
list_append(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    DT_TRY(list_insert_at(trace, self, self->count, args->pos[0]));
    return return_none(trace, out);
}

/* Item by item, as an iterator may look at the list, or raise after some items. */
static DtStatus
extend_lazily(DtTrace *trace, DtSeqVar *self, DtVar *iterable)
{
    DtVar *iterator, *item;
    DT_TRY(dt_var_iter(trace, iterable, &iterator));
    DT_TRY(dt_collect_hint(trace, iterable));
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item == NULL) {
            return DT_OK;
        }
        DT_TRY(list_insert_at(trace, self, self->count, item));
    }
}

DtStatus
dt_list_extend(DtTrace *trace, DtSeqVar *self, DtVar *iterable)
{
    DtVar **items;
    uint32_t count;
    DT_TRY(dt_var_realize(trace, iterable, &iterable));
    if (iterable->type->kind == DT_KIND_ITERATOR || iterable->type->kind == DT_KIND_GENERATOR
        || iterable->type->kind == DT_KIND_INSTANCE) {
        return extend_lazily(trace, self, iterable);
    }
    DT_TRY(dt_var_unpack(trace, iterable, &items, &count));
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    return dt_list_splice(trace, self, self->count, 0, items, count);
}

static DtStatus
list_extend(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DT_TRY(dt_list_extend(trace, (DtSeqVar *)var, args->pos[0]));
    return return_none(trace, out);
}

static DtStatus
index_argument(DtTrace *trace, DtVar *var, int64_t *out)
{
    bool ok;
    DT_TRY(dt_constant_index(trace, var, out, &ok));
    if (!ok) {
        return dt_raise(trace, PyExc_TypeError,
                        "'%.200s' object cannot be interpreted as an integer",
                        dt_var_python_type(trace, var)->tp_name);
    }
    return DT_OK;
}

static DtStatus
list_insert(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    int64_t at;
    DT_TRY(index_argument(trace, args->pos[0], &at));
    at += at < 0 ? self->count : 0;
    at = at < 0 ? 0 : at > self->count ? self->count : at;
    DT_TRY(list_insert_at(trace, self, at, args->pos[1]));
    return return_none(trace, out);
}

static DtStatus
list_pop(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    int64_t at = -1;
    if (args->npos > 0) {
        DT_TRY(index_argument(trace, args->pos[0], &at));
    }
    if (self->count == 0) {
        return dt_raise(trace, PyExc_IndexError, "pop from empty list");
    }
    at += at < 0 ? self->count : 0;
    if (at < 0 || at >= self->count) {
        return dt_raise(trace, PyExc_IndexError, "pop index out of range");
    }
    DT_TRY(dt_kinds_will_change(trace, var));
    *out = self->items[at];
    return dt_list_splice(trace, self, at, 1, NULL, 0);
}

static DtStatus
list_remove(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    for (uint32_t i = 0; i < self->count; i++) {
        bool found;
        DT_TRY(dt_sequence_item_equal(trace, self->items[i], args->pos[0], &found));
        if (found) {
            DT_TRY(dt_kinds_will_change(trace, var));
            DT_TRY(dt_list_splice(trace, self, i, 1, NULL, 0));
            return return_none(trace, out);
        }
    }
    return dt_raise(trace, PyExc_ValueError, "list.remove(x): x not in list");
}

static DtStatus
list_clear(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    (void)args;
    DT_TRY(dt_kinds_will_change(trace, var));
    ((DtSeqVar *)var)->count = 0;
    return return_none(trace, out);
}

static DtStatus
list_copy(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    (void)args;
    return dt_var_list(trace, ((DtSeqVar *)var)->items, ((DtSeqVar *)var)->count, out);
}

static DtStatus
list_reverse(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtSeqVar *self = (DtSeqVar *)var;
    DT_TRY(dt_kinds_will_change(trace, var));
    for (uint32_t i = 0; i < self->count / 2; i++) {
        DtVar *item = self->items[i];
        self->items[i] = self->items[self->count - 1 - i];
        self->items[self->count - 1 - i] = item;
    }
    return return_none(trace, out);
}

DtStatus
dt_list_descending(DtTrace *trace, DtVar *reverse, bool *out)
{
    *out = false;
    if (reverse == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, reverse, &reverse));
    PyTypeObject *type = dt_var_python_type(trace, reverse);
    if (type == &PyBool_Type) {
        return dt_var_truth(trace, reverse, out);
    }
    int64_t value = 0;
    bool ok = type == &PyLong_Type;
    if (ok) {
        DT_TRY(dt_constant_index(trace, reverse, &value, &ok));
    }
    if (!ok || value < INT_MIN || value > INT_MAX) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a sort with such an argument `reverse`");
    }
    *out = value != 0;
    return DT_OK;
}

static DtStatus
list_sort(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    static const char *const allowed[] = {"key", "reverse", NULL};
    DtSeqVar *self = (DtSeqVar *)var;
    if (!dt_builtin_knows(args, allowed)) {
        return dt_kinds_mismatch(trace, var, "sort", args);
    }
    DtVar *key = dt_args_keyword(args, "key");
    bool descending;
    DT_TRY(dt_list_descending(trace, dt_args_keyword(args, "reverse"), &descending));
    DtVar **items;
    uint32_t count;
    DT_TRY(dt_var_unpack(trace, var, &items, &count));
    DT_TRY(dt_kinds_will_change(trace, var));
    /* While it is sorted the list is empty to everybody who looks. */
    DtSeqVar before = *self;
    self->items = NULL;
    self->count = self->capacity = 0;
    DtStatus status = dt_list_sort(trace, items, count, key, descending);
    bool modified = self->items != NULL;
    self->items = before.items;
    self->count = before.count;
    self->capacity = before.capacity;
    if (status != DT_OK && status != DT_RAISE) {
        return status;
    }
    if (count > 0) {
        memcpy(self->items, items, count * sizeof(DtVar *));
    }
    DT_TRY(status); /* an exception leaves the list as far as it was sorted */
    if (modified) {
        return dt_raise(trace, PyExc_ValueError, "list modified during sort");
    }
    return return_none(trace, out);
}

DtStatus
dt_list_sort(DtTrace *trace, DtVar **items, uint32_t count, DtVar *key, bool descending)
{
    DtVar **keys = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (keys == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_var_given(trace, &key));
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = items[i];
        if (key != NULL) {
            DtArgs one = dt_args_of(&items[i], 1);
            DT_TRY(dt_var_call(trace, key, &one, &keys[i]));
        }
    }
    return dt_sort_follow(trace, items, keys, count, descending);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static DtStatus
list_repeat(DtTrace *trace, DtSeqVar *self, DtVar *times, bool in_place, DtVar **out)
{
    DtVar **items;
    uint32_t total;
    *out = dt_not_implemented(trace);
    DT_TRY(dt_sequence_repeated(trace, self, times, &items, &total));
    if (items == NULL) {
        return DT_OK;
    }
    if (in_place) {
        DT_TRY(dt_kinds_will_change(trace, &self->base));
        *out = &self->base;
        return dt_list_splice(trace, self, 0, self->count, items, total);
    }
    return dt_var_list(trace, items, total, out);
}

static DtStatus
list_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    bool left_list = left->type->kind == DT_KIND_LIST;
    bool right_list = right->type->kind == DT_KIND_LIST;
    *out = dt_not_implemented(trace);
    if (op == DT_BINARY_INPLACE_ADD && left_list) {
        DT_TRY(dt_list_extend(trace, (DtSeqVar *)left, right));
        *out = left;
        return DT_OK;
    }
    if (op == DT_BINARY_ADD && left_list && right_list) {
        DT_TRY(dt_var_list(trace, ((DtSeqVar *)left)->items, ((DtSeqVar *)left)->count, out));
        return dt_list_splice(trace, (DtSeqVar *)*out, ((DtSeqVar *)left)->count, 0,
                              ((DtSeqVar *)right)->items, ((DtSeqVar *)right)->count);
    }
    if (DT_BINARY_PLAIN(op) == DT_BINARY_MULTIPLY && left_list != right_list) {
        return list_repeat(trace, (DtSeqVar *)(left_list ? left : right), left_list ? right : left,
                           left_list && DT_BINARY_IS_INPLACE(op), out);
    }
    return DT_OK;
}

static DtStatus
assign_slice(DtTrace *trace, DtSeqVar *self, DtSeqVar *slice, DtVar *value)
{
    int64_t start, stop, step, count;
    DtVar **items = NULL;
    uint32_t nitems = 0;
    if (value != NULL) {
        DT_TRY(dt_collect_fast(trace, value, &items, &nitems));
    }
    DT_TRY(dt_slice_bounds(trace, slice, self->count, &start, &stop, &step, &count));
    if (step == 1) {
        DT_TRY(dt_kinds_will_change(trace, &self->base));
        return dt_list_splice(trace, self, start, count, items, nitems);
    }
    if (value != NULL && (int64_t)nitems != count) {
        return dt_raise(trace, PyExc_ValueError,
                        "attempt to assign sequence of size %u to extended slice of size %lld",
                        (unsigned)nitems, (long long)count);
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    if (value != NULL) {
        for (int64_t i = 0; i < count; i++) {
            self->items[start + i * step] = items[i];
        }
        return DT_OK;
    }
    /* Delete from the end, so that earlier positions stay. */
    for (int64_t i = 0; i < count; i++) {
        int64_t at = step > 0 ? start + (count - 1 - i) * step : start + i * step;
        DT_TRY(dt_list_splice(trace, self, at, 1, NULL, 0));
    }
    return DT_OK;
}

static DtStatus
fail_item(DtTrace *trace, DtSeqVar *self, DtVar *key, DtVar *value)
{
    DtVar *args[3] = {&self->base, key, value};
    return dt_fold_operator_failure(trace, value != NULL ? "setitem" : "delitem", args,
                                    value != NULL ? 3 : 2);
}

static DtStatus
list_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DtSeqVar *self = (DtSeqVar *)var;
    if (key->type->kind == DT_KIND_SLICE) {
        PyTypeObject *type = value != NULL ? dt_var_python_type(trace, value) : NULL;
        if (type != NULL && type->tp_iter == NULL
            && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
            return fail_item(trace, self, key, value);
        }
        return assign_slice(trace, self, (DtSeqVar *)key, value);
    }
    int64_t index;
    bool ok;
    DT_TRY(dt_constant_index(trace, key, &index, &ok));
    if (!ok) {
        return fail_item(trace, self, key, value);
    }
    index += index < 0 ? self->count : 0;
    if (index < 0 || index >= self->count) {
        return fail_item(trace, self, key, value);
    }
    DT_TRY(dt_kinds_will_change(trace, var));
    if (value == NULL) {
        return dt_list_splice(trace, self, index, 1, NULL, 0);
    }
    self->items[index] = value;
    return DT_OK;
}

static DtStatus
list_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    if (left->type->kind != DT_KIND_LIST || right->type->kind != DT_KIND_LIST) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    DtSeqVar *a = (DtSeqVar *)left, *b = (DtSeqVar *)right;
    if (a->count != b->count && (op == Py_EQ || op == Py_NE)) {
        return dt_var_bool(trace, op == Py_NE, out); /* tuples look at their items first */
    }
    return dt_sequence_compare(trace, op, a, b, out);
}

static PyTypeObject *
list_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyList_Type;
}

/* A list that existed is the object that its source reads; the journal replays its changes there.
 */
static DtStatus
list_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DtSeqVar *self = (DtSeqVar *)var;
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(dt_codegen_var(codegen, self->items[i]));
    }
    return dt_codegen_op(codegen, DT_OP_BUILD_LIST, (int32_t)self->count);
}

static const DtMethodRow list_methods[] = {
    {"append", list_append, 1, 1, false}, {"clear", list_clear, 0, 0, false},
    {"copy", list_copy, 0, 0, false},     {"count", dt_sequence_count, 1, 1, false},
    {"extend", list_extend, 1, 1, false}, {"index", dt_sequence_index, 1, 3, false},
    {"insert", list_insert, 2, 2, false}, {"pop", list_pop, 0, 1, false},
    {"remove", list_remove, 1, 1, false}, {"reverse", list_reverse, 0, 0, false},
    {"sort", list_sort, 0, 0, true},      {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_LIST = {
    .kind = DT_KIND_LIST,
    .nb_binary = list_binary,
    .sq_length = dt_sequence_length,
    .mp_subscript = dt_sequence_subscript,
    .mp_ass_subscript = list_ass_subscript,
    .sq_contains = dt_sequence_contains,
    .tp_iter = dt_iter_sequence,
    .tp_richcompare = list_compare,
    .methods = list_methods,
    .python_type = list_type,
    .reconstruct = list_reconstruct,
    .children = dt_sequence_children,
    .repr = dt_sequence_repr,
};
