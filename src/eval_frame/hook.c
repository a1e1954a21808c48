/* See hook.h. */
#include "eval_frame/hook.h"

#include "backend/eager.h"
#include "compat/code.h"
#include "compat/pyframe.h"
#include "compat/function.h"
#include "compat/recursion.h"
#include "compat/tracing.h"
#include "eval_frame/bind.h"
#include "eval_frame/broken.h"
#include "eval_frame/compile.h"
#include "eval_frame/dispatch.h"
#include "eval_frame/investment.h"
#include "eval_frame/policy.h"
#include "eval_frame/reach.h"
#include "eval_frame/refusals.h"
#include "eval_frame/record.h"
#include "eval_frame/running_loops.h"
#include "eval_frame/verify.h"

/* Up to 3.10 a call of a generator function runs no frame: what comes here is the generator's first
 * step, and other code can't take its place any more.  Coroutines run plainly. */
#if PY_VERSION_HEX < 0x030B0000
#define DT_LEFT_ALONE (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)
#else
#define DT_LEFT_ALONE (CO_COROUTINE | CO_ASYNC_GENERATOR)
#endif

/* Runs of a root frame in which nothing was captured before the hook stays away from it; after one
 * in which something was, others go other ways. */
#define QUIET_RUNS 2
#define QUIET_RUNS_BETWEEN 64
/* Frames that pass by in one run before it is asked whether the hook is worth what it costs them,
 * and how many of them one that is captured may cost. */
#define PASSING_FRAMES 2048
#define FRAMES_PER_CAPTURE 8
/* So often it stays for what may still be captured. */
#define PATIENCE 16

/* What a thread captures.  Its address costs a call wherever it is asked for: once in a function.
 */
typedef struct Capture {
    DtRegion *region;   /* NULL: nothing */
    PyCodeObject *root; /* the next frame of this code is the root itself */
    DtRootRuns *runs;   /* DT_BORROWED, of the root that keeps the hook installed, or NULL */
    bool something;     /* was captured */
    bool waiting;       /* something may still be, once it has been called often enough */
} Capture;

static _Thread_local Capture capture_of_thread;

/* Compilers would rather ask for the address again than keep it. */
static Capture *__attribute__((noinline))
find_capture(void)
{
    return &capture_of_thread;
}

static DtRegion *everywhere; /* captures in all threads and for good, or NULL; DT_OWNED */

static uint32_t installed; /* threads inside dt_hook_call that need it; under the GIL */
static DtEvalFrame before; /* whoever else had a hook */

bool
dt_hook_is_installed(void)
{
    return installed > 0;
}

static PyObject *evaluate(PyThreadState *tstate, DtPyFrame *frame, int throwflag);

static void
install(void)
{
    if (installed++ == 0) {
        before = dt_pyframe_evaluator();
        dt_pyframe_set_evaluator(evaluate);
    }
}

static void
remove_hook(void)
{
    if (--installed == 0 && dt_pyframe_evaluator() == evaluate) {
        dt_pyframe_set_evaluator(before);
    }
}

/* A frame that the hook delays for nothing.  Where nearly all are, the run goes on without it. */
static void
note_passing(Capture *mine)
{
    DtRootRuns *runs = mine->runs;
    if (runs == NULL || ++runs->passed < PASSING_FRAMES) {
        return;
    }
    bool worth = runs->captured >= PASSING_FRAMES / FRAMES_PER_CAPTURE;
    runs->passed = runs->captured = 0;
    if (!worth && (!mine->waiting || ++runs->waited == PATIENCE)) {
        runs->over = true;
        mine->runs = NULL;
        mine->region = NULL;
        remove_hook();
    }
}

/* The only place below an installed hook that gives the charge of a frame back: whatever is called
 * there comes by here. */
