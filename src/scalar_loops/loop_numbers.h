/* Arithmetic of loop programs where C's operators are not enough.
 *
 * Private to loop_machine.c.  False: the frame has to do it.
 */
#ifndef DT_SCALAR_LOOPS_LOOP_NUMBERS_H
#define DT_SCALAR_LOOPS_LOOP_NUMBERS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scalar_loops/loop_program.h"

/* pow() where it raises nothing and is a float: of what is left, the frame knows. */
static inline bool
dt_loop_numbers_power(double a, double b, double *out)
{
    if (!isfinite(a) || !isfinite(b) || (a == 0.0 && b < 0.0) || (a < 0.0 && floor(b) != b)) {
        return false;
    }
    *out = pow(a, b);
    return isfinite(*out);
}

static inline bool
dt_loop_numbers_int_power(int64_t base, int64_t exponent, int64_t *out)
{
    int64_t result = 1;
    if (exponent < 0) {
        return false;
    }
    while (exponent > 0) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) {
            return false;
        }
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
            return false;
        }
    }
    *out = result;
    return true;
}

static inline bool
dt_loop_numbers_shift(int64_t a, int64_t b, int64_t *out)
{
    if (b < 0 || b > 62 || a >= ((int64_t)1 << (62 - b)) || a <= -((int64_t)1 << (62 - b))) {
        return false;
    }
    *out = (int64_t)((uint64_t)a << b);
    return true;
}

static inline bool
dt_loop_numbers_is_quiet(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) && (bits & ((uint64_t)1 << 51));
}

/* Does NumPy report nothing about it, and is there but one NaN that it could be?  The result is no
 * finite number. */
static inline bool
dt_loop_numbers_is_unreported(double a, double b, double result)
{
    if (isnan(result)) {
        return isnan(a) != isnan(b) && (dt_loop_numbers_is_quiet(a) || dt_loop_numbers_is_quiet(b));
    }
    return isinf(a) || isinf(b);
}

static inline bool
dt_loop_numbers_begin_range(int64_t start, int64_t stop, int64_t step, DtLoopRegister *range)
{
    int64_t distance;
    if (step == 0 || step == INT64_MIN || __builtin_sub_overflow(stop, start, &distance)
        || distance == INT64_MIN) {
        return false;
    }
    bool none = step > 0 ? distance <= 0 : distance >= 0;
    range[0].i = start;
    range[1].i = step;
    range[2].i = none ? 0 : (distance > 0 ? distance - 1 : -distance - 1) / llabs(step) + 1;
    return true;
}

#endif
