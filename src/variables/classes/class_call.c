/* Calling a class: what makes an instance.
 *
 *   metaclass's __call__, if it is Python's ─► followed
 *   type.__call__: __new__ ─► instance ─► __init__, if it is one of the class
 *
 * Invariant: the class, its bases and its metaclass are guarded as a whole,
 * since whatever is added to them may be seen.
 *
 * Not in here: classes that have a row of their own (builtins.c, ...).
 */
#include <string.h>

#include "compat/type.h"
#include "variables/classes/array_part.h"
#include "variables/classes/class_fields.h"

/* The attribute as it lies in the class, without binding; NULL: there is none. */
static DtStatus
find_special(DtTrace *trace, DtVar *self, const char *text, PyObject **name, PyObject **found)
{
    *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    if (*name == NULL) {
        return DT_ERROR;
    }
    *found = dt_type_lookup(dt_class_type(self), *name);
    return *found != NULL ? dt_trace_keep(trace, *found) : DT_OK;
}

/* ---- object.__new__ and object.__init__ ------------------------------------------------------ */

static DtStatus
check_arguments_of_new(DtTrace *trace, PyTypeObject *cls, const DtArgs *args)
{
    if (args->npos + args->nkw == 0) {
        return DT_OK;
    }
    if (cls->tp_new != PyBaseObject_Type.tp_new) {
        return dt_raise(trace, PyExc_TypeError,
                        "object.__new__() takes exactly one argument (the type to "
                        "instantiate)");
    }
    if (cls->tp_init == PyBaseObject_Type.tp_init) {
        return dt_raise(trace, PyExc_TypeError, "%s() takes no arguments", cls->tp_name);
    }
    return DT_OK;
}

DtStatus
dt_class_object_init(DtTrace *trace, PyTypeObject *cls, const DtArgs *args)
{
    if (args->npos + args->nkw == 0) {
        return DT_OK;
    }
    if (cls->tp_init != PyBaseObject_Type.tp_init) {
        return dt_raise(trace, PyExc_TypeError,
                        "object.__init__() takes exactly one argument (the instance to "
                        "initialize)");
    }
    if (cls->tp_new == PyBaseObject_Type.tp_new) {
        return dt_raise(trace, PyExc_TypeError,
                        "%s.__init__() takes exactly one argument (the instance to "
                        "initialize)",
                        cls->tp_name);
    }
    return DT_OK;
}

/* The TypeError of an abstract class has another text on each version: CPython raises it. */
static DtStatus
refuse_abstract(DtTrace *trace, PyTypeObject *cls)
{
    PyObject *no_args = PyTuple_New(0);
    PyObject *object = no_args != NULL ? PyBaseObject_Type.tp_new(cls, no_args, NULL) : NULL;
    Py_XDECREF(no_args);
    if (object == NULL) {
        return dt_raise_from_exception(trace);
    }
    Py_DECREF(object);
    PyErr_SetString(PyExc_SystemError, "an abstract class has made an instance");
    return DT_ERROR;
}

/* A new instance gets its builtin part.  A named tuple without more is a tuple of its class. */
static DtStatus
give_payload(DtTrace *trace, DtInstanceVar *instance, DtVar *payload, DtVar **out)
{
    if (payload->type->kind == DT_KIND_TUPLE && dt_namedtuple_is_class(instance->cls)) {
        DtSeqVar *items = (DtSeqVar *)payload;
        DT_TRY(dt_var_tuple(trace, items->items, items->count, out));
        ((DtSeqVar *)*out)->cls = instance->cls;
        return DT_OK;
    }
    return dt_payload_adopt(trace, instance, payload);
}

/* An instance of the class without attributes; `args` are for the __new__ of a builtin base. */
static DtStatus
make_empty(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *cls = dt_class_type(self), *layout = dt_build_layout(cls);
    if (layout == NULL || cls->tp_finalize != NULL || cls->tp_del != NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                        cls->tp_name);
    }
    if (cls->tp_flags & Py_TPFLAGS_IS_ABSTRACT) {
        return refuse_abstract(trace, cls);
    }
    DtInstanceVar *instance = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, NULL);
    if (instance == NULL) {
        return DT_ERROR;
    }
    instance->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    instance->cls = cls;
    instance->cls_var = self;
    *out = &instance->base;
    if (layout == &PyBaseObject_Type) {
        return DT_OK;
    }
    const DtArrayPart *part = dt_array_part_of(layout);
    if (part != NULL) {
        return part->make(trace, instance, args);
    }
    if (dt_payload_is_hidden(layout)) {
        return dt_payload_new_hidden(trace, instance, args);
    }
    DtVar *payload;
    DT_TRY(dt_payload_new(trace, layout, args, &payload));
    return give_payload(trace, instance, payload, out);
}

