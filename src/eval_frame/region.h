/* Regions, code caches and entries: where compiled code is kept.
 *
 *   region (one compile request: backend, options)
 *     └─ code cache (one per code object compiled under it)
 *          └─ entry ─ entry ─ entry      newest use first
 *
 * The same helper under two regions has two caches.  A region is a Python
 * object that the garbage collector sees through, entries included, so nothing
 * hangs on the code object itself and cycles through guarded objects are
 * collected.  An entry does not change after it is published, counters apart.
 */
#ifndef DT_EVAL_FRAME_REGION_H
#define DT_EVAL_FRAME_REGION_H

#include "backend/backend.h"
#include "codegen/codegen.h"
#include "eval_frame/scale.h"
#include "eval_frame/state.h"
#include "guards/program.h"
#include "guards/selector.h"

typedef struct DtEntryPlaces {
    int32_t *items;
    uint32_t count;
} DtEntryPlaces;

typedef struct DtEntry DtEntry;
struct DtEntry {
    PyObject_HEAD DtEntry *next; /* DT_OWNED */
    DtGuardProgram *guards;
    uint32_t nregs;
    DtExecutable *executable; /* NULL: no graph, or the rewritten code holds it */
    uint32_t ninputs;
    uint32_t *input_regs; /* where the graph's inputs are after the check */
    uint32_t nloads;
    uint32_t *load_regs;
    DtResultProgram *result; /* NULL: needs a frame, runs `code` */
    PyObject *lent;          /* the graph as `code` calls it, or NULL */
    PyObject *code;          /* rewritten code; may be NULL when result is not */
    PyObject *inlined;       /* tuple of code objects traced through, the root's first */
    /* Of a segment (broken.h). */
    bool segment;
    int32_t target;            /* instruction at which the frame goes on, or DT_LAND_RETURN */
    uint32_t npushed;          /* values that it pushes there */
    DtEntryPlaces nulls;       /* places of its memory that have to hold NULL, */
    DtEntryPlaces bounds;      /* that must not, */
    DtEntryPlaces overwritten; /* that hold NULL or what nobody hears of when it goes */
    bool tried;                /* it may serve calls that verify mode has compared */
    uint64_t hits;
    uint64_t misses;  /* its guards were asked and did not hold */
    uint32_t replays; /* calls made again plainly */
    bool plain;       /* replayed too often: a match runs plainly */
    uint8_t guesses;  /* branches on data that it follows one way ... */
    uint32_t strays;  /* ... calls that went another ... */
    bool astray;      /* ... and that too often: it serves no more */
    int64_t compile_ns;
    int64_t made_ns; /* on dt_clock_ns() */
};

typedef struct DtBroken DtBroken; /* broken.h */
typedef struct DtPoint DtPoint;
typedef struct DtCodeCache DtCodeCache;
/* What the runs of a code as a root under the hook (hook.c) came to. */
typedef struct DtRootRuns {
    uint32_t passed, captured; /* frames, since it was asked last whether the hook is worth it */
    uint8_t waited;            /* how often it stayed for what may still be captured */
    uint8_t quiet;             /* runs in which nothing was captured ... */
    bool loud;                 /* ... after one in which something was */
    bool over;                 /* the hook cost the others more than it gave */
} DtRootRuns;

/* What verify mode (verify.h) has found. */
typedef struct DtVerified {
    uint32_t same;
    uint32_t skipped[10]; /* by DtVerifyReason */
    bool quarantined;     /* a difference was found: it runs plainly */
} DtVerified;

