/* Which slots may still be read: what a resume function has to be given.
 *
 * A slot is live before an instruction when some path from there, exceptions
 * included, reads it before it is written.  Cells count as read by every
 * instruction that goes through them.  Reads that no instruction shows
 * (locals(), a debugger) are not seen.
 */
#ifndef DT_BYTECODE_LIVENESS_H
#define DT_BYTECODE_LIVENESS_H

#include <stdbool.h>

#include "bytecode/cfg.h"

typedef struct DtLiveness {
    uint32_t words; /* of 64 slots per instruction */
    uint32_t count; /* instructions */
    uint64_t *live; /* count * words */
} DtLiveness;

/* Computes the live slots before every instruction, in the arena.  Nothing is
 * live before an unreachable one.  DT_ERROR only when memory is out. */
DtStatus dt_liveness_build(DtArena *arena, const DtBytecode *bytecode, const DtCfg *cfg,
                           DtLiveness *liveness) DT_MUST_CHECK;

static inline bool
dt_liveness_is_live(const DtLiveness *liveness, uint32_t instr, int slot)
{
    uint64_t word = liveness->live[(size_t)instr * liveness->words + (size_t)slot / 64];
    return word >> (slot % 64) & 1;
}

#endif
