/* See bind.h.  Slot order is CPython's: positional, keyword-only, *args, **kwargs. */
#include "eval_frame/bind.h"

#include <string.h>

#include "compat/code.h"
#include "compat/function.h"

/* Index of parameter `name` among those that take keywords, or -1.  Names are interned on both
 * sides in compiled code; equal text behind different objects is found in a second pass. */
static int
find_parameter(PyObject *varnames, int first, int end, PyObject *name)
{
    for (int i = first; i < end; i++) {
        if (PyTuple_GET_ITEM(varnames, i) == name) {
            return i;
        }
    }
    for (int i = first; i < end; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(varnames, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

/* For the parameters from `first` on; what names no other is one too many, or goes into `extra`. */
static DtBind
bind_keywords(PyCodeObject *code, int first, PyObject *const *values, PyObject *kwnames,
              PyObject **slots, PyObject *extra)
{
    int named = dt_code_argcount(code) + dt_code_kwonlyargcount(code);
    PyObject *varnames = dt_function_parameter_names(code);
    DtBind answer = DT_BIND_OK;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames) && answer == DT_BIND_OK; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (!PyUnicode_CheckExact(name)) {
            answer = DT_BIND_NO_FIT;
            break;
        }
        int slot = find_parameter(varnames, first, named, name);
        if (slot >= 0 && slots[slot] == NULL) {
            slots[slot] = values[i];
        }
        else if (slot >= 0 || extra == NULL) {
            answer = DT_BIND_NO_FIT;
        }
        else if (PyDict_SetItem(extra, name, values[i]) < 0) {
            answer = DT_BIND_ERROR;
        }
    }
    return answer;
}

/* Defaults for what is still empty from slot `first` on; false if something stays empty. */
static bool
bind_defaults(PyFunctionObject *function, PyCodeObject *code, int first, PyObject **slots)
{
    int argcount = dt_code_argcount(code);
    PyObject *defaults = function->func_defaults;
    Py_ssize_t ndefaults = defaults != NULL ? PyTuple_GET_SIZE(defaults) : 0;
    for (int i = first; i < argcount; i++) {
        if (slots[i] == NULL) {
            Py_ssize_t at = i - (argcount - ndefaults);
            if (at < 0) {
                return false;
            }
            slots[i] = PyTuple_GET_ITEM(defaults, at);
        }
    }
    int kwonly = dt_code_kwonlyargcount(code);
    if (kwonly == 0) {
        return true;
    }
    PyObject *varnames = dt_function_parameter_names(code);
    bool full = true;
    for (int i = argcount; full && i < argcount + kwonly; i++) {
        if (slots[i] == NULL && function->func_kwdefaults != NULL) {
            /* Keys of another type than str were put there by hand; then a lookup could run their
             * code. */
            slots[i] =
                PyDict_GetItemWithError(function->func_kwdefaults, PyTuple_GET_ITEM(varnames, i));
        }
        full = slots[i] != NULL;
    }
    return full;
}

/* Arguments for parameters that all have names: nothing is made, so nothing has to be released. */
static DtBind
bind_named(PyFunctionObject *function, PyCodeObject *code, PyObject *const *args, int nargs,
           PyObject *kwnames, PyObject **slots)
{
    int argcount = dt_code_argcount(code), kwonly = dt_code_kwonlyargcount(code);
    if (nargs > argcount) {
        return DT_BIND_NO_FIT;
    }
    for (int i = 0; i < nargs; i++) {
        slots[i] = args[i];
    }
    for (int i = nargs; i < argcount + kwonly; i++) {
        slots[i] = NULL;
    }
    if (kwnames != NULL) {
        /* A name of a parameter that has its value already is not found: no fit either way. */
        int posonly = dt_code_posonlyargcount(code);
        DtBind answer = bind_keywords(code, nargs > posonly ? nargs : posonly, args + nargs,
                                      kwnames, slots, NULL);
        if (answer != DT_BIND_OK) {
            return answer;
        }
        if (nargs + PyTuple_GET_SIZE(kwnames) == argcount + kwonly) {
            return DT_BIND_OK; /* each has one */
        }
    }
    return bind_defaults(function, code, nargs, slots) ? DT_BIND_OK : DT_BIND_NO_FIT;
}

DtBind
dt_bind_arguments(PyFunctionObject *function, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames, PyObject **slots)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    if (DT_LIKELY((dt_code_flags(code) & (CO_VARARGS | CO_VARKEYWORDS)) == 0) && nargs <= INT_MAX) {
        return bind_named(function, code, args, (int)nargs, kwnames, slots);
    }
    int argcount = dt_code_argcount(code);
    int total = dt_code_argument_slots(code);
    int at_star = argcount + dt_code_kwonlyargcount(code);
    bool star = (dt_code_flags(code) & CO_VARARGS) != 0;
    bool starstar = (dt_code_flags(code) & CO_VARKEYWORDS) != 0;
    memset(slots, 0, sizeof(PyObject *) * (size_t)total);
    if (nargs > argcount && !star) {
        return DT_BIND_NO_FIT;
    }
    for (Py_ssize_t i = 0; i < nargs && i < argcount; i++) {
        slots[i] = args[i];
    }
    DtBind answer = DT_BIND_OK;
    if (star) {
        Py_ssize_t rest = nargs > argcount ? nargs - argcount : 0;
        PyObject *tuple = PyTuple_New(rest);
        for (Py_ssize_t i = 0; tuple != NULL && i < rest; i++) {
            Py_INCREF(args[argcount + i]);
            PyTuple_SET_ITEM(tuple, i, args[argcount + i]);
        }
        slots[at_star] = tuple;
        answer = tuple != NULL ? DT_BIND_OK : DT_BIND_ERROR;
    }
    PyObject *extra = NULL;
    if (starstar && answer == DT_BIND_OK) {
        extra = slots[at_star + star] = PyDict_New();
        answer = extra != NULL ? DT_BIND_OK : DT_BIND_ERROR;
    }
    if (kwnames != NULL && answer == DT_BIND_OK) {
        answer =
            bind_keywords(code, dt_code_posonlyargcount(code), args + nargs, kwnames, slots, extra);
    }
    if (answer == DT_BIND_OK && !bind_defaults(function, code, 0, slots)) {
        answer = DT_BIND_NO_FIT;
    }
    if (answer != DT_BIND_OK) {
        dt_bind_release(function, slots);
    }
    return answer;
}

