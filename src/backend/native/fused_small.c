/* The straight path of a simple stage over dense operands that are one block, with its registers on
 * the C stack: what small arrays take.  Everything else is fused.c's.
 */
#include <string.h>

#include "backend/eager.h"
#include "backend/native/fused.h"
#include "backend/native/straight.h"

bool
dt_fused_is_simple(const DtFused *fused)
{
    bool simple = fused->nreduce == 0 && fused->ninputs > 0;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        simple = simple && fused->outputs[i].write == NULL && fused->outputs[i].reuse < 0;
    }
    return simple;
}

bool
dt_fused_writes(const DtFused *fused)
{
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        if (fused->outputs[i].write != NULL) {
            return true;
        }
    }
    return false;
}

/* The memory of dense operands, whose shape and order these become; false for any others. */
static inline bool
take_dense(const DtFused *fused, const DtNativeRun *run, DtViewed *viewed, char **slots,
           const npy_intp **shape, int *order)
{
    int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        PyArrayObject *array = dt_fused_array(input, run, &viewed[i]);
        if (array == NULL || PyArray_TYPE(array) != input->type_num || !PyArray_ISNOTSWAPPED(array)
            || PyArray_NDIM(array) != (int)fused->ndim) {
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

/* NumPy's loops, over everything at once. */
static DtFusedRun
run_loops(const DtFused *fused, char **slots, npy_intp total)
{
    char small[DT_FUSED_STACK_SCRATCH + 64];
    char *memory = (char *)dt_fused_aligned((size_t)small);
    if (dt_fused_place_registers(fused, slots, total, memory) > DT_FUSED_STACK_SCRATCH) {
        return DT_FUSED_CALL;
    }
    dt_fused_place_constants(fused, slots);
    DtOutcome outcome = {0};
    dt_fpflags_clear();
    dt_fused_steps(fused, slots, total, &outcome);
    outcome.flags |= dt_fpflags_read();
    DtFusedRun result = dt_fused_finish(&outcome, fused);
    return result == DT_FUSED_OK && outcome.unsure ? DT_FUSED_CALL : result;
}

DtFusedRun
dt_fused_run_small(const DtFused *fused, DtNativeRun *run)
{
    char *slots[DT_FUSED_MAX_SLOTS];
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    const npy_intp *shape;
    int order;
    DtViewed viewed[DT_FUSED_MAX_INPUTS];
    if (!take_dense(fused, run, viewed, slots, &shape, &order)
        || (order == NPY_ARRAY_F_CONTIGUOUS && dt_fused_sees_order(fused, shape, order))) {
        return DT_FUSED_CALL;
    }
    npy_intp total = 1;
    for (uint32_t axis = 0; axis < fused->ndim; axis++) {
        total *= shape[axis]; /* of an array, so it fits */
    }
    if (total < 2 || total > fused->block
        || total * (npy_intp)fused->nsteps >= DT_FUSED_RELEASE_GIL) {
        return DT_FUSED_CALL;
    }
    DtStraight *straight = fused->nquads >= DT_STRAIGHT_PAYS ? dt_straight_get(fused, total) : NULL;
    if (straight == NULL && dt_fused_register_bytes(fused, total) > DT_FUSED_STACK_SCRATCH) {
        return DT_FUSED_CALL;
    }
    DtFusedRun result = dt_fused_take_scalars(fused, run, slots, cells);
    if (result != DT_FUSED_OK) {
        return result;
    }
    PyObject *made[DT_FUSED_MAX_OUTPUTS];
    uint32_t nmade = 0;
    result = DT_FUSED_ERROR;
    for (; nmade < fused->noutputs; nmade++) {
        const DtFusedOutput *output = &fused->outputs[nmade];
        made[nmade] = dt_memory_new_array(output->descr, (int)fused->ndim, shape, NULL, order);
        if (DT_UNLIKELY(made[nmade] == NULL)) {
            goto done;
        }
        slots[output->slot] = PyArray_BYTES((PyArrayObject *)made[nmade]);
    }
    bool made_straight = straight != NULL && dt_straight_run(straight, slots, total);
    result = DT_LIKELY(made_straight) ? DT_FUSED_OK : run_loops(fused, slots, total);
done:
    dt_fused_give(fused, run, made, nmade, result);
    return result;
}
