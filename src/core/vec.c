/* Growth of arena arrays; see vec.h. */
#include "core/vec.h"

#include <string.h>

#ifdef DT_STRESS
#define FIRST_CAPACITY 1u /* every array moves */
#else
#define FIRST_CAPACITY 4u
#endif

int
dt_vec_reserve(DtArena *arena, void **items, uint32_t *capacity, uint32_t count, uint32_t need,
               size_t size)
{
    if (need <= *capacity) {
        return 0;
    }
    uint32_t grown = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity * 2;
    if (grown < need) {
        grown = need;
    }
    void *memory = dt_arena_alloc(arena, (size_t)grown * size);
    if (memory == NULL) {
        return -1;
    }
    if (count) {
        memcpy(memory, *items, (size_t)count * size);
        dt_arena_abandon(*items, (size_t)count * size);
    }
    *items = memory;
    *capacity = grown;
    return 0;
}
