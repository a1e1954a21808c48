/* Names of class bodies and modules: they live in a mapping, not in slots.
 *
 *   class body   LOAD_NAME ─► the namespace ─► globals ─► builtins
 *   module       LOAD_NAME ─► globals ─► builtins, as LOAD_GLOBAL
 *
 * Invariant: the namespace of a class body is a new dict of the trace, and the
 * names of a module are its globals, an exact dict: nothing that is looked up
 * runs code.
 *
 * Not in here: what becomes of the namespace (variables/classes/class_statement.c).
 */
#include "compat/dict.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"

static DtStatus
namespace_of(DtTrace *trace, const DtFrame *frame, DtVar **out)
{
    *out = frame->names;
    return *out != NULL ? DT_OK
                        : dt_break(trace, DT_BREAK_UNSUPPORTED_OPCODE,
                                   "a name that lives in another mapping");
}

/* *out NULL: the namespace lacks it. */
static DtStatus
find_name(DtTrace *trace, DtVar *names, PyObject *name, DtVar **out)
{
    DtVar *text;
    DtDictEntry key, *found;
    DT_TRY(dt_var_const(trace, name, &text));
    DT_TRY(dt_dict_key(trace, text, &key));
    DT_TRY(dt_dict_find(trace, (DtDictVar *)names, &key, &found));
    *out = found != NULL ? found->value : NULL;
    return DT_OK;
}

static DtStatus
store_name(DtTrace *trace, DtVar *names, PyObject *name, DtVar *value)
{
    DtVar *text;
    DT_TRY(dt_var_const(trace, name, &text));
    return dt_var_ass_subscript(trace, names, text, value);
}

DtStatus
dt_op_load_name(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    if (frame->module) {
        return dt_op_load_global(trace, frame, instr);
    }
    DtVar *names, *value;
    DT_TRY(namespace_of(trace, frame, &names));
    DT_TRY(find_name(trace, names, dt_decode_name(frame->bytecode, instr), &value));
    if (value == NULL) {
        return dt_op_load_global(trace, frame, instr);
    }
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_store_name(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    if (frame->module) {
        return dt_op_store_global(trace, frame, instr);
    }
    DtVar *names;
    DT_TRY(namespace_of(trace, frame, &names));
    DtVar *value = dt_frame_pop(frame);
    return store_name(trace, names, dt_decode_name(frame->bytecode, instr), value);
}

DtStatus
dt_op_delete_name(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    if (frame->module) {
        return dt_op_delete_global(trace, frame, instr);
    }
    DtVar *names, *value;
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    DT_TRY(namespace_of(trace, frame, &names));
    DT_TRY(find_name(trace, names, name, &value));
    return value != NULL ? store_name(trace, names, name, NULL)
                         : dt_frame_raise_name_error(trace, "name '%.200U' is not defined", name);
}

DtStatus
dt_op_load_locals(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *names;
    DT_TRY(namespace_of(trace, frame, &names));
    dt_frame_push(frame, names);
    return DT_OK;
}

/* [mapping]: what LOAD_LOCALS has pushed. */
static DtStatus
find_in_mapping(DtTrace *trace, DtFrame *frame, PyObject *name, bool *found)
{
    DtVar *names = dt_frame_pop(frame), *value;
    if (names != frame->names || names == NULL) {
        return dt_break(trace, DT_BREAK_UNSUPPORTED_OPCODE, "a name of another mapping");
    }
    DT_TRY(find_name(trace, names, name, &value));
    *found = value != NULL;
    if (*found) {
        dt_frame_push(frame, value);
    }
    return DT_OK;
}

DtStatus
dt_op_load_from_dict_or_deref(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    bool found;
    DT_TRY(find_in_mapping(trace, frame, frame->bytecode->layout.slots[instr->arg].name, &found));
    return found ? DT_OK : dt_op_load_deref(trace, frame, instr);
}

DtStatus
dt_op_load_from_dict_or_globals(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    bool found;
    DT_TRY(find_in_mapping(trace, frame, dt_decode_name(frame->bytecode, instr), &found));
    return found ? DT_OK : dt_op_load_global(trace, frame, instr);
}

DtStatus
dt_op_setup_annotations(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    DtVar *names, *value, *made;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__annotations__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(namespace_of(trace, frame, &names));
    DT_TRY(find_name(trace, names, name, &value));
    if (value != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_dict(trace, NULL, 0, &made));
    return store_name(trace, names, name, made);
}

DtStatus
dt_op_load_build_class(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__build_class__"));
    PyObject *function = NULL;
    if (name == NULL) {
        return DT_ERROR;
    }
    const DtSource *source = dt_source_builtin(trace, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    if (dt_dict_get(trace->builtins, name, &function) != 1) {
        return dt_break(trace, DT_BREAK_UNSUPPORTED_OPCODE, "builtins lack __build_class__");
    }
    DtVar *var;
    DT_TRY(dt_var_build(trace, function, source, &var));
    dt_frame_push(frame, var);
    return DT_OK;
}
