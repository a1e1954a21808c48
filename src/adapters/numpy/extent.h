/* Where the memory of an array lies: for the adapter's guards, and for the backend at each call.
 * Who includes this has included NumPy's headers.
 */
#ifndef DT_ADAPTERS_NUMPY_EXTENT_H
#define DT_ADAPTERS_NUMPY_EXTENT_H

#include <stdbool.h>

/* The bytes from *low up to *high hold everything of the array, subclasses included; false: it is
 * no array. No user code. */
static inline bool
dt_np_extent(PyObject *object, const char **low, const char **high)
{
    if (!PyArray_Check(object)) {
        return false;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    *low = PyArray_BYTES(array);
    *high = *low + PyArray_ITEMSIZE(array);
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp steps = PyArray_DIM(array, i) - 1;
        if (steps < 0) {
            *high = *low;
            return true;
        }
        npy_intp reach = steps * PyArray_STRIDE(array, i);
        *(reach < 0 ? low : high) += reach;
    }
    return true;
}

#endif
