/* The symbolic interpreter's entry: follow one frame with trackers. */
#ifndef DT_SYMBOLIC_INTERP_H
#define DT_SYMBOLIC_INTERP_H

#include "variables/trace.h"

#include "bytecode/liveness.h"
#include "bytecode/places.h"

/* The frame to trace.  At its entry: its argument slots (dt_code_argument_slots() of them), and its
 * closure.  In its middle: the memory of the running frame. */
typedef struct DtTraceFrame {
    PyObject *const *locals;
    PyObject *closure; /* tuple of cells or NULL */
    /* Of a running frame only. */
    bool live;
    int32_t at;                 /* instruction that it has reached, after the prologue */
    int32_t base;               /* stack values below it belong to handlers that run */
    const int32_t *frame_index; /* place -> index into `locals` */
    const DtLiveness *liveness; /* of the code; NULL: everything is live */
    DtBytecode *bytecode;       /* of the code, outliving the trace; NULL: it is to be decoded */
    const DtPlaces *places;     /* of the code, outliving the trace; NULL: unknown */
    bool module;                /* module code, whose names are its globals */
    PyObject *rebound;          /* names that its loops store, a set; or NULL */
} DtTraceFrame;

/* Where a segment that can end at root instruction `end` of the history does better to: at the
 * first landing from which nothing but loads lead there.  The number of a root instruction; 0: all
 * of the segment is loads. */
uint32_t dt_segment_before_loads(const DtTrace *trace, const DtPlaces *places, int32_t from,
                                 uint32_t end);

/* Interprets the root frame to its RETURN_VALUE; *result is the returned tracker.  Cut
 * (trace->stop_at): *result is NULL and trace->cut says what is left.  DT_BREAK: trace->brk. */
DtStatus dt_interp_run(DtTrace *trace, const DtTraceFrame *frame, DtVar **result) DT_MUST_CHECK;

#endif
