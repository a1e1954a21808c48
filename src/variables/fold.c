/* Folding calls of known values: see fold.h.
 *
 * Not in here: folding operators of constants (v_constant.c).
 */
#include "variables/fold.h"
#include "variables/pure.h"

#include <string.h>

#include "variables/array_numbers.h"

#include "compat/type.h"

/* Folding never makes an object with more parts than this. */
#define MAX_PARTS 1000000
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
    if (++self->parts > MAX_PARTS) {
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

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The largest width, count or size that folding takes. */
#define MAX_SIZE 100000

/* Methods and functions whose result is as large as an int argument says. */
static const char *const sized_by_int[] = {
    "center",   "ljust",      "rjust",       "zfill",     "expandtabs", "to_bytes", "__mul__",
    "__rmul__", "__lshift__", "__rlshift__", "__pow__",   "__rpow__",   "bytes",    "bytearray",
    "pow",      "repeat",     "ldexp",       "factorial", "comb",       "perm",     "mul",
    "lshift",   "imul",       "ilshift",     "ipow",      "__imul__",   NULL,
};
/* Those whose strings may say a width. */
static const char *const formatting[] = {
    "format", "format_map", "__format__", "__mod__", "__rmod__", "mod", "imod", NULL,
};

static bool
is_listed(const char *name, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_large_int(PyObject *value)
{
    if (!PyLong_Check(value)) {
        return false;
    }
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow != 0 || number > MAX_SIZE || number < -MAX_SIZE;
}

static bool
is_over_a_thousand(PyObject *value)
{
    return is_large_int(value) || (PyLong_Check(value) && PyLong_AsLong(value) > 1000);
}

/* A width that is an argument. */
static bool
has_star(PyObject *text)
{
    return PyBytes_Check(text)
               ? memchr(PyBytes_AS_STRING(text), '*', (size_t)PyBytes_GET_SIZE(text)) != NULL
               : PyUnicode_FindChar(text, '*', 0, PyUnicode_GET_LENGTH(text), 1) >= 0;
}

/* A run of six digits or more: a width or a precision that is not meant for people. */
static bool
has_large_width(PyObject *value)
{
    Py_ssize_t length = 0, run = 0;
    if (PyBytes_Check(value)) {
        const char *text = PyBytes_AS_STRING(value);
        length = PyBytes_GET_SIZE(value);
        for (Py_ssize_t i = 0; i < length && run < 6; i++) {
            run = text[i] >= '0' && text[i] <= '9' ? run + 1 : 0;
        }
    }
    else if (PyUnicode_Check(value)) {
        length = PyUnicode_GET_LENGTH(value);
        for (Py_ssize_t i = 0; i < length && run < 6; i++) {
            run = Py_UNICODE_ISDIGIT(PyUnicode_READ_CHAR(value, i)) ? run + 1 : 0;
        }
    }
    return run >= 6;
}

static Py_ssize_t
size_of(PyObject *value)
{
    return PyUnicode_Check(value) ? PyUnicode_GET_LENGTH(value)
           : PyBytes_Check(value) ? PyBytes_GET_SIZE(value)
                                  : 1;
}

/* replace() and join() put one argument between all parts of another. */
static bool
product_is_large(PyObject *bound, PyObject *args)
{
    double product = bound != NULL ? (double)size_of(bound) + 1 : 1;
    Py_ssize_t largest = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i);
        Py_ssize_t size = PyList_Check(arg)    ? PyList_GET_SIZE(arg)
                          : PyTuple_Check(arg) ? PyTuple_GET_SIZE(arg)
                                               : size_of(arg);
        largest = size > largest ? size : largest;
    }
    return product * (double)largest > 10.0 * MAX_PARTS;
}

static bool
any_in(PyObject *args, PyObject *keywords, bool (*test)(PyObject *))
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i);
        if (test(arg) || (PyTuple_Check(arg) && any_in(arg, NULL, test))) {
            return true;
        }
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (keywords != NULL && PyDict_Next(keywords, &position, &key, &value)) {
        if (test(value)) {
            return true;
        }
    }
    return false;
}

static bool
is_modulo_power(const char *name, PyObject *args)
{
    return (strcmp(name, "pow") == 0 && PyTuple_GET_SIZE(args) == 3)
           || (strcmp(name, "__pow__") == 0 && PyTuple_GET_SIZE(args) == 2);
}

/* Whether a number in it is a size that is too large.  The exact product of two numbers is not as
 * large as what they say. */
static bool
sizes_are_bounded(const char *name, PyObject *bound, PyObject *args, PyObject *keywords)
{
    bool product = strstr(name, "mul") != NULL;
    PyObject *first = bound != NULL                ? bound
                      : PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0)
                                                   : Py_None;
    if (product && (PyLong_Check(first) || PyFloat_Check(first))) {
        PyObject *last = PyTuple_GET_ITEM(args, PyTuple_GET_SIZE(args) - 1);
        return (!PyLong_Check(first) || _PyLong_NumBits(first) < MAX_SIZE)
               && (!PyLong_Check(last) || _PyLong_NumBits(last) < MAX_SIZE);
    }
    bool exponent = strncmp(name, "__", 2) == 0 && is_large_int(first);
    return !exponent && !any_in(args, keywords, is_large_int) && size_of(first) <= 100;
}

