/* Operators, comparisons, containers and calls of instances: special methods of
 * the type, followed like any Python call.
 *
 *   the type's method is Python's ─► called
 *   it is a builtin base's        ─► the same operation on the payload
 *   it is object's, or none       ─► the default that CPython has
 *
 * Invariant: special methods are looked up on the type only, whose version is
 * guarded, never among the instance's own attributes.
 *
 * Not in here: attributes (instance_attr.c), payloads (payload.c).
 */
#include "compat/object.h"
#include "compat/type.h"
#include "variables/kinds.h"

static DtInstanceVar *
instance_of(DtVar *self)
{
    return (DtInstanceVar *)self;
}

/* ---- Special methods ------------------------------------------------------------------------- */

static DtStatus
intern(DtTrace *trace, const char *text, PyObject **out)
{
    *out = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* What object itself defines is the default behaviour, which callers know.  Builtin types have
 * wrappers of their own for the same attribute functions. */
static bool
is_default(PyObject *found, PyObject *name)
{
    if (found == NULL || found == dt_type_lookup(&PyBaseObject_Type, name)) {
        return true;
    }
    void *wrapped =
        Py_IS_TYPE(found, &PyWrapperDescr_Type) ? ((PyWrapperDescrObject *)found)->d_wrapped : NULL;
    return wrapped == (void *)PyObject_GenericGetAttr || wrapped == (void *)PyObject_GenericSetAttr;
}

DtStatus
dt_instance_special(DtTrace *trace, DtVar *self, const char *text, DtVar **out)
{
    PyObject *name;
    DtClassAttr attr;
    *out = NULL;
    DT_TRY(intern(trace, text, &name));
    DT_TRY(dt_class_lookup(trace, self, instance_of(self)->cls, name, &attr));
    if (is_default(attr.found, name) || attr.found == Py_None) {
        return DT_OK;
    }
    return dt_class_bind(trace, &attr, name, self, instance_of(self)->cls_var, out);
}

bool
dt_instance_overrides(DtVar *self, const char *text)
{
    PyObject *name = PyUnicode_InternFromString(text);
    if (name == NULL) {
        PyErr_Clear(); /* no memory: the next allocation reports it */
        return true;
    }
    bool own = !is_default(dt_type_lookup(instance_of(self)->cls, name), name);
    Py_DECREF(name);
    return own;
}

static DtStatus
is_none(DtTrace *trace, DtVar *self, const char *text, bool *out)
{
    PyObject *name;
    DT_TRY(intern(trace, text, &name));
    *out = dt_type_lookup(instance_of(self)->cls, name) == Py_None;
    return DT_OK;
}

/* The method as CPython's slots find it: None is called like any other. */
static DtStatus
find_special(DtTrace *trace, DtVar *self, const char *name, DtVar **method)
{
    bool none;
    DT_TRY(is_none(trace, self, name, &none));
    return none ? dt_raise(trace, PyExc_TypeError, "'NoneType' object is not callable")
                : dt_instance_special(trace, self, name, method);
}

/* Calls a special method; *out = NULL if the type has none. */
static DtStatus
call_special(DtTrace *trace, DtVar *self, const char *name, DtVar **pos, uint32_t npos, DtVar **out)
{
    DtVar *method;
    *out = NULL;
    DT_TRY(find_special(trace, self, name, &method));
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
    return dt_raise(trace, PyExc_TypeError, format, instance_of(self)->cls->tp_name);
}

/* ---- Operators ------------------------------------------------------------------------------- */

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

/* How wide a builtin number is; -1: its type is not known, 0: no number. */
static int
number_width(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return type == NULL                                   ? -1
           : type == &PyLong_Type || type == &PyBool_Type ? 1
           : type == &PyFloat_Type                        ? 2
           : type == &PyComplex_Type                      ? 3
                                                          : 0;
}

DtSlotTakes
dt_number_slot_takes(DtTrace *trace, DtVar *self, DtVar *other)
{
    int own = number_width(trace, self), width = number_width(trace, other);
    if (own <= 0 || width < 0) {
        return DT_SLOT_OF_NO_NUMBER;
    }
    return width != 0 && width <= own ? DT_SLOT_TAKES : DT_SLOT_REFUSES;
}

static bool
is_text(DtVar *var)
{
    PyObject *value = dt_var_peek_constant(var);
    return value != NULL && (PyUnicode_Check(value) || PyBytes_Check(value));
}

/* The left operand is no instance: what its own type makes of an instance's builtin part. */
static DtStatus
try_builtin(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    if (left->type->kind == DT_KIND_INSTANCE || left->type->nb_binary == NULL) {
        return DT_OK;
    }
    if (DT_BINARY_PLAIN(op) == DT_BINARY_REMAINDER && is_text(left)) {
        return left->type->nb_binary(trace, op, left, right, out); /* asks for its str() */
    }
    /* A type of which nothing else is known may ask the instance for its methods, a list goes over
     * it, and bytes say its type where it has none. */
    DtVar *payload = dt_payload_of(right);
    PyTypeObject *part = dt_var_python_type(trace, payload);
    bool is_bytes = part != NULL && part->tp_as_buffer != NULL;
    if (left->type->kind == DT_KIND_OPAQUE
        || (left->type->kind == DT_KIND_LIST && op == DT_BINARY_INPLACE_ADD)
        || (left->type->kind == DT_KIND_BYTEARRAY && DT_BINARY_PLAIN(op) == DT_BINARY_ADD
            && !is_bytes)) {
        payload = right;
    }
    switch (dt_number_slot_takes(trace, left, payload)) {
    case DT_SLOT_TAKES:
        return dt_var_binary(trace, op, left, payload, out);
    case DT_SLOT_REFUSES:
        return DT_OK;
    case DT_SLOT_OF_NO_NUMBER:
        break;
    }
    DtStatus status = left->type->nb_binary(trace, op, left, payload, out);
    return dt_payload_raised(trace, status, right, payload);
}

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

/* `|=` and the like of the builtin types that have number slots for them: these come before
 * everything that the right operand says.  (A list has a sequence's, which comes last.) */
static DtStatus
try_builtin_in_place(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    PyTypeObject *type =
        left->type->kind != DT_KIND_INSTANCE ? dt_var_python_type(trace, left) : NULL;
    if (type != &PyDict_Type && type != &PySet_Type) {
        return DT_OK;
    }
    DtVar *payload = dt_payload_of(right);
    DtStatus status = left->type->nb_binary(trace, op, left, payload, out);
    return dt_payload_raised(trace, status, right, payload);
}

/* Whether the left operand's type has a number's slot for the operator.  What a sequence says of +
 * and
 * * comes last in CPython, after the right operand's method. */
static bool
is_numbers_operator(DtTrace *trace, DtVar *left, DtBinaryOp op)
{
    static const struct {
        size_t number, sequence;
    } slots[] = {
#define SLOTS(OP, NUMBER, SEQUENCE)                                                                \
    [DT_BINARY_##OP] = {offsetof(PyNumberMethods, NUMBER), offsetof(PySequenceMethods, SEQUENCE)}
        SLOTS(ADD, nb_add, sq_concat),
        SLOTS(MULTIPLY, nb_multiply, sq_repeat),
        SLOTS(INPLACE_ADD, nb_inplace_add, sq_concat),
        SLOTS(INPLACE_MULTIPLY, nb_inplace_multiply, sq_repeat),
#undef SLOTS
    };
    PyTypeObject *type = dt_var_python_type(trace, left);
    if (type == NULL || type->tp_as_sequence == NULL || op >= Py_ARRAY_LENGTH(slots)
        || slots[op].sequence == 0) {
        return true;
    }
    void *number = NULL, *sequence;
    if (type->tp_as_number != NULL) {
        memcpy(&number, (const char *)type->tp_as_number + slots[op].number, sizeof(number));
    }
    memcpy(&sequence, (const char *)type->tp_as_sequence + slots[op].sequence, sizeof(sequence));
    return number != NULL || sequence == NULL;
}

/* How often a sequence is repeated. */
static DtStatus
times_of(DtTrace *trace, DtVar *var, DtVar **out)
{
    static const char *const names[] = {"__index__", NULL};
    PyTypeObject *type = dt_var_python_type(trace, var);
    *out = dt_payload_index(var);
    if (*out == var && var->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_convert(trace, var, names, out));
    }
    else if (type != NULL && (type->tp_as_number == NULL || type->tp_as_number->nb_index == NULL)) {
        *out = NULL;
    }
    return *out != NULL ? DT_OK
                        : dt_raise(trace, PyExc_TypeError,
                                   "can't multiply sequence by non-int of type '%.200s'",
                                   type != NULL ? type->tp_name : "?");
}

static DtStatus
instance_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    const OperatorRow *row = &operator_rows[DT_BINARY_PLAIN(op)];
    DtVar *none = dt_not_implemented(trace);
    PyObject *reflected;
    DT_TRY(intern(trace, row->reflected, &reflected));
    *out = none;
    bool in_place = DT_BINARY_IS_INPLACE(op);
    bool number_in_place = in_place && is_numbers_operator(trace, left, op);
    bool number = is_numbers_operator(trace, left, DT_BINARY_PLAIN(op));
    if (number_in_place) {
        DT_TRY(try_operator(trace, left, row->in_place, right, out));
        if (*out == none) {
            DT_TRY(try_builtin_in_place(trace, op, left, right, out));
        }
    }
    bool right_first =
        right->type->kind == DT_KIND_INSTANCE && right_overrides(trace, left, right, reflected);
    if (*out == none && right_first) {
        DT_TRY(try_operator(trace, right, row->reflected, left, out));
    }
    if (*out == none && number) {
        DT_TRY(try_operator(trace, left, row->plain, right, out));
    }
    if (*out == none && number) {
        DT_TRY(try_builtin(trace, op, left, right, out));
    }
    bool same_type = dt_var_python_type(trace, left) == dt_var_python_type(trace, right);
    bool reflects = number || is_numbers_operator(trace, right, DT_BINARY_PLAIN(op));
    if (*out == none && !right_first && !same_type && reflects) {
        DT_TRY(try_operator(trace, right, row->reflected, left, out));
    }
    if (*out != none || number) {
        return DT_OK;
    }
    if (DT_BINARY_PLAIN(op) == DT_BINARY_MULTIPLY) {
        DT_TRY(times_of(trace, right, &right));
    }
    if (in_place && !number_in_place) {
        DT_TRY(try_operator(trace, left, row->in_place, right, out));
    }
    if (*out == none) {
        DT_TRY(try_operator(trace, left, row->plain, right, out));
    }
    return *out == none ? try_builtin(trace, op, left, right, out) : DT_OK;
}

