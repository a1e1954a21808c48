/* New arrays: filled, like another, ranges.
 *
 * They are called nodes: NumPy itself makes the array at run time.  Sizes may be symbols.
 * Not in here: arrays from sequences (sequence.c), joined ones (join.c).
 */
#include "adapters/numpy/index.h"

#include <math.h>
#include <string.h>

/* ---- Shapes and common arguments ------------------------------------------------------------- */

DtStatus
dt_np_shape_arg(DtTrace *trace, const char *function, DtVar *var, const DtSym **shape,
                uint32_t *ndim)
{
    DtVar **items = &var;
    bool many;
    *ndim = 1;
    DT_TRY(dt_np_items(trace, var, &items, ndim, &many));
    if (*ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of %u dimensions", function, *ndim);
    }
    for (uint32_t i = 0; i < *ndim; i++) {
        DT_TRY(dt_np_size_of(trace, items[i], &shape[i]));
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

DtStatus
dt_np_new_meta(DtTrace *trace, PyObject *dtype, const DtSym *const *shape, uint32_t ndim,
               DtMeta **out)
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

/* The dtype that NumPy gives to a Python number that stands alone. */
PyObject *
dt_np_strong_dtype(PyObject *dtype)
{
    return dtype == (PyObject *)&PyLong_Type      ? dt_np_dtype(NPY_LONG)
           : dtype == (PyObject *)&PyFloat_Type   ? dt_np_dtype(NPY_DOUBLE)
           : dtype == (PyObject *)&PyComplex_Type ? dt_np_dtype(NPY_CDOUBLE)
                                                  : dtype;
}

bool
dt_np_drops_imaginary(PyObject *from, PyObject *to)
{
    bool is_complex = from == (PyObject *)&PyComplex_Type
                      || (!PyType_Check(from) && PyTypeNum_ISCOMPLEX(dt_np_descr(from)->type_num));
    int num = dt_np_descr(to)->type_num;
    return is_complex && !PyTypeNum_ISCOMPLEX(num) && num != NPY_BOOL;
}

/* ---- zeros, ones, empty, full ---------------------------------------------------------------- */

static DtStatus
need_order(DtTrace *trace, const char *function, DtVar *var, const char *value)
{
    return dt_np_need_text(trace, function, "order", var, value);
}

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
    DT_TRY(dt_np_shape_arg(trace, function, slots[0], shape, &ndim));
    DT_TRY(need_order(trace, function, slots[2], "C"));
    DT_TRY(dt_np_record_dtype_arg(trace, function, slots[1], &dtype, &operands[1]));
    if (dtype == NULL) {
        DT_TRY(dt_np_any_dtype_arg(trace, function, slots[1], &dtype));
        dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_DOUBLE);
        operands[1] = dt_np_const(dtype);
    }
    if (!dt_np_dtype_captured(dt_np_descr(dtype)) && op == DT_NP_ones) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s with such a dtype", function);
    }
    DT_TRY(dt_np_new_meta(trace, dtype, shape, ndim, &meta));
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &operands[0]));
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
    *dtype = *dtype != NULL ? *dtype : dt_np_strong_dtype(out->dtype);
    if (*dtype == NULL) {
        return DT_ERROR;
    }
    if (dt_np_drops_imaginary(out->dtype, *dtype)) {
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
    DT_TRY(dt_np_shape_arg(trace, function, slots[0], shape, &ndim));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[2], &dtype));
    DT_TRY(need_order(trace, function, slots[3], "C"));
    const DtArrayVar *fills = dt_np_array_of(slots[1]);
    if (fills != NULL && fills->meta->ndim > 0) {
        return dt_np_fn_dry(trace, op, args, out);
    }
    DT_TRY(fill_operand(trace, function, slots[1], &dtype, &fill));
    DT_TRY(dt_np_new_meta(trace, dtype, shape, ndim, &meta));
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
    DT_TRY(dt_np_bind(trace, function, NULL, args, filled ? names : plain_names, count, count, base,
                      slots));
    DT_TRY(dt_np_array_like(trace, &slots[0]));
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
    DT_TRY(dt_np_shape_arg(trace, function, slots[0], shape, &ndim));
    if (ndim != 1) {
        return dt_break(trace, DT_BREAK_RAISES, "%s with a tuple", function);
    }
    shape[1] = shape[0];
    if (!dt_np_is_none(slots[1])) {
        const DtSym *columns[DT_NP_MAXDIMS];
        DT_TRY(dt_np_shape_arg(trace, function, slots[1], columns, &ndim));
        shape[1] = columns[0];
    }
    if (slots[2] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[2], &k));
    }
    DT_TRY(dt_np_dtype_arg(trace, function, slots[3], &dtype));
    dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_DOUBLE);
    DT_TRY(dt_np_new_meta(trace, dtype, shape, 2, &meta));
    DT_TRY(dt_np_size_operand(trace, shape[0], &operands[0]));
    DT_TRY(dt_np_size_operand(trace, shape[1], &operands[1]));
    DT_TRY(dt_np_int_operand(trace, k, &operands[2]));
    operands[3] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* Items of arange over ints: none, or the distance over the step, rounded up. */
