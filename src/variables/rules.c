/* See rules.h. */
#include "variables/rules.h"

#include "compat/dict.h"
#include "variables/fold.h"
#include "variables/kinds.h"

/* ---- Marks ----------------------------------------------------------------------------------- */

static int
has_mark(PyObject *dict, const char *text)
{
    PyObject *name = PyUnicode_InternFromString(text), *value = NULL;
    if (name == NULL) {
        return -1;
    }
    int found = dt_dict_get(dict, name, &value);
    Py_DECREF(name);
    return found == 1 && value != Py_False;
}

DtStatus
dt_rules_mark(PyObject *function, DtMark *out)
{
    *out = DT_MARK_NONE;
    PyObject *dict = function != NULL ? ((PyFunctionObject *)function)->func_dict : NULL;
    if (dict == NULL || !PyDict_CheckExact(dict)) {
        return DT_OK;
    }
    int disabled = has_mark(dict, "__dyntrace_disable__");
    int constant = disabled == 0 ? has_mark(dict, "__dyntrace_constant__") : 0;
    if (disabled < 0 || constant < 0) {
        return DT_ERROR;
    }
    *out = disabled ? DT_MARK_DISABLED : constant ? DT_MARK_CONSTANT : DT_MARK_NONE;
    return DT_OK;
}

DtStatus
dt_rules_check_callable(DtTrace *trace, PyObject *object)
{
    DtMark mark = DT_MARK_NONE;
    if (object != NULL && PyFunction_Check(object)) {
        DT_TRY(dt_rules_mark(object, &mark));
    }
    return mark != DT_MARK_DISABLED
               ? DT_OK
               : dt_break(trace, DT_BREAK_SKIPPED_FUNCTION, "%s() is marked with dyntrace.disable",
                          dt_kinds_text(((PyFunctionObject *)object)->func_qualname));
}

DtStatus
dt_rules_refusing(PyObject *function, int *out)
{
    *out = -1;
    PyObject *dict = function != NULL ? ((PyFunctionObject *)function)->func_dict : NULL;
    if (dict == NULL || !PyDict_CheckExact(dict)) {
        return DT_OK;
    }
    PyObject *name = PyUnicode_InternFromString("__dyntrace_refuse__"), *value = NULL;
    if (name == NULL) {
        return DT_ERROR;
    }
    if (dt_dict_get(dict, name, &value) == 1) {
        *out = value == Py_True;
    }
    Py_DECREF(name);
    return DT_OK;
}

DtStatus
dt_rules_refuse(DtTrace *trace, bool on)
{
    if (trace->refusing.count == 0) {
        trace->refusing_since = trace->history.count;
    }
    return dt_vec_push(&trace->arena, &trace->refusing, on) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_rules_enter(DtTrace *trace, PyObject *function, uint32_t *entered)
{
    int refusing;
    *entered = 0;
    DT_TRY(dt_rules_refusing(function, &refusing));
    if (refusing < 0) {
        return DT_OK;
    }
    DT_TRY(dt_rules_refuse(trace, refusing == 1));
    *entered = trace->refusing.count;
    return DT_OK;
}

void
dt_rules_leave(DtTrace *trace, uint32_t entered)
{
    if (entered == 0 || entered > trace->refusing.count) {
        return;
    }
    /* What was entered inside, and outlives the function, stays. */
    bool *items = trace->refusing.items;
    for (uint32_t i = entered; i < trace->refusing.count; i++) {
        items[i - 1] = items[i];
    }
    trace->refusing.count--;
}

/* A new reference, or NULL with a status: DT_BREAK names the argument. */
static DtStatus
known_argument(DtTrace *trace, const DtFunctionVar *function, DtVar *var, PyObject **out)
{
    DT_TRY(dt_fold_value(trace, var, out));
    if (*out == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "%s(), whose result is constant, is called with a %s that is not known",
                        dt_kinds_text(function->name), dt_var_peek(var)->type->name);
    }
    return DT_OK;
}

static DtStatus
known_arguments(DtTrace *trace, const DtFunctionVar *function, const DtArgs *args, PyObject *pos,
                PyObject *keywords)
{
    for (uint32_t i = 0; i < args->npos; i++) {
        PyObject *value;
        DT_TRY(known_argument(trace, function, args->pos[i], &value));
        PyTuple_SET_ITEM(pos, i, value);
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *value;
        DT_TRY(known_argument(trace, function, args->kw[i], &value));
        int failed = PyDict_SetItem(keywords, args->kwnames[i], value);
        Py_DECREF(value);
        if (failed < 0) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

DtStatus
dt_rules_call_constant(DtTrace *trace, DtFunctionVar *function, const DtArgs *args, DtVar **out)
{
    PyObject *pos = PyTuple_New(args->npos), *keywords = PyDict_New(), *result = NULL;
    DtStatus status = DT_ERROR;
    if (pos != NULL && keywords != NULL) {
        status = known_arguments(trace, function, args, pos, keywords);
    }
    if (status == DT_OK) {
        result = PyObject_Call(function->function, pos, keywords);
        status = result == NULL ? dt_raise_from_exception(trace) : dt_trace_keep(trace, result);
    }
    if (status == DT_OK) {
        status = dt_constant_is_safe(result) ? dt_var_const(trace, result, out)
                                             : dt_build_known(trace, result, out);
    }
    Py_XDECREF(pos);
    Py_XDECREF(keywords);
    Py_XDECREF(result);
    return status;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static PyObject *skipped; /* frozenset of str */

int
dt_rules_set_skipped(PyObject *names)
{
    if (!PyFrozenSet_CheckExact(names)) {
        PyErr_SetString(PyExc_TypeError, "names: expected a frozenset of str");
        return -1;
    }
    Py_INCREF(names);
    Py_XSETREF(skipped, names);
    return 0;
}

/* Whether the set has this str; no memory counts as no. */
static bool
is_listed(PyObject *name)
{
    int found = name != NULL ? PySet_Contains(skipped, name) : -1;
    if (found < 0) {
        PyErr_Clear(); /* MemoryError: the call is followed, which is always right */
    }
    return found == 1;
}

bool
dt_rules_is_skipped(PyObject *globals)
{
    PyObject *key = PyUnicode_InternFromString("__name__"), *name = NULL;
    bool found = skipped != NULL && key != NULL && dt_dict_get(globals, key, &name) == 1
                 && PyUnicode_CheckExact(name);
    Py_XDECREF(key);
    if (!found) {
        PyErr_Clear(); /* MemoryError of the key, as above */
        return false;
    }
    if (is_listed(name)) {
        return true;
    }
    Py_ssize_t end = PyUnicode_GET_LENGTH(name);
    while ((end = PyUnicode_FindChar(name, '.', 0, end, -1)) > 0) {
        PyObject *package = PyUnicode_Substring(name, 0, end);
        bool listed = is_listed(package);
        Py_XDECREF(package);
        if (listed) {
            return true;
        }
    }
    return false;
}
