/* Where an exception of the traced program goes.
 *
 *   DT_RAISE at an instruction ─► its handler in the static table ─► stack cut, exception pushed
 *                              └► none: out of the frame, to the caller's instruction
 *
 * Everything is found from the instruction alone: 3.11 and later have a table,
 * and for 3.10 the decoder has proved which blocks stand before each
 * instruction.  So a frame can be followed from the middle of a try body
 * without anything having been set up.
 *
 * Invariant: what was handled before a handler of 3.10 ran is restored when
 * the exception leaves the handler, from the values that its entry pushed;
 * later versions have instructions for that.
 */
#include "symbolic/frame.h"
#include "symbolic/segment.h"
#include "variables/kinds.h"

DtVar *
dt_frame_handled_or_none(DtTrace *trace)
{
    return trace->exc_info->value != NULL ? trace->exc_info->value : dt_none(trace);
}

void
dt_frame_set_handled(DtTrace *trace, DtVar *value)
{
    trace->exc_info->value = dt_exception_is(value) ? value : NULL;
}

/* 3.10: leaves the blocks of running handlers between the instruction and `handler`. */
static void
leave_handlers(DtTrace *trace, DtFrame *frame, int32_t handler)
{
    const DtBytecode *bytecode = frame->bytecode;
    if (bytecode->blocks == NULL) {
        return;
    }
    for (const DtTryBlock *block = bytecode->blocks[frame->pc]; block != NULL;
         block = block->outer) {
        if (!block->running && block->handler == handler) {
            return;
        }
        if (block->running) {
            int32_t depth = bytecode->handlers[block->handler].depth;
            assert(frame->sp >= depth + 3);
            dt_frame_set_handled(trace, frame->stack[depth + 1]);
        }
    }
}

static DtStatus
enter_triple(DtTrace *trace, DtFrame *frame, DtVar *exception)
{
    DtVar *handled = dt_frame_handled_or_none(trace), *parts[6];
    DtVar *values[2] = {handled, exception};
    for (int i = 0; i < 2; i++) {
        parts[3 * i] = parts[3 * i + 2] = dt_none(trace);
        parts[3 * i + 1] = values[i];
        if (dt_exception_is(values[i])) {
            DT_TRY(dt_exception_traceback(trace, values[i], &parts[3 * i]));
            DT_TRY(dt_class_of(trace, values[i], &parts[3 * i + 2]));
        }
    }
    for (int i = 0; i < 6; i++) {
        dt_frame_push(frame, parts[i]);
    }
    dt_frame_set_handled(trace, exception);
    return DT_OK;
}

static DtStatus
enter_handler(DtTrace *trace, DtFrame *frame, const DtHandler *handler)
{
    DtVar *exception = dt_raised_take(trace), *lasti;
    assert(frame->sp >= handler->depth);
    while (frame->sp > handler->depth) {
        DT_TRY(dt_segment_drops(trace, frame, dt_frame_pop(frame)));
    }
    frame->next = (uint32_t)handler->target;
    if (handler->triple) {
        return enter_triple(trace, frame, exception);
    }
    if (handler->lasti) {
        DT_TRY(dt_var_int(trace, frame->bytecode->instrs[frame->pc].offset, &lasti));
        dt_frame_push(frame, lasti);
    }
    dt_frame_push(frame, exception);
    return DT_OK;
}

DtStatus
dt_frame_unwind(DtTrace *trace, DtFrame *frame)
{
    int32_t handler = frame->bytecode->instrs[frame->pc].handler;
    frame->kwnames = NULL;
    leave_handlers(trace, frame, handler);
    if (handler >= 0) {
        return enter_handler(trace, frame, &frame->bytecode->handlers[handler]);
    }
    return frame->parent != NULL && !frame->polyfill
                   && dt_exception_lengthen(trace, trace->raised) != DT_OK
               ? DT_ERROR
               : DT_RAISE;
}
