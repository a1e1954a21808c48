/* Mapping proxies: cls.__dict__, types.MappingProxyType(mapping), and existing ones.
 *
 * Invariant: the mapping of an existing proxy is an input like any other, read through a source of
 * its own (REFERENT).  What a class's proxy shows is a dict tracker with what lies in the class,
 * unbound; the version of the class is guarded.  A class whose dict was shown, by itself or through
 * an existing proxy of it, is not written in the same trace, nor is the dict of a written class
 * shown.
 */
#include "compat/referents.h"
#include "compat/type.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

/* What is shown of a class's dict is remembered by that dict: an existing proxy knows no class. */
static DtStatus
remember(DtTrace *trace, PyObject *dict, DtVar *names)
{
    return dt_map_set(&trace->arena, &trace->shown_classes, dict, names) == 0 ? DT_OK
                                                                              : dt_no_memory();
}

static DtStatus
proxy_new(DtTrace *trace, DtVar *mapping, const DtSource *source, DtProxyVar **out)
{
    *out = DT_KINDS_NEW(trace, MAPPING_PROXY, DtProxyVar, source);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->mapping = mapping;
    return DT_OK;
}

DtStatus
dt_mapping_proxy_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                       DtVar **out)
{
    (void)trusted; /* its type and its mapping are guarded */
    const DtSource *behind = dt_source_get(trace, DT_SOURCE_REFERENT, source, NULL, 0);
    PyObject *real = dt_referents_get(object);
    DtVar *mapping;
    DtProxyVar *self;
    if (behind == NULL || real == NULL) {
        return DT_ERROR;
    }
    if (dt_class_is_written(trace, real)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the dict of a class, which was written");
    }
    DT_TRY(dt_guard_type(trace, source, &PyDictProxy_Type));
    DT_TRY(dt_guard_present(trace, behind));
    DT_TRY(dt_var_build_lazy(trace, real, behind, &mapping));
    DT_TRY(proxy_new(trace, mapping, source, &self));
    *out = &self->base;
    return dt_map_get(&trace->shown_classes, real) == NULL ? remember(trace, real, mapping) : DT_OK;
}

/* ---- The dict of a class --------------------------------------------------------------------- */

static DtStatus
show_class(DtTrace *trace, PyTypeObject *cls, PyObject *dict, DtDictVar *names)
{
    PyObject *keys = dt_trace_keep_take(trace, PyDict_Keys(dict));
    if (keys == NULL) {
        return DT_ERROR;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); i++) {
        DtVar *name, *found;
        PyObject *key = PyList_GET_ITEM(keys, i);
        PyObject *value = PyUnicode_CheckExact(key) ? dt_type_own_lookup(cls, key) : NULL;
        if (value == NULL) {
            return dt_break(trace, DT_BREAK_ATTRIBUTE, "the dict of class %s, with odd names",
                            cls->tp_name);
        }
        DT_TRY(dt_var_const(trace, key, &name));
        DT_TRY(dt_trace_keep(trace, value));
        DT_TRY(dt_build_known(trace, value, &found));
        DT_TRY(dt_dict_store(trace, names, name, found));
    }
    return DT_OK;
}

/* The names in the dict of the class, the same for whoever asks. */
static DtStatus
names_of_class(DtTrace *trace, DtVar *cls, PyObject *dict, DtVar **out)
{
    PyTypeObject *type = (PyTypeObject *)dt_payload_object(cls);
    DtDictVar *names;
    *out = dt_map_get(&trace->shown_classes, dict);
    if (*out != NULL) {
        return DT_OK;
    }
    if (dt_class_is_written(trace, dict) || dt_substitute_hides_class(type)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the dict of class %s, which was written",
                        type->tp_name);
    }
    DT_TRY(dt_class_guard_unchanged(trace, cls));
    DT_TRY(dt_dict_new(trace, &names));
    DT_TRY(show_class(trace, type, dict, names));
    *out = &names->base;
    return remember(trace, dict, *out);
}

