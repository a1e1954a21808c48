/* Functions that break: where they are probed, and the driver that runs them.
 *
 *   code cache ─► broken ─┬─ point ─ entries (segments)     probed at an instruction
 *                         ├─ point ─ entries
 *                         └─ driver: the code with a probe at each point
 *
 * The first driver has a probe at every place that a break can lead to; a
 * probe sleeps until its point is *wanted*: the entry of the code, and what
 * comes after an instruction at which a segment had to end.  When nothing new
 * was found for some calls, a driver with the awake points only takes its
 * place, the usual way of each as its quick edge.
 *
 * A point is a code cache of its own: entries, limits and decisions are like
 * those of a whole frame.  Points live as long as the region.  A probe belongs
 * to one driver; when the region goes, probes are cut off from their points.
 *
 * Not in here: tracing segments (compile.c), what a probe does (probe.c).
 */
#ifndef DT_EVAL_FRAME_BROKEN_H
#define DT_EVAL_FRAME_BROKEN_H

#include "bytecode/liveness.h"
#include "bytecode/places.h"
#include "codegen/driver.h"
#include "eval_frame/region.h"

typedef struct DtScalarLoop DtScalarLoop; /* scalar_loop.h */

struct DtPoint {
    DtCodeCache cache;  /* first; `closed` without entries: asleep for good */
    DtScalarLoop *loop; /* whose iterations begin here, once that was asked; or NULL */
    DtBroken *broken;
    int32_t at;
    bool wanted;
    bool first;      /* wanted from the start */
    uint32_t visits; /* of a loop that is entered while it runs, until it is hot */
    /* While it is weighed: the last visit. */
    const void *seen_frame;
    int64_t seen_at;
    uint64_t seen_news;
    uint64_t seen_samples; /* dt_state.samples */
};

/* The point whose cache it is (cache->point). */
static inline DtPoint *
dt_broken_point_of(DtCodeCache *cache)
{
    return (DtPoint *)cache;
}

typedef struct DtProbe {
    PyObject_HEAD DtDriverSite site;
    DtPoint *point;       /* DT_BORROWED; NULL: the region is gone */
    PyCodeObject *driver; /* DT_BORROWED: it owns the probe */
} DtProbe;

extern PyTypeObject DtProbe_Type;

struct DtBroken {
    DtCodeCache *owner;
    DtArena arena; /* of the code and what is known about it */
    DtBytecode *bytecode;
    DtPlaces places;
    DtLiveness liveness;
    bool all_live;     /* the code looks at its own locals by name */
    bool module;       /* module code (running_loops.h) */
    bool entering;     /* it has points in its loops only, which count until they are hot */
    int64_t entered;   /* while `entering`: when a loop of its last call was first seen, or 0; on
                        * dt_investment_clock() */
    PyObject *rebound; /* DT_OWNED set of the names that its loops store, or NULL */
    DtPoint **points;  /* per instruction; NULL: none */
    DT_VEC(DtPoint *) list;
    DT_VEC(DtProbe *) probes; /* DT_OWNED, of all drivers */
    PyCodeObject *driver;     /* DT_OWNED or NULL */
    bool served;              /* something was compiled for a point */
    uint32_t calls;           /* in progress, while verify mode is on */
    uint32_t compared;        /* of these, those that it has compared */
    bool stale;               /* another driver would be better */
    uint32_t calm;            /* calls since something was found */
    uint32_t builds;
    DtPoint *weighed; /* one at a time, or NULL */
    uint32_t waiting; /* visits of others that would be weighed */
};

/* Makes ready to run the code of `cache` broken, from its entry on.  False if it can't be (NULL,
 * without an exception) or memory is out (MemoryError is cleared: the frame can still run).
 * `bytecode` is that code, decoded into an arena that is taken over if there is need of it. */
bool dt_broken_prepare(DtCodeCache *cache, DtArena *decoded, DtBytecode *bytecode);

/* Without any point; `bytecode` NULL: decodes the code of `cache`.  NULL: as above. */
DtBroken *dt_broken_new(DtCodeCache *cache, DtArena *decoded, DtBytecode *bytecode);

/* The point at an instruction where one may be (DT_PLACE_POINT), made on demand and asleep; NULL
 * with MemoryError. */
DtPoint *dt_broken_point_at(DtBroken *broken, int32_t at);

/* May a segment have to end at instruction q?  Loops end segments without a break. */
bool dt_broken_may_end_at(const DtBroken *broken, uint32_t q);

/* The points that come first when q has run plainly, an exception from it included: at most 4. */
int dt_broken_points_after(const DtBroken *broken, int32_t q, int32_t after[4]);

/* Where an iteration of the loop [head, last] begins: at the head, or behind its FOR_ITER, which a
 * segment leaves to the frame.  -1: at no place that can have a point. */
int32_t dt_broken_iteration(const DtBroken *broken, int32_t head, int32_t last);

/* The driver for a call now, or NULL: it runs plainly. */
DT_BORROWED PyCodeObject *dt_broken_driver(DtCodeCache *cache);

/* No driver runs the code, and none will: everything in it sleeps for good.  Only a question: it
 * counts and builds nothing. */
bool dt_broken_is_spent(const DtBroken *broken);

/* Settled: something was compiled for the code; if it breaks, it is run by the driver that it will
 * keep, as far as is known, and none of its points is being weighed.  Waiting, trying: the same,
 * but a point has got no attempt so far, because the account was empty; it is, or is no longer. */
DtScaleReady dt_broken_is_ready(const DtCodeCache *cache);

/* The points after instruction q are wanted.  DT_ERROR: MemoryError. */
DtStatus dt_broken_want_after(DtBroken *broken, int32_t q) DT_MUST_CHECK;

/* Whether the point acts at this visit: those that gain nothing are found out by turns, and
 * forsaken. `frame` tells the activations of the code apart. */
bool dt_broken_weigh(DtPoint *point, const void *frame);

/* Does the point's probe sleep? */
bool dt_broken_sleeps(const DtPoint *point);

/* The point sleeps from now on. */
void dt_broken_close(DtPoint *point);

/* What was compiled for its points may serve calls that verify mode compares. */
void dt_broken_try_all(DtBroken *broken);

/* Has anything been compiled for a point? */
bool dt_broken_has_entries(const DtBroken *broken);

void dt_broken_reset(DtBroken *broken);
int dt_broken_traverse(DtBroken *broken, visitproc visit, void *arg);
void dt_broken_release(DtBroken *broken);

#endif
