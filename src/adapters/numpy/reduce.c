/* Reductions: ufunc.reduce nodes, and mean, var, std and ptp by the steps that NumPy takes.
 *
 *   sum(a)   ──► numpy.add.reduce(a, axis, dtype, None, keepdims)
 *   mean(a)  ──► add.reduce, then a division by the number of items
 *   var(a)   ──► mean with the axes kept, subtract, square, add.reduce, division
 *
 * The division by the number of items is done here with a weak int where NumPy uses an int64:
 * for float32 that is the same correctly rounded quotient while the count is exact in
 * float32, which is guarded; dtypes for which it is not the same stay calls of numpy.mean.
 * Not in here: where= and initial= (dry.c), out= (table.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

#define EXACT_IN_FLOAT ((int64_t)1 << 24)

/* ---- ufunc.reduce ---------------------------------------------------------------------------- */

static DtStatus
axis_operand(DtTrace *trace, uint32_t mask, bool all, DtOperand *out)
{
    DtOperand items[DT_NP_MAXDIMS];
    uint32_t count = 0;
    if (all) {
        *out = dt_np_const(Py_None);
        return DT_OK;
    }
    for (uint32_t axis = 0; axis < DT_NP_MAXDIMS; axis++) {
        if (mask & (1u << axis)) {
            DT_TRY(dt_np_int_operand(trace, axis, &items[count++]));
        }
    }
    if (count == 1) {
        *out = items[0];
        return DT_OK;
    }
    return dt_np_tuple_operand(trace, items, count, out);
}

static DtStatus
reduced_meta(DtTrace *trace, const DtMeta *input, uint32_t mask, bool keepdims, PyObject *dtype,
             DtMeta **out)
{
    int8_t place[DT_NP_MAXDIMS];
    uint32_t ndim = 0;
    DtMeta *meta = dt_np_meta(trace, dtype, input->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < input->ndim; i++) {
        bool reduced = mask & (1u << i);
        place[i] = reduced && !keepdims ? -1 : (int8_t)ndim;
        if (place[i] >= 0) {
            meta->shape[ndim] = reduced ? dt_np_size(trace, 1) : input->shape[i];
            if (meta->shape[ndim++] == NULL) {
                return DT_ERROR;
            }
        }
    }
    meta->ndim = (uint8_t)ndim;
    dt_np_meta_unwrap(meta);
    *out = meta;
    DT_TRY(dt_np_kept_order(trace, input, place, meta));
    return dt_np_fresh(trace, meta, meta->stride_order);
}

/* Empty reductions without an identity raise. */
static DtStatus
check_not_empty(DtTrace *trace, DtNpOp op, const DtMeta *meta, uint32_t mask)
{
    bool has_identity =
        op != DT_NP_maximum && op != DT_NP_minimum && op != DT_NP_fmax && op != DT_NP_fmin;
    for (uint32_t i = 0; i < meta->ndim && !has_identity; i++) {
        if ((mask & (1u << i)) && dt_np_size_is(meta->shape[i], 0)) {
            return dt_break(trace, DT_BREAK_RAISES, "%s over no items", dt_np_reduce_target(op));
        }
    }
    return DT_OK;
}

/* Sums that go through the cast buffer depend on its size. */
static DtStatus
guard_buffer(DtTrace *trace, const DtMeta *input, PyObject *result)
{
    int num = dt_np_descr(result)->type_num;
    bool inexact = PyTypeNum_ISFLOAT(num) || PyTypeNum_ISCOMPLEX(num);
    bool direct = input->dtype == result && (input->layout & DT_LAYOUT_ALIGNED)
                  && (input->layout & DT_LAYOUT_NATIVE);
    return inexact && !direct ? dt_np_guard_bufsize(trace) : DT_OK;
}

