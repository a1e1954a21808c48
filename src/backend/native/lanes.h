/* The block loops of a fused stage, and how threads share them.
 *
 *   the stage's units   [ piece ][ piece ][ piece ][ piece ]...
 *   lanes, a thread each      0      1      1       0         whoever is free takes the next one
 *
 * Units are elements; of stages that reduce rows, columns, or parts of rows (reduced_blocks.c).
 * Borders of pieces are where blocks may be cut, so bits don't depend on the number of lanes.  A
 * lane has registers, scratch, floating-point flags and an outcome of its own.
 */
#ifndef DT_BACKEND_NATIVE_LANES_H
#define DT_BACKEND_NATIVE_LANES_H

#include <stdatomic.h>

#include "backend/native/native.h"

typedef struct DtPiece {
    npy_intp start, end;
    npy_intp done; /* so far, from the start on */
} DtPiece;

typedef struct DtLane {
    const DtFused *fused;
    const DtLayout *layout;     /* NULL: operands are dense in one order */
    const DtGeometry *geometry; /* of a stage that reduces */
    char *const *starts;        /* per slot: where operands and results begin */
    npy_intp total, block;      /* elements */
    bool has_targets;
    bool ahead;           /* operands come from memory and are asked for in advance */
    DtPatience *patience; /* of the thread that takes signals; else NULL */
    atomic_bool *stop;    /* set by the first lane that gives up; NULL: there is one lane */
    DtOutcome outcome;
    char *slots[DT_FUSED_MAX_SLOTS];
    DtReader readers[DT_FUSED_MAX_INPUTS]; /* if there is a layout */
    DtTarget targets[DT_FUSED_MAX_OUTPUTS];
} DtLane;

enum { DT_MAX_PIECES = 256 };

typedef struct DtDivision {
    uint32_t lanes; /* wanted */
    uint32_t npieces;
    DtPiece pieces[DT_MAX_PIECES];
} DtDivision;

/* Steps on elements for each lane: for less a thread more doesn't pay. */
extern npy_intp dt_lanes_work;
/* Lanes for so many steps on elements: 1 where more don't pay or are not wanted. */
uint32_t dt_lanes_wanted(npy_intp work);
/* Cuts `units` into pieces, at multiples of `grain`; lanes without a piece are struck off. */
void dt_lanes_divide(DtDivision *division, npy_intp units, npy_intp grain);
/* Bytes of scratch that a lane needs, 64-aligned; given it, they are at `scratch`. */
size_t dt_lanes_place(DtLane *lane, char *scratch);
/* Does all pieces; `first` gets the outcome.  Without the GIL if there is more than one lane;
 * `scratch` has room for each. */
void dt_lanes_run(DtLane *first, DtDivision *division, char *scratch, size_t bytes);

/* Is the next block to be computed? */
static inline bool
dt_lane_goes_on(DtLane *lane)
{
    if (DT_UNLIKELY(lane->patience != NULL && dt_patience_is_over(lane->patience))) {
        lane->outcome.interrupted = true;
    }
    return !lane->outcome.failed && !lane->outcome.interrupted
           && (lane->stop == NULL || !atomic_load_explicit(lane->stop, memory_order_relaxed));
}

/* fused_blocks.c: the elements of a piece.  reduced_blocks.c: its rows, columns or parts. */
void dt_blocks_run(DtLane *lane, DtPiece *piece);
void dt_reduced_run(DtLane *lane, DtPiece *piece);

/* fused_blocks.c: pieces begin at multiples of so many elements. */
npy_intp dt_blocks_grain(const DtLane *lane);
/* reduced_blocks.c: divides a stage that reduces, for at most `lanes` threads. */
void dt_reduced_divide(const DtFused *fused, DtGeometry *geometry, DtDivision *division);
/* Bytes for the results of parts, and what they come to when all pieces are done. */
size_t dt_reduced_parts(const DtFused *fused, const DtGeometry *geometry);
void dt_reduced_finish(DtLane *lane);

#endif
