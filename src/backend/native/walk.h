/* The runs of a block of a walk: its pieces along the innermost dimension, one after the other.
 *
 * What is not here: the walk itself (layout.c); what is done with the runs (gather.c, targets.c).
 */
#ifndef DT_BACKEND_NATIVE_WALK_H
#define DT_BACKEND_NATIVE_WALK_H

#include "backend/native/native.h"

typedef struct DtRuns {
    char *at; /* the next run's first element */
    npy_intp position[DT_FUSED_MAX_NDIM];
} DtRuns;

/* Begins at element `start` of an array at `data` that the walk steps through with `strides`. */
static inline void
dt_runs_begin(DtRuns *runs, const DtLayout *layout, const npy_intp *strides, char *data,
              npy_intp start)
{
    runs->at = data;
    for (int i = layout->nwalk - 1; i > 0; i--) {
        npy_intp size = layout->walk_shape[i], slower = start / size;
        runs->position[i] = start - slower * size;
        runs->at += runs->position[i] * strides[i];
        start = slower;
    }
    runs->position[0] = start;
    runs->at += start * strides[0];
}

/* The elements of the next run: what is left of the row, at most `count`. */
static inline npy_intp
dt_runs_length(const DtRuns *runs, const DtLayout *layout, npy_intp count)
{
    int last = layout->nwalk - 1;
    npy_intp left = layout->walk_shape[last] - runs->position[last];
    return left < count ? left : count;
}

/* On to the next row. */
static inline void
dt_runs_next(DtRuns *runs, const DtLayout *layout, const npy_intp *strides)
{
    int last = layout->nwalk - 1;
    runs->at -= runs->position[last] * strides[last];
    runs->position[last] = 0;
    for (int i = last - 1; i >= 0; i--) {
        runs->at += strides[i];
        if (++runs->position[i] < layout->walk_shape[i]) {
            return;
        }
        runs->at -= runs->position[i] * strides[i];
        runs->position[i] = 0;
    }
}

/* Writes what a layout has to know of the array to `key`, which has room for its axes; was that
 * there already? */
static inline bool
dt_layout_note(npy_intp *key, PyArrayObject *array)
{
    int ndim = array == NULL ? -1 : PyArray_NDIM(array);
    bool same = key[0] == ndim;
    key[0] = ndim;
    for (int i = 0; i < ndim; i++) {
        npy_intp size = PyArray_DIM(array, i), stride = PyArray_STRIDE(array, i);
        same = same && key[1 + 2 * i] == size && key[2 + 2 * i] == stride;
        key[1 + 2 * i] = size;
        key[2 + 2 * i] = stride;
    }
    return same;
}

/* gather.c: copies between elements that lie together and such as are `stride` apart. */
void dt_copy_from(char *to, const char *from, npy_intp stride, npy_intp count, uint8_t size);
void dt_copy_to(char *to, npy_intp stride, const char *from, npy_intp count, uint8_t size);
/* Each of `rows` elements `length` times. */
void dt_copy_expanded(char *to, const char *from, npy_intp rows, npy_intp length, uint8_t size);

#endif