DtStatus
dt_np_reduce(DtTrace *trace, DtNpOp op, DtArrayVar *array, uint32_t mask, bool all, PyObject *dtype,
             bool keepdims, DtVar **out)
{
    PyObject *result;
    DtMeta *meta;
    DtOperand args[5] = {dt_np_node(array)};
    DT_TRY(check_not_empty(trace, op, array->meta, mask));
    if (dtype != NULL && dt_np_drops_imaginary(array->meta->dtype, dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that drops imaginary parts",
                        dt_np_reduce_target(op));
    }
    DT_TRY(dt_np_resolve_reduce(trace, op, array->meta->dtype, dtype, &result));
    DT_TRY(guard_buffer(trace, array->meta, result));
    DT_TRY(reduced_meta(trace, array->meta, mask, keepdims, result, &meta));
    DT_TRY(axis_operand(trace, mask, all, &args[1]));
    args[2] = dt_np_const(dtype != NULL ? dtype : Py_None);
    args[3] = dt_np_const(Py_None);
    args[4] = dt_np_const(keepdims ? Py_True : Py_False);
    DtCallSpec spec = {
        .target = dt_np_reduce_target(op),
        .callee = dt_np_reduce_callee(op),
        .args = args,
        .nargs = 5,
        .results = meta,
        .nresults = 1,
    };
    return spec.callee != NULL ? dt_np_emit(trace, &spec, out) : DT_ERROR;
}

/* ---- mean, var, std, ptp --------------------------------------------------------------------- */

typedef struct Reduction {
    DtArrayVar *array;
    uint32_t mask;
    bool all;
    PyObject *dtype; /* as given, or NULL */
    bool keepdims;
    int64_t ddof;
} Reduction;

static DtStatus
count_items(DtTrace *trace, const Reduction *r, const DtSym **out)
{
    const DtSym *sizes[DT_NP_MAXDIMS];
    uint32_t count = 0;
    if (r->array->meta->ndim == 0 && !r->all) { /* only ufunc.reduce takes axis 0 here */
        return dt_break(trace, DT_BREAK_RAISES, "an axis of an array without dimensions");
    }
    for (uint32_t i = 0; i < r->array->meta->ndim; i++) {
        if (r->mask & (1u << i)) {
            sizes[count++] = r->array->meta->shape[i];
        }
    }
    return dt_np_product(trace, sizes, count, out);
}

/* How many items there are, less ddof, as a number. */
static DtStatus
count_as_number(DtTrace *trace, const Reduction *r, const DtSym *count, int64_t ddof, DtVar **out)
{
    DtVar *other;
    if (!dt_trace_depends_on_data(trace, count)) {
        DT_TRY(dt_np_offset(trace, count, -ddof, &count));
        return dt_var_sym(trace, count, out);
    }
    *out = NULL;
    for (uint32_t i = 0; i < r->array->meta->ndim; i++) {
        if (r->mask & (1u << i)) {
            DT_TRY(dt_np_axis_size(trace, r->array, i, &other));
            DT_TRY(*out != NULL ? dt_var_binary(trace, DT_BINARY_MULTIPLY, *out, other, &other)
                                : DT_OK);
            *out = other;
        }
    }
    if (ddof == 0) {
        return DT_OK;
    }
    DT_TRY(dt_var_int(trace, ddof, &other));
    return dt_var_binary(trace, DT_BINARY_SUBTRACT, *out, other, out);
}

/* sum / count, as an array divides in place or as scalars do. */
static DtStatus
divide_by_count(DtTrace *trace, DtVar *sum, const DtSym *count, DtVar *number, DtVar **out)
{
    DtVar *operands[2] = {sum, number};
    const DtMeta *meta = dt_np_array_of(sum)->meta;
    if (dt_np_descr(meta->dtype)->type_num == NPY_FLOAT) {
        bool exact;
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LE, count, EXACT_IN_FLOAT, &exact));
        if (!exact) {
            return dt_break(trace, DT_BREAK_ARRAY_OP,
                            "the mean of more items than float32 counts exactly");
        }
    }
    if (dt_np_is_ndarray(dt_np_array_of(sum))) {
        return dt_np_apply_vars(trace, DT_NP_divide, operands, 2, out);
    }
    return dt_np_binary(&dt_np_adapter, trace, DT_BINARY_TRUE_DIVIDE, sum, number, out);
}

