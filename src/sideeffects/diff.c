/* From what an existing container held and holds to the fewest writes.
 *
 *   list   [p p p|old|s s]  ──►  list[3:5] = new; appended where nobody has read it
 *   dict   keys kept in order │ deleted │ new ones at the end
 *   set    discards, additions; the calls themselves where the table depends on them
 *
 * Key order of a dict and identity of a list are those of plain execution.
 */
#include "sideeffects/entries.h"

#include "compat/iterators.h"
#include "variables/kinds.h"
#include "variables/classes/payloads.h"
#include "variables/containers/set_layout.h"

DtStatus
dt_diff_items(DtTrace *trace, DtVar *container, DtVar ***items, DtVar ***values, uint32_t *count)
{
    if (container->type->kind == DT_KIND_BYTEARRAY) {
        *count = 1;
        *values = NULL;
        *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, 1);
        return *items == NULL ? dt_no_memory()
                              : dt_var_const(trace, ((DtBytesVar *)container)->value, *items);
    }
    if (container->type->kind == DT_KIND_ITERATOR || container->type->kind == DT_KIND_GROWING_LIST
        || container->type->kind == DT_KIND_GROWING_DICT) {
        *count = 0; /* it knows how many steps it has made, or what was added */
        *items = *values = NULL;
        return DT_OK;
    }
    bool is_list = container->type->kind == DT_KIND_LIST;
    const DtSeqVar *list = (const DtSeqVar *)container;
    const DtDictVar *dict = (const DtDictVar *)container;
    *count = is_list ? list->count : dict->count;
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, *count + 1);
    *values = NULL;
    if (container->type->kind == DT_KIND_DICT) {
        *values = DT_ARENA_ARRAY(&trace->arena, DtVar *, *count + 1);
    }
    if (*items == NULL || (container->type->kind == DT_KIND_DICT && *values == NULL)) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < *count; i++) {
        (*items)[i] = is_list ? list->items[i] : dict->items[i].key_var;
        if (*values != NULL) {
            (*values)[i] = dict->items[i].value;
        }
    }
    return DT_OK;
}

static bool
is_same(DtVar *a, DtVar *b)
{
    return dt_var_peek(a) == dt_var_peek(b);
}

/* Equal as keys: the same tracker, or equal constants (whose comparison runs no user code). */
static DtStatus
is_same_key(DtVar *a, DtVar *b, bool *same)
{
    *same = is_same(a, b);
    PyObject *left = *same ? NULL : dt_var_peek_constant(a);
    PyObject *right = *same ? NULL : dt_var_peek_constant(b);
    if (left != NULL && right != NULL) {
        int equal = PyObject_RichCompareBool(left, right, Py_EQ);
        if (equal < 0) {
            return DT_ERROR;
        }
        *same = equal == 1;
    }
    return DT_OK;
}

/* A write to the builtin part of an instance becomes a call of the builtin base's own method, so
 * that what the class overrides is not asked. */
static DtStatus
as_method(DtTrace *trace, DtInstanceVar *owner, DtWrite *write)
{
    static const char *const names[DT_WRITE_COUNT] = {[DT_WRITE_ITEM] = "__setitem__",
                                                      [DT_WRITE_DELETE_ITEM] = "__delitem__",
                                                      [DT_WRITE_SLICE] = "__setitem__",
                                                      [DT_WRITE_ADD] = "add",
                                                      [DT_WRITE_DISCARD] = "discard"};
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2);
    uint32_t count = 0;
    if (values == NULL) {
        return dt_no_memory();
    }
    if (write->kind == DT_WRITE_METHOD) {
        write->base = dt_build_layout(owner->cls);
        write->object = &owner->base;
        return DT_OK;
    }
    if (write->kind == DT_WRITE_SLICE) {
        DtVar *start, *stop;
        DT_TRY(dt_var_int(trace, write->start, &start));
        DT_TRY(dt_var_int(trace, write->stop, &stop));
        DT_TRY(dt_var_slice(trace, start, stop, dt_none(trace), &values[count++]));
        DT_TRY(dt_var_list(trace, write->values, write->count, &values[count++]));
    }
    else {
        if (write->key != NULL) {
            values[count++] = write->key;
        }
        if (write->count > 0) {
            values[count++] = write->values[0];
        }
    }
    write->name = dt_trace_keep_take(trace, PyUnicode_InternFromString(names[write->kind]));
    if (write->name == NULL) {
        return DT_ERROR;
    }
    write->kind = DT_WRITE_METHOD;
    write->base = dt_build_layout(owner->cls);
    write->object = &owner->base;
    write->key = NULL;
    write->values = values;
    write->count = count;
    return DT_OK;
}