DtStatus
dt_instance_reflected(DtTrace *trace, DtBinaryOp op, DtVar *self, DtVar *other, DtVar **out)
{
    *out = dt_not_implemented(trace);
    return try_operator(trace, self, operator_rows[DT_BINARY_PLAIN((int)op)].reflected, other, out);
}

static DtStatus
unary(DtTrace *trace, DtVar *self, const char *name, const char *symbol, DtVar **out)
{
    DT_TRY(call_special(trace, self, name, NULL, 0, out));
    if (*out == NULL) {
        return dt_raise(trace, PyExc_TypeError, "bad operand type for unary %s: '%s'", symbol,
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
    if (instance_of(self)->cls == &PyBaseObject_Type) {
        *out = true;
        return DT_OK;
    }
    DT_TRY(call_special(trace, self, "__bool__", NULL, 0, &result));
    if (result != NULL && dt_var_python_type(trace, result) != &PyBool_Type) {
        return dt_raise(trace, PyExc_TypeError, "__bool__ should return bool, returned %s",
                        dt_kinds_type_name(trace, result));
    }
    if (result == NULL) {
        DT_TRY(call_special(trace, self, "__len__", NULL, 0, &result));
        if (result == NULL) {
            *out = true;
            return DT_OK;
        }
        DT_TRY(dt_collect_length(trace, result, &result));
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

/* ---- Containers and calls -------------------------------------------------------------------- */

static DtStatus
instance_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__len__", NULL, 0, out));
    return *out != NULL ? dt_collect_length(trace, *out, out)
                        : no_method(trace, self, "object of type '%s' has no len()");
}

static DtStatus
instance_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__getitem__", &key, 1, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "'%s' object is not subscriptable");
}

static bool
has_index(DtTrace *trace, DtVar *key)
{
    PyTypeObject *type = dt_var_python_type(trace, key);
    return type != NULL && type->tp_as_number != NULL && type->tp_as_number->nb_index != NULL;
}

static DtStatus
instance_ass_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar *value)
{
    DtVar *pos[2] = {key, value}, *result;
    DT_TRY(call_special(trace, self, value != NULL ? "__setitem__" : "__delitem__", pos,
                        value != NULL ? 2 : 1, &result));
    if (result == NULL && key->type->kind == DT_KIND_ARRAY) { /* taken for an index first */
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "an array in such a place");
    }
    return result != NULL  ? DT_OK
           : value != NULL ? no_method(trace, self, "'%s' object does not support item assignment")
           : has_index(trace, key)
               ? no_method(trace, self, "'%s' object doesn't support item deletion")
               : no_method(trace, self, "'%s' object does not support item deletion");
}

