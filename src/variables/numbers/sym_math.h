/* Functions of module math, pow() and round(), on symbolic floats. */
#ifndef DT_VARIABLES_SYM_MATH_H
#define DT_VARIABLES_SYM_MATH_H

#include "core/status.h"
#include "variables/numbers/sym.h"

/* Whether the operation is one of them; FLOOR, CEIL, TRUNC and ROUND give ints. */
static inline bool
dt_sym_math_is(DtSymOp op)
{
    return op >= DT_SYM_OP_SQRT;
}

static inline bool
dt_sym_math_takes_two(DtSymOp op)
{
    return op >= DT_SYM_OP_POW && op <= DT_SYM_OP_COPYSIGN;
}

static inline bool
dt_sym_math_gives_int(DtSymOp op)
{
    return op >= DT_SYM_OP_FLOOR;
}

/* false: plain Python raises, or the result has more than 64 bits. */
bool dt_sym_math_apply(DtSymOp op, double a, DtNumber *out) DT_MUST_CHECK;
bool dt_sym_math_apply_two(DtSymOp op, double a, double b, DtNumber *out) DT_MUST_CHECK;

#endif
