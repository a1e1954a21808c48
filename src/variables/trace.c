/* A trace: its life, what it keeps alive, its break, and its symbols.
 *
 * Invariants: every Python object that the arena refers to is in `kept` exactly
 * once; releasing the trace is the only place that lets go of them.  Asking a
 * question about a symbol always leaves a guard, so hints may be trusted.
 *
 * Not in here: trackers (build.c, v_*.c), guards, journal, graph.
 */
#include "variables/trace.h"

#include <stdlib.h>
#include <string.h>

#include "compat/code.h"
#include "core/clock.h"
#include "variables/adapter.h"
#include "variables/kinds.h"
#include "variables/services.h"

const DtBreakRow dt_break_rows[DT_BREAK_COUNT] = {
#define BREAK(NAME, ID, WHAT, ADVICE) {ID, WHAT, ADVICE},
#include "variables/breaks.def"
#undef BREAK
};

/* Deepest chain of inlined frames that a break reports. */
#define MAX_CHAIN 64

/* Asking for a thread's time is a call of the system, and most traces end before they look at the
 * clock once: then they had no more than this. */
#define BEFORE_FIRST_LOOK_NS 1000000

/* The thread's time when the trace began. */
static int64_t
began_at(DtTrace *trace, int64_t now)
{
    if (trace->thread_ns == 0) {
        int64_t passed = dt_clock_ns() - trace->started_ns;
        trace->thread_ns = now - (passed < BEFORE_FIRST_LOOK_NS ? passed : BEFORE_FIRST_LOOK_NS);
    }
    return trace->thread_ns;
}

DtStatus
dt_trace_check_budget(DtTrace *trace)
{
    int64_t now = trace->options.budget_ns > 0 ? dt_clock_thread_ns() : 0;
    int64_t ns = now > 0 ? now - began_at(trace, now) : 0;
    return ns <= trace->options.budget_ns
               ? DT_OK
               : dt_break(trace, DT_BREAK_TRACE_BUDGET, "%.1f ms after %u instructions",
                          (double)ns / 1e6, trace->instructions);
}

/* ---- Life ---------------------------------------------------------------------------------- */

