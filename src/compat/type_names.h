/* Who relies on what a name is on a class: look-ups that are told to a listener, and those that
 * are not.
 *
 * dt_type_lookup() and dt_type_own_lookup() (type.h) tell.  Results as there.
 */
#ifndef DT_COMPAT_TYPE_NAMES_H
#define DT_COMPAT_TYPE_NAMES_H

#include "compat/type.h"

/* As dt_type_lookup() and dt_type_own_lookup(), told to nobody: the answer is guarded by itself, or
 * nothing follows from it. */
DT_BORROWED PyObject *dt_type_find(PyTypeObject *type, PyObject *name);
DT_BORROWED PyObject *dt_type_own_find(PyTypeObject *type, PyObject *name);

typedef struct DtTypeListener {
    void (*note)(void *of, PyTypeObject *type, PyObject *name);
    void *of;
} DtTypeListener;
/* Sets this thread's listener and returns the one before; {0}: none. */
DtTypeListener dt_type_listen(DtTypeListener listener);

#endif
