/* Exceptions that CPython itself raises around names and calls.
 *
 * The TypeError of a call that does not fit is raised by CPython: a function of
 * the same signature, whose body does nothing, is called with as many arguments
 * of the same names.
 */
#include "compat/function.h"
#include "compat/messages.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"

/* ---- Names ----------------------------------------------------------------------------------- */

DtStatus
dt_frame_raise_name_error(DtTrace *trace, const char *format, PyObject *name)
{
    DtVar *cls, *value, *text, *exception;
    PyObject *keyword = dt_trace_keep_take(trace, PyUnicode_InternFromString("name"));
    PyObject *message = PyUnicode_FromFormat(format, name);
    if (keyword == NULL || message == NULL) {
        Py_XDECREF(message);
        return DT_ERROR;
    }
    DT_TRY(dt_var_const_take(trace, message, &text));
    DT_TRY(dt_var_const(trace, name, &value));
    DT_TRY(dt_build_known(trace, PyExc_NameError, &cls));
    DtArgs args = {.pos = &text, .npos = 1, .kw = &value, .kwnames = &keyword, .nkw = 1};
    DT_TRY(dt_var_call(trace, cls, &args, &exception));
    return dt_raise_var(trace, exception);
}

DtStatus
dt_frame_raise_unbound(DtTrace *trace, const DtFrame *frame, int slot)
{
    PyObject *name = frame->bytecode->layout.slots[slot].name;
    if (frame->bytecode->layout.slots[slot].kind & DT_SLOT_FREE) {
        return dt_frame_raise_name_error(trace, dt_messages_unbound_free, name);
    }
    return dt_raise(trace, PyExc_UnboundLocalError, dt_messages_unbound_local, name);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What the error depends on, of a function that can be changed between calls. */
static DtStatus
guard_signature(DtTrace *trace, const DtFunctionVar *function)
{
    static const char *const parts[] = {"__defaults__", "__kwdefaults__", "__qualname__"};
    _Static_assert(DT_FUNCTION_DEFAULTS == 0 && DT_FUNCTION_KWDEFAULTS == 1
                       && DT_FUNCTION_QUALNAME == 2,
                   "parts are in their order");
    PyFunctionObject *object = (PyFunctionObject *)function->function;
    const DtSource *base = function->base.source;
    if (object == NULL || base == NULL) {
        return DT_OK;
    }
    PyObject *values[] = {object->func_defaults, object->func_kwdefaults, object->func_qualname};
    for (int i = 0; i < 3; i++) {
        PyObject *key = dt_trace_keep_take(trace, PyUnicode_InternFromString(parts[i]));
        PyObject *value = values[i] != NULL ? values[i] : Py_None;
        const DtSource *source =
            key != NULL ? dt_source_get(trace, DT_SOURCE_FUNC_PART, base, key, i) : NULL;
        if (source == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_trace_keep(trace, value));
        DT_TRY(dt_guard_identity(trace, source, value));
        if (i == 1 && PyDict_CheckExact(value)) { /* which can change in place */
            DT_TRY(dt_guard_dict_keys(trace, source, value));
        }
    }
    return DT_OK;
}

/* A code object with the signature of `code`, whose body is that of `lambda: None`. */
static PyObject *
make_code(PyCodeObject *code)
{
    static const char template[] = "(lambda: None).__code__";
    PyObject *names = PyDict_New(), *result = NULL, *replace = NULL, *kwargs = NULL, *none = NULL;
    int count = dt_code_argument_slots(code);
    PyObject *all = PyObject_GetAttrString((PyObject *)code, "co_varnames");
    PyObject *varnames = all != NULL ? PyTuple_GetSlice(all, 0, count) : NULL;
    Py_XDECREF(all);
    if (names == NULL || varnames == NULL) {
        goto done;
    }
    PyObject *own = PyRun_String(template, Py_eval_input, names, names);
    replace = own != NULL ? PyObject_GetAttrString(own, "replace") : NULL;
    Py_XDECREF(own);
    none = PyTuple_New(0);
    int flags = dt_code_flags(code) & (CO_VARARGS | CO_VARKEYWORDS);
    kwargs =
        replace != NULL && none != NULL
            ? Py_BuildValue("{s:i,s:i,s:i,s:i,s:O,s:i,s:O}", "co_argcount", dt_code_argcount(code),
                            "co_posonlyargcount", dt_code_posonlyargcount(code),
                            "co_kwonlyargcount", dt_code_kwonlyargcount(code), "co_nlocals", count,
                            "co_varnames", varnames, "co_flags",
                            CO_OPTIMIZED | CO_NEWLOCALS | flags, "co_name", dt_code_name(code))
            : NULL;
    result = kwargs != NULL ? PyObject_Call(replace, none, kwargs) : NULL;
done:
    Py_XDECREF(names);
    Py_XDECREF(varnames);
    Py_XDECREF(replace);
    Py_XDECREF(kwargs);
    Py_XDECREF(none);
    return result;
}

/* None for each default of the function. */
static DtStatus
set_defaults(DtTrace *trace, const DtFunctionVar *function, PyObject *made)
{
    DtVar **items = NULL;
    uint32_t count = 0;
    if (function->defaults != NULL) {
        DT_TRY(dt_var_unpack(trace, function->defaults, &items, &count));
        PyObject *defaults = PyTuple_New((Py_ssize_t)count);
        for (uint32_t i = 0; i < count && defaults != NULL; i++) {
            PyTuple_SET_ITEM(defaults, (Py_ssize_t)i, Py_NewRef(Py_None));
        }
        int failed = defaults == NULL || PyFunction_SetDefaults(made, defaults) < 0;
        Py_XDECREF(defaults);
        if (failed) {
            return DT_ERROR;
        }
    }
    if (function->kwdefaults == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_unpack(trace, function->kwdefaults, &items, &count));
    PyObject *kwdefaults = PyDict_New();
    bool failed = kwdefaults == NULL;
    for (uint32_t i = 0; i < count && !failed; i++) {
        PyObject *key = dt_var_as_constant(trace, items[i]);
        failed = key == NULL || PyDict_SetItem(kwdefaults, key, Py_None) < 0;
    }
    failed = failed || PyFunction_SetKwDefaults(made, kwdefaults) < 0;
    Py_XDECREF(kwdefaults);
    if (failed && !PyErr_Occurred()) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "keyword defaults that are no constants");
    }
    return failed ? DT_ERROR : DT_OK;
}

