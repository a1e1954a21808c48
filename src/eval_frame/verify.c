/* See verify.h. */
#include "eval_frame/verify.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "compat/function.h"
#include "compat/recursion.h"
#include "core/clock.h"
#include "eval_frame/bind.h"
#include "eval_frame/broken.h"
#include "eval_frame/compile.h"
#include "eval_frame/forked.h"
#include "eval_frame/hook.h"

/* The plain run gets this long, and the compiled one that and many times what the plain one took.
 */
#define LIMIT_NS INT64_C(60000000000)
#define COMPILED_TIMES 20
/* What memory that malloc() gives is filled with where two plain runs are compared. */
#define SOIL 0x5a

/* A call: an entry serves it whole, or it runs in parts. */
typedef struct Call {
    DtCodeCache *cache;
    const DtGuardFrame *frame;
    DtEntry *entry;
    PyObject **regs; /* of the entry */
    DtVerifyDriven driven;
    void *context; /* of `driven` */
    DtVerifySide side;
    bool soiled;
    PyObject *difference; /* for the reproducer */
} Call;

/* ---- In a copy of the process ---------------------------------------------------------------- */

static PyObject *
call_code(const Call *call, PyObject *code)
{
    PyThreadState *tstate = PyThreadState_GET();
    PyObject *answer = NULL;
    PyObject *function =
        dt_function_with_code((PyCodeObject *)code, (PyFunctionObject *)call->frame->function);
    bool counted = dt_hook_is_installed();
    if (function != NULL && (counted || dt_recursion_enter(tstate))) {
        answer = dt_bind_call(function, (PyCodeObject *)code, call->frame->locals);
        if (!counted) {
            dt_recursion_leave(tstate);
        }
    }
    return answer; /* the function is left to the end of the process, as all that is made here */
}

static PyObject *
call_plainly(const Call *call)
{
    return call_code(call, ((PyFunctionObject *)call->frame->function)->func_code);
}

static PyObject *
call_entry(const Call *call)
{
    DtEntry *framed = NULL;
    PyObject *answer = NULL;
    switch (dt_dispatch_run(call->entry, call->frame, NULL, call->regs, &framed, &answer)) {
    case DT_DISPATCH_DONE:
        return answer;
    case DT_DISPATCH_ERROR:
        return NULL;
    case DT_DISPATCH_FRAME:
        answer = call_code(call, call->entry->code);
        break;
    case DT_DISPATCH_MISS:
    case DT_DISPATCH_STRAY:
    case DT_DISPATCH_PLAIN:
        answer = dt_state.replay;
        break;
    }
    return answer == dt_state.replay ? call_plainly(call) : answer;
}

static PyObject *
call_compiled(const Call *call)
{
    dt_compile_resume(); /* calls below are captured, as they would be */
    PyObject *answer = call->entry != NULL ? call_entry(call) : call->driven(call->context);
    dt_compile_pause();
    return answer;
}

/* The pending exception, with its traceback; None: there is none.  NULL with MemoryError. */
static PyObject *
take_error(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (type == NULL) {
        Py_RETURN_NONE;
    }
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL && PyException_SetTraceback(value, traceback) < 0) {
        return NULL;
    }
    return value;
}

