/* Loading: constants, slots, globals, attributes, methods.
 *
 * What the trace itself stored (globals, attributes) is asked of the journal
 * first; reading what existed before installs the guards.
 */
#include "compat/dict.h"
#include "compat/type.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"
#include "variables/classes/payloads.h"

/* A constant tuple is a tuple of constants that is loaded as the very object that it is. */
static DtStatus
build_const(DtTrace *trace, PyObject *value, DtVar **out)
{
    if (!PyTuple_CheckExact(value)) {
        return dt_var_const(trace, value, out);
    }
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, value, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(build_const(trace, PyTuple_GET_ITEM(value, i), &items[i]));
    }
    DT_TRY(dt_var_tuple(trace, items, (uint32_t)count, out));
    (*out)->source = source;
    return DT_OK;
}

DtStatus
dt_op_load_const(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar **known = &frame->consts[instr->arg];
    if (*known == NULL) {
        DT_TRY(build_const(trace, dt_decode_const(frame->bytecode, instr), known));
    }
    dt_frame_push(frame, *known);
    return DT_OK;
}

DtStatus
dt_op_load_fast(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *var = frame->locals[instr->arg];
    if (var == NULL) {
        return dt_frame_raise_unbound(trace, frame, instr->arg);
    }
    DT_TRY(dt_segment_needs_bound(trace, frame, instr->arg));
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
        return dt_frame_raise_unbound(trace, frame, instr->arg);
    }
    dt_frame_push(frame, contents);
    return DT_OK;
}

/* Without running user code; *value is NULL if the name is absent. */
static DtStatus
look_up(DtTrace *trace, PyObject *dict, PyObject *name, PyObject **value)
{
    *value = NULL;
    if (dt_dict_get(dict, name, value) < 0) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "globals with keys that are no plain names");
    }
    return DT_OK;
}

/* A polyfill's globals are constants, its builtins those that it was loaded with: the C code that
 * it stands for notices no change of either. */
static DtStatus
load_polyfill_global(DtTrace *trace, DtFrame *frame, PyObject *name)
{
    PyObject *value = NULL, *builtins = NULL;
    PyObject *key = dt_trace_keep_take(trace, PyUnicode_InternFromString("__builtins__"));
    if (key == NULL) {
        return DT_ERROR;
    }
    DT_TRY(look_up(trace, frame->globals, name, &value));
    if (value == NULL) {
        DT_TRY(look_up(trace, frame->globals, key, &builtins));
        if (builtins != NULL && PyDict_CheckExact(builtins)) {
            DT_TRY(look_up(trace, builtins, name, &value));
        }
    }
    if (value == NULL) {
        PyErr_Format(PyExc_SystemError, "a polyfill uses the unknown name %R", name);
        return DT_ERROR;
    }
    DtVar *var;
    DT_TRY(dt_var_build(trace, value, NULL, &var));
    dt_frame_push(frame, var);
    return DT_OK;
}

/* That no builtin has this name: builtins are the dict of a module. */
static DtStatus
guard_not_builtin(DtTrace *trace, PyObject *name)
{
    PyObject *module =
        PyImport_GetModule(dt_trace_keep_take(trace, PyUnicode_FromString("builtins")));
    module = dt_trace_keep_take(trace, module);
    if (module == NULL || !PyModule_Check(module) || PyModule_GetDict(module) != trace->builtins) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "the name '%s' in builtins of another kind",
                        dt_frame_text(name));
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, module, 0);
    return source != NULL ? dt_guard_attr_absent(trace, source, name) : DT_ERROR;
}

/* globals, then builtins; reading a dict whose keys are str runs no user code. */
DtStatus
dt_op_load_global(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    if (frame->polyfill) {
        return load_polyfill_global(trace, frame, name);
    }
    bool deleted = false;
    DtVar *var = dt_journal_get_global(trace, frame->globals, name, &deleted);
    if (var != NULL) {
        dt_frame_push(frame, var);
        return DT_OK;
    }
    PyObject *value = NULL;
    if (!deleted) {
        DT_TRY(look_up(trace, frame->globals, name, &value));
        if (value != NULL) {
            const DtSource *source;
            DT_TRY(dt_frame_global_source(trace, frame, name, &source));
            DT_TRY(dt_var_build_lazy(trace, value, source, &var));
            dt_frame_push(frame, var);
            return DT_OK;
        }
        DT_TRY(dt_guard_global_absent(trace, frame->function, name));
    }
    DT_TRY(look_up(trace, trace->builtins, name, &value));
    if (value == NULL) {
        DT_TRY(guard_not_builtin(trace, name));
        return dt_frame_raise_name_error(trace, "name '%.200U' is not defined", name);
    }
    const DtSource *source = dt_source_builtin(trace, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_build_lazy(trace, value, source, &var));
    dt_frame_push(frame, var);
    return DT_OK;
}

/* Pushes an attribute that a CALL follows as [NULL, attribute] or [attribute, NULL]: both mean a
 * plain call to CALL, and the bound method keeps its self. */
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

/* The descriptor and the object of an attribute that is a method of C, bound just now.  Methods of
 * builtin values stay what they are, unless another class than theirs defines them. */
