/* Generators, coroutines and asynchronous generators that the trace makes.
 *
 *   call ──► bound frame ──► tracker that owns it ──► resumed in steps by the same loop
 *
 * A suspended frame's slots and stack lie in the tracker (DtGeneratorVar), which is journalled like
 * any container: a rollback puts the frame back to where it stood.  While a step runs, the frame is
 * a child of the frame that asked for it.
 *
 * Invariants: a frame that is not running has result NULL; `at` is the instruction that suspended
 * it, `pc` the one it goes on with.
 *
 * What is not in here: the instructions (op_generator.c), methods and attributes (v_generator.c).
 */
#include "symbolic/frame.h"
#include "symbolic/inline.h"
#include "variables/kinds.h"

static DtKind
kind_of_code(PyCodeObject *code)
{
    int flags = dt_code_flags(code);
    if (flags & CO_ASYNC_GENERATOR) {
        return DT_KIND_ASYNC_GENERATOR;
    }
    return flags & CO_COROUTINE ? DT_KIND_COROUTINE : DT_KIND_GENERATOR;
}

/* The arguments as they were given: the callee's frame may rebind its own. */
static DtStatus
copy_args(DtTrace *trace, const DtArgs *args, DtArgs *out)
{
    *out = *args;
    out->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    out->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->nkw + 1);
    out->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, args->nkw + 1);
    if (out->pos == NULL || out->kw == NULL || out->kwnames == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        out->pos[i] = args->pos[i];
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        out->kw[i] = args->kw[i];
        out->kwnames[i] = args->kwnames[i];
        DT_TRY(dt_trace_keep(trace, args->kwnames[i]));
    }
    return DT_OK;
}

/* Slots and stack of the frame, in one array of the tracker's. */
static DtStatus
take_values(DtTrace *trace, DtGeneratorVar *self)
{
    DtFrame *frame = self->frame;
    uint32_t nslots = (uint32_t)frame->bytecode->layout.nslots;
    self->nvalues = nslots + (uint32_t)frame->capacity;
    self->values = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->nvalues + 1);
    if (self->values == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < nslots; i++) {
        self->values[i] = frame->locals[i];
    }
    return DT_OK;
}

static void
load_frame(DtGeneratorVar *self)
{
    DtFrame *frame = self->frame;
    frame->locals = self->values;
    frame->stack = self->values + frame->bytecode->layout.nslots;
    frame->sp = self->sp;
    frame->pc = self->pc;
    frame->result = NULL;
    frame->suspended = false;
}

/* Since 3.11 a part of the code runs at the call: it makes the cells. */
static bool
has_prologue(const DtBytecode *bytecode)
{
    for (uint32_t i = 0; i < bytecode->count; i++) {
        switch (bytecode->instrs[i].op) {
        case DT_OP_COPY_FREE_VARS:
        case DT_OP_MAKE_CELL:
            break;
        default:
            return bytecode->instrs[i].op == DT_OP_RETURN_GENERATOR;
        }
    }
    return false;
}

DtStatus
dt_generator_build(DtTrace *trace, DtFunctionVar *function, const DtArgs *args, DtFrame *frame,
                   DtVar **out)
{
    DtGeneratorVar *self =
        dt_kinds_new(trace, kind_of_code(function->code), sizeof(DtGeneratorVar), NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->base.mutation = DT_VALUE_MUTATION_NEW;
    self->function = function;
    self->frame = frame;
    DT_TRY(copy_args(trace, args, &self->args));
    DT_TRY(take_values(trace, self));
    load_frame(self);
    if (has_prologue(frame->bytecode)) {
        DtVar *ignored;
        DT_TRY(dt_frame_run(trace, frame, &ignored));
        self->pc = frame->pc;
        self->at = frame->at;
        self->sp = frame->sp;
    }
    if (dt_vec_push(&trace->arena, &trace->generators, &self->base) != 0) {
        return dt_no_memory();
    }
    *out = &self->base;
    return DT_OK;
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* Whether a step can begin; *done: there is nothing left to run, and *out is the answer. */
static DtStatus
check_state(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, bool *done)
{
    const char *name = self->base.type->name;
    *done = self->state == DT_GENERATOR_CLOSED;
    if (self->state == DT_GENERATOR_RUNNING) {
        return dt_kinds_raise(trace, "ValueError", "%s already executing", name);
    }
    if (*done && self->base.type->kind == DT_KIND_COROUTINE) {
        return dt_kinds_raise(trace, "RuntimeError", "cannot reuse already awaited coroutine");
    }
    if (self->state == DT_GENERATOR_CREATED && sent != NULL
        && dt_var_peek_constant(sent) != Py_None) {
        return dt_kinds_raise(trace, "TypeError", "can't send non-None value to a just-started %s",
                              name);
    }
    return DT_OK;
}

static DtStatus
run_step(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, DtVar **out, bool *returned)
{
    DtFrame *frame = self->frame;
    DT_TRY(dt_inline_enter(trace, self->function->name));
    DtFrame *caller = trace->frame;
    self->state = DT_GENERATOR_RUNNING;
    load_frame(self);
    frame->parent = caller;
    frame->depth = caller->depth + 1;
    dt_frame_push(frame, sent);
    DtStatus status = dt_frame_run(trace, frame, out);
    trace->frame = caller;
    dt_inline_leave(trace);
    *returned = status == DT_OK && !frame->suspended;
    self->state =
        status == DT_OK && frame->suspended ? DT_GENERATOR_SUSPENDED : DT_GENERATOR_CLOSED;
    self->pc = frame->pc;
    self->at = frame->at;
    self->sp = frame->sp;
    frame->result = NULL;
    return status;
}

DtStatus
dt_generator_resume(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, DtVar **out, bool *returned)
{
    bool done;
    DT_TRY(check_state(trace, self, sent, &done));
    if (done) {
        *out = dt_none(trace);
        *returned = true;
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    return run_step(trace, self, sent, out, returned);
}

/* ---- Dropped unfinished ---------------------------------------------------------------------- */

/* Would a GeneratorExit that is raised at instruction `at` run code of the user's?  Only handlers
 * that the compiler adds to every generator pass it on and do nothing else. */
static bool
exit_runs_code(const DtBytecode *bytecode, uint32_t at)
{
    int32_t handler = bytecode->instrs[at].handler;
    while (handler >= 0) {
        int32_t target = bytecode->handlers[handler].target;
        switch (bytecode->instrs[target].op) {
        case DT_OP_STOPITERATION_ERROR:
        case DT_OP_CLEANUP_THROW:
        case DT_OP_END_ASYNC_FOR:
        case DT_OP_END_ASYNC_FOR_TRIPLE:
            handler = bytecode->instrs[target].handler;
            break;
        default:
            return true;
        }
    }
    return false;
}

DtStatus
dt_generators_check(DtTrace *trace)
{
    for (uint32_t i = 0; i < trace->generators.count; i++) {
        const DtGeneratorVar *self = (const DtGeneratorVar *)trace->generators.items[i];
        const char *name = dt_kinds_text(self->function->name);
        if (self->state == DT_GENERATOR_SUSPENDED
            && exit_runs_code(self->frame->bytecode, self->at)) {
            return dt_break(trace, DT_BREAK_GENERATOR,
                            "%s is left unfinished inside of a try or with statement", name);
        }
        if (self->state == DT_GENERATOR_CREATED && !self->rebuilt
            && self->base.type->kind == DT_KIND_COROUTINE) {
            return dt_break(trace, DT_BREAK_GENERATOR, "coroutine %s is not awaited", name);
        }
    }
    return DT_OK;
}
