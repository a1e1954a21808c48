/* Kinds that are one known object: modules, functions of array libraries, and
 * what is known by identity only.
 *
 * Not in here: classes (v_class.c), builtins (v_builtin.c).
 */
#include "compat/dict.h"
#include "compat/lru_cache.h"
#include "compat/object.h"
#include "compat/type.h"
#include "variables/kinds.h"
#include "variables/pure.h"

DtStatus
dt_object_new(DtTrace *trace, DtKind kind, PyObject *object, const DtSource *source,
              DtObjectVar **out)
{
    DT_TRY(dt_trace_keep(trace, object));
    *out = dt_kinds_new(trace, kind, sizeof(DtObjectVar), source);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->object = object;
    return DT_OK;
}

static PyObject *
object_of(DtVar *self)
{
    return ((DtObjectVar *)self)->object;
}

static PyTypeObject *
object_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(object_of(self));
}

static PyObject *
object_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return object_of(self);
}

static DtStatus
object_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                void *arg)
{
    const DtMade *made = dt_made_find(trace, object_of(self));
    return made != NULL ? dt_made_children(trace, made, visit, arg) : DT_OK;
}

/* Loads the source, else the object as a constant of the code. */
static DtStatus
object_reconstruct(DtCodegen *codegen, DtVar *self)
{
    DtMade *made = dt_made_find(dt_codegen_trace(codegen), object_of(self));
    if (made != NULL) {
        return dt_made_reconstruct(codegen, made);
    }
    if (self->source != NULL && self->source->kind != DT_SOURCE_OBJECT) {
        bool done;
        DT_TRY(dt_kinds_load_source(codegen, self, &done));
        if (done) {
            return DT_OK;
        }
    }
    if ((Py_IS_TYPE(object_of(self), &PyGetSetDescr_Type)
         || Py_IS_TYPE(object_of(self), &PyMemberDescr_Type))
        && dt_made_find(dt_codegen_trace(codegen), (PyObject *)PyDescr_TYPE(object_of(self)))) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "a descriptor of a class that the trace has made leaves the function");
    }
    return dt_codegen_const(codegen, object_of(self));
}

static DtStatus
build_object(DtTrace *trace, DtKind kind, PyObject *object, const DtSource *source, bool trusted,
             DtVar **out)
{
    DtObjectVar *self;
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_object_new(trace, kind, object, source, &self));
    *out = &self->base;
    return DT_OK;
}

/* ---- Modules --------------------------------------------------------------------------------- */

DtStatus
dt_module_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    if (PyModule_GetDict(object) == NULL) { /* made by __new__ alone */
        PyErr_Clear();                      /* 3.13 complains */
        return dt_break(trace, DT_BREAK_MODULE_NOT_READY, "a module without __init__");
    }
    return build_object(trace, DT_KIND_MODULE, object, source, trusted, out);
}

/* The module's own __getattr__, else the AttributeError that this version raises. */
static DtStatus
module_fallback(DtTrace *trace, DtVar *self, PyObject *dict, PyObject *name, DtVar **out)
{
    PyObject *hook = dt_trace_keep_take(trace, PyUnicode_InternFromString("__getattr__"));
    PyObject *function = NULL;
    if (hook == NULL) {
        return DT_ERROR;
    }
    if (dt_dict_get(dict, hook, &function) == 1) {
        const DtSource *source = dt_source_attr(trace, self->source, hook);
        DtVar *callable, *text;
        if (source == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build(trace, function, source, &callable));
        DT_TRY(dt_var_const(trace, name, &text));
        DtArgs args = dt_args_of(&text, 1);
        return dt_var_call(trace, callable, &args, out);
    }
    const char *own_name = PyModule_GetName(object_of(self));
    if (own_name == NULL) { /* deleted or no str: the text is another one */
        return dt_raise_from_exception(trace);
    }
    DT_TRY(dt_guard_attr_absent(trace, self->source, hook));
    return dt_kinds_raise(trace, "AttributeError", "module '%s' has no attribute '%s'", own_name,
                          dt_kinds_text(name));
}

