/* One emitted instruction to real opcodes of this CPython. */
#ifndef DT_CODEGEN_LOWER_H
#define DT_CODEGEN_LOWER_H

#include "codegen/legalise.h"

/* Appends the real form of emitted instruction `index`, without the NULLs around it,
 * except for LOAD_GLOBAL, which can push its own.  An operation that this CPython
 * cannot have is an internal error: DT_ERROR with SystemError. */
DtStatus dt_lower_instr(DtLegal *legal, uint32_t index) DT_MUST_CHECK;

/* Whether the marked LOAD_GLOBAL at `index` pushes its NULL itself. */
bool dt_lower_pushes_null(const DtLegal *legal, uint32_t index);

/* What every code object begins with: closure, cells, start. */
DtStatus dt_lower_prologue(DtLegal *legal, int firstlineno) DT_MUST_CHECK;

/* A NULL on the stack, and one under the value on top. */
DtStatus dt_lower_null(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_null_beneath(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;

/* Whether FOR_ITER needs clean-up instructions at its destination here; and they. */
bool dt_lower_needs_landing(void);
DtStatus dt_lower_landing(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;

/* Begin and end of a protected region where the interpreter has blocks (3.10). */
bool dt_lower_has_blocks(void);
bool dt_lower_is_setup(int opcode_number);
DtStatus dt_lower_setup_block(DtLegal *legal, const DtEmitInstr *instr,
                              DtLabel handler) DT_MUST_CHECK;
DtStatus dt_lower_pop_block(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;

/* Whether it ends a handler: it makes the previously handled exception the handled one. */
bool dt_lower_is_pop_except(int opcode_number);

/* The code that a failing handler runs (3.11 on): restores what was handled before it. */
DtStatus dt_lower_handler_cleanup(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;

/* Jumps with a distance: opcode for this direction.  -1 where there is none. */
int dt_lower_jump_opcode(int opcode_number, bool backward);

#endif
