/* A hash map from addresses to addresses, in an arena.  NULL is no valid key. */
#ifndef DT_CORE_MAP_H
#define DT_CORE_MAP_H

#include <stdint.h>

#include "core/arena.h"

typedef struct DtMapSlot {
    const void *key;
    void *value;
} DtMapSlot;

typedef struct DtMap {
    DtMapSlot *slots;
    uint32_t count;
    uint32_t mask; /* number of slots - 1, or 0 when empty */
} DtMap;

/* The value, or NULL. */
void *dt_map_get(const DtMap *map, const void *key);

/* Adds or replaces; 0, or -1 when memory is out. */
int dt_map_set(DtArena *arena, DtMap *map, const void *key, void *value) DT_MUST_CHECK;

/* Takes the key out, if it is there; its value, or NULL. */
void *dt_map_remove(DtMap *map, const void *key);

#endif
