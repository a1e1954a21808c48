/* An instance with a payload, made again behind the traced part: the code that is emitted calls a
 * function of C with the class and the plain contents, and nothing that the class overrides is
 * asked.
 */
#include "variables/kinds.h"

#include <string.h>

/* The state of a generator of random numbers, out of the bytes that the polyfills keep it as. */
static PyObject *
unpack_state(PyObject *bytes)
{
    Py_ssize_t count = PyBytes_GET_SIZE(bytes) / (Py_ssize_t)sizeof(uint32_t);
    PyObject *state = PyTuple_New(count);
    for (Py_ssize_t i = 0; state != NULL && i < count; i++) {
        uint32_t word;
        memcpy(&word, PyBytes_AS_STRING(bytes) + i * (Py_ssize_t)sizeof(word), sizeof(word));
        PyObject *number = PyLong_FromUnsignedLong(word);
        if (number == NULL) {
            Py_CLEAR(state);
            break;
        }
        PyTuple_SET_ITEM(state, i, number);
    }
    return state;
}

/* rebuild_hidden(cls, contents[, maxlen]) */
static PyObject *
rebuild_hidden(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    PyTypeObject *cls = (PyTypeObject *)args[0], *base = dt_build_layout(cls);
    PyObject *contents = args[1], *none = PyTuple_New(0);
    PyObject *made = base != NULL && none != NULL ? base->tp_new(cls, none, NULL) : NULL;
    Py_XDECREF(none);
    if (made == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "the class has no builtin base any more");
        }
        return NULL;
    }
    int status = 0;
    if (nargs > 2) {
        PyObject *given = PyTuple_Pack(2, contents, args[2]);
        status = given != NULL ? base->tp_init(made, given, NULL) : -1;
        Py_XDECREF(given);
    }
    else if (PyList_GET_SIZE(contents) > 0) {
        PyObject *state = unpack_state(PyList_GET_ITEM(contents, 0));
        PyObject *done = state != NULL
                             ? PyObject_CallMethod((PyObject *)base, "setstate", "OO", made, state)
                             : NULL;
        Py_XDECREF(state);
        Py_XDECREF(done);
        status = done != NULL ? 0 : -1;
    }
    if (status < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyMethodDef rebuild_hidden_def = {"rebuild", (PyCFunction)(void (*)(void))rebuild_hidden,
                                         METH_FASTCALL, NULL};

DtStatus
dt_payload_reconstruct_hidden(DtCodegen *codegen, DtInstanceVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&rebuild_hidden_def, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(dt_codegen_var(codegen, self->cls_var));
    DT_TRY(dt_codegen_var(codegen, self->contents));
    if (self->more != NULL) {
        DT_TRY(dt_codegen_var(codegen, ((DtSeqVar *)self->more)->items[0]));
    }
    return dt_codegen_call(codegen, self->more != NULL ? 3 : 2);
}

/* rebuild(cls, plain): an instance of the subclass with the contents of the plain object, made
 * without asking what the class overrides. */
static PyObject *
rebuild(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "rebuild takes a class and a plain object");
        return NULL;
    }
    PyTypeObject *cls = (PyTypeObject *)args[0];
    PyTypeObject *base = dt_build_layout(cls);
    PyObject *plain = args[1];
    bool fill =
        base != NULL
        && (PyType_IsSubtype(base, &PyDict_Type) || base == &PyList_Type || base == &PySet_Type);
    PyObject *tuple = base == NULL ? NULL : fill ? PyTuple_New(0) : PyTuple_Pack(1, plain);
    PyObject *made = tuple != NULL ? base->tp_new(cls, tuple, NULL) : NULL;
    Py_XDECREF(tuple);
    int status = 0;
    if (made == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "the class has no builtin base any more");
        }
        return NULL;
    }
    if (base == &PyList_Type) {
        status = PyList_SetSlice(made, 0, 0, plain);
    }
    else if (base == &PySet_Type) {
        PyObject *item, *iterator = PyObject_GetIter(plain); /* an exact set: hashes again only */
        status = iterator != NULL ? 0 : -1;
        while (status == 0 && (item = PyIter_Next(iterator)) != NULL) {
            status = PySet_Add(made, item);
            Py_DECREF(item);
        }
        Py_XDECREF(iterator);
    }
    else if (fill) {
        PyObject *key, *value;
        Py_ssize_t pos = 0;
        while (status == 0 && PyDict_Next(plain, &pos, &key, &value)) {
            status = base == &PyODict_Type ? PyODict_SetItem(made, key, value)
                                           : PyDict_SetItem(made, key, value);
        }
    }
    if (status < 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyMethodDef rebuild_def = {"rebuild", (PyCFunction)(void (*)(void))rebuild, METH_FASTCALL,
                                  NULL};

DtStatus
dt_payload_reconstruct(DtCodegen *codegen, DtInstanceVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *function = dt_trace_keep_take(trace, PyCFunction_New(&rebuild_def, NULL));
    if (function == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, function));
    DT_TRY(dt_codegen_var(codegen, self->cls_var));
    DT_TRY(dt_codegen_var(codegen, self->payload));
    return dt_codegen_call(codegen, 2);
}
