/* Memory of large outputs.
 *
 * A block of several hundred kilobytes or more usually comes from the system and goes back to it,
 * and the page faults of a fresh one cost as much as the arithmetic.  Large outputs therefore come
 * from a pool: their data is freed through a NumPy memory handler (NEP 49) that keeps a bounded
 * number of blocks for the next outputs.  Nothing of that is visible on the arrays: they own their
 * data, can be resized, and tracemalloc sees them.  A program that has set a handler of its own
 * gets that one.  What NumPy is called for with large operands allocates through the same handler.
 *
 * Blocks are kept with their capacity in front of the data.  The pool may be used without the GIL.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "backend/native/memory.h"

enum {
    HEADER = 64,     /* keeps the data aligned for vectors */
    GRAIN = 1 << 16, /* capacities are multiples of it */
    SLOTS = 16,      /* blocks kept at most */
    HUGE = 4 << 20,  /* from here on huge pages are asked for, as NumPy does */
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
    bool pooled = size >= DT_MEMORY_POOLED;
    size_t grain = pooled ? GRAIN : HEADER;
    size_t capacity = (size + grain - 1) & ~(grain - 1);
    void *block = NULL;
    lock_pool();
    /* The newest first: its pages are the warmest.  A quarter may go unused. */
    for (uint32_t i = pooled ? pool.count : 0; i > 0; i--) {
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
    if (capacity > keep_bytes || capacity < DT_MEMORY_POOLED) {
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

static int
make_capsule(void)
{
    if (handler_capsule == NULL) {
        handler_capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    }
    return handler_capsule == NULL ? -1 : 0;
}

PyObject *
dt_memory_new_array(PyArray_Descr *descr, int ndim, const npy_intp *shape, const npy_intp *strides,
                    int order)
{
    int flags = order == NPY_ARRAY_F_CONTIGUOUS ? NPY_ARRAY_F_CONTIGUOUS : 0;
    npy_intp bytes = PyDataType_ELSIZE(descr);
    for (int i = 0; i < ndim; i++) {
        bytes *= shape[i];
    }
    if (DT_LIKELY(bytes < DT_MEMORY_POOLED && strides == NULL)) {
        PyObject *small = dt_memory_new_small(descr, ndim, shape, bytes, flags != 0);
        if (DT_LIKELY(small != NULL)) {
            return small;
        }
    }
    int usual = bytes < DT_MEMORY_POOLED ? 0 : default_is_current();
    Py_INCREF(descr);
    if (usual <= 0) {
        if (usual < 0) {
            Py_DECREF(descr);
            return NULL;
        }
        return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, NULL, flags, NULL);
    }
    void *data = make_capsule() < 0 ? NULL : pool_malloc(NULL, (size_t)bytes);
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
    (void)PyTraceMalloc_Track(DT_MEMORY_TRACE_DOMAIN, (uintptr_t)data, (size_t)bytes);
    return array;
}

/* ---- What NumPy is called for ---------------------------------------------------------------- */

/* The context variable that holds NumPy's handler; NumPy has a setter, but none that takes a value
 * back without a trace in the context. */
static PyObject *variable; /* DT_OWNED, found at first use; None: NumPy keeps it elsewhere */

/* The key of the context that our handler is found under. */
static PyObject *
key_of_handler(PyObject *context)
{
    PyObject *keys = PyObject_GetIter(context), *key = NULL, *found = NULL;
    while (keys != NULL && found == NULL && (key = PyIter_Next(keys)) != NULL) {
        PyObject *value = PyObject_GetItem(context, key);
        found = value == handler_capsule ? Py_NewRef(key) : NULL;
        Py_XDECREF(value);
        Py_DECREF(key);
    }
    Py_XDECREF(keys);
    if (found == NULL && !PyErr_Occurred()) {
        found = Py_NewRef(Py_None);
    }
    return found;
}

/* Sets the handler in a copy of the context, and looks for it there. */
static int
find_variable(void)
{
    PyObject *context = PyContext_CopyCurrent();
    if (context == NULL || PyContext_Enter(context) < 0) {
        Py_XDECREF(context);
        return -1;
    }
    PyObject *before = PyDataMem_SetHandler(handler_capsule);
    if (PyContext_Exit(context) == 0 && before != NULL) {
        variable = key_of_handler(context);
    }
    Py_XDECREF(before);
    Py_DECREF(context);
    return variable != NULL ? 0 : -1;
}

int
dt_memory_enter(PyObject **token)
{
    *token = NULL;
    int usual = default_is_current();
    if (usual <= 0) {
        return usual;
    }
    if (make_capsule() < 0 || (variable == NULL && find_variable() < 0)) {
        return -1;
    }
    if (variable == Py_None) {
        return 0;
    }
    *token = PyContextVar_Set(variable, handler_capsule);
    return *token != NULL ? 0 : -1;
}

void
dt_memory_leave(DT_STEALS PyObject *token)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyContextVar_Reset(variable, token) < 0) {
        PyErr_WriteUnraisable(NULL); /* the token is ours and unused: it can't fail */
    }
    Py_DECREF(token);
    PyErr_Restore(type, value, traceback);
}
