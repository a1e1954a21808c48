/* Runs a fused stage: NumPy's inner loops over blocks that stay in cache.
 *
 *   operands ──dense in one order──► blocks of the operands' own memory
 *            ──anything else───────► layout, then blocks gathered into scratch
 *
 * Outputs are new arrays in the memory order that NumPy would choose; intermediates
 * exist one block at a time.  Floating-point flags are cleared before the first loop,
 * collected before every loop that may clear them, and looked at once at the end.
 * For large operands the GIL is released around the loops; the arrays are kept alive
 * by references of the run, and everything else that the loops touch is the run's own
 * or immutable.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/native/fused.h"
#include "backend/native/lanes.h"

enum { FROM_MEMORY = 6 << 20 }; /* bytes of operands and outputs that don't fit the caches */

/* Whether the memory of an intermediate is nobody else's: this run has the only reference, and no
 * view or foreign buffer is behind it. */
static bool
is_ours(PyArrayObject *array)
{
    enum { NEEDED = NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE };
    return Py_REFCNT(array) == 1 && PyArray_BASE(array) == NULL
           && (PyArray_FLAGS(array) & NEEDED) == NEEDED;
}

/* A new array has these strides; one that a reduction made may have others along axes of one item,
 * and a program sees them. */
static bool
has_strides_of_new(PyArrayObject *array, int order)
{
    int ndim = PyArray_NDIM(array);
    npy_intp stride = PyArray_ITEMSIZE(array);
    for (int i = 0; i < ndim; i++) {
        int axis = order == NPY_ARRAY_F_CONTIGUOUS ? i : ndim - 1 - i;
        if (PyArray_STRIDE(array, axis) != stride) {
            return false;
        }
        stride *= PyArray_DIM(array, axis);
    }
    return true;
}

typedef struct Scratch {
    char *memory;
    size_t size;
} Scratch;

/* The executable's cached block memory, or new; NULL with MemoryError. */
static char *
take_scratch(DtNative *exe, size_t need, Scratch *scratch)
{
    if (exe->scratch != NULL && exe->scratch_size >= need) {
        *scratch = (Scratch){exe->scratch, exe->scratch_size};
        exe->scratch = NULL;
        return scratch->memory;
    }
    *scratch = (Scratch){aligned_alloc(64, dt_fused_aligned(need)), need};
    if (scratch->memory == NULL) {
        PyErr_NoMemory();
    }
    return scratch->memory;
}

static void
give_scratch(DtNative *exe, Scratch *scratch)
{
    if (scratch->memory == NULL) {
        return;
    }
    if (exe->scratch == NULL || exe->scratch_size < scratch->size) {
        free(exe->scratch);
        exe->scratch = scratch->memory;
        exe->scratch_size = scratch->size;
    }
    else {
        free(scratch->memory);
    }
}

/* The array of an output: its target, an operand that dies, or a new one; NULL with MemoryError. */
static DT_OWNED PyObject *
make_output(const DtLane *lane, const DtNativeRun *run, uint32_t index,
            PyArrayObject *const *arrays, const npy_intp *shape, int order)
{
    const DtFusedOutput *output = &lane->fused->outputs[index];
    if (lane->targets[index].array != NULL) {
        return Py_NewRef((PyObject *)lane->targets[index].array);
    }
    if (output->reuse >= 0 && order != 0 && !run->committed && is_ours(arrays[output->reuse])
        && has_strides_of_new(arrays[output->reuse], order)) {
        return Py_NewRef((PyObject *)arrays[output->reuse]);
    }
    return dt_memory_new_array(output->descr, (int)lane->fused->ndim, shape,
                               order == 0 ? lane->layout->strides[index] : NULL, order);
}

/* Makes what was written through targets known to the run, or takes it back. */
static DtFusedRun
close_targets(const DtLane *lane, const DtDivision *division, DtNativeRun *run, DtFusedRun result)
{
    const DtFused *fused = lane->fused;
    for (uint32_t i = 0; i < fused->noutputs && result == DT_FUSED_OK; i++) {
        const DtTarget *target = &lane->targets[i];
        if (target->saved != NULL
            && dt_written_note(&run->log, fused->outputs[i].write, (PyObject *)target->array,
                               target->saved)
                   < 0) {
            result = DT_FUSED_ERROR;
        }
    }
    for (uint32_t i = 0; i < fused->noutputs && result != DT_FUSED_OK; i++) {
        for (uint32_t j = 0; j < division->npieces; j++) {
            const DtPiece *piece = &division->pieces[j];
            dt_target_take_back(&lane->targets[i], lane->layout, piece->start, piece->done);
        }
    }
    return result;
}

/* What of a stage's memory begins to be read or written at each element. */
static npy_intp
bytes_an_element(const DtFused *fused)
{
    npy_intp bytes = 0;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        bytes += fused->inputs[i].size;
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        bytes += fused->outputs[i].size;
    }
    return bytes;
}

