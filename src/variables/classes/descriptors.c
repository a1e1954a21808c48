/* Descriptors: what an attribute that was found in a class gives when it is
 * read through an instance or the class, and what storing to it does.
 *
 *   function ─► bound method          property ─► its getter is followed
 *   static and class methods          member ─► the slot of the object
 *   method of a builtin base ─► bound to the instance
 *   object of a Python class with __get__ ─► its __get__ is followed
 *
 * Invariant: nothing here runs Python code; getters and setters are traced.
 * The class's version or the attribute's identity is guarded by who found it.
 *
 * Not in here: finding it (v_class.c), the order of look-ups (instance_attr.c).
 */
#include <string.h>

#include "compat/lru_cache.h"
#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/kinds.h"

/* ---- What kind of descriptor it is ----------------------------------------------------------- */

static bool
behaves_as(PyObject *found, PyTypeObject *type)
{
    return PyObject_TypeCheck(found, type) && Py_TYPE(found)->tp_descr_get == type->tp_descr_get
           && Py_TYPE(found)->tp_descr_set == type->tp_descr_set;
}

static bool
is_of_builtin(PyObject *found)
{
    return Py_IS_TYPE(found, &PyMethodDescr_Type) || Py_IS_TYPE(found, &PyWrapperDescr_Type);
}

/* Read through a class these are themselves. */
static bool
is_unbound_in_class(PyObject *found)
{
    return is_of_builtin(found) || Py_IS_TYPE(found, &PyGetSetDescr_Type)
           || Py_IS_TYPE(found, &PyMemberDescr_Type) || behaves_as(found, &PyProperty_Type);
}

/* ---- Building what was found ----------------------------------------------------------------- */

static DtStatus
build_attr(DtTrace *trace, const DtClassAttr *attr, PyObject *object, DtVar **out)
{
    /* Loading a descriptor again by its name would run it: it is a constant then. */
    bool reads_back = object == attr->found
                      && (Py_TYPE(object)->tp_descr_get == NULL || PyFunction_Check(object));
    if (attr->source == NULL || !reads_back) {
        if (attr->source != NULL && !attr->trusted) {
            DT_TRY(dt_guard_identity(trace, attr->source, attr->found));
        }
        DT_TRY(dt_trace_keep(trace, object));
        return dt_build_known(trace, object, out);
    }
    return attr->trusted ? dt_build_trusted(trace, object, attr->source, out)
                         : dt_var_build(trace, object, attr->source, out);
}

/* A read-only member of a descriptor object of C. */
static DtStatus
read_part(DtTrace *trace, PyObject *descriptor, const char *part, PyObject **out)
{
    PyObject *name = PyUnicode_InternFromString(part);
    *out = name != NULL ? PyObject_GenericGetAttr(descriptor, name) : NULL;
    Py_XDECREF(name);
    if (*out == NULL) {
        return dt_raise_from_exception(trace);
    }
    *out = dt_trace_keep_take(trace, *out);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
build_inner(DtTrace *trace, const DtClassAttr *attr, DtVar **out)
{
    PyObject *inner;
    DT_TRY(read_part(trace, attr->found, "__func__", &inner));
    return build_attr(trace, attr, inner, out);
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* A property without the accessor that is asked for: CPython raises the error that this version
 * has, on an object of the same class. */
static DtStatus
no_accessor(DtTrace *trace, const DtClassAttr *attr, const char *part, DtVar *self)
{
    PyObject *object;
    DT_TRY(dt_instance_stand_in(trace, self, &object));
    PyTypeObject *type = Py_TYPE(attr->found);
    PyObject *result = NULL;
    int status = -1;
    if (strcmp(part, "fget") == 0) {
        result = type->tp_descr_get(attr->found, object, (PyObject *)Py_TYPE(object));
    }
    else {
        bool stores = strcmp(part, "fset") == 0;
        status = type->tp_descr_set(attr->found, object, stores ? Py_None : NULL);
    }
    if (result != NULL || status == 0) {
        Py_XDECREF(result);
        PyErr_SetString(PyExc_SystemError, "a property without accessor has one");
        return DT_ERROR;
    }
    return dt_raise_from_exception(trace);
}

/* Calls fget, fset or fdel; the class's version guards the property, whose parts never change. */
static DtStatus
call_accessor(DtTrace *trace, const DtClassAttr *attr, const char *part, DtVar *self, DtVar *value,
              DtVar **out)
{
    PyObject *function;
    DT_TRY(read_part(trace, attr->found, part, &function));
    if (function == Py_None) {
        return no_accessor(trace, attr, part, self);
    }
    if (attr->source != NULL && !attr->trusted) {
        DT_TRY(dt_guard_identity(trace, attr->source, attr->found));
    }
    DtVar *callable, *pos[2] = {self, value};
    DT_TRY(dt_build_known(trace, function, &callable));
    DtArgs args = dt_args_of(pos, value != NULL ? 2 : 1);
    return dt_var_call(trace, callable, &args, out);
}

/* ---- Descriptors of Python ------------------------------------------------------------------- */

/* Calls a special method of the descriptor's own class; *out NULL if it has none. */
static DtStatus
call_descriptor(DtTrace *trace, const DtClassAttr *attr, const char *name, DtVar **pos,
                uint32_t npos, DtVar **out)
{
    DtVar *descriptor, *method;
    *out = NULL;
    DT_TRY(build_attr(trace, attr, attr->found, &descriptor));
    DT_TRY(dt_var_realize(trace, descriptor, &descriptor));
    if (descriptor->type->kind != DT_KIND_INSTANCE) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a descriptor of type %s",
                        Py_TYPE(attr->found)->tp_name);
    }
    DT_TRY(dt_instance_special(trace, descriptor, name, &method));
    if (method == NULL) {
        return DT_OK;
    }
    DtArgs args = dt_args_of(pos, npos);
    return dt_var_call(trace, method, &args, out);
}

