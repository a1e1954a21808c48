/* Objects from the bytes of a graph: constants, and what is found by import path or unpickled. */
#include "graph/wire_read.h"

PyObject *
dt_wire_import(PyObject *module, PyObject *qualname)
{
    PyObject *found = PyImport_Import(module);
    PyObject *dot = PyUnicode_FromString(".");
    PyObject *parts = dot != NULL ? PyUnicode_Split(qualname, dot, -1) : NULL;
    Py_XDECREF(dot);
    if (found == NULL || parts == NULL) {
        Py_XDECREF(found);
        Py_XDECREF(parts);
        return NULL;
    }
    Py_SETREF(found, PyImport_GetModule(module));
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(parts); i++) {
        Py_SETREF(found, PyObject_GetAttr(found, PyList_GET_ITEM(parts, i)));
    }
    Py_DECREF(parts);
    if (found == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ImportError, "no module named %R", module);
    }
    return found;
}

static DtStatus
get_str(DtWireReader *reader, PyObject **out)
{
    const char *data;
    uint32_t size;
    DT_TRY(dt_wire_get_data(reader, &data, &size));
    *out = PyUnicode_Decode(data, size, "utf-8", "surrogatepass");
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_path(DtWireReader *reader, PyObject **out)
{
    PyObject *module, *qualname;
    DT_TRY(get_str(reader, &module));
    if (get_str(reader, &qualname) != DT_OK) {
        Py_DECREF(module);
        return DT_ERROR;
    }
    *out = dt_wire_import(module, qualname);
    Py_DECREF(module);
    Py_DECREF(qualname);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_attribute(DtWireReader *reader, PyObject **out)
{
    PyObject *self, *name;
    DT_TRY(dt_wire_get_object(reader, &self));
    DT_TRY(get_str(reader, &name));
    *out = PyObject_GetAttr(self, name);
    Py_DECREF(name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_code(DtWireReader *reader, PyObject **out)
{
    PyObject *file = NULL, *name = NULL;
    int line;
    DtStatus status = get_str(reader, &file);
    if (status == DT_OK) {
        status = get_str(reader, &name);
    }
    if (status == DT_OK) {
        status = dt_wire_get_int32(reader, &line);
    }
    if (status == DT_OK) {
        const char *file_text = PyUnicode_AsUTF8(file);
        const char *name_text = PyUnicode_AsUTF8(name);
        *out = file_text != NULL && name_text != NULL
                   ? (PyObject *)PyCode_NewEmpty(file_text, name_text, line < 0 ? 0 : line)
                   : NULL;
        status = *out != NULL ? DT_OK : DT_ERROR;
    }
    Py_XDECREF(file);
    Py_XDECREF(name);
    return status;
}

static DtStatus
get_tuple(DtWireReader *reader, PyObject **out)
{
    uint32_t count;
    DT_TRY(dt_wire_enter(reader));
    DT_TRY(dt_wire_get_count(reader, &count));
    PyObject *tuple = PyTuple_New(count);
    if (tuple == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item;
        if (dt_wire_get_object(reader, &item) != DT_OK) {
            Py_DECREF(tuple);
            return DT_ERROR;
        }
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(item));
    }
    reader->depth--;
    *out = tuple;
    return DT_OK;
}

static DtStatus
get_pickle(DtWireReader *reader, PyObject **out)
{
    const char *data;
    uint32_t size;
    DT_TRY(dt_wire_get_data(reader, &data, &size));
    PyObject *pickle = PyImport_ImportModule("pickle");
    *out = NULL;
    if (pickle != NULL) {
        *out = PyObject_CallMethod(pickle, "loads", "y#", data, (Py_ssize_t)size);
    }
    Py_XDECREF(pickle);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_definition(DtWireReader *reader, PyObject **out)
{
    uint8_t tag;
    DT_TRY(dt_wire_get_byte(reader, &tag));
    const char *data;
    uint32_t size;
    int64_t whole;
    double real;
    *out = NULL;
    switch (tag) {
    case DT_WIRE_NONE:
        *out = Py_NewRef(Py_None);
        return DT_OK;
    case DT_WIRE_TRUE:
        *out = Py_NewRef(Py_True);
        return DT_OK;
    case DT_WIRE_FALSE:
        *out = Py_NewRef(Py_False);
        return DT_OK;
    case DT_WIRE_ELLIPSIS:
        *out = Py_NewRef(Py_Ellipsis);
        return DT_OK;
    case DT_WIRE_INT:
        DT_TRY(dt_wire_get_int(reader, &whole));
        *out = PyLong_FromLongLong(whole);
        break;
    case DT_WIRE_FLOAT:
        DT_TRY(dt_wire_get_double(reader, &real));
        *out = PyFloat_FromDouble(real);
        break;
    case DT_WIRE_STR:
        return get_str(reader, out);
    case DT_WIRE_BYTES:
        DT_TRY(dt_wire_get_data(reader, &data, &size));
        *out = PyBytes_FromStringAndSize(data, size);
        break;
    case DT_WIRE_TUPLE:
        return get_tuple(reader, out);
    case DT_WIRE_PATH:
        return get_path(reader, out);
    case DT_WIRE_ATTRIBUTE:
        return get_attribute(reader, out);
    case DT_WIRE_CODE:
        return get_code(reader, out);
    case DT_WIRE_PICKLE:
        return get_pickle(reader, out);
    default:
        return dt_wire_bad("an object of unknown form");
    }
    return *out != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_wire_get_object(DtWireReader *reader, PyObject **out)
{
    uint32_t number;
    Py_ssize_t count = PyList_GET_SIZE(reader->objects);
    DT_TRY(dt_wire_get_below(reader, (uint64_t)count + 1, &number));
    if ((Py_ssize_t)number < count) {
        *out = PyList_GET_ITEM(reader->objects, number);
        /* The place of an object that is being read right now: a tuple in itself. */
        return *out != Py_NotImplemented ? DT_OK : dt_wire_bad("an object that contains itself");
    }
    if (PyList_Append(reader->objects, Py_NotImplemented) < 0) {
        return DT_ERROR;
    }
    PyObject *object;
    DT_TRY(get_definition(reader, &object));
    *out = object;
    return PyList_SetItem(reader->objects, number, object) == 0 ? DT_OK : DT_ERROR;
}

DtStatus
dt_wire_get_kept(DtWireReader *reader, DtGraph *graph, PyObject **out)
{
    DT_TRY(dt_wire_get_object(reader, out));
    return dt_graph_keep(graph, *out);
}

DtStatus
dt_wire_get_optional_object(DtWireReader *reader, DtGraph *graph, PyObject **out)
{
    uint8_t there;
    DT_TRY(dt_wire_get_choice(reader, 2, &there));
    *out = NULL;
    return there ? dt_wire_get_kept(reader, graph, out) : DT_OK;
}
