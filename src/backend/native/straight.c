/* A fused stage over a few elements, with everything resolved beforehand.
 *
 *   frame   [ operand ][ operand ][ number x 16][ register ] ... [ result ]    16 elements each, or
 * 64 steps   function, where in the frame; function, where in the frame; ...
 *
 * Operands are copied into the frame, so that all steps know where everything is and may work on
 * whole groups of four: what is over is filled with the first element, which raises no flag of its
 * own. Arithmetic with one right value is not done by NumPy's loops, which take longer to enter
 * than four elements take to compute, but by functions of ours (quads.c).  What those do not
 * promise is looked for at the end: if any flag was raised, or a NaN came out, nothing of it is
 * used and NumPy's loops run.  An operation that tells NaNs apart without giving one keeps its
 * stage from having a line.
 *
 * The frame is the stage's own: nothing that runs between filling and reading it can run other
 * code.
 */
#include "backend/native/straight.h"

#include <stdlib.h>
#include <string.h>

#include "backend/native/fills.h"
#include "backend/native/fpflags.h"
#include "backend/native/walk.h"

enum {
    FIRST_ROOM =
        16, /* elements; most arrays are so short, and a frame for them stays in the cache */
    GROUP = 4,
    LINE = 64, /* of the cache */
};

typedef struct Step {
    DtQuads *quads; /* or NULL: NumPy's loop, or one from elements to rows or the other way round */
    npy_intp count; /* of groups; of elements for NumPy's loop */
    char *args[DT_LOOP_MAX_ARGS];
    const DtStep *step;
    bool reads; /* flags, before the loop */
} Step;

/* What a run of the line is over. */
typedef struct Extent {
    const DtFew *few; /* NULL: operands are dense, and nothing is reduced */
    unsigned turn;    /* of it */
    npy_intp total, whole;
    npy_intp rows, whole_rows;
} Extent;

struct DtStraight {
    const DtFused *fused;
    uint8_t widest; /* element, of those that have more than eight bytes, or 8 */
    npy_intp room;  /* elements of eight bytes */
    size_t place;   /* bytes of one */
    Step *steps;    /* as many as the stage has */
    char *frame;    /* a place for each slot */
    bool clears;    /* flags that were there before may get lost */
    DtFew *few;     /* or NULL: none has been needed */
    Extent extent;  /* that the counts of steps and the fills are for */
    DtFill *fills;  /* of operands, and of numbers that are not constant */
    uint32_t nfills;
};

static char *
place_of(const DtStraight *straight, uint16_t slot)
{
    return straight->frame + (size_t)slot * straight->place;
}

/* ---- Making it ------------------------------------------------------------------------------- */

/* Our functions clear no flags, and raise some where they are in doubt, so that there may be some
 * where the blocks of the stage have none. */
static void
make_steps(DtStraight *straight)
{
    const DtFused *fused = straight->fused;
    bool pending = false;
    for (uint32_t i = 0; i < fused->nsteps; i++) {
        const DtStep *step = &fused->steps[i];
        Step *own = &straight->steps[i];
        bool between = step->flags & (DT_STEP_REDUCE | DT_STEP_EXPAND);
        *own = (Step){.quads = between ? NULL : step->quads, .step = step};
        uint8_t quiet = own->quads != NULL ? DT_STEP_SILENT : DT_STEP_SILENT | DT_STEP_CLEAR;
        bool raises = !(step->flags & quiet);
        for (int j = 0; j < step->nargs; j++) {
            own->args[j] = place_of(straight, step->slots[j]);
        }
        bool clears = own->quads == NULL && (step->flags & DT_STEP_MAY_CLEAR);
        own->reads = clears && pending;
        straight->clears = straight->clears || (clears && !own->reads);
        pending = raises || (pending && !own->reads);
    }
}

/* A frame of that size, with the constants in their places, and the steps on it. */
static bool
take_frame(DtStraight *straight, npy_intp room)
{
    const DtFused *fused = straight->fused;
    size_t place = (size_t)room * 8;
    if (room > FIRST_ROOM) {
        place += LINE; /* or places would take each other's lines of the cache */
    }
    char *frame = aligned_alloc(LINE, (fused->nslots + 1u) * place);
    if (frame == NULL) {
        return false;
    }
    memset(frame, 0, fused->nslots * place);
    free(straight->frame);
    straight->frame = frame;
    straight->place = place;
    straight->room = room;
    straight->extent.total = 0;
    for (uint32_t i = fused->nvarying; i < fused->nscalars; i++) {
        const DtFusedScalar *constant = &fused->scalars[i];
        dt_fill_repeat(place_of(straight, constant->slot), (const char *)constant->cell, 0,
                       room * 8 / constant->size, constant->size);
    }
    make_steps(straight);
    return true;
}

