/* What a constant or a symbolic number is to the other kinds: operating on it, asking for it. */
#ifndef DT_VARIABLES_CONSTANTS_H
#define DT_VARIABLES_CONSTANTS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Constants (v_constant.c) ---------------------------------------------------------------- */

DtStatus dt_constant_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* Whether a NaN is in it, whose hash and equality in a container come from its address. */
bool dt_constant_has_nan(PyObject *value);
bool
dt_constant_is_safe(PyObject *value); /* exact builtin immutable type: its slots run no user code */
DtStatus dt_constant_binary(DtTrace *trace, DtBinaryOp op, PyObject *left, PyObject *right,
                            DtVar **out) DT_MUST_CHECK;
/* The operator on real objects: a new reference or NULL with its exception. */
DT_OWNED PyObject *dt_constant_operate(DtBinaryOp op, PyObject *left, PyObject *right);
DtStatus dt_constant_compare(DtTrace *trace, int op, PyObject *left, PyObject *right,
                             DtVar **out) DT_MUST_CHECK;
/* A new reference's tracker: constants become constants, tuples trackers of their items. */
DtStatus dt_constant_wrap_take(DtTrace *trace, DT_STEALS PyObject *value,
                               DtVar **out) DT_MUST_CHECK;
/* An index (int, bool, symbol: specialised); *ok false if it is none. */
DtStatus dt_constant_index(DtTrace *trace, DtVar *var, int64_t *out, bool *ok) DT_MUST_CHECK;
/* Whether a sequence times an int, or two ints, would be too large to fold. */
bool dt_constant_is_large_product(PyObject *left, PyObject *right);

/* ---- Symbols (v_symbolic.c) ------------------------------------------------------------------ */

DtStatus dt_symbolic_build(DtTrace *, PyObject *, const DtSource *, bool,
                           DtVar **); /* int, float */
/* Emits an operation; emit() leaves the value of one of its one or two operands. */
DtStatus dt_symbolic_emit(DtCodegen *codegen, int op,
                          DtStatus (*emit)(DtCodegen *codegen, const void *operand), const void *a,
                          const void *b) DT_MUST_CHECK;
/* Was an earlier version compiled for another value of what the source reads? */
bool dt_symbolic_has_varied(DtTrace *trace, const DtSource *source);
/* Whether the source is in a set of printed ones; NULL: an empty set. */
bool dt_symbolic_is_among(PyObject *set, const DtSource *source);
/* The expression of a symbolic number or of an int, float or bool constant; NULL if it has none. */
const DtSym *dt_symbolic_of(DtTrace *trace, DtVar *var);

/* ---- Functions of symbols (builtins_math.c) -------------------------------------------------- */

/* A function of a symbolic number, under a guard that it has a value.  *out is NULL when `arg` is
 * no such number or this has no such form. */
DtStatus dt_math_symbolic(DtTrace *trace, DtSymOp op, DtVar *arg, DtVar **out) DT_MUST_CHECK;
/* That guard: plain execution raises where the number has no value. */
DtStatus dt_math_require(DtTrace *trace, const DtSym *sym) DT_MUST_CHECK;
/* The function of Python that a symbolic operation is; borrowed, kept since start-up. */
PyObject *dt_math_function(DtSymOp op);
int dt_math_init(void); /* -1 with an exception */

#endif
