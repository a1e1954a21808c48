/* Instances of user classes.
 *
 *   attribute: data descriptor of the type -> own dict (journal first) -> type
 *   operator:  special method of the type, followed like any Python call
 *
 * Invariants: the version of an existing instance's type is guarded once, so
 * what the type says needs no other guard; instance attributes are read where
 * they lie, never through __getattribute__ of Python.
 *
 * Not in here: making instances (v_class.c), replaying stores (sideeffects/).
 */
#include "compat/object.h"
#include "compat/type.h"
#include "variables/kinds.h"

static DtInstanceVar *
instance_of(DtVar *self)
{
    return (DtInstanceVar *)self;
}

DtStatus
dt_instance_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                  DtVar **out)
{
    (void)trusted; /* the type can change under a trusted object */
    DT_TRY(dt_guard_type_version(trace, source, Py_TYPE(object)));
    DtInstanceVar *self = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->object = object;
    self->cls = Py_TYPE(object);
    DT_TRY(dt_trace_keep(trace, (PyObject *)self->cls));
    *out = &self->base;
    return DT_OK;
}

/* ---- Special methods
 * ---------------------------------------------------------------------------------- */

static DtStatus
intern(DtTrace *trace, const char *text, PyObject **out)
{
    *out = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    return *out != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_instance_special(DtTrace *trace, DtVar *self, const char *text, DtVar **out)
{
    PyObject *name;
    DtClassAttr attr;
    *out = NULL;
    DT_TRY(intern(trace, text, &name));
    DT_TRY(dt_class_lookup(trace, self, instance_of(self)->cls, name, &attr));
    /* What object itself defines is the default behaviour, which callers know; None forbids. */
    if (attr.found == NULL || attr.found == Py_None
        || attr.found == dt_type_lookup(&PyBaseObject_Type, name)) {
        return DT_OK;
    }
    return dt_class_bind(trace, &attr, name, self, instance_of(self)->cls_var, out);
}

/* Calls a special method; *out = NULL if the type has none. */
static DtStatus
call_special(DtTrace *trace, DtVar *self, const char *name, DtVar **pos, uint32_t npos, DtVar **out)
{
    DtVar *method;
    *out = NULL;
    DT_TRY(dt_instance_special(trace, self, name, &method));
    if (method == NULL) {
        return DT_OK;
    }
    DtArgs args = dt_args_of(pos, npos);
    return dt_var_call(trace, method, &args, out);
}

static bool
is_not_implemented(DtVar *var)
{
    return var == NULL || dt_var_peek_constant(var) == Py_NotImplemented;
}

static DtStatus
no_method(DtTrace *trace, DtVar *self, const char *format)
{
    return dt_kinds_raise(trace, "TypeError", format, instance_of(self)->cls->tp_name);
}

/* ---- Operators
 * ---------------------------------------------------------------------------------------- */

typedef struct OperatorRow {
    const char *plain;
    const char *reflected;
    const char *in_place;
} OperatorRow;

static const OperatorRow operator_rows[] = {
    [DT_BINARY_ADD] = {"__add__", "__radd__", "__iadd__"},
    [DT_BINARY_AND] = {"__and__", "__rand__", "__iand__"},
    [DT_BINARY_FLOOR_DIVIDE] = {"__floordiv__", "__rfloordiv__", "__ifloordiv__"},
    [DT_BINARY_LSHIFT] = {"__lshift__", "__rlshift__", "__ilshift__"},
    [DT_BINARY_MATRIX_MULTIPLY] = {"__matmul__", "__rmatmul__", "__imatmul__"},
    [DT_BINARY_MULTIPLY] = {"__mul__", "__rmul__", "__imul__"},
    [DT_BINARY_REMAINDER] = {"__mod__", "__rmod__", "__imod__"},
    [DT_BINARY_OR] = {"__or__", "__ror__", "__ior__"},
    [DT_BINARY_POWER] = {"__pow__", "__rpow__", "__ipow__"},
    [DT_BINARY_RSHIFT] = {"__rshift__", "__rrshift__", "__irshift__"},
    [DT_BINARY_SUBTRACT] = {"__sub__", "__rsub__", "__isub__"},
    [DT_BINARY_TRUE_DIVIDE] = {"__truediv__", "__rtruediv__", "__itruediv__"},
    [DT_BINARY_XOR] = {"__xor__", "__rxor__", "__ixor__"},
};

static DtStatus
try_operator(DtTrace *trace, DtVar *self, const char *name, DtVar *other, DtVar **out)
{
    if (self->type->kind == DT_KIND_INSTANCE) {
        DtVar *result;
        DT_TRY(call_special(trace, self, name, &other, 1, &result));
        if (result != NULL) {
            DT_TRY(dt_var_realize(trace, result, &result)); /* `NotImplemented` is a global */
        }
        if (!is_not_implemented(result)) {
            *out = result;
        }
    }
    return DT_OK;
}

/* Whether the right operand's class derives from the left's and has a reflected method of its own.
 */
static bool
right_overrides(DtTrace *trace, DtVar *left, DtVar *right, PyObject *reflected)
{
    PyTypeObject *a = dt_var_python_type(trace, left), *b = dt_var_python_type(trace, right);
    return a != NULL && b != NULL && a != b && PyType_IsSubtype(b, a)
           && dt_type_lookup(a, reflected) != dt_type_lookup(b, reflected);
}

static DtStatus
instance_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    const OperatorRow *row = &operator_rows[DT_BINARY_PLAIN(op)];
    DtVar *none = dt_not_implemented(trace);
    PyObject *reflected;
    DT_TRY(intern(trace, row->reflected, &reflected));
    *out = none;
    if (DT_BINARY_IS_INPLACE(op)) {
        DT_TRY(try_operator(trace, left, row->in_place, right, out));
    }
    bool right_first =
        right->type->kind == DT_KIND_INSTANCE && right_overrides(trace, left, right, reflected);
    if (*out == none && right_first) {
        DT_TRY(try_operator(trace, right, row->reflected, left, out));
    }
    if (*out == none) {
        DT_TRY(try_operator(trace, left, row->plain, right, out));
    }
    bool same_type = dt_var_python_type(trace, left) == dt_var_python_type(trace, right);
    if (*out == none && !right_first && !same_type) {
        DT_TRY(try_operator(trace, right, row->reflected, left, out));
    }
    return DT_OK;
}

