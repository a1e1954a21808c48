/* The block loop of a stage that reduces nothing: the elements of one piece.
 *
 * Operands that are dense in one order are read where they are; all others are gathered block by
 * block, in the order that NumPy's iterator would have used.  What has been done of the piece is
 * noted, since targets hold it: it is what has to be taken back if the run is dropped.
 */
#include "backend/native/fused.h"
#include "backend/native/lanes.h"

/* Blocks hold several rows, which are gathered, or end with the row, so that a row is read where it
 * lies but loops are entered for each.  Which is cheaper, in nanoseconds: */
enum {
    SHORT_ROW = 64,    /* up to here rows are gathered in any case */
    ENTERING = 12,     /* a loop */
    GATHERING = 5,     /* a row; and then: */
    GATHERED_A_NS = 12 /* elements */
};

/* ---- Dense operands -------------------------------------------------------------------------- */

/* Share `part` of `parts` of the `bytes` that follow `start`. */
#define PREFETCH_SHARE(START, BYTES, PART, PARTS, WRITE)                                           \
    for (npy_intp at = (BYTES) * (PART) / (PARTS), end = (BYTES) * ((PART) + 1) / (PARTS);         \
         at < end; at += 64) {                                                                     \
        __builtin_prefetch((START) + at, WRITE, 3);                                                \
    }

/* For operands that don't fit the caches: while a block is computed, the `next` elements after it
 * are on their way.  A share is asked for after each step, so that arithmetic and memory overlap.
 */
static void
run_steps_ahead(const DtFused *fused, char *const *slots, npy_intp count, npy_intp next,
                DtOutcome *outcome)
{
    npy_intp parts = fused->nsteps;
    for (npy_intp part = 0; part < parts; part++) {
        dt_fused_step(&fused->steps[part], slots, count, outcome);
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            npy_intp size = fused->inputs[i].size;
            PREFETCH_SHARE(slots[fused->inputs[i].slot] + count * size, next * size, part, parts, 0)
        }
        for (uint32_t i = 0; i < fused->noutputs; i++) {
            npy_intp size = fused->outputs[i].size;
            PREFETCH_SHARE(slots[fused->outputs[i].slot] + count * size, next * size, part, parts,
                           1)
        }
    }
}

/* To element `start`. */
static void
seek(DtLane *lane, npy_intp start)
{
    const DtFused *fused = lane->fused;
    for (uint32_t i = 0; lane->layout == NULL && i < fused->ninputs; i++) {
        uint16_t slot = fused->inputs[i].slot;
        lane->slots[slot] = lane->starts[slot] + start * fused->inputs[i].size;
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        uint16_t slot = fused->outputs[i].slot;
        lane->slots[slot] = lane->starts[slot] + start * fused->outputs[i].size;
    }
}

static void
advance(DtLane *lane, npy_intp count, DtPiece *piece)
{
    const DtFused *fused = lane->fused;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        lane->slots[fused->outputs[i].slot] += count * fused->outputs[i].size;
    }
    piece->done += count;
}

/* What the targets hold in the next block is saved, and the block is made there. */
static void
begin_block(DtLane *lane, npy_intp start, npy_intp count)
{
    const DtFused *fused = lane->fused;
    for (uint32_t i = 0; lane->has_targets && i < fused->noutputs; i++) {
        if (lane->targets[i].array != NULL) {
            lane->slots[fused->outputs[i].slot] =
                dt_target_block(&lane->targets[i], lane->layout, start, count);
        }
    }
}

static void
end_block(DtLane *lane, npy_intp start, npy_intp count)
{
    const DtFused *fused = lane->fused;
    for (uint32_t i = 0; lane->has_targets && i < fused->noutputs; i++) {
        if (lane->targets[i].array != NULL) {
            dt_target_put(&lane->targets[i], lane->layout, start, count,
                          lane->slots[fused->outputs[i].slot]);
        }
    }
}

static void
run_dense(DtLane *lane, DtPiece *piece)
{
    const DtFused *fused = lane->fused;
    npy_intp block = lane->block, end = piece->end;
    for (npy_intp at = piece->start; at < end && dt_lane_goes_on(lane);) {
        npy_intp left = end - at;
        npy_intp count = left < block ? left : block;
        begin_block(lane, at, count);
        if (lane->ahead) {
            left -= count;
            run_steps_ahead(fused, lane->slots, count, left < block ? left : block, &lane->outcome);
        }
        else {
            dt_fused_steps(fused, lane->slots, count, &lane->outcome);
        }
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            lane->slots[fused->inputs[i].slot] += count * fused->inputs[i].size;
        }
        advance(lane, count, piece);
        at += count;
    }
}

/* ---- Other operands -------------------------------------------------------------------------- */

/* Do blocks end with the row? */
static bool
is_by_rows(const DtLane *lane, npy_intp inner)
{
    const DtFused *fused = lane->fused;
    npy_intp rows = lane->block / inner, copied = 0;
    if (inner < SHORT_ROW || rows < 2) {
        return inner >= SHORT_ROW;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtReader *reader = &lane->layout->readers[i];
        copied += !reader->linear && !reader->periodic;
    }
    return copied * (GATHERING + inner / GATHERED_A_NS) * rows
           >= (npy_intp)fused->nsteps * ENTERING * (rows - 1);
}

npy_intp
dt_blocks_grain(const DtLane *lane)
{
    if (lane->layout == NULL) {
        return lane->block;
    }
    npy_intp inner = lane->layout->walk_shape[lane->layout->nwalk - 1];
    /* Whole rows: an operand that is the same for each is read once. */
    return is_by_rows(lane, inner) ? lane->block : lane->block - lane->block % inner;
}

static void
run_walk(DtLane *lane, DtPiece *piece)
{
    const DtFused *fused = lane->fused;
    const DtLayout *layout = lane->layout;
    npy_intp inner = layout->walk_shape[layout->nwalk - 1];
    npy_intp block = dt_blocks_grain(lane), end = piece->end;
    bool by_rows = is_by_rows(lane, inner);
    for (npy_intp at = piece->start; at < end && dt_lane_goes_on(lane);) {
        npy_intp left = end - at;
        npy_intp count = left < block ? left : block;
        if (by_rows && inner - at % inner < count) {
            count = inner - at % inner;
        }
        begin_block(lane, at, count);
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            lane->slots[fused->inputs[i].slot] =
                dt_reader_block(&lane->readers[i], layout, at, count, fused->inputs[i].size);
        }
        dt_fused_steps(fused, lane->slots, count, &lane->outcome);
        end_block(lane, at, count);
        advance(lane, count, piece);
        at += count;
    }
}

void
dt_blocks_run(DtLane *lane, DtPiece *piece)
{
    seek(lane, piece->start);
    if (lane->layout == NULL) {
        run_dense(lane, piece);
    }
    else {
        run_walk(lane, piece);
    }
}
