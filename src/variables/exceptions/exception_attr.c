/* What C keeps of exceptions: args, cause, context, traceback, and the members of the C types.
 *
 * An existing exception is read where it lies, and not changed in any of that.
 */
#include <string.h>

#include "compat/object.h"
#include "compat/type.h"
#include "variables/exceptions/exception_state.h"

DtStatus
dt_exception_set_traceback(DtTrace *trace, DtVar *self, DtVar *value)
{
    DtExceptionState *state;
    DT_TRY(dt_var_realize(trace, value, &value));
    if (value->type->kind != DT_KIND_TRACEBACK && dt_var_peek_constant(value) != Py_None) {
        return dt_raise(trace, PyExc_TypeError, "__traceback__ must be a traceback or None");
    }
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    state->traceback = value;
    return DT_OK;
}

typedef struct AttributeRow {
    const char *name;
    DtUnarySlot get;
    DtStatus (*set)(DtTrace *, DtVar *self, DtVar *value);
} AttributeRow;

static DtStatus
set_args(DtTrace *trace, DtVar *self, DtVar *value)
{
    DtExceptionState *state;
    DtVar **items, *args;
    uint32_t count;
    if (dt_exception_state(self)->prototype != NULL || dt_exception_state(self)->args == NULL
        || dt_exception_exists(self)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "args of an exception is set");
    }
    DT_TRY(dt_collect_list(trace, value, &items, &count));
    DT_TRY(dt_var_tuple(trace, items, count, &args));
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    state->args = args;
    return DT_OK;
}

static DtStatus
get_or_none(DtTrace *trace, DtVar *value, DtVar **out)
{
    *out = value != NULL ? value : dt_none(trace);
    return DT_OK;
}

static DtStatus
get_cause(DtTrace *trace, DtVar *self, DtVar **out)
{
    return get_or_none(trace, dt_exception_state(self)->cause, out);
}

static DtStatus
get_context(DtTrace *trace, DtVar *self, DtVar **out)
{
    if (dt_exception_state(self)->context_unknown) {
        return dt_break(trace, DT_BREAK_RAISES,
                        "the context of an exception, which may be one that the caller handles");
    }
    return get_or_none(trace, dt_exception_state(self)->context, out);
}

static DtStatus
get_suppress(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_bool(trace, dt_exception_state(self)->suppress_context, out);
}

static DtStatus
set_suppress(DtTrace *trace, DtVar *self, DtVar *value)
{
    DtExceptionState *state;
    bool truth;
    DT_TRY(dt_var_truth(trace, value, &truth));
    if (dt_var_python_type(trace, value) != &PyBool_Type) {
        return dt_kinds_raise(trace, "TypeError", "attribute value type must be bool");
    }
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    state->suppress_context = truth;
    return DT_OK;
}

/* None or an exception of the trace. */
static DtStatus
check_chained(DtTrace *trace, const char *what, DtVar *value, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, value, &value));
    *out = dt_var_peek_constant(value) == Py_None ? NULL : value;
    if (*out == NULL || dt_exception_is(value)) {
        return DT_OK;
    }
    PyTypeObject *type = dt_var_python_type(trace, value);
    if (type != NULL && !PyExceptionClass_Check((PyObject *)type)) {
        return dt_raise(trace, PyExc_TypeError,
                        "exception %s must be None or derive from BaseException", what);
    }
    return dt_break(trace, DT_BREAK_RAISES, "an exception %s that existed before", what);
}

DtStatus
dt_exception_set_cause(DtTrace *trace, DtVar *self, DtVar *value)
{
    DtExceptionState *state;
    DT_TRY(check_chained(trace, "cause", value, &value));
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    state->cause = value;
    state->suppress_context = true;
    return DT_OK;
}

static DtStatus
set_context(DtTrace *trace, DtVar *self, DtVar *value)
{
    DtExceptionState *state;
    DT_TRY(check_chained(trace, "context", value, &value));
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    state->context = value;
    state->context_unknown = false;
    return DT_OK;
}

