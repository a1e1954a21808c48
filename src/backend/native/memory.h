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

enum { DT_MEMORY_IMAGE_NDIM = 8 };

/* What arrays of one shape have in common. */
typedef struct DtMemoryImage {
    npy_intp bytes;                             /* of their memory; 0: NumPy is to make them */
    PyArrayObject_fields array;                 /* its descr is DT_BORROWED */
    npy_intp lengths[2 * DT_MEMORY_IMAGE_NDIM]; /* shape, then strides */
} DtMemoryImage;

void dt_memory_image(DtMemoryImage *image, PyArray_Descr *descr, int ndim, const npy_intp *shape,
                     bool fortran);
/* NumPy's own handler, if it is in force, for arrays of a moment.  NULL without an exception: NumPy
 * is to make arrays. */
DT_OWNED PyObject *dt_memory_handler(void);
/* NULL without an exception: as before. */
DT_OWNED PyObject *dt_memory_new_like(const DtMemoryImage *image, PyObject *handler);

#endif