static DtStatus
module_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyObject *module = object_of(self);
    bool deleted = false;
    DtVar *stored = dt_journal_get_attr(trace, self, name, &deleted);
    if (stored != NULL) {
        *out = stored;
        return DT_OK;
    }
    PyObject *dict = PyModule_GetDict(module), *value = NULL;
    if (PyUnicode_CompareWithASCIIString(name, "__dict__") == 0
        && Py_TYPE(module)->tp_getattro == PyModule_Type.tp_getattro && PyDict_CheckExact(dict)) {
        return dt_namespace_new(trace, dict, self, NULL, out);
    }
    if (Py_TYPE(module)->tp_getattro != PyModule_Type.tp_getattro || !PyDict_CheckExact(dict)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a module of type %s",
                        dt_kinds_text(name), Py_TYPE(module)->tp_name);
    }
    int found = deleted ? 0 : dt_dict_get(dict, name, &value);
    if (found == 1) {
        const DtSource *source = dt_source_attr(trace, self->source, name);
        return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
    }
    if (found < 0 || dt_type_lookup(Py_TYPE(module), name) != NULL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a module",
                        dt_kinds_text(name));
    }
    DT_TRY(dt_guard_type(trace, self->source, Py_TYPE(module))); /* __class__ can be assigned */
    if (!deleted) {
        DT_TRY(dt_guard_attr_absent(trace, self->source, name));
    }
    return module_fallback(trace, self, dict, name, out);
}

/* Python's refusal to delete what the module has not, in the words of this version. */
static DtStatus
module_refuses(DtTrace *trace, PyObject *module, PyObject *name)
{
    PyObject *empty = Py_IS_TYPE(module, &PyModule_Type) ? PyModule_New("empty") : NULL;
    if (empty == NULL) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_OBJECT_MUTATION,
                                           "attribute '%s' of a module of type %s is deleted",
                                           dt_kinds_text(name), Py_TYPE(module)->tp_name);
    }
    int status = PyObject_DelAttr(empty, name);
    Py_DECREF(empty);
    return status < 0 ? dt_raise_from_exception(trace)
                      : dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a module",
                                 dt_kinds_text(name));
}

static DtStatus
module_setattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    PyObject *module = object_of(self), *there = NULL;
    PyObject *descriptor = dt_type_lookup(Py_TYPE(module), name);
    if (descriptor != NULL && Py_TYPE(descriptor)->tp_descr_set != NULL) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a module is set",
                        dt_kinds_text(name));
    }
    bool deleted = false;
    if (value == NULL && dt_journal_get_attr(trace, self, name, &deleted) == NULL) {
        PyObject *dict = PyModule_GetDict(module);
        if (!deleted && PyDict_CheckExact(dict) && dt_dict_get(dict, name, &there) == 1) {
            const DtSource *source = dt_source_attr(trace, self->source, name);
            if (source == NULL) {
                return DT_ERROR;
            }
            DT_TRY(dt_guard_present(trace, source));
        }
        else {
            if (!deleted) {
                DT_TRY(dt_guard_attr_absent(trace, self->source, name));
            }
            return module_refuses(trace, module, name);
        }
    }
    return dt_journal_set_attr(trace, self, name, value);
}

const DtVarType dt_kind_type_MODULE = {
    .kind = DT_KIND_MODULE,
    .tp_getattro = module_getattro,
    .tp_setattro = module_setattro,
    .python_type = object_type,
    .as_constant = object_as_constant,
    .reconstruct = object_reconstruct,
};

/* ---- Functions of array libraries ------------------------------------------------------------ */

DtStatus
dt_adapter_callable_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                          DtVar **out)
{
    DT_TRY(build_object(trace, DT_KIND_ADAPTER_CALLABLE, object, source, trusted, out));
    ((DtObjectVar *)*out)->adapter = dt_adapter_of_callable(object);
    return DT_OK;
}

static DtStatus
callable_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtObjectVar *self = (DtObjectVar *)var;
    DT_TRY(dt_trace_use_adapter(trace, self->adapter));
    return self->adapter->call(self->adapter, trace, self->object, args, out);
}

/* Attributes such as add.reduce: methods and members of a C type, which run no Python code.  The
 * callable is known by identity and its type can't change, so they need no guard of their own; but
 * for the docstring, which programs may set. */
/* What lies in the dict of a function of a library, such as its name, which programs may set. */
static DtStatus
own_attribute(DtTrace *trace, PyObject *object, PyObject *name, DtVar **out)
{
    PyObject *dict = dt_object_existing_dict(object), *value = NULL;
    const DtSource *self = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
    const DtSource *source = self != NULL ? dt_source_attr(trace, self, name) : NULL;
    *out = NULL;
    if (source == NULL) {
        return DT_ERROR;
    }
    if (dict == NULL || dt_dict_get(dict, name, &value) != 1) {
        return DT_OK;
    }
    return dt_var_build_lazy(trace, value, source, out);
}

