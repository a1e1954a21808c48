/* Diagonals of matrices, and matrices of a diagonal. */
#include "adapters/numpy/internal.h"

/* Of a matrix: a view that can't be written. */
static DtStatus
diagonal(DtTrace *trace, DtVar *self, const char *function, uint32_t npos, const DtArgs *args,
         DtVar **out)
{
    static const char *const names[] = {"a", "offset", "axis1", "axis2"};
    DtVar *slots[4];
    DtOperand operands[2];
    const DtSym *rows, *columns, *size;
    int64_t offset = 0;
    bool taller;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 4, npos, 1, slots));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL || array->meta->ndim != 2 || slots[2] != NULL || slots[3] != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such an array", function);
    }
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &offset));
    }
    DT_TRY(dt_np_offset(trace, array->meta->shape[0], offset < 0 ? offset : 0, &rows));
    DT_TRY(dt_np_offset(trace, array->meta->shape[1], offset > 0 ? -offset : 0, &columns));
    DT_TRY(dt_np_decide(trace, DT_SYM_OP_GT, rows, columns, &taller));
    size = taller ? columns : rows;
    if (size->hint.i < 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s beside the array", function);
    }
    DtMeta *meta = dt_np_meta(trace, array->meta->dtype, 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_settle_size(trace, size, &meta->shape[0]));
    meta->layout =
        array->meta->layout & (DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE | DT_LAYOUT_NEGATIVE);
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_int_operand(trace, offset, &operands[1]));
    return dt_np_emit_view(trace, DT_NP_diagonal, operands, 2, meta, out);
}

DtStatus
dt_np_fn_diagonal(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    uint32_t npos = op == DT_NP_diagonal ? 4 : 1; /* of linalg's, offset= goes by name */
    return diagonal(trace, NULL, dt_np_target(op), npos, args, out);
}

/* Of a vector the matrix that has it on a diagonal, of a matrix its diagonal. */
DtStatus
dt_np_fn_diag(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"v", "k"};
    const char *function = dt_np_target(op);
    DtVar *slots[2];
    DtOperand operands[2];
    const DtSym *shape[2];
    DtMeta *meta;
    int64_t k = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_array_like(trace, &slots[0]));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL || !dt_np_is_ndarray(array) || array->meta->ndim < 1 || array->meta->ndim > 2
        || !(array->meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such an array", function);
    }
    if (array->meta->ndim == 2) {
        DtArgs both = {.pos = slots, .npos = slots[1] != NULL ? 2 : 1};
        return diagonal(trace, NULL, function, 2, &both, out);
    }
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &k));
    }
    if (k > INT32_MAX || k < -INT32_MAX) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s %lld beside the diagonal", function,
                        (long long)k);
    }
    DT_TRY(dt_np_offset(trace, array->meta->shape[0], k < 0 ? -k : k, &shape[0]));
    DT_TRY(dt_np_settle_size(trace, shape[0], &shape[0]));
    shape[1] = shape[0];
    DT_TRY(dt_np_new_meta(trace, array->meta->dtype, shape, 2, &meta));
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_int_operand(trace, k, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

DtStatus
dt_np_m_diagonal(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return diagonal(trace, &self->base, "diagonal", 4, args, out);
}
