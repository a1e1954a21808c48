/* Attributes of instances by CPython's rules, and super().
 *
 *   type's __getattribute__, if it is Python's ─► followed
 *   else  data descriptor of the type ─► own slot or dict ─► type
 *   AttributeError, and the type has __getattr__ ─► followed
 *
 * Invariants: an instance's own attributes are read where they lie; what the
 * trace stored is asked of the journal first; stores go through the journal.
 *
 * Not in here: what a found descriptor gives (descriptors.c), operators
 * (instance_ops.c), attributes of classes (v_class.c).
 */
#include "compat/messages.h"
#include "compat/object.h"
#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

static DtInstanceVar *
instance_of(DtVar *self)
{
    return (DtInstanceVar *)self;
}

bool
dt_instance_has_dict(DtVar *self)
{
    return dt_object_type_has_dict(instance_of(self)->cls);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

DtStatus
dt_instance_stand_in(DtTrace *trace, DtVar *self, PyObject **out)
{
    PyTypeObject *cls = instance_of(self)->cls;
    *out = instance_of(self)->object;
    if (*out != NULL) {
        return DT_OK;
    }
    PyObject *no_args = PyTuple_New(0);
    if (no_args == NULL) {
        return DT_ERROR;
    }
    PyTypeObject *base = dt_build_layout(cls);
    if (base != NULL && cls->tp_finalize == NULL && cls->tp_del == NULL) {
        *out = base->tp_new(cls, no_args, NULL);
    }
    Py_DECREF(no_args);
    if (*out == NULL) {
        return PyErr_Occurred() ? dt_raise_from_exception(trace)
                                : dt_break(trace, DT_BREAK_ATTRIBUTE,
                                           "an error about an attribute of a new %s", cls->tp_name);
    }
    *out = dt_trace_keep_take(trace, *out);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
no_attribute(DtTrace *trace, DtVar *self, PyObject *name)
{
    return dt_raise(trace, PyExc_AttributeError, "'%s' object has no attribute '%s'",
                    instance_of(self)->cls->tp_name, dt_kinds_text(name));
}

static DtStatus
empty_slot(DtTrace *trace, DtVar *self, PyObject *name)
{
    PyObject *owner = dt_trace_keep_take(trace, dt_messages_slot_owner(instance_of(self)->cls));
    return owner == NULL
               ? DT_ERROR
               : dt_raise(trace, PyExc_AttributeError, "'%s' object has no attribute '%s'",
                          dt_kinds_text(owner), dt_kinds_text(name));
}

/* A store or deletion that can't be done: object.__setattr__ raises the error that this version
 * has, on an object of the same class that has no attributes. */
static DtStatus
refused(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    PyTypeObject *cls = instance_of(self)->cls;
    PyObject *object;
    if (instance_of(self)->object != NULL && value == NULL) {
        /* The existing object may have what the trace has deleted. */
        DtInstanceVar empty = *instance_of(self);
        empty.object = NULL;
        DT_TRY(dt_instance_stand_in(trace, &empty.base, &object));
    }
    else {
        DT_TRY(dt_instance_stand_in(trace, self, &object));
    }
    if (PyObject_GenericSetAttr(object, name, value != NULL ? Py_None : NULL) == 0) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a %s",
                        dt_kinds_text(name), cls->tp_name);
    }
    return dt_raise_from_exception(trace);
}

/* ---- Own attributes -------------------------------------------------------------------------- */

/* How an own attribute is read: an attribute look-up of Python's must not get in the way. */
static const DtSource *
own_source(DtTrace *trace, DtVar *self, PyObject *name)
{
    bool plain = instance_of(self)->cls->tp_getattro == PyObject_GenericGetAttr;
    DtSourceKind kind = plain || !dt_instance_overrides(self, "__getattribute__")
                            ? DT_SOURCE_ATTR
                            : DT_SOURCE_OWN_ATTR;
    return dt_source_get(trace, kind, self->source, name, 0);
}

