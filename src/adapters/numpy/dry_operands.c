/* Operands of functions without a rule, and what stands for them in a dry run: see dry.h. */
#include "adapters/numpy/dry.h"

#include <math.h>
#include <string.h>

/* Trying out larger arrays would take longer than the graph could gain. */
#define MOST_ITEMS (1 << 16)
#define MOST_DEPTH 4

/* Sizes of dummies where the size does not matter. */
enum { SMALL = 4 };

/* ---- Dummies --------------------------------------------------------------------------------- */

/* Numbers between 0 and 1, none so small that a cast flags it; rows are sorted, the diagonal of
 * matrices is large, so that they can be inverted and have roots.  As integers the same, but for
 * the scale. */
static void
fill(PyArrayObject *array, bool integers)
{
    double *data = PyArray_DATA(array);
    int ndim = PyArray_NDIM(array);
    npy_intp count = PyArray_SIZE(array);
    npy_intp last = ndim > 0 ? PyArray_DIM(array, ndim - 1) : 1;
    bool square = ndim >= 2 && PyArray_DIM(array, ndim - 2) == last;
    for (npy_intp i = 0; i < count; i++) {
        data[i] =
            ndim == 1 ? (double)(i + 1) / (double)(count + 1) : (double)(i * 37 % 101 + 1) / 128;
        if (square && i / last % last == i % last) {
            data[i] += (double)last;
        }
        if (integers) {
            data[i] = rint(data[i] * (ndim == 1 ? (double)(count + 1) : 128.0));
        }
        else if (ndim == 1) {
            data[i] = (1 + data[i]) / 2;
        }
    }
}

/* Whose integers are numbers like others: of zeros LAPACK complains on the standard output. */
static bool
takes_numbers(DtNpOp op)
{
    return op == DT_NP_polyfit || op == DT_NP_roots
           || strncmp(dt_np_target(op), "numpy.linalg.", 13) == 0;
}

/* Indices, and small. */
static void
fill_integers(PyArrayObject *array, DtNpDryValues values)
{
    double *data = PyArray_DATA(array);
    for (npy_intp i = 0; i < PyArray_SIZE(array); i++) {
        data[i] = values == DT_NP_DRY_ZEROS ? 0.0 : values == DT_NP_DRY_ONES ? 1.0 : (double)i;
    }
}

/* The order is the operand's as far as it is known. */
static PyObject *
make_dummy(const DtMeta *meta, npy_intp *shape, bool numbers, DtNpDryValues values)
{
    PyArray_Descr *descr = dt_np_descr(meta->dtype);
    int fortran = !(meta->layout & DT_LAYOUT_C) && (meta->layout & DT_LAYOUT_F);
    if (!dt_np_dtype_captured(descr)) {
        Py_INCREF(descr);
        PyObject *zeros = PyArray_Zeros(meta->ndim, shape, descr, fortran);
        return zeros != NULL && meta->type != &PyArray_Type ? PyArray_Return((PyArrayObject *)zeros)
                                                            : zeros;
    }
    bool integers = PyTypeNum_ISINTEGER(descr->type_num);
    PyObject *filled = PyArray_SimpleNew(meta->ndim, shape, NPY_DOUBLE);
    if (filled == NULL) {
        return NULL;
    }
    if (PyTypeNum_ISBOOL(descr->type_num)) {
        fill_integers((PyArrayObject *)filled, DT_NP_DRY_ZEROS);
    }
    else if (integers && !numbers) {
        fill_integers((PyArrayObject *)filled, values);
    }
    else {
        fill((PyArrayObject *)filled, integers);
    }
    Py_INCREF(descr);
    PyObject *dummy = PyArray_CastToType((PyArrayObject *)filled, descr, fortran);
    Py_DECREF(filled);
    if (dummy != NULL && meta->ndim == 0 && meta->type != &PyArray_Type) {
        dummy = PyArray_Return((PyArrayObject *)dummy);
    }
    return dummy;
}

