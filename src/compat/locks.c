/* See locks.h.  Mirrors lockobject and rlockobject of Modules/_threadmodule.c.  Where the parts lie
 * is tried out once, on locks of our own. */
#include "compat/locks.h"

#include "compat/import.h"

typedef struct Lock {
    PyObject_HEAD void *lock;
    PyObject *weakrefs;
    char locked;
} Lock;

typedef struct RLock {
    PyObject_HEAD void *lock;
    unsigned long owner;
    unsigned long count;
} RLock;

enum { LOCK, RLOCK, KINDS };

static bool
is_free(int kind, PyObject *lock)
{
    return kind == LOCK ? ((Lock *)lock)->locked == 0 : ((RLock *)lock)->count == 0;
}

/* Is a lock seen as free exactly while it is not held?  -1 with an exception. */
static int
try_out(int kind, PyObject *lock)
{
    bool before = is_free(kind, lock);
    PyObject *taken = PyObject_CallMethod(lock, "acquire", NULL);
    bool held = taken != NULL && !is_free(kind, lock);
    PyObject *left = taken != NULL ? PyObject_CallMethod(lock, "release", NULL) : NULL;
    int told = left != NULL ? before && held && is_free(kind, lock) : -1;
    Py_XDECREF(taken);
    Py_XDECREF(left);
    return told;
}

/* The type of that kind if its parts lie where this file takes them to be, or NULL; kept by the
 * process. */
static PyTypeObject *
find_type(int kind)
{
    PyObject *maker = dt_import_attr("_thread", kind == LOCK ? "allocate_lock" : "RLock");
    PyObject *lock = maker != NULL ? PyObject_CallNoArgs(maker) : NULL;
    PyTypeObject *type = lock != NULL ? Py_TYPE(lock) : NULL;
    size_t size = kind == LOCK ? sizeof(Lock) : sizeof(RLock);
    bool fits = type != NULL && type->tp_basicsize >= (Py_ssize_t)size && try_out(kind, lock) > 0;
    PyErr_Clear(); /* whatever went wrong, locks are not looked at */
    type = fits ? (PyTypeObject *)Py_NewRef((PyObject *)type) : NULL;
    Py_XDECREF(lock);
    Py_XDECREF(maker);
    return type;
}

bool
dt_lock_is_free(PyObject *lock)
{
    static PyTypeObject *types[KINDS];
    static bool tried;
    if (!tried) {
        tried = true;
        types[LOCK] = find_type(LOCK);
        types[RLOCK] = find_type(RLOCK);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (Py_TYPE(lock) == types[kind]) {
            return is_free(kind, lock);
        }
    }
    return false;
}