/* dtypes whose sum divided by a weak int is what NumPy computes. */
static bool
divides_exactly(int num)
{
    return num == NPY_FLOAT || num == NPY_DOUBLE || num == NPY_LONGDOUBLE || num == NPY_CDOUBLE
           || num == NPY_CLONGDOUBLE;
}

/* The steps of NumPy's functions write in place, so that results keep the strides of axes of size
 * 1, which a new array gets otherwise where memory is not in C order. */
static DtStatus
strides_would_differ(DtTrace *trace, const Reduction *r, bool *out)
{
    DtMeta *meta;
    *out = false;
    if (r->array->meta->layout & DT_LAYOUT_C) {
        return DT_OK;
    }
    DT_TRY(reduced_meta(trace, r->array->meta, r->mask, r->keepdims, r->array->meta->dtype, &meta));
    for (uint32_t i = 0; i < meta->ndim; i++) {
        *out = *out || (meta->ndim > 1 && dt_np_size_is(meta->shape[i], 1));
    }
    return DT_OK;
}

/* numpy.mean, var or std as one call. */
static DtStatus
called(DtTrace *trace, DtNpOp op, const Reduction *r, PyObject *result, DtVar **out)
{
    DtMeta *meta;
    DtOperand args[6] = {dt_np_node(r->array)};
    uint32_t nargs = 4;
    DT_TRY(dt_np_guard_bufsize(trace));
    DT_TRY(reduced_meta(trace, r->array->meta, r->mask, r->keepdims, result, &meta));
    DT_TRY(axis_operand(trace, r->mask, r->all, &args[1]));
    args[2] = dt_np_const(r->dtype != NULL ? r->dtype : Py_None);
    args[3] = dt_np_const(Py_None);
    if (op != DT_NP_mean) {
        DT_TRY(dt_np_int_operand(trace, r->ddof, &args[nargs++]));
    }
    args[nargs++] = dt_np_const(r->keepdims ? Py_True : Py_False);
    return dt_np_emit_one(trace, op, args, nargs, meta, out);
}

static DtStatus
mean(DtTrace *trace, DtNpOp op, const Reduction *r, DtVar **out)
{
    (void)op;
    const DtSym *count;
    DtVar *sum;
    int num = dt_np_descr(r->array->meta->dtype)->type_num;
    PyObject *dtype = r->dtype;
    bool differs;
    DT_TRY(count_items(trace, r, &count));
    DT_TRY(strides_would_differ(trace, r, &differs));
    if (count->hint.i == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "the mean of no items");
    }
    if (dtype == NULL && (PyTypeNum_ISINTEGER(num) || num == NPY_BOOL)) {
        dtype = dt_np_dtype(NPY_DOUBLE);
    }
    int result = dtype != NULL ? dt_np_descr(dtype)->type_num : num;
    if (dtype != NULL && !PyTypeNum_ISFLOAT(result) && !PyTypeNum_ISCOMPLEX(result)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "mean with an integer dtype");
    }
    if (PyTypeNum_ISCOMPLEX(num) && !PyTypeNum_ISCOMPLEX(result)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "the mean of complex numbers as reals");
    }
    bool native = r->array->meta->layout & DT_LAYOUT_NATIVE;
    bool computed = dt_trace_depends_on_data(trace, count);
    if (!divides_exactly(result) || !native || differs || (computed && result == NPY_FLOAT)) {
        return called(trace, DT_NP_mean, r, dtype != NULL ? dtype : dt_np_dtype(num), out);
    }
    Reduction of = *r;
    DtVar *number;
    if (computed) { /* NumPy warns of no items */
        DT_TRY(dt_np_expect_more_items(trace, r->array, r->mask, 0, &of.array));
    }
    DT_TRY(count_as_number(trace, &of, count, 0, &number));
    DT_TRY(dt_np_reduce(trace, DT_NP_add, of.array, r->mask, r->all, dtype, r->keepdims, &sum));
    return divide_by_count(trace, sum, count, number, out);
}

