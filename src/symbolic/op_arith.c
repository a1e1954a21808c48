/* Operators: arithmetic, in-place arithmetic, comparison, identity, membership, truth.
 *
 *   [a, b] ──► dt_var_binary / dt_var_compare ... ──► [result]
 *
 * The kinds' slots do the work; nothing here knows a kind but symbolic bools,
 * which stay symbolic through bool().
 */
#include "symbolic/frame.h"

static DtStatus
unary(DtTrace *trace, DtFrame *frame, DtStatus (*op)(DtTrace *, DtVar *, DtVar **))
{
    DtVar *value;
    DT_TRY(op(trace, dt_frame_pop(frame), &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_unary_negative(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return unary(trace, frame, dt_var_negative);
}

DtStatus
dt_op_unary_positive(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return unary(trace, frame, dt_var_positive);
}

DtStatus
dt_op_unary_invert(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return unary(trace, frame, dt_var_invert);
}

DtStatus
dt_op_unary_not(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return unary(trace, frame, dt_var_not);
}

DtStatus
dt_op_to_bool(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *var;
    DT_TRY(dt_var_receiver(trace, dt_frame_pop(frame), &var));
    if (var->type->kind == DT_KIND_SYMBOLIC && ((DtSymVar *)var)->sym->type == DT_SYM_BOOL) {
        dt_frame_push(frame, var);
        return DT_OK;
    }
    bool truth;
    DT_TRY(dt_frame_branch_truth(trace, frame, frame->next, var, &truth));
    return dt_frame_push_bool(trace, frame, truth);
}

DtStatus
dt_op_binary_op(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *right = dt_frame_pop(frame);
    DtVar *left = dt_frame_pop(frame);
    DT_TRY(dt_var_binary(trace, (DtBinaryOp)instr->arg, left, right, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_compare_op(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *right = dt_frame_pop(frame);
    DtVar *left = dt_frame_pop(frame);
    DT_TRY(dt_var_compare(trace, instr->arg, left, right, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_is_op(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    bool same;
    DtVar *right = dt_frame_pop(frame);
    DtVar *left = dt_frame_pop(frame);
    DT_TRY(dt_var_is(trace, left, right, &same));
    return dt_frame_push_bool(trace, frame, same != (instr->arg == 1));
}

DtStatus
dt_op_contains_op(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *container = dt_frame_pop(frame);
    DtVar *item = dt_frame_pop(frame);
    DT_TRY(dt_var_contains(trace, container, item, &value));
    if (instr->arg == 1) {
        DT_TRY(dt_var_not(trace, value, &value));
    }
    dt_frame_push(frame, value);
    return DT_OK;
}
