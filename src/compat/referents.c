/* See referents.h.
 *
 * Invariant: a mapping proxy is laid out alike on all versions (a head and one reference); C has no
 * name for it.
 */
#include "compat/referents.h"

typedef struct ProxyLayout {
    PyObject_HEAD PyObject *mapping;
} ProxyLayout;

static PyObject *
behind_weak(PyObject *reference)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *object = NULL;
    if (PyWeakref_GetRef(reference, &object) <= 0) {
        PyErr_Clear(); /* no weak reference: the caller has asked */
        return Py_None;
    }
    Py_DECREF(object); /* whoever keeps it alive still does: it lives, and the GIL is ours */
    return object;
#else
    return PyWeakref_GET_OBJECT(reference);
#endif
}

PyObject *
dt_referents_missing(void)
{
    static PyObject *missing; /* kept by the process */
    if (missing == NULL) {
        missing = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
        PyErr_Clear(); /* no memory: nothing is known of context variables this time */
    }
    return missing;
}

static PyObject *
in_context(PyObject *variable)
{
    PyObject *missing = dt_referents_missing(), *value = NULL;
    if (missing == NULL || PyContextVar_Get(variable, missing, &value) < 0) {
        PyErr_Clear(); /* no memory: the caller does without */
        return NULL;
    }
    Py_DECREF(value); /* the context has another reference */
    return value;
}

PyObject *
dt_referents_get(PyObject *object)
{
    if (PyContextVar_CheckExact(object)) {
        return in_context(object);
    }
    if (PyWeakref_CheckRef(object)) {
        return behind_weak(object);
    }
    return Py_IS_TYPE(object, &PyDictProxy_Type) ? ((ProxyLayout *)object)->mapping : NULL;
}

static PyObject *
referent(PyObject *self, PyObject *object)
{
    (void)self;
    PyObject *found = dt_referents_get(object);
    if (found == NULL) {
        PyErr_SetString(PyExc_TypeError, "no weak reference, mapping proxy or context variable");
        return NULL;
    }
    return Py_NewRef(found);
}

DT_BORROWED PyObject *
dt_referents_function(void)
{
    static PyObject *function;
    static PyMethodDef method = {"referent", referent, METH_O, NULL};
    return function != NULL ? function : (function = PyCFunction_New(&method, NULL));
}
