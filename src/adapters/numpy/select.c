/* where, clip, round, isclose, casts, attributes, and what asks for Python values (a graph break).
 *
 * Not in here: new arrays (create.c).
 */
#include "adapters/numpy/internal.h"

#include <math.h>
#include <string.h>

/* ---- where ----------------------------------------------------------------------------------- */

DtStatus
dt_np_fn_where(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"condition", "x", "y"};
    DtVar *slots[3];
    DtNpOperand operands[3];
    DtOperand nodes[3];
    PyObject *dtype;
    DtMeta *meta;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 3, 3, 1, slots));
    if (args->npos == 1 && args->nkw == 0) {
        return dt_np_fn_counted(trace, DT_NP_nonzero, args, out); /* as NumPy does it */
    }
    if (slots[1] == NULL || slots[2] == NULL || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "where without its two choices");
    }
    bool done;
    DT_TRY(dt_np_where_called(trace, slots, &done, out));
    if (done) {
        return DT_OK;
    }
    for (int i = 0; i < 3; i++) {
        DT_TRY(dt_np_array_like(trace, &slots[i]));
        DT_TRY(dt_np_need_operand(trace, slots[i], dt_np_target(op), &operands[i]));
    }
    DT_TRY(dt_np_result_type(trace, &operands[1], 2, &dtype));
    DT_TRY(dt_np_agree(trace, operands, 3));
    for (int i = 0; i < 3; i++) {
        if (i > 0) {
            DT_TRY(dt_np_fit_weak(trace, &operands[i], dtype));
        }
        nodes[i] = operands[i].operand;
    }
    DT_TRY(dt_np_elementwise_meta(trace, operands, 3, dtype, &meta)); /* 0-d results stay arrays */
    return dt_np_emit_one(trace, op, nodes, 3, meta, out);
}

/* ---- clip ------------------------------------------------------------------------------------ */

/* NumPy drops a Python int bound that no integer of the dtype can cross. */
static DtStatus
drop_idle_bound(DtTrace *trace, const DtMeta *meta, bool is_min, DtVar **bound)
{
    const PyArray_Descr *descr = dt_np_descr(meta->dtype);
    const DtSym *value;
    bool idle;
    if (dt_np_is_none(*bound) || !PyTypeNum_ISINTEGER(descr->type_num)) {
        return DT_OK;
    }
    DT_TRY(dt_np_sym_of(trace, *bound, &value));
    int bits = (int)PyDataType_ELSIZE(descr) * 8;
    bool is_unsigned = PyTypeNum_ISUNSIGNED(descr->type_num);
    if (value == NULL || (!is_min && is_unsigned && bits == 64)) {
        return DT_OK; /* not an int64, or below the largest uint64 */
    }
    int64_t high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
    int64_t low = is_unsigned ? 0 : -high - 1;
    DT_TRY(dt_np_decide_int(trace, is_min ? DT_SYM_OP_LE : DT_SYM_OP_GE, value, is_min ? low : high,
                            &idle));
    *bound = idle ? NULL : *bound;
    return DT_OK;
}

static DtStatus
clip(DtTrace *trace, DtArrayVar *self, DtVar *low, DtVar *high, DtVar **out)
{
    DT_TRY(drop_idle_bound(trace, self->meta, true, &low));
    DT_TRY(drop_idle_bound(trace, self->meta, false, &high));
    DtVar *operands[3] = {&self->base, low, high};
    if (dt_np_is_none(low) && dt_np_is_none(high)) {
        return dt_np_apply_vars(trace, DT_NP_positive, operands, 1, out);
    }
    if (dt_np_is_none(low)) {
        operands[1] = high;
        return dt_np_apply_vars(trace, DT_NP_minimum, operands, 2, out);
    }
    if (dt_np_is_none(high)) {
        return dt_np_apply_vars(trace, DT_NP_maximum, operands, 2, out);
    }
    return dt_np_apply_vars(trace, DT_NP_umath_clip, operands, 3, out);
}

