/* What is awaited of asynchronous generators and coroutines: one step of the former, the iterator
 * that __await__ of the latter gives.
 *
 *   await agen.asend(v) ──send──► step of the generator: an await inside it suspends both,
 *                                 a yield of its own ends the step with the value
 *
 * Not in here: athrow() and aclose(), which break.
 */
#include "variables/iterators/iterators.h"

/* ---- A step of an asynchronous generator ----------------------------------------------------- */

enum { STEP_NEW, STEP_RUNNING, STEP_CLOSED }; /* `extra`; `function` is the value to send */

static DtStatus
begin_step(DtTrace *trace, DtIterVar *self, DtGeneratorVar *generator, DtVar **value)
{
    if (self->extra == STEP_CLOSED) {
        return dt_raise(trace, PyExc_RuntimeError,
                        "cannot reuse already awaited __anext__()/asend()");
    }
    if (self->extra == STEP_NEW) {
        if (generator->in_asend) {
            return dt_raise(trace, PyExc_RuntimeError,
                            "anext(): asynchronous generator is already running");
        }
        DT_TRY(dt_var_realize(trace, *value, value));
        if (dt_var_peek_constant(*value) == Py_None) {
            *value = self->function;
        }
        self->extra = STEP_RUNNING;
    }
    DT_TRY(dt_kinds_will_change(trace, &generator->base));
    generator->in_asend = true;
    return DT_OK;
}

static DtStatus
send_step(DtTrace *trace, DtIterVar *self, DtVar *value, DtVar **out, bool *returned)
{
    DtGeneratorVar *generator = (DtGeneratorVar *)self->subject;
    bool ended = false;
    *returned = false;
    DT_TRY(begin_step(trace, self, generator, &value));
    DtStatus status = dt_generator_resume(trace, generator, value, out, &ended);
    bool yielded = status == DT_OK && !ended && generator->wrapped;
    if (status == DT_OK && !ended && !yielded) {
        return DT_OK; /* it awaits something that suspends */
    }
    self->extra = STEP_CLOSED;
    generator->in_asend = false;
    if (yielded) {
        *returned = true;
        return DT_OK;
    }
    if (status == DT_OK) {
        DtVar *cls, *exception;
        DtArgs none = {0};
        DT_TRY(dt_build_known(trace, PyExc_StopAsyncIteration, &cls));
        DT_TRY(dt_exception_make(trace, cls, &none, &exception));
        return dt_raise_var(trace, exception);
    }
    return status;
}

/* next() of what can be sent to. */
static DtStatus
next_by_send(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    bool returned;
    DT_TRY(self->row->send(trace, self, dt_none(trace), out, &returned));
    if (!returned) {
        return DT_OK;
    }
    DtVar *value = *out;
    *out = NULL;
    return dt_iter_raise_stop(trace, value);
}

static const DtIterRow step_row = {.name = "step of an asynchronous generator",
                                   .next = next_by_send,
                                   .send = send_step,
                                   .rebuild = dt_iter_rebuild_never};

DtStatus
dt_async_step(DtTrace *trace, DtVar *generator, DtVar *value, DtVar **out)
{
    DtIterVar *made;
    DT_TRY(dt_iter_make(trace, &step_row, NULL, &made));
    made->subject = generator;
    made->function = value;
    *out = &made->base;
    return dt_vec_push(&trace->arena, &trace->generators, *out) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_async_check_step(DtTrace *trace, DtVar *step)
{
    return ((DtIterVar *)step)->extra == STEP_NEW
               ? dt_break(trace, DT_BREAK_GENERATOR, "a %s is not awaited", step_row.name)
               : DT_OK;
}

/* ---- coroutine.__await__() ------------------------------------------------------------------- */

static DtStatus
send_to_coroutine(DtTrace *trace, DtIterVar *self, DtVar *value, DtVar **out, bool *returned)
{
    return dt_generator_resume(trace, (DtGeneratorVar *)self->subject, value, out, returned);
}

static const DtIterRow wrapper_row = {.name = "coroutine wrapper",
                                      .next = next_by_send,
                                      .send = send_to_coroutine,
                                      .rebuild = dt_iter_rebuild_never};

DtStatus
dt_async_wrapper(DtTrace *trace, DtVar *coroutine, DtVar **out)
{
    DtIterVar *made;
    DT_TRY(dt_iter_make(trace, &wrapper_row, NULL, &made));
    made->subject = coroutine;
    *out = &made->base;
    return DT_OK;
}

/* ---- The hooks of asynchronous generators ---------------------------------------------------- */

/* An event loop is told of each asynchronous generator that is begun (sys.set_asyncgen_hooks), and
 * a coroutine remembers the frames that have made it (sys.set_coroutine_origin_tracking_depth); a
 * trace relies on nobody asking for that, as on the state of a library. */
typedef enum Watcher { HOOKS, ORIGINS } Watcher;

static int
check_no_hooks(const DtAdapter *adapter, const void *spec)
{
    (void)adapter;
    return *(const Watcher *)spec == HOOKS ? !dt_iterators_asyncgen_hooked()
                                           : !dt_iterators_origins_tracked();
}

static void
print_no_hooks(const DtAdapter *adapter, const void *spec, DtStrbuf *buf)
{
    (void)adapter;
    dt_strbuf_add(buf, *(const Watcher *)spec == HOOKS ? "no hooks of asynchronous generators"
                                                       : "no origins of coroutines are kept");
}

static void
print_hooks(const DtAdapter *adapter, PyObject *object, DtStrbuf *buf)
{
    (void)adapter;
    (void)object;
    dt_strbuf_add(buf, "hooks of asynchronous generators");
}

static const DtAdapter hooks_adapter = {
    .name = "asyncgen_hooks",
    .print_guard = print_no_hooks,
    .print_found = print_hooks,
    .check_state = check_no_hooks,
};

DtStatus
dt_async_guard_hooks(DtTrace *trace)
{
    static const Watcher spec = HOOKS;
    if (dt_iterators_asyncgen_hooked()) {
        return dt_break(trace, DT_BREAK_GENERATOR,
                        "an asynchronous generator while hooks are set for them");
    }
    return dt_guard_adapter_state(trace, &hooks_adapter, &spec, sizeof(spec));
}

DtStatus
dt_async_guard_origins(DtTrace *trace)
{
    static const Watcher spec = ORIGINS;
    if (dt_iterators_origins_tracked()) {
        return dt_break(trace, DT_BREAK_GENERATOR, "a coroutine while their origins are kept");
    }
    return dt_guard_adapter_state(trace, &hooks_adapter, &spec, sizeof(spec));
}
