/* The loop of the symbolic interpreter, and its entry.
 *
 *   bytecode ──► handler of each instruction ──► trackers on stack and in slots
 *                     │
 *                     ├─► DT_RAISE: on at the handler (unwind.c), or out of the frame
 *                     └─► DT_BREAK: the reason, with the user's line, is in trace->brk
 *
 * Invariants: trace->frame is the frame being interpreted; the stack is as deep
 * before each instruction as the decoder proved it to be; an exception is set
 * if and only if the status is DT_ERROR.
 *
 * What is not in here: what an instruction does (op_*.c), calls (inline.c).
 */
#include "symbolic/interp.h"


#include "guards/recipe.h"
#include "sideeffects/journal.h"
#include "symbolic/inline.h"
#include "symbolic/segment.h"

/* How many instructions pass between two looks at the clock. */

#define HANDLER(OP, FUNCTION)
#define BREAKS(OP, BREAK)                                                                          \
    static DtStatus break_at_##OP(DtTrace *trace, DtFrame *frame, const DtInstr *instr)            \
    {                                                                                              \
        (void)frame;                                                                               \
        return dt_break(trace, DT_BREAK_##BREAK, "%s", dt_canonical_name(instr->op));              \
    }
#include "symbolic/handlers.def"
#undef HANDLER
#undef BREAKS

const DtOpHandler dt_op_handlers[DT_OP_COUNT] = {
#define HANDLER(OP, FUNCTION) [DT_OP_##OP] = dt_op_##FUNCTION,
#define BREAKS(OP, BREAK) [DT_OP_##OP] = break_at_##OP,
#include "symbolic/handlers.def"
#undef HANDLER
#undef BREAKS
};

enum {
#define HANDLER(OP, FUNCTION) +1
#define BREAKS(OP, BREAK) +1
    HANDLER_ROWS = 0
#include "symbolic/handlers.def"
#undef HANDLER
#undef BREAKS
};
_Static_assert(HANDLER_ROWS == (int)DT_OP_COUNT, "every canonical op has one row in handlers.def");

/* The root remembers its way: a segment is cut at one of its instructions. */
static DtStatus
begin_root_instr(DtTrace *trace, const DtFrame *root, bool *stop)
{
    const DtTraceOptions *options = &trace->options;
    uint32_t begun = trace->history.count;
    *stop = begun == trace->stop_at;
    if (*stop) {
        return DT_OK;
    }
    if (trace->places != NULL && dt_places_is_load(trace->places, (int32_t)root->pc)
        && (begun == 0 || !dt_places_is_load(trace->places, trace->history.items[begun - 1]))) {
        trace->loads_facts = trace->guards->facts.count;
    }
    if (dt_vec_push(&trace->arena, &trace->history, (int32_t)root->pc) != 0) {
        return dt_no_memory();
    }
    bool forced = options->break_at == root->pc + 1
                  || (options->break_every != 0 && begun > 0 && begun % options->break_every == 0);
    return DT_LIKELY(!forced || (trace->live && begun == 0))
               ? DT_OK
               : dt_break(trace, DT_BREAK_FORCED, "a test asks for it");
}

DtStatus
dt_frame_run(DtTrace *trace, DtFrame *frame, DtVar **result)
{
    const DtInstr *instrs = frame->bytecode->instrs;
    trace->frame = frame;
    while (frame->result == NULL) {
        if (DT_UNLIKELY(frame->pc >= frame->bytecode->count)) {
            PyErr_SetString(PyExc_SystemError, "the code runs past its end");
            return DT_ERROR;
        }
        if (frame->depth == 0) {
            bool stop;
            DT_TRY(begin_root_instr(trace, frame, &stop));
            if (stop) {
                break;
            }
        }
        const DtInstr *instr = &instrs[frame->pc];
        assert(instr->depth < 0 || instr->depth == frame->sp);
        frame->next = frame->pc + 1;
        trace->instructions++;
        if (DT_UNLIKELY(trace->options.break_below != 0 && frame->depth > 0
                        && trace->instructions % trace->options.break_below == 0)) {
            return dt_break(trace, DT_BREAK_FORCED, "a test asks for it");
        }
        if (DT_UNLIKELY(trace->instructions > trace->options.trace_limit)) {
            return dt_break(trace, DT_BREAK_TRACE_LIMIT, "more than %u instructions",
                            trace->options.trace_limit);
        }
        DT_TRY(dt_trace_tick(trace));
        DtStatus status = dt_op_handlers[instr->op](trace, frame, instr);
        assert((status == DT_ERROR) == (PyErr_Occurred() != NULL));
        assert((status == DT_RAISE) == (trace->raised != NULL));
        if (DT_UNLIKELY(status == DT_RAISE)) {
            status = dt_frame_unwind(trace, frame);
        }
        if (DT_UNLIKELY(status != DT_OK)) {
            return status;
        }
        if (DT_UNLIKELY(frame->suspended && frame->depth == 0)) {
            return dt_segment_end_here(trace); /* a generator that runs yields by itself */
        }
        if (DT_UNLIKELY(trace->temporaries.count > 0 && frame->depth == 0)) {
            DT_TRY(dt_segment_consumes(trace, frame));
        }
        frame->pc = frame->next;
    }
    *result = frame->result;
    return DT_OK;
}

/* Trackers of the closure's cells. */
static DtStatus
build_closure(DtTrace *trace, DtFrame *root, PyObject *closure, DtCellVar ***out, uint32_t *count)
{
    const DtCodeLayout *layout = &root->bytecode->layout;
    *count = closure != NULL ? (uint32_t)PyTuple_GET_SIZE(closure) : 0;
    *out = DT_ARENA_ARRAY(&trace->arena, DtCellVar *, *count + 1);
    if (*out == NULL) {
        return dt_no_memory();
    }
    if (*count != (uint32_t)layout->nfrees) {
        PyErr_Format(PyExc_SystemError, "closure of %u cells for %d free variables", *count,
                     layout->nfrees);
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < *count; i++) {
        DtVar *var;
        DT_TRY(dt_segment_cell(trace, root, layout->free_start + (int)i,
                               PyTuple_GET_ITEM(closure, (Py_ssize_t)i), &var));
        (*out)[i] = (DtCellVar *)var;
    }
    return DT_OK;
}

static DtStatus
run_segment(DtTrace *trace, DtFrame *root, const DtTraceFrame *frame, DtVar **result)
{
    DT_TRY(dt_segment_enter(trace, root, frame));
    DtStatus status = dt_frame_run(trace, root, result);
    if (status != DT_BREAK || !trace->cut_here) {
        DT_TRY(status);
    }
    return *result != NULL ? dt_segment_return(trace, root, *result)
                           : dt_segment_cut(trace, root, frame);
}

DtStatus
dt_interp_run(DtTrace *trace, const DtTraceFrame *frame, DtVar **result)
{
    int flags = dt_code_flags(trace->code);
    if (!frame->live && dt_code_is_generator(trace->code)) {
        return dt_break(trace, DT_BREAK_GENERATOR, "the function is a generator or coroutine");
    }
    if (!frame->module && (!(flags & CO_OPTIMIZED) || !(flags & CO_NEWLOCALS))) {
        return dt_break(trace, DT_BREAK_UNSUPPORTED_OPCODE, "code that is no function's");
    }
    DtFrame *root;
    trace->bytecode = frame->bytecode;
    DT_TRY(dt_frame_build(trace, trace->code, trace->globals, NULL, NULL, &root));
    root->module = frame->module;
    trace->rebound = frame->rebound;
    trace->frame = root;
    trace->positions = dt_frame_positions;
    if (frame->live) {
        return run_segment(trace, root, frame, result);
    }
    const DtCodeLayout *layout = &root->bytecode->layout;
    int nargs = dt_code_argument_slots(trace->code);
    for (int slot = 0; slot < nargs; slot++) {
        if (frame->locals[slot] == NULL) {
            continue;
        }
        const DtSource *source = dt_source_local(trace, slot, layout->slots[slot].name);
        if (source == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, frame->locals[slot], source, &root->locals[slot]));
    }
    root->initial = DT_ARENA_ARRAY(&trace->arena, DtVar *, nargs + 1);
    if (root->initial == NULL) {
        return dt_no_memory();
    }
    memcpy(root->initial, root->locals, sizeof(DtVar *) * (size_t)nargs);
    root->ninitial = nargs;
    DtCellVar **closure;
    uint32_t count;
    DT_TRY(build_closure(trace, root, frame->closure, &closure, &count));
    DT_TRY(dt_frame_fill_free_slots(root, closure, count));
    DT_TRY(dt_raised_break_if(trace, dt_frame_run(trace, root, result)));
    return dt_journal_finish(trace, *result);
}
