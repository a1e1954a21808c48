/* One operation of symbolic numbers on two numbers (sym_apply.c). */
#ifndef DT_VARIABLES_SYM_APPLY_H
#define DT_VARIABLES_SYM_APPLY_H

#include "core/status.h"
#include "variables/numbers/sym.h"

static inline bool
dt_sym_compares(DtSymOp op)
{
    return op >= DT_SYM_OP_EQ && op <= DT_SYM_OP_GE;
}

/* Whether an int converts to double without rounding; int/int and int-float comparisons need it. */
static inline bool
dt_sym_is_exact(int64_t value)
{
    return value >= -(INT64_C(1) << 53) && value <= (INT64_C(1) << 53);
}

/* `is_float`: the operands are.  An operation of one operand leaves `b` alone.  false: overflow,
 * division by zero, or nothing that Python does. */
bool dt_sym_apply(DtSymOp op, bool is_float, DtNumber a, DtNumber b, DtNumber *out) DT_MUST_CHECK;

#endif
