/* A growing array in an arena.  `DT_VEC(T)` is the struct; elements move when
 * it grows, so keep indices, not pointers. */
#ifndef DT_CORE_VEC_H
#define DT_CORE_VEC_H

#include <stdint.h>

#include "core/arena.h"

#define DT_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *items;                                                                                  \
        uint32_t count;                                                                            \
        uint32_t capacity;                                                                         \
    }

/* Room for at least `need` elements of `size` bytes; -1 when memory is out. */
int dt_vec_reserve(DtArena *arena, void **items, uint32_t *capacity, uint32_t count, uint32_t need,
                   size_t size) DT_MUST_CHECK;

/* Appends; 0, or -1 when memory is out. */
#define dt_vec_push(arena, vec, value)                                                             \
    (((vec)->count < (vec)->capacity                                                               \
      || dt_vec_reserve((arena), (void **)&(vec)->items, &(vec)->capacity, (vec)->count,           \
                        (vec)->count + 1, sizeof(*(vec)->items))                                   \
             == 0)                                                                                 \
         ? ((vec)->items[(vec)->count++] = (value), 0)                                             \
         : -1)

#endif
