/* Memory of large outputs.
 *
 * A block of several hundred kilobytes or more usually comes from the system and goes back to it,
 * and the page faults of a fresh one cost as much as the arithmetic.  Large outputs therefore come
 * from a pool: their data is freed through a NumPy memory handler (NEP 49) that keeps a bounded
 * number of blocks for the next outputs.  Nothing of that is visible on the arrays: they own their
 * data, can be resized, and tracemalloc sees them.  A program that has set a handler of its own
 * gets that one.
 *
 * Blocks are kept with their capacity in front of the data.  The pool may be used without the GIL.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "backend/native/native.h"

enum {
    HEADER = 64,           /* keeps the data aligned for vectors */
    GRAIN = 1 << 16,       /* capacities are multiples of it */
    SLOTS = 16,            /* blocks kept at most */
    TRACE_DOMAIN = 389047, /* NumPy's, as numpy.lib.tracemalloc_domain says */
    HUGE = 4 << 20,        /* from here on huge pages are asked for, as NumPy does */
};
static const size_t keep_bytes = (size_t)64 << 20; /* kept at most, all blocks together */

typedef struct Pool {
    atomic_flag lock;
    void *blocks[SLOTS]; /* oldest first */
    uint32_t count;
    size_t bytes;
} Pool;
static Pool pool = {.lock = ATOMIC_FLAG_INIT};

static size_t *
capacity_of(void *block)
{
    return block;
}

static void
lock_pool(void)
{
    while (atomic_flag_test_and_set_explicit(&pool.lock, memory_order_acquire)) {}
}

static void
unlock_pool(void)
{
    atomic_flag_clear_explicit(&pool.lock, memory_order_release);
}

/* Takes block i out of the pool. */
static void *
take_block(uint32_t i)
{
    void *block = pool.blocks[i];
    pool.bytes -= *capacity_of(block);
    pool.count--;
    memmove(&pool.blocks[i], &pool.blocks[i + 1], (pool.count - i) * sizeof(void *));
    return block;
}

static void *
pool_malloc(void *Py_UNUSED(ctx), size_t size)
{
    if (size > SIZE_MAX - HEADER - GRAIN) {
        return NULL;
    }
    size_t capacity = (size + GRAIN - 1) & ~(size_t)(GRAIN - 1);
    void *block = NULL;
    lock_pool();
    /* The newest first: its pages are the warmest.  A quarter may go unused. */
    for (uint32_t i = pool.count; i > 0; i--) {
        size_t have = *capacity_of(pool.blocks[i - 1]);
        if (have >= capacity && have - capacity <= capacity / 4) {
            block = take_block(i - 1);
            break;
        }
    }
    unlock_pool();
    if (block == NULL) {
        block = aligned_alloc(HEADER, capacity + HEADER);
        if (block == NULL) {
            return NULL;
        }
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (capacity >= HUGE) {
            uintptr_t start = ((uintptr_t)block + 4095) & ~(uintptr_t)4095;
            /* Advice: nothing depends on its being taken. */
            (void)madvise((void *)start, capacity - 4096, MADV_HUGEPAGE);
        }
#endif
        *capacity_of(block) = capacity;
    }
    return (char *)block + HEADER;
}

static void
pool_free(void *Py_UNUSED(ctx), void *data, size_t Py_UNUSED(size))
{
    if (data == NULL) {
        return;
    }
    void *block = (char *)data - HEADER;
    size_t capacity = *capacity_of(block);
    if (capacity > keep_bytes) {
        free(block);
        return;
    }
    void *dropped[SLOTS];
    uint32_t ndropped = 0;
    lock_pool();
    while (pool.count == SLOTS || pool.bytes + capacity > keep_bytes) {
        dropped[ndropped++] = take_block(0);
    }
    pool.blocks[pool.count++] = block;
    pool.bytes += capacity;
    unlock_pool();
    while (ndropped > 0) {
        free(dropped[--ndropped]);
    }
}

static void *
pool_calloc(void *ctx, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    void *data = pool_malloc(ctx, count * size);
    return data == NULL ? NULL : memset(data, 0, count * size);
}

static void *
pool_realloc(void *ctx, void *data, size_t size)
{
    void *moved = pool_malloc(ctx, size);
    if (moved != NULL && data != NULL) {
        size_t old = *capacity_of((char *)data - HEADER);
        memcpy(moved, data, old < size ? old : size);
        pool_free(ctx, data, 0);
    }
    return moved;
}

static PyDataMem_Handler handler = {
    "dyntrace",
    1,
    {NULL, pool_malloc, pool_calloc, pool_realloc, pool_free},
};
static PyObject *handler_capsule; /* DT_OWNED, made at first use */

/* 1: the program uses NumPy's default handler; 0: its own; -1 error. */
static int
default_is_current(void)
{
    PyObject *current = PyDataMem_GetHandler();
    if (current == NULL) {
        return -1;
    }
    int same = current == PyDataMem_DefaultHandler;
    Py_DECREF(current);
    return same;
}

PyObject *
dt_memory_new_array(PyArray_Descr *descr, int ndim, const npy_intp *shape, const npy_intp *strides,
                    int order)
{
    int flags = order == NPY_ARRAY_F_CONTIGUOUS ? NPY_ARRAY_F_CONTIGUOUS : 0;
    npy_intp bytes = PyArray_MultiplyList(shape, ndim) * PyDataType_ELSIZE(descr);
    int usual = bytes < DT_MEMORY_POOLED ? 0 : default_is_current();
    Py_INCREF(descr);
    if (usual <= 0) {
        if (usual < 0) {
            Py_DECREF(descr);
            return NULL;
        }
        return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, NULL, flags, NULL);
    }
    if (handler_capsule == NULL) {
        handler_capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    }
    void *data = handler_capsule == NULL ? NULL : pool_malloc(NULL, (size_t)bytes);
    if (data == NULL) {
        Py_DECREF(descr);
        return PyErr_NoMemory();
    }
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, data,
                                           flags | NPY_ARRAY_WRITEABLE, NULL);
    if (array == NULL) {
        pool_free(NULL, data, 0);
        return NULL;
    }
    PyArray_ENABLEFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
    ((PyArrayObject_fields *)array)->mem_handler = Py_NewRef(handler_capsule);
    (void)PyTraceMalloc_Track(TRACE_DOMAIN, (uintptr_t)data, (size_t)bytes);
    return array;
}
