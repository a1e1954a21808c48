/* concatenate, stack, and the stacks that add axes (vstack, hstack, dstack, column_stack).
 *
 * Results are in C order where all parts are, else their order is not known here.
 */
#include "adapters/numpy/internal.h"

#include <string.h>

/* ---- concatenate, stack ---------------------------------------------------------------------- */

typedef struct Parts {
    DtNpOperand *operands;
    DtOperand *nodes;
    uint32_t count;
    uint32_t ndim;
    bool all_c;
    PyObject *dtype;
} Parts;

static DtStatus
read_parts(DtTrace *trace, const char *function, DtVar *var, bool any_ndim, Parts *parts)
{
    DtVar **items;
    bool is_sequence;
    DT_TRY(dt_np_items(trace, var, &items, &parts->count, &is_sequence));
    if (!is_sequence || parts->count == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", function, var->type->name);
    }
    parts->operands = DT_ARENA_ARRAY(&trace->arena, DtNpOperand, parts->count);
    parts->nodes = DT_ARENA_ARRAY(&trace->arena, DtOperand, parts->count);
    if (parts->operands == NULL || parts->nodes == NULL) {
        return dt_no_memory();
    }
    parts->all_c = true;
    for (uint32_t i = 0; i < parts->count; i++) {
        DtVar *part = items[i];
        DT_TRY(dt_np_array_like(trace, &part));
        DT_TRY(dt_np_need_operand(trace, part, function, &parts->operands[i]));
        const DtArrayVar *array = parts->operands[i].array;
        if (array == NULL || !dt_np_is_ndarray(array)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of numbers", function);
        }
        if (i > 0 && !any_ndim && array->meta->ndim != parts->ndim) {
            return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s of arrays of %u and %u dimensions",
                            function, parts->ndim, array->meta->ndim);
        }
        parts->ndim = array->meta->ndim;
        parts->all_c = parts->all_c && (array->meta->layout & DT_LAYOUT_C);
        parts->nodes[i] = parts->operands[i].operand;
    }
    parts->dtype = parts->operands[0].dtype;
    return parts->count > 1 || !(parts->operands[0].array->meta->layout & DT_LAYOUT_NATIVE)
               ? dt_np_result_type(trace, parts->operands, parts->count, &parts->dtype)
               : DT_OK;
}

/* Sizes that depend on data are compared by whoever joins: it raises where they differ. */
static DtStatus
match_size(DtTrace *trace, const char *function, const DtSym *size, const DtSym **result)
{
    if (dt_trace_depends_on_data(trace, size) || dt_trace_depends_on_data(trace, *result)) {
        bool better = dt_sym_is_const(size) || dt_np_is_computed_int(trace, *result);
        *result = better && !dt_sym_is_const(*result) ? size : *result;
        return DT_OK;
    }
    return dt_np_match_size(trace, function, size, result);
}

static DtStatus
emit_joined(DtTrace *trace, DtNpOp op, const Parts *parts, const DtSym *const *shape, uint32_t ndim,
            uint32_t axis, DtVar **out)
{
    DtOperand operands[2];
    DtMeta *meta;
    DT_TRY(dt_np_new_meta(trace, parts->dtype, shape, ndim, &meta));
    if (!parts->all_c) {
        DT_TRY(dt_np_fresh(trace, meta, NULL));
    }
    DT_TRY(dt_np_tuple_operand(trace, parts->nodes, parts->count, &operands[0]));
    DT_TRY(dt_np_int_operand(trace, axis, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

DtStatus
dt_np_fn_concatenate(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"arrays", "axis", "out"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS];
    DtVar *slots[3];
    Parts parts;
    uint32_t axis = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 3, 1, slots));
    DT_TRY(dt_np_need_default(trace, function, "out", slots[2]));
    if (slots[1] != NULL && dt_np_is_none(slots[1])) {
        return dt_np_fn_dry(trace, op, args, out); /* of all items in one row */
    }
    DT_TRY(read_parts(trace, function, slots[0], false, &parts));
    if (parts.ndim == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "%s of arrays without dimensions", function);
    }
    if (slots[1] != NULL) {
        DT_TRY(dt_np_axis(trace, function, slots[1], parts.ndim, &axis));
    }
    memcpy(shape, parts.operands[0].array->meta->shape, sizeof(shape[0]) * parts.ndim);
    for (uint32_t i = 1; i < parts.count; i++) {
        const DtSym *const *other = parts.operands[i].array->meta->shape;
        for (uint32_t j = 0; j < parts.ndim; j++) {
            if (j != axis) {
                DT_TRY(match_size(trace, function, other[j], &shape[j]));
                continue;
            }
            DT_TRY(dt_np_expr(trace, DT_SYM_OP_ADD, shape[j], other[j], &shape[j]));
        }
    }
    DT_TRY(dt_np_settle_size(trace, shape[axis], &shape[axis]));
    return emit_joined(trace, op, &parts, shape, parts.ndim, axis, out);
}

