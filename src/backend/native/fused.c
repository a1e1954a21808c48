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

#include "backend/eager.h"
#include "backend/native/fused.h"

enum {
    PREFETCH_BYTES = 6 << 20, /* operands and outputs of this size come from memory: ask ahead */
    LONG_ROW = 64, /* from here on blocks end with rows, so that rows need no gathering */
};

/* Share `part` of `parts` of the `bytes` that follow `start`. */
#define PREFETCH_SHARE(START, BYTES, PART, PARTS, WRITE)                                           \
    for (npy_intp at = (BYTES) * (PART) / (PARTS), end = (BYTES) * ((PART) + 1) / (PARTS);         \
         at < end; at += 64) {                                                                     \
        __builtin_prefetch((START) + at, WRITE, 3);                                                \
    }

/* The same for operands that don't fit the caches: while a block is computed, the `next` elements
 * after it are on their way.  A share is asked for after each step, so that arithmetic and memory
 * overlap. */
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

/* ---- Dense operands -------------------------------------------------------------------------- */

/* A stage on its way. */
typedef struct Walk {
    const DtFused *fused;
    npy_intp total, block, done; /* elements; `done` may have been written */
    char *slots[DT_FUSED_MAX_SLOTS];
    DtReader readers[DT_FUSED_MAX_INPUTS]; /* where operands are not all dense in one order */
    DtTarget targets[DT_FUSED_MAX_OUTPUTS];
    bool has_targets;
    DtLayout layout; /* ditto */
    DtOutcome outcome;
} Walk;

static void
advance(Walk *walk, npy_intp count)
{
    const DtFused *fused = walk->fused;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        walk->slots[fused->outputs[i].slot] += count * fused->outputs[i].size;
    }
    walk->done += count;
}

/* What the targets hold in the next block is saved, and the block is made there. */
static void
begin_block(Walk *walk, const DtLayout *layout, npy_intp count)
{
    const DtFused *fused = walk->fused;
    for (uint32_t i = 0; walk->has_targets && i < fused->noutputs; i++) {
        if (walk->targets[i].array != NULL) {
            walk->slots[fused->outputs[i].slot] =
                dt_target_block(&walk->targets[i], layout, walk->done, count);
        }
    }
}

static void
end_block(Walk *walk, npy_intp count)
{
    const DtFused *fused = walk->fused;
    for (uint32_t i = 0; walk->has_targets && i < fused->noutputs; i++) {
        if (walk->targets[i].array != NULL) {
            dt_target_put(&walk->targets[i], &walk->layout, walk->done, count,
                          walk->slots[fused->outputs[i].slot]);
        }
    }
    advance(walk, count);
}

static void
run_dense(Walk *walk)
{
    const DtFused *fused = walk->fused;
    npy_intp bytes = 0, total = walk->total, block = walk->block;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        bytes += total * fused->inputs[i].size;
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        bytes += total * fused->outputs[i].size;
    }
    while (walk->done < total && !walk->outcome.failed) {
        npy_intp left = total - walk->done;
        npy_intp count = left < block ? left : block;
        begin_block(walk, NULL, count);
        if (bytes >= PREFETCH_BYTES) {
            left -= count;
            run_steps_ahead(fused, walk->slots, count, left < block ? left : block, &walk->outcome);
        }
        else {
            dt_fused_steps(fused, walk->slots, count, &walk->outcome);
        }
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            walk->slots[fused->inputs[i].slot] += count * fused->inputs[i].size;
        }
        advance(walk, count);
    }
}

/* ---- Other operands -------------------------------------------------------------------------- */

