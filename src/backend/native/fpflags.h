/* Floating-point status flags, read without libm.
 *
 * On x86-64 the arithmetic of NumPy's loops is in SSE and AVX registers and shows in
 * MXCSR; but flags that a loop raises by feraiseexcept (float32 exp on overflow) are put
 * into the x87 status word by glibc.  Both registers number the flags alike.  Reading and
 * clearing them here takes a few nanoseconds, by fetestexcept and feclearexcept ten times
 * that.  Elsewhere fenv.h serves.
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
    unsigned short status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return _mm_getcsr() | status;
}

/* Flags that nobody looks at stay: "inexact" is set by nearly everything, and to write the register
 * takes longer than a few additions. */
static inline void
dt_fpflags_clear(void)
{
    enum { SEEN = DT_FP_INVALID | DT_FP_DIVIDE | DT_FP_OVER | DT_FP_UNDER };
    unsigned short status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    if (status & SEEN) {
        __asm__ volatile("fnclex");
    }
    unsigned csr = _mm_getcsr();
    if (csr & SEEN) {
        _mm_setcsr(csr & ~0x3fu);
    }
}

/* A flag that somebody will look at. */
static inline void
dt_fpflags_raise(void)
{
    _mm_setcsr(_mm_getcsr() | DT_FP_INVALID);
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

static inline void
dt_fpflags_raise(void)
{
    feraiseexcept(FE_INVALID);
}

#endif

enum { DT_FP_ALL = DT_FP_INVALID | DT_FP_DIVIDE | DT_FP_OVER | DT_FP_UNDER };

#endif
