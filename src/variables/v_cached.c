/* Calls of functions that functools.lru_cache() made before the trace.
 *
 * The user has said that the result may be kept, and it is: a call whose result is there already is
 * that very object, read from the cache at each call of the compiled function and guarded like any
 * input.  That it counts as a hit, and as the latest use, is an effect: the call itself, replayed
 * in order, which runs none of the user's code because the result is there.
 *
 * Invariant: arguments are constants that equal themselves, so looking them up runs no user code.
 * A call whose result is not there is a break: the user's function has to run, and what it returns
 * has to be kept by the cache itself.
 *
 * Not in here: cached functions that the trace makes (polyfills/functools.py), cache_info().
 */
#include "compat/dict.h"
#include "compat/lru_cache.h"
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

/* A new tuple of the arguments, or NULL with DT_OK: one of them is no such constant. */
static DtStatus
known_arguments(DtTrace *trace, const DtArgs *args, PyObject **out)
{
    *out = NULL;
    PyObject *tuple = PyTuple_New(args->npos);
    DtStatus status = tuple != NULL ? DT_OK : DT_ERROR;
    bool known = true;
    for (uint32_t i = 0; i < args->npos && known && status == DT_OK; i++) {
        PyObject *value = NULL;
        status = dt_fold_value(trace, args->pos[i], &value);
        known = value != NULL && equals_itself(value);
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

static DtStatus
replay_call(DtTrace *trace, DtVar *self, PyObject *args)
{
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(args);
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (values == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_const(trace, PyTuple_GET_ITEM(args, i), &values[i]));
    }
    return dt_journal_call(trace, self, values, count);
}

DtStatus
dt_cached_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *function = ((DtObjectVar *)self)->object, *known = NULL;
    if (args->nkw == 0 && self->source != NULL) {
        DT_TRY(known_arguments(trace, args, &known));
    }
    known = known != NULL ? dt_trace_keep_take(trace, known) : NULL;
    PyObject *key = known != NULL ? dt_lru_cache_key(function, known) : NULL;
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
                        PyTuple_GET_SIZE(known) == 0 ? "no arguments" : "these arguments");
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_CACHED, self->source, key, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_present(trace, source));
    DT_TRY(dt_var_build(trace, found, source, out));
    return replay_call(trace, self, known);
}