/* The sizes of the dummy. */
static DtStatus
fix_sizes(DtNpDry *dry, const DtMeta *meta, npy_intp *shape)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        bool open = dt_trace_depends_on_data(dry->trace, meta->shape[i]);
        shape[i] = (npy_intp)meta->shape[i]->hint.i;
        if (dry->counted) {
            shape[i] = shape[i] > SMALL ? SMALL : shape[i];
            continue;
        }
        if (open) {
            DT_TRY(dt_np_dry_open(dry, meta->shape[i]));
            DT_TRY(dt_np_dry_size(dry, meta->shape[i], &shape[i]));
        }
        else if (!dt_sym_is_const(meta->shape[i])) {
            DT_TRY(dt_trace_specialize(dry->trace, meta->shape[i]));
        }
        int64_t size = shape[i];
        if (size > MOST_ITEMS || (count *= size) > MOST_ITEMS) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of so large an array",
                            dry->function);
        }
        if (size == 0 && dry->op != DT_NP_append) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of an array without items",
                            dry->function);
        }
    }
    return DT_OK;
}

/* ---- Operands -------------------------------------------------------------------------------- */

bool
dt_np_dry_is_plain(PyObject *value)
{
    return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value)
           || PyFloat_CheckExact(value) || PyComplex_CheckExact(value)
           || PyUnicode_CheckExact(value);
}

/* Histograms whose number of bins, given as a text, is found by looking at the data. */
static bool
looks_at_data(DtNpOp op)
{
    return op == DT_NP_histogram || op == DT_NP_histogram_bin_edges;
}

static DtStatus
read_constant(DtNpDry *dry, DtVar *var, DtOperand *operand, PyObject **example)
{
    PyObject *value = dt_payload_object(var);
    if (value == NULL || !(PyArray_DescrCheck(value) || PyType_Check(value))) {
        value = dt_var_as_constant(dry->trace, var);
    }
    else if (PyType_Check(value) && !dry->about && dry->op != DT_NP_append) { /* there, an item */
        PyObject *dtype;
        DT_TRY(dt_np_dtype_arg(dry->trace, dry->function, var, &dtype));
        value = dtype;
    }
    bool bytes = value != NULL && PyBytes_CheckExact(value)
                 && strncmp(dt_np_target(dry->op), "numpy.strings.", 14) == 0;
    if (value == NULL
        || !(bytes || dt_np_dry_is_plain(value) || PyArray_DescrCheck(value)
             || (dry->about && PyType_Check(value)))) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s with a %s",
                                           dry->function, var->type->name);
    }
    if (PyUnicode_CheckExact(value) && looks_at_data(dry->op)) {
        dry->open = 3; /* counts and borders */
    }
    DT_TRY(dt_trace_keep(dry->trace, value));
    *operand = dt_np_const(value);
    Py_INCREF(value);
    *example = value;
    return DT_OK;
}

/* Not where NumPy warns of the conversion: functions that drop an imaginary part, histograms of
 * booleans. */
static bool
takes_type(const DtNpDry *dry, int type_num)
{
    DtNpOp op = dry->op;
    static const DtNpOp rows[] = {
        DT_NP_kron,          DT_NP_inner,          DT_NP_vdot,         DT_NP_convolve,
        DT_NP_correlate,     DT_NP_einsum,         DT_NP_angle,        DT_NP_diag,
        DT_NP_isreal,        DT_NP_iscomplex,      DT_NP_diagflat,     DT_NP_append,
        DT_NP_resize,        DT_NP_cross,          DT_NP_pad,          DT_NP_nonzero,
        DT_NP_flatnonzero,   DT_NP_argwhere,       DT_NP_unique,       DT_NP_compress,
        DT_NP_extract,       DT_NP_block,          DT_NP_sort_complex, DT_NP_vecdot,
        DT_NP_matvec,        DT_NP_vecmat,         DT_NP_delete,       DT_NP_unique_all,
        DT_NP_unique_counts, DT_NP_unique_inverse,
    };
    if (dry->about || dry->any_type || dt_np_is_ufunc(op)) {
        return true;
    }
    if (!PyTypeNum_ISCOMPLEX(type_num)) {
        return op != DT_NP_histogram || !PyTypeNum_ISBOOL(type_num);
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (rows[i] == op) {
            return true;
        }
    }
    bool real_input = op == DT_NP_fft_rfft || op == DT_NP_fft_rfft2 || op == DT_NP_fft_rfftn
                      || op == DT_NP_fft_ihfft;
    return (strncmp(dt_np_target(op), "numpy.fft.", 10) == 0 && !real_input)
           || strncmp(dt_np_target(op), "numpy.linalg.", 13) == 0;
}

