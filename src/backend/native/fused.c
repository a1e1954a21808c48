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
#include "backend/native/fpflags.h"
#include "backend/native/native.h"

enum {
    STACK_SCRATCH = 4096,       /* small operands need no scratch memory of their own */
    RELEASE_GIL_WORK = 1 << 17, /* elements times steps from which on other threads may run */
    PREFETCH_BYTES = 6 << 20,   /* operands and outputs of this size come from memory: ask ahead */
    LONG_ROW = 256, /* from here on blocks end with rows, so that rows need no gathering */
};

static inline void
run_steps(const DtFused *fused, char *const *slots, npy_intp count, DtOutcome *outcome)
{
    const DtStep *step = fused->steps;
    for (const DtStep *end = step + fused->nsteps; step < end; step++) {
        dt_fused_step(step, slots, count, outcome);
    }
}

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

/* An output that is made in an array that others can see: what it held goes to `to`. */
typedef struct Save {
    PyObject *array; /* DT_OWNED */
    char *to;
    uint16_t slot;
    uint8_t size;
} Save;

/* Returns how many elements are done: all, unless a loop failed. */
static npy_intp
run_dense(const DtFused *fused, char **slots, npy_intp total, npy_intp block, Save *saves,
          uint32_t nsaves, DtOutcome *outcome)
{
    npy_intp bytes = 0, done = 0;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        bytes += total * fused->inputs[i].size;
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        bytes += total * fused->outputs[i].size;
    }
    while (done < total && !outcome->failed) {
        npy_intp left = total - done;
        npy_intp count = left < block ? left : block;
        for (uint32_t i = 0; i < nsaves; i++) {
            memcpy(saves[i].to, slots[saves[i].slot], (size_t)(count * saves[i].size));
            saves[i].to += count * saves[i].size;
        }
        done += count;
        if (total <= block) {
            run_steps(fused, slots, count, outcome);
            break;
        }
        if (bytes >= PREFETCH_BYTES) {
            left -= count;
            run_steps_ahead(fused, slots, count, left < block ? left : block, outcome);
        }
        else {
            run_steps(fused, slots, count, outcome);
        }
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            slots[fused->inputs[i].slot] += count * fused->inputs[i].size;
        }
        for (uint32_t i = 0; i < fused->noutputs; i++) {
            slots[fused->outputs[i].slot] += count * fused->outputs[i].size;
        }
    }
    return done;
}

/* ---- Other operands -------------------------------------------------------------------------- */

static void
run_walk(const DtFused *fused, char **slots, const DtLayout *layout, DtReader *readers,
         npy_intp block, DtOutcome *outcome)
{
    npy_intp inner = layout->walk_shape[layout->nwalk - 1];
    npy_intp count;
    if (inner < LONG_ROW) {
        block -= block % inner; /* whole rows: an operand that is the same for each is read once */
    }
    for (npy_intp done = 0; done < layout->total && !outcome->failed; done += count) {
        count = layout->total - done < block ? layout->total - done : block;
        if (inner >= LONG_ROW && inner - done % inner < count) {
            count = inner - done % inner;
        }
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            slots[fused->inputs[i].slot] =
                dt_reader_block(&readers[i], layout, done, count, fused->inputs[i].size);
        }
        run_steps(fused, slots, count, outcome);
        for (uint32_t i = 0; i < fused->noutputs; i++) {
            slots[fused->outputs[i].slot] += count * fused->outputs[i].size;
        }
    }
}

/* ---- The stage ------------------------------------------------------------------------------- */

static size_t
aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* Gives every register (and every reader that gathers) its part of `scratch`; returns the bytes
 * needed. */
static size_t
place_scratch(const DtFused *fused, char **slots, DtReader *readers, npy_intp block, char *scratch)
{
    size_t used = 0;
    for (uint32_t i = 0; i < fused->nregisters; i++) {
        slots[fused->registers[i].slot] = scratch + used;
        used += aligned((size_t)block * fused->registers[i].size);
    }
    for (uint32_t i = 0; readers != NULL && i < fused->ninputs; i++) {
        if (!readers[i].linear) {
            readers[i].scratch = scratch + used;
            used += aligned((size_t)block * fused->inputs[i].size);
        }
    }
    return used;
}

