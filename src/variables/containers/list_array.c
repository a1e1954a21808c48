/* An existing list of numbers as an array of each call.
 *
 *   np.mean(rewards) ─► LIST_ARRAY: the guards make the array, of whatever length the list has,
 *                       and check its dtype; the graph takes it as another input
 *
 * Its items are not looked at one by one, neither while tracing nor in a call: a list of results
 * that grows has one entry, and no number of it a tracker.  Whoever takes the array copies it,
 * since each reading of the source is another object.
 *
 * Not in here: which numbers, and what they become (the adapter's of_items()).
 */
#include "compat/list.h"
#include "variables/kinds.h"

/* A list of one length is read item by item up to here, so that its numbers are symbols. */
#define FEW_ITEMS 16

/* ---- Making it ------------------------------------------------------------------------------- */

DT_OWNED PyObject *
dt_list_array(const DtAdapter *adapter, PyObject *list, int64_t ends)
{
    if (!PyList_CheckExact(list) || dt_list_is_being_sorted(list)) {
        return NULL;
    }
    Py_ssize_t first = dt_source_first(ends), count = PyList_GET_SIZE(list) - dt_source_last(ends);
    PyObject *const *items = ((PyListObject *)list)->ob_item;
    return count > first ? adapter->of_items(adapter, items + first, count - first) : NULL;
}

/* ---- While tracing --------------------------------------------------------------------------- */

static bool
is_long(DtTrace *trace, DtGrowingListVar *self)
{
    Py_ssize_t count = PyList_GET_SIZE(self->list.object);
    return count > FEW_ITEMS || (count > 1 && dt_growing_list_varies(trace, self));
}

bool
dt_growing_list_may_be_array(DtTrace *trace, DtGrowingListVar *self)
{
    return self->layout == &PyList_Type && self->nstored == 0
           && dt_growing_list_is_free(trace, self) && is_long(trace, self);
}

DtStatus
dt_growing_list_array(DtTrace *trace, DtGrowingListVar *self, const DtAdapter *adapter, DtVar **out)
{
    *out = NULL;
    if (adapter->of_items == NULL || !dt_growing_list_may_be_array(trace, self)) {
        return DT_OK;
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(adapter->name));
    const DtSource *list = self->list.base.source, *source;
    int64_t ends = dt_source_ends(self->first, self->last);
    source = name != NULL ? dt_source_get(trace, DT_SOURCE_LIST_ARRAY, list, name, ends) : NULL;
    if (source == NULL) {
        return DT_ERROR;
    }
    DtVar *known = dt_map_get(&trace->by_source, source);
    if (known != NULL) {
        return dt_var_realize(trace, known, out);
    }
    PyObject *array = dt_list_array(adapter, self->list.object, ends);
    if (array == NULL) {
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    array = dt_trace_keep_take(trace, array);
    if (array == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_growing_list_guard(trace, &self->list.base));
    DT_TRY(dt_var_build_lazy(trace, array, source, &known));
    return dt_var_realize(trace, known, out);
}

/* ---- Reading it in rewritten code ------------------------------------------------------------ */

static PyObject *
array_of(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *list;
    const char *name;
    long long ends = 0;
    if (!PyArg_ParseTuple(args, "O!s|L:array_of", &PyList_Type, &list, &name, &ends)) {
        return NULL;
    }
    const DtAdapter *adapter = dt_adapter_by_name(name);
    if (adapter == NULL || adapter->of_items == NULL) {
        return PyErr_Format(PyExc_ValueError, "no adapter %s that makes arrays of lists", name);
    }
    PyObject *array = dt_list_array(adapter, list, ends);
    if (array == NULL && !PyErr_Occurred()) { /* by another thread, since the guards looked */
        PyErr_SetString(PyExc_RuntimeError, "list changed while an array was made of it");
    }
    return array;
}

/* Made once and kept for the life of the process. */
DT_BORROWED PyObject *
dt_list_array_function(void)
{
    static PyObject *function;
    static PyMethodDef method = {"array_of", array_of, METH_VARARGS, NULL};
    return function != NULL ? function : (function = PyCFunction_New(&method, NULL));
}
