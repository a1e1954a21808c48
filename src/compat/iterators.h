/* Putting a builtin iterator where another one stood.
 *
 * Rewritten code calls the function below to make an iterator of the type and at the position that
 * one made in a trace has reached.
 */
#ifndef DT_COMPAT_ITERATORS_H
#define DT_COMPAT_ITERATORS_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

/* restore(subject, reversed, index): iter(subject) or reversed(subject), moved to `index`, which
 * counts as its __setstate__ does, or as steps where it has none; None: exhausted.  The subject is
 * an exact builtin container, or a view of a dict; none of the user's code runs.  A builtin
 * function, or NULL with an exception. */
DT_BORROWED PyObject *dt_iterators_restore(void);

/* Whether hooks are set that are told of asynchronous generators (sys.set_asyncgen_hooks). */
bool dt_iterators_asyncgen_hooked(void);

#endif