struct DtCodeCache {
    DtCodeCache *next;
    DtBroken *broken; /* what runs when a frame of the code can't be captured whole, or NULL */
    DtRegion *region;
    PyCodeObject *code; /* DT_OWNED */
    DtEntry *entries;   /* DT_OWNED list */
    uint32_t nentries;
    uint32_t failures; /* attempts that gave no entry */
    uint32_t max_regs;
    int64_t budget_ns; /* of the next attempt */
    int64_t spent_ns;  /* by the attempts so far ... */
    int64_t tried_ns;  /* ... the last of which ended then, on dt_clock_ns() */
    bool compiling;    /* somebody is at it: others run plainly */
    bool closed;       /* no further attempts */
    bool refusable;    /* the last attempt broke where a break could have been an error */
    int8_t refusing;   /* what the function says of breaks (refusals.h): -1 nothing, 0, 1 */
    bool point;        /* of segments, from one instruction on (broken.h) */
    bool judged;       /* the hook has decided whether its module is captured at all ... */
    bool reaches;      /* ... and whether its names reach an adapter's library */
    DtRootRuns root;   /* its runs as a root under the hook */
    bool loops;        /* it was called, and a loop found in it */
    bool simple;       /* nothing but positional parameters */
    int nargs;         /* argument slots */
    DtScale scale;     /* of calls; of a point: of what comes between two visits */
    uint64_t misses;
    /* investment.h */
    uint32_t seen;           /* calls that were left plain because they were too few, or ... */
    int64_t early_ns;        /* ... took too little time together */
    uint32_t skips;          /* calls (of a point: visits) ahead at which nothing is asked */
    uint32_t put_off;        /* how many they were when an attempt was put off last */
    uint8_t idle;            /* calls in a row that were timed, short, and reached no array ... */
    uint8_t rests;           /* ... how often it has rested because of such ones ... */
    int64_t idle_until_ns;   /* ... and until when, on dt_clock_ns() */
    int64_t paused_until_ns; /* what needs more than usual waits for itself, on dt_clock_ns() */
    uint32_t made;           /* entries published since the last reset */
    PyObject *varied;        /* DT_OWNED set of numbers that have varied (policy.c), or NULL */
    bool no_guesses;         /* branches on data are breaks (guess.h) */
    bool classes_vary;       /* a class that an entry relied on has changed */
    PyObject *specialised; /* DT_OWNED dict: number -> misses because it had to be one value ... */
    PyObject *opened;      /* DT_OWNED set of those that missed often (policy.c), or NULL */
    uint32_t version;      /* grows whenever the list of entries changes */
    uint32_t selects;      /* the version that the selector was made for */
    DtSelector *selector;  /* DT_OWNED, or NULL: the entries are asked one by one */
    DtVerified verify;
};

struct DtRegion {
    PyObject_HEAD DtRegion *previous, *next_region; /* of dt_state.regions */
    DtCodeCache *caches;
    DtArena arena; /* of the caches and the map */
    DtMap by_code; /* code object -> DtCodeCache */
    PyObject *backend;
    PyObject *options; /* dict or None */
    PyObject *name;    /* str or None */
    PyObject *records; /* list of compile records (explain), or NULL */
    bool fullgraph;
    bool quiet;  /* no warnings: the program did not ask to be compiled */
    int dynamic; /* -1, 0, 1 */
};

extern PyTypeObject DtRegion_Type;
extern PyTypeObject DtEntry_Type;

/* From now on NumPy's arrays are known; imports NumPy if nobody has.  Every region that somebody
 * asks for does it; that of a whole script waits until the script imports NumPy.  -1 with an
 * exception. */
int dt_region_load_numpy(void);

/* The cache of `code` under `region`, made on demand.  NULL with MemoryError. */
DtCodeCache *dt_region_cache(DtRegion *region, PyCodeObject *code);
/* Forgets all entries, failures and decisions of this region. */
void dt_region_reset(DtRegion *region);
void dt_region_reset_all(void);

/* Takes the entry into the cache, as the first to be tried. */
void dt_cache_publish(DtCodeCache *cache, DT_STEALS DtEntry *entry);
/* A row of a report: a dict of the code's function, file and line (-1: its first), and what is in
 * `more`, which is taken; NULL with an exception, or if `more` is NULL. */
DT_OWNED PyObject *dt_cache_row(const DtCodeCache *cache, int line, DT_STEALS PyObject *more);
/* What is measured of a forsaken cache, as such a row. */
DT_OWNED PyObject *dt_cache_forsaken_row(const DtCodeCache *cache, int line);
/* Forgets its entries, failures and decisions. */
void dt_cache_reset(DtCodeCache *cache);
/* Takes it out (its objects died, or reset). */
void dt_cache_retire(DtCodeCache *cache, DtEntry *entry);

#endif
