/* See running_loops.h. */
#include "eval_frame/running_loops.h"

#include "bytecode/decode.h"
#include "bytecode/loops.h"
#include "eval_frame/horizon.h"
#include "eval_frame/investment.h"
#include "eval_frame/reach.h"
#include "eval_frame/resting.h"

/* Iterations, as multiples of config.hot_count, after which a loop is hot in any case, where time
 * does not count (config.hot_ns); and how long hot_count of them may take before it is. */
#define PATIENT_ROUNDS 16
#define SLOW_NS 500000
#define MOST_SKIPPED (1 << 20)

/* ---- Loops ----------------------------------------------------------------------------------- */

static DtStatus
add_loop(DtBroken *broken, int32_t head, int32_t last)
{
    int32_t at = dt_broken_iteration(broken, head, last), after[4];
    if (at < 0) {
        return DT_OK;
    }
    DtPoint *begin = dt_broken_point_at(broken, at);
    if (begin == NULL) {
        return DT_ERROR;
    }
    begin->wanted = begin->first = true;
    for (int32_t q = head; q <= last; q++) {
        const DtInstr *instr = &broken->bytecode->instrs[q];
        if (instr->op == DT_OP_STORE_NAME
            && PySet_Add(broken->rebound, dt_decode_name(broken->bytecode, instr)) < 0) {
            return DT_ERROR;
        }
        int count = dt_broken_may_end_at(broken, (uint32_t)q)
                        ? dt_broken_points_after(broken, q, after)
                        : 0;
        for (int i = 0; i < count; i++) {
            bool inside = after[i] >= head && after[i] <= last;
            if (inside && dt_broken_point_at(broken, after[i]) == NULL) {
                return DT_ERROR;
            }
        }
    }
    return DT_OK;
}

/* A loop is [head, what jumps back to it from furthest behind]. */
static DtStatus
add_loops(DtBroken *broken)
{
    int32_t count = (int32_t)broken->bytecode->count;
    int32_t *last = PyMem_New(int32_t, count);
    DtStatus status = DT_OK;
    broken->entering = true;
    if (broken->module) {
        broken->rebound = PySet_New(NULL);
    }
    if ((broken->module && broken->rebound == NULL) || last == NULL) {
        PyMem_Free(last);
        return dt_no_memory();
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t target = broken->bytecode->instrs[i].target;
        last[i] = -1;
        if (dt_loop_is_closed_at(broken->bytecode, i)) {
            last[target] = i;
        }
    }
    for (int32_t head = 0; head < count && status == DT_OK; head++) {
        status = last[head] >= 0 ? add_loop(broken, head, last[head]) : DT_OK;
    }
    PyMem_Free(last);
    return status;
}

static DtStatus
make_ready(DtCodeCache *cache, bool module)
{
    if (cache->broken != NULL) {
        return DT_OK;
    }
    DtBroken *broken = dt_broken_new(cache, NULL, NULL);
    if (broken == NULL) {
        return DT_OK; /* code that can't be decoded runs as it is */
    }
    broken->module = module;
    if (add_loops(broken) != DT_OK) {
        dt_broken_release(broken);
        return DT_ERROR;
    }
    cache->broken = broken;
    return DT_OK;
}

DtStatus
dt_running_loops_of_module(DtRegion *region, PyCodeObject *code, PyCodeObject **driver)
{
    *driver = NULL;
    DtCodeCache *cache = dt_region_cache(region, code);
    if (cache == NULL) {
        return DT_ERROR;
    }
    DT_TRY(make_ready(cache, true));
    *driver = dt_broken_driver(cache);
    Py_XINCREF(*driver);
    return DT_OK;
}

PyCodeObject *
dt_running_loops_of_function(DtCodeCache *cache)
{
    if (make_ready(cache, false) != DT_OK) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
    }
    if (cache->broken != NULL) {
        cache->broken->entered = 0;
    }
    return dt_broken_driver(cache);
}

bool
dt_running_loops_has_one(PyCodeObject *code)
{
    DtArena arena;
    DtBytecode *bytecode;
    bool found = false;
    dt_arena_init(&arena);
    if (dt_decode_code(&arena, code, &bytecode) == DT_OK) {
        for (uint32_t i = 0; i < bytecode->count && !found; i++) {
            found = dt_loop_is_closed_at(bytecode, (int32_t)i);
        }
    }
    else {
        PyErr_Clear(); /* no code that we could compile either */
    }
    dt_arena_release(&arena);
    return found;
}

/* ---- While it runs --------------------------------------------------------------------------- */

/* The counting of a loop is at its end.  In a module that has nothing to do with arrays, it is no
 * candidate. */
static bool
begin_compiling(DtPoint *point, PyObject *globals)
{
    point->visits = UINT32_MAX;
    if (dt_state.everything || dt_reach_namespace(globals)) {
        return true;
    }
    dt_broken_close(point);
    return false;
}

