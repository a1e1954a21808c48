/* Following calls of Python functions.
 *
 *   caller's frame ──► bind ──► callee's frame ──► its result
 *
 * The callee is interpreted by a recursive call of the loop.  Depth is limited
 * by options.inline_depth, by Python's own recursion check, and by the room
 * that is left on the C stack.
 */
#include "symbolic/inline.h"

#include "compat/recursion.h"
#include "variables/kinds.h"
#include "variables/rules.h"
#include "variables/substitutes.h"

DtStatus
dt_inline_enter(DtTrace *trace, PyObject *name)
{
    if (trace->frame->depth + 1 > trace->options.inline_depth || !dt_recursion_has_room()) {
        return dt_break(trace, DT_BREAK_INLINE_DEPTH, "%s is called %u calls deep",
                        dt_frame_text(name), trace->frame->depth + 1);
    }
    if (Py_EnterRecursiveCall(" while following a call")) {
        if (!PyErr_ExceptionMatches(PyExc_RecursionError)) {
            return DT_ERROR;
        }
        PyErr_Clear(); /* RecursionError of our own recursion: the frame runs plainly */
        return dt_break(trace, DT_BREAK_INLINE_DEPTH, "%s is called too deep for the C stack",
                        dt_frame_text(name));
    }
    trace->depth++;
    return DT_OK;
}

void
dt_inline_leave(DtTrace *trace)
{
    trace->depth--;
    Py_LeaveRecursiveCall();
}

static DtStatus
check_callee(DtTrace *trace, const DtFunctionVar *function)
{
    const char *name = dt_frame_text(function->name);
    int flags = dt_code_flags(function->code);
    if (!(flags & CO_OPTIMIZED) || !(flags & CO_NEWLOCALS)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s is not an ordinary function", name);
    }
    if (!PyDict_CheckExact(function->globals)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "the globals of %s are no plain dict",
                        name);
    }
    if (function->function != NULL
        && ((PyFunctionObject *)function->function)->func_builtins != trace->builtins
        && !dt_substitute_is_namespace(function->globals)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s has builtins of its own", name);
    }
    if (function->globals != trace->frame->globals && function->globals != trace->globals
        && dt_rules_is_skipped(function->globals)) {
        return dt_break(trace, DT_BREAK_SKIPPED_FUNCTION,
                        "%s() is in a module that config.skip_modules lists", name);
    }
    if (trace->options.leaves_alone != NULL
        && trace->options.leaves_alone(function->code, function->globals,
                                       trace->frame->bytecode->code)) {
        return dt_break(
            trace, DT_BREAK_SKIPPED_FUNCTION,
            "%s() is of an installed package that has nothing to do with arrays, or of a "
            "module that --skip names",
            name);
    }
    return DT_OK;
}

/* How the globals of the callee are read: the root's by themselves, others through the first
 * function found that has them. */
static DtStatus
globals_source(DtTrace *trace, const DtFunctionVar *function, const DtSource **out)
{
    DtFrame *root = trace->frame->root;
    *out = NULL;
    if (function->globals == trace->globals) {
        return DT_OK;
    }
    *out = dt_map_get(&root->globals_sources, function->globals);
    if (*out != NULL) {
        return DT_OK;
    }
    if (function->base.source == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "the globals of %s can't be read again",
                        dt_frame_text(function->name));
    }
    DtVar *dict = dt_map_get(&trace->by_object, function->globals), *names;
    if (dict != NULL && dt_dict_is(dt_var_peek(dict))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the globals of %s, which came in as a dict",
                        dt_frame_text(function->name));
    }
    *out = function->base.source;
    DT_TRY(dt_namespace_new(trace, function->globals, NULL, *out, &names));
    if (dt_map_set(&trace->arena, &root->globals_sources, function->globals, (void *)*out) != 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

DtStatus
dt_inline_record(DtTrace *trace, PyCodeObject *code)
{
    trace->inlined++;
    for (uint32_t i = trace->inlined_codes.count; i > 0; i--) {
        if (trace->inlined_codes.items[i - 1] == (PyObject *)code) {
            return DT_OK;
        }
    }
    return dt_vec_push(&trace->arena, &trace->inlined_codes, (PyObject *)code) == 0
               ? DT_OK
               : dt_no_memory();
}

static DtStatus
run_callee(DtTrace *trace, DtFunctionVar *function, const DtArgs *args, DtVar **out)
{
    const DtSource *source;
    DtFrame *frame;
    DT_TRY(globals_source(trace, function, &source));
    DT_TRY(dt_frame_build(trace, function->code, function->globals, source, trace->frame, &frame));
    DT_TRY(dt_frame_bind(trace, frame, function, args));
    DT_TRY(dt_frame_fill_free_slots(frame, function->closure, function->nclosure));
    if (!frame->polyfill) {
        DT_TRY(dt_inline_record(trace, function->code));
    }
    if (dt_code_is_generator(function->code)) {
        return dt_generator_build(trace, function, args, frame, out);
    }
    return dt_frame_run(trace, frame, out);
}

DtStatus
dt_inline_call(DtTrace *trace, DtFunctionVar *function, const DtArgs *args, DtVar **out)
{
    DtFrame *caller = trace->frame;
    DT_TRY(check_callee(trace, function));
    DT_TRY(dt_inline_enter(trace, function->name));
    DtStatus status = run_callee(trace, function, args, out);
    trace->frame = caller;
    dt_inline_leave(trace);
    return status;
}

static DtStatus
run_class_body(DtTrace *trace, DtFunctionVar *function, DtVar *names, DtVar **out)
{
    const DtSource *source;
    DtFrame *frame;
    DT_TRY(globals_source(trace, function, &source));
    DT_TRY(dt_frame_build(trace, function->code, function->globals, source, trace->frame, &frame));
    DT_TRY(dt_frame_fill_free_slots(frame, function->closure, function->nclosure));
    frame->names = names;
    if (!frame->polyfill) {
        DT_TRY(dt_inline_record(trace, function->code));
    }
    return dt_frame_run(trace, frame, out);
}

DtStatus
dt_inline_class_body(DtTrace *trace, DtFunctionVar *function, DtVar *names, DtVar **out)
{
    DtFrame *caller = trace->frame;
    if (dt_code_argument_slots(function->code) > 0 || dt_code_is_generator(function->code)
        || (dt_code_flags(function->code) & CO_OPTIMIZED)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s is no class body",
                        dt_frame_text(function->name));
    }
    DT_TRY(dt_inline_enter(trace, function->name));
    DtStatus status = run_class_body(trace, function, names, out);
    trace->frame = caller;
    dt_inline_leave(trace);
    return status;
}
