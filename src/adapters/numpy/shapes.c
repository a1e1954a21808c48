/* Metadata of results: broadcasting and memory order.
 *
 * The memory order of a new result is the one that NumPy's iterator chooses ("K"); where it
 * depends on strides that are not guarded it is unknown, never guessed.
 * Not in here: sizes as expressions (sizes.c), nodes (nodes.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

/* ---- Metadata -------------------------------------------------------------------------------- */

DtMeta *
dt_np_meta(DtTrace *trace, PyObject *dtype, uint32_t ndim)
{
    DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
    const DtSym **shape = DT_ARENA_ARRAY(&trace->arena, const DtSym *, ndim + 1);
    if (meta == NULL || shape == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    dtype = dt_np_one_dtype(dtype);
    if (dtype == NULL || dt_trace_keep(trace, dtype) != DT_OK) {
        return NULL;
    }
    meta->adapter = dt_np_adapter_of_dtype(dtype);
    meta->type = &PyArray_Type;
    meta->dtype = dtype;
    meta->ndim = (uint8_t)ndim;
    meta->shape = shape;
    return meta;
}

DtMeta *
dt_np_view_meta(DtTrace *trace, const DtMeta *base, const DtSym *const *shape, uint32_t ndim)
{
    DtMeta *meta = dt_np_meta(trace, base->dtype, ndim);
    if (meta != NULL) {
        meta->layout = dt_np_shared_layout(base);
    }
    if (meta != NULL && shape != NULL) {
        memcpy(meta->shape, shape, sizeof(meta->shape[0]) * ndim);
    }
    return meta;
}

void
dt_np_meta_unwrap(DtMeta *meta)
{
    if (meta->ndim == 0) {
        meta->type = dt_np_descr(meta->dtype)->typeobj;
    }
}

void
dt_np_contiguous_flags(DtMeta *meta)
{
    meta->layout &= ~(uint32_t)(DT_LAYOUT_C | DT_LAYOUT_F);
    bool c = true, f = true;
    int last = -1;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        int axis = meta->stride_order != NULL ? meta->stride_order[i] : (int)i;
        if (dt_np_size_is(meta->shape[i], 0)) {
            c = f = true;
            break;
        }
        if (dt_np_size_is(meta->shape[axis], 1)) {
            continue;
        }
        if (last >= 0) {
            c = c && axis > last && meta->stride_order != NULL;
            f = f && axis < last && meta->stride_order != NULL;
        }
        last = axis;
    }
    meta->layout |= (c ? DT_LAYOUT_C : 0u) | (f ? DT_LAYOUT_F : 0u);
}

DtStatus
dt_np_natural_order(DtTrace *trace, DtMeta *meta)
{
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim + 1);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        order[i] = (int8_t)i;
    }
    meta->stride_order = order;
    return DT_OK;
}

DtStatus
dt_np_kept_order(DtTrace *trace, const DtMeta *base, const int8_t *place, DtMeta *meta)
{
    uint32_t filled = 0, kept = 0;
    if (base->stride_order == NULL && base->ndim > 1) {
        return meta->ndim < 2 ? dt_np_natural_order(trace, meta) : DT_OK;
    }
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim + 1);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        kept |= place[i] >= 0 ? 1u << place[i] : 0u;
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!(kept & (1u << i))) {
            order[filled++] = (int8_t)i;
        }
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        int8_t axis = base->stride_order != NULL ? base->stride_order[i] : 0;
        if (place[axis] >= 0) {
            order[filled++] = place[axis];
        }
    }
    meta->stride_order = order;
    return DT_OK;
}

DtStatus
dt_np_fresh(DtTrace *trace, DtMeta *meta, const int8_t *order)
{
    (void)trace;
    meta->layout = DT_LAYOUT_ALIGNED | DT_LAYOUT_FRESH
                   | (PyArray_ISNBO(dt_np_descr(meta->dtype)->byteorder) ? DT_LAYOUT_NATIVE : 0u);
    meta->stride_order = order;
    dt_np_contiguous_flags(meta);
    return DT_OK;
}

DtStatus
dt_np_fresh_c(DtTrace *trace, DtMeta *meta)
{
    DT_TRY(dt_np_natural_order(trace, meta));
    return dt_np_fresh(trace, meta, meta->stride_order);
}

/* ---- Broadcasting ---------------------------------------------------------------------------- */

static DtStatus
broadcast_size(DtTrace *trace, const DtSym *size, uint32_t axis, const DtSym **result)
{
    bool same;
    if (dt_np_size_is(size, 1)) {
        return DT_OK;
    }
    if (dt_np_size_is(*result, 1)) {
        *result = size;
        return DT_OK;
    }
    DT_TRY(dt_trace_unify(trace, *result, size, &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES,
                        "sizes %lld and %lld of axis %u do not broadcast",
                        (long long)(*result)->hint.i, (long long)size->hint.i, axis);
    }
    if (dt_sym_is_const(size)) {
        *result = size;
    }
    return DT_OK;
}

