/* Attributes of functions: what C keeps of them, and their own dict.
 *
 *   f.__name__ ─► journal, if the trace has assigned it
 *              ├► existing function: the part, read and guarded through it
 *              └► new function: what a real one of the same code would have
 *
 * Invariants: parts that calls depend on (defaults) are asked of the journal at
 * each call, so that a rollback needs no more than the journal; nothing is
 * assigned to a real function while tracing.
 *
 * Not in here: calls (v_function.c), `__code__` assigned (a break), what `__globals__` does
 * (v_namespace.c).
 */
#include "compat/code.h"
#include "compat/dict.h"
#include "compat/function.h"
#include "compat/type.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

static DtFunctionVar *
function_of(DtVar *self)
{
    return (DtFunctionVar *)self;
}

/* ---- Parts of existing functions ------------------------------------------------------------- */

static DtStatus
read_existing(DtTrace *trace, DtVar *self, PyObject *name, DtFunctionPart part, DtVar **out)
{
    PyObject *function = function_of(self)->function;
    if (part == DT_FUNCTION_ANNOTATIONS) {
        /* Asking for it makes the dict of the tuple that the function began with. */
        PyObject *annotations = PyObject_GetAttr(function, name);
        if (annotations == NULL) {
            return DT_ERROR;
        }
        Py_DECREF(annotations);
    }
    PyObject *value = dt_function_part(function, part);
    const DtSource *source =
        dt_source_get(trace, DT_SOURCE_FUNC_PART, self->source, name, (int64_t)part);
    return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
}

/* ---- Parts of new functions ------------------------------------------------------------------ */

/* A real function of the same code and name, which nobody sees. */
static DtStatus
make_like(DtTrace *trace, DtFunctionVar *self)
{
    if (self->like == NULL) {
        self->like = dt_trace_keep_take(
            trace, PyFunction_NewWithQualName((PyObject *)self->code, self->globals, self->name));
    }
    return self->like != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
read_module(DtTrace *trace, DtFunctionVar *self, DtVar **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__name__"));
    PyObject *value = NULL;
    if (name == NULL) {
        return DT_ERROR;
    }
    if (self->module == NULL || dt_dict_get(self->globals, name, &value) != 1) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the module of the new function %s",
                        dt_kinds_text(self->name));
    }
    return dt_var_build_lazy(trace, value, self->module, out);
}

/* The dict that MAKE_FUNCTION's names and values stand for. */
static DtStatus
read_annotations(DtTrace *trace, DtFunctionVar *self, DtVar **out)
{
    DtVar **items = NULL;
    uint32_t count = 0;
    if (self->annotations != NULL) {
        DT_TRY(dt_var_realize(trace, self->annotations, &self->annotations));
    }
    if (self->annotations == NULL || self->annotations->type->kind == DT_KIND_TUPLE) {
        if (self->annotations != NULL) {
            DT_TRY(dt_var_unpack(trace, self->annotations, &items, &count));
        }
        DT_TRY(dt_var_dict(trace, items, count / 2, &self->annotations));
    }
    *out = self->annotations;
    return DT_OK;
}

static DtStatus
read_cells(DtTrace *trace, DtFunctionVar *self, DtVar **out)
{
    if (self->cells == NULL) {
        DT_TRY(dt_var_tuple(trace, (DtVar *const *)self->closure, self->nclosure, &self->cells));
    }
    *out = self->cells;
    return DT_OK;
}

