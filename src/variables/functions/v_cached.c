/* Calls of functions that functools.lru_cache() made before the trace.
 *
 * The user has said that the result may be kept, and it is: a call whose result is there already is
 * that very object, read from the cache at each call of the compiled function and guarded like any
 * input.  That it counts as a hit, and as the latest use, is an effect: the call itself, replayed
 * in order, which runs none of the user's code because the result is there.
 *
 * Invariant: arguments are constants that equal themselves, or classes, functions and objects that
 * are the same in every call and are compared by identity; looking them up runs no user code.
 * A call whose result is not there is a break: the user's function has to run, and what it returns
 * has to be kept by the cache itself.
 *
 * Not in here: cached functions that the trace makes (polyfills/functools.py), cache_info().
 */
#include <string.h>

#include "compat/dict.h"
#include "compat/lru_cache.h"
#include "compat/recursion.h"
#include "variables/fold.h"

/* NaN is found by identity only, and a folded one is another object. */
static bool
equals_itself(PyObject *value)
{
    if (PyFloat_CheckExact(value)) {
        return !Py_IS_NAN(PyFloat_AS_DOUBLE(value));
    }
    if (PyTuple_CheckExact(value)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
            if (!equals_itself(PyTuple_GET_ITEM(value, i))) {
                return false;
            }
        }
        return true;
    }
    return !PyComplex_CheckExact(value) && dt_dict_is_plain_key(value);
}

/* An object that is the same in every call, and that no Python code hashes or compares: *value, or
 * NULL. */
static DtStatus
known_object(DtTrace *trace, DtVar *var, PyObject **value)
{
    PyObject *object = dt_payload_object(var);
    DtKind kind = (DtKind)var->type->kind;
    bool known = kind == DT_KIND_CLASS || kind == DT_KIND_FUNCTION || kind == DT_KIND_BUILTIN
                 || kind == DT_KIND_ADAPTER_CALLABLE || kind == DT_KIND_OPAQUE
                 || kind == DT_KIND_INSTANCE;
    *value = NULL;
    if (!known || object == NULL || !dt_dict_is_inert_key(object)
        || (var->source != NULL && !dt_build_is_static(trace, var->source))) {
        return DT_OK;
    }
    *value = Py_NewRef(object);
    return kind == DT_KIND_INSTANCE && var->source != NULL
               ? dt_build_guard_identity(trace, object, var->source, false)
               : DT_OK;
}

static DtStatus known_arguments(DtTrace *trace, DtVar *const *vars, uint32_t count, PyObject **out);

static DtStatus
known_argument(DtTrace *trace, DtVar *var, PyObject **value)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(known_object(trace, var, value));
    if (*value != NULL) {
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_TUPLE && ((DtSeqVar *)var)->cls == &PyTuple_Type) {
        return known_arguments(trace, ((DtSeqVar *)var)->items, ((DtSeqVar *)var)->count, value);
    }
    DT_TRY(dt_fold_value(trace, var, value));
    if (*value != NULL && !equals_itself(*value)) {
        Py_CLEAR(*value);
    }
    return DT_OK;
}

/* A new tuple of them, or NULL with DT_OK: one of them is not known. */
static DtStatus
known_arguments(DtTrace *trace, DtVar *const *vars, uint32_t count, PyObject **out)
{
    *out = NULL;
    if (!dt_recursion_has_room()) {
        return dt_break(trace, DT_BREAK_INLINE_DEPTH, "a tuple that is nested very deeply");
    }
    PyObject *tuple = PyTuple_New(count);
    DtStatus status = tuple != NULL ? DT_OK : DT_ERROR;
    bool known = true;
    for (uint32_t i = 0; i < count && known && status == DT_OK; i++) {
        PyObject *value = NULL;
        status = known_argument(trace, vars[i], &value);
        known = value != NULL;
        if (value != NULL) {
            PyTuple_SET_ITEM(tuple, i, value);
        }
    }
    if (status != DT_OK || !known) {
        Py_XDECREF(tuple);
        return status;
    }
    *out = tuple;
    return DT_OK;
}

/* The call, for its counts; by name through a function of ours. */
static DtStatus
replay_call(DtTrace *trace, DtVar *self, DtVar **args, uint32_t count, PyObject *names)
{
    if (names == NULL) {
        return dt_journal_call(trace, self, args, count);
    }
    PyObject *caller = dt_lru_cache_caller();
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 2), *function;
    if (caller == NULL || values == NULL) {
        return caller == NULL ? DT_ERROR : dt_no_memory();
    }
    values[0] = self;
    DT_TRY(dt_var_const(trace, names, &values[1]));
    memcpy(values + 2, args, sizeof(values[0]) * count);
    DT_TRY(dt_build_known(trace, caller, &function));
    return dt_journal_call(trace, function, values, count + 2);
}

DtStatus
dt_cached_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *function = ((DtObjectVar *)self)->object, *known = NULL;
    PyObject *names;
    uint32_t count = args->npos + args->nkw;
    DtVar **all = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (all == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_args_kwnames(trace, args, &names));
    for (uint32_t i = 0; i < count; i++) {
        all[i] = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
    }
    if (self->source != NULL) {
        DT_TRY(known_arguments(trace, all, count, &known));
    }
    known = known != NULL ? dt_trace_keep_take(trace, known) : NULL;
    PyObject *key = known != NULL ? dt_lru_cache_key(function, known, names) : NULL;
    key = key != NULL ? dt_trace_keep_take(trace, key) : NULL;
    if (key == NULL) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                           "a cached function, called with what its cache can't be "
                                           "asked for while tracing");
    }
    PyObject *found = dt_lru_cache_find(function, key);
    if (found == NULL) {
        return dt_break(trace, DT_BREAK_CACHE_MISS, "a call of a cached function with %s",
                        count == 0 ? "no arguments" : "these arguments");
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_CACHED, self->source, key, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_present(trace, source));
    DT_TRY(dt_var_build(trace, found, source, out));
    return replay_call(trace, self, all, count, names);
}
