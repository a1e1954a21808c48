/* The generated tables, and the two helpers that they call.
 *
 * The only file that includes opcode_tables.h.
 */
#include "bytecode/opcodes.h"

#include <string.h>

#include "compat/python.h"

/* opcodes.def and its generator know these by value. */
_Static_assert(DT_INSTR_CHECK == 4 && DT_INSTR_NULL_FIRST == 8 && DT_INSTR_NO_INTERRUPT == 32
                   && DT_INSTR_QUALNAME == 64 && DT_INSTR_TWO_ARGS == 128,
               "flags differ from those in tools/gen_opcodes.py");

static void
dt_expand_add(DtExpand *out, int op, int arg, int flags)
{
    if (out->count == DT_EXPAND_MAX) {
        out->failed = true;
        return;
    }
    out->ops[out->count].op = (uint16_t)op;
    out->ops[out->count].flags = (uint16_t)(flags | (out->count ? DT_INSTR_CONTINUES : 0));
    out->ops[out->count].arg = arg;
    out->count++;
}

static int
dt_expand_deref(DtExpand *out, int number)
{
    if (number < 0 || number >= out->layout->nderef) {
        out->failed = true;
        return 0;
    }
    return out->layout->deref[number];
}

#include "opcode_tables.h"

const DtOpcodeInfo *
dt_opcodes_get(int opcode_number)
{
    return &opcode_infos[opcode_number & 255];
}

int
dt_opcodes_find(const char *name)
{
    for (int i = 0; i < 256; i++) {
        if (opcode_infos[i].name != NULL && strcmp(opcode_infos[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void
dt_opcodes_expand(DtExpand *out, int opcode_number, int oparg)
{
    out->count = 0;
    out->failed = false;
    expand_row(out, opcode_number, oparg);
}
