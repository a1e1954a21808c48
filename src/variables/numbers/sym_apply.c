/* One operation of symbolic numbers on two numbers: Python's results, or none. */
#include "variables/numbers/sym_apply.h"

#include <math.h>

#include "core/floor_division.h"
#include "variables/numbers/sym_math.h"

/* Quotient rounded down; false for a zero divisor or an overflow. */
static bool
floor_divide(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        return false;
    }
    int64_t quotient = a / b;
    if (a % b != 0 && ((a < 0) != (b < 0))) {
        quotient--;
    }
    *out = quotient;
    return true;
}

static bool
floor_modulo(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) {
        return false;
    }
    if (b == -1) {
        *out = 0;
        return true;
    }
    int64_t rest = a % b;
    if (rest != 0 && ((rest < 0) != (b < 0))) {
        rest += b;
    }
    *out = rest;
    return true;
}

/* What a comparison says of numbers of which at most one of these holds (none: a NaN is among
 * them). */
static bool
holds(DtSymOp op, bool less, bool equal, bool greater)
{
    switch (op) {
    case DT_SYM_OP_EQ:
        return equal;
    case DT_SYM_OP_NE:
        return !equal;
    case DT_SYM_OP_LT:
        return less;
    case DT_SYM_OP_LE:
        return less || equal;
    case DT_SYM_OP_GT:
        return greater;
    default:
        return greater || equal;
    }
}

/* Bits of negative numbers are those of two's complement, as Python has it. */
static bool
apply_bits(DtSymOp op, int64_t a, int64_t b, DtNumber *out)
{
    switch (op) {
    case DT_SYM_OP_BITAND:
        out->i = a & b;
        return true;
    case DT_SYM_OP_BITOR:
        out->i = a | b;
        return true;
    case DT_SYM_OP_BITXOR:
        out->i = a ^ b;
        return true;
    case DT_SYM_OP_LSHIFT:
        return b >= 0 && b < 63 && !__builtin_mul_overflow(a, INT64_C(1) << b, &out->i);
    case DT_SYM_OP_RSHIFT:
        out->i = b < 0 ? 0 : a >> (b > 63 ? 63 : b);
        return b >= 0;
    default:
        return false;
    }
}

static bool
apply_int(DtSymOp op, int64_t a, int64_t b, DtNumber *out)
{
    switch (op) {
    case DT_SYM_OP_ADD:
        return !__builtin_add_overflow(a, b, &out->i);
    case DT_SYM_OP_SUB:
        return !__builtin_sub_overflow(a, b, &out->i);
    case DT_SYM_OP_MUL:
        return !__builtin_mul_overflow(a, b, &out->i);
    case DT_SYM_OP_TRUEDIV:
        if (b == 0 || !dt_sym_is_exact(a) || !dt_sym_is_exact(b)) {
            return false;
        }
        out->d = (double)a / (double)b;
        return true;
    case DT_SYM_OP_FLOORDIV:
        return floor_divide(a, b, &out->i);
    case DT_SYM_OP_MOD:
        return floor_modulo(a, b, &out->i);
    case DT_SYM_OP_MIN:
        out->i = b < a ? b : a;
        return true;
    case DT_SYM_OP_MAX:
        out->i = b > a ? b : a;
        return true;
    case DT_SYM_OP_AND:
        out->i = a && b;
        return true;
    case DT_SYM_OP_OR:
        out->i = a || b;
        return true;
    case DT_SYM_OP_NEG:
        return !__builtin_sub_overflow((int64_t)0, a, &out->i);
    case DT_SYM_OP_ABS:
        if (a == INT64_MIN) {
            return false;
        }
        out->i = a < 0 ? -a : a;
        return true;
    case DT_SYM_OP_NOT:
        out->i = !a;
        return true;
    case DT_SYM_OP_FLOAT:
        out->d = (double)a;
        return true;
    default:
        return apply_bits(op, a, b, out);
    }
}

static bool
apply_float(DtSymOp op, double a, double b, DtNumber *out)
{
    switch (op) {
    case DT_SYM_OP_ADD:
        out->d = a + b;
        return true;
    case DT_SYM_OP_SUB:
        out->d = a - b;
        return true;
    case DT_SYM_OP_MUL:
        out->d = a * b;
        return true;
    case DT_SYM_OP_TRUEDIV:
        if (b == 0.0) {
            return false;
        }
        out->d = a / b;
        return true;
    case DT_SYM_OP_FLOORDIV:
        if (b == 0.0) {
            return false;
        }
        out->d = dt_float_floor_divide(a, b);
        return true;
    case DT_SYM_OP_MOD:
        if (b == 0.0) {
            return false;
        }
        out->d = dt_float_modulo(a, b);
        return true;
    case DT_SYM_OP_MIN:
        out->d = b < a ? b : a;
        return true;
    case DT_SYM_OP_MAX:
        out->d = b > a ? b : a;
        return true;
    case DT_SYM_OP_NEG:
        out->d = -a;
        return true;
    case DT_SYM_OP_ABS:
        out->d = fabs(a);
        return true;
    case DT_SYM_OP_NOT:
        out->i = a == 0.0;
        return true;
    case DT_SYM_OP_FLOAT:
        out->d = a;
        return true;
    default:
        return dt_sym_math_takes_two(op) ? dt_sym_math_apply_two(op, a, b, out)
                                         : dt_sym_math_is(op) && dt_sym_math_apply(op, a, out);
    }
}

bool
dt_sym_apply(DtSymOp op, bool is_float, DtNumber a, DtNumber b, DtNumber *out)
{
    if (dt_sym_compares(op)) {
        bool less = is_float ? isless(a.d, b.d) : a.i < b.i;
        bool equal = is_float ? a.d == b.d : a.i == b.i;
        bool greater = is_float ? isgreater(a.d, b.d) : a.i > b.i;
        out->i = holds(op, less, equal, greater);
        return true;
    }
    return is_float ? apply_float(op, a.d, b.d, out) : apply_int(op, a.i, b.i, out);
}
