/* The symbolic interpreter's entry: follow one frame with trackers. */
#ifndef DT_SYMBOLIC_INTERP_H
#define DT_SYMBOLIC_INTERP_H

#include "variables/trace.h"

/* The frame to trace: its argument slots (dt_code_argument_slots() of them), and its closure. */
typedef struct DtTraceFrame {
    PyObject *const *locals;
    PyObject *closure; /* tuple of cells or NULL */
} DtTraceFrame;

/* Interprets the root frame to its RETURN_VALUE; *result is the returned tracker.  DT_BREAK:
 * trace->brk. */
DtStatus dt_interp_run(DtTrace *trace, const DtTraceFrame *frame, DtVar **result) DT_MUST_CHECK;

#endif
