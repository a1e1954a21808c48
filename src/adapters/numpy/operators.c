/* The operators of arrays and NumPy scalars.
 *
 *   operator ─┬─ only NumPy scalars and Python numbers ──► operator.<name> node (scalar math)
 *             ├─ array ** number ──► the ufunc that NumPy's own power takes
 *             └─ else ──► numpy.<ufunc> node
 *
 * Not in here: how a ufunc is applied, and what an in-place result replaces (ufuncs.c).
 */
#include "adapters/numbers.h"
#include "adapters/numpy/internal.h"
#include "adapters/numpy/ufuncs.h"

#include <stdio.h>
#include <string.h>

/* ---- Scalar math ----------------------------------------------------------------------------- */

static bool
any_ndarray(const DtNpOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].array != NULL && dt_np_is_ndarray(operands[i].array)) {
            return true;
        }
    }
    return false;
}

/* A complex number takes a float on its right for Python's, and a float64 is one: the result is
 * Python's complex, or bool.  (A float leaves its operator to the float64, a subclass of its own.)
 */
static char
pythons_own(DtNpOp op, const DtNpOperand *operands, uint32_t count)
{
    static const struct {
        DtNpOp op;
        char result;
    } rows[] = {{DT_NP_add, 'c'},      {DT_NP_subtract, 'c'}, {DT_NP_multiply, 'c'},
                {DT_NP_divide, 'c'},   {DT_NP_power, 'c'},    {DT_NP_equal, 'b'},
                {DT_NP_not_equal, 'b'}};
    if (count != 2 || operands[0].dtype != (PyObject *)&PyComplex_Type || operands[1].array == NULL
        || operands[1].array->meta->type != &PyDoubleArrType_Type) {
        return 0;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (rows[i].op == op) {
            return rows[i].result;
        }
    }
    return 0;
}

/* `op` is the ufunc that gives the dtype, `scalar_op` what runs. */
static DtStatus
scalar_math(DtTrace *trace, DtNpOp op, DtNpOp scalar_op, DtNpOperand *operands, uint32_t count,
            DtVar **out)
{
    PyObject *dtypes;
    DtOperand args[2];
    char number = pythons_own(op, operands, count);
    if (number != 0) {
        args[0] = operands[0].operand;
        args[1] = operands[1].operand;
        return dt_number_emit(trace, dt_np_target(scalar_op), dt_np_callee(scalar_op), args, 2,
                              number, out);
    }
    DT_TRY(dt_np_resolve(trace, op, operands, NULL, NULL, &dtypes));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_np_fit_weak(trace, &operands[i], PyTuple_GET_ITEM(dtypes, i)));
        args[i] = operands[i].operand;
    }
    DtMeta *meta = dt_np_meta(trace, PyTuple_GET_ITEM(dtypes, count), 0);
    if (meta == NULL) {
        return DT_ERROR;
    }
    dt_np_meta_unwrap(meta);
    DT_TRY(dt_np_fresh_c(trace, meta));
    return dt_np_emit_one(trace, scalar_op, args, count, meta, out);
}

/* ---- Power ----------------------------------------------------------------------------------- */

/* Until 2.2 the shortcuts of ** took any 0-d exponent and floats, now only exact ints and 0.5. */
static bool
power_takes_all_exponents(void)
{
    return PyArray_GetNDArrayCFeatureVersion() < DT_NP_API_OF_2_3;
}

/* The ufunc that replaces power for a float or complex base, or power itself.  Where NumPy takes
 * power for an exponent of 1, that is seen in the zeros of complex numbers alone: they lose their
 * signs. */
static DtNpOp
fast_power(PyObject *exponent, bool all, bool complex_base)
{
    static const struct {
        double value;
        DtNpOp op;
    } rows[] = {
        {1.0, DT_NP_positive}, {-1.0, DT_NP_reciprocal}, {0.5, DT_NP_sqrt}, {2.0, DT_NP_square}};
    bool is_int = PyLong_CheckExact(exponent) || (all && PyBool_Check(exponent));
    if (!is_int && !PyFloat_CheckExact(exponent)) {
        return DT_NP_power;
    }
    double value = is_int ? PyLong_AsDouble(exponent) : PyFloat_AS_DOUBLE(exponent);
    if (value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear(); /* an int beyond double: no shortcut */
        return DT_NP_power;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        bool seen = complex_base && rows[i].op == DT_NP_positive;
        if (value == rows[i].value && (all || (is_int && !seen) || value == 0.5)) {
            return rows[i].op;
        }
    }
    return DT_NP_power;
}

