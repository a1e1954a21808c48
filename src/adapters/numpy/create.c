/* New arrays: filled, like another, ranges, from lists; concatenation and stacking.
 *
 * They are called nodes: NumPy itself makes the array at run time.  Sizes may be symbols.
 * Not in here: copies of one array (views.c).
 */
#include "adapters/numpy/internal.h"

#include <math.h>
#include <string.h>

/* ---- Shapes and common arguments ---------------------------------------------------------------------- */

static DtStatus
shape_arg(DtTrace *trace, const char *function, DtVar *var, const DtSym **shape, uint32_t *ndim)
{
    DtVar **items = &var;
    bool many;
    *ndim = 1;
    DT_TRY(dt_np_items(trace, var, &items, ndim, &many));
    if (*ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of %u dimensions", function, *ndim);
    }
    for (uint32_t i = 0; i < *ndim; i++) {
        DT_TRY(dt_np_sym_of(trace, items[i], &shape[i]));
        if (shape[i] == NULL) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a size that is no int", function);
        }
        if (shape[i]->hint.i < 0) {
            return dt_break(trace, DT_BREAK_RAISES, "%s with a negative size", function);
        }
        DT_TRY(dt_np_settle_size(trace, shape[i], &shape[i]));
    }
    return DT_OK;
}

static DtStatus
new_meta(DtTrace *trace, PyObject *dtype, const DtSym *const *shape, uint32_t ndim, DtMeta **out)
{
    *out = dtype != NULL ? dt_np_meta(trace, dtype, ndim) : NULL;
    if (*out == NULL) {
        return DT_ERROR;
    }
    if (ndim > 0) {
        memcpy((*out)->shape, shape, sizeof(shape[0]) * ndim);
    }
    return dt_np_fresh_c(trace, *out);
}

static DtStatus
need_order(DtTrace *trace, const char *function, DtVar *var, const char *value)
{
    PyObject *given = var != NULL ? dt_var_as_constant(trace, var) : NULL;
    if (var != NULL
        && (given == NULL || !PyUnicode_Check(given) || PyUnicode_CompareWithASCIIString(given, value) != 0)) {
        return PyErr_Occurred() ? DT_ERROR : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with order=", function);
    }
    return DT_OK;
}

/* The dtype that NumPy gives to a Python number that stands alone. */
static PyObject *
strong_dtype(PyObject *dtype)
{
    return dtype == (PyObject *)&PyLong_Type      ? dt_np_dtype(NPY_LONG)
           : dtype == (PyObject *)&PyFloat_Type   ? dt_np_dtype(NPY_DOUBLE)
           : dtype == (PyObject *)&PyComplex_Type ? dt_np_dtype(NPY_CDOUBLE)
                                                  : dtype;
}

static bool
drops_imaginary(PyObject *from, PyObject *to)
{
    bool is_complex = from == (PyObject *)&PyComplex_Type
                      || (!PyType_Check(from) && PyTypeNum_ISCOMPLEX(dt_np_descr(from)->type_num));
    return is_complex && !PyTypeNum_ISCOMPLEX(dt_np_descr(to)->type_num);
}

/* ---- zeros, ones, empty, full ------------------------------------------------------------------------------ */

DtStatus
dt_np_fn_filled(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"shape", "dtype", "order"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS];
    DtVar *slots[3];
    DtOperand operands[2];
    PyObject *dtype;
    DtMeta *meta;
    uint32_t ndim;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 3, 1, slots));
    DT_TRY(shape_arg(trace, function, slots[0], shape, &ndim));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[1], &dtype));
    DT_TRY(need_order(trace, function, slots[2], "C"));
    dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_DOUBLE);
    DT_TRY(new_meta(trace, dtype, shape, ndim, &meta));
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &operands[0]));
    operands[1] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

