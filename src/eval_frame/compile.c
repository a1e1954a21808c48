/* See compile.h.
 *
 *   slots ─► trace ─► result tracker ─► plan ─► guard program ─► examples ─► executable ─► entry
 *
 * The guard program is checked once against the very call that made it: it must
 * hold, and its registers give the backend's example inputs.
 */
#include "eval_frame/compile.h"

#include "backend/backend.h"
#include "compat/code.h"
#include "compat/type_names.h"
#include "core/clock.h"
#include "eval_frame/broken.h"
#include "eval_frame/guess.h"
#include "eval_frame/investment.h"
#include "eval_frame/policy.h"
#include "eval_frame/record.h"
#include "eval_frame/segment.h"
#include "guards/recipe.h"
#include "symbolic/interp.h"
#include "variables/rules.h"
#include "variables/substitutes.h"

#define RESTART_LIMIT 16

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
    DT_TRY(dt_guess_learn(attempt));
    DtTrace *last = attempt->trace;
    attempt->trace = NULL; /* nobody notes anything in it any more */
    return dt_substitute_load_wanted(last) < 0 ? DT_ERROR : DT_OK;
}

/* One attempt at following the frame from its beginning, or from where the segment begins. */
static DtStatus
trace_once(DtAttempt *attempt, uint32_t stop_at, DtVar **result)
{
    DtTraceOptions options = dt_policy_trace_options(attempt->cache);
    DT_TRY(prepare_restart(attempt));
    options.guesses = attempt->guesses;
    attempt->trace = dt_trace_new(attempt->cache->code, attempt->frame.globals,
                                  attempt->frame.builtins, attempt->frame.function, &options);
    if (attempt->trace == NULL) {
        return DT_ERROR;
    }
    attempt->trace->stop_at = stop_at;
    attempt->trace->guards->names_noted = true;
    attempt->trace->guards->classes_vary = attempt->cache->classes_vary;
    *result = NULL;
    DtStatus status = dt_interp_run(attempt->trace, &attempt->from, result);
    return status == DT_OK ? dt_guess_check(attempt) : dt_raised_break_if(attempt->trace, status);
}

static DtStatus
trace_frame(DtAttempt *attempt, DtVar **result)
{
    DtStatus status = DT_RESTART;
    if (dt_decode_code(&attempt->decoded, attempt->cache->code, &attempt->from.bytecode) != DT_OK) {
        attempt->undecodable = PyErr_ExceptionMatches(PyExc_ValueError);
        return DT_ERROR;
    }
    for (int tries = 0; status == DT_RESTART && tries < RESTART_LIMIT; tries++) {
        status = trace_once(attempt, UINT32_MAX, result);
    }
    return status == DT_RESTART ? fault(attempt, "a trace that restarts without end") : status;
}

static DtStatus
plan(DtAttempt *attempt, DtVar *result)
{
    int64_t began = dt_clock_ns();
    dt_result_free(attempt->plan.result);
    attempt->plan.result = NULL;
    DtStatus status = dt_codegen_plan(attempt->trace, result, &attempt->plan);
    attempt->phases.plan += dt_clock_ns() - began;
    return status;
}

static void
note_break(DtAttempt *attempt)
{
    dt_record_keep_break(attempt);
    attempt->has_break = true;
}

/* A segment ends where something can't be followed, or built in the frame; each time the trace
 * begins anew, and stops there. */
