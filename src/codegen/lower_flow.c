/* Real opcodes for jumps, loops, exceptions and the prologue; see lower.c.
 *
 * Each version has its own set of jumps: absolute ones on 3.10, one opcode per
 * direction on 3.11, conditions that go forward only later.
 */
#include "codegen/lower_flow.h"

static DtStatus
fault(const DtEmitInstr *instr, const char *what)
{
    PyErr_Format(PyExc_SystemError, "emitted %s: %s", dt_canonical_name(instr->op), what);
    return DT_ERROR;
}

/* --- jumps --------------------------------------------------------------- */

/* Jumps get their forward opcode here; the assembler asks dt_lower_jump_opcode
 * once it knows the direction. */
DtStatus
dt_lower_flow_jump(DtLegal *legal, const DtEmitInstr *instr)
{
    return dt_legal_put_jump(legal, instr, dt_lower_row_opcode(instr), instr->label);
}

static DtStatus
lower_truth_jump(DtLegal *legal, const DtEmitInstr *instr)
{
    DT_TRY(dt_lower_put_to_bool(legal, instr));
    return dt_lower_flow_jump(legal, instr);
}

/* 3.10 has no jump on None. */
static DtStatus
lower_none_jump(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    int number;
    DT_TRY(dt_legal_const(legal, Py_None, &number));
    DT_TRY(dt_legal_put(legal, instr, LOAD_CONST, number));
    DT_TRY(dt_legal_put(legal, instr, IS_OP, 0));
#endif
    return dt_lower_flow_jump(legal, instr);
}

DtStatus
dt_lower_flow_jump_or_pop(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    DT_TRY(dt_legal_put(legal, instr, COPY, 1));
    DT_TRY(lower_truth_jump(legal, instr));
    return dt_legal_put(legal, instr, POP_TOP, 0);
#else
    return dt_lower_flow_jump(legal, instr);
#endif
}


typedef struct JumpPair {
    int forward;
    int backward;
    int inverse; /* forward jump on the opposite condition, for versions without `backward` */
} JumpPair;

static const JumpPair jump_pairs[] = {
#if DT_PY310
    {JUMP_ABSOLUTE, JUMP_ABSOLUTE, -1},
    {POP_JUMP_IF_FALSE, POP_JUMP_IF_FALSE, -1},
    {POP_JUMP_IF_TRUE, POP_JUMP_IF_TRUE, -1},
    {JUMP_IF_FALSE_OR_POP, JUMP_IF_FALSE_OR_POP, -1},
    {JUMP_IF_TRUE_OR_POP, JUMP_IF_TRUE_OR_POP, -1},
    {JUMP_IF_NOT_EXC_MATCH, JUMP_IF_NOT_EXC_MATCH, -1},
#else
    {JUMP_FORWARD, JUMP_BACKWARD, -1},
#if DT_PY311
    {POP_JUMP_FORWARD_IF_FALSE, POP_JUMP_BACKWARD_IF_FALSE, -1},
    {POP_JUMP_FORWARD_IF_TRUE, POP_JUMP_BACKWARD_IF_TRUE, -1},
    {POP_JUMP_FORWARD_IF_NONE, POP_JUMP_BACKWARD_IF_NONE, -1},
    {POP_JUMP_FORWARD_IF_NOT_NONE, POP_JUMP_BACKWARD_IF_NOT_NONE, -1},
#else
    {POP_JUMP_IF_FALSE, -1, POP_JUMP_IF_TRUE},
    {POP_JUMP_IF_TRUE, -1, POP_JUMP_IF_FALSE},
    {POP_JUMP_IF_NONE, -1, POP_JUMP_IF_NOT_NONE},
    {POP_JUMP_IF_NOT_NONE, -1, POP_JUMP_IF_NONE},
#endif
#endif
};

static const JumpPair *
find_jump_pair(int forward)
{
    for (size_t i = 0; i < sizeof(jump_pairs) / sizeof(jump_pairs[0]); i++) {
        if (jump_pairs[i].forward == forward) {
            return &jump_pairs[i];
        }
    }
    return NULL;
}

int
dt_lower_jump_opcode(int opcode_number, bool backward)
{
    const JumpPair *pair = find_jump_pair(opcode_number < 0 ? DT_FORWARD_JUMP : opcode_number);
    if (pair == NULL) {
        return backward ? -1 : opcode_number;
    }
    return backward ? pair->backward : pair->forward;
}

/* A conditional jump backward where conditions go forward only: the opposite one over a jump. */
static DtStatus
lower_inverted(DtLegal *legal, const DtEmitInstr *instr, int inverse)
{
    uint32_t at = legal->instrs.count;
    DT_TRY(dt_legal_put_jump(legal, instr, inverse, legal->fixed_label + (int32_t)at + 2));
    return dt_legal_put_jump(legal, instr, DT_FORWARD_JUMP, instr->label);
}

static DtStatus
lower_conditional(DtLegal *legal, const DtEmitInstr *instr, DtLowerFunction forward_form)
{
    uint32_t index = (uint32_t)(instr - legal->emit->instrs.items);
    const JumpPair *pair = find_jump_pair(dt_lower_row_opcode(instr));
    bool backward = legal->emit->labels.items[instr->label] <= index;
    if (!backward || pair == NULL || pair->inverse < 0) {
        return forward_form(legal, instr);
    }
    if (forward_form == lower_truth_jump) {
        DT_TRY(dt_lower_put_to_bool(legal, instr));
    }
    return lower_inverted(legal, instr, pair->inverse);
}

