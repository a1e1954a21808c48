/* Compiling segments: where one begins, where it has to end, what follows.
 *
 *   trace breaks at the root's instruction n ─► the last landing before it that is legal
 *                                              ─► the trace begins anew and is cut there
 *
 * What comes after the breaking instruction is wanted as a point, so that the
 * next segment begins there.
 */
#ifndef DT_EVAL_FRAME_SEGMENT_H
#define DT_EVAL_FRAME_SEGMENT_H

#include "eval_frame/broken.h"
#include "symbolic/interp.h"

typedef struct DtSegment {
    DtPoint *point;
    const DtDriverSite *site;
    int32_t ended;  /* the instruction that ended it, or -1 */
    int32_t landed; /* where it could end before loads were left to the frame, or -1 */
} DtSegment;

/* The frame as the trace begins; tables in `arena`. */
DtStatus dt_segment_begin(DtSegment *segment, DtArena *arena, const DtGuardFrame *frame,
                          DtTraceFrame *from) DT_MUST_CHECK;

/* After a trace that could not go on (or whose end could not be planned): where to cut the next
 * one.  DT_BREAK: nowhere. */
DtStatus dt_segment_shorten(DtSegment *segment, DtTrace *trace, bool planning,
                            uint32_t *stop_at) DT_MUST_CHECK;

/* No segment begins here: the point sleeps, and the next one is behind what ended it.  DT_BREAK. */
DtStatus dt_segment_forsake(DtSegment *segment, DtTrace *trace) DT_MUST_CHECK;

/* The trace is done: what comes after its end is wanted. */
DtStatus dt_segment_note_end(DtSegment *segment, const DtTrace *trace) DT_MUST_CHECK;

/* Fills the fields of a segment's entry. */
DtStatus dt_segment_describe(const DtTrace *trace, uint32_t npushed, DtEntry *entry) DT_MUST_CHECK;

/* No segment begins here. */
void dt_segment_give_up(DtSegment *segment, DtBreakId id);

/* Was the trace of a whole frame too long because of a loop?  Segments keep it a loop. */
bool dt_segment_keeps_a_loop(const DtTrace *trace);

#endif
