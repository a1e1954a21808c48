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

#include "backend/native/by_size.h"
#include "backend/native/fpflags.h"
#include "backend/native/walk.h"

enum {
    FIRST_ROOM =
        16, /* elements; most arrays are so short, and a frame for them stays in the cache */
    GROUP = 4,
    LINE = 64, /* of the cache */
};

typedef struct Step {
    DtQuads *quads; /* or NULL: NumPy's loop */
    char *args[DT_LOOP_MAX_ARGS];
    const DtStep *step;
    bool reads; /* flags, before the loop */
} Step;

struct DtStraight {
    const DtFused *fused;
    uint8_t widest; /* element, of those that have more than eight bytes, or 8 */
    npy_intp room;  /* elements of eight bytes */
    size_t place;   /* bytes of one */
    Step *steps;    /* as many as the stage has */
    char *frame;    /* a place for each slot */
    bool clears;    /* flags that were there before may get lost */
    DtFew *few;     /* or NULL: none has been needed */
};

static char *
place_of(const DtStraight *straight, uint16_t slot)
{
    return straight->frame + (size_t)slot * straight->place;
}

/* ---- Making it ------------------------------------------------------------------------------- */

#define REPEAT(T)                                                                                  \
    {                                                                                              \
        T element;                                                                                 \
        memcpy(&element, from, sizeof(T));                                                         \
        for (npy_intp i = start; i < end; i++) {                                                   \
            memcpy(to + i * (npy_intp)sizeof(T), &element, sizeof(T));                             \
        }                                                                                          \
    }

/* The element at `from` becomes those of `to` from `start` on. */
static inline void
repeat(char *to, const char *from, npy_intp start, npy_intp end, uint8_t size)
{
    DT_BY_SIZE(size, REPEAT);
}

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
        *own = (Step){.quads = step->flags & DT_STEP_REDUCE ? NULL : step->quads, .step = step};
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
    for (uint32_t i = fused->nvarying; i < fused->nscalars; i++) {
        const DtFusedScalar *constant = &fused->scalars[i];
        repeat(place_of(straight, constant->slot), (const char *)constant->cell, 0,
               room * 8 / constant->size, constant->size);
    }
    make_steps(straight);
    return true;
}

static DtStraight *
make(const DtFused *fused)
{
    DtStraight *straight = calloc(1, sizeof(DtStraight) + fused->nsteps * sizeof(Step));
    if (straight == NULL) {
        return NULL;
    }
    straight->fused = fused;
    straight->steps = (Step *)(straight + 1);
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

const char *
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

/* Small numbers of elements: a call of memcpy would take longer. */
static inline void
copy(char *to, const char *from, npy_intp bytes)
{
    for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
        memcpy(to, from, 16);
    }
    for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
        memcpy(to, from, 4);
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
    }
}

static inline void
fill(char *place, const char *from, npy_intp total, npy_intp whole, uint8_t size)
{
    copy(place, from, total * size);
    if (DT_UNLIKELY(total < whole)) {
        repeat(place, place, total, whole, size);
    }
}

/* Copies results; false: one is a NaN. */
#define TAKE(T, BITS)                                                                              \
    {                                                                                              \
        typedef T Group __attribute__((vector_size(16)));                                          \
        typedef BITS Found __attribute__((vector_size(16)));                                       \
        Found nans = {0};                                                                          \
        for (; bytes >= 16; bytes -= 16, to += 16, place += 16) {                                  \
            Group group;                                                                           \
            memcpy(&group, place, 16);                                                             \
            nans |= group != group;                                                                \
            memcpy(to, &group, 16);                                                                \
        }                                                                                          \
        BITS found = 0;                                                                            \
        for (size_t i = 0; i < 16 / sizeof(T); i++) {                                              \
            found |= nans[i];                                                                      \
        }                                                                                          \
        for (; bytes > 0; bytes -= (npy_intp)sizeof(T), to += sizeof(T), place += sizeof(T)) {     \
            T item;                                                                                \
            memcpy(&item, place, sizeof(T));                                                       \
            found |= item != item;                                                                 \
            memcpy(to, &item, sizeof(T));                                                          \
        }                                                                                          \
        return found == 0;                                                                         \
    }