static PyObject *
run_plainly(PyThreadState *tstate, DtPyFrame *frame, int throwflag)
{
    if (DT_UNLIKELY(!dt_recursion_enter(tstate))) {
        dt_pyframe_finish(tstate, frame);
        return NULL;
    }
    PyObject *answer = before(tstate, frame, throwflag);
    dt_recursion_leave(tstate);
    return answer;
}

static DtCodeCache *
capturable_cache(DtRegion *region, DtPyFrame *frame)
{
    PyObject *globals = dt_pyframe_globals(frame);
    DtCodeCache *cache = dt_region_cache(region, dt_pyframe_code(frame));
    if (cache == NULL) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return NULL;
    }
    if (!cache->judged && everywhere != NULL) {
        cache->judged = cache->reaches = true;
        cache->closed = cache->closed || dt_reach_is_in_the_way(globals)
                        || (region->quiet && dt_reach_is_excluded(globals));
    }
    if (!cache->judged && PyDict_CheckExact(globals)) {
        cache->judged = true;
        cache->closed =
            cache->closed || dt_reach_is_skipped_module(globals)
            || (region->quiet
                && (dt_reach_is_installed(cache->code) || dt_reach_is_excluded(globals)));
        cache->reaches = !cache->closed && dt_reach_code(cache->code, globals);
    }
    bool serves = !cache->closed || cache->entries != NULL || cache->broken != NULL;
    return cache->judged && serves ? cache : NULL;
}

static PyObject *
run_rewritten(DtEntry *entry, PyObject *function, PyObject *const *slots, bool *replay)
{
    PyObject *rewritten =
        dt_function_with_code((PyCodeObject *)entry->code, (PyFunctionObject *)function);
    PyObject *answer = NULL;
    if (rewritten != NULL) {
        Capture *mine = find_capture();
        DtRegion *region = mine->region;
        PyCodeObject *outer_root = mine->root;
        mine->region = NULL;
        mine->root = (PyCodeObject *)entry->code;
        answer = dt_bind_call(rewritten, (PyCodeObject *)entry->code, slots);
        mine->region = region;
        mine->root = outer_root;
    }
    Py_XDECREF(rewritten);
    if (answer == dt_state.replay) {
        Py_CLEAR(answer);
        dt_dispatch_replayed(entry);
        *replay = true;
    }
    return answer;
}

/* A frame of a code that breaks. */
typedef struct Driven {
    const DtCodeCache *cache;
    PyCodeObject *driver;
    PyObject *function;
    PyObject *const *slots;
} Driven;

/* Compiled between its breaks; its callees are captured, too. */
static PyObject *
run_driver(void *context)
{
    const Driven *frame = context;
    const DtCodeCache *cache = frame->cache;
    PyCodeObject *driver = frame->driver;
    PyObject *driven = dt_function_with_code(driver, (PyFunctionObject *)frame->function);
    PyObject *answer = NULL;
    if (driven != NULL) {
        Capture *mine = find_capture();
        PyCodeObject *outer_root = mine->root;
        bool refusing = cache->refusing >= 0;
        mine->root = driver;
        if (!refusing || dt_refusals_push(cache->refusing == 1) == 0) {
            answer = dt_bind_call(driven, driver, frame->slots);
            if (refusing) {
                dt_refusals_pop();
            }
        }
        mine->root = outer_root;
    }
    Py_XDECREF(driven);
    return answer;
}

typedef enum Outcome { ANSWERED, PLAIN } Outcome;

