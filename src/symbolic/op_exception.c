/* raise, and the instructions of handlers.
 *
 * Both families of instructions are here: those of 3.11 and later, with the
 * exception alone on the stack, and those of 3.10, with (traceback, value,
 * type).  Bodies of try statements need nothing: unwind.c finds the handlers.
 *
 * Not in here: with statements (op_with.c); what except* does with groups
 * (variables/exceptions/v_exception_group.c).
 */
#include "symbolic/frame.h"
#include "variables/kinds.h"

/* ---- raise ----------------------------------------------------------------------------------- */

static PyObject *
exception_class(DtVar *var)
{
    PyObject *object = var->type->kind == DT_KIND_CLASS ? dt_payload_object(var) : NULL;
    return object != NULL && PyExceptionClass_Check(object) ? object : NULL;
}

/* An exception of a class, or the exception itself; *out NULL: neither. */
static DtStatus
instantiate(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    *out = var;
    if (exception_class(var) != NULL) {
        DtArgs none = {0};
        DT_TRY(dt_var_call(trace, var, &none, out));
        DT_TRY(dt_var_realize(trace, *out, out));
        if (!dt_exception_is(*out)) {
            return dt_break(trace, DT_BREAK_RAISES, "an exception class that makes something else");
        }
        return DT_OK;
    }
    if (dt_exception_is(var)) {
        return DT_OK;
    }
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL || PyExceptionClass_Check((PyObject *)type)) {
        return dt_break(trace, DT_BREAK_RAISES, "an exception that existed before is raised");
    }
    *out = NULL;
    return DT_OK;
}

static DtStatus
set_cause(DtTrace *trace, DtVar *exception, DtVar *cause)
{
    DtVar *fixed;
    DT_TRY(dt_var_realize(trace, cause, &cause));
    if (dt_var_peek_constant(cause) == Py_None) {
        return dt_exception_set_cause(trace, exception, cause);
    }
    DT_TRY(instantiate(trace, cause, &fixed));
    if (fixed == NULL) {
        return dt_raise(trace, PyExc_TypeError, "exception causes must derive from BaseException");
    }
    return dt_exception_set_cause(trace, exception, fixed);
}

DtStatus
dt_op_raise_varargs(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    if (instr->arg == 0) {
        DtVar *handled;
        DT_TRY(dt_raised_handled_ask(trace, &handled));
        if (dt_var_peek_constant(handled) == Py_None) {
            return dt_raise(trace, PyExc_RuntimeError, "No active exception to reraise");
        }
        return dt_raise_again(trace, handled);
    }
    DtVar *exception;
    DT_TRY(instantiate(trace, *dt_frame_at(frame, instr->arg), &exception));
    if (exception == NULL) {
        return dt_raise(trace, PyExc_TypeError, "exceptions must derive from BaseException");
    }
    if (instr->arg == 2) {
        DT_TRY(set_cause(trace, exception, *dt_frame_at(frame, 1)));
    }
    return dt_raise_var(trace, exception);
}

DtStatus
dt_op_load_assertion_error(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *cls;
    DT_TRY(dt_build_known(trace, PyExc_AssertionError, &cls));
    dt_frame_push(frame, cls);
    return DT_OK;
}

/* ---- except ---------------------------------------------------------------------------------- */

static DtStatus
check_class(DtTrace *trace, DtVar *var, PyObject **cls)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    *cls = exception_class(var);
    if (*cls != NULL) {
        return DT_OK;
    }
    if (dt_var_python_type(trace, var) == NULL
        || (var->type->kind == DT_KIND_CLASS && dt_payload_object(var) == NULL)) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER,
                        "an except clause with an unknown value");
    }
    return dt_raise(trace, PyExc_TypeError,
                    "catching classes that do not inherit from BaseException is not allowed");
}

/* Would `except wanted` catch an exception of this class?  As CPython, a tuple is checked as a
 * whole before anything is compared, and the classes' __subclasscheck__ is not asked. */
static DtStatus
matches(DtTrace *trace, PyTypeObject *raised, DtVar *wanted, bool *out)
{
    DtVar **items = &wanted;
    uint32_t count = 1;
    DT_TRY(dt_var_realize(trace, wanted, &wanted));
    if (wanted->type->kind == DT_KIND_TUPLE) {
        items = ((DtSeqVar *)wanted)->items;
        count = ((DtSeqVar *)wanted)->count;
    }
    *out = false;
    for (uint32_t i = 0; i < count; i++) {
        PyObject *cls;
        DT_TRY(check_class(trace, items[i], &cls));
        *out = *out || PyType_IsSubtype(raised, (PyTypeObject *)cls);
    }
    return DT_OK;
}