static DtStatus
add_write(DtTrace *trace, DtWrite write)
{
    DtInstanceVar *owner = dt_payload_owner(trace, write.object);
    if (owner != NULL) {
        DT_TRY(as_method(trace, owner, &write));
    }
    return dt_vec_push(&trace->arena, &trace->journal->writes, write) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_diff_set_value(DtTrace *trace, DtWrite *write, DtVar *value)
{
    if (value == NULL) {
        return DT_OK;
    }
    write->values = DT_ARENA_NEW(&trace->arena, DtVar *);
    if (write->values == NULL) {
        return dt_no_memory();
    }
    write->values[0] = value;
    write->count = 1;
    return DT_OK;
}

/* `write` with one value. */
static DtStatus
add_value(DtTrace *trace, DtWrite write, DtVar *value)
{
    DT_TRY(dt_diff_set_value(trace, &write, value));
    return add_write(trace, write);
}

static DtStatus
diff_list(DtTrace *trace, const DtJournalEntry *entry)
{
    const DtSeqVar *list = (const DtSeqVar *)entry->object;
    uint32_t head = 0, tail = 0;
    uint32_t shorter = list->count < entry->count ? list->count : entry->count;
    while (head < shorter && is_same(list->items[head], entry->items[head])) {
        head++;
    }
    while (tail < shorter - head
           && is_same(list->items[list->count - 1 - tail], entry->items[entry->count - 1 - tail])) {
        tail++;
    }
    if (list->count == entry->count && head == list->count) {
        return DT_OK;
    }
    return add_write(trace, (DtWrite){.kind = DT_WRITE_SLICE,
                                      .object = entry->object,
                                      .values = list->items + head,
                                      .count = list->count - head - tail,
                                      .start = head,
                                      .stop = (int64_t)entry->count - tail});
}

/* base.name(container[, value]) */
static DtStatus
add_call(DtTrace *trace, DtVar *container, PyTypeObject *base, const char *name, DtVar *value)
{
    DtWrite write = {.kind = DT_WRITE_METHOD,
                     .object = container,
                     .base = base,
                     .name = dt_trace_keep_take(trace, PyUnicode_InternFromString(name))};
    if (write.name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_diff_set_value(trace, &write, value));
    return dt_vec_push(&trace->arena, &trace->journal->writes, write) == 0 ? DT_OK : dt_no_memory();
}

/* append() or extend() of a list or deque */
static DtStatus
add_items(DtTrace *trace, DtVar *container, PyTypeObject *base, DtVar **items, uint32_t count)
{
    if (count <= 1) {
        return count == 0 ? DT_OK : add_call(trace, container, base, "append", items[0]);
    }
    DtVar *added;
    DT_TRY(dt_var_list(trace, items, count, &added));
    return add_call(trace, container, base, "extend", added);
}

/* deque[at] = value, which iterators over it do not notice. */
static DtStatus
add_assignment(DtTrace *trace, DtInstanceVar *owner, int64_t at, DtVar *value)
{
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2);
    DtWrite write = {.kind = DT_WRITE_METHOD,
                     .object = &owner->base,
                     .base = dt_build_layout(owner->cls),
                     .name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__setitem__")),
                     .values = values,
                     .count = 2};
    if (values == NULL || write.name == NULL) {
        return values == NULL ? dt_no_memory() : DT_ERROR;
    }
    values[1] = value;
    DT_TRY(dt_var_int(trace, at, &values[0]));
    return dt_vec_push(&trace->arena, &trace->journal->writes, write) == 0 ? DT_OK : dt_no_memory();
}

