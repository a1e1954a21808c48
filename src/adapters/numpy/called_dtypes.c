/* The dtypes of dates, texts and records: which ones are taken, and one of all that are equal.
 *
 * Invariant: a dtype in metadata or in a guard is one that nobody else holds, the only one of its
 * equals (dt_np_one_dtype), so that dtypes are compared by identity, as those of numbers are.
 */
#include "adapters/numpy/internal.h"

static bool fields_are_plain(const PyArray_Descr *descr);

/* Those that were pickled have an empty dict. */
static bool
has_metadata(const PyArray_Descr *descr)
{
    PyObject *metadata = PyDataType_METADATA(descr);
    return metadata != NULL && !(PyDict_CheckExact(metadata) && PyDict_GET_SIZE(metadata) == 0);
}

/* Of a date or span of time: its unit is not said.  NumPy warns where that meets another one. */
static bool
is_generic(const PyArray_Descr *descr)
{
    const PyArray_DatetimeDTypeMetaData *unit =
        (const PyArray_DatetimeDTypeMetaData *)PyDataType_C_METADATA(descr);
    return unit == NULL || unit->meta.base == NPY_FR_GENERIC;
}

bool
dt_np_dtype_called(const PyArray_Descr *descr)
{
    switch (descr->type_num) {
    case NPY_DATETIME:
    case NPY_TIMEDELTA:
        return !has_metadata(descr) && !is_generic(descr);
    case NPY_STRING:
    case NPY_UNICODE:
    case NPY_VOID:
        return PyDataType_ELSIZE(descr) > 0 && !PyDataType_REFCHK(descr) && !has_metadata(descr)
               && fields_are_plain(descr);
    default:
        return false;
    }
}

/* No part of a record has metadata, to which comparison of dtypes is blind. */
static bool
fields_are_plain(const PyArray_Descr *descr)
{
    PyObject *fields = descr->type_num == NPY_VOID ? PyDataType_FIELDS(descr) : NULL;
    PyObject *name, *field;
    Py_ssize_t place = 0;
    if (fields == NULL || !PyDict_Check(fields)) {
        return true;
    }
    while (PyDict_Next(fields, &place, &name, &field)) {
        const PyArray_Descr *part = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
        if (has_metadata(part) || !fields_are_plain(part)) {
            return false;
        }
    }
    return true;
}

bool
dt_np_names_dtype(PyObject *object)
{
    Py_ssize_t count = PyUnicode_CheckExact(object) ? PyUnicode_GET_LENGTH(object) : 0;
    if (count == 0 || PyUnicode_FindChar(object, ',', 0, count, 1) >= 0) {
        return false;
    }
    Py_UCS4 first = PyUnicode_READ_CHAR(object, 0);
    bool order = first == '<' || first == '>' || first == '=' || first == '|';
    return (order && count > 1 ? PyUnicode_READ_CHAR(object, 1) : first) != 'a';
}

const DtAdapter *
dt_np_adapter_of_dtype(PyObject *dtype)
{
    if (dt_np_dtype_captured(dt_np_descr(dtype))) {
        return &dt_np_adapter;
    }
    return dt_np_dtype_called(dt_np_descr(dtype)) ? &dt_np_called_adapter : NULL;
}

/* A program can rename the fields of a dtype that it holds, and of those inside: one that nobody
 * else holds.  DT_OWNED, NULL with an exception. */
static PyObject *
own_dtype(PyObject *dtype)
{
    if (dt_np_descr(dtype)->type_num != NPY_VOID) {
        return Py_NewRef(dtype);
    }
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *data = pickle != NULL ? PyObject_CallMethod(pickle, "dumps", "O", dtype) : NULL;
    PyObject *own = data != NULL ? PyObject_CallMethod(pickle, "loads", "O", data) : NULL;
    Py_XDECREF(pickle);
    Py_XDECREF(data);
    return own;
}

PyObject *
dt_np_one_dtype(PyObject *dtype)
{
    static PyObject *known; /* dict of dtypes to themselves, kept for the process */
    const PyArray_Descr *descr = dt_np_descr(dtype);
    if (dt_np_dtype_captured(descr)) { /* arrays from files carry their own */
        return PyArray_ISNBO(descr->byteorder) ? dt_np_dtype(descr->type_num) : dtype;
    }
    if (known == NULL) {
        known = PyDict_New();
    }
    PyObject *found = known != NULL ? PyDict_GetItemWithError(known, dtype) : NULL;
    if (found != NULL || PyErr_Occurred()) {
        return found;
    }
    PyObject *own = own_dtype(dtype);
    if (own != NULL) {
        found = PyDict_SetDefault(known, own, own);
        Py_DECREF(own); /* the dict keeps it */
    }
    return found;
}