static DtStatus
read_new(DtTrace *trace, DtVar *var, DtFunctionPart part, DtVar **out)
{
    DtFunctionVar *self = function_of(var);
    *out = dt_none(trace);
    switch (part) {
    case DT_FUNCTION_DEFAULTS:
        *out = self->defaults != NULL ? self->defaults : *out;
        return DT_OK;
    case DT_FUNCTION_KWDEFAULTS:
        *out = self->kwdefaults != NULL ? self->kwdefaults : *out;
        return DT_OK;
    case DT_FUNCTION_MODULE:
        return read_module(trace, self, out);
    case DT_FUNCTION_ANNOTATIONS:
        return read_annotations(trace, self, out);
    case DT_FUNCTION_CLOSURE:
        return self->nclosure > 0 ? read_cells(trace, self, out) : DT_OK;
    default:
        DT_TRY(make_like(trace, self));
        return dt_constant_wrap_take(trace, Py_NewRef(dt_function_part(self->like, part)), out);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* What is left of a part that was deleted. */
static DtStatus
read_deleted(DtTrace *trace, DtVar *self, PyObject *name, DtFunctionPart part, DtVar **out)
{
    if (part != DT_FUNCTION_ANNOTATIONS) {
        *out = dt_none(trace);
        return DT_OK;
    }
    DT_TRY(dt_var_dict(trace, NULL, 0, out));
    return dt_journal_set_attr(trace, self, name, *out);
}

static DtStatus
read_code(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyObject *code = (PyObject *)function_of(self)->code;
    if (function_of(self)->function == NULL) {
        return dt_build_known(trace, code, out);
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_FUNC_CODE, self->source, NULL, 0);
    return source != NULL ? dt_var_build(trace, code, source, out) : DT_ERROR;
}

/* An attribute that users have set: in the function's own dict. */
static DtStatus
read_own(DtTrace *trace, DtVar *self, PyObject *name, bool deleted, DtVar **out)
{
    PyObject *function = function_of(self)->function, *value = NULL;
    PyObject *dict = function != NULL ? ((PyFunctionObject *)function)->func_dict : NULL;
    *out = NULL;
    if (deleted || function == NULL) {
        return DT_OK;
    }
    int found = dict != NULL ? dt_dict_get(dict, name, &value) : 0;
    if (found == 1) {
        const DtSource *source = dt_source_attr(trace, self->source, name);
        return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
    }
    if (found < 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "attribute '%s' can't be read without calling code", dt_kinds_text(name));
    }
    return dt_guard_attr_absent(trace, self->source, name);
}

DtStatus
dt_function_getattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    bool deleted;
    DtVar *stored = dt_journal_get_attr(trace, self, name, &deleted);
    if (stored != NULL) {
        *out = stored;
        return DT_OK;
    }
    int part = dt_function_part_named(name);
    if (part >= 0 && part != DT_FUNCTION_DICT) {
        return deleted ? read_deleted(trace, self, name, (DtFunctionPart)part, out)
               : function_of(self)->function != NULL
                   ? read_existing(trace, self, name, (DtFunctionPart)part, out)
                   : read_new(trace, self, (DtFunctionPart)part, out);
    }
    if (PyUnicode_CompareWithASCIIString(name, "__code__") == 0) {
        return read_code(trace, self, out);
    }
    if (PyUnicode_CompareWithASCIIString(name, "__globals__") == 0
        && !dt_substitute_is_namespace(function_of(self)->globals)) {
        return dt_namespace_new(trace, function_of(self)->globals, NULL, self->source, out);
    }
    PyTypeObject *type = dt_var_python_type(trace, self);
    if (dt_type_lookup(type, name) != NULL) {
        return dt_kind_base.tp_getattro(trace, self, name, out);
    }
    DT_TRY(read_own(trace, self, name, deleted, out));
    return *out != NULL ? DT_OK
                        : dt_raise(trace, PyExc_AttributeError,
                                   "'%.50s' object has no attribute '%U'", type->tp_name, name);
}

