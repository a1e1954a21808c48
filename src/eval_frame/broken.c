/* See broken.h. */
#include "eval_frame/broken.h"

#include <string.h>

#include "compat/code.h"
#include "core/clock.h"
#include "eval_frame/investment.h"
#include "eval_frame/policy.h"
#include "eval_frame/record.h"
#include "eval_frame/scalar_loop.h"
#include "variables/kinds.h"

/* Calls without news before another driver is built, and how many drivers a code object gets. */
#define CALM_CALLS 2
#define BUILD_LIMIT 24

/* Functions that look at the variables of the frame that calls them, or count how many name an
 * object (an array is resized only if no other does). */
static const char *const looking_names[] = {
    "locals",     "vars",      "dir",   "eval",         "exec",   "_getframe",   "stack",
    "breakpoint", "set_trace", "embed", "currentframe", "resize", "getrefcount", NULL};

static bool
looks_at_locals(PyCodeObject *code)
{
    PyObject *names = dt_code_names(code);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (dt_kinds_is_among(PyTuple_GET_ITEM(names, i), looking_names)) {
            return true;
        }
    }
    return false;
}

bool
dt_broken_sleeps(const DtPoint *point)
{
    return !point->wanted
           || (!dt_scalar_loop_serves(point->loop)
               && ((point->cache.closed && point->cache.entries == NULL)
                   || dt_scale_is_final(&point->cache.scale)));
}

/* ---- Points ---------------------------------------------------------------------------------- */

DtPoint *
dt_broken_point_at(DtBroken *broken, int32_t at)
{
    if (broken->points[at] != NULL) {
        return broken->points[at];
    }
    DtArena *arena = &broken->owner->region->arena;
    DtPoint *point = DT_ARENA_NEW(arena, DtPoint);
    if (point == NULL || dt_vec_push(arena, &broken->list, point) < 0) {
        PyErr_NoMemory();
        return NULL;
    }
    point->cache.region = broken->owner->region;
    point->cache.code = broken->owner->code;
    point->cache.nargs = broken->owner->nargs;
    point->cache.point = true;
    point->cache.refusing = -1;
    point->cache.opened = Py_XNewRef(broken->owner->opened); /* whose locals have the same names */
    point->broken = broken;
    point->at = at;
    broken->points[at] = point;
    return point;
}

int
dt_broken_points_after(const DtBroken *broken, int32_t q, int32_t after[4])
{
    const DtPlaces *places = &broken->places;
    int count = dt_places_after(places, q, after);
    int32_t handler = broken->bytecode->instrs[q].handler;
    if (handler >= 0) {
        int32_t target = broken->bytecode->handlers[handler].target;
        if (places->places[target].flags & DT_PLACE_POINT) {
            after[count++] = target;
        }
        else {
            count += dt_places_after(places, target, after + count);
        }
    }
    return count;
}

int32_t
dt_broken_iteration(const DtBroken *broken, int32_t head, int32_t last)
{
    int32_t after[2];
    if (broken->bytecode->instrs[head].op != DT_OP_FOR_ITER) {
        return broken->places.places[head].flags & DT_PLACE_POINT ? head : -1;
    }
    /* The body comes first; what follows the loop may lie before its last jump backward, too. */
    int count = dt_places_after(&broken->places, head, after);
    int32_t first = -1;
    for (int i = 0; i < count; i++) {
        if (after[i] > head && after[i] <= last && (first < 0 || after[i] < first)) {
            first = after[i];
        }
    }
    return first;
}

/* The set of points that are awake has changed. */
static void
want_another_driver(DtBroken *broken)
{
    broken->stale = true;
    broken->calm = 0;
}

/* Its probes are asked from now on, also by a frame that runs the driver of now already.  Others
 * may be gone. */
static void
wake_up(DtBroken *broken, const DtPoint *point)
{
    for (uint32_t i = 0; i < broken->probes.count; i++) {
        DtProbe *probe = broken->probes.items[i];
        if (probe->point == point && probe->driver != NULL && probe->driver == broken->driver) {
            dt_driver_switch(probe->driver, &probe->site, false);
        }
    }
}

DtStatus
dt_broken_want_after(DtBroken *broken, int32_t q)
{
    int32_t after[4];
    int count = dt_broken_points_after(broken, q, after);
    for (int i = 0; i < count; i++) {
        DtPoint *point = dt_broken_point_at(broken, after[i]);
        if (point == NULL) {
            return DT_ERROR;
        }
        if (!point->wanted) {
            point->wanted = true;
            wake_up(broken, point);
            want_another_driver(broken);
        }
    }
    return DT_OK;
}

void
dt_broken_close(DtPoint *point)
{
    point->cache.closed = true;
    want_another_driver(point->broken);
}

