/* Storing and deleting: slots, cells' contents, globals, attributes.
 *
 * Slots belong to the frame alone; everything else goes through the journal.
 */
#include "compat/dict.h"
#include "symbolic/segment.h"

DtStatus
dt_op_store_fast(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DT_TRY(dt_segment_overwrites(trace, frame, instr->arg));
    DtVar *value = dt_frame_pop(frame);
    frame->locals[instr->arg] = value == dt_null(trace) ? NULL : value;
    return DT_OK;
}

DtStatus
dt_op_delete_fast(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    if (frame->locals[instr->arg] == NULL) {
        return dt_frame_raise_unbound(trace, frame, instr->arg);
    }
    DT_TRY(dt_segment_needs_bound(trace, frame, instr->arg));
    DT_TRY(dt_segment_overwrites(trace, frame, instr->arg));
    frame->locals[instr->arg] = NULL;
    return DT_OK;
}

DtStatus
dt_op_store_global(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value = dt_frame_pop(frame);
    return dt_journal_set_global(trace, frame->globals, dt_decode_name(frame->bytecode, instr),
                                 value);
}

DtStatus
dt_op_delete_global(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    bool deleted = false;
    if (dt_journal_get_global(trace, frame->globals, name, &deleted) == NULL) {
        PyObject *value = NULL;
        if (deleted || dt_dict_get(frame->globals, name, &value) != 1) {
            if (!deleted) {
                DT_TRY(dt_guard_global_absent(trace, frame->function, name));
            }
            return dt_frame_raise_name_error(trace, "name '%.200U' is not defined", name);
        }
        /* That it is there has to be guarded: reading it does. */
        const DtSource *source;
        DtVar *var;
        DT_TRY(dt_frame_global_source(trace, frame, name, &source));
        DT_TRY(dt_var_build(trace, value, source, &var));
    }
    return dt_journal_set_global(trace, frame->globals, name, NULL);
}

DtStatus
dt_op_store_attr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *object = *dt_frame_at(frame, 1);
    DtVar *value = *dt_frame_at(frame, 2);
    frame->sp -= 2;
    return dt_var_setattr(trace, object, dt_decode_name(frame->bytecode, instr), value);
}

DtStatus
dt_op_delete_attr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *object = dt_frame_pop(frame);
    return dt_var_setattr(trace, object, dt_decode_name(frame->bytecode, instr), NULL);
}