void
dt_bind_release(PyFunctionObject *function, PyObject **slots)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    int total = dt_code_argument_slots(code);
    for (int i = dt_code_argcount(code) + dt_code_kwonlyargcount(code); i < total; i++) {
        Py_CLEAR(slots[i]);
    }
}

/* ---- The reverse ----------------------------------------------------------------------------- */

/* Arguments in a row, as a call takes them. */
typedef struct Row {
    PyObject **values;
    Py_ssize_t npos, nkw;
    PyObject *kwnames; /* DT_OWNED or NULL */
} Row;

#define ROW_LENGTH 16

static bool
fill_row(Row *row, PyCodeObject *code, PyObject *const *slots)
{
    int flags = dt_code_flags(code), named = dt_code_argcount(code);
    int nkwonly = dt_code_kwonlyargcount(code), rest = named + nkwonly;
    PyObject *args = flags & CO_VARARGS ? slots[rest++] : NULL;
    PyObject *kwargs = flags & CO_VARKEYWORDS ? slots[rest] : NULL;
    PyObject *varnames = dt_function_parameter_names(code), *name, *value;
    Py_ssize_t nargs = args != NULL ? PyTuple_GET_SIZE(args) : 0, at = 0;
    row->npos = named + nargs;
    row->nkw = nkwonly + (kwargs != NULL ? PyDict_GET_SIZE(kwargs) : 0);
    if (row->npos + row->nkw > ROW_LENGTH) {
        row->values = PyMem_New(PyObject *, row->npos + row->nkw);
    }
    row->kwnames = row->nkw > 0 ? PyTuple_New(row->nkw) : NULL;
    if (row->values == NULL || (row->nkw > 0 && row->kwnames == NULL)) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(row->values, slots, sizeof(PyObject *) * (size_t)named);
    for (Py_ssize_t i = 0; i < nargs; i++) {
        row->values[named + i] = PyTuple_GET_ITEM(args, i);
    }
    PyObject **keywords = row->values + row->npos;
    Py_ssize_t count = 0;
    for (int i = 0; i < nkwonly; i++) {
        name = PyTuple_GET_ITEM(varnames, named + i);
        keywords[count] = slots[named + i];
        PyTuple_SET_ITEM(row->kwnames, count++, Py_NewRef(name));
    }
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
        keywords[count] = value;
        PyTuple_SET_ITEM(row->kwnames, count++, Py_NewRef(name));
    }
    return true;
}

PyObject *
dt_bind_call(PyObject *function, PyCodeObject *code, PyObject *const *slots)
{
    vectorcallfunc call = ((PyFunctionObject *)function)->vectorcall;
    if (dt_code_argument_slots(code) == dt_code_argcount(code)) {
        return call(function, slots, (size_t)dt_code_argcount(code), NULL);
    }
    PyObject *few[ROW_LENGTH], *answer = NULL;
    Row row = {.values = few};
    if (fill_row(&row, code, slots)) {
        answer = call(function, row.values, (size_t)row.npos, row.kwnames);
    }
    Py_XDECREF(row.kwnames);
    if (row.values != few) {
        PyMem_Free(row.values);
    }
    return answer;
}
