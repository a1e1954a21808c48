/* Functions without a rule of their own: NumPy calls them, and a dry run says what comes out.
 *
 *   operands ─► sizes guarded ─► dummies of the same dtypes, sizes and order ─► call ─► metadata
 *
 * Rows come here only if dtype, shape and kind of the result rest on nothing but dtypes, sizes
 * and constants, if they give new memory and write nothing (floating-point flags are the executor's
 * business).  Functions that may warn from Python are called as copies that raise instead.  A dry
 * run that raises, or whose result is a view, is a graph break: plain execution does what it does.
 *
 * Sizes become constants of the trace: another size is another entry.
 */
#include "adapters/numpy/internal.h"

#include <stdio.h>
#include <string.h>

#include "variables/kinds.h"

/* Trying out larger arrays would take longer than the graph could gain. */
#define MOST_ITEMS (1 << 16)
#define MOST_DEPTH 4

typedef struct Dry {
    DtTrace *trace;
    DtNpOp op;
    const char *function;
    PyObject *dummies; /* DT_OWNED list */
    bool about;        /* the result is no array and known at once */
    bool counted;      /* the first size of results depends on data, and no size matters */
    uint32_t alike;    /* a bit per result of a counted function that has the sizes of its array */
    uint32_t open;     /* a bit per result of others whose first size depends on data */
} Dry;

/* Sizes of dummies where the size does not matter. */
enum { SMALL = 4 };

/* ---- Dummies --------------------------------------------------------------------------------- */

/* Numbers between 0 and 1; rows are sorted, the diagonal of matrices is large, so that they can be
 * inverted and have roots. */
static void
fill(PyArrayObject *array)
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
    }
}

/* Integers are indices, and small; the order is the operand's as far as it is known. */
static PyObject *
make_dummy(const DtMeta *meta, bool small)
{
    npy_intp shape[DT_NP_MAXDIMS];
    npy_intp count = 1;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        shape[i] = (npy_intp)meta->shape[i]->hint.i;
        shape[i] = small && shape[i] > SMALL ? SMALL : shape[i];
        count *= shape[i];
    }
    PyArray_Descr *descr = dt_np_descr(meta->dtype);
    bool whole = PyTypeNum_ISINTEGER(descr->type_num) || PyTypeNum_ISBOOL(descr->type_num);
    int fortran = !(meta->layout & DT_LAYOUT_C) && (meta->layout & DT_LAYOUT_F);
    PyObject *filled = whole ? PyArray_ZEROS(meta->ndim, shape, NPY_DOUBLE, 0)
                             : PyArray_SimpleNew(meta->ndim, shape, NPY_DOUBLE);
    if (filled == NULL) {
        return NULL;
    }
    if (!whole) {
        fill((PyArrayObject *)filled);
    }
    Py_INCREF(descr);
    PyObject *dummy = PyArray_CastToType((PyArrayObject *)filled, descr, fortran);
    Py_DECREF(filled);
    if (dummy != NULL && meta->ndim == 0 && meta->type != &PyArray_Type) {
        dummy = PyArray_Return((PyArrayObject *)dummy);
    }
    return dummy;
}

static DtStatus
fix_sizes(Dry *dry, const DtMeta *meta)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < meta->ndim && !dry->counted; i++) {
        if (!dt_sym_is_const(meta->shape[i])) {
            DT_TRY(dt_trace_specialize(dry->trace, meta->shape[i]));
        }
        int64_t size = meta->shape[i]->hint.i;
        if (size > MOST_ITEMS || (count *= size) > MOST_ITEMS) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of so large an array",
                            dry->function);
        }
        if (size == 0) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of an array without items",
                            dry->function);
        }
    }
    return DT_OK;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool
is_plain_constant(PyObject *value)
{
    return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value)
           || PyFloat_CheckExact(value) || PyComplex_CheckExact(value)
           || PyUnicode_CheckExact(value);
}

/* Histograms whose number of bins is found by looking at the data. */
static bool
takes_text(DtNpOp op)
{
    return op != DT_NP_histogram && op != DT_NP_histogram_bin_edges && op != DT_NP_histogram2d;
}