/* Runs the loops, without the GIL if that pays. */
static void
run_lanes(DtLane *lane, DtDivision *division, DtNativeRun *run, char *memory, size_t need)
{
    const DtFused *fused = lane->fused;
    lane->patience = NULL;
    if (lane->total * (npy_intp)fused->nsteps < DT_FUSED_RELEASE_GIL) {
        dt_lanes_run(lane, division, memory, need);
        return;
    }
    bool may_stop = !run->committed;
    for (uint32_t i = 0; lane->has_targets && i < fused->noutputs; i++) {
        /* What an array held is lost if it is not saved here. */
        may_stop = may_stop && (lane->targets[i].array == NULL || lane->targets[i].saved != NULL);
    }
    run->patience.thread = may_stop ? dt_signals_thread() : NULL;
    lane->patience = run->patience.thread != NULL ? &run->patience : NULL;
    PyThreadState *thread = fused->raises ? NULL : PyEval_SaveThread();
    dt_lanes_run(lane, division, memory, need);
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
}

/* One run of a stage. */
typedef struct Work {
    const DtFused *fused;
    DtNativeRun *run;
    DtViewed viewed[DT_FUSED_MAX_INPUTS];
    PyArrayObject *arrays[DT_FUSED_MAX_INPUTS];
    const npy_intp *shape;
    int order; /* of operands that are all dense in it, or 0 */
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    char *starts[DT_FUSED_MAX_SLOTS];
    DtLane lane;
    DtGeometry geometry;
    DtDivision division;
    PyObject *made[DT_FUSED_MAX_OUTPUTS];
    uint32_t nmade;
    PyObject *rows[DT_FUSED_MAX_OPS]; /* what is reduced to one number per row ... */
    uint64_t row_cells[DT_FUSED_MAX_OPS][2];
    bool has_rows; /* ... once it is made */
} Work;

/* Where the operands are and how they are walked over.  *laid_out: the layout, if they need one. */
static DtFusedRun
lay_out(Work *work, DtLayout **laid_out)
{
    const DtFused *fused = work->fused;
    DtLane *lane = &work->lane;
    if (!dt_fused_take_inputs(fused, work->run, work->viewed, work->arrays, &work->order)) {
        return DT_FUSED_CALL;
    }
    work->shape = PyArray_DIMS(work->arrays[0]);
    if (work->order != 0 && dt_fused_sees_order(fused, work->shape, work->order)) {
        work->order = 0;
    }
    lane->fused = fused;
    lane->starts = work->starts;
    lane->stop = NULL;
    lane->outcome = (DtOutcome){0};
    lane->has_targets = dt_targets_find(fused, work->run, work->shape, &work->order, lane->targets);
    DtFusedRun result = work->order == 0
                            ? dt_layout_kept_take(fused, work->arrays, lane->targets, laid_out)
                            : DT_FUSED_OK;
    if (result != DT_FUSED_OK) {
        return result;
    }
    const DtLayout *layout = *laid_out;
    work->shape = layout != NULL ? layout->shape : work->shape;
    lane->layout = layout;
    lane->total = layout != NULL ? layout->total : PyArray_SIZE(work->arrays[0]);
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        work->starts[fused->inputs[i].slot] = PyArray_BYTES(work->arrays[i]);
        if (layout != NULL) {
            lane->readers[i] = layout->readers[i];
            lane->readers[i].data = PyArray_BYTES(work->arrays[i]);
        }
    }
    return DT_FUSED_OK;
}

/* How large blocks are, and who takes which part. */
static DtFusedRun
divide(Work *work)
{
    const DtFused *fused = work->fused;
    DtLane *lane = &work->lane;
    if (lane->total == 0 || (lane->total == 1 && fused->single_called)) {
        return DT_FUSED_CALL;
    }
    lane->ahead = lane->total * bytes_an_element(fused) >= FROM_MEMORY;
    lane->block = lane->total < fused->block ? lane->total : fused->block;
    lane->geometry = fused->nreduce > 0 ? &work->geometry : NULL;
    work->division.lanes =
        fused->raises ? 1 : dt_lanes_wanted(lane->total * (npy_intp)fused->nsteps);
    if (fused->nreduce == 0) {
        dt_lanes_divide(&work->division, lane->total, dt_blocks_grain(lane));
        return DT_FUSED_OK;
    }
    if (!dt_reduced_geometry(fused, work->arrays, work->shape, work->order, lane->layout,
                             &work->geometry)) {
        return DT_FUSED_CALL;
    }
    lane->block = work->geometry.block;
    dt_reduced_divide(fused, &work->geometry, &work->division);
    return DT_FUSED_OK;
}

