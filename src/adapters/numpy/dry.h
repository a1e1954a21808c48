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
 * Sizes become constants of the trace: another size is another entry.  What a size that depends on
 * data does to the result is guessed from several runs, and looked at when the graph runs.
 * dry_operands.c makes the dummies, dry.c runs and reads results, dry_sizes.c is about sizes that
 * depend on data, dry_forms.c has the rows' handlers.
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
    const DtSym *count;    /* of a counted one: its first size, if it is known */
    uint32_t alike;        /* a bit per result of a counted one that has the sizes of its array */
    uint32_t open;         /* a bit per result of others whose first size depends on data */
    const DtSym *sizes[8]; /* of arguments that depend on data ... */
    uint32_t nsizes;
    uint32_t run; /* ... and the run that says what they are now */
} DtNpDry;

/* Will a value of this type do as an argument, and be known as a result? */
bool dt_np_dry_is_plain(PyObject *value);
/* The operand and what stands for it in the dry run (DT_OWNED); arrays are noted in dry->dummies.
 */
DtStatus dt_np_dry_operand(DtNpDry *, DtVar *var, uint32_t depth, DtOperand *operand,
                           PyObject **example) DT_MUST_CHECK;
/* The function on other dummies; *result NULL: they are refused. */
DtStatus dt_np_dry_run_again(DtNpDry *, DtNpDryValues, PyObject *callee, DtOperand *operands,
                             const DtArgs *, PyObject **result) DT_MUST_CHECK;

/* ---- Sizes that depend on data (dry_sizes.c) ------------------------------------------------- */

/* A size of an argument depends on data. */
DtStatus dt_np_dry_open(DtNpDry *, const DtSym *size) DT_MUST_CHECK;
/* What a size of a dummy is. */
DtStatus dt_np_dry_size(const DtNpDry *, const DtSym *size, npy_intp *out) DT_MUST_CHECK;
/* `results`: as the first run gave them; their sizes become what further runs say, and the call one
 * that looks whether it is so. */
DtStatus dt_np_dry_learn_sizes(DtNpDry *, DtCallSpec *, DtOperand *operands, const DtArgs *,
                               PyObject *first, DtMeta *results, uint32_t count) DT_MUST_CHECK;

/* Runs `callee` on dummies and emits its call; dry->dummies is made and dropped in here. */
DtStatus dt_np_dry_call(DtNpDry *, PyObject *callee, const DtArgs *, DtVar **out) DT_MUST_CHECK;

#endif
