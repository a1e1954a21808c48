/* Special methods that C defines, called by name: list.__len__(x), super().__init__(),
 * object.__setattr__(obj, name, value), and the inherited operators of subclasses of builtin types.
 *
 *   of object, type   ─► a row that does what the default does
 *   of a builtin type ─► a row that asks the slot of the value's tracker (an
 *                        instance's payload)
 *
 * Invariant: a row gives NotImplemented where the C slot would, so that the
 * caller's protocol goes on.
 *
 * Not in here: the protocols (dispatch.c, instance_ops.c).
 */
#include <string.h>

#include "compat/type.h"
#include "variables/fold.h"
#include "variables/pure.h"
#include "variables/text.h"

typedef struct SlotRow {
    const char *name;
    DtStatus (*call)(DtTrace *, const struct SlotRow *row, DtVar *self, const DtArgs *args,
                     DtVar **out);
    int8_t min_args, max_args; /* without self; -1: any, keywords too */
    int8_t op;
} SlotRow;

/* ---- Slots of builtin kinds ------------------------------------------------------------------ */

static bool
is_number(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return var->type->kind != DT_KIND_ARRAY
           && (type == &PyLong_Type || type == &PyBool_Type || type == &PyFloat_Type
               || type == &PyComplex_Type);
}

/* What becomes of a slot that is called by name where an array is one of the two. */
typedef enum ArraySlot { NO_ARRAY, AS_OPERATOR, NOT_FOR_ARRAYS } ArraySlot;

/* The slots of arrays do with arrays and numbers what the operator does; those of a number don't
 * know arrays.  NumPy's scalars may be floats themselves, and everything else may ask the array. */
static DtStatus
array_slot(DtTrace *trace, DtVar *self, DtVar *other, ArraySlot *out)
{
    bool known = is_number(trace, other) || other->type->kind == DT_KIND_ARRAY;
    PyTypeObject *type = dt_var_python_type(trace, other);
    *out = NO_ARRAY;
    if (self->type->kind == DT_KIND_ARRAY && known) {
        *out = AS_OPERATOR;
    }
    else if (self->type->kind != DT_KIND_ARRAY && other->type->kind == DT_KIND_ARRAY
             && is_number(trace, self) && type != NULL && !PyType_IsSubtype(type, &PyFloat_Type)
             && !PyType_IsSubtype(type, &PyComplex_Type)) {
        *out = NOT_FOR_ARRAYS;
    }
    else if (self->type->kind == DT_KIND_ARRAY || other->type->kind == DT_KIND_ARRAY) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "an operator of a %s, called by name",
                        self->type->name);
    }
    return DT_OK;
}

/* The number slot or sequence slot of `self`'s type, for `left` op `right`; one of them is `self`,
 * the other `other`. */
static DtStatus
call_binary_slot(DtTrace *trace, DtBinaryOp op, DtVar *self, DtVar *other, DtVar *left,
                 DtVar *right, DtVar **out)
{
    ArraySlot array;
    *out = dt_not_implemented(trace);
    DT_TRY(array_slot(trace, self, other, &array));
    if (array == AS_OPERATOR) {
        return dt_var_binary(trace, op, left, right, out);
    }
    if (self->type->nb_binary == NULL || array == NOT_FOR_ARRAYS) {
        return DT_OK;
    }
    switch (dt_number_slot_takes(trace, self, other)) {
    case DT_SLOT_TAKES:
        return dt_var_binary(trace, op, left, right, out);
    case DT_SLOT_REFUSES:
        return DT_OK;
    case DT_SLOT_OF_NO_NUMBER:
        break;
    }
    return self->type->nb_binary(trace, op, left, right, out);
}

static DtStatus
slot_binary(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    if (row->op != DT_BINARY_INPLACE_ADD || self->type->kind != DT_KIND_LIST) {
        other = dt_payload_of(other); /* a list goes over it */
    }
    return call_binary_slot(trace, (DtBinaryOp)row->op, self, other, self, other, out);
}

