/* Outputs that a fused stage makes in arrays which others can see (direct.c says which may be).
 *
 * What such an array held is saved block by block, dense in the order of the walk, before the block
 * is made: the stage, or the rest of the run, may fail yet.  A block that does not lie together in
 * the array is made in scratch and spread from there.
 */
#include <string.h>

#include "backend/native/walk.h"

/* Where the output may be made as far as the array itself tells; borrowed, or NULL. */
static PyArrayObject *
array_of(const DtFused *fused, const DtFusedOutput *output, const DtNativeRun *run)
{
    PyObject *object = output->write != NULL ? dt_native_value(run, &output->target) : NULL;
    if (object == NULL || !PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    enum { NEEDED = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE };
    bool fits = PyArray_TYPE(array) == output->descr->type_num && PyArray_ISNOTSWAPPED(array)
                && (PyArray_FLAGS(array) & NEEDED) == NEEDED
                && PyArray_NDIM(array) == (int)fused->ndim;
    return fits ? array : NULL;
}

static bool
is_picky(const DtFused *fused)
{
    bool picky = fused->dense_called || fused->nreduce > 0;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        picky = picky || fused->inputs[i].allow != DT_ALLOW_ANY;
    }
    return picky;
}

static bool
is_dense(const DtTarget *target, int order)
{
    return target->array == NULL || (PyArray_FLAGS(target->array) & order) != 0;
}

bool
dt_targets_find(const DtFused *fused, const DtNativeRun *run, const npy_intp *shape, int *order,
                DtTarget *targets)
{
    bool any = false, dense = true, picky = is_picky(fused);
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        PyArrayObject *array = run->committed ? NULL : array_of(fused, &fused->outputs[i], run);
        targets[i] = (DtTarget){.array = array};
        if (array == NULL) {
            continue;
        }
        if (*order != 0
            && (memcmp(PyArray_DIMS(array), shape, fused->ndim * sizeof(npy_intp)) != 0
                || (picky && !is_dense(&targets[i], *order)))) {
            targets[i].array = NULL;
        }
        any = any || targets[i].array != NULL;
        dense = dense && is_dense(&targets[i], *order);
    }
    *order = dense ? *order : 0;
    return any;
}

int
dt_target_open(DtTarget *target, const DtFusedOutput *output, const DtLayout *layout,
               uint32_t index, const npy_intp *shape, int order)
{
    target->size = output->size;
    target->data = PyArray_BYTES(target->array);
    if (layout != NULL
        && !dt_layout_is_linear(layout, layout->target_strides[index], output->size)) {
        target->strides = layout->target_strides[index];
    }
    if (output->saves) {
        target->saved = dt_memory_new_array(output->descr, PyArray_NDIM(target->array), shape,
                                            layout != NULL ? layout->strides[index] : NULL, order);
        if (target->saved == NULL) {
            return -1;
        }
        target->kept = PyArray_BYTES((PyArrayObject *)target->saved);
    }
    return 0;
}

char *
dt_target_block(const DtTarget *target, const DtLayout *layout, npy_intp start, npy_intp count)
{
    char *block = target->data + start * target->size, *to = target->kept + start * target->size;
    npy_intp bytes = count * target->size;
    if (target->strides == NULL) {
        if (target->saved != NULL) {
            memcpy(to, block, (size_t)bytes);
        }
        return block;
    }
    npy_intp stride = target->strides[layout->nwalk - 1];
    DtRuns runs;
    dt_runs_begin(&runs, layout, target->strides, target->data, start);
    npy_intp length = dt_runs_length(&runs, layout, count);
    block = length == count && stride == target->size ? runs.at : target->scratch;
    while (target->saved != NULL) {
        dt_copy_from(to, runs.at, stride, length, target->size);
        to += length * target->size;
        count -= length;
        if (count == 0) {
            break;
        }
        dt_runs_next(&runs, layout, target->strides);
        length = dt_runs_length(&runs, layout, count);
    }
    return block;
}

/* Spreads `count` elements at `from` over the target from element `start` on. */
static void
spread(const DtTarget *target, const DtLayout *layout, npy_intp start, npy_intp count,
       const char *from)
{
    npy_intp stride = target->strides[layout->nwalk - 1];
    DtRuns runs;
    dt_runs_begin(&runs, layout, target->strides, target->data, start);
    while (count > 0) {
        npy_intp length = dt_runs_length(&runs, layout, count);
        dt_copy_to(runs.at, stride, from, length, target->size);
        from += length * target->size;
        count -= length;
        if (count > 0) {
            dt_runs_next(&runs, layout, target->strides);
        }
    }
}

void
dt_target_put(const DtTarget *target, const DtLayout *layout, npy_intp start, npy_intp count,
              const char *block)
{
    if (block == target->scratch) {
        spread(target, layout, start, count, block);
    }
}

void
dt_target_take_back(const DtTarget *target, const DtLayout *layout, npy_intp start, npy_intp count)
{
    if (target->saved == NULL) {
        return; /* for an earlier write it has been */
    }
    const char *from = target->kept + start * target->size;
    if (target->strides == NULL) {
        memcpy(target->data + start * target->size, from, (size_t)(count * target->size));
    }
    else {
        spread(target, layout, start, count, from);
    }
}