/* Breaks where the value of an array of exponents would choose the loop. */
static DtStatus
need_exponents(DtTrace *trace, const DtArrayVar *exponents, bool all)
{
    return all && exponents->meta->ndim == 0
               ? dt_break(trace, DT_BREAK_ARRAY_OP, "an array to the power of a NumPy scalar")
               : DT_OK;
}

static DtStatus
power(DtTrace *trace, DtNpOperand *operands, DtVar *right, DtVar **out)
{
    bool all = power_takes_all_exponents();
    if (operands[1].array != NULL) {
        DT_TRY(need_exponents(trace, operands[1].array, all));
        return dt_np_apply(trace, DT_NP_power, operands, 2, out);
    }
    /* Which loop runs depends on the exponent's value: it is never generalised. */
    PyObject *exponent = dt_var_as_constant(trace, right);
    if (exponent == NULL) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_ARRAY_OP, "** with an unknown exponent");
    }
    operands[1].sym = NULL;
    operands[1].constant = exponent;
    operands[1].operand = dt_np_const(exponent);
    int num = dt_np_descr(operands[0].dtype)->type_num;
    DtNpOp op = fast_power(exponent, all, PyTypeNum_ISCOMPLEX(num));
    if (PyTypeNum_ISFLOAT(num) || PyTypeNum_ISCOMPLEX(num)) {
        return dt_np_apply(trace, op, operands, op == DT_NP_power ? 2 : 1, out);
    }
    if (op != DT_NP_square) {
        return dt_np_apply(trace, DT_NP_power, operands, 2, out);
    }
    if (PyFloat_CheckExact(exponent) && PyTypeNum_ISINTEGER(num)) {
        DtVar *cast;
        DT_TRY(dt_np_cast(trace, operands[0].array, dt_np_dtype(NPY_DOUBLE), &cast));
        return dt_np_apply_vars(trace, DT_NP_square, &cast, 1, out);
    }
    return dt_np_apply(trace, DT_NP_square, operands, 1, out);
}

/* ---- Operators ------------------------------------------------------------------------------- */

static const struct {
    DtNpOp ufunc, scalar;
} binary_rows[] = {
    [DT_BINARY_ADD] = {DT_NP_add, DT_NP_op_add},
    [DT_BINARY_AND] = {DT_NP_bitwise_and, DT_NP_op_and},
    [DT_BINARY_FLOOR_DIVIDE] = {DT_NP_floor_divide, DT_NP_op_floordiv},
    [DT_BINARY_LSHIFT] = {DT_NP_left_shift, DT_NP_op_lshift},
    [DT_BINARY_MATRIX_MULTIPLY] = {DT_NP_matmul, DT_NP_matmul},
    [DT_BINARY_MULTIPLY] = {DT_NP_multiply, DT_NP_op_mul},
    [DT_BINARY_REMAINDER] = {DT_NP_remainder, DT_NP_op_mod},
    [DT_BINARY_OR] = {DT_NP_bitwise_or, DT_NP_op_or},
    [DT_BINARY_POWER] = {DT_NP_power, DT_NP_op_pow},
    [DT_BINARY_RSHIFT] = {DT_NP_right_shift, DT_NP_op_rshift},
    [DT_BINARY_SUBTRACT] = {DT_NP_subtract, DT_NP_op_sub},
    [DT_BINARY_TRUE_DIVIDE] = {DT_NP_divide, DT_NP_op_truediv},
    [DT_BINARY_XOR] = {DT_NP_bitwise_xor, DT_NP_op_xor},
};

static const char *const reflected_names[] = {
    [DT_BINARY_ADD] = "__radd__",
    [DT_BINARY_AND] = "__rand__",
    [DT_BINARY_FLOOR_DIVIDE] = "__rfloordiv__",
    [DT_BINARY_LSHIFT] = "__rlshift__",
    [DT_BINARY_MATRIX_MULTIPLY] = "__rmatmul__",
    [DT_BINARY_MULTIPLY] = "__rmul__",
    [DT_BINARY_REMAINDER] = "__rmod__",
    [DT_BINARY_OR] = "__ror__",
    [DT_BINARY_POWER] = "__rpow__",
    [DT_BINARY_RSHIFT] = "__rrshift__",
    [DT_BINARY_SUBTRACT] = "__rsub__",
    [DT_BINARY_TRUE_DIVIDE] = "__rtruediv__",
    [DT_BINARY_XOR] = "__rxor__",
};

#define REUSED_BYTES (256 * 1024)

