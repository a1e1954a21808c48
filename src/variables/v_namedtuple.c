/* Named tuples: tuple trackers whose class is a subclass with fields.
 *
 * Invariant: the class behaves as a tuple in every slot (none is overridden),
 * and its version is guarded with the length, so fields and methods are those
 * that the trace saw.
 *
 * Not in here: other subclasses of tuple (a graph break in build.c).
 */
#include "compat/type.h"
#include "variables/kinds.h"

/* The `_fields` of a class made by collections.namedtuple or typing.NamedTuple, or NULL. */
static PyObject *
find_fields(PyTypeObject *cls)
{
    const PySequenceMethods *sequence = cls->tp_as_sequence, *plain = PyTuple_Type.tp_as_sequence;
    const PyMappingMethods *mapping = cls->tp_as_mapping;
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE) || sequence == NULL || mapping == NULL
        || sequence->sq_item != plain->sq_item || sequence->sq_length != plain->sq_length
        || sequence->sq_contains != plain->sq_contains
        || mapping->mp_subscript != PyTuple_Type.tp_as_mapping->mp_subscript
        || cls->tp_iter != PyTuple_Type.tp_iter
        || cls->tp_richcompare != PyTuple_Type.tp_richcompare
        || cls->tp_getattro != PyObject_GenericGetAttr) {
        return NULL;
    }
    PyObject *name = PyUnicode_InternFromString("_fields");
    if (name == NULL) {
        PyErr_Clear(); /* no memory: the class counts as any other, which breaks */
        return NULL;
    }
    PyObject *fields = dt_type_lookup(cls, name);
    Py_DECREF(name);
    return fields != NULL && PyTuple_CheckExact(fields) ? fields : NULL;
}

bool
dt_namedtuple_is_class(PyTypeObject *cls)
{
    return PyType_IsSubtype(cls, &PyTuple_Type) && find_fields(cls) != NULL;
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
    PyObject *fields = find_fields(self->cls);
    for (Py_ssize_t i = 0; fields != NULL && i < PyTuple_GET_SIZE(fields); i++) {
        if (i < (Py_ssize_t)self->count
            && PyUnicode_Compare(PyTuple_GET_ITEM(fields, i), name) == 0) {
            *out = self->items[i];
            return DT_OK;
        }
    }
    PyObject *found = dt_type_lookup(self->cls, name);
    if (found == NULL || self->base.source == NULL
        || !PyObject_TypeCheck(found, &PyFunction_Type)) {
        return dt_kind_base.tp_getattro(trace, &self->base, name, out);
    }
    DtClassAttr attr = {.found = found, .trusted = true};
    DT_TRY(dt_trace_keep(trace, found));
    attr.source = dt_source_get(trace, DT_SOURCE_TYPE_ATTR, self->base.source, name, 0);
    if (attr.source == NULL) {
        return DT_ERROR;
    }
    return dt_class_bind(trace, &attr, name, &self->base, NULL, out);
}

/* A call of the class: as many values as fields, by position or name. */
DtStatus
dt_namedtuple_call(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out)
{
    PyTypeObject *type = (PyTypeObject *)((DtObjectVar *)cls)->object;
    PyObject *fields = find_fields(type);
    Py_ssize_t count = PyTuple_GET_SIZE(fields);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        items[i] = i < (Py_ssize_t)args->npos ? args->pos[i] : NULL;
        for (uint32_t k = 0; k < args->nkw && items[i] == NULL; k++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(fields, i), args->kwnames[k]) == 0) {
                items[i] = args->kw[k];
            }
        }
        if (items[i] == NULL) {
            break;
        }
    }
    if (args->npos + args->nkw != (uint32_t)count || (count > 0 && items[count - 1] == NULL)) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s takes %zd fields, %u are given",
                        type->tp_name, count, (unsigned)(args->npos + args->nkw));
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] == NULL) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "a field of %s is missing",
                            type->tp_name);
        }
    }
    DT_TRY(dt_var_tuple(trace, items, (uint32_t)count, out));
    ((DtSeqVar *)*out)->cls = type;
    return DT_OK;
}

/* A new one is made by its class. */
DtStatus
dt_namedtuple_reconstruct(DtCodegen *codegen, DtSeqVar *self)
{
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)self->cls));
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(dt_codegen_var(codegen, self->items[i]));
    }
    return dt_codegen_call(codegen, self->count);
}
