/* The dry run itself, and what it says of results: see dry.h. */
#include "adapters/numpy/dry.h"

#include "variables/kinds.h"

#define MOST_NESTED 3

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
shares_memory(const DtNpDry *dry, PyObject *result)
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

/* Nothing is known of it but its type: whoever asks for more breaks, and goes on with what came
 * out. Of numbers in place of arrays not even the type would be known, where the data choose it. */
static DtStatus
late_result(DtNpDry *dry, PyObject *result, DtMeta *out)
{
    if (dry->late && !PyArray_CheckExact(result)) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_KIND, "%s with such a result", dry->function);
    }
    DT_TRY(dt_trace_keep(dry->trace, (PyObject *)Py_TYPE(result)));
    *out = (DtMeta){.adapter = &dt_number_adapter, .type = Py_TYPE(result)};
    if (PyArray_CheckExact(result)) { /* none that an argument has, as read_result() has seen */
        out->layout = DT_LAYOUT_FRESH | DT_LAYOUT_VIEW;
    }
    return DT_OK;
}

/* Arrays of the dtype are tracked, or its scalars. */
static bool
has_tracker(PyObject *dtype, bool scalar)
{
    return dt_np_adapter_of_dtype(dtype) != NULL
           && (!scalar || dt_np_dtype_captured(dt_np_descr(dtype))
               || dt_np_is_called_type((PyObject *)dt_np_descr(dtype)->typeobj));
}

static DtStatus
read_result(DtNpDry *dry, PyObject *result, const DtSym *counted, DtMeta *out)
{
    bool scalar = PyArray_IsScalar(result, Generic);
    char number = dt_number_kind_of_type(Py_TYPE(result));
    if (number != 0 && number != 'l') {
        *out = dt_number_meta(number);
        return DT_OK;
    }
    if (PyDict_CheckExact(result) || PyBytes_CheckExact(result)) {
        return late_result(dry, result, out);
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
    if (dry->late || !has_tracker((PyObject *)descr, scalar) || !PyArray_ISNBO(descr->byteorder)) {
        return late_result(dry, result, out);
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
    bool alike = owns && !scalar && !dry->counted && !dry->scattered; /* as it lies here */
    DT_TRY(alike && PyArray_IS_C_CONTIGUOUS(array) ? dt_np_fresh_c(dry->trace, meta)
                                                   : dt_np_fresh(dry->trace, meta, NULL));
    if (!owns) {
        meta->layout = DT_LAYOUT_NATIVE | DT_LAYOUT_ALIGNED; /* of its strides nothing is known */
    }
    *out = *meta;
    return DT_OK;
}

/* What a function about dtypes says, tuples and new lists of plain things too. */
static DtStatus
known_result(DtNpDry *dry, PyObject *result, uint32_t depth, DtVar **out)
{
    bool list = PyList_CheckExact(result);
    if (dt_np_dry_is_plain(result) || PyArray_DescrCheck(result) || PyType_Check(result)) {
        return dt_build_known(dry->trace, result, out);
    }
    if (depth == MOST_NESTED || !(list || PyTuple_CheckExact(result))) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s that gives a %s", dry->function,
                        Py_TYPE(result)->tp_name);
    }
    Py_ssize_t count = PySequence_Fast_GET_SIZE(result);
    DtVar **items = DT_ARENA_ARRAY(&dry->trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(known_result(dry, PySequence_Fast_GET_ITEM(result, i), depth + 1, &items[i]));
    }
    return list ? dt_var_list(dry->trace, items, (uint32_t)count, out)
                : dt_var_tuple(dry->trace, items, (uint32_t)count, out);
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

/* The sizes of the array operand, for a result of as many dimensions.  What is in C order when the
 * dummy is, whose axes are one item long only where the operand's are, is so for any sizes. */
static DtStatus
take_sizes(DtNpDry *dry, const DtOperand *operand, PyObject *made, DtMeta *result)
{
    const DtMeta *meta = &operand->u.node->results[operand->result];
    if (meta->ndim != result->ndim) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s in this form", dry->function);
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        result->shape[i] = meta->shape[i];
    }
    bool c = (meta->layout & DT_LAYOUT_C) && PyArray_CheckExact(made)
             && PyArray_CHKFLAGS((PyArrayObject *)made, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_OWNDATA);
    return c ? dt_np_fresh_c(dry->trace, result) : DT_OK;
}