static DtStatus
read_constant(Dry *dry, DtVar *var, DtOperand *operand, PyObject **example)
{
    PyObject *value = dt_payload_object(var);
    if (value == NULL || !(PyArray_DescrCheck(value) || PyType_Check(value))) {
        value = dt_var_as_constant(dry->trace, var);
    }
    else if (PyType_Check(value) && !dry->about) {
        PyObject *dtype;
        DT_TRY(dt_np_dtype_arg(dry->trace, dry->function, var, &dtype));
        value = dtype;
    }
    if (value == NULL
        || !(is_plain_constant(value) || PyArray_DescrCheck(value)
             || (dry->about && PyType_Check(value)))) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s with a %s",
                                           dry->function, var->type->name);
    }
    if (PyUnicode_CheckExact(value) && !takes_text(dry->op)) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s by a rule that looks at the data",
                        dry->function);
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
takes_type(const Dry *dry, int type_num)
{
    DtNpOp op = dry->op;
    static const DtNpOp rows[] = {
        DT_NP_kron,           DT_NP_inner,          DT_NP_vdot,
        DT_NP_convolve,       DT_NP_correlate,      DT_NP_einsum,
        DT_NP_angle,          DT_NP_diag,           DT_NP_isreal,
        DT_NP_iscomplex,      DT_NP_diagflat,       DT_NP_append,
        DT_NP_resize,         DT_NP_cross,          DT_NP_pad,
        DT_NP_nonzero,        DT_NP_flatnonzero,    DT_NP_argwhere,
        DT_NP_unique,         DT_NP_compress,       DT_NP_extract,
        DT_NP_block,          DT_NP_asfortranarray, DT_NP_sort_complex,
        DT_NP_vecdot,         DT_NP_matvec,         DT_NP_vecmat,
        DT_NP_delete,         DT_NP_unique_all,     DT_NP_unique_counts,
        DT_NP_unique_inverse,
    };
    if (dry->about || dt_np_is_ufunc(op)) {
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

/* The operand and what stands for it in the dry run (DT_OWNED). */
static DtStatus
read_operand(Dry *dry, DtVar *var, uint32_t depth, DtOperand *operand, PyObject **example)
{
    DtVar **items;
    uint32_t count;
    bool many;
    DT_TRY(dt_var_realize(dry->trace, var, &var));
    var = dt_var_peek(var);
    DtArrayVar *array = dt_np_array_of(var);
    if (array != NULL) {
        DtNpOperand found;
        DT_TRY(dt_np_need_operand(dry->trace, var, dry->function, &found));
        DT_TRY(fix_sizes(dry, array->meta));
        if (!(array->meta->layout & DT_LAYOUT_NATIVE)
            || !takes_type(dry, dt_np_descr(array->meta->dtype)->type_num)) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s of such an array", dry->function);
        }
        *operand = found.operand;
        *example = make_dummy(array->meta, dry->counted);
        return *example != NULL && PyList_Append(dry->dummies, *example) == 0 ? DT_OK : DT_ERROR;
    }
    DT_TRY(dt_np_items(dry->trace, var, &items, &count, &many));
    if (!many) {
        return read_constant(dry, var, operand, example);
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
        DtStatus status = read_operand(dry, items[i], depth + 1, &operand->items[i], &item);
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

/* ---- The run --------------------------------------------------------------------------------- */

/* The function on the dummies, floating-point errors ignored.  NULL with an exception. */
static PyObject *
run_dry(PyObject *callee, PyObject *args, PyObject *kwargs)
{
    PyObject *errstate = dt_np_module_attr("errstate");
    PyObject *all = errstate != NULL ? Py_BuildValue("{s:s}", "all", "ignore") : NULL;
    PyObject *none = all != NULL ? PyTuple_New(0) : NULL;
    PyObject *manager = none != NULL ? PyObject_Call(errstate, none, all) : NULL;
    PyObject *entered = manager != NULL ? PyObject_CallMethod(manager, "__enter__", NULL) : NULL;
    PyObject *result = NULL;
    if (entered != NULL) {
        result = PyObject_Call(callee, args, kwargs);
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyObject *left = PyObject_CallMethod(manager, "__exit__", "OOO", Py_None, Py_None, Py_None);
        if (left == NULL) {
            Py_CLEAR(result); /* that error goes first */
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        }
        else {
            PyErr_Restore(type, value, traceback);
            Py_DECREF(left);
        }
    }
    Py_XDECREF(entered);
    Py_XDECREF(manager);
    Py_XDECREF(none);
    Py_XDECREF(all);
    return result;
}

static bool
shares_memory(const Dry *dry, PyObject *result)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(dry->dummies); i++) {
        PyObject *dummy = PyList_GET_ITEM(dry->dummies, i);
        if (dummy == result) {
            return true;
        }
        if (PyArray_Check(dummy) && PyArray_Check(result)) {
            PyObject *shares = dt_np_module_attr("may_share_memory");
            PyObject *answer =
                shares != NULL ? PyObject_CallFunctionObjArgs(shares, dummy, result, NULL) : NULL;
            bool apart = answer == Py_False;
            Py_XDECREF(answer);
            if (!apart) {
                PyErr_Clear(); /* what can't be told apart is taken as shared */
                return true;
            }
        }
    }
    return false;
}

static DtStatus
read_result(Dry *dry, PyObject *result, const DtSym *counted, DtMeta *out)
{
    bool scalar = PyArray_IsScalar(result, Generic);
    char number = dt_number_kind_of_type(Py_TYPE(result));
    if (number != 0 && number != 'l') {
        *out = dt_number_meta(number);
        return DT_OK;
    }
    if ((!scalar && !PyArray_CheckExact(result)) || shares_memory(dry, result)) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s that gives a %s", dry->function,
                        scalar || PyArray_CheckExact(result) ? "view" : Py_TYPE(result)->tp_name);
    }
    PyArrayObject *array = scalar ? NULL : (PyArrayObject *)result;
    PyArray_Descr *descr = scalar ? PyArray_DescrFromScalar(result) : PyArray_DESCR(array);
    if (scalar && (descr == NULL || dt_trace_keep_take(dry->trace, (PyObject *)descr) == NULL)) {
        return DT_ERROR;
    }
    if (!dt_np_dtype_captured(descr) || !PyArray_ISNBO(descr->byteorder)) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_KIND, "%s with such a result", dry->function);
    }
    uint32_t ndim = scalar ? 0 : (uint32_t)PyArray_NDIM(array);
    DtMeta *meta = dt_np_meta(dry->trace, (PyObject *)descr, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        bool counts = i == 0 && counted != NULL;
        meta->shape[i] = counts ? counted : dt_np_size(dry->trace, PyArray_DIM(array, (int)i));
        if (meta->shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    if (scalar) {
        meta->type = Py_TYPE(result);
    }
    bool owns = scalar || PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED);
    DT_TRY(dt_np_fresh(dry->trace, meta, NULL));
    if (!owns) {
        meta->layout = DT_LAYOUT_NATIVE | DT_LAYOUT_ALIGNED; /* of its strides nothing is known */
    }
    *out = *meta;
    return DT_OK;
}

