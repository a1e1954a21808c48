/* Parts of arrays, row by row, and their contents before a write.
 *
 * No array object is made for any of this.  What is put back is what was written, and no item
 * beside it: another thread may be there.
 *
 * Not in here: which writes are made so (kernels_picked.c), and which of them are saved
 * (plan_emit.c).
 */
#include "backend/native/parts.h"

#include <string.h>

#include "backend/native/by_size.h"
#include "backend/native/walk.h"

npy_intp
dt_part_bytes(const DtPartView *part)
{
    npy_intp bytes = part->size;
    for (int i = 0; i < part->ndim; i++) {
        if (part->shape[i] == 0 || __builtin_mul_overflow(bytes, part->shape[i], &bytes)) {
            return -1;
        }
    }
    return bytes <= DT_KERNEL_MAX_BYTES ? bytes : -1;
}

#define REPEAT(T)                                                                                  \
    {                                                                                              \
        T one;                                                                                     \
        memcpy(&one, from, sizeof(T));                                                             \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            memcpy(to + i * stride, &one, sizeof(T));                                              \
        }                                                                                          \
    }

static void
repeat(char *to, npy_intp stride, const char *from, npy_intp count, uint8_t size)
{
    DT_BY_SIZE(size, REPEAT);
}

void
dt_part_write(const DtPartView *part, const char *from, const npy_intp *steps)
{
    int last = part->ndim - 1;
    npy_intp at[DT_KERNEL_MAX_NDIM] = {0}, length = part->shape[last];
    npy_intp stride = part->strides[last];
    char *to = part->data;
    for (;;) {
        if (steps == NULL) {
            repeat(to, stride, from, length, part->size);
        }
        else if (steps[last] == part->size) {
            dt_copy_to(to, stride, from, length, part->size);
        }
        else {
            dt_copy_from(to, from, steps[last], length, part->size);
        }
        int axis = last - 1;
        for (; axis >= 0 && ++at[axis] == part->shape[axis]; axis--) {
            to -= (at[axis] - 1) * part->strides[axis];
            from -= steps != NULL ? (at[axis] - 1) * steps[axis] : 0;
            at[axis] = 0;
        }
        if (axis < 0) {
            return;
        }
        to += part->strides[axis];
        from += steps != NULL ? steps[axis] : 0;
    }
}

/* The strides of its items where they lie together. */
static void
dense_steps(const DtPartView *part, npy_intp *steps)
{
    npy_intp step = part->size;
    for (int i = part->ndim; i-- > 0;) {
        steps[i] = step;
        step *= part->shape[i];
    }
}

void
dt_part_write_dense(const DtPartView *part, const char *from)
{
    npy_intp steps[DT_KERNEL_MAX_NDIM];
    dense_steps(part, steps);
    dt_part_write(part, from, steps);
}

void
dt_part_read(const DtPartView *part, char *to)
{
    DtPartView dense = *part;
    dense.data = to;
    dense_steps(part, dense.strides);
    dt_part_write(&dense, part->data, part->strides);
}

/* ---- What they held -------------------------------------------------------------------------- */

typedef struct Saved {
    DtPartView part;
    char items[];
} Saved;

static void
put_back_part(void *block)
{
    const Saved *saved = block;
    dt_part_write_dense(&saved->part, saved->items);
}

int
dt_part_save(DtWrittenLog *log, PyObject *array, const DtPartView *part)
{
    Saved *saved = PyMem_Malloc(sizeof(Saved) + (size_t)dt_part_bytes(part));
    if (saved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    saved->part = *part;
    dt_part_read(part, saved->items);
    return dt_written_note_block(log, array, saved, put_back_part);
}

typedef struct SavedMasked {
    char *data;
    npy_intp count;
    uint8_t size;
    char bytes[]; /* the mask, then all items */
} SavedMasked;

static void
put_back_masked(void *block)
{
    const SavedMasked *saved = block;
    const char *items = saved->bytes + saved->count;
    for (npy_intp i = 0; i < saved->count; i++) {
        if (saved->bytes[i]) {
            memcpy(saved->data + i * saved->size, items + i * saved->size, saved->size);
        }
    }
}

int
dt_part_save_masked(DtWrittenLog *log, PyArrayObject *array, const npy_bool *mask)
{
    size_t count = (size_t)PyArray_SIZE(array), bytes = (size_t)PyArray_NBYTES(array);
    SavedMasked *saved = PyMem_Malloc(sizeof(SavedMasked) + count + bytes);
    if (saved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    saved->data = PyArray_BYTES(array);
    saved->count = (npy_intp)count;
    saved->size = (uint8_t)PyArray_ITEMSIZE(array);
    memcpy(saved->bytes, mask, count);
    memcpy(saved->bytes + count, saved->data, bytes);
    return dt_written_note_block(log, (PyObject *)array, saved, put_back_masked);
}
