/* Whether what was compiled pays: calls timed both ways, by turns.
 *
 *   first call ──► long: weighing at once
 *      ▼ short
 *   warming ──► weighing: compiled, plain, plain, compiled ... ──► kept       the faster median
 *      ▲            │ something was compiled meanwhile                 │ after many calls: again
 *      └────────────┘                                            └──► forsaken: runs plainly
 *
 * A scale belongs to a code cache.  For a whole frame a sample is a call; for a point of a
 * broken frame it is the time from one visit to the next, which takes in everything that the
 * segment changes.  A whole frame that takes as long both ways runs plainly: it costs less memory.
 * A first verdict of short calls that is close is not taken: samples of a busy machine could tell
 * otherwise.  Where calls take times so different that samples of both ways lie mixed, rounds are
 * added up until they say something.  So they are for every point, which is a part of what its
 * samples take, often a small one: several that gain a hundredth each are worth having.  A first
 * verdict against what was compiled is looked at again
 * soon: the first calls, or the first iterations of an outer loop, may be of another kind.
 * Only the native backend is weighed: other backends are there because somebody wants them run,
 * and a call under fullgraph=True is, too.
 *
 * What a call calls may be on a scale, too: a sample inside of which another was taken does not
 * count, since part of it ran the other way.
 *
 * What is kept saves time with every call; that is told now and then (dt_investment_gain), and
 * further attempts live on it.  A point of a frame that is kept as a whole tells nothing: the whole
 * does.
 *
 * Not in here: what running plainly means (compiled_function.c, hook.c, probe.c).
 */
#ifndef DT_EVAL_FRAME_SCALE_H
#define DT_EVAL_FRAME_SCALE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct DtRegion DtRegion;

enum { DT_SCALE_SAMPLES = 8 };

typedef enum DtSide { DT_SIDE_COMPILED, DT_SIDE_PLAIN } DtSide;
typedef enum DtScaleState {
    DT_SCALE_NEW,
    DT_SCALE_WARMING,
    DT_SCALE_WEIGHING,
    DT_SCALE_KEPT,
    DT_SCALE_FORSAKEN,
    DT_SCALE_UNWEIGHED, /* and never will be */
} DtScaleState;

typedef struct DtScale {
    int32_t countdown; /* calls until it has to be asked */
    uint8_t state;     /* DtScaleState */
    uint8_t taken[2];  /* samples, per DtSide */
    uint8_t step;
    uint8_t rounds;    /* verdicts so far */
    uint8_t discarded; /* samples during which something was compiled */
    bool first;        /* the next sample tells whether calls are long */
    bool part;         /* what is weighed is a part of what a sample takes: a point ... */
    bool told;         /* ... and a whole that is kept tells what it saves */
    bool early;        /* in what is weighed an attempt is missing that waits */
    bool busy;         /* a timed call is on its way: calls inside of it are not timed */
    uint32_t calls;    /* while forsaken */
    int64_t samples[2][DT_SCALE_SAMPLES];
    int64_t medians[2]; /* of the last verdict, in ns */
    uint32_t stint;     /* while kept: calls from when it told what they save until it does again */
    uint32_t left;      /* ... and those after them, until it is weighed again */
    uint8_t undecided;  /* rounds that said nothing, and what they said together */
    int32_t ahead;
    int32_t chance;
    int64_t sums[2]; /* of their samples, without the longest of each */
} DtScale;

typedef struct DtScaleRun {
    DtSide side;
    bool timed;
    int64_t start;
    uint64_t news;
    uint64_t taken; /* dt_state.samples */
} DtScaleRun;

/* Not for the moment only? */
static inline bool
dt_scale_is_forsaken(const DtScale *scale)
{
    return scale->state == DT_SCALE_FORSAKEN && !scale->early;
}

/* Has it been found slow twice? */
static inline bool
dt_scale_is_final(const DtScale *scale)
{
    return scale->state == DT_SCALE_FORSAKEN && scale->rounds > 1;
}

/* Is speed all that counts in this region? */
bool dt_scale_weighs(const DtRegion *region);

/* To be asked at every call, the rest only if it says so. */
static inline bool
dt_scale_is_due(DtScale *scale)
{
    if (scale->countdown > 0) {
        scale->countdown--;
        return false;
    }
    return true;
}

/* What compiled calls run now: nothing yet, what may become other code, or what they will go on
 * running, for good or until an attempt is made that waits for the account (waiting), or would be
 * made now (trying).  A scale waits until it is one of these.  A verdict against something that an
 * attempt is still missing in is early: calls are plain while it waits, compiled when it would be
 * made, and then all is weighed anew. */
typedef enum DtScaleReady {
    DT_SCALE_NOTHING,
    DT_SCALE_CHANGING,
    DT_SCALE_WAITING,
    DT_SCALE_TRYING,
    DT_SCALE_SETTLED,
} DtScaleReady;

/* Which way a call goes (run->side); dt_scale_end() after it. */
void dt_scale_begin(DtScale *scale, const DtRegion *region, DtScaleReady ready, DtScaleRun *run);
/* True if this was the call after which it is known that plain execution is as fast. */
bool dt_scale_end(DtScale *scale, const DtScaleRun *run, bool failed);

/* For those who take samples themselves: is it time to (after warming)?  The side of the next one;
 * taking one, which may give the verdict (scale->state). */
bool dt_scale_wants_samples(DtScale *scale, const DtRegion *region);
DtSide dt_scale_next_side(const DtScale *scale);
/* Is it kept, and goes on being so, and has only told what it has saved? */
bool dt_scale_goes_on(DtScale *scale);
void dt_scale_add(DtScale *scale, DtSide side, int64_t ns, bool news);

/* Grows with everything that was compiled, or tried. */
uint64_t dt_scale_news(void);

#endif
