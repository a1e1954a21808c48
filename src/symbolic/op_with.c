/* with statements: entering a manager, and asking its __exit__ about an exception.
 *
 * The methods are looked up on the type of the manager and followed like any
 * call, so managers written in Python cost nothing.
 */
#include "compat/messages.h"
#include "compat/type.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"

/* A special method of the manager's type, bound; NULL: the type has none. */
static DtStatus
find_method(DtTrace *trace, DtVar *manager, const char *name, DtVar **out)
{
    if (manager->type->kind == DT_KIND_INSTANCE) {
        return dt_instance_special(trace, manager, name, out);
    }
    PyTypeObject *type = dt_var_python_type(trace, manager);
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
    if (text == NULL) {
        return DT_ERROR;
    }
    *out = NULL;
    if (type == NULL || dt_type_lookup(type, text) != NULL) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "with on a %s",
                        dt_kinds_type_name(trace, manager));
    }
    return DT_OK;
}

static DtStatus
enter(DtTrace *trace, DtFrame *frame, const DtWithMessages *messages)
{
    DtVar *manager, *enter, *exit, *entered;
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 1), &manager));
    DT_TRY(find_method(trace, manager, messages->enter, &enter));
    if (enter == NULL) {
        return dt_raise(trace, *messages->type, messages->no_enter,
                        dt_kinds_type_name(trace, manager));
    }
    DT_TRY(find_method(trace, manager, messages->exit, &exit));
    if (exit == NULL) {
        return dt_raise(trace, *messages->type, messages->no_exit,
                        dt_kinds_type_name(trace, manager));
    }
    DtArgs none = {0};
    DT_TRY(dt_var_call(trace, enter, &none, &entered));
    (void)dt_frame_pop(frame);
    dt_frame_push(frame, exit);
    dt_frame_push(frame, entered);
    return DT_OK;
}

DtStatus
dt_op_before_with(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return enter(trace, frame, &dt_messages_with);
}

DtStatus
dt_op_before_async_with(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return enter(trace, frame, &dt_messages_async_with);
}

static DtStatus
call_exit(DtTrace *trace, DtFrame *frame, DtVar *exit, DtVar *exception)
{
    DtVar *pos[3] = {NULL, exception, NULL}, *result;
    DtArgs args = dt_args_of(pos, 3);
    DT_TRY(dt_class_of(trace, exception, &pos[0]));
    if (!dt_exception_is(exception)) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "an exception that existed before");
    }
    DT_TRY(dt_exception_traceback(trace, exception, &pos[2]));
    DT_TRY(dt_var_call(trace, exit, &args, &result));
    dt_frame_push(frame, result);
    return DT_OK;
}

DtStatus
dt_op_with_except_start(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return call_exit(trace, frame, *dt_frame_at(frame, 4), *dt_frame_at(frame, 1));
}

DtStatus
dt_op_with_except_start_triple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    return call_exit(trace, frame, *dt_frame_at(frame, 7), *dt_frame_at(frame, 2));
}
