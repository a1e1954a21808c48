/* dtypes of results, asked of NumPy itself and remembered.
 *
 * ufunc.resolve_dtypes() takes the classes int, float and complex for weak Python
 * numbers, so promotion is NumPy's own, of the installed version.  Answers are
 * kept for the process: they depend on dtypes only.
 * Not in here: whether a Python number fits its dtype (sizes.c).
 */
#include "adapters/numpy/internal.h"

static PyObject *cache; /* (callable, dtypes ...) -> tuple of dtypes or dtype */
static PyObject *dtypes_by_num[NPY_NTYPES_LEGACY];

PyObject *
dt_np_dtype(int type_num)
{
    if (dtypes_by_num[type_num] == NULL) {
        dtypes_by_num[type_num] = (PyObject *)PyArray_DescrFromType(type_num);
    }
    return dtypes_by_num[type_num];
}

/* A dtype as part of a key (DT_OWNED): two integers that are one to `==` but not to a program that
 * asks for their names are two; NULL with MemoryError. */
static PyObject *
key_part(PyObject *dtype)
{
    int num = dtype != NULL && PyArray_DescrCheck(dtype) ? dt_np_descr(dtype)->type_num : -1;
    if (num == NPY_LONGLONG || num == NPY_ULONGLONG) {
        return Py_BuildValue("(Oi)", dtype, num);
    }
    return Py_NewRef(dtype != NULL ? dtype : Py_None);
}

static DtStatus
cache_get(PyObject *key, PyObject **value)
{
    if (cache == NULL) {
        cache = PyDict_New();
        if (cache == NULL) {
            return DT_ERROR;
        }
    }
    *value = PyDict_GetItemWithError(cache, key);
    return *value == NULL && PyErr_Occurred() ? DT_ERROR : DT_OK;
}

/* Stores `value` (stolen; NULL: an exception is set, which plain execution would raise too). */
static DtStatus
cache_set(DtTrace *trace, PyObject *key, DT_STEALS PyObject *value, PyObject **out)
{
    if (value == NULL) {
        return dt_break_on_exception(trace);
    }
    int failed = PyDict_SetItem(cache, key, value);
    *out = value; /* the cache keeps it */
    Py_DECREF(value);
    return failed ? DT_ERROR : DT_OK;
}

static PyObject *
call_resolve(PyObject *ufunc, const DtNpOperand *operands, PyObject *dtype, PyObject *casting)
{
    int nin = ((PyUFuncObject *)ufunc)->nin, nargs = ((PyUFuncObject *)ufunc)->nargs;
    PyObject *result = NULL, *kwargs = PyDict_New(), *args = NULL, *signature = NULL;
    PyObject *method = PyObject_GetAttrString(ufunc, "resolve_dtypes");
    PyObject *dtypes = PyTuple_New(nargs);
    if (kwargs == NULL || method == NULL || dtypes == NULL) {
        goto done;
    }
    for (int i = 0; i < nargs; i++) {
        PyTuple_SET_ITEM(dtypes, i, Py_NewRef(i < nin ? operands[i].dtype : Py_None));
    }
    if (dtype != NULL) {
        signature = PyTuple_New(nargs);
        if (signature == NULL) {
            goto done;
        }
        for (int i = 0; i < nargs; i++) {
            PyTuple_SET_ITEM(signature, i, Py_NewRef(i < nin ? Py_None : dtype));
        }
        if (PyDict_SetItemString(kwargs, "signature", signature) < 0) {
            goto done;
        }
    }
    if (casting != NULL && PyDict_SetItemString(kwargs, "casting", casting) < 0) {
        goto done;
    }
    args = PyTuple_Pack(1, dtypes);
    if (args != NULL) {
        result = PyObject_Call(method, args, kwargs);
    }
done:
    Py_XDECREF(kwargs);
    Py_XDECREF(method);
    Py_XDECREF(dtypes);
    Py_XDECREF(signature);
    Py_XDECREF(args);
    return result;
}

static DtStatus
check_captured(DtTrace *trace, DtNpOp op, PyObject *dtypes)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dtypes); i++) {
        if (dt_np_adapter_of_dtype(PyTuple_GET_ITEM(dtypes, i)) == NULL) {
            return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of such dtypes", dt_np_target(op));
        }
    }
    return DT_OK;
}

/* ufunc.resolve_dtypes(casting="equiv") reads through a null pointer where an operand is the type
 * of a Python number (NumPy 2.4 and before). */
static bool
numpy_would_crash(const DtNpOperand *operands, int nin, PyObject *casting)
{
    bool equiv = casting != NULL && PyUnicode_Check(casting)
                 && PyUnicode_CompareWithASCIIString(casting, "equiv") == 0;
    bool weak = false;
    for (int i = 0; i < nin; i++) {
        weak = weak || PyType_Check(operands[i].dtype);
    }
    return equiv && weak;
}

