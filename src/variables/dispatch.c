/* The dispatchers: CPython's protocols over trackers.
 *
 *   realise operands -> array? the adapter decides
 *                    -> left's slot -> NotImplemented -> right's slot -> TypeError
 *
 * Invariants: a slot is never called with a lazy tracker as an operand, and
 * nobody calls a slot but these functions and the slots' own file.  A missing
 * slot is a graph break that names slot and kind.
 *
 * Not in here: what an operation means for a kind, `is` (same_object.c).
 */
#include <string.h>

#include "variables/fold.h"
#include "compat/recursion.h"
#include "variables/substitutes.h"
#include "variables/text.h"

static DtStatus
missing_slot(DtTrace *trace, const char *slot, DtVar *var)
{
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", slot, var->type->name);
}

/* The array operand that decides an operation, the left one first, unless it gives way. */
static DtArrayVar *
array_operand(DtVar *left, DtVar *right)
{
    DtArrayVar *second = right->type->kind == DT_KIND_ARRAY ? (DtArrayVar *)right : NULL;
    if (left->type->kind == DT_KIND_ARRAY) {
        DtArrayVar *first = (DtArrayVar *)left;
        return second != NULL && first->adapter->gives_way ? second : first;
    }
    return second;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool
is_text(DtVar *var)
{
    PyObject *value = dt_var_peek_constant(var);
    return value != NULL && (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value));
}

/* After both sides have refused: a text on the right is repeated by what __index__ of an object
 * gives, or it is the TypeError of an operator that neither side has.  Some types have texts of
 * their own. */
static DtStatus
no_operator(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    static const char *const names[] = {"__index__", NULL};
    DtVar *times = NULL; /* obj *= "ab" asks the object's class alone */
    if (op == DT_BINARY_MULTIPLY && is_text(right) && left->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_convert(trace, left, names, &times));
    }
    return times != NULL ? dt_var_binary(trace, op, right, times, out)
                         : dt_fold_binary_failure(trace, op, left, right);
}

/* Whether the real type may know operators that the kind does not. */
static bool
has_number_slots(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return type == NULL || type->tp_as_number != NULL || type->tp_as_sequence != NULL;
}

/* Both sides; results += [x] need not look into the list, and a library that makes arrays of lists
 * reads them itself. */
static DtStatus
realize_operands(DtTrace *trace, bool appends, DtVar **left, DtVar **right)
{
    DT_TRY(dt_var_receiver(trace, *left, left));
    DT_TRY(dt_var_receiver(trace, *right, right));
    DtArrayVar *array = array_operand(*left, *right);
    if (array != NULL && array->adapter->of_items != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, *right, right));
    bool items = (*right)->type->kind == DT_KIND_LIST || (*right)->type->kind == DT_KIND_TUPLE;
    return appends && items ? DT_OK : dt_var_realize(trace, *left, left);
}

DtStatus
dt_var_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    DT_TRY(realize_operands(trace, op == DT_BINARY_INPLACE_ADD, &left, &right));
    DtArrayVar *array = array_operand(left, right);
    if (array != NULL) {
        PyObject *text = dt_var_peek_constant(left);
        if (DT_BINARY_PLAIN(op) == DT_BINARY_REMAINDER && text != NULL
            && PyUnicode_CheckExact(text)) {
            return dt_text_percent(trace, text, right, out);
        }
        if (left->type->kind == DT_KIND_INSTANCE) { /* its own method comes first */
            DT_TRY(left->type->nb_binary(trace, op, left, right, out));
            if (*out != dt_not_implemented(trace)) {
                return DT_OK;
            }
        }
        DT_TRY(array->adapter->binary(array->adapter, trace, op, left, right, out));
        if (*out == dt_not_implemented(trace) && right->type->kind == DT_KIND_INSTANCE
            && left->type->kind != DT_KIND_INSTANCE) {
            DT_TRY(dt_instance_reflected(trace, op, right, left, out));
        }
        return *out == dt_not_implemented(trace) ? no_operator(trace, op, left, right, out) : DT_OK;
    }
    if (op == DT_BINARY_INPLACE_MULTIPLY && dt_payload_index(left) != left) {
        /* Number *= [1]: a class of Python is asked as a sequence, which it is not. */
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "*= of a %s",
                        dt_kinds_type_name(trace, left));
    }
    DtStatus (*first)(DtTrace *, DtBinaryOp, DtVar *, DtVar *, DtVar **) = left->type->nb_binary;
    DtStatus (*second)(DtTrace *, DtBinaryOp, DtVar *, DtVar *, DtVar **) = right->type->nb_binary;
    if (first == NULL && second == NULL
        && (has_number_slots(trace, left) || has_number_slots(trace, right))) {
        return missing_slot(trace, dt_canonical_binary_symbol((int)op), left);
    }
    if (right->type->kind == DT_KIND_INSTANCE) {
        first = second; /* it may have the first turn, and gives the left one its own */
    }
    *out = dt_not_implemented(trace);
    if (first != NULL) {
        DT_TRY(first(trace, op, left, right, out));
    }
    if (*out == dt_not_implemented(trace) && second != NULL && second != first) {
        DT_TRY(second(trace, op, left, right, out));
    }
    return *out == dt_not_implemented(trace) ? no_operator(trace, op, left, right, out) : DT_OK;
}

