/* Mirrors what CPython's Modules/_abc.c remembers, through the functions that it
 * has for debugging (_get_dump) and for those who cache (get_cache_token).
 */
#include "compat/abc.h"

static PyObject *token_function, *dump_function; /* kept for the life of the process */

int
dt_abc_init(void)
{
    if (dump_function != NULL) {
        return 0;
    }
    PyObject *module = PyImport_ImportModule("_abc");
    if (module != NULL) {
        token_function = PyObject_GetAttrString(module, "get_cache_token");
        dump_function = token_function != NULL ? PyObject_GetAttrString(module, "_get_dump") : NULL;
        Py_DECREF(module);
    }
    return dump_function != NULL ? 0 : -1;
}

int64_t
dt_abc_token(void)
{
    /* The C function itself: a guard calls it, and needs no frame. */
    PyObject *number =
        PyCFunction_Check(token_function)
            ? PyCFunction_GET_FUNCTION(token_function)(PyCFunction_GET_SELF(token_function), NULL)
            : NULL;
    int64_t token = number != NULL ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    PyErr_Clear(); /* no memory, or a number of more than 63 bits: it can't be told */
    return token;
}

static bool
is_plain(PyTypeObject *type)
{
    PyTypeObject *meta = Py_TYPE(type);
    return meta->tp_hash == PyType_Type.tp_hash
           && meta->tp_richcompare == PyType_Type.tp_richcompare;
}

/* Whether a set of weak references, whose classes may be gone, has one to the type; -1: exception.
 */
static int
has_reference(PyObject *references, PyTypeObject *type)
{
    if (!PySet_Check(references)) {
        return 0;
    }
    PyObject *reference = PyWeakref_NewRef((PyObject *)type, NULL);
    int found = reference != NULL ? PySet_Contains(references, reference) : -1;
    Py_XDECREF(reference);
    return found;
}

/* (registered, remembered as subclasses, remembered as no subclasses, token of those) */
static PyObject *
dump(PyObject *cls)
{
    PyObject *all = PyObject_CallOneArg(dump_function, cls);
    if (all != NULL && (!PyTuple_CheckExact(all) || PyTuple_GET_SIZE(all) != 4)) {
        Py_CLEAR(all);
        PyErr_SetString(PyExc_SystemError, "_abc._get_dump() gives something else");
    }
    return all;
}

int
dt_abc_remembers(PyObject *cls, PyTypeObject *type)
{
    if (!is_plain(type)) {
        return -1;
    }
    PyObject *all = dump(cls);
    if (all == NULL) {
        return -2;
    }
    int answer = -1;
    int found = has_reference(PyTuple_GET_ITEM(all, 1), type);
    if (found > 0) {
        answer = 1;
    }
    else if (found == 0 && PyLong_AsLongLong(PyTuple_GET_ITEM(all, 3)) == dt_abc_token()) {
        found = has_reference(PyTuple_GET_ITEM(all, 2), type);
        answer = found > 0 ? 0 : -1;
    }
    Py_DECREF(all);
    return found < 0 || PyErr_Occurred() ? -2 : answer;
}

PyObject *
dt_abc_registered(PyObject *cls)
{
    PyObject *all = dump(cls);
    PyObject *list = all != NULL ? PyList_New(0) : NULL;
    PyObject *references = list != NULL ? PySequence_List(PyTuple_GET_ITEM(all, 0)) : NULL;
    for (Py_ssize_t i = 0; references != NULL && i < PyList_GET_SIZE(references); i++) {
        PyObject *found = PyObject_CallNoArgs(PyList_GET_ITEM(references, i));
        if (found == NULL || (found != Py_None && PyList_Append(list, found) < 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(found);
        if (list == NULL) {
            break;
        }
    }
    Py_XDECREF(all);
    if (references == NULL) {
        Py_CLEAR(list);
    }
    Py_XDECREF(references);
    return list;
}
