/* roll, tril, triu and tile stay calls of NumPy; diff and outer, which are elementwise in disguise,
 * are taken apart.
 */
#include "adapters/numpy/calls.h"

#include <string.h>

#define MAX_DIFFERENCES 4

/* ---- roll ------------------------------------------------------------------------------------ */

/* *one: a Python int, or one out of an array. */
static DtStatus
shift_operand(DtTrace *trace, DtVar *var, DtOperand *out, bool *one)
{
    const DtSym *shift;
    DT_TRY(dt_np_sym_of(trace, var, &shift));
    *one = true;
    if (shift != NULL) {
        return dt_np_size_operand(trace, shift, out);
    }
    const DtArrayVar *array = dt_np_array_of(var);
    *one = array != NULL && array->meta->ndim == 0
           && PyTypeNum_ISINTEGER(dt_np_descr(array->meta->dtype)->type_num);
    if (*one) {
        *out = dt_np_node(array);
    }
    return DT_OK;
}

/* With an axis a new array like the operand; without one a view of a new flat one. */
DtStatus
dt_np_fn_roll(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "shift", "axis"};
    const char *function = dt_np_target(op);
    DtVar *slots[3];
    DtArrayVar *array;
    DtOperand operands[3];
    DtMeta *meta;
    uint32_t axis = 0;
    bool flat = true, one;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 3, 2, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    DT_TRY(shift_operand(trace, slots[1], &operands[1], &one));
    if (!one) {
        return dt_np_fn_dry(trace, op, args, out); /* along several axes */
    }
    if (!dt_np_is_none(slots[2])) {
        flat = false;
        DT_TRY(dt_np_axis(trace, function, slots[2], array->meta->ndim, &axis));
    }
    DT_TRY(dt_np_call_like(trace, array->meta, array->meta->dtype, flat, &meta));
    meta->layout &= ~(uint32_t)(flat ? DT_LAYOUT_FRESH : 0);
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[2]));
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

/* ---- tril, triu ------------------------------------------------------------------------------ */

DtStatus
dt_np_fn_triangle(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"m", "k"};
    const char *function = dt_np_target(op);
    DtVar *slots[2];
    DtArrayVar *array;
    DtOperand operands[2];
    DtMeta *meta;
    int64_t k = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &k));
    }
    if (array->meta->ndim < 2 || k > INT32_MAX || k < -INT32_MAX) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of %u dimensions", function,
                        array->meta->ndim);
    }
    DT_TRY(dt_np_call_like(trace, array->meta, array->meta->dtype, false, &meta));
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_int_operand(trace, k, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

/* ---- diff, outer: taken apart ---------------------------------------------------------------- */

/* array[..., start:stop, ...] along `axis`. */
static DtStatus
part_of(DtTrace *trace, DtVar *array, uint32_t axis, DtVar *start, DtVar *stop, DtVar **out)
{
    DtVar *items[DT_NP_MAXDIMS], *none, *key;
    DtArrayVar *self = dt_np_array_of(array);
    DT_TRY(dt_var_const(trace, Py_None, &none));
    for (uint32_t i = 0; i < axis; i++) {
        DT_TRY(dt_var_slice(trace, none, none, none, &items[i]));
    }
    DT_TRY(dt_var_slice(trace, start != NULL ? start : none, stop != NULL ? stop : none, none,
                        &items[axis]));
    DT_TRY(dt_var_tuple(trace, items, axis + 1, &key));
    return dt_np_subscript(&dt_np_adapter, trace, self, key, out);
}

DtStatus
dt_np_fn_diff(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "n", "axis", "prepend", "append"};
    const char *function = dt_np_target(op);
    DtVar *slots[5], *one, *minus_one, *pair[2], *current;
    DtArrayVar *array;
    int64_t n = 1;
    uint32_t axis;
    bool flat;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 5, 5, 1, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &n));
    }
    if (slots[3] != NULL || slots[4] != NULL || n < 1 || n > MAX_DIFFERENCES) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such arguments", function);
    }
    DT_TRY(dt_np_call_axis(trace, function, slots[2], array->meta->ndim, -1, &axis, &flat));
    if (flat) {
        return dt_break(trace, DT_BREAK_RAISES, "%s without an axis", function);
    }
    DT_TRY(dt_var_int(trace, 1, &one));
    DT_TRY(dt_var_int(trace, -1, &minus_one));
    bool boolean = PyTypeNum_ISBOOL(dt_np_descr(array->meta->dtype)->type_num);
    current = &array->base;
    while (n-- > 0) {
        DT_TRY(part_of(trace, current, axis, one, NULL, &pair[0]));
        DT_TRY(part_of(trace, current, axis, NULL, minus_one, &pair[1]));
        DT_TRY(
            dt_np_apply_vars(trace, boolean ? DT_NP_not_equal : DT_NP_subtract, pair, 2, &current));
    }
    *out = current;
    return DT_OK;
}

