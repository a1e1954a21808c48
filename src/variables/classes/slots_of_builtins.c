/* Special methods of builtin types, called by name: each asks the slot of the value's tracker.
 *
 * Not in here: which values come here (inherited.c).
 */
#include <string.h>

#include "compat/type.h"
#include "variables/fold.h"
#include "variables/numbers/array_numbers.h"
#include "variables/pure.h"
#include "variables/text.h"
#include "variables/classes/slot_rows.h"

bool
dt_slot_is_number(DtTrace *trace, DtVar *var)
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
    bool known = dt_slot_is_number(trace, other) || other->type->kind == DT_KIND_ARRAY;
    if (dt_array_is_number(self) && other->type->kind == DT_KIND_ARRAY) {
        known = false; /* its slots refuse wider numbers, which have the next turn */
    }
    PyTypeObject *type = dt_var_python_type(trace, other);
    *out = NO_ARRAY;
    if (self->type->kind == DT_KIND_ARRAY && known) {
        *out = AS_OPERATOR;
    }
    else if (self->type->kind != DT_KIND_ARRAY && other->type->kind == DT_KIND_ARRAY
             && dt_slot_is_number(trace, self) && type != NULL
             && !PyType_IsSubtype(type, &PyFloat_Type)
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
slot_binary(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    DtVar *payload = other;
    if (row->op != DT_BINARY_INPLACE_ADD || self->type->kind != DT_KIND_LIST) {
        payload = dt_payload_of(other); /* a list goes over it */
    }
    DtStatus status =
        call_binary_slot(trace, (DtBinaryOp)row->op, self, payload, self, payload, out);
    return dt_payload_raised(trace, status, other, payload);
}

static DtStatus
slot_reflected(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    DtVar *payload = dt_payload_of(other);
    DtStatus status =
        call_binary_slot(trace, (DtBinaryOp)row->op, self, payload, payload, self, out);
    return dt_payload_raised(trace, status, other, payload);
}

DtStatus
dt_slot_compare(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
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
slot_negative(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_negative(trace, self, out);
}

static DtStatus
slot_positive(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_positive(trace, self, out);
}

static DtStatus
slot_invert(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_invert(trace, self, out);
}

static DtStatus
slot_bool(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    bool truth;
    DT_TRY(dt_var_truth(trace, self, &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
slot_len(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_length(trace, self, out);
}

static DtStatus
slot_getitem(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_var_subscript(trace, self, args->pos[0], out);
}

static DtStatus
slot_setitem(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, self, args->pos[0], args->pos[1]);
}

static DtStatus
slot_delitem(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, self, args->pos[0], NULL);
}

static DtStatus
slot_contains(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_var_contains(trace, self, args->pos[0], out);
}

static DtStatus
slot_iter(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    return dt_var_iter(trace, self, out);
}

static DtStatus
slot_call(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_var_call(trace, self, args, out);
}

/* Through the builtin function that asks for the slot: hash(), repr(), abs() ... */
static DtStatus
slot_by_builtin(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
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
slot_round(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
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

/* format() refuses what is no text in words of its own. */
static DtStatus
slot_format(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *spec = dt_var_as_constant(trace, args->pos[0]);
    if (spec == NULL || !PyUnicode_CheckExact(spec)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a format that is no known text");
    }
    return slot_by_builtin(trace, row, self, args, out);
}

static DtStatus
slot_divmod(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *other;
    DT_TRY(dt_var_realize(trace, args->pos[0], &other));
    other = dt_payload_of(other);
    ArraySlot array;
    DT_TRY(array_slot(trace, self, other, &array));
    DtSlotTakes takes =
        array == NO_ARRAY ? dt_number_slot_takes(trace, self, other) : DT_SLOT_TAKES;
    if (takes == DT_SLOT_OF_NO_NUMBER && !dt_slot_is_number(trace, self)) {
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
    {"__" NAME "__", slot_binary, 1, 1, DT_BINARY_##OP, DT_SLOT_OPERATOR},                         \
        {"__r" NAME "__", slot_reflected, 1, 1, DT_BINARY_##OP, DT_SLOT_OPERATOR},                 \
    {                                                                                              \
        "__i" NAME "__", slot_binary, 1, 1, DT_BINARY_INPLACE_##OP, DT_SLOT_OPERATOR               \
    }

static const DtSlotRow builtin_rows[] = {
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
    {"__pow__", slot_binary, 1, 1, DT_BINARY_POWER, DT_SLOT_OPERATOR},
    {"__rpow__", slot_reflected, 1, 1, DT_BINARY_POWER, DT_SLOT_OPERATOR},
    {"__ipow__", slot_binary, 1, 1, DT_BINARY_INPLACE_POWER, DT_SLOT_OPERATOR},
    {"__lt__", dt_slot_compare, 1, 1, Py_LT, DT_SLOT_OTHER},
    {"__le__", dt_slot_compare, 1, 1, Py_LE, DT_SLOT_OTHER},
    {"__eq__", dt_slot_compare, 1, 1, Py_EQ, DT_SLOT_OTHER},
    {"__ne__", dt_slot_compare, 1, 1, Py_NE, DT_SLOT_OTHER},
    {"__gt__", dt_slot_compare, 1, 1, Py_GT, DT_SLOT_OTHER},
    {"__ge__", dt_slot_compare, 1, 1, Py_GE, DT_SLOT_OTHER},
    {"__neg__", slot_negative, 0, 0, 0, DT_SLOT_OTHER},
    {"__pos__", slot_positive, 0, 0, 0, DT_SLOT_OTHER},
    {"__invert__", slot_invert, 0, 0, 0, DT_SLOT_OTHER},
    {"__bool__", slot_bool, 0, 0, 0, DT_SLOT_OTHER},
    {"__len__", slot_len, 0, 0, 0, DT_SLOT_OTHER},
    {"__getitem__", slot_getitem, 1, 1, 0, DT_SLOT_OTHER},
    {"__setitem__", slot_setitem, 2, 2, 0, DT_SLOT_OTHER},
    {"__delitem__", slot_delitem, 1, 1, 0, DT_SLOT_OTHER},
    {"__contains__", slot_contains, 1, 1, 0, DT_SLOT_OTHER},
    {"__iter__", slot_iter, 0, 0, 0, DT_SLOT_OTHER},
    {"__call__", slot_call, 0, -1, 0, DT_SLOT_OTHER},
    {"__abs__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__divmod__", slot_divmod, 1, 1, 0, DT_SLOT_OTHER},
    {"__float__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__format__", slot_format, 1, 1, 0, DT_SLOT_OTHER},
    {"__hash__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__int__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__index__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__next__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__repr__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__reversed__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {"__round__", slot_round, 0, 1, 0, DT_SLOT_OTHER},
    {"__str__", slot_by_builtin, 0, 0, 0, DT_SLOT_OTHER},
    {NULL, NULL, 0, 0, 0, DT_SLOT_OTHER},
};

const DtSlotRow *
dt_slot_row_of_builtins(PyObject *name)
{
    return dt_slot_row_find(builtin_rows, name);
}
