/* NumPy's C API for the files of the native backend: one table of it, imported by
 * dt_native_init() (native.c), apart from the one that the adapter imports. */
#ifndef DT_BACKEND_NATIVE_NUMPY_H
#define DT_BACKEND_NATIVE_NUMPY_H

#include "compat/python.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dt_native_array_api
#define PY_UFUNC_UNIQUE_SYMBOL dt_native_ufunc_api
#ifndef DT_NATIVE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>
#pragma GCC diagnostic pop

#endif
