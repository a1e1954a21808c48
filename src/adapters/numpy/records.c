/* The dtypes of new arrays of records.
 *
 *   np.zeros(n, [("x", "f8"), ("n", "i4")])   NumPy makes the dtype anew, in each call
 *   np.zeros(n, POINT)                        the dtype itself becomes the array's
 *
 * A program can rename the fields of a dtype that it holds, and so those of all arrays that have
 * it. What a trace relies on is the tuple of their names, which is replaced then: it is guarded to
 * be the same object.
 */
#include "adapters/numpy/internal.h"

#include "variables/kinds.h"

#define MOST_FIELDS 64

/* ---- Guards ---------------------------------------------------------------------------------- */

/* The type comes first, as in the guards of arrays. */
typedef struct RecordSpec {
    PyTypeObject *type;
    PyObject *names;
} RecordSpec;

bool
dt_np_is_record_guard(const void *data)
{
    return PyType_IsSubtype(((const RecordSpec *)data)->type, &PyArrayDescr_Type);
}

int
dt_np_check_record_dtype(const void *data, PyObject *object)
{
    const RecordSpec *spec = data;
    return Py_IS_TYPE(object, spec->type) && PyDataType_NAMES(dt_np_descr(object)) == spec->names;
}

/* Has it fields, none of which has fields of its own or a title? */
static bool
is_flat(const PyArray_Descr *descr)
{
    PyObject *fields = PyDataType_FIELDS(descr), *name, *field;
    if (descr->type_num != NPY_VOID || fields == NULL || !PyDict_Check(fields)) {
        return false;
    }
    for (Py_ssize_t at = 0; PyDict_Next(fields, &at, &name, &field);) {
        const PyArray_Descr *part = dt_np_descr(PyTuple_GET_ITEM(field, 0));
        const PyArray_ArrayDescr *sub = PyDataType_SUBARRAY(part);
        part = sub != NULL ? sub->base : part;
        if (part->type_num == NPY_VOID || PyTuple_GET_SIZE(field) != 2) {
            return false;
        }
    }
    return true;
}

static DtStatus
guard_fields(DtTrace *trace, DtVar *var, PyObject *dtype)
{
    RecordSpec spec = {Py_TYPE(dtype), PyDataType_NAMES(dt_np_descr(dtype))};
    PyObject *refs[] = {(PyObject *)spec.type, spec.names};
    if (var->source == NULL || spec.names == NULL || !is_flat(dt_np_descr(dtype))) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "new records of such a dtype");
    }
    DT_TRY(dt_trace_use_adapter(trace, &dt_np_called_adapter));
    return dt_guard_adapter(trace, var->source, &dt_np_called_adapter, &spec, sizeof(spec), refs,
                            2);
}

/* ---- Lists of fields ------------------------------------------------------------------------- */

static bool
is_size(PyObject *value)
{
    bool size = value != NULL && (PyLong_CheckExact(value) || PyTuple_CheckExact(value));
    for (Py_ssize_t i = 0; size && PyTuple_CheckExact(value) && i < PyTuple_GET_SIZE(value); i++) {
        size = PyLong_CheckExact(PyTuple_GET_ITEM(value, i));
    }
    return size;
}

/* ("x", "f8") or ("v", "f8", 3); *out NULL: it is nothing of the kind. */
static DtStatus
read_field(DtTrace *trace, DtVar *var, PyObject **out)
{
    DtVar **items;
    uint32_t count;
    bool many;
    PyObject *parts[3];
    *out = NULL;
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    if (var->type->kind == DT_KIND_LIST) {
        return DT_OK;
    }
    DT_TRY(dt_np_items(trace, var, &items, &count, &many));
    if (!many || count < 2 || count > 3) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        DtVar *item;
        DT_TRY(dt_var_realize(trace, items[i], &item));
        item = dt_var_peek(item);
        parts[i] = dt_payload_object(item);
        parts[i] = parts[i] != NULL ? parts[i] : dt_var_as_constant(trace, item);
        if (parts[i] == NULL) {
            return PyErr_Occurred() ? DT_ERROR : DT_OK;
        }
    }
    if (PyUnicode_CheckExact(parts[0]) && dt_np_is_dtype_spec(parts[1])
        && (count == 2 || is_size(parts[2]))) {
        *out = count == 2 ? PyTuple_Pack(2, parts[0], parts[1])
                          : PyTuple_Pack(3, parts[0], parts[1], parts[2]);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    return DT_OK;
}

/* *out NULL: the list is none of fields.  DT_OWNED. */
static DtStatus
read_fields(DtTrace *trace, DtVar *const *items, uint32_t count, PyObject **out)
{
    *out = PyList_New(0);
    for (uint32_t i = 0; i < count && *out != NULL; i++) {
        PyObject *field;
        DtStatus status = read_field(trace, items[i], &field);
        if (status == DT_OK && field != NULL && PyList_Append(*out, field) < 0) {
            status = DT_ERROR;
        }
        if (status != DT_OK || field == NULL) {
            Py_CLEAR(*out);
        }
        Py_XDECREF(field);
        DT_TRY(status);
    }
    return PyErr_Occurred() ? DT_ERROR : DT_OK;
}

DtStatus
dt_np_record_dtype_arg(DtTrace *trace, const char *function, DtVar *var, PyObject **dtype,
                       DtOperand *operand)
{
    PyArray_Descr *descr;
    PyObject *given = var != NULL ? dt_payload_object(var) : NULL;
    DtVar **items;
    uint32_t count = 0;
    bool many = false;
    *dtype = NULL;
    if (var != NULL
        && (var->type->kind == DT_KIND_LIST || var->type->kind == DT_KIND_GROWING_LIST)) {
        DT_TRY(dt_np_items(trace, var, &items, &count, &many));
    }
    if (many && count > 0 && count <= MOST_FIELDS) {
        DT_TRY(read_fields(trace, items, count, &given));
        if (given == NULL || dt_trace_keep_take(trace, given) == NULL) {
            return given == NULL ? DT_OK : DT_ERROR;
        }
        if (!PyArray_DescrConverter(given, &descr)) {
            return dt_break_on_exception(trace);
        }
    }
    else if (given != NULL && PyArray_DescrCheck(given)
             && dt_np_descr(given)->type_num == NPY_VOID) {
        DT_TRY(guard_fields(trace, var, given));
        Py_INCREF(given);
        descr = dt_np_descr(given);
    }
    else {
        return DT_OK;
    }
    if (dt_trace_keep_take(trace, (PyObject *)descr) == NULL) {
        return DT_ERROR;
    }
    if (!dt_np_dtype_called(descr)) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s with such a dtype", function);
    }
    *operand = dt_np_const(given);
    *dtype = dt_np_one_dtype((PyObject *)descr);
    return *dtype != NULL ? DT_OK : DT_ERROR;
}
