/* locals() and globals(): the names of the frame that asks.
 *
 *   class body ─► its namespace      module ─► its globals
 *   function   ─► a dict of the variables that have values, in the order of their slots
 *
 * Until snapshots became new dicts each time, a frame had one dict, which every call of locals()
 * brings up to date.  A callee that the trace follows vanishes as a whole, so its dict is kept
 * here; the root frame may go on plainly, so there the call has to be the only one.
 */
#include "bytecode/loops.h"
#include "compat/dict.h"
#include "compat/code.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"

/* The innermost frame that the program sees. */
static DtFrame *
asking_frame(const DtTrace *trace)
{
    DtFrame *frame = trace->frame;
    while (frame != NULL && frame->polyfill) {
        frame = frame->parent;
    }
    return frame;
}

PyCodeObject *
dt_frame_asking_code(const DtTrace *trace)
{
    const DtFrame *frame = asking_frame(trace);
    return frame != NULL ? frame->bytecode->code : NULL;
}

const DtFrame *
dt_frame_with_globals(const DtTrace *trace, PyObject *globals)
{
    const DtFrame *frame = trace->frame;
    while (frame != NULL && (frame->globals != globals || frame->polyfill)) {
        frame = frame->parent;
    }
    return frame;
}

DtStatus
dt_frame_globals(DtTrace *trace, DtVar **out)
{
    DtFrame *frame = asking_frame(trace);
    if (frame == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "globals() of no frame");
    }
    return dt_namespace_new(trace, frame->globals, NULL, NULL, out);
}

DtStatus
dt_frame_find_global(DtTrace *trace, PyObject *globals, const DtSource *function, PyObject *name,
                     DtVar **out)
{
    bool deleted = false;
    PyObject *value = NULL;
    *out = dt_journal_get_global(trace, globals, name, &deleted);
    if (*out != NULL || deleted) {
        return DT_OK;
    }
    const DtFrame *frame = dt_frame_with_globals(trace, globals);
    bool readable = frame != NULL || globals == trace->globals || function != NULL;
    if (!readable || !PyDict_CheckExact(globals) || dt_dict_get(globals, name, &value) < 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "globals that can't be read again");
    }
    function = frame != NULL ? frame->function : globals == trace->globals ? NULL : function;
    if (value == NULL) {
        return dt_guard_global_absent(trace, function, name);
    }
    const DtSource *source = function == NULL
                                 ? dt_source_global(trace, name)
                                 : dt_source_get(trace, DT_SOURCE_FUNC_GLOBAL, function, name, 0);
    return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
}

bool
dt_frame_holds(const DtTrace *trace, DtVar *var)
{
    var = dt_var_peek(var);
    for (const DtFrame *frame = trace->frame; frame != NULL; frame = frame->parent) {
        if (frame->polyfill) {
            continue;
        }
        for (int32_t i = 0; i < frame->bytecode->layout.nslots; i++) {
            DtVar *held = frame->locals[i];
            if (held != NULL && held->type->kind == DT_KIND_CELL) {
                held = ((DtCellVar *)held)->contents;
            }
            if (held != NULL && dt_var_peek(held) == var) {
                return true;
            }
        }
    }
    return false;
}

/* Is it on the value stack of an active frame? */
static bool
is_on_stack(const DtTrace *trace, DtVar *var)
{
    for (const DtFrame *frame = trace->frame; frame != NULL; frame = frame->parent) {
        for (int32_t i = 0; i < frame->sp; i++) {
            if (frame->stack[i] != NULL && dt_var_peek(frame->stack[i]) == var) {
                return true;
            }
        }
    }
    return false;
}

/* Numbers, texts and the like. */
static bool
keeps_nothing_alive(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return var == dt_null(trace) || dt_var_peek_constant(var) != NULL || type == &PyLong_Type
           || type == &PyFloat_Type || type == &PyUnicode_Type || type == &PyBool_Type;
}

bool
dt_frame_holds_found(DtTrace *trace)
{
    const DtFrame *root = trace->frame != NULL ? trace->frame->root : NULL;
    for (int32_t i = 0; root != NULL && i < root->ninitial; i++) {
        DtVar *found = root->initial[i] != NULL ? dt_var_peek(root->initial[i]) : NULL;
        bool there = found == NULL || keeps_nothing_alive(trace, found)
                     || (i < root->bytecode->layout.nslots && root->locals[i] == root->initial[i])
                     || dt_frame_holds(trace, found) || is_on_stack(trace, found);
        if (!there) {
            return false;
        }
    }
    return true;
}

/* ---- locals() -------------------------------------------------------------------------------- */

/* Whether the frame's dict of locals could be seen to change, or to be another one: the code asks
 * for it at two places, or again and again at one. */
static bool
asks_again(const DtFrame *frame)
{
    static const char *const askers[] = {"locals", "vars",      "dir",          "eval",
                                         "exec",   "_getframe", "currentframe", NULL};
    const DtBytecode *bytecode = frame->bytecode;
    int places = 0;
    for (uint32_t i = 0; i < bytecode->count; i++) {
        const DtInstr *instr = &bytecode->instrs[i];
        bool names = instr->op == DT_OP_LOAD_GLOBAL || instr->op == DT_OP_LOAD_NAME
                     || instr->op == DT_OP_LOAD_ATTR || instr->op == DT_OP_LOAD_METHOD;
        if (names && dt_kinds_is_among(dt_decode_name(bytecode, instr), askers)) {
            places++;
        }
    }
    return places != 1 || dt_loop_may_return_to(bytecode, (int32_t)frame->pc);
}

static DtStatus
check_root(DtTrace *trace, const DtFrame *frame)
{
    if (frame->depth > 0 || dt_code_locals_are_snapshots()) {
        return DT_OK;
    }
    return trace->live || asks_again(frame)
               ? dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                          "locals() of a frame that may ask for them again")
               : DT_OK;
}

static DtStatus
bring_up_to_date(DtTrace *trace, const DtFrame *frame, DtDictVar *dict)
{
    const DtCodeLayout *layout = &frame->bytecode->layout;
    for (int32_t i = 0; i < layout->nslots; i++) {
        DtVar *name, *value = frame->locals[i], *known;
        if (value != NULL && value->type->kind == DT_KIND_CELL) {
            value = ((DtCellVar *)value)->contents;
        }
        DT_TRY(dt_var_const(trace, layout->slots[i].name, &name));
        if (value != NULL) {
            DT_TRY(dt_dict_store(trace, dict, name, value));
            continue;
        }
        DT_TRY(dt_var_contains(trace, &dict->base, name, &known));
        if (dt_var_peek_constant(known) == Py_True) {
            DT_TRY(dt_var_ass_subscript(trace, &dict->base, name, NULL));
        }
    }
    return DT_OK;
}

DtStatus
dt_frame_locals(DtTrace *trace, DtVar **out)
{
    DtFrame *frame = asking_frame(trace);
    if (frame == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "locals() of no frame");
    }
    if (frame->module) {
        return dt_namespace_new(trace, frame->globals, NULL, NULL, out);
    }
    if (frame->names != NULL) {
        *out = frame->names;
        return DT_OK;
    }
    DtDictVar *dict = (DtDictVar *)frame->dict;
    DT_TRY(check_root(trace, frame));
    if (dict == NULL || dt_code_locals_are_snapshots()) {
        DT_TRY(dt_dict_new(trace, &dict));
        frame->dict = &dict->base;
    }
    *out = &dict->base;
    return bring_up_to_date(trace, frame, dict);
}