static DtStatus
unary(DtTrace *trace, DtVar *self, const char *name, const char *symbol, DtVar **out)
{
    DT_TRY(call_special(trace, self, name, NULL, 0, out));
    if (*out == NULL) {
        return dt_kinds_raise(trace, "TypeError", "bad operand type for unary %s: '%s'", symbol,
                              instance_of(self)->cls->tp_name);
    }
    return DT_OK;
}

static DtStatus
instance_negative(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, self, "__neg__", "-", out);
}

static DtStatus
instance_positive(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, self, "__pos__", "+", out);
}

static DtStatus
instance_invert(DtTrace *trace, DtVar *self, DtVar **out)
{
    return unary(trace, self, "__invert__", "~", out);
}

static DtStatus
instance_bool(DtTrace *trace, DtVar *self, bool *out)
{
    DtVar *result;
    DT_TRY(call_special(trace, self, "__bool__", NULL, 0, &result));
    if (result != NULL && dt_var_python_type(trace, result) != &PyBool_Type) {
        return dt_kinds_raise(trace, "TypeError", "__bool__ should return bool, returned %s",
                              dt_kinds_type_name(trace, result));
    }
    if (result == NULL) {
        DT_TRY(call_special(trace, self, "__len__", NULL, 0, &result));
    }
    if (result == NULL) {
        *out = true;
        return DT_OK;
    }
    return dt_var_truth(trace, result, out);
}

static const char *const compare_names[] = {
    [Py_LT] = "__lt__", [Py_LE] = "__le__", [Py_EQ] = "__eq__",
    [Py_NE] = "__ne__", [Py_GT] = "__gt__", [Py_GE] = "__ge__",
};

static DtStatus
instance_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    DtVar *none = dt_not_implemented(trace);
    *out = none;
    if (left->type->kind != DT_KIND_INSTANCE) {
        return DT_OK;
    }
    DT_TRY(try_operator(trace, left, compare_names[op], right, out));
    if (*out == none && op == Py_NE) {
        /* object.__ne__ is the opposite of __eq__. */
        DtVar *ne;
        DT_TRY(dt_instance_special(trace, left, "__ne__", &ne));
        if (ne == NULL) {
            DT_TRY(try_operator(trace, left, "__eq__", right, out));
            return *out != none ? dt_var_not(trace, *out, out) : DT_OK;
        }
    }
    return DT_OK;
}

/* ---- Containers and calls
 * ------------------------------------------------------------------------------ */

static DtStatus
instance_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__len__", NULL, 0, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "object of type '%s' has no len()");
}

static DtStatus
instance_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__getitem__", &key, 1, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "'%s' object is not subscriptable");
}

static DtStatus
instance_ass_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar *value)
{
    DtVar *pos[2] = {key, value}, *result;
    DT_TRY(call_special(trace, self, value != NULL ? "__setitem__" : "__delitem__", pos,
                        value != NULL ? 2 : 1, &result));
    return result != NULL ? DT_OK
                          : no_method(trace, self, "'%s' object does not support item assignment");
}

