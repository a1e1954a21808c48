/* Between lower.c and lower_flow.c: the rows of one file, the helpers of the other. */
#ifndef DT_CODEGEN_LOWER_FLOW_H
#define DT_CODEGEN_LOWER_FLOW_H

#include "codegen/lower.h"
#include "compat/opcode_numbers.h"

typedef DtStatus (*DtLowerFunction)(DtLegal *legal, const DtEmitInstr *instr);

/* The opcode of the row of an instruction (lower.c). */
int dt_lower_row_opcode(const DtEmitInstr *instr);

/* Makes the top a bool where the next opcode insists on one (lower.c). */
DtStatus dt_lower_put_to_bool(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;

/* Functions of rows (lower_flow.c): append the real form of `instr`. */
DtStatus dt_lower_flow_jump(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_flow_jump_or_pop(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_flow_if_false(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_flow_if_truth(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_flow_if_none(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_flow_push_exc_info(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;
DtStatus dt_lower_flow_check_exc_match(DtLegal *legal, const DtEmitInstr *instr) DT_MUST_CHECK;

/* The forward jumps of this CPython by meaning. */
#if DT_PY310
enum {
    DT_FORWARD_JUMP = JUMP_ABSOLUTE,
    DT_FALSE_JUMP = POP_JUMP_IF_FALSE,
    DT_TRUE_JUMP = POP_JUMP_IF_TRUE,
    DT_NONE_JUMP = POP_JUMP_IF_TRUE,
    DT_NOT_NONE_JUMP = POP_JUMP_IF_FALSE,
    DT_FALSE_OR_POP_JUMP = JUMP_IF_FALSE_OR_POP,
    DT_TRUE_OR_POP_JUMP = JUMP_IF_TRUE_OR_POP
};
#elif DT_PY311
enum {
    DT_FORWARD_JUMP = JUMP_FORWARD,
    DT_FALSE_JUMP = POP_JUMP_FORWARD_IF_FALSE,
    DT_TRUE_JUMP = POP_JUMP_FORWARD_IF_TRUE,
    DT_NONE_JUMP = POP_JUMP_FORWARD_IF_NONE,
    DT_NOT_NONE_JUMP = POP_JUMP_FORWARD_IF_NOT_NONE,
    DT_FALSE_OR_POP_JUMP = JUMP_IF_FALSE_OR_POP,
    DT_TRUE_OR_POP_JUMP = JUMP_IF_TRUE_OR_POP
};
#else
enum {
    DT_FORWARD_JUMP = JUMP_FORWARD,
    DT_FALSE_JUMP = POP_JUMP_IF_FALSE,
    DT_TRUE_JUMP = POP_JUMP_IF_TRUE,
    DT_NONE_JUMP = POP_JUMP_IF_NONE,
    DT_NOT_NONE_JUMP = POP_JUMP_IF_NOT_NONE,
    DT_FALSE_OR_POP_JUMP = POP_JUMP_IF_FALSE,
    DT_TRUE_OR_POP_JUMP = POP_JUMP_IF_TRUE
};
#endif

#endif
