/* Clocks for measuring, in ns; both only go forward. */
#ifndef DT_CORE_CLOCK_H
#define DT_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t
dt_clock_read(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t
dt_clock_ns(void)
{
    return dt_clock_read(CLOCK_MONOTONIC);
}

/* Time that this thread had: what a busy machine does meanwhile must not decide anything. */
static inline int64_t
dt_clock_thread_ns(void)
{
    return dt_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* Time that all threads of the process had together. */
static inline int64_t
dt_clock_process_ns(void)
{
    return dt_clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