/* Visits of a point that has no entries, until it is asked again whether to weigh it. */
#define UNTRIED_VISITS 8

/* Visits of other points after which the one that is weighed has to give way. */
#define PATIENCE 1024

/* Have visits of a point met an account that was empty, and did it get no attempt since? */
static bool
is_waiting(const DtPoint *point)
{
    return point->cache.put_off > 0 && point->cache.tried_ns == 0 && !dt_broken_sleeps(point);
}

/* Such points ask at their next visit where the account bears it. */
static DtScaleReady
ready_but_for_attempts(const DtBroken *broken)
{
    bool any = false;
    for (uint32_t i = 0; i < broken->list.count && !any; i++) {
        any = is_waiting(broken->list.items[i]);
    }
    if (!any) {
        return DT_SCALE_SETTLED;
    }
    if (dt_investment_is_spent(broken->owner, dt_clock_ns())) {
        return DT_SCALE_WAITING;
    }
    for (uint32_t i = 0; i < broken->list.count; i++) {
        if (is_waiting(broken->list.items[i])) {
            broken->list.items[i]->cache.skips = 0;
        }
    }
    return DT_SCALE_TRYING;
}

DtScaleReady
dt_broken_is_ready(const DtCodeCache *cache)
{
    const DtBroken *broken = cache->broken;
    bool served = cache->entries != NULL || (broken != NULL && broken->served);
    if (broken == NULL) {
        return served ? DT_SCALE_SETTLED : DT_SCALE_NOTHING;
    }
    if (!served && broken->driver != NULL) {
        return DT_SCALE_NOTHING; /* its points wait for their attempts */
    }
    /* Outside of loops a point gets no samples: it does not keep the others waiting. */
    const DtScale *scale = broken->weighed != NULL ? &broken->weighed->cache.scale : NULL;
    bool weighing = scale != NULL && scale->taken[0] + scale->taken[1] > 0;
    bool last = broken->builds > 0 && (!broken->stale || broken->builds >= BUILD_LIMIT);
    return weighing || !last ? DT_SCALE_CHANGING : ready_but_for_attempts(broken);
}

bool
dt_broken_weigh(DtPoint *point, const void *frame)
{
    DtScale *scale = &point->cache.scale;
    DtBroken *broken = point->broken;
    if (point->cache.entries == NULL || dt_scalar_loop_serves(point->loop)) {
        scale->countdown = UNTRIED_VISITS; /* nothing to weigh yet */
        return true;
    }
    scale->told = broken->owner->scale.state == DT_SCALE_KEPT;
    if (dt_scale_goes_on(scale)) {
        return true;
    }
    if (broken->owner->scale.state == DT_SCALE_WEIGHING) {
        scale->countdown = 0;
        return scale->state != DT_SCALE_FORSAKEN; /* the whole is on the scale */
    }
    if (broken->weighed != NULL && broken->weighed != point
        && (scale->state == DT_SCALE_NEW || scale->state == DT_SCALE_WARMING
            || scale->state == DT_SCALE_KEPT)) {
        scale->countdown = 0;
        if (++broken->waiting < PATIENCE) {
            return true;
        }
        scale->state = DT_SCALE_WARMING;
    }
    scale->part = true;
    if (!dt_scale_wants_samples(scale, point->cache.region)) {
        return scale->state != DT_SCALE_FORSAKEN;
    }
    uint64_t news = dt_scale_news();
    if (broken->weighed != point) {
        broken->weighed = point;
        broken->waiting = 0;
        point->seen_frame = NULL;
    }
    if (point->seen_frame == frame && point->seen_samples == dt_state.samples) {
        dt_scale_add(scale, dt_scale_next_side(scale), dt_clock_thread_ns() - point->seen_at,
                     news != point->seen_news);
    }
    if (scale->state != DT_SCALE_WEIGHING) {
        broken->weighed = NULL;
        if (scale->state != DT_SCALE_FORSAKEN) {
            return true;
        }
        if (dt_scale_is_final(scale)) {
            want_another_driver(broken);
            dt_record_forsaken(&point->cache, broken->bytecode->instrs[point->at].line);
        }
        return false;
    }
    point->seen_frame = frame;
    point->seen_news = news;
    point->seen_samples = ++dt_state.samples;
    point->seen_at = dt_clock_thread_ns();
    return dt_scale_next_side(scale) == DT_SIDE_COMPILED;
}

/* ---- Drivers --------------------------------------------------------------------------------- */

/* Where most calls of the point's segments end. */
static int32_t
usual_target(const DtPoint *point)
{
    int32_t target = DT_LAND_NOWHERE;
    uint64_t most = 0;
    if (dt_scalar_loop_serves(point->loop)) {
        return dt_scalar_loop_landing(point->loop);
    }
    for (const DtEntry *entry = point->cache.entries; entry != NULL; entry = entry->next) {
        if (!entry->plain && (target == DT_LAND_NOWHERE || entry->hits > most)) {
            target = entry->target;
            most = entry->hits;
        }
    }
    return target;
}

