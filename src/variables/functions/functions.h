/* Functions, methods, cells and what wraps functions. */
#ifndef DT_VARIABLES_FUNCTIONS_H
#define DT_VARIABLES_FUNCTIONS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Functions and methods ------------------------------------------------------------------- */

DtStatus dt_cell_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_function_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_method_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_partial_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* Calls a function that lru_cache() made before the trace: a hit, or a break. */
DtStatus dt_cached_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
/* Attributes of functions (function_attr.c). */
DtStatus dt_function_getattr(DtTrace *, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
DtStatus dt_function_setattr(DtTrace *, DtVar *self, PyObject *name, DtVar *value) DT_MUST_CHECK;
/* Stores what is in its own dict, as the trace has left it. */
DtStatus dt_function_own_attributes(DtTrace *trace, DtVar *self, DtDictVar *into) DT_MUST_CHECK;
/* The function with the defaults and the name that the trace has assigned. */
DtStatus dt_function_as_called(DtTrace *trace, DtFunctionVar *self,
                               DtFunctionVar **out) DT_MUST_CHECK;
DtStatus dt_method_new(DtTrace *trace, DtVar *function, DtVar *self, DtVar **out) DT_MUST_CHECK;
/* Is the function of a bound method a descriptor of C?  Those bind in a way of their own. */
bool dt_method_is_of_c(DtVar *function);

#endif
