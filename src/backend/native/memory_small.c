/* New arrays of numbers whose memory is NumPy's: what PyArray_NewFromDescr makes, in less time than
 * it takes to find out that nothing special is wanted.
 *
 *   object     as PyArray_Type.tp_alloc allocates it
 *   data       from the current handler, seen by tracemalloc
 *   shape      in one block with the strides, which NumPy's deallocator frees or keeps
 *
 * All of that is in NumPy's headers.  Where the program has set a handler of its own, NumPy makes
 * the array.
 */
#include "backend/native/memory.h"

enum {
    MAX_NDIM = 8,
    FLAGS = NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE,
    BOTH = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS,
};

/* NumPy's handler, where arrays are what this file takes them for; or NULL. */
static const PyDataMem_Handler *
find_default(void)
{
    bool known = PyArray_Type.tp_basicsize == sizeof(PyArrayObject_fields)
                 && PyArray_Type.tp_alloc == PyType_GenericAlloc
                 && !PyType_HasFeature(&PyArray_Type, Py_TPFLAGS_HAVE_GC)
                 && PyCapsule_IsValid(PyDataMem_DefaultHandler, "mem_handler");
    return known ? PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler") : NULL;
}

/* Dense strides in that order; the flags that follow. */
static inline int
fill_strides(PyArrayObject_fields *array, npy_intp size, bool fortran)
{
    int ndim = array->nd, long_axes = 0;
    for (int i = 0; i < ndim; i++) {
        int axis = fortran ? i : ndim - 1 - i;
        array->strides[axis] = size;
        size *= array->dimensions[axis];
        long_axes += array->dimensions[axis] != 1;
    }
    return long_axes <= 1 ? BOTH : fortran ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS;
}

PyObject *
dt_memory_new_small(PyArray_Descr *descr, int ndim, const npy_intp *shape, npy_intp bytes,
                    bool fortran)
{
    static const PyDataMem_Handler *usual;
    static bool looked;
    if (DT_UNLIKELY(!looked)) {
        looked = true;
        usual = find_default();
    }
    if (usual == NULL || ndim < 1 || ndim > MAX_NDIM || bytes <= 0
        || !(PyTypeNum_ISNUMBER(descr->type_num) || descr->type_num == NPY_BOOL)) {
        return NULL;
    }
    PyObject *handler = PyDataMem_GetHandler();
    if (handler != PyDataMem_DefaultHandler) {
        Py_XDECREF(handler);
        return NULL;
    }
    void *data = usual->allocator.malloc(usual->allocator.ctx, (size_t)bytes);
    npy_intp *dimensions = PyDimMem_NEW(2 * (size_t)ndim);
    PyArrayObject_fields *array = PyObject_Malloc(sizeof(PyArrayObject_fields));
    if (DT_UNLIKELY(data == NULL || dimensions == NULL || array == NULL)) {
        usual->allocator.free(usual->allocator.ctx, data, (size_t)bytes);
        PyDimMem_FREE(dimensions);
        PyObject_Free(array);
        Py_DECREF(handler);
        return NULL;
    }
    (void)PyTraceMalloc_Track(DT_MEMORY_TRACE_DOMAIN, (uintptr_t)data, (size_t)bytes);
    *array = (PyArrayObject_fields){
        .data = data,
        .nd = ndim,
        .dimensions = dimensions,
        .strides = dimensions + ndim,
        .descr = (PyArray_Descr *)Py_NewRef(descr),
        .mem_handler = handler,
    };
    for (int i = 0; i < ndim; i++) {
        dimensions[i] = shape[i];
    }
    array->flags = FLAGS | fill_strides(array, PyDataType_ELSIZE(descr), fortran);
    return PyObject_Init((PyObject *)array, &PyArray_Type);
}