/* What a function about dtypes says; takes `result`. */
static DtStatus
known_result(Dry *dry, DT_STEALS PyObject *result, DtVar **out)
{
    bool plain = is_plain_constant(result) || PyArray_DescrCheck(result) || PyType_Check(result);
    for (Py_ssize_t i = 0; PyTuple_CheckExact(result) && i < PyTuple_GET_SIZE(result); i++) {
        plain = PyLong_CheckExact(PyTuple_GET_ITEM(result, i)) && (plain || i == 0);
    }
    result = dt_trace_keep_take(dry->trace, result);
    if (result == NULL) {
        return DT_ERROR;
    }
    return plain ? dt_build_known(dry->trace, result, out)
                 : dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s that gives a %s", dry->function,
                            Py_TYPE(result)->tp_name);
}

/* The tuple *out becomes one of the class `type`, a named tuple. */
static DtStatus
name_results(DtTrace *trace, PyTypeObject *type, DtVar **out)
{
    DtVar *cls, **items;
    uint32_t count;
    bool many;
    DT_TRY(dt_np_items(trace, *out, &items, &count, &many));
    DT_TRY(dt_build_known(trace, (PyObject *)type, &cls));
    DtArgs args = {.pos = items, .npos = count};
    return dt_var_call(trace, cls, &args, out);
}

/* The sizes of the array operand, for a result of as many dimensions. */
static DtStatus
take_sizes(Dry *dry, const DtOperand *operand, DtMeta *result)
{
    const DtMeta *meta = &operand->u.node->results[operand->result];
    if (meta->ndim != result->ndim) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s in this form", dry->function);
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        result->shape[i] = meta->shape[i];
    }
    return DT_OK;
}

