/* See segment.h. */
#include "eval_frame/segment.h"

#include <string.h>

#include "bytecode/loops.h"
#include "compat/dying.h"
#include "eval_frame/policy.h"

/* Visits of one instruction from which on the instructions around it are a loop too long to unroll.
 */
#define LONG_LOOP 8

static bool
is_set_between(const DtBytecode *bytecode, int32_t head, int32_t last, int slot)
{
    for (int32_t i = head; i <= last; i++) {
        if (bytecode->instrs[i].op == DT_OP_STORE_FAST && bytecode->instrs[i].arg == slot) {
            return true;
        }
    }
    return false;
}

/* What an iteration has left where nobody reads it any more.  A segment that gives such a slot a
 * new value clears it: the next one would find another frame than the first, and be compiled anew.
 */
static void
clear_dead_slots(const DtSegment *segment, PyObject **memory)
{
    const DtBroken *broken = segment->point->broken;
    int32_t head, last;
    if (!dt_loop_around(broken->bytecode, segment->point->at, &head, &last)) {
        return;
    }
    for (int slot = 0; slot < broken->bytecode->layout.nslots; slot++) {
        PyObject **place = &memory[dt_driver_slot(segment->site->map, slot)];
        bool plain = !(broken->bytecode->layout.slots[slot].kind & (DT_SLOT_CELL | DT_SLOT_FREE));
        if (plain && *place != NULL
            && !dt_liveness_is_live(&broken->liveness, (uint32_t)segment->point->at, slot)
            && is_set_between(broken->bytecode, head, last, slot) && dt_dying_is_unseen(*place)) {
            Py_CLEAR(*place);
        }
    }
}

DtStatus
dt_segment_begin(DtSegment *segment, DtArena *arena, const DtGuardFrame *frame, DtTraceFrame *from)
{
    const DtBroken *broken = segment->point->broken;
    int32_t count = broken->bytecode->layout.nslots + segment->site->depth;
    int32_t *index = DT_ARENA_ARRAY(arena, int32_t, count + 1);
    if (index == NULL) {
        return dt_no_memory();
    }
    if (!broken->all_live) {
        clear_dead_slots(segment, (PyObject **)frame->locals); /* the memory of the frame itself */
    }
    for (int32_t i = 0; i < count; i++) {
        index[i] = dt_driver_slot(segment->site->map, i);
    }
    segment->ended = segment->landed = -1;
    *from = (DtTraceFrame){
        .locals = frame->locals,
        .live = true,
        .at = segment->point->at,
        .base = segment->site->base,
        .frame_index = index,
        .liveness = broken->all_live ? NULL : &broken->liveness,
        .bytecode = broken->bytecode,
        .places = &broken->places,
        .module = broken->module,
        .rebound = broken->rebound,
    };
    return DT_OK;
}

/* ---- Where to cut ---------------------------------------------------------------------------- */

/* If the trace was too long because of a loop: the first visit of the loop's head, else UINT32_MAX.
 */
static uint32_t
find_long_loop(const DtTrace *trace, uint32_t count)
{
    uint32_t visits[LONG_LOOP] = {0};
    int32_t last = trace->history.items[count - 1];
    uint32_t n = 0, head = UINT32_MAX;
    /* The loop goes through the last instruction: between two visits of it, the lowest one is the
     * head, if the code jumps backward to it. */
    for (uint32_t i = count; i-- > 0 && n < LONG_LOOP;) {
        if (trace->history.items[i] == last) {
            visits[n++] = i;
        }
    }
    if (n < LONG_LOOP) {
        return UINT32_MAX;
    }
    int32_t lowest = last;
    for (uint32_t i = visits[1]; i < visits[0]; i++) {
        lowest = trace->history.items[i] < lowest ? trace->history.items[i] : lowest;
    }
    for (uint32_t i = 0; i < count && head == UINT32_MAX; i++) {
        if (trace->history.items[i] == lowest) {
            head = i;
        }
    }
    return head;
}

static bool
is_too_long(DtBreakId id)
{
    return id == DT_BREAK_UNROLL_LIMIT || id == DT_BREAK_TRACE_LIMIT || id == DT_BREAK_TRACE_BUDGET;
}

bool
dt_segment_keeps_a_loop(const DtTrace *trace)
{
    uint32_t count = trace->history.count;
    return count > 0 && is_too_long(trace->brk.id) && find_long_loop(trace, count) != UINT32_MAX;
}

/* The latest cut at or before root instruction n, as stop_at; 0: there is none.  `statement`: only
 * where the stack is as it is between statements. */
