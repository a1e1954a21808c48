/* Existing lists of numbers where an array is wanted.
 *
 *   history.append(x)
 *   np.mean(history)    ─►  concatenate((copy of LIST_ARRAY, [x]))
 *
 * NumPy looks at each item of a list twice through its general protocol.  Here exact floats,
 * numpy.float64, ints and numpy.int64 are read as what they are: a list with a float among them
 * becomes float64, one of ints alone int64, as NumPy decides.  All others are left to it.
 */
#include "adapters/numpy/internal.h"
#include "compat/list.h"
#include "variables/kinds.h"

/* Ints up to here are doubles. */
#define MOST_EXACT ((int64_t)1 << 53)

/* ---- The array ------------------------------------------------------------------------------- */

static bool
is_float(PyObject *item)
{
    return PyFloat_CheckExact(item) || Py_IS_TYPE(item, &PyDoubleArrType_Type);
}

static bool
read_int(PyObject *item, npy_long *out)
{
    int overflow = 0;
    if (Py_IS_TYPE(item, &PyLongArrType_Type)) {
        *out = PyArrayScalar_VAL(item, Long);
        return true;
    }
    *out = PyLong_CheckExact(item) ? PyLong_AsLongAndOverflow(item, &overflow) : 0;
    return PyLong_CheckExact(item) && overflow == 0;
}

/* numpy.float64 is a float, and keeps its value where one does. */
static bool
fill_doubles(PyObject *const *items, Py_ssize_t count, npy_double *data)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = items[i];
        npy_long number;
        if (DT_LIKELY(is_float(item))) {
            data[i] = PyFloat_AS_DOUBLE(item);
        }
        else if (read_int(item, &number) && number <= MOST_EXACT && number >= -MOST_EXACT) {
            data[i] = (npy_double)number;
        }
        else {
            return false;
        }
    }
    return true;
}

static bool
fill_longs(PyObject *const *items, Py_ssize_t count, npy_long *data)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!read_int(items[i], &data[i])) {
            return false;
        }
    }
    return true;
}

static bool
has_float(PyObject *const *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (is_float(items[i])) {
            return true;
        }
    }
    return false;
}

static bool
holds_numbers(PyObject *const *items, Py_ssize_t count)
{
    npy_long ignored;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_float(items[i]) && !read_int(items[i], &ignored)) {
            return false;
        }
    }
    return true;
}

DT_OWNED PyObject *
dt_np_of_items(const DtAdapter *adapter, PyObject *const *items, Py_ssize_t count)
{
    (void)adapter;
    npy_intp size = count;
    if (count == 0 || !holds_numbers(items, 1)) {
        return NULL;
    }
    bool floats = has_float(items, count);
    PyObject *array = PyArray_SimpleNew(1, &size, floats ? NPY_DOUBLE : NPY_LONG);
    if (array == NULL) {
        return NULL;
    }
    void *data = PyArray_DATA((PyArrayObject *)array);
    if (!(floats ? fill_doubles(items, count, data) : fill_longs(items, count, data))) {
        Py_CLEAR(array);
    }
    return array;
}

/* ---- While tracing --------------------------------------------------------------------------- */

/* The items of before that nobody asked for. */
static bool
is_of_numbers(const DtGrowingListVar *self)
{
    PyObject *list = self->list.object;
    Py_ssize_t count = PyList_GET_SIZE(list) - self->first - self->last;
    return count > 0 && holds_numbers(((PyListObject *)list)->ob_item + self->first, count);
}

/* What stands before or behind those; *out NULL: NumPy makes no numbers of it, or several of one.
 */
static DtStatus
end_array(DtTrace *trace, DtVar **items, uint32_t count, DtVar **out)
{
    DT_TRY(dt_var_list(trace, items, count, out));
    DT_TRY(dt_np_array_like(trace, out));
    DtArrayVar *array = dt_np_array_of(*out);
    if (array == NULL || array->meta->ndim != 1
        || !PyTypeNum_ISNUMBER(dt_np_descr(array->meta->dtype)->type_num)) {
        *out = NULL;
    }
    return DT_OK;
}

DtStatus
dt_np_holds_no_array(DtTrace *trace, DtVar *var, bool *out)
{
    var = dt_var_peek(var);
    PyObject *unread = var->type->kind == DT_KIND_LAZY ? ((DtLazyVar *)var)->object : NULL;
    *out = unread != NULL && (PyUnicode_CheckExact(unread) || PyBytes_CheckExact(unread));
    if (unread != NULL && PyList_CheckExact(unread)) {
        DT_TRY(dt_var_receiver(trace, var, &var));
    }
    if (var->type->kind == DT_KIND_GROWING_LIST) {
        DtGrowingListVar *list = (DtGrowingListVar *)var;
        *out = dt_growing_list_may_be_array(trace, list) && is_of_numbers(list);
    }
    return DT_OK;
}

DtStatus
dt_np_realize(DtTrace *trace, DtVar *var, DtVar **out)
{
    bool none;
    DT_TRY(dt_np_holds_no_array(trace, var, &none));
    if (!none || dt_var_peek(var)->type->kind != DT_KIND_GROWING_LIST) {
        DT_TRY(dt_var_realize(trace, var, &var));
    }
    *out = dt_var_peek(var);
    return DT_OK;
}

/* As items of a list of numbers become that dtype without a word; *out NULL: some would not. */
static DtStatus
as_asked(DtTrace *trace, DtVar *var, PyObject *dtype, DtVar **out)
{
    DtArrayVar *array = dt_np_array_of(var);
    *out = dtype == NULL || array->meta->dtype == dtype ? var : NULL;
    if (*out == NULL && dt_np_descr(dtype)->type_num == NPY_DOUBLE
        && dt_np_descr(array->meta->dtype)->type_num == NPY_LONG) {
        return dt_np_cast(trace, array, dtype, out);
    }
    return DT_OK;
}

DtStatus
dt_np_list_array(DtTrace *trace, DtVar *var, PyObject *dtype, DtVar **out)
{
    DtVar *parts[3], *middle;
    uint32_t nparts = 0;
    bool whole;
    *out = NULL;
    DT_TRY(dt_np_holds_no_array(trace, var, &whole));
    DT_TRY(whole ? dt_var_receiver(trace, var, &var) : DT_OK);
    var = dt_var_peek(var);
    if (!whole || var->type->kind != DT_KIND_GROWING_LIST) {
        return DT_OK;
    }
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    DT_TRY(dt_growing_list_array(trace, self, &dt_np_adapter, &middle));
    if (middle == NULL) {
        return DT_OK;
    }
    DtSeqVar *list = &self->list;
    DtArgs args = dt_args_of(&middle, 1);
    DT_TRY(dt_np_fn_copy(trace, DT_NP_copy, &args, &middle));
    if (self->head > 0) {
        DT_TRY(end_array(trace, list->items, self->head, &parts[nparts++]));
    }
    parts[nparts++] = middle;
    if (list->count > self->head) {
        DtVar **items = list->items + self->head;
        DT_TRY(end_array(trace, items, list->count - self->head, &parts[nparts++]));
    }
    if (parts[0] == NULL || parts[nparts - 1] == NULL) {
        return DT_OK;
    }
    if (nparts > 1) {
        DT_TRY(dt_var_tuple(trace, parts, nparts, &middle));
        args = dt_args_of(&middle, 1);
        DT_TRY(dt_np_fn_concatenate(trace, DT_NP_concatenate, &args, &middle));
    }
    return as_asked(trace, middle, dtype, out);
}
