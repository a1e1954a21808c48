/* Named tuples: tuple trackers whose class is a subclass with fields.
 *
 * Invariant: the class behaves as a tuple in every slot (none is overridden),
 * its instances have no dict, and its version is guarded, so fields and methods
 * are those that the trace saw.
 *
 * Not in here: other subclasses of tuple (instances with a payload, payload.c).
 */
#include <string.h>

#include "compat/code.h"
#include "compat/dict.h"
#include "compat/object.h"
#include "compat/type.h"
#include "variables/kinds.h"

static bool
has_fields(PyTypeObject *cls)
{
    PyObject *fields = dt_type_lookup_text(cls, "_fields");
    return fields != NULL && PyTuple_CheckExact(fields);
}

bool
dt_namedtuple_is_class(PyTypeObject *cls)
{
    static const char *const names[] = {
        "__add__",     "__bool__",    "__contains__", "__eq__",   "__format__",
        "__ge__",      "__getitem__", "__gt__",       "__hash__", "__init__",
        "__iter__",    "__le__",      "__len__",      "__lt__",   "__mul__",
        "__ne__",      "__radd__",    "__rmul__",     "__str__",  "__getattribute__",
        "__getattr__", "__setattr__", "__delattr__",  "__iadd__", "__imul__",
        "__call__",    "__index__",   "__float__",    "__int__",  "__reversed__",
    };
    bool plain = PyType_IsSubtype(cls, &PyTuple_Type) && cls != &PyTuple_Type && has_fields(cls)
                 && !dt_object_type_has_dict(cls) && dt_build_layout(cls) == &PyTuple_Type;
    for (size_t i = 0; plain && i < sizeof(names) / sizeof(names[0]); i++) {
        plain = dt_type_lookup_text(cls, names[i]) == dt_type_lookup_text(&PyTuple_Type, names[i]);
    }
    return plain;
}

bool
dt_namedtuple_field(PyObject *found, int64_t *index)
{
    const char *name = Py_TYPE(found)->tp_name; /* 3.12 names another module */
    if (strcmp(name, "_collections._tuplegetter") != 0
        && strcmp(name, "collections._tuplegetter") != 0) {
        return false;
    }
    PyObject *parts = PyObject_CallMethod(found, "__reduce__", NULL); /* C: (type, (index, doc)) */
    bool ok = parts != NULL && PyTuple_Check(parts) && PyTuple_GET_SIZE(parts) == 2
              && PyTuple_Check(PyTuple_GET_ITEM(parts, 1))
              && PyTuple_GET_SIZE(PyTuple_GET_ITEM(parts, 1)) > 0;
    if (ok) {
        *index = PyLong_AsLongLong(PyTuple_GET_ITEM(PyTuple_GET_ITEM(parts, 1), 0));
    }
    Py_XDECREF(parts);
    ok = ok && !PyErr_Occurred();
    PyErr_Clear(); /* no memory: a descriptor that is not known */
    return ok;
}

DtStatus
dt_namedtuple_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                    DtVar **out)
{
    (void)trusted; /* the type can change under a trusted object */
    Py_ssize_t count = PyTuple_GET_SIZE(object);
    DT_TRY(dt_guard_length(trace, source, Py_TYPE(object), count));
    DT_TRY(dt_guard_type_version(trace, source, Py_TYPE(object)));
    DT_TRY(dt_trace_keep(trace, (PyObject *)Py_TYPE(object)));
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DtSource *item = dt_source_index(trace, source, i);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, PyTuple_GET_ITEM(object, i), item, &items[i]));
    }
    DT_TRY(dt_var_tuple(trace, items, (uint32_t)count, out));
    (*out)->source = source;
    ((DtSeqVar *)*out)->cls = Py_TYPE(object);
    return DT_OK;
}

DtStatus
dt_namedtuple_getattr(DtTrace *trace, DtSeqVar *self, PyObject *name, DtVar **out)
{
    /* The version of an input's type is guarded, and that of a class that was called. */
    DtClassAttr attr = {.found = dt_type_lookup(self->cls, name), .trusted = true};
    int64_t index;
    if (attr.found == NULL || Py_IS_TYPE(attr.found, &PyGetSetDescr_Type)
        || attr.found == dt_type_lookup(&PyTuple_Type, name)) {
        return dt_kind_base.tp_getattro(trace, &self->base, name, out);
    }
    if (dt_namedtuple_field(attr.found, &index) && index >= 0 && index < (int64_t)self->count) {
        *out = self->items[index];
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, attr.found));
    DT_TRY(dt_class_guard_descriptor(trace, attr.found));
    return dt_class_bind(trace, &attr, name, &self->base, NULL, out);
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* The function that collections.namedtuple() makes for __new__: its globals hold tuple's own. */
static PyFunctionObject *
generated_new(PyObject *found)
{
    PyObject *function = found;
    if (Py_IS_TYPE(found, &PyStaticMethod_Type)) {
        function = PyObject_GetAttrString(found, "__func__");
        Py_XDECREF(function); /* the static method holds it */
    }
    PyObject *name = PyUnicode_InternFromString("_tuple_new"), *value = NULL;
    bool generated =
        function != NULL && name != NULL && PyFunction_Check(function)
        && PyDict_CheckExact(((PyFunctionObject *)function)->func_globals)
        && dt_dict_get(((PyFunctionObject *)function)->func_globals, name, &value) == 1;
    Py_XDECREF(name);
    PyErr_Clear(); /* no memory: a function as any other */
    return generated ? (PyFunctionObject *)function : NULL;
}

