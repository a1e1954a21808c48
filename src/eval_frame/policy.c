/* See policy.h. */
#include "eval_frame/policy.h"

#include "backend/backend.h"
#include "compat/finalizing.h"
#include "compat/modules.h"
#include "core/clock.h"
#include "eval_frame/cache_list.h"
#include "eval_frame/investment.h"
#include "eval_frame/reach.h"
#include "eval_frame/record.h"
#include "eval_frame/refusals.h"

#define BUDGET_GROWTH 8
#define LARGEST_BUDGET_NS INT64_C(5000000000)
#define LARGEST_QUIET_BUDGET_NS INT64_C(100000000) /* nobody has asked for it */

static PyObject *
recompile_facts(DtCodeCache *cache, const DtGuardFrame *frame)
{
    PyObject *reasons = dt_cache_failing(cache, frame);
    return reasons == NULL
               ? NULL
               : dt_cache_row(cache, -1,
                              Py_BuildValue("{s:I,s:N}", "entries", (unsigned int)cache->made,
                                            "reasons", reasons));
}

static void
raise_recompile(DtCodeCache *cache, const DtGuardFrame *frame)
{
    PyObject *facts = recompile_facts(cache, frame);
    PyObject *report = facts != NULL ? PyImport_ImportModule("dyntrace._report") : NULL;
    PyObject *text =
        report != NULL ? PyObject_CallMethod(report, "format_recompile", "O", facts) : NULL;
    if (text != NULL) {
        PyErr_SetObject(dt_state.recompile_error, text);
    }
    Py_XDECREF(text);
    Py_XDECREF(report);
    Py_XDECREF(facts);
}

/* In a program that did not ask to be compiled, attempts after the first success may take a share
 * of the time since then: code that is another one at each call would be compiled for each. */
#define TIMES_SPENT 20

static bool
is_too_soon(const DtCodeCache *cache, int64_t now)
{
    return cache->made > 0 && now - cache->tried_ns < TIMES_SPENT * cache->spent_ns;
}

static bool
is_postponed(DtCodeCache *cache)
{
    if (!cache->region->quiet || dt_state.everything) {
        return false;
    }
    int64_t now = dt_clock_ns();
    return is_too_soon(cache, now) || dt_investment_is_spent(cache, now);
}

int
dt_policy_may_compile(DtCodeCache *cache, const DtGuardFrame *frame)
{
    if (cache->compiling || cache->verify.quarantined || dt_state.verify.side != DT_VERIFY_NOBODY
        || (cache->closed && !dt_policy_may_refuse(cache)) || dt_is_finalizing()) {
        return 0;
    }
    if (is_postponed(cache)) {
        dt_investment_put_off(cache);
        return 0;
    }
    if (dt_modules_are_walked()) {
        return 0; /* what tracing needs may have to be imported */
    }
    if (dt_state.error_on_recompile && cache->entries != NULL && !cache->region->quiet) {
        raise_recompile(cache, frame);
        return -1;
    }
    if (cache->nentries < dt_state.recompile_limit
        && cache->made < dt_state.recompile_total_limit) {
        return 1;
    }
    bool told = cache->closed;
    cache->closed = true;
    /* Of a part of a frame nothing is said: that part runs plainly, and the rest does not. */
    if (!told && !cache->point && !cache->region->quiet) {
        dt_record_report("warn_recompile_limit", recompile_facts(cache, frame));
    }
    return 0;
}

/* Versions for other values of a number after which loops are not unrolled for it: few of them are
 * faster than a loop whose iterations are compiled one by one. */
#define OPENED_AFTER 3

/* Counts a miss because of the number; the set of opened ones is never changed, since points of the
 * frame share it. */
static void
count_specialised(DtCodeCache *cache, PyObject *name)
{
    if (cache->specialised == NULL) {
        cache->specialised = PyDict_New();
    }
    PyObject *found =
        cache->specialised != NULL ? PyDict_GetItemWithError(cache->specialised, name) : NULL;
    long count = found != NULL ? PyLong_AsLong(found) + 1 : 1;
    PyObject *number = PyErr_Occurred() ? NULL : PyLong_FromLong(count);
    if (number != NULL && PyDict_SetItem(cache->specialised, name, number) == 0
        && count == OPENED_AFTER) {
        PyObject *opened = PySet_New(cache->opened);
        if (opened != NULL && PySet_Add(opened, name) == 0) {
            Py_XSETREF(cache->opened, Py_NewRef(opened));
        }
        Py_XDECREF(opened);
    }
    Py_XDECREF(number);
}

static void
note_names(DtCodeCache *cache, PyObject *names, DtVaried varied)
{
    if (varied == DT_VARIED_NUMBER && cache->varied == NULL) {
        cache->varied = PySet_New(NULL);
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names) && !PyErr_Occurred(); i++) {
        if (varied == DT_VARIED_NUMBER) {
            PySet_Add(cache->varied, PyList_GET_ITEM(names, i));
        }
        else {
            count_specialised(cache, PyList_GET_ITEM(names, i));
        }
    }
}