static DtStatus
slot_reflected(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    other = dt_payload_of(other);
    return call_binary_slot(trace, (DtBinaryOp)row->op, self, other, other, self, out);
}

static DtStatus
slot_compare(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    other = dt_payload_of(other);
    ArraySlot array;
    *out = dt_not_implemented(trace);
    DT_TRY(array_slot(trace, self, other, &array));
    if (array != NO_ARRAY) {
        return array == AS_OPERATOR ? dt_var_compare(trace, row->op, self, other, out) : DT_OK;
    }
    bool ordered = row->op != Py_EQ && row->op != Py_NE;
    bool refuses = ordered && dt_var_python_type(trace, self) == &PyComplex_Type;
    switch (refuses ? DT_SLOT_REFUSES : dt_number_slot_takes(trace, self, other)) {
    case DT_SLOT_TAKES:
        return dt_var_compare(trace, row->op, self, other, out);
    case DT_SLOT_REFUSES:
        *out = dt_not_implemented(trace);
        return DT_OK;
    case DT_SLOT_OF_NO_NUMBER:
        break;
    }
    PyTypeObject *type = dt_var_python_type(trace, self);
    if (self == other && self->type->tp_richcompare == dt_kind_base.tp_richcompare
        && (type == NULL || type->tp_richcompare != PyBaseObject_Type.tp_richcompare)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s and itself", row->name,
                        self->type->name); /* the protocol goes by identity, the slot need not */
    }
    return self->type->tp_richcompare(trace, row->op, self, other, out);
}

static DtStatus
slot_negative(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_negative(trace, self, out);
}

static DtStatus
slot_positive(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_positive(trace, self, out);
}

static DtStatus
slot_invert(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_invert(trace, self, out);
}

static DtStatus
slot_bool(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    bool truth;
    DT_TRY(dt_var_truth(trace, self, &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
slot_len(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_length(trace, self, out);
}

static DtStatus
slot_getitem(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_var_subscript(trace, self, args->pos[0], out);
}

static DtStatus
slot_setitem(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, self, args->pos[0], args->pos[1]);
}

static DtStatus
slot_delitem(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, self, args->pos[0], NULL);
}

static DtStatus
slot_contains(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_var_contains(trace, self, args->pos[0], out);
}

static DtStatus
slot_iter(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_iter(trace, self, out);
}

static DtStatus
slot_call(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_var_call(trace, self, args, out);
}

/* Through the builtin function that asks for the slot: hash(), repr(), abs() ... */
static DtStatus
slot_by_builtin(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    char name[16] = {0};
    size_t length = strlen(row->name) - 4; /* of __abs__ the middle */
    memcpy(name, row->name + 2, length);
    PyObject *function = PyDict_GetItemString(trace->builtins, name);
    DtVar *callable, *pos[2] = {self, args->npos > 0 ? args->pos[0] : NULL};
    if (function == NULL || dt_builtin_find(function) == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", row->name, self->type->name);
    }
    DT_TRY(dt_build_known(trace, function, &callable));
    DtArgs with_self = dt_args_of(pos, args->npos + 1);
    return dt_var_call(trace, callable, &with_self, out);
}

/* round(x, None) is round(x), but int.__round__(None) an error. */
static DtStatus
slot_round(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, self);
    DtVar *digits = NULL;
    if (args->npos > 0) {
        DT_TRY(dt_var_realize(trace, args->pos[0], &digits));
    }
    if (digits != NULL && dt_var_peek_constant(digits) == Py_None && type != &PyFloat_Type) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "__round__(None) of a %s", self->type->name);
    }
    return slot_by_builtin(trace, row, self, args, out);
}