static bool
is_cached_property(PyObject *found)
{
    PyTypeObject *type = Py_TYPE(found);
    PyObject *module = NULL;
    if (strcmp(type->tp_name, "cached_property") == 0 && type->tp_descr_set == NULL) {
        module = dt_type_own_lookup_text(type, "__module__");
    }
    return module != NULL && PyUnicode_Check(module)
           && PyUnicode_CompareWithASCIIString(module, "functools") == 0;
}

/* The same of one that the trace has made. */
static DtStatus
read_made_cached_property(DtTrace *trace, DtVar *made, DtVar *self, DtVar **out)
{
    PyObject *func = dt_trace_keep_take(trace, PyUnicode_InternFromString("func"));
    PyObject *attrname = dt_trace_keep_take(trace, PyUnicode_InternFromString("attrname"));
    DtVar *function, *text;
    if (func == NULL || attrname == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_getattr(trace, made, func, &function));
    DT_TRY(dt_var_getattr(trace, made, attrname, &text));
    PyObject *name = dt_var_as_constant(trace, text);
    if (name == NULL || !PyUnicode_CheckExact(name) || self->type->kind != DT_KIND_INSTANCE
        || !dt_instance_has_dict(self)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a cached_property that can't store its value");
    }
    DtArgs args = dt_args_of(&self, 1);
    DT_TRY(dt_var_call(trace, function, &args, out));
    return dt_journal_set_attr(trace, self, name, *out);
}

/* functools.cached_property: the value is stored among the instance's own attributes under the
 * name that the class statement gave it, without asking __setattr__.  The lock of older versions
 * protects nothing that a trace could see. */
static DtStatus
read_cached_property(DtTrace *trace, const DtClassAttr *attr, DtVar *self, DtVar **out)
{
    PyObject *function, *name;
    DtVar *made = dt_map_get(&trace->stand_ins, attr->found);
    if (made != NULL) {
        return read_made_cached_property(trace, made, self, out);
    }
    DT_TRY(read_part(trace, attr->found, "func", &function));
    DT_TRY(read_part(trace, attr->found, "attrname", &name));
    if (!PyUnicode_CheckExact(name) || self->type->kind != DT_KIND_INSTANCE
        || !dt_instance_has_dict(self)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a cached_property that can't store its value");
    }
    const DtSource *known = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, attr->found, 0);
    PyObject *func_name = dt_trace_keep_take(trace, PyUnicode_InternFromString("func"));
    const DtSource *source =
        known != NULL && func_name != NULL ? dt_source_attr(trace, known, func_name) : NULL;
    DtVar *callable;
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_build(trace, function, source, &callable));
    DtArgs args = dt_args_of(&self, 1);
    DT_TRY(dt_var_call(trace, callable, &args, out));
    return dt_journal_set_attr(trace, self, name, *out);
}

/* ---- The services ---------------------------------------------------------------------------- */

bool
dt_descr_is_data(PyObject *found)
{
    return Py_TYPE(found)->tp_descr_set != NULL;
}

bool
dt_descr_goes_first(PyObject *found)
{
    return Py_TYPE(found)->tp_descr_set != NULL && Py_TYPE(found)->tp_descr_get != NULL;
}

static DtStatus
bind_class_method(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self,
                  DtVar *cls_var, DtVar **out)
{
    DT_TRY(build_inner(trace, attr, out));
    DtVar *inner;
    DT_TRY(dt_var_realize(trace, *out, &inner));
    if (inner->type->kind != DT_KIND_FUNCTION && inner->type->kind != DT_KIND_BUILTIN) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "'%s' is a class method of a %s",
                        dt_kinds_text(name), inner->type->name);
    }
    if (cls_var == NULL) {
        DT_TRY(dt_class_of(trace, self, &cls_var));
    }
    return dt_method_new(trace, inner, cls_var, out);
}

