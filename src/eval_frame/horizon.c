/* See horizon.h. */
#include "eval_frame/horizon.h"

#include <string.h>

#include "compat/code.h"
#include "compat/dict.h"
#include "compat/type.h"
#include "eval_frame/reach.h"
#include "variables/adapter.h"

/* Of one container: those that may hold something, and all. */
#define MOST_ITEMS 12
#define MOST_VISITS 96

void
dt_horizon_begin(DtHorizon *horizon, uint32_t most)
{
    horizon->most = most;
    horizon->count = horizon->next = horizon->ncodes = horizon->next_code = 0;
    horizon->ntypes = 0;
    horizon->attributes = NULL;
    horizon->found = false;
}

static bool
is_known(PyObject *const *objects, uint32_t count, PyObject *object)
{
    for (uint32_t i = 0; i < count; i++) {
        if (objects[i] == object) {
            return true;
        }
    }
    return false;
}

/* Also one that is prepared or compiled. */
static bool
is_function(PyObject *object)
{
    return PyObject_TypeCheck(object, &PyFunction_Type);
}

/* Does it hold nothing? */
static bool
is_plain(PyObject *object)
{
    return PyUnicode_CheckExact(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object)
           || PyBool_Check(object) || object == Py_None;
}

/* Classes of C and modules lead everywhere; the ones that are meant are found by name. */
static bool
leads_astray(PyObject *object)
{
    return PyModule_Check(object)
           || (PyType_Check(object)
               && !PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE));
}

void
dt_horizon_add(DtHorizon *horizon, PyObject *value)
{
    if (value != NULL && horizon->count < horizon->most && !is_plain(value) && !leads_astray(value)
        && !is_known(horizon->objects, horizon->count, value)) {
        horizon->objects[horizon->count++] = Py_NewRef(value);
    }
}

void
dt_horizon_add_code(DtHorizon *horizon, PyObject *code, PyObject *globals)
{
    if (horizon->ncodes < DT_HORIZON_CODES && PyCode_Check(code) && PyDict_CheckExact(globals)
        && !is_known(horizon->codes, horizon->ncodes, code)) {
        horizon->codes[horizon->ncodes] = Py_NewRef(code);
        horizon->globals[horizon->ncodes++] = Py_NewRef(globals);
    }
}

/* ---- Classes --------------------------------------------------------------------------------- */

static void
add_attributes(DtHorizon *horizon, PyTypeObject *type, PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        dt_horizon_add(horizon, dt_type_lookup(type, PyTuple_GET_ITEM(names, i)));
    }
}

static bool
is_operator(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    bool operator = text != NULL && strncmp(text, "__", 2) == 0 && strcmp(text, "__init__") != 0
                    && strcmp(text, "__new__") != 0;
    PyErr_Clear(); /* no UTF-8: no operator */
    return operator;
}

static void
add_operators(DtHorizon *horizon, PyTypeObject *type)
{
    PyObject *mro = type->tp_mro, *name, *value;
    for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *own = leads_astray((PyObject *)base) ? NULL : dt_type_dict(base);
        Py_ssize_t at = 0;
        while (own != NULL && PyDict_Next(own, &at, &name, &value)) {
            if (is_function(value) && PyUnicode_CheckExact(name) && is_operator(name)) {
                dt_horizon_add(horizon, value);
            }
        }
    }
}

static void
look_into_class(DtHorizon *horizon, PyTypeObject *type)
{
    if (horizon->ntypes == DT_HORIZON_TYPES) {
        return;
    }
    horizon->types[horizon->ntypes++] = type;
    add_operators(horizon, type);
    if (horizon->attributes != NULL) {
        add_attributes(horizon, type, horizon->attributes);
    }
    for (uint32_t i = 0; i < horizon->next_code; i++) {
        add_attributes(horizon, type, dt_code_names((PyCodeObject *)horizon->codes[i]));
    }
}

/* Named, it may be called. */
static void
add_making(DtHorizon *horizon, PyTypeObject *type)
{
    dt_horizon_add(horizon, dt_type_lookup_text(type, "__init__"));
    dt_horizon_add(horizon, dt_type_lookup_text(type, "__new__"));
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Behind a module that code names stands what it takes from there: a name of its own. */
static void
add_from_module(DtHorizon *horizon, PyObject *module, PyObject *names)
{
    PyObject *namespace = PyModule_GetDict(module), *value;
    if (namespace == NULL || dt_reach_is_skipped_module(namespace)) {
        return;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names) && !horizon->found; i++) {
        if (dt_dict_get(namespace, PyTuple_GET_ITEM(names, i), &value) == 1) {
            horizon->found = dt_reach_is_of_adapter(value);
            dt_horizon_add(horizon, value);
        }
    }
}

