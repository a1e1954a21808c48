/* Items that the trace stores in a list of any length, at numbers that are other ones in each call.
 *
 *   xs[i], xs[j] = xs[j], xs[i]         stored:  at   before        value
 *                                                i    xs[i]         <what xs[j] was>
 *                                                j    xs[j]         <what xs[i] was>
 *
 * Invariants: each number is guarded not to be negative, to be a place of the list as it was
 * before, and not to be one of the others; nothing of before is known at the two ends of the list,
 * so all of these places are in its gap.
 *
 * Not in here: reading a list that was not changed (picked.c), the ends (v_growing_list.c).
 */
#include <string.h>

#include "compat/list.h"
#include "variables/kinds.h"

/* Each one is compared with all the others. */
#define MOST_STORED 16

/* The number that a key is; NULL: it is none, it is counted from the end now, or the list can't be
 * asked for single items. */
static const DtSym *
place_of(DtTrace *trace, const DtGrowingListVar *self, DtVar *key)
{
    const DtSeqVar *list = &self->list;
    bool is_open = self->head == 0 && self->first == 0 && self->last == 0
                   && trace->options.dynamic != 0 && !list->base.source->synthetic
                   && PyList_CheckExact(list->object) && !dt_list_is_being_sorted(list->object);
    const DtSym *sym = is_open ? dt_symbolic_of(trace, key) : NULL;
    return sym != NULL && sym->type == DT_SYM_INT && sym->hint.i >= 0
                   && !dt_trace_depends_on_data(trace, sym)
               ? sym
               : NULL;
}

static DtStatus
require_from_start(DtTrace *trace, const DtSym *at)
{
    const DtSym *zero = dt_sym_int(&trace->arena, 0), *holds = NULL;
    bool truth;
    if (zero == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_GE, at, zero, &holds));
    return holds != NULL ? dt_trace_decide(trace, holds, &truth) : dt_trace_specialize(trace, at);
}

/* Which of the stored ones it is, in this call and in every other; their number: none. */
static DtStatus
find(DtTrace *trace, const DtGrowingListVar *self, DtVar *key, uint32_t *out)
{
    for (*out = 0; *out < self->nstored; (*out)++) {
        DtVar *equal;
        bool same;
        DT_TRY(dt_var_compare(trace, Py_EQ, self->stored[*out].at, key, &equal));
        DT_TRY(dt_var_truth(trace, equal, &same));
        if (same) {
            break;
        }
    }
    return DT_OK;
}

/* Where the trace has appended the item, if that is the one: how far the number is behind the
 * length of before is guarded; *out NULL: it has not. */
static DtStatus
find_added(DtTrace *trace, DtGrowingListVar *self, const DtSym *at, DtVar ***out)
{
    DtSeqVar *list = &self->list;
    int64_t count = PyList_GET_SIZE(list->object), behind = at->hint.i - count;
    const DtSym *size, *place = NULL, *equal = NULL;
    bool truth;
    *out = NULL;
    if (behind < 0 || behind >= list->count) {
        return DT_OK;
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_LIST_SIZE, list->base.source, NULL, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_growing_list_guard(trace, &list->base));
    DT_TRY(dt_trace_symbol(trace, source, DT_SYM_INT, (DtNumber){.i = count}, &size));
    DT_TRY(dt_sym_offset(&trace->arena, size, behind, &place));
    if (place != NULL) {
        DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_EQ, at, place, &equal));
    }
    if (equal != NULL) {
        DT_TRY(dt_trace_decide(trace, equal, &truth));
        *out = &list->items[behind];
    }
    return DT_OK;
}

DtStatus
dt_stored_find(DtTrace *trace, DtGrowingListVar *self, DtVar *key, DtVar **out)
{
    *out = NULL;
    if (!dt_journal_has_changed(trace, &self->list.base)) {
        return dt_picked_item(trace, &self->list, key, out);
    }
    bool asks = key->type->kind == DT_KIND_SYMBOLIC || self->nstored > 0;
    const DtSym *at = asks ? place_of(trace, self, key) : NULL;
    uint32_t index;
    DtVar **added;
    if (at == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_picked_before(trace, &self->list, at, out));
    if (*out == NULL) {
        DT_TRY(find_added(trace, self, at, &added));
        *out = added != NULL ? *added : NULL;
        return DT_OK;
    }
    DT_TRY(require_from_start(trace, at));
    DT_TRY(find(trace, self, key, &index));
    *out = index < self->nstored ? self->stored[index].value : *out;
    return DT_OK;
}

DtStatus
dt_stored_put(DtTrace *trace, DtGrowingListVar *self, DtVar *key, DtVar *value, bool *done)
{
    bool asks = key->type->kind == DT_KIND_SYMBOLIC || self->nstored > 0;
    const DtSym *at = asks && self->nstored < MOST_STORED ? place_of(trace, self, key) : NULL;
    DtVar *before = NULL, **added = NULL;
    uint32_t index;
    *done = false;
    if (at != NULL) {
        DT_TRY(dt_picked_before(trace, &self->list, at, &before));
    }
    if (at != NULL && before == NULL) {
        DT_TRY(find_added(trace, self, at, &added));
    }
    *done = before != NULL || added != NULL;
    if (added != NULL) {
        index = (uint32_t)(added - self->list.items);
        DT_TRY(dt_kinds_will_change(trace, &self->list.base));
        self->list.items[index] = value;
    }
    if (before == NULL) {
        return DT_OK;
    }
    DT_TRY(require_from_start(trace, at));
    DT_TRY(find(trace, self, key, &index));
    DT_TRY(dt_kinds_will_change(trace, &self->list.base));
    DtStoredItem *stored = DT_ARENA_ARRAY(&trace->arena, DtStoredItem, self->nstored + 1);
    if (stored == NULL) {
        return dt_no_memory();
    }
    if (self->nstored > 0) {
        memcpy(stored, self->stored, self->nstored * sizeof(DtStoredItem));
    }
    if (index == self->nstored) {
        stored[index] = (DtStoredItem){.at = key, .before = before};
    }
    stored[index].value = value;
    self->nstored += index == self->nstored;
    self->stored = stored;
    return DT_OK;
}

DtStatus
dt_stored_settle(DtTrace *trace, DtGrowingListVar *self, DtVar **old, DtVar **items)
{
    for (uint32_t i = 0; i < self->nstored; i++) {
        int64_t index;
        bool ok;
        DT_TRY(dt_constant_index(trace, self->stored[i].at, &index, &ok));
        assert(ok);
        old[index] = self->stored[i].before;
        items[index] = self->stored[i].value;
    }
    self->nstored = 0;
    return DT_OK;
}

DtStatus
dt_stored_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                   void *arg)
{
    const DtGrowingListVar *self = (const DtGrowingListVar *)var;
    for (uint32_t i = 0; i < self->nstored; i++) {
        DT_TRY(visit(trace, self->stored[i].value, arg));
    }
    return dt_sequence_children(trace, var, visit, arg);
}
