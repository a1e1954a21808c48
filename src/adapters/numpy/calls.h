/* What functions that stay calls of NumPy share (calls.c). */
#ifndef DT_ADAPTERS_NUMPY_CALLS_H
#define DT_ADAPTERS_NUMPY_CALLS_H

#include "adapters/numpy/internal.h"

/* The argument as an array of at least one axis; breaks if it is none. */
DtStatus dt_np_call_array(DtTrace *, const char *function, DtVar *var,
                          DtArrayVar **out) DT_MUST_CHECK;
/* An axis argument: absent (then `absent`), None (*flat) or an int. */
DtStatus dt_np_call_axis(DtTrace *, const char *function, DtVar *var, uint32_t ndim, int64_t absent,
                         uint32_t *axis, bool *flat) DT_MUST_CHECK;
DtStatus dt_np_call_axis_operand(DtTrace *, uint32_t axis, bool flat, DtOperand *out) DT_MUST_CHECK;
/* Metadata like the array's, with another dtype; in C order if `c`, else as the array's tells. */
DtStatus dt_np_call_like(DtTrace *, const DtMeta *array, PyObject *dtype, bool c,
                         DtMeta **out) DT_MUST_CHECK;

#endif
