/* Objects made of classes for annotations: int | None, list[int].
 *
 * They are made while tracing, of parts that are known, and are objects known by identity from then
 * on.  No user code runs: a metaclass that defines the operator, and parts whose attributes are
 * looked at by Python code, are breaks.
 */
#include <string.h>

#include "variables/kinds.h"

bool
dt_class_is_alias(PyObject *object)
{
    return Py_IS_TYPE(object, &Py_GenericAliasType)
           || strcmp(Py_TYPE(object)->tp_name, "types.UnionType") == 0;
}

/* A class whose metaclass is type and that is not of the trace's making, or an alias. */
static bool
is_plain_part(const DtTrace *trace, PyObject *object)
{
    return object != NULL && dt_made_find(trace, object) == NULL
           && (PyType_CheckExact(object) || dt_class_is_alias(object));
}

static DtStatus
known(DtTrace *trace, DT_STEALS PyObject *made, DtVar **out)
{
    if (made == NULL) {
        return dt_break_from_exception(trace);
    }
    made = dt_trace_keep_take(trace, made);
    return made != NULL ? dt_build_known(trace, made, out) : DT_ERROR;
}

DtStatus
dt_class_union(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    PyObject *parts[2];
    DtVar *sides[2] = {left, right};
    *out = dt_not_implemented(trace);
    if (DT_BINARY_PLAIN(op) != DT_BINARY_OR) {
        return DT_OK;
    }
    for (int i = 0; i < 2; i++) {
        DtKind kind = (DtKind)sides[i]->type->kind;
        parts[i] = kind == DT_KIND_CLASS || kind == DT_KIND_OPAQUE
                           || dt_var_peek_constant(sides[i]) == Py_None
                       ? dt_payload_object(sides[i])
                       : NULL;
        if (parts[i] != Py_None && !is_plain_part(trace, parts[i])) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "| of a class and a %s",
                            dt_kinds_type_name(trace, sides[1 - i]));
        }
    }
    return known(trace, PyNumber_Or(parts[0], parts[1]), out);
}

bool
dt_class_makes_alias(PyObject *method)
{
    PyObject *self = PyCFunction_CheckExact(method) ? PyCFunction_GET_SELF(method) : NULL;
    return self != NULL && PyType_Check(self)
           && ((PyCFunctionObject *)method)->m_ml->ml_meth == Py_GenericAlias;
}

/* What the alias is made with: a new reference, or NULL without an exception. */
static DtStatus
alias_part(DtTrace *trace, DtVar *var, PyObject **out)
{
    *out = NULL;
    DT_TRY(dt_var_realize(trace, var, &var));
    DtKind kind = (DtKind)var->type->kind;
    if (kind == DT_KIND_TUPLE && ((DtSeqVar *)var)->cls == &PyTuple_Type) {
        const DtSeqVar *items = (const DtSeqVar *)var;
        PyObject *made = PyTuple_New(items->count);
        for (uint32_t i = 0; made != NULL && i < items->count; i++) {
            PyObject *part = NULL;
            DtVar *item;
            DtStatus status = dt_var_realize(trace, items->items[i], &item);
            if (status == DT_OK && item->type->kind == DT_KIND_TUPLE) {
                status = dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "an alias of nested tuples");
            }
            status = status == DT_OK ? alias_part(trace, item, &part) : status;
            if (status != DT_OK || part == NULL) {
                Py_DECREF(made);
                return status;
            }
            PyTuple_SET_ITEM(made, i, part);
        }
        *out = made;
        return made != NULL ? DT_OK : DT_ERROR;
    }
    PyObject *object = kind == DT_KIND_CLASS || kind == DT_KIND_OPAQUE || kind == DT_KIND_CONSTANT
                           ? dt_payload_object(var)
                           : NULL;
    if (object != NULL && (kind == DT_KIND_CONSTANT || is_plain_part(trace, object))) {
        *out = Py_NewRef(object);
    }
    return DT_OK;
}

DtStatus
dt_class_alias(DtTrace *trace, PyObject *origin, DtVar *part, DtVar **out)
{
    PyObject *value;
    DT_TRY(alias_part(trace, part, &value));
    if (value == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s[] of a %s",
                        ((PyTypeObject *)origin)->tp_name, dt_kinds_type_name(trace, part));
    }
    PyObject *made = Py_GenericAlias(origin, value);
    Py_DECREF(value);
    return known(trace, made, out);
}