static DtStraight *
make(const DtFused *fused)
{
    uint32_t nfills = fused->ninputs + fused->nvarying;
    DtStraight *straight =
        calloc(1, sizeof(DtStraight) + fused->nsteps * sizeof(Step) + nfills * sizeof(DtFill));
    if (straight == NULL) {
        return NULL;
    }
    straight->fused = fused;
    straight->steps = (Step *)(straight + 1);
    straight->fills = (DtFill *)(straight->steps + fused->nsteps);
    straight->nfills = nfills;
    straight->widest = 8;
    for (uint32_t i = 0; i < fused->nsteps; i++) {
        if (fused->steps[i].widest > straight->widest) {
            straight->widest = fused->steps[i].widest;
        }
    }
    if (!take_frame(straight, FIRST_ROOM)) {
        free(straight);
        return NULL;
    }
    return straight;
}

bool
dt_straight_reserve(DtStraight *straight, npy_intp total)
{
    npy_intp room = total * straight->widest / 8;
    return room <= straight->room
           || (room <= DT_STRAIGHT_MOST && take_frame(straight, DT_STRAIGHT_MOST));
}

DtStraight *
dt_straight_get(const DtFused *fused, npy_intp total)
{
    if (total > DT_STRAIGHT_MOST || fused->raises || fused->tells_nans) {
        return NULL;
    }
    if (*fused->straight == NULL) {
        *fused->straight = make(fused);
    }
    DtStraight *straight = *fused->straight;
    return straight != NULL && dt_straight_reserve(straight, total) ? straight : NULL;
}

bool
dt_straight_clears(const DtStraight *straight)
{
    return straight->clears;
}

char *
dt_straight_place(const DtStraight *straight, uint16_t slot)
{
    return place_of(straight, slot);
}

DtFew *
dt_few_new(const DtFused *fused)
{
    size_t inputs = fused->ninputs * sizeof(DtFewInput);
    DtFew *few = calloc(1, sizeof(DtFew) + inputs + fused->noutputs * sizeof(DtStrides));
    if (few != NULL) {
        few->inputs = (DtFewInput *)(few + 1);
        few->strides = (DtStrides *)((char *)few->inputs + inputs);
    }
    return few;
}

DtFew *
dt_straight_few(DtStraight *straight)
{
    if (straight->few == NULL) {
        straight->few = dt_few_new(straight->fused);
    }
    return straight->few;
}

void
dt_straight_free(DtStraight *straight)
{
    if (straight != NULL) {
        free(straight->few);
        free(straight->frame);
        free(straight);
    }
}

/* ---- Running it ------------------------------------------------------------------------------ */

/* NumPy's loops need no whole groups. */
static inline npy_intp
whole_groups(const DtFused *fused, npy_intp count)
{
    return fused->nquads == 0 ? count : (count + GROUP - 1) & ~(npy_intp)(GROUP - 1);
}

/* Steps learn how many elements there are, and fills how those lie. */
static void __attribute__((noinline))
prepare(DtStraight *straight, const DtFew *few, npy_intp total)
{
    const DtFused *fused = straight->fused;
    Extent *extent = &straight->extent;
    *extent = (Extent){.few = few, .total = total, .whole = whole_groups(fused, total)};
    if (few != NULL) {
        extent->turn = few->turn;
        extent->rows = few->rows;
        extent->whole_rows = whole_groups(fused, few->rows);
    }
    for (uint32_t i = 0; i < fused->nsteps; i++) {
        Step *own = &straight->steps[i];
        bool rows = own->step->flags & DT_STEP_ROWS;
        npy_intp count = rows ? extent->whole_rows : extent->whole;
        own->count = own->quads != NULL ? (npy_intp)((size_t)count / GROUP) : count;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        bool dense = few == NULL || few->inputs[i].dense;
        straight->fills[i] = (DtFill){.place = place_of(straight, input->slot),
                                      .offsets = dense ? NULL : few->inputs[i].offsets,
                                      .total = total,
                                      .whole = extent->whole,
                                      .slot = input->slot,
                                      .size = input->size};
        dt_fill_choose(&straight->fills[i]);
    }
    for (uint32_t i = 0; i < fused->nvarying; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        DtFill *fill = &straight->fills[fused->ninputs + i];
        *fill = (DtFill){.place = place_of(straight, scalar->slot),
                         .whole = extent->whole,
                         .slot = scalar->slot,
                         .size = scalar->size};
        dt_fill_choose(fill);
    }
}

static inline void
fill(const DtStraight *straight, char *const *slots)
{
    const DtFill *fill = straight->fills;
    for (const DtFill *end = fill + straight->nfills; fill < end; fill++) {
        fill->copy(fill, slots[fill->slot]);
    }
}