static DtStatus
variance(DtTrace *trace, DtNpOp op, const Reduction *r, DtVar **out)
{
    const DtSym *count;
    DtVar *sum, *average, *pair[2], *x, *number, *divisor;
    int num = dt_np_descr(r->array->meta->dtype)->type_num;
    bool positive;
    if (r->dtype != NULL || r->array->meta->ndim == 0
        || !(num == NPY_FLOAT || num == NPY_DOUBLE || PyTypeNum_ISINTEGER(num))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "var or std of this dtype");
    }
    PyObject *dtype = PyTypeNum_ISINTEGER(num) ? dt_np_dtype(NPY_DOUBLE) : NULL;
    bool differs, native = r->array->meta->layout & DT_LAYOUT_NATIVE;
    DT_TRY(count_items(trace, r, &count));
    bool computed = dt_trace_depends_on_data(trace, count);
    Reduction of = *r;
    if (computed && (r->ddof > 0 || num != NPY_FLOAT)) { /* NumPy warns of fewer items */
        DT_TRY(dt_np_expect_more_items(trace, r->array, r->mask, r->ddof > 0 ? r->ddof : 0,
                                       &of.array));
    }
    DT_TRY(strides_would_differ(trace, r, &differs));
    if (differs || !native || (computed && num == NPY_FLOAT)) {
        return called(trace, op, &of, dtype != NULL ? dtype : dt_np_dtype(num), out);
    }
    if (!computed) {
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GT, count, r->ddof > 0 ? r->ddof : 0, &positive));
        if (!positive) {
            return dt_break(trace, DT_BREAK_RAISES, "var or std with no degrees of freedom");
        }
    }
    DT_TRY(count_as_number(trace, &of, count, 0, &number));
    DT_TRY(count_as_number(trace, &of, count, r->ddof, &divisor));
    DT_TRY(dt_np_reduce(trace, DT_NP_add, of.array, r->mask, r->all, dtype, true, &sum));
    DT_TRY(divide_by_count(trace, sum, count, number, &average));
    pair[0] = &of.array->base;
    pair[1] = average;
    DT_TRY(dt_np_apply_vars(trace, DT_NP_subtract, pair, 2, &x));
    DT_TRY(dt_np_apply_vars(trace, DT_NP_square, &x, 1, &x));
    DT_TRY(dt_np_reduce(trace, DT_NP_add, dt_np_array_of(x), r->mask, r->all, dtype, r->keepdims,
                        &sum));
    DT_TRY(divide_by_count(trace, sum, count, divisor, out));
    return op == DT_NP_std ? dt_np_apply_vars(trace, DT_NP_sqrt, out, 1, out) : DT_OK;
}

static DtStatus
peak_to_peak(DtTrace *trace, DtNpOp op, const Reduction *r, DtVar **out)
{
    (void)op;
    DtVar *pair[2];
    DT_TRY(
        dt_np_reduce(trace, DT_NP_maximum, r->array, r->mask, r->all, NULL, r->keepdims, &pair[0]));
    DT_TRY(
        dt_np_reduce(trace, DT_NP_minimum, r->array, r->mask, r->all, NULL, r->keepdims, &pair[1]));
    return dt_np_apply_vars(trace, DT_NP_subtract, pair, 2, out);
}

/* ---- Forms of the call ----------------------------------------------------------------------- */

static const char *const sum_names[] = {"a",        "axis",    "dtype", "out",
                                        "keepdims", "initial", "where"};