static void
run_walk(Walk *walk)
{
    const DtFused *fused = walk->fused;
    const DtLayout *layout = &walk->layout;
    npy_intp inner = layout->walk_shape[layout->nwalk - 1];
    npy_intp block = walk->block;
    if (inner < LONG_ROW) {
        block -= block % inner; /* whole rows: an operand that is the same for each is read once */
    }
    while (walk->done < layout->total && !walk->outcome.failed) {
        npy_intp left = layout->total - walk->done;
        npy_intp count = left < block ? left : block;
        if (inner >= LONG_ROW && inner - walk->done % inner < count) {
            count = inner - walk->done % inner;
        }
        begin_block(walk, layout, count);
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            walk->slots[fused->inputs[i].slot] = dt_reader_block(
                &walk->readers[i], layout, walk->done, count, fused->inputs[i].size);
        }
        dt_fused_steps(fused, walk->slots, count, &walk->outcome);
        end_block(walk, count);
    }
}

/* ---- The stage ------------------------------------------------------------------------------- */

size_t
dt_fused_place_registers(const DtFused *fused, char **slots, npy_intp block, char *scratch)
{
    size_t used = 0;
    for (uint32_t i = 0; i < fused->nregisters; i++) {
        slots[fused->registers[i].slot] = scratch + used;
        used += dt_fused_aligned((size_t)block * fused->registers[i].size);
    }
    return used;
}

/* The same with every reader that gathers and every target that is not dense. */
static size_t
place_scratch(Walk *walk, bool walks, char *scratch)
{
    const DtFused *fused = walk->fused;
    npy_intp block = walk->block;
    size_t used = dt_fused_place_registers(fused, walk->slots, block, scratch);
    for (uint32_t i = 0; walks && i < fused->ninputs; i++) {
        if (!walk->readers[i].linear) {
            walk->readers[i].scratch = scratch + used;
            used += dt_fused_aligned((size_t)block * fused->inputs[i].size);
        }
    }
    for (uint32_t i = 0; walks && i < fused->noutputs; i++) {
        if (walk->targets[i].array != NULL && walk->targets[i].strides != NULL) {
            walk->targets[i].scratch = scratch + used;
            used += dt_fused_aligned((size_t)block * fused->outputs[i].size);
        }
    }
    return used;
}

DtFusedRun
dt_fused_finish(const DtOutcome *outcome, const DtFused *fused)
{
    unsigned watched;
    if (outcome->failed || (fused->raises && PyErr_Occurred())) {
        if (PyErr_Occurred() && dt_eager_failure(false) == DT_RUN_ERROR) {
            return DT_FUSED_ERROR;
        }
        return DT_FUSED_REPLAY;
    }
    if (DT_LIKELY((outcome->flags & DT_FP_ALL) == 0)) {
        return DT_FUSED_OK;
    }
    if (dt_errstate_watched(fused->fp_region, &watched) < 0) {
        return dt_eager_failure(false) == DT_RUN_ERROR ? DT_FUSED_ERROR : DT_FUSED_REPLAY;
    }
    return outcome->flags & watched ? DT_FUSED_REPLAY : DT_FUSED_OK;
}

/* Takes the operands.  *order: NPY_ARRAY_C_CONTIGUOUS or F, or 0 if they are not all dense in one
 * order. */
static bool
take_inputs(const DtFused *fused, const DtNativeRun *run, PyArrayObject **arrays, int *order)
{
    int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    bool same = true;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        PyObject *object = dt_native_value(run, &input->value);
        if (object == NULL || !PyArray_CheckExact(object)) {
            return false;
        }
        PyArrayObject *array = (PyArrayObject *)object;
        if (PyArray_TYPE(array) != input->type_num || !PyArray_ISNOTSWAPPED(array)
            || !PyArray_ISALIGNED(array)) {
            return false;
        }
        arrays[i] = array;
        flags &= PyArray_FLAGS(array);
        same = same && PyArray_NDIM(array) == (int)fused->ndim
               && (i == 0
                   || memcmp(PyArray_DIMS(array), PyArray_DIMS(arrays[0]),
                             fused->ndim * sizeof(npy_intp))
                          == 0);
    }
    *order = !same                            ? 0
             : flags & NPY_ARRAY_C_CONTIGUOUS ? NPY_ARRAY_C_CONTIGUOUS
                                              : flags & NPY_ARRAY_F_CONTIGUOUS;
    return true;
}

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

