/* Exceptions that leave the trace: making them again.
 *
 *   never raised, or its traceback was replaced by None ─► BaseException.__new__(cls, *args),
 *       then cause, context and fields, as far as it has any
 *   raised ─► a break: its traceback, with the frames in it, can't be made
 *
 * Invariant: no code of the user runs; what an __init__ of Python did is in the
 * journal.
 *
 * Not in here: attributes of its own (the journal), existing exceptions.
 */
#include "compat/type.h"
#include "variables/kinds.h"

static const DtExceptionState *
state_of(DtVar *var)
{
    return ((DtInstanceVar *)var)->exception;
}

DtStatus
dt_exception_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                      void *arg)
{
    const DtExceptionState *state = state_of(self);
    DtVar *parts[] = {state->args, state->made_of, state->cause, state->context};
    if (!dt_exception_is_new(self)) {
        return DT_OK;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i] != NULL) {
            DT_TRY(visit(trace, parts[i], arg));
        }
    }
    for (uint32_t i = 0; i < state->nfields; i++) {
        DT_TRY(visit(trace, state->fields[i].value, arg));
    }
    return DT_OK;
}

/* ---- What runs when the exception is made ---------------------------------------------------- */

/* What the caller of the compiled function handles, as raising would have found it. */
static PyObject *
handled_outside(void)
{
    PyObject *type, *value, *traceback;
    PyErr_GetExcInfo(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (value == Py_None) {
        Py_CLEAR(value);
    }
    return value;
}

/* complete(exception, cause, context, flags, name, value, ...): the exception.  Absent parts are
 * Ellipsis; flags: 1 suppresses the context, 2 takes the one that is handled now. */
static PyObject *
complete(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    PyObject *exception = args[0];
    long flags = PyLong_AsLong(args[3]);
    if (args[1] != Py_Ellipsis) {
        PyException_SetCause(exception, Py_NewRef(args[1]));
    }
    if (args[2] != Py_Ellipsis) {
        PyException_SetContext(exception, Py_NewRef(args[2]));
    }
    else if (flags & 2) {
        PyException_SetContext(exception, handled_outside());
    }
    ((PyBaseExceptionObject *)exception)->suppress_context = (char)(flags & 1);
    for (Py_ssize_t i = 4; i + 1 < count; i += 2) {
        if (PyObject_GenericSetAttr(exception, args[i], args[i + 1]) < 0) {
            return NULL;
        }
    }
    return Py_NewRef(exception);
}

static PyMethodDef complete_method = {"complete_exception", (PyCFunction)(void (*)(void))complete,
                                      METH_FASTCALL, NULL};

/* ---- Emitting it ----------------------------------------------------------------------------- */

/* Its traceback is none: it was never raised, or the program took it away. */
static bool
has_no_traceback(const DtExceptionState *state)
{
    return state->traceback != NULL ? dt_var_peek_constant(state->traceback) == Py_None
                                    : !state->raised;
}

/* What the interpreter has told it is lost where it is made again. */
static bool
was_told(const DtExceptionState *state)
{
    return dt_exception_was_told(state)
           || (state->raised && state->prototype != NULL
               && (PyErr_GivenExceptionMatches(state->prototype, PyExc_AttributeError)
                   || PyErr_GivenExceptionMatches(state->prototype, PyExc_NameError)));
}

/* Called like that, it has no effect: a class of C, and constants. */
static DtStatus
emit_prototype(DtCodegen *codegen, const DtExceptionState *state)
{
    const DtSeqVar *args = (DtSeqVar *)state->made_of;
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)state->made_by));
    for (uint32_t i = 0; i < args->count; i++) {
        DT_TRY(dt_codegen_var(codegen, args->items[i]));
    }
    return dt_codegen_call(codegen, args->count);
}

/* The __new__ of the C type keeps the arguments and runs no __init__.  A group is made of its
 * message and exceptions; its args, which may have changed, are set afterwards. */
static DtStatus
emit_plain(DtCodegen *codegen, DtVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyTypeObject *native = ((DtInstanceVar *)self)->cls;
    while (!dt_type_is_static(native)) {
        native = native->tp_base;
    }
    PyObject *new = PyObject_GetAttrString((PyObject *)native, "__new__");
    new = dt_trace_keep_take(trace, new);
    if (new == NULL) {
        return DT_ERROR;
    }
    const DtExceptionState *state = state_of(self);
    const DtSeqVar *args = (DtSeqVar *)dt_var_peek(state->args);
    bool group = dt_group_is_class(native);
    uint32_t count = group ? state->nfields : args->count;
    DT_TRY(dt_codegen_push_callable(codegen, new));
    DT_TRY(dt_codegen_var(codegen, ((DtInstanceVar *)self)->cls_var));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_codegen_var(codegen, group ? state->fields[i].value : args->items[i]));
    }
    return dt_codegen_call(codegen, count + 1);
}

