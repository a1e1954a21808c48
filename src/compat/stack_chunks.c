/* See stack_chunks.h.
 *
 *   allocate_chunk() ─► arena allocator: of this size, and one is kept? that one
 *   pop of a frame   ─► arena allocator: of this size, and there is room? kept
 *
 * Chunks come from the allocator of arenas, whose own blocks have other sizes.  Interpreters with
 * GILs of their own share it, so the chunks that are kept are exchanged atomically.
 *
 * Mirrored: DATA_STACK_CHUNK_SIZE and push_chunk() of Python/pystate.c, which asks for larger
 * chunks for frames that do not fit into one of these; those are given back as ever.
 */
#include "compat/stack_chunks.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "compat/python.h"

#if DT_PY_AT_LEAST(3, 11)

#define CHUNK_SIZE (16 * 1024)
#define KEPT 4

static PyObjectArenaAllocator before;
static _Atomic(void *) kept[KEPT];

static void *
allocate(void *ctx, size_t size)
{
    for (int i = 0; size == CHUNK_SIZE && i < KEPT; i++) {
        void *chunk = atomic_exchange(&kept[i], NULL);
        if (chunk != NULL) {
            return chunk;
        }
    }
    return before.alloc(ctx, size);
}

static void
release(void *ctx, void *block, size_t size)
{
    for (int i = 0; size == CHUNK_SIZE && i < KEPT; i++) {
        void *nothing = NULL;
        if (atomic_compare_exchange_strong(&kept[i], &nothing, block)) {
            return;
        }
    }
    before.free(ctx, block, size);
}

void
dt_stack_chunks_keep(void)
{
    static bool done;
    if (!done) {
        done = true;
        PyObject_GetArenaAllocator(&before);
        PyObject_SetArenaAllocator(&(PyObjectArenaAllocator){before.ctx, allocate, release});
    }
}

#else

void
dt_stack_chunks_keep(void)
{
}

#endif
