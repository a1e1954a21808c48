/* Functions that stay calls of NumPy: order and position, accumulation, selection.
 *
 * Each is one node whose callee is NumPy's own function; what is decided here is the exact
 * metadata of its result.  Results of input in C order are in C order; otherwise their order
 * is unknown unless the function always allocates in C order.  Results that are views of
 * memory nobody else has are not FRESH, so that nothing is written into them.
 * Not in here: rearrangement (rearranged.c), linalg (linalg.c), joins (join.c).
 */
#include "adapters/numpy/calls.h"

#include <string.h>

/* ---- Shared ---------------------------------------------------------------------------------- */

DtStatus
dt_np_call_array(DtTrace *trace, const char *function, DtVar *var, DtArrayVar **out)
{
    DT_TRY(dt_np_array_like(trace, &var));
    *out = dt_np_any_array(var);
    if (*out == NULL || !dt_np_is_ndarray(*out) || (*out)->meta->ndim == 0
        || !((*out)->meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such a %s", function, var->type->name);
    }
    return DT_OK;
}

DtStatus
dt_np_call_axis(DtTrace *trace, const char *function, DtVar *var, uint32_t ndim, int64_t absent,
                uint32_t *axis, bool *flat)
{
    *flat = false;
    if (var == NULL) {
        *axis = (uint32_t)(absent < 0 ? absent + ndim : absent);
        return DT_OK;
    }
    *flat = dt_np_is_none(var);
    return *flat ? DT_OK : dt_np_axis(trace, function, var, ndim, axis);
}

DtStatus
dt_np_call_axis_operand(DtTrace *trace, uint32_t axis, bool flat, DtOperand *out)
{
    if (flat) {
        *out = dt_np_const(Py_None);
        return DT_OK;
    }
    return dt_np_int_operand(trace, axis, out);
}

static DtStatus
whole_size(DtTrace *trace, const DtMeta *meta, const DtSym **out)
{
    DT_TRY(dt_np_product(trace, meta->shape, meta->ndim, out));
    return dt_np_settle_size(trace, *out, out);
}

DtStatus
dt_np_call_like(DtTrace *trace, const DtMeta *array, PyObject *dtype, bool c, DtMeta **out)
{
    if (dtype == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_new_meta(trace, dtype, (const DtSym *const *)array->shape, array->ndim, out));
    return c || array->ndim == 1 || (array->layout & DT_LAYOUT_C) ? DT_OK
                                                                  : dt_np_fresh(trace, *out, NULL);
}

/* One axis of `size` items in C order. */
static DtStatus
flat_meta(DtTrace *trace, PyObject *dtype, const DtSym *size, DtMeta **out)
{
    return dtype != NULL ? dt_np_new_meta(trace, dtype, &size, 1, out) : DT_ERROR;
}

/* ---- argmin, argmax -------------------------------------------------------------------------- */

static DtStatus
position(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis", "out", "keepdims"};
    const char *function = dt_np_target(op);
    DtVar *slots[4];
    DtArrayVar *array;
    DtOperand operands[2];
    DtMeta *meta;
    uint32_t axis = 0, ndim = 0;
    bool flat = true;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 4, 3, 1, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    DT_TRY(dt_np_need_default(trace, function, "out", slots[2]));
    DT_TRY(dt_np_need_default(trace, function, "keepdims", slots[3]));
    if (!dt_np_is_none(slots[1])) {
        flat = false;
        DT_TRY(dt_np_axis(trace, function, slots[1], array->meta->ndim, &axis));
    }
    PyObject *dtype = dt_np_dtype(NPY_INTP);
    meta = dtype != NULL ? dt_np_meta(trace, dtype, array->meta->ndim) : NULL;
    if (meta == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < array->meta->ndim; i++) {
        if (flat || i == axis) {
            if (dt_np_size_is(array->meta->shape[i], 0)) {
                return dt_break(trace, DT_BREAK_RAISES, "%s of no items", function);
            }
            continue;
        }
        meta->shape[ndim++] = array->meta->shape[i];
    }
    meta->ndim = (uint8_t)ndim;
    dt_np_meta_unwrap(meta);
    DT_TRY(dt_np_fresh_c(trace, meta));
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

/* ---- cumsum, cumprod ------------------------------------------------------------------------- */

static DtStatus
accumulate(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis", "dtype", "out"};
    const char *function = dt_np_target(op);
    DtVar *slots[4];
    DtArrayVar *array;
    DtOperand operands[3];
    DtMeta *meta;
    PyObject *dtype, *result;
    uint32_t axis = 0;
    bool flat = true;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 4, 4, 1, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[2], &dtype));
    DT_TRY(dt_np_need_default(trace, function, "out", slots[3]));
    if (dtype != NULL && dtype != array->meta->dtype) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with another dtype", function);
    }
    DT_TRY(dt_np_resolve_reduce(trace, op == DT_NP_cumsum ? DT_NP_add : DT_NP_multiply,
                                array->meta->dtype, dtype, &result));
    if (!dt_np_is_none(slots[1])) {
        flat = false;
        DT_TRY(dt_np_axis(trace, function, slots[1], array->meta->ndim, &axis));
        DT_TRY(dt_np_call_like(trace, array->meta, result, false, &meta));
    }
    else {
        const DtSym *size;
        DT_TRY(whole_size(trace, array->meta, &size));
        DT_TRY(flat_meta(trace, result, size, &meta));
    }
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[1]));
    operands[2] = dt_np_const(dtype != NULL ? dtype : Py_None);
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