static DtStatus
trace_and_plan_segment(DtAttempt *attempt)
{
    DtSegment *segment = attempt->segment;
    uint32_t stop_at = UINT32_MAX;
    for (int tries = 0; tries < RESTART_LIMIT; tries++) {
        DtVar *result;
        DtStatus status = trace_once(attempt, stop_at, &result);
        bool planning = status == DT_OK;
        if (planning && attempt->trace->cut_here) {
            if (dt_policy_refuses(attempt->cache, &attempt->trace->brk)) {
                attempt->refused = true;
                return DT_BREAK;
            }
            note_break(attempt);
            segment->ended = segment->landed = attempt->trace->cut_for;
        }
        if (status == DT_OK && result != NULL && segment->site->base > 0) {
            /* The frame can't return past handlers that run. */
            status = dt_break(attempt->trace, DT_BREAK_EXCEPTION_HANDLER, "a handler is left");
        }
        if (status == DT_OK && attempt->trace->refusing.count > 0) {
            attempt->trace->cut_wanted = true; /* the frame itself has to enter it */
            status = DT_RESTART;
        }
        if (status == DT_OK) {
            status = plan(attempt, result);
        }
        if (status == DT_OK || status == DT_ERROR) {
            return status;
        }
        if (status == DT_BREAK && !attempt->trace->cut_wanted
            && !(planning && attempt->trace->cut.made)
            && dt_policy_refuses(attempt->cache, &attempt->trace->brk)) {
            attempt->refused = true;
            return status;
        }
        bool silent = attempt->trace->cut_wanted;
        if (status == DT_BREAK && !silent) {
            note_break(attempt);
        }
        if (status == DT_RESTART && !silent) {
            continue;
        }
        if (attempt->trace->brk.id == DT_BREAK_RAISES && attempt->trace->brk.message != NULL) {
            attempt->from.liveness = NULL; /* a debugger looks at frames that have raised */
        }
        DT_TRY(dt_segment_shorten(segment, attempt->trace, planning, &stop_at));
    }
    return dt_segment_forsake(segment, attempt->trace);
}

static DtStatus
trace_and_plan(DtAttempt *attempt)
{
    DtVar *result = NULL;
    DT_TRY(trace_frame(attempt, &result));
    if (attempt->trace->refusing.count > 0) {
        return dt_break(attempt->trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "error_on_graph_break() is entered, not left");
    }
    return plan(attempt, result);
}

static DtStatus
new_entry(DtAttempt *attempt)
{
    DtCodePlan *plan = &attempt->plan;
    DtEntry *entry = (DtEntry *)DtEntry_Type.tp_alloc(&DtEntry_Type, 0);
    if (entry == NULL) {
        return DT_ERROR;
    }
    attempt->entry = entry;
    entry->ninputs = plan->ninputs;
    entry->nloads = plan->nloads;
    entry->guesses = (uint8_t)attempt->trace->guesses.count;
    entry->input_regs = PyMem_New(uint32_t, plan->ninputs + 1);
    entry->load_regs = PyMem_New(uint32_t, plan->nloads + 1);
    if (entry->input_regs == NULL || entry->load_regs == NULL) {
        return dt_no_memory();
    }
    return attempt->segment != NULL ? dt_segment_describe(attempt->trace, plan->npushed, entry)
                                    : DT_OK;
}