/* The fill value: a number, or an array without dimensions. */
static DtStatus
fill_operand(DtTrace *trace, const char *function, DtVar *var, PyObject **dtype, DtNpOperand *out)
{
    DT_TRY(dt_np_need_operand(trace, var, function, out));
    if (out->array != NULL && out->array->meta->ndim > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with an array of fill values", function);
    }
    *dtype = *dtype != NULL ? *dtype : strong_dtype(out->dtype);
    if (*dtype == NULL) {
        return DT_ERROR;
    }
    if (drops_imaginary(out->dtype, *dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that drops an imaginary part", function);
    }
    return dt_np_fit_weak(trace, out, *dtype);
}

DtStatus
dt_np_fn_full(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"shape", "fill_value", "dtype", "order"};
    const char *function = dt_np_target(op);
    const DtSym *shape[DT_NP_MAXDIMS];
    DtVar *slots[4];
    DtOperand operands[3];
    DtNpOperand fill;
    PyObject *dtype;
    DtMeta *meta;
    uint32_t ndim;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 4, 4, 2, slots));
    DT_TRY(shape_arg(trace, function, slots[0], shape, &ndim));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[2], &dtype));
    DT_TRY(need_order(trace, function, slots[3], "C"));
    DT_TRY(fill_operand(trace, function, slots[1], &dtype, &fill));
    DT_TRY(new_meta(trace, dtype, shape, ndim, &meta));
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &operands[0]));
    operands[1] = fill.operand;
    operands[2] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

DtStatus
dt_np_fn_like(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "fill_value", "dtype", "order", "subok", "shape"};
    static const char *const plain_names[] = {"a", "dtype", "order", "subok", "shape"};
    const char *function = dt_np_target(op);
    bool filled = op == DT_NP_full_like, subok;
    DtVar *slots[6];
    DtOperand operands[3];
    PyObject *dtype;
    DtMeta *meta;
    uint32_t count = filled ? 6 : 5, base = filled ? 2 : 1;
    DT_TRY(dt_np_bind(trace, function, NULL, args, filled ? names : plain_names, count, count, base, slots));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", function, slots[0]->type->name);
    }
    DT_TRY(dt_np_dtype_arg(trace, function, slots[base], &dtype));
    DT_TRY(need_order(trace, function, slots[base + 1], "K"));
    DT_TRY(dt_np_bool_arg(trace, function, slots[base + 2], true, &subok));
    DT_TRY(dt_np_need_default(trace, function, "shape", slots[base + 3]));
    dtype = dtype != NULL ? dtype : array->meta->dtype;
    DtNpOperand like = {.array = array, .dtype = array->meta->dtype}, fill;
    DT_TRY(dt_np_elementwise_meta(trace, &like, 1, dtype, &meta));
    operands[0] = dt_np_node(array);
    if (filled) {
        DT_TRY(fill_operand(trace, function, slots[1], &dtype, &fill));
        operands[1] = fill.operand;
    }
    operands[base] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, base + 1, meta, out);
}

DtStatus
dt_np_fn_eye(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"N", "M", "k", "dtype"};
    const char *function = dt_np_target(op);
    const DtSym *shape[2];
    DtVar *slots[4];
    DtOperand operands[4];
    PyObject *dtype;
    DtMeta *meta;
    int64_t k = 0;
    uint32_t ndim;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 4, 4, 1, slots));
    DT_TRY(shape_arg(trace, function, slots[0], shape, &ndim));
    if (ndim != 1) {
        return dt_break(trace, DT_BREAK_RAISES, "%s with a tuple", function);
    }
    shape[1] = shape[0];
    if (!dt_np_is_none(slots[1])) {
        const DtSym *columns[DT_NP_MAXDIMS];
        DT_TRY(shape_arg(trace, function, slots[1], columns, &ndim));
        shape[1] = columns[0];
    }
    if (slots[2] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[2], &k));
    }
    DT_TRY(dt_np_dtype_arg(trace, function, slots[3], &dtype));
    dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_DOUBLE);
    DT_TRY(new_meta(trace, dtype, shape, 2, &meta));
    DT_TRY(dt_np_size_operand(trace, shape[0], &operands[0]));
    DT_TRY(dt_np_size_operand(trace, shape[1], &operands[1]));
    DT_TRY(dt_np_int_operand(trace, k, &operands[2]));
    operands[3] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}

/* ---- Ranges -------------------------------------------------------------------------------------------------- */

/* Items of arange over ints: none, or the distance over the step, rounded up. */
static DtStatus
int_range_length(DtTrace *trace, const DtSym *start, const DtSym *stop, int64_t step, const DtSym **out)
{
    bool some;
    int64_t stride = step > 0 ? step : -step;
    DT_TRY(step > 0 ? dt_np_difference(trace, stop, start, out) : dt_np_difference(trace, start, stop, out));
    DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GT, *out, 0, &some));
    if (!some) {
        *out = dt_np_size(trace, 0);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    if (stride > 1) {
        DT_TRY(dt_np_offset(trace, *out, stride - 1, out));
        DT_TRY(dt_np_expr_int(trace, DT_SYM_OP_FLOORDIV, *out, stride, out));
    }
    return dt_np_settle_size(trace, *out, out);
}