/* Is the argument the dtype of reals, also by its name? */
static bool
is_real_dtype(PyObject *value)
{
    PyArray_Descr *descr = NULL;
    if (!PyArray_DescrCheck(value) && !dt_np_names_dtype(value)) {
        return false;
    }
    if (!PyArray_DescrConverter(value, &descr)) {
        PyErr_Clear(); /* it is another text */
        return false;
    }
    bool real = PyTypeNum_ISINTEGER(descr->type_num) || PyTypeNum_ISFLOAT(descr->type_num);
    Py_DECREF(descr);
    return real;
}

static bool
is_complex(PyObject *value)
{
    return PyComplex_Check(value) || PyArray_IsScalar(value, ComplexFloating)
           || (PyArray_Check(value) && PyArray_ISCOMPLEX((PyArrayObject *)value));
}

/* Complex numbers that are taken as reals: NumPy warns, from wherever it is called. */
static bool
drops_imaginary(const DtNpDry *dry, PyObject *args, PyObject *kwargs)
{
    bool given = false, from_complex = false;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(kwargs, &at, &key, &value);) {
        given = given || is_real_dtype(value);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        given = given || is_real_dtype(PyTuple_GET_ITEM(args, i));
    }
    for (Py_ssize_t i = 0; given && i < PyList_GET_SIZE(dry->dummies); i++) {
        from_complex = from_complex || is_complex(PyList_GET_ITEM(dry->dummies, i));
    }
    PyObject *initial = PyDict_GetItemString(kwargs, "initial"); /* of a reduction */
    bool begins = initial != NULL && is_complex(initial) && PyTuple_GET_SIZE(args) > 0
                  && !is_complex(PyTuple_GET_ITEM(args, 0));
    return ((given && from_complex) || begins) && !dry->about;
}

static DtStatus
unknown_size(DtNpDry *dry, const DtSym **out)
{
    return dt_trace_symbol(dry->trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, out);
}

