/* New arrays of numbers whose memory is NumPy's: what PyArray_NewFromDescr makes, in less time than
 * it takes to find out that nothing special is wanted.
 *
 *   object     as PyArray_Type.tp_alloc allocates it
 *   data       from the current handler, seen by tracemalloc
 *   shape      in one block with the strides, which NumPy's deallocator frees or keeps
 *
 * All of that is in NumPy's headers.  Where the program has set a handler of its own, NumPy makes
 * the array.  Of arrays that are made again and again an image is kept, which is copied.
 */
#include <string.h>

#include "backend/native/memory.h"

enum {
    FLAGS = NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE,
    BOTH = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS,
};

static const PyDataMem_Handler *usual; /* NumPy's, where arrays are what this file takes them for */

static const PyDataMem_Handler *
find_default(void)
{
    bool known = PyArray_Type.tp_basicsize == sizeof(PyArrayObject_fields)
                 && PyArray_Type.tp_alloc == PyType_GenericAlloc
                 && !PyType_HasFeature(&PyArray_Type, Py_TPFLAGS_HAVE_GC)
                 && PyCapsule_IsValid(PyDataMem_DefaultHandler, "mem_handler");
    return known ? PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler") : NULL;
}

PyObject *
dt_memory_handler(void)
{
    static bool looked;
    if (DT_UNLIKELY(!looked)) {
        looked = true;
        usual = find_default();
    }
    PyObject *handler = usual != NULL ? PyDataMem_GetHandler() : NULL;
    if (DT_UNLIKELY(usual != NULL && handler != PyDataMem_DefaultHandler)) {
        PyErr_Clear(); /* if it can't be told, NumPy says so */
        Py_CLEAR(handler);
    }
    return handler;
}

static bool
is_small(const PyArray_Descr *descr, int ndim, npy_intp bytes)
{
    return ndim >= 1 && ndim <= DT_MEMORY_IMAGE_NDIM && bytes > 0 && bytes < DT_MEMORY_POOLED
           && (PyTypeNum_ISNUMBER(descr->type_num) || descr->type_num == NPY_BOOL);
}

/* Dense strides in that order; the flags of such an array. */
static inline int
fill_strides(npy_intp *strides, const npy_intp *shape, int ndim, npy_intp size, bool fortran)
{
    int long_axes = 0;
    for (int i = 0; i < ndim; i++) {
        int axis = fortran ? i : ndim - 1 - i;
        strides[axis] = size;
        size *= shape[axis];
        long_axes += shape[axis] != 1;
    }
    return FLAGS
           | (long_axes <= 1 ? BOTH
              : fortran      ? NPY_ARRAY_F_CONTIGUOUS
                             : NPY_ARRAY_C_CONTIGUOUS);
}

/* The blocks of a new array; NULL without an exception: there is no memory. */
static inline PyArrayObject_fields *
take_blocks(int ndim, npy_intp bytes, void **data, npy_intp **lengths)
{
    *data = usual->allocator.malloc(usual->allocator.ctx, (size_t)bytes);
    *lengths = PyDimMem_NEW(2 * (size_t)ndim);
    PyArrayObject_fields *array = PyObject_Malloc(sizeof(PyArrayObject_fields));
    if (DT_UNLIKELY(*data == NULL || *lengths == NULL || array == NULL)) {
        usual->allocator.free(usual->allocator.ctx, *data, (size_t)bytes);
        PyDimMem_FREE(*lengths);
        PyObject_Free(array);
        return NULL;
    }
    (void)PyTraceMalloc_Track(DT_MEMORY_TRACE_DOMAIN, (uintptr_t)*data, (size_t)bytes);
    return array;
}

PyObject *
dt_memory_new_small(PyArray_Descr *descr, int ndim, const npy_intp *shape, npy_intp bytes,
                    bool fortran)
{
    void *data;
    npy_intp *lengths;
    PyObject *handler = is_small(descr, ndim, bytes) ? dt_memory_handler() : NULL;
    if (handler == NULL) {
        return NULL;
    }
    PyArrayObject_fields *array = take_blocks(ndim, bytes, &data, &lengths);
    if (DT_UNLIKELY(array == NULL)) {
        Py_DECREF(handler);
        return NULL;
    }
    *array = (PyArrayObject_fields){
        .data = data,
        .nd = ndim,
        .dimensions = lengths,
        .strides = lengths + ndim,
        .descr = (PyArray_Descr *)Py_NewRef(descr),
        .mem_handler = handler,
    };
    for (int i = 0; i < ndim; i++) {
        lengths[i] = shape[i];
    }
    array->flags = fill_strides(lengths + ndim, shape, ndim, PyDataType_ELSIZE(descr), fortran);
    return PyObject_Init((PyObject *)array, &PyArray_Type);
}

void
dt_memory_image(DtMemoryImage *image, PyArray_Descr *descr, int ndim, const npy_intp *shape,
                bool fortran)
{
    npy_intp bytes = PyDataType_ELSIZE(descr);
    for (int i = 0; i < ndim; i++) {
        bytes *= shape[i];
    }
    *image = (DtMemoryImage){.array = {.nd = ndim, .descr = descr}};
    if (is_small(descr, ndim, bytes)) {
        image->bytes = bytes;
        memcpy(image->lengths, shape, (size_t)ndim * sizeof(npy_intp));
        image->array.flags =
            fill_strides(image->lengths + ndim, shape, ndim, PyDataType_ELSIZE(descr), fortran);
    }
}

PyObject *
dt_memory_new_like(const DtMemoryImage *image, PyObject *handler)
{
    void *data;
    npy_intp *lengths;
    int ndim = image->array.nd;
    PyArrayObject_fields *array = take_blocks(ndim, image->bytes, &data, &lengths);
    if (DT_UNLIKELY(array == NULL)) {
        return NULL;
    }
    *array = image->array;
    for (int i = 0; i < ndim; i++) {
        lengths[i] = image->lengths[i];
        lengths[ndim + i] = image->lengths[ndim + i];
    }
    array->data = data;
    array->dimensions = lengths;
    array->strides = lengths + ndim;
    array->mem_handler = Py_NewRef(handler);
    Py_INCREF(array->descr);
    return PyObject_Init((PyObject *)array, &PyArray_Type);
}