bool
dt_straight_take(const char *place, int type_num, char *to, npy_intp bytes)
{
    if (type_num == NPY_DOUBLE || type_num == NPY_CDOUBLE) {
        TAKE(double, int64_t)
    }
    if (type_num == NPY_FLOAT || type_num == NPY_CFLOAT) {
        TAKE(float, int32_t)
    }
    copy(to, place, bytes);
    return true;
}

/* What a run of the line is over. */
typedef struct Extent {
    const DtFew *few; /* of a stage that reduces */
    npy_intp total, whole;
    npy_intp rows, whole_rows;
} Extent;

/* NumPy's loops need no whole groups. */
static inline npy_intp
whole_groups(const DtFused *fused, npy_intp count)
{
    return fused->nquads == 0 ? count : (count + GROUP - 1) & ~(npy_intp)(GROUP - 1);
}

static inline void
run_loop(const Step *own, npy_intp count, DtOutcome *outcome)
{
    const DtStep *step = own->step;
    if (own->reads) {
        outcome->flags |= dt_fpflags_read();
    }
    if (step->call(step->context, own->args, &count, step->strides, step->auxdata) < 0) {
        outcome->failed = true;
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* A step from elements to rows or the other way round. */
static void
run_between(const DtFused *fused, const Step *own, const Extent *extent, DtOutcome *outcome)
{
    const DtStep *step = own->step;
    const DtFew *few = extent->few;
    if (step->flags & DT_STEP_EXPAND) {
        uint8_t size = (uint8_t)step->strides[1];
        dt_copy_expanded(own->args[1], own->args[0], few->rows, few->length, size);
        repeat(own->args[1], own->args[1], extent->total, extent->whole, size);
        return;
    }
    const DtFusedReduce *reduce = &fused->reduce[step->reduce];
    if (own->reads) {
        outcome->flags |= dt_fpflags_read();
    }
    if (few->columns) {
        dt_reduced_columns(reduce, own->args[0], own->args[1], true, few->rows, few->length,
                           outcome);
    }
    else {
        dt_reduced_rows(reduce, own->args[0], own->args[1], few->rows, few->length, outcome);
        repeat(own->args[0], own->args[0], extent->rows, extent->whole_rows,
               reduce->loop->sizes[0]);
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* A step over `count` elements or rows, a multiple of four. */
static inline void
run_step(const Step *own, npy_intp count, DtOutcome *outcome)
{
    if (DT_LIKELY(own->quads != NULL)) {
        own->quads(own->args, (npy_intp)((size_t)count / GROUP));
    }
    else {
        run_loop(own, count, outcome);
    }
}

/* Steps of a stage that reduces. */
static void
run_reducing(const DtStraight *straight, const Extent *extent, DtOutcome *outcome)
{
    const Step *own = straight->steps;
    for (const Step *end = own + straight->fused->nsteps; own < end; own++) {
        uint8_t other = own->step->flags & DT_STEP_OTHER;
        if (other == 0) {
            run_step(own, extent->whole, outcome);
        }
        else if (other == DT_STEP_ROWS) {
            run_step(own, extent->whole_rows, outcome);
        }
        else {
            run_between(straight->fused, own, extent, outcome);
        }
    }
}

/* False: a step failed, or is not sure.  Flags are those that were read on the way. */
static inline bool
run_steps(const DtStraight *straight, const Extent *extent, unsigned *flags)
{
    DtOutcome outcome = {.flags = *flags};
    if (straight->fused->nreduce > 0) {
        run_reducing(straight, extent, &outcome);
    }
    else {
        const Step *own = straight->steps;
        npy_intp whole = extent->whole;
        for (const Step *end = own + straight->fused->nsteps; own < end; own++) {
            run_step(own, whole, &outcome);
        }
    }
    *flags = outcome.flags;
    return !outcome.failed && !outcome.unsure;
}

/* Runs the steps of a frame that is filled; false: somebody may have to hear of a flag.  To find
 * out whether there are any takes as long as three steps, and mostly there are none when a run
 * begins: that is looked at where there are some at its end. */
static inline bool
run_alone(const DtStraight *straight, const Extent *extent)
{
    for (int turn = 0; turn < 2; turn++) {
        unsigned flags = 0;
        if (!run_steps(straight, extent, &flags)) {
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

static inline void
fill_scalars(const DtStraight *straight, char *const *slots, npy_intp whole)
{
    const DtFused *fused = straight->fused;
    for (uint32_t i = 0; i < fused->nvarying; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        repeat(place_of(straight, scalar->slot), slots[scalar->slot], 0, whole, scalar->size);
    }
}

static inline bool
take_outputs(const DtStraight *straight, char *const *slots, npy_intp total)
{
    const DtFused *fused = straight->fused;
    bool usual = true;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        const DtFusedOutput *output = &fused->outputs[i];
        usual = usual
                && dt_straight_take(place_of(straight, output->slot), output->descr->type_num,
                                    slots[output->slot], total * output->size);
    }
    return usual;
}

bool
dt_straight_run(DtStraight *straight, char *const *slots, npy_intp total)
{
    const DtFused *fused = straight->fused;
    Extent extent = {.total = total, .whole = whole_groups(fused, total)};
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        fill(place_of(straight, input->slot), slots[input->slot], total, extent.whole, input->size);
    }
    fill_scalars(straight, slots, extent.whole);
    return run_alone(straight, &extent) && take_outputs(straight, slots, total);
}

#define GATHER(T)                                                                                  \
    for (npy_intp i = 0; i < total; i++) {                                                         \
        memcpy(place + i * (npy_intp)sizeof(T), from + offsets[i], sizeof(T));                     \
    }

/* Copies elements from where they lie. */
static inline void
gather(char *place, const char *from, const npy_intp *offsets, npy_intp total, uint8_t size)
{
    DT_BY_SIZE(size, GATHER);
}

static inline Extent
fill_few(const DtStraight *straight, const DtFew *few, char *const *slots)
{
    const DtFused *fused = straight->fused;
    Extent extent = {few, few->total, whole_groups(fused, few->total), few->rows,
                     whole_groups(fused, few->rows)};
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        const DtFewInput *lies = &few->inputs[i];
        char *place = place_of(straight, input->slot), *from = slots[input->slot];
        if (lies->dense) {
            fill(place, from, extent.total, extent.whole, input->size);
            continue;
        }
        gather(place, from, lies->offsets, extent.total, input->size);
        repeat(place, place, extent.total, extent.whole, input->size);
    }
    fill_scalars(straight, slots, extent.whole);
    return extent;
}

bool
dt_straight_go(DtStraight *straight, const DtFew *few, char *const *slots, unsigned *flags)
{
    Extent extent = fill_few(straight, few, slots);
    return run_steps(straight, &extent, flags);
}

bool
dt_straight_run_few(DtStraight *straight, const DtFew *few, char *const *slots)
{
    const DtFused *fused = straight->fused;
    Extent extent = fill_few(straight, few, slots);
    bool usual = run_alone(straight, &extent) && take_outputs(straight, slots, few->total);
    for (uint32_t i = 0; i < fused->nrows; i++) {
        const DtFusedRow *row = &fused->rows[i];
        usual = usual
                && (row->equal >= 0
                    || dt_straight_take(place_of(straight, row->slot), row->descr->type_num,
                                        slots[row->slot], dt_few_results(few) * row->size));
    }
    return usual;
}
