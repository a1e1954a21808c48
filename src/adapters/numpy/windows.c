/* Views in which items stand several times: np.lib.stride_tricks.
 *
 *   sliding_window_view   x: (rows, columns), window (h, w) ──► (rows - h + 1, columns - w + 1, h,
 * w), read-only; the axes of a window have the strides of those it slides along as_strided of an
 * array in C order, as far as all of the view is known to lie in it
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

/* An int of as_strided(), which is at least `least`. */
static DtStatus
read_extent(DtTrace *trace, const char *function, DtVar *var, int64_t least, const DtSym **out)
{
    bool ok = true;
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(dt_np_sym_of(trace, dt_var_peek(var), out));
    if (*out != NULL && !dt_trace_depends_on_data(trace, *out)) {
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GE, *out, least, &ok));
        if (ok) {
            return DT_OK;
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such a shape or such strides", function);
}

/* The bytes from the first item to the end of the last. */
static DtStatus
add_reach(DtTrace *trace, const DtSym *size, const DtSym *stride, const DtSym **bytes)
{
    const DtSym *steps;
    DT_TRY(dt_np_offset(trace, size, -1, &steps));
    DT_TRY(dt_np_expr(trace, DT_SYM_OP_MUL, steps, stride, &steps));
    return dt_np_expr(trace, DT_SYM_OP_ADD, *bytes, steps, bytes);
}

/* Whole items apart? */
static DtStatus
is_multiple(DtTrace *trace, const DtSym *stride, const DtSym *item, bool *out)
{
    const DtSym *rest;
    DT_TRY(dt_np_expr(trace, DT_SYM_OP_MOD, stride, item, &rest));
    return dt_np_decide_int(trace, DT_SYM_OP_EQ, rest, 0, out);
}

DtStatus
dt_np_fn_strided(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"x", "shape", "strides", "subok", "writeable"};
    const char *function = dt_np_target(op);
    DtVar *slots[5], **sizes, **steps;
    DtOperand operands[5];
    const DtSym *shape[DT_NP_MAXDIMS], *strides[DT_NP_MAXDIMS], *bytes, *room;
    uint32_t ndim, count;
    bool many, writeable, inside, whole = true;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 5, 5, 3, slots));
    DT_TRY(dt_np_need_default(trace, function, "subok", slots[3]));
    DT_TRY(dt_np_bool_arg(trace, function, slots[4], true, &writeable));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    if (self == NULL || !dt_np_is_ndarray(self) || !(self->meta->layout & DT_LAYOUT_C)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of what is no array in C order", function);
    }
    sizes = &slots[1];
    steps = &slots[2];
    DT_TRY(dt_np_items(trace, slots[1], &sizes, &ndim, &many));
    DT_TRY(dt_np_items(trace, slots[2], &steps, &count, &whole));
    if (!many || !whole || ndim != count || ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such a shape or such strides", function);
    }
    const DtSym *item = dt_np_size(trace, PyDataType_ELSIZE(dt_np_descr(self->meta->dtype)));
    bytes = item;
    if (item == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        DT_TRY(read_extent(trace, function, sizes[i], 1, &shape[i]));
        DT_TRY(read_extent(trace, function, steps[i], 0, &strides[i]));
        DT_TRY(dt_np_settle_size(trace, shape[i], &shape[i]));
        DT_TRY(add_reach(trace, shape[i], strides[i], &bytes));
        DT_TRY(whole ? is_multiple(trace, strides[i], item, &whole) : DT_OK);
    }
    DT_TRY(dt_np_product(trace, self->meta->shape, self->meta->ndim, &room));
    if (dt_trace_depends_on_data(trace, room)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "%s of a selection", function);
    }
    DT_TRY(dt_np_expr(trace, DT_SYM_OP_MUL, room, item, &room));
    DT_TRY(dt_np_decide(trace, DT_SYM_OP_LE, bytes, room, &inside));
    if (!inside || !whole) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of items that are not the array's", function);
    }
    DtMeta *meta = dt_np_view_meta(trace, self->meta, shape, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    operands[0] = dt_np_node(self);
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &operands[1]));
    DT_TRY(dt_np_shape_operand(trace, strides, ndim, &operands[2]));
    operands[3] = dt_np_const(Py_False);
    operands[4] = dt_np_const(writeable ? Py_True : Py_False);
    return dt_np_emit_view(trace, op, operands, 5, meta, out);
}
