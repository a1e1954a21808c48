/* The rows of canonical.def as functions. */
#include "bytecode/canonical.h"

#include <stddef.h>
#include <string.h>

typedef struct CanonRow {
    const char *name;
    DtOpArg operand;
    const char *doc;
} CanonRow;

static const CanonRow rows[DT_OP_COUNT] = {
#define DT_CANON(NAME, OPERAND, POPPED, PUSHED, PUSHED_ON_JUMP, DOC)                               \
    [DT_OP_##NAME] = {#NAME, DT_OPARG_##OPERAND, DOC},
#include "bytecode/canonical.def"
#undef DT_CANON
};

static const char *const binary_symbols[DT_BINARY_COUNT] = {
    "+",  "&",  "//",  "<<",  "@",  "*",  "%",  "|",  "**",  ">>",  "-",  "/",  "^",
    "+=", "&=", "//=", "<<=", "@=", "*=", "%=", "|=", "**=", ">>=", "-=", "/=", "^=",
};

static bool
is_op(int op)
{
    return op >= 0 && op < DT_OP_COUNT;
}

const char *
dt_canonical_name(int op)
{
    return is_op(op) ? rows[op].name : NULL;
}

DtOpArg
dt_canonical_operand(int op)
{
    return is_op(op) ? rows[op].operand : DT_OPARG_NONE;
}

const char *
dt_canonical_doc(int op)
{
    return is_op(op) ? rows[op].doc : NULL;
}

int
dt_canonical_find(const char *name)
{
    for (int op = 0; op < DT_OP_COUNT; op++) {
        if (strcmp(rows[op].name, name) == 0) {
            return op;
        }
    }
    return -1;
}

int
dt_canonical_popped(int op, int oparg, int flags)
{
    (void)oparg;
    (void)flags;
    switch (op) {
#define DT_CANON(NAME, OPERAND, POPPED, PUSHED, PUSHED_ON_JUMP, DOC)                               \
    case DT_OP_##NAME:                                                                             \
        return POPPED;
#include "bytecode/canonical.def"
#undef DT_CANON
    default:
        return 0;
    }
}

int
dt_canonical_pushed(int op, int oparg, int flags, bool jumped)
{
    (void)oparg;
    (void)flags;
    switch (op) {
#define DT_CANON(NAME, OPERAND, POPPED, PUSHED, PUSHED_ON_JUMP, DOC)                               \
    case DT_OP_##NAME:                                                                             \
        return jumped ? PUSHED_ON_JUMP : PUSHED;
#include "bytecode/canonical.def"
#undef DT_CANON
    default:
        return 0;
    }
}

bool
dt_canonical_falls_through(int op)
{
    switch (op) {
    case DT_OP_JUMP:
    case DT_OP_RETURN_VALUE:
    case DT_OP_RAISE_VARARGS:
    case DT_OP_RERAISE:
    case DT_OP_RERAISE_TRIPLE:
        return false;
    default:
        return true;
    }
}

const char *
dt_canonical_binary_symbol(int binary_op)
{
    return binary_op >= 0 && binary_op < DT_BINARY_COUNT ? binary_symbols[binary_op] : NULL;
}