/* Lowers the guards; every source that the warm path reads gets its register. */
static DtStatus
lower_guards(DtAttempt *attempt)
{
    DtCodePlan *plan = &attempt->plan;
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
    PyObject *examples = dt_program_hold(entry->guards, regs, entry->ninputs);
    if (examples == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_backend_compile(region->backend, attempt->trace->graph,
                                         ((PyTupleObject *)examples)->ob_item, entry->ninputs,
                                         region->options, &entry->executable);
    Py_DECREF(examples);
    return status;
}

static DtStatus
check_and_compile(DtAttempt *attempt)
{
    DtEntry *entry = attempt->entry;
    const DtGuardFrame *frame = &attempt->frame;
    PyObject **regs = PyMem_New(PyObject *, entry->nregs + 1);
    if (regs == NULL) {
        return dt_no_memory();
    }
    int holds = dt_program_check(entry->guards, frame, regs);
    DtStatus status = DT_ERROR;
    if (holds > 0) {
        status = attempt->plan.has_graph ? compile_graph(attempt, regs) : DT_OK;
    }
    else if (holds == 0 && attempt->segment != NULL) {
        /* What an earlier part of the frame has made may be read back in no way that guards know.
         */
        status = dt_break(attempt->trace, DT_BREAK_RECONSTRUCT, "values that can't be read again");
    }
    else if (holds == 0 && dt_program_runs_user_code(entry->guards)) {
        status = dt_break(attempt->trace, DT_BREAK_RECONSTRUCT,
                          "values that an adapter's guard has changed");
    }
    else if (holds == 0) {
        DtStrbuf text = {0};
        status = dt_program_explain(entry->guards, frame, &text);
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
    if (attempt->segment != NULL
        || (entry->result != NULL && !dt_record_is_wanted(attempt->cache->region))) {
        return DT_OK; /* nobody will see the code; a segment has none */
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

/* Near the recursion limit tracing, which goes deeper than the program, may be what meets it. */
static DtStatus
break_on_recursion(DtAttempt *attempt, DtStatus status)
{
    if (status != DT_ERROR || attempt->trace == NULL
        || !PyErr_ExceptionMatches(PyExc_RecursionError)) {
        return status;
    }
    PyErr_Clear(); /* RecursionError of our own recursion: the frame runs plainly */
    return dt_break(attempt->trace, DT_BREAK_INLINE_DEPTH,
                    "the recursion limit leaves no room to follow this");
}

static DtStatus
run_phases(DtAttempt *attempt)
{
    int64_t t0 = attempt->began_ns = dt_clock_ns();
    attempt->guesses.limit = dt_guess_limit(attempt->cache);
    DtStatus status =
        attempt->segment != NULL ? trace_and_plan_segment(attempt) : trace_and_plan(attempt);
    status = break_on_recursion(attempt, status);
    int64_t t1 = dt_clock_ns();
    attempt->phases.trace = t1 - t0 - attempt->phases.plan;
    DT_TRY(status);
    if (dt_state.fault_next) {
        dt_state.fault_next = false;
        return fault(attempt, "a fault asked for by a test");
    }
    if (attempt->segment != NULL) {
        DT_TRY(dt_segment_note_end(attempt->segment, attempt->trace));
    }
    if ((attempt->plan.ncalls == 0 || !attempt->plan.has_arrays) && !dt_state.everything) {
        return dt_break(attempt->trace, DT_BREAK_NO_ARRAYS, "no array operation was found");
    }
    DT_TRY(new_entry(attempt));
    DT_TRY(lower_guards(attempt));
    int64_t t2 = dt_clock_ns();
    DT_TRY(check_and_compile(attempt));
    int64_t t3 = dt_clock_ns();
    attempt->entry->result = attempt->plan.result;
    attempt->plan.result = NULL;
    DT_TRY(assemble(attempt));
    DT_TRY(note_inlined(attempt));
    int64_t t4 = dt_clock_ns();
    attempt->phases.guards = t2 - t1;
    attempt->phases.backend = t3 - t2;
    attempt->phases.assemble = t4 - t3;
    attempt->entry->compile_ns = t4 - t0;
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
        attempt->cache->refusable = dt_policy_is_refusal(id);
        if (attempt->refused
            || (attempt->segment == NULL
                && dt_policy_refuses(attempt->cache, &attempt->trace->brk))) {
            /* Nothing is counted, or made ready to run in parts: where breaks are no errors, the
             * function is still to be tried. */
            dt_state.broken++;
            dt_record_attempt(attempt);
            dt_record_raise_unsupported(attempt);
            return DT_COMPILE_ERROR;
        }
        if (attempt->segment != NULL) {
            dt_segment_give_up(attempt->segment, id);
            dt_record_attempt(attempt);
            return DT_COMPILE_PLAIN;
        }
        dt_policy_count_break(attempt->cache, id);
        bool loops = dt_segment_keeps_a_loop(attempt->trace);
        if ((dt_policy_is_worth_a_driver(attempt->cache, id) || loops)
            && !attempt->cache->region->fullgraph
            && dt_broken_prepare(attempt->cache, &attempt->decoded, attempt->from.bytecode)
            && loops) {
            attempt->cache->closed = true; /* a larger budget would unroll more of it */
        }
        dt_record_attempt(attempt);
        return DT_COMPILE_PLAIN;
    }
    if (attempt->undecodable) {
        PyErr_Clear(); /* CPython has its own word about broken code, if it comes to it */
        attempt->cache->closed = true;
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

static _Thread_local uint32_t running;

bool
dt_compile_is_running(void)
{
    return running > 0;
}

void
dt_compile_pause(void)
{
    running++;
}

void
dt_compile_resume(void)
{
    running--;
}

/* A name was looked up on a class: the trace relies on it. */
static void
note_name(void *of, PyTypeObject *type, PyObject *name)
{
    DtAttempt *attempt = of;
    if (attempt->trace != NULL) {
        dt_names_note(attempt->trace, type, name);
    }
}

/* The first attempt of a whole script finds nothing there that tracing needs:
 * dyntrace._load_tracing() brings it. */
static int
load(void)
{
    if (DT_LIKELY(dt_state.loaded)) {
        return 0;
    }
    clockid_t clock = dt_investment_busy_clock();
    int64_t began = dt_clock_read(clock);
    PyObject *package = PyImport_ImportModule("dyntrace");
    PyObject *done = package != NULL ? PyObject_CallMethod(package, "_load_tracing", NULL) : NULL;
    Py_XDECREF(package);
    Py_XDECREF(done);
    dt_investment_spend(dt_clock_read(clock) - began);
    return done != NULL ? 0 : -1;
}

static DtCompile
compile(DtAttempt *attempt)
{
    DtCodeCache *cache = attempt->cache;
    DtRegion *region = cache->region;
    cache->compiling = true; /* what is loaded may want to be compiled */
    if (load() < 0) {
        cache->compiling = false;
        if (!PyErr_ExceptionMatches(PyExc_ImportError)
            && !PyErr_ExceptionMatches(PyExc_RuntimeError)) {
            return DT_COMPILE_ERROR; /* memory is out, or a signal's handler has raised */
        }
        PyErr_Clear(); /* RecursionError, or who asks for it is told: the frame can still run */
        return DT_COMPILE_PLAIN;
    }
    clockid_t clock = dt_investment_busy_clock();
    int64_t began = dt_clock_ns(), busy = dt_clock_read(clock);
    Py_INCREF(region);
    cache->misses++;
    dt_record_miss(attempt);
    dt_policy_note_varied(cache, &attempt->frame);
    running++;
    DtTypeListener before = dt_type_listen((DtTypeListener){note_name, attempt});
    DtStatus status = run_phases(attempt);
    dt_type_listen(before);
    DtCompile answer = DT_COMPILE_PUBLISHED;
    if (status == DT_OK) {
        dt_record_attempt(attempt);
        dt_cache_publish(cache, attempt->entry);
        if (attempt->segment != NULL) {
            attempt->segment->point->broken->served = true;
        }
    }
    else {
        answer = settle_failure(attempt, status);
    }
    if (attempt->plan.result != NULL) {
        dt_result_free(attempt->plan.result);
    }
    if (attempt->trace != NULL) {
        dt_trace_release(attempt->trace);
    }
    dt_arena_release(&attempt->decoded);
    Py_XDECREF(attempt->broke);
    dt_investment_spend(dt_clock_read(clock) - busy);
    cache->tried_ns = dt_clock_ns();
    cache->spent_ns += cache->tried_ns - began;
    running--;
    cache->compiling = false;
    Py_DECREF(region);
    return answer;
}

DtCompile
dt_compile_attempt(DtCodeCache *cache, const DtGuardFrame *frame)
{
    int refusing;
    int may = dt_policy_may_compile(cache, frame);
    if (may <= 0) {
        return may < 0 ? DT_COMPILE_ERROR : DT_COMPILE_PLAIN;
    }
    if (dt_rules_refusing(frame->function, &refusing) != DT_OK) {
        return DT_COMPILE_ERROR;
    }
    cache->refusing = (int8_t)refusing;
    DtAttempt attempt = {
        .cache = cache,
        .frame = *frame,
        .from = {.locals = frame->locals,
                 .closure = ((PyFunctionObject *)frame->function)->func_closure},
    };
    return compile(&attempt);
}

DtCompile
dt_compile_segment(DtPoint *point, const DtDriverSite *site, const DtGuardFrame *frame)
{
    DtSegment segment = {.point = point, .site = site};
    DtAttempt attempt = {.cache = &point->cache, .frame = *frame, .segment = &segment};
    DtArena arena;
    dt_arena_init(&arena);
    DtCompile answer = DT_COMPILE_PLAIN;
    if (dt_segment_begin(&segment, &arena, frame, &attempt.from) == DT_OK) {
        answer = compile(&attempt);
    }
    else {
        PyErr_Clear(); /* MemoryError: the frame can still run */
    }
    dt_arena_release(&arena);
    return answer;
}
