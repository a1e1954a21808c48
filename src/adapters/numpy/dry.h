/* Functions without a rule of their own: NumPy calls them, and a dry run says what comes out.
 *
 *   operands ─► sizes guarded ─► dummies of the same dtypes, sizes and order ─► call ─► metadata
 *
 * Rows come here only if dtype, shape and kind of the result rest on nothing but dtypes, sizes
 * and constants, if they give new memory and write nothing (floating-point flags are the executor's
 * business).  Functions that may warn from Python are called as copies that raise instead.  A dry
 * run that raises, or whose result is a view, is a graph break: plain execution does what it does.
 *
 * Integers that say how large the result is are found by runs with other ones: a break.
 *
 * Sizes become constants of the trace: another size is another entry.
 * dry_operands.c makes the dummies, dry.c runs and reads results, dry_forms.c has the rows'
 * handlers.
 */
#ifndef DT_ADAPTERS_NUMPY_DRY_H
#define DT_ADAPTERS_NUMPY_DRY_H

#include "adapters/numpy/internal.h"

/* What integers among the dummies are. */
typedef enum DtNpDryValues { DT_NP_DRY_ZEROS, DT_NP_DRY_ONES, DT_NP_DRY_DIFFERENT } DtNpDryValues;

typedef struct DtNpDry {
    DtTrace *trace;
    DtNpOp op;
    const char *function;
    PyObject *dummies; /* DT_OWNED list */
    bool about;        /* the result is no array and known at once */
    bool counted;      /* no size matters; the first of results depends on data, if not alike */
    bool any_type;     /* NumPy converts no operand, so that it can't warn of it */
    bool late;         /* dtype or rank of results depend on data: only their type is known */
    bool scattered;    /* some array is in another order than its dummy, as far as is known */
    bool integers;     /* there are some among the dummies */
    DtNpDryValues values;
    uint32_t alike; /* a bit per result of a counted one that has the sizes of its array */
    uint32_t open;  /* a bit per result of others whose first size depends on data */
} DtNpDry;

/* Will a value of this type do as an argument, and be known as a result? */
bool dt_np_dry_is_plain(PyObject *value);
/* The operand and what stands for it in the dry run (DT_OWNED); arrays are noted in dry->dummies.
 */
DtStatus dt_np_dry_operand(DtNpDry *, DtVar *var, uint32_t depth, DtOperand *operand,
                           PyObject **example) DT_MUST_CHECK;
/* Runs `callee` on dummies and emits its call; dry->dummies is made and dropped in here. */
DtStatus dt_np_dry_call(DtNpDry *, PyObject *callee, const DtArgs *, DtVar **out) DT_MUST_CHECK;

#endif