/* Can the two be of one shape?  Broadcasting has unified sizes, so only a 1 differs. */
static bool
one_shape(const DtMeta *a, const DtMeta *b)
{
    if (a->ndim != b->ndim) {
        return false;
    }
    for (uint32_t i = 0; i < a->ndim; i++) {
        if (dt_np_size_is(a->shape[i], 1) != dt_np_size_is(b->shape[i], 1)) {
            return false;
        }
    }
    return true;
}

/* NumPy lets an operator write into a large temporary that nobody else holds, if the other operand
 * is a number or has the same shape.  The result then has the temporary's memory order, not the
 * iterator's choice, and its byte order.  With a number the memory order is the same.  Who holds
 * the temporary is not known here, so where they differ only small arrays are captured. */
static DtStatus
check_reuse(DtTrace *trace, const DtNpOperand *operands, uint32_t count, const DtMeta *result)
{
    const DtMeta *l = operands[0].array != NULL ? operands[0].array->meta : NULL;
    const DtMeta *r = count > 1 && operands[1].array != NULL ? operands[1].array->meta : NULL;
    bool arrays = l != NULL && r != NULL && l->ndim >= 2;
    if (l != NULL && r != NULL && !one_shape(l, r)) {
        return DT_OK;
    }
    for (int i = 0; i < 2; i++) {
        const DtMeta *meta = i == 0 ? l : r;
        if (meta == NULL
            || !(meta->layout & DT_LAYOUT_FRESH
                 || dt_source_is_stack(operands[i].array->base.source))
            || ((meta->layout & DT_LAYOUT_NATIVE)
                && (!arrays || dt_np_same_axes_order(meta, result)))) {
            continue;
        }
        const DtSym *size;
        bool small;
        DT_TRY(dt_np_product(trace, meta->shape, meta->ndim, &size));
        int64_t items = REUSED_BYTES / PyDataType_ELSIZE(dt_np_descr(meta->dtype));
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LT, size, items, &small));
        if (!small) {
            return dt_break(trace, DT_BREAK_ARRAY_OP,
                            "an operator on a large temporary of another order");
        }
    }
    return DT_OK;
}

/* The operands of an operator, lists and tuples as the arrays that NumPy makes of them.  A product
 * of a sequence and a NumPy scalar repeats the sequence: it stays, and breaks. */
static DtStatus
read_pair(DtTrace *trace, bool product, DtVar *l, DtVar *r, const char *what, DtNpOperand *operands)
{
    DtVar *pair[] = {l, r};
    const DtArrayVar *left = dt_np_any_array(l), *right = dt_np_any_array(r);
    bool arrays =
        (left != NULL && dt_np_is_ndarray(left)) || (right != NULL && dt_np_is_ndarray(right));
    for (int i = 0; i < 2 && (arrays || !product); i++) {
        DT_TRY(dt_np_array_like(trace, &pair[i]));
    }
    return dt_np_read_operands(trace, pair, 2, what, operands);
}

static DtStatus
binary(DtTrace *trace, int plain, DtVar *l, DtVar *r, bool in_place, DtVar **out)
{
    const char *symbol = dt_canonical_binary_symbol(plain);
    DtNpOperand operands[2];
    if (plain == DT_BINARY_MATRIX_MULTIPLY) {
        return dt_np_matmul(trace, DT_NP_matmul, l, r, out);
    }
    DT_TRY(read_pair(trace, plain == DT_BINARY_MULTIPLY, l, r, symbol, operands));
    if (!any_ndarray(operands, 2)) {
        return scalar_math(trace, binary_rows[plain].ufunc, binary_rows[plain].scalar, operands, 2,
                           out);
    }
    if (plain == DT_BINARY_POWER && operands[0].array != NULL
        && dt_np_is_ndarray(operands[0].array)) {
        DT_TRY(power(trace, operands, r, out));
        return in_place ? DT_OK : check_reuse(trace, operands, 1, dt_np_any_array(*out)->meta);
    }
    DT_TRY(dt_np_apply(trace, binary_rows[plain].ufunc, operands, 2, out));
    return in_place ? DT_OK : check_reuse(trace, operands, 2, dt_np_any_array(*out)->meta);
}

/* a @= b: NumPy's own call. */
static DtStatus
matmul_in_place(DtTrace *trace, DtArrayVar *self, DtVar *other, const char *symbol)
{
    DtNpOperand operand;
    DT_TRY(dt_np_need_operand(trace, other, symbol, &operand));
    DT_TRY(dt_np_need_writable(trace, self, symbol));
    DtOperand args[] = {dt_np_node(self), operand.operand};
    return dt_np_emit_write(trace, DT_NP_op_imatmul, args, 2, NULL, 0);
}

