/* See compile.h.
 *
 *   slots ─► trace ─► result tracker ─► plan ─► guard program ─► examples ─► executable ─► entry
 *
 * The guard program is checked once against the very call that made it: it must
 * hold, and its registers give the backend's example inputs.
 */
#include "eval_frame/compile.h"

#include <time.h>

#include "backend/backend.h"
#include "compat/code.h"
#include "eval_frame/policy.h"
#include "eval_frame/record.h"
#include "symbolic/interp.h"
#include "variables/substitutes.h"

#define RESTART_LIMIT 16

static int64_t
now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static DtStatus
fault(DtAttempt *attempt, const char *text)
{
    attempt->fault = text;
    PyErr_SetString(PyExc_SystemError, text);
    return DT_ERROR;
}

/* Before another try: the trace of the last one goes, and what it asked for is loaded. */
static DtStatus
prepare_restart(DtAttempt *attempt)
{
    if (attempt->trace == NULL) {
        return DT_OK;
    }
    PyObject *wanted = attempt->trace->wanted_polyfills;
    Py_XINCREF(wanted);
    dt_trace_release(attempt->trace);
    attempt->trace = NULL;
    int failed = wanted != NULL ? dt_substitute_load(wanted) : 0;
    Py_XDECREF(wanted);
    return failed < 0 ? DT_ERROR : DT_OK;
}

static DtStatus
trace_frame(DtAttempt *attempt, DtVar **result)
{
    PyFunctionObject *function = attempt->function;
    DtTraceOptions options = dt_policy_trace_options(attempt->cache);
    DtStatus status = DT_RESTART;
    for (int tries = 0; status == DT_RESTART && tries < RESTART_LIMIT; tries++) {
        DT_TRY(prepare_restart(attempt));
        attempt->trace = dt_trace_new(attempt->cache->code, function->func_globals,
                                      function->func_builtins, (PyObject *)function, &options);
        if (attempt->trace == NULL) {
            return DT_ERROR;
        }
        DtTraceFrame frame = {attempt->slots, function->func_closure};
        status = dt_interp_run(attempt->trace, &frame, result);
    }
    return status == DT_RESTART ? fault(attempt, "a trace that restarts without end") : status;
}

static DtStatus
new_entry(DtAttempt *attempt)
{
    DtPlan *plan = &attempt->plan;
    DtEntry *entry = (DtEntry *)DtEntry_Type.tp_alloc(&DtEntry_Type, 0);
    if (entry == NULL) {
        return DT_ERROR;
    }
    attempt->entry = entry;
    entry->ninputs = plan->ninputs;
    entry->nloads = plan->nloads;
    entry->input_regs = PyMem_New(uint32_t, plan->ninputs + 1);
    entry->load_regs = PyMem_New(uint32_t, plan->nloads + 1);
    return entry->input_regs != NULL && entry->load_regs != NULL ? DT_OK : dt_no_memory();
}

/* Lowers the guards; every source that the warm path reads gets its register. */
static DtStatus
lower_guards(DtAttempt *attempt)
{
    DtPlan *plan = &attempt->plan;
    DtEntry *entry = attempt->entry;
    DtTrace *trace = attempt->trace;
    uint32_t n = plan->ninputs + plan->nloads;
    const DtSource **wanted = DT_ARENA_ARRAY(&trace->arena, const DtSource *, n);
    if (wanted == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < n; i++) {
        wanted[i] = i < plan->ninputs ? plan->inputs[i] : plan->loads[i - plan->ninputs];
    }
    DT_TRY(dt_program_lower(trace, wanted, n, &entry->guards));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t reg = dt_program_register(entry->guards, i);
        *(i < plan->ninputs ? &entry->input_regs[i] : &entry->load_regs[i - plan->ninputs]) = reg;
    }
    entry->nregs = dt_program_register_count(entry->guards);
    return DT_OK;
}

static DtStatus
compile_graph(DtAttempt *attempt, PyObject **regs)
{
    DtEntry *entry = attempt->entry;
    DtRegion *region = attempt->cache->region;
    PyObject **examples = PyMem_New(PyObject *, entry->ninputs + 1);
    if (examples == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < entry->ninputs; i++) {
        examples[i] = regs[entry->input_regs[i]];
        Py_INCREF(examples[i]);
    }
    DtStatus status = dt_backend_compile(region->backend, attempt->trace->graph, examples,
                                         entry->ninputs, region->options, &entry->executable);
    for (uint32_t i = 0; i < entry->ninputs; i++) {
        Py_DECREF(examples[i]);
    }
    PyMem_Free(examples);
    return status;
}

static DtStatus
check_and_compile(DtAttempt *attempt)
{
    DtEntry *entry = attempt->entry;
    PyFunctionObject *function = attempt->function;
    DtGuardFrame frame = {attempt->slots, function->func_globals, function->func_builtins,
                          (PyObject *)function};
    PyObject **regs = PyMem_New(PyObject *, entry->nregs + 1);
    if (regs == NULL) {
        return dt_no_memory();
    }
    int holds = dt_program_check(entry->guards, &frame, regs);
    DtStatus status = DT_ERROR;
    if (holds > 0) {
        status = attempt->plan.has_graph ? compile_graph(attempt, regs) : DT_OK;
    }
    else if (holds == 0) {
        DtStrbuf text = {0};
        status = dt_program_explain(entry->guards, &frame, &text);
        const char *kept =
            dt_arena_printf(&attempt->trace->arena, "guards refuse the call that made them: %s",
                            dt_strbuf_text(&text));
        dt_strbuf_release(&text);
        if (status == DT_OK) {
            status = fault(attempt, kept != NULL ? kept : "guards refuse the call that made them");
        }
    }
    PyMem_Free(regs);
    return status;
}