/* Tries entries, then compiles.  ANSWERED: *answer is the result, NULL with an exception. */
static Outcome
capture(DtCodeCache *cache, PyObject *function, PyObject *const *slots, PyObject **answer)
{
    PyFunctionObject *parts = (PyFunctionObject *)function;
    DtGuardFrame guarded = {slots, parts->func_globals, parts->func_builtins, function};
    DtEntry *entry = NULL;
    *answer = NULL;
    DtDispatch found = dt_dispatch_find(cache, &guarded, NULL, &entry, answer);
    if (found == DT_DISPATCH_MISS) {
        found = dt_dispatch_compile(cache, &guarded, NULL, &entry, answer);
    }
    bool replay = found == DT_DISPATCH_MISS || found == DT_DISPATCH_PLAIN;
    bool verified = found == DT_DISPATCH_PLAIN && dt_state.verify.on;
    if (found == DT_DISPATCH_FRAME) {
        *answer = run_rewritten(entry, function, slots, &replay);
        Py_DECREF(entry);
    }
    if (found == DT_DISPATCH_MISS) {
        PyCodeObject *driver = dt_broken_driver(cache);
        Driven driven = {cache, driver, function, slots};
        if (driver != NULL && DT_UNLIKELY(dt_state.verify.on)) {
            replay = !dt_verify_driven(cache, &guarded, run_driver, &driven, answer);
        }
        else if (driver != NULL) {
            *answer = run_driver(&driven);
            replay = false;
        }
    }
    if (!replay || verified) {
        Capture *mine = find_capture();
        mine->something = true;
        if (mine->runs != NULL) {
            mine->runs->captured++;
        }
    }
    return replay ? PLAIN : ANSWERED;
}

/* A frame that is worth capturing. */
static PyObject *
run_captured(PyThreadState *tstate, DtPyFrame *frame, DtCodeCache *cache, PyObject *const *slots)
{
    PyObject *function = dt_pyframe_function(frame);
    if (function == NULL) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return run_plainly(tstate, frame, 0);
    }
    PyObject *answer;
    Outcome outcome = capture(cache, function, slots, &answer);
    Py_DECREF(function);
    if (outcome == PLAIN) {
        note_passing(find_capture());
        return run_plainly(tstate, frame, 0);
    }
    if (dt_pyframe_finish(tstate, frame) < 0) {
        Py_CLEAR(answer);
    }
    return answer;
}

static PyObject *
run_early(PyThreadState *tstate, DtPyFrame *frame, DtCodeCache *cache, PyObject *const *slots)
{
    PyCodeObject *driver = cache->loops ? dt_running_loops_of_function(cache) : NULL;
    PyObject *function = driver != NULL ? dt_pyframe_function(frame) : NULL;
    if (function == NULL) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return run_plainly(tstate, frame, 0);
    }
    PyObject *answer = run_driver(&(Driven){cache, driver, function, slots});
    Py_DECREF(function);
    if (dt_pyframe_finish(tstate, frame) < 0) {
        Py_CLEAR(answer);
    }
    return answer;
}

/* The same where the frame may be timed, or runs plainly because that is as fast. */
static PyObject *
run_weighed(PyThreadState *tstate, DtPyFrame *frame, DtCodeCache *cache, PyObject *const *slots)
{
    DtScaleRun run;
    dt_scale_begin(&cache->scale, cache->region, dt_broken_is_ready(cache), &run);
    if (cache->scale.state == DT_SCALE_FORSAKEN) {
        note_passing(find_capture());
    }
    PyObject *answer = run.side == DT_SIDE_COMPILED ? run_captured(tstate, frame, cache, slots)
                                                    : run_plainly(tstate, frame, 0);
    if (dt_scale_end(&cache->scale, &run, answer == NULL)) {
        dt_record_forsaken(cache, -1);
    }
    return answer;
}

