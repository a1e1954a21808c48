/* Classes: reading attributes through the MRO without running descriptors of
 * Python, and making instances of user classes.
 *
 * Invariant: a class is known by identity.  What is found in it is guarded one
 * by one through the class (ATTR), or by the version of an instance's type.
 * What is not found, and a class of which an instance is made, by the version
 * of the class: whatever is added to it may be seen.
 *
 * Not in here: instances (v_instance.c), calls of builtin classes (builtins.c).
 */
#include "compat/type.h"
#include "variables/kinds.h"

static PyTypeObject *
class_of(DtVar *self)
{
    return (PyTypeObject *)((DtObjectVar *)self)->object;
}

DtStatus
dt_class_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    DtObjectVar *self;
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
dt_class_guard_unchanged(DtTrace *trace, DtVar *var)
{
    PyTypeObject *cls = class_of(var), *meta = Py_TYPE(cls);
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return DT_OK;
    }
    if (meta->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        DT_TRY(dt_guard_type_version(trace, var->source, meta));
    }
    return dt_guard_class_version(trace, var->source, cls);
}

/* ---- Looking up and binding
 * ------------------------------------------------------------------------ */

DtStatus
dt_class_lookup(DtTrace *trace, DtVar *owner, PyTypeObject *cls, PyObject *name, DtClassAttr *out)
{
    *out = (DtClassAttr){0};
    out->found = dt_type_lookup(cls, name);
    if (out->found == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, out->found));
    if (Py_TYPE(out->found)->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        /* A class of Python becomes a descriptor when it gets a __get__ or __set__. */
        const DtSource *found = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, out->found, 0);
        if (found == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_guard_type_version(trace, found, Py_TYPE(out->found)));
    }
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

static DtStatus
build_attr(DtTrace *trace, const DtClassAttr *attr, PyObject *object, DtVar **out)
{
    if (attr->source == NULL || object != attr->found) {
        /* Inside a static or class method: the guard on the outer object covers it. */
        if (attr->source != NULL && !attr->trusted) {
            DT_TRY(dt_guard_identity(trace, attr->source, attr->found));
        }
        DT_TRY(dt_trace_keep(trace, object));
        return dt_build_known(trace, object, out);
    }
    return attr->trusted ? dt_build_trusted(trace, object, attr->source, out)
                         : dt_var_build(trace, object, attr->source, out);
}

/* The function inside a staticmethod or classmethod object: a read-only member. */
static DtStatus
build_inner(DtTrace *trace, const DtClassAttr *attr, DtVar **out)
{
    PyObject *inner = PyObject_GetAttrString(attr->found, "__func__");
    if (inner == NULL) {
        return dt_break_from_exception(trace);
    }
    inner = dt_trace_keep_take(trace, inner);
    return inner != NULL ? build_attr(trace, attr, inner, out) : DT_ERROR;
}

DtStatus
dt_class_bind(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self, DtVar *cls_var,
              DtVar **out)
{
    PyTypeObject *type = Py_TYPE(attr->found);
    if (PyObject_TypeCheck(attr->found, &PyFunction_Type)) {
        DT_TRY(build_attr(trace, attr, attr->found, out));
        return self != NULL ? dt_method_new(trace, *out, self, out) : DT_OK;
    }
    if (type == &PyStaticMethod_Type) {
        return build_inner(trace, attr, out);
    }
    if (type == &PyClassMethod_Type) {
        DT_TRY(build_inner(trace, attr, out));
        if (cls_var == NULL) {
            DT_TRY(dt_class_of(trace, self, &cls_var));
        }
        return dt_method_new(trace, *out, cls_var, out);
    }
    bool unbound_only = type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type
                        || type == &PyGetSetDescr_Type || type == &PyMemberDescr_Type
                        || type == &PyProperty_Type;
    if (type->tp_descr_get != NULL && !(self == NULL && unbound_only)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' is a descriptor of type %s",
                        dt_kinds_text(name), type->tp_name);
    }
    return build_attr(trace, attr, attr->found, out);
}

/* ---- Attributes of a class
 * --------------------------------------------------------------------------- */

static DtStatus
get_name(DtTrace *trace, DtVar *self, DtVar **out)
{
    if (class_of(self)->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        /* It can be assigned, which changes no version. */
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the name of class %s", class_of(self)->tp_name);
    }
    return dt_constant_wrap_take(
        trace, PyObject_GetAttrString(((DtObjectVar *)self)->object, "__name__"), out);
}

static const DtGetSetRow class_getsets[] = {
    {"__name__", get_name},
    {NULL, NULL},
};