/* The loops of float powers and of complex numbers may round by the strides of what they are given,
 * and by whether it overlaps; that of time spans may tell of zeros or not.  *direct: the ufunc is
 * called into the array. */
static DtStatus
goes_directly(DtTrace *trace, int plain, const DtArrayVar *self, DtVar *other, bool *direct)
{
    int num = dt_np_descr(self->meta->dtype)->type_num;
    bool complex_kind = PyTypeNum_ISCOMPLEX(num);
    *direct = false;
    bool dense = (self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F)) != 0;
    if ((dense && !dt_np_may_be_one_item(trace, self->meta)
         && !dt_np_may_overlap(self, dt_np_array_of(other)))
        || !(complex_kind || (plain == DT_BINARY_POWER && PyTypeNum_ISFLOAT(num))
             || dt_np_divides_spans(binary_rows[plain].ufunc, num))) {
        return DT_OK;
    }
    *direct = true;
    if (plain != DT_BINARY_POWER) {
        return DT_OK;
    }
    const DtArrayVar *exponents = dt_np_array_of(other);
    bool all = power_takes_all_exponents();
    if (exponents != NULL) {
        return need_exponents(trace, exponents, all);
    }
    PyObject *exponent = dt_var_as_constant(trace, other);
    *direct = exponent != NULL && fast_power(exponent, all, complex_kind) == DT_NP_power;
    if (!*direct && complex_kind) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_MUTATION,
                              "**= on complex numbers in another memory order, or on one item");
    }
    return DT_OK;
}

/* An operator of an array and an instance (one of l and r): *out = NULL: it has no word. */
static DtStatus
ask_instance(DtTrace *trace, DtNpOp ufunc, DtVar *l, DtVar *r, bool in_place, DtVar **out)
{
    DtVar *instance = l->type->kind == DT_KIND_INSTANCE ? l : r, *method, *inputs[2] = {l, r};
    DtArrayVar *array = dt_np_array_of(instance == l ? r : l);
    bool defers;
    *out = NULL;
    if (instance->type->kind != DT_KIND_INSTANCE || array == NULL || !dt_np_is_ndarray(array)) {
        return DT_OK;
    }
    DT_TRY(dt_np_overrider(trace, instance, in_place, &defers, &method));
    if (defers && instance == r) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return method != NULL && !in_place ? dt_np_call_override(trace, ufunc, method, inputs, 2, out)
                                       : DT_OK;
}

/* An unread list beside an array is what NumPy makes of it; beside a scalar its items count. */
static DtStatus
read_lists(DtTrace *trace, DtVar **l, DtVar **r)
{
    DtVar **list = (*l)->type->kind == DT_KIND_GROWING_LIST ? l : r;
    DtArrayVar *array = dt_np_array_of(list == l ? *r : *l);
    if ((*list)->type->kind == DT_KIND_GROWING_LIST && array != NULL && dt_np_is_ndarray(array)) {
        DT_TRY(dt_np_array_like(trace, list));
    }
    DT_TRY(dt_var_realize(trace, *l, l));
    return dt_var_realize(trace, *r, r);
}

