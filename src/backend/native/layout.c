/* Memory order: which axes of a result are slow and which fast, as NumPy's iterator decides.
 *
 *   operands' strides ──sort axes per op──► strides of each intermediate ──► of the outputs
 *                                                                 │
 *                               walk: the outputs' memory order, neighbouring axes merged
 *
 * A result allocated in K order follows its operands' strides: axes are compared pairwise over all
 * operands that have a non-zero stride in both; where operands disagree, C order wins.  Axes of one
 * item have no say, but a place, and a program can see their strides: where NumPy goes without its
 * iterator (DtOrderRule) they have another one.  An intermediate's order decides its users' order,
 * so every op of the stage is followed although its memory never exists.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/native/native.h"

/* Does axis `slow` have to come inside of axis `fast`, which stands inside now?  1 yes, 0 no, -1
 * nothing known. */
static int
must_swap(const npy_intp *const *operands, int count, const npy_intp *shape, int slow, int fast)
{
    int swap = -1;
    for (int i = 0; i < count && shape[slow] != 1 && shape[fast] != 1; i++) {
        npy_intp outer = operands[i][slow], inner = operands[i][fast];
        if (outer == 0 || inner == 0) {
            continue;
        }
        if (llabs(inner) <= llabs(outer)) {
            swap = 0;
        }
        else if (swap < 0) {
            swap = 1;
        }
    }
    return swap;
}

/* order[0] is the fastest axis. */
static void
sort_axes(const npy_intp *const *operands, int count, const npy_intp *shape, int ndim, int *order)
{
    for (int i = 0; i < ndim; i++) {
        order[i] = ndim - 1 - i;
    }
    for (int i = 1; i < ndim; i++) {
        int axis = order[i];
        int position = i;
        for (int j = i - 1; j >= 0; j--) {
            int swap = must_swap(operands, count, shape, axis, order[j]);
            if (swap == 0) {
                break;
            }
            if (swap == 1) {
                position = j;
            }
        }
        for (int j = i; j > position; j--) {
            order[j] = order[j - 1];
        }
        order[position] = axis;
    }
}

/* Items one behind the other in that order?  Strides of axes of one item don't count. */
static bool
is_dense(const npy_intp *strides, npy_intp size, const npy_intp *shape, int ndim, bool fortran)
{
    for (int i = 0; i < ndim; i++) {
        int axis = fortran ? i : ndim - 1 - i;
        if (shape[axis] != 1 && strides[axis] != size) {
            return false;
        }
        size *= shape[axis];
    }
    return true;
}

void
dt_layout_sort_copy(const npy_intp *strides, int ndim, int *order)
{
    for (int i = 0; i < ndim; i++) {
        int axis = ndim - 1 - i;
        int j = i;
        for (; j > 0 && llabs(strides[axis]) < llabs(strides[order[j - 1]]); j--) {
            order[j] = order[j - 1];
        }
        order[j] = axis;
    }
}

/* The order of a new result.  sizes: of items; 0 for an operand without axes, which is no other
 * than a number, and -1 for one of fewer axes, with which NumPy asks its iterator. */
static void
result_order(const DtFusedOp *op, const npy_intp *const *operands, const npy_intp *sizes,
             const npy_intp *shape, int ndim, int *order)
{
    bool c = op->rule != DT_ORDER_ITERATOR, fortran = c;
    for (int i = 0; i < op->nin; i++) {
        c = c && is_dense(operands[i], sizes[i], shape, ndim, false);
        fortran = fortran && is_dense(operands[i], sizes[i], shape, ndim, true);
    }
    if (c || fortran) {
        for (int i = 0; i < ndim; i++) {
            order[i] = c ? ndim - 1 - i : i;
        }
    }
    else if (op->rule == DT_ORDER_COPY) {
        dt_layout_sort_copy(operands[0], ndim, order);
    }
    else {
        sort_axes(operands, op->nin, shape, ndim, order);
    }
}

/* Strides of `array` as an operand of a result with these dimensions: 0 where it is broadcast. */
static bool
broadcast_strides(PyArrayObject *array, int ndim, const npy_intp *shape, npy_intp *strides)
{
    int own = PyArray_NDIM(array);
    if (own > ndim) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        int axis = i - (ndim - own);
        npy_intp dim = axis < 0 ? 1 : PyArray_DIM(array, axis);
        if (dim != shape[i] && dim != 1) {
            return false;
        }
        strides[i] = axis < 0 || dim != shape[i] ? 0 : PyArray_STRIDE(array, axis);
    }
    return true;
}

