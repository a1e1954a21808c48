/* Basic blocks of decoded code.
 *
 * Only reachable instructions are in blocks.  A block ends before a jump
 * target or handler, behind a jump, and where the innermost handler changes;
 * so all its instructions share one exception edge.
 */
#ifndef DT_BYTECODE_CFG_H
#define DT_BYTECODE_CFG_H

#include "bytecode/decode.h"

typedef struct DtBlock {
    uint32_t start; /* instructions start .. end - 1 */
    uint32_t end;
    int32_t next;      /* block reached by falling through, or -1 */
    int32_t jump;      /* block of the jump of its last instruction, or -1 */
    int32_t exception; /* block of the handler around it, or -1 */
} DtBlock;

typedef struct DtCfg {
    DtBlock *blocks; /* in the order of the code; block 0 is the entry */
    uint32_t count;
    int32_t *block_of; /* per instruction; -1 when unreachable */
} DtCfg;

/* Builds the blocks in the arena.  DT_ERROR only when memory is out. */
DtStatus dt_cfg_build(DtArena *arena, const DtBytecode *bytecode, DtCfg *cfg) DT_MUST_CHECK;

#endif
