/* What the files about classes and descriptors that the trace makes share (kinds.h: DtMade). */
#ifndef DT_VARIABLES_CLASSES_MADE_H
#define DT_VARIABLES_CLASSES_MADE_H

#include "variables/kinds.h"

/* A tracker for `object`, which is kept and is what `made` says, of kind CLASS or OPAQUE. */
DtStatus dt_made_register(DtTrace *trace, PyObject *object, DtKind kind, DtMade made,
                          DtVar **out) DT_MUST_CHECK;

/* A real function of the same code, which is never called. */
DtStatus dt_made_function(DtTrace *trace, DtFunctionVar *function, PyObject **out) DT_MUST_CHECK;

#endif
