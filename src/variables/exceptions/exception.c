/* Exceptions on their way through the traced program.
 *
 *   dt_raise ─► instance tracker ─► context ─► trace->raised ──DT_RAISE──► handler of a frame
 *                                                                  └─► root: the break "raises"
 *
 * Invariants: trace->raised is set if and only if a DT_RAISE is on its way; an
 * exception that was raised is marked so, because its traceback can't be made
 * again; the chain of contexts has no cycle.  An existing exception is never
 * raised, since that changes it.
 *
 * Not in here: what exception objects can do (v_exception.c), which handler
 * takes one (symbolic/unwind.c).
 */
#include <stdarg.h>

#include "variables/kinds.h"

static DtInstanceVar *
instance_of(DtVar *var)
{
    assert(dt_exception_is(var));
    return (DtInstanceVar *)var;
}

/* ---- The state ------------------------------------------------------------------------------- */

DtStatus
dt_exception_change(DtTrace *trace, DtInstanceVar *self, DtExceptionState **out)
{
    if (self->object != NULL) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a %s that existed before is changed",
                        self->cls->tp_name);
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    DtExceptionState *state = DT_ARENA_NEW(&trace->arena, DtExceptionState);
    if (state == NULL) {
        return dt_no_memory();
    }
    *state = *self->exception;
    self->exception = state;
    *out = state;
    return DT_OK;
}

DtStatus
dt_exception_new(DtTrace *trace, PyTypeObject *cls, DtVar *const *args, uint32_t count,
                 DtInstanceVar **out)
{
    DtInstanceVar *self = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, NULL);
    DtExceptionState *state = DT_ARENA_NEW(&trace->arena, DtExceptionState);
    if (self == NULL || state == NULL) {
        return self == NULL ? DT_ERROR : dt_no_memory();
    }
    DT_TRY(dt_var_tuple(trace, args, count, &state->args));
    DT_TRY(dt_trace_keep(trace, (PyObject *)cls));
    DT_TRY(dt_build_known(trace, (PyObject *)cls, &self->cls_var));
    self->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    self->cls = cls;
    self->exception = state;
    *out = self;
    return DT_OK;
}

/* ---- Raising --------------------------------------------------------------------------------- */

DtStatus
dt_exception_lengthen(DtTrace *trace, DtVar *exception)
{
    DtInstanceVar *self = instance_of(exception);
    if (self->exception->traceback == NULL) {
        return DT_OK;
    }
    DtExceptionState *state;
    DT_TRY(dt_exception_change(trace, self, &state));
    state->traceback = NULL;
    return DT_OK;
}

DtVar *
dt_raised_handled(const DtTrace *trace, bool *known)
{
    *known = true;
    for (const DtExcInfo *info = trace->exc_info; info != NULL; info = info->previous) {
        if (info->value != NULL) {
            return info->value;
        }
    }
    *known = false;
    return NULL;
}

DtStatus
dt_raised_handled_ask(DtTrace *trace, DtVar **out)
{
    bool known;
    *out = dt_raised_handled(trace, &known);
    if (*out != NULL) {
        return DT_OK;
    }
    PyObject *type, *value, *traceback;
    PyErr_GetExcInfo(&type, &value, &traceback);
    bool none = value == NULL || value == Py_None;
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    if (!none) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "the exception that the function's caller handles");
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_HANDLED, NULL, NULL, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    *out = dt_none(trace);
    return dt_guard_identity(trace, source, Py_None);
}

/* The exception being handled becomes the context of `self`; a context that leads back to `self` is
 * cut there, as _PyErr_SetObject() does. */
