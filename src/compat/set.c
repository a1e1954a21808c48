/* Reading the tables of sets: see set.h. */
#include "compat/set.h"

static char
state_of(const setentry *entry)
{
    return entry->key == NULL ? 0 : entry->hash == -1 ? 1 : 2;
}

PyObject *
dt_set_slots(PyObject *set)
{
    PySetObject *so = (PySetObject *)set;
    PyObject *slots = PyBytes_FromStringAndSize(NULL, so->mask + 1);
    for (Py_ssize_t i = 0; slots != NULL && i <= so->mask; i++) {
        PyBytes_AS_STRING(slots)[i] = state_of(&so->table[i]);
    }
    return slots;
}

PyObject *
dt_set_clone(PyObject *set, PyTypeObject *cls)
{
    const PySetObject *from = (PySetObject *)set;
    PySetObject *made =
        (PySetObject *)(cls == &PyFrozenSet_Type ? PyFrozenSet_New(NULL) : PySet_New(NULL));
    if (made == NULL) {
        return NULL;
    }
    size_t size = (size_t)from->mask + 1;
    if (size > PySet_MINSIZE) {
        setentry *table = PyMem_New(setentry, size);
        if (table == NULL) {
            Py_DECREF(made);
            return PyErr_NoMemory();
        }
        made->table = table;
    }
    for (size_t i = 0; i < size; i++) {
        made->table[i] = from->table[i];
        if (state_of(&made->table[i]) == 2) {
            Py_INCREF(made->table[i].key);
        }
    }
    made->fill = from->fill;
    made->used = from->used;
    made->mask = from->mask;
    made->finger = from->finger;
    return (PyObject *)made;
}

bool
dt_set_has_slots(PyObject *set, PyObject *slots)
{
    PySetObject *so = (PySetObject *)set;
    if (PyBytes_GET_SIZE(slots) != so->mask + 1) {
        return false;
    }
    const char *states = PyBytes_AS_STRING(slots);
    for (Py_ssize_t i = 0; i <= so->mask; i++) {
        if (states[i] != state_of(&so->table[i])) {
            return false;
        }
    }
    return true;
}
