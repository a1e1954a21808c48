/* What type() keeps of a class: its names, bases, order of look-up, annotations, sizes and flags.
 */
#include "variables/classes/class_fields.h"

#include "compat/function.h"
#include "compat/type_names.h"

/* What the version of the class says nothing about. */
static bool
is_assignable(DtVar *self)
{
    return (dt_class_type(self)->tp_flags & Py_TPFLAGS_HEAPTYPE) && self->source != NULL;
}

/* What can be assigned without a new version of the class, or is so for a moment. */
static DtStatus
read_part(DtTrace *trace, DtVar *self, DtFunctionPart part, const char *text, DtVar **out)
{
    PyObject *cls = ((DtObjectVar *)self)->object;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    const DtSource *source =
        name != NULL ? dt_source_get(trace, DT_SOURCE_FUNC_PART, self->source, name, (int64_t)part)
                     : NULL;
    return source != NULL ? dt_var_build_lazy(trace, dt_function_part(cls, part), source, out)
                          : DT_ERROR;
}

static DtStatus
read_name(DtTrace *trace, DtVar *self, DtFunctionPart part, const char *text, DtVar **out)
{
    PyObject *cls = ((DtObjectVar *)self)->object;
    return is_assignable(self)
               ? read_part(trace, self, part, text, out)
               : dt_constant_wrap_take(trace, PyObject_GetAttrString(cls, text), out);
}

static DtStatus
get_name(DtTrace *trace, DtVar *self, DtVar **out)
{
    return read_name(trace, self, DT_FUNCTION_NAME, "__name__", out);
}

static DtStatus
get_qualname(DtTrace *trace, DtVar *self, DtVar **out)
{
    return read_name(trace, self, DT_FUNCTION_QUALNAME, "__qualname__", out);
}

/* What the class's own dict says, which its version covers. */
static DtStatus
read_own_text(DtTrace *trace, DtVar *self, const char *text, DtVar **out)
{
    PyTypeObject *cls = dt_class_type(self);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    if (name == NULL) {
        return DT_ERROR;
    }
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return dt_constant_wrap_take(trace, PyObject_GetAttr((PyObject *)cls, name), out);
    }
    DT_TRY(dt_class_guard_unchanged(trace, self));
    PyObject *value = dt_type_own_lookup(cls, name);
    value = value != NULL ? value : Py_None;
    if (value != Py_None && !PyUnicode_CheckExact(value)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "%s of class %s", text, cls->tp_name);
    }
    return dt_var_const(trace, value, out);
}

static DtStatus
get_module(DtTrace *trace, DtVar *self, DtVar **out)
{
    return read_own_text(trace, self, "__module__", out);
}

static DtStatus
get_doc(DtTrace *trace, DtVar *self, DtVar **out)
{
    return read_own_text(trace, self, "__doc__", out);
}

/* Classes that the class is made of: its version covers them. */
static DtStatus
read_classes(DtTrace *trace, DtVar *self, PyObject *classes, DtVar **out)
{
    Py_ssize_t count = classes != NULL ? PyTuple_GET_SIZE(classes) : 0;
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_class_guard_unchanged(trace, self));
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *cls = PyTuple_GET_ITEM(classes, i);
        if (cls == ((DtObjectVar *)self)->object) {
            items[i] = self;
        }
        else {
            DT_TRY(dt_build_known(trace, cls, &items[i]));
        }
    }
    return dt_var_tuple(trace, items, (uint32_t)count, out);
}

static DtStatus
get_mro(DtTrace *trace, DtVar *self, DtVar **out)
{
    return read_classes(trace, self, dt_class_type(self)->tp_mro, out);
}

static DtStatus
get_bases(DtTrace *trace, DtVar *self, DtVar **out)
{
    return is_assignable(self) ? read_part(trace, self, DT_FUNCTION_BASES, "__bases__", out)
                               : read_classes(trace, self, dt_class_type(self)->tp_bases, out);
}

static DtStatus
get_base(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyTypeObject *base = dt_class_type(self)->tp_base;
    DT_TRY(dt_class_guard_unchanged(trace, self));
    if (base == NULL) {
        *out = dt_none(trace);
        return DT_OK;
    }
    return dt_build_known(trace, (PyObject *)base, out);
}

