/* The payload of an instance that existed before, read past what its class overrides.
 *
 * Invariants: no user code runs; what is read is guarded, by its length and items, its keys, or,
 * where nothing less says that it is the same, by identity.
 *
 * Not in here: which types have a payload, and the instances that own one (payload.c).
 */
#include "compat/dict.h"
#include "compat/object.h"
#include "compat/set.h"
#include "compat/type.h"
#include "variables/classes/payload_parts.h"
#include "variables/containers/set_layout.h"

/* Longer ones are not followed: each item would be a tracker. */
#define MAX_ITEMS 65536

DtStatus
dt_payload_sequence(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
                    DtVar **out)
{
    bool is_list = base == &PyList_Type;
    Py_ssize_t count = Py_SIZE(object);
    if (count > MAX_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a %s of %zd items", Py_TYPE(object)->tp_name,
                        count);
    }
    DT_TRY(dt_guard_length(trace, source, Py_TYPE(object), count));
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DtSource *item =
            dt_source_get(trace, DT_SOURCE_BASE_INDEX, source, (PyObject *)base, i);
        if (item == NULL) {
            return DT_ERROR;
        }
        PyObject *value = is_list ? PyList_GET_ITEM(object, i) : PyTuple_GET_ITEM(object, i);
        DT_TRY(dt_var_build_lazy(trace, value, item, &items[i]));
    }
    DT_TRY(dt_sequence_new(trace, is_list ? DT_KIND_LIST : DT_KIND_TUPLE, items, (uint32_t)count,
                           out));
    (*out)->mutation = is_list ? DT_VALUE_MUTATION_EXISTING : DT_IMMUTABLE;
    (*out)->source = source;
    return DT_OK;
}

/* A key of a dict or set: guarded with all the others, so it is known. */
static DtStatus
build_key(DtTrace *trace, PyObject *key, DtDictEntry *out)
{
    DtVar *var;
    DT_TRY(dt_trace_keep(trace, key));
    DT_TRY(dt_constant_is_safe(key) ? dt_var_const(trace, key, &var)
                                    : dt_build_known(trace, key, &var));
    return dt_dict_key(trace, var, out);
}

DtStatus
dt_payload_dict(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
                DtVar **out)
{
    (void)base;
    DtDictVar *self;
    PyObject *keys = dt_trace_keep_take(trace, dt_dict_keys_in_order(object));
    if (keys == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* KeyError: a method of dict has changed an OrderedDict behind its back */
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a %s that has lost count of its keys",
                        Py_TYPE(object)->tp_name);
    }
    if (keys == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_dict_keys(trace, source, object));
    DT_TRY(dt_dict_new(trace, &self));
    self->base.source = source;
    self->base.mutation = DT_VALUE_MUTATION_EXISTING;
    self->object = object;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *key = PyTuple_GET_ITEM(keys, i), *value;
        DtDictEntry entry;
        DT_TRY(build_key(trace, key, &entry));
        const DtSource *item = dt_source_get(trace, DT_SOURCE_BASE_ITEM, source, key, 0);
        if (item == NULL) {
            return DT_ERROR;
        }
        if (dt_dict_get(object, key, &value) != 1) {
            return dt_break(trace, DT_BREAK_UNKNOWN_TYPE,
                            "a %s with keys that can't be looked up without calling code",
                            Py_TYPE(object)->tp_name);
        }
        DT_TRY(dt_var_build_lazy(trace, value, item, &entry.value));
        if (dt_vec_push(&trace->arena, self, entry) < 0) {
            return dt_no_memory();
        }
    }
    *out = &self->base;
    return DT_OK;
}

/* Only identity says that a frozenset holds what it held. */
DtStatus
dt_payload_set(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
               DtVar **out)
{
    if (base == &PySet_Type) {
        return dt_set_build_part(trace, object, source, out);
    }
    DT_TRY(dt_guard_identity(trace, source, object));
    /* The order of its elements is that of its own table. */
    PyObject *plain = dt_trace_keep_take(trace, dt_set_clone(object, base));
    PyObject *items = plain != NULL ? dt_trace_keep_take(trace, PySequence_Tuple(plain)) : NULL;
    DtDictVar *self;
    if (items == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_set_new(trace, base, &self));
    self->object = plain;
    DT_TRY(dt_layout_begin_real(trace, self));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        DtDictEntry entry;
        DT_TRY(build_key(trace, PyTuple_GET_ITEM(items, i), &entry));
        if (dt_vec_push(&trace->arena, self, entry) < 0) {
            return dt_no_memory();
        }
    }
    self->base.mutation = DT_IMMUTABLE;
    *out = &self->base;
    return DT_OK;
}

/* The plain value of an instance of a subclass of an immutable builtin type; no user code runs. */
static PyObject *
plain_value(PyObject *object, PyTypeObject *base)
{
    if (base == &PyLong_Type) {
        return PyLong_Type.tp_as_number->nb_positive(object); /* a copy of a subclass */
    }
    if (base == &PyFloat_Type) {
        return PyFloat_FromDouble(PyFloat_AS_DOUBLE(object));
    }
    if (base == &PyComplex_Type) {
        return PyComplex_FromCComplex(((PyComplexObject *)object)->cval);
    }
    if (base == &PyUnicode_Type) {
        return PyUnicode_FromObject(object);
    }
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object));
}

/* A number or text: only the very object is known to have this value. */
DtStatus
dt_payload_constant(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
                    DtVar **out)
{
    DT_TRY(dt_guard_identity(trace, source, object));
    PyObject *value = plain_value(object, base);
    return dt_var_const_take(trace, value, out);
}

/* ---- Types whose methods are polyfills ------------------------------------------------------- */

DtStatus
dt_payload_nothing(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *base,
                   DtVar **out)
{
    (void)trace, (void)object, (void)source, (void)base;
    *out = NULL;
    return DT_OK;
}

DtStatus
dt_payload_deque_limit(DtTrace *trace, DtInstanceVar *self, PyTypeObject *base)
{
    DtVar *items[3];
    PyObject *limit = Py_NewRef(Py_None);
    if (self->object != NULL) { /* past what a subclass has under the name */
        PyObject *member = dt_type_own_lookup_text(base, "maxlen");
        Py_DECREF(limit);
        limit = member != NULL
                    ? Py_TYPE(member)->tp_descr_get(member, self->object, (PyObject *)self->cls)
                    : NULL;
    }
    DT_TRY(dt_var_const_take(trace, limit, &items[0]));
    DT_TRY(dt_var_int(trace, 0, &items[1]));
    DT_TRY(dt_var_const(trace, self->object != NULL ? Py_True : Py_False, &items[2]));
    return dt_var_list(trace, items, 3, &self->more);
}
