/* Basic blocks; see cfg.h. */
#include "bytecode/cfg.h"

#include "compat/errors.h"

static bool
starts_block(const DtBytecode *bytecode, uint32_t index)
{
    const DtInstr *instr = &bytecode->instrs[index];
    if (index == 0 || instr->flags & DT_INSTR_BLOCK_TARGET) {
        return true;
    }
    const DtInstr *before = instr - 1;
    return before->depth < 0 || before->target >= 0 || before->handler != instr->handler
           || !dt_canonical_falls_through(before->op);
}

/* Numbers the blocks; with `blocks` also sets their limits. */
static uint32_t
number_blocks(const DtBytecode *bytecode, DtCfg *cfg, DtBlock *blocks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bytecode->count; i++) {
        cfg->block_of[i] = -1;
        if (bytecode->instrs[i].depth < 0) {
            continue;
        }
        if (starts_block(bytecode, i)) {
            count++;
            if (blocks != NULL) {
                blocks[count - 1].start = i;
            }
        }
        cfg->block_of[i] = (int32_t)count - 1;
        if (blocks != NULL) {
            blocks[count - 1].end = i + 1;
        }
    }
    return count;
}

static void
link_block(const DtBytecode *bytecode, const DtCfg *cfg, DtBlock *block)
{
    const DtInstr *last = &bytecode->instrs[block->end - 1];
    block->next = dt_canonical_falls_through(last->op) ? cfg->block_of[block->end] : -1;
    block->jump =
        last->target >= 0 && last->op != DT_OP_SETUP_FINALLY ? cfg->block_of[last->target] : -1;
    block->exception =
        last->handler >= 0 ? cfg->block_of[bytecode->handlers[last->handler].target] : -1;
}

DtStatus
dt_cfg_build(DtArena *arena, const DtBytecode *bytecode, DtCfg *cfg)
{
    cfg->block_of = DT_ARENA_ARRAY(arena, int32_t, bytecode->count + 1);
    if (cfg->block_of == NULL) {
        return dt_no_memory();
    }
    cfg->count = number_blocks(bytecode, cfg, NULL);
    cfg->blocks = DT_ARENA_ARRAY(arena, DtBlock, cfg->count + 1);
    if (cfg->blocks == NULL) {
        return dt_no_memory();
    }
    number_blocks(bytecode, cfg, cfg->blocks);
    for (uint32_t i = 0; i < cfg->count; i++) {
        link_block(bytecode, cfg, &cfg->blocks[i]);
    }
    return DT_OK;
}
