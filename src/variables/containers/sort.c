/* Sorting by comparisons that are followed: list.sort itself sorts stand-ins of
 * the items, and each "<" it asks for is traced.
 *
 *   trackers ──► stand-ins in a real list ──► list.sort ──► trackers in that order
 *                        └── a < b ──► dt_var_compare, dt_var_truth
 *
 * So the comparisons are those of this CPython, in its order; after an
 * exception the items stand as list.sort leaves them.
 */
#include "variables/kinds.h"

typedef struct StandIn {
    PyObject_HEAD DtTrace *trace;
    DtVar *item, *key;
    DtStatus *status; /* of the whole sort */
} StandIn;

/* list.sort asks for nothing but "<". */
static PyObject *
stand_in_richcompare(PyObject *left, PyObject *right, int op)
{
    StandIn *a = (StandIn *)left, *b = (StandIn *)right;
    DtVar *less;
    bool truth = false;
    DtStatus status = dt_var_compare(a->trace, op, a->key, b->key, &less);
    if (status == DT_OK) {
        status = dt_var_truth(a->trace, less, &truth);
    }
    if (status == DT_OK) {
        return PyBool_FromLong(truth);
    }
    *a->status = status;
    if (status != DT_ERROR) {
        PyErr_SetString(PyExc_RuntimeError, "the sort is given up");
    }
    return NULL;
}

static PyTypeObject stand_in_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.SortStandIn",
    .tp_basicsize = sizeof(StandIn),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_richcompare = stand_in_richcompare,
    .tp_hash = PyObject_HashNotImplemented,
};

static PyObject *
stand_ins(DtTrace *trace, DtVar **items, DtVar **keys, uint32_t count, DtStatus *status)
{
    PyObject *list = PyType_Ready(&stand_in_type) == 0 ? PyList_New(count) : NULL;
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        StandIn *one = PyObject_New(StandIn, &stand_in_type);
        if (one == NULL) {
            Py_CLEAR(list);
            break;
        }
        one->trace = trace;
        one->item = items[i];
        one->key = keys[i];
        one->status = status;
        PyList_SET_ITEM(list, i, (PyObject *)one);
    }
    return list;
}

DtStatus
dt_sort_follow(DtTrace *trace, DtVar **items, DtVar **keys, uint32_t count, bool descending)
{
    DtStatus status = DT_OK;
    PyObject *list = stand_ins(trace, items, keys, count, &status);
    /* As list.sort does for reverse=True: equal items keep their order. */
    if (list == NULL || (descending && PyList_Reverse(list) < 0)) {
        Py_XDECREF(list);
        return DT_ERROR;
    }
    int failed = PyList_Sort(list);
    if (failed < 0 && status == DT_OK) {
        status = DT_ERROR; /* no memory */
    }
    if (failed < 0 && status != DT_ERROR) {
        PyErr_Clear(); /* RuntimeError of a stand-in: it stands for the status */
    }
    if (status != DT_ERROR && descending && PyList_Reverse(list) < 0) {
        status = DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i] = ((StandIn *)PyList_GET_ITEM(list, i))->item;
    }
    Py_DECREF(list);
    return status;
}
