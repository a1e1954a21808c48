/* The symbolic interpreter's entry: follow one frame with trackers. */
#ifndef DT_SYMBOLIC_INTERP_H
#define DT_SYMBOLIC_INTERP_H

#include "variables/trace.h"

/* The frame to trace: bound arguments in the unified slots (NULL: not an argument or unbound). */
typedef struct DtTraceFrame {
    PyObject *const *locals;
    PyObject *closure; /* tuple of cells or NULL */
} DtTraceFrame;

/* Interprets the root frame to its RETURN_VALUE; *result is the returned tracker.  DT_BREAK:
 * trace->brk. */
DtStatus dt_interp_run(DtTrace *trace, const DtTraceFrame *frame, DtVar **result) DT_MUST_CHECK;

#endif
