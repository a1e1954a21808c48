/* throw() and close() of generators, coroutines and asynchronous generators that the trace makes.
 *
 * What it delegates to (yield from, await) hears of the exception first:
 *
 *   throw(e) ──► delegate.throw(e), of a GeneratorExit delegate.close()
 *                   │ has answered ──► yields that, or goes on behind the delegation
 *                   └ raises ────────► that one instead of e
 *            ──► e is raised where the frame stands
 */
#include "compat/messages.h"
#include "symbolic/generator.h"
#include "symbolic/inline.h"
#include "variables/iterators/iterators.h"
#include "variables/kinds.h"

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
        return dt_generator_step(trace, self, value, NULL, out, returned);
    }
    while (bytecode->instrs[i].op != DT_OP_JUMP) {
        i++;
    }
    const DtInstr *send = &bytecode->instrs[bytecode->instrs[i].target];
    self->pc = (uint32_t)send->target;
    if (send->arg == 1) {
        self->sp--;
    }
    return dt_generator_step(trace, self, value, NULL, out, returned);
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
    DT_TRY(dt_generator_check_state(trace, self, NULL, &done));
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
    return dt_generator_step(trace, self, NULL, exception, out, returned);
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
        return dt_generator_check_state(trace, self, NULL, &returned);
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    if (self->state == DT_GENERATOR_CREATED) {
        self->state = DT_GENERATOR_CLOSED;
        return DT_OK;
    }
    DT_TRY(make_exit(trace, self, &exception));
    DtStatus status = dt_generator_step(trace, self, NULL, exception, &value, &returned);
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
                        dt_generator_kind_name(self->base.type->kind));
    }
    *out = dt_messages_close_returns_value ? value : dt_none(trace);
    return DT_OK;
}
