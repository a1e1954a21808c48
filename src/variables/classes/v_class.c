/* Classes: reading attributes through the MRO and the metaclass.
 *
 * Invariant: a class is known by identity.  What is found in it is guarded one
 * by one through the class (ATTR), or by the version of an instance's type.
 * What is not found, and a class of which an instance is made, by the version
 * of the class: whatever is added to it may be seen.
 *
 * Not in here: what type() keeps of a class (class_fields.c), what a found attribute gives
 * (descriptors.c), storing them (class_attr.c), calls of classes (class_call.c), instances
 * (v_instance.c), calls of builtin classes (builtins.c).
 */
#include "compat/type_names.h"
#include "variables/classes/class_fields.h"
#include "variables/substitutes.h"

DtStatus
dt_class_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DtObjectVar *self;
    if (((PyTypeObject *)object)->tp_mro == NULL) { /* its metaclass's mro() is running */
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a class that is still being made");
    }
    if (dt_type_has_odd_keys((PyTypeObject *)object) || dt_type_has_odd_keys(Py_TYPE(object))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a class with names that are no texts");
    }
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_object_new(trace, DT_KIND_CLASS, object, source, &self));
    self->row = dt_builtin_find(object);
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_class_get(DtTrace *trace, PyTypeObject *type, const DtSource *source, DtVar **out)
{
    return source != NULL ? dt_build_trusted(trace, (PyObject *)type, source, out)
                          : dt_build_known(trace, (PyObject *)type, out);
}

DtStatus
dt_class_of(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the type of a %s", var->type->name);
    }
    if (var->type->kind == DT_KIND_INSTANCE && dt_substitute_hides_class(type)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "the class of an object that stands for one of a C type");
    }
    if (var->type->kind == DT_KIND_INSTANCE && ((DtInstanceVar *)var)->cls_var != NULL) {
        *out = ((DtInstanceVar *)var)->cls_var;
        return DT_OK;
    }
    if (var->source == NULL || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return dt_class_get(trace, type, NULL, out);
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_TYPE, var->source, NULL, 0);
    return source != NULL ? dt_class_get(trace, type, source, out) : DT_ERROR;
}

DtStatus
dt_class_shown(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return type == NULL || dt_type_shows_itself(type)
               ? dt_class_of(trace, var, out)
               : dt_break(trace, DT_BREAK_ATTRIBUTE, "the attribute __class__ of a %s",
                          type->tp_name);
}

DtStatus
dt_class_guard_unchanged(DtTrace *trace, DtVar *var)
{
    PyTypeObject *cls = dt_class_type(var), *meta = Py_TYPE(cls);
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE) || var->source == NULL) {
        return DT_OK; /* one that the trace has made stays as it is; its bases are guarded */
    }
    if (meta->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        DT_TRY(dt_guard_type_version(trace, var->source, meta));
    }
    return dt_guard_class_version(trace, var->source, cls);
}

/* ---- Looking up and binding ------------------------------------------------------------------ */

DtStatus
dt_class_guard_descriptor(DtTrace *trace, PyObject *found)
{
    if (!(Py_TYPE(found)->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return DT_OK;
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, found, 0);
    return source != NULL ? dt_guard_type_version(trace, source, Py_TYPE(found)) : DT_ERROR;
}

DtStatus
dt_class_lookup(DtTrace *trace, DtVar *owner, PyTypeObject *cls, PyObject *name, DtClassAttr *out)
{
    *out = (DtClassAttr){0};
    if (trace->class_writes.count > 0) {
        bool done;
        DT_TRY(dt_class_find_written(trace, cls, name, out, &done));
        if (done) {
            return DT_OK;
        }
    }
    /* What is read through a class is guarded by its value, not by the class's version. */
    bool by_value = owner->source != NULL && owner->type->kind != DT_KIND_INSTANCE;
    out->found = dt_type_find(cls, name);
    if (out->found == NULL || !by_value) {
        out->found = dt_type_lookup(cls, name);
    }
    if (out->found == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, out->found));
    DT_TRY(dt_class_guard_descriptor(trace, out->found));
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        out->trusted = true; /* a static type can't change */
        return DT_OK;
    }
    const DtSource *base = owner->source;
    DtSourceKind kind = DT_SOURCE_ATTR;
    if (owner->type->kind == DT_KIND_INSTANCE) {
        DtInstanceVar *instance = (DtInstanceVar *)owner;
        if (base != NULL) {
            kind = DT_SOURCE_TYPE_ATTR; /* the version of the type is guarded */
            out->trusted = true;
        }
        else if (instance->cls_var != NULL) {
            base = instance->cls_var->source;
            out->trusted = true; /* so is the version of the class */
        }
    }
    if (base == NULL) {
        out->trusted = true;
        return DT_OK;
    }
    out->source = dt_source_get(trace, kind, base, name, 0);
    return out->source != NULL ? DT_OK : DT_ERROR;
}