static DtFusedRun
finish(const DtOutcome *outcome, const DtFused *fused)
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

/* The array that an output is written to, if it can be made there; borrowed, or NULL. */
static PyArrayObject *
direct_target(const DtFused *fused, const DtFusedOutput *output, const DtNativeRun *run,
              const npy_intp *shape, int order)
{
    bool wanted = output->write != NULL && order != 0 && !run->committed;
    PyObject *object = wanted ? dt_native_value(run, &output->target) : NULL;
    if (object == NULL || !PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    enum { NEEDED = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE };
    bool fits = PyArray_TYPE(array) == output->descr->type_num && PyArray_ISNOTSWAPPED(array)
                && (PyArray_FLAGS(array) & (NEEDED | order)) == (NEEDED | order)
                && PyArray_NDIM(array) == (int)fused->ndim
                && memcmp(PyArray_DIMS(array), shape, fused->ndim * sizeof(npy_intp)) == 0;
    return fits ? array : NULL;
}

/* Where the run failed: the arrays get back what they held. */
static void
take_back(Save *saves, uint32_t nsaves, npy_intp done, char *const *starts)
{
    for (uint32_t i = 0; i < nsaves; i++) {
        size_t bytes = (size_t)(done * saves[i].size);
        memcpy(starts[i], saves[i].to - bytes, bytes);
    }
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
    *scratch = (Scratch){aligned_alloc(64, aligned(need)), need};
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

static DtFusedRun
run_any(const DtFused *fused, DtNativeRun *run)
{
    PyArrayObject *arrays[DT_FUSED_MAX_INPUTS];
    char *slots[DT_FUSED_MAX_SLOTS];
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    char small[STACK_SCRATCH + 64];
    DtReader readers[DT_FUSED_MAX_INPUTS];
    DtLayout layout;
    Scratch scratch = {NULL, 0};
    int order;

    if (!take_inputs(fused, run, arrays, &order)) {
        return DT_FUSED_CALL;
    }
    npy_intp total;
    const npy_intp *shape;
    if (DT_LIKELY(order != 0)) {
        total = PyArray_SIZE(arrays[0]);
        shape = PyArray_DIMS(arrays[0]);
    }
    else {
        if (fused->dense_called || !dt_layout_compute(fused, arrays, &layout)) {
            return DT_FUSED_CALL;
        }
        for (uint32_t i = 0; i < fused->ninputs; i++) {
            if (!dt_layout_allows(fused, i, arrays[i], &layout)) {
                return DT_FUSED_CALL;
            }
        }
        total = layout.total;
        shape = layout.shape;
    }
    if (total == 0 || (total == 1 && fused->single_called)) {
        return DT_FUSED_CALL;
    }
    npy_intp done = 0, block = total < fused->block ? total : fused->block;
    DtGeometry geometry;
    if (fused->nreduce > 0) {
        if (!dt_reduced_geometry(fused, arrays, shape, order, order == 0 ? &layout : NULL,
                                 &geometry)) {
            return DT_FUSED_CALL;
        }
        block = geometry.block;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        slots[fused->inputs[i].slot] = PyArray_BYTES(arrays[i]);
        if (order == 0) {
            const npy_intp *strides = layout.walk_strides[i];
            readers[i] = dt_reader_make(&layout, strides, arrays[i], fused->inputs[i].size);
        }
    }
    for (uint32_t i = 0; i < fused->nscalars; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        if (scalar->kind == DT_SCALAR_CONST) {
            slots[scalar->slot] = (char *)scalar->cell;
            continue;
        }
        slots[scalar->slot] = (char *)cells[i];
        DtFusedRun filled = dt_scalar_fill(scalar, run, cells[i]);
        if (filled != DT_FUSED_OK) {
            return filled;
        }
    }

    DtFusedRun result = DT_FUSED_ERROR;
    PyObject *made[DT_FUSED_MAX_OUTPUTS];
    bool direct[DT_FUSED_MAX_OUTPUTS];
    Save saves[DT_FUSED_MAX_OUTPUTS];
    char *starts[DT_FUSED_MAX_OUTPUTS];
    PyObject *row_arrays[DT_FUSED_MAX_OPS];
    uint64_t row_cells[DT_FUSED_MAX_OPS][2];
    bool has_rows = false;
    uint32_t nmade = 0, nsaves = 0;
    DtReader *gather = order == 0 ? readers : NULL;
    char *memory = (char *)aligned((size_t)small);
    size_t need = place_scratch(fused, slots, gather, block, memory);
    if (need > STACK_SCRATCH) {
        memory = take_scratch(run->exe, need, &scratch);
        if (memory == NULL) {
            return DT_FUSED_ERROR;
        }
        place_scratch(fused, slots, gather, block, memory);
    }
    for (; nmade < fused->noutputs; nmade++) {
        const DtFusedOutput *output = &fused->outputs[nmade];
        PyArrayObject *target = direct_target(fused, output, run, shape, order);
        direct[nmade] = target != NULL;
        if (target != NULL) {
            made[nmade] = Py_NewRef((PyObject *)target);
            if (output->saves) {
                PyObject *saved =
                    dt_memory_new_array(output->descr, (int)fused->ndim, shape, NULL, order);
                if (saved == NULL) {
                    nmade++;
                    goto done;
                }
                starts[nsaves] = PyArray_BYTES(target);
                saves[nsaves++] = (Save){saved, PyArray_BYTES((PyArrayObject *)saved), output->slot,
                                         output->size};
            }
        }
        else if (output->reuse >= 0 && order != 0 && !run->committed
                 && is_ours(arrays[output->reuse])
                 && has_strides_of_new(arrays[output->reuse], order)) {
            made[nmade] = Py_NewRef(arrays[output->reuse]);
        }
        else {
            made[nmade] = dt_memory_new_array(output->descr, (int)fused->ndim, shape,
                                              order == 0 ? layout.strides[nmade] : NULL, order);
        }
        if (made[nmade] == NULL) {
            goto done;
        }
        slots[output->slot] = PyArray_BYTES((PyArrayObject *)made[nmade]);
    }

    if (fused->nreduce > 0) {
        if (dt_reduced_make(fused, shape, row_arrays, row_cells, slots) < 0) {
            goto done;
        }
        has_rows = true;
    }

    DtOutcome outcome = {0};
    PyThreadState *thread = NULL;
    if (total * (npy_intp)fused->nsteps >= RELEASE_GIL_WORK && !fused->raises) {
        thread = PyEval_SaveThread();
    }
    dt_fpflags_clear();
    if (fused->nreduce > 0) {
        dt_reduced_run(fused, slots, &geometry, &layout, gather, &outcome);
    }
    else if (order != 0) {
        done = run_dense(fused, slots, total, block, saves, nsaves, &outcome);
    }
    else {
        run_walk(fused, slots, &layout, readers, block, &outcome);
    }
    outcome.flags |= dt_fpflags_read();
    if (thread != NULL) {
        PyEval_RestoreThread(thread);
    }
    result = finish(&outcome, fused);
    for (uint32_t i = 0, k = 0; i < nmade && result == DT_FUSED_OK && nsaves > 0; i++) {
        if (direct[i] && fused->outputs[i].saves
            && dt_written_note(&run->log, fused->outputs[i].write, made[i], saves[k++].array) < 0) {
            result = DT_FUSED_ERROR;
        }
    }
    if (result != DT_FUSED_OK) {
        take_back(saves, nsaves, done, starts);
    }
    if (result == DT_FUSED_OK && outcome.unsure) {
        result = DT_FUSED_CALL;
    }
done:
    give_scratch(run->exe, &scratch);
    if (has_rows && dt_reduced_take(fused, run, row_arrays, row_cells, result == DT_FUSED_OK) < 0
        && result == DT_FUSED_OK) {
        result = DT_FUSED_ERROR;
    }
    for (uint32_t i = 0; i < nsaves; i++) {
        Py_DECREF(saves[i].array);
    }
    for (uint32_t i = 0; i < nmade; i++) {
        if (result == DT_FUSED_OK && !direct[i]) {
            run->values[fused->outputs[i].node->index] = made[i];
        }
        else {
            Py_DECREF(made[i]);
        }
    }
    return result;
}

bool
dt_fused_is_simple(const DtFused *fused)
{
    bool simple = fused->nreduce == 0 && fused->ninputs > 0;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        simple = simple && fused->outputs[i].write == NULL && fused->outputs[i].reuse < 0;
    }
    return simple;
}

/* The memory of dense operands, whose shape and order these become; false for any others. */
static inline bool
take_dense(const DtFused *fused, const DtNativeRun *run, char **slots, const npy_intp **shape,
           int *order)
{
    int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        PyArrayObject *array = (PyArrayObject *)dt_native_value(run, &input->value);
        if (array == NULL || !PyArray_CheckExact(array) || PyArray_TYPE(array) != input->type_num
            || !PyArray_ISNOTSWAPPED(array) || PyArray_NDIM(array) != (int)fused->ndim) {
            return false;
        }
        flags &= PyArray_FLAGS(array);
        if (i == 0) {
            *shape = PyArray_DIMS(array);
        }
        for (uint32_t axis = 0; i > 0 && axis < fused->ndim; axis++) {
            if (PyArray_DIM(array, axis) != (*shape)[axis]) {
                return false;
            }
        }
        slots[input->slot] = PyArray_BYTES(array);
    }
    *order =
        flags & NPY_ARRAY_C_CONTIGUOUS ? NPY_ARRAY_C_CONTIGUOUS : flags & NPY_ARRAY_F_CONTIGUOUS;
    return *order != 0 && (flags & NPY_ARRAY_ALIGNED);
}