static PyObject *
evaluate(PyThreadState *tstate, DtPyFrame *frame, int throwflag)
{
    Capture *mine = find_capture();
    DtRegion *region = mine->region != NULL ? mine->region : everywhere;
    if (region == NULL || dt_compile_is_running() || dt_eager_is_calling()
        || !dt_pyframe_is_fresh(frame, throwflag)
        || (dt_code_flags(dt_pyframe_code(frame)) & DT_LEFT_ALONE)
        || dt_tracing_is_active(tstate)) {
        return run_plainly(tstate, frame, throwflag);
    }
    if (dt_pyframe_code(frame) == mine->root) {
        mine->root = NULL; /* a recursive call of it is a frame like any other */
        return run_plainly(tstate, frame, throwflag);
    }
    DtCodeCache *cache = capturable_cache(region, frame);
    if (cache == NULL || dt_tracing_code_is_watched(cache->code)
        || cache->nargs > DT_DISPATCH_STACK) {
        note_passing(mine);
        return run_plainly(tstate, frame, throwflag);
    }
    PyObject *slots[DT_DISPATCH_STACK];
    dt_pyframe_read_arguments(frame, slots);
    if (!cache->reaches && !dt_reach_values(slots, cache->nargs)) {
        note_passing(mine);
        return run_plainly(tstate, frame, throwflag);
    }
    if (dt_investment_skips(cache)) {
        mine->waiting = true;
        return run_plainly(tstate, frame, throwflag);
    }
    if (region->quiet && dt_investment_is_early(cache)) {
        mine->waiting = true;
        int64_t began = dt_investment_begin(cache);
        PyObject *answer = run_early(tstate, frame, cache, slots);
        dt_investment_end(cache, began);
        return answer;
    }
    return DT_UNLIKELY(dt_scale_is_due(&cache->scale)) && !dt_policy_wants_breaks(cache)
               ? run_weighed(tstate, frame, cache, slots)
               : run_captured(tstate, frame, cache, slots);
}

/* A call that no hook sees has to give the charge of its frame back itself. */
static PyObject *
call_straight(vectorcallfunc call, PyObject *function, PyObject *const *args, size_t nargsf,
              PyObject *kwnames)
{
    PyThreadState *tstate = PyThreadState_GET();
    if (dt_hook_is_installed()) {
        return call(function, args, nargsf, kwnames);
    }
    if (!dt_recursion_enter(tstate)) {
        return NULL;
    }
    PyObject *answer = call(function, args, nargsf, kwnames);
    dt_recursion_leave(tstate);
    return answer;
}

bool
dt_hook_stays_away(const DtCodeCache *cache)
{
    return cache->root.over
           || cache->root.quiet >= (cache->root.loud ? QUIET_RUNS_BETWEEN : QUIET_RUNS);
}

PyObject *
dt_hook_call(DtCodeCache *cache, PyObject *function, PyObject *const *args, size_t nargsf,
             PyObject *kwnames)
{
    vectorcallfunc call = ((PyFunctionObject *)function)->vectorcall;
    PyObject *answer;
    Capture *mine = find_capture();
    Capture outer = *mine;
    if (cache != NULL && cache->refusing >= 0 && dt_refusals_push(cache->refusing == 1) < 0) {
        return NULL;
    }
    mine->root = (PyCodeObject *)((PyFunctionObject *)function)->func_code;
    if (cache == NULL || cache->failures == 0 || dt_hook_stays_away(cache)) {
        /* Inside a capturing frame, the frames of another compiled function are its own business.
         */
        mine->region = NULL;
        mine->runs = NULL;
        answer = call_straight(call, function, args, nargsf, kwnames);
    }
    else {
        DtRegion *region = cache->region;
        Py_INCREF(region);
        mine->region = region;
        mine->something = mine->waiting = false;
        mine->runs = &cache->root; /* lives as long as the region */
        install();
        answer = call(function, args, nargsf, kwnames);
        if (mine->runs != NULL) {
            remove_hook();
        }
        if (mine->something) {
            cache->root.quiet = 0;
            cache->root.loud = true;
        }
        else {
            cache->root.quiet += !mine->waiting;
        }
        Py_DECREF(region);
    }
    *mine = outer;
    if (cache != NULL && cache->refusing >= 0) {
        dt_refusals_pop();
    }
    return answer;
}

void
dt_hook_capture_everywhere(DtRegion *region)
{
    Py_INCREF(region);
    if (everywhere == NULL) {
        install();
    }
    Py_XSETREF(everywhere, region);
}
