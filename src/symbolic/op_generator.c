/* Suspending and delegating: yield, yield from, await.
 *
 * An instruction that suspends sets the frame's result and says so; the loop leaves the frame as it
 * does for a return, and dt_generator_resume() (generator.c) comes back to it with a value on the
 * stack.
 */
#include "symbolic/inline.h"
#include "variables/kinds.h"

/* The root's own yields are made by the real frame. */
static DtStatus
suspend(DtTrace *trace, DtFrame *frame, DtVar *value)
{
    if (frame == frame->root) {
        return dt_break(trace, DT_BREAK_GENERATOR, "the frame itself yields");
    }
    frame->result = value;
    frame->suspended = true;
    frame->at = frame->pc;
    return DT_OK;
}

DtStatus
dt_op_return_generator(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return suspend(trace, frame, dt_none(trace));
}

DtStatus
dt_op_gen_start(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    (void)instr;
    (void)dt_frame_pop(frame);
    return DT_OK;
}

DtStatus
dt_op_yield_value(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    frame->wrapped = frame->wrapped || dt_code_yield_wraps(frame->bytecode->code);
    return suspend(trace, frame, dt_frame_pop(frame));
}

/* ---- Delegation ------------------------------------------------------------------------------ */

/* A generator delegates to itself, not to iter() of it; a coroutine only from another one. */
DtStatus
dt_op_get_yield_from_iter(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *iterable, *iterator;
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 1), &iterable));
    if (iterable->type->kind == DT_KIND_COROUTINE) {
        int flags = dt_code_flags(frame->bytecode->code);
        if (!(flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE))) {
            return dt_raise(trace, PyExc_TypeError,
                            "cannot 'yield from' a coroutine object in a non-coroutine generator");
        }
        return DT_OK;
    }
    if (iterable->type->kind == DT_KIND_GENERATOR) {
        return DT_OK;
    }
    DT_TRY(dt_var_iter(trace, iterable, &iterator));
    *dt_frame_at(frame, 1) = iterator;
    return DT_OK;
}

DtStatus
dt_op_send(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    bool returned;
    DtVar *value, *sent = *dt_frame_at(frame, 1), *iterator = *dt_frame_at(frame, 2);
    DT_TRY(dt_var_send(trace, iterator, sent, &value, &returned));
    (void)dt_frame_pop(frame);
    if (!returned) {
        dt_frame_push(frame, value);
        return DT_OK;
    }
    if (instr->arg == 1) {
        (void)dt_frame_pop(frame);
    }
    dt_frame_push(frame, value);
    return dt_frame_jump(trace, frame, instr->target);
}

DtStatus
dt_op_end_send(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    (void)instr;
    DtVar *value = dt_frame_pop(frame);
    *dt_frame_at(frame, 1) = value;
    return DT_OK;
}

/* Comes back to itself for as long as the iterator yields. */
DtStatus
dt_op_yield_from(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    bool returned;
    DtVar *value, *sent = *dt_frame_at(frame, 1), *iterator = *dt_frame_at(frame, 2);
    DT_TRY(dt_var_send(trace, iterator, sent, &value, &returned));
    (void)dt_frame_pop(frame);
    if (returned) {
        *dt_frame_at(frame, 1) = value;
        return DT_OK;
    }
    frame->next = frame->pc;
    return suspend(trace, frame, value);
}

/* ---- Handlers that the compiler adds (3.12 on) ----------------------------------------------- */

DtStatus
dt_op_stopiteration_error(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *exception = *dt_frame_at(frame, 1);
    return dt_generator_wrap_stop(trace, frame->bytecode->code, exception, dt_frame_at(frame, 1));
}

/* An exception was thrown in while it delegated: a StopIteration is the delegate's answer. */
DtStatus
dt_op_cleanup_throw(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *value, *exception = *dt_frame_at(frame, 1);
    PyTypeObject *type = dt_var_python_type(trace, exception);
    if (type == NULL || !PyType_IsSubtype(type, (PyTypeObject *)PyExc_StopIteration)) {
        return dt_raise_again(trace, exception);
    }
    DT_TRY(dt_iter_stop_value(trace, exception, &value));
    frame->sp -= 3;
    dt_frame_push(frame, dt_none(trace));
    dt_frame_push(frame, value);
    return DT_OK;
}
