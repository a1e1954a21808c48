/* f-strings, and the simple questions of match statements. */
#include "symbolic/frame.h"
#include "variables/text.h"

DtStatus
dt_op_convert_value(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    static DtStatus (*const convert[])(DtTrace *, DtVar *, DtVar **) = {
        NULL,
        dt_text_str,
        dt_text_repr,
        dt_text_ascii,
    };
    DtVar *text;
    DT_TRY(convert[instr->arg](trace, *dt_frame_at(frame, 1), &text));
    *dt_frame_at(frame, 1) = text;
    return DT_OK;
}

DtStatus
dt_op_format_simple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *text;
    DT_TRY(dt_text_format(trace, *dt_frame_at(frame, 1), NULL, &text));
    *dt_frame_at(frame, 1) = text;
    return DT_OK;
}

DtStatus
dt_op_format_with_spec(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *text;
    DT_TRY(dt_text_format(trace, *dt_frame_at(frame, 2), *dt_frame_at(frame, 1), &text));
    (void)dt_frame_pop(frame);
    *dt_frame_at(frame, 1) = text;
    return DT_OK;
}

DtStatus
dt_op_get_len(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *length;
    DT_TRY(dt_var_length(trace, *dt_frame_at(frame, 1), &length));
    dt_frame_push(frame, length);
    return DT_OK;
}

/* Which pattern a type matches is one of its flags. */
static DtStatus
match_flag(DtTrace *trace, DtFrame *frame, unsigned long flag)
{
    DtVar *var, *answer;
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 1), &var));
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a pattern on a value of unknown type");
    }
    DT_TRY(dt_var_bool(trace, (type->tp_flags & flag) != 0, &answer));
    dt_frame_push(frame, answer);
    return DT_OK;
}

DtStatus
dt_op_match_mapping(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return match_flag(trace, frame, Py_TPFLAGS_MAPPING);
}

DtStatus
dt_op_match_sequence(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return match_flag(trace, frame, Py_TPFLAGS_SEQUENCE);
}