DtStatus
dt_lower_flow_if_truth(DtLegal *legal, const DtEmitInstr *instr)
{
    return lower_conditional(legal, instr, lower_truth_jump);
}

DtStatus
dt_lower_flow_if_none(DtLegal *legal, const DtEmitInstr *instr)
{
    return lower_conditional(legal, instr, lower_none_jump);
}

bool
dt_lower_needs_landing(void)
{
    return DT_PY_AT_LEAST(3, 12);
}

DtStatus
dt_lower_landing(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY_AT_LEAST(3, 12)
    DT_TRY(dt_legal_put(legal, instr, END_FOR, 0));
#endif
    return DT_PY313 ? dt_legal_put(legal, instr, POP_TOP, 0) : DT_OK;
}

/* --- exceptions ---------------------------------------------------------- */

bool
dt_lower_has_blocks(void)
{
    return DT_PY310;
}

bool
dt_lower_is_setup(int opcode_number)
{
#if DT_PY310
    return opcode_number == SETUP_FINALLY;
#else
    (void)opcode_number;
    return false;
#endif
}

bool
dt_lower_is_pop_except(int opcode_number)
{
    return opcode_number == POP_EXCEPT;
}

DtStatus
dt_lower_setup_block(DtLegal *legal, const DtEmitInstr *instr, DtLabel handler)
{
#if DT_PY310
    return dt_legal_put_jump(legal, instr, SETUP_FINALLY, handler);
#else
    (void)legal;
    (void)handler;
    return fault(instr, "there are no blocks here");
#endif
}

DtStatus
dt_lower_pop_block(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    return dt_legal_put(legal, instr, POP_BLOCK, 0);
#else
    (void)legal;
    return fault(instr, "there are no blocks here");
#endif
}

/* [previous, instruction number, exception]: the previous one is handled again. */
DtStatus
dt_lower_handler_cleanup(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    (void)legal;
    return fault(instr, "blocks clean up here");
#else
    DtEmitInstr nowhere = *instr;
    nowhere.position.line = -1;
    DT_TRY(dt_legal_put(legal, &nowhere, COPY, 3));
    DT_TRY(dt_legal_put(legal, &nowhere, POP_EXCEPT, 0));
    return dt_legal_put(legal, &nowhere, RERAISE, 1);
#endif
}

/* On 3.10 the interpreter has put it all there already. */
DtStatus
dt_lower_flow_push_exc_info(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    return dt_legal_put(legal, instr, NOP, 0);
#else
    return dt_legal_put(legal, instr, PUSH_EXC_INFO, 0);
#endif
}

/* 3.10 compares and jumps in one, popping both: [t, w] -> [w, t] -> [w, t, t] -> [t, w, t]
 * -> [t, t, w]; the jump that follows becomes the comparison. */
DtStatus
dt_lower_flow_check_exc_match(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    const DtEmitInstr *next = instr + 1;
    if (next >= legal->emit->instrs.items + legal->emit->instrs.count
        || next->op != DT_OP_POP_JUMP_IF_FALSE) {
        return fault(instr, "POP_JUMP_IF_FALSE has to follow");
    }
    DT_TRY(dt_legal_put(legal, instr, ROT_TWO, 0));
    DT_TRY(dt_legal_put(legal, instr, DUP_TOP, 0));
    DT_TRY(dt_legal_put(legal, instr, ROT_THREE, 0));
    return dt_legal_put(legal, instr, ROT_TWO, 0);
#else
    return dt_legal_put(legal, instr, CHECK_EXC_MATCH, 0);
#endif
}

DtStatus
dt_lower_flow_if_false(DtLegal *legal, const DtEmitInstr *instr)
{
#if DT_PY310
    bool matches = instr > legal->emit->instrs.items && (instr - 1)->op == DT_OP_CHECK_EXC_MATCH;
    if (matches) {
        return dt_legal_put_jump(legal, instr, JUMP_IF_NOT_EXC_MATCH, instr->label);
    }
#endif
    return dt_lower_flow_if_truth(legal, instr);
}

/* --- prologue ------------------------------------------------------------ */

DtStatus
dt_lower_prologue(DtLegal *legal, int firstlineno)
{
#if DT_PY310
    (void)legal;
    (void)firstlineno;
#else
    const DtEmit *emit = legal->emit;
    DtEmitInstr instr = {.op = DT_OP_RESUME, .label = -1, .position = {-1, -1, -1, -1}};
    if (legal->nfrees > 0) {
        DT_TRY(dt_legal_put(legal, &instr, COPY_FREE_VARS, legal->nfrees));
    }
    for (uint32_t i = 0; i < emit->slots.count; i++) {
        if (dt_legal_slot_kind(legal, i) & DT_SLOT_CELL) {
            DT_TRY(dt_legal_put(legal, &instr, MAKE_CELL, legal->frame_slot[i]));
        }
    }
    instr.position.line = instr.position.end_line = firstlineno;
    DT_TRY(dt_legal_put(legal, &instr, RESUME, 0));
#endif
    return DT_OK;
}