static DtStatus
instance_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtVar *result;
    DT_TRY(call_special(trace, self, "__contains__", &item, 1, &result));
    if (result == NULL) {
        return dt_kind_base.sq_contains(trace, self, item, out);
    }
    bool truth;
    DT_TRY(dt_var_truth(trace, result, &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
instance_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *method;
    DT_TRY(dt_instance_special(trace, self, "__call__", &method));
    return method != NULL ? dt_var_call(trace, method, args, out)
                          : no_method(trace, self, "'%s' object is not callable");
}

static DtStatus
instance_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__iter__", NULL, 0, out));
    if (*out != NULL) {
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "iteration over a %s without __iter__",
                    instance_of(self)->cls->tp_name);
}

static DtStatus
instance_iternext(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__next__", NULL, 0, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "'%s' object is not an iterator");
}

/* ---- Attributes
 * ---------------------------------------------------------------------------------------- */

/* Calls the getter of a property; the function is inside an object that the type's version guards.
 */
static DtStatus
read_property(DtTrace *trace, DtVar *self, PyObject *property, const char *part, DtVar *value,
              DtVar **out)
{
    PyObject *function = PyObject_GetAttrString(property, part);
    function = dt_trace_keep_take(trace, function);
    if (function == NULL) {
        return DT_ERROR;
    }
    if (function == Py_None) {
        return dt_kinds_raise(trace, "AttributeError", "property of '%s' object has no %s",
                              instance_of(self)->cls->tp_name, part);
    }
    DtVar *callable, *pos[2] = {self, value};
    DT_TRY(dt_build_known(trace, function, &callable));
    DtArgs args = dt_args_of(pos, value != NULL ? 2 : 1);
    return dt_var_call(trace, callable, &args, out);
}

static DtStatus
no_attribute(DtTrace *trace, DtVar *self, PyObject *name)
{
    return dt_kinds_raise(trace, "AttributeError", "'%s' object has no attribute '%s'",
                          instance_of(self)->cls->tp_name, dt_kinds_text(name));
}

/* The value of a slot (__slots__) or of an attribute of the own dict, as the object has it now. */
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
    const DtSource *source = dt_source_attr(trace, self->source, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    if (member != NULL) {
        PyObject *value =
            PyMember_GetOne((char *)object, ((PyMemberDescrObject *)member)->d_member);
        if (value == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
                return DT_ERROR;
            }
            PyErr_Clear(); /* plain execution raises it, unless it is asked whether the slot is
                              filled */
            return dt_break(trace, DT_BREAK_ATTRIBUTE, "slot '%s' of a %s is empty",
                            dt_kinds_text(name), instance_of(self)->cls->tp_name);
        }
        *found = true;
        value = dt_trace_keep_take(trace, value);
        return value != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
    }
    PyObject *value = NULL;
    int present = dt_object_instance_dict_get(object, name, &value);
    if (present < 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "attribute '%s' can't be read without calling "
                        "code",
                        dt_kinds_text(name));
    }
    if (present == 1) {
        *found = true;
        return dt_var_build_lazy(trace, value, source, out);
    }
    if (dt_object_type_has_dict(instance_of(self)->cls)) {
        return dt_guard_attr_absent(trace, self->source, name);
    }
    return DT_OK;
}

/* Descriptors with __set__ come before the object's own attributes. */
static DtStatus
read_data_descriptor(DtTrace *trace, DtVar *self, PyObject *descriptor, PyObject *name, DtVar **out)
{
    if (Py_TYPE(descriptor) == &PyProperty_Type) {
        return read_property(trace, self, descriptor, "fget", NULL, out);
    }
    if (Py_TYPE(descriptor) == &PyMemberDescr_Type) {
        bool found;
        DT_TRY(read_own(trace, self, name, descriptor, &found, out));
        return found ? DT_OK : no_attribute(trace, self, name);
    }
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_of(trace, self, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' is a descriptor of type %s",
                    dt_kinds_text(name), Py_TYPE(descriptor)->tp_name);
}

static bool
has_own_getattribute(PyTypeObject *cls)
{
    PyObject *name = PyUnicode_InternFromString("__getattribute__");
    if (name == NULL) {
        PyErr_Clear(); /* no memory: answer with what leads to a break */
        return true;
    }
    bool own = dt_type_lookup(cls, name) != dt_type_lookup(&PyBaseObject_Type, name);
    Py_DECREF(name);
    return own;
}

static DtStatus
instance_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyTypeObject *cls = instance_of(self)->cls;
    bool plain = cls->tp_getattro == PyObject_GenericGetAttr;
    if (!plain && has_own_getattribute(cls)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "class %s defines __getattribute__",
                        cls->tp_name);
    }
    DtClassAttr attr;
    DT_TRY(dt_class_lookup(trace, self, cls, name, &attr));
    if (attr.found != NULL && Py_TYPE(attr.found)->tp_descr_set != NULL) {
        return read_data_descriptor(trace, self, attr.found, name, out);
    }
    bool found;
    DT_TRY(read_own(trace, self, name, NULL, &found, out));
    if (found) {
        return DT_OK;
    }
    if (attr.found != NULL) {
        return dt_class_bind(trace, &attr, name, self, instance_of(self)->cls_var, out);
    }
    if (!plain) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' comes from %s.__getattr__",
                        dt_kinds_text(name), cls->tp_name);
    }
    return no_attribute(trace, self, name);
}