/* A simple stage over dense operands that are one block, with its registers on the C stack: what
 * small arrays take.  DT_FUSED_CALL: nothing has happened, and it may be another kind of call. */
static DtFusedRun
run_small(const DtFused *fused, DtNativeRun *run)
{
    char *slots[DT_FUSED_MAX_SLOTS];
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    char small[STACK_SCRATCH + 64];
    const npy_intp *shape;
    int order;
    if (!take_dense(fused, run, slots, &shape, &order)) {
        return DT_FUSED_CALL;
    }
    npy_intp total = 1;
    for (uint32_t axis = 0; axis < fused->ndim; axis++) {
        total *= shape[axis]; /* of an array, so it fits */
    }
    char *memory = (char *)aligned((size_t)small);
    if (total < 2 || total > fused->block || total * (npy_intp)fused->nsteps >= RELEASE_GIL_WORK
        || place_scratch(fused, slots, NULL, total, memory) > STACK_SCRATCH) {
        return DT_FUSED_CALL;
    }
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
    PyObject *made[DT_FUSED_MAX_OUTPUTS];
    DtFusedRun result = DT_FUSED_ERROR;
    uint32_t nmade = 0;
    for (; nmade < fused->noutputs; nmade++) {
        const DtFusedOutput *output = &fused->outputs[nmade];
        made[nmade] = dt_memory_new_array(output->descr, (int)fused->ndim, shape, NULL, order);
        if (DT_UNLIKELY(made[nmade] == NULL)) {
            goto done;
        }
        slots[output->slot] = PyArray_BYTES((PyArrayObject *)made[nmade]);
    }
    DtOutcome outcome = {0};
    dt_fpflags_clear();
    run_steps(fused, slots, total, &outcome);
    outcome.flags |= dt_fpflags_read();
    result = finish(&outcome, fused);
    if (result == DT_FUSED_OK && outcome.unsure) {
        result = DT_FUSED_CALL;
    }
done:
    for (uint32_t i = 0; i < nmade; i++) {
        if (DT_LIKELY(result == DT_FUSED_OK)) {
            run->values[fused->outputs[i].node->index] = made[i];
        }
        else {
            Py_DECREF(made[i]);
        }
    }
    return result;
}

DtFusedRun
dt_fused_run(const DtFused *fused, DtNativeRun *run)
{
    if (DT_LIKELY(fused->simple)) {
        DtFusedRun result = run_small(fused, run);
        if (DT_LIKELY(result != DT_FUSED_CALL)) {
            return result;
        }
    }
    return run_any(fused, run);
}