static PyObject *
arguments_of(const Call *call)
{
    PyObject *list = PyList_New(call->cache->nargs);
    for (int i = 0; list != NULL && i < call->cache->nargs; i++) {
        PyObject *value = call->frame->locals[i];
        Py_XINCREF(value);
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

/* What the call does, as bytes that are the same if nobody can tell the outcomes apart. */
static PyObject *
observe(void *context)
{
    Call *call = context;
    dt_state.verify.side = call->side;
#if defined(__GLIBC__)
    if (call->soiled) {
        mallopt(M_PERTURB, SOIL);
    }
#endif
    PyObject *arguments = arguments_of(call);
    PyObject *codes = call->entry != NULL ? call->entry->inlined : Py_None;
    PyObject *watch =
        arguments == NULL
            ? NULL
            : PyObject_CallMethod(dt_state.verify.module, "watch", "OOOO", call->frame->function,
                                  arguments, codes, call->soiled ? Py_True : Py_False);
    if (watch == NULL) {
        return NULL;
    }
    PyObject *answer = call->side == DT_VERIFY_PLAINLY ? call_plainly(call) : call_compiled(call);
    PyObject *error = take_error();
    return error == NULL
               ? NULL
               : PyObject_CallMethod(watch, "tell", "OO", answer != NULL ? answer : Py_None, error);
}

static PyObject *
write_reproducer(void *context)
{
    Call *call = context;
    DtRegion *region = call->cache->region;
    dt_state.verify.side = DT_VERIFY_PLAINLY;
    PyObject *arguments = arguments_of(call);
    return arguments == NULL ? NULL
                             : PyObject_CallMethod(dt_state.verify.module, "write_reproducer",
                                                   "OOOO", call->frame->function, arguments,
                                                   (PyObject *)region, call->difference);
}

/* ---- In the process -------------------------------------------------------------------------- */

/* Vigna's SplitMix64 of a counter: the program's own generators are not touched. */
static bool
is_due(void)
{
    uint64_t x = ++dt_state.verify.asked * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) <= dt_state.verify.threshold;
}

static DtForkedAnswer
run_copy(Call *call, DtVerifySide side, int64_t limit_ns)
{
    call->side = side;
    /* What the plain run asks of the system, the compiled one asks, too; there it can only be our
     * own doing, which has to do without. */
    DtSealing sealing = side == DT_VERIFY_PLAINLY ? DT_SEALED_ENDS : DT_SEALED_REFUSES;
    DtForkedJob job = {observe, call, limit_ns, sealing, call->entry == NULL};
    return dt_forked_run(&job);
}

/* DT_VERIFY_REASON_COUNT: none. */
static DtVerifyReason
hindrance(const DtCodeCache *cache)
{
    if (cache->verify.skipped[DT_VERIFY_LATE] > 0) {
        return DT_VERIFY_LATE; /* once is enough */
    }
    PyThreadState *first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    if (PyThreadState_Next(first) != NULL) {
        return DT_VERIFY_THREADS;
    }
    return dt_forked_is_noticed() ? DT_VERIFY_NOTICED : DT_VERIFY_REASON_COUNT;
}

static DtVerifyReason
reason_of(DtForkedEnd end)
{
    switch (end) {
    case DT_FORKED_CONFUSED:
        return DT_VERIFY_UNTOLD;
    case DT_FORKED_DIED:
        return DT_VERIFY_DIED;
    case DT_FORKED_LATE:
        return DT_VERIFY_LATE;
    case DT_FORKED_ACTED:
        return DT_VERIFY_ACTS;
    case DT_FORKED_OPEN:
        return DT_VERIFY_OPEN;
    case DT_FORKED_NEVER:
        return DT_VERIFY_NEVER;
    case DT_FORKED_TOLD:
    case DT_FORKED_ERROR:
        break;
    }
    return DT_VERIFY_REASON_COUNT;
}

static bool
are_same(const DtForkedAnswer *a, const DtForkedAnswer *b)
{
    return a->end == DT_FORKED_TOLD && b->end == DT_FORKED_TOLD
           && PyBytes_GET_SIZE(a->told) == PyBytes_GET_SIZE(b->told)
           && memcmp(PyBytes_AS_STRING(a->told), PyBytes_AS_STRING(b->told),
                     (size_t)PyBytes_GET_SIZE(a->told))
                  == 0;
}

static PyObject *
row_of(const DtCodeCache *cache)
{
    PyObject *skipped = PyDict_New();
    static const char *const texts[] = {
#define WHY(NAME, TEXT) TEXT,
        DT_VERIFY_REASONS(WHY)
#undef WHY
    };
    for (int i = 0; skipped != NULL && i < DT_VERIFY_REASON_COUNT; i++) {
        PyObject *count = PyLong_FromUnsignedLong(cache->verify.skipped[i]);
        if (count == NULL
            || (cache->verify.skipped[i] > 0
                && PyDict_SetItemString(skipped, texts[i], count) < 0)) {
            Py_CLEAR(skipped);
        }
        Py_XDECREF(count);
    }
    if (skipped == NULL) {
        return NULL;
    }
    return dt_cache_row(cache, -1,
                        Py_BuildValue("{s:I,s:N,s:O}", "verified", (unsigned int)cache->verify.same,
                                      "skipped", skipped, "quarantined",
                                      cache->verify.quarantined ? Py_True : Py_False));
}

static void
quarantine(DtCodeCache *cache)
{
    dt_cache_reset(cache);
    cache->closed = true;
    cache->verify.quarantined = true;
}

/* The outcomes differ: says so, unless plain execution differs from itself.  -1 with an exception
 * that is the program's. */
static int
judge(Call *call, const DtForkedAnswer *plain, const DtForkedAnswer *compiled)
{
    DtCodeCache *cache = call->cache;
    call->soiled = true;
    DtForkedAnswer again = run_copy(call, DT_VERIFY_PLAINLY, LIMIT_NS);
    call->soiled = false;
    bool steady = again.end != DT_FORKED_TOLD || are_same(&again, plain);
    Py_XDECREF(again.told);
    if (again.end == DT_FORKED_ERROR) {
        return -1;
    }
    if (!steady) {
        cache->verify.skipped[DT_VERIFY_UNSTEADY]++;
        return 0;
    }
    PyObject *module = dt_state.verify.module;
    PyObject *told = NULL, *row = NULL, *done = NULL;
    call->difference = PyObject_CallMethod(module, "difference", "OOii", plain->told,
                                           compiled->told != NULL ? compiled->told : Py_None,
                                           (int)compiled->end, compiled->signal);
    if (call->difference != NULL) {
        DtForkedJob job = {write_reproducer, call, LIMIT_NS, DT_SEALED_FILES, false};
        DtForkedAnswer written = dt_forked_run(&job);
        if (written.end == DT_FORKED_ERROR) {
            Py_CLEAR(call->difference);
            return -1;
        }
        told = written.told;
    }
    quarantine(cache);
    row = row_of(cache);
    if (call->difference != NULL && row != NULL) {
        done = PyObject_CallMethod(module, "report", "OOO", row, call->difference,
                                   told != NULL ? told : Py_None);
    }
    Py_XDECREF(row);
    Py_XDECREF(told);
    Py_CLEAR(call->difference);
    if (done == NULL) {
        PyErr_WriteUnraisable((PyObject *)cache->code);
    }
    Py_XDECREF(done);
    return 0;
}

/* 1: the call runs plainly; 0: it was not compared; -1: an exception is set. */
static int
compare(Call *call)
{
    DtCodeCache *cache = call->cache;
    int64_t began = dt_clock_ns();
    DtForkedAnswer plain = run_copy(call, DT_VERIFY_PLAINLY, LIMIT_NS);
    if (plain.end != DT_FORKED_TOLD) {
        Py_XDECREF(plain.told);
        if (plain.end == DT_FORKED_ERROR) {
            return -1;
        }
        cache->verify.skipped[reason_of(plain.end)]++;
        return 0;
    }
    int64_t limit_ns = LIMIT_NS + COMPILED_TIMES * (dt_clock_ns() - began);
    DtForkedAnswer compiled = run_copy(call, DT_VERIFY_COMPILED, limit_ns);
    int result = 1;
    if (compiled.end == DT_FORKED_ERROR) {
        result = -1;
    }
    else if (compiled.end == DT_FORKED_NEVER) {
        cache->verify.skipped[DT_VERIFY_NEVER]++;
        result = 0;
    }
    else if (are_same(&plain, &compiled)) {
        cache->verify.same++;
    }
    else {
        result = judge(call, &plain, &compiled) < 0 ? -1 : 1;
    }
    Py_XDECREF(plain.told);
    Py_XDECREF(compiled.told);
    return result;
}

/* Compares if the call is due and nothing is in the way; as compare(). */
static int
compare_if_due(Call *call)
{
    if (!is_due()) {
        return 0;
    }
    DtVerifyReason reason = hindrance(call->cache);
    if (reason != DT_VERIFY_REASON_COUNT) {
        call->cache->verify.skipped[reason]++;
        return 0;
    }
    dt_compile_pause(); /* what tells of a difference is Python */
    int compared = compare(call);
    dt_compile_resume();
    return compared;
}

/* A part of a frame: its call was compared as a whole, or never will be. */
static DtDispatch
run_part(DtCodeCache *cache, DtEntry *entry, const DtGuardFrame *frame,
         const DtSegmentCall *segment, PyObject **regs, DtEntry **framed, PyObject **answer)
{
    DtBroken *broken = dt_broken_point_of(cache)->broken;
    if (broken->compared > 0 && !entry->tried) {
        return DT_DISPATCH_PLAIN;
    }
    if (broken->calls == 0 && !entry->plain && is_due()) {
        broken->owner->verify.skipped[DT_VERIFY_RUNNING]++;
    }
    return dt_dispatch_run(entry, frame, segment, regs, framed, answer);
}

DtDispatch
dt_verify_call(DtCodeCache *cache, DtEntry *entry, const DtGuardFrame *frame,
               const DtSegmentCall *segment, PyObject **regs, DtEntry **framed, PyObject **answer)
{
    if (dt_state.verify.side == DT_VERIFY_PLAINLY) {
        return DT_DISPATCH_PLAIN;
    }
    if (dt_state.verify.side == DT_VERIFY_NOBODY && segment != NULL) {
        return run_part(cache, entry, frame, segment, regs, framed, answer);
    }
    if (dt_state.verify.side == DT_VERIFY_NOBODY && !entry->plain) {
        Call call = {.cache = cache, .entry = entry, .frame = frame, .regs = regs};
        int compared = compare_if_due(&call);
        if (compared != 0) {
            return compared < 0 ? DT_DISPATCH_ERROR : DT_DISPATCH_PLAIN;
        }
    }
    return dt_dispatch_run(entry, frame, segment, regs, framed, answer);
}

bool
dt_verify_driven(DtCodeCache *cache, const DtGuardFrame *frame, DtVerifyDriven driven,
                 void *context, PyObject **answer)
{
    DtBroken *broken = cache->broken;
    int compared = !broken->served; /* nothing that could differ serves it */
    if (dt_state.verify.side == DT_VERIFY_NOBODY && broken->served) {
        Call call = {.cache = cache, .frame = frame, .driven = driven, .context = context};
        dt_broken_try_all(broken);
        compared = compare_if_due(&call);
        if (compared < 0) {
            *answer = NULL;
            return true;
        }
        if (cache->verify.quarantined) {
            return false;
        }
    }
    DtRegion *region = cache->region;
    Py_INCREF(region); /* the call can let go of the function */
    broken->calls++;
    broken->compared += compared > 0;
    *answer = driven(context);
    broken->compared -= compared > 0;
    broken->calls--;
    Py_DECREF(region);
    return true;
}

/* ---- The setting, and what is known ---------------------------------------------------------- */

#define WHOLE 18446744073709551616.0 /* 2^64 */

PyObject *
dt_verify_set(PyObject *Py_UNUSED(module), PyObject *value)
{
    double share = PyFloat_AsDouble(value);
    if (share == -1.0 && PyErr_Occurred()) {
        return NULL;
    }
    if (!(share >= 0.0 && share <= 1.0)) {
        PyErr_Format(PyExc_ValueError, "config.verify: expected a share from 0 to 1, got %R",
                     value);
        return NULL;
    }
    if (share > 0.0 && dt_state.verify.module == NULL) {
        dt_state.verify.module = PyImport_ImportModule("dyntrace._verify");
        if (dt_state.verify.module == NULL) {
            return NULL;
        }
    }
    dt_state.verify.share = share;
    dt_state.verify.threshold = share < 1.0 ? (uint64_t)(share * WHOLE) : UINT64_MAX;
    dt_state.verify.on = share > 0.0;
    Py_RETURN_NONE;
}

PyObject *
dt_verify_get(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return PyFloat_FromDouble(dt_state.verify.share);
}

static bool
is_known(const DtCodeCache *cache)
{
    bool known = cache->verify.same > 0 || cache->verify.quarantined;
    for (int i = 0; i < DT_VERIFY_REASON_COUNT; i++) {
        known = known || cache->verify.skipped[i] > 0;
    }
    return known;
}

/* Appends the rows of a region's functions. */
static int
append_rows(PyObject *list, const DtRegion *region)
{
    for (DtCodeCache *cache = region->caches; cache != NULL; cache = cache->next) {
        if (is_known(cache)) {
            PyObject *row = row_of(cache);
            int failed = row == NULL ? -1 : PyList_Append(list, row);
            Py_XDECREF(row);
            if (failed) {
                return -1;
            }
        }
    }
    return 0;
}

PyObject *
dt_verify_list(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);
    for (DtRegion *region = dt_state.regions; list != NULL && region != NULL;
         region = region->next_region) {
        if (append_rows(list, region) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyObject *
dt_verify_list_region(PyObject *region, PyObject *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);
    if (list != NULL && append_rows(list, (DtRegion *)region) < 0) {
        Py_CLEAR(list);
    }
    return list;
}
