/* Context variables that existed before: what the current context holds is an input.
 *
 *   variable ──get()──► its value there (REFERENT), the default of the call, its own, or
 * LookupError
 *
 * Not in here: set() and reset(), which break.
 */
#include "compat/referents.h"
#include "variables/kinds.h"

/* The variable's own default, which it has for life; NULL without an exception: it has none. */
static DtStatus
own_default(DtTrace *trace, PyObject *variable, DtVar **out)
{
    PyObject *value = NULL;
    *out = NULL;
    if (PyContextVar_Get(variable, NULL, &value) < 0) {
        return DT_ERROR;
    }
    value = value != NULL ? dt_trace_keep_take(trace, value) : NULL;
    if (value == NULL) {
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    return dt_build_known(trace, value, out);
}

static DtStatus
context_get(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *variable = ((DtObjectVar *)self)->object, *value = dt_referents_get(variable);
    const DtSource *from = self->source != NULL
                               ? self->source
                               : dt_source_get(trace, DT_SOURCE_OBJECT, NULL, variable, 0);
    const DtSource *source =
        from != NULL ? dt_source_get(trace, DT_SOURCE_REFERENT, from, NULL, 0) : NULL;
    if (value == NULL || source == NULL) {
        return dt_no_memory();
    }
    if (value != dt_referents_missing()) {
        return dt_var_build(trace, value, source, out);
    }
    DT_TRY(dt_guard_identity(trace, source, value));
    if (args->npos > 0) {
        *out = args->pos[0];
        return DT_OK;
    }
    DT_TRY(own_default(trace, variable, out));
    return *out != NULL ? DT_OK : dt_raise_value(trace, PyExc_LookupError, self);
}

static const DtMethodRow get_row = {"get", context_get, 0, 1, false};

const DtMethodRow *
dt_contextvar_row(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, get_row.name) == 0 ? &get_row : NULL;
}
