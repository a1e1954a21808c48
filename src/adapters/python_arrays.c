/* Python adapters: what is an array, its metadata, and the guards on both.
 *
 * A guard's spec is a tuple of facts; see make_spec().
 */
#include "adapters/python_arrays.h"

#include <string.h>

#include "adapters/python_hooks.h"
#include "guards/recipe.h"
#include "variables/classes/payloads.h"

/* Builtin objects that no library calls its arrays: spares most of the calls. */
static bool
is_plainly_none(PyObject *object)
{
    return object == Py_None || PyLong_CheckExact(object) || PyFloat_CheckExact(object)
           || PyBool_Check(object) || PyUnicode_CheckExact(object) || PyTuple_CheckExact(object)
           || PyList_CheckExact(object) || PyDict_CheckExact(object) || PyModule_CheckExact(object)
           || PyCode_Check(object) || PyCell_Check(object);
}

bool
dt_python_is_array(const DtAdapter *adapter, PyObject *object)
{
    return !dt_python_hook_runs() && !is_plainly_none(object) && !PyFunction_Check(object)
           && !PyType_Check(object) && dt_python_hook_ask_quietly(adapter, "is_array", object);
}

bool
dt_python_owns_callable(const DtAdapter *adapter, PyObject *object)
{
    return !dt_python_hook_runs() && !is_plainly_none(object)
           && dt_python_hook_ask_quietly(adapter, "owns", object);
}

/* What the spec's tuple holds. */
enum { SPEC_TYPE, SPEC_DTYPE, SPEC_DEVICE, SPEC_EXTRA, SPEC_SIZES, SPEC_OWN, SPEC_COUNT };

/* The facts of one array; sizes are 0, 1 or None for any from 2 on. */
static PyObject *
make_spec(const DtAdapter *adapter, PyObject *object, PyObject *meta, bool exact_sizes)
{
    static const char *const fields[] = {"dtype", "device", "extra"};
    PyObject *shape = dt_python_attr(meta, "shape");
    PyObject *spec = PyTuple_New(SPEC_COUNT);
    if (shape == NULL || spec == NULL || !PyTuple_Check(shape)) {
        goto fail;
    }
    PyTuple_SET_ITEM(spec, SPEC_TYPE, PyUnicode_FromString(Py_TYPE(object)->tp_name));
    for (int i = 0; i < 3; i++) {
        PyTuple_SET_ITEM(spec, SPEC_DTYPE + i, dt_python_attr(meta, fields[i]));
    }
    PyObject *sizes = PyTuple_New(PyTuple_GET_SIZE(shape));
    PyTuple_SET_ITEM(spec, SPEC_SIZES, sizes);
    for (Py_ssize_t i = 0; sizes != NULL && i < PyTuple_GET_SIZE(shape); i++) {
        PyObject *size = PyTuple_GET_ITEM(shape, i);
        long value = PyLong_AsLong(size);
        PyTuple_SET_ITEM(sizes, i, Py_NewRef(exact_sizes || value < 2 ? size : Py_None));
    }
    PyTuple_SET_ITEM(spec, SPEC_OWN, dt_python_hook_call_plain(adapter, "guard", object));
    for (int i = 0; i < SPEC_COUNT; i++) {
        if (PyTuple_GET_ITEM(spec, i) == NULL) {
            goto fail;
        }
    }
    if (PyErr_Occurred()) {
        goto fail;
    }
    Py_DECREF(shape);
    return spec;
fail:
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "describe(): Meta.shape has to be a tuple of ints");
    }
    Py_XDECREF(shape);
    Py_XDECREF(spec);
    return NULL;
}

static DtStatus
add_guard(const DtAdapter *adapter, DtTrace *trace, DtGuardKind kind, const DtSource *source,
          PyObject *spec)
{
    DtPosition where = dt_trace_position(trace);
    DtFact fact = {.kind = (uint8_t)kind,
                   .source = source,
                   .adapter = adapter,
                   .spec = &spec,
                   .spec_size = sizeof(spec),
                   .refs = &spec,
                   .nrefs = 1};
    if (where.code != NULL) {
        fact.filename = where.code->co_filename;
        fact.line = where.line > 0 ? where.line : 0;
    }
    return dt_recipe_add(trace, &fact);
}

