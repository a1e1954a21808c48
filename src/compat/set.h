/* Sets and frozensets, read without running user code: their tables.
 *
 * A table slot is free, was freed (a dummy, which only counts for later
 * collisions), or holds an element.  The order of iteration is that of the
 * slots.
 *
 * Results are borrowed and no error is set unless said.  Not in here: writing.
 */
#ifndef DT_COMPAT_SET_H
#define DT_COMPAT_SET_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

/* The next element in order; *slot begins at 0.  The set must not change meanwhile. */
static inline bool
dt_set_next(PyObject *set, Py_ssize_t *slot, PyObject **key)
{
    PySetObject *so = (PySetObject *)set;
    for (; *slot <= so->mask; (*slot)++) {
        setentry *entry = &so->table[*slot];
        if (entry->key != NULL && entry->hash != -1) { /* -1: a dummy */
            *key = entry->key;
            (*slot)++;
            return true;
        }
    }
    return false;
}

/* What each slot is: a new bytes object of 0 (free), 1 (a dummy), 2 (an element); NULL with
 * MemoryError. */
PyObject *dt_set_slots(PyObject *set);

/* A new set or frozenset (`cls`) with the very table of another one, which may be of a subclass;
 * NULL with MemoryError.  set.copy() packs it. */
DT_OWNED PyObject *dt_set_clone(PyObject *set, PyTypeObject *cls);

/* Whether the slots are these. */
bool dt_set_has_slots(PyObject *set, PyObject *slots);

#endif
