/* The end of the interpreter: nothing can be imported any more, and modules lose their names. */
#ifndef DT_COMPAT_FINALIZING_H
#define DT_COMPAT_FINALIZING_H

#include <stdbool.h>

#include "compat/python.h"

static inline bool
dt_is_finalizing(void)
{
#if DT_PY_AT_LEAST(3, 13)
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

#endif
