/* Ufuncs that write: what the operators share with the calls by name. */
#ifndef DT_ADAPTERS_NUMPY_UFUNCS_H
#define DT_ADAPTERS_NUMPY_UFUNCS_H

#include "adapters/numpy/internal.h"

typedef struct DtNpUfuncOptions {
    PyObject *dtype;   /* or NULL */
    PyObject *casting; /* str or NULL */
} DtNpUfuncOptions;

/* The ufunc with out= `target`, and where= or NULL. */
DtStatus dt_np_apply_into(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t nin,
                          const DtNpUfuncOptions *options, DtArrayVar *target,
                          DtArrayVar *where) DT_MUST_CHECK;

/* May the array lie in the target's memory, other than as the target itself?  Where a loop reads
 * what it writes elsewhere, NumPy runs other code, too.  Inputs are taken to lie apart: for those
 * that do not the executor refuses (write.c). */
bool dt_np_may_overlap(const DtArrayVar *target, const DtArrayVar *array);

/* Where a loop reads the one item that it writes, NumPy takes both for overlapping memory, and
 * other code: complex products, powers and functions may then be rounded otherwise. */
bool dt_np_may_be_one_item(const DtTrace *trace, const DtMeta *meta);

/* The loop that divides time spans by integers tells of zeros only where the divisor has a stride
 * of 0, and NumPy gives one item such a stride if the result goes into the other operand. */
bool dt_np_divides_spans(DtNpOp op, int num);

bool dt_np_same_axes_order(const DtMeta *a, const DtMeta *b);

/* The result of the plain operation takes the place of `self`, if writing into it would give the
 * same; else it is written. */
DtStatus dt_np_put_result(DtTrace *trace, DtArrayVar *self, DtVar *made, NPY_CASTING casting,
                          const char *what) DT_MUST_CHECK;

#endif