DtStatus
dt_exception_traceback(DtTrace *trace, DtVar *self, DtVar **out)
{
    if (dt_exception_exists(self)) {
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__traceback__"));
        return name != NULL ? dt_exception_get(trace, self, name, out) : DT_ERROR;
    }
    if (dt_exception_state(self)->traceback == NULL && dt_exception_state(self)->raised) {
        DtExceptionState *state;
        DtVar *traceback = DT_KINDS_NEW(trace, TRACEBACK, DtVar, NULL);
        if (traceback == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
        state->traceback = traceback;
    }
    return get_or_none(trace, dt_exception_state(self)->traceback, out);
}

static const AttributeRow attribute_rows[] = {
    {"args", dt_exception_args, set_args},
    {"__cause__", get_cause, dt_exception_set_cause},
    {"__context__", get_context, set_context},
    {"__suppress_context__", get_suppress, set_suppress},
    {"__traceback__", dt_exception_traceback, dt_exception_set_traceback},
};

static const AttributeRow *
find_attribute(PyObject *name)
{
    for (size_t i = 0; i < sizeof(attribute_rows) / sizeof(attribute_rows[0]); i++) {
        if (PyUnicode_CompareWithASCIIString(name, attribute_rows[i].name) == 0) {
            return &attribute_rows[i];
        }
    }
    return NULL;
}

bool
dt_exception_keeps(DtVar *self, PyObject *found)
{
    return dt_exception_is(self) && dt_type_is_static_descriptor(found)
           && PyExceptionClass_Check((PyObject *)PyDescr_TYPE(found));
}

bool
dt_exception_was_told(const DtExceptionState *state)
{
    bool told = state->raised && state->nfields > 0 && state->prototype == NULL;
    for (uint32_t i = 0; i < state->nfields && told; i++) {
        const DtExceptionField *field = &state->fields[i];
        bool context = strcmp(field->name, "name") == 0 || strcmp(field->name, "obj") == 0;
        told = context && dt_var_peek_constant(field->value) == Py_None;
    }
    return told;
}

DtStatus
dt_exception_get(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    if (dt_exception_exists(self)) {
        DT_TRY(dt_exception_read(trace, self, name, out));
        return *out != NULL
                   ? DT_OK
                   : dt_break(trace, DT_BREAK_ATTRIBUTE,
                              "attribute '%s' of a %s that existed before", dt_kinds_text(name),
                              dt_exception_instance(self)->cls->tp_name);
    }
    const AttributeRow *row = find_attribute(name);
    if (row != NULL) {
        return row->get(trace, self, out);
    }
    const DtExceptionField *field = dt_exception_field(dt_exception_state(self), name);
    if (field != NULL) {
        *out = field->value;
        return !dt_exception_was_told(dt_exception_state(self))
                   ? DT_OK
                   : dt_break(trace, DT_BREAK_RAISES, "the name that a %s is about",
                              dt_exception_instance(self)->cls->tp_name);
    }
    PyObject *prototype = dt_exception_state(self)->prototype;
    if (prototype != NULL) {
        /* A member or getter of a C type: no code of the user's. */
        PyObject *value = PyObject_GenericGetAttr(prototype, name);
        if (value == NULL) {
            return dt_raise_from_exception(trace);
        }
        if (dt_constant_is_safe(value)) {
            return dt_var_const_take(trace, value, out);
        }
        Py_DECREF(value);
    }
    return dt_break(trace, DT_BREAK_ATTRIBUTE, "attribute '%s' of a %s", dt_kinds_text(name),
                    dt_exception_instance(self)->cls->tp_name);
}

DtStatus
dt_exception_set(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    const AttributeRow *row = find_attribute(name);
    if (row != NULL && value != NULL) {
        return row->set(trace, self, value);
    }
    const DtExceptionField *field = dt_exception_field(dt_exception_state(self), name);
    if (field == NULL || value == NULL || dt_group_is_class(dt_exception_instance(self)->cls)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a %s is changed",
                        dt_kinds_text(name), dt_exception_instance(self)->cls->tp_name);
    }
    DtExceptionState *state;
    DT_TRY(dt_exception_change(trace, dt_exception_instance(self), &state));
    const DtExceptionField *old = state->fields;
    state->fields = DT_ARENA_ARRAY(&trace->arena, DtExceptionField, state->nfields);
    if (state->fields == NULL) {
        return dt_no_memory();
    }
    memcpy(state->fields, old, state->nfields * sizeof(*old));
    state->fields[field - old].value = value;
    return DT_OK;
}
