/* np.lib.stride_tricks.sliding_window_view(): a read-only view in which each item stands as often
 * as windows lie over it.
 *
 *   x: (rows, columns), window (h, w) ──► (rows - h + 1, columns - w + 1, h, w)
 *
 * The axes of a window have the strides of the axes that it slides along.
 */
#include "adapters/numpy/internal.h"

/* An axis behind each axis that it slides along: strides that are equal keep the order of the
 * shape. */
static DtStatus
windows_order(DtTrace *trace, const DtMeta *base, const uint32_t *axes, uint32_t count,
              DtMeta *meta)
{
    if (base->stride_order == NULL && base->ndim > 1) {
        return DT_OK;
    }
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim + 1);
    uint32_t filled = 0;
    if (order == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        int8_t axis = base->stride_order != NULL ? base->stride_order[i] : 0;
        order[filled++] = axis;
        for (uint32_t j = 0; j < count; j++) {
            if (axes[j] == (uint32_t)axis) {
                order[filled++] = (int8_t)(base->ndim + j);
            }
        }
    }
    meta->stride_order = order;
    return DT_OK;
}

/* The size of a window along one axis, and how many places it has there. */
static DtStatus
slide(DtTrace *trace, const char *function, DtVar *window, const DtSym *size, const DtSym **inner,
      const DtSym **places)
{
    int64_t width;
    bool fits;
    DT_TRY(dt_var_realize(trace, window, &window));
    DT_TRY(dt_np_int_arg(trace, function, window, &width));
    if (width < 1) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with windows of no items", function);
    }
    if (dt_trace_depends_on_data(trace, size)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "windows over a selection");
    }
    DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GE, size, width, &fits));
    if (!fits) {
        return dt_break(trace, DT_BREAK_RAISES, "%s with a window that is larger", function);
    }
    DT_TRY(dt_np_offset(trace, size, 1 - width, places));
    DT_TRY(dt_np_settle_size(trace, *places, places));
    *inner = dt_np_size(trace, width);
    return *inner != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_np_fn_windows(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"x", "window_shape", "axis"};
    const char *function = dt_np_target(op);
    DtVar *slots[3], **windows = &slots[1], **given = &slots[2];
    DtOperand operands[3];
    const DtSym *shape[DT_NP_MAXDIMS];
    uint32_t axes[DT_NP_MAXDIMS], count = 1, of = 1;
    bool many, several, ok = true;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 3, 2, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    if (self == NULL || !dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", function, slots[0]->type->name);
    }
    const DtMeta *base = self->meta;
    DT_TRY(dt_np_items(trace, slots[1], &windows, &count, &many));
    if (slots[2] != NULL && !dt_np_is_none(slots[2])) {
        DT_TRY(dt_np_items(trace, slots[2], &given, &of, &several));
    }
    else {
        given = NULL;
        of = base->ndim;
    }
    if (of != count || base->ndim + count > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s along other axes than windows have",
                        function);
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        shape[i] = base->shape[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        axes[i] = i;
        if (given != NULL) {
            DT_TRY(dt_var_realize(trace, given[i], &given[i]));
            DT_TRY(dt_np_axis(trace, function, given[i], base->ndim, &axes[i]));
        }
        DT_TRY(slide(trace, function, windows[i], shape[axes[i]], &shape[base->ndim + i],
                     &shape[axes[i]]));
    }
    DtMeta *meta = dt_np_view_meta(trace, base, shape, base->ndim + count);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(windows_order(trace, base, axes, count, meta));
    operands[0] = dt_np_node(self);
    for (int i = 1; i < 3 && ok; i++) {
        operands[i] = dt_np_const(Py_None);
        if (slots[i] != NULL) {
            DT_TRY(dt_graph_operand(trace, slots[i], &operands[i], &ok));
        }
    }
    return ok ? dt_np_emit_view(trace, op, operands, 3, meta, out)
              : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such windows", function);
}