/* einsum() of one array that adds nothing up gives a view: what it picks, or turned axes. */
static DtStatus
emit_einsum_view(DtNpDry *dry, DtCallSpec *spec, PyObject *result, DtVar **out)
{
    static const DtAlias of_array = {0, 1};
    const DtOperand *operand = &spec->args[1];
    const DtMeta *base = &operand->u.node->results[operand->result];
    uint32_t ndim = (uint32_t)PyArray_NDIM((PyArrayObject *)result);
    DtMeta *meta = dt_np_view_meta(dry->trace, base, NULL, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        meta->shape[i] = dt_np_size(dry->trace, PyArray_DIM((PyArrayObject *)result, (int)i));
        if (meta->shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    spec->results = meta;
    spec->nresults = 1;
    spec->aliases = &of_array;
    spec->naliases = 1;
    return dt_np_emit(dry->trace, spec, out);
}

static bool
is_einsum_view(const DtNpDry *dry, const DtCallSpec *spec, PyObject *result)
{
    return dry->op == DT_NP_einsum && spec->nargs == 2 && spec->kwnames == NULL
           && spec->args[1].kind == DT_OPERAND_NODE && dry->nsizes == 0
           && PyArray_CheckExact(result) && shares_memory(dry, result);
}

/* The edges of a histogram that were given as an array are given back: which argument it is. */
static DtVar *
given_back(const DtNpDry *dry, const DtArgs *given, PyObject *args, PyObject *kwargs,
           PyObject *result)
{
    if (dry->op != DT_NP_histogram || !PyArray_CheckExact(result)) {
        return NULL;
    }
    for (uint32_t i = 0; i < given->npos; i++) {
        if (PyTuple_GET_ITEM(args, i) == result) {
            return dt_var_peek(given->pos[i]);
        }
    }
    for (uint32_t i = 0; i < given->nkw; i++) {
        if (PyDict_GetItem(kwargs, given->kwnames[i]) == result) {
            return dt_var_peek(given->kw[i]);
        }
    }
    return NULL;
}

/* The result becomes the argument. */
static DtStatus
give_back(DtTrace *trace, DtVar *argument, uint32_t i, DtVar **out)
{
    DtVar **items;
    uint32_t count;
    bool many;
    DT_TRY(dt_np_items(trace, *out, &items, &count, &many));
    DtVar **copies = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (copies == NULL) {
        return dt_no_memory();
    }
    memcpy(copies, items, sizeof(items[0]) * count);
    copies[i] = argument;
    return dt_var_tuple(trace, copies, count, out);
}

static DtStatus
learn_and_emit(DtNpDry *dry, DtCallSpec *spec, DtOperand *operands, const DtArgs *given,
               PyObject *args, PyObject *kwargs, DtVar **out)
{
    DtMeta results[DT_NP_MAXARGS];
    DtVar *back = NULL; /* an argument that is given back, as which result */
    uint32_t back_at = 0;
    PyObject *result = run_dry(spec->callee, args, kwargs);
    if (result == NULL) {
        return dt_break_on_exception(dry->trace);
    }
    if (dry->about) {
        result = dt_trace_keep_take(dry->trace, result);
        return result != NULL ? known_result(dry, result, 0, out) : DT_ERROR;
    }
    if (is_einsum_view(dry, spec, result)) {
        DtStatus emitted = emit_einsum_view(dry, spec, result, out);
        Py_DECREF(result);
        return emitted;
    }
    DtStatus status = DT_OK;
    bool many = PyTuple_Check(result);
    Py_ssize_t count = many ? PyTuple_GET_SIZE(result) : 1;
    const DtSym *counted = NULL;
    PyTypeObject *type = Py_TYPE(result);
    if (dry->counted && dry->alike != 1) {
        counted = dry->count;
        status = counted == NULL ? unknown_size(dry, &counted) : DT_OK;
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
        PyObject *one = many ? PyTuple_GET_ITEM(result, i) : result;
        DtVar *argument = many ? given_back(dry, given, args, kwargs, one) : NULL;
        if (argument != NULL) {
            back = argument;
            back_at = (uint32_t)i;
            results[i] = *((DtArrayVar *)argument)->meta;
            continue;
        }
        if (dry->open & bit) {
            status = unknown_size(dry, &counted);
        }
        status =
            status != DT_OK ? status : read_result(dry, one, counts ? counted : NULL, &results[i]);
        if (status == DT_OK && (dry->alike & bit)) {
            status = take_sizes(dry, &spec->args[0], one, &results[i]);
        }
    }
    if (status == DT_OK && dry->nsizes > 0) {
        status =
            dt_np_dry_learn_sizes(dry, spec, operands, given, result, results, (uint32_t)count);
    }
    Py_DECREF(result);
    DT_TRY(status);
    spec->results = results;
    spec->nresults = (uint32_t)count;
    DT_TRY(dt_np_emit(dry->trace, spec, out));
    if (back != NULL) {
        DT_TRY(give_back(dry->trace, back, back_at, out));
    }
    return many && type != &PyTuple_Type ? name_results(dry->trace, type, out) : DT_OK;
}

static DtStatus
read_arguments(DtNpDry *dry, DtOperand *operands, const DtArgs *args, PyObject *pos,
               PyObject *kwargs)
{
    for (uint32_t i = 0; i < args->npos; i++) {
        PyObject *example = NULL;
        DtStatus status = dt_np_dry_operand(dry, args->pos[i], 0, &operands[i], &example);
        PyTuple_SET_ITEM(pos, i, example);
        DT_TRY(status);
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *example = NULL;
        DtStatus status =
            dt_np_dry_operand(dry, args->kw[i], 0, &operands[args->npos + i], &example);
        if (status == DT_OK && PyDict_SetItem(kwargs, args->kwnames[i], example) < 0) {
            status = DT_ERROR;
        }
        Py_XDECREF(example);
        DT_TRY(status);
    }
    return DT_OK;
}

/* ---- Integers that say how large the result is ----------------------------------------------- */

static bool
same_form(const DtNpDry *dry, PyObject *a, PyObject *b)
{
    if (Py_TYPE(a) != Py_TYPE(b)) {
        return false;
    }
    if (PyTuple_Check(a) || PyList_Check(a)) {
        bool same = PySequence_Fast_GET_SIZE(a) == PySequence_Fast_GET_SIZE(b);
        for (Py_ssize_t i = 0; same && i < PySequence_Fast_GET_SIZE(a); i++) {
            same = same_form(dry, PySequence_Fast_GET_ITEM(a, i), PySequence_Fast_GET_ITEM(b, i));
        }
        return same;
    }
    if (!PyArray_Check(a)) {
        return true;
    }
    PyArrayObject *one = (PyArrayObject *)a, *other = (PyArrayObject *)b;
    bool same = PyArray_NDIM(one) == PyArray_NDIM(other)
                && PyArray_EquivTypes(PyArray_DESCR(one), PyArray_DESCR(other));
    for (int i = dry->counted || dry->open != 0 ? 1 : 0; same && i < PyArray_NDIM(one); i++) {
        same = PyArray_DIM(one, i) == PyArray_DIM(other, i);
    }
    return same;
}

DtStatus
dt_np_dry_run_again(DtNpDry *dry, DtNpDryValues values, PyObject *callee, DtOperand *operands,
                    const DtArgs *args, PyObject **result)
{
    PyObject *pos = PyTuple_New(args->npos), *kwargs = PyDict_New();
    DtStatus status = DT_ERROR;
    *result = NULL;
    dry->values = values;
    if (pos != NULL && kwargs != NULL) {
        status = read_arguments(dry, operands, args, pos, kwargs);
    }
    if (status == DT_OK) {
        *result = run_dry(callee, pos, kwargs);
        if (*result == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear(); /* such values are refused */
        }
        status = PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    Py_XDECREF(pos);
    Py_XDECREF(kwargs);
    dry->values = DT_NP_DRY_ZEROS;
    return status;
}

/* np.hanning(n[0]), np.delete(x, n): the values of integers may be sizes, axes, places.  Then the
 * results for zeros, for ones and for all different integers are not of one form. */
static DtStatus
check_integers(DtNpDry *dry, PyObject *callee, DtOperand *operands, const DtArgs *args,
               PyObject *result)
{
    static const DtNpDryValues others[] = {DT_NP_DRY_ONES, DT_NP_DRY_DIFFERENT};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(others); i++) {
        PyObject *other;
        DT_TRY(dt_np_dry_run_again(dry, others[i], callee, operands, args, &other));
        bool same = other == NULL || same_form(dry, result, other);
        Py_XDECREF(other);
        if (!same) {
            return dt_break(dry->trace, DT_BREAK_ARRAY_OP,
                            "%s with integers that say how large the result is", dry->function);
        }
    }
    return DT_OK;
}

static DtStatus
read_and_run(DtNpDry *dry, DtCallSpec *spec, DtOperand *operands, const DtArgs *args, PyObject *pos,
             PyObject *kwargs, DtVar **out)
{
    DT_TRY(read_arguments(dry, operands, args, pos, kwargs));
    if (dry->about && dry->nsizes > 0) { /* what it says is known now or never */
        return dt_break(dry->trace, DT_BREAK_DATA_SIZE, "%s of such a selection", dry->function);
    }
    if (drops_imaginary(dry, pos, kwargs)) {
        return dt_break(dry->trace, DT_BREAK_ARRAY_OP, "%s that drops imaginary parts",
                        dry->function);
    }
    if (dry->integers && !dry->about) {
        PyObject *result = run_dry(spec->callee, pos, kwargs);
        if (result == NULL) {
            return dt_break_on_exception(dry->trace);
        }
        DtStatus status = check_integers(dry, spec->callee, operands, args, result);
        Py_DECREF(result);
        DT_TRY(status);
    }
    return learn_and_emit(dry, spec, operands, args, pos, kwargs, out);
}

/* Of a function that may warn from Python, the copy that raises there: the call is then made again
 * plainly (python/dyntrace/_numpy_quiet.py). */
static DtStatus
find_quiet(DtNpDry *dry, PyObject **callee)
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

DtStatus
dt_np_dry_call(DtNpDry *dry, PyObject *callee, const DtArgs *args, DtVar **out)
{
    DtTrace *trace = dry->trace;
    DT_TRY(find_quiet(dry, &callee));
    uint32_t nargs = args->npos + args->nkw;
    DtOperand *operands = DT_ARENA_ARRAY(&trace->arena, DtOperand, nargs + 1);
    PyObject *kwnames;
    if (operands == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_args_kwnames(trace, args, &kwnames));
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