/* Functions that are known at once, but not of arrays whose items they read as numbers or sizes. */
static bool
reads_items(DtNpOp op, const DtMeta *meta)
{
    return (op == DT_NP_min_scalar_type && meta->ndim == 0) || op == DT_NP_base_repr
           || op == DT_NP_binary_repr || op == DT_NP_broadcast_shapes;
}

DtStatus
dt_np_dry_operand(DtNpDry *dry, DtVar *var, uint32_t depth, DtOperand *operand, PyObject **example)
{
    DtVar **items;
    uint32_t count;
    bool many;
    DT_TRY(dt_np_realize(dry->trace, var, &var));
    if (var->type->kind == DT_KIND_GROWING_LIST) {
        DT_TRY(dt_np_array_like(dry->trace, &var));
    }
    DtArrayVar *array = dt_np_any_array(var);
    if (array != NULL) {
        DtNpOperand found;
        if (reads_items(dry->op, array->meta)) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of a value", dry->function);
        }
        DT_TRY(dt_np_read_operands(dry->trace, &var, 1, dry->function, &found));
        npy_intp shape[DT_NP_MAXDIMS];
        DT_TRY(fix_sizes(dry, array->meta, shape));
        dry->scattered = dry->scattered || !(array->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F));
        if (!(array->meta->layout & DT_LAYOUT_NATIVE)
            || !takes_type(dry, dt_np_descr(array->meta->dtype)->type_num)) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of such an array", dry->function);
        }
        *operand = dry->op == DT_NP_einsum ? dt_np_node(array) : found.operand; /* may be viewed */
        bool integers = PyTypeNum_ISINTEGER(dt_np_descr(array->meta->dtype)->type_num);
        dry->integers = dry->integers || integers;
        *example = make_dummy(array->meta, shape, array->meta->ndim > 0 && takes_numbers(dry->op),
                              dry->values);
        return *example != NULL && PyList_Append(dry->dummies, *example) == 0 ? DT_OK : DT_ERROR;
    }
    DT_TRY(dt_np_items(dry->trace, var, &items, &count, &many));
    if (!many) {
        return read_constant(dry, var, operand, example);
    }
    if (count == 0) { /* NumPy may warn of it, as of arrays without items */
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of nothing", dry->function);
    }
    if (depth == MOST_DEPTH) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s with so deep a sequence", dry->function);
    }
    DT_TRY(dt_np_tuple_operand(dry->trace, NULL, 0, operand));
    operand->items = DT_ARENA_ARRAY(&dry->trace->arena, DtOperand, count + 1);
    if (operand->items == NULL) {
        return dt_no_memory();
    }
    bool list = var->type->kind == DT_KIND_LIST;
    operand->kind = list ? DT_OPERAND_LIST : DT_OPERAND_TUPLE;
    operand->count = count;
    PyObject *made = list ? PyList_New(count) : PyTuple_New(count);
    *example = made;
    if (made == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item = NULL;
        DtStatus status = dt_np_dry_operand(dry, items[i], depth + 1, &operand->items[i], &item);
        if (list) {
            PyList_SET_ITEM(made, i, item);
        }
        else {
            PyTuple_SET_ITEM(made, i, item);
        }
        DT_TRY(status);
    }
    return DT_OK;
}
