/* What the trackers of exceptions know of them: shared by v_exception.c and exception_attr.c. */
#ifndef DT_VARIABLES_EXCEPTION_STATE_H
#define DT_VARIABLES_EXCEPTION_STATE_H

#include "variables/kinds.h"

static inline DtInstanceVar *
dt_exception_instance(DtVar *var)
{
    return (DtInstanceVar *)var;
}

static inline const DtExceptionState *
dt_exception_state(DtVar *var)
{
    return dt_exception_instance(var)->exception;
}

/* Was it there before the trace? */
static inline bool
dt_exception_exists(DtVar *var)
{
    return dt_exception_instance(var)->object != NULL;
}

/* v_exception.c: the arguments; a break if they are not known. */
DtStatus dt_exception_args(DtTrace *trace, DtVar *self, DtVar **out) DT_MUST_CHECK;
/* v_exception.c: the member of the C type; NULL: it has none of that name. */
DtExceptionField *dt_exception_field(const DtExceptionState *state, PyObject *name);
/* v_exception.c: what C keeps of an existing one under this name; *out NULL: it can't be read in
 * place. */
DtStatus dt_exception_read(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
/* exception_attr.c */
DtStatus dt_exception_set_traceback(DtTrace *trace, DtVar *self, DtVar *value) DT_MUST_CHECK;

#endif
