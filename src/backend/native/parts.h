/* Parts of arrays that kernels read and write row by row, and what they held before. */
#ifndef DT_BACKEND_NATIVE_PARTS_H
#define DT_BACKEND_NATIVE_PARTS_H

#include "backend/native/kernels.h"

/* Of one axis or more, with items on each. */
typedef struct DtPartView {
    char *data;
    uint8_t size; /* of an item */
    int ndim;
    npy_intp shape[DT_KERNEL_MAX_NDIM], strides[DT_KERNEL_MAX_NDIM];
} DtPartView;

/* The number of its bytes; -1: more than DT_KERNEL_MAX_BYTES, or none. */
npy_intp dt_part_bytes(const DtPartView *part);

/* Writes all of the part: `from` are its items, `steps` apart (the last axis: by the item's size,
 * or the part's own items lie together there), or one item for all (steps: NULL). */
void dt_part_write(const DtPartView *part, const char *from, const npy_intp *steps);
/* Writes all of the part: `from` are its items, which lie together. */
void dt_part_write_dense(const DtPartView *part, const char *from);
/* Its items, together. */
void dt_part_read(const DtPartView *part, char *to);

/* Note what a part of `array` holds, or what items of it in C order where a mask is true hold, that
 * is about to be written.  They take no reference.  -1 with MemoryError. */
int dt_part_save(DtWrittenLog *log, PyObject *array, const DtPartView *part) DT_MUST_CHECK;
int dt_part_save_masked(DtWrittenLog *log, PyArrayObject *array,
                        const npy_bool *mask) DT_MUST_CHECK;

#endif