DtStatus
dt_np_broadcast(DtTrace *trace, const DtNpOperand *operands, uint32_t count, const DtSym **shape,
                uint32_t *ndim)
{
    *ndim = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].array != NULL && operands[i].array->meta->ndim > *ndim) {
            *ndim = operands[i].array->meta->ndim;
        }
    }
    for (uint32_t axis = 0; axis < *ndim; axis++) {
        shape[axis] = dt_np_size(trace, 1);
        if (shape[axis] == NULL) {
            return DT_ERROR;
        }
        for (uint32_t i = 0; i < count; i++) {
            const DtMeta *meta = operands[i].array != NULL ? operands[i].array->meta : NULL;
            if (meta == NULL || axis < *ndim - meta->ndim) {
                continue;
            }
            DT_TRY(broadcast_size(trace, meta->shape[axis - (*ndim - meta->ndim)], axis,
                                  &shape[axis]));
        }
    }
    return DT_OK;
}

/* Place of the result's axis in the operand's memory, 1 the slowest; 0 when it has no stride there.
 */
static int
place_in_memory(const DtMeta *meta, uint32_t ndim, uint32_t axis)
{
    uint32_t missing = ndim - meta->ndim;
    if (axis < missing || dt_np_size_is(meta->shape[axis - missing], 1)) {
        return 0;
    }
    if (meta->stride_order == NULL) {
        return 1; /* of one axis: never compared with another */
    }
    for (int i = 0; i < meta->ndim; i++) {
        if (meta->stride_order[i] == (int8_t)(axis - missing)) {
            return i + 1;
        }
    }
    return 0;
}

/* Is `axis` slower in memory than `than`, which stands behind it in the shape?  1 yes, -1 no, 0 no
 * operand tells.  Where operands disagree, the order of the shape wins. */
static int
is_slower(const DtNpOperand *operands, uint32_t count, uint32_t ndim, uint32_t axis, uint32_t than)
{
    int answer = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].array == NULL) {
            continue;
        }
        int mine = place_in_memory(operands[i].array->meta, ndim, axis);
        int other = place_in_memory(operands[i].array->meta, ndim, than);
        if (mine == 0 || other == 0) {
            continue;
        }
        if (mine < other) {
            return 1;
        }
        answer = -1;
    }
    return answer;
}

static bool
order_is_known(const DtNpOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const DtMeta *meta = operands[i].array != NULL ? operands[i].array->meta : NULL;
        if (meta != NULL && meta->stride_order == NULL && meta->ndim > 1) {
            return false;
        }
    }
    return true;
}

DtStatus
dt_np_k_order(DtTrace *trace, const DtNpOperand *operands, uint32_t count, uint32_t ndim,
              const int8_t **order)
{
    *order = NULL;
    if (!order_is_known(operands, count) && ndim > 1) {
        return DT_OK;
    }
    int8_t *axes = DT_ARENA_ARRAY(&trace->arena, int8_t, ndim + 1);
    if (axes == NULL) {
        return dt_no_memory();
    }
    *order = axes;
    /* From the fastest axis (last in the shape) an insertion sort, as the iterator does it: an axis
     * moves down past every axis that is slower by an unambiguous comparison. */
    int8_t fastest_first[DT_NP_MAXDIMS];
    for (uint32_t i = 0; i < ndim; i++) {
        int8_t axis = (int8_t)(ndim - 1 - i);
        uint32_t place = i;
        for (uint32_t j = i; j-- > 0;) {
            int slower =
                is_slower(operands, count, ndim, (uint32_t)axis, (uint32_t)fastest_first[j]);
            if (slower > 0) {
                break;
            }
            if (slower < 0) {
                place = j;
            }
        }
        memmove(&fastest_first[place + 1], &fastest_first[place], i - place);
        fastest_first[place] = axis;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        axes[i] = fastest_first[ndim - 1 - i];
    }
    return DT_OK;
}

DtStatus
dt_np_elementwise_meta(DtTrace *trace, const DtNpOperand *operands, uint32_t count, PyObject *dtype,
                       DtMeta **out)
{
    const DtSym *shape[DT_NP_MAXDIMS];
    const int8_t *order;
    uint32_t ndim;
    DT_TRY(dt_np_broadcast(trace, operands, count, shape, &ndim));
    *out = dt_np_meta(trace, dtype, ndim);
    if (*out == NULL) {
        return DT_ERROR;
    }
    memcpy((*out)->shape, shape, sizeof(shape[0]) * ndim);
    DT_TRY(dt_np_k_order(trace, operands, count, ndim, &order));
    return dt_np_fresh(trace, *out, order);
}