/* Computes the layout for operands that are not all dense in one order. */
static bool
lay_out(Walk *walk, PyArrayObject *const *arrays)
{
    const DtFused *fused = walk->fused;
    if (fused->dense_called || !dt_layout_compute(fused, arrays, walk->targets, &walk->layout)) {
        return false;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        if (!dt_layout_allows(fused, i, arrays[i], &walk->layout)) {
            return false;
        }
    }
    return true;
}

/* The array of an output: its target, an operand that dies, or a new one; NULL with MemoryError. */
static DT_OWNED PyObject *
make_output(Walk *walk, const DtNativeRun *run, uint32_t index, PyArrayObject *const *arrays,
            const npy_intp *shape, int order)
{
    const DtFusedOutput *output = &walk->fused->outputs[index];
    if (walk->targets[index].array != NULL) {
        return Py_NewRef((PyObject *)walk->targets[index].array);
    }
    if (output->reuse >= 0 && order != 0 && !run->committed && is_ours(arrays[output->reuse])
        && has_strides_of_new(arrays[output->reuse], order)) {
        return Py_NewRef((PyObject *)arrays[output->reuse]);
    }
    return dt_memory_new_array(output->descr, (int)walk->fused->ndim, shape,
                               order == 0 ? walk->layout.strides[index] : NULL, order);
}

DtFusedRun
dt_fused_take_scalars(const DtFused *fused, const DtNativeRun *run, char **slots,
                      uint64_t (*cells)[2])
{
    for (uint32_t i = 0; i < fused->nscalars; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        slots[scalar->slot] = (char *)scalar->cell;
        if (scalar->kind != DT_SCALAR_CONST) {
            slots[scalar->slot] = (char *)cells[i];
            DtFusedRun filled = dt_scalar_fill(scalar, run, cells[i]);
            if (filled != DT_FUSED_OK) {
                return filled;
            }
        }
    }
    return DT_FUSED_OK;
}

/* Makes what was written through targets known to the run, or takes it back. */
static DtFusedRun
close_targets(Walk *walk, DtNativeRun *run, DtFusedRun result)
{
    const DtFused *fused = walk->fused;
    for (uint32_t i = 0; i < fused->noutputs && result == DT_FUSED_OK; i++) {
        const DtTarget *target = &walk->targets[i];
        if (target->saved != NULL
            && dt_written_note(&run->log, fused->outputs[i].write, (PyObject *)target->array,
                               target->saved)
                   < 0) {
            result = DT_FUSED_ERROR;
        }
    }
    for (uint32_t i = 0; i < fused->noutputs && result != DT_FUSED_OK; i++) {
        dt_target_take_back(&walk->targets[i], &walk->layout, walk->done);
    }
    return result;
}

