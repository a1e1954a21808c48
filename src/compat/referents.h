/* What an object of C shows without owning up to it: the object of a weak reference, the mapping
 * behind a mapping proxy.
 */
#ifndef DT_COMPAT_REFERENTS_H
#define DT_COMPAT_REFERENTS_H

#include "compat/python.h"
#include "core/status.h"

/* Of a weak reference: its object, or None when that is dead; of a mapping proxy: its mapping; of
 * anything else NULL without an exception.  Borrowed: from the object, or from whoever keeps what
 * the reference refers to.  No user code runs. */
DT_BORROWED PyObject *dt_referents_get(PyObject *object);

/* referent(object) for rewritten code: a builtin function, or NULL with an exception. */
DT_BORROWED PyObject *dt_referents_function(void);

#endif