static DtStatus
learn_and_emit(Dry *dry, DtCallSpec *spec, PyObject *args, PyObject *kwargs, DtVar **out)
{
    DtMeta results[DT_NP_MAXARGS];
    PyObject *result = run_dry(spec->callee, args, kwargs);
    if (result == NULL) {
        return dt_break_on_exception(dry->trace);
    }
    if (dry->about) {
        return known_result(dry, result, out);
    }
    DtStatus status = DT_OK;
    bool many = PyTuple_Check(result);
    Py_ssize_t count = many ? PyTuple_GET_SIZE(result) : 1;
    const DtSym *counted = NULL;
    PyTypeObject *type = Py_TYPE(result);
    if (dry->counted || dry->open != 0) {
        status = dt_trace_symbol(dry->trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, &counted);
    }
    if (many && type != &PyTuple_Type && status == DT_OK) {
        status = dt_trace_keep(dry->trace, (PyObject *)type);
    }
    if (status == DT_OK && many && (count < 2 || count > DT_NP_MAXARGS)) {
        status = dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s with %d results", dry->function,
                          (int)count);
    }
    for (Py_ssize_t i = 0; i < count && status == DT_OK; i++) {
        uint32_t bit = 1u << i;
        bool counts = dry->counted ? !(dry->alike & bit) : (dry->open & bit) != 0;
        status = read_result(dry, many ? PyTuple_GET_ITEM(result, i) : result,
                             counts ? counted : NULL, &results[i]);
        if (status == DT_OK && (dry->alike & bit)) {
            status = take_sizes(dry, &spec->args[0], &results[i]);
        }
    }
    Py_DECREF(result);
    DT_TRY(status);
    spec->results = results;
    spec->nresults = (uint32_t)count;
    DT_TRY(dt_np_emit(dry->trace, spec, out));
    return many && type != &PyTuple_Type ? name_results(dry->trace, type, out) : DT_OK;
}

static DtStatus
read_and_run(Dry *dry, DtCallSpec *spec, DtOperand *operands, const DtArgs *args, PyObject *pos,
             PyObject *kwargs, DtVar **out)
{
    for (uint32_t i = 0; i < args->npos; i++) {
        PyObject *example = NULL;
        DtStatus status = read_operand(dry, args->pos[i], 0, &operands[i], &example);
        PyTuple_SET_ITEM(pos, i, example);
        DT_TRY(status);
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *example = NULL;
        DtStatus status = read_operand(dry, args->kw[i], 0, &operands[args->npos + i], &example);
        if (status == DT_OK && PyDict_SetItem(kwargs, args->kwnames[i], example) < 0) {
            status = DT_ERROR;
        }
        Py_XDECREF(example);
        DT_TRY(status);
    }
    return learn_and_emit(dry, spec, pos, kwargs, out);
}

/* Some of the functions can write an argument when told to. */
static bool
may_write(DtNpOp op, const DtArgs *args)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i], "out") == 0
            || PyUnicode_CompareWithASCIIString(args->kwnames[i], "overwrite_input") == 0
            || PyUnicode_CompareWithASCIIString(args->kwnames[i], "copy") == 0) {
            return true;
        }
    }
    return (op == DT_NP_percentile || op == DT_NP_quantile || op == DT_NP_nan_to_num
            || op == DT_NP_choose || op == DT_NP_nansum || op == DT_NP_nanprod
            || op == DT_NP_nancumsum || op == DT_NP_nancumprod)
           && args->npos > (op == DT_NP_nan_to_num ? 1
                            : op == DT_NP_choose   ? 2
                                                   : 3);
}

/* Of a function that may warn from Python, the copy that raises there: the call is then made again
 * plainly (python/dyntrace/_numpy_quiet.py). */
static DtStatus
find_quiet(Dry *dry, PyObject **callee)
{
    PyObject *module = PyImport_ImportModule("dyntrace._numpy_quiet");
    PyObject *found =
        module != NULL ? PyObject_CallMethod(module, "replacement", "O", *callee) : NULL;
    Py_XDECREF(module);
    *callee = dt_trace_keep_take(dry->trace, found);
    if (*callee == NULL) {
        return DT_ERROR;
    }
    return *callee != Py_None
               ? DT_OK
               : dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s, which may warn", dry->function);
}