static const char *const max_names[] = {"a", "axis", "out", "keepdims", "initial", "where"};
static const char *const any_names[] = {"a", "axis", "out", "keepdims", "where"};
static const char *const mean_names[] = {"a", "axis", "dtype", "out", "keepdims", "where"};
static const char *const var_names[] = {"a",        "axis",  "dtype", "out",       "ddof",
                                        "keepdims", "where", "mean",  "correction"};
static const char *const ptp_names[] = {"a", "axis", "out", "keepdims"};

typedef DtStatus (*Steps)(DtTrace *, DtNpOp, const Reduction *, DtVar **);

static const struct Form {
    DtNpOp row;   /* numpy.<name> */
    DtNpOp ufunc; /* whose reduce it is, if steps is NULL */
    Steps steps;
    bool boolean; /* the dtype is bool */
    const char *const *names;
    uint8_t count, npos;
} forms[] = {
    {DT_NP_sum, DT_NP_add, NULL, false, sum_names, 7, 7},
    {DT_NP_prod, DT_NP_multiply, NULL, false, sum_names, 7, 7},
    {DT_NP_max, DT_NP_maximum, NULL, false, max_names, 6, 6},
    {DT_NP_min, DT_NP_minimum, NULL, false, max_names, 6, 6},
    {DT_NP_amax, DT_NP_maximum, NULL, false, max_names, 6, 6},
    {DT_NP_amin, DT_NP_minimum, NULL, false, max_names, 6, 6},
    {DT_NP_any, DT_NP_logical_or, NULL, true, any_names, 5, 2},
    {DT_NP_all, DT_NP_logical_and, NULL, true, any_names, 5, 2},
    {DT_NP_mean, DT_NP_add, mean, false, mean_names, 6, 5},
    {DT_NP_var, DT_NP_add, variance, false, var_names, 9, 6},
    {DT_NP_std, DT_NP_add, variance, false, var_names, 9, 6},
    {DT_NP_ptp, DT_NP_subtract, peak_to_peak, false, ptp_names, 4, 4},
};

/* Reads one argument into the reduction; what is not read must be left at its default. */
static DtStatus
read_argument(DtTrace *trace, const char *function, const char *name, DtVar *value, Reduction *r)
{
    if (strcmp(name, "axis") == 0) {
        return dt_np_axes(trace, function, value, r->array->meta->ndim, &r->mask, &r->all);
    }
    if (strcmp(name, "dtype") == 0) {
        return dt_np_dtype_arg(trace, function, value, &r->dtype);
    }
    if (strcmp(name, "keepdims") == 0) {
        return dt_np_bool_arg(trace, function, value, false, &r->keepdims);
    }
    if (strcmp(name, "ddof") == 0) {
        return value != NULL ? dt_np_int_arg(trace, function, value, &r->ddof) : DT_OK;
    }
    if (strcmp(name, "where") == 0 && value != NULL
        && dt_var_as_constant(trace, value) == Py_True) {
        return DT_OK;
    }
    return PyErr_Occurred() ? DT_ERROR : dt_np_need_default(trace, function, name, value);
}

static DtStatus
read_arguments(DtTrace *trace, const char *function, DtVar *self, const DtArgs *args,
               const char *const *names, uint32_t count, uint32_t npos, Reduction *r)
{
    DtVar *slots[9];
    DT_TRY(dt_np_bind(trace, function, self, args, names, count, npos, 1, slots));
    DT_TRY(dt_np_array_like(trace, &slots[0]));
    memset(r, 0, sizeof(*r));
    r->array = dt_np_any_array(slots[0]);
    if (r->array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", function, slots[0]->type->name);
    }
    for (uint32_t i = 1; i < count; i++) {
        DT_TRY(read_argument(trace, function, names[i], slots[i], r));
    }
    return DT_OK;
}

