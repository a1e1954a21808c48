/* match statements: the questions that patterns ask of a value.
 *
 * Mappings are asked through their own get(), classes through isinstance(),
 * __match_args__ and attributes: whatever of it is Python code is followed.
 * Sequence patterns need only the length and items (op_misc.c, op_build.c).
 */
#include "compat/messages.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"

/* ---- Mappings -------------------------------------------------------------------------------- */

/* A key that the pattern has twice, which only names can: a literal twice is a SyntaxError. */
static DtStatus
check_keys(DtTrace *trace, DtVar *const *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            bool same;
            DT_TRY(dt_sequence_item_equal(trace, keys[k], keys[i], &same));
            if (same) {
                PyObject *key = dt_var_as_constant(trace, keys[i]);
                if (key == NULL || !dt_constant_is_safe(key)) {
                    return dt_kinds_raise(trace, "ValueError",
                                          "mapping pattern checks duplicate key");
                }
                return dt_raise(trace, PyExc_ValueError,
                                "mapping pattern checks duplicate key (%R)", key);
            }
        }
    }
    return DT_OK;
}

/* The values of all keys, or *out NULL if one is missing. */
static DtStatus
match_keys(DtTrace *trace, DtVar *subject, DtVar *keys_var, DtVar **out)
{
    DtVar **keys, *cls, *missing, *values;
    uint32_t count;
    const DtArgs none = {0};
    *out = NULL;
    DT_TRY(dt_var_realize(trace, subject, &subject));
    DT_TRY(dt_var_unpack(trace, keys_var, &keys, &count));
    DT_TRY(check_keys(trace, keys, count));
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_build_known(trace, (PyObject *)&PyBaseObject_Type, &cls));
    DT_TRY(dt_var_call(trace, cls, &none, &missing));
    for (uint32_t i = 0; i < count; i++) {
        DtVar *pos[2] = {keys[i], missing};
        DT_TRY(dt_var_call_method(trace, subject, "get", pos, 2, &items[i]));
        if (dt_var_peek(items[i]) == missing) {
            return DT_OK;
        }
    }
    DT_TRY(dt_var_tuple(trace, items, count, &values));
    *out = values;
    return DT_OK;
}

DtStatus
dt_op_match_keys(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *values;
    DT_TRY(match_keys(trace, *dt_frame_at(frame, 2), *dt_frame_at(frame, 1), &values));
    dt_frame_push(frame, values != NULL ? values : dt_none(trace));
    return DT_OK;
}

DtStatus
dt_op_match_keys_bool(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DT_TRY(dt_op_match_keys(trace, frame, instr));
    return dt_frame_push_bool(trace, frame, *dt_frame_at(frame, 1) != dt_none(trace));
}

DtStatus
dt_op_copy_dict_without_keys(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *cls, *rest, *subject = *dt_frame_at(frame, 2), **keys;
    uint32_t count;
    DT_TRY(dt_var_unpack(trace, *dt_frame_at(frame, 1), &keys, &count));
    DT_TRY(dt_build_known(trace, (PyObject *)&PyDict_Type, &cls));
    DtArgs args = dt_args_of(&subject, 1);
    DT_TRY(dt_var_call(trace, cls, &args, &rest));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_ass_subscript(trace, rest, keys[i], NULL));
    }
    *dt_frame_at(frame, 1) = rest;
    return DT_OK;
}

/* ---- Classes --------------------------------------------------------------------------------- */

typedef struct ClassMatch {
    DtVar *subject;
    PyTypeObject *cls;
    PyObject **names; /* attributes that were taken already */
    DtVar **items;
    uint32_t count;
} ClassMatch;

/* *found false: the subject has no such attribute. */
static DtStatus
take_attribute(DtTrace *trace, ClassMatch *match, PyObject *name, bool *found)
{
    DtVar *ignored;
    for (uint32_t i = 0; i < match->count; i++) {
        if (match->names[i] != NULL && PyUnicode_Compare(match->names[i], name) == 0) {
            return dt_raise(trace, PyExc_TypeError,
                            "%s() got multiple sub-patterns for attribute %R", match->cls->tp_name,
                            name);
        }
    }
    match->names[match->count] = name;
    DtStatus status = dt_var_getattr(trace, match->subject, name, &match->items[match->count]);
    *found = !dt_kinds_take_raised(trace, status, PyExc_AttributeError, &ignored);
    match->count++;
    return *found ? status : DT_OK;
}