DtStatus
dt_np_fn_stack(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"arrays", "axis", "out"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS], *whole[DT_NP_MAXDIMS + 1];
    DtVar *slots[3];
    Parts parts;
    uint32_t axis = 0, from = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 2, 1, slots));
    DT_TRY(dt_np_need_default(trace, function, "out", slots[2]));
    DT_TRY(read_parts(trace, function, slots[0], false, &parts));
    if (parts.ndim == DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of so many dimensions", function);
    }
    if (slots[1] != NULL) {
        DT_TRY(dt_np_axis(trace, function, slots[1], parts.ndim + 1, &axis));
    }
    memcpy(shape, parts.operands[0].array->meta->shape, sizeof(shape[0]) * parts.ndim);
    for (uint32_t i = 1; i < parts.count; i++) {
        for (uint32_t j = 0; j < parts.ndim; j++) {
            DT_TRY(match_size(trace, function, parts.operands[i].array->meta->shape[j], &shape[j]));
        }
    }
    for (uint32_t i = 0; i <= parts.ndim; i++) {
        whole[i] = i == axis ? dt_np_size(trace, parts.count) : shape[from++];
        if (whole[i] == NULL) {
            return DT_ERROR;
        }
    }
    return emit_joined(trace, op, &parts, whole, parts.ndim + 1, axis, out);
}

/* ---- vstack, hstack, dstack, column_stack ---------------------------------------------------- */

static const struct StackRow {
    DtNpOp op;
    uint32_t axis;     /* along which the parts are joined */
    uint32_t at_least; /* dimensions of each part, by axes of one item */
    uint32_t before;   /* how many of those stand before the axis of a part that has one */
} stack_rows[] = {
    {DT_NP_vstack, 0, 2, 1},
    {DT_NP_hstack, 1, 1, 0}, /* along axis 0 where the first part has one axis */
    {DT_NP_dstack, 2, 3, 1},
    {DT_NP_column_stack, 1, 2, 0},
};

/* The shape of a part with the axes that the function adds. */
static DtStatus
widen(DtTrace *trace, const struct StackRow *row, const DtMeta *meta, const DtSym **shape,
      uint32_t *ndim)
{
    uint32_t before = meta->ndim == 1 && row->at_least > 1 ? row->before : 0;
    *ndim = meta->ndim > row->at_least ? meta->ndim : row->at_least;
    for (uint32_t i = 0; i < *ndim; i++) {
        bool own = i >= before && i - before < meta->ndim;
        shape[i] = own ? meta->shape[i - before] : dt_np_size(trace, 1);
        if (shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

DtStatus
dt_np_fn_stack_along(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"tup"};
    const struct StackRow *row = stack_rows;
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS], *other[DT_NP_MAXDIMS];
    DtVar *slot;
    DtOperand operand;
    DtMeta *meta;
    Parts parts;
    uint32_t ndim = 0, other_ndim;
    while (row->op != op) {
        row++;
    }
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 1, 1, 1, &slot));
    DT_TRY(read_parts(trace, function, slot, true, &parts));
    uint32_t axis = row->axis;
    for (uint32_t i = 0; i < parts.count; i++) {
        const DtMeta *part = parts.operands[i].array->meta;
        if (part->ndim == 0) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of arrays without dimensions", function);
        }
        DT_TRY(widen(trace, row, part, i == 0 ? shape : other, &other_ndim));
        if (i == 0) {
            ndim = other_ndim;
            axis = axis < ndim ? axis : 0;
            continue;
        }
        if (other_ndim != ndim) {
            return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s of arrays of %u and %u dimensions",
                            function, ndim, other_ndim);
        }
        for (uint32_t j = 0; j < ndim; j++) {
            DT_TRY(j == axis ? dt_np_expr(trace, DT_SYM_OP_ADD, shape[j], other[j], &shape[j])
                             : match_size(trace, function, other[j], &shape[j]));
        }
    }
    DT_TRY(dt_np_settle_size(trace, shape[axis], &shape[axis]));
    DT_TRY(dt_np_new_meta(trace, parts.dtype, shape, ndim, &meta));
    if (!parts.all_c) {
        DT_TRY(dt_np_fresh(trace, meta, NULL));
    }
    DT_TRY(dt_np_tuple_operand(trace, parts.nodes, parts.count, &operand));
    return dt_np_emit_one(trace, op, &operand, 1, meta, out);
}