DtStatus
dt_python_build(const DtAdapter *adapter, DtTrace *trace, PyObject *object, const DtSource *source,
                DtVar **out)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *described;
    DtMeta *meta;
    DT_TRY(dt_trace_use_adapter(trace, adapter));
    DT_TRY(dt_python_hook_call(&hook, "describe", Py_BuildValue("(O)", object), &described));
    DT_TRY(dt_python_meta(&hook, described, &meta));
    bool exact_sizes = trace->options.dynamic == 0;
    PyObject *spec = dt_trace_keep_take(trace, make_spec(adapter, object, described, exact_sizes));
    if (spec == NULL) {
        return dt_break_on_exception(trace);
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    DT_TRY(add_guard(adapter, trace, DT_GUARD_ADAPTER, source, spec));
    PyObject *sizes = PyTuple_GET_ITEM(spec, SPEC_SIZES);
    for (int i = 0; i < meta->ndim; i++) {
        if (PyTuple_GET_ITEM(sizes, i) == Py_None) {
            const DtSource *dim = dt_source_get(trace, DT_SOURCE_ARRAY_DIM, source, NULL, i);
            if (dim == NULL) {
                return DT_ERROR;
            }
            DT_TRY(dt_trace_symbol(trace, dim, DT_SYM_INT, meta->shape[i]->hint, &meta->shape[i]));
        }
    }
    DtNode *node;
    DT_TRY(dt_graph_input(trace->graph, source, meta, &node));
    DT_TRY(dt_var_array(trace, node, 0, meta, out));
    (*out)->source = source;
    return DT_OK;
}

/* 1, 0, -1: does attribute `name` of the description equal `expected`? */
static int
attr_equals(PyObject *meta, const char *name, PyObject *expected)
{
    PyObject *found = dt_python_attr(meta, name);
    if (found == NULL) {
        return -1;
    }
    int equal = PyObject_RichCompareBool(found, expected, Py_EQ);
    Py_DECREF(found);
    return equal;
}

static int
sizes_fit(PyObject *meta, PyObject *sizes)
{
    PyObject *shape = dt_python_attr(meta, "shape");
    int fit = shape == NULL
                  ? -1
                  : PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) == PyTuple_GET_SIZE(sizes);
    for (Py_ssize_t i = 0; fit == 1 && i < PyTuple_GET_SIZE(sizes); i++) {
        long size = PyLong_AsLong(PyTuple_GET_ITEM(shape, i));
        PyObject *expected = PyTuple_GET_ITEM(sizes, i);
        fit = PyErr_Occurred()      ? -1
              : expected == Py_None ? size >= 2
                                    : size == PyLong_AsLong(expected);
    }
    Py_XDECREF(shape);
    return fit;
}

int
dt_python_check(const DtAdapter *adapter, const void *data, PyObject *object)
{
    PyObject *spec = *(PyObject *const *)data;
    int is_array = dt_python_hook_ask(adapter, "is_array", object, NULL);
    if (is_array != 1) {
        return is_array;
    }
    PyObject *meta = dt_python_hook_call_plain(adapter, "describe", object);
    if (meta == NULL) {
        return -1;
    }
    int fits = attr_equals(meta, "dtype", PyTuple_GET_ITEM(spec, SPEC_DTYPE));
    if (fits == 1) {
        fits = attr_equals(meta, "device", PyTuple_GET_ITEM(spec, SPEC_DEVICE));
    }
    if (fits == 1) {
        fits = attr_equals(meta, "extra", PyTuple_GET_ITEM(spec, SPEC_EXTRA));
    }
    if (fits == 1) {
        fits = sizes_fit(meta, PyTuple_GET_ITEM(spec, SPEC_SIZES));
    }
    Py_DECREF(meta);
    return fits == 1
               ? dt_python_hook_ask(adapter, "check", PyTuple_GET_ITEM(spec, SPEC_OWN), object)
               : fits;
}

/* For people: str() of builtin constants, the type's name of anything else. */
static void
add_object(DtStrbuf *buf, PyObject *object)
{
    PyObject *text = PyUnicode_CheckExact(object) ? Py_NewRef(object) : PyObject_Repr(object);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    if (utf8 == NULL) {
        PyErr_Clear(); /* a repr that fails: the text names the type instead */
        utf8 = Py_TYPE(object)->tp_name;
    }
    dt_strbuf_add(buf, utf8);
    Py_XDECREF(text);
}