static DtStatus
set_context(DtTrace *trace, DtInstanceVar *self)
{
    bool known;
    DtExceptionState *state;
    DtVar *handled = dt_raised_handled(trace, &known);
    if (handled == &self->base) {
        return DT_OK;
    }
    /* A chain that is a ring already is gone around once: the slow one goes every second step. */
    DtVar *slow = handled;
    bool slow_goes = false;
    for (DtVar *at = handled; at != NULL && dt_exception_is_new(at); slow_goes = !slow_goes) {
        DtVar *context = instance_of(at)->exception->context;
        if (context == &self->base) {
            DT_TRY(dt_exception_change(trace, instance_of(at), &state));
            state->context = NULL;
            break;
        }
        at = context;
        if (at == slow) {
            break;
        }
        slow = slow_goes ? instance_of(slow)->exception->context : slow;
    }
    if (handled == NULL && self->exception->context_unknown) {
        return DT_OK;
    }
    DT_TRY(dt_exception_change(trace, self, &state));
    if (handled != NULL) {
        state->context = handled;
        state->context_unknown = false;
    }
    else {
        /* Without a handled exception the context stays; whether there is one is not known. */
        state->context_unknown = true;
    }
    return DT_OK;
}

DtStatus
dt_exception_set_context(DtTrace *trace, DtVar *self, DtVar *context)
{
    DtExceptionState *state;
    DT_TRY(dt_exception_change(trace, instance_of(self), &state));
    state->context = context;
    state->context_unknown = false;
    return DT_OK;
}

DtStatus
dt_raise_again(DtTrace *trace, DtVar *exception)
{
    if (!dt_exception_is_new(exception)) {
        return dt_break(trace, DT_BREAK_RAISES, "an exception that existed before is raised");
    }
    DtInstanceVar *self = instance_of(exception);
    if (!self->exception->raised) {
        DtExceptionState *state;
        DtBreakInfo *where = DT_ARENA_NEW(&trace->arena, DtBreakInfo), before = trace->brk;
        if (where == NULL) {
            return dt_no_memory();
        }
        if (dt_break(trace, DT_BREAK_RAISES, "%s", self->cls->tp_name) == DT_ERROR) {
            return DT_ERROR;
        }
        *where = trace->brk;
        trace->brk = before;
        DT_TRY(dt_exception_change(trace, self, &state));
        state->where = where;
        state->raised = true;
    }
    trace->raised = exception;
    return DT_RAISE;
}

DtStatus
dt_raise_var(DtTrace *trace, DtVar *exception)
{
    DT_TRY(dt_var_realize(trace, exception, &exception));
    if (dt_exception_is_new(exception)) {
        DT_TRY(set_context(trace, instance_of(exception)));
        DT_TRY(dt_exception_lengthen(trace, exception));
    }
    return dt_raise_again(trace, exception);
}

DtStatus
dt_raise_value(DtTrace *trace, PyObject *type, DtVar *value)
{
    DtVar *cls, *made;
    DtArgs args = dt_args_of(&value, 1);
    DT_TRY(dt_build_known(trace, type, &cls));
    DT_TRY(dt_exception_make(trace, cls, &args, &made));
    return dt_raise_var(trace, made);
}

DtStatus
dt_raise(DtTrace *trace, PyObject *type, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    DtVar *message;
    if (text == NULL) {
        return dt_break_on_exception(trace);
    }
    DT_TRY(dt_var_const_take(trace, text, &message));
    return dt_raise_value(trace, type, message);
}

/* The exceptions that dt_kinds_raise() is asked for by name. */
static PyObject *
find_builtin(const char *name)
{
    PyObject *found = PyDict_GetItemString(PyEval_GetBuiltins(), name);
    return found != NULL && PyExceptionClass_Check(found) ? found : NULL;
}

DtStatus
dt_kinds_raise(DtTrace *trace, const char *exception, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = dt_arena_vprintf(&trace->arena, format, args);
    va_end(args);
    if (text == NULL) {
        return dt_no_memory();
    }
    PyObject *type = find_builtin(exception);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_RAISES, "%s: %s", exception, text);
    }
    DtInstanceVar *self;
    DtExceptionState *state;
    DT_TRY(dt_exception_new(trace, (PyTypeObject *)type, NULL, 0, &self));
    DT_TRY(dt_exception_change(trace, self, &state));
    state->args = NULL;
    state->text = text;
    return dt_raise_var(trace, &self->base);
}

/* ---- Exceptions that a real operation has raised --------------------------------------------- */

