/* NumPy's C API for the adapter and for the native backend.
 *
 * One translation unit (api.c) holds the two function tables; all others include this file and
 * share them.  Nothing of NumPy is called before dt_numpy_import() has returned 0.
 */
#ifndef DT_ADAPTERS_NUMPY_API_H
#define DT_ADAPTERS_NUMPY_API_H

#include <stdbool.h>

#include "compat/python.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dt_numpy_array_api
#define PY_UFUNC_UNIQUE_SYMBOL dt_numpy_ufunc_api
#ifndef DT_NUMPY_API_HERE
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>
#pragma GCC diagnostic pop

/* What PyArray_GetNDArrayCFeatureVersion() gives from NumPy 2.3 on. */
#define DT_NP_API_OF_2_3 0x14

/* NumPy's own flag for results of broadcast_arrays(): the first write to them warns. */
static inline bool
dt_np_warns_on_write(PyArrayObject *array)
{
    return ((unsigned)PyArray_FLAGS(array) >> 31) != 0;
}

/* Fills the tables, which costs what `import numpy` costs; may be called again.  -1 with an
 * exception. */
int dt_numpy_import(void);
/* The same, and registers the adapters. */
int dt_numpy_init(void);

#endif