static DtStatus
slot_divmod(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    other = dt_payload_of(other);
    ArraySlot array;
    DT_TRY(array_slot(trace, self, other, &array));
    DtSlotTakes takes =
        array == NO_ARRAY ? dt_number_slot_takes(trace, self, other) : DT_SLOT_TAKES;
    if (takes == DT_SLOT_OF_NO_NUMBER && !is_number(trace, self)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "__divmod__ of a %s", self->type->name);
    }
    if (array == NOT_FOR_ARRAYS || takes != DT_SLOT_TAKES) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    DtArgs plain = dt_args_of(&other, 1);
    return slot_by_builtin(trace, row, self, &plain, out);
}

#define BINARY(NAME, OP)                                                                           \
    {"__" NAME "__", slot_binary, 1, 1, DT_BINARY_##OP},                                           \
        {"__r" NAME "__", slot_reflected, 1, 1, DT_BINARY_##OP},                                   \
    {                                                                                              \
        "__i" NAME "__", slot_binary, 1, 1, DT_BINARY_INPLACE_##OP                                 \
    }

static const SlotRow builtin_rows[] = {
    BINARY("add", ADD),
    BINARY("sub", SUBTRACT),
    BINARY("mul", MULTIPLY),
    BINARY("truediv", TRUE_DIVIDE),
    BINARY("floordiv", FLOOR_DIVIDE),
    BINARY("mod", REMAINDER),
    BINARY("and", AND),
    BINARY("or", OR),
    BINARY("xor", XOR),
    BINARY("lshift", LSHIFT),
    BINARY("rshift", RSHIFT),
    BINARY("matmul", MATRIX_MULTIPLY),
    {"__pow__", slot_binary, 1, 1, DT_BINARY_POWER},
    {"__rpow__", slot_reflected, 1, 1, DT_BINARY_POWER},
    {"__ipow__", slot_binary, 1, 1, DT_BINARY_INPLACE_POWER},
    {"__lt__", slot_compare, 1, 1, Py_LT},
    {"__le__", slot_compare, 1, 1, Py_LE},
    {"__eq__", slot_compare, 1, 1, Py_EQ},
    {"__ne__", slot_compare, 1, 1, Py_NE},
    {"__gt__", slot_compare, 1, 1, Py_GT},
    {"__ge__", slot_compare, 1, 1, Py_GE},
    {"__neg__", slot_negative, 0, 0, 0},
    {"__pos__", slot_positive, 0, 0, 0},
    {"__invert__", slot_invert, 0, 0, 0},
    {"__bool__", slot_bool, 0, 0, 0},
    {"__len__", slot_len, 0, 0, 0},
    {"__getitem__", slot_getitem, 1, 1, 0},
    {"__setitem__", slot_setitem, 2, 2, 0},
    {"__delitem__", slot_delitem, 1, 1, 0},
    {"__contains__", slot_contains, 1, 1, 0},
    {"__iter__", slot_iter, 0, 0, 0},
    {"__call__", slot_call, 0, -1, 0},
    {"__abs__", slot_by_builtin, 0, 0, 0},
    {"__divmod__", slot_divmod, 1, 1, 0},
    {"__float__", slot_by_builtin, 0, 0, 0},
    {"__format__", slot_by_builtin, 1, 1, 0},
    {"__hash__", slot_by_builtin, 0, 0, 0},
    {"__int__", slot_by_builtin, 0, 0, 0},
    {"__index__", slot_by_builtin, 0, 0, 0},
    {"__next__", slot_by_builtin, 0, 0, 0},
    {"__repr__", slot_by_builtin, 0, 0, 0},
    {"__reversed__", slot_by_builtin, 0, 0, 0},
    {"__round__", slot_round, 0, 1, 0},
    {"__str__", slot_by_builtin, 0, 0, 0},
    {NULL, NULL, 0, 0, 0},
};

/* ---- object ---------------------------------------------------------------------------------- */

static DtStatus
attribute_name(DtTrace *trace, DtVar *var, PyObject **out)
{
    PyObject *name = dt_var_as_constant(trace, var);
    if (name == NULL || !PyUnicode_CheckExact(name)) {
        return dt_raise(trace, PyExc_TypeError, "attribute name must be string, not '%s'",
                        dt_kinds_type_name(trace, var));
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    *out = dt_trace_keep_take(trace, name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
object_getattribute(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args,
                    DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    return dt_instance_generic_getattr(trace, self, name, out);
}

static DtStatus
object_setattr(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    *out = dt_none(trace);
    return dt_instance_generic_setattr(trace, self, name, args->npos > 1 ? args->pos[1] : NULL);
}

static DtStatus
object_init(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    *out = dt_none(trace);
    return dt_class_object_init(trace, dt_var_python_type(trace, self), args);
}

static DtStatus
object_compare(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const SlotRow equal = {"__eq__", slot_compare, 1, 1, Py_EQ};
    DtVar *method, *answer = NULL;
    PyTypeObject *type = dt_var_python_type(trace, self);
    bool same;
    *out = dt_not_implemented(trace);
    if (row->op == Py_NE) { /* the opposite of the type's own __eq__ */
        if (self->type->kind == DT_KIND_INSTANCE) {
            DT_TRY(dt_instance_special(trace, self, "__eq__", &method));
            if (method != NULL) {
                DT_TRY(dt_var_call(trace, method, args, &answer));
            }
        }
        else if (type == NULL || type->tp_richcompare != PyBaseObject_Type.tp_richcompare) {
            DT_TRY(slot_compare(trace, &equal, self, args, &answer));
        }
        if (answer != NULL) {
            DT_TRY(dt_var_realize(trace, answer, &answer));
            return dt_var_peek_constant(answer) != Py_NotImplemented
                       ? dt_var_not(trace, answer, out)
                       : DT_OK;
        }
    }
    DT_TRY(dt_var_is(trace, self, args->pos[0], &same));
    return same ? dt_var_bool(trace, row->op == Py_EQ, out) : DT_OK;
}

static DtStatus
object_order(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)self;
    (void)args;
    *out = dt_not_implemented(trace);
    return DT_OK;
}

/* str() of an instance without __str__ is its repr(). */
static DtStatus
object_str(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    DtVar *method;
    const DtArgs none = {0};
    DT_TRY(dt_instance_special(trace, self, "__repr__", &method));
    return method != NULL ? dt_var_call(trace, method, &none, out)
                          : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                     "repr() of a %s, which contains its address",
                                     dt_kinds_type_name(trace, self));
}

static DtStatus
object_repr(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    (void)out;
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "repr() of a %s, which contains its address",
                    dt_kinds_type_name(trace, self));
}

static DtStatus
object_format(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *spec = dt_var_as_constant(trace, args->pos[0]);
    if (spec == NULL || !PyUnicode_CheckExact(spec)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a format that is no constant");
    }
    if (PyUnicode_GET_LENGTH(spec) > 0) {
        return dt_raise(trace, PyExc_TypeError, "unsupported format string passed to %s.__format__",
                        dt_kinds_type_name(trace, self));
    }
    DtVar *method;
    const DtArgs none = {0};
    DT_TRY(dt_instance_special(trace, self, "__str__", &method));
    return method != NULL ? dt_var_call(trace, method, &none, out)
                          : object_str(trace, row, self, &none, out);
}

static const SlotRow object_rows[] = {
    {"__getattribute__", object_getattribute, 1, 1, 0},
    {"__setattr__", object_setattr, 2, 2, 0},
    {"__delattr__", object_setattr, 1, 1, 0},
    {"__init__", object_init, 0, -1, 0},
    {"__eq__", object_compare, 1, 1, Py_EQ},
    {"__ne__", object_compare, 1, 1, Py_NE},
    {"__lt__", object_order, 1, 1, 0},
    {"__le__", object_order, 1, 1, 0},
    {"__gt__", object_order, 1, 1, 0},
    {"__ge__", object_order, 1, 1, 0},
    {"__str__", object_str, 0, 0, 0},
    {"__repr__", object_repr, 0, 0, 0},
    {"__format__", object_format, 1, 1, 0},
    {NULL, NULL, 0, 0, 0},
};

/* ---- type ------------------------------------------------------------------------------------ */

static DtStatus
type_call(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_class_instantiate(trace, self, args, out);
}

static DtStatus
type_getattribute(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    return dt_class_generic_getattr(trace, self, name, out);
}

static DtStatus
type_check(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    return dt_check_by_type(trace, self, args->pos[0], row->op == 1, out);
}

static DtStatus
type_init(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)self;
    *out = dt_none(trace);
    return args->npos == 1 || args->npos == 3
               ? DT_OK
               : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type.__init__() of odd arguments");
}

static DtStatus
type_setattr(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    *out = dt_none(trace);
    return dt_class_setattr(trace, self, name, args->npos == 2 ? args->pos[1] : NULL);
}

static const SlotRow type_rows[] = {
    {"__init__", type_init, 0, -1, 0},
    {"__setattr__", type_setattr, 2, 2, 0},
    {"__delattr__", type_setattr, 1, 1, 0},
    {"__instancecheck__", type_check, 1, 1, 1},
    {"__subclasscheck__", type_check, 1, 1, 0},
    {"__call__", type_call, 0, -1, 0},
    {"__getattribute__", type_getattribute, 1, 1, 0},
    {NULL, NULL, 0, 0, 0},
};

/* ---- Calling one ----------------------------------------------------------------------------- */

static const SlotRow *
find_row(const SlotRow *rows, PyObject *name)
{
    while (rows->name != NULL && PyUnicode_CompareWithASCIIString(name, rows->name) != 0) {
        rows++;
    }
    return rows->name != NULL ? rows : NULL;
}

/* What object defines is its own, whatever the type has in its place: comparisons go by identity;
 * of the rest the slots of the type know only what the type inherits. */
static const SlotRow *
row_of_object(DtTrace *trace, DtVar *self, PyObject *descriptor)
{
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    PyTypeObject *type = dt_var_python_type(trace, self);
    const SlotRow *row = find_row(object_rows, name);
    bool compares = row != NULL && (row->call == object_compare || row->call == object_order);
    if (self->type->kind == DT_KIND_INSTANCE || compares) {
        return row;
    }
    bool inherits = type != NULL && dt_type_lookup(type, name) == descriptor;
    return inherits ? find_row(builtin_rows, name) : NULL;
}

/* What the real wrapper does with an operand that the slot does not know: NotImplemented, or the
 * exception of a sequence's operator. */
static DtStatus
ask_wrapper(DtTrace *trace, const char *name, DtVar *self, DtVar *other, DtVar **out)
{
    PyObject *a = NULL, *b = NULL, *result = NULL;
    *out = dt_not_implemented(trace);
    if (dt_var_peek(other)->type->kind == DT_KIND_ARRAY) {
        return DT_OK;
    }
    DtStatus status = dt_fold_stand_in(trace, self, &a);
    if (status == DT_OK) {
        status = dt_fold_stand_in(trace, other, &b);
    }
    if (status == DT_OK) {
        result = PyObject_CallMethod(a, name, "(O)", b);
        if (result == NULL) {
            status = dt_break_from_exception(trace);
        }
        else if (result != Py_NotImplemented) {
            status = dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", name, self->type->name);
        }
    }
    Py_XDECREF(result);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}

static DtStatus
call_row(DtTrace *trace, const SlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (row->max_args >= 0
        && (args->nkw > 0 || args->npos < (uint32_t)row->min_args
            || args->npos > (uint32_t)row->max_args)) {
        return dt_kinds_mismatch(trace, self, row->name, args);
    }
    DT_TRY(row->call(trace, row, self, args, out));
    bool is_operator = row->call == slot_binary || row->call == slot_reflected;
    return is_operator && *out == dt_not_implemented(trace) && !is_number(trace, self)
               ? ask_wrapper(trace, row->name, self, args->pos[0], out)
               : DT_OK;
}

/* What the descriptor's own type is responsible for: the whole value, or an instance's payload. */
static DtVar *
subject_of(DtTrace *trace, DtVar *self, PyObject *descriptor, PyTypeObject *of)
{
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    PyTypeObject *type = dt_var_python_type(trace, self);
    DtVar *payload = dt_payload_of(self);
    if (of == &PyBaseObject_Type || of == &PyType_Type
        || (payload == self
            && (type == of
                || (type != NULL && dt_type_lookup(type, name) == descriptor
                    && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE))))) {
        return self;
    }
    if (payload != self) {
        return PyType_IsSubtype(dt_build_layout(((DtInstanceVar *)self)->cls), of) ? payload : NULL;
    }
    return NULL;
}

