/* See lanes.h: who does which pieces of a stage, and when a signal ends it.
 *
 * Not in here: the threads (core/workers.c).
 */
#include "backend/native/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "backend/native/fused.h"
#include "core/clock.h"
#include "core/processors.h"
#include "core/workers.h"

enum {
    PIECES_A_LANE = 8,      /* so that a lane which is held up keeps nobody waiting for long */
    PATIENCE_NS = 25000000, /* a run that ends within it is not dropped for a signal */
};

npy_intp dt_lanes_work = 1 << 19;

/* ---- How many -------------------------------------------------------------------------------- */

/* The process is one of several that a program has started to share its work: by fork, or by
 * multiprocessing in another way. */
static bool
is_one_of_many(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* DT_BORROWED */
    PyObject *module = PyDict_GetItemString(modules, "multiprocessing.process");
    PyObject *parent = module != NULL && PyModule_CheckExact(module)
                           ? PyDict_GetItemString(PyModule_GetDict(module), "_parent_process")
                           : NULL;
    return dt_workers_forked() || (parent != NULL && parent != Py_None);
}

/* As many as the process may use, unless something says that others use them too. */
static uint32_t
usual_lanes(void)
{
    const char *text = getenv("OMP_NUM_THREADS"); /* "4", or "4,2" for levels */
    long most = text == NULL ? 0 : strtol(text, NULL, 10);
    uint32_t usable = dt_processors_usable();
    if (is_one_of_many()) {
        return 1;
    }
    return most > 0 && most < (long)usable ? (uint32_t)most : usable;
}

uint32_t
dt_lanes_wanted(npy_intp work)
{
    npy_intp most = work / dt_lanes_work;
    if (most < 2) {
        return 1;
    }
    uint32_t wanted = dt_workers_wanted != 0 ? dt_workers_wanted : usual_lanes();
    wanted = wanted < DT_WORKERS_MAX ? wanted : DT_WORKERS_MAX;
    return most < (npy_intp)wanted ? (uint32_t)most : wanted;
}

void
dt_lanes_divide(DtDivision *division, npy_intp units, npy_intp grain)
{
    if (division->lanes == 1) {
        division->npieces = 1;
        division->pieces[0] = (DtPiece){0, units, 0};
        return;
    }
    npy_intp blocks = (units + grain - 1) / grain;
    npy_intp count = (npy_intp)division->lanes * PIECES_A_LANE;
    count = count < DT_MAX_PIECES ? count : DT_MAX_PIECES;
    npy_intp each = (blocks + count - 1) / count * grain; /* units of a piece */
    division->npieces = (uint32_t)((units + each - 1) / each);
    for (uint32_t i = 0; i < division->npieces; i++) {
        npy_intp start = i * each, left = units - start;
        division->pieces[i] = (DtPiece){start, start + (left < each ? left : each), 0};
    }
    if (division->lanes > division->npieces) {
        division->lanes = division->npieces;
    }
}

/* ---- Signals --------------------------------------------------------------------------------- */

bool
dt_patience_ends(DtPatience *patience)
{
    int64_t now = dt_clock_ns();
    if (patience->since == 0) {
        patience->since = now;
    }
    return now - patience->since > PATIENCE_NS;
}

/* ---- Running --------------------------------------------------------------------------------- */

size_t
dt_lanes_place(DtLane *lane, char *scratch)
{
    const DtFused *fused = lane->fused;
    bool walks = lane->layout != NULL;
    size_t used = dt_fused_place_registers(fused, lane->slots, lane->block, scratch);
    for (uint32_t i = 0; walks && i < fused->ninputs; i++) {
        if (!lane->readers[i].linear) {
            lane->readers[i].scratch = scratch + used;
            used += dt_fused_aligned((size_t)lane->block * fused->inputs[i].size);
        }
    }
    for (uint32_t i = 0; walks && i < fused->noutputs; i++) {
        if (lane->targets[i].array != NULL && lane->targets[i].strides != NULL) {
            lane->targets[i].scratch = scratch + used;
            used += dt_fused_aligned((size_t)lane->block * fused->outputs[i].size);
        }
    }
    return used;
}

static inline void
run_piece(DtLane *lane, DtPiece *piece)
{
    if (lane->geometry != NULL) {
        dt_reduced_run(lane, piece);
    }
    else {
        dt_blocks_run(lane, piece);
    }
}

/* What lanes share. */
typedef struct Shared {
    const DtLane *first; /* as all begin */
    DtDivision *division;
    char *scratch;
    size_t bytes; /* of scratch, for each */
    atomic_uint next;
    atomic_bool stop;
    DtOutcome outcomes[DT_WORKERS_MAX];
} Shared;

/* DtWork. */
static void
run_lane(void *context, uint32_t index)
{
    Shared *shared = context;
    DtDivision *division = shared->division;
    DtLane lane = *shared->first;
    lane.stop = &shared->stop;
    if (index > 0) {
        lane.patience = NULL; /* it is the first lane's thread that takes signals */
    }
    dt_lanes_place(&lane, shared->scratch + index * shared->bytes);
    dt_fpflags_clear();
    while (dt_lane_goes_on(&lane)) {
        uint32_t piece = atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed);
        if (piece >= division->npieces) {
            break;
        }
        run_piece(&lane, &division->pieces[piece]);
    }
    if (lane.outcome.failed || lane.outcome.interrupted) {
        atomic_store_explicit(&shared->stop, true, memory_order_relaxed);
    }
    lane.outcome.flags |= dt_fpflags_read();
    shared->outcomes[index] = lane.outcome;
}

static void
run_shared(DtLane *first, DtDivision *division, char *scratch, size_t bytes)
{
    Shared shared = {.first = first, .division = division, .scratch = scratch, .bytes = bytes};
    dt_workers_run(run_lane, &shared, division->lanes);
    for (uint32_t i = 0; i < division->lanes; i++) {
        const DtOutcome *one = &shared.outcomes[i];
        first->outcome.flags |= one->flags;
        first->outcome.failed = first->outcome.failed || one->failed;
        first->outcome.unsure = first->outcome.unsure || one->unsure;
        first->outcome.interrupted = first->outcome.interrupted || one->interrupted;
    }
}

void
dt_lanes_run(DtLane *first, DtDivision *division, char *scratch, size_t bytes)
{
    dt_fpflags_clear();
    if (division->lanes > 1) {
        run_shared(first, division, scratch, bytes);
    }
    else {
        for (uint32_t i = 0; i < division->npieces; i++) {
            run_piece(first, &division->pieces[i]);
        }
    }
    if (first->geometry != NULL && !first->outcome.failed && !first->outcome.interrupted) {
        dt_reduced_finish(first);
    }
    first->outcome.flags |= dt_fpflags_read();
}