static DtStatus
emit_made(DtCodegen *codegen, DtVar *self)
{
    const DtExceptionState *state = state_of(self);
    PyTypeObject *cls = ((DtInstanceVar *)self)->cls;
    if (has_no_traceback(state) && !was_told(state)) {
        if (state->made_by != NULL) {
            return emit_prototype(codegen, state);
        }
        if (state->args != NULL && dt_var_peek(state->args)->type->kind == DT_KIND_TUPLE
            && (cls->tp_new == ((PyTypeObject *)PyExc_BaseException)->tp_new
                || dt_group_is_class(cls))) {
            return emit_plain(codegen, self);
        }
    }
    return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                    "a %s that was raised in the function", cls->tp_name);
}

static DtStatus
emit_part(DtCodegen *codegen, DtVar *part)
{
    return part != NULL ? dt_codegen_var(codegen, part) : dt_codegen_const(codegen, Py_Ellipsis);
}

static DtStatus
emit_field(DtCodegen *codegen, const char *text, DtVar *value, uint32_t *count)
{
    PyObject *name =
        dt_trace_keep_take(dt_codegen_trace(codegen), PyUnicode_InternFromString(text));
    if (name == NULL) {
        return DT_ERROR;
    }
    *count += 2;
    DT_TRY(dt_codegen_const(codegen, name));
    return dt_codegen_var(codegen, value);
}

static DtStatus
emit_fields(DtCodegen *codegen, DtVar *self, uint32_t *count)
{
    const DtExceptionState *state = state_of(self);
    *count = 0;
    if (dt_group_is_class(((DtInstanceVar *)self)->cls)) {
        return emit_field(codegen, "args", state->args, count);
    }
    for (uint32_t i = 0; i < state->nfields; i++) {
        DtVar *value = state->fields[i].value;
        if (dt_var_peek_constant(value) == Py_None) {
            continue; /* an empty member gives None */
        }
        if (value == state->args) {
            DT_TRY(emit_field(codegen, "args", value, count)); /* is the same tuple */
        }
        DT_TRY(emit_field(codegen, state->fields[i].name, value, count));
    }
    return DT_OK;
}

DtStatus
dt_exception_reconstruct(DtCodegen *codegen, DtVar *self)
{
    const DtExceptionState *state = state_of(self);
    bool fields = state->nfields > 0 && state->made_by == NULL;
    if (state->cause == NULL && state->context == NULL && !state->context_unknown
        && !state->suppress_context && !fields) {
        return emit_made(codegen, self);
    }
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&complete_method, NULL));
    PyObject *flags =
        dt_trace_keep_take(trace, PyLong_FromLong((state->suppress_context ? 1 : 0)
                                                  + (state->context_unknown ? 2 : 0)));
    uint32_t count = 0;
    if (function == NULL || flags == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(emit_made(codegen, self));
    DT_TRY(emit_part(codegen, state->cause));
    DT_TRY(emit_part(codegen, state->context));
    DT_TRY(dt_codegen_const(codegen, flags));
    if (fields) {
        DT_TRY(emit_fields(codegen, self, &count));
    }
    return dt_codegen_call(codegen, 4 + count);
}

/* ---- Tracebacks ------------------------------------------------------------------------------ */

static PyTypeObject *
traceback_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyTraceBack_Type;
}

DtStatus
dt_traceback_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                   DtVar **out)
{
    (void)trusted;
    if (source == NULL || source->kind == DT_SOURCE_OBJECT) {
        return dt_opaque_build(trace, object, source, trusted, out);
    }
    DT_TRY(dt_guard_type(trace, source, &PyTraceBack_Type));
    *out = DT_KINDS_NEW(trace, TRACEBACK, DtVar, source);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
traceback_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    return done ? DT_OK
                : dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                           "a traceback of the function");
}

/* Of an exception that was raised in the trace, or an existing one.  It can be handed around and
 * compared with None; any other use is a break. */
const DtVarType dt_kind_type_TRACEBACK = {
    .kind = DT_KIND_TRACEBACK,
    .python_type = traceback_type,
    .reconstruct = traceback_reconstruct,
};
