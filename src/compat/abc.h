/* Abstract base classes as CPython's _abc keeps them: what they remember of the
 * classes that they were asked about, and the number that registrations change.
 *
 * No user code runs; a class whose own type compares or hashes it in Python is
 * not looked for.
 */
#ifndef DT_COMPAT_ABC_H
#define DT_COMPAT_ABC_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"

/* Finds the module; -1 with an exception. */
int dt_abc_init(void);

/* What abc.get_cache_token() gives: another number after each ABC.register().  -1: it can't be told
 * (no error is set). */
int64_t dt_abc_token(void);

/* What the abstract class `cls` remembers about `type`: 1 and 0 are what issubclass() says, -1:
 * nothing that is still good.  -2 with an exception. */
int dt_abc_remembers(PyObject *cls, PyTypeObject *type);

/* The classes that were registered with it: a list, or NULL with an exception. */
PyObject *dt_abc_registered(PyObject *cls);

#endif