static DtStatus
make_singletons(DtTrace *trace)
{
    DT_TRY(dt_var_const(trace, Py_None, &trace->none));
    DT_TRY(dt_var_const(trace, Py_NotImplemented, &trace->not_implemented));
    trace->null = dt_kinds_new(trace, DT_KIND_NULL, sizeof(DtVar), NULL);
    return trace->null != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
fill_trace(DtTrace *trace, PyCodeObject *code, PyObject *globals, PyObject *builtins,
           PyObject *function)
{
    DT_TRY(dt_trace_keep(trace, (PyObject *)code));
    DT_TRY(dt_trace_keep(trace, globals));
    DT_TRY(dt_trace_keep(trace, builtins));
    if (function != NULL) {
        DT_TRY(dt_trace_keep(trace, function));
    }
    DT_TRY(make_singletons(trace));
    trace->graph = dt_graph_new(dt_kinds_text(dt_code_name(code)));
    if (trace->graph == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_recipe_init(trace));
    return dt_journal_init(trace);
}

const DtTraceOptions dt_trace_default_options = {
    .inline_depth = 64,
    .unroll_limit = 4096,
    .unroll_nodes = 1024,
    .trace_limit = 1000000,
    .budget_ns = 10000000,
    .dynamic = -1,
};

DtTrace *
dt_trace_new(PyCodeObject *code, PyObject *globals, PyObject *builtins, PyObject *function,
             const DtTraceOptions *options)
{
    DtTrace *trace = calloc(1, sizeof(DtTrace));
    if (trace == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    dt_arena_init(&trace->arena);
    trace->code = code;
    trace->globals = globals;
    trace->builtins = builtins;
    trace->function = function;
    trace->stop_at = UINT32_MAX;
    trace->options = options != NULL ? *options : dt_trace_default_options;
    trace->exc_info = &trace->root_exc_info;
    trace->started_ns = dt_clock_ns();
    if (fill_trace(trace, code, globals, builtins, function) != DT_OK) {
        dt_trace_release(trace);
        return NULL;
    }
    return trace;
}

void
dt_trace_release(DtTrace *trace)
{
    if (trace == NULL) {
        return;
    }
    /* Releasing objects can run user code, and an exception may be on its way to the caller. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (trace->graph != NULL) {
        dt_graph_decref(trace->graph);
    }
    for (uint32_t i = 0; i < trace->kept.count; i++) {
        Py_DECREF(trace->kept.items[i]);
    }
    dt_arena_release(&trace->arena);
    free(trace);
    PyErr_Restore(type, value, traceback);
}

DtStatus
dt_trace_keep(DtTrace *trace, PyObject *object)
{
    if (dt_map_get(&trace->kept_set, object) != NULL) {
        return DT_OK;
    }
    if (dt_map_set(&trace->arena, &trace->kept_set, object, object) < 0
        || dt_vec_push(&trace->arena, &trace->kept, object) < 0) {
        return dt_no_memory();
    }
    Py_INCREF(object);
    return DT_OK;
}

PyObject *
dt_trace_keep_take(DtTrace *trace, PyObject *object)
{
    if (object == NULL) {
        return NULL;
    }
    DtStatus status = dt_trace_keep(trace, object);
    Py_DECREF(object);
    return status == DT_OK ? object : NULL;
}

/* ---- Breaks ---------------------------------------------------------------------------------- */

DtPosition
dt_trace_position(const DtTrace *trace)
{
    int line = dt_code_firstlineno(trace->code); /* before the first instruction */
    DtPosition position = {trace->code, line, line, -1, -1};
    if (trace->positions != NULL && trace->frame != NULL) {
        trace->positions(trace, &position, 1);
    }
    return position;
}

bool
dt_trace_refuses(const DtTrace *trace)
{
    return trace->refusing.count > 0 ? trace->refusing.items[trace->refusing.count - 1]
                                     : trace->options.refusing;
}

static DtStatus
set_break(DtTrace *trace, DtBreakId id, const char *message)
{
    DtPosition chain[MAX_CHAIN];
    uint32_t count = 0;
    if (trace->positions != NULL && trace->frame != NULL) {
        count = trace->positions(trace, chain, MAX_CHAIN);
    }
    trace->brk.id = id;
    trace->brk.message = message;
    trace->brk.refused = dt_trace_refuses(trace);
    trace->brk.where = count > 0 ? chain[0] : dt_trace_position(trace);
    trace->brk.chain = NULL;
    trace->brk.nchain = 0;
    if (count > 1) {
        DtPosition *copy = DT_ARENA_ARRAY(&trace->arena, DtPosition, count - 1);
        if (copy == NULL) {
            return dt_no_memory();
        }
        memcpy(copy, chain + 1, (count - 1) * sizeof(DtPosition));
        trace->brk.chain = copy;
        trace->brk.nchain = count - 1;
    }
    return DT_BREAK;
}

DtStatus
dt_break(DtTrace *trace, DtBreakId id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = dt_arena_vprintf(&trace->arena, format, args);
    va_end(args);
    if (message == NULL) {
        return dt_no_memory();
    }
    return set_break(trace, id, message);
}

DtStatus
dt_break_on_exception(DtTrace *trace)
{
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) {
        return DT_ERROR;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 == NULL) {
        PyErr_Clear(); /* the exception's own text can't be had: its type is enough for a message */
    }
    const char *name = type != NULL ? ((PyTypeObject *)type)->tp_name : "Exception";
    DtStatus status = dt_break(trace, DT_BREAK_RAISES, "%s: %s", name, utf8 != NULL ? utf8 : "");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return status;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

DtStatus
dt_trace_symbol(DtTrace *trace, const DtSource *source, DtSymType type, DtNumber hint,
                const DtSym **out)
{
    uint32_t id = trace->symbols.count;
    const DtSym *known = source != NULL ? dt_map_get(&trace->symbol_of[type], source) : NULL;
    if (known != NULL) {
        id = known->id;
    }
    else {
        DtSymbol symbol = {.source = source, .type = type, .hint = hint};
        if (dt_vec_push(&trace->arena, &trace->symbols, symbol) < 0) {
            return dt_no_memory();
        }
    }
    const DtSym *symbol = dt_sym_symbol(&trace->arena, id, type, hint);
    if (symbol == NULL
        || (source != NULL && known == NULL
            && dt_map_set(&trace->arena, &trace->symbol_of[type], source, (void *)symbol) < 0)) {
        return dt_no_memory();
    }
    *out = symbol;
    return DT_OK;
}

bool
dt_trace_depends_on_data(const DtTrace *trace, const DtSym *sym)
{
    if (sym == NULL || dt_sym_is_const(sym)) {
        return false;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        return trace->symbols.items[sym->id].source == NULL;
    }
    return dt_trace_depends_on_data(trace, sym->a) || dt_trace_depends_on_data(trace, sym->b);
}

DtStatus
dt_trace_decide(DtTrace *trace, const DtSym *condition, bool *truth)
{
    *truth = condition->type == DT_SYM_FLOAT ? condition->hint.d != 0.0 : condition->hint.i != 0;
    if (dt_sym_is_const(condition)) {
        return DT_OK;
    }
    const DtSym *guard = condition;
    if (!*truth || condition->type != DT_SYM_BOOL) {
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_NOT, condition, &guard));
        if (*truth) {
            DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_NOT, guard, &guard));
        }
    }
    return dt_guard_sym(trace, guard);
}

