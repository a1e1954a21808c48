/* Numbers and descriptions of the canonical operations (rows: canonical.def).
 *
 * A canonical instruction sees the stack exactly as CPython does, NULLs
 * included.  Emitters never write NULLs: see codegen/instrs.h.
 */
#ifndef DT_BYTECODE_CANONICAL_H
#define DT_BYTECODE_CANONICAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum DtOp {
#define DT_CANON(NAME, OPERAND, POPPED, PUSHED, PUSHED_ON_JUMP, DOC) DT_OP_##NAME,
#include "bytecode/canonical.def"
#undef DT_CANON
    DT_OP_COUNT
} DtOp;

/* What `arg` of an instruction means. */
typedef enum DtOpArg {
    DT_OPARG_NONE,
    DT_OPARG_INT,     /* a count, depth or bit set: see the row */
    DT_OPARG_CONST,   /* index into co_consts */
    DT_OPARG_NAME,    /* index into co_names */
    DT_OPARG_LOCAL,   /* unified slot: locals, then cells, then free variables */
    DT_OPARG_CELL,    /* unified slot that holds a cell */
    DT_OPARG_JUMP,    /* `target` is the index of an instruction */
    DT_OPARG_COMPARE, /* Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE */
    DT_OPARG_BINARY   /* DtBinaryOp */
} DtOpArg;

/* Flags of a decoded instruction.  The values are known to canonical.def. */
enum {
    DT_INSTR_CONTINUES = 1,     /* not the first of its real instruction */
    DT_INSTR_SYNTHETIC = 2,     /* made by the decoder, no real instruction */
    DT_INSTR_CHECK = 4,         /* LOAD_FAST raises when the slot is unbound */
    DT_INSTR_NULL_FIRST = 8,    /* LOAD_METHOD and its like push [NULL, attr] */
    DT_INSTR_BACKWARD = 16,     /* a backward jump: signals are checked there */
    DT_INSTR_NO_INTERRUPT = 32, /* a backward jump without that check */
    DT_INSTR_QUALNAME = 64,     /* MAKE_FUNCTION finds the qualified name on top */
    DT_INSTR_TWO_ARGS = 128,    /* super() was written with its two arguments */
    DT_INSTR_BLOCK_TARGET = 256 /* some jump or handler leads here */
};

/* The numbers of 3.11's BINARY_OP, on every version. */
typedef enum DtBinaryOp {
    DT_BINARY_ADD,
    DT_BINARY_AND,
    DT_BINARY_FLOOR_DIVIDE,
    DT_BINARY_LSHIFT,
    DT_BINARY_MATRIX_MULTIPLY,
    DT_BINARY_MULTIPLY,
    DT_BINARY_REMAINDER,
    DT_BINARY_OR,
    DT_BINARY_POWER,
    DT_BINARY_RSHIFT,
    DT_BINARY_SUBTRACT,
    DT_BINARY_TRUE_DIVIDE,
    DT_BINARY_XOR,
    DT_BINARY_INPLACE_ADD,
    DT_BINARY_INPLACE_AND,
    DT_BINARY_INPLACE_FLOOR_DIVIDE,
    DT_BINARY_INPLACE_LSHIFT,
    DT_BINARY_INPLACE_MATRIX_MULTIPLY,
    DT_BINARY_INPLACE_MULTIPLY,
    DT_BINARY_INPLACE_REMAINDER,
    DT_BINARY_INPLACE_OR,
    DT_BINARY_INPLACE_POWER,
    DT_BINARY_INPLACE_RSHIFT,
    DT_BINARY_INPLACE_SUBTRACT,
    DT_BINARY_INPLACE_TRUE_DIVIDE,
    DT_BINARY_INPLACE_XOR,
    DT_BINARY_COUNT
} DtBinaryOp;

#define DT_BINARY_IS_INPLACE(op) ((op) >= DT_BINARY_INPLACE_ADD)
/* The plain operator behind an in-place one. */
#define DT_BINARY_PLAIN(op) (DT_BINARY_IS_INPLACE(op) ? (op) - DT_BINARY_INPLACE_ADD : (op))

/* Name ("LOAD_FAST"), operand kind and doc of an operation; NULL or NONE for a bad number. */
const char *dt_canonical_name(int op);
DtOpArg dt_canonical_operand(int op);
const char *dt_canonical_doc(int op);

/* The operation with this name, or -1. */
int dt_canonical_find(const char *name);

/* How many values it pops and then pushes; `jumped` picks the side of a jump. */
int dt_canonical_popped(int op, int arg, int flags);
int dt_canonical_pushed(int op, int arg, int flags, bool jumped);

/* Whether the next instruction is reached by falling through. */
bool dt_canonical_falls_through(int op);

/* "+", "+=", ... ; NULL for a bad number. */
const char *dt_canonical_binary_symbol(int binary_op);

#endif
