/* Several instructions that become one, after everything was emitted.
 *
 *   INDEX a[i] -> r; number n = r, a float               ──►  INDEX_FLOAT
 *   ATTR a.x -> r; r is 3.0; ...; ATTR a.y -> s; ...     ──►  ATTRS of a; ...
 *   TYPE_VERSION of r; ...; TYPE_VERSION of s, the same  ──►  TYPE_VERSION of r; ...; IS_TYPE of s
 *
 * All attributes that are read of one object are read where the first one is, with the check behind
 * each load; what else is asked of their values stays where it was, which is behind it.  A value
 * that is compared with what was expected, and that nobody else reads, gets no register.
 */
#include "guards/lower.h"

/* What is needed of a register apart from the instruction behind its load. */
static bool
is_read_elsewhere(const DtLower *lower, uint32_t reg)
{
    return lower->read_again[reg];
}

/* Length of the load of an attribute with its check from `at` on. */
static uint32_t
attr_length(const DtLower *lower, const DtInstrs *list, uint32_t at)
{
    const DtLowerInstr *next = at + 1 < list->count ? &list->items[at + 1] : NULL;
    if (next == NULL || next->a != list->items[at].dst) {
        return 1;
    }
    bool compared = next->op == DT_GOP_IS || next->op == DT_GOP_IS_INT
                    || (next->op == DT_GOP_IS_CONST && !PyByteArray_Check((PyObject *)next->x));
    if (compared) {
        return is_read_elsewhere(lower, next->a) ? 1 : 2;
    }
    return next->op == DT_GOP_IS_TYPE ? 2 : 1;
}

static bool
is_compared(const DtLower *lower, const DtInstrs *list, uint32_t at)
{
    return attr_length(lower, list, at) == 2 && list->items[at + 1].op != DT_GOP_IS_TYPE;
}

static void
fill_attr(DtLower *lower, DtAttrRun *run, uint32_t index, const DtInstrs *list, uint32_t at)
{
    const DtLowerInstr *load = &list->items[at];
    DtAttr *attr = &run->attrs[index];
    attr->place = load->x;
    attr->origins[0] = load->origin;
    if (attr_length(lower, list, at) == 2) {
        attr->origins[1] = load[1].origin;
        attr->by_value = load[1].op == DT_GOP_IS_CONST || load[1].op == DT_GOP_IS_INT;
        run->expected[index] = load[1].x;
    }
    if (index >= run->ncompared) {
        run->regs[index - run->ncompared] = load->dst;
    }
}

/* The next load of an attribute of the same object, by index + 1 in the list; 0: there is none. */
static uint32_t *
find_next_attrs(DtLower *lower, const DtInstrs *list)
{
    uint32_t *next = DT_ARENA_ARRAY(lower->arena, uint32_t, list->count + 1);
    uint32_t *last = DT_ARENA_ARRAY(lower->arena, uint32_t, lower->sources.count + 1);
    if (next == NULL || last == NULL) {
        return NULL;
    }
    for (uint32_t at = list->count; at > 0; at--) {
        const DtLowerInstr *instr = &list->items[at - 1];
        if (instr->op == DT_GOP_ATTR) {
            next[at - 1] = last[instr->a];
            last[instr->a] = at;
        }
    }
    return next;
}

/* The run of the attributes that `next` links from `from` on; they become COUNT, which is no more
 * there. */