DtStatus
dt_np_m_clip(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "min", "max", "out"};
    DtVar *slots[4];
    DT_TRY(dt_np_bind(trace, "clip", &self->base, args, names, 4, 4, 1, slots));
    DT_TRY(dt_np_need_default(trace, "clip", "out", slots[3]));
    return clip(trace, self, slots[1], slots[2], out);
}

DtStatus
dt_np_fn_clip(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "a_min", "a_max", "out", "min", "max"};
    DtVar *slots[6];
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 6, 4, 1, slots));
    DT_TRY(dt_np_need_default(trace, dt_np_target(op), "out", slots[3]));
    DT_TRY(dt_np_array_or_number(trace, &slots[0]));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    bool positional = slots[1] != NULL || slots[2] != NULL,
         named = slots[4] != NULL || slots[5] != NULL;
    if (self == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "clip of a %s", slots[0]->type->name);
    }
    if ((positional && named) || (positional && (slots[1] == NULL || slots[2] == NULL))) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "clip with such bounds");
    }
    return clip(trace, self, slots[named ? 4 : 1], slots[named ? 5 : 2], out);
}

/* ---- round ----------------------------------------------------------------------------------- */

/* NumPy scales by a power of ten, rounds to integers and scales back, each step in its own loop. */
DtStatus
dt_np_m_round(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "decimals", "out"};
    DtVar *slots[3], *pair[2] = {&self->base};
    int64_t decimals = 0;
    DT_TRY(dt_np_bind(trace, "round", &self->base, args, names, 3, 3, 1, slots));
    DT_TRY(dt_np_need_default(trace, "round", "out", slots[2]));
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, "round", slots[1], &decimals));
    }
    bool ordered = self->meta->ndim < 2 || (self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F));
    if (!PyTypeNum_ISFLOAT(dt_np_descr(self->meta->dtype)->type_num) || !ordered
        || !(self->meta->layout & DT_LAYOUT_NATIVE) || decimals < -8 || decimals > 8) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "round of such an array");
    }
    if (decimals == 0) {
        return dt_np_apply_vars(trace, DT_NP_rint, pair, 1, out);
    }
    double factor = 1.0;
    for (int64_t i = decimals < 0 ? -decimals : decimals; i > 0; i--) {
        factor *= 10.0;
    }
    DT_TRY(dt_var_const_take(trace, PyFloat_FromDouble(factor), &pair[1]));
    DtNpOp scale = decimals > 0 ? DT_NP_multiply : DT_NP_divide;
    DtNpOp back = decimals > 0 ? DT_NP_divide : DT_NP_multiply;
    DT_TRY(dt_np_apply_vars(trace, scale, pair, 2, &pair[0]));
    DT_TRY(dt_np_apply_vars(trace, DT_NP_rint, pair, 1, &pair[0]));
    return dt_np_apply_vars(trace, back, pair, 2, out);
}

/* ---- isclose --------------------------------------------------------------------------------- */

static DtStatus
tolerance(DtTrace *trace, const char *function, DtVar *var, double absent, DtOperand *out)
{
    PyObject *value = var != NULL ? dt_var_as_constant(trace, var)
                                  : dt_trace_keep_take(trace, PyFloat_FromDouble(absent));
    if (value == NULL || !PyFloat_CheckExact(value) || !isfinite(PyFloat_AS_DOUBLE(value))) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s: such a tolerance", function);
    }
    *out = dt_np_const(value);
    return DT_OK;
}