/* Whether nothing was added to the deque or taken off it. */
static bool
only_assigned(DtTrace *trace, const DtInstanceVar *owner)
{
    const DtSeqVar *more = (const DtSeqVar *)owner->more; /* maxlen, number of changes ... */
    PyObject *changes =
        more != NULL && more->count == 3 ? dt_var_as_constant(trace, more->items[1]) : NULL;
    return changes != NULL && PyLong_CheckExact(changes) && PyObject_Not(changes) == 1;
}

/* The deque was changed and is as before, which iterators over it notice: `first` or `last` is an
 * item of its end, where one is known.  Where none is, something was added that did not go. */
static DtStatus
add_notice(DtTrace *trace, DtInstanceVar *owner, DtVar *first, DtVar *last)
{
    PyTypeObject *deque = dt_build_layout(owner->cls);
    if (first != NULL) {
        DT_TRY(add_call(trace, &owner->base, deque, "popleft", NULL));
        return add_call(trace, &owner->base, deque, "appendleft", first);
    }
    if (last != NULL) {
        DT_TRY(add_call(trace, &owner->base, deque, "pop", NULL));
        return add_call(trace, &owner->base, deque, "append", last);
    }
    PyObject *limit = dt_var_as_constant(trace, ((const DtSeqVar *)owner->more)->items[0]);
    bool keeps = limit == NULL || limit == Py_None || PyObject_IsTrue(limit) == 1;
    DT_TRY(add_call(trace, &owner->base, deque, "append", dt_none(trace)));
    return keeps ? add_call(trace, &owner->base, deque, "pop", NULL) : DT_OK;
}

/* A deque lost some items at its left end and got some at its right one, or it is filled anew. */
static DtStatus
diff_deque(DtTrace *trace, DtInstanceVar *owner, const DtJournalEntry *entry)
{
    static const uint32_t most_pops = 8;
    PyTypeObject *deque = dt_build_layout(owner->cls);
    const DtSeqVar *list = (const DtSeqVar *)entry->object;
    uint32_t gone = 0, kept = 0;
    if (only_assigned(trace, owner) && list->count == entry->count) {
        for (uint32_t i = 0; i < list->count; i++) {
            if (!is_same(list->items[i], entry->items[i])) {
                DT_TRY(add_assignment(trace, owner, i, list->items[i]));
            }
        }
        return DT_OK;
    }
    for (; gone <= entry->count; gone++) {
        uint32_t rest = entry->count - gone;
        for (kept = 0; kept < rest && kept < list->count
                       && is_same(list->items[kept], entry->items[gone + kept]);
             kept++) {}
        if (kept == rest) {
            break;
        }
    }
    if (gone == 0 && kept == list->count) {
        return add_notice(trace, owner, kept > 0 ? list->items[0] : NULL, NULL);
    }
    if (gone > most_pops || kept == 0) {
        DT_TRY(add_call(trace, &owner->base, deque, "clear", NULL));
        kept = 0;
    }
    else {
        for (; gone > 0; gone--) {
            DT_TRY(add_call(trace, &owner->base, deque, "popleft", NULL));
        }
    }
    return add_items(trace, &owner->base, deque, list->items + kept, list->count - kept);
}

/* What has changed at the two ends of a list: the first `gone` items of before became `added`, and
 * the last ones of before likewise.  What stands next to the gap and was there is left alone. */
typedef struct Ends {
    DtVar **before; /* of the start, then of the end */
    uint32_t start_gone, start_added, end_gone, end_added;
} Ends;

