/* Cells: making them, and writing what they hold.
 *
 * A cell is a DtCellVar in a slot, the same for the root and for inlined frames;
 * free slots are filled when the frame is made, so COPY_FREE_VARS does nothing.
 * Reading is in op_load.c.
 */
#include "symbolic/frame.h"

DtStatus
dt_op_make_cell(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *cell;
    DT_TRY(dt_frame_new_cell(trace, frame, instr->arg, frame->locals[instr->arg], &cell));
    frame->locals[instr->arg] = cell;
    return DT_OK;
}

static DtStatus
get_cell(DtFrame *frame, int slot, DtCellVar **out)
{
    DtVar *cell = frame->locals[slot];
    if (cell == NULL || cell->type->kind != DT_KIND_CELL) {
        PyErr_Format(PyExc_SystemError, "slot %d holds no cell", slot);
        return DT_ERROR;
    }
    *out = (DtCellVar *)cell;
    return DT_OK;
}

DtStatus
dt_op_store_deref(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtCellVar *cell;
    DT_TRY(get_cell(frame, instr->arg, &cell));
    return dt_journal_set_cell(trace, cell, dt_frame_pop(frame));
}

DtStatus
dt_op_delete_deref(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtCellVar *cell;
    DT_TRY(get_cell(frame, instr->arg, &cell));
    if (cell->contents == NULL) {
        return dt_frame_raise_unbound(trace, frame, instr->arg);
    }
    return dt_journal_set_cell(trace, cell, NULL);
}