static bool
result_shape(const DtFused *fused, PyArrayObject *const *arrays, DtLayout *layout)
{
    int ndim = (int)fused->ndim;
    for (int i = 0; i < ndim; i++) {
        layout->shape[i] = 1;
    }
    for (uint32_t k = 0; k < fused->ninputs; k++) {
        int own = PyArray_NDIM(arrays[k]);
        if (own > ndim) {
            return false;
        }
        for (int axis = 0; axis < own; axis++) {
            npy_intp dim = PyArray_DIM(arrays[k], axis);
            npy_intp *target = &layout->shape[ndim - own + axis];
            if (dim != 1) {
                if (*target != 1 && *target != dim) {
                    return false;
                }
                *target = dim;
            }
        }
    }
    layout->total = 1;
    for (int i = 0; i < ndim; i++) {
        layout->total *= layout->shape[i];
    }
    return true;
}

/* A dimension of the walk, for all arrays. */
static void
set_strides(const DtFused *fused, DtStrides *inputs, const DtTarget *targets, int axis, int dim,
            DtLayout *layout)
{
    for (uint32_t k = 0; k < fused->ninputs; k++) {
        layout->walk_strides[k][dim] = axis < 0 ? 0 : inputs[k][axis];
    }
    for (uint32_t k = 0; k < fused->noutputs; k++) {
        if (targets[k].array != NULL) {
            layout->target_strides[k][dim] = axis < 0 ? 0 : PyArray_STRIDE(targets[k].array, axis);
        }
    }
}

/* Does every array step through the axis as it would by going on along the dimension? */
static bool
can_merge(const DtFused *fused, DtStrides *inputs, const DtTarget *targets, int axis, int dim,
          const DtLayout *layout)
{
    npy_intp size = layout->walk_shape[dim];
    for (uint32_t k = 0; k < fused->ninputs; k++) {
        if (inputs[k][axis] != layout->walk_strides[k][dim] * size) {
            return false;
        }
    }
    for (uint32_t k = 0; k < fused->noutputs; k++) {
        if (targets[k].array != NULL
            && PyArray_STRIDE(targets[k].array, axis) != layout->target_strides[k][dim] * size) {
            return false;
        }
    }
    return true;
}

static void
swap_sizes(npy_intp *sizes, int i, int j)
{
    npy_intp size = sizes[i];
    sizes[i] = sizes[j];
    sizes[j] = size;
}

/* Merges axes (given fastest first) that everything steps through as one. */
static void
build_walk(const DtFused *fused, DtStrides *inputs, const DtTarget *targets, const int *order,
           DtLayout *layout)
{
    int count = 0; /* dimensions so far, fastest first */
    for (int i = 0; i < layout->ndim; i++) {
        int axis = order[i];
        npy_intp size = layout->shape[axis];
        if (size == 1) {
            continue;
        }
        if (count > 0 && can_merge(fused, inputs, targets, axis, count - 1, layout)) {
            layout->walk_shape[count - 1] *= size;
            continue;
        }
        layout->walk_shape[count] = size;
        set_strides(fused, inputs, targets, axis, count++, layout);
    }
    if (count == 0) {
        layout->walk_shape[0] = 1;
        set_strides(fused, inputs, targets, -1, 0, layout);
        count = 1;
    }
    layout->nwalk = count;
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        swap_sizes(layout->walk_shape, i, j);
        for (uint32_t k = 0; k < fused->ninputs; k++) {
            swap_sizes(layout->walk_strides[k], i, j);
        }
        for (uint32_t k = 0; k < fused->noutputs; k++) {
            if (targets[k].array != NULL) {
                swap_sizes(layout->target_strides[k], i, j);
            }
        }
    }
}

void
dt_layout_drop_targets(const DtFused *fused, const DtLayout *layout, DtTarget *targets)
{
    for (uint32_t k = 0; k < fused->noutputs; k++) {
        if (targets[k].array != NULL
            && memcmp(PyArray_DIMS(targets[k].array), layout->shape,
                      (size_t)layout->ndim * sizeof(npy_intp))
                   != 0) {
            targets[k].array = NULL;
        }
    }
}