static DtStatus
read_slot(DtTrace *trace, DtVar *self, PyObject *name, PyObject *member, bool *found, DtVar **out)
{
    const DtSource *source = own_source(trace, self, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    PyObject *value = PyMember_GetOne((char *)instance_of(self)->object,
                                      ((PyMemberDescrObject *)member)->d_member);
    if (value == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return DT_ERROR;
        }
        PyErr_Clear(); /* AttributeError: the slot is empty */
        return dt_guard_attr_absent(trace, self->source, name);
    }
    *found = true;
    value = dt_trace_keep_take(trace, value);
    return value != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
}

/* The value of a slot or of an attribute of the own dict, as the object has it now. */
static DtStatus
read_own(DtTrace *trace, DtVar *self, PyObject *name, PyObject *member, bool *found, DtVar **out)
{
    bool deleted = false;
    DtVar *stored = dt_journal_get_attr(trace, self, name, &deleted);
    *found = stored != NULL;
    *out = stored;
    PyObject *object = instance_of(self)->object;
    if (stored != NULL || deleted || object == NULL) {
        return DT_OK;
    }
    if (member != NULL) {
        return read_slot(trace, self, name, member, found, out);
    }
    PyObject *value = NULL;
    int present = dt_object_instance_dict_get(object, name, &value);
    if (present < 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "attribute '%s' can't be read without calling code", dt_kinds_text(name));
    }
    if (present == 1) {
        const DtSource *source = own_source(trace, self, name);
        *found = true;
        return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
    }
    return dt_instance_has_dict(self) ? dt_guard_attr_absent(trace, self->source, name) : DT_OK;
}

/* A C type may show the dict of own attributes as a member, which is no slot. */
static bool
is_dict_member(PyObject *found, PyObject *name)
{
    return Py_IS_TYPE(found, &PyMemberDescr_Type)
           && PyUnicode_CompareWithASCIIString(name, "__dict__") == 0;
}

/* A class may have a slot of another class, which is no place in its instances, and its own one
 * under another name, by which the journal does not know it. */
static DtStatus
check_slot(DtTrace *trace, DtVar *self, PyObject *member, PyObject *name)
{
    PyTypeObject *cls = instance_of(self)->cls;
    if (PyType_IsSubtype(cls, PyDescr_TYPE(member))
        && PyUnicode_Compare(PyDescr_NAME(member), name) == 0) {
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s is a slot from elsewhere",
                    dt_kinds_text(name), cls->tp_name);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static DtStatus
read_data_descriptor(DtTrace *trace, DtVar *self, const DtClassAttr *attr, PyObject *name,
                     DtVar **out)
{
    if (dt_exception_keeps(self, attr->found)) {
        return dt_exception_get(trace, self, name, out);
    }
    if (is_dict_member(attr->found, name)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '__dict__' of a %s",
                        instance_of(self)->cls->tp_name);
    }
    const DtArrayPart *part = dt_array_part_find(instance_of(self));
    if (part != NULL && Py_IS_TYPE(attr->found, &PyGetSetDescr_Type)
        && PyDescr_TYPE(attr->found) == part->base) {
        return part->get(trace, instance_of(self), name, out);
    }
    DtVar *payload = dt_payload_of(self);
    if (payload->type->kind == DT_KIND_CONSTANT && dt_type_is_static_descriptor(attr->found)
        && PyDescr_TYPE(attr->found) != &PyBaseObject_Type /* __class__ */
        && PyObject_TypeCheck(((DtConstVar *)payload)->value, PyDescr_TYPE(attr->found))) {
        return dt_var_getattr(trace, payload, name, out); /* such as .imag */
    }
    if (Py_IS_TYPE(attr->found, &PyMemberDescr_Type)) {
        bool found;
        DT_TRY(check_slot(trace, self, attr->found, name));
        DT_TRY(read_own(trace, self, name, attr->found, &found, out));
        return found ? DT_OK : empty_slot(trace, self, name);
    }
    if (Py_IS_TYPE(attr->found, &PyGetSetDescr_Type)) {
        if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
            return dt_class_of(trace, self, out);
        }
        if (PyUnicode_CompareWithASCIIString(name, "__dict__") == 0) {
            return dt_attr_dict_get(trace, self, name, out);
        }
        PyObject *substitute;
        DT_TRY(dt_substitute_find_descriptor(trace, attr->found, &substitute));
        if (substitute != NULL) {
            DtVar *function;
            DtArgs args = dt_args_of(&self, 1);
            DT_TRY(dt_build_known(trace, substitute, &function));
            return dt_var_call(trace, function, &args, out);
        }
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s", dt_kinds_text(name),
                        instance_of(self)->cls->tp_name);
    }
    return dt_class_bind(trace, attr, name, self, instance_of(self)->cls_var, out);
}