static DtStatus
int_range_length(DtTrace *trace, const DtSym *start, const DtSym *stop, int64_t step,
                 const DtSym **out)
{
    bool some;
    int64_t stride = step > 0 ? step : -step;
    DT_TRY(step > 0 ? dt_np_difference(trace, stop, start, out)
                    : dt_np_difference(trace, start, stop, out));
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
        PyObject *value =
            bounds[i] != NULL ? dt_var_as_constant(trace, bounds[i]) : operands[i].constant;
        if (value == NULL || !(PyFloat_CheckExact(value) || PyLong_CheckExact(value))) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_ARRAY_OP, "arange of such numbers");
        }
        values[i] = PyFloat_AsDouble(value);
        if (values[i] == -1.0 && PyErr_Occurred()) {
            return dt_break_on_exception(trace);
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

/* From one text to another, by a number of units: known at once how long. */
static DtStatus
range_of_dates(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar *const *slots, DtVar **out)
{
    for (int i = 0; i < 3; i++) {
        PyObject *value = slots[i] != NULL ? dt_var_as_constant(trace, slots[i]) : NULL;
        bool text = i < 2 && value != NULL && dt_np_is_plain_date(value);
        if (!text
            && (i < 2 || (slots[i] != NULL && (value == NULL || !PyLong_CheckExact(value))))) {
            return PyErr_Occurred()
                       ? DT_ERROR
                       : dt_break(trace, DT_BREAK_ARRAY_OP, "a range of dates of such values");
        }
    }
    return dt_np_fn_dry(trace, op, args, out);
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
    bool ints = true, computed = false;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 4, 4, 1, slots));
    DT_TRY(dt_np_any_dtype_arg(trace, function, slots[3], &dtype));
    if (dtype != NULL && !dt_np_dtype_captured(dt_np_descr(dtype))) {
        return range_of_dates(trace, op, args, slots, out);
    }
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
        bool number = i < 2 && dt_np_is_index_number(slots[i]);
        computed = computed || number;
        ints = ints && (bounds[i] != NULL || number);
        operands[i] = numbers[i].operand;
    }
    if (ints && computed) {
        DT_TRY(dt_np_computed_range(trace, slots, bounds[2], &length));
        dtype = dtype != NULL ? dtype : dt_np_dtype(NPY_LONG);
    }
    else if (ints) {
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
    DT_TRY(dt_np_new_meta(trace, dtype, &length, 1, &meta));
    operands[3] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}

DtStatus
dt_np_fn_linspace(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"start",   "stop",  "num", "endpoint",
                                        "retstep", "dtype", "axis"};
    const char *function = dt_np_target(op);
    DtVar *slots[7];
    DtNpOperand numbers[2];
    DtOperand operands[4];
    int64_t num = 50;
    bool endpoint;
    PyObject *dtype;
    DtMeta *meta;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 7, 7, 2, slots));
    DT_TRY(dt_np_dtype_arg(trace, function, slots[5], &dtype));
    DT_TRY(dt_np_bool_arg(trace, function, slots[3], true, &endpoint));
    const DtSym *computed = NULL;
    if (slots[2] != NULL) {
        DT_TRY(dt_var_realize(trace, slots[2], &slots[2]));
        if (dt_np_is_integer(dt_var_peek(slots[2]))) {
            DT_TRY(dt_np_size_of(trace, slots[2], &computed));
        }
        else {
            DT_TRY(dt_np_int_arg(trace, function, slots[2], &num));
        }
    }
    PyObject *f8 = dt_np_dtype(NPY_DOUBLE);
    for (int i = 0; i < 2; i++) {
        DT_TRY(dt_np_need_operand(trace, slots[i], function, &numbers[i]));
        bool real = numbers[i].dtype == (PyObject *)&PyFloat_Type
                    || numbers[i].dtype == (PyObject *)&PyLong_Type
                    || (numbers[i].dtype == f8 && numbers[i].array->meta->ndim == 0);
        if (!real) {
            return dt_np_fn_dry(trace, op, args, out);
        }
        DT_TRY(dt_np_fit_weak(trace, &numbers[i], f8));
        operands[i] = numbers[i].operand;
    }
    if (num < 0 || (dtype != NULL && dtype != f8) || slots[4] != NULL || slots[6] != NULL) {
        return dt_np_fn_dry(trace, op, args, out);
    }
    const DtSym *length = computed != NULL ? computed : dt_np_size(trace, num);
    if (length == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_new_meta(trace, f8, &length, 1, &meta));
    meta->layout |= DT_LAYOUT_VIEW;
    DT_TRY(dt_np_size_operand(trace, length, &operands[2]));
    operands[3] = dt_np_const(endpoint ? Py_True : Py_False);
    return dt_np_emit_one(trace, op, operands, 4, meta, out);
}
