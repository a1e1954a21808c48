/* Bytearrays: is their memory shown by something else, an array or a memoryview, that may write it?
 */
#ifndef DT_COMPAT_BYTEARRAY_H
#define DT_COMPAT_BYTEARRAY_H

#include <stdbool.h>

#include "compat/python.h"

static inline bool
dt_bytearray_is_shared(PyObject *object)
{
    return ((PyByteArrayObject *)object)->ob_exports > 0;
}

#endif
