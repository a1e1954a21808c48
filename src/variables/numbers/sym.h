/* Symbolic numbers: sizes, ints and floats that a compiled frame must not
 * specialise on.  Expressions are immutable and live in an arena; each carries
 * a hint, the value it has in the call being traced.
 *
 * Integers are int64 with checked arithmetic: an evaluation that would leave
 * int64 (or divide by zero) fails, and the call runs plainly instead.
 * Floor division and modulo have Python's signs.
 */
#ifndef DT_VARIABLES_SYM_H
#define DT_VARIABLES_SYM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/strbuf.h"

typedef enum DtSymType { DT_SYM_INT, DT_SYM_FLOAT, DT_SYM_BOOL, DT_SYM_TYPE_COUNT } DtSymType;

typedef enum DtSymOp {
#define SYM_OP(NAME, ARITY, TEXT) DT_SYM_OP_##NAME,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
    DT_SYM_OP_COUNT
} DtSymOp;

typedef union DtNumber {
    int64_t i; /* DT_SYM_INT, DT_SYM_BOOL */
    double d;  /* DT_SYM_FLOAT */
} DtNumber;

typedef struct DtSym {
    uint8_t op;    /* DtSymOp */
    uint8_t type;  /* DtSymType */
    uint16_t size; /* nodes, counted once per use: what a walk over it visits */
    uint32_t id;   /* DT_SYM_OP_SYMBOL: index into the symbol table */
    DtNumber hint;
    const struct DtSym *a;
    const struct DtSym *b;
} DtSym;

/* All constructors return NULL when memory is out. */
const DtSym *dt_sym_int(DtArena *arena, int64_t value);
const DtSym *dt_sym_float(DtArena *arena, double value);
const DtSym *dt_sym_bool(DtArena *arena, bool value);
const DtSym *dt_sym_symbol(DtArena *arena, uint32_t id, DtSymType type, DtNumber hint);

/* Folds constants and the trivial identities (x+0, x*1, x-x, x+y-y of the same node).
 * An int operand beside a float one is converted as Python does.
 * `*out` is NULL with DT_OK when the hint can't be computed (overflow, division by zero, a
 * combination of types that has no symbolic form) or the expression would be larger than
 * DT_SYM_MAX_SIZE: the caller specialises instead. */
#define DT_SYM_MAX_SIZE 256
DtStatus dt_sym_binary(DtArena *arena, DtSymOp op, const DtSym *a, const DtSym *b,
                       const DtSym **out) DT_MUST_CHECK;
DtStatus dt_sym_unary(DtArena *arena, DtSymOp op, const DtSym *a, const DtSym **out) DT_MUST_CHECK;

/* sym == *base + *offset, with *base NULL for a constant (sym_offset.c). */
void dt_sym_split_offset(const DtSym *sym, const DtSym **base, int64_t *offset);
/* sym + offset, of which there is one form; as dt_sym_binary() where it can't be computed. */
DtStatus dt_sym_offset(DtArena *arena, const DtSym *sym, int64_t offset,
                       const DtSym **out) DT_MUST_CHECK;

bool dt_sym_is_const(const DtSym *sym);
bool dt_sym_equal(const DtSym *a, const DtSym *b); /* structurally */
uint64_t dt_sym_hash(const DtSym *sym);            /* the same for equal ones */

/* Deep copy into another arena; NULL when memory is out. */
const DtSym *dt_sym_copy(DtArena *arena, const DtSym *sym);

/* Evaluates with `values[id]` for the symbols.  false: overflow or division by zero. */
bool dt_sym_eval(const DtSym *sym, const DtNumber *values, DtNumber *out) DT_MUST_CHECK;

/* "s0*2 + 1"; symbols are printed s<id> for ints, f<id> for floats. */
void dt_sym_print(const DtSym *sym, DtStrbuf *buf);

/* A flat postfix program for the hot path: no recursion, no allocation. */
typedef struct DtSymProgram {
    const struct DtSymInstr *instrs;
    const DtNumber *consts;
    uint32_t count;
    uint32_t nconsts;
    uint8_t type;
} DtSymProgram;
#define DT_SYM_MAX_DEPTH 16

/* `*out` gets the program (in `arena`).  DT_BREAK is never returned; an expression deeper than
 * DT_SYM_MAX_DEPTH gives DT_OK with count 0. */
DtStatus dt_sym_compile(DtArena *arena, const DtSym *sym, DtSymProgram *out) DT_MUST_CHECK;
size_t dt_sym_program_size(const DtSymProgram *program); /* bytes of its instructions */
bool dt_sym_run(const DtSymProgram *program, const DtNumber *values, DtNumber *out) DT_MUST_CHECK;

#endif