static DtStatus
find_ends(DtTrace *trace, DtGrowingListVar *self, Ends *out)
{
    const DtSeqVar *list = &self->list;
    uint32_t start = self->head, gone = self->first, same = 0, count = list->count - self->head;
    DT_TRY(dt_growing_list_before(trace, self, &out->before));
    while (start > 0 && gone > 0 && is_same(list->items[start - 1], out->before[gone - 1])) {
        start--;
        gone--;
    }
    while (same < self->last && same < count
           && is_same(list->items[self->head + same], out->before[self->first + same])) {
        same++;
    }
    out->start_gone = gone;
    out->start_added = start;
    out->end_gone = self->last - same;
    out->end_added = count - same;
    return DT_OK;
}

/* What was done to it is undone, which list.sort() would see: that it is not being sorted is a
 * guard of whoever reads its length. */
static DtStatus
guard_unsorted(DtTrace *trace, const DtVar *list)
{
    const DtSource *size = dt_source_get(trace, DT_SOURCE_LIST_SIZE, list->source, NULL, 0);
    return size != NULL ? dt_guard_present(trace, size) : DT_ERROR;
}

/* How many items the list has between its two ends then, nobody asked. */
static DtStatus
diff_growing_list(DtTrace *trace, DtGrowingListVar *self)
{
    DtSeqVar *list = &self->list;
    Ends ends;
    for (uint32_t i = 0; i < self->nstored; i++) {
        const DtStoredItem *item = &self->stored[i];
        if (!is_same(item->value, item->before)) {
            DT_TRY(add_value(
                trace, (DtWrite){.kind = DT_WRITE_ITEM, .object = &list->base, .key = item->at},
                item->value));
        }
    }
    DT_TRY(find_ends(trace, self, &ends));
    if (ends.start_gone + ends.start_added + ends.end_gone + ends.end_added == 0) {
        return guard_unsorted(trace, &list->base);
    }
    if (ends.start_gone > 0 || ends.start_added > 0) {
        DT_TRY(add_write(trace, (DtWrite){.kind = DT_WRITE_SLICE,
                                          .object = &list->base,
                                          .values = list->items,
                                          .count = ends.start_added,
                                          .start = 0,
                                          .stop = ends.start_gone}));
    }
    DtVar **added = list->items + list->count - ends.end_added;
    if (ends.end_gone > 0) {
        return add_write(trace, (DtWrite){.kind = DT_WRITE_SLICE,
                                          .object = &list->base,
                                          .values = added,
                                          .count = ends.end_added,
                                          .start = -(int64_t)ends.end_gone,
                                          .stop = PY_SSIZE_T_MAX});
    }
    return add_items(trace, &list->base, list->cls, added, ends.end_added);
}

/* The same of a deque's.  What goes, goes first: there is never more in it than its maxlen. */
static DtStatus
diff_growing_deque(DtTrace *trace, DtInstanceVar *owner, DtGrowingListVar *self)
{
    PyTypeObject *deque = dt_build_layout(owner->cls);
    DtSeqVar *list = &self->list;
    Ends ends;
    DT_TRY(find_ends(trace, self, &ends));
    if (only_assigned(trace, owner)) {
        for (uint32_t i = 0; i < list->count; i++) {
            int64_t at = i < self->head ? i : (int64_t)i - list->count;
            if (!is_same(list->items[i], ends.before[i])) {
                DT_TRY(add_assignment(trace, owner, at, list->items[i]));
            }
        }
        return DT_OK;
    }
    if (ends.start_gone + ends.start_added + ends.end_gone + ends.end_added == 0) {
        return add_notice(trace, owner, self->first > 0 ? ends.before[0] : NULL,
                          self->last > 0 ? ends.before[self->first + self->last - 1] : NULL);
    }
    for (uint32_t i = 0; i < ends.start_gone; i++) {
        DT_TRY(add_call(trace, &owner->base, deque, "popleft", NULL));
    }
    for (uint32_t i = 0; i < ends.end_gone; i++) {
        DT_TRY(add_call(trace, &owner->base, deque, "pop", NULL));
    }
    for (uint32_t i = ends.start_added; i > 0; i--) {
        DT_TRY(add_call(trace, &owner->base, deque, "appendleft", list->items[i - 1]));
    }
    return add_items(trace, &owner->base, deque, list->items + list->count - ends.end_added,
                     ends.end_added);
}

