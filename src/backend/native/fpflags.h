/* Floating-point status flags, read without libm.
 *
 * On x86-64 all of NumPy's loops that we call work in SSE and AVX registers,
 * so MXCSR has every flag; reading it takes a few nanoseconds where fetestexcept
 * and feclearexcept also visit the x87 unit.  Elsewhere fenv.h serves.
 */
#ifndef DT_BACKEND_NATIVE_FPFLAGS_H
#define DT_BACKEND_NATIVE_FPFLAGS_H

#if defined(__x86_64__)

#include <immintrin.h>

enum {
    DT_FP_INVALID = 0x01,
    DT_FP_DIVIDE = 0x04,
    DT_FP_OVER = 0x08,
    DT_FP_UNDER = 0x10,
};

static inline unsigned
dt_fpflags_read(void)
{
    return _mm_getcsr();
}

static inline void
dt_fpflags_clear(void)
{
    unsigned csr = _mm_getcsr();
    if (csr & 0x3f) {
        _mm_setcsr(csr & ~0x3fu);
    }
}

#else

#include <fenv.h>

enum {
    DT_FP_INVALID = FE_INVALID,
    DT_FP_DIVIDE = FE_DIVBYZERO,
    DT_FP_OVER = FE_OVERFLOW,
    DT_FP_UNDER = FE_UNDERFLOW,
};

static inline unsigned
dt_fpflags_read(void)
{
    return (unsigned)fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
}

static inline void
dt_fpflags_clear(void)
{
    feclearexcept(FE_ALL_EXCEPT);
}

#endif

enum { DT_FP_ALL = DT_FP_INVALID | DT_FP_DIVIDE | DT_FP_OVER | DT_FP_UNDER };

#endif