static DtStatus
instance_setattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    PyTypeObject *cls = instance_of(self)->cls;
    if (cls->tp_setattro != PyObject_GenericSetAttr) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "class %s defines __setattr__",
                        cls->tp_name);
    }
    DtClassAttr attr;
    DT_TRY(dt_class_lookup(trace, self, cls, name, &attr));
    if (attr.found != NULL && Py_TYPE(attr.found)->tp_descr_set != NULL) {
        if (Py_TYPE(attr.found) == &PyProperty_Type && value != NULL) {
            DtVar *ignored;
            return read_property(trace, self, attr.found, "fset", value, &ignored);
        }
        if (Py_TYPE(attr.found) != &PyMemberDescr_Type) {
            return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' is a descriptor",
                            dt_kinds_text(name));
        }
    }
    else if (!dt_object_type_has_dict(cls)) {
        return no_attribute(trace, self, name);
    }
    if (value == NULL) {
        bool found;
        DtVar *old;
        DT_TRY(read_own(trace, self, name, NULL, &found, &old));
        if (!found) {
            return no_attribute(trace, self, name);
        }
    }
    return dt_journal_set_attr(trace, self, name, value);
}

/* super(cls, self).name: the classes after `cls` in the MRO of self's type. */
DtStatus
dt_var_super_getattr(DtTrace *trace, DtVar *cls, DtVar *self, PyObject *name, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, cls, &cls));
    DT_TRY(dt_var_realize(trace, self, &self));
    PyObject *start = dt_var_as_constant(trace, cls);
    bool of_class = self->type->kind == DT_KIND_CLASS;
    PyTypeObject *type =
        of_class ? (PyTypeObject *)((DtObjectVar *)self)->object : dt_var_python_type(trace, self);
    if (start == NULL || !PyType_Check(start) || type == NULL
        || !PyType_IsSubtype(type, (PyTypeObject *)start)
        || (self->type->kind != DT_KIND_INSTANCE && !of_class)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "super() of a %s", self->type->name);
    }
    if (of_class) {
        DT_TRY(dt_class_guard_unchanged(trace, self));
    }
    PyObject *mro = type->tp_mro;
    bool after = false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *found = after ? dt_type_own_lookup(base, name) : NULL;
        if (found != NULL) {
            /* The version of the class, which is guarded in each case, covers its bases. */
            DtClassAttr attr = {.found = found, .trusted = true};
            DT_TRY(dt_trace_keep(trace, found));
            return dt_class_bind(trace, &attr, name, of_class ? NULL : self, of_class ? self : NULL,
                                 out);
        }
        after = after || (PyObject *)base == start;
    }
    return dt_kinds_raise(trace, "AttributeError", "'super' object has no attribute '%s'",
                          dt_kinds_text(name));
}

/* ---- The rest
 * ------------------------------------------------------------------------------------------- */

static PyTypeObject *
instance_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return instance_of(self)->cls;
}

/* A new instance is made empty; the journal stores its attributes. */
static DtStatus
instance_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    if (done) {
        return DT_OK;
    }
    if (instance_of(self)->object != NULL) {
        return dt_codegen_const(codegen, instance_of(self)->object);
    }
    PyObject *new = PyObject_GetAttrString((PyObject *)&PyBaseObject_Type, "__new__");
    new = dt_trace_keep_take(dt_codegen_trace(codegen), new);
    if (new == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, new));
    DT_TRY(dt_codegen_var(codegen, instance_of(self)->cls_var));
    return dt_codegen_call(codegen, 1);
}

static void
instance_repr(DtVar *self, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<%s object>", instance_of(self)->cls->tp_name);
}

const DtVarType dt_kind_type_INSTANCE = {
    .kind = DT_KIND_INSTANCE,
    .nb_binary = instance_binary,
    .nb_negative = instance_negative,
    .nb_positive = instance_positive,
    .nb_invert = instance_invert,
    .nb_bool = instance_bool,
    .sq_length = instance_length,
    .mp_subscript = instance_subscript,
    .mp_ass_subscript = instance_ass_subscript,
    .sq_contains = instance_contains,
    .tp_call = instance_call,
    .tp_getattro = instance_getattro,
    .tp_setattro = instance_setattro,
    .tp_iter = instance_iter,
    .tp_iternext = instance_iternext,
    .tp_richcompare = instance_compare,
    .python_type = instance_type,
    .reconstruct = instance_reconstruct,
    .repr = instance_repr,
};
