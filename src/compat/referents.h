/* What an object of C shows without owning up to it: the object of a weak reference, the mapping
 * behind a mapping proxy, what the current context holds for a context variable.
 */
#ifndef DT_COMPAT_REFERENTS_H
#define DT_COMPAT_REFERENTS_H

#include "compat/python.h"
#include "core/status.h"

/* Of a weak reference: its object, or None when that is dead; of a mapping proxy: its mapping; of a
 * context variable: its value, without any default, or dt_referents_missing(); of anything else
 * NULL without an exception.  Borrowed: from the object, from whoever keeps what the reference
 * refers to, or from the context.  No user code runs. */
DT_BORROWED PyObject *dt_referents_get(PyObject *object);

/* What stands for the value of a context variable that has none; no program has it.  NULL: no
 * memory.
 */
DT_BORROWED PyObject *dt_referents_missing(void);

/* referent(object) for rewritten code: a builtin function, or NULL with an exception. */
DT_BORROWED PyObject *dt_referents_function(void);

#endif
