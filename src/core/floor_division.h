/* Python's // and % of floats, whose divisor is no zero. */
#ifndef DT_CORE_FLOOR_DIVISION_H
#define DT_CORE_FLOOR_DIVISION_H

#include <math.h>

/* The remainder has the sign of the divisor. */
static inline double
dt_float_modulo(double a, double b)
{
    double rest = fmod(a, b);
    if (rest != 0.0) {
        return (b < 0) != (rest < 0) ? rest + b : rest;
    }
    return copysign(0.0, b);
}

static inline double
dt_float_floor_divide(double a, double b)
{
    double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0.0 && (b < 0) != (rest < 0)) {
        quotient -= 1.0;
    }
    if (quotient == 0.0) {
        return copysign(0.0, a / b);
    }
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

#endif
