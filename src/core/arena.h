/* A bump allocator: everything that one trace makes dies at one point.
 *
 * Memory is zeroed.  Nothing is freed alone, there are no destructors, and an
 * arena never owns a Python reference (the trace has a table for those).
 */
#ifndef DT_CORE_ARENA_H
#define DT_CORE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "core/status.h"

typedef struct DtArenaChunk DtArenaChunk;

typedef struct DtArena {
    DtArenaChunk *chunks; /* newest first */
    char *next;
    char *end;
    size_t total; /* bytes obtained from malloc */
} DtArena;

void dt_arena_init(DtArena *arena);

/* Zeroed memory aligned for any type; NULL when memory is out (no Python error is set). */
void *dt_arena_alloc(DtArena *arena, size_t size) DT_MUST_CHECK;

/* Copies; NULL when memory is out. */
char *dt_arena_strdup(DtArena *arena, const char *text) DT_MUST_CHECK;
char *dt_arena_printf(DtArena *arena, const char *format, ...) DT_MUST_CHECK DT_PRINTF(2, 3);
char *dt_arena_vprintf(DtArena *arena, const char *format, va_list args) DT_MUST_CHECK
    DT_PRINTF(2, 0);

/* Nobody looks at this block again: AddressSanitizer reports who does. It is freed with the arena.
 */
void dt_arena_abandon(void *memory, size_t size);

/* Bytes handed out; of chunks that are full, the whole chunk counts. */
size_t dt_arena_used(const DtArena *arena);

/* Frees everything; the arena may be used again. */
void dt_arena_release(DtArena *arena);

/* Test hook: this thread's n-th allocation from now fails (0: none does). Returns what was left of
 * the countdown before, 0 when it has run out. */
size_t dt_arena_fail_at(size_t n);

#define DT_ARENA_NEW(arena, type) ((type *)dt_arena_alloc((arena), sizeof(type)))
#define DT_ARENA_ARRAY(arena, type, n) ((type *)dt_arena_alloc((arena), sizeof(type) * (size_t)(n)))

#endif