static bool
is_bounded(const char *name, PyObject *bound, PyObject *args, PyObject *keywords)
{
    if (is_listed(name, sized_by_int) && !is_modulo_power(name, args)
        && PyTuple_GET_SIZE(args) > 0) {
        return sizes_are_bounded(name, bound, args, keywords)
               || !(any_in(args, keywords, is_large_int)
                    || any_in(args, keywords, is_over_a_thousand));
    }
    if (is_listed(name, formatting)) {
        bool text = bound != NULL && (PyUnicode_Check(bound) || PyBytes_Check(bound));
        return !(text && has_large_width(bound)) && !any_in(args, keywords, has_large_width)
               && !(text && any_in(args, keywords, is_large_int) && has_star(bound));
    }
    if (strcmp(name, "replace") == 0 || strcmp(name, "join") == 0) {
        return !product_is_large(bound, args);
    }
    return true;
}

/* ---- Calling --------------------------------------------------------------------------------- */

#define NAME_SIZE 64

/* What the callable calls itself, for messages and for its bounds. */
static const char *
name_of(PyObject *callable, char buffer[NAME_SIZE])
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
    PyOS_snprintf(buffer, NAME_SIZE, "%s", name != NULL ? dt_kinds_text(name) : "a builtin");
    Py_XDECREF(name);
    return buffer;
}

static DtStatus
check_bounds(DtTrace *trace, PyObject *callable, PyObject *bound, PyObject *args,
             PyObject *keywords)
{
    char buffer[NAME_SIZE];
    const char *name = name_of(callable, buffer);
    if (!is_bounded(name, bound, args, keywords)) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the result of %s() may be very large",
                        name);
    }
    return DT_OK;
}

DtStatus
dt_fold_objects(DtTrace *trace, PyObject *callable, PyObject *bound, PyObject *args,
                PyObject *keywords, DtVar **out)
{
    DT_TRY(check_bounds(trace, callable, bound, args, keywords));
    return dt_constant_wrap_take(trace, PyObject_Call(callable, args, keywords), out);
}

static DtStatus
unknown_argument(DtTrace *trace, PyObject *callable, DtVar *culprit)
{
    char buffer[NAME_SIZE];
    const char *name = name_of(callable, buffer);
    if (culprit->type->kind == DT_KIND_ARRAY) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s() of an array", name);
    }
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() of a %s", name, culprit->type->name);
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
        if (i < args->npos) {
            PyTuple_SET_ITEM(values, i, value);
            continue;
        }
        int failed = PyDict_SetItem(keywords, args->kwnames[i - args->npos], value);
        Py_DECREF(value);
        if (failed < 0) {
            return DT_ERROR;
        }
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
        status = check_bounds(trace, callable, bound, values, keywords);
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

/* ---- Failures -------------------------------------------------------------------------------- */

/* An instance of a class of the same name, which has no methods at all. */
static PyObject *
namesake_of(PyTypeObject *type)
{
    PyObject *module = NULL, *qualname = NULL, *namespace = PyDict_New();
    bool heap = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
    module = PyUnicode_FromString("builtins");
    if (heap) {
        qualname = Py_NewRef(((PyHeapTypeObject *)type)->ht_qualname);
        PyObject *key = PyUnicode_InternFromString("__module__");
        PyObject *own = key != NULL ? dt_type_own_lookup(type, key) : NULL;
        if (own != NULL && PyUnicode_CheckExact(own)) {
            Py_XDECREF(module);
            module = Py_NewRef(own);
        }
        Py_XDECREF(key);
    }
    PyObject *cls = NULL, *instance = NULL;
    if (namespace != NULL && module != NULL
        && PyDict_SetItemString(namespace, "__module__", module) == 0
        && (qualname == NULL || PyDict_SetItemString(namespace, "__qualname__", qualname) == 0)) {
        cls = PyObject_CallFunction((PyObject *)&PyType_Type, "s()O", type->tp_name, namespace);
    }
    if (cls != NULL) {
        instance = PyObject_CallNoArgs(cls);
    }
    Py_XDECREF(cls);
    Py_XDECREF(module);
    Py_XDECREF(qualname);
    Py_XDECREF(namespace);
    return instance;
}

/* An empty object of a C type whose methods check their first argument; NULL without an exception:
 * it is another sort of type. */
static PyObject *
empty_of(PyTypeObject *type)
{
    PyTypeObject *layout = dt_build_layout(type);
    if (layout == NULL || !dt_payload_is_hidden(layout)) {
        return NULL;
    }
    PyObject *none = PyTuple_New(0);
    PyObject *made = none != NULL ? layout->tp_new(type, none, NULL) : NULL;
    Py_XDECREF(none);
    return made;
}