DtStatus
dt_function_own_attributes(DtTrace *trace, DtVar *self, DtDictVar *into)
{
    PyObject **names;
    uint32_t count;
    bool deleted;
    PyObject *function = function_of(self)->function;
    if (function != NULL) {
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__dict__"));
        DtVar *dict, *key;
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(read_existing(trace, self, name, DT_FUNCTION_DICT, &dict));
        DT_TRY(dt_var_realize(trace, dict, &dict));
        uint32_t present = dict->type->kind == DT_KIND_DICT ? ((DtDictVar *)dict)->count : 0;
        for (uint32_t i = 0; i < present; i++) {
            const DtDictEntry *entry = &((DtDictVar *)dict)->items[i];
            if (entry->key == NULL || !PyUnicode_CheckExact(entry->key)) {
                return dt_break(trace, DT_BREAK_ATTRIBUTE, "attributes with names that are no str");
            }
            DtVar *stored = dt_journal_get_attr(trace, self, entry->key, &deleted);
            if (!deleted) {
                DT_TRY(dt_var_const(trace, entry->key, &key));
                DT_TRY(dt_dict_store(trace, into, key, stored != NULL ? stored : entry->value));
            }
        }
    }
    DT_TRY(dt_journal_own_names(trace, self, &names, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtVar *key, *value = dt_journal_get_attr(trace, self, names[i], &deleted);
        if (dt_function_part_named(names[i]) < 0) {
            DT_TRY(dt_var_const(trace, names[i], &key));
            DT_TRY(dt_dict_store(trace, into, key, value));
        }
    }
    return DT_OK;
}

/* ---- Assigning ------------------------------------------------------------------------------- */

/* Whether the part takes values of this type. */
static bool
takes(DtTrace *trace, DtFunctionPart part, DtVar *value)
{
    PyTypeObject *type = value != NULL ? dt_var_python_type(trace, value) : NULL;
    bool none = value == NULL || type == Py_TYPE(Py_None);
    switch (part) {
    case DT_FUNCTION_NAME:
    case DT_FUNCTION_QUALNAME:
        return type != NULL && PyType_FastSubclass(type, Py_TPFLAGS_UNICODE_SUBCLASS);
    case DT_FUNCTION_DEFAULTS:
        return none || (type != NULL && PyType_FastSubclass(type, Py_TPFLAGS_TUPLE_SUBCLASS));
    case DT_FUNCTION_KWDEFAULTS:
    case DT_FUNCTION_ANNOTATIONS:
        return none || (type != NULL && PyType_FastSubclass(type, Py_TPFLAGS_DICT_SUBCLASS));
    case DT_FUNCTION_TYPE_PARAMS:
        return type != NULL && PyType_FastSubclass(type, Py_TPFLAGS_TUPLE_SUBCLASS);
    case DT_FUNCTION_DOC:
    case DT_FUNCTION_MODULE:
        return true;
    default:
        return false;
    }
}

/* CPython refuses it: on a real function that nobody sees. */
static DtStatus
refuse(DtTrace *trace, DtVar *var, PyObject *name, PyObject *value)
{
    DtFunctionVar *self = function_of(var);
    DT_TRY(make_like(trace, self));
    if (PyObject_GenericSetAttr(self->like, name, value) == 0) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a function is set",
                        dt_kinds_text(name));
    }
    return dt_raise_from_exception(trace);
}

DtStatus
dt_function_setattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value)
{
    int part = dt_function_part_named(name);
    if (part == DT_FUNCTION_DICT || part == DT_FUNCTION_CLOSURE
        || (part < 0 && dt_type_lookup(dt_var_python_type(trace, self), name) != NULL)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a function is set",
                        dt_kinds_text(name));
    }
    if (part >= 0 && !takes(trace, (DtFunctionPart)part, value)) {
        return refuse(trace, self, name, value != NULL ? Py_Ellipsis : NULL);
    }
    if (part < 0 && value == NULL) {
        bool deleted;
        DtVar *old = dt_journal_get_attr(trace, self, name, &deleted);
        if (old == NULL) {
            DT_TRY(read_own(trace, self, name, deleted, &old));
        }
        if (old == NULL) {
            return refuse(trace, self, name, NULL);
        }
    }
    function_of(self)->assigned = function_of(self)->assigned || part >= 0;
    return dt_journal_set_attr(trace, self, name, value);
}

/* ---- What calls depend on -------------------------------------------------------------------- */

/* The part as the trace has assigned it: *out NULL for None; *found false: it has not. */
static DtStatus
assigned_part(DtTrace *trace, DtVar *self, const char *text, DtVar **out, bool *found)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    bool deleted;
    if (name == NULL) {
        return DT_ERROR;
    }
    *out = dt_journal_get_attr(trace, self, name, &deleted);
    *found = *out != NULL || deleted;
    if (*out != NULL) {
        DT_TRY(dt_var_realize(trace, *out, out));
        *out = dt_var_peek_constant(*out) == Py_None ? NULL : *out;
    }
    return DT_OK;
}

DtStatus
dt_function_as_called(DtTrace *trace, DtFunctionVar *self, DtFunctionVar **out)
{
    DtVar *defaults, *kwdefaults, *name;
    bool found[3];
    *out = self;
    if (!self->assigned) {
        return DT_OK;
    }
    DT_TRY(assigned_part(trace, &self->base, "__defaults__", &defaults, &found[0]));
    DT_TRY(assigned_part(trace, &self->base, "__kwdefaults__", &kwdefaults, &found[1]));
    DT_TRY(assigned_part(trace, &self->base, "__qualname__", &name, &found[2]));
    DtFunctionVar *copy = DT_ARENA_NEW(&trace->arena, DtFunctionVar);
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = *self;
    copy->defaults = found[0] ? defaults : self->defaults;
    copy->kwdefaults = found[1] ? kwdefaults : self->kwdefaults;
    if (found[2]) {
        PyObject *text = name != NULL ? dt_var_peek_constant(name) : NULL;
        if (text == NULL || !PyUnicode_CheckExact(text)) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a function of an unusual name");
        }
        copy->name = text;
    }
    *out = copy;
    return DT_OK;
}
