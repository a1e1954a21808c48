/* A segment: the part of a running frame between two of its instructions.
 *
 *   memory of the frame ──enter──► slots and stack of the root ──interp──► cut before an
 * instruction │ what differs, as far ▼ as it is live there trace->cut
 *
 * Invariants: a place that holds what it held at the start is not written; a
 * slot that the segment has given another value is written, or made unbound
 * when nobody can read it again, so that the old object dies as it would; but
 * an object that existed before lives on where plain execution would keep it.
 * The values of handlers that run (below `base`) stay what they were.
 *
 * Not in here: where a segment may begin and end (bytecode/places.h), what acts when the segment
 * lets go of it (segment_deaths.c).
 */
#include "symbolic/segment.h"

#include <string.h>

#include "guards/recipe.h"
#include "sideeffects/journal.h"
#include "variables/rules.h"

DtStatus
dt_segment_cell(DtTrace *trace, DtFrame *root, int slot, PyObject *real, DtVar **out)
{
    PyObject *name = root->bytecode->layout.slots[slot].name;
    *out = dt_map_get(&trace->by_object, real);
    if (*out != NULL) {
        /* Two slots hold one cell; a later call may bring two. */
        const DtSource *again = dt_source_get(trace, DT_SOURCE_LOCAL_CELL, NULL, name, slot);
        if (again == NULL) {
            return DT_ERROR;
        }
        return (*out)->source == again || !trace->live
                   ? DT_OK
                   : dt_guard_alias(trace, (*out)->source, again, true);
    }
    PyObject *value = PyCell_GET(real);
    DtVar *contents = NULL;
    const DtSource *source = dt_source_get(trace, DT_SOURCE_LOCAL_CELL, NULL, name, slot);
    const DtSource *inside = dt_source_local_deref(trace, slot, name);
    if (source == NULL || inside == NULL) {
        return DT_ERROR;
    }
    if (value != NULL) {
        DT_TRY(dt_var_build_lazy(trace, value, inside, &contents));
    }
    else {
        DT_TRY(dt_guard_cell_empty(trace, source));
    }
    DT_TRY(dt_trace_keep(trace, real));
    DT_TRY(dt_var_cell(trace, name, slot, contents, out));
    (*out)->source = source;
    (*out)->mutation = DT_VALUE_MUTATION_EXISTING;
    ((DtCellVar *)*out)->cell = real;
    return dt_map_set(&trace->arena, &trace->by_object, real, *out) == 0 ? DT_OK : dt_no_memory();
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* A cell that the body makes itself (a comprehension's variable, 3.12 on) shares its slot with a
 * plain variable: what lies there can't be told apart. */
static bool
is_made_in_body(const DtFrame *root, int slot, int32_t at)
{
    for (uint32_t i = 0; i < root->bytecode->count; i++) {
        const DtInstr *instr = &root->bytecode->instrs[i];
        if (instr->op == DT_OP_RESUME && (int32_t)i < at) {
            for (i++; i < root->bytecode->count; i++) {
                instr = &root->bytecode->instrs[i];
                if (instr->op == DT_OP_MAKE_CELL && instr->arg == slot) {
                    return true;
                }
            }
        }
    }
    return false;
}

static DtStatus
enter_slot(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame, int slot)
{
    const DtSlot *row = &root->bytecode->layout.slots[slot];
    PyObject *value = frame->locals[frame->frame_index[slot]];
    if (value == NULL) {
        if (frame->liveness != NULL
            && !dt_liveness_is_live(frame->liveness, (uint32_t)frame->at, slot)) {
            return DT_OK;
        }
        return dt_vec_push(&trace->arena, &trace->nulls, slot) == 0 ? DT_OK : dt_no_memory();
    }
    if ((row->kind & (DT_SLOT_CELL | DT_SLOT_FREE)) && PyCell_Check(value)) {
        if ((row->kind & DT_SLOT_CELL) && is_made_in_body(root, slot, frame->at)) {
            return dt_break(trace, DT_BREAK_UNSUPPORTED_OPCODE,
                            "a cell that a comprehension has made");
        }
        return dt_segment_cell(trace, root, slot, value, &root->locals[slot]);
    }
    const DtSource *source = dt_source_local(trace, slot, row->name);
    return source != NULL ? dt_var_build_lazy(trace, value, source, &root->locals[slot]) : DT_ERROR;
}

static DtStatus
enter_stack(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame, int position)
{
    int place = root->bytecode->layout.nslots + position;
    PyObject *value = frame->locals[frame->frame_index[place]];
    if (value == NULL) {
        dt_frame_push(root, dt_null(trace));
        return dt_vec_push(&trace->arena, &trace->nulls, place) == 0 ? DT_OK : dt_no_memory();
    }
    PyObject *name = dt_source_stack_name(trace, position);
    const DtSource *source = name != NULL ? dt_source_local(trace, place, name) : NULL;
    DtVar *var;
    if (source == NULL) {
        return DT_ERROR;
    }
    /* A comprehension's variable lies in the slot of an outer cell, which waits here to be put back
     * (3.12 on); slots hold cells as what they are. */
    DT_TRY(PyCell_Check(value) ? dt_var_build(trace, value, source, &var)
                               : dt_var_build_lazy(trace, value, source, &var));
    dt_frame_push(root, var);
    return var->type->kind != DT_KIND_LAZY
                   || dt_vec_push(&trace->arena, &trace->temporaries, var) == 0
               ? DT_OK
               : dt_no_memory();
}

DtStatus
dt_segment_enter(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame)
{
    int nslots = root->bytecode->layout.nslots;
    int32_t depth = root->bytecode->instrs[frame->at].depth;
    trace->live = true;
    trace->live_at = frame->at;
    trace->frame_index = frame->frame_index;
    trace->places = frame->places;
    trace->live_places = nslots + depth;
    root->pc = (uint32_t)frame->at;
    for (int slot = 0; slot < nslots; slot++) {
        DT_TRY(enter_slot(trace, root, frame, slot));
    }
    for (int position = 0; position < depth; position++) {
        DT_TRY(enter_stack(trace, root, frame, position));
    }
    root->initial = DT_ARENA_ARRAY(&trace->arena, DtVar *, nslots + depth + 1);
    if (root->initial == NULL) {
        return dt_no_memory();
    }
    memcpy(root->initial, root->locals, sizeof(DtVar *) * (size_t)nslots);
    memcpy(root->initial + nslots, root->stack, sizeof(DtVar *) * (size_t)depth);
    root->ninitial = nslots + depth;
    return DT_OK;
}

DtStatus
dt_segment_needs_bound(DtTrace *trace, const DtFrame *frame, int slot)
{
    const DtVar *var = frame->locals[slot];
    if (!trace->live || frame->depth > 0 || var->type->kind != DT_KIND_LAZY
        || var != frame->initial[slot]) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < trace->bounds.count; i++) {
        if (trace->bounds.items[i] == slot) {
            return DT_OK;
        }
    }
    return dt_vec_push(&trace->arena, &trace->bounds, slot) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_segment_end_here(DtTrace *trace)
{
    trace->cut_wanted = true;
    return DT_RESTART;
}

/* What a call is of, as far as it is known without looking into it. */
static PyObject *
existing_object(DtVar *var)
{
    var = dt_var_peek(var);
    return var->type->kind == DT_KIND_LAZY       ? ((DtLazyVar *)var)->object
           : var->type->kind == DT_KIND_FUNCTION ? ((DtFunctionVar *)var)->function
                                                 : NULL;
}

uint32_t
dt_segment_before_loads(const DtTrace *trace, const DtPlaces *places, int32_t from, uint32_t end)
{
    const int32_t *history = trace->history.items;
    uint32_t best = end;
    for (uint32_t i = end;
         i > 0 && history[i - 1] == history[i] - 1 && dt_places_is_load(places, history[i - 1]);) {
        i--;
        if (i == 0) {
            return 0;
        }
        if (places->places[history[i]].flags & DT_PLACE_PAD
            && dt_places_is_edge(places, from, history[i])) {
            best = i;
        }
    }
    return best;
}

DtStatus
dt_segment_check_call(DtTrace *trace, DtFrame *frame, DtVar *callable)
{
    const DtPlaces *places = trace->places;
    if (!trace->live || frame->depth > 0 || places == NULL || trace->refusing.count > 0) {
        return DT_OK;
    }
    DtStatus status = dt_rules_check_callable(trace, existing_object(callable));
    if (status != DT_BREAK) {
        return status;
    }
    /* Between the landing and the call lie only parts of the call, which leave the stack as it is;
     * loads before them put on it what goes again. */
    const int32_t *history = trace->history.items;
    uint32_t last = trace->history.count - 1;
    int32_t landing = dt_places_landing_before(places, (int32_t)frame->pc);
    uint32_t back = landing >= 0 ? frame->pc - (uint32_t)landing : last;
    if (back >= last || history[last - back] != landing
        || !dt_places_is_edge(places, trace->live_at, landing)) {
        return DT_BREAK;
    }
    uint32_t end = dt_segment_before_loads(trace, places, trace->live_at, last - back);
    if (end == 0) {
        return DT_BREAK;
    }
    if (end < last - back) {
        DT_TRY(dt_recipe_forget_loads(trace, trace->loads_facts));
    }
    trace->cut_here = true;
    trace->cut_for = history[last];
    trace->history.count = end;
    frame->pc = (uint32_t)history[end];
    frame->sp = frame->bytecode->instrs[frame->pc].depth;
    return DT_BREAK;
}

bool
dt_segment_is_found(const DtTrace *trace, const DtFrame *frame, int32_t depth)
{
    int32_t nslots = frame->bytecode->layout.nslots, position = frame->sp - depth;
    return trace->live && frame->depth == 0 && position < trace->live_places - nslots
           && frame->stack[position] == frame->initial[nslots + position];
}

bool
dt_segment_holds(const DtTrace *trace, const DtFrame *frame, int32_t depth)
{
    const DtVar *value = frame->stack[frame->sp - depth];
    if (!trace->live || frame->depth > 0) {
        return false;
    }
    if (dt_segment_is_found(trace, frame, depth)) {
        return true; /* also the NULL that 3.10 saves where no exception was handled */
    }
    for (int32_t i = frame->bytecode->layout.nslots; i < trace->live_places; i++) {
        if (frame->initial[i] == value && value != dt_null((DtTrace *)trace)) {
            return true;
        }
    }
    return false;
}

/* ---- End ------------------------------------------------------------------------------------- */

static bool
is_same(DtVar *a, DtVar *b)
{
    return a == b || (a != NULL && b != NULL && dt_var_peek(a) == dt_var_peek(b));
}

/* Whether it is there without being made: putting it into a slot is a load and a store. */
static bool
costs_nothing(const DtVar *value)
{
    return value->type->kind == DT_KIND_LAZY || value->type->kind == DT_KIND_CONSTANT
           || value->type->kind == DT_KIND_CLASS || value->source != NULL;
}

/* Nobody can read the slot again; but what existed before, and would live on in it, may act when it
 * dies.  And a callee or a traceback can look at the frame.  The bases of a class know it. */
static DtStatus
lives_on(DtTrace *trace, DtVar *value, bool *out)
{
    *out = value != NULL && costs_nothing(value);
    if (value == NULL || *out) {
        return DT_OK;
    }
    return dt_segment_acts(trace, value, out);
}

static DtStatus
cut_slots(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame)
{
    DtCut *cut = &trace->cut;
    for (int slot = 0; slot < root->bytecode->layout.nslots; slot++) {
        DtVar *value = root->locals[slot];
        if (is_same(value, root->initial[slot]) && !dt_segment_is_overwritten(trace, slot)) {
            continue;
        }
        bool live = frame->liveness == NULL
                    || dt_liveness_is_live(frame->liveness, (uint32_t)cut->at, slot);
        if (!live) {
            DT_TRY(lives_on(trace, value, &live));
        }
        bool kept = !live && value != NULL && value->type->kind != DT_KIND_ARRAY;
        cut->writes[cut->nwrites++] = (DtCutWrite){slot, live || kept ? value : NULL, kept};
    }
    return DT_OK;
}

static DtStatus
cut_stack(DtTrace *trace, DtFrame *root, int32_t base)
{
    DtCut *cut = &trace->cut;
    int nslots = root->bytecode->layout.nslots;
    int32_t depth = trace->live_places - nslots;
    int32_t shared = depth < root->sp ? depth : root->sp;
    for (int32_t i = 0; i < shared; i++) {
        if (is_same(root->stack[i], root->initial[nslots + i])) {
            continue;
        }
        if (i < base) {
            return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER,
                            "a handler is left, and entered again");
        }
        DtVar *value = root->stack[i] == dt_null(trace) ? NULL : root->stack[i];
        cut->writes[cut->nwrites++] = (DtCutWrite){nslots + i, value, false};
    }
    cut->pushed = root->stack + shared;
    cut->npushed = (uint32_t)(root->sp - shared);
    return DT_OK;
}

/* Everything that the frame goes on with, as one value. */
static DtStatus
all_values(DtTrace *trace, DtVar **out)
{
    const DtCut *cut = &trace->cut;
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, cut->nwrites + cut->npushed + 1);
    uint32_t count = 0;
    if (items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < cut->nwrites; i++) {
        if (cut->writes[i].value != NULL && !cut->writes[i].kept) {
            items[count++] = cut->writes[i].value;
        }
    }
    for (uint32_t i = 0; i < cut->npushed; i++) {
        if (cut->pushed[i] != dt_null(trace)) {
            items[count++] = cut->pushed[i];
        }
    }
    return dt_var_tuple(trace, items, count, out);
}

