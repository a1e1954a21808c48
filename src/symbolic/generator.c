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
 * What is not in here: throw() and close() (generator_throw.c), those that are dropped unfinished
 * (generator_dropped.c), the instructions (op_generator.c), methods and attributes (v_generator.c).
 */
#include "symbolic/generator.h"

#include "symbolic/inline.h"
#include "variables/iterators/iterators.h"
#include "variables/kinds.h"
#include "variables/rules.h"

static DtKind
kind_of_code(PyCodeObject *code)
{
    int flags = dt_code_flags(code);
    if (flags & CO_ASYNC_GENERATOR) {
        return DT_KIND_ASYNC_GENERATOR;
    }
    return flags & CO_COROUTINE ? DT_KIND_COROUTINE : DT_KIND_GENERATOR;
}

const char *
dt_generator_kind_name(DtKind kind)
{
    switch (kind) {
    case DT_KIND_ASYNC_GENERATOR:
        return "async generator";
    case DT_KIND_COROUTINE:
        return "coroutine";
    default:
        return "generator";
    }
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

void
dt_generator_load(DtGeneratorVar *self)
{
    DtFrame *frame = self->frame;
    frame->locals = self->values;
    frame->stack = self->values + frame->bytecode->layout.nslots;
    frame->sp = self->sp;
    frame->pc = self->pc;
    frame->result = NULL;
    frame->suspended = false;
    frame->wrapped = false;
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
    self->replacing = frame->polyfill;
    DT_TRY(copy_args(trace, args, &self->args));
    DT_TRY(take_values(trace, self));
    dt_generator_load(self);
    if (has_prologue(frame->bytecode)) {
        DtVar *ignored;
        DT_TRY(dt_frame_run(trace, frame, &ignored));
        self->pc = frame->pc;
        self->at = frame->at;
        self->sp = frame->sp;
    }
    if (self->base.type->kind == DT_KIND_ASYNC_GENERATOR) {
        DT_TRY(dt_async_guard_hooks(trace));
    }
    if (self->base.type->kind == DT_KIND_COROUTINE) {
        DT_TRY(dt_async_guard_origins(trace));
    }
    if (dt_vec_push(&trace->arena, &trace->generators, &self->base) != 0) {
        return dt_no_memory();
    }
    *out = &self->base;
    return DT_OK;
}

/* ---- A step ---------------------------------------------------------------------------------- */

DtStatus
dt_generator_check_state(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, bool *done)
{
    const char *name = dt_generator_kind_name(self->base.type->kind);
    *done = self->state == DT_GENERATOR_CLOSED;
    if (self->state == DT_GENERATOR_RUNNING) {
        return dt_raise(trace, PyExc_ValueError, "%s already executing", name);
    }
    if (*done && self->base.type->kind == DT_KIND_COROUTINE) {
        return dt_raise(trace, PyExc_RuntimeError, "cannot reuse already awaited coroutine");
    }
    if (self->state == DT_GENERATOR_CREATED) {
        DT_TRY(dt_var_given(trace, &sent));
    }
    if (self->state == DT_GENERATOR_CREATED && sent != NULL) {
        return dt_raise(trace, PyExc_TypeError, "can't send non-None value to a just-started %s",
                        name);
    }
    return DT_OK;
}

/* What a StopIteration (of an asynchronous generator: a StopAsyncIteration too) that leaves the
 * code becomes: a RuntimeError that it is the cause of.  Others come back as they are. */
DtStatus
dt_generator_wrap_stop(DtTrace *trace, PyCodeObject *code, DtVar *exception, DtVar **out)
{
    DtKind kind = kind_of_code(code);
    PyTypeObject *type = dt_var_python_type(trace, exception);
    const char *name = NULL;
    *out = exception;
    if (PyType_IsSubtype(type, (PyTypeObject *)PyExc_StopIteration)) {
        name = "StopIteration";
    }
    else if (kind == DT_KIND_ASYNC_GENERATOR
             && PyType_IsSubtype(type, (PyTypeObject *)PyExc_StopAsyncIteration)) {
        name = "StopAsyncIteration";
    }
    if (name == NULL) {
        return DT_OK;
    }
    DtVar *text, *cls;
    DT_TRY(dt_var_const_take(
        trace, PyUnicode_FromFormat("%s raised %s", dt_generator_kind_name(kind), name), &text));
    DtArgs args = dt_args_of(&text, 1);
    DT_TRY(dt_build_known(trace, PyExc_RuntimeError, &cls));
    DT_TRY(dt_exception_make(trace, cls, &args, out));
    DT_TRY(dt_exception_set_cause(trace, *out, exception));
    return dt_exception_set_context(trace, *out, exception);
}

/* A frame that is left by a StopIteration: before 3.12 the code has no handler that turns it into a
 * RuntimeError, and who resumes it does. */
static DtStatus
leave_by_raise(DtTrace *trace, DtGeneratorVar *self)
{
    if (!dt_raised_matches(trace, PyExc_StopIteration)
        && !(self->base.type->kind == DT_KIND_ASYNC_GENERATOR
             && dt_raised_matches(trace, PyExc_StopAsyncIteration))) {
        return DT_RAISE;
    }
    DtVar *wrapped, *raised = dt_raised_take(trace);
    DT_TRY(dt_generator_wrap_stop(trace, self->function->code, raised, &wrapped));
    return dt_raise_again(trace, wrapped);
}

/* Goes on at `pc` of the frame, or at the handler of what is raised there. */
static DtStatus
run_frame(DtTrace *trace, DtFrame *frame, DtVar *raised, DtVar **out)
{
    trace->frame = frame;
    if (raised != NULL) {
        DtStatus status = trace->exc_info->value != NULL ? dt_raise_var(trace, raised)
                                                         : dt_raise_again(trace, raised);
        if (status != DT_RAISE) {
            return status;
        }
        DT_TRY(dt_frame_unwind(trace, frame));
        frame->pc = frame->next;
    }
    return dt_frame_run(trace, frame, out);
}

DtStatus
dt_generator_step(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, DtVar *raised, DtVar **out,
                  bool *returned)
{
    DtFrame *frame = self->frame, *caller = trace->frame;
    DT_TRY(dt_inline_enter(trace, self->function->name));
    self->state = DT_GENERATOR_RUNNING;
    dt_generator_load(self);
    frame->parent = caller;
    frame->depth = caller->depth + 1;
    self->exc.previous = trace->exc_info;
    trace->exc_info = &self->exc;
    if (sent != NULL) {
        dt_frame_push(frame, sent);
    }
    if (raised != NULL) {
        frame->pc = self->at;
        dt_frame_push(frame, dt_none(trace)); /* as if None had been sent */
    }
    uint32_t entered = 0;
    DtStatus status = dt_rules_enter(trace, self->function->function, &entered);
    if (status == DT_OK) {
        status = run_frame(trace, frame, raised, out);
    }
    dt_rules_leave(trace, entered);
    trace->exc_info = self->exc.previous;
    trace->frame = caller;
    dt_inline_leave(trace);
    *returned = status == DT_OK && !frame->suspended;
    self->state =
        status == DT_OK && frame->suspended ? DT_GENERATOR_SUSPENDED : DT_GENERATOR_CLOSED;
    self->pc = frame->pc;
    self->at = frame->at;
    self->sp = frame->sp;
    self->wrapped = frame->wrapped;
    frame->result = NULL;
    return status == DT_RAISE ? leave_by_raise(trace, self) : status;
}

DtStatus
dt_generator_resume(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, DtVar **out, bool *returned)
{
    bool done;
    DT_TRY(dt_generator_check_state(trace, self, sent, &done));
    if (done) {
        *out = dt_none(trace);
        *returned = true;
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    return dt_generator_step(trace, self, sent, NULL, out, returned);
}
