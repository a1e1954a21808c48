/* What writing and reading of guard programs share: objects by where they are defined, marshal. */
#include "guards/portable.h"

#include "compat/import.h"

/* A str attribute of a class, function or other definition; "" if there is none. */
static PyObject *
text_attr(PyObject *object, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *value = key == NULL ? NULL : PyObject_GetAttr(object, key);
    Py_XDECREF(key);
    if (value == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return NULL;
        }
        PyErr_Clear(); /* an object without a name of its own is described by its type */
    }
    if (value == NULL || !PyUnicode_CheckExact(value)) {
        Py_XDECREF(value);
        value = PyUnicode_FromString("");
    }
    return value;
}

PyObject *
dt_portable_reference(PyObject *object)
{
    PyObject *module = NULL, *name = NULL, *result = NULL;
    bool is_module = PyModule_Check(object);
    module = text_attr(object, is_module ? "__name__" : "__module__");
    if (module == NULL) {
        goto done;
    }
    name = is_module ? PyUnicode_FromString("") : text_attr(object, "__qualname__");
    if (name != NULL && !is_module && PyUnicode_GET_LENGTH(name) == 0) {
        Py_SETREF(name, text_attr(object, "__name__"));
    }
    if (name != NULL) {
        result = Py_BuildValue("(OOs)", module, name, Py_TYPE(object)->tp_name);
    }
done:
    Py_XDECREF(module);
    Py_XDECREF(name);
    return result;
}

/* 1 if the object fits the description, 0, -1 with an error. */
static int
fits_reference(PyObject *object, PyObject *reference)
{
    PyObject *own = dt_portable_reference(object);
    if (own == NULL) {
        return -1;
    }
    int same = PyObject_RichCompareBool(own, reference, Py_EQ);
    Py_DECREF(own);
    return same;
}

/* What is defined under that name now: a new reference, or NULL without an error. */
static PyObject *
find_by_name(PyObject *reference)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *found = PyDict_GetItemWithError(modules, PyTuple_GET_ITEM(reference, 0));
    PyObject *parts = NULL;
    Py_XINCREF(found);
    if (found != NULL && PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(reference, 1)) != 0) {
        PyObject *dot = PyUnicode_FromString(".");
        if (dot != NULL) {
            parts = PyUnicode_Split(PyTuple_GET_ITEM(reference, 1), dot, -1);
            Py_DECREF(dot);
        }
        for (Py_ssize_t i = 0; parts != NULL && found != NULL && i < PyList_GET_SIZE(parts); i++) {
            Py_SETREF(found, PyObject_GetAttr(found, PyList_GET_ITEM(parts, i)));
        }
    }
    Py_XDECREF(parts);
    if (PyErr_Occurred()) {
        PyErr_Clear(); /* not defined there (any more): the caller reports it */
    }
    return found;
}

PyObject *
dt_portable_resolve(PyObject *reference, PyObject *candidate)
{
    if (!PyTuple_Check(reference) || PyTuple_GET_SIZE(reference) != 3
        || !PyUnicode_Check(PyTuple_GET_ITEM(reference, 0))
        || !PyUnicode_Check(PyTuple_GET_ITEM(reference, 1))) {
        PyErr_SetString(PyExc_ValueError, "guard bytes are damaged: not a reference to an object");
        return NULL;
    }
    if (candidate != NULL) {
        int fits = fits_reference(candidate, reference);
        if (fits != 0) {
            return fits < 0 ? NULL : Py_NewRef(candidate);
        }
    }
    PyObject *found = find_by_name(reference);
    if (found != NULL) {
        int fits = fits_reference(found, reference);
        if (fits == 1) {
            return found;
        }
        Py_DECREF(found);
        if (fits < 0) {
            return NULL;
        }
    }
    PyErr_Format(PyExc_ValueError, "guards rely on an object that is not here: %R", reference);
    return NULL;
}

PyObject *
dt_portable_marshal(const char *name, DT_STEALS PyObject *args)
{
    PyObject *function = args != NULL ? dt_import_attr("marshal", name) : NULL;
    PyObject *result = function != NULL ? PyObject_CallObject(function, args) : NULL;
    Py_XDECREF(function);
    Py_XDECREF(args);
    return result;
}