static DtStatus
assemble(DtAttempt *attempt)
{
    DtEntry *entry = attempt->entry;
    if (entry->result != NULL && !dt_record_is_wanted(attempt->cache->region)) {
        return DT_OK; /* nobody will see the code */
    }
    if (entry->executable != NULL) {
        entry->lent = dt_executable_lend(entry->executable);
        if (entry->lent == NULL) {
            return DT_ERROR;
        }
    }
    return dt_codegen_assemble(attempt->trace, &attempt->plan, entry->lent, dt_state.replay,
                               &entry->code);
}

static DtStatus
note_inlined(DtAttempt *attempt)
{
    DtTrace *trace = attempt->trace;
    PyObject *codes = PyTuple_New((Py_ssize_t)trace->inlined_codes.count + 1);
    if (codes == NULL) {
        return DT_ERROR;
    }
    Py_INCREF(attempt->cache->code);
    PyTuple_SET_ITEM(codes, 0, (PyObject *)attempt->cache->code);
    for (uint32_t i = 0; i < trace->inlined_codes.count; i++) {
        Py_INCREF(trace->inlined_codes.items[i]);
        PyTuple_SET_ITEM(codes, i + 1, trace->inlined_codes.items[i]);
    }
    attempt->entry->inlined = codes;
    return DT_OK;
}

static DtStatus
run_phases(DtAttempt *attempt)
{
    int64_t t0 = now_ns();
    DtVar *result = NULL;
    DtStatus status = trace_frame(attempt, &result);
    int64_t t1 = now_ns();
    attempt->phases.trace = t1 - t0;
    DT_TRY(dt_raised_break_if(attempt->trace, status));
    if (dt_state.fault_next) {
        dt_state.fault_next = false;
        return fault(attempt, "a fault asked for by a test");
    }
    DT_TRY(dt_codegen_plan(attempt->trace, result, &attempt->plan));
    if (attempt->plan.ncalls == 0 && !dt_state.everything) {
        return dt_break(attempt->trace, DT_BREAK_NO_ARRAYS, "no array operation was found");
    }
    DT_TRY(new_entry(attempt));
    int64_t t2 = now_ns();
    DT_TRY(lower_guards(attempt));
    int64_t t3 = now_ns();
    DT_TRY(check_and_compile(attempt));
    int64_t t4 = now_ns();
    attempt->entry->result = attempt->plan.result;
    attempt->plan.result = NULL;
    DT_TRY(assemble(attempt));
    DT_TRY(note_inlined(attempt));
    int64_t t5 = now_ns();
    attempt->phases = (DtPhases){t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4};
    attempt->entry->compile_ns = t5 - t0;
    return DT_OK;
}

/* After a failure: what the caller gets.  The entry, if any, is dropped. */
static DtCompile
settle_failure(DtAttempt *attempt, DtStatus status)
{
    Py_CLEAR(attempt->entry);
    if (status == DT_BREAK) {
        DtBreakId id = attempt->trace->brk.id;
        attempt->has_break = true;
        dt_policy_count_break(attempt->cache, id);
        dt_record_attempt(attempt);
        if (attempt->cache->region->fullgraph && dt_policy_is_refusal(id)) {
            dt_record_raise_unsupported(attempt);
            return DT_COMPILE_ERROR;
        }
        return DT_COMPILE_PLAIN;
    }
    if (dt_policy_is_users_error()) {
        return DT_COMPILE_ERROR;
    }
    dt_policy_count_fault(attempt->cache);
    dt_record_attempt(attempt);
    if (dt_state.strict) {
        return DT_COMPILE_ERROR;
    }
    dt_policy_log_fault(attempt->cache); /* takes the exception */
    return DT_COMPILE_PLAIN;
}

DtCompile
dt_compile_attempt(DtCodeCache *cache, PyFunctionObject *function, PyObject *const *slots)
{
    if (!dt_policy_may_compile(cache)) {
        return DT_COMPILE_PLAIN;
    }
    DtAttempt attempt = {.cache = cache, .function = function, .slots = slots};
    DtRegion *region = cache->region;
    Py_INCREF(region);
    cache->compiling = true;
    cache->misses++;
    DtGuardFrame frame = {slots, function->func_globals, function->func_builtins,
                          (PyObject *)function};
    dt_record_miss(&attempt, &frame);
    DtStatus status = run_phases(&attempt);
    DtCompile answer = DT_COMPILE_PUBLISHED;
    if (status == DT_OK) {
        dt_record_attempt(&attempt);
        dt_cache_publish(cache, attempt.entry);
    }
    else {
        answer = settle_failure(&attempt, status);
    }
    if (attempt.plan.result != NULL) {
        dt_result_free(attempt.plan.result);
    }
    if (attempt.trace != NULL) {
        dt_trace_release(attempt.trace);
    }
    cache->compiling = false;
    Py_DECREF(region);
    return answer;
}
