/* Open addressing with linear probing, at most two thirds full; see map.h. */
#include "core/map.h"

#ifdef DT_STRESS
#define FIRST_SLOTS 2u /* every map grows */
#else
#define FIRST_SLOTS 16u
#endif

static uint32_t
hash_address(const void *key)
{
    uint64_t bits = (uint64_t)(uintptr_t)key >> 4;
    return (uint32_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

static DtMapSlot *
find_slot(const DtMap *map, const void *key)
{
    uint32_t i = hash_address(key) & map->mask;
    while (map->slots[i].key != NULL && map->slots[i].key != key) {
        i = (i + 1) & map->mask;
    }
    return &map->slots[i];
}

void *
dt_map_get(const DtMap *map, const void *key)
{
    return map->mask ? find_slot(map, key)->value : NULL;
}

static int
grow(DtArena *arena, DtMap *map)
{
    uint32_t n_slots = map->mask ? (map->mask + 1) * 2 : FIRST_SLOTS;
    DtMap larger = {DT_ARENA_ARRAY(arena, DtMapSlot, n_slots), map->count, n_slots - 1};
    if (larger.slots == NULL) {
        return -1;
    }
    for (uint32_t i = 0; map->mask && i <= map->mask; i++) {
        if (map->slots[i].key != NULL) {
            *find_slot(&larger, map->slots[i].key) = map->slots[i];
        }
    }
    if (map->mask) {
        dt_arena_abandon(map->slots, sizeof(DtMapSlot) * ((size_t)map->mask + 1));
    }
    *map = larger;
    return 0;
}

int
dt_map_set(DtArena *arena, DtMap *map, const void *key, void *value)
{
    if (map->mask == 0 || (map->count + 1) * 3 > (map->mask + 1) * 2) {
        if (grow(arena, map) < 0) {
            return -1;
        }
    }
    DtMapSlot *slot = find_slot(map, key);
    if (slot->key == NULL) {
        slot->key = key;
        map->count++;
    }
    slot->value = value;
    return 0;
}

/* Moves back what stood behind the gap because of it, so that no search ends too early. */
static void
close_gap(DtMap *map, uint32_t gap)
{
    for (uint32_t i = (gap + 1) & map->mask; map->slots[i].key != NULL; i = (i + 1) & map->mask) {
        uint32_t home = hash_address(map->slots[i].key) & map->mask;
        if (((i - home) & map->mask) >= ((i - gap) & map->mask)) {
            map->slots[gap] = map->slots[i];
            gap = i;
        }
    }
    map->slots[gap] = (DtMapSlot){NULL, NULL};
}

void *
dt_map_remove(DtMap *map, const void *key)
{
    DtMapSlot *slot = map->mask ? find_slot(map, key) : NULL;
    if (slot == NULL || slot->key == NULL) {
        return NULL;
    }
    void *value = slot->value;
    map->count--;
    close_gap(map, (uint32_t)(slot - map->slots));
    return value;
}
