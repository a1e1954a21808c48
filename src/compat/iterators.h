/* Putting a builtin iterator where another one stood.
 *
 * Rewritten code calls the function below to make an iterator of the type and at the position that
 * one made in a trace has reached.
 */
#ifndef DT_COMPAT_ITERATORS_H
#define DT_COMPAT_ITERATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/status.h"

/* restore(subject, reversed, index): iter(subject) or reversed(subject), moved to `index`, which
 * counts as its __setstate__ does, or as steps where it has none; None: exhausted.  The subject is
 * an exact builtin container, a view of a dict or an array; none of the user's code runs.  A
 * builtin function, or NULL with an exception. */
DT_BORROWED PyObject *dt_iterators_restore(void);

/* Finds the types that are not named by the C API: 0, or -1 with an exception. */
int dt_iterators_init(void);

/* The list or tuple (exact) under an iterator that was not started, borrowed; else NULL. */
PyObject *dt_iterators_fresh(PyObject *iterator);

/* What an iterator that reads items by index walks over, and the index; false: it is of another
 * type, or exhausted.  Lists, tuples, and what has __getitem__ only. */
bool dt_iterators_walk(PyObject *iterator, PyObject **sequence, Py_ssize_t *index);
/* Such an iterator goes on there. */
void dt_iterators_walk_to(PyObject *iterator, Py_ssize_t index);

/* What an itertools.count gives next, if it counts plain ints one by one. */
bool dt_iterators_count(PyObject *count, int64_t *value);

/* For rewritten code: fresh(iterator), count(count), advance(iterator, steps); the steps of the
 * last end where the iterator does, and what they give is dropped.  Builtin functions, or NULL with
 * an exception. */
DT_BORROWED PyObject *dt_iterators_fresh_function(void);
DT_BORROWED PyObject *dt_iterators_count_function(void);
DT_BORROWED PyObject *dt_iterators_advance(void);

/* Whether hooks are set that are told of asynchronous generators (sys.set_asyncgen_hooks). */
bool dt_iterators_asyncgen_hooked(void);
/* Whether coroutines remember who has made them (sys.set_coroutine_origin_tracking_depth). */
bool dt_iterators_origins_tracked(void);

#endif
