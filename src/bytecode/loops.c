/* See loops.h: one question, asked in three ways.
 *
 *   does control that is at `from` come to `goal`, through no instruction before `lowest`?
 *
 * A loop's head is its first instruction, so what leads from a head to a jump back to it, without
 * ever going before the head, is that loop.
 */
#include "bytecode/loops.h"

#include <string.h>

typedef struct Flood {
    const DtBytecode *bytecode;
    int32_t lowest;
    bool *seen;
    int32_t *waiting; /* each instruction once at most */
    int32_t count;
} Flood;

static void
come_to(Flood *flood, int32_t at)
{
    if (at >= flood->lowest && at < (int32_t)flood->bytecode->count && !flood->seen[at]) {
        flood->seen[at] = true;
        flood->waiting[flood->count++] = at;
    }
}

static void
come_after(Flood *flood, int32_t at)
{
    const DtInstr *instr = &flood->bytecode->instrs[at];
    if (instr->handler >= 0) {
        come_to(flood, flood->bytecode->handlers[instr->handler].target);
    }
    if (instr->op != DT_OP_SETUP_FINALLY) {
        come_to(flood, instr->target);
    }
    if (dt_canonical_falls_through(instr->op)) {
        come_to(flood, at + 1); /* taken up first: most goals lie ahead */
    }
}

/* -1: no memory to find out (no exception is set). */
static int
leads_to(const DtBytecode *bytecode, int32_t from, int32_t lowest, int32_t goal)
{
    size_t count = bytecode->count;
    Flood flood = {bytecode, lowest < 0 ? 0 : lowest, PyMem_Calloc(count + 1, sizeof(bool)),
                   PyMem_New(int32_t, count + 1), 0};
    int found = flood.seen != NULL && flood.waiting != NULL ? 0 : -1;
    if (found == 0) {
        come_after(&flood, from);
        while (flood.count > 0 && !flood.seen[goal]) {
            come_after(&flood, flood.waiting[--flood.count]);
        }
        found = flood.seen[goal];
    }
    PyMem_Free(flood.seen);
    PyMem_Free(flood.waiting);
    return found;
}

bool
dt_loop_is_closed_at(const DtBytecode *bytecode, int32_t jump)
{
    int32_t head = bytecode->instrs[jump].target;
    return head >= 0 && head <= jump && (head == jump || leads_to(bytecode, head, head, jump) == 1);
}

bool
dt_loop_around(const DtBytecode *bytecode, int32_t at, int32_t *head, int32_t *last)
{
    *head = -1;
    for (int32_t i = at; i < (int32_t)bytecode->count; i++) {
        int32_t target = bytecode->instrs[i].target;
        if (target > *head && target <= at
            && (target == at || leads_to(bytecode, target, target, at) == 1)
            && (i == at || leads_to(bytecode, at, target, i) == 1)) {
            *head = target;
            *last = i;
        }
    }
    return *head >= 0;
}

bool
dt_loop_may_return_to(const DtBytecode *bytecode, int32_t at)
{
    return leads_to(bytecode, at, 0, at) != 0;
}
