/* See sym_math.h.
 *
 * CPython calls the same functions of libm, and raises where the result of
 * finite arguments is no finite number, or an argument is outside of the domain.
 */
#include "variables/numbers/sym_math.h"

#include <math.h>

/* Whole numbers up to here are exact as doubles and fit an int64. */
#define LARGEST_WHOLE 9007199254740992.0

#define PI 3.14159265358979323846

static double
radians(double a)
{
    return a * (PI / 180.0);
}

static double
degrees(double a)
{
    return a * (180.0 / PI);
}

static double (*const functions[])(double) = {
    [DT_SYM_OP_SQRT] = sqrt,       [DT_SYM_OP_EXP] = exp,         [DT_SYM_OP_LOG] = log,
    [DT_SYM_OP_LOG2] = log2,       [DT_SYM_OP_LOG10] = log10,     [DT_SYM_OP_SIN] = sin,
    [DT_SYM_OP_COS] = cos,         [DT_SYM_OP_TAN] = tan,         [DT_SYM_OP_ATAN] = atan,
    [DT_SYM_OP_TANH] = tanh,       [DT_SYM_OP_ASIN] = asin,       [DT_SYM_OP_ACOS] = acos,
    [DT_SYM_OP_SINH] = sinh,       [DT_SYM_OP_COSH] = cosh,       [DT_SYM_OP_RADIANS] = radians,
    [DT_SYM_OP_DEGREES] = degrees, [DT_SYM_OP_FLOOR] = floor,     [DT_SYM_OP_CEIL] = ceil,
    [DT_SYM_OP_TRUNC] = trunc,     [DT_SYM_OP_ROUND] = nearbyint, /* halves to even, as round() */
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

/* a ** b where that is a float and nothing is raised. */
static bool
power(double a, double b, double *out)
{
    if ((a == 0.0 && b < 0.0) || (a < 0.0 && b != floor(b))) {
        return false; /* ZeroDivisionError; a complex number, or ValueError of math.pow() */
    }
    *out = pow(a, b);
    return isfinite(*out);
}

bool
dt_sym_math_apply_two(DtSymOp op, double a, double b, DtNumber *out)
{
    if (!isfinite(a) || !isfinite(b)) {
        return false; /* CPython has rules of its own */
    }
    switch (op) {
    case DT_SYM_OP_POW:
        return power(a, b, &out->d);
    case DT_SYM_OP_ATAN2:
        out->d = atan2(a, b);
        return true;
    case DT_SYM_OP_FMOD:
        out->d = b != 0.0 ? fmod(a, b) : 0.0;
        return b != 0.0;
    case DT_SYM_OP_COPYSIGN:
        out->d = copysign(a, b);
        return true;
    default:
        return false;
    }
}