static DtStatus
callable_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    PyObject *object = object_of(var);
    PyTypeObject *type = PyType_Check(object) ? (PyTypeObject *)object : Py_TYPE(object);
    PyObject *found = dt_type_lookup(type, name);
    if (found == NULL && Py_TYPE(object)->tp_getattro == PyObject_GenericGetAttr) {
        DT_TRY(own_attribute(trace, object, name, out));
        if (*out != NULL) {
            return DT_OK;
        }
    }
    if (found == NULL
        || (Py_TYPE(found) != &PyMethodDescr_Type && Py_TYPE(found) != &PyGetSetDescr_Type
            && Py_TYPE(found) != &PyMemberDescr_Type)
        || Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr
        || PyUnicode_CompareWithASCIIString(name, "__doc__") == 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of an array function",
                        dt_kinds_text(name));
    }
    PyObject *value = PyObject_GetAttr(object, name);
    if (value == NULL) {
        return dt_raise_from_exception(trace);
    }
    value = dt_trace_keep_take(trace, value);
    return value != NULL ? dt_build_known(trace, value, out) : DT_ERROR;
}

const DtVarType dt_kind_type_ADAPTER_CALLABLE = {
    .kind = DT_KIND_ADAPTER_CALLABLE,
    .tp_call = callable_call,
    .tp_getattro = callable_getattro,
    .python_type = object_type,
    .as_constant = object_as_constant,
    .reconstruct = object_reconstruct,
};

/* ---- Objects known by identity --------------------------------------------------------------- */

DtStatus
dt_opaque_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    return build_object(trace, DT_KIND_OPAQUE, object, source, trusted, out);
}

static DtStatus
opaque_bool(DtTrace *trace, DtVar *self, bool *out)
{
    PyTypeObject *type = Py_TYPE(object_of(self));
    bool plain = (type->tp_as_number == NULL || type->tp_as_number->nb_bool == NULL)
                 && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_length == NULL)
                 && (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_length == NULL);
    if (!plain) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the truth of a %s", type->tp_name);
    }
    *out = true;
    return DT_OK;
}

static DtStatus
opaque_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    (void)right;
    PyTypeObject *type = Py_TYPE(object_of(left));
    *out = dt_not_implemented(trace);
    if (type->tp_richcompare == NULL || type->tp_richcompare == PyBaseObject_Type.tp_richcompare) {
        return DT_OK;
    }
    /* A C type's comparison of two objects that are both known.  What can be hashed does not
     * change; a weak reference compares what it refers to. */
    PyObject *a = object_of(left), *b = dt_var_as_constant(trace, right);
    if (b == NULL || (dt_pure_has_row(type) && !dt_pure_is(a))
        || (dt_pure_has_row(Py_TYPE(b)) && !dt_pure_is(b)) || dt_build_is_user_class(type)
        || dt_build_is_user_class(Py_TYPE(b)) || type->tp_hash == PyObject_HashNotImplemented
        || PyWeakref_Check(a)
        || (type->tp_flags & Py_TPFLAGS_HEAPTYPE && op != Py_EQ && op != Py_NE)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "comparison of a %s", type->tp_name);
    }
    PyObject *answer = type->tp_richcompare(a, b, op); /* the other side is asked by the protocol */
    if (answer == Py_NotImplemented) {
        Py_DECREF(answer);
        return DT_OK;
    }
    return dt_constant_wrap_take(trace, answer, out);
}

/* Descriptors and aliases never change what they were made of. */
static bool
is_fixed_part(PyObject *object, PyObject *name)
{
    static const char *const parts[] = {"fget",       "fset",     "fdel", "__func__",
                                        "__origin__", "__args__", NULL};
    PyTypeObject *type = Py_TYPE(object);
    bool fixed = type == &PyProperty_Type || type == &PyStaticMethod_Type
                 || type == &PyClassMethod_Type || type == &Py_GenericAliasType;
    return fixed && dt_kinds_is_among(name, parts) && dt_type_lookup(type, name) != NULL;
}

/* A member of an object of an array library that never changes. */
static DtStatus
fixed_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyObject *object = object_of(self);
    PyObject *found = dt_type_lookup(Py_TYPE(object), name);
    bool member =
        found != NULL
        && (Py_IS_TYPE(found, &PyMemberDescr_Type) || Py_IS_TYPE(found, &PyGetSetDescr_Type));
    PyObject *value = member ? PyObject_GetAttr(object, name) : NULL;
    if (value == NULL) {
        return member ? dt_raise_from_exception(trace)
                      : dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s",
                                 dt_kinds_text(name), Py_TYPE(object)->tp_name);
    }
    if (dt_constant_is_safe(value)) {
        return dt_constant_wrap_take(trace, value, out);
    }
    value = dt_trace_keep_take(trace, value);
    if (value == NULL) {
        return DT_ERROR;
    }
    return PyType_Check(value) || dt_adapter_is_fixed(value)
               ? dt_build_known(trace, value, out)
               : dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s", dt_kinds_text(name),
                          Py_TYPE(object)->tp_name);
}

