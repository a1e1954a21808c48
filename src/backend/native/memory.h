/* Between the files that make new arrays: memory.c, memory_small.c. */
#ifndef DT_BACKEND_NATIVE_MEMORY_H
#define DT_BACKEND_NATIVE_MEMORY_H

#include "backend/native/native.h"

/* NumPy's, as numpy.lib.tracemalloc_domain says. */
enum { DT_MEMORY_TRACE_DOMAIN = 389047 };

/* A dense array of numbers in C or Fortran order.  NULL without an exception: NumPy is to make it.
 */
DT_OWNED PyObject *dt_memory_new_small(PyArray_Descr *descr, int ndim, const npy_intp *shape,
                                       npy_intp bytes, bool fortran);

#endif
