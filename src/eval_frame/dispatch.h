/* Finding the entry that serves a call, and running it.
 *
 * The warm path of everything: no allocation but the results, no user code but
 * what a called stage of the graph runs.
 */
#ifndef DT_EVAL_FRAME_DISPATCH_H
#define DT_EVAL_FRAME_DISPATCH_H

#include "codegen/driver.h"
#include "eval_frame/region.h"

#define DT_DISPATCH_STACK 32 /* arguments, inputs and registers kept on the C stack up to here */

typedef enum DtDispatch {
    DT_DISPATCH_MISS,  /* no entry's guards hold */
    DT_DISPATCH_DONE,  /* *answer is the result */
    DT_DISPATCH_FRAME, /* *entry (a new reference) holds, and runs in a frame */
    DT_DISPATCH_STRAY, /* only of dt_dispatch_run(): it gives no answer, another entry may */
    DT_DISPATCH_PLAIN, /* an entry holds, but this call has to run plainly */
    DT_DISPATCH_ERROR  /* an exception is set */
} DtDispatch;

/* A probe's call: the cache is a point's, and what is found is a segment.  DT_DISPATCH_DONE:
 * *answer is what the probe returns, which may be NULL without an error. */
typedef struct DtSegmentCall {
    const DtDriverSite *site;
    DtPyFrame *frame;
    PyObject **memory;
} DtSegmentCall;

/* `segment` is NULL for a whole frame. */
DtDispatch dt_dispatch_find(DtCodeCache *cache, const DtGuardFrame *frame,
                            const DtSegmentCall *segment, DtEntry **entry, PyObject **answer);

/* After a miss: an attempt to compile, and the same once more if it gave an entry. */
DtDispatch dt_dispatch_compile(DtCodeCache *cache, const DtGuardFrame *frame,
                               const DtSegmentCall *segment, DtEntry **entry, PyObject **answer);

/* The entry's guards hold: runs it, or says how it has to run. */
DtDispatch dt_dispatch_run(DtEntry *entry, const DtGuardFrame *frame, const DtSegmentCall *segment,
                           PyObject **regs, DtEntry **framed, PyObject **answer);

/* Counts a replay; an entry that replays most of its calls goes over to plain execution. */
void dt_dispatch_replayed(DtEntry *entry);

#endif
