/* Two adapters for the tests of guards, whose arrays are bytearrays: "testing" in C, and
 * "testing-user", whose guard calls a Python function. */
#include "module/testing.h"
#include "variables/adapter.h"

static int64_t testing_state;

static bool
never(const DtAdapter *Py_UNUSED(adapter), PyObject *Py_UNUSED(object))
{
    return false;
}

/* The spec is the least size, or the state. */
static int
check_bytes(const DtAdapter *Py_UNUSED(adapter), const void *spec, PyObject *object)
{
    return PyByteArray_CheckExact(object) && PyByteArray_GET_SIZE(object) >= *(const int64_t *)spec;
}

static int
check_by_call(const DtAdapter *adapter, const void *spec, PyObject *object)
{
    PyObject *answer =
        PyObject_CallFunction(adapter->state, "OL", object, (long long)*(const int64_t *)spec);
    if (answer == NULL) {
        return -1;
    }
    int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return truth;
}

static void
print_guard(const DtAdapter *Py_UNUSED(adapter), const void *spec, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "a bytearray of %lld or more", (long long)*(const int64_t *)spec);
}

static void
print_found(const DtAdapter *Py_UNUSED(adapter), PyObject *object, DtStrbuf *buf)
{
    dt_strbuf_add(buf, object == NULL ? "missing" : Py_TYPE(object)->tp_name);
}

static int64_t
size_of(const DtAdapter *Py_UNUSED(adapter), PyObject *object, int Py_UNUSED(dim))
{
    return PyByteArray_GET_SIZE(object);
}

/* Of bytes that are an array: all but the first four. */
static bool
extent_of_rest(const DtAdapter *Py_UNUSED(adapter), PyObject *object, const char **low,
               const char **high)
{
    if (!PyByteArray_Check(object)) {
        return false;
    }
    *low = PyByteArray_AS_STRING(object) + 4;
    *high = PyByteArray_AS_STRING(object) + PyByteArray_GET_SIZE(object);
    return true;
}

/* Of small ints. */
static PyObject *
bytes_of(const DtAdapter *Py_UNUSED(adapter), PyObject *const *items, Py_ssize_t count)
{
    PyObject *made = PyByteArray_FromStringAndSize(NULL, count);
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        int overflow = 0;
        long number =
            PyLong_CheckExact(items[i]) ? PyLong_AsLongAndOverflow(items[i], &overflow) : -1;
        if (overflow != 0 || number < 0 || number > UINT8_MAX) {
            Py_CLEAR(made);
        }
        else {
            PyByteArray_AS_STRING(made)[i] = (char)number;
        }
    }
    return made;
}

static PyObject *
spec_to_object(const DtAdapter *Py_UNUSED(adapter), const void *spec)
{
    return Py_BuildValue("(L)", (long long)*(const int64_t *)spec);
}

static DtStatus
spec_from_object(const DtAdapter *Py_UNUSED(adapter), DtTrace *trace, PyObject *object, void **spec,
                 size_t *size)
{
    long long number;
    if (!PyArg_ParseTuple(object, "L", &number)) {
        return DT_ERROR;
    }
    int64_t *copy = DT_ARENA_NEW(&trace->arena, int64_t);
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = number;
    *spec = copy;
    *size = sizeof(*copy);
    return DT_OK;
}

static int
check_state(const DtAdapter *Py_UNUSED(adapter), const void *spec)
{
    return testing_state == *(const int64_t *)spec;
}

#define TESTING_SLOTS                                                                              \
    .is_array = never, .owns_callable = never, .print_guard = print_guard,                         \
    .print_found = print_found, .dim = size_of, .extent = extent_of_rest,                          \
    .spec_to_object = spec_to_object, .spec_from_object = spec_from_object,                        \
    .check_state = check_state

static DtAdapter testing_adapter = {
    .name = "testing", TESTING_SLOTS, .check = check_bytes, .of_items = bytes_of};
static DtAdapter user_adapter = {.name = "testing-user", TESTING_SLOTS, .check = check_by_call};

/* guards_adapters(function): registers both; the function is the check of the second. */
static PyObject *
guards_adapters(PyObject *Py_UNUSED(module), PyObject *function)
{
    PyObject *old = user_adapter.state;
    bool first = old == NULL;
    user_adapter.state = Py_NewRef(function);
    Py_XDECREF(old);
    if (first
        && (dt_adapter_register(&testing_adapter) < 0 || dt_adapter_register(&user_adapter) < 0)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
guards_set_state(PyObject *Py_UNUSED(module), PyObject *number)
{
    testing_state = PyLong_AsLongLong(number);
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef dt_testing_adapters_methods[] = {
    {"guards_adapters", guards_adapters, METH_O, "Register the adapters of these tests."},
    {"guards_set_state", guards_set_state, METH_O, "Set the state that they guard."},
    {NULL, NULL, 0, NULL},
};
