/* The real opcodes of the CPython this is built for (rows: opcodes.def).
 *
 * The tables are generated at build time by tools/gen_opcodes.py, which has
 * proved them on the same interpreter.
 */
#ifndef DT_BYTECODE_OPCODES_H
#define DT_BYTECODE_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

#include "bytecode/canonical.h"
#include "compat/code.h"

typedef enum DtJumpKind {
    DT_JUMP_NONE,
    DT_JUMP_ABS, /* argument: instruction units from the start of the code */
    DT_JUMP_FWD, /* units from the end of the instruction and its caches */
    DT_JUMP_BACK
} DtJumpKind;

typedef struct DtOpcodeInfo {
    const char *name; /* NULL: no such opcode */
    uint8_t caches;   /* inline cache units behind it */
    uint8_t jump;     /* DtJumpKind */
    uint8_t skip;     /* real instructions skipped at the destination */
} DtOpcodeInfo;

extern const DtOpcodeInfo *const dt_opcodes_rows;

/* The row of an opcode number below 256. */
static inline const DtOpcodeInfo *
dt_opcodes_get(int opcode_number)
{
    return &dt_opcodes_rows[opcode_number & 255];
}

/* The number of a real opcode of this CPython, or -1. */
int dt_opcodes_find(const char *name);

enum { DT_EXPAND_MAX = 1024, DT_UNIT_BYTES = 2 };

/* What one real instruction becomes. */
typedef struct DtExpand {
    const DtCodeLayout *layout;
    int count;
    bool failed; /* a bad cell number, or too many operations */
    struct {
        uint16_t op;
        uint16_t flags;
        int32_t arg;
    } ops[DT_EXPAND_MAX];
} DtExpand;

/* Fills `out->ops`; count 0 for opcodes that stand for nothing by themselves.
 * `out->layout` is set by the caller.  `oparg` is below 2**28. */
void dt_opcodes_expand(DtExpand *out, int opcode_number, int oparg);

#endif
