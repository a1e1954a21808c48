/* A clock that only goes forward, for measuring. */
#ifndef DT_CORE_CLOCK_H
#define DT_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t
dt_clock_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
