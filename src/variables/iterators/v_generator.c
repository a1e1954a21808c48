/* Generators, coroutines and asynchronous generators as values: iteration, send, attributes.
 *
 * Only those that the trace makes have a tracker; the frame behind it is the interpreter's
 * (symbolic/generator.c).
 *
 * Invariants: one that was not started is rebuilt by the call that made it; a started one never
 * leaves the trace.
 */
#include "compat/messages.h"
#include "variables/iterators/iterators.h"

static DtGeneratorVar *
generator_of(DtVar *var)
{
    return (DtGeneratorVar *)var;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static DtStatus
generator_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = self;
    return DT_OK;
}

/* StopIteration carries what the generator returns; None is plain exhaustion. */
static DtStatus
generator_iternext(DtTrace *trace, DtVar *self, DtVar **out)
{
    bool returned;
    DT_TRY(dt_generator_resume(trace, generator_of(self), dt_none(trace), out, &returned));
    if (!returned) {
        return DT_OK;
    }
    DtVar *value = *out;
    *out = NULL;
    DT_TRY(dt_var_given(trace, &value));
    return value == NULL ? DT_OK : dt_iter_raise_stop(trace, value);
}

static DtStatus
call_send(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool returned;
    DT_TRY(dt_generator_resume(trace, generator_of(self), args->pos[0], out, &returned));
    return returned ? dt_iter_raise_stop(trace, *out) : DT_OK;
}

/* The exception that throw(type, value, traceback) means. */
static DtStatus
exception_of_class(DtTrace *trace, DtVar *type, DtVar *value, DtVar **out)
{
    PyTypeObject *cls = (PyTypeObject *)dt_payload_object(type);
    if (value != NULL && dt_exception_is(value)
        && PyType_IsSubtype(((DtInstanceVar *)value)->cls, cls)) {
        *out = value;
        return DT_OK;
    }
    DtArgs made = dt_args_of(&value, value != NULL);
    return dt_var_call(trace, type, &made, out);
}

static DtStatus
check_throw(DtTrace *trace, const DtArgs *args)
{
    DtVar *traceback = NULL;
    if (args->npos > 1 && dt_messages_throw_warns) {
        return dt_break(trace, DT_BREAK_GENERATOR, "throw() with several arguments, which warns");
    }
    if (args->npos > 2) {
        DT_TRY(dt_var_realize(trace, args->pos[2], &traceback));
    }
    if (traceback != NULL && traceback->type->kind != DT_KIND_TRACEBACK
        && dt_var_peek_constant(traceback) != Py_None) {
        return dt_break(trace, DT_BREAK_GENERATOR, "throw() with a traceback of its own");
    }
    return DT_OK;
}

static DtStatus
exception_of_arguments(DtTrace *trace, const DtArgs *args, DtVar **out)
{
    DtVar *type, *value = args->npos > 1 ? args->pos[1] : NULL;
    DT_TRY(check_throw(trace, args));
    DT_TRY(dt_var_realize(trace, args->pos[0], &type));
    DT_TRY(dt_var_given(trace, &value));
    PyObject *cls = type->type->kind == DT_KIND_CLASS ? dt_payload_object(type) : NULL;
    if (cls != NULL && PyExceptionClass_Check(cls)) {
        return exception_of_class(trace, type, value, out);
    }
    if (dt_exception_is(type)) {
        *out = type;
        return value == NULL ? DT_OK
                             : dt_raise(trace, PyExc_TypeError,
                                        "instance exception may not have a separate value");
    }
    PyTypeObject *other = dt_var_python_type(trace, type);
    if (other == NULL || PyExceptionClass_Check((PyObject *)other)
        || type->type->kind == DT_KIND_CLASS) {
        return dt_break(trace, DT_BREAK_GENERATOR, "throw() of a %s", type->type->name);
    }
    return dt_raise(trace, PyExc_TypeError,
                    "exceptions must be classes or instances deriving from BaseException, not %s",
                    other->tp_name);
}

static DtStatus
call_throw(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool returned;
    DtVar *exception;
    DT_TRY(exception_of_arguments(trace, args, &exception));
    DT_TRY(dt_generator_throw(trace, generator_of(self), exception, out, &returned));
    return returned ? dt_iter_raise_stop(trace, *out) : DT_OK;
}

static DtStatus
call_close(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return dt_generator_close(trace, generator_of(self), out);
}

static DtStatus
call_iter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return generator_iter(trace, self, out);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static DtStatus
get_name(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__name__"));
    return name != NULL ? dt_var_getattr(trace, &generator_of(self)->function->base, name, out)
                        : DT_ERROR;
}

static DtStatus
get_code(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_const(trace, (PyObject *)generator_of(self)->function->code, out);
}