/* What an instruction of the loop takes from elsewhere. */
static void
add_operand(DtHorizon *horizon, const DtBytecode *bytecode, const DtInstr *instr,
            PyObject *const *memory, PyObject *globals)
{
    switch (instr->op) {
    case DT_OP_LOAD_FAST:
    case DT_OP_LOAD_CLOSURE:
    case DT_OP_LOAD_DEREF:
        dt_horizon_add(horizon, memory[bytecode->layout.memory[instr->arg]]);
        break;
    case DT_OP_LOAD_GLOBAL:
    case DT_OP_LOAD_NAME:
    case DT_OP_IMPORT_NAME:
        dt_horizon_add_name(horizon, dt_decode_name(bytecode, instr), globals);
        break;
    case DT_OP_LOAD_CONST:
        dt_horizon_add_code(horizon, PyTuple_GET_ITEM(bytecode->consts, instr->arg), globals);
        break;
    default:
        break;
    }
}

/* Does the loop come to arrays, as far as can be seen from its iteration of now? */
static bool
sees_arrays(const DtPoint *point, DtPyFrame *frame, PyObject *globals)
{
    const DtBytecode *bytecode = point->broken->bytecode;
    PyObject *const *memory = dt_pyframe_memory(frame);
    PyObject *const *stack = memory + bytecode->layout.stack_start;
    int32_t head, last;
    if (!dt_loop_around(bytecode, point->at, &head, &last)) {
        return true;
    }
    DtHorizon horizon;
    dt_horizon_begin(&horizon, DT_HORIZON_LONG);
    dt_horizon_add_attributes(&horizon, bytecode->names);
    for (int32_t i = head; i <= last; i++) {
        add_operand(&horizon, bytecode, &bytecode->instrs[i], memory, globals);
    }
    for (int32_t i = 0; i < bytecode->instrs[point->at].depth; i++) {
        dt_horizon_add(&horizon, stack[i]);
    }
    return dt_horizon_end(&horizon);
}

/* The time; the first that asks for it in a call says that it began now. */
static int64_t
clock_of(DtBroken *broken)
{
    int64_t now = dt_investment_clock();
    dt_resting_look(now + dt_state.compile_ns);
    if (broken->entered == 0) {
        broken->entered = now;
    }
    return now;
}

/* How long the loop has run; or, if an earlier call has run it, too, how long its function has. */
static int64_t
time_of(const DtPoint *point)
{
    const DtBroken *broken = point->broken;
    int64_t now = clock_of(point->broken);
    return point->seen_at >= broken->entered ? now - point->seen_at
                                             : now - broken->entered + broken->owner->early_ns;
}

/* Visits until it is worth to look at the clock again: half of those that the loop will take to be
 * hot as it goes now, and no more than it has had, since it may become slower. */
static uint32_t
visits_to_skip(const DtPoint *point, int64_t taken, int64_t slow)
{
    double half = (double)point->visits * (double)(slow - taken) / (double)(taken + 1) / 2;
    uint32_t most = point->visits < MOST_SKIPPED ? point->visits : MOST_SKIPPED;
    return half < most ? (uint32_t)half : most;
}

static bool
has_become_hot(DtPoint *point)
{
    if (point->visits == 0) {
        dt_investment_start();
        point->seen_at = clock_of(point->broken);
    }
    point->visits += point->visits < UINT32_MAX - 1;
    if (point->visits <= dt_state.hot_count) {
        return false;
    }
    if (dt_state.hot_ns == 0 && point->visits > (uint64_t)dt_state.hot_count * PATIENT_ROUNDS) {
        return true;
    }
    int64_t slow = dt_state.hot_ns > SLOW_NS ? dt_state.hot_ns << point->cache.rests : SLOW_NS;
    int64_t taken = time_of(point);
    if (taken <= slow && dt_state.hot_ns > 0 && point->visits < UINT32_MAX / 2) {
        point->cache.skips = visits_to_skip(point, taken, slow);
        point->visits += point->cache.skips;
    }
    return taken > slow;
}

bool
dt_running_loops_is_hot(DtPoint *point, DtPyFrame *frame)
{
    PyObject *globals = dt_pyframe_globals(frame);
    bool named = !point->broken->module || dt_pyframe_names(frame) == globals;
    if (DT_UNLIKELY(!named || !PyDict_CheckExact(globals))) {
        return false;
    }
    if (DT_LIKELY(point->visits == UINT32_MAX || !point->first)) {
        return true;
    }
    if (!has_become_hot(point)) {
        return false;
    }
    if (dt_investment_is_asked(&point->cache) && !sees_arrays(point, frame, globals)) {
        (void)dt_investment_give_up(&point->cache, 0);
        point->visits = 0; /* counted anew, for longer */
        return false;
    }
    return begin_compiling(point, globals);
}