DtStatus
dt_np_outer(DtTrace *trace, DtNpOp op, DtArrayVar *const *arrays, DtVar **out)
{
    DtVar *items[DT_NP_MAXDIMS], *pair[2], *none, *all, *key;
    uint32_t own = arrays[0]->meta->ndim, ndim = own + arrays[1]->meta->ndim;
    DT_TRY(dt_var_const(trace, Py_None, &none));
    DT_TRY(dt_var_slice(trace, none, none, none, &all));
    for (uint32_t i = 0; i < ndim; i++) {
        items[i] = i < own ? all : none;
    }
    DT_TRY(dt_var_tuple(trace, items, ndim, &key));
    DT_TRY(dt_np_subscript(&dt_np_adapter, trace, arrays[0], key, &pair[0]));
    pair[1] = &arrays[1]->base;
    return dt_np_apply_vars(trace, op, pair, 2, out);
}

/* Of complex numbers the loops for contiguous memory may round otherwise than the strided ones. */
DtStatus
dt_np_fn_outer(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "b", "out"};
    const char *function = dt_np_target(op);
    DtVar *slots[3];
    DtArrayVar *arrays[2];
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 3, 2, slots));
    DT_TRY(dt_np_need_default(trace, function, "out", slots[2]));
    for (int i = 0; i < 2; i++) {
        DT_TRY(dt_np_call_array(trace, function, slots[i], &arrays[i]));
        if (arrays[i]->meta->ndim != 1
            || PyTypeNum_ISCOMPLEX(dt_np_descr(arrays[i]->meta->dtype)->type_num)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such arrays", function);
        }
    }
    return dt_np_outer(trace, DT_NP_multiply, arrays, out);
}

/* ---- tile ------------------------------------------------------------------------------------ */

/* A view of new memory in C order, if anything is repeated at all. */
DtStatus
dt_np_fn_tile(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"A", "reps"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS];
    DtVar *slots[2], **items = &slots[1];
    DtArrayVar *array;
    DtOperand operands[2], times[DT_NP_MAXDIMS];
    DtMeta *meta;
    uint32_t count = 1;
    bool many, copies = false;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 2, 2, 2, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    DT_TRY(dt_np_items(trace, slots[1], &items, &count, &many));
    if (!many) {
        items = &slots[1];
        count = 1;
    }
    if (count == 0 || count > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with %u counts", function, count);
    }
    uint32_t own = array->meta->ndim, ndim = own > count ? own : count;
    for (uint32_t i = 0; i < ndim; i++) {
        shape[i] = i < ndim - own ? dt_np_size(trace, 1) : array->meta->shape[i - (ndim - own)];
        if (shape[i] == NULL) {
            return DT_ERROR;
        }
        if (i < ndim - count) {
            continue;
        }
        int64_t n;
        DtVar *item;
        DT_TRY(dt_var_realize(trace, items[i - (ndim - count)], &item));
        DT_TRY(dt_np_int_arg(trace, function, dt_var_peek(item), &n));
        if (n < 1) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s %lld times", function, (long long)n);
        }
        copies = copies || n > 1;
        DT_TRY(dt_np_int_operand(trace, n, &times[i - (ndim - count)]));
        DT_TRY(dt_np_expr_int(trace, DT_SYM_OP_MUL, shape[i], n, &shape[i]));
        DT_TRY(dt_np_settle_size(trace, shape[i], &shape[i]));
    }
    if (!copies) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that repeats nothing", function);
    }
    DT_TRY(dt_np_new_meta(trace, array->meta->dtype, shape, ndim, &meta));
    meta->layout &= ~(uint32_t)DT_LAYOUT_FRESH;
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_tuple_operand(trace, times, count, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}