static DtStatus
unary(DtTrace *trace, DtVar *var, size_t slot_offset, const char *symbol, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    DtUnarySlot slot;
    memcpy(&slot, (const char *)var->type + slot_offset, sizeof(slot));
    return slot != NULL ? slot(trace, var, out) : missing_slot(trace, symbol, var);
}

DtStatus
dt_var_negative(DtTrace *trace, DtVar *var, DtVar **out)
{
    return unary(trace, var, offsetof(DtVarType, nb_negative), "unary -", out);
}

DtStatus
dt_var_positive(DtTrace *trace, DtVar *var, DtVar **out)
{
    return unary(trace, var, offsetof(DtVarType, nb_positive), "unary +", out);
}

DtStatus
dt_var_invert(DtTrace *trace, DtVar *var, DtVar **out)
{
    return unary(trace, var, offsetof(DtVarType, nb_invert), "unary ~", out);
}

DtStatus
dt_var_truth(DtTrace *trace, DtVar *var, bool *out)
{
    DT_TRY(dt_var_receiver(trace, var, &var));
    return var->type->nb_bool(trace, var, out);
}

DtStatus
dt_var_not(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_var_receiver(trace, var, &var));
    if (var->type->kind == DT_KIND_SYMBOLIC) {
        const DtSym *sym = NULL;
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_NOT, ((DtSymVar *)var)->sym, &sym));
        if (sym != NULL) {
            return dt_var_sym(trace, sym, out);
        }
    }
    bool truth;
    DT_TRY(dt_var_truth(trace, var, &truth));
    return dt_var_bool(trace, !truth, out);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static const int swapped[] = {
    [Py_LT] = Py_GT, [Py_LE] = Py_GE, [Py_EQ] = Py_EQ,
    [Py_NE] = Py_NE, [Py_GT] = Py_LT, [Py_GE] = Py_LE,
};

/* Whether the right operand's method has the first turn. */
static bool
right_goes_first(DtTrace *trace, DtVar *left, DtVar *right)
{
    if (right->type->kind != DT_KIND_INSTANCE && right->type->kind != DT_KIND_OPAQUE) {
        return false;
    }
    PyTypeObject *a = dt_var_python_type(trace, left);
    PyTypeObject *b = dt_var_python_type(trace, right);
    return a != NULL && b != NULL && a != b && PyType_IsSubtype(b, a);
}

/* An instance of a class derived from a number, text or container: its comparison is that of the
 * builtin type, which the other operand's tracker does not know. */
static bool
is_builtin_value(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type =
        var->type->kind == DT_KIND_INSTANCE ? dt_var_python_type(trace, var) : NULL;
    return type != NULL
           && ((type->tp_flags
                & (Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS
                   | Py_TPFLAGS_BYTES_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS
                   | Py_TPFLAGS_DICT_SUBCLASS))
                   != 0
               || PyType_IsSubtype(type, &PyFloat_Type) || PyType_IsSubtype(type, &PyComplex_Type)
               || PyType_IsSubtype(type, &PySet_Type) || PyType_IsSubtype(type, &PyFrozenSet_Type));
}

DtStatus
dt_var_check_stack(DtTrace *trace)
{
    return DT_LIKELY(dt_recursion_has_room())
               ? DT_OK
               : dt_break(trace, DT_BREAK_INLINE_DEPTH, "the objects are nested too deep");
}

/* Neither side knows: objects are equal to themselves, and in no order. */
static DtStatus
not_comparable(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    if (is_builtin_value(trace, left) || is_builtin_value(trace, right)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "comparison with an instance of %s",
                        dt_kinds_type_name(trace, is_builtin_value(trace, left) ? left : right));
    }
    if (op == Py_EQ || op == Py_NE) {
        bool same;
        DT_TRY(dt_var_is(trace, left, right, &same));
        return dt_var_bool(trace, same == (op == Py_EQ), out);
    }
    static const char *const names[] = {
        [Py_LT] = "lt", [Py_LE] = "le", [Py_GT] = "gt", [Py_GE] = "ge"};
    DtVar *args[2] = {left, right};
    return dt_fold_operator_failure(trace, names[op], args, 2);
}

