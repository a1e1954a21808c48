/* Arenas: zeroed and aligned memory, growth past a chunk, failing allocations, texts. */
#include "check.h"

#include <stdint.h>
#include <string.h>

#include "core/arena.h"

static void
memory_is_zeroed_aligned_and_apart(void)
{
    DtArena arena;
    dt_arena_init(&arena);
    char *last = NULL;
    for (size_t size = 0; size < 5000; size = size * 2 + 1) {
        char *memory = dt_arena_alloc(&arena, size);
        CHECK(memory != NULL && memory != last);
        CHECK((uintptr_t)memory % 16 == 0);
        for (size_t i = 0; i < size; i++) {
            CHECK(memory[i] == 0);
        }
        memset(memory, 0xff, size);
        last = memory;
    }
    CHECK(arena.total > 0);
    dt_arena_release(&arena);
    CHECK(arena.chunks == NULL && arena.total == 0);
    CHECK(dt_arena_alloc(&arena, 8) != NULL); /* may be used again */
    dt_arena_release(&arena);
}

static void
large_blocks_and_absurd_ones(void)
{
    DtArena arena;
    dt_arena_init(&arena);
    char *large = dt_arena_alloc(&arena, (size_t)3 << 20);
    CHECK(large != NULL);
    large[((size_t)3 << 20) - 1] = 1;
    CHECK(dt_arena_alloc(&arena, SIZE_MAX / 2) == NULL);
    CHECK(dt_arena_alloc(&arena, 16) != NULL);
    dt_arena_release(&arena);
}

static void
the_nth_allocation_fails(void)
{
    DtArena arena;
    dt_arena_init(&arena);
    dt_arena_fail_at(3);
    CHECK(dt_arena_alloc(&arena, 8) != NULL);
    CHECK(dt_arena_alloc(&arena, 8) != NULL);
    CHECK(dt_arena_alloc(&arena, 8) == NULL);
    CHECK(dt_arena_alloc(&arena, 8) != NULL);
    dt_arena_release(&arena);
}

static void
texts(void)
{
    DtArena arena;
    dt_arena_init(&arena);
    char *copy = dt_arena_strdup(&arena, "text");
    char *printed = dt_arena_printf(&arena, "%s %d", copy, 42);
    CHECK(strcmp(printed, "text 42") == 0);
    CHECK(strcmp(dt_arena_printf(&arena, "%s", ""), "") == 0);
    dt_arena_release(&arena);
}

int
main(void)
{
    memory_is_zeroed_aligned_and_apart();
    large_blocks_and_absurd_ones();
    the_nth_allocation_fails();
    texts();
    return 0;
}