static bool
is_symbol(const DtSym *sym)
{
    return sym->op == DT_SYM_OP_SYMBOL;
}

/* The number of an existing counter is another one at each call. */
static bool
counts(const DtTrace *trace, const DtSym *sym)
{
    if (sym == NULL || dt_sym_is_const(sym)) {
        return false;
    }
    if (is_symbol(sym)) {
        const DtSource *source = trace->symbols.items[sym->id].source;
        return source != NULL && source->kind == DT_SOURCE_COUNTED;
    }
    return counts(trace, sym->a) || counts(trace, sym->b);
}

static DtStatus
specialize_int(DtTrace *trace, const DtSym *sym)
{
    const DtSym *value = dt_sym_int(&trace->arena, sym->hint.i);
    const DtSym *equal = NULL;
    if (value == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_EQ, sym, value, &equal));
    return dt_guard_sym(trace, equal);
}

/* Equality of doubles does not tell -0.0 from 0.0 and never holds for NaN: compare the bits. */
static DtStatus
specialize_float_symbol(DtTrace *trace, const DtSym *sym)
{
    PyObject *value = dt_trace_keep_take(trace, PyFloat_FromDouble(sym->hint.d));
    if (value == NULL) {
        return DT_ERROR;
    }
    return dt_guard_constant(trace, trace->symbols.items[sym->id].source, value);
}

DtStatus
dt_trace_specialize(DtTrace *trace, const DtSym *sym)
{
    if (dt_sym_is_const(sym)) {
        return DT_OK;
    }
    if (sym->type != DT_SYM_BOOL && counts(trace, sym)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT,
                        "what is done depends on the number of a counter that existed before");
    }
    if (sym->type == DT_SYM_BOOL) {
        bool truth;
        return dt_trace_decide(trace, sym, &truth);
    }
    if (sym->type == DT_SYM_INT) {
        return specialize_int(trace, sym);
    }
    if (is_symbol(sym)) {
        return specialize_float_symbol(trace, sym);
    }
    DT_TRY(dt_trace_specialize(trace, sym->a));
    return sym->b != NULL ? dt_trace_specialize(trace, sym->b) : DT_OK;
}

DtStatus
dt_trace_use_adapter(DtTrace *trace, const DtAdapter *adapter)
{
    for (uint32_t i = 0; i < trace->adapters_used_count; i++) {
        if (trace->adapters_used[i] == adapter) {
            return DT_OK;
        }
    }
    trace->adapters_used[trace->adapters_used_count++] = adapter;
    return adapter->guard_state != NULL ? adapter->guard_state(adapter, trace) : DT_OK;
}