/* Is initial= or where= given by name, and not as what it is anyway? */
static DtStatus
is_partial(DtTrace *trace, const DtArgs *args, bool *out)
{
    *out = false;
    for (uint32_t i = 0; i < args->nkw; i++) {
        bool initial = PyUnicode_CompareWithASCIIString(args->kwnames[i], "initial") == 0;
        DtVar *value;
        if (!initial && PyUnicode_CompareWithASCIIString(args->kwnames[i], "where") != 0) {
            continue;
        }
        DT_TRY(dt_var_realize(trace, args->kw[i], &value));
        value = dt_var_peek(value);
        *out = *out
               || (!dt_np_is_default(value) && (initial || dt_var_peek_constant(value) != Py_True));
    }
    return DT_OK;
}

/* any() and all() of one item: whether it is another one than zero. */
static DtStatus
truth_of(DtTrace *trace, DtArrayVar *array, DtVar **out)
{
    DtVar *pair[2] = {&array->base};
    bool is_bool = dt_np_descr(array->meta->dtype)->type_num == NPY_BOOL;
    DT_TRY(is_bool ? dt_var_bool(trace, false, &pair[1]) : dt_var_int(trace, 0, &pair[1]));
    return dt_np_apply_vars(trace, DT_NP_not_equal, pair, 2, out);
}

static DtStatus
reduction(DtTrace *trace, DtNpOp row, DtVar *self, const DtArgs *args, DtVar **out)
{
    const struct Form *form = forms;
    Reduction r;
    while (form->row != row) {
        form++;
    }
    bool partial = false;
    if (form->steps == NULL) {
        DT_TRY(is_partial(trace, args, &partial));
    }
    if (partial) {
        return dt_np_call_dry(trace, row, self, args, out);
    }
    DT_TRY(read_arguments(trace, dt_np_target(row), self, args, form->names, form->count,
                          form->npos, &r));
    if (form->steps != NULL) {
        return form->steps(trace, row, &r, out);
    }
    if (form->boolean && r.all && r.array->meta->ndim == 0 && !r.keepdims) {
        return truth_of(trace, r.array, out);
    }
    PyObject *dtype = form->boolean ? dt_np_dtype(NPY_BOOL) : r.dtype;
    return dt_np_reduce(trace, form->ufunc, r.array, r.mask, r.all, dtype, r.keepdims, out);
}

DtStatus
dt_np_fn_reduction(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    return reduction(trace, op, NULL, args, out);
}

#define METHOD(NAME)                                                                               \
    DtStatus dt_np_m_##NAME(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)     \
    {                                                                                              \
        return reduction(trace, DT_NP_##NAME, &self->base, args, out);                             \
    }
METHOD(sum)
METHOD(prod)
METHOD(max)
METHOD(min)
METHOD(any)
METHOD(all)
METHOD(mean)
METHOD(var)
METHOD(std)
#undef METHOD

/* np.add.reduce(...): the axis is 0 unless given. */
DtStatus
dt_np_call_reduce(DtTrace *trace, DtNpOp op, PyObject *callable, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"array",    "axis",    "dtype", "out",
                                        "keepdims", "initial", "where"};
    PyUFuncObject *ufunc = (PyUFuncObject *)dt_np_callee(op);
    Reduction r;
    if (ufunc == NULL || ufunc->nin != 2 || ufunc->nout != 1) {
        return dt_break(trace, DT_BREAK_RAISES, "%s.reduce", dt_np_target(op));
    }
    bool partial;
    DT_TRY(is_partial(trace, args, &partial));
    if (partial) {
        return dt_np_call_ufunc_method(trace, op, "reduce", callable, args, out);
    }
    DT_TRY(read_arguments(trace, dt_np_reduce_target(op), NULL, args, names, 7, 7, &r));
    bool axis_given = args->npos > 1;
    for (uint32_t i = 0; i < args->nkw; i++) {
        axis_given = axis_given || PyUnicode_CompareWithASCIIString(args->kwnames[i], "axis") == 0;
    }
    if (!axis_given) {
        r.all = false;
        r.mask = r.array->meta->ndim > 0 ? 1 : 0;
    }
    return dt_np_reduce(trace, op, r.array, r.mask, r.all, r.dtype, r.keepdims, out);
}