static DtStatus
call_dry(Dry *dry, PyObject *callee, const DtArgs *args, DtVar **out)
{
    DtTrace *trace = dry->trace;
    DT_TRY(find_quiet(dry, &callee));
    uint32_t nargs = args->npos + args->nkw;
    DtOperand *operands = DT_ARENA_ARRAY(&trace->arena, DtOperand, nargs + 1);
    PyObject *kwnames = NULL;
    if (operands == NULL) {
        return dt_no_memory();
    }
    if (args->nkw > 0) {
        kwnames = dt_trace_keep_take(trace, PyTuple_New(args->nkw));
        if (kwnames == NULL) {
            return DT_ERROR;
        }
        for (uint32_t i = 0; i < args->nkw; i++) {
            Py_INCREF(args->kwnames[i]);
            PyTuple_SET_ITEM(kwnames, i, args->kwnames[i]);
        }
    }
    DtCallSpec spec = {
        .target = dry->function,
        .callee = callee,
        .args = operands,
        .nargs = nargs,
        .kwnames = kwnames,
    };
    dry->dummies = PyList_New(0);
    PyObject *pos = PyTuple_New(args->npos), *kwargs = PyDict_New();
    DtStatus status = DT_ERROR;
    if (dry->dummies != NULL && pos != NULL && kwargs != NULL) {
        status = read_and_run(dry, &spec, operands, args, pos, kwargs, out);
    }
    Py_XDECREF(dry->dummies);
    Py_XDECREF(pos);
    Py_XDECREF(kwargs);
    return status;
}

DtStatus
dt_np_fn_dry(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    if (may_write(op, args)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s into an argument", dt_np_target(op));
    }
    if ((op == DT_NP_delete || op == DT_NP_insert) && args->npos > 1) {
        DtVar *where; /* in an array there may be one index twice */
        DT_TRY(dt_var_realize(trace, args->pos[1], &where));
        if (dt_np_array_of(where) != NULL) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s at places that depend on data",
                            dt_np_target(op));
        }
    }
    PyObject *callee = dt_np_callee(op);
    Dry dry = {.trace = trace, .op = op, .function = dt_np_target(op)};
    return callee != NULL ? call_dry(&dry, callee, args, out) : DT_ERROR;
}

/* Methods of ufuncs that make new arrays.  Errors of arithmetic are flags, which the run tells. */
DtStatus
dt_np_call_ufunc_method(DtTrace *trace, DtNpOp op, const char *method, PyObject *callable,
                        const DtArgs *args, DtVar **out)
{
    static const struct {
        const char *name;
        uint32_t before_out; /* arguments by place */
    } methods[] = {{"accumulate", 3}, {"reduceat", 4}, {"outer", 2}, {"reduce", 3}};
    char function[80];
    snprintf(function, sizeof(function), "%s.%s", dt_np_target(op), method);
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods); i++) {
        if (strcmp(methods[i].name, method) != 0) {
            continue;
        }
        if (may_write(op, args) || args->npos > methods[i].before_out) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s into an argument", function);
        }
        Dry dry = {.trace = trace, .op = op, .function = function};
        return call_dry(&dry, callable, args, out);
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s is not captured", function);
}

/* Reductions with initial= or where=; `self`: of a method. */
DtStatus
dt_np_reduce_dry(DtTrace *trace, DtNpOp op, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtArgs with_self = *args;
    if (self != NULL) {
        DT_TRY(dt_args_prepend(trace, args, self, &with_self));
    }
    return dt_np_fn_dry(trace, op, &with_self, out);
}

/* Which results of unique() have the sizes of its argument: those that say where to find an item.
 * *plain = false: other options than unique's flags. */
static DtStatus
read_unique_options(DtTrace *trace, DtNpOp op, const DtArgs *args, uint32_t *alike, bool *plain)
{
    static const char *const flags[] = {"return_index", "return_inverse", "return_counts"};
    bool set[3] = {false};
    *alike = op == DT_NP_unique_inverse ? 1u << 1 : op == DT_NP_unique_all ? 1u << 2 : 0;
    *plain = args->nkw == 0 || op == DT_NP_unique;
    for (uint32_t i = 0; i < args->nkw && *plain; i++) {
        DtVar *value;
        *plain = false;
        DT_TRY(dt_var_realize(trace, args->kw[i], &value));
        PyObject *constant = dt_var_peek_constant(value);
        for (uint32_t j = 0; j < 3 && constant != NULL && PyBool_Check(constant); j++) {
            if (PyUnicode_CompareWithASCIIString(args->kwnames[i], flags[j]) == 0) {
                set[j] = constant == Py_True;
                *plain = true;
            }
        }
    }
    if (set[1]) {
        *alike = 1u << (1 + set[0]);
    }
    return DT_OK;
}