bool
dt_layout_compute(const DtFused *fused, PyArrayObject *const *arrays, DtTarget *targets,
                  DtLayout *layout)
{
    DtStrides inputs[DT_FUSED_MAX_INPUTS];
    DtStrides results[DT_FUSED_MAX_OPS];
    int order[DT_FUSED_MAX_NDIM], first_order[DT_FUSED_MAX_NDIM];
    int ndim = (int)fused->ndim;
    layout->ndim = ndim;
    if (!result_shape(fused, arrays, layout)) {
        return false;
    }
    for (uint32_t k = 0; k < fused->ninputs; k++) {
        if (!broadcast_strides(arrays[k], ndim, layout->shape, inputs[k])) {
            return false;
        }
    }
    dt_layout_drop_targets(fused, layout, targets);
    uint32_t outputs = 0;
    layout->c_order = true;
    for (int i = 0; i < ndim; i++) {
        first_order[i] = ndim - 1 - i; /* of a stage that begins with a reduction */
    }
    for (uint32_t i = 0; i < fused->nops; i++) {
        const DtFusedOp *op = &fused->ops[i];
        const npy_intp *operands[DT_LOOP_MAX_ARGS];
        npy_intp sizes[DT_LOOP_MAX_ARGS];
        if (op->level != DT_LEVEL_FULL) {
            continue; /* in C order, if the rest is, or the stage is not run (reduced.c) */
        }
        for (int j = 0; j < op->nin; j++) {
            int k = op->operands[j];
            int own = k < 0 ? ndim : PyArray_NDIM(arrays[k]);
            operands[j] = k >= 0 ? inputs[k] : results[~k];
            sizes[j] = own == 0     ? 0
                       : own < ndim ? -1
                       : k >= 0     ? fused->inputs[k].size
                                    : fused->ops[~k].size;
        }
        result_order(op, operands, sizes, layout->shape, ndim, order);
        if (i == 0) {
            /* For a stage without outputs, which runs only because it may warn: any order will do.
             */
            memcpy(first_order, order, sizeof(order));
        }
        npy_intp stride = op->size;
        for (int j = 0, slower = ndim; j < ndim; j++) {
            int axis = order[j];
            results[i][axis] = stride;
            if (layout->shape[axis] != 1) {
                layout->c_order = layout->c_order && axis < slower;
                slower = axis;
            }
            stride *= layout->shape[axis];
        }
        if (outputs < fused->noutputs && fused->outputs[outputs].op == i) {
            memcpy(layout->strides[outputs], results[i], sizeof(DtStrides));
            if (outputs == 0) {
                memcpy(first_order, order, sizeof(order));
            }
            for (int j = 0; outputs > 0 && j < ndim; j++) {
                /* One walk serves all outputs: compare the orders of axes that have more than one
                 * element. */
                npy_intp first = layout->strides[0][j] / fused->outputs[0].size;
                if (layout->shape[j] != 1 && results[i][j] / op->size != first) {
                    return false;
                }
            }
            outputs++;
        }
    }
    build_walk(fused, inputs, targets, first_order, layout);
    return outputs == fused->noutputs;
}

bool
dt_layout_is_linear(const DtLayout *layout, const npy_intp *strides, npy_intp size)
{
    for (int i = layout->nwalk - 1; i >= 0; i--) {
        if (strides[i] != size) {
            return false;
        }
        size *= layout->walk_shape[i];
    }
    return true;
}

bool
dt_layout_allows(const DtFused *fused, uint32_t input, PyArrayObject *array, const DtLayout *layout)
{
    uint8_t allow = fused->inputs[input].allow;
    if (allow == DT_ALLOW_ANY) {
        return true;
    }
    if (allow != DT_ALLOW_STRIDED || PyArray_NDIM(array) != layout->ndim) {
        return false;
    }
    for (int i = 0; i < layout->ndim; i++) {
        if (PyArray_DIM(array, i) != layout->shape[i]
            || (layout->shape[i] != 1 && PyArray_STRIDE(array, i) <= 0)) {
            return false;
        }
    }
    return true;
}
