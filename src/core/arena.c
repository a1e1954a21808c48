/* Chunks of doubling size, newest first; see arena.h. */
#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DT_ARENA_FIRST_CHUNK
#define DT_ARENA_FIRST_CHUNK ((size_t)16 * 1024)
#endif
#define LARGEST_CHUNK ((size_t)1024 * 1024)
#define ALIGNMENT ((size_t)16)

/* Under AddressSanitizer a chunk is poisoned as a whole and every block opened to the byte, with a
 * gap behind it: reading past one block into the next is reported as it would be for malloc. */
#ifdef __SANITIZE_ADDRESS__
#define DT_ARENA_POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DT_ARENA_POISONED 1
#endif
#endif
#ifdef DT_ARENA_POISONED
#include <sanitizer/asan_interface.h>
#define GAP ALIGNMENT
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define GAP ((size_t)0)
#endif

struct DtArenaChunk {
    DtArenaChunk *older;
    size_t size; /* of the payload */
    _Alignas(16) char payload[];
};

static _Thread_local size_t fail_countdown;
static bool counts_down; /* some thread's does: its address is not asked for before */

size_t
dt_arena_fail_at(size_t n)
{
    size_t left = fail_countdown;
    fail_countdown = n;
    counts_down |= n > 0;
    return left;
}

void
dt_arena_init(DtArena *arena)
{
    *arena = (DtArena){0};
}

static int
add_chunk(DtArena *arena, size_t at_least)
{
    size_t size = arena->chunks ? arena->chunks->size * 2 : DT_ARENA_FIRST_CHUNK;
    if (size > LARGEST_CHUNK) {
        size = LARGEST_CHUNK;
    }
    if (size < at_least) {
        size = at_least;
    }
    DtArenaChunk *chunk = malloc(sizeof(DtArenaChunk) + size);
    if (chunk == NULL) {
        return -1;
    }
    chunk->older = arena->chunks;
    chunk->size = size;
    arena->chunks = chunk;
    arena->next = chunk->payload;
    arena->end = chunk->payload + size;
    arena->total += size;
    ASAN_POISON_MEMORY_REGION(chunk->payload, size);
    return 0;
}

void *
dt_arena_alloc(DtArena *arena, size_t size)
{
    if (counts_down && fail_countdown && --fail_countdown == 0) {
        return NULL;
    }
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    size_t step = ((size + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) + GAP;
    if (step == 0) {
        step = ALIGNMENT; /* distinct non-NULL addresses for empty arrays */
    }
    if ((size_t)(arena->end - arena->next) < step && add_chunk(arena, step) < 0) {
        return NULL;
    }
    void *memory = arena->next;
    arena->next += step;
    ASAN_UNPOISON_MEMORY_REGION(memory, size);
    return memset(memory, 0, size);
}

char *
dt_arena_strdup(DtArena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = dt_arena_alloc(arena, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *
dt_arena_vprintf(DtArena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : dt_arena_alloc(arena, (size_t)length + 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *
dt_arena_printf(DtArena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = dt_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void
dt_arena_abandon(void *memory, size_t size)
{
    ASAN_POISON_MEMORY_REGION(memory, size);
}

size_t
dt_arena_used(const DtArena *arena)
{
    return arena->total - (size_t)(arena->end - arena->next);
}

void
dt_arena_release(DtArena *arena)
{
    DtArenaChunk *chunk = arena->chunks;
    while (chunk != NULL) {
        DtArenaChunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    dt_arena_init(arena);
}
