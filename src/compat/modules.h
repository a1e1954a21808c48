/* Modules as sys.modules has them, looked at without importing anything.
 *
 * A module lies in sys.modules from the moment at which its code begins to run; until it ends, its
 * spec says `_initializing`, names are missing from it, and an import of it from another thread
 * waits.  Nothing here waits, runs user code or sets an error.
 */
#ifndef DT_COMPAT_MODULES_H
#define DT_COMPAT_MODULES_H

#include <stdbool.h>

#include "compat/python.h"

/* Whether this module's code is running just now, in any thread. */
bool dt_modules_is_initializing(PyObject *module);

/* The same for the module that sys.modules has by this name; false if it has none. */
bool dt_modules_name_is_initializing(PyObject *name);

/* Whether somebody goes through sys.modules just now, in any thread: an import of something new
 * would end that with an error which the program does not have. */
bool dt_modules_are_walked(void);

#endif