/* An instance on the left has the first turn, one on the right the last. */
static DtStatus
compare_array(DtTrace *trace, int op, DtArrayVar *array, DtVar *left, DtVar *right, DtVar **out)
{
    DtVar *none = dt_not_implemented(trace);
    if (left->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(left->type->tp_richcompare(trace, op, left, right, out));
        return *out != none
                   ? DT_OK
                   : array->adapter->compare(array->adapter, trace, swapped[op], right, left, out);
    }
    DT_TRY(array->adapter->compare(array->adapter, trace, op, left, right, out));
    return *out == none && right->type->kind == DT_KIND_INSTANCE
               ? right->type->tp_richcompare(trace, swapped[op], right, left, out)
               : DT_OK;
}

DtStatus
dt_var_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    DT_TRY(dt_var_check_stack(trace));
    DT_TRY(realize_operands(trace, false, &left, &right));
    DtArrayVar *array = array_operand(left, right);
    DtVar *none = dt_not_implemented(trace);
    *out = none;
    if (array != NULL) {
        DT_TRY(compare_array(trace, op, array, left, right, out));
        return *out != none ? DT_OK : not_comparable(trace, op, left, right, out);
    }
    bool reflected = right_goes_first(trace, left, right);
    if (reflected) {
        DT_TRY(right->type->tp_richcompare(trace, swapped[op], right, left, out));
    }
    if (*out == none) {
        DT_TRY(left->type->tp_richcompare(trace, op, left, right, out));
    }
    if (*out == none && !reflected) {
        DT_TRY(right->type->tp_richcompare(trace, swapped[op], right, left, out));
    }
    return *out != none ? DT_OK : not_comparable(trace, op, left, right, out);
}

/* ---- Containers ------------------------------------------------------------------------------ */

DtStatus
dt_var_contains(DtTrace *trace, DtVar *container, DtVar *item, DtVar **out)
{
    DT_TRY(dt_var_receiver(trace, container, &container));
    if (container->type->kind != DT_KIND_GROWING_DICT) {
        DT_TRY(dt_var_realize(trace, container, &container));
    }
    DT_TRY(dt_var_realize(trace, item, &item));
    return container->type->sq_contains(trace, container, item, out);
}

DtStatus
dt_var_length(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_var_receiver(trace, var, &var));
    if (var->type->sq_length == NULL) {
        PyTypeObject *type = dt_var_python_type(trace, var);
        if (type == NULL
            || (type->tp_as_sequence != NULL && type->tp_as_sequence->sq_length != NULL)
            || (type->tp_as_mapping != NULL && type->tp_as_mapping->mp_length != NULL)) {
            return missing_slot(trace, "len()", var);
        }
        return dt_fold_builtin_failure(trace, "len", var);
    }
    return var->type->sq_length(trace, var, out);
}

DtStatus
dt_var_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DT_TRY(dt_var_receiver(trace, var, &var));
    DT_TRY(dt_var_realize(trace, key, &key));
    if (var->type->kind != DT_KIND_INSTANCE && var->type->kind != DT_KIND_DICT
        && var->type->kind != DT_KIND_GROWING_DICT && var->type->kind != DT_KIND_CLASS) {
        key = dt_payload_index(key);
    }
    if (var->type->mp_subscript == NULL) {
        return missing_slot(trace, "[]", var);
    }
    return var->type->mp_subscript(trace, var, key, out);
}

DtStatus
dt_var_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DT_TRY(dt_var_receiver(trace, var, &var));
    DT_TRY(dt_var_realize(trace, key, &key));
    if (var->type->mp_ass_subscript == NULL) {
        if (var->type->kind == DT_KIND_CONSTANT || var->type->kind == DT_KIND_TUPLE) {
            DtVar *args[3] = {var, key, value};
            return dt_fold_operator_failure(trace, value != NULL ? "setitem" : "delitem", args,
                                            value != NULL ? 3 : 2);
        }
        return missing_slot(trace, "[]=", var);
    }
    return var->type->mp_ass_subscript(trace, var, key, value);
}

/* ---- Objects --------------------------------------------------------------------------------- */

DtStatus
dt_var_getattr(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DT_TRY(dt_var_check_stack(trace));
    DT_TRY(dt_var_receiver(trace, var, &var));
    return var->type->tp_getattro(trace, var, name, out);
}

