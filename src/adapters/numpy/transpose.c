/* The same items under permuted axes: transpose and its relatives, views all.
 *
 * Not in here: other shapes (views.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

DtStatus
dt_np_transpose(DtTrace *trace, DtArrayVar *self, const int8_t *axes, DtVar **out)
{
    const DtMeta *base = self->meta;
    DtOperand args[2] = {dt_np_node(self)}, items[DT_NP_MAXDIMS];
    int8_t place[DT_NP_MAXDIMS];
    DtMeta *meta = dt_np_view_meta(trace, base, NULL, base->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        meta->shape[i] = base->shape[axes[i]];
        place[axes[i]] = (int8_t)i;
        DT_TRY(dt_np_int_operand(trace, axes[i], &items[i]));
    }
    DT_TRY(dt_np_kept_order(trace, base, place, meta));
    if (base->layout & (DT_LAYOUT_C | DT_LAYOUT_F)) {
        dt_np_contiguous_flags(meta);
    }
    DT_TRY(dt_np_tuple_operand(trace, items, base->ndim, &args[1]));
    return dt_np_emit_view(trace, DT_NP_nd_transpose, args, 2, meta, out);
}

DtStatus
dt_np_transpose_reversed(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    int8_t axes[DT_NP_MAXDIMS];
    for (uint32_t i = 0; i < self->meta->ndim; i++) {
        axes[i] = (int8_t)(self->meta->ndim - 1 - i);
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_a_transposed(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    if (!dt_np_is_ndarray(self)) {
        *out = &self->base;
        return DT_OK;
    }
    return dt_np_transpose_reversed(trace, self, out);
}

DtStatus
dt_np_a_matrix_transposed(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    int8_t axes[DT_NP_MAXDIMS];
    uint32_t ndim = self->meta->ndim;
    if (!dt_np_is_ndarray(self) || ndim < 2) {
        return dt_break(trace, DT_BREAK_RAISES, "mT of fewer than two dimensions");
    }
    for (uint32_t i = 0; i < ndim; i++) {
        axes[i] = (int8_t)(i == ndim - 1 ? ndim - 2 : i == ndim - 2 ? ndim - 1 : i);
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_m_transpose(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *first = NULL, **items = args->pos;
    uint32_t count = args->npos, seen = 0, ndim = self->meta->ndim;
    bool many;
    int8_t axes[DT_NP_MAXDIMS];
    DT_TRY(dt_np_need_ndarray(trace, self, "transpose"));
    if (args->nkw > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "transpose with keyword arguments");
    }
    if (args->npos == 1) {
        DT_TRY(dt_var_realize(trace, args->pos[0], &first));
        first = dt_var_peek(first);
        DT_TRY(dt_np_items(trace, first, &items, &count, &many));
    }
    if (args->npos == 0 || (args->npos == 1 && dt_np_is_none(first))) {
        return dt_np_transpose_reversed(trace, self, out);
    }
    if (count != ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "transpose with %u axes", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        DT_TRY(dt_np_axis(trace, "transpose", items[i], ndim, &axis));
        axes[i] = (int8_t)axis;
        seen |= 1u << axis;
    }
    if (ndim > 0 && seen != (uint32_t)(((uint64_t)1 << ndim) - 1)) {
        return dt_break(trace, DT_BREAK_RAISES, "transpose with an axis twice");
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_m_swapaxes(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis1", "axis2"};
    DtVar *slots[3];
    uint32_t first, second;
    int8_t axes[DT_NP_MAXDIMS];
    DT_TRY(dt_np_need_ndarray(trace, self, "swapaxes"));
    DT_TRY(dt_np_bind(trace, "swapaxes", &self->base, args, names, 3, 3, 3, slots));
    DT_TRY(dt_np_axis(trace, "swapaxes", slots[1], self->meta->ndim, &first));
    DT_TRY(dt_np_axis(trace, "swapaxes", slots[2], self->meta->ndim, &second));
    for (uint32_t i = 0; i < self->meta->ndim; i++) {
        axes[i] = (int8_t)(i == first ? second : i == second ? first : i);
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_fn_moveaxis(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "source", "destination"};
    DtVar *slots[3], **moved[2];
    uint32_t counts[2] = {1, 1}, taken = 0, next = 0;
    bool many;
    int8_t axes[DT_NP_MAXDIMS];
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 3, 3, 3, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    if (self == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "moveaxis of a %s", slots[0]->type->name);
    }
    DT_TRY(dt_np_need_ndarray(trace, self, "moveaxis"));
    uint32_t ndim = self->meta->ndim;
    for (int i = 0; i < 2; i++) {
        moved[i] = &slots[1 + i];
        DT_TRY(dt_np_items(trace, slots[1 + i], &moved[i], &counts[i], &many));
    }
    memset(axes, -1, sizeof(axes));
    for (uint32_t i = 0; i < counts[0] && counts[0] == counts[1]; i++) {
        uint32_t source, destination;
        DT_TRY(dt_np_axis(trace, dt_np_target(op), moved[0][i], ndim, &source));
        DT_TRY(dt_np_axis(trace, dt_np_target(op), moved[1][i], ndim, &destination));
        if ((taken & (1u << source)) || axes[destination] >= 0) {
            return dt_break(trace, DT_BREAK_RAISES, "moveaxis of an axis twice");
        }
        taken |= 1u << source;
        axes[destination] = (int8_t)source;
    }
    if (counts[0] != counts[1]) {
        return dt_break(trace, DT_BREAK_RAISES, "moveaxis of %u axes to %u", counts[0], counts[1]);
    }
    for (uint32_t i = 0; i < ndim; i++) {
        if (axes[i] < 0) { /* the others keep their order */
            while (taken & (1u << next)) {
                next++;
            }
            axes[i] = (int8_t)next++;
        }
    }
    return dt_np_transpose(trace, self, axes, out);
}
