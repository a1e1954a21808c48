/* What goes into a fused stage and what comes of its flags, whichever way it runs: fused.h.
 *
 * Not in here: the ways themselves (fused.c, fused_small.c, fused_few.c), results.
 */
#include "backend/native/fused.h"

#include <string.h>

#include "backend/eager.h"

bool
dt_fused_take_inputs(const DtFused *fused, const DtNativeRun *run, DtViewed *viewed,
                     PyArrayObject **arrays, int *order)
{
    int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    bool same = true;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        PyArrayObject *array = dt_fused_array(input, run, &viewed[i]);
        if (array == NULL || PyArray_TYPE(array) != input->type_num || !PyArray_ISNOTSWAPPED(array)
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

/* In Fortran's order only: NumPy's iterator leaves axes of one item where C's order has them, and a
 * program sees their strides. */
bool
dt_fused_sees_order(const DtFused *fused, const npy_intp *shape, int order)
{
    bool one = false;
    for (uint32_t axis = 0; axis < fused->ndim; axis++) {
        one = one || shape[axis] == 1;
    }
    return one && fused->iterated && order == NPY_ARRAY_F_CONTIGUOUS;
}

void
dt_fused_place_constants(const DtFused *fused, char **slots)
{
    for (uint32_t i = fused->nvarying; i < fused->nscalars; i++) {
        slots[fused->scalars[i].slot] = (char *)fused->scalars[i].cell;
    }
}

DtFusedRun
dt_fused_take_scalars(const DtFused *fused, const DtNativeRun *run, char **slots,
                      uint64_t (*cells)[2])
{
    for (uint32_t i = 0; i < fused->nvarying; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        slots[scalar->slot] = (char *)cells[i];
        DtFusedRun filled = dt_scalar_fill(scalar, run, cells[i]);
        if (filled != DT_FUSED_OK) {
            return filled;
        }
    }
    return DT_FUSED_OK;
}

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
    if (DT_UNLIKELY(outcome->interrupted)) {
        return DT_FUSED_REPLAY; /* the plain call begins with the handler */
    }
    if (DT_LIKELY((outcome->flags & DT_FP_ALL) == 0)) {
        return DT_FUSED_OK;
    }
    if (dt_errstate_watched(fused->fp_region, &watched) < 0) {
        return dt_eager_failure(false) == DT_RUN_ERROR ? DT_FUSED_ERROR : DT_FUSED_REPLAY;
    }
    return outcome->flags & watched ? DT_FUSED_REPLAY : DT_FUSED_OK;
}
