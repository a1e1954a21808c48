/* See hook.h. */
#include "eval_frame/hook.h"

#include <string.h>

#include "compat/code.h"
#include "compat/pyframe.h"
#include "compat/function.h"
#include "compat/recursion.h"
#include "compat/tracing.h"
#include "eval_frame/compile.h"
#include "eval_frame/dispatch.h"

/* Runs of a root frame in which nothing was captured before the hook stays away from it. */
#define QUIET_RUNS 2

/* What this thread captures; NULL: nothing. */
static _Thread_local DtRegion *capturing;
static _Thread_local PyCodeObject *root_code; /* the next frame of this code is the root itself */
static _Thread_local bool captured_something;

static uint32_t installed; /* threads inside dt_hook_call that need it; under the GIL */
static DtEvalFrame before; /* whoever else had a hook */

bool
dt_hook_is_installed(void)
{
    return installed > 0;
}

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

/* Modules that are never captured: the standard library, the libraries that adapters stand for, and
 * dyntrace.  Judged by the first part of the module's name. */
static bool
is_skipped_module(PyObject *globals)
{
    PyObject *name = PyDict_GetItemString(globals, "__name__");
    if (name == NULL || !PyUnicode_Check(name)) {
        return false;
    }
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        PyErr_Clear(); /* a name that is no UTF-8 is nobody's we know */
        return false;
    }
    char package[64];
    size_t length = strcspn(text, ".");
    if (length >= sizeof(package)) {
        return false;
    }
    memcpy(package, text, length);
    package[length] = '\0';
    if (strcmp(package, "dyntrace") == 0 || dt_adapter_by_name(package) != NULL) {
        return true;
    }
    PyObject *known = PySys_GetObject("stdlib_module_names");
    PyObject *key = known != NULL ? PyUnicode_FromString(package) : NULL;
    int found = key != NULL ? PySet_Contains(known, key) : 0;
    Py_XDECREF(key);
    if (found < 0) {
        PyErr_Clear(); /* no memory for the look-up: capturing is then up to the attempt */
    }
    return found > 0;
}

static DtCodeCache *
capturable_cache(DtRegion *region, DtPyFrame *frame)
{
    DtCodeCache *cache = dt_region_cache(region, dt_pyframe_code(frame));
    if (cache == NULL) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return NULL;
    }
    if (!cache->judged) {
        cache->judged = true;
        if (is_skipped_module(dt_pyframe_globals(frame))) {
            cache->closed = true;
        }
    }
    return cache->closed && cache->entries == NULL ? NULL : cache;
}

static PyObject *
run_rewritten(DtEntry *entry, PyObject *function, PyObject *const *slots, bool *replay)
{
    PyObject *rewritten
        = dt_function_with_code((PyCodeObject *)entry->code, (PyFunctionObject *)function);
    PyThreadState *tstate = PyThreadState_GET();
    PyObject *answer = NULL;
    if (rewritten != NULL && dt_recursion_enter(tstate)) {
        DtRegion *region = capturing;
        capturing = NULL; /* the rewritten frame itself */
        answer = ((PyFunctionObject *)rewritten)
                     ->vectorcall(rewritten, slots,
                                  (size_t)dt_code_argcount((PyCodeObject *)entry->code), NULL);
        capturing = region;
        dt_recursion_leave(tstate);
    }
    Py_XDECREF(rewritten);
    if (answer == dt_state.replay) {
        Py_CLEAR(answer);
        dt_dispatch_replayed(entry);
        *replay = true;
    }
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
    DtDispatch found = dt_dispatch_find(cache, &guarded, &entry, answer);
    if (found == DT_DISPATCH_MISS) {
        DtCompile compiled = dt_compile_attempt(cache, parts, slots);
        if (compiled == DT_COMPILE_ERROR) {
            return ANSWERED;
        }
        if (compiled == DT_COMPILE_PUBLISHED) {
            found = dt_dispatch_find(cache, &guarded, &entry, answer);
        }
    }
    bool replay = found == DT_DISPATCH_MISS || found == DT_DISPATCH_PLAIN;
    if (found == DT_DISPATCH_FRAME) {
        /* Positional parameters only: other argument slots would have to be packed again. */
        if (cache->simple) {
            *answer = run_rewritten(entry, function, slots, &replay);
        }
        else {
            replay = true;
        }
        Py_DECREF(entry);
    }
    captured_something = captured_something || !replay;
    return replay ? PLAIN : ANSWERED;
}

static PyObject *
evaluate(PyThreadState *tstate, DtPyFrame *frame, int throwflag)
{
    DtRegion *region = capturing;
    if (region == NULL || !dt_pyframe_is_fresh(frame, throwflag) || dt_tracing_is_active(tstate)) {
        return run_plainly(tstate, frame, throwflag);
    }
    if (dt_pyframe_code(frame) == root_code) {
        root_code = NULL; /* a recursive call of it is a frame like any other */
        return run_plainly(tstate, frame, throwflag);
    }
    DtCodeCache *cache = capturable_cache(region, frame);
    if (cache == NULL || dt_tracing_code_is_watched(cache->code)
        || cache->nargs > DT_DISPATCH_STACK) {
        return run_plainly(tstate, frame, throwflag);
    }
    PyObject *slots[DT_DISPATCH_STACK];
    dt_pyframe_read_arguments(frame, slots);
    PyObject *function = dt_pyframe_function(frame);
    if (function == NULL) {
        PyErr_Clear(); /* MemoryError: the frame can still run */
        return run_plainly(tstate, frame, throwflag);
    }
    PyObject *answer;
    Outcome outcome = capture(cache, function, slots, &answer);
    Py_DECREF(function);
    if (outcome == PLAIN) {
        return run_plainly(tstate, frame, throwflag);
    }
    if (dt_pyframe_finish(tstate, frame) < 0) {
        Py_CLEAR(answer);
    }
    return answer;
}

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

PyObject *
dt_hook_call(DtCodeCache *cache, PyObject *function, PyObject *const *args, size_t nargsf,
             PyObject *kwnames)
{
    PyThreadState *tstate = PyThreadState_GET();
    vectorcallfunc call = ((PyFunctionObject *)function)->vectorcall;
    if (!dt_recursion_enter(tstate)) {
        return NULL;
    }
    PyObject *answer;
    DtRegion *outer = capturing;
    PyCodeObject *outer_root = root_code;
    bool reaches = cache != NULL && cache->failures > 0 && cache->quiet < QUIET_RUNS;
    if (!reaches) {
        /* Inside a capturing frame, the frames of another compiled function are its own business. */
        capturing = NULL;
        answer = call(function, args, nargsf, kwnames);
    }
    else {
        bool outer_captured = captured_something;
        DtRegion *region = cache->region;
        Py_INCREF(region);
        capturing = region;
        root_code = cache->code;
        captured_something = false;
        install();
        answer = call(function, args, nargsf, kwnames);
        remove_hook();
        cache->quiet = captured_something ? 0 : (uint8_t)(cache->quiet + 1);
        captured_something = outer_captured;
        Py_DECREF(region);
    }
    capturing = outer;
    root_code = outer_root;
    dt_recursion_leave(tstate);
    return answer;
}