static DtStatus
unbind(DtTrace *trace, PyObject *name, DtVar *object, DtVar *value, DtVar **function, DtVar **self)
{
    PyTypeObject *type = NULL;
    *function = NULL;
    if (value->type->kind == DT_KIND_BOUND_METHOD && value->source == NULL) {
        *self = ((DtMethodVar *)value)->self;
        if (dt_method_is_of_c(dt_var_peek(((DtMethodVar *)value)->function))) {
            *function = ((DtMethodVar *)value)->function;
        }
    }
    else if (value->type->kind == DT_KIND_METHOD_ROW && ((DtMethodRowVar *)value)->row != NULL) {
        *self = ((DtMethodRowVar *)value)->self;
        type = dt_var_python_type(trace, *self);
    }
    else if (value->type->kind == DT_KIND_BUILTIN
             && PyCFunction_CheckExact(dt_payload_object(value))
             && PyCFunction_GET_SELF(dt_payload_object(value)) != NULL) {
        *self = object;
        type = dt_var_python_type(trace, object);
        type = Py_IS_TYPE(PyCFunction_GET_SELF(dt_payload_object(value)), type) ? type : NULL;
    }
    PyObject *found = type != NULL ? dt_type_lookup(type, name) : NULL;
    if (found != NULL && Py_IS_TYPE(found, &PyMethodDescr_Type)
        && ((PyDescrObject *)found)->d_type != type) {
        DT_TRY(dt_build_known(trace, found, function));
    }
    if (*function != NULL && dt_var_peek(*self) != dt_var_peek(object)) {
        *function = NULL;
    }
    return DT_OK;
}

/* An attribute that a CALL follows.  A method of C goes as the interpreter pushes it, [descriptor,
 * self]: whoever is called with arguments that do not fit says so of the class that defines the
 * method, and of that of `self` where it was bound before. */
static DtStatus
push_method(DtTrace *trace, DtFrame *frame, const DtInstr *instr, DtVar *object, DtVar *value)
{
    DtVar *function, *self;
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    DT_TRY(unbind(trace, name, object, value, &function, &self));
    if (function == NULL) {
        push_callable(trace, frame, instr, value);
        return DT_OK;
    }
    dt_frame_push(frame, function);
    dt_frame_push(frame, self);
    return DT_OK;
}

static void
push_attribute(DtTrace *trace, DtFrame *frame, const DtInstr *instr, DtVar *value)
{
    if (instr->op == DT_OP_LOAD_METHOD || instr->op == DT_OP_LOAD_SUPER_METHOD) {
        push_callable(trace, frame, instr, value);
    }
    else {
        dt_frame_push(frame, value);
    }
}

/* LOAD_ATTR and LOAD_METHOD. */
DtStatus
dt_op_load_attr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *object = dt_frame_pop(frame);
    DT_TRY(dt_var_getattr(trace, object, dt_decode_name(frame->bytecode, instr), &value));
    if (instr->op == DT_OP_LOAD_METHOD) {
        return push_method(trace, frame, instr, object, value);
    }
    dt_frame_push(frame, value);
    return DT_OK;
}

/* ---- super ----------------------------------------------------------------------------------- */

bool
dt_frame_is_super(DtVar *callable)
{
    return dt_payload_object(callable) == (PyObject *)&PySuper_Type;
}

/* What super() without arguments means: the class in the cell `__class__`, and the first argument.
 */
static DtStatus
get_super_arguments(DtTrace *trace, DtFrame *frame, DtVar **cls, DtVar **self)
{
    const DtCodeLayout *layout = &frame->bytecode->layout;
    *cls = NULL;
    for (int slot = layout->free_start; slot < layout->nslots; slot++) {
        if (PyUnicode_CompareWithASCIIString(layout->slots[slot].name, "__class__") == 0) {
            *cls = ((DtCellVar *)frame->locals[slot])->contents;
        }
    }
    *self = dt_code_argcount(frame->bytecode->code) > 0 ? frame->locals[0] : NULL;
    if (*self != NULL && (*self)->type->kind == DT_KIND_CELL) {
        *self = ((DtCellVar *)*self)->contents;
    }
    if (*cls == NULL || *self == NULL) {
        return dt_kinds_raise(trace, "RuntimeError", "super() has no class or no argument");
    }
    return DT_OK;
}

DtStatus
dt_frame_load_super(DtTrace *trace, DtFrame *frame, DtVar *cls, DtVar *self, const DtInstr *load)
{
    if (cls == NULL) {
        DT_TRY(get_super_arguments(trace, frame, &cls, &self));
    }
    DtVar *value;
    PyObject *name = dt_decode_name(frame->bytecode, load);
    DT_TRY(dt_var_super_getattr(trace, cls, self, name, &value));
    push_attribute(trace, frame, load, value);
    return DT_OK;
}

/* [super, class, self]: LOAD_SUPER_ATTR and LOAD_SUPER_METHOD. */
DtStatus
dt_op_load_super_attr(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *self = dt_frame_pop(frame);
    DtVar *cls = dt_frame_pop(frame);
    DtVar *super;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &super));
    if (!dt_frame_is_super(super)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "the name super means something else here");
    }
    return dt_frame_load_super(trace, frame, cls, self, instr);
}
