/* Which way branches on data go: dyntrace._core.guess and look, the callees of graph nodes.
 *
 * Both drop the run that they are part of: what it wrote is taken back, and it reports nothing.
 */
#ifndef DT_BACKEND_GUESSED_H
#define DT_BACKEND_GUESSED_H

#include "core/status.h"
#include "compat/python.h"

/* guess(value, truth) -> truth: raises dt_guessed_other_way where the value has another. */
PyObject *dt_guessed_guess(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
/* look(value, True): notes the truth of the value for dt_guessed_take(), and raises always. */
PyObject *dt_guessed_look(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

extern PyObject *dt_guessed_other_way; /* an exception class that nobody but graphs sees */

/* What this thread has looked at last: 0, 1, or -1 for nothing since the last time. */
int dt_guessed_take(void);

int dt_guessed_init(void); /* at module init; may be called again */

#endif