/* The arguments as trackers; NULL if one of them is no constant. */
static DtStatus
args_of_prototype(DtTrace *trace, PyObject *prototype, DtVar **out)
{
    PyObject *args = ((PyBaseExceptionObject *)prototype)->args;
    *out = NULL;
    if (args == NULL || !PyTuple_CheckExact(args)) {
        return DT_OK;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(args, i);
        if (!dt_constant_is_safe(item)) {
            return DT_OK;
        }
        DT_TRY(dt_var_const(trace, item, &items[i]));
    }
    return dt_var_tuple(trace, items, (uint32_t)count, out);
}

DtStatus
dt_raise_from_exception(DtTrace *trace)
{
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) {
        return DT_ERROR;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    value = dt_trace_keep_take(trace, value);
    if (value == NULL) {
        return DT_ERROR;
    }
    /* It stands for its arguments and text only. */
    PyException_SetContext(value, NULL);
    (void)PyException_SetTraceback(value, Py_None);
    DtInstanceVar *self;
    DtExceptionState *state;
    DT_TRY(dt_exception_new(trace, Py_TYPE(value), NULL, 0, &self));
    DT_TRY(dt_exception_change(trace, self, &state));
    state->prototype = value;
    DT_TRY(args_of_prototype(trace, value, &state->args));
    return dt_raise_var(trace, &self->base);
}

/* ---- Catching -------------------------------------------------------------------------------- */

bool
dt_raised_matches(const DtTrace *trace, PyObject *type)
{
    return trace->raised != NULL
           && PyErr_GivenExceptionMatches((PyObject *)instance_of(trace->raised)->cls, type);
}

DtVar *
dt_raised_take(DtTrace *trace)
{
    DtVar *raised = trace->raised;
    assert(raised != NULL);
    trace->raised = NULL;
    return raised;
}

bool
dt_kinds_take_raised(DtTrace *trace, DtStatus status, PyObject *type, DtVar **exception)
{
    *exception = NULL;
    if (status != DT_RAISE || !dt_raised_matches(trace, type)) {
        return false;
    }
    *exception = dt_raised_take(trace);
    return true;
}

DtStatus
dt_kinds_raise_again(DtTrace *trace, DtVar *exception)
{
    return dt_raise_again(trace, exception);
}

/* "Type: text" for people. */
static void
describe(DtStrbuf *buf, const DtInstanceVar *self)
{
    const DtExceptionState *state = self->exception;
    dt_strbuf_add(buf, self->cls->tp_name);
    const char *text = state->text;
    if (text == NULL && state->args != NULL && ((DtSeqVar *)state->args)->count == 1) {
        PyObject *value = dt_var_peek_constant(((DtSeqVar *)state->args)->items[0]);
        if (value != NULL && PyUnicode_CheckExact(value)
            && (PyObject *)self->cls != PyExc_KeyError) {
            text = dt_kinds_text(value);
        }
    }
    if (text != NULL) {
        dt_strbuf_addf(buf, ": %s", text);
        return;
    }
    if (state->args == NULL || ((DtSeqVar *)state->args)->count == 0) {
        return;
    }
    const DtSeqVar *args = (DtSeqVar *)state->args;
    dt_strbuf_add(buf, ": ");
    for (uint32_t i = 0; i < args->count; i++) {
        dt_strbuf_add(buf, i > 0 ? ", " : "");
        dt_var_repr(args->items[i], buf);
    }
}

DtStatus
dt_raised_break(DtTrace *trace)
{
    DtInstanceVar *self = instance_of(dt_raised_take(trace));
    DtStrbuf buf = {0};
    describe(&buf, self);
    DtStatus status = dt_break(trace, DT_BREAK_RAISES, "%s", dt_strbuf_text(&buf));
    dt_strbuf_release(&buf);
    if (status == DT_BREAK) {
        trace->brk.where = self->exception->where->where;
        trace->brk.chain = self->exception->where->chain;
        trace->brk.nchain = self->exception->where->nchain;
    }
    return status;
}

DtStatus
dt_raised_break_if(DtTrace *trace, DtStatus status)
{
    return status == DT_RAISE ? dt_raised_break(trace) : status;
}