DtStatus
dt_class_new(DtTrace *trace, PyTypeObject *base, const DtArgs *args, DtVar **out)
{
    DtVar *cls;
    if (args->npos == 0) {
        return dt_kinds_raise(trace, "TypeError", "%s.__new__(): not enough arguments",
                              base->tp_name);
    }
    if (base == &PyType_Type) {
        return dt_made_class(trace, args, out);
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &cls));
    if (cls->type->kind != DT_KIND_CLASS) {
        return dt_kinds_raise(trace, "TypeError", "%s.__new__(X): X is not a type object (%s)",
                              base->tp_name, dt_kinds_type_name(trace, cls));
    }
    PyTypeObject *type = dt_class_type(cls);
    PyTypeObject *layout = dt_build_layout(type);
    bool is_plain = layout == type && type != &PyBaseObject_Type && !dt_payload_is_own(type);
    if (layout == NULL || is_plain || !PyType_IsSubtype(layout, base)
        || layout->tp_new != base->tp_new) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.__new__(%s)", base->tp_name,
                        type->tp_name);
    }
    DT_TRY(dt_class_guard_unchanged(trace, cls));
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    if (base == &PyBaseObject_Type) {
        DT_TRY(check_arguments_of_new(trace, type, &rest));
    }
    return make_empty(trace, cls, &rest, out);
}

/* ---- type.__call__ --------------------------------------------------------------------------- */

static DtStatus
call_new(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *name, *found;
    DtVar *function;
    DtArgs with_class;
    DT_TRY(find_special(trace, self, "__new__", &name, &found));
    DT_TRY(dt_args_prepend(trace, args, self, &with_class));
    if (found != NULL && PyCFunction_Check(found)) {
        PyObject *of = PyCFunction_GET_SELF(found);
        if (of == NULL || !PyType_Check(of)) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                            dt_class_type(self)->tp_name);
        }
        return dt_class_new(trace, (PyTypeObject *)of, &with_class, out);
    }
    if (found == NULL) {
        return dt_raise(trace, PyExc_TypeError, "cannot create '%s' instances",
                        dt_class_type(self)->tp_name);
    }
    bool done;
    DT_TRY(dt_namedtuple_new(trace, dt_class_type(self), found, &with_class, &done, &function));
    if (done) {
        DtArgs of_tuple = dt_args_of(&function, 1);
        return make_empty(trace, self, &of_tuple, out);
    }
    DtClassAttr attr = {.found = found, .trusted = true};
    DT_TRY(dt_class_guard_descriptor(trace, found));
    DT_TRY(dt_class_bind(trace, &attr, name, NULL, self, &function));
    return dt_var_call(trace, function, &with_class, out);
}

static DtStatus
call_init(DtTrace *trace, DtVar *instance, const DtArgs *args)
{
    DtVar *init, *result;
    if (instance->type->kind == DT_KIND_TUPLE) {
        return DT_OK; /* a named tuple, whose __init__ is object's */
    }
    if (instance->type->kind != DT_KIND_INSTANCE) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "__init__ of a %s", instance->type->name);
    }
    DT_TRY(dt_instance_special(trace, instance, "__init__", &init));
    if (init == NULL) {
        return dt_class_object_init(trace, ((DtInstanceVar *)instance)->cls, args);
    }
    DT_TRY(dt_var_call(trace, init, args, &result));
    DT_TRY(dt_var_realize(trace, result, &result));
    if (dt_var_peek_constant(result) != Py_None) {
        return dt_raise(trace, PyExc_TypeError, "__init__() should return None, not '%s'",
                        dt_kinds_type_name(trace, result));
    }
    return DT_OK;
}

DtStatus
dt_class_instantiate(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *cls = dt_class_type(self);
    const DtMethodRow *row = ((DtObjectVar *)self)->row;
    if (row != NULL) {
        return dt_kinds_call_row(trace, self, row, args, out);
    }
    if (PyType_IsSubtype(cls, &PyType_Type) && dt_build_is_metaclass(cls)) {
        return dt_hooks_call_metaclass(trace, self, args, out);
    }
    if (PyExceptionClass_Check((PyObject *)cls)) {
        return dt_exception_make(trace, self, args, out);
    }
    PyTypeObject *layout = dt_build_layout(cls);
    if (layout == NULL || (layout == cls && !dt_payload_is_own(cls))) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an instance of %s is made",
                        cls->tp_name);
    }
    DT_TRY(dt_class_guard_unchanged(trace, self));
    DtVar *made;
    DT_TRY(call_new(trace, self, args, &made));
    DT_TRY(dt_var_realize(trace, made, &made));
    *out = made;
    PyTypeObject *type = dt_var_python_type(trace, made);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.__new__() gives a %s", cls->tp_name,
                        made->type->name);
    }
    return PyType_IsSubtype(type, cls) ? call_init(trace, made, args) : DT_OK;
}

DtStatus
dt_class_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *meta = Py_TYPE(dt_class_type(self));
    if (meta->tp_call != PyType_Type.tp_call) {
        DtVar *method;
        DT_TRY(dt_class_special(trace, self, "__call__", &method));
        if (method != NULL) {
            return dt_var_call(trace, method, args, out);
        }
    }
    return dt_class_instantiate(trace, self, args, out);
}