/* ---- sort, argsort --------------------------------------------------------------------------- */

static DtStatus
sorted(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis", "kind", "order"};
    const char *function = dt_np_target(op);
    bool positions = op == DT_NP_argsort;
    DtVar *slots[4];
    DtArrayVar *array;
    DtOperand operands[3];
    DtMeta *meta;
    PyObject *kind = Py_None;
    uint32_t axis = 0;
    bool flat;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 4, 4, 1, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    DT_TRY(dt_np_need_default(trace, function, "order", slots[3]));
    DT_TRY(dt_np_call_axis(trace, function, slots[1], array->meta->ndim, -1, &axis, &flat));
    if (!dt_np_is_none(slots[2])) {
        kind = dt_var_as_constant(trace, slots[2]);
        if (kind == NULL || !PyUnicode_CheckExact(kind)) {
            return PyErr_Occurred()
                       ? DT_ERROR
                       : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: such a kind", function);
        }
    }
    PyObject *dtype = positions ? dt_np_dtype(NPY_INTP) : array->meta->dtype;
    if (flat) {
        const DtSym *size;
        DT_TRY(whole_size(trace, array->meta, &size));
        DT_TRY(flat_meta(trace, dtype, size, &meta));
    }
    else {
        DT_TRY(dt_np_call_like(trace, array->meta, dtype, positions, &meta));
    }
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[1]));
    operands[2] = dt_np_const(kind);
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

/* ---- take, repeat ---------------------------------------------------------------------------- */

/* A copy in C order, its bounds checked when it runs. */
static DtStatus
taken(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "indices", "axis", "out", "mode"};
    const char *function = dt_np_target(op);
    const DtSym *shape[2 * DT_NP_MAXDIMS];
    DtVar *slots[5];
    DtArrayVar *array, *indices;
    DtOperand operands[3];
    DtMeta *meta;
    uint32_t axis = 0, ndim = 0;
    bool flat = true;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 5, 5, 2, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    PyObject *number = dt_var_peek_constant(slots[1]);
    if (slots[4] != NULL || (number != NULL && PyLong_CheckExact(number))) {
        return dt_np_call_dry(trace, op, self, args, out);
    }
    DT_TRY(dt_np_call_array(trace, function, slots[1], &indices));
    DT_TRY(dt_np_need_default(trace, function, "out", slots[3]));
    const DtMeta *a = array->meta, *index = indices->meta;
    PyObject *intp = dt_np_dtype(NPY_INTP);
    if (intp == NULL) {
        return DT_ERROR;
    }
    if (!PyTypeNum_ISINTEGER(dt_np_descr(index->dtype)->type_num)
        || !PyArray_CanCastTypeTo(dt_np_descr(index->dtype), dt_np_descr(intp), NPY_SAFE_CASTING)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s at an array of %s", function,
                        dt_np_descr(index->dtype)->typeobj->tp_name);
    }
    if (!dt_np_is_none(slots[2])) {
        flat = false;
        DT_TRY(dt_np_axis(trace, function, slots[2], a->ndim, &axis));
    }
    for (uint32_t i = 0; !flat && i < axis; i++) {
        shape[ndim++] = a->shape[i];
    }
    for (uint32_t i = 0; i < index->ndim; i++) {
        shape[ndim++] = index->shape[i];
    }
    for (uint32_t i = axis + 1; !flat && i < a->ndim; i++) {
        shape[ndim++] = a->shape[i];
    }
    if (ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of so many dimensions", function);
    }
    DT_TRY(dt_np_new_meta(trace, a->dtype, shape, ndim, &meta));
    operands[0] = dt_np_node(array);
    operands[1] = dt_np_node(indices);
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[2]));
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