static DtStatus
opaque_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_shown(trace, self, out);
    }
    const DtMethodRow *row = Py_IS_TYPE(object_of(self), &PyProperty_Type)
                                 ? dt_made_property_row(name)
                             : PyContextVar_CheckExact(object_of(self)) ? dt_contextvar_row(name)
                                                                        : NULL;
    if (row != NULL) {
        return dt_kinds_method_row(trace, self, row, name, out);
    }
    if (is_fixed_part(object_of(self), name)) {
        PyObject *part = PyObject_GenericGetAttr(object_of(self), name);
        part = dt_trace_keep_take(trace, part);
        return part != NULL ? dt_build_known(trace, part, out) : DT_ERROR;
    }
    if (dt_pure_is(object_of(self))) {
        return dt_pure_getattr(trace, self, name, out);
    }
    if (dt_adapter_is_fixed(object_of(self))) {
        return fixed_getattro(trace, self, name, out);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s", dt_kinds_text(name),
                    Py_TYPE(object_of(self))->tp_name);
}

static DtStatus
opaque_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (dt_pure_is(object_of(self))) {
        return dt_pure_call_object(trace, self, args, out);
    }
    if (dt_lru_cache_is(object_of(self))) {
        return dt_cached_call(trace, self, args, out);
    }
    if (PyWeakref_CheckRef(object_of(self))
        && Py_TYPE(object_of(self))->tp_call == _PyWeakref_RefType.tp_call
        && args->npos + args->nkw == 0 && trace->effects == 0) {
        return dt_weakref_referent(trace, object_of(self), self->source, out);
    }
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a call of a %s",
                    Py_TYPE(object_of(self))->tp_name);
}

static DtStatus
opaque_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    if (dt_pure_is(object_of(self))) {
        return dt_pure_subscript(trace, self, key, out);
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "[] of a %s", Py_TYPE(object_of(self))->tp_name);
}

static DtStatus
opaque_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    (void)item;
    (void)out;
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "`in` a %s", Py_TYPE(object_of(self))->tp_name);
}

/* A named tuple of C, such as a date of the ISO calendar, as a plain one. */
static DtStatus
plain_tuple(DtTrace *trace, DtVar *self, const char *what, DtVar **out)
{
    PyObject *object = object_of(self);
    if (!PyTuple_Check(object) || !dt_pure_is(object)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", what, Py_TYPE(object)->tp_name);
    }
    return dt_constant_wrap_take(trace, PyTuple_GetSlice(object, 0, PyTuple_GET_SIZE(object)), out);
}

static DtStatus
opaque_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtVar *tuple;
    DT_TRY(plain_tuple(trace, self, "len()", &tuple));
    return dt_var_length(trace, tuple, out);
}

static DtStatus
opaque_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtVar *tuple;
    DT_TRY(plain_tuple(trace, self, "iter()", &tuple));
    return dt_var_iter(trace, tuple, out);
}

/* An operator of a C type of which everything is known; one operand may be any other kind. */
static DtStatus
opaque_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    DtVar *self = left->type->kind == DT_KIND_OPAQUE ? left : right;
    if (dt_pure_is(object_of(self))) {
        return dt_pure_binary(trace, op, left, right, out);
    }
    if (dt_class_is_alias(object_of(self))) {
        return dt_class_union(trace, op, left, right, out);
    }
    PyNumberMethods *numbers = Py_TYPE(object_of(self))->tp_as_number;
    if (numbers == NULL && Py_TYPE(object_of(self))->tp_as_sequence == NULL) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", dt_canonical_binary_symbol((int)op),
                    Py_TYPE(object_of(self))->tp_name);
}

const DtVarType dt_kind_type_OPAQUE = {
    .kind = DT_KIND_OPAQUE,
    .nb_binary = opaque_binary,
    .nb_bool = opaque_bool,
    .mp_subscript = opaque_subscript,
    .sq_contains = opaque_contains,
    .sq_length = opaque_length,
    .tp_iter = opaque_iter,
    .tp_call = opaque_call,
    .tp_getattro = opaque_getattro,
    .tp_richcompare = opaque_compare,
    .python_type = object_type,
    .as_constant = object_as_constant,
    .reconstruct = object_reconstruct,
    .children = object_children,
};
