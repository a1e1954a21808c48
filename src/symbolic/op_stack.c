/* Moves on the value stack, and instructions that do nothing in a trace. */
#include "symbolic/segment.h"

/* NOP, RESUME; COPY_FREE_VARS (free slots are filled with the frame); SETUP_FINALLY and POP_BLOCK
 * (a try body is followed as long as it does not raise, and raising is a graph break of the whole
 * frame). */
DtStatus
dt_op_nop(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    (void)frame;
    (void)instr;
    return DT_OK;
}

DtStatus
dt_op_pop_top(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return dt_segment_drops(trace, frame, dt_frame_pop(frame));
}

DtStatus
dt_op_copy(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    dt_frame_push(frame, *dt_frame_at(frame, instr->arg));
    return DT_OK;
}

DtStatus
dt_op_swap(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    DtVar **deep = dt_frame_at(frame, instr->arg);
    DtVar **top = dt_frame_at(frame, 1);
    DtVar *value = *top;
    *top = *deep;
    *deep = value;
    return DT_OK;
}

DtStatus
dt_op_push_null(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    dt_frame_push(frame, dt_null(trace));
    return DT_OK;
}
