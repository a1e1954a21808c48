/* Folding calls of known values: see fold.h.
 *
 * Not in here: how large a result may become (fold_bounds.c), codecs (fold_codecs.c), operations
 * that fail (fold_failure.c), folding operators of constants (v_constant.c).
 */
#include "variables/fold.h"
#include "variables/pure.h"

#include <string.h>

#include "variables/numbers/array_numbers.h"

#include "compat/type.h"

#define MAX_DEPTH 200

/* ---- From trackers to objects ---------------------------------------------------------------- */

typedef struct Fold {
    DtTrace *trace;
    DtMap made;     /* mutable tracker -> the object made for it, which its parent keeps alive */
    DtVar *culprit; /* what is not known */
    uint32_t parts;
    uint32_t depth;
} Fold;

static DtStatus fold(Fold *self, DtVar *var, PyObject **out);

/* Objects that are no values, but whose repr, hash and equality are the interpreter's own. */
static bool
is_inert(PyObject *object)
{
    if (PyType_CheckExact(object)) {
        return !(((PyTypeObject *)object)->tp_flags & Py_TPFLAGS_HEAPTYPE);
    }
    return Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyWrapperDescr_Type)
           || (Py_IS_TYPE(object, &PyCFunction_Type) && PyCFunction_GET_SELF(object) != NULL
               && PyModule_CheckExact(PyCFunction_GET_SELF(object)));
}