void
dt_policy_note_varied(DtCodeCache *cache, const DtGuardFrame *frame)
{
    DtVaried varied = DT_VARIED_OTHER;
    if (cache->entries == NULL) {
        return;
    }
    PyObject *names = PyList_New(0);
    DtStatus status =
        names != NULL ? dt_program_varied(cache->entries->guards, frame, &varied, names) : DT_ERROR;
    cache->classes_vary |= status == DT_OK && varied == DT_VARIED_CLASS;
    if (status == DT_OK
        && (varied == DT_VARIED_SPECIALISED
            || (varied == DT_VARIED_NUMBER && cache->region->dynamic < 0))) {
        note_names(cache, names, varied);
    }
    Py_XDECREF(names);
    PyErr_Clear(); /* MemoryError, or a name that is no UTF-8: it stays a constant */
}

bool
dt_policy_may_refuse(const DtCodeCache *cache)
{
    return cache->refusable
           && (cache->region->fullgraph || (!cache->point && dt_refusals_are_on()));
}

bool
dt_policy_wants_breaks(const DtCodeCache *cache)
{
    return cache->refusing >= 0 || dt_refusals_are_on();
}

DtTraceOptions
dt_policy_trace_options(const DtCodeCache *cache)
{
    DtTraceOptions options = dt_state.trace_options;
    options.dynamic = cache->region->dynamic;
    options.varied = cache->varied;
    if (cache->region->quiet) {
        options.leaves_alone = dt_reach_is_left_alone;
    }
    options.fp_regions = dt_backend_is_native(cache->region->backend);
    options.refusing =
        cache->refusing >= 0 && !cache->point ? cache->refusing == 1 : dt_refusals_are_on();
    if (dt_scale_weighs(cache->region)) {
        options.opened = cache->opened;
    }
    else {
        options.unroll_nodes = UINT32_MAX; /* they want one graph, however large */
    }
    int64_t budget_ns = dt_investment_budget(cache);
    if (budget_ns != 0) {
        options.budget_ns = budget_ns;
    }
    return options;
}

/* What the first call breaks at may be set up once and for all; more attempts at a whole frame are
 * not made when a driver runs it. */
#define ATTEMPTS_BESIDE_DRIVER 2

static void
count_failure(DtCodeCache *cache)
{
    uint32_t limit = dt_state.attempt_limit;
    if (cache->broken != NULL && limit > ATTEMPTS_BESIDE_DRIVER) {
        limit = ATTEMPTS_BESIDE_DRIVER;
    }
    if (++cache->failures >= limit) {
        cache->closed = true;
    }
}

void
dt_policy_count_break(DtCodeCache *cache, DtBreakId id)
{
    dt_state.broken++;
    if (id == DT_BREAK_TRACE_BUDGET) {
        int64_t last = dt_investment_budget(cache);
        last = last != 0 ? last : dt_state.trace_options.budget_ns;
        cache->budget_ns = last * BUDGET_GROWTH;
        cache->closed =
            cache->budget_ns > (cache->region->quiet ? LARGEST_QUIET_BUDGET_NS : LARGEST_BUDGET_NS);
        return;
    }
    if (id == DT_BREAK_NO_ARRAYS && cache->region->quiet) {
        cache->failures++; /* what has nothing to do with arrays seldom has at the next call */
    }
    count_failure(cache);
}

/* The first call finds caches empty that are full from then on. */
static bool
is_early(const DtCodeCache *cache, DtBreakId id)
{
    return id == DT_BREAK_CACHE_MISS && cache->failures == 0;
}

bool
dt_policy_refuses(const DtCodeCache *cache, const DtBreakInfo *brk)
{
    return !is_early(cache, brk->id) && (brk->refused || cache->region->fullgraph)
           && dt_policy_is_refusal(brk->id);
}

void
dt_policy_count_fault(DtCodeCache *cache)
{
    count_failure(cache);
}

bool
dt_policy_is_worth_a_driver(const DtCodeCache *cache, DtBreakId id)
{
    bool early = id == DT_BREAK_CACHE_MISS && cache->failures <= 1; /* this one was counted */
    return !early && id != DT_BREAK_NO_ARRAYS && id != DT_BREAK_TRACE_BUDGET;
}

bool
dt_policy_is_refusal(DtBreakId id)
{
    return id != DT_BREAK_NO_ARRAYS && id != DT_BREAK_TRACE_BUDGET;
}

bool
dt_policy_is_users_error(void)
{
    return PyErr_ExceptionMatches(PyExc_MemoryError)
           || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)
           || (dt_backend_error != NULL && PyErr_ExceptionMatches(dt_backend_error));
}

void
dt_policy_log_fault(DtCodeCache *cache)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    dt_state.faults++;
    dt_record_report(
        "log_fault",
        dt_cache_row(cache, -1, Py_BuildValue("{s:O}", "error", value != NULL ? value : Py_None)));
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}