static DtStatus
float_range_length(DtTrace *trace, DtVar *const *bounds, DtNpOperand *operands, const DtSym **out)
{
    double values[3];
    for (int i = 0; i < 3; i++) {
        PyObject *value = bounds[i] != NULL ? dt_var_as_constant(trace, bounds[i]) : operands[i].constant;
        if (value == NULL || !(PyFloat_CheckExact(value) || PyLong_CheckExact(value))) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_ARRAY_OP, "arange of such numbers");
        }
        values[i] = PyFloat_AsDouble(value);
        if (values[i] == -1.0 && PyErr_Occurred()) {
            return dt_break_from_exception(trace);
        }
        operands[i].operand = dt_np_const(value);
    }
    double length = ceil((values[1] - values[0]) / values[2]);
    if (!(length < 9e15)) { /* a zero step and NaN too */
        return dt_break(trace, DT_BREAK_RAISES, "arange of such length");
    }
    *out = dt_np_size(trace, length > 0 ? (int64_t)length : 0);
    return *out != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_np_fn_arange(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"start", "stop", "step", "dtype"};
    const char *function = dt_np_target(op);
    DtVar *slots[4];
    DtNpOperand numbers[3];
    DtOperand operands[4];
    PyObject *dtype;
    DtMeta *meta;
    const DtSym *bounds[3], *length;
    bool ints = true;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 4, 4, 1, slots));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[3], &dtype));
    if (dt_np_is_none(slots[1])) {
        slots[1] = slots[0];
        DT_TRY(dt_var_int(trace, 0, &slots[0]));
    }
    if (dt_np_is_none(slots[2])) {
        DT_TRY(dt_var_int(trace, 1, &slots[2]));
    }
    for (int i = 0; i < 3; i++) {
        DT_TRY(dt_np_need_operand(trace, slots[i], function, &numbers[i]));
        DT_TRY(dt_np_sym_of(trace, slots[i], &bounds[i]));
        ints = ints && bounds[i] != NULL;
        operands[i] = numbers[i].operand;
    }
    if (ints) {
        DT_TRY(dt_trace_specialize(trace, bounds[2]));
        if (bounds[2]->hint.i == 0 || bounds[2]->hint.i == INT64_MIN) {
            return dt_break(trace, DT_BREAK_RAISES, "arange with step 0");
        }
        DT_TRY(int_range_length(trace, bounds[0], bounds[1], bounds[2]->hint.i, &length));
        dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_LONG);
    }
    else {
        DT_TRY(float_range_length(trace, slots, numbers, &length));
        for (int i = 0; i < 3; i++) {
            operands[i] = numbers[i].operand;
        }
        dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_DOUBLE);
    }
    if (PyTypeNum_ISBOOL(dt_np_descr(dtype)->type_num)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "arange of booleans");
    }
    for (int i = 0; i < 3; i++) {
        DT_TRY(dt_np_fit_weak(trace, &numbers[i], dtype));
    }
    DT_TRY(new_meta(trace, dtype, &length, 1, &meta));
    operands[3] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}

DtStatus
dt_np_fn_linspace(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"start", "stop", "num", "endpoint", "retstep", "dtype", "axis"};
    const char *function = dt_np_target(op);
    DtVar *slots[7];
    DtNpOperand numbers[2];
    DtOperand operands[4];
    int64_t num = 50;
    bool endpoint;
    PyObject *dtype;
    DtMeta *meta;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 7, 7, 2, slots));
    if (slots[4] != NULL || slots[6] != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "linspace with retstep or axis");
    }
    DT_TRY(dt_np_dtype_arg(trace, function, slots[5], &dtype));
    DT_TRY(dt_np_bool_arg(trace, function, slots[3], true, &endpoint));
    if (slots[2] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[2], &num));
    }
    PyObject *f8 = dt_np_dtype(NPY_DOUBLE);
    for (int i = 0; i < 2; i++) {
        DT_TRY(dt_np_need_operand(trace, slots[i], function, &numbers[i]));
        bool real = numbers[i].dtype == (PyObject *)&PyFloat_Type || numbers[i].dtype == (PyObject *)&PyLong_Type
                    || (numbers[i].dtype == f8 && numbers[i].array->meta->ndim == 0);
        if (!real) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "linspace between such values");
        }
        DT_TRY(dt_np_fit_weak(trace, &numbers[i], f8));
        operands[i] = numbers[i].operand;
    }
    if (num < 0 || (dtype != NULL && dtype != f8)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "linspace with such arguments");
    }
    const DtSym *length = dt_np_size(trace, num);
    if (length == NULL) {
        return DT_ERROR;
    }
    DT_TRY(new_meta(trace, f8, &length, 1, &meta));
    DT_TRY(dt_np_int_operand(trace, num, &operands[2]));
    operands[3] = dt_np_const(endpoint ? Py_True : Py_False);
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}