DtStatus
dt_np_binary(const DtAdapter *adapter, DtTrace *trace, DtBinaryOp op, DtVar *l, DtVar *r,
             DtVar **out)
{
    int plain = DT_BINARY_PLAIN((int)op);
    bool done;
    (void)adapter;
    DT_TRY(read_lists(trace, &l, &r));
    DtArrayVar *self = dt_np_any_array(l);
    DT_TRY(dt_np_operator_of_part(trace, binary_rows[plain].ufunc, l, r, reflected_names[plain],
                                  false, DT_BINARY_IS_INPLACE((int)op), &done, out));
    if (done) {
        return DT_OK;
    }
    DT_TRY(ask_instance(trace, binary_rows[plain].ufunc, l, r, DT_BINARY_IS_INPLACE((int)op), out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (!DT_BINARY_IS_INPLACE((int)op) || self == NULL || !dt_np_is_ndarray(self)) {
        return binary(trace, plain, l, r, false, out);
    }
    const char *symbol = dt_canonical_binary_symbol(op);
    if (self->adapter == &dt_np_called_adapter
        && !(self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of dates with gaps", symbol);
    } /* whether NumPy before 2.3 warns of a division depends on what it is written to */
    *out = l;
    if (plain == DT_BINARY_MATRIX_MULTIPLY) {
        return matmul_in_place(trace, self, r, symbol);
    }
    DtVar *made;
    bool direct;
    DT_TRY(goes_directly(trace, plain, self, r, &direct));
    if (direct) {
        DtNpOperand operands[2];
        DtNpUfuncOptions options = {NULL, NULL};
        DT_TRY(dt_np_need_operand(trace, l, symbol, &operands[0]));
        DT_TRY(dt_np_need_operand(trace, r, symbol, &operands[1]));
        return dt_np_apply_into(trace, binary_rows[plain].ufunc, operands, 2, &options, self, NULL);
    }
    DT_TRY(binary(trace, plain, l, r, true, &made));
    return dt_np_put_result(trace, self, made, NPY_SAME_KIND_CASTING, symbol);
}

DtStatus
dt_np_compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r, DtVar **out)
{
    static const struct {
        DtNpOp ufunc, scalar;
    } rows[] = {
        [Py_LT] = {DT_NP_less, DT_NP_op_lt},    [Py_LE] = {DT_NP_less_equal, DT_NP_op_le},
        [Py_EQ] = {DT_NP_equal, DT_NP_op_eq},   [Py_NE] = {DT_NP_not_equal, DT_NP_op_ne},
        [Py_GT] = {DT_NP_greater, DT_NP_op_gt}, [Py_GE] = {DT_NP_greater_equal, DT_NP_op_ge},
    };
    static const struct {
        const char *name;
        int op;
    } swapped[] = {
        [Py_LT] = {"__gt__", Py_GT}, [Py_LE] = {"__ge__", Py_GE}, [Py_EQ] = {"__eq__", Py_EQ},
        [Py_NE] = {"__ne__", Py_NE}, [Py_GT] = {"__lt__", Py_LT}, [Py_GE] = {"__le__", Py_LE},
    };
    DtNpOperand operands[2];
    bool done;
    (void)adapter;
    DT_TRY(read_lists(trace, &l, &r));
    DtNpOp reflected = rows[swapped[op].op].ufunc;
    DT_TRY(
        dt_np_operator_of_part(trace, reflected, l, r, swapped[op].name, true, false, &done, out));
    if (done) {
        return DT_OK;
    }
    DT_TRY(ask_instance(trace, rows[op].ufunc, l, r, false, out));
    if (*out != NULL) {
        return DT_OK;
    }
    DT_TRY(read_pair(trace, false, l, r, "a comparison", operands));
    if (any_ndarray(operands, 2)) {
        return dt_np_apply(trace, rows[op].ufunc, operands, 2, out);
    }
    return scalar_math(trace, rows[op].ufunc, rows[op].scalar, operands, 2, out);
}

DtStatus
dt_np_unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self, DtVar **out)
{
    static const struct {
        const char *name;
        DtNpOp ufunc, scalar;
    } rows[] = {
        {"-", DT_NP_negative, DT_NP_op_neg},        {"neg", DT_NP_negative, DT_NP_op_neg},
        {"negative", DT_NP_negative, DT_NP_op_neg}, {"+", DT_NP_positive, DT_NP_op_pos},
        {"pos", DT_NP_positive, DT_NP_op_pos},      {"positive", DT_NP_positive, DT_NP_op_pos},
        {"~", DT_NP_invert, DT_NP_op_invert},       {"invert", DT_NP_invert, DT_NP_op_invert},
        {"abs", DT_NP_absolute, DT_NP_op_abs},      {"absolute", DT_NP_absolute, DT_NP_op_abs},
    };
    DtNpOperand operand;
    (void)adapter;
    DT_TRY(dt_np_read_operands(trace, (DtVar *[]){&self->base}, 1, op, &operand));
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (strcmp(rows[i].name, op) == 0) {
            if (!dt_np_is_ndarray(self)) {
                return scalar_math(trace, rows[i].ufunc, rows[i].scalar, &operand, 1, out);
            }
            DT_TRY(dt_np_apply(trace, rows[i].ufunc, &operand, 1, out));
            return check_reuse(trace, &operand, 1, dt_np_any_array(*out)->meta);
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of an array", op);
}

DtStatus
dt_np_truth(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, bool *out)
{
    (void)adapter;
    (void)out;
    return dt_break(trace, DT_BREAK_ARRAY_BRANCH, "the truth of %s %s",
                    dt_np_is_ndarray(self) ? "an array of" : "a",
                    dt_np_descr(self->meta->dtype)->typeobj->tp_name);
}