/* Whether the text of instances says their class, as that of sets and ordered dicts does. */
static bool
names_its_class(const DtVar *subject, PyTypeObject *of)
{
    return subject->type->kind == DT_KIND_SET || dt_payload_is_own(of);
}

/* The result is the builtin part: list.__iadd__ and its like give the object itself; of what can't
 * change, a plain object is made, as float.__pos__ and tuple.__getitem__ do. */
static DtStatus
give_itself(DtTrace *trace, DtVar *self, DtVar *subject, DtVar **out)
{
    if (dt_var_is_mutable(subject)) {
        *out = self;
        return DT_OK;
    }
    if (subject->type->kind == DT_KIND_TUPLE) {
        return dt_var_tuple(trace, ((DtSeqVar *)subject)->items, ((DtSeqVar *)subject)->count, out);
    }
    if (subject->type->kind == DT_KIND_SYMBOLIC) {
        return dt_var_sym(trace, ((DtSymVar *)subject)->sym,
                          out); /* not the object it was made of */
    }
    if (subject->source != NULL && subject->source == self->source) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the plain value of a %s",
                        dt_kinds_type_name(trace, self));
    }
    return DT_OK;
}

static bool
is_format_without_spec(DtTrace *trace, PyObject *name, const DtArgs *args)
{
    PyObject *spec =
        args->npos == 1 && args->nkw == 0 ? dt_var_as_constant(trace, args->pos[0]) : NULL;
    return spec != NULL && PyUnicode_CheckExact(spec) && PyUnicode_GET_LENGTH(spec) == 0
           && PyUnicode_CompareWithASCIIString(name, "__format__") == 0;
}

