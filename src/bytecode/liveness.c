/* Live slots; see liveness.h.
 *
 *   live before = (live after - written) + read + live at the handler
 *
 * repeated over the blocks, last to first, until nothing changes.  The handler
 * is added at every instruction of its range, since each of them may raise
 * with the slots as they are then.
 */
#include "bytecode/liveness.h"

#include <string.h>

#include "compat/errors.h"

typedef enum SlotUse {
    USE_NONE,
    USE_READ,
    USE_WRITE,
    USE_READ_WRITE /* read first */
} SlotUse;

static SlotUse
slot_use(int op)
{
    switch (op) {
    case DT_OP_LOAD_FAST:
    case DT_OP_LOAD_CLOSURE:
    case DT_OP_LOAD_DEREF:
    case DT_OP_STORE_DEREF:
    case DT_OP_DELETE_DEREF:
    case DT_OP_LOAD_FROM_DICT_OR_DEREF:
        return USE_READ;
    case DT_OP_STORE_FAST:
        return USE_WRITE;
    case DT_OP_LOAD_FAST_AND_CLEAR:
    case DT_OP_DELETE_FAST:
    case DT_OP_MAKE_CELL:
        return USE_READ_WRITE;
    default:
        return USE_NONE;
    }
}

static void
step_back(const DtBytecode *bytecode, const DtInstr *instr, uint64_t *live)
{
    SlotUse use = slot_use(instr->op);
    uint64_t bit = (uint64_t)1 << (instr->arg % 64);
    uint64_t *word = &live[use == USE_NONE ? 0 : instr->arg / 64];
    if (use == USE_WRITE) {
        *word &= ~bit;
    }
    else if (use != USE_NONE) {
        *word |= bit;
    }
    for (int slot = bytecode->layout.free_start;
         instr->op == DT_OP_COPY_FREE_VARS && slot < bytecode->layout.nslots; slot++) {
        live[slot / 64] &= ~((uint64_t)1 << (slot % 64));
    }
}

static void
join(uint64_t *into, const uint64_t *from, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        into[i] |= from[i];
    }
}

static const uint64_t *
at_block(const DtLiveness *liveness, const DtCfg *cfg, int32_t block)
{
    return &liveness->live[(size_t)cfg->blocks[block].start * liveness->words];
}

/* One pass over a block; true when what is live at its start has changed. */
static bool
pass_block(const DtBytecode *bytecode, const DtCfg *cfg, const DtBlock *block, uint64_t *live,
           DtLiveness *liveness)
{
    uint32_t words = liveness->words;
    size_t size = words * sizeof(uint64_t);
    bool changed = false;
    memset(live, 0, size);
    if (block->next >= 0) {
        join(live, at_block(liveness, cfg, block->next), words);
    }
    if (block->jump >= 0) {
        join(live, at_block(liveness, cfg, block->jump), words);
    }
    for (uint32_t i = block->end; i-- > block->start;) {
        step_back(bytecode, &bytecode->instrs[i], live);
        if (block->exception >= 0) {
            join(live, at_block(liveness, cfg, block->exception), words);
        }
        uint64_t *before = &liveness->live[(size_t)i * words];
        changed = memcmp(before, live, size) != 0;
        memcpy(before, live, size);
    }
    return changed;
}

DtStatus
dt_liveness_build(DtArena *arena, const DtBytecode *bytecode, const DtCfg *cfg,
                  DtLiveness *liveness)
{
    liveness->words = (uint32_t)bytecode->layout.nslots / 64 + 1;
    liveness->count = bytecode->count;
    liveness->live = DT_ARENA_ARRAY(arena, uint64_t, (size_t)bytecode->count * liveness->words);
    uint64_t *scratch = DT_ARENA_ARRAY(arena, uint64_t, liveness->words);
    if (liveness->live == NULL || scratch == NULL) {
        return dt_no_memory();
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = cfg->count; i-- > 0;) {
            changed |= pass_block(bytecode, cfg, &cfg->blocks[i], scratch, liveness);
        }
    }
    return DT_OK;
}