/* A view of new memory. */
DtStatus
dt_np_fn_isclose(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "b", "rtol", "atol", "equal_nan"};
    const char *function = dt_np_target(op);
    DtVar *slots[5];
    DtNpOperand operands[2];
    DtOperand nodes[5];
    DtMeta *meta;
    bool equal_nan, arrays = false, all_c = true;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 5, 5, 2, slots));
    for (int i = 0; i < 2; i++) {
        DT_TRY(dt_np_need_operand(trace, slots[i], function, &operands[i]));
        nodes[i] = operands[i].operand;
        const DtArrayVar *array = operands[i].array;
        PyObject *dtype = operands[i].dtype;
        int num = dt_np_is_weak(&operands[i]) ? NPY_NOTYPE : dt_np_descr(dtype)->type_num;
        if (num == NPY_BOOL || num == NPY_HALF || PyTypeNum_ISCOMPLEX(num)
            || dtype == (PyObject *)&PyComplex_Type
            || (array != NULL && !(array->meta->layout & DT_LAYOUT_NATIVE))) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such a dtype", function);
        }
        arrays = arrays || (array != NULL && array->meta->ndim > 0);
        all_c = all_c && (array == NULL || (array->meta->layout & DT_LAYOUT_C));
    }
    if (!arrays) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of numbers", function);
    }
    DT_TRY(tolerance(trace, function, slots[2], 1e-5, &nodes[2]));
    DT_TRY(tolerance(trace, function, slots[3], 1e-8, &nodes[3]));
    DT_TRY(dt_np_bool_arg(trace, function, slots[4], false, &equal_nan));
    nodes[4] = dt_np_const(equal_nan ? Py_True : Py_False);
    PyObject *boolean = dt_np_dtype(NPY_BOOL);
    if (boolean == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_elementwise_meta(trace, operands, 2, boolean, &meta));
    DT_TRY(all_c ? dt_np_fresh_c(trace, meta) : dt_np_fresh(trace, meta, NULL));
    meta->layout &= ~(uint32_t)DT_LAYOUT_FRESH;
    return dt_np_emit_one(trace, op, nodes, 5, meta, out);
}

/* ---- Casts ----------------------------------------------------------------------------------- */

DtStatus
dt_np_cast(DtTrace *trace, DtArrayVar *self, PyObject *dtype, DtVar **out)
{
    const DtMeta *base = self->meta;
    DtNpOperand operand = {.array = self, .dtype = base->dtype};
    DtOperand args[2] = {dt_np_node(self), dt_np_const(dtype)};
    DtMeta *meta;
    if (dt_np_drops_imaginary(base->dtype, dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a cast that drops imaginary parts");
    }
    DT_TRY(dt_np_elementwise_meta(trace, &operand, 1, dtype, &meta));
    if (dt_np_is_ndarray(self)) {
        return dt_np_emit_one(trace, DT_NP_nd_astype, args, 2, meta, out);
    }
    dt_np_meta_unwrap(meta);
    return dt_np_emit_one(trace, DT_NP_scalar_astype, args, 2, meta, out);
}

/* The order that a cast keeps, or the same by another name. */
static DtStatus
order_of_cast(DtTrace *trace, const DtMeta *meta, DtVar *order)
{
    PyObject *given = order != NULL ? dt_var_as_constant(trace, order) : NULL;
    bool fortran;
    if (order == NULL
        || (given != NULL && PyUnicode_Check(given)
            && PyUnicode_CompareWithASCIIString(given, "K") == 0)) {
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    DT_TRY(dt_np_order_arg(trace, "astype", order, meta, &fortran));
    bool kept = fortran ? (meta->layout & DT_LAYOUT_F) && !(meta->layout & DT_LAYOUT_C)
                        : (meta->layout & DT_LAYOUT_C) != 0;
    return kept ? DT_OK : dt_break(trace, DT_BREAK_ARRAY_OP, "astype to another order");
}

DtStatus
dt_np_m_astype(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "dtype", "order", "casting", "subok", "copy"};
    DtVar *slots[6];
    PyObject *dtype;
    bool copy, subok;
    DT_TRY(dt_np_bind(trace, "astype", &self->base, args, names, 6, 6, 2, slots));
    if (dt_np_is_none(slots[1])) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "astype(None)");
    }
    DT_TRY(dt_np_cast_dtype_arg(trace, "astype", slots[1], self->meta->dtype, &dtype));
    dtype = dt_np_one_dtype(dtype);
    if (dtype == NULL) {
        return DT_ERROR;
    }
    if (!dt_np_is_ndarray(self) && !dt_np_dtype_captured(dt_np_descr(dtype))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "astype of a NumPy scalar with such a dtype");
    }
    DT_TRY(order_of_cast(trace, self->meta, slots[2]));
    DT_TRY(dt_np_need_text(trace, "astype", "casting", slots[3], "unsafe"));
    DT_TRY(dt_np_bool_arg(trace, "astype", slots[4], true, &subok));
    DT_TRY(dt_np_bool_arg(trace, "astype", slots[5], true, &copy));
    if (!copy && dt_np_is_ndarray(self)
        && PyArray_EquivTypes(dt_np_descr(dtype), dt_np_descr(self->meta->dtype))) {
        *out = &self->base; /* NumPy gives the array itself */
        return DT_OK;
    }
    return dt_np_cast(trace, self, dtype, out);
}

