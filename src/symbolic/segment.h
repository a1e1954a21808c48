/* Segments: the root is a running frame, entered in its middle and left before its end.  See
 * segment.c. */
#ifndef DT_SYMBOLIC_SEGMENT_H
#define DT_SYMBOLIC_SEGMENT_H

#include "symbolic/frame.h"
#include "symbolic/interp.h"

/* Puts the slots and the stack of a running frame into `root`. */
DtStatus dt_segment_enter(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame) DT_MUST_CHECK;
/* Fills trace->cut from `root`, which stands before the instruction that the segment ends at, and
 * finishes the journal. */
DtStatus dt_segment_cut(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame) DT_MUST_CHECK;
/* The same for a segment that ends with a return: somebody (a traceback) may hold the frame, and
 * what the segment has overwritten or deleted must not live on in it. */
DtStatus dt_segment_return(DtTrace *trace, DtFrame *root, DtVar *result) DT_MUST_CHECK;
/* The cell `real` that slot `slot` of the root holds, one tracker per cell. */
DtStatus dt_segment_cell(DtTrace *trace, DtFrame *root, int slot, PyObject *real,
                         DtVar **out) DT_MUST_CHECK;

/* Before `frame` lets go of `value`.  What was in a running frame may act when it dies, and has to
 * do so in its place among the effects: DT_BREAK. */
DtStatus dt_segment_drops(DtTrace *trace, const DtFrame *frame, DtVar *value) DT_MUST_CHECK;
/* Before slot `slot` of `frame` gets another value, or none. */
DtStatus dt_segment_overwrites(DtTrace *trace, const DtFrame *frame, int slot) DT_MUST_CHECK;
bool dt_segment_is_overwritten(const DtTrace *trace, int slot);
/* After an instruction of the root: the same for what was on its stack. */
DtStatus dt_segment_consumes(DtTrace *trace, const DtFrame *root) DT_MUST_CHECK;
/* Whether anybody would, if `value` died where the segment ends. */
DtStatus dt_segment_acts(DtTrace *trace, DtVar *value, bool *out) DT_MUST_CHECK;

#endif