/* ---- array, asarray ---------------------------------------------------------------------------------------------- */

/* Nested lists and tuples of numbers and NumPy scalars: shape and dtype. */
typedef struct Nested {
    int64_t shape[DT_NP_MAXDIMS];
    uint32_t ndim; /* of the first leaf's path; 0xff: none yet */
    PyObject *dtype; /* as asked for, or NULL */
    DT_VEC(DtNpOperand) leaves;
} Nested;

static DtStatus
read_nested(DtTrace *trace, Nested *nested, DtVar *var, uint32_t depth)
{
    DtVar **items;
    uint32_t count;
    bool is_sequence;
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    DT_TRY(dt_np_items(trace, var, &items, &count, &is_sequence));
    if (!is_sequence) {
        DtNpOperand leaf;
        DT_TRY(dt_np_need_operand(trace, var, "array from a sequence", &leaf));
        bool fits = leaf.array == NULL || !dt_np_is_ndarray(leaf.array);
        if (!fits || (nested->ndim != 0xff && nested->ndim != depth)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from a sequence of such items");
        }
        nested->ndim = depth;
        return dt_vec_push(&trace->arena, &nested->leaves, leaf) < 0 ? dt_no_memory() : DT_OK;
    }
    if (depth == DT_NP_MAXDIMS || (nested->shape[depth] >= 0 && nested->shape[depth] != (int64_t)count)
        || (nested->ndim != 0xff && depth >= nested->ndim)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from a ragged sequence");
    }
    nested->shape[depth] = count;
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(read_nested(trace, nested, items[i], depth + 1));
    }
    return DT_OK;
}

static DtStatus
nested_dtype(DtTrace *trace, Nested *nested)
{
    PyObject *found = nested->dtype;
    if (found == NULL) {
        DtNpOperand pair[2];
        for (uint32_t i = 0; i < nested->leaves.count; i++) {
            pair[i > 0] = nested->leaves.items[i];
            pair[i > 0].dtype = strong_dtype(pair[i > 0].dtype);
            if (pair[i > 0].dtype == NULL) {
                return DT_ERROR;
            }
            if (i > 0 && pair[1].dtype != pair[0].dtype) {
                PyObject *common;
                DT_TRY(dt_np_result_type(trace, pair, 2, &common));
                pair[0].dtype = common;
            }
        }
        found = pair[0].dtype;
    }
    for (uint32_t i = 0; i < nested->leaves.count; i++) {
        if (drops_imaginary(nested->leaves.items[i].dtype, found)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "an array that drops imaginary parts");
        }
        DT_TRY(dt_np_fit_weak(trace, &nested->leaves.items[i], found));
    }
    nested->dtype = found;
    return DT_OK;
}

static DtStatus
from_sequence(DtTrace *trace, DtNpOp op, DtVar *var, PyObject *dtype, DtVar **out)
{
    Nested nested = {.ndim = 0xff, .dtype = dtype};
    const DtSym *shape[DT_NP_MAXDIMS];
    DtOperand operands[2];
    DtMeta *meta;
    bool ok;
    memset(nested.shape, 0xff, sizeof(nested.shape));
    DT_TRY(read_nested(trace, &nested, var, 0));
    if (nested.leaves.count == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from an empty sequence");
    }
    DT_TRY(nested_dtype(trace, &nested));
    for (uint32_t i = 0; i < nested.ndim; i++) {
        shape[i] = dt_np_size(trace, nested.shape[i]);
        if (shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    DT_TRY(new_meta(trace, nested.dtype, shape, nested.ndim, &meta));
    DT_TRY(dt_graph_operand(trace, var, &operands[0], &ok));
    if (!ok) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from such a sequence");
    }
    operands[1] = dt_np_const(nested.dtype);
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

static DtStatus
copy_of(DtTrace *trace, DtNpOp op, DtArrayVar *array, PyObject *dtype, DtVar **out)
{
    DtNpOperand operand = {.array = array, .dtype = array->meta->dtype};
    DtOperand operands[2] = {dt_np_node(array)};
    DtMeta *meta;
    dtype = dtype != NULL ? dtype : array->meta->dtype;
    if (drops_imaginary(array->meta->dtype, dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array that drops imaginary parts");
    }
    DT_TRY(dt_np_elementwise_meta(trace, &operand, 1, dtype, &meta));
    operands[1] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, op == DT_NP_copy ? 1 : 2, meta, out);
}

DtStatus
dt_np_fn_array(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"object", "dtype", "copy"};
    DtVar *slots[3];
    PyObject *dtype;
    bool copy;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 3, 2, 1, slots));
    DT_TRY(dt_np_dtype_arg(trace, dt_np_target(op), slots[1], &dtype));
    DT_TRY(dt_np_bool_arg(trace, dt_np_target(op), slots[2], true, &copy));
    if (!copy || (slots[2] != NULL && dt_np_is_none(slots[2]))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "array with copy=");
    }
    DtArrayVar *array = dt_np_array_of(slots[0]);
    return array != NULL ? copy_of(trace, op, array, dtype, out)
                         : from_sequence(trace, op, slots[0], dtype, out);
}

