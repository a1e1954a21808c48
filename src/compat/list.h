/* Lists: what list.sort() leaves in them while it runs. */
#ifndef DT_COMPAT_LIST_H
#define DT_COMPAT_LIST_H

#include <stdbool.h>

#include "compat/python.h"

/* Whether list.sort() works on it: it shows an empty list meanwhile, and sees afterwards whether
 * something was done to that, though it was undone. */
static inline bool
dt_list_is_being_sorted(PyObject *list)
{
    return ((PyListObject *)list)->allocated < 0;
}

#endif
