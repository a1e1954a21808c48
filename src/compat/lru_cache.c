/* Mirrors the layout of the C type behind functools.lru_cache() (Modules/_functoolsmodule.c), which
 * is the same in 3.10 to 3.13: a dict from keys to results, or to links of a ring that hold them
 * when the size is limited.
 */
#include "compat/lru_cache.h"

#include "compat/dict.h"
#include "compat/object.h"

typedef struct Link {
    PyObject_HEAD struct Link *previous, *next;
    Py_hash_t hash;
    PyObject *key;
    PyObject *result;
} Link;

typedef struct Cached {
    Link root; /* of the ring; its head is the function's own */
    void *wrapper;
    int typed;
    PyObject *cache;
    Py_ssize_t hits;
    PyObject *func;
    Py_ssize_t maxsize; /* 0: keeps nothing; -1: keeps everything */
    Py_ssize_t misses;
    PyObject *kwd_mark;
    PyTypeObject *link_type;
    PyObject *cache_info_type;
    PyObject *dict;
    PyObject *weakreflist;
} Cached;

static PyTypeObject *cached_type; /* kept for the life of the process; NULL: laid out otherwise */

int
dt_lru_cache_init(void)
{
    if (cached_type != NULL) {
        return 0;
    }
    PyObject *type = dt_import_attr("_functools", "_lru_cache_wrapper");
    if (type == NULL) {
        return -1;
    }
    if (PyType_Check(type) && ((PyTypeObject *)type)->tp_basicsize == (Py_ssize_t)sizeof(Cached)) {
        cached_type = (PyTypeObject *)type;
        return 0;
    }
    Py_DECREF(type);
    return 0;
}

bool
dt_lru_cache_is(PyObject *object)
{
    return cached_type != NULL && Py_IS_TYPE(object, cached_type);
}

DT_OWNED PyObject *
dt_lru_cache_key(PyObject *function, PyObject *args)
{
    const Cached *self = (const Cached *)function;
    PyObject *key = args;
    if (self->typed || self->maxsize == 0) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(args) == 1) {
        PyObject *only = PyTuple_GET_ITEM(args, 0);
        key = PyUnicode_CheckExact(only) || PyLong_CheckExact(only) ? only : args;
    }
    Py_INCREF(key);
    return key;
}

PyObject *
dt_lru_cache_find(PyObject *function, PyObject *key)
{
    const Cached *self = (const Cached *)function;
    PyObject *found;
    if (!dt_lru_cache_is(function) || self->cache == NULL || !PyDict_CheckExact(self->cache)
        || dt_dict_get(self->cache, key, &found) != 1) {
        return NULL;
    }
    return self->maxsize < 0                    ? found
           : Py_IS_TYPE(found, self->link_type) ? ((Link *)found)->result
                                                : NULL;
}

static PyObject *
find(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    PyObject *found = count == 2 ? dt_lru_cache_find(args[0], args[1]) : NULL;
    if (found == NULL) {
        PyErr_SetString(PyExc_KeyError, "a cached result has gone");
        return NULL;
    }
    Py_INCREF(found);
    return found;
}

DT_BORROWED PyObject *
dt_lru_cache_finder(void)
{
    static PyObject *function; /* kept for the life of the process */
    static PyMethodDef method = {"find_cached", (PyCFunction)(void (*)(void))find, METH_FASTCALL,
                                 NULL};
    if (function == NULL) {
        function = PyCFunction_New(&method, NULL);
    }
    return function;
}