static DtStatus
class_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *cls = class_of(self), *meta = Py_TYPE(cls);
    bool deleted = false;
    DtVar *stored = dt_journal_get_attr(trace, self, name, &deleted);
    if (stored != NULL) {
        *out = stored;
        return DT_OK;
    }
    if (meta->tp_getattro != PyType_Type.tp_getattro) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "attribute '%s' of a class whose metaclass "
                        "defines __getattr__",
                        dt_kinds_text(name));
    }
    PyObject *of_meta = dt_type_lookup(meta, name);
    if (of_meta != NULL && Py_TYPE(of_meta)->tp_descr_set != NULL) {
        for (const DtGetSetRow *row = class_getsets; row->name != NULL; row++) {
            if (meta == &PyType_Type && PyUnicode_CompareWithASCIIString(name, row->name) == 0) {
                return row->get(trace, self, out);
            }
        }
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a class",
                        dt_kinds_text(name));
    }
    if (meta->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        DT_TRY(dt_guard_type_version(trace, self->source, meta));
    }
    DtClassAttr attr;
    DT_TRY(dt_class_lookup(trace, self, cls, name, &attr));
    if (attr.found != NULL && !deleted) {
        return dt_class_bind(trace, &attr, name, NULL, self, out);
    }
    DT_TRY(dt_class_guard_unchanged(trace, self));
    if (of_meta != NULL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a metaclass",
                        dt_kinds_text(name));
    }
    return dt_kinds_raise(trace, "AttributeError", "type object '%s' has no attribute '%s'",
                          cls->tp_name, dt_kinds_text(name));
}

static DtStatus
class_setattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    (void)value;
    return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of class %s is set",
                    dt_kinds_text(name), class_of(self)->tp_name);
}

/* ---- Instances
 * ---------------------------------------------------------------------------------------- */

static DtStatus
check_can_make(DtTrace *trace, PyTypeObject *cls)
{
    PyTypeObject *meta = Py_TYPE(cls);
    if (!dt_build_is_user_class(cls) || meta->tp_call != PyType_Type.tp_call
        || cls->tp_new != PyBaseObject_Type.tp_new || (cls->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
        || cls->tp_finalize != NULL || cls->tp_del != NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                        cls->tp_name);
    }
    return DT_OK;
}

static DtStatus
make_instance(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *cls = class_of(self);
    DT_TRY(check_can_make(trace, cls));
    DT_TRY(dt_class_guard_unchanged(trace, self));
    DtInstanceVar *instance = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, NULL);
    if (instance == NULL) {
        return DT_ERROR;
    }
    instance->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    instance->cls = cls;
    instance->cls_var = self;
    *out = &instance->base;
    DtVar *init;
    DT_TRY(dt_instance_special(trace, *out, "__init__", &init));
    if (init == NULL) {
        if (args->npos + args->nkw > 0) {
            return dt_kinds_raise(trace, "TypeError", "%s() takes no arguments", cls->tp_name);
        }
        return DT_OK;
    }
    DtVar *result;
    DT_TRY(dt_var_call(trace, init, args, &result));
    if (dt_var_peek_constant(result) != Py_None) {
        return dt_kinds_raise(trace, "TypeError", "__init__() should return None");
    }
    return DT_OK;
}

static DtStatus
class_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    const DtMethodRow *row = ((DtObjectVar *)self)->row;
    if (row != NULL) {
        return dt_kinds_call_row(trace, self, row, args, out);
    }
    PyTypeObject *cls = class_of(self);
    /* A class made by namedtuple itself: nothing in it was overridden, not even how it is called.
     */
    if (cls->tp_base == &PyTuple_Type && dt_namedtuple_is_class(cls)) {
        return dt_namedtuple_call(trace, self, args, out);
    }
    return make_instance(trace, self, args, out);
}

static PyTypeObject *
class_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(class_of(self));
}

static PyObject *
class_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtObjectVar *)self)->object;
}

static DtStatus
class_bool(DtTrace *trace, DtVar *self, bool *out)
{
    PyTypeObject *meta = Py_TYPE(class_of(self));
    if (meta != &PyType_Type && dt_build_is_user_class(meta)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the truth of a class with a metaclass");
    }
    *out = true;
    return DT_OK;
}

static DtStatus
class_reconstruct(DtCodegen *codegen, DtVar *self)
{
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

static void
class_repr(DtVar *self, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<class %s>", class_of(self)->tp_name);
}

const DtVarType dt_kind_type_CLASS = {
    .kind = DT_KIND_CLASS,
    .nb_bool = class_bool,
    .tp_call = class_call,
    .tp_getattro = class_getattro,
    .tp_setattro = class_setattro,
    .python_type = class_type,
    .as_constant = class_as_constant,
    .reconstruct = class_reconstruct,
    .repr = class_repr,
};