/* The residuals are there or not, as the data says. */
DtStatus
dt_np_fn_lstsq(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    PyObject *callee = dt_np_callee(op);
    Dry dry = {.trace = trace, .op = op, .function = dt_np_target(op), .open = 1u << 1};
    return callee != NULL ? call_dry(&dry, callee, args, out) : DT_ERROR;
}

/* How many items come out depends on the data: one symbol, which no guard can ask for.  Options
 * may change more than that. */
DtStatus
dt_np_fn_counted(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const struct {
        DtNpOp op;
        uint32_t arguments;
    } rows[] = {
        {DT_NP_compress, 2},  {DT_NP_extract, 2},     {DT_NP_union1d, 2},
        {DT_NP_setdiff1d, 2}, {DT_NP_intersect1d, 2}, {DT_NP_setxor1d, 2},
    };
    uint32_t most = 1;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        most = rows[i].op == op ? rows[i].arguments : most;
    }
    uint32_t alike;
    bool plain;
    DT_TRY(read_unique_options(trace, op, args, &alike, &plain));
    plain = plain && args->npos == most;
    for (uint32_t i = 0; i < args->npos && plain; i++) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        const DtArrayVar *array = dt_np_array_of(var);
        plain = array != NULL && array->meta->ndim > 0;
        for (uint32_t axis = 0; plain && axis < array->meta->ndim; axis++) {
            plain = !dt_np_size_is(array->meta->shape[axis], 0);
        }
    }
    if (!plain) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s in this form", dt_np_target(op));
    }
    const DtArrayVar *only = dt_np_array_of(dt_var_peek(args->pos[0]));
    bool one = op == DT_NP_nonzero && only != NULL && only->meta->ndim == 1; /* a tuple of one */
    op = one ? DT_NP_flatnonzero : op;
    PyObject *callee = dt_np_callee(op);
    if (callee == NULL) {
        return DT_ERROR;
    }
    Dry dry = {
        .trace = trace,
        .op = op,
        .function = dt_np_target(op),
        .counted = true,
        .alike = alike,
    };
    DT_TRY(call_dry(&dry, callee, args, out));
    return one ? dt_var_tuple(trace, out, 1, out) : DT_OK;
}

/* About dtypes: the values of arrays and their sizes do not matter, those of numbers that are no
 * constants might. */
DtStatus
dt_np_fn_about(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    for (uint32_t i = 0; i < args->npos && op == DT_NP_min_scalar_type; i++) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        const DtArrayVar *array = dt_np_array_of(var);
        if (array != NULL && array->meta->ndim == 0) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a value", dt_np_target(op));
        }
    }
    PyObject *callee = dt_np_callee(op);
    Dry dry = {
        .trace = trace, .op = op, .function = dt_np_target(op), .counted = true, .about = true};
    return callee != NULL ? call_dry(&dry, callee, args, out) : DT_ERROR;
}

/* Functions that warn about the data. */
DtStatus
dt_np_fn_quiet(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const struct {
        DtNpOp op;
        uint32_t before_out; /* arguments by place */
    } rows[] = {
        {DT_NP_nanmax, 2},      {DT_NP_nanmin, 2},    {DT_NP_nanargmax, 2},
        {DT_NP_nanargmin, 2},   {DT_NP_nanmedian, 2}, {DT_NP_nanmean, 3},
        {DT_NP_nanstd, 3},      {DT_NP_nanvar, 3},    {DT_NP_nanpercentile, 3},
        {DT_NP_nanquantile, 3},
    };
    bool overwrites = false;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        overwrites = overwrites || (rows[i].op == op && args->npos > rows[i].before_out);
    }
    if (may_write(op, args) || overwrites) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s into an argument", dt_np_target(op));
    }
    PyObject *callee = dt_np_callee(op);
    Dry dry = {.trace = trace, .op = op, .function = dt_np_target(op)};
    return callee != NULL ? call_dry(&dry, callee, args, out) : DT_ERROR;
}

/* The product of vectors of two items is deprecated, and says so. */
DtStatus
dt_np_fn_cross(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    for (uint32_t i = 0; i < args->npos && i < 2; i++) {
        DtVar *var;
        bool three = false;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        const DtArrayVar *array = dt_np_array_of(var);
        if (array != NULL && array->meta->ndim > 0) {
            DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_EQ, array->meta->shape[array->meta->ndim - 1],
                                    3, &three));
        }
        if (!three || args->npos != 2 || args->nkw > 0) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of anything but two arrays of 3 columns",
                            dt_np_target(op));
        }
    }
    return dt_np_fn_dry(trace, op, args, out);
}