/* The class itself, or one below it that is written in C, too. */
static bool
is_of_c(PyObject *cls, PyTypeObject *of)
{
    return cls == (PyObject *)of
           || (cls != NULL && PyType_Check(cls) && PyType_IsSubtype((PyTypeObject *)cls, of)
               && !(((PyTypeObject *)cls)->tp_flags & Py_TPFLAGS_HEAPTYPE));
}

/* A class method that C defines: what has a row is bound to the class, others are known of classes
 * of C. */
static DtStatus
bind_class_method_of_c(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self,
                       DtVar *cls_var, DtVar **out)
{
    PyTypeObject *of = ((PyDescrObject *)attr->found)->d_type;
    PyObject *cls = cls_var != NULL ? dt_payload_object(cls_var) : NULL;
    if (dt_builtin_find(attr->found) != NULL) {
        DT_TRY(build_attr(trace, attr, attr->found, out));
        if (cls_var == NULL) {
            DT_TRY(dt_class_of(trace, self, &cls_var));
        }
        return dt_method_new(trace, *out, cls_var, out);
    }
    return is_of_c(cls, of) ? dt_builtin_class_method(trace, (PyTypeObject *)cls, name, out)
                            : dt_break(trace, DT_BREAK_ATTRIBUTE, "'%s' is a class method of %s",
                                       dt_kinds_text(name), of->tp_name);
}

DtStatus
dt_class_bind(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self, DtVar *cls_var,
              DtVar **out)
{
    PyObject *found = attr->found;
    PyTypeObject *type = Py_TYPE(found);
    if (PyObject_TypeCheck(found, &PyFunction_Type) || dt_lru_cache_is(found)) {
        DT_TRY(build_attr(trace, attr, found, out));
        return self != NULL ? dt_method_new(trace, *out, self, out) : DT_OK;
    }
    if (type->tp_descr_get == NULL || (self == NULL && is_unbound_in_class(found))) {
        return build_attr(trace, attr, found, out);
    }
    if (behaves_as(found, &PyStaticMethod_Type)) {
        return build_inner(trace, attr, out);
    }
    if (behaves_as(found, &PyClassMethod_Type)) {
        return bind_class_method(trace, attr, name, self, cls_var, out);
    }
    if (type == &PyClassMethodDescr_Type) {
        return bind_class_method_of_c(trace, attr, name, self, cls_var, out);
    }
    if (behaves_as(found, &PyProperty_Type)) {
        return call_accessor(trace, attr, "fget", self, NULL, out);
    }
    if (is_of_builtin(found)) {
        DT_TRY(build_attr(trace, attr, found, out));
        return dt_method_new(trace, *out, self, out);
    }
    int64_t index;
    if (self != NULL && dt_namedtuple_field(found, &index)) {
        DtVar *payload = dt_payload_of(self), *number;
        DT_TRY(dt_var_int(trace, index, &number));
        return payload != self ? dt_var_subscript(trace, payload, number, out)
                               : dt_break(trace, DT_BREAK_ATTRIBUTE, "field '%s' of a %s",
                                          dt_kinds_text(name), self->type->name);
    }
    if (self != NULL && is_cached_property(found)) {
        return read_cached_property(trace, attr, self, out);
    }
    if (dt_build_is_user_class(type)) {
        DtVar *pos[2] = {self != NULL ? self : dt_none(trace), cls_var};
        if (cls_var == NULL) {
            DT_TRY(dt_class_of(trace, self, &pos[1]));
        }
        DT_TRY(call_descriptor(trace, attr, "__get__", pos, 2, out));
        return *out != NULL ? DT_OK : build_attr(trace, attr, found, out);
    }
    const DtArrayPart *part =
        self != NULL && self->type->kind == DT_KIND_INSTANCE && type == &PyGetSetDescr_Type
            ? dt_array_part_find((DtInstanceVar *)self)
            : NULL;
    if (part != NULL && PyDescr_TYPE(found) == part->base) { /* super().shape */
        return part->get(trace, (DtInstanceVar *)self, name, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' is a descriptor of type %s",
                    dt_kinds_text(name), type->tp_name);
}

DtStatus
dt_descr_set(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self, DtVar *value)
{
    DtVar *ignored, *pos[2] = {self, value};
    if (behaves_as(attr->found, &PyProperty_Type)) {
        return call_accessor(trace, attr, value != NULL ? "fset" : "fdel", self, value, &ignored);
    }
    if (dt_build_is_user_class(Py_TYPE(attr->found))) {
        DT_TRY(call_descriptor(trace, attr, value != NULL ? "__set__" : "__delete__", pos,
                               value != NULL ? 2 : 1, &ignored));
        /* Only one of the two is defined: the other raises its name. */
        return ignored != NULL ? DT_OK
                               : dt_raise(trace, PyExc_AttributeError, "%s",
                                          value != NULL ? "__set__" : "__delete__");
    }
    return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' is a descriptor of type %s",
                    dt_kinds_text(name), Py_TYPE(attr->found)->tp_name);
}