static DtStatus
get_match_args(DtTrace *trace, DtVar *cls, DtVar ***items, uint32_t *count, bool *self)
{
    PyTypeObject *type = (PyTypeObject *)dt_payload_object(cls);
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__match_args__"));
    DtVar *args, *ignored;
    if (name == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_var_getattr(trace, cls, name, &args);
    *self = false;
    *count = 0;
    if (dt_kinds_take_raised(trace, status, PyExc_AttributeError, &ignored)) {
        *self = PyType_HasFeature(type, _Py_TPFLAGS_MATCH_SELF);
        return DT_OK;
    }
    DT_TRY(status);
    DT_TRY(dt_var_realize(trace, args, &args));
    if (dt_var_python_type(trace, args) != &PyTuple_Type) {
        return dt_raise(trace, PyExc_TypeError, "%s.__match_args__ must be a tuple (got %s)",
                        type->tp_name, dt_kinds_type_name(trace, args));
    }
    return dt_var_unpack(trace, args, items, count);
}

static DtStatus
match_positional(DtTrace *trace, ClassMatch *match, DtVar *cls, uint32_t wanted, bool *found)
{
    DtVar **args = NULL;
    uint32_t count;
    bool self;
    DT_TRY(get_match_args(trace, cls, &args, &count, &self));
    uint32_t allowed = self ? 1 : count;
    if (allowed < wanted) {
        return dt_raise(
            trace, PyExc_TypeError, "%s() accepts %zd positional sub-pattern%s (%zd given)",
            match->cls->tp_name, (Py_ssize_t)allowed, allowed == 1 ? "" : "s", (Py_ssize_t)wanted);
    }
    if (self) {
        match->items[match->count++] = match->subject;
        return DT_OK;
    }
    for (uint32_t i = 0; i < wanted && *found; i++) {
        PyObject *name = dt_var_as_constant(trace, args[i]);
        if (name == NULL || !PyUnicode_CheckExact(name)) {
            return dt_raise(trace, PyExc_TypeError,
                            "__match_args__ elements must be strings (got %s)",
                            dt_kinds_type_name(trace, args[i]));
        }
        DT_TRY(take_attribute(trace, match, name, found));
    }
    return DT_OK;
}

/* The attributes that the pattern wants, or *out NULL if the subject does not match. */
static DtStatus
match_class(DtTrace *trace, DtFrame *frame, uint32_t positional, DtVar **out)
{
    DtVar *subject = *dt_frame_at(frame, 3), *cls, *isinstance, *answer, **keywords;
    uint32_t nkeywords;
    bool found;
    *out = NULL;
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 2), &cls));
    if (cls->type->kind != DT_KIND_CLASS) {
        PyTypeObject *type = dt_var_python_type(trace, cls);
        return type == NULL || PyType_IsSubtype(type, &PyType_Type)
                   ? dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a pattern with an unknown class")
                   : dt_raise(trace, PyExc_TypeError, dt_messages_match_class);
    }
    DT_TRY(dt_var_unpack(trace, *dt_frame_at(frame, 1), &keywords, &nkeywords));
    PyObject *function = PyDict_GetItemString(trace->builtins, "isinstance");
    if (function == NULL || !PyCFunction_CheckExact(function)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "isinstance() of another kind");
    }
    DtVar *pos[2] = {subject, cls};
    DtArgs args = dt_args_of(pos, 2);
    DT_TRY(dt_build_known(trace, function, &isinstance));
    DT_TRY(dt_var_call(trace, isinstance, &args, &answer));
    DT_TRY(dt_var_truth(trace, answer, &found));
    if (!found) {
        return DT_OK;
    }
    uint32_t total = positional + nkeywords;
    ClassMatch match = {.subject = subject, .cls = (PyTypeObject *)dt_payload_object(cls)};
    match.names = DT_ARENA_ARRAY(&trace->arena, PyObject *, total + 1);
    match.items = DT_ARENA_ARRAY(&trace->arena, DtVar *, total + 1);
    if (match.names == NULL || match.items == NULL) {
        return dt_no_memory();
    }
    if (positional > 0) {
        DT_TRY(match_positional(trace, &match, cls, positional, &found));
    }
    for (uint32_t i = 0; i < nkeywords && found; i++) {
        PyObject *name = dt_var_as_constant(trace, keywords[i]);
        if (name == NULL) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a pattern's name");
        }
        DT_TRY(take_attribute(trace, &match, name, &found));
    }
    return found ? dt_var_tuple(trace, match.items, match.count, out) : DT_OK;
}

DtStatus
dt_op_match_class(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *values;
    DT_TRY(match_class(trace, frame, (uint32_t)instr->arg, &values));
    frame->sp -= 3;
    dt_frame_push(frame, values != NULL ? values : dt_none(trace));
    return DT_OK;
}

DtStatus
dt_op_match_class_bool(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *values, *subject = *dt_frame_at(frame, 3);
    DT_TRY(match_class(trace, frame, (uint32_t)instr->arg, &values));
    frame->sp -= 3;
    dt_frame_push(frame, values != NULL ? values : subject);
    return dt_frame_push_bool(trace, frame, values != NULL);
}
