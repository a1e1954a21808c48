/* Subscripts and slices: reading, storing, deleting. */
#include "symbolic/frame.h"

DtStatus
dt_op_binary_subscr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *value;
    DtVar *key = dt_frame_pop(frame);
    DtVar *object = dt_frame_pop(frame);
    DT_TRY(dt_var_subscript(trace, object, key, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_store_subscr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *key = dt_frame_pop(frame);
    DtVar *object = dt_frame_pop(frame);
    DtVar *value = dt_frame_pop(frame);
    return dt_var_ass_subscript(trace, object, key, value);
}

DtStatus
dt_op_delete_subscr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *key = dt_frame_pop(frame);
    DtVar *object = dt_frame_pop(frame);
    return dt_var_ass_subscript(trace, object, key, NULL);
}

static DtStatus
pop_slice(DtTrace *trace, DtFrame *frame, DtVar **out)
{
    DtVar *stop = dt_frame_pop(frame);
    DtVar *start = dt_frame_pop(frame);
    return dt_var_slice(trace, start, stop, dt_none(trace), out);
}

DtStatus
dt_op_binary_slice(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *slice, *value;
    DT_TRY(pop_slice(trace, frame, &slice));
    DT_TRY(dt_var_subscript(trace, dt_frame_pop(frame), slice, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_store_slice(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *slice;
    DT_TRY(pop_slice(trace, frame, &slice));
    DtVar *object = dt_frame_pop(frame);
    DtVar *value = dt_frame_pop(frame);
    return dt_var_ass_subscript(trace, object, slice, value);
}