static DtFusedRun
run_any(const DtFused *fused, DtNativeRun *run)
{
    PyArrayObject *arrays[DT_FUSED_MAX_INPUTS];
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    char small[DT_FUSED_STACK_SCRATCH + 64];
    Scratch scratch = {NULL, 0};
    Walk walk;
    int order;

    walk.fused = fused;
    walk.done = 0;
    walk.outcome = (DtOutcome){0};
    if (!take_inputs(fused, run, arrays, &order)) {
        return DT_FUSED_CALL;
    }
    const npy_intp *shape = order != 0 ? PyArray_DIMS(arrays[0]) : walk.layout.shape;
    walk.has_targets = dt_targets_find(fused, run, shape, &order, walk.targets);
    if (order == 0 && !lay_out(&walk, arrays)) {
        return DT_FUSED_CALL;
    }
    walk.total = order != 0 ? PyArray_SIZE(arrays[0]) : walk.layout.total;
    if (walk.total == 0 || (walk.total == 1 && fused->single_called)) {
        return DT_FUSED_CALL;
    }
    walk.block = walk.total < fused->block ? walk.total : fused->block;
    DtGeometry geometry;
    if (fused->nreduce > 0) {
        if (!dt_reduced_geometry(fused, arrays, shape, order, order == 0 ? &walk.layout : NULL,
                                 &geometry)) {
            return DT_FUSED_CALL;
        }
        walk.block = geometry.block;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        walk.slots[fused->inputs[i].slot] = PyArray_BYTES(arrays[i]);
        if (order == 0) {
            const npy_intp *strides = walk.layout.walk_strides[i];
            walk.readers[i] =
                dt_reader_make(&walk.layout, strides, arrays[i], fused->inputs[i].size);
        }
    }
    DtFusedRun result = dt_fused_take_scalars(fused, run, walk.slots, cells);
    if (result != DT_FUSED_OK) {
        return result;
    }

    result = DT_FUSED_ERROR;
    PyObject *made[DT_FUSED_MAX_OUTPUTS];
    PyObject *row_arrays[DT_FUSED_MAX_OPS];
    uint64_t row_cells[DT_FUSED_MAX_OPS][2];
    bool has_rows = false;
    uint32_t nmade = 0;
    for (uint32_t i = 0; walk.has_targets && i < fused->noutputs; i++) {
        const DtLayout *layout = order == 0 ? &walk.layout : NULL;
        if (walk.targets[i].array != NULL
            && dt_target_open(&walk.targets[i], &fused->outputs[i], layout, i, shape, order) < 0) {
            goto done;
        }
    }
    char *memory = (char *)dt_fused_aligned((size_t)small);
    size_t need = place_scratch(&walk, order == 0, memory);
    if (need > DT_FUSED_STACK_SCRATCH) {
        memory = take_scratch(run->exe, need, &scratch);
        if (memory == NULL) {
            goto done;
        }
        place_scratch(&walk, order == 0, memory);
    }
    for (; nmade < fused->noutputs; nmade++) {
        made[nmade] = make_output(&walk, run, nmade, arrays, shape, order);
        if (made[nmade] == NULL) {
            goto done;
        }
        walk.slots[fused->outputs[nmade].slot] = PyArray_BYTES((PyArrayObject *)made[nmade]);
    }
    if (fused->nreduce > 0) {
        if (dt_reduced_make(fused, shape, row_arrays, row_cells, walk.slots) < 0) {
            goto done;
        }
        has_rows = true;
    }

    PyThreadState *thread = NULL;
    if (walk.total * (npy_intp)fused->nsteps >= DT_FUSED_RELEASE_GIL && !fused->raises) {
        thread = PyEval_SaveThread();
    }
    dt_fpflags_clear();
    if (fused->nreduce > 0) {
        dt_reduced_run(fused, walk.slots, &geometry, &walk.layout, order == 0 ? walk.readers : NULL,
                       &walk.outcome);
    }
    else if (order != 0) {
        run_dense(&walk);
    }
    else {
        run_walk(&walk);
    }
    walk.outcome.flags |= dt_fpflags_read();
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
    result = dt_fused_finish(&walk.outcome, fused);
    if (walk.has_targets) {
        result = close_targets(&walk, run, result);
    }
    if (result == DT_FUSED_OK && walk.outcome.unsure) {
        result = DT_FUSED_CALL;
    }
done:
    give_scratch(run->exe, &scratch);
    if (has_rows && dt_reduced_take(fused, run, row_arrays, row_cells, result == DT_FUSED_OK) < 0
        && result == DT_FUSED_OK) {
        result = DT_FUSED_ERROR;
    }
    for (uint32_t i = 0; i < nmade; i++) {
        if (result == DT_FUSED_OK && walk.targets[i].array == NULL) {
            run->values[fused->outputs[i].node->index] = made[i];
        }
        else {
            Py_DECREF(made[i]);
        }
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        Py_XDECREF(walk.targets[i].saved);
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
    return run_any(fused, run);
}
