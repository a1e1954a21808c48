/* Making symbolic frames, and the questions that handlers ask of them.
 *
 * Invariant: every free slot holds a DtCellVar before the first instruction, and
 * so does every slot of a cell that this CPython makes without an instruction.
 */
#include "symbolic/frame.h"

#include "sideeffects/journal.h"

/* A code object decoded for this trace. */
static DtStatus
decode(DtTrace *trace, DtFrame *root, PyCodeObject *code, DtBytecode **out)
{
    *out = dt_map_get(&root->bytecodes, code);
    if (*out != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, (PyObject *)code));
    DT_TRY(dt_decode_code(&trace->arena, code, out));
    return dt_map_set(&trace->arena, &root->bytecodes, code, *out) == 0 ? DT_OK : dt_no_memory();
}

DtStatus
dt_frame_build(DtTrace *trace, PyCodeObject *code, PyObject *globals, const DtSource *function,
               DtFrame *parent, DtFrame **out)
{
    DtFrame *frame = DT_ARENA_NEW(&trace->arena, DtFrame);
    if (frame == NULL) {
        return dt_no_memory();
    }
    frame->parent = parent;
    frame->root = parent != NULL ? parent->root : frame;
    frame->depth = parent != NULL ? parent->depth + 1 : 0;
    frame->globals = globals;
    frame->function = function;
    DT_TRY(decode(trace, frame->root, code, &frame->bytecode));
    const DtBytecode *bytecode = frame->bytecode;
    /* One value of slack: an op that is several canonical ones may go deeper in between. */
    frame->capacity = bytecode->max_depth + 2;
    frame->stack = DT_ARENA_ARRAY(&trace->arena, DtVar *, frame->capacity);
    frame->locals = DT_ARENA_ARRAY(&trace->arena, DtVar *, bytecode->layout.nslots + 1);
    if (frame->stack == NULL || frame->locals == NULL) {
        return dt_no_memory();
    }
    *out = frame;
    return DT_OK;
}

DtStatus
dt_frame_new_cell(DtTrace *trace, DtFrame *frame, int slot, DtVar *contents, DtVar **out)
{
    PyObject *name = frame->bytecode->layout.slots[slot].name;
    DT_TRY(dt_var_cell(trace, name, -1, contents, out));
    (*out)->mutation = DT_VALUE_MUTATION_NEW;
    return DT_OK;
}

/* CPython 3.10 makes cells when it makes the frame; later versions have MAKE_CELL, which may also stand in
 * the middle of the code, so a slot that such an instruction fills is left alone. */
static bool
has_make_cell(const DtBytecode *bytecode, int slot)
{
    for (uint32_t i = 0; i < bytecode->count; i++) {
        if (bytecode->instrs[i].op == DT_OP_MAKE_CELL && bytecode->instrs[i].arg == slot) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_frame_set_up_cells(DtTrace *trace, DtFrame *frame, DtCellVar *const *closure, uint32_t count)
{
    const DtCodeLayout *layout = &frame->bytecode->layout;
    if (count != (uint32_t)layout->nfrees) {
        PyErr_Format(PyExc_SystemError, "closure of %u cells for %d free variables", count,
                     layout->nfrees);
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        frame->locals[layout->free_start + (int)i] = (DtVar *)closure[i];
    }
    for (int slot = 0; layout->ncells > 0 && slot < layout->nslots; slot++) {
        if ((layout->slots[slot].kind & DT_SLOT_CELL) && !has_make_cell(frame->bytecode, slot)) {
            DtVar *cell;
            DT_TRY(dt_frame_new_cell(trace, frame, slot, frame->locals[slot], &cell));
            frame->locals[slot] = cell;
        }
    }
    return DT_OK;
}

const char *
dt_frame_text(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        PyErr_Clear(); /* UnicodeEncodeError of a name with surrogates: the message does without it */
        return "?";
    }
    return text;
}

const char *
dt_frame_slot_name(const DtFrame *frame, int slot)
{
    return dt_frame_text(frame->bytecode->layout.slots[slot].name);
}

DtStatus
dt_frame_jump(DtTrace *trace, DtFrame *frame, int32_t target)
{
    assert(target >= 0 && (uint32_t)target < frame->bytecode->count);
    frame->next = (uint32_t)target;
    if ((uint32_t)target > frame->pc) {
        return DT_OK;
    }
    if (frame->visits == NULL) {
        frame->visits = DT_ARENA_ARRAY(&trace->arena, uint32_t, frame->bytecode->count);
        if (frame->visits == NULL) {
            return dt_no_memory();
        }
    }
    if (++frame->visits[target] > trace->options.unroll_limit) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "the loop runs more than %u times",
                        trace->options.unroll_limit);
    }
    return DT_OK;
}

DtPosition
dt_frame_position(const DtFrame *frame)
{
    const DtInstr *instr = &frame->bytecode->instrs[frame->pc];
    return (DtPosition){
        .code = frame->bytecode->code,
        .line = instr->line,
        .end_line = instr->end_line,
        .col = instr->col,
        .end_col = instr->end_col,
    };
}

DtPosition
dt_trace_position(const DtTrace *trace)
{
    if (trace->frame == NULL) {
        return (DtPosition){trace->code, -1, -1, -1, -1};
    }
    return dt_frame_position(trace->frame);
}

DtStatus
dt_frame_global_source(DtTrace *trace, DtFrame *frame, PyObject *name, const DtSource **out)
{
    if (frame->function == NULL) {
        *out = dt_source_global(trace, name);
    }
    else {
        *out = dt_source_get(trace, DT_SOURCE_FUNC_GLOBAL, frame->function, name, 0);
    }
    return *out != NULL ? DT_OK : DT_ERROR;
}
