/* Making symbolic frames, and the questions that handlers ask of them.
 *
 * Invariant: every free slot holds a DtCellVar before the first instruction; the
 * frame's own cells are made by MAKE_CELL, which the decoder adds where CPython
 * has no such instruction.
 */
#include "symbolic/frame.h"

#include "graph/graph.h"
#include "sideeffects/journal.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

/* A code object decoded for this trace, with the trackers of its constants that were loaded so far.
 */
typedef struct DtFrameCode {
    DtBytecode *bytecode;
    DtVar **consts;
} DtFrameCode;

/* A loop of so few iterations is unrolled however large its body is: a segment can't be cut at it.
 */
#define WORTH_UNROLLING 8

/* What can't be decoded can't be followed: CPython has its own word about it, if it comes to it. */
static DtStatus
decode_new(DtTrace *trace, PyCodeObject *code, DtBytecode **out)
{
    DtStatus status = dt_decode_code(&trace->arena, code, out);
    if (status != DT_ERROR || !PyErr_ExceptionMatches(PyExc_ValueError)) {
        return status;
    }
    PyErr_Clear(); /* the ValueError */
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s() has a broken code object",
                    dt_kinds_text(dt_code_name(code)));
}

static DtStatus
decode(DtTrace *trace, DtFrame *frame, PyCodeObject *code)
{
    DtFrameCode *known = dt_map_get(&frame->root->bytecodes, code);
    if (known == NULL) {
        known = DT_ARENA_NEW(&trace->arena, DtFrameCode);
        if (known == NULL) {
            return dt_no_memory();
        }
        DT_TRY(dt_trace_keep(trace, (PyObject *)code));
        known->bytecode = code == trace->code ? trace->bytecode : NULL;
        if (known->bytecode == NULL) {
            DT_TRY(decode_new(trace, code, &known->bytecode));
        }
        Py_ssize_t count = PyTuple_GET_SIZE(known->bytecode->consts);
        known->consts = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
        if (known->consts == NULL
            || dt_map_set(&trace->arena, &frame->root->bytecodes, code, known) != 0) {
            return dt_no_memory();
        }
    }
    frame->bytecode = known->bytecode;
    frame->consts = known->consts;
    return DT_OK;
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
    frame->polyfill =
        parent != NULL && globals != trace->globals && dt_substitute_is_namespace(globals);
    DT_TRY(decode(trace, frame, code));
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

DtStatus
dt_frame_fill_free_slots(DtFrame *frame, DtCellVar *const *closure, uint32_t count)
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
    return DT_OK;
}

const char *
dt_frame_text(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        PyErr_Clear(); /* UnicodeEncodeError of a name with surrogates: the message does without it
                        */
        return "?";
    }
    return text;
}

DtStatus
dt_frame_jump(DtTrace *trace, DtFrame *frame, int32_t target)
{
    assert(target >= 0 && (uint32_t)target < frame->bytecode->count);
    frame->next = (uint32_t)target;
    if ((uint32_t)target > frame->pc) {
        return DT_OK;
    }
    if (trace->live && frame->depth == 0 && target <= trace->live_at) {
        return dt_segment_end_here(trace);
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
    if (frame->visits[target] > WORTH_UNROLLING && trace->graph != NULL
        && trace->graph->nodes.count > trace->options.unroll_nodes) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT,
                        "the loop makes a graph of more than %u operations",
                        trace->options.unroll_nodes);
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

uint32_t
dt_frame_positions(const DtTrace *trace, DtPosition *out, uint32_t max)
{
    uint32_t count = 0;
    for (const DtFrame *frame = trace->frame; frame != NULL && count < max; frame = frame->parent) {
        if (!frame->polyfill) {
            out[count++] = dt_frame_position(frame);
        }
    }
    return count;
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