static DtStatus
join_attrs(DtLower *lower, DtInstrs *list, const uint32_t *next, uint32_t from, DtLowerInstr *out)
{
    DtArena *arena = &lower->program->arena;
    DtAttrRun *run = DT_ARENA_NEW(arena, DtAttrRun);
    if (run == NULL) {
        return dt_no_memory();
    }
    for (uint32_t at = from + 1; at != 0; at = next[at - 1]) {
        run->count++;
        run->ncompared += is_compared(lower, list, at - 1);
    }
    uint32_t nloaded = run->count - run->ncompared;
    run->type = ((DtAttrPlace *)list->items[from].x)->type;
    run->expected = DT_ARENA_ARRAY(arena, PyObject *, run->count);
    run->hints = DT_ARENA_ARRAY(arena, uint32_t, run->count);
    run->attrs = DT_ARENA_ARRAY(arena, DtAttr, run->count);
    run->regs = DT_ARENA_ARRAY(arena, uint32_t, nloaded + 1);
    run->cached = DT_ARENA_ARRAY(arena, PyObject *, nloaded + 1);
    if (run->expected == NULL || run->hints == NULL || run->attrs == NULL || run->regs == NULL
        || run->cached == NULL) {
        return dt_no_memory();
    }
    *out = list->items[from];
    out->op = DT_GOP_ATTRS;
    out->x = run;
    uint32_t compared = 0, loaded = run->ncompared;
    for (uint32_t at = from + 1; at != 0; at = next[at - 1]) {
        uint32_t length = attr_length(lower, list, at - 1);
        uint32_t index = is_compared(lower, list, at - 1) ? compared++ : loaded++;
        fill_attr(lower, run, index, list, at - 1);
        for (uint32_t i = 0; i < length; i++) {
            list->items[at - 1 + i].op = DT_GOP_COUNT;
        }
    }
    return DT_OK;
}

/* An item that is a float, and its number. */
static bool
join_float(const DtInstrs *list, uint32_t at, DtLowerInstr *out)
{
    const DtLowerInstr *items = list->items + at;
    if (at + 1 >= list->count || items[0].op != DT_GOP_INDEX || items[1].op != DT_GOP_SYM_FLOAT
        || items[1].a != items[0].dst || items[0].y > UINT32_MAX) {
        return false;
    }
    *out = items[0];
    out->op = DT_GOP_INDEX_FLOAT;
    out->origin = items[1].origin;
    out->x = (void *)(uintptr_t)items[1].dst;
    return true;
}

/* Registers that are read by more than the check directly behind their load. */
static DtStatus
find_read_again(DtLower *lower)
{
    lower->read_again = DT_ARENA_ARRAY(lower->arena, bool, lower->sources.count + 1);
    if (lower->read_again == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < lower->sources.count; i++) {
        const DtLowerSource *source = lower->sources.items[i];
        uint32_t warm = 0;
        for (const DtFact *fact = source->facts; fact != NULL; fact = fact->previous) {
            warm += fact->kind != DT_GUARD_TYPE;
        }
        lower->read_again[i] = source->read || source->symbol != 0 || warm > 1;
    }
    return DT_OK;
}

/* A type whose version was looked at can't change before the list is at its end. */
static DtStatus
drop_repeated_versions(DtLower *lower, DtInstrs *list)
{
    DtMap seen = {0};
    for (uint32_t at = 0; at < list->count; at++) {
        DtLowerInstr *instr = &list->items[at];
        if (instr->op != DT_GOP_TYPE_VERSION) {
            continue;
        }
        const DtTypeState *state = instr->x;
        if (dt_map_get(&seen, state) != NULL) {
            instr->op = DT_GOP_IS_TYPE;
            instr->x = state->type;
        }
        else if (dt_map_set(lower->arena, &seen, state, list) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

DtStatus
dt_lower_join_runs(DtLower *lower, DtInstrs *list)
{
    DT_TRY(find_read_again(lower));
    DT_TRY(drop_repeated_versions(lower, list));
    const uint32_t *next = find_next_attrs(lower, list);
    if (next == NULL) {
        return dt_no_memory();
    }
    uint32_t made = 0;
    for (uint32_t at = 0; at < list->count; at++) {
        DtLowerInstr joined = list->items[at];
        if (joined.op == DT_GOP_COUNT) {
            continue; /* part of a run */
        }
        bool is_float = join_float(list, at, &joined);
        if (joined.op == DT_GOP_ATTR && next[at] != 0) {
            DT_TRY(join_attrs(lower, list, next, at, &joined));
        }
        list->items[made++] = joined; /* never beyond `at` */
        at += is_float;
    }
    list->count = made;
    return DT_OK;
}
