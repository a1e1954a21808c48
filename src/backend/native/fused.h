/* What the ways of running a fused stage share (fused_operands.c): any operands (fused.c), small
 * ones (fused_small.c), a few elements (fused_few.c).
 */
#ifndef DT_BACKEND_NATIVE_FUSED_H
#define DT_BACKEND_NATIVE_FUSED_H

#include "backend/native/fpflags.h"
#include "backend/native/native.h"

enum {
    DT_FUSED_STACK_SCRATCH = 4096,  /* small operands need no scratch memory of their own */
    DT_FUSED_RELEASE_GIL = 1 << 17, /* elements times steps from which on other threads may run */
};

static inline void
dt_fused_steps(const DtFused *fused, char *const *slots, npy_intp count, DtOutcome *outcome)
{
    const DtStep *step = fused->steps;
    for (const DtStep *end = step + fused->nsteps; step < end; step++) {
        dt_fused_step(step, slots, count, outcome);
    }
}

/* The array of an input, borrowed, or in `viewed`; NULL: it is none. */
static inline PyArrayObject *
dt_fused_array(const DtFusedInput *input, const DtNativeRun *run, DtViewed *viewed)
{
    if (DT_UNLIKELY(input->view != NULL)) {
        return dt_kernel_view(input->view, run, viewed);
    }
    PyObject *object = dt_native_value(run, &input->value);
    return object != NULL && PyArray_CheckExact(object) ? (PyArrayObject *)object : NULL;
}

static inline size_t
dt_fused_aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* The bytes that registers of `block` elements take, at most. */
static inline size_t
dt_fused_register_bytes(const DtFused *fused, npy_intp block)
{
    return (size_t)block * fused->register_bytes + (size_t)63 * fused->nregisters;
}

/* Gives every register its part of `scratch`; returns the bytes needed. */
size_t dt_fused_place_registers(const DtFused *fused, char **slots, npy_intp block, char *scratch);

/* Fills in the slots of constants, and of the other scalars, for each of which `cells` has room. */
void dt_fused_place_constants(const DtFused *fused, char **slots);
DtFusedRun dt_fused_take_scalars(const DtFused *fused, const DtNativeRun *run, char **slots,
                                 uint64_t (*cells)[2]);

/* Hands arrays that the stage made over to the run, or drops them. */
static inline void
dt_fused_give(const DtFused *fused, DtNativeRun *run, PyObject *const *made, uint32_t count,
              DtFusedRun result)
{
    for (uint32_t i = 0; i < count; i++) {
        if (DT_LIKELY(result == DT_FUSED_OK)) {
            run->values[fused->outputs[i].node->index] = made[i];
        }
        else {
            Py_DECREF(made[i]);
        }
    }
}

/* What the flags and failures of a stage's loops come to. */
DtFusedRun dt_fused_finish(const DtOutcome *outcome, const DtFused *fused);

/* Takes the operands, which may be in `viewed`.  *order: NPY_ARRAY_C_CONTIGUOUS or F, or 0 if they
 * are not all dense in one order. */
bool dt_fused_take_inputs(const DtFused *fused, const DtNativeRun *run, DtViewed *viewed,
                          PyArrayObject **arrays, int *order);
/* Operands are dense in `order`, but an axis of one item has another place in an output: fused.c.
 */
bool dt_fused_sees_order(const DtFused *fused, const npy_intp *shape, int order);
/* DT_FUSED_CALL: nothing has happened, and it may be that only fused.c can run it. */
DtFusedRun dt_fused_run_small(const DtFused *fused, DtNativeRun *run);
DtFusedRun dt_fused_run_few(const DtFused *fused, DtNativeRun *run);

#endif