static DtStatus
begin_cut(DtTrace *trace)
{
    trace->cut.writes = DT_ARENA_ARRAY(&trace->arena, DtCutWrite, trace->live_places + 1);
    return trace->cut.writes != NULL ? DT_OK : dt_no_memory();
}

DtStatus
dt_segment_cut(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame)
{
    DtCut *cut = &trace->cut;
    cut->made = true;
    cut->at = (int32_t)root->pc;
    DT_TRY(begin_cut(trace));
    DT_TRY(cut_slots(trace, root, frame));
    DT_TRY(cut_stack(trace, root, frame->base));
    DtVar *values;
    DT_TRY(all_values(trace, &values));
    return dt_journal_finish(trace, values);
}

DtStatus
dt_segment_return(DtTrace *trace, DtFrame *root, DtVar *result)
{
    DtCut *cut = &trace->cut;
    DT_TRY(begin_cut(trace));
    for (int slot = 0; slot < root->bytecode->layout.nslots; slot++) {
        DtVar *value = root->locals[slot];
        if (dt_segment_is_overwritten(trace, slot)
            || (root->initial[slot] != NULL && !is_same(value, root->initial[slot]))) {
            bool written = value != NULL && costs_nothing(value);
            cut->writes[cut->nwrites++] = (DtCutWrite){slot, written ? value : NULL, false};
        }
    }
    return dt_journal_finish(trace, result);
}
