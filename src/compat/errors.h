/* How a function answers that CPython has no memory for it. */
#ifndef DT_COMPAT_ERRORS_H
#define DT_COMPAT_ERRORS_H

#include "compat/python.h"
#include "core/status.h"

/* Sets MemoryError and returns DT_ERROR. */
static inline DtStatus
dt_no_memory(void)
{
    PyErr_NoMemory();
    return DT_ERROR;
}

#endif
