/* See loops.h: a jump back leads to a loop around an instruction if plain flow goes from one to the
 * other and back, without handlers of exceptions.
 */
#include "bytecode/loops.h"

#include <string.h>

/* Marks the instructions from `from` on that plain flow gets to without going back. */
static void
mark_flow(const DtBytecode *bytecode, int32_t from, uint8_t *reached)
{
    int32_t count = (int32_t)bytecode->count;
    memset(reached, 0, bytecode->count + 1);
    reached[from] = 1;
    for (int32_t i = from; i < count; i++) {
        const DtInstr *instr = &bytecode->instrs[i];
        if (reached[i] && instr->target > i && instr->target < count) {
            reached[instr->target] = 1;
        }
        if (reached[i] && dt_canonical_falls_through(instr->op)) {
            reached[i + 1] = 1;
        }
    }
}

bool
dt_loop_around(const DtBytecode *bytecode, int32_t at, int32_t *head, int32_t *last)
{
    uint8_t *after = PyMem_Malloc(2 * ((size_t)bytecode->count + 1));
    *head = -1;
    if (after == NULL) {
        return false;
    }
    uint8_t *inside = after + bytecode->count + 1;
    mark_flow(bytecode, at, after);
    for (int32_t i = at; i < (int32_t)bytecode->count; i++) {
        int32_t target = bytecode->instrs[i].target;
        if (!after[i] || target <= *head || target > at) {
            continue;
        }
        mark_flow(bytecode, target, inside);
        if (inside[at]) {
            *head = target;
            *last = i;
        }
    }
    PyMem_Free(after);
    return *head >= 0;
}
