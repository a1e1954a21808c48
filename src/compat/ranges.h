/* Iterators over ranges, read and moved on where they lie.
 *
 * Mirrors the struct of Objects/rangeobject.c, which is in no header before 3.12.
 */
#ifndef DT_COMPAT_RANGES_H
#define DT_COMPAT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"

#if DT_PY312 || DT_PY313
typedef struct DtRangeIterator {
    PyObject_HEAD long start; /* what comes next */
    long step;
    long len; /* what is left */
} DtRangeIterator;
#else
typedef struct DtRangeIterator {
    PyObject_HEAD long index; /* how many have been given */
    long start;
    long step;
    long len;
} DtRangeIterator;
#endif

/* What comes next, the step, and how many are left. */
typedef struct DtRangeState {
    int64_t next, step, left;
} DtRangeState;

/* False: no iterator over a range of numbers that fit 64 bits. */
static inline bool
dt_ranges_read(PyObject *iterator, DtRangeState *state)
{
    if (!Py_IS_TYPE(iterator, &PyRangeIter_Type)) {
        return false;
    }
    const DtRangeIterator *self = (const DtRangeIterator *)iterator;
#if DT_PY312 || DT_PY313
    *state = (DtRangeState){self->start, self->step, self->len};
#else
    *state = (DtRangeState){
        (int64_t)((uint64_t)self->start + (uint64_t)self->index * (uint64_t)self->step), self->step,
        self->len - self->index};
#endif
    return state->left >= 0;
}

/* The iterator, which was read before, goes on there. */
static inline void
dt_ranges_move(PyObject *iterator, const DtRangeState *state)
{
    DtRangeIterator *self = (DtRangeIterator *)iterator;
#if DT_PY312 || DT_PY313
    self->start = (long)state->next;
    self->len = (long)state->left;
#else
    self->index = self->len - (long)state->left;
#endif
}

#endif