static PyObject *
filled(DtVar *var)
{
    DtSeqVar *sequence = (DtSeqVar *)var;
    PyObject *list = PyList_New(sequence->count);
    for (uint32_t i = 0; list != NULL && i < sequence->count; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(Py_None));
    }
    if (list != NULL && var->type->kind == DT_KIND_TUPLE) {
        PyObject *tuple = PyList_AsTuple(list);
        Py_DECREF(list);
        return tuple;
    }
    return list;
}

DtStatus
dt_fold_stand_in(DtTrace *trace, DtVar *var, PyObject **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(dt_fold_value(trace, var, out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (dt_array_is_number(var)) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a number of an array in such a place");
    }
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a failing operation on a %s",
                        var->type->name);
    }
    *out = empty_of(type);
    if (*out != NULL || PyErr_Occurred()) {
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    *out = type == &PyTuple_Type || type == &PyList_Type ? filled(var)
           : type == &PyDict_Type                        ? PyDict_New()
           : type == &PySet_Type                         ? PySet_New(NULL)
           : type == &PyFrozenSet_Type                   ? PyFrozenSet_New(NULL)
                                                         : namesake_of(type);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
stand_ins(DtTrace *trace, const DtArgs *args, PyObject *values, PyObject *keywords)
{
    for (uint32_t i = 0; i < args->npos + args->nkw; i++) {
        PyObject *value;
        DtVar *arg = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        DT_TRY(dt_fold_stand_in(trace, arg, &value));
        if (i < args->npos) {
            PyTuple_SET_ITEM(values, i, value);
            continue;
        }
        int failed = PyDict_SetItem(keywords, args->kwnames[i - args->npos], value);
        Py_DECREF(value);
        if (failed < 0) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

/* `result` of something that should have raised. */
static DtStatus
expect_failure(DtTrace *trace, PyObject *result, const char *what)
{
    if (result == NULL) {
        return dt_break_from_exception(trace);
    }
    Py_DECREF(result);
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s with such arguments", what);
}

DtStatus
dt_fold_failure(DtTrace *trace, PyObject *callable, const DtArgs *args)
{
    PyObject *values = PyTuple_New(args->npos);
    PyObject *keywords = args->nkw > 0 ? PyDict_New() : NULL;
    DtStatus status = DT_ERROR;
    if (values != NULL && (args->nkw == 0 || keywords != NULL)) {
        status = stand_ins(trace, args, values, keywords);
    }
    if (status == DT_OK) {
        char buffer[NAME_SIZE];
        status = expect_failure(trace, PyObject_Call(callable, values, keywords),
                                name_of(callable, buffer));
    }
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    return status;
}

static DtStatus
fail_and_drop(DtTrace *trace, DT_STEALS PyObject *callable, DtVar *const *args, uint32_t nargs)
{
    if (callable == NULL) {
        return DT_ERROR;
    }
    DtArgs all = dt_args_of((DtVar **)(uintptr_t)args, nargs);
    DtStatus status = dt_fold_failure(trace, callable, &all);
    Py_DECREF(callable);
    return status;
}

DtStatus
dt_fold_operator_failure(DtTrace *trace, const char *name, DtVar *const *args, uint32_t nargs)
{
    PyObject *module = PyImport_ImportModule("operator");
    PyObject *callable = module != NULL ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return fail_and_drop(trace, callable, args, nargs);
}

DtStatus
dt_fold_method_failure(DtTrace *trace, DtVar *self, const char *name, DtVar *const *args,
                       uint32_t nargs)
{
    PyObject *receiver;
    DT_TRY(dt_fold_stand_in(trace, self, &receiver));
    PyObject *callable = PyObject_GetAttrString(receiver, name);
    Py_DECREF(receiver);
    if (callable == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* what stands for an instance of a subclass has no methods */
        return dt_break(trace, DT_BREAK_RAISES, "%s() of a %s fails", name,
                        dt_kinds_type_name(trace, self));
    }
    return fail_and_drop(trace, callable, args, nargs);
}

DtStatus
dt_fold_builtin_failure(DtTrace *trace, const char *name, DtVar *arg)
{
    PyObject *module = PyImport_ImportModule("builtins");
    PyObject *callable = module != NULL ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return fail_and_drop(trace, callable, &arg, 1);
}

DtStatus
dt_fold_binary_failure(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right)
{
    PyObject *a = NULL, *b = NULL;
    DtStatus status = dt_fold_stand_in(trace, left, &a);
    if (status == DT_OK) {
        status = dt_fold_stand_in(trace, right, &b);
    }
    if (status == DT_OK) {
        status = expect_failure(trace, dt_constant_operate(op, a, b),
                                dt_canonical_binary_symbol((int)op));
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}