/* Whether nothing is there to iterate over it: then `in` has a text of its own. */
static DtStatus
check_iterable(DtTrace *trace, DtVar *self)
{
    PyObject *name;
    DT_TRY(intern(trace, "__iter__", &name));
    PyObject *found = dt_type_lookup(instance_of(self)->cls, name);
    return found == Py_None || (found == NULL && !dt_instance_overrides(self, "__getitem__"))
               ? no_method(trace, self, "argument of type '%s' is not iterable")
               : DT_OK;
}

static DtStatus
instance_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtVar *result;
    bool none;
    DT_TRY(is_none(trace, self, "__contains__", &none));
    if (none) {
        return no_method(trace, self, "'%s' object is not a container");
    }
    DT_TRY(call_special(trace, self, "__contains__", &item, 1, &result));
    if (result == NULL) {
        DT_TRY(check_iterable(trace, self));
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
    DT_TRY(find_special(trace, self, "__call__", &method));
    return method != NULL ? dt_var_call(trace, method, args, out)
                          : no_method(trace, self, "'%s' object is not callable");
}

static DtStatus
instance_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtClassAttr attr;
    PyObject *name;
    DT_TRY(intern(trace, "__iter__", &name));
    DT_TRY(dt_class_lookup(trace, self, instance_of(self)->cls, name, &attr));
    if (attr.found == NULL && dt_instance_overrides(self, "__getitem__")) {
        return dt_iter_getitem(trace, self, out);
    }
    if (attr.found == NULL || attr.found == Py_None) {
        return no_method(trace, self, "'%s' object is not iterable");
    }
    DT_TRY(call_special(trace, self, "__iter__", NULL, 0, out));
    DtVar *iterator;
    DT_TRY(dt_var_realize(trace, *out, &iterator));
    PyTypeObject *type = dt_var_python_type(trace, iterator);
    DT_TRY(intern(trace, "__next__", &name));
    if (type != NULL && (type->tp_iternext == NULL || dt_type_lookup(type, name) == NULL)) {
        return dt_raise(trace, PyExc_TypeError, "iter() returned non-iterator of type '%s'",
                        dt_kinds_type_name(trace, iterator));
    }
    *out = iterator;
    return DT_OK;
}

static DtStatus
instance_iternext(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(call_special(trace, self, "__next__", NULL, 0, out));
    return *out != NULL ? DT_OK : no_method(trace, self, "'%s' object is not an iterator");
}

const DtVarType dt_instance_ops = {
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
    .tp_iter = instance_iter,
    .tp_iternext = instance_iternext,
    .tp_richcompare = instance_compare,
};