/* float64 is Python's float, too: NumPy 2.2 and older make a number of an array of one item. */
static bool
may_become_number(int num, const DtMeta *meta)
{
    bool one = num == NPY_DOUBLE && meta->ndim > 0;
    for (int i = 0; i < meta->ndim && one; i++) {
        one = meta->shape[i]->hint.i == 1;
    }
    return one;
}

/* np.float32(x): of an array a cast, of a number a scalar. */
DtStatus
dt_np_call_scalar_type(DtTrace *trace, PyTypeObject *type, const DtArgs *args, DtVar **out)
{
    int num = dt_np_scalar_type_num(type);
    PyObject *dtype = num >= 0 ? dt_np_dtype(num) : NULL;
    DtNpOperand operand;
    DtMeta *meta;
    if (dtype == NULL || args->npos != 1 || args->nkw != 0) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such arguments", type->tp_name);
    }
    DT_TRY(dt_np_need_operand(trace, args->pos[0], type->tp_name, &operand));
    DT_TRY(dt_np_fit_weak(trace, &operand, dtype));
    if (dt_np_drops_imaginary(operand.dtype, dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a cast that drops imaginary parts");
    }
    DT_TRY(dt_np_elementwise_meta(trace, &operand, 1, dtype, &meta));
    if (may_become_number(num, meta)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "numpy.float64 of an array of one item");
    }
    dt_np_meta_unwrap(meta);
    DtCallSpec spec = {
        .target = type->tp_name, /* "numpy.float32"; static in NumPy */
        .callee = (PyObject *)type,
        .args = &operand.operand,
        .nargs = 1,
        .results = meta,
        .nresults = 1,
    };
    return dt_np_emit(trace, &spec, out);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

DtStatus
dt_np_a_shape(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    DtVar *sizes[DT_NP_MAXDIMS];
    for (uint32_t i = 0; i < self->meta->ndim; i++) {
        DT_TRY(dt_np_axis_size(trace, self, i, &sizes[i]));
    }
    return dt_var_tuple(trace, sizes, self->meta->ndim, out);
}

DtStatus
dt_np_a_ndim(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    return dt_var_int(trace, self->meta->ndim, out);
}

DtStatus
dt_np_a_size(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    const DtSym *size;
    DT_TRY(dt_np_product(trace, self->meta->shape, self->meta->ndim, &size));
    if (!dt_trace_depends_on_data(trace, size)) {
        return dt_var_sym(trace, size, out);
    }
    DT_TRY(dt_np_axis_size(trace, self, 0, out));
    for (uint32_t i = 1; i < self->meta->ndim; i++) {
        DtVar *next;
        DT_TRY(dt_np_axis_size(trace, self, i, &next));
        DT_TRY(dt_var_binary(trace, DT_BINARY_MULTIPLY, *out, next, out));
    }
    return DT_OK;
}

DtStatus
dt_np_a_dtype(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, self->meta->dtype, 0);
    return source != NULL ? dt_var_build(trace, self->meta->dtype, source, out) : DT_ERROR;
}

DtStatus
dt_np_a_itemsize(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    return dt_var_int(trace, PyDataType_ELSIZE(dt_np_descr(self->meta->dtype)), out);
}