/* The memory that the stage writes; -1 with an exception. */
static int
make_results(Work *work)
{
    const DtFused *fused = work->fused;
    DtLane *lane = &work->lane;
    for (uint32_t i = 0; lane->has_targets && i < fused->noutputs; i++) {
        if (lane->targets[i].array != NULL
            && dt_target_open(&lane->targets[i], &fused->outputs[i], lane->layout, i, work->shape,
                              work->order)
                   < 0) {
            return -1;
        }
    }
    for (; work->nmade < fused->noutputs; work->nmade++) {
        PyObject *made =
            make_output(lane, work->run, work->nmade, work->arrays, work->shape, work->order);
        if (made == NULL) {
            return -1;
        }
        work->made[work->nmade] = made;
        work->starts[fused->outputs[work->nmade].slot] = PyArray_BYTES((PyArrayObject *)made);
    }
    if (fused->nreduce > 0) {
        if (dt_reduced_make(fused, work->shape, work->rows, work->row_cells, work->starts) < 0) {
            return -1;
        }
        work->has_rows = true;
    }
    return 0;
}

/* Registers, and the loops over all blocks. */
static DtFusedRun
run_blocks(Work *work)
{
    const DtFused *fused = work->fused;
    DtLane *lane = &work->lane;
    char small[DT_FUSED_STACK_SCRATCH + 64];
    Scratch scratch = {NULL, 0};
    memcpy(lane->slots, work->starts, fused->nslots * sizeof(char *));
    char *memory = (char *)dt_fused_aligned((size_t)small);
    size_t need = dt_lanes_place(lane, memory);
    size_t parts = fused->nreduce > 0 ? dt_reduced_parts(fused, &work->geometry) : 0;
    if (need * work->division.lanes + parts > DT_FUSED_STACK_SCRATCH) {
        memory = take_scratch(work->run->exe, need * work->division.lanes + parts, &scratch);
        if (memory == NULL) {
            return DT_FUSED_ERROR;
        }
        dt_lanes_place(lane, memory);
    }
    work->geometry.parts = (union DtPart *)(memory + need * work->division.lanes);
    run_lanes(lane, &work->division, work->run, memory, need);
    DtFusedRun result = dt_fused_finish(&lane->outcome, fused);
    if (lane->has_targets) {
        result = close_targets(lane, &work->division, work->run, result);
    }
    give_scratch(work->run->exe, &scratch);
    return result == DT_FUSED_OK && lane->outcome.unsure ? DT_FUSED_CALL : result;
}

/* Hands the results over to the run, or drops what was made. */
static DtFusedRun
give_results(Work *work, DtFusedRun result)
{
    const DtFused *fused = work->fused;
    const DtTarget *targets = work->lane.targets;
    if (work->has_rows
        && dt_reduced_take(fused, work->run, work->rows, work->row_cells, result == DT_FUSED_OK) < 0
        && result == DT_FUSED_OK) {
        result = DT_FUSED_ERROR;
    }
    for (uint32_t i = 0; i < work->nmade; i++) {
        if (result == DT_FUSED_OK && targets[i].array == NULL) {
            work->run->values[fused->outputs[i].node->index] = work->made[i];
        }
        else {
            Py_DECREF(work->made[i]);
        }
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        Py_XDECREF(targets[i].saved);
    }
    return result;
}

/* *laid_out: the layout, if it needs one, to be given back. */
static DtFusedRun
run_laid_out(const DtFused *fused, DtNativeRun *run, DtLayout **laid_out)
{
    Work work; /* too large to be cleared as a whole */
    work.fused = fused;
    work.run = run;
    work.nmade = 0;
    work.has_rows = false;
    DtFusedRun result = lay_out(&work, laid_out);
    if (result == DT_FUSED_OK) {
        result = divide(&work);
    }
    if (result != DT_FUSED_OK) {
        return result;
    }
    dt_fused_place_constants(fused, work.starts);
    result = dt_fused_take_scalars(fused, run, work.starts, work.cells);
    if (result != DT_FUSED_OK) {
        return result;
    }
    result = make_results(&work) < 0 ? DT_FUSED_ERROR : run_blocks(&work);
    return give_results(&work, result);
}

static DtFusedRun
run_any(const DtFused *fused, DtNativeRun *run)
{
    DtLayout *layout = NULL;
    DtFusedRun result = run_laid_out(fused, run, &layout);
    if (layout != NULL) {
        dt_layout_kept_give(fused, layout);
    }
    return result;
}

DtFusedRun
dt_fused_run(const DtFused *fused, DtNativeRun *run)
{
    if (DT_LIKELY(fused->simple)) {
        DtFusedRun result = dt_fused_run_small(fused, run);
        if (DT_LIKELY(result != DT_FUSED_CALL)) {
            return result;
        }
    }
    if (!fused->writes && fused->ninputs > 0) {
        DtFusedRun result = dt_fused_run_few(fused, run);
        if (result != DT_FUSED_CALL) {
            return result;
        }
    }
    return run_any(fused, run);
}
