/* What functools.lru_cache() keeps, read without calling anything.
 *
 * Only keys are looked up that no Python code hashes or compares, so no user code runs and no count
 * changes.  Not in here: writing; a hit is made by calling the function.
 */
#ifndef DT_COMPAT_LRU_CACHE_H
#define DT_COMPAT_LRU_CACHE_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

/* Finds the type and checks that it is laid out as this file knows it: 0, or -1 with an exception.
 */
int dt_lru_cache_init(void);

/* Whether the object is a cached function (of exactly that type). */
bool dt_lru_cache_is(PyObject *object);

/* The key under which results for these arguments are kept, of which the last ones have the names
 * (two tuples; NULL: none has): a new reference, or NULL without an exception when the function
 * keeps nothing. */
DT_OWNED PyObject *dt_lru_cache_key(PyObject *function, PyObject *args, PyObject *kwnames);

/* The result that is kept under the key, borrowed, or NULL: none, or that can't be told. */
PyObject *dt_lru_cache_find(PyObject *function, PyObject *key);

/* call(function, kwnames, *arguments) for rewritten code: a call of which the last arguments have
 * the names.  A builtin function, or NULL with an exception. */
DT_BORROWED PyObject *dt_lru_cache_caller(void);

/* find(function, key) for rewritten code: the result, or KeyError.  A builtin function, or NULL
 * with an exception. */
DT_BORROWED PyObject *dt_lru_cache_finder(void);

#endif