/* A default of a field that was not given, read where the function has it now. */
static DtStatus
take_default(DtTrace *trace, PyFunctionObject *function, Py_ssize_t from_end, DtVar **out)
{
    PyObject *defaults = function->func_defaults;
    Py_ssize_t count = defaults != NULL ? PyTuple_GET_SIZE(defaults) : 0;
    *out = NULL;
    if (from_end > count) {
        return DT_OK;
    }
    const DtSource *known = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, (PyObject *)function, 0);
    const DtSource *source =
        known != NULL ? dt_source_get(trace, DT_SOURCE_FUNC_DEFAULT, known, NULL, from_end) : NULL;
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_present(trace, source));
    return dt_var_build_lazy(trace, PyTuple_GET_ITEM(defaults, count - from_end), source, out);
}

/* A call that does not fit: the generated function itself raises its TypeError, on dummies. */
static DtStatus
refuse(DtTrace *trace, PyTypeObject *type, PyFunctionObject *function, const DtArgs *args)
{
    PyObject *pos = PyTuple_New(args->npos), *kw = PyDict_New(), *made = NULL;
    for (uint32_t i = 0; pos != NULL && i < args->npos; i++) {
        PyTuple_SET_ITEM(pos, i, Py_NewRef(i == 0 ? (PyObject *)type : Py_None));
    }
    for (uint32_t i = 0; kw != NULL && i < args->nkw; i++) {
        if (PyDict_SetItem(kw, args->kwnames[i], Py_None) < 0) {
            Py_CLEAR(kw);
        }
    }
    if (pos != NULL && kw != NULL) {
        made = PyObject_Call((PyObject *)function, pos, kw);
    }
    Py_XDECREF(pos);
    Py_XDECREF(kw);
    if (made == NULL) {
        return dt_raise_from_exception(trace);
    }
    Py_DECREF(made);
    return dt_break(trace, DT_BREAK_CALL_MISMATCH, "fields of %s", type->tp_name);
}

DtStatus
dt_namedtuple_new(DtTrace *trace, PyTypeObject *type, PyObject *found, const DtArgs *args,
                  bool *done, DtVar **out)
{
    PyFunctionObject *function = generated_new(found);
    *done = function != NULL;
    if (function == NULL) {
        return DT_OK;
    }
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    PyObject *names =
        dt_trace_keep_take(trace, PyObject_GetAttrString((PyObject *)code, "co_varnames"));
    int count = dt_code_argcount(code) - 1; /* without the class */
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (names == NULL || items == NULL) {
        return names == NULL ? DT_ERROR : dt_no_memory();
    }
    uint32_t used = args->npos - 1;
    bool fits = (int)used <= count;
    for (int i = 0; fits && i < count; i++) {
        items[i] = i < (int)args->npos - 1 ? args->pos[i + 1] : NULL;
        for (uint32_t k = 0; k < args->nkw && items[i] == NULL; k++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i + 1), args->kwnames[k]) == 0) {
                items[i] = args->kw[k];
                used++;
            }
        }
        if (items[i] == NULL) {
            DT_TRY(take_default(trace, function, count - i, &items[i]));
        }
        fits = items[i] != NULL;
    }
    if (!fits || used != args->npos - 1 + args->nkw) {
        return refuse(trace, type, function, args);
    }
    return dt_var_tuple(trace, items, (uint32_t)count, out);
}

/* A new one is made of a tuple, without asking the __new__ of its class. */
DtStatus
dt_namedtuple_reconstruct(DtCodegen *codegen, DtSeqVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *new = PyObject_GetAttrString((PyObject *)&PyTuple_Type, "__new__");
    new = dt_trace_keep_take(trace, new);
    if (new == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, new));
    DT_TRY(dt_codegen_const(codegen, (PyObject *)self->cls));
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(dt_codegen_var(codegen, self->items[i]));
    }
    DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_TUPLE, (int32_t)self->count));
    return dt_codegen_call(codegen, 2);
}