static DtStatus
diff_dict(DtTrace *trace, const DtJournalEntry *entry)
{
    DtVar *dict = entry->object;
    DtVar **keys, **values;
    uint32_t count, kept = 0, next = 0;
    DT_TRY(dt_dict_check_hashes(trace, (const DtDictVar *)dict));
    DT_TRY(dt_diff_items(trace, dict, &keys, &values, &count));
    /* place[k]: 1 + which of the old keys the k-th one is, as long as they keep their order. */
    uint32_t *place = DT_ARENA_ARRAY(&trace->arena, uint32_t, count + 1);
    bool *stays = DT_ARENA_ARRAY(&trace->arena, bool, entry->count + 1);
    if (place == NULL || stays == NULL) {
        return dt_no_memory();
    }
    const DtDictEntry *now = ((DtDictVar *)dict)->items;
    for (bool same = true; same && kept < count; kept += same) {
        if (now[kept].inserted > entry->changes) {
            break; /* it was gone in between: iterators notice, and it may be another equal key */
        }
        for (same = false; !same && next < entry->count; next++) {
            DT_TRY(is_same_key(entry->items[next], keys[kept], &same));
        }
        if (same) {
            place[kept] = next;
            stays[next - 1] = true;
        }
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        if (!stays[i]) {
            DT_TRY(add_write(
                trace,
                (DtWrite){.kind = DT_WRITE_DELETE_ITEM, .object = dict, .key = entry->items[i]}));
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        if (k >= kept || !is_same(entry->values[place[k] - 1], values[k])) {
            DT_TRY(add_value(trace,
                             (DtWrite){.kind = DT_WRITE_ITEM, .object = dict, .key = keys[k]},
                             values[k]));
        }
    }
    return DT_OK;
}

/* What was taken out, then what stays and has another value, then what came in, in order. */
static DtStatus
diff_growing_dict(DtTrace *trace, DtGrowingDictVar *self)
{
    DtVar *dict = &self->dict.base;
    for (uint32_t i = 0; i < self->asked.count; i++) {
        const DtAskedKey *key = &self->asked.items[i];
        if (key->before != NULL && (key->was_taken || key->value == NULL)) {
            DT_TRY(add_write(
                trace, (DtWrite){.kind = DT_WRITE_DELETE_ITEM, .object = dict, .key = key->key}));
        }
    }
    for (uint32_t step = 0; step <= self->steps; step++) {
        for (uint32_t i = 0; i < self->asked.count; i++) {
            const DtAskedKey *key = &self->asked.items[i];
            bool stores = key->value != NULL && key->step == step;
            if (stores && (step > 0 || !is_same(key->before, key->value))) {
                DT_TRY(add_value(trace,
                                 (DtWrite){.kind = DT_WRITE_ITEM, .object = dict, .key = key->key},
                                 key->value));
            }
        }
    }
    return DT_OK;
}

/* Writes of `kind` for the items that the other array lacks. */
static DtStatus
diff_items(DtTrace *trace, DtVar *set, DtWriteKind kind, DtVar *const *items, uint32_t count,
           DtVar *const *others, uint32_t nothers)
{
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < nothers && !found; k++) {
            DT_TRY(is_same_key(items[i], others[k], &found));
        }
        if (!found) {
            DT_TRY(add_value(trace, (DtWrite){.kind = (uint8_t)kind, .object = set}, items[i]));
        }
    }
    return DT_OK;
}