DtStatus
dt_np_fn_asarray(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "dtype"};
    DtVar *slots[2];
    PyObject *dtype;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_dtype_arg(trace, dt_np_target(op), slots[1], &dtype));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL) {
        return from_sequence(trace, op, slots[0], dtype, out);
    }
    if (dt_np_is_ndarray(array) && (dtype == NULL || dtype == array->meta->dtype)) {
        *out = &array->base; /* NumPy gives the array itself */
        return DT_OK;
    }
    return copy_of(trace, op, array, dtype, out);
}

DtStatus
dt_np_fn_ascontiguousarray(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a"};
    DtVar *slot;
    DtMeta *meta;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 1, 1, 1, &slot));
    DtArrayVar *array = dt_np_array_of(slot);
    if (array == NULL || array->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op), slot->type->name);
    }
    if (array->meta->layout & DT_LAYOUT_C) {
        *out = slot; /* NumPy gives the array itself */
        return DT_OK;
    }
    DtOperand operand = dt_np_node(array);
    DT_TRY(new_meta(trace, array->meta->dtype, array->meta->shape, array->meta->ndim, &meta));
    meta->layout &= ~(uint32_t)DT_LAYOUT_FRESH; /* it may be the array itself under some strides */
    return dt_np_emit_view(trace, op, &operand, 1, meta, out);
}

DtStatus
dt_np_fn_copy(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a"};
    DtVar *slot;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 1, 1, 1, &slot));
    DtArrayVar *array = dt_np_array_of(slot);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op), slot->type->name);
    }
    return copy_of(trace, op, array, NULL, out);
}

/* ---- concatenate, stack ---------------------------------------------------------------------------------------------- */

typedef struct Parts {
    DtNpOperand *operands;
    DtOperand *nodes;
    uint32_t count;
    uint32_t ndim;
    bool all_c;
    PyObject *dtype;
} Parts;

static DtStatus
read_parts(DtTrace *trace, const char *function, DtVar *var, Parts *parts)
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
        DT_TRY(dt_np_need_operand(trace, items[i], function, &parts->operands[i]));
        const DtArrayVar *array = parts->operands[i].array;
        if (array == NULL || !dt_np_is_ndarray(array)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of numbers", function);
        }
        if (i > 0 && array->meta->ndim != parts->ndim) {
            return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s of arrays of %u and %u dimensions", function,
                            parts->ndim, array->meta->ndim);
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

static DtStatus
match_size(DtTrace *trace, const char *function, const DtSym *size, const DtSym **result)
{
    bool same;
    DT_TRY(dt_trace_unify(trace, *result, size, &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s of sizes %lld and %lld", function,
                        (long long)(*result)->hint.i, (long long)size->hint.i);
    }
    *result = dt_sym_is_const(size) ? size : *result;
    return DT_OK;
}

static DtStatus
emit_joined(DtTrace *trace, DtNpOp op, const Parts *parts, const DtSym *const *shape, uint32_t ndim,
            uint32_t axis, DtVar **out)
{
    DtOperand operands[2];
    DtMeta *meta;
    DT_TRY(new_meta(trace, parts->dtype, shape, ndim, &meta));
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
    DT_TRY(read_parts(trace, function, slots[0], &parts));
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
    DT_TRY(read_parts(trace, function, slots[0], &parts));
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