/* ---- Attributes of a class ------------------------------------------------------------------- */

/* An attribute of the metaclass, bound to the class if it is a descriptor. */
static DtStatus
read_of_meta(DtTrace *trace, DtVar *self, PyObject *name, PyObject *found, DtVar **out)
{
    PyTypeObject *meta = Py_TYPE(dt_class_type(self));
    if (meta == &PyType_Type || !dt_build_is_metaclass(meta)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a class",
                        dt_kinds_text(name));
    }
    /* The version of the metaclass is guarded. */
    DtClassAttr attr = {.found = found, .trusted = true};
    DtVar *meta_var;
    DT_TRY(dt_trace_keep(trace, found));
    DT_TRY(dt_class_guard_descriptor(trace, found));
    DT_TRY(dt_build_known(trace, (PyObject *)meta, &meta_var));
    return dt_class_bind(trace, &attr, name, self, meta_var, out);
}

DtStatus
dt_class_generic_getattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *cls = dt_class_type(self), *meta = Py_TYPE(cls);
    PyObject *of_meta = dt_type_lookup(meta, name);
    if (meta->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        DT_TRY(dt_guard_type_version(trace, self->source, meta));
    }
    if (of_meta != NULL && dt_descr_goes_first(of_meta)) {
        bool done = false;
        if (of_meta == dt_type_lookup(&PyType_Type, name)) {
            DT_TRY(dt_class_field(trace, self, name, &done, out));
        }
        return done ? DT_OK : read_of_meta(trace, self, name, of_meta, out);
    }
    if (of_meta != NULL) {
        DT_TRY(dt_class_guard_descriptor(trace, of_meta)); /* its class may get a __set__ */
    }
    DtClassAttr attr;
    DT_TRY(dt_class_lookup(trace, self, cls, name, &attr));
    if (attr.found != NULL) {
        return dt_class_bind(trace, &attr, name, NULL, self, out);
    }
    DT_TRY(dt_class_guard_unchanged(trace, self));
    if (of_meta != NULL) {
        return read_of_meta(trace, self, name, of_meta, out);
    }
    return dt_raise(trace, PyExc_AttributeError, "type object '%s' has no attribute '%s'",
                    cls->tp_name, dt_kinds_text(name));
}

/* A special method that a metaclass of Python defines, bound to the class; NULL: it has none. */
DtStatus
dt_class_special(DtTrace *trace, DtVar *self, const char *text, DtVar **out)
{
    PyTypeObject *meta = Py_TYPE(dt_class_type(self));
    *out = NULL;
    if (meta == &PyType_Type) {
        return DT_OK;
    }
    DT_TRY(dt_guard_type_version(trace, self->source, meta));
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    if (name == NULL) {
        return DT_ERROR;
    }
    PyObject *found = dt_type_lookup(meta, name);
    if (found == NULL || found == Py_None || found == dt_type_lookup(&PyType_Type, name)) {
        return DT_OK;
    }
    return read_of_meta(trace, self, name, found, out);
}

static DtStatus
class_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *meta = Py_TYPE(dt_class_type(self));
    if (meta->tp_getattro == PyType_Type.tp_getattro) {
        return dt_class_generic_getattr(trace, self, name, out);
    }
    return dt_getattr_by_hooks(trace, self, name, dt_class_special, dt_class_generic_getattr, out);
}

static PyTypeObject *
class_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(dt_class_type(self));
}

static PyObject *
class_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtObjectVar *)self)->object;
}

/* Calls a special method of the metaclass; *out NULL if only type's own is there. */
static DtStatus
call_special(DtTrace *trace, DtVar *self, const char *name, DtVar **pos, uint32_t npos, DtVar **out)
{
    DtVar *method;
    *out = NULL;
    if (dt_type_lookup_text(Py_TYPE(dt_class_type(self)), name) == Py_None) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a metaclass, which is None", name);
    }
    DT_TRY(dt_class_special(trace, self, name, &method));
    if (method == NULL) {
        return DT_OK;
    }
    DtArgs args = dt_args_of(pos, npos);
    return dt_var_call(trace, method, &args, out);
}

