/* `is`: whether two trackers are one object, now and in later calls. */
#include "variables/kinds.h"

/* Kinds whose identity guards already say which object it is. */
static bool
has_known_object(DtVar *var)
{
    switch (var->type->kind) {
    case DT_KIND_CONSTANT:
    case DT_KIND_FUNCTION:
    case DT_KIND_BUILTIN:
    case DT_KIND_CLASS:
    case DT_KIND_MODULE:
    case DT_KIND_ADAPTER_CALLABLE:
    case DT_KIND_OPAQUE:
        return dt_payload_object(var) != NULL;
    default:
        return false;
    }
}

/* Constants are guarded by value: which of several equal objects an input is, is another question.
 * Of None and the like there is one.  `left` and `right` are not realised: an object that comes in
 * twice has one tracker, and two sources. */
static DtStatus
guard_objects(DtTrace *trace, DtVar *left, DtVar *right, bool same)
{
    DtVar *sides[2] = {left, right};
    const DtSource *sources[2];
    bool input = false;
    for (int i = 0; i < 2; i++) {
        DtVar *real = dt_var_peek(sides[i]);
        PyObject *object = dt_payload_object(real);
        if (real->type->kind != DT_KIND_CONSTANT || object == Py_None || PyBool_Check(object)
            || object == Py_Ellipsis || object == Py_NotImplemented) {
            return DT_OK;
        }
        sources[i] = sides[i]->source != NULL ? sides[i]->source : real->source;
        input = input || sources[i] != NULL;
        if (sources[i] == NULL) {
            sources[i] = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0);
        }
        if (sources[i] == NULL) {
            return DT_ERROR;
        }
    }
    return input && sources[0] != sources[1] ? dt_guard_alias(trace, sources[0], sources[1], same)
                                             : DT_OK;
}

static bool
is_empty_tuple(DtVar *var)
{
    return var->type->kind == DT_KIND_TUPLE && ((DtSeqVar *)var)->cls == &PyTuple_Type
           && ((DtSeqVar *)var)->count == 0;
}

/* Whether a value that is computed in the graph can be the other object.  An array is a new one; of
 * immutable values there may be one for all who ask: a truth value, a small int, the greater of two
 * numbers. */
static bool
may_be_one_scalar(DtTrace *trace, DtVar *left, DtVar *right)
{
    if ((left->type->kind != DT_KIND_ARRAY && right->type->kind != DT_KIND_ARRAY)
        || (left->source != NULL && right->source != NULL)) {
        return false; /* of inputs it is a guard */
    }
    PyTypeObject *type = dt_var_python_type(trace, left);
    return type != NULL && dt_var_python_type(trace, right) == type
           && (type->tp_as_mapping == NULL || type->tp_as_mapping->mp_ass_subscript == NULL);
}

/* Two trackers of inputs of one kind.  An object of most kinds has one tracker, so these are two
 * objects now; that they stay so is a guard.  A tuple, a slice or a range has a tracker wherever it
 * is read. */
static DtStatus
compare_inputs(DtTrace *trace, DtVar *left, DtVar *right, bool *out)
{
    *out = left->source == right->source;
    if (!*out && !dt_build_is_shared(left->type->kind)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the identity of a %s",
                        dt_kinds_type_name(trace, left));
    }
    return *out ? DT_OK : dt_guard_alias(trace, left->source, right->source, false);
}

/* Both sides, realised; what is compared with a constant (`results is None`) needs only be known
 * as something else. */
static DtStatus
realize_sides(DtTrace *trace, DtVar **left, DtVar **right)
{
    DT_TRY(dt_var_receiver(trace, *left, left));
    DT_TRY(dt_var_receiver(trace, *right, right));
    if ((*left)->type->kind != DT_KIND_CONSTANT && (*right)->type->kind != DT_KIND_CONSTANT) {
        DT_TRY(dt_var_realize(trace, *left, left));
        return dt_var_realize(trace, *right, right);
    }
    DtVar *other = (*left)->type->kind == DT_KIND_CONSTANT ? *right : *left;
    DT_TRY(dt_growing_list_guard(trace, other));
    return dt_growing_dict_guard(trace, other);
}

DtStatus
dt_var_is(DtTrace *trace, DtVar *left, DtVar *right, bool *out)
{
    DtVar *first = left, *second = right;
    DT_TRY(realize_sides(trace, &left, &right));
    *out = left == right;
    if (*out) {
        return guard_objects(trace, first, second, true);
    }
    if (has_known_object(left) && has_known_object(right)) {
        *out = dt_payload_object(left) == dt_payload_object(right);
        return guard_objects(trace, first, second, *out);
    }
    if (is_empty_tuple(left) && is_empty_tuple(right)) {
        *out = true; /* there is only one */
        return DT_OK;
    }
    if (may_be_one_scalar(trace, left, right)) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "the identity of a computed %s",
                        dt_kinds_type_name(trace, left));
    }
    bool left_number = left->type->kind == DT_KIND_SYMBOLIC;
    bool right_number = right->type->kind == DT_KIND_SYMBOLIC;
    if (left_number || right_number) {
        DtVar *number = left_number ? left : right, *other = left_number ? right : left;
        PyObject *value = dt_var_peek_constant(other);
        bool is_bool = ((DtSymVar *)number)->sym->type == DT_SYM_BOOL;
        if (is_bool && value != NULL && PyBool_Check(value)) {
            DT_TRY(dt_var_truth(trace, number, out));
            *out = *out == (value == Py_True);
            return DT_OK;
        }
        PyTypeObject *type = dt_var_python_type(trace, number);
        if (value == NULL ? !(left_number && right_number) : !Py_IS_TYPE(value, type)) {
            return DT_OK;
        }
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the identity of a computed number");
    }
    if ((left->type->kind == DT_KIND_WEAKREF || right->type->kind == DT_KIND_WEAKREF)
        && left->type->kind == right->type->kind
        && (left->source == NULL || right->source == NULL)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the identity of a weak reference");
    }
    if (left->type->kind == DT_KIND_NAMESPACE || right->type->kind == DT_KIND_NAMESPACE) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the identity of a dict of names");
    }
    bool left_stranger = left->type->kind == DT_KIND_STRANGER;
    if (left_stranger != (right->type->kind == DT_KIND_STRANGER)
        && dt_var_python_type(trace, left) == dt_var_python_type(trace, right)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the identity of a %s",
                        dt_kinds_type_name(trace, left));
    }
    if (left->source != NULL && right->source != NULL && left->type->kind == right->type->kind
        && !has_known_object(left) && !has_known_object(right)) {
        return compare_inputs(trace, left, right, out);
    }
    return DT_OK;
}
