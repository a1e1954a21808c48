/* Locks of `threading`, looked at without taking them. */
#ifndef DT_COMPAT_LOCKS_H
#define DT_COMPAT_LOCKS_H

#include "compat/python.h"
#include <stdbool.h>

/* Nobody holds this Lock or RLock.  False, too, where that can't be told.  No error is set, no code
 * of a program runs. */
bool dt_lock_is_free(PyObject *lock);

#endif
