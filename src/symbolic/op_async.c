/* await, async for, and what asynchronous generators yield.
 *
 *   await o ──GET_AWAITABLE──► iterator ──SEND loop──► its result          (op_generator.c)
 *   async for ──GET_AITER──► ──GET_ANEXT──► awaitable ──► value, or StopAsyncIteration:
 * END_ASYNC_FOR
 *
 * What is awaited is followed like any generator: coroutines, objects with __await__, and the steps
 * of asynchronous generators (variables/iterators/v_async.c).
 */
#include "compat/type.h"
#include "symbolic/inline.h"
#include "variables/iterators/iterators.h"

DtStatus
dt_op_async_gen_wrap(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    if (trace->live && frame->depth == 0) {
        return dt_segment_end_here(trace); /* the frame itself wraps what it yields */
    }
    frame->wrapped = true;
    return DT_OK;
}

/* ---- await ----------------------------------------------------------------------------------- */

/* Where an awaitable comes from, for the text when it is none: GET_AWAITABLE's argument. */
enum { FROM_EXPRESSION, FROM_AENTER, FROM_AEXIT, FROM_ANEXT };

static DtStatus
not_awaitable(DtTrace *trace, const DtFrame *frame, DtVar *var, int from)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL || type->tp_as_async != NULL) {
        return dt_break(trace, DT_BREAK_GENERATOR, "await of a %s", var->type->name);
    }
    switch (from) {
    case FROM_AENTER:
    case FROM_AEXIT:
        return dt_raise(trace, PyExc_TypeError,
                        "'async with' received an object from %s that does not implement "
                        "__await__: %.100s",
                        from == FROM_AENTER ? "__aenter__" : "__aexit__", type->tp_name);
    case FROM_ANEXT:
        return dt_kinds_raise(trace, "TypeError",
                              "'async for' received an invalid object from __anext__: %.100s",
                              type->tp_name);
    default:
        if (frame->bytecode->blocks != NULL) {
            /* 3.10 tells apart by the instructions before: a text that nobody vouches for. */
            return dt_kinds_raise(trace, "TypeError",
                                  "object %.100s can't be used in 'await' expression",
                                  type->tp_name);
        }
        return dt_raise(trace, PyExc_TypeError, "object %.100s can't be used in 'await' expression",
                        type->tp_name);
    }
}

/* Checks what __await__ of a class of the user's has given. */
static DtStatus
check_iterator(DtTrace *trace, DtVar *var)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (var->type->kind == DT_KIND_COROUTINE
        || (dt_generator_is(var)
            && (dt_code_flags(((DtGeneratorVar *)var)->function->code) & CO_ITERABLE_COROUTINE))) {
        return dt_raise(trace, PyExc_TypeError, "__await__() returned a coroutine");
    }
    if (type != NULL && var->type->kind != DT_KIND_ITERATOR && type->tp_iternext == NULL) {
        return dt_raise(trace, PyExc_TypeError,
                        "__await__() returned non-iterator of type '%.100s'", type->tp_name);
    }
    return DT_OK;
}

static DtStatus
get_awaitable(DtTrace *trace, const DtFrame *frame, DtVar *var, int from, DtVar **out)
{
    DtVar *method = NULL;
    DtArgs none = {0};
    DT_TRY(dt_var_realize(trace, var, &var));
    *out = var;
    if (var->type->kind == DT_KIND_COROUTINE) {
        return !dt_generator_is_awaited(((DtGeneratorVar *)var))
                   ? DT_OK
                   : dt_raise(trace, PyExc_RuntimeError, "coroutine is being awaited already");
    }
    if (var->type->kind == DT_KIND_GENERATOR
        && (dt_code_flags(((DtGeneratorVar *)var)->function->code) & CO_ITERABLE_COROUTINE)) {
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_ITERATOR && ((DtIterVar *)var)->row->send != NULL) {
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_special(trace, var, "__await__", &method));
    }
    if (method == NULL) {
        return not_awaitable(trace, frame, var, from);
    }
    DT_TRY(dt_var_call(trace, method, &none, out));
    return check_iterator(trace, *out);
}

DtStatus
dt_op_get_awaitable(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *awaitable;
    DT_TRY(get_awaitable(trace, frame, *dt_frame_at(frame, 1), instr->arg, &awaitable));
    *dt_frame_at(frame, 1) = awaitable;
    return DT_OK;
}

/* ---- async for ------------------------------------------------------------------------------- */

static bool
has_anext(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return type != NULL && type->tp_as_async != NULL && type->tp_as_async->am_anext != NULL;
}

DtStatus
dt_op_get_aiter(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *iterable, *method = NULL, *iterator;
    DtArgs none = {0};
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 1), &iterable));
    if (iterable->type->kind == DT_KIND_ASYNC_GENERATOR) {
        return DT_OK;
    }
    PyTypeObject *type = dt_var_python_type(trace, iterable);
    if (iterable->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_special(trace, iterable, "__aiter__", &method));
    }
    else if (type == NULL || type->tp_as_async != NULL) {
        return dt_break(trace, DT_BREAK_GENERATOR, "async for over a %s", iterable->type->name);
    }
    if (method == NULL) {
        return dt_raise(trace, PyExc_TypeError,
                        "'async for' requires an object with __aiter__ method, got %.100s",
                        type->tp_name);
    }
    DT_TRY(dt_var_call(trace, method, &none, &iterator));
    DT_TRY(dt_var_realize(trace, iterator, &iterator));
    if (!has_anext(trace, iterator)) {
        return dt_raise(trace, PyExc_TypeError,
                        "'async for' received an object from __aiter__ that does not implement "
                        "__anext__: %.100s",
                        dt_kinds_type_name(trace, iterator));
    }
    *dt_frame_at(frame, 1) = iterator;
    return DT_OK;
}

DtStatus
dt_op_get_anext(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *iterator = *dt_frame_at(frame, 1), *method = NULL, *next;
    DtArgs none = {0};
    if (iterator->type->kind == DT_KIND_ASYNC_GENERATOR) {
        DT_TRY(dt_async_step(trace, iterator, dt_none(trace), &next));
        dt_frame_push(frame, next);
        return DT_OK;
    }
    if (iterator->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_special(trace, iterator, "__anext__", &method));
    }
    if (method == NULL) {
        return dt_break(trace, DT_BREAK_GENERATOR, "async for over a %s", iterator->type->name);
    }
    DT_TRY(dt_var_call(trace, method, &none, &next));
    DT_TRY(get_awaitable(trace, frame, next, FROM_ANEXT, &next));
    dt_frame_push(frame, next);
    return DT_OK;
}

static bool
is_the_end(DtTrace *trace, DtVar *exception)
{
    PyTypeObject *type = dt_var_python_type(trace, exception);
    return type != NULL && PyType_IsSubtype(type, (PyTypeObject *)PyExc_StopAsyncIteration);
}

DtStatus
dt_op_end_async_for(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *exception = *dt_frame_at(frame, 1);
    if (!is_the_end(trace, exception)) {
        return dt_raise_again(trace, exception);
    }
    frame->sp -= 2;
    return DT_OK;
}

DtStatus
dt_op_end_async_for_triple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *exception = *dt_frame_at(frame, 2);
    if (!is_the_end(trace, exception)) {
        return dt_raise_again(trace, exception);
    }
    dt_frame_set_handled(trace, *dt_frame_at(frame, 5));
    frame->sp -= 7;
    return DT_OK;
}