static DtStatus
diff_set(DtTrace *trace, const DtJournalEntry *entry)
{
    DtVar **items, **none;
    uint32_t count, ncalls;
    DtLayoutCall *calls;
    DT_TRY(dt_dict_check_hashes(trace, (const DtDictVar *)entry->object));
    DT_TRY(dt_layout_calls(trace, (DtDictVar *)entry->object, &calls, &ncalls));
    for (uint32_t i = 0; i < ncalls; i++) {
        DtWrite write = {.kind = DT_WRITE_METHOD, .object = entry->object, .base = &PySet_Type};
        write.name = dt_trace_keep_take(trace, PyUnicode_InternFromString(calls[i].method));
        write.values = calls[i].args;
        write.count = calls[i].nargs;
        if (write.name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(add_write(trace, write));
    }
    if (ncalls > 0) {
        return DT_OK;
    }
    DT_TRY(dt_diff_items(trace, entry->object, &items, &none, &count));
    DT_TRY(diff_items(trace, entry->object, DT_WRITE_DISCARD, entry->items, entry->count, items,
                      count));
    return diff_items(trace, entry->object, DT_WRITE_ADD, items, count, entry->items, entry->count);
}

/* The contents were a bytes object before, and are another one now: [:] = contents. */
static DtStatus
diff_bytes(DtTrace *trace, const DtJournalEntry *entry)
{
    PyObject *value = ((DtBytesVar *)entry->object)->value;
    if (PyObject_RichCompareBool(value, dt_var_peek_constant(entry->items[0]), Py_EQ) == 1) {
        return DT_OK; /* two bytes objects: comparing them can't fail */
    }
    DtVar *key, *contents;
    DT_TRY(dt_var_const_take(trace, PySlice_New(NULL, NULL, NULL), &key));
    DT_TRY(dt_var_const(trace, value, &contents));
    return add_value(trace, (DtWrite){.kind = DT_WRITE_ITEM, .object = entry->object, .key = key},
                     contents);
}

/* The iterator makes the steps that the trace has made; the last one of an exhausted iterator lets
 * go of its list. */
static DtStatus
diff_iterator(DtTrace *trace, const DtIterVar *iterator)
{
    int64_t steps = iterator->index + iterator->exhausted;
    PyObject *advance = dt_iterators_advance();
    if (steps == 0 || advance == NULL) {
        return advance != NULL ? DT_OK : DT_ERROR;
    }
    for (uint32_t i = 0; i < trace->changed.count; i++) {
        if (trace->changed.items[i] == iterator->subject) {
            return dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                            "a list that is changed under an iterator that existed before");
        }
    }
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2);
    DtWrite write = {.kind = DT_WRITE_CALL, .values = values, .count = 2};
    if (values == NULL) {
        return dt_no_memory();
    }
    values[0] = (DtVar *)iterator;
    DT_TRY(dt_var_int(trace, steps, &values[1]));
    DT_TRY(dt_build_known(trace, advance, &write.object));
    return add_write(trace, write);
}

DtStatus
dt_diff_contents(DtTrace *trace, const DtJournalEntry *entry)
{
    DtInstanceVar *owner = dt_payload_owner(trace, entry->object);
    switch (entry->object->type->kind) {
    case DT_KIND_LIST:
        return owner != NULL && owner->contents == entry->object ? diff_deque(trace, owner, entry)
                                                                 : diff_list(trace, entry);
    case DT_KIND_GROWING_LIST:
        return owner != NULL ? diff_growing_deque(trace, owner, (DtGrowingListVar *)entry->object)
                             : diff_growing_list(trace, (DtGrowingListVar *)entry->object);
    case DT_KIND_DICT:
        return diff_dict(trace, entry);
    case DT_KIND_GROWING_DICT:
        return diff_growing_dict(trace, (DtGrowingDictVar *)entry->object);
    case DT_KIND_BYTEARRAY:
        return diff_bytes(trace, entry);
    case DT_KIND_ITERATOR:
        return diff_iterator(trace, (const DtIterVar *)entry->object);
    default:
        return diff_set(trace, entry);
    }
}
