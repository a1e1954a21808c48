/* See sym_math.h.
 *
 * CPython calls the same functions of libm, and raises where the result of a
 * finite argument is no finite number, or the argument is outside of the domain.
 */
#include "variables/numbers/sym_math.h"

#include <math.h>

/* Whole numbers up to here are exact as doubles and fit an int64. */
#define LARGEST_WHOLE 9007199254740992.0

static double (*const functions[])(double) = {
    [DT_SYM_OP_SQRT] = sqrt,   [DT_SYM_OP_EXP] = exp,     [DT_SYM_OP_LOG] = log,
    [DT_SYM_OP_LOG2] = log2,   [DT_SYM_OP_LOG10] = log10, [DT_SYM_OP_SIN] = sin,
    [DT_SYM_OP_COS] = cos,     [DT_SYM_OP_TAN] = tan,     [DT_SYM_OP_ATAN] = atan,
    [DT_SYM_OP_TANH] = tanh,   [DT_SYM_OP_FLOOR] = floor, [DT_SYM_OP_CEIL] = ceil,
    [DT_SYM_OP_TRUNC] = trunc,
};

bool
dt_sym_math_apply(DtSymOp op, double a, DtNumber *out)
{
    double result = functions[op](a);
    if (dt_sym_math_gives_int(op)) {
        out->i = fabs(result) <= LARGEST_WHOLE ? (int64_t)result : 0;
        return fabs(result) <= LARGEST_WHOLE;
    }
    out->d = result;
    bool logarithm = op == DT_SYM_OP_LOG || op == DT_SYM_OP_LOG2 || op == DT_SYM_OP_LOG10;
    if (logarithm && a <= 0.0) {
        return false;
    }
    if (isnan(result)) {
        return isnan(a);
    }
    return !isinf(result) || isinf(a);
}
