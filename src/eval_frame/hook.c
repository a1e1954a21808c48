/* See hook.h. */
#include "eval_frame/hook.h"

#include <string.h>

#include "compat/code.h"
#include "compat/dict.h"
#include "compat/pyframe.h"
#include "compat/function.h"
#include "compat/recursion.h"
#include "compat/tracing.h"
#include "eval_frame/broken.h"
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

/* The name of a module up to its first dot; false if it is no text or too long to be one we know.
 */
static bool
package_of(PyObject *name, char *package, size_t size)
{
    Py_ssize_t length;
    const char *text =
        name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : NULL;
    if (text == NULL) {
        PyErr_Clear(); /* a name that is no UTF-8 is nobody's we know */
        return false;
    }
    size_t first = strcspn(text, ".");
    if (first >= size) {
        return false;
    }
    memcpy(package, text, first);
    package[first] = '\0';
    return true;
}

static bool
is_in_standard_library(const char *package)
{
    PyObject *known = PySys_GetObject("stdlib_module_names");
    PyObject *key = known != NULL ? PyUnicode_FromString(package) : NULL;
    int found = key != NULL ? PySet_Contains(known, key) : 0;
    Py_XDECREF(key);
    if (found < 0) {
        PyErr_Clear(); /* no memory for the look-up: the attempt decides */
    }
    return found > 0;
}

/* Never captured: the standard library, the libraries that adapters stand for, and dyntrace. */
static bool
is_skipped_module(PyObject *globals)
{
    PyObject *name;
    char package[64];
    if (dt_dict_get(globals, dt_state.name_key, &name) != 1
        || !package_of(name, package, sizeof(package))) {
        return false;
    }
    return strcmp(package, "dyntrace") == 0 || dt_adapter_by_name(package) != NULL
           || is_in_standard_library(package);
}

static bool
is_of_adapter(PyObject *value)
{
    if (PyModule_CheckExact(value)) {
        PyObject *name;
        char package[64];
        return dt_dict_get(PyModule_GetDict(value), dt_state.name_key, &name) == 1
               && package_of(name, package, sizeof(package)) && dt_adapter_by_name(package) != NULL;
    }
    return dt_adapter_of_array(value) != NULL
           || (Py_TYPE(value)->tp_call != NULL && dt_adapter_of_callable(value) != NULL);
}

/* Does a global that the code names belong to an adapter's library? */
static bool
code_reaches_adapter(PyCodeObject *code, PyObject *globals)
{
    PyObject *names = dt_code_names(code);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *value;
        if (dt_dict_get(globals, PyTuple_GET_ITEM(names, i), &value) == 1 && is_of_adapter(value)) {
            return true;
        }
    }
    return false;
}

static bool
has_array(PyObject *const *slots, int count)
{
    for (int i = 0; i < count; i++) {
        if (slots[i] != NULL && dt_adapter_of_array(slots[i]) != NULL) {
            return true;
        }
    }
    return false;
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
    if (!cache->judged && PyDict_CheckExact(globals)) {
        cache->judged = true;
        cache->closed = cache->closed || is_skipped_module(globals);
        cache->reaches = !cache->closed && code_reaches_adapter(cache->code, globals);
    }
    bool serves = !cache->closed || cache->entries != NULL || cache->broken != NULL;
    return cache->judged && serves ? cache : NULL;
}

static PyObject *
run_rewritten(DtEntry *entry, PyObject *function, PyObject *const *slots, bool *replay)
{
    PyObject *rewritten =
        dt_function_with_code((PyCodeObject *)entry->code, (PyFunctionObject *)function);
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

/* The frame of a code that breaks, compiled between its breaks; its callees are captured, too. */
static PyObject *
run_driver(PyCodeObject *driver, PyObject *function, PyObject *const *slots)
{
    PyObject *driven = dt_function_with_code(driver, (PyFunctionObject *)function);
    PyThreadState *tstate = PyThreadState_GET();
    PyObject *answer = NULL;
    if (driven != NULL && dt_recursion_enter(tstate)) {
        PyCodeObject *outer_root = root_code;
        root_code = driver;
        answer = ((PyFunctionObject *)driven)
                     ->vectorcall(driven, slots, (size_t)dt_code_argcount(driver), NULL);
        root_code = outer_root;
        dt_recursion_leave(tstate);
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
        DtCompile compiled = dt_compile_attempt(cache, parts, slots);
        if (compiled == DT_COMPILE_ERROR) {
            return ANSWERED;
        }
        if (compiled == DT_COMPILE_PUBLISHED) {
            found = dt_dispatch_find(cache, &guarded, NULL, &entry, answer);
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
    if (found == DT_DISPATCH_MISS && cache->simple) {
        PyCodeObject *driver = dt_broken_driver(cache);
        if (driver != NULL) {
            *answer = run_driver(driver, function, slots);
            replay = false;
        }
    }
    captured_something = captured_something || !replay;
    return replay ? PLAIN : ANSWERED;
}

static PyObject *
evaluate(PyThreadState *tstate, DtPyFrame *frame, int throwflag)
{
    DtRegion *region = capturing;
    if (region == NULL || !dt_pyframe_is_fresh(frame, throwflag)
        || dt_code_is_generator(dt_pyframe_code(frame)) || dt_tracing_is_active(tstate)) {
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
    if (!cache->reaches && !has_array(slots, cache->nargs)) {
        return run_plainly(tstate, frame, throwflag);
    }
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
        /* Inside a capturing frame, the frames of another compiled function are its own business.
         */
        capturing = NULL;
        answer = call(function, args, nargsf, kwnames);
    }
    else {
        bool outer_captured = captured_something;
        DtRegion *region = cache->region;
        Py_INCREF(region);
        capturing = region;
        root_code = (PyCodeObject *)((PyFunctionObject *)function)->func_code;
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