DtStatus
dt_np_a_nbytes(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    DtVar *size, *each;
    DT_TRY(dt_np_a_size(trace, self, &size));
    DT_TRY(dt_var_int(trace, PyDataType_ELSIZE(dt_np_descr(self->meta->dtype)), &each));
    return dt_var_binary(trace, DT_BINARY_MULTIPLY, size, each, out);
}

/* real and imag: of real arrays the array itself, of complex ones a view. */
static DtStatus
part(DtTrace *trace, DtNpOp op, DtArrayVar *self, DtVar **out)
{
    static const struct {
        int complex_num, real_num;
    } parts[] = {
        {NPY_CFLOAT, NPY_FLOAT}, {NPY_CDOUBLE, NPY_DOUBLE}, {NPY_CLONGDOUBLE, NPY_LONGDOUBLE}};
    const DtMeta *base = self->meta;
    DtOperand operand = dt_np_node(self);
    int num = dt_np_descr(base->dtype)->type_num;
    if (!PyTypeNum_ISCOMPLEX(num)) {
        if (op != DT_NP_real) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "imag of an array of reals");
        }
        *out = &self->base;
        return DT_OK;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(parts); i++) {
        num = num == parts[i].complex_num ? parts[i].real_num : num;
    }
    if (!(base->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "parts of an array of swapped byte order");
    }
    PyObject *dtype = dt_np_dtype(num);
    DtMeta *meta = dtype != NULL ? dt_np_meta(trace, dtype, base->ndim) : NULL;
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, base->shape, sizeof(meta->shape[0]) * base->ndim);
    if (!dt_np_is_ndarray(self)) {
        dt_np_meta_unwrap(meta);
        DT_TRY(dt_np_fresh_c(trace, meta));
        return dt_np_emit_one(trace, op, &operand, 1, meta, out);
    }
    meta->layout = base->layout & (DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE | DT_LAYOUT_NEGATIVE);
    meta->stride_order = base->stride_order;
    return dt_np_emit_view(trace, op, &operand, 1, meta, out);
}

DtStatus
dt_np_a_real(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    return part(trace, DT_NP_real, self, out);
}

DtStatus
dt_np_a_imag(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    return part(trace, DT_NP_imag, self, out);
}

static DtStatus
only_array(DtTrace *trace, DtNpOp op, const DtArgs *args, DtArrayVar **out)
{
    static const char *const names[] = {"a"};
    DtVar *slot;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 1, 1, 1, &slot));
    DT_TRY(dt_np_array_like(trace, &slot));
    *out = dt_np_array_of(slot);
    return *out != NULL ? DT_OK
                        : dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op),
                                   slot->type->name);
}

DtStatus
dt_np_fn_part(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtArrayVar *self;
    DT_TRY(only_array(trace, op, args, &self));
    return part(trace, op, self, out);
}

/* A number of Python, by position, becomes the array that NumPy makes of it. */
static DtStatus
number_as_array(DtTrace *trace, DtArgs *args, DtVar **made)
{
    DtNpOperand operand;
    bool ok = false;
    DtVar *var;
    if (args->npos == 1 && args->nkw == 0) {
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        DT_TRY(dt_np_operand(trace, dt_var_peek(var), &operand, &ok));
    }
    if (ok && operand.array == NULL) {
        DT_TRY(dt_np_fn_asarray(trace, DT_NP_asarray, args, made));
        args->pos = made;
    }
    return DT_OK;
}

