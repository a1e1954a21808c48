/* Loading: constants, slots, globals, attributes, methods.
 *
 * What the trace itself stored (globals, attributes) is asked of the journal
 * first; reading what existed before installs the guards.
 */
#include "symbolic/frame.h"

DtStatus
dt_op_load_const(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *var;
    DT_TRY(dt_var_const(trace, dt_decode_const(frame->bytecode, instr), &var));
    dt_frame_push(frame, var);
    return DT_OK;
}

static DtStatus
break_unbound(DtTrace *trace, DtFrame *frame, int slot)
{
    bool is_free = (frame->bytecode->layout.slots[slot].kind & DT_SLOT_FREE) != 0;
    const char *name = dt_frame_slot_name(frame, slot);
    if (is_free) {
        return dt_break(trace, DT_BREAK_UNBOUND_LOCAL,
                        "NameError: the free variable '%s' has no value here", name);
    }
    return dt_break(trace, DT_BREAK_UNBOUND_LOCAL,
                    "UnboundLocalError: the local variable '%s' has no value here", name);
}

DtStatus
dt_op_load_fast(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *var = frame->locals[instr->arg];
    if (var == NULL) {
        return break_unbound(trace, frame, instr->arg);
    }
    dt_frame_push(frame, var);
    return DT_OK;
}

DtStatus
dt_op_load_fast_and_clear(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *var = frame->locals[instr->arg];
    frame->locals[instr->arg] = NULL;
    dt_frame_push(frame, var != NULL ? var : dt_null(trace));
    return DT_OK;
}

DtStatus
dt_op_load_deref(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *cell = frame->locals[instr->arg];
    if (cell == NULL || cell->type->kind != DT_KIND_CELL) {
        PyErr_Format(PyExc_SystemError, "slot %d holds no cell", instr->arg);
        return DT_ERROR;
    }
    DtVar *contents = ((DtCellVar *)cell)->contents;
    if (contents == NULL) {
        return break_unbound(trace, frame, instr->arg);
    }
    dt_frame_push(frame, contents);
    return DT_OK;
}

/* globals, then builtins; reading a dict whose keys are str runs no user code. */
DtStatus
dt_op_load_global(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    bool deleted = false;
    DtVar *var = dt_journal_get_global(trace, frame->globals, name, &deleted);
    if (var != NULL) {
        dt_frame_push(frame, var);
        return DT_OK;
    }
    if (!deleted) {
        PyObject *value = PyDict_GetItemWithError(frame->globals, name);
        if (value != NULL) {
            const DtSource *source;
            DT_TRY(dt_frame_global_source(trace, frame, name, &source));
            DT_TRY(dt_var_build_lazy(trace, value, source, &var));
            dt_frame_push(frame, var);
            return DT_OK;
        }
        if (PyErr_Occurred()) {
            return dt_break_from_exception(trace);
        }
        DT_TRY(dt_guard_global_absent(trace, frame->function, name));
    }
    PyObject *value = PyDict_GetItemWithError(trace->builtins, name);
    if (value == NULL) {
        if (PyErr_Occurred()) {
            return dt_break_from_exception(trace);
        }
        return dt_break(trace, DT_BREAK_GLOBAL_MISSING, "NameError: name '%s' is not defined",
                        dt_frame_text(name));
    }
    const DtSource *source = dt_source_builtin(trace, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_build_lazy(trace, value, source, &var));
    dt_frame_push(frame, var);
    return DT_OK;
}

DtStatus
dt_op_load_attr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *object = dt_frame_pop(frame);
    DT_TRY(dt_var_getattr(trace, object, dt_decode_name(frame->bytecode, instr), &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

/* Pushes an attribute that a CALL follows as [NULL, attribute] or [attribute, NULL]: both mean a plain
 * call to CALL, and the bound method keeps its self. */
static void
push_callable(DtTrace *trace, DtFrame *frame, const DtInstr *instr, DtVar *callable)
{
    if (instr->flags & DT_INSTR_NULL_FIRST) {
        dt_frame_push(frame, dt_null(trace));
        dt_frame_push(frame, callable);
    }
    else {
        dt_frame_push(frame, callable);
        dt_frame_push(frame, dt_null(trace));
    }
}

DtStatus
dt_op_load_method(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *object = dt_frame_pop(frame);
    DT_TRY(dt_var_getattr(trace, object, dt_decode_name(frame->bytecode, instr), &value));
    push_callable(trace, frame, instr, value);
    return DT_OK;
}

/* [super, class, self] -> super(class, self).name, by calling what was loaded as `super`. */
static DtStatus
load_super(DtTrace *trace, DtFrame *frame, const DtInstr *instr, DtVar **out)
{
    DtVar *pos[2] = {*dt_frame_at(frame, 2), *dt_frame_at(frame, 1)};
    DtVar *super = *dt_frame_at(frame, 3);
    DtArgs args = {.pos = pos, .npos = 2};
    DtVar *proxy;
    DT_TRY(dt_var_call(trace, super, &args, &proxy));
    frame->sp -= 3;
    return dt_var_getattr(trace, proxy, dt_decode_name(frame->bytecode, instr), out);
}

DtStatus
dt_op_load_super_attr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DT_TRY(load_super(trace, frame, instr, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_load_super_method(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DT_TRY(load_super(trace, frame, instr, &value));
    push_callable(trace, frame, instr, value);
    return DT_OK;
}
