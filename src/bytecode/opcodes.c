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

const DtOpcodeInfo *const dt_opcodes_rows = opcode_infos;

/* Numbers by name, plus 1: open addressing, filled at the first question. */
enum { NAME_SLOTS = 1024 };
static uint16_t by_name[NAME_SLOTS];

/* Where the name is, or would be. */
static uint16_t *
slot_of(const char *name)
{
    uint32_t hash = 2166136261U;
    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * 16777619U;
    }
    uint32_t i = hash % NAME_SLOTS;
    while (by_name[i] != 0 && strcmp(opcode_infos[by_name[i] - 1].name, name) != 0) {
        i = (i + 1) % NAME_SLOTS;
    }
    return &by_name[i];
}

int
dt_opcodes_find(const char *name)
{
    static bool filled;
    for (int i = 0; !filled && i < 256; i++) {
        if (opcode_infos[i].name != NULL) {
            *slot_of(opcode_infos[i].name) = (uint16_t)(i + 1);
        }
    }
    filled = true;
    return *slot_of(name) - 1;
}

void
dt_opcodes_expand(DtExpand *out, int opcode_number, int oparg)
{
    out->count = 0;
    out->failed = false;
    expand_row(out, opcode_number, oparg);
}