static DtStatus
add_probe(DtBroken *broken, DtPoint *point, DtDriverPoint *row)
{
    DtProbe *probe = PyObject_New(DtProbe, &DtProbe_Type);
    if (probe == NULL) {
        return DT_ERROR;
    }
    memset(&probe->site, 0, sizeof(probe->site));
    probe->point = point;
    probe->driver = NULL;
    if (dt_vec_push(&broken->owner->region->arena, &broken->probes, probe) < 0) {
        Py_DECREF(probe);
        return dt_no_memory();
    }
    *row = (DtDriverPoint){
        .at = point->at,
        .quick = usual_target(point),
        .probe = (PyObject *)probe,
        .site = &probe->site,
        .asleep = dt_broken_sleeps(point),
    };
    return DT_OK;
}

static DtStatus
build_driver(DtBroken *broken, DtArena *arena)
{
    uint32_t first = broken->probes.count, count = 0;
    DtDriverPoint *rows = DT_ARENA_ARRAY(arena, DtDriverPoint, broken->list.count + 1);
    if (rows == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < broken->list.count; i++) {
        DtPoint *point = broken->list.items[i];
        if (broken->builds == 0 || !dt_broken_sleeps(point)) {
            DT_TRY(add_probe(broken, point, &rows[count]));
            count++;
        }
    }
    PyCodeObject *driver = NULL;
    if (count > 0) {
        DT_TRY(dt_driver_build(arena, &broken->places, rows, count, NULL, &driver));
    }
    for (uint32_t i = first; i < broken->probes.count; i++) {
        broken->probes.items[i]->driver = driver;
    }
    Py_XSETREF(broken->driver, driver);
    return DT_OK;
}

/* Probes of drivers that are gone. */
static void
drop_probes(DtBroken *broken)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < broken->probes.count; i++) {
        DtProbe *probe = broken->probes.items[i];
        if (Py_REFCNT(probe) > 1) {
            broken->probes.items[kept++] = probe;
        }
        else {
            Py_DECREF(probe);
        }
    }
    broken->probes.count = kept;
}

static void
rebuild(DtBroken *broken)
{
    clockid_t clock = dt_investment_busy_clock();
    int64_t began = dt_clock_read(clock);
    drop_probes(broken);
    DtArena arena;
    dt_arena_init(&arena);
    DtStatus status = build_driver(broken, &arena);
    dt_arena_release(&arena);
    dt_investment_spend(dt_clock_read(clock) - began);
    broken->stale = false;
    broken->builds++;
    if (status != DT_OK) {
        Py_CLEAR(broken->driver);
        if (dt_policy_is_users_error()) {
            PyErr_Clear(); /* MemoryError: the frame can still run */
        }
        else {
            dt_policy_log_fault(broken->owner);
        }
    }
}

PyCodeObject *
dt_broken_driver(DtCodeCache *cache)
{
    DtBroken *broken = cache->broken;
    if (broken == NULL || cache->verify.quarantined || dt_state.verify.side == DT_VERIFY_PLAINLY) {
        return NULL;
    }
    bool first = broken->builds == 0;
    if (!first && !broken->served && !broken->entering
        && dt_investment_is_spent(cache, dt_clock_ns())) {
        return NULL; /* nothing can be served, and nothing may be tried */
    }
    if (DT_UNLIKELY(
            first
            || (broken->stale && broken->calm >= CALM_CALLS && broken->builds < BUILD_LIMIT))) {
        rebuild(broken);
    }
    if (DT_UNLIKELY(broken->stale)) {
        broken->calm++;
    }
    return broken->driver;
}

void
dt_broken_try_all(DtBroken *broken)
{
    for (uint32_t i = 0; i < broken->list.count; i++) {
        for (DtEntry *entry = broken->list.items[i]->cache.entries; entry != NULL;
             entry = entry->next) {
            entry->tried = true;
        }
    }
}

bool
dt_broken_is_spent(const DtBroken *broken)
{
    return broken->driver == NULL && broken->builds > 0
           && (!broken->stale || broken->builds >= BUILD_LIMIT);
}

/* ---- Life ------------------------------------------------------------------------------------ */

bool
dt_broken_may_end_at(const DtBroken *broken, uint32_t q)
{
    const DtInstr *instr = &broken->bytecode->instrs[q];
    return (broken->places.places[q].flags & DT_PLACE_PAD) != 0 || instr->target >= 0
           || instr->op == DT_OP_POP_EXCEPT || instr->op == DT_OP_POP_EXCEPT_TRIPLE;
}