DtStatus
dt_instance_generic_getattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    DtClassAttr attr;
    instance_of(self)->hashed |= trace->hashing > 0;
    DT_TRY(dt_class_lookup(trace, self, instance_of(self)->cls, name, &attr));
    if (attr.found != NULL && dt_descr_goes_first(attr.found)) {
        return read_data_descriptor(trace, self, &attr, name, out);
    }
    bool found;
    DT_TRY(read_own(trace, self, name, NULL, &found, out));
    if (found) {
        return DT_OK;
    }
    if (attr.found != NULL) {
        return dt_class_bind(trace, &attr, name, self, instance_of(self)->cls_var, out);
    }
    return no_attribute(trace, self, name);
}

static DtStatus
call_with_name(DtTrace *trace, DtVar *method, PyObject *name, DtVar **out)
{
    DtVar *text;
    DT_TRY(dt_var_const(trace, name, &text));
    DtArgs args = dt_args_of(&text, 1);
    return dt_var_call(trace, method, &args, out);
}

DtStatus
dt_getattr_by_hooks(DtTrace *trace, DtVar *self, PyObject *name, DtFindSpecial *special,
                    DtGetattr *generic, DtVar **out)
{
    DtVar *own, *fallback, *exception;
    DT_TRY(special(trace, self, "__getattribute__", &own));
    DtStatus status =
        own != NULL ? call_with_name(trace, own, name, out) : generic(trace, self, name, out);
    if (!dt_kinds_take_raised(trace, status, PyExc_AttributeError, &exception)) {
        return status;
    }
    DT_TRY(special(trace, self, "__getattr__", &fallback));
    return fallback != NULL ? call_with_name(trace, fallback, name, out)
                            : dt_kinds_raise_again(trace, exception);
}

DtStatus
dt_instance_getattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *cls = instance_of(self)->cls;
    if (cls->tp_getattro == PyObject_GenericGetAttr) {
        return dt_instance_generic_getattr(trace, self, name, out);
    }
    return dt_getattr_by_hooks(trace, self, name, dt_instance_special, dt_instance_generic_getattr,
                               out);
}

/* ---- Storing --------------------------------------------------------------------------------- */

DtStatus
dt_instance_generic_setattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    DtClassAttr attr;
    PyObject *member = NULL;
    DT_TRY(dt_class_lookup(trace, self, instance_of(self)->cls, name, &attr));
    if (attr.found != NULL && dt_descr_is_data(attr.found)) {
        if (dt_exception_keeps(self, attr.found)) {
            return dt_exception_set(trace, self, name, value);
        }
        if (Py_IS_TYPE(attr.found, &PyGetSetDescr_Type) || is_dict_member(attr.found, name)) {
            return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a %s is set",
                            dt_kinds_text(name), instance_of(self)->cls->tp_name);
        }
        if (!Py_IS_TYPE(attr.found, &PyMemberDescr_Type)) {
            return dt_descr_set(trace, &attr, name, self, value);
        }
        DT_TRY(check_slot(trace, self, attr.found, name));
        member = attr.found;
    }
    else if (!dt_instance_has_dict(self)) {
        return refused(trace, self, name, value);
    }
    if (value == NULL) {
        bool found;
        DtVar *old;
        DT_TRY(read_own(trace, self, name, member, &found, &old));
        if (!found) {
            return refused(trace, self, name, value);
        }
    }
    return dt_journal_set_attr(trace, self, name, value);
}