static inline void
run_loop(const Step *own, DtOutcome *outcome)
{
    const DtStep *step = own->step;
    npy_intp count = own->count;
    if (own->reads) {
        outcome->flags |= dt_fpflags_read();
    }
    if (step->call(step->context, (char **)own->args, &count, step->strides, step->auxdata) < 0) {
        outcome->failed = true;
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* A step from elements to rows or the other way round. */
static void
run_between(const DtStraight *straight, const Step *own, DtOutcome *outcome)
{
    const DtStep *step = own->step;
    const Extent *extent = &straight->extent;
    const DtFew *few = extent->few;
    if (step->flags & DT_STEP_EXPAND) {
        uint8_t size = (uint8_t)step->strides[1];
        dt_copy_expanded(own->args[1], own->args[0], few->rows, few->length, size);
        dt_fill_repeat(own->args[1], own->args[1], extent->total, extent->whole, size);
        return;
    }
    const DtFusedReduce *reduce = &straight->fused->reduce[step->reduce];
    if (own->reads) {
        outcome->flags |= dt_fpflags_read();
    }
    if (few->columns) {
        dt_reduced_columns(reduce, own->args[0], own->args[1], true, few->rows, few->length,
                           outcome);
    }
    else {
        dt_reduced_rows(reduce, own->args[0], own->args[1], few->rows, few->length, outcome);
        dt_fill_repeat(own->args[0], own->args[0], extent->rows, extent->whole_rows,
                       reduce->loop->sizes[0]);
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* False: a step failed, or is not sure.  Flags are those that were read on the way. */
static inline bool
run_steps(const DtStraight *straight, unsigned *flags)
{
    DtOutcome outcome = {.flags = *flags};
    const Step *own = straight->steps;
    for (const Step *end = own + straight->fused->nsteps; own < end; own++) {
        if (DT_LIKELY(own->quads != NULL)) {
            own->quads(own->args, own->count);
        }
        else if (own->step->flags & (DT_STEP_REDUCE | DT_STEP_EXPAND)) {
            run_between(straight, own, &outcome);
        }
        else {
            run_loop(own, &outcome);
        }
    }
    *flags = outcome.flags;
    return !outcome.failed && !outcome.unsure;
}

/* Runs the steps of a frame that is filled; false: somebody may have to hear of a flag.  To find
 * out whether there are any takes as long as three steps, and mostly there are none when a run
 * begins: that is looked at where there are some at its end. */
static inline bool
run_alone(const DtStraight *straight)
{
    for (int turn = 0; turn < 2; turn++) {
        unsigned flags = 0;
        if (!run_steps(straight, &flags)) {
            return false;
        }
        flags |= dt_fpflags_read();
        if (DT_LIKELY((flags & DT_FP_ALL) == 0)) {
            return true;
        }
        dt_fpflags_clear();
    }
    return false;
}

static inline bool
take(const DtStraight *straight, uint16_t slot, const PyArray_Descr *descr, char *const *slots,
     npy_intp bytes)
{
    return dt_take_choose(descr->type_num, bytes)(place_of(straight, slot), slots[slot], bytes);
}

static inline bool
take_outputs(const DtStraight *straight, char *const *slots, npy_intp total)
{
    const DtFused *fused = straight->fused;
    bool usual = true;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        const DtFusedOutput *output = &fused->outputs[i];
        usual = usual && take(straight, output->slot, output->descr, slots, total * output->size);
    }
    return usual;
}

bool
dt_straight_run(DtStraight *straight, char *const *slots, npy_intp total)
{
    if (DT_UNLIKELY(straight->extent.few != NULL || straight->extent.total != total)) {
        prepare(straight, NULL, total);
    }
    fill(straight, slots);
    return run_alone(straight) && take_outputs(straight, slots, total);
}

static inline void
fill_few(DtStraight *straight, const DtFew *few, char *const *slots)
{
    const Extent *extent = &straight->extent;
    if (DT_UNLIKELY(extent->few != few || extent->turn != few->turn || extent->total == 0)) {
        prepare(straight, few, few->total);
    }
    fill(straight, slots);
}

bool
dt_straight_go(DtStraight *straight, const DtFew *few, char *const *slots, unsigned *flags)
{
    fill_few(straight, few, slots);
    return run_steps(straight, flags);
}

bool
dt_straight_run_few(DtStraight *straight, const DtFew *few, char *const *slots)
{
    const DtFused *fused = straight->fused;
    fill_few(straight, few, slots);
    bool usual = run_alone(straight) && take_outputs(straight, slots, few->total);
    for (uint32_t i = 0; i < fused->nrows; i++) {
        const DtFusedRow *row = &fused->rows[i];
        usual =
            usual
            && (row->equal >= 0
                || take(straight, row->slot, row->descr, slots, dt_few_results(few) * row->size));
    }
    return usual;
}
