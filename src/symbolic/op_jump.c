/* Control flow: jumps, conditional jumps, iteration, return.
 *
 * A branch is decided while tracing; dt_frame_branch_truth() guards what the decision
 * relied on.  Loops over short iterables are unrolled, up to options.unroll_limit.
 */
#include "symbolic/frame.h"

DtStatus
dt_op_jump(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return dt_frame_jump(trace, frame, instr->target);
}

static DtStatus
pop_jump_if(DtTrace *trace, DtFrame *frame, const DtInstr *instr, bool wanted)
{
    bool truth;
    DT_TRY(dt_frame_branch_truth(trace, frame, frame->pc, dt_frame_pop(frame), &truth));
    return truth == wanted ? dt_frame_jump(trace, frame, instr->target) : DT_OK;
}

DtStatus
dt_op_pop_jump_if_false(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return pop_jump_if(trace, frame, instr, false);
}

DtStatus
dt_op_pop_jump_if_true(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return pop_jump_if(trace, frame, instr, true);
}

static DtStatus
pop_jump_if_none(DtTrace *trace, DtFrame *frame, const DtInstr *instr, bool wanted)
{
    bool is_none;
    DT_TRY(dt_var_is(trace, dt_frame_pop(frame), dt_none(trace), &is_none));
    return is_none == wanted ? dt_frame_jump(trace, frame, instr->target) : DT_OK;
}

DtStatus
dt_op_pop_jump_if_none(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return pop_jump_if_none(trace, frame, instr, true);
}

DtStatus
dt_op_pop_jump_if_not_none(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return pop_jump_if_none(trace, frame, instr, false);
}

static DtStatus
jump_or_pop(DtTrace *trace, DtFrame *frame, const DtInstr *instr, bool wanted)
{
    bool truth;
    DT_TRY(dt_var_truth(trace, *dt_frame_at(frame, 1), &truth));
    if (truth == wanted) {
        return dt_frame_jump(trace, frame, instr->target);
    }
    (void)dt_frame_pop(frame);
    return DT_OK;
}

DtStatus
dt_op_jump_if_false_or_pop(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return jump_or_pop(trace, frame, instr, false);
}

DtStatus
dt_op_jump_if_true_or_pop(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return jump_or_pop(trace, frame, instr, true);
}

DtStatus
dt_op_get_iter(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *iterator;
    DT_TRY(dt_var_iter(trace, dt_frame_pop(frame), &iterator));
    dt_frame_push(frame, iterator);
    return DT_OK;
}

DtStatus
dt_op_for_iter(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    if (dt_segment_is_found(trace, frame, 1)) {
        return dt_segment_end_here(trace);
    }
    if (dt_iter_is_over_open_range(dt_var_peek(*dt_frame_at(frame, 1)))) {
        return dt_break(trace, DT_BREAK_VARYING_LOOP, "the bounds of range() vary");
    }
    DT_TRY(dt_var_iternext(trace, *dt_frame_at(frame, 1), &value));
    if (value != NULL) {
        dt_frame_push(frame, value);
        return DT_OK;
    }
    (void)dt_frame_pop(frame);
    if (frame->visits != NULL) {
        /* An inner loop starts to count anew when the outer one comes back to it. */
        frame->visits[frame->pc] = 0;
    }
    return dt_frame_jump(trace, frame, instr->target);
}

DtStatus
dt_op_return_value(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    (void)instr;
    frame->result = dt_frame_pop(frame);
    frame->next =
        frame->pc; /* stays the frame's position, for what is planned or breaks afterwards */
    return DT_OK;
}