DtStatus
dt_instance_setattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    if (instance_of(self)->cls->tp_setattro == PyObject_GenericSetAttr) {
        return dt_instance_generic_setattr(trace, self, name, value);
    }
    DtVar *method, *ignored, *pos[2] = {NULL, value};
    const char *special = value != NULL ? "__setattr__" : "__delattr__";
    DT_TRY(dt_instance_special(trace, self, special, &method));
    if (method == NULL) {
        return dt_instance_generic_setattr(trace, self, name, value);
    }
    DT_TRY(dt_var_const(trace, name, &pos[0]));
    DtArgs args = dt_args_of(pos, value != NULL ? 2 : 1);
    return dt_var_call(trace, method, &args, &ignored);
}

/* ---- super() --------------------------------------------------------------------------------- */

/* What super(cls, self) looks through: the MRO of self itself if it is a class below `cls`, else
 * that of its type.  *of_class tells. */
static DtStatus
super_type(DtTrace *trace, DtVar *cls, DtVar *self, PyTypeObject **out, bool *of_class)
{
    PyObject *start = dt_var_as_constant(trace, cls);
    *out = dt_var_python_type(trace, self);
    *of_class = false;
    if (start == NULL || !PyType_Check(start)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "super() of a %s", cls->type->name);
    }
    PyTypeObject *wanted = (PyTypeObject *)start;
    if (self->type->kind == DT_KIND_CLASS) {
        PyTypeObject *itself = (PyTypeObject *)((DtObjectVar *)self)->object;
        if (PyType_IsSubtype(itself, wanted)) {
            *out = itself;
            *of_class = true;
            return dt_class_guard_unchanged(trace, self);
        }
        DT_TRY(dt_class_guard_unchanged(trace, self));
    }
    else if (self->type->kind != DT_KIND_INSTANCE) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "super() of a %s", self->type->name);
    }
    if (*out == NULL || !PyType_IsSubtype(*out, wanted)) {
        return dt_raise(trace, PyExc_TypeError,
                        "super(type, obj): obj must be an instance or subtype of type");
    }
    return DT_OK;
}

DtStatus
dt_var_super_getattr(DtTrace *trace, DtVar *cls, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *type;
    bool of_class;
    DT_TRY(dt_var_realize(trace, cls, &cls));
    DT_TRY(dt_var_realize(trace, self, &self));
    DT_TRY(super_type(trace, cls, self, &type, &of_class));
    PyObject *start = dt_var_as_constant(trace, cls);
    PyObject *mro = type->tp_mro;
    bool after = false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *found = after ? dt_class_own_attr(trace, base, name) : NULL;
        if (found != NULL) {
            /* The version of the class, which is guarded in each case, covers its bases. */
            DtClassAttr attr = {.found = found, .trusted = true};
            DT_TRY(dt_trace_keep(trace, found));
            DT_TRY(dt_class_guard_descriptor(trace, found));
            if (!of_class && Py_IS_TYPE(found, &PyMemberDescr_Type)) {
                return dt_break(trace, DT_BREAK_ATTRIBUTE, "super() finds the slot '%s'",
                                dt_kinds_text(name));
            }
            return dt_class_bind(trace, &attr, name, of_class ? NULL : self, of_class ? self : NULL,
                                 out);
        }
        after = after || (PyObject *)base == start;
    }
    return dt_raise(trace, PyExc_AttributeError, "'super' object has no attribute '%s'",
                    dt_kinds_text(name));
}