DtStatus
dt_np_resolve(DtTrace *trace, DtNpOp op, const DtNpOperand *operands, PyObject *dtype,
              PyObject *casting, PyObject **dtypes)
{
    PyObject *ufunc = dt_np_callee(op);
    if (ufunc == NULL) {
        return DT_ERROR;
    }
    int nin = ((PyUFuncObject *)ufunc)->nin;
    if (numpy_would_crash(operands, nin, casting)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a Python number with casting=\"equiv\"",
                        dt_np_target(op));
    }
    PyObject *key = PyTuple_New(nin + 3);
    if (key == NULL) {
        return DT_ERROR;
    }
    PyTuple_SET_ITEM(key, 0, Py_NewRef(ufunc));
    PyTuple_SET_ITEM(key, 1, key_part(dtype));
    PyTuple_SET_ITEM(key, 2, Py_NewRef(casting != NULL ? casting : Py_None));
    bool whole = PyTuple_GET_ITEM(key, 1) != NULL;
    for (int i = 0; i < nin; i++) {
        PyTuple_SET_ITEM(key, 3 + i, key_part(operands[i].dtype));
        whole = whole && PyTuple_GET_ITEM(key, 3 + i) != NULL;
    }
    if (!whole) {
        Py_DECREF(key);
        return DT_ERROR;
    }
    DtStatus status = cache_get(key, dtypes);
    if (status == DT_OK && *dtypes == NULL) {
        status = cache_set(trace, key, call_resolve(ufunc, operands, dtype, casting), dtypes);
    }
    Py_DECREF(key);
    DT_TRY(status);
    return check_captured(trace, op, *dtypes);
}

/* The dtype of a real reduction of one element. */
static PyObject *
reduce_dtype(DtNpOp op, PyObject *input, PyObject *dtype)
{
    npy_intp one = 1;
    PyObject *callee = dt_np_reduce_callee(op);
    if (callee == NULL) {
        return NULL;
    }
    Py_INCREF(input);
    PyObject *array = PyArray_Zeros(1, &one, dt_np_descr(input), 0);
    if (array == NULL) {
        return NULL;
    }
    PyObject *result =
        PyObject_CallFunction(callee, "OiO", array, 0, dtype != NULL ? dtype : Py_None);
    Py_DECREF(array);
    if (result == NULL) {
        return NULL;
    }
    PyObject *found = PyObject_GetAttrString(result, "dtype");
    Py_DECREF(result);
    return found;
}

DtStatus
dt_np_resolve_reduce(DtTrace *trace, DtNpOp op, PyObject *input, PyObject *dtype, PyObject **out)
{
    PyObject *callee = dt_np_reduce_callee(op);
    PyObject *key = callee != NULL
                        ? Py_BuildValue("(ONN)", callee, key_part(input), key_part(dtype))
                        : NULL; /* N: a part that is missing makes it fail */
    if (key == NULL) {
        return DT_ERROR;
    }
    DtStatus status = cache_get(key, out);
    if (status == DT_OK && *out == NULL) {
        status = cache_set(trace, key, reduce_dtype(op, input, dtype), out);
    }
    Py_DECREF(key);
    DT_TRY(status);
    if (dt_np_adapter_of_dtype(*out) == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of this dtype", dt_np_reduce_target(op));
    }
    return DT_OK;
}

/* A stand-in for result_type: a dtype, or a small number of the weak category. */
static PyObject *
promotion_stand_in(PyObject *dtype)
{
    if (dtype == (PyObject *)&PyLong_Type) {
        return PyLong_FromLong(1);
    }
    if (dtype == (PyObject *)&PyFloat_Type) {
        return PyFloat_FromDouble(1.0);
    }
    if (dtype == (PyObject *)&PyComplex_Type) {
        return PyComplex_FromDoubles(1.0, 1.0);
    }
    return Py_NewRef(dtype);
}

static PyObject *
call_result_type(PyObject *function, const DtNpOperand *operands, uint32_t count)
{
    PyObject *args = PyTuple_New((Py_ssize_t)count);
    if (args == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item = promotion_stand_in(operands[i].dtype);
        if (item == NULL) {
            Py_DECREF(args);
            return NULL;
        }
        PyTuple_SET_ITEM(args, (Py_ssize_t)i, item);
    }
    PyObject *result = PyObject_CallObject(function, args);
    Py_DECREF(args);
    return result;
}

DtStatus
dt_np_result_type(DtTrace *trace, const DtNpOperand *operands, uint32_t count, PyObject **out)
{
    PyObject *function = dt_np_module_attr("result_type");
    PyObject *key = function != NULL ? PyTuple_New((Py_ssize_t)count + 1) : NULL;
    if (key == NULL) {
        return DT_ERROR;
    }
    PyTuple_SET_ITEM(key, 0, Py_NewRef(function));
    for (uint32_t i = 0; i < count; i++) {
        PyObject *part = key_part(operands[i].dtype);
        if (part == NULL) {
            Py_DECREF(key);
            return DT_ERROR;
        }
        PyTuple_SET_ITEM(key, (Py_ssize_t)i + 1, part);
    }
    DtStatus status = cache_get(key, out);
    if (status == DT_OK && *out == NULL) {
        status = cache_set(trace, key, call_result_type(function, operands, count), out);
    }
    Py_DECREF(key);
    DT_TRY(status);
    if (!dt_np_dtype_captured(dt_np_descr(*out))) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "operands whose common dtype is not captured");
    }
    return DT_OK;
}