static uint32_t
find_cut(DtSegment *segment, const DtTrace *trace, uint32_t n, bool statement)
{
    const DtBroken *broken = segment->point->broken;
    const DtPlaces *places = &broken->places;
    const DtInstr *instrs = broken->bytecode->instrs;
    int32_t from = segment->point->at, lowest = instrs[from].depth;
    for (uint32_t i = 0; statement && i <= n; i++) {
        int32_t depth = instrs[trace->history.items[i]].depth;
        lowest = depth < lowest ? depth : lowest;
    }
    for (; n > 0; n--) {
        int32_t at = trace->history.items[n];
        int32_t q = dt_places_landing_before(places, at);
        uint32_t back = q >= 0 ? (uint32_t)(at - q) : 0;
        if (q < 0 || back >= n || trace->history.items[n - back] != q
            || !dt_places_is_edge(places, from, q) || (statement && instrs[q].depth > lowest)) {
            continue;
        }
        segment->landed = q;
        return dt_segment_before_loads(trace, places, from, n - back);
    }
    return 0;
}

DtStatus
dt_segment_forsake(DtSegment *segment, DtTrace *trace)
{
    if (segment->ended >= 0) {
        DT_TRY(dt_broken_want_after(segment->point->broken, segment->ended));
    }
    return trace->brk.message != NULL
               ? DT_BREAK
               : dt_break(trace, DT_BREAK_NO_ARRAYS, "nothing can be captured here");
}

DtStatus
dt_segment_shorten(DtSegment *segment, DtTrace *trace, bool planning, uint32_t *stop_at)
{
    uint32_t count = trace->history.count;
    if (count == 0) {
        return DT_BREAK;
    }
    uint32_t n = count - 1;
    if (planning) {
        n = trace->cut.made ? count : count - 1;
        n = n > 0 ? n - 1 : 0;
        if (trace->refusing.count > 0 && trace->refusing_since > 0) {
            n = trace->refusing_since - 1;
        }
    }
    else if (trace->brk.message != NULL && is_too_long(trace->brk.id) && !trace->cut_wanted) {
        uint32_t head = find_long_loop(trace, count);
        if (head == UINT32_MAX) {
            return DT_BREAK;
        }
        n = head;
    }
    if (segment->ended < 0) {
        segment->ended = trace->history.items[planning && !trace->cut.made ? count - 1 : n];
        if (planning && trace->cut.made) {
            segment->ended = trace->cut.at;
        }
    }
    *stop_at = find_cut(segment, trace, n, planning);
    if (*stop_at != 0) {
        return DT_OK;
    }
    if (segment->landed >= 0) {
        DT_TRY(dt_broken_want_after(segment->point->broken, segment->landed));
    }
    return dt_segment_forsake(segment, trace);
}

/* ---- Afterwards ------------------------------------------------------------------------------ */

DtStatus
dt_segment_note_end(DtSegment *segment, const DtTrace *trace)
{
    DtBroken *broken = segment->point->broken;
    if (segment->ended >= 0) {
        DT_TRY(dt_broken_want_after(broken, segment->ended));
    }
    if (trace->cut.made && segment->landed >= 0 && segment->landed != segment->ended) {
        /* What lies between the end and what could not be followed runs plainly, but loops and
         * branches out of it lead on. */
        DT_TRY(dt_broken_want_after(broken, segment->landed));
    }
    return DT_OK;
}

/* Where the frame goes that a trace has followed to its end: the return in the user's code. */
static int32_t
return_of(const DtTrace *trace)
{
    uint32_t count = trace->history.count;
    int32_t last = count > 0 && trace->places != NULL ? trace->history.items[count - 1] : -1;
    return last >= 0 && trace->places->bytecode->instrs[last].op == DT_OP_RETURN_VALUE
               ? dt_land_return_at(last)
               : DT_LAND_RETURN;
}

/* Places of the trace, as indices into the frame's memory. */
static DtStatus
copy_places(const DtTrace *trace, const int32_t *items, uint32_t count, DtEntryPlaces *out)
{
    out->count = count;
    out->items = PyMem_New(int32_t, count + 1);
    for (uint32_t i = 0; i < count && out->items != NULL; i++) {
        out->items[i] = trace->frame_index[items[i]];
    }
    return out->items != NULL ? DT_OK : dt_no_memory();
}

DtStatus
dt_segment_describe(const DtTrace *trace, uint32_t npushed, DtEntry *entry)
{
    entry->segment = true;
    entry->target = trace->cut.made ? trace->cut.at : return_of(trace);
    entry->npushed = npushed;
    DT_TRY(copy_places(trace, trace->nulls.items, trace->nulls.count, &entry->nulls));
    DT_TRY(copy_places(trace, trace->bounds.items, trace->bounds.count, &entry->bounds));
    return copy_places(trace, trace->overwritten.items, trace->overwritten.count,
                       &entry->overwritten);
}

void
dt_segment_give_up(DtSegment *segment, DtBreakId id)
{
    if (id == DT_BREAK_TRACE_BUDGET) {
        dt_policy_count_break(&segment->point->cache, id);
        return;
    }
    dt_state.broken++;
    dt_broken_close(segment->point);
}