static DtStatus
remember(Fold *self, DtVar *var, PyObject *made)
{
    if (dt_map_set(&self->trace->arena, &self->made, var, made) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

/* One part of a container; *failed without an error: it is not known. */
static DtStatus
fold_part(Fold *self, DtVar *var, PyObject **part, bool *failed)
{
    if (++self->parts > DT_FOLD_MAX_PARTS) {
        return dt_break(self->trace, DT_BREAK_SYMBOLIC_RANGE, "a constant of too many parts");
    }
    DT_TRY(fold(self, var, part));
    *failed = *part == NULL;
    return DT_OK;
}

static DtStatus
fold_sequence(Fold *self, DtSeqVar *var, PyObject **out)
{
    bool tuple = var->base.type->kind == DT_KIND_TUPLE;
    PyObject *made = tuple ? PyTuple_New(var->count) : PyList_New(var->count);
    if (made == NULL) {
        return DT_ERROR;
    }
    DtStatus status = tuple ? DT_OK : remember(self, &var->base, made);
    bool failed = false;
    for (uint32_t i = 0; i < var->count && status == DT_OK && !failed; i++) {
        PyObject *item = NULL;
        status = fold_part(self, var->items[i], &item, &failed);
        if (item != NULL && tuple) {
            PyTuple_SET_ITEM(made, i, item);
        }
        else if (item != NULL) {
            PyList_SET_ITEM(made, i, item);
        }
    }
    if (status != DT_OK || failed) {
        Py_CLEAR(made);
    }
    *out = made;
    return status;
}

static DtStatus
fold_dict(Fold *self, DtDictVar *var, PyObject **out)
{
    PyObject *made = PyDict_New();
    if (made == NULL) {
        return DT_ERROR;
    }
    DtStatus status = remember(self, &var->base, made);
    bool failed = false;
    for (uint32_t i = 0; i < var->count && status == DT_OK && !failed; i++) {
        PyObject *key = NULL, *value = NULL;
        status = fold_part(self, var->items[i].key_var, &key, &failed);
        if (status == DT_OK && !failed) {
            status = fold_part(self, var->items[i].value, &value, &failed);
        }
        if (status == DT_OK && !failed && PyDict_SetItem(made, key, value) < 0) {
            status = DT_ERROR;
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    if (status != DT_OK || failed) {
        Py_CLEAR(made);
    }
    *out = made;
    return status;
}

static DtStatus
fold_slice(Fold *self, DtSeqVar *var, PyObject **out)
{
    PyObject *parts[3] = {NULL, NULL, NULL};
    DtStatus status = DT_OK;
    bool failed = false;
    for (int i = 0; i < 3 && status == DT_OK && !failed; i++) {
        status = fold_part(self, var->items[i], &parts[i], &failed);
    }
    if (status == DT_OK && !failed) {
        *out = PySlice_New(parts[0], parts[1], parts[2]);
        status = *out != NULL ? DT_OK : DT_ERROR;
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(parts[i]);
    }
    return status;
}

static DtStatus
fold_view(Fold *self, DtDictViewVar *var, PyObject **out)
{
    static const char *const names[] = {"keys", "values", "items"};
    PyObject *dict = NULL;
    DT_TRY(fold(self, &var->dict->base, &dict));
    if (dict == NULL) {
        return DT_OK;
    }
    *out = PyObject_CallMethod(dict, names[var->what], NULL);
    Py_DECREF(dict);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
fold_object(Fold *self, DtVar *var, PyObject **out)
{
    PyObject *value = dt_var_as_constant(self->trace, var);
    if (value != NULL
        && (dt_constant_is_safe(value) || value == Py_NotImplemented || is_inert(value))) {
        *out = Py_NewRef(value);
    }
    return DT_OK;
}

/* An object that never changes, of a type whose texts and comparisons run no user code. */
static DtStatus
fold_known(Fold *self, PyObject *object, PyObject **out)
{
    (void)self;
    if (dt_pure_has_text(object) || dt_adapter_is_fixed(object)) {
        *out = Py_NewRef(object);
    }
    return DT_OK;
}

static DtStatus
fold_kind(Fold *self, DtVar *var, PyObject **out)
{
    switch (var->type->kind) {
    case DT_KIND_CONSTANT:
    case DT_KIND_SYMBOLIC:
    case DT_KIND_RANGE:
    case DT_KIND_CLASS:
    case DT_KIND_BUILTIN:
        return fold_object(self, var, out);
    case DT_KIND_TUPLE:
        if (((DtSeqVar *)var)->cls != &PyTuple_Type) {
            return DT_OK;
        }
        if (var->source != NULL && var->source->kind == DT_SOURCE_OBJECT
            && dt_constant_is_safe(var->source->key)) {
            *out = Py_NewRef(var->source->key);
            return DT_OK;
        }
        return fold_sequence(self, (DtSeqVar *)var, out);
    case DT_KIND_LIST:
        return ((DtSeqVar *)var)->cls == &PyList_Type ? fold_sequence(self, (DtSeqVar *)var, out)
                                                      : DT_OK;
    case DT_KIND_DICT:
        return ((DtDictVar *)var)->cls == &PyDict_Type ? fold_dict(self, (DtDictVar *)var, out)
                                                       : DT_OK;
    case DT_KIND_SET:
        return dt_set_fold(self->trace, (DtDictVar *)var, out);
    case DT_KIND_BYTEARRAY:
        *out = dt_bytearray_real(var);
        return *out != NULL ? DT_OK : DT_ERROR;
    case DT_KIND_SLICE:
        return fold_slice(self, (DtSeqVar *)var, out);
    case DT_KIND_OPAQUE:
        return fold_known(self, ((DtObjectVar *)var)->object, out);
    case DT_KIND_DICT_VIEW:
        return fold_view(self, (DtDictViewVar *)var, out);
    default:
        return DT_OK;
    }
}

static DtStatus
fold(Fold *self, DtVar *var, PyObject **out)
{
    *out = NULL;
    DT_TRY(dt_var_realize(self->trace, var, &var));
    PyObject *made = dt_map_get(&self->made, var);
    if (made != NULL) {
        *out = Py_NewRef(made);
        return DT_OK;
    }
    if (self->depth >= MAX_DEPTH) {
        return dt_break(self->trace, DT_BREAK_SYMBOLIC_RANGE, "a constant nested too deeply");
    }
    self->depth++;
    DtStatus status = fold_kind(self, var, out);
    self->depth--;
    if (status == DT_OK && *out == NULL && self->culprit == NULL) {
        self->culprit = var;
    }
    return status;
}

DtStatus
dt_fold_value(DtTrace *trace, DtVar *var, PyObject **out)
{
    Fold self = {.trace = trace};
    return fold(&self, var, out);
}

/* ---- Calling --------------------------------------------------------------------------------- */

const char *
dt_fold_name(PyObject *callable, char buffer[DT_FOLD_NAME_SIZE])
{
    if (PyCFunction_Check(callable)) {
        return ((PyCFunctionObject *)callable)->m_ml->ml_name;
    }
    if (PyType_Check(callable)) {
        return ((PyTypeObject *)callable)->tp_name;
    }
    if (Py_IS_TYPE(callable, &PyMethodDescr_Type) || Py_IS_TYPE(callable, &PyWrapperDescr_Type)) {
        return dt_kinds_text(((PyDescrObject *)callable)->d_name);
    }
    PyObject *name = NULL;
    if (!(Py_TYPE(callable)->tp_flags & Py_TPFLAGS_HEAPTYPE)) { /* a slot of a builtin object */
        name = PyObject_GetAttrString(callable, "__name__");
        PyErr_Clear(); /* no memory for a name that a message wants */
    }
    PyOS_snprintf(buffer, DT_FOLD_NAME_SIZE, "%s",
                  name != NULL ? dt_kinds_text(name) : "a builtin");
    Py_XDECREF(name);
    return buffer;
}

static DtStatus
check_call(DtTrace *trace, PyObject *callable, PyObject *bound, PyObject *args, PyObject *keywords)
{
    char buffer[DT_FOLD_NAME_SIZE];
    const char *name = dt_fold_name(callable, buffer);
    if (!dt_fold_is_bounded(name, bound, args, keywords)) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the result of %s() may be very large",
                        name);
    }
    if (!dt_fold_is_own_codec(name, args, keywords)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "%s() by a codec or an error handler that a program may have registered",
                        name);
    }
    return DT_OK;
}

DtStatus
dt_fold_objects(DtTrace *trace, PyObject *callable, PyObject *bound, PyObject *args,
                PyObject *keywords, DtVar **out)
{
    DT_TRY(check_call(trace, callable, bound, args, keywords));
    return dt_constant_wrap_take(trace, PyObject_Call(callable, args, keywords), out);
}

static DtStatus
unknown_argument(DtTrace *trace, PyObject *callable, DtVar *culprit)
{
    char buffer[DT_FOLD_NAME_SIZE];
    const char *name = dt_fold_name(callable, buffer);
    if (culprit->type->kind == DT_KIND_ARRAY) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s() of an array", name);
    }
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() of a %s", name, culprit->type->name);
}

DtStatus
dt_fold_put_argument(const DtArgs *args, uint32_t i, DT_STEALS PyObject *value, PyObject *values,
                     PyObject *keywords)
{
    if (i < args->npos) {
        PyTuple_SET_ITEM(values, i, value);
        return DT_OK;
    }
    int failed = PyDict_SetItem(keywords, args->kwnames[i - args->npos], value);
    Py_DECREF(value);
    return failed < 0 ? DT_ERROR : DT_OK;
}

static DtStatus
fold_arguments(Fold *self, PyObject *callable, const DtArgs *args, PyObject *values,
               PyObject *keywords)
{
    for (uint32_t i = 0; i < args->npos + args->nkw; i++) {
        PyObject *value;
        DtVar *arg = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        DT_TRY(fold(self, arg, &value));
        if (value == NULL) {
            return unknown_argument(self->trace, callable, self->culprit);
        }
        DT_TRY(dt_fold_put_argument(args, i, value, values, keywords));
    }
    return DT_OK;
}

DtStatus
dt_fold_object_call(DtTrace *trace, PyObject *callable, PyObject *bound, const DtArgs *args,
                    PyObject **out)
{
    Fold self = {.trace = trace};
    PyObject *values = PyTuple_New(args->npos);
    PyObject *keywords = args->nkw > 0 ? PyDict_New() : NULL;
    DtStatus status = DT_ERROR;
    *out = NULL;
    if (values != NULL && (args->nkw == 0 || keywords != NULL)) {
        status = fold_arguments(&self, callable, args, values, keywords);
    }
    if (status == DT_OK) {
        status = check_call(trace, callable, bound, values, keywords);
    }
    if (status == DT_OK) {
        *out = PyObject_Call(callable, values, keywords);
    }
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    return status;
}

DtStatus
dt_fold_call(DtTrace *trace, PyObject *callable, PyObject *bound, const DtArgs *args, DtVar **out)
{
    PyObject *result;
    DT_TRY(dt_fold_object_call(trace, callable, bound, args, &result));
    return dt_constant_wrap_take(trace, result, out);
}
