/* Proxies of trackers: see proxy.h. */
#include "variables/proxy.h"

#include <string.h>

#include "variables/fold.h"
#include "variables/text.h"

typedef struct Proxy {
    PyObject_HEAD DtProxyRun *run;
    DtVar *var;
} Proxy;

static PyTypeObject plain_type, mapping_type;

static bool
is_proxy(PyObject *object)
{
    return Py_IS_TYPE(object, &plain_type) || Py_IS_TYPE(object, &mapping_type);
}

/* Keeps a status and sets what unwinds the builtin function. */
static PyObject *
unwind(DtProxyRun *run, DtStatus status)
{
    if (run->status == DT_OK) {
        run->status = status;
    }
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_SystemError, "a proxy unwinds");
    }
    return NULL;
}

PyObject *
dt_proxy_new(DtProxyRun *run, DtVar *var)
{
    DtVar *real, *method = NULL;
    DtStatus status = dt_var_realize(run->trace, var, &real);
    bool mapping = false;
    if (status == DT_OK && real->type->kind == DT_KIND_INSTANCE) {
        status = dt_instance_special(run->trace, real, "__getitem__", &method);
        mapping = method != NULL;
    }
    else if (status == DT_OK) {
        mapping = real->type->mp_subscript != NULL;
    }
    if (status != DT_OK) {
        return unwind(run, status);
    }
    Proxy *made = PyObject_New(Proxy, mapping ? &mapping_type : &plain_type);
    if (made == NULL) {
        return unwind(run, DT_ERROR);
    }
    made->run = run;
    made->var = real;
    return (PyObject *)made;
}

PyObject *
dt_proxy_value(DtProxyRun *run, DtVar *var)
{
    PyObject *value;
    DtStatus status = dt_fold_value(run->trace, var, &value);
    if (status != DT_OK) {
        return unwind(run, status);
    }
    return value != NULL ? value : dt_proxy_new(run, var);
}

DtStatus
dt_proxy_finish(DtProxyRun *run)
{
    if (run->status != DT_OK) {
        if (run->status != DT_ERROR) {
            PyErr_Clear(); /* what unwound the builtin function */
        }
        return run->status;
    }
    if (!PyErr_Occurred()) {
        return DT_OK;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    bool names_proxy = text != NULL && strstr(dt_kinds_text(text), plain_type.tp_name) != NULL;
    Py_XDECREF(text);
    PyErr_Restore(type, value, traceback);
    if (names_proxy) {
        PyErr_Clear(); /* a TypeError that names our type instead of the program's */
        return dt_break(run->trace, DT_BREAK_RAISES, "an object is used as it can't be");
    }
    return dt_raise_from_exception(run->trace);
}

/* ---- What a proxy is asked ------------------------------------------------------------------- */

static PyObject *
answer(Proxy *self, DtStatus status, DtVar *const *var)
{
    return status == DT_OK ? dt_proxy_value(self->run, *var) : unwind(self->run, status);
}

/* The builtin function wants a str. */
static PyObject *
answer_text(Proxy *self, DtStatus status, DtVar *const *text)
{
    if (status == DT_OK && (*text)->type->kind == DT_KIND_ARRAY) {
        status = dt_break(self->run->trace, DT_BREAK_ARRAY_TO_SCALAR, "the text of an array");
    }
    return answer(self, status, text);
}

static PyObject *
proxy_repr(PyObject *object)
{
    Proxy *self = (Proxy *)object;
    DtVar *text = NULL;
    return answer_text(self, dt_text_repr(self->run->trace, self->var, &text), &text);
}

static PyObject *
proxy_str(PyObject *object)
{
    Proxy *self = (Proxy *)object;
    DtVar *text = NULL;
    return answer_text(self, dt_text_str(self->run->trace, self->var, &text), &text);
}

static PyObject *
proxy_format(PyObject *object, PyObject *spec)
{
    Proxy *self = (Proxy *)object;
    DtVar *text = NULL, *spec_var = NULL;
    DtStatus status = dt_var_const(self->run->trace, spec, &spec_var);
    if (status == DT_OK) {
        status = dt_text_format(self->run->trace, self->var, spec_var, &text);
    }
    return answer_text(self, status, &text);
}

static PyObject *
proxy_getattro(PyObject *object, PyObject *name)
{
    Proxy *self = (Proxy *)object;
    DtVar *value = NULL;
    PyObject *interned = Py_NewRef(name);
    PyUnicode_InternInPlace(&interned);
    interned = dt_trace_keep_take(self->run->trace, interned);
    DtStatus status =
        interned != NULL ? dt_var_getattr(self->run->trace, self->var, interned, &value) : DT_ERROR;
    return answer(self, status, &value);
}

static PyObject *
proxy_subscript(PyObject *object, PyObject *key)
{
    Proxy *self = (Proxy *)object;
    DtVar *value = NULL, *key_var = NULL;
    DtStatus status = dt_var_const(self->run->trace, key, &key_var);
    if (status == DT_OK) {
        status = dt_var_subscript(self->run->trace, self->var, key_var, &value);
    }
    return answer(self, status, &value);
}

static PyObject *
proxy_richcompare(PyObject *left, PyObject *right, int op)
{
    if (!is_proxy(left) || !is_proxy(right)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    Proxy *self = (Proxy *)left;
    DtTrace *trace = self->run->trace;
    DtVar *result = NULL;
    bool truth = false;
    DtStatus status = dt_var_compare(trace, op, self->var, ((Proxy *)right)->var, &result);
    if (status == DT_OK) {
        status = dt_var_truth(trace, result, &truth);
    }
    return status == DT_OK ? PyBool_FromLong(truth) : unwind(self->run, status);
}

static PyMethodDef proxy_methods[] = {
    {"__format__", proxy_format, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMappingMethods proxy_mapping = {.mp_subscript = proxy_subscript};

static PyTypeObject plain_type = {
    PyVarObject_HEAD_INIT(NULL, 0) /**/
        .tp_name = "dyntrace.proxy",
    .tp_basicsize = sizeof(Proxy),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = proxy_repr,
    .tp_str = proxy_str,
    .tp_getattro = proxy_getattro,
    .tp_richcompare = proxy_richcompare,
    .tp_methods = proxy_methods,
};

static PyTypeObject mapping_type = {
    PyVarObject_HEAD_INIT(NULL, 0) /**/
        .tp_name = "dyntrace.proxy",
    .tp_basicsize = sizeof(Proxy),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = proxy_repr,
    .tp_str = proxy_str,
    .tp_getattro = proxy_getattro,
    .tp_richcompare = proxy_richcompare,
    .tp_methods = proxy_methods,
    .tp_as_mapping = &proxy_mapping,
};

int
dt_proxy_init(void)
{
    return PyType_Ready(&plain_type) < 0 || PyType_Ready(&mapping_type) < 0 ? -1 : 0;
}