static DtStatus
class_bool(DtTrace *trace, DtVar *self, bool *out)
{
    DtVar *result;
    *out = true;
    DT_TRY(call_special(trace, self, "__bool__", NULL, 0, &result));
    if (result == NULL) {
        DT_TRY(call_special(trace, self, "__len__", NULL, 0, &result));
    }
    return result != NULL ? dt_var_truth(trace, result, out) : DT_OK;
}

static DtStatus
no_method(DtTrace *trace, DtVar *self, const char *format)
{
    return dt_raise(trace, PyExc_TypeError, format, dt_kinds_type_name(trace, self));
}

static DtStatus
class_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__len__", NULL, 0, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "object of type '%s' has no len()");
}

static DtStatus
class_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__iter__", NULL, 0, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "'%s' object is not iterable");
}

static DtStatus
class_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtVar *result;
    bool truth;
    DT_TRY(call_special(trace, self, "__contains__", &item, 1, &result));
    if (result == NULL) {
        return dt_kind_base.sq_contains(trace, self, item, out);
    }
    DT_TRY(dt_var_truth(trace, result, &truth));
    return dt_var_bool(trace, truth, out);
}

/* cls[key]: the metaclass's __getitem__, else the class's own __class_getitem__. */
static DtStatus
class_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    DtVar *method;
    DtClassAttr attr;
    DT_TRY(call_special(trace, self, "__getitem__", &key, 1, out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (dt_class_type(self) == &PyType_Type) {
        return dt_class_alias(trace, (PyObject *)&PyType_Type, key, out);
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__class_getitem__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_class_lookup(trace, self, dt_class_type(self), name, &attr));
    if (attr.found == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "[] of class %s",
                        dt_class_type(self)->tp_name);
    }
    DT_TRY(dt_class_bind(trace, &attr, name, NULL, self, &method));
    DtArgs args = dt_args_of(&key, 1);
    return dt_var_call(trace, method, &args, out);
}

static DtStatus
class_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    static const char *const names[] = {
        [Py_LT] = "__lt__", [Py_LE] = "__le__", [Py_EQ] = "__eq__",
        [Py_NE] = "__ne__", [Py_GT] = "__gt__", [Py_GE] = "__ge__",
    };
    DT_TRY(call_special(trace, left, names[op], &right, 1, out));
    if (*out == NULL && op == Py_NE) {
        DT_TRY(call_special(trace, left, "__eq__", &right, 1, out));
        if (*out != NULL && dt_var_peek_constant(*out) != Py_NotImplemented) {
            return dt_var_not(trace, *out, out);
        }
    }
    if (*out == NULL) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_var_realize(trace, *out, out);
}

static DtStatus
class_reconstruct(DtCodegen *codegen, DtVar *self)
{
    DtMade *made = dt_made_find(dt_codegen_trace(codegen), ((DtObjectVar *)self)->object);
    if (made != NULL) {
        return dt_made_reconstruct(codegen, made);
    }
    if (dt_substitute_hides_class(dt_class_type(self))) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "an object that stands for one of a C type leaves the function");
    }
    if (self->source != NULL && self->source->kind != DT_SOURCE_OBJECT
        && self->source->kind != DT_SOURCE_TYPE) {
        bool done;
        DT_TRY(dt_kinds_load_source(codegen, self, &done));
        if (done) {
            return DT_OK;
        }
    }
    return dt_codegen_const(codegen, ((DtObjectVar *)self)->object);
}

static DtStatus
class_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *),
               void *arg)
{
    const DtMade *made = dt_made_find(trace, ((DtObjectVar *)self)->object);
    return made != NULL ? dt_made_children(trace, made, visit, arg) : DT_OK;
}

static void
class_repr(DtVar *self, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<class %s>", dt_class_type(self)->tp_name);
}

const DtVarType dt_kind_type_CLASS = {
    .kind = DT_KIND_CLASS,
    .nb_binary = dt_class_union,
    .nb_bool = class_bool,
    .sq_length = class_length,
    .sq_contains = class_contains,
    .mp_subscript = class_subscript,
    .tp_iter = class_iter,
    .tp_richcompare = class_compare,
    .tp_call = dt_class_call,
    .tp_getattro = class_getattro,
    .tp_setattro = dt_class_setattr,
    .python_type = class_type,
    .as_constant = class_as_constant,
    .reconstruct = class_reconstruct,
    .children = class_children,
    .repr = class_repr,
};
