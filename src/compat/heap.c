/* See heap.h. */
#include "compat/heap.h"

#include <stdbool.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <string.h>

#define KEPT (64 << 20)
/* What glibc itself goes up to, once blocks of that size have been freed. */
#define LARGEST_BLOCK (32 << 20)

static bool
is_set_up(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    return getenv("MALLOC_TRIM_THRESHOLD_") != NULL || getenv("MALLOC_MMAP_THRESHOLD_") != NULL
           || (tunables != NULL && strstr(tunables, "glibc.malloc.") != NULL);
}

void
dt_heap_keep_freed(void)
{
    if (!is_set_up()) {
        mallopt(M_TRIM_THRESHOLD, KEPT);
        mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
    }
}

#else

void
dt_heap_keep_freed(void)
{
}

#endif