/* np.shape(a), np.ndim(a), np.size(a) */
DtStatus
dt_np_fn_attr(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const struct {
        DtNpOp op;
        DtNpAttr get;
    } getters[] = {
        {DT_NP_shape, dt_np_a_shape}, {DT_NP_ndim, dt_np_a_ndim}, {DT_NP_size, dt_np_a_size}};
    DtArrayVar *self;
    uint32_t axis;
    DtVar *made;
    DtArgs first = *args;
    first.npos = args->npos == 2 && op == DT_NP_size ? 1 : args->npos;
    DT_TRY(number_as_array(trace, &first, &made));
    DT_TRY(only_array(trace, op, &first, &self));
    if (first.npos != args->npos) {
        DtVar *along;
        DT_TRY(dt_var_realize(trace, args->pos[1], &along));
        DT_TRY(dt_np_axis(trace, dt_np_target(op), dt_var_peek(along), self->meta->ndim, &axis));
        return dt_np_axis_size(trace, self, axis, out);
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(getters); i++) {
        if (getters[i].op == op) {
            return getters[i].get(trace, self, out);
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s", dt_np_target(op));
}

DtStatus
dt_np_m_conj(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *operand = &self->base;
    if (args->npos > 0 || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "conjugate with arguments");
    }
    if (!PyTypeNum_ISCOMPLEX(dt_np_descr(self->meta->dtype)->type_num) && dt_np_is_ndarray(self)) {
        *out = operand; /* NumPy gives the array itself */
        return DT_OK;
    }
    if (PyTypeNum_ISBOOL(dt_np_descr(self->meta->dtype)->type_num)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "conjugate of a bool"); /* the ufunc has none */
    }
    return dt_np_apply_vars(trace, DT_NP_conjugate, &operand, 1, out);
}

/* ---- Python numbers -------------------------------------------------------------------------- */

/* What item() gives; 0: no number of Python (a long double). */
static char
item_kind(const DtMeta *meta)
{
    int num = dt_np_descr(meta->dtype)->type_num;
    if (num == NPY_LONGDOUBLE || num == NPY_CLONGDOUBLE) {
        return 0;
    }
    return PyTypeNum_ISBOOL(num)      ? 'b'
           : PyTypeNum_ISINTEGER(num) ? 'i'
           : PyTypeNum_ISFLOAT(num)   ? 'f'
           : PyTypeNum_ISCOMPLEX(num) ? 'c'
                                      : 0;
}

char
dt_np_number_kind(const DtMeta *meta)
{
    int num = dt_np_descr(meta->dtype)->type_num;
    return meta->ndim > 0           ? 0
           : num == NPY_LONGDOUBLE  ? 'f'
           : num == NPY_CLONGDOUBLE ? 'c'
                                    : item_kind(meta);
}

/* Each axis has one item: item() needs no index. */
static bool
has_one_item(const DtMeta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!dt_np_size_is(meta->shape[i], 1)) {
            return false;
        }
    }
    return true;
}

static DtStatus
to_python(DtTrace *trace, DtNpOp op, DtArrayVar *self, const DtArgs *args, char kind, DtVar **out)
{
    DtOperand operands[DT_NP_MAXARGS] = {dt_np_node(self)};
    const char *target = dt_np_target(op);
    if (kind == 0 || args->nkw > 0 || args->npos + 1 > DT_NP_MAXARGS) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s of such an array", target);
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        bool ok;
        DT_TRY(dt_graph_operand(trace, args->pos[i], &operands[i + 1], &ok));
        if (!ok) {
            return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s with a %s", target,
                            dt_var_peek(args->pos[i])->type->name);
        }
    }
    PyObject *callee = dt_np_callee(op);
    return callee != NULL
               ? dt_number_emit(trace, target, callee, operands, args->npos + 1, kind, out)
               : DT_ERROR;
}

DtStatus
dt_np_m_item(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0 && !has_one_item(self->meta)) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "item() of more than one number");
    }
    DtNpOp op = dt_np_is_ndarray(self) ? DT_NP_nd_item : DT_NP_scalar_item;
    return to_python(trace, op, self, args, item_kind(self->meta), out);
}

DtStatus
dt_np_m_tolist(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtNpOp op = dt_np_is_ndarray(self) ? DT_NP_nd_tolist : DT_NP_scalar_tolist;
    return to_python(trace, op, self, args, self->meta->ndim > 0 ? 'l' : item_kind(self->meta),
                     out);
}