static void
add_name(DtHorizon *horizon, PyObject *name, PyObject *globals, PyObject *names)
{
    PyObject *value;
    if (dt_dict_get(globals, name, &value) != 1) {
        const char *text = PyUnicode_AsUTF8(name); /* what a function imports itself */
        horizon->found = text != NULL && dt_adapter_by_name(text) != NULL;
        PyErr_Clear(); /* no UTF-8: no library that we know */
        return;
    }
    horizon->found = dt_reach_is_of_adapter(value);
    if (PyModule_Check(value)) {
        if (names != NULL) {
            add_from_module(horizon, value, names);
        }
        return;
    }
    dt_horizon_add(horizon, value);
    if (PyType_Check(value) && !leads_astray(value)) {
        add_making(horizon, (PyTypeObject *)value);
    }
}

void
dt_horizon_add_name(DtHorizon *horizon, PyObject *name, PyObject *globals)
{
    if (!horizon->found) {
        add_name(horizon, name, globals, horizon->attributes);
    }
}

void
dt_horizon_add_attributes(DtHorizon *horizon, PyObject *names)
{
    horizon->attributes = names;
}

static void
look_into_code(DtHorizon *horizon, PyCodeObject *code, PyObject *globals)
{
    PyObject *names = dt_code_names(code), *consts = dt_code_consts(code);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names) && !horizon->found; i++) {
        add_name(horizon, PyTuple_GET_ITEM(names, i), globals, names);
    }
    for (uint32_t i = 0; i < horizon->ntypes; i++) {
        add_attributes(horizon, horizon->types[i], names);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(consts); i++) {
        dt_horizon_add_code(horizon, PyTuple_GET_ITEM(consts, i), globals);
    }
}

/* ---- Objects -------------------------------------------------------------------------------- */

static void
look_into_function(DtHorizon *horizon, PyFunctionObject *function)
{
    if (!dt_reach_is_skipped_module(function->func_globals)) {
        dt_horizon_add_code(horizon, function->func_code, function->func_globals);
        dt_horizon_add(horizon, function->func_closure);
    }
}

/* A visitproc: not 0 where it is enough of this container. */
static int
add_visited(PyObject *object, void *context)
{
    DtHorizon *horizon = context;
    uint32_t before = horizon->count;
    dt_horizon_add(horizon, object);
    horizon->items -= horizon->count != before;
    return horizon->items == 0 || --horizon->visits == 0 || horizon->count == horizon->most;
}

static void
look_into_object(DtHorizon *horizon, PyObject *object)
{
    horizon->found = dt_adapter_of_array(object) != NULL;
    if (horizon->found) {
        return;
    }
    if (is_function(object)) {
        look_into_function(horizon, (PyFunctionObject *)object);
        return;
    }
    if (PyType_Check(object)) {
        look_into_class(horizon, (PyTypeObject *)object);
        return;
    }
    traverseproc traverse = Py_TYPE(object)->tp_traverse;
    if (traverse != NULL && PyObject_IS_GC(object)) {
        horizon->items = MOST_ITEMS;
        horizon->visits = MOST_VISITS;
        (void)traverse(object, add_visited, horizon);
    }
}

bool
dt_horizon_end(DtHorizon *horizon)
{
    while (!horizon->found
           && (horizon->next < horizon->count || horizon->next_code < horizon->ncodes)) {
        if (horizon->next < horizon->count) {
            look_into_object(horizon, horizon->objects[horizon->next++]);
        }
        else {
            uint32_t i = horizon->next_code++;
            look_into_code(horizon, (PyCodeObject *)horizon->codes[i], horizon->globals[i]);
        }
    }
    while (horizon->count > 0) {
        Py_DECREF(horizon->objects[--horizon->count]);
    }
    while (horizon->ncodes > 0) {
        Py_DECREF(horizon->codes[--horizon->ncodes]);
        Py_DECREF(horizon->globals[horizon->ncodes]);
    }
    return horizon->found;
}

bool
dt_horizon_of_call(const PyFunctionObject *function, PyObject *const *args, Py_ssize_t count,
                   uint32_t most)
{
    DtHorizon horizon;
    dt_horizon_begin(&horizon, most);
    for (Py_ssize_t i = 0; i < count; i++) {
        dt_horizon_add(&horizon, args[i]);
    }
    dt_horizon_add(&horizon, function->func_closure);
    dt_horizon_add_code(&horizon, function->func_code, function->func_globals);
    return dt_horizon_end(&horizon);
}