DtStatus
dt_mapping_proxy_of_class(DtTrace *trace, DtVar *cls, DtVar **out)
{
    PyTypeObject *type = (PyTypeObject *)dt_payload_object(cls);
    PyObject *dict = dt_type_dict(type);
    DtVar *names;
    DtProxyVar *self;
    if (dict == NULL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the dict of class %s", type->tp_name);
    }
    DT_TRY(names_of_class(trace, cls, dict, &names));
    DT_TRY(proxy_new(trace, names, NULL, &self)); /* another object each time */
    self->cls = cls;
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_mapping_proxy_of_dict(DtTrace *trace, DtVar *dict, DtVar **out)
{
    DtProxyVar *made;
    DT_TRY(proxy_new(trace, dict, NULL, &made));
    *out = &made->base;
    return DT_OK;
}

/* ---- types.MappingProxyType() ---------------------------------------------------------------- */

static DtStatus
call_proxy(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *mapping;
    DT_TRY(dt_var_realize(trace, args->pos[0], &mapping));
    if (dt_payload_of(mapping)->type->kind != DT_KIND_DICT) { /* a dict, or an OrderedDict */
        PyTypeObject *type = dt_var_python_type(trace, mapping);
        bool is_mapping =
            type == NULL
            || (type->tp_as_mapping != NULL && type->tp_as_mapping->mp_subscript != NULL
                && !PyType_IsSubtype(type, &PyList_Type) && !PyType_IsSubtype(type, &PyTuple_Type));
        return is_mapping ? dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a mapping proxy of a %s",
                                     dt_kinds_type_name(trace, mapping))
                          : dt_kinds_mismatch(trace, self, "mappingproxy", args);
    }
    return dt_mapping_proxy_of_dict(trace, mapping, out);
}

static const DtMethodRow class_rows[] = {
    {"MappingProxyType", call_proxy, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_mapping_proxy_table = {"types", class_rows};

/* ---- What it does: what its mapping does ----------------------------------------------------- */

static DtVar *
mapping_of(DtVar *self)
{
    return ((DtProxyVar *)self)->mapping;
}

/* What an operand of an operator stands for. */
static DtVar *
behind(DtVar *operand)
{
    return operand->type->kind == DT_KIND_MAPPING_PROXY ? mapping_of(operand) : operand;
}

static DtStatus
proxy_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (DT_BINARY_PLAIN(op) != DT_BINARY_OR) {
        return DT_OK;
    }
    if (DT_BINARY_IS_INPLACE(op) && left->type->kind == DT_KIND_MAPPING_PROXY) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "|= of a mapping proxy");
    }
    return dt_var_binary(trace, op, behind(left), behind(right), out);
}

static DtStatus
proxy_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_length(trace, mapping_of(self), out);
}

static DtStatus
proxy_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    return dt_var_subscript(trace, mapping_of(self), key, out);
}

/* CPython's refusal, for the type alone. */
static DtStatus
proxy_ass_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar *value)
{
    (void)self;
    (void)key;
    return dt_raise(trace, PyExc_TypeError,
                    value != NULL ? "'mappingproxy' object does not support item assignment"
                                  : "'mappingproxy' object does not support item deletion");
}

static DtStatus
proxy_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    return dt_var_contains(trace, mapping_of(self), item, out);
}

static DtStatus
proxy_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_iter(trace, mapping_of(self), out);
}

static DtStatus
proxy_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    return dt_var_compare(trace, op, behind(left), behind(right), out);
}

#define DELEGATE(name)                                                                             \
    static DtStatus proxy_##name(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)     \
    {                                                                                              \
        return dt_var_call_method(trace, mapping_of(self), #name, args->pos, args->npos, out);     \
    }
DELEGATE(copy)
DELEGATE(get)
DELEGATE(items)
DELEGATE(keys)
DELEGATE(values)

static const DtMethodRow proxy_methods[] = {
    {"copy", proxy_copy, 0, 0, false},     {"get", proxy_get, 1, 2, false},
    {"items", proxy_items, 0, 0, false},   {"keys", proxy_keys, 0, 0, false},
    {"values", proxy_values, 0, 0, false}, {NULL, NULL, 0, 0, false},
};

static PyTypeObject *
proxy_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyDictProxy_Type;
}

static DtStatus
proxy_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtProxyVar *self = (DtProxyVar *)var;
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    if (self->cls != NULL) {
        PyObject *name =
            dt_trace_keep_take(dt_codegen_trace(codegen), PyUnicode_InternFromString("__dict__"));
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_codegen_var(codegen, self->cls));
        return dt_codegen_name(codegen, DT_OP_LOAD_ATTR, name);
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&PyDictProxy_Type));
    DT_TRY(dt_codegen_var(codegen, self->mapping));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
proxy_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    DtProxyVar *self = (DtProxyVar *)var;
    return visit(trace, self->cls != NULL ? self->cls : self->mapping, arg);
}

const DtVarType dt_kind_type_MAPPING_PROXY = {
    .kind = DT_KIND_MAPPING_PROXY,
    .nb_binary = proxy_binary,
    .sq_length = proxy_length,
    .mp_subscript = proxy_subscript,
    .mp_ass_subscript = proxy_ass_subscript,
    .sq_contains = proxy_contains,
    .tp_iter = proxy_iter,
    .tp_richcompare = proxy_compare,
    .methods = proxy_methods,
    .python_type = proxy_type,
    .reconstruct = proxy_reconstruct,
    .children = proxy_children,
};
