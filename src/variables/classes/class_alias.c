/* Objects made of classes for annotations: int | None, list[int]; and what they mean as bases.
 *
 * They are made while tracing, of parts that are known, and are objects known by identity from then
 * on.  No user code runs: a metaclass that defines the operator, and parts whose attributes are
 * looked at by Python code, are breaks.
 */
#include <string.h>

#include "compat/import.h"
#include "compat/type.h"
#include "variables/kinds.h"

bool
dt_class_is_alias(PyObject *object)
{
    return Py_IS_TYPE(object, &Py_GenericAliasType)
           || strcmp(Py_TYPE(object)->tp_name, "types.UnionType") == 0;
}

/* An object of a class of `typing`: an alias, a special form, a type variable. */
static bool
is_of_typing(PyObject *object)
{
    PyObject *module = dt_type_own_lookup_text(Py_TYPE(object), "__module__");
    return module != NULL && PyUnicode_Check(module)
           && PyUnicode_CompareWithASCIIString(module, "typing") == 0;
}

bool
dt_class_is_annotation(PyObject *object)
{
    return dt_class_is_alias(object) || (!PyType_Check(object) && is_of_typing(object));
}

DtStatus
dt_class_guard_annotation(DtTrace *trace, DtVar *var)
{
    PyObject *object = dt_payload_object(var);
    if (var->type->kind != DT_KIND_INSTANCE) {
        return DT_OK;
    }
    return var->source != NULL ? dt_guard_identity(trace, var->source, object)
                               : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                          "an annotation that the trace has made");
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
        return dt_raise_from_exception(trace);
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
                               || kind == DT_KIND_INSTANCE
                           ? dt_payload_object(var)
                           : NULL;
    if (object != NULL && dt_class_is_annotation(object)) {
        DT_TRY(dt_class_guard_annotation(trace, var));
    }
    if (object != NULL
        && (kind == DT_KIND_CONSTANT || is_plain_part(trace, object)
            || dt_class_is_annotation(object))) {
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

/* ---- Bases ----------------------------------------------------------------------------------- */

/* The bases that an alias of `typing` or a builtin stands for; *out NULL: it is no such alias.  No
 * code of the program runs. */
static DtStatus
entries_of(DtTrace *trace, DtVar *base, PyObject *all, PyObject **out)
{
    PyObject *object = dt_payload_object(base);
    *out = NULL;
    if (object == NULL || !dt_class_is_annotation(object)) {
        return DT_OK;
    }
    DT_TRY(dt_class_guard_annotation(trace, base));
    PyObject *entries = PyObject_CallMethod(object, "__mro_entries__", "(O)", all);
    if (entries == NULL) {
        return dt_break_on_exception(trace);
    }
    *out = dt_trace_keep_take(trace, entries);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* A real tuple of aliases and classes that compare by identity; NULL without an exception:
 * something is neither. */
static PyObject *
known_bases(DtTrace *trace, DtVar *const *vars, uint32_t count)
{
    PyObject *all = dt_trace_keep_take(trace, PyTuple_New((Py_ssize_t)count));
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        PyObject *object = dt_payload_object(vars[i]);
        if (object == NULL
            || (!dt_class_is_annotation(object)
                && Py_TYPE(object)->tp_richcompare != PyType_Type.tp_richcompare)) {
            return NULL;
        }
        PyTuple_SET_ITEM(all, (Py_ssize_t)i, Py_NewRef(object));
    }
    return all;
}

DtStatus
dt_class_resolve_bases(DtTrace *trace, DtVar ***vars, uint32_t *count, DtVar **originals)
{
    DT_VEC(DtVar *) bases = {0};
    PyObject *all = known_bases(trace, *vars, *count);
    *originals = NULL;
    for (uint32_t i = 0; i < *count && all != NULL; i++) {
        PyObject *entries;
        DT_TRY(entries_of(trace, (*vars)[i], all, &entries));
        if (entries == NULL) {
            if (dt_vec_push(&trace->arena, &bases, (*vars)[i]) < 0) {
                return dt_no_memory();
            }
            continue;
        }
        DT_TRY(dt_var_tuple(trace, *vars, *count, originals));
        for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(entries); j++) {
            DtVar *entry;
            DT_TRY(dt_build_known(trace, PyTuple_GET_ITEM(entries, j), &entry));
            DT_TRY(dt_var_realize(trace, entry, &entry));
            if (dt_vec_push(&trace->arena, &bases, entry) < 0) {
                return dt_no_memory();
            }
        }
    }
    if (*originals != NULL) {
        *vars = bases.items;
        *count = bases.count;
    }
    return PyErr_Occurred() ? DT_ERROR : DT_OK;
}

/* ---- typing.Generic, where it is of C: it calls functions of Python ------------------------- */

static DtStatus
call_of_typing(DtTrace *trace, const char *name, const DtArgs *args, DtVar **out)
{
    DtVar *function;
    PyObject *object = dt_trace_keep_take(trace, dt_import_attr("typing", name));
    if (object == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_build_known(trace, object, &function));
    return dt_var_call(trace, function, args, out);
}

static DtStatus
call_init_subclass(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return call_of_typing(trace, "_generic_init_subclass", args, out);
}

static DtStatus
call_class_getitem(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return call_of_typing(trace, "_generic_class_getitem", args, out);
}

int
dt_class_alias_init(void)
{
    static const DtMethodRow rows[] = {
        {"__class_getitem__", call_class_getitem, 0, -1, true},
        {"__init_subclass__", call_init_subclass, 0, -1, true},
    };
    PyObject *generic = dt_import_attr("typing", "Generic"); /* which lives as long as typing */
    int failed = generic == NULL;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows) && !failed; i++) {
        PyObject *method = dt_type_own_lookup_text((PyTypeObject *)generic, rows[i].name);
        if (method != NULL && Py_IS_TYPE(method, &PyClassMethodDescr_Type)) {
            failed = dt_builtin_register(method, &rows[i]) < 0;
        }
    }
    Py_XDECREF(generic);
    return failed ? -1 : 0;
}