static DtStatus
repeated(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "repeats", "axis"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS], *size;
    DtVar *slots[3];
    DtArrayVar *array;
    DtOperand operands[3];
    DtMeta *meta;
    int64_t times = 0;
    uint32_t axis = 0;
    bool flat = true;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 3, 3, 2, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    DT_TRY(dt_np_array_like(trace, &slots[1]));
    DtArrayVar *counts = dt_np_array_of(slots[1]);
    if (counts == NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &times));
    }
    else if (!PyTypeNum_ISINTEGER(dt_np_descr(counts->meta->dtype)->type_num)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s by an array of such a dtype", function);
    }
    if (times < 0) {
        return dt_break(trace, DT_BREAK_RAISES, "%s %lld times", function, (long long)times);
    }
    if (!dt_np_is_none(slots[2])) {
        flat = false;
        DT_TRY(dt_np_axis(trace, function, slots[2], array->meta->ndim, &axis));
        memcpy(shape, array->meta->shape, sizeof(shape[0]) * array->meta->ndim);
        size = shape[axis];
    }
    else {
        DT_TRY(dt_np_product(trace, array->meta->shape, array->meta->ndim, &size));
    }
    if (counts != NULL) { /* the data say how many come out */
        DT_TRY(dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, &size));
    }
    else {
        DT_TRY(dt_np_expr_int(trace, DT_SYM_OP_MUL, size, times, &size));
        DT_TRY(dt_np_settle_size(trace, size, &size));
    }
    shape[axis] = size;
    DT_TRY(dt_np_new_meta(trace, array->meta->dtype, shape, flat ? 1 : array->meta->ndim, &meta));
    operands[0] = dt_np_node(array);
    if (counts != NULL) {
        operands[1] = dt_np_node(counts);
    }
    else {
        DT_TRY(dt_np_int_operand(trace, times, &operands[1]));
    }
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[2]));
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

/* ---- trace ----------------------------------------------------------------------------------- */

/* The sum of the diagonal, as NumPy makes it. */
static DtStatus
diagonal_sum(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a"};
    const char *function = dt_np_target(op);
    DtVar *slot;
    DtArrayVar *array;
    if (args->npos + args->nkw + (self != NULL) != 1) {
        return dt_np_call_dry(trace, op, self, args, out);
    }
    DT_TRY(dt_np_bind(trace, function, self, args, names, 1, 1, 1, &slot));
    DT_TRY(dt_np_call_array(trace, function, slot, &array));
    if (array->meta->ndim != 2) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of %u dimensions", function,
                        array->meta->ndim);
    }
    DtArgs none = {0};
    DT_TRY(dt_np_m_diagonal(trace, array, &none, out));
    return dt_np_reduce(trace, DT_NP_add, dt_np_array_of(*out), 1, false, NULL, false, out);
}

/* ---- median ---------------------------------------------------------------------------------- */

/* Written in Python, but what it reports are floating-point flags alone: of NaN it says nothing. */
DtStatus
dt_np_fn_median(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS];
    DtVar *slots[2];
    DtArrayVar *array;
    DtOperand operands[2];
    DtMeta *meta;
    uint32_t axis = 0, ndim = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_call_array(trace, function, slots[0], &array));
    int num = dt_np_descr(array->meta->dtype)->type_num;
    if (!PyTypeNum_ISINTEGER(num) && num != NPY_FLOAT && num != NPY_DOUBLE) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such a dtype", function);
    }
    bool flat = dt_np_is_none(slots[1]);
    if (!flat) {
        DT_TRY(dt_np_axis(trace, function, slots[1], array->meta->ndim, &axis));
    }
    for (uint32_t i = 0; i < array->meta->ndim && !flat; i++) {
        if (i != axis) {
            shape[ndim++] = array->meta->shape[i];
        }
    }
    PyObject *dtype = num == NPY_FLOAT ? array->meta->dtype : dt_np_dtype(NPY_DOUBLE);
    DT_TRY(dt_np_new_meta(trace, dtype, shape, ndim, &meta));
    dt_np_meta_unwrap(meta);
    if (ndim > 1 && !(array->meta->layout & DT_LAYOUT_C)) {
        DT_TRY(dt_np_fresh(trace, meta, NULL));
    }
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_call_axis_operand(trace, axis, flat, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

/* ---- Functions and methods ------------------------------------------------------------------- */

#define FUNCTION(NAME, IMPLEMENTATION)                                                             \
    DtStatus dt_np_fn_##NAME(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)           \
    {                                                                                              \
        return IMPLEMENTATION(trace, op, NULL, args, out);                                         \
    }
#define METHOD(NAME, IMPLEMENTATION)                                                               \
    DtStatus dt_np_m_##NAME(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)     \
    {                                                                                              \
        return IMPLEMENTATION(trace, DT_NP_##NAME, &self->base, args, out);                        \
    }
FUNCTION(position, position)
FUNCTION(accumulate, accumulate)
FUNCTION(sorted, sorted)
FUNCTION(take, taken)
FUNCTION(repeat, repeated)
FUNCTION(trace, diagonal_sum)
METHOD(argmax, position)
METHOD(argmin, position)
METHOD(cumsum, accumulate)
METHOD(cumprod, accumulate)
METHOD(argsort, sorted)
METHOD(take, taken)
METHOD(repeat, repeated)
METHOD(trace, diagonal_sum)
#undef FUNCTION
#undef METHOD
