/* NumPy's C API for the files of the native backend: the adapter's tables of it. */
#ifndef DT_BACKEND_NATIVE_NUMPY_H
#define DT_BACKEND_NATIVE_NUMPY_H

#include "adapters/numpy/api.h"

#endif