static DtStatus
get_running(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_bool(trace, generator_of(self)->state == DT_GENERATOR_RUNNING, out);
}

static PyTypeObject *
generator_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return generator_of(self)->replacing ? NULL : &PyGen_Type;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

static DtStatus
generator_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtGeneratorVar *self = generator_of(var);
    const DtArgs *args = &self->args;
    if (self->replacing) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "the iterator that %s stands for leaves the function",
                        dt_kinds_text(self->function->name));
    }
    if (self->state != DT_GENERATOR_CREATED || args->nkw > 0) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "%s %s leaves the function %s", var->type->name,
                        dt_kinds_text(self->function->name),
                        args->nkw > 0 ? "with keyword arguments" : "after it was started");
    }
    self->rebuilt = true;
    DT_TRY(dt_codegen_push_callable_var(codegen, &self->function->base));
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(dt_codegen_var(codegen, args->pos[i]));
    }
    return dt_codegen_call(codegen, args->npos);
}

/* What a frame that may still run holds is reachable; the arguments are, for rebuilding. */
static DtStatus
generator_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                   void *arg)
{
    DtGeneratorVar *self = generator_of(var);
    DT_TRY(visit(trace, &self->function->base, arg));
    for (uint32_t i = 0; i < self->args.npos; i++) {
        DT_TRY(visit(trace, self->args.pos[i], arg));
    }
    for (uint32_t i = 0; i < self->args.nkw; i++) {
        DT_TRY(visit(trace, self->args.kw[i], arg));
    }
    return DT_OK;
}

static void
generator_repr(DtVar *self, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<%s %s>", self->type->name,
                   dt_kinds_text(generator_of(self)->function->name));
}

static const DtMethodRow generator_methods[] = {
    {"send", call_send, 1, 1, false},     {"throw", call_throw, 1, 3, false},
    {"close", call_close, 0, 0, false},   {"__next__", dt_iter_call_next, 0, 0, false},
    {"__iter__", call_iter, 0, 0, false}, {NULL, NULL, 0, 0, false},
};

static const DtGetSetRow generator_getsets[] = {
    {"__name__", get_name},
    {"gi_code", get_code},
    {"gi_running", get_running},
    {NULL, NULL},
};

const DtVarType dt_kind_type_GENERATOR = {
    .kind = DT_KIND_GENERATOR,
    .tp_iter = generator_iter,
    .tp_iternext = generator_iternext,
    .methods = generator_methods,
    .getsets = generator_getsets,
    .python_type = generator_type,
    .reconstruct = generator_reconstruct,
    .children = generator_children,
    .repr = generator_repr,
};

/* ---- Coroutines ------------------------------------------------------------------------------ */

static PyTypeObject *
coroutine_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyCoro_Type;
}

static DtStatus
call_await(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return dt_async_wrapper(trace, self, out);
}

static const DtMethodRow coroutine_methods[] = {
    {"__await__", call_await, 0, 0, false},
    {"send", call_send, 1, 1, false},
    {"throw", call_throw, 1, 3, false},
    {"close", call_close, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

static const DtGetSetRow coroutine_getsets[] = {
    {"__name__", get_name},
    {"cr_code", get_code},
    {"cr_running", get_running},
    {NULL, NULL},
};

const DtVarType dt_kind_type_COROUTINE = {
    .kind = DT_KIND_COROUTINE,
    .methods = coroutine_methods,
    .getsets = coroutine_getsets,
    .python_type = coroutine_type,
    .reconstruct = generator_reconstruct,
    .children = generator_children,
    .repr = generator_repr,
};

/* ---- Asynchronous generators ----------------------------------------------------------------- */

static PyTypeObject *
async_generator_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyAsyncGen_Type;
}

static DtStatus
call_aiter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return generator_iter(trace, self, out);
}

static DtStatus
call_asend(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return dt_async_step(trace, self, args->npos > 0 ? args->pos[0] : dt_none(trace), out);
}

static const DtMethodRow async_generator_methods[] = {
    {"__aiter__", call_aiter, 0, 0, false},
    {"__anext__", call_asend, 0, 0, false},
    {"asend", call_asend, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

static const DtGetSetRow async_generator_getsets[] = {
    {"__name__", get_name},
    {"ag_code", get_code},
    {"ag_running", get_running},
    {NULL, NULL},
};

const DtVarType dt_kind_type_ASYNC_GENERATOR = {
    .kind = DT_KIND_ASYNC_GENERATOR,
    .methods = async_generator_methods,
    .getsets = async_generator_getsets,
    .python_type = async_generator_type,
    .reconstruct = generator_reconstruct,
    .children = generator_children,
    .repr = generator_repr,
};