/* A point at the entry, and asleep after everything at which a segment may have to end. */
static DtStatus
add_points(DtBroken *broken)
{
    DtPoint *entry = dt_broken_point_at(broken, broken->places.entry);
    if (entry == NULL) {
        return DT_ERROR;
    }
    entry->wanted = entry->first = true;
    for (uint32_t q = 0; q < broken->bytecode->count; q++) {
        int32_t after[4];
        if (!dt_broken_may_end_at(broken, q)) {
            continue;
        }
        int count = dt_broken_points_after(broken, (int32_t)q, after);
        for (int i = 0; i < count; i++) {
            if (dt_broken_point_at(broken, after[i]) == NULL) {
                return DT_ERROR;
            }
        }
    }
    return DT_OK;
}

static DtStatus
fill(DtBroken *broken, DtCodeCache *cache)
{
    DtArena *arena = &broken->arena;
    DtCfg cfg;
    broken->owner = cache;
    if (broken->bytecode == NULL) {
        DT_TRY(dt_decode_code(arena, cache->code, &broken->bytecode));
    }
    DT_TRY(dt_places_build(arena, broken->bytecode, &broken->places));
    DT_TRY(dt_cfg_build(arena, broken->bytecode, &cfg));
    DT_TRY(dt_liveness_build(arena, broken->bytecode, &cfg, &broken->liveness));
    broken->all_live = looks_at_locals(cache->code);
    broken->points = DT_ARENA_ARRAY(arena, DtPoint *, broken->bytecode->count + 1);
    if (broken->points == NULL) {
        return dt_no_memory();
    }
    return DT_OK;
}

DtBroken *
dt_broken_new(DtCodeCache *cache, DtArena *decoded, DtBytecode *bytecode)
{
    DtBroken *broken = DT_ARENA_NEW(&cache->region->arena, DtBroken);
    if (broken == NULL) {
        return NULL;
    }
    if (bytecode != NULL) {
        broken->bytecode = bytecode;
        broken->arena = *decoded;
        dt_arena_init(decoded);
    }
    if (fill(broken, cache) != DT_OK) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        dt_arena_release(&broken->arena);
        return NULL;
    }
    return broken;
}

bool
dt_broken_prepare(DtCodeCache *cache, DtArena *decoded, DtBytecode *bytecode)
{
    DtBroken *broken = cache->broken;
    if (broken != NULL && !broken->entering) {
        return true;
    }
    if (broken == NULL && (broken = dt_broken_new(cache, decoded, bytecode)) == NULL) {
        return false;
    }
    if (broken->places.entry >= 0 && add_points(broken) != DT_OK) {
        PyErr_Clear(); /* MemoryError, as above */
        if (cache->broken == NULL) {
            dt_broken_release(broken);
        }
        return false;
    }
    broken->entering = false;
    for (uint32_t i = 0; i < broken->list.count; i++) {
        broken->list.items[i]->cache.skips = 0;
    }
    broken->builds = 0; /* the next driver is a first one: it has all points */
    cache->broken = broken;
    return true;
}

bool
dt_broken_has_entries(const DtBroken *broken)
{
    for (uint32_t i = 0; i < broken->list.count; i++) {
        const DtPoint *point = broken->list.items[i];
        if (point->cache.entries != NULL || dt_scalar_loop_serves(point->loop)) {
            return true;
        }
    }
    return false;
}

void
dt_broken_reset(DtBroken *broken)
{
    for (uint32_t i = 0; i < broken->list.count; i++) {
        DtPoint *point = broken->list.items[i];
        dt_cache_reset(&point->cache);
        dt_scalar_loop_release(point->loop);
        point->wanted = point->first;
        point->visits = 0;
    }
    broken->weighed = NULL;
    broken->served = false;
    broken->stale = false;
    broken->builds = 0;
    broken->calm = 0;
    Py_CLEAR(broken->driver);
}

int
dt_broken_traverse(DtBroken *broken, visitproc visit, void *arg)
{
    Py_VISIT(broken->driver);
    Py_VISIT(broken->rebound);
    for (uint32_t i = 0; i < broken->list.count; i++) {
        Py_VISIT(broken->list.items[i]->cache.entries);
        int result = dt_scalar_loop_traverse(broken->list.items[i]->loop, visit, arg);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

void
dt_broken_release(DtBroken *broken)
{
    for (uint32_t i = 0; i < broken->probes.count; i++) {
        broken->probes.items[i]->point = NULL;
        Py_DECREF(broken->probes.items[i]);
    }
    for (uint32_t i = 0; i < broken->list.count; i++) {
        dt_scalar_loop_release(broken->list.items[i]->loop);
    }
    Py_CLEAR(broken->driver);
    Py_CLEAR(broken->rebound);
    dt_arena_release(&broken->arena);
}
