/* Mirrors the layout of the C type behind functools.lru_cache() (Modules/_functoolsmodule.c), which
 * is the same in 3.10 to 3.13: a dict from keys to results, or to links of a ring that hold them
 * when the size is limited.
 */
#include "compat/lru_cache.h"

#include "compat/dict.h"
#include "compat/import.h"
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

/* arguments, mark, keyword, its value ..., types of all values */
static PyObject *
long_key(const Cached *self, PyObject *args, PyObject *kwnames)
{
    Py_ssize_t all = PyTuple_GET_SIZE(args), at = 0;
    Py_ssize_t nkw = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    Py_ssize_t size = all + (nkw > 0 ? nkw + 1 : 0) + (self->typed ? all : 0);
    PyObject *key = PyTuple_New(size);
    if (key == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < all - nkw; i++) {
        PyTuple_SET_ITEM(key, at++, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    }
    if (nkw > 0) {
        PyTuple_SET_ITEM(key, at++, Py_NewRef(self->kwd_mark));
    }
    for (Py_ssize_t i = 0; i < nkw; i++) {
        PyTuple_SET_ITEM(key, at++, Py_NewRef(PyTuple_GET_ITEM(kwnames, i)));
        PyTuple_SET_ITEM(key, at++, Py_NewRef(PyTuple_GET_ITEM(args, all - nkw + i)));
    }
    for (Py_ssize_t i = 0; self->typed && i < all; i++) {
        PyTuple_SET_ITEM(key, at++, Py_NewRef((PyObject *)Py_TYPE(PyTuple_GET_ITEM(args, i))));
    }
    return key;
}

DT_OWNED PyObject *
dt_lru_cache_key(PyObject *function, PyObject *args, PyObject *kwnames)
{
    const Cached *self = (const Cached *)function;
    PyObject *key = args;
    if (self->maxsize == 0) {
        return NULL;
    }
    if (self->typed || kwnames != NULL) {
        return long_key(self, args, kwnames);
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

/* call(function, names of the last arguments, *arguments) */
static PyObject *
call_by_names(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 2 || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) > count - 2) {
        PyErr_SetString(PyExc_TypeError, "a call without the names of its arguments");
        return NULL;
    }
    return PyObject_Vectorcall(args[0], args + 2, (size_t)(count - 2 - PyTuple_GET_SIZE(args[1])),
                               args[1]);
}

DT_BORROWED PyObject *
dt_lru_cache_caller(void)
{
    static PyObject *function; /* kept for the life of the process */
    static PyMethodDef method = {"call_by_names", (PyCFunction)(void (*)(void))call_by_names,
                                 METH_FASTCALL, NULL};
    if (function == NULL) {
        function = PyCFunction_New(&method, NULL);
    }
    return function;
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