DtStatus
dt_op_check_exc_match(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *wanted = dt_frame_pop(frame), *exception = *dt_frame_at(frame, 1), *answer;
    PyTypeObject *type = dt_var_python_type(trace, exception);
    bool match;
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "an exception of unknown type");
    }
    DT_TRY(matches(trace, type, wanted, &match));
    DT_TRY(dt_var_bool(trace, match, &answer));
    dt_frame_push(frame, answer);
    return DT_OK;
}

DtStatus
dt_op_jump_if_not_exc_match(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *wanted = dt_frame_pop(frame), *raised;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &raised));
    PyObject *cls = exception_class(raised);
    bool match;
    if (cls == NULL) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "an exception of unknown type");
    }
    DT_TRY(matches(trace, (PyTypeObject *)cls, wanted, &match));
    return match ? DT_OK : dt_frame_jump(trace, frame, instr->target);
}

/* ---- Entering and leaving handlers ----------------------------------------------------------- */

DtStatus
dt_op_push_exc_info(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *exception = dt_frame_pop(frame);
    dt_frame_push(frame, dt_frame_handled_or_none(trace));
    dt_frame_push(frame, exception);
    dt_frame_set_handled(trace, exception);
    return DT_OK;
}

DtStatus
dt_op_pop_except(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    if (dt_segment_holds(trace, frame, 1)) {
        return dt_segment_end_here(trace);
    }
    dt_frame_set_handled(trace, dt_frame_pop(frame));
    return DT_OK;
}

DtStatus
dt_op_pop_except_triple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    /* By its class, which is there (None) also when no exception had been handled. */
    if (dt_segment_holds(trace, frame, 1)) {
        return dt_segment_end_here(trace);
    }
    dt_frame_set_handled(trace, *dt_frame_at(frame, 2));
    frame->sp -= 3;
    return DT_OK;
}

DtStatus
dt_op_reraise(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    if (dt_segment_holds(trace, frame, 1)) {
        return dt_segment_end_here(trace);
    }
    return dt_raise_again(trace, dt_frame_pop(frame));
}

DtStatus
dt_op_reraise_triple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    if (dt_segment_holds(trace, frame, 2)) {
        return dt_segment_end_here(trace);
    }
    return dt_raise_again(trace, *dt_frame_at(frame, 2));
}

/* ---- except* --------------------------------------------------------------------------------- */

/* Depth of what was handled before, under the exception, the list, the rest and the type. */
enum { HANDLED_BEFORE = 5 };

/* except* takes no groups: what is in them is matched. */
static DtStatus
refuse_groups(DtTrace *trace, DtVar *wanted)
{
    DtVar **items = &wanted;
    uint32_t count = 1;
    if (wanted->type->kind == DT_KIND_TUPLE) {
        items = ((DtSeqVar *)wanted)->items;
        count = ((DtSeqVar *)wanted)->count;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (dt_group_is_class((PyTypeObject *)exception_class(dt_var_peek(items[i])))) {
            return dt_raise(trace, PyExc_TypeError,
                            "catching ExceptionGroup with except* is not allowed. Use except "
                            "instead.");
        }
    }
    return DT_OK;
}

DtStatus
dt_op_check_eg_match(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    if (dt_segment_holds(trace, frame, HANDLED_BEFORE)) {
        return dt_segment_end_here(trace); /* the frame itself makes the match the handled one */
    }
    DtVar *wanted = dt_frame_pop(frame), *exception, *match;
    PyTypeObject *type = dt_var_python_type(trace, *dt_frame_at(frame, 1));
    bool whole;
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, 1), &exception));
    DT_TRY(dt_var_realize(trace, wanted, &wanted));
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "an exception of unknown type");
    }
    DT_TRY(matches(trace, type, wanted, &whole));
    DT_TRY(refuse_groups(trace, wanted));
    if (dt_var_peek_constant(exception) == Py_None) {
        match = dt_none(trace);
    }
    else {
        DT_TRY(dt_group_match(trace, exception, whole, wanted, &match, dt_frame_at(frame, 1)));
        if (dt_exception_is(match)) {
            dt_frame_set_handled(trace, match);
        }
    }
    dt_frame_push(frame, match);
    return DT_OK;
}

DtStatus
dt_op_prep_reraise_star(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *raised, *original;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &raised));
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &original));
    DtVar *result;
    if (raised->type->kind != DT_KIND_LIST || !dt_exception_is_new(original)) {
        return dt_break(trace, DT_BREAK_EXCEPTION_HANDLER, "except* of an existing exception");
    }
    DT_TRY(dt_group_prepare_reraise(trace, original, (DtSeqVar *)raised, &result));
    dt_frame_push(frame, result);
    return DT_OK;
}
