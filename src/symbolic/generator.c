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
#include "compat/messages.h"
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

static const char *
name_of_kind(DtKind kind)
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
    load_frame(self);
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

/* Whether a step can begin; *done: there is nothing left to run, and *out is the answer. */
static DtStatus
check_state(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, bool *done)
{
    const char *name = name_of_kind(self->base.type->kind);
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
    DT_TRY(dt_var_const_take(trace, PyUnicode_FromFormat("%s raised %s", name_of_kind(kind), name),
                             &text));
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

/* One step: `sent` goes on the stack, or `raised` is raised where the frame stands; both NULL: it
 * is ready to go on. */
static DtStatus
run_step(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, DtVar *raised, DtVar **out,
         bool *returned)
{
    DtFrame *frame = self->frame, *caller = trace->frame;
    DT_TRY(dt_inline_enter(trace, self->function->name));
    self->state = DT_GENERATOR_RUNNING;
    load_frame(self);
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
    DT_TRY(check_state(trace, self, sent, &done));
    if (done) {
        *out = dt_none(trace);
        *returned = true;
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    return run_step(trace, self, sent, NULL, out, returned);
}

/* ---- throw and close ------------------------------------------------------------------------- */

/* What it delegates to (yield from, await), or NULL: the value that the loop around SEND keeps on
 * top of the stack. */
static DtVar *
delegate_of(const DtGeneratorVar *self)
{
    const DtBytecode *bytecode = self->frame->bytecode;
    uint32_t i = self->pc;
    if (self->state != DT_GENERATOR_SUSPENDED || self->sp == 0) {
        return NULL;
    }
    if (bytecode->instrs[i].op != DT_OP_YIELD_FROM) {
        while (i + 1 < bytecode->count
               && (bytecode->instrs[i].op == DT_OP_RESUME || bytecode->instrs[i].op == DT_OP_NOP)) {
            i++;
        }
        if (bytecode->instrs[i].op != DT_OP_JUMP
            || bytecode->instrs[bytecode->instrs[i].target].op != DT_OP_SEND) {
            return NULL;
        }
    }
    return self->values[bytecode->layout.nslots + self->sp - 1];
}

bool
dt_generator_is_awaited(const DtGeneratorVar *self)
{
    return delegate_of(self) != NULL;
}

/* The delegate has returned `value`: goes on behind the delegation. */
static DtStatus
finish_delegation(DtTrace *trace, DtGeneratorVar *self, DtVar *value, DtVar **out, bool *returned)
{
    const DtBytecode *bytecode = self->frame->bytecode;
    uint32_t i = self->pc;
    if (bytecode->instrs[i].op == DT_OP_YIELD_FROM) {
        self->sp--;
        self->pc = i + 1;
        return run_step(trace, self, value, NULL, out, returned);
    }
    while (bytecode->instrs[i].op != DT_OP_JUMP) {
        i++;
    }
    const DtInstr *send = &bytecode->instrs[bytecode->instrs[i].target];
    self->pc = (uint32_t)send->target;
    if (send->arg == 1) {
        self->sp--;
    }
    return run_step(trace, self, value, NULL, out, returned);
}

/* yf.close(), if there is such a method. */
static DtStatus
close_delegate(DtTrace *trace, DtVar *delegate)
{
    DtVar *method, *ignored;
    DtArgs none = {0};
    DT_TRY(dt_var_realize(trace, delegate, &delegate));
    if (delegate->type->kind == DT_KIND_GENERATOR || delegate->type->kind == DT_KIND_COROUTINE) {
        return dt_generator_close(trace, (DtGeneratorVar *)delegate, &ignored);
    }
    DT_TRY(dt_iter_find_method(trace, delegate, "close", &method));
    return method != NULL ? dt_var_call(trace, method, &none, &ignored) : DT_OK;
}

/* yf.throw(exception); *found false: there is no such method. */
static DtStatus
throw_into_delegate(DtTrace *trace, DtVar *delegate, DtVar *exception, DtVar **out, bool *returned,
                    bool *found)
{
    DtVar *method;
    DT_TRY(dt_var_realize(trace, delegate, &delegate));
    *found = true;
    *returned = false;
    if (delegate->type->kind == DT_KIND_GENERATOR || delegate->type->kind == DT_KIND_COROUTINE) {
        return dt_generator_throw(trace, (DtGeneratorVar *)delegate, exception, out, returned);
    }
    DT_TRY(dt_iter_find_method(trace, delegate, "throw", &method));
    *found = method != NULL;
    if (method == NULL) {
        return DT_OK;
    }
    DtArgs args = dt_args_of(&exception, 1);
    return dt_iter_take_stop(trace, dt_var_call(trace, method, &args, out), out, returned);
}

static bool
is_exit(DtTrace *trace, DtVar *exception)
{
    PyTypeObject *type = dt_var_python_type(trace, exception);
    return type != NULL && PyType_IsSubtype(type, (PyTypeObject *)PyExc_GeneratorExit);
}

/* The delegate's turn.  *mine NULL: it has answered, with *out; else the exception that is raised
 * in `self`. */
static DtStatus
offer_to_delegate(DtTrace *trace, DtGeneratorVar *self, DtVar *delegate, DtVar **mine, DtVar **out,
                  bool *returned)
{
    bool found = false;
    DtVar *exception = *mine;
    DtStatus status;
    self->state = DT_GENERATOR_RUNNING;
    if (is_exit(trace, exception)) {
        status = close_delegate(trace, delegate);
    }
    else {
        status = throw_into_delegate(trace, delegate, exception, out, returned, &found);
    }
    self->state = DT_GENERATOR_SUSPENDED;
    if (status == DT_RAISE) {
        *mine = dt_raised_take(trace);
        return DT_OK;
    }
    DT_TRY(status);
    if (!found) {
        return DT_OK;
    }
    *mine = NULL;
    return *returned ? finish_delegation(trace, self, *out, out, returned) : DT_OK;
}

DtStatus
dt_generator_throw(DtTrace *trace, DtGeneratorVar *self, DtVar *exception, DtVar **out,
                   bool *returned)
{
    bool done;
    *returned = false;
    DT_TRY(check_state(trace, self, NULL, &done));
    if (done) {
        return dt_raise_again(trace, exception);
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    DtVar *delegate = delegate_of(self);
    if (delegate != NULL) {
        DT_TRY(offer_to_delegate(trace, self, delegate, &exception, out, returned));
        if (exception == NULL) {
            return DT_OK;
        }
    }
    return run_step(trace, self, NULL, exception, out, returned);
}

/* The exception that close() raises in the frame: a GeneratorExit, or what closing the delegate has
 * raised. */
static DtStatus
make_exit(DtTrace *trace, DtGeneratorVar *self, DtVar **out)
{
    DtVar *delegate = delegate_of(self);
    if (delegate != NULL) {
        self->state = DT_GENERATOR_RUNNING;
        DtStatus status = close_delegate(trace, delegate);
        self->state = DT_GENERATOR_SUSPENDED;
        if (status == DT_RAISE) {
            *out = dt_raised_take(trace);
            return DT_OK;
        }
        DT_TRY(status);
    }
    DtVar *cls;
    DtArgs none = {0};
    DT_TRY(dt_build_known(trace, PyExc_GeneratorExit, &cls));
    DT_TRY(dt_exception_make(trace, cls, &none, out));
    DtStatus status = dt_raise_var(trace, *out);
    if (status == DT_RAISE) {
        *out = dt_raised_take(trace);
        return DT_OK;
    }
    return status;
}

DtStatus
dt_generator_close(DtTrace *trace, DtGeneratorVar *self, DtVar **out)
{
    bool returned;
    DtVar *exception, *value;
    *out = dt_none(trace);
    if (self->state == DT_GENERATOR_CLOSED) {
        return DT_OK;
    }
    if (self->state == DT_GENERATOR_RUNNING) {
        return check_state(trace, self, NULL, &returned);
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    if (self->state == DT_GENERATOR_CREATED) {
        self->state = DT_GENERATOR_CLOSED;
        return DT_OK;
    }
    DT_TRY(make_exit(trace, self, &exception));
    DtStatus status = run_step(trace, self, NULL, exception, &value, &returned);
    if (status == DT_RAISE) {
        if (dt_raised_matches(trace, PyExc_StopIteration)
            || dt_raised_matches(trace, PyExc_GeneratorExit)) {
            (void)dt_raised_take(trace);
            return DT_OK;
        }
        return DT_RAISE;
    }
    DT_TRY(status);
    if (!returned) {
        return dt_raise(trace, PyExc_RuntimeError, "%s ignored GeneratorExit",
                        name_of_kind(self->base.type->kind));
    }
    *out = dt_messages_close_returns_value ? value : dt_none(trace);
    return DT_OK;
}

/* ---- Dropped unfinished ---------------------------------------------------------------------- */

/* Instructions of handlers that only find out whether the exception is theirs, and pass it on. */
static bool
is_harmless(DtOp op)
{
    switch (op) {
    case DT_OP_NOP:
    case DT_OP_POP_TOP:
    case DT_OP_COPY:
    case DT_OP_SWAP:
    case DT_OP_LOAD_CONST:
    case DT_OP_LOAD_FAST:
    case DT_OP_STORE_FAST:
    case DT_OP_DELETE_FAST:
    case DT_OP_LOAD_GLOBAL:
    case DT_OP_BUILD_TUPLE:
    case DT_OP_PUSH_EXC_INFO:
    case DT_OP_CHECK_EXC_MATCH:
    case DT_OP_JUMP_IF_NOT_EXC_MATCH:
    case DT_OP_POP_JUMP_IF_FALSE:
    case DT_OP_POP_JUMP_IF_TRUE:
    case DT_OP_POP_EXCEPT:
    case DT_OP_POP_EXCEPT_TRIPLE:
    case DT_OP_RERAISE:
    case DT_OP_RERAISE_TRIPLE:
    case DT_OP_STOPITERATION_ERROR:
    case DT_OP_CLEANUP_THROW:
    case DT_OP_END_ASYNC_FOR:
    case DT_OP_END_ASYNC_FOR_TRIPLE:
        return true;
    default:
        return false;
    }
}

/* From the handler of a GeneratorExit to where it leaves the frame again: *runs_code tells whether
 * anything else than passing it on would be done. */
static DtStatus
pass_exit_on(DtTrace *trace, DtFrame *frame, bool *runs_code)
{
    DtStatus status = DT_RAISE;
    *runs_code = false;
    for (;;) {
        if (status == DT_RAISE) {
            status = dt_frame_unwind(trace, frame);
        }
        if (status == DT_RAISE) {
            (void)dt_raised_take(trace);
            return DT_OK;
        }
        DT_TRY(status);
        frame->pc = frame->next;
        const DtInstr *instr = &frame->bytecode->instrs[frame->pc];
        if (!is_harmless((DtOp)instr->op)) {
            *runs_code = true;
            return DT_OK;
        }
        frame->next = frame->pc + 1;
        status = dt_op_handlers[instr->op](trace, frame, instr);
    }
}

/* Would a GeneratorExit that is raised where it stands run code of the user's?  The frame is not
 * needed any more. */
static DtStatus
exit_runs_code(DtTrace *trace, DtGeneratorVar *self, bool *runs_code)
{
    DtVar *cls, *exception;
    DtArgs none = {0};
    *runs_code = false;
    if (self->frame->bytecode->instrs[self->at].handler < 0) {
        return DT_OK;
    }
    DT_TRY(dt_build_known(trace, PyExc_GeneratorExit, &cls));
    DT_TRY(dt_exception_make(trace, cls, &none, &exception));
    load_frame(self);
    self->frame->pc = self->at;
    dt_frame_push(self->frame, dt_none(trace));
    DtFrame *current = trace->frame;
    self->exc.previous = trace->exc_info;
    trace->exc_info = &self->exc;
    trace->frame = self->frame;
    DtStatus status = dt_raise_again(trace, exception);
    if (status == DT_RAISE) {
        status = pass_exit_on(trace, self->frame, runs_code);
    }
    trace->exc_info = self->exc.previous;
    trace->frame = current;
    return status;
}

DtStatus
dt_generators_check(DtTrace *trace)
{
    for (uint32_t i = 0; i < trace->generators.count; i++) {
        DtVar *var = trace->generators.items[i];
        if (var->type->kind == DT_KIND_ITERATOR) {
            DT_TRY(dt_async_check_step(trace, var));
            continue;
        }
        DtGeneratorVar *self = (DtGeneratorVar *)var;
        const char *name = dt_kinds_text(self->function->name);
        bool runs_code = false;
        if (self->state == DT_GENERATOR_SUSPENDED) {
            DT_TRY(exit_runs_code(trace, self, &runs_code));
        }
        if (runs_code) {
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