/* Calls it with None for every argument. */
static PyObject *
call(PyObject *made, const DtArgs *args)
{
    PyObject *pos = PyTuple_New((Py_ssize_t)args->npos), *kw = PyDict_New(), *result = NULL;
    bool failed = pos == NULL || kw == NULL;
    for (uint32_t i = 0; i < args->npos && !failed; i++) {
        PyTuple_SET_ITEM(pos, (Py_ssize_t)i, Py_NewRef(Py_None));
    }
    for (uint32_t i = 0; i < args->nkw && !failed; i++) {
        failed = PyDict_SetItem(kw, args->kwnames[i], Py_None) < 0;
    }
    if (!failed) {
        result = PyObject_Call(made, pos, kw);
    }
    Py_XDECREF(pos);
    Py_XDECREF(kw);
    return result;
}

DtStatus
dt_frame_raise_mismatch(DtTrace *trace, DtFunctionVar *function, const DtArgs *args)
{
    DT_TRY(guard_signature(trace, function));
    PyObject *code = make_code(function->code), *result = NULL;
    PyObject *made =
        code != NULL ? PyFunction_NewWithQualName(code, trace->globals, function->name) : NULL;
    Py_XDECREF(code);
    DtStatus status = made != NULL ? set_defaults(trace, function, made) : DT_ERROR;
    if (status == DT_OK) {
        result = call(made, args);
        if (result == NULL) {
            status = dt_raise_from_exception(trace);
        }
        else {
            PyErr_Format(PyExc_SystemError, "arguments that do not fit %U have fitted",
                         function->name);
            status = DT_ERROR;
        }
        Py_XDECREF(result);
    }
    Py_XDECREF(made);
    return status;
}
