/* All mutable state of dyntrace: one struct per interpreter.
 *
 * Only the main interpreter is supported; the module refuses the others.
 * Everything here is read and written under the GIL.
 */
#ifndef DT_EVAL_FRAME_STATE_H
#define DT_EVAL_FRAME_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/map.h"
#include "core/status.h"
#include "variables/trace.h"

typedef struct DtRegion DtRegion;

/* What DYNTRACE_LOGS can name: LOG(NAME, "text"). */
#define DT_LOG_ARTIFACTS(LOG)                                                                      \
    LOG(GRAPH, "graph")                                                                            \
    LOG(GUARDS, "guards")                                                                          \
    LOG(BYTECODE, "bytecode")                                                                      \
    LOG(GRAPH_BREAKS, "graph_breaks")                                                              \
    LOG(RECOMPILES, "recompiles")                                                                  \
    LOG(PLAIN, "plain")

typedef enum DtLog {
#define LOG(NAME, TEXT) DT_LOG_##NAME,
    DT_LOG_ARTIFACTS(LOG)
#undef LOG
        DT_LOG_COUNT
} DtLog;

/* What a copy of the process does where calls are compared (verify.h). */
typedef enum DtVerifySide { DT_VERIFY_NOBODY, DT_VERIFY_COMPILED, DT_VERIFY_PLAINLY } DtVerifySide;

typedef struct DtVerifyState {
    bool on;
    DtVerifySide side; /* of a copy; DT_VERIFY_NOBODY in the process itself */
    double share;      /* of the calls that are compared */
    uint64_t threshold;
    uint64_t asked;
    PyObject *module; /* dyntrace._verify, once it was switched on */
} DtVerifyState;

typedef struct DtState {
    DtTraceOptions trace_options;
    uint32_t recompile_limit;       /* entries per code object and region */
    uint32_t guess_limit;           /* branches that a trace may guess */
    uint32_t recompile_total_limit; /* the same, those that died counted as well */
    uint32_t attempt_limit;         /* failed attempts per code object and region */
    uint32_t hot_count;             /* plain calls of a prepared function before it is compiled */
    int64_t hot_ns;                 /* ... and how long they took, together */
    uint32_t weigh_after;      /* calls before compiled code is weighed against plain; 0: never */
    bool error_on_recompile;   /* a function that has an entry is not compiled again: an error */
    bool strict;               /* internal faults are raised instead of logged */
    bool everything;           /* also compile frames in which no array operation was found */
    bool translate_loops;      /* loops over numbers run as programs (scalar_loop.h) */
    uint32_t logs;             /* bit per DtLog */
    bool fault_next;           /* test hook: the next attempt ends in an internal fault */
    uint32_t faults;           /* internal faults so far; the first of each kind is logged */
    DtRegion *regions;         /* all live ones, linked; DT_BORROWED */
    DtMap prepared;            /* function -> what prepared.c keeps of it */
    DtArena prepared_arena;    /* of the map */
    int64_t rest_until_ns;     /* on dt_clock_ns(), when the first that rests (resting.h) wakes */
    PyObject *given_back;      /* list of dicts: functions that were prepared and are plain again */
    bool loaded;               /* what tracing needs is there (dt_state_load); then, too: */
    PyObject *unsupported;     /* dyntrace.Unsupported */
    PyObject *recompile_error; /* dyntrace.RecompileError */
    PyObject *replay;   /* sentinel returned by rewritten code: make the call again plainly */
    PyObject *name_key; /* "__name__" */
    uint64_t compiled;  /* entries published */
    int64_t compile_ns; /* on dt_investment_busy_clock(), in attempts of all kinds */
    /* investment.c */
    int64_t began_ns;        /* when the program began to compute, on dt_clock_process_ns(); or 0 */
    int64_t invested_ns;     /* since then, in attempts */
    int64_t paused_until_ns; /* no attempts before, on dt_clock_ns() */
    int64_t gained_ns;       /* what calls of what was kept have saved, as far as it was told */
    uint64_t broken;         /* attempts that ended in a graph break */
    uint64_t samples;        /* begun, of all scales */
    uint64_t loops;          /* programs that loops were translated to (scalar_loop.h) ... */
    uint64_t iterations;     /* ... and what they have run */
    DtVerifyState verify;
} DtState;

extern DtState dt_state;

int dt_state_init(void); /* -1 with an exception */

/* dyntrace's exceptions, and what tracing needs of the standard library.  -1 with an exception. */
int dt_state_load(void);

static inline bool
dt_state_logs(DtLog artifact)
{
    return (dt_state.logs & (1u << artifact)) != 0;
}

/* Sets which artifacts are logged from "graph,guards"; ValueError lists the known names. */
int dt_state_set_logs(const char *names);

#endif