static DtStatus
get_dict(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_mapping_proxy_of_class(trace, self, out);
}

/* What a class statement has put there; where nothing is, CPython puts a dict. */
static DtStatus
get_annotations(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyTypeObject *cls = dt_class_type(self);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__annotations__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    PyObject *value = dt_class_own_attr(trace, cls, name);
    if (value == NULL && dt_made_find(trace, (PyObject *)cls) != NULL) {
        DtDictVar *made;
        DT_TRY(dt_dict_new(trace, &made));
        *out = &made->base;
        return dt_class_setattr(trace, self, name, *out);
    }
    if (value == NULL || dt_class_is_written(trace, dt_type_dict(cls))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "annotations of class %s, which has none so far",
                        cls->tp_name);
    }
    DT_TRY(dt_class_guard_unchanged(trace, self));
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE)) { /* type has a descriptor of that name */
        return dt_raise(trace, PyExc_AttributeError,
                        "type object '%s' has no attribute '__annotations__'", cls->tp_name);
    }
    const DtSource *source =
        self->source != NULL ? dt_source_attr(trace, self->source, name) : NULL;
    if (source == NULL || dt_made_find(trace, (PyObject *)cls) != NULL) {
        return PyErr_Occurred() ? DT_ERROR : dt_build_known(trace, value, out);
    }
    return dt_var_build(trace, value, source, out);
}

/* What the class has under that name itself, and `type` answers for; *found NULL: nothing. */
static DtStatus
find_own(DtTrace *trace, DtVar *self, const char *text, PyObject **found)
{
    PyTypeObject *cls = dt_class_type(self);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    if (name == NULL) {
        return DT_ERROR;
    }
    *found = cls != &PyType_Type ? dt_class_own_attr(trace, cls, name) : NULL;
    return dt_class_guard_unchanged(trace, self);
}

/* Of an abstract class, the class's own: what ABCMeta has found. */
static DtStatus
get_abstract(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyObject *found;
    DT_TRY(find_own(trace, self, "__abstractmethods__", &found));
    if (found != NULL && !dt_constant_is_safe(found)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "__abstractmethods__ of class %s",
                        dt_class_type(self)->tp_name);
    }
    return found != NULL ? dt_var_const(trace, found, out)
                         : dt_raise(trace, PyExc_AttributeError, "__abstractmethods__");
}

static DtStatus
get_class(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_class_of(trace, self, out);
}

/* What a class statement with type parameters has put there. */
static DtStatus
get_type_params(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyObject *found;
    DT_TRY(find_own(trace, self, "__type_params__", &found));
    return found != NULL ? dt_build_known(trace, found, out) : dt_var_tuple(trace, NULL, 0, out);
}

/* Sizes and offsets, which are fixed when the class is made, and its flags. */
static DtStatus
read_member(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    DT_TRY(dt_class_guard_unchanged(trace, self));
    return dt_constant_wrap_take(trace,
                                 PyType_Type.tp_getattro(((DtObjectVar *)self)->object, name), out);
}

static const DtGetSetRow class_getsets[] = {
    {"__class__", get_class},
    {"__type_params__", get_type_params},
    {"__name__", get_name},
    {"__qualname__", get_qualname},
    {"__module__", get_module},
    {"__doc__", get_doc},
    {"__mro__", get_mro},
    {"__bases__", get_bases},
    {"__base__", get_base},
    {"__dict__", get_dict},
    {"__abstractmethods__", get_abstract},
    {"__annotations__", get_annotations},
    {NULL, NULL},
};

DtStatus
dt_class_field(DtTrace *trace, DtVar *self, PyObject *name, bool *done, DtVar **out)
{
    for (const DtGetSetRow *row = class_getsets; row->name != NULL; row++) {
        if (PyUnicode_CompareWithASCIIString(name, row->name) == 0) {
            *done = true;
            return row->get(trace, self, out);
        }
    }
    if (Py_IS_TYPE(dt_type_lookup(&PyType_Type, name), &PyMemberDescr_Type)) {
        *done = true;
        return read_member(trace, self, name, out);
    }
    return DT_OK;
}
