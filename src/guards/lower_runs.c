/* Neighbours that become one instruction, after everything was emitted.
 *
 *   INDEX a[i] -> r; number n = r, a float               ──►  INDEX_FLOAT
 *   ATTR a.x -> r; r is 3.0; ATTR a.y -> s; ...          ──►  ATTRS of a
 *
 * A value that is compared with what was expected, and that nobody else reads, gets no register.
 */
#include "guards/lower.h"

/* What is needed of a register apart from the instruction behind its load. */
static bool
is_read_elsewhere(const DtLower *lower, uint32_t reg)
{
    return lower->read_again[reg];
}

/* Length of the load of an attribute with its check from `at` on; 0: it can't be part of a run. */
static uint32_t
attr_length(const DtLower *lower, const DtInstrs *list, uint32_t at)
{
    if (list->items[at].op != DT_GOP_ATTR) {
        return 0;
    }
    const DtLowerInstr *next = at + 1 < list->count ? &list->items[at + 1] : NULL;
    if (next == NULL || next->a != list->items[at].dst) {
        return 1;
    }
    bool compared =
        next->op == DT_GOP_IS || next->op == DT_GOP_IS_CONST || next->op == DT_GOP_IS_INT;
    if (compared) {
        return is_read_elsewhere(lower, next->a) ? 1 : 2;
    }
    return next->op == DT_GOP_IS_TYPE ? 2 : 1;
}

static void
fill_attr(DtAttrRun *run, uint32_t index, const DtLowerInstr *load, const DtLowerInstr *check)
{
    DtAttr *attr = &run->attrs[index];
    run->places[index] = load->x;
    run->origins[index][0] = load->origin;
    attr->dst = load->dst;
    if (check == NULL) {
        return;
    }
    run->origins[index][1] = check->origin;
    attr->expected = check->x;
    if (check->op != DT_GOP_IS_TYPE) {
        attr->dst = check->op == DT_GOP_IS ? DT_ATTR_IS : DT_ATTR_CONST;
    }
}

/* The run that begins at `from`; its end is *to, which is `from` for one that does not pay. */
static DtStatus
join_attrs(DtLower *lower, const DtInstrs *list, uint32_t from, uint32_t *to, DtLowerInstr *out)
{
    const DtLowerInstr *first = &list->items[from];
    uint32_t at = from, count = 0, length;
    while (at < list->count && list->items[at].a == first->a
           && (length = attr_length(lower, list, at)) > 0) {
        at += length;
        count++;
    }
    *to = from;
    if (count < 2) {
        return DT_OK;
    }
    DtArena *arena = &lower->program->arena;
    DtAttrRun *run = DT_ARENA_NEW(arena, DtAttrRun);
    if (run == NULL) {
        return dt_no_memory();
    }
    run->type = ((DtPlace *)first->x)->type;
    run->count = count;
    run->attrs = DT_ARENA_ARRAY(arena, DtAttr, count);
    run->places = DT_ARENA_ARRAY(arena, DtPlace *, count);
    run->origins = dt_arena_alloc(arena, sizeof(*run->origins) * count);
    if (run->attrs == NULL || run->places == NULL || run->origins == NULL) {
        return dt_no_memory();
    }
    at = from;
    for (uint32_t i = 0; i < count; i++) {
        length = attr_length(lower, list, at);
        fill_attr(run, i, &list->items[at], length == 2 ? &list->items[at + 1] : NULL);
        at += length;
    }
    *out = (DtLowerInstr){.op = DT_GOP_ATTRS, .a = first->a, .origin = first->origin, .x = run};
    *to = at;
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

DtStatus
dt_lower_join_runs(DtLower *lower, DtInstrs *list)
{
    DT_TRY(find_read_again(lower));
    uint32_t made = 0;
    for (uint32_t at = 0; at < list->count;) {
        DtLowerInstr joined;
        uint32_t to = at;
        if (join_float(list, at, &joined)) {
            to = at + 2;
        }
        else if (list->items[at].op == DT_GOP_ATTR) {
            DT_TRY(join_attrs(lower, list, at, &to, &joined));
        }
        list->items[made++] = to > at ? joined : list->items[at];
        at = to > at ? to : at + 1;
    }
    list->count = made;
    return DT_OK;
}