void
dt_python_print_guard(const DtAdapter *adapter, const void *data, DtStrbuf *buf)
{
    PyObject *spec = *(PyObject *const *)data;
    (void)adapter;
    if (!PyTuple_Check(spec) || PyTuple_GET_SIZE(spec) != SPEC_COUNT) {
        add_object(buf, spec);
        return;
    }
    add_object(buf, PyTuple_GET_ITEM(spec, SPEC_TYPE));
    dt_strbuf_add(buf, " of ");
    add_object(buf, PyTuple_GET_ITEM(spec, SPEC_DTYPE));
    dt_strbuf_add(buf, ", sizes ");
    add_object(buf, PyTuple_GET_ITEM(spec, SPEC_SIZES));
    for (int i = SPEC_DEVICE; i < SPEC_COUNT; i++) {
        static const char *const titles[] = {
            [SPEC_DEVICE] = ", device ", [SPEC_EXTRA] = ", extra ", [SPEC_OWN] = ", guard "};
        if (titles[i] != NULL && PyTuple_GET_ITEM(spec, i) != Py_None) {
            dt_strbuf_add(buf, titles[i]);
            add_object(buf, PyTuple_GET_ITEM(spec, i));
        }
    }
}

void
dt_python_print_found(const DtAdapter *adapter, PyObject *object, DtStrbuf *buf)
{
    if (object == NULL || dt_python_hook_ask(adapter, "is_array", object, NULL) != 1) {
        PyErr_Clear(); /* is_array failed: the type tells enough */
        dt_strbuf_add(buf, object == NULL ? "missing" : Py_TYPE(object)->tp_name);
        return;
    }
    PyObject *meta = dt_python_hook_call_plain(adapter, "describe", object);
    PyObject *spec = meta == NULL ? NULL : make_spec(adapter, object, meta, true);
    if (spec != NULL) {
        dt_python_print_guard(adapter, &spec, buf);
    }
    else {
        PyErr_Clear(); /* describe failed: the type tells enough */
        dt_strbuf_add(buf, Py_TYPE(object)->tp_name);
    }
    Py_XDECREF(meta);
    Py_XDECREF(spec);
}

int64_t
dt_python_dim(const DtAdapter *adapter, PyObject *object, int dim)
{
    PyObject *meta = dt_python_hook_call_plain(adapter, "describe", object);
    PyObject *shape = meta == NULL ? NULL : dt_python_attr(meta, "shape");
    int64_t size = -1;
    if (shape != NULL && PyTuple_Check(shape) && dim < PyTuple_GET_SIZE(shape)) {
        size = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, dim));
    }
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(adapter->state); /* -1 is no size: the conditions on it fail */
        size = -1;
    }
    Py_XDECREF(meta);
    Py_XDECREF(shape);
    return size;
}

PyObject *
dt_python_spec_to_object(const DtAdapter *adapter, const void *data)
{
    (void)adapter;
    return Py_NewRef(*(PyObject *const *)data);
}

DtStatus
dt_python_spec_from_object(const DtAdapter *adapter, DtTrace *trace, PyObject *object, void **spec,
                           size_t *size)
{
    PyObject **place = DT_ARENA_NEW(&trace->arena, PyObject *);
    (void)adapter;
    if (place == NULL) {
        return dt_no_memory();
    }
    if (!PyTuple_Check(object)
        || (PyTuple_GET_SIZE(object) != SPEC_COUNT && PyTuple_GET_SIZE(object) != 1)
        || (PyTuple_GET_SIZE(object) == SPEC_COUNT
            && !PyTuple_Check(PyTuple_GET_ITEM(object, SPEC_SIZES)))) {
        PyErr_Format(PyExc_ValueError, "guard of adapter '%s' is damaged", adapter->name);
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(trace, object));
    *place = object;
    *spec = place;
    *size = sizeof(*place);
    return DT_OK;
}

DtStatus
dt_python_guard_state(const DtAdapter *adapter, DtTrace *trace)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *state;
    DT_TRY(dt_python_hook_call(&hook, "state", PyTuple_New(0), &state));
    if (state == Py_None) {
        return DT_OK;
    }
    PyObject *spec = dt_trace_keep_take(trace, PyTuple_Pack(1, state));
    return spec == NULL ? DT_ERROR : add_guard(adapter, trace, DT_GUARD_ADAPTER_STATE, NULL, spec);
}

int
dt_python_check_state(const DtAdapter *adapter, const void *data)
{
    return dt_python_hook_ask(adapter, "check_state", PyTuple_GET_ITEM(*(PyObject *const *)data, 0),
                              NULL);
}