DtStatus
dt_inherited_call(DtTrace *trace, PyObject *descriptor, const DtArgs *args, DtVar **out)
{
    PyTypeObject *of = ((PyDescrObject *)descriptor)->d_type;
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    const char *text = dt_kinds_text(name);
    DtVar *self;
    PyTypeObject *type = args->npos > 0 ? dt_var_python_type(trace, args->pos[0]) : NULL;
    if (args->npos == 0 || (type != NULL && !PyType_IsSubtype(type, of))) {
        return dt_fold_failure(trace, descriptor, args);
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &self));
    if (self->type->kind == DT_KIND_INSTANCE && dt_payload_is_hidden(of)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.%s(), which has no polyfill",
                        of->tp_name, text);
    }
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    if (self->type->kind == DT_KIND_BYTEARRAY && of == &PyByteArray_Type) {
        return dt_bytearray_call(trace, self, descriptor, &rest, out);
    }
    if (dt_exception_is(self) && PyExceptionClass_Check((PyObject *)of)) {
        return dt_exception_call(trace, self, descriptor, &rest, out);
    }
    if (Py_IS_TYPE(descriptor, &PyWrapperDescr_Type)) {
        void *wrapped = ((PyWrapperDescrObject *)descriptor)->d_wrapped;
        if (wrapped == (void *)PyObject_GenericGetAttr
            || wrapped == (void *)PyObject_GenericSetAttr) {
            of = &PyBaseObject_Type; /* under another name */
        }
    }
    if (self->type->kind == DT_KIND_INSTANCE && is_format_without_spec(trace, name, &rest)) {
        return dt_text_str(trace, self, out); /* of everything but the exact builtin type */
    }
    PyTypeObject *layout =
        self->type->kind == DT_KIND_INSTANCE ? dt_build_layout(((DtInstanceVar *)self)->cls) : NULL;
    if (layout != NULL && layout != of && dt_payload_is_own(layout)
        && dt_type_lookup(layout, name) != descriptor) {
        /* dict.__delitem__(ordered, key): behind the back of what OrderedDict keeps beside. */
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.%s() of a %s", of->tp_name, text,
                        dt_kinds_type_name(trace, self));
    }
    DtVar *subject = subject_of(trace, self, descriptor, of);
    if (subject != NULL && subject != self && names_its_class(subject, of)
        && (PyUnicode_CompareWithASCIIString(name, "__repr__") == 0
            || PyUnicode_CompareWithASCIIString(name, "__str__") == 0)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the text of a %s",
                        dt_kinds_type_name(trace, self));
    }
    if (subject != NULL && subject->type->kind == DT_KIND_OPAQUE
        && dt_pure_is(((DtObjectVar *)subject)->object)) {
        return dt_pure_call(trace, descriptor, args, out); /* this very slot, not its operator */
    }
    const SlotRow *row = NULL;
    if (subject != NULL && subject != self) {
        bool done;
        DT_TRY(dt_payload_method(trace, of, name, (DtInstanceVar *)self, &rest, &done, out));
        if (done) {
            return DT_OK;
        }
    }
    if (subject != NULL) {
        bool is_class = self->type->kind == DT_KIND_CLASS;
        row = of == &PyBaseObject_Type ? row_of_object(trace, self, descriptor)
              : of == &PyType_Type     ? (is_class ? find_row(type_rows, name) : NULL)
                                       : find_row(builtin_rows, name);
    }
    bool is_method = Py_IS_TYPE(descriptor, &PyMethodDescr_Type);
    const DtMethodRow *method =
        is_method && subject != NULL ? dt_kinds_find_method(subject->type, name) : NULL;
    if (method != NULL) {
        DT_TRY(dt_kinds_call_row(trace, subject, method, &rest, out));
    }
    else if (row != NULL && dt_payload_is_own(of) && !DT_BINARY_IS_INPLACE(row->op)
             && (row->call == slot_binary || row->call == slot_reflected)) {
        /* `|` of an OrderedDict or defaultdict makes another one. */
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s.%s()", of->tp_name, text);
    }
    else if (row != NULL) {
        DT_TRY(call_row(trace, row, subject, &rest, out));
    }
    else if (is_method && subject != NULL && subject->type->kind != DT_KIND_INSTANCE
             && subject->type->kind != DT_KIND_CLASS) {
        DtVar *bound;
        DT_TRY(dt_var_getattr(trace, subject, name, &bound));
        DT_TRY(dt_var_call(trace, bound, &rest, out));
    }
    else {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s.%s() of a %s", of->tp_name, text,
                        dt_kinds_type_name(trace, self));
    }
    return *out == subject && subject != self ? give_itself(trace, self, subject, out) : DT_OK;
}

PyObject *
dt_slot_method_find(PyTypeObject *type, PyObject *name)
{
    PyObject *found =
        type != NULL && PyUnicode_READ_CHAR(name, 0) == '_' ? dt_type_lookup(type, name) : NULL;
    if (found == NULL
        || !(Py_IS_TYPE(found, &PyWrapperDescr_Type) || Py_IS_TYPE(found, &PyMethodDescr_Type))) {
        return NULL;
    }
    return find_row(builtin_rows, name) != NULL ? found : NULL;
}
