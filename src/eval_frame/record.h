/* Compile records: what one attempt did, as a Python dict, for explain() and the logs.
 *
 * Made only when somebody looks: a recording region, or DYNTRACE_LOGS.  Texts
 * are put together in python/dyntrace/_report.py from these facts.
 */
#ifndef DT_EVAL_FRAME_RECORD_H
#define DT_EVAL_FRAME_RECORD_H

#include "eval_frame/region.h"
#include "symbolic/interp.h"

/* Nanoseconds spent in each phase of an attempt. */
typedef struct DtPhases {
    int64_t trace, plan, guards, backend, assemble;
} DtPhases;

typedef struct DtAttempt {
    DtCodeCache *cache;
    DtGuardFrame frame;        /* of this call */
    DtTraceFrame from;         /* the same, as the trace begins */
    DtArena decoded;           /* what a whole frame's code is decoded into, for all tries */
    struct DtSegment *segment; /* of a running frame, or NULL: a whole one (segment.h) */
    DtTrace *trace;            /* NULL before it began */
    DtCodePlan plan;
    DtEntry *entry;
    DtPhases phases;
    int64_t began_ns;  /* on dt_clock_ns() */
    DtGuesses guesses; /* the ways of branches as far as they are known */
    bool has_break;
    bool refused;      /* the break is an error */
    bool undecodable;  /* the code object is broken */
    PyObject *broke;   /* DT_OWNED; a segment's break as a dict, if somebody looks */
    const char *fault; /* text of an internal fault, or NULL */
} DtAttempt;

bool dt_record_is_wanted(const DtRegion *region);

/* Appends the attempt to the region's records and writes the logs that are on.  Keeps a pending
 * exception; its own failures are reported as unraisable. */
void dt_record_attempt(DtAttempt *attempt);

/* The code, or what follows the point on a line of it, is forsaken: for the log. */
void dt_record_forsaken(const DtCodeCache *cache, int line);

/* The trace's break as a dict: kept for the record, while the trace begins anew. */
void dt_record_keep_break(DtAttempt *attempt);

/* Before a recompile: which guard of the newest entry failed, for the recompiles log. */
void dt_record_miss(DtAttempt *attempt);

/* The instance of dyntrace.Unsupported for the trace's break: set as the current exception. */
void dt_record_raise_unsupported(DtAttempt *attempt);

/* Calls dyntrace._report.<function>(argument); unraisable on failure. */
void dt_record_report(const char *function, DT_STEALS PyObject *argument);

#endif