DtStatus
dt_var_setattr(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    if (var->type->tp_setattro == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "setting attribute '%s' of a %s",
                        dt_kinds_text(name), var->type->name);
    }
    return var->type->tp_setattro(trace, var, name, value);
}

DtStatus
dt_var_call(DtTrace *trace, DtVar *callable, const DtArgs *args, DtVar **out)
{
    DT_TRY(dt_var_check_stack(trace));
    DT_TRY(dt_var_realize(trace, callable, &callable));
    PyObject *substitute;
    DtArgs with_function;
    DT_TRY(dt_substitute_find(trace, callable, &substitute));
    if (substitute != NULL && dt_substitute_fits(substitute, args)) {
        DT_TRY(dt_build_known(trace, substitute, &callable));
    }
    else if (substitute != NULL && callable->type->kind != DT_KIND_FUNCTION) {
        return dt_kinds_mismatch(trace, callable, "", args);
    }
    else if (callable->type->kind == DT_KIND_FUNCTION) {
        DT_TRY(dt_substitute_find_code(trace, (DtFunctionVar *)callable, &substitute));
        if (substitute != NULL && ((DtFunctionVar *)callable)->function != NULL) {
            DT_TRY(dt_args_prepend(trace, args, callable, &with_function));
            DT_TRY(dt_build_known(trace, substitute, &callable));
            args = &with_function;
        }
    }
    if (callable->type->tp_call == NULL) {
        PyTypeObject *type = dt_var_python_type(trace, callable);
        if (type != NULL && type->tp_call == NULL) {
            return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not callable",
                            type->tp_name);
        }
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a call of a %s", callable->type->name);
    }
    return callable->type->tp_call(trace, callable, args, out);
}

DtStatus
dt_var_call_method(DtTrace *trace, DtVar *object, const char *name, DtVar **pos, uint32_t npos,
                   DtVar **out)
{
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
    DtVar *method;
    if (text == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_getattr(trace, object, text, &method));
    DtArgs args = dt_args_of(pos, npos);
    return dt_var_call(trace, method, &args, out);
}

DtStatus
dt_var_iter(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    if (var->type->tp_iter == NULL) {
        PyTypeObject *type = dt_var_python_type(trace, var);
        if (type != NULL && type->tp_iter == NULL
            && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
            return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not iterable",
                            type->tp_name);
        }
        return missing_slot(trace, "iter()", var);
    }
    return var->type->tp_iter(trace, var, out);
}

/* ---- Questions without a status -------------------------------------------------------------- */

/* These can't answer with a status.  A failed realisation means "unknown": a break is remembered
 * by nobody, and only memory can have run out, which the next allocation reports. */
static DtVar *
realize_or_null(DtTrace *trace, DtVar *var)
{
    if (dt_var_realize(trace, var, &var) == DT_OK) {
        return var;
    }
    PyErr_Clear(); /* MemoryError, see above */
    return NULL;
}

PyTypeObject *
dt_var_python_type(DtTrace *trace, DtVar *var)
{
    if (dt_var_receiver(trace, var, &var) != DT_OK) {
        PyErr_Clear(); /* MemoryError, see above */
        return NULL;
    }
    return var->type->python_type != NULL ? var->type->python_type(trace, var) : NULL;
}

PyObject *
dt_var_as_constant(DtTrace *trace, DtVar *var)
{
    if (!dt_recursion_has_room()) {
        return NULL; /* a value of values, nested very deeply */
    }
    var = realize_or_null(trace, var);
    if (var == NULL || var->type->as_constant == NULL) {
        return NULL;
    }
    PyObject *value = var->type->as_constant(trace, var);
    if (value == NULL) {
        PyErr_Clear(); /* MemoryError, see above */
    }
    return value;
}

PyObject *
dt_var_peek_constant(DtVar *var)
{
    var = dt_var_peek(var);
    return var->type->kind == DT_KIND_CONSTANT ? ((DtConstVar *)var)->value : NULL;
}

DtStatus
dt_var_given(DtTrace *trace, DtVar **var)
{
    if (*var == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, *var, var));
    if (dt_var_peek_constant(*var) == Py_None) {
        *var = NULL;
    }
    return DT_OK;
}

void
dt_var_repr(DtVar *var, DtStrbuf *buf)
{
    var->type->repr(var, buf);
}

DtVar *
dt_none(DtTrace *trace)
{
    return trace->none;
}

DtVar *
dt_not_implemented(DtTrace *trace)
{
    return trace->not_implemented;
}

DtVar *
dt_null(DtTrace *trace)
{
    return trace->null;
}
