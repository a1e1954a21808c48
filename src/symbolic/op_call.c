/* Calls in every form, and making functions.
 *
 *   [s0, s1, a, b, ...] ──► DtArgs over the stack itself ──► dt_var_call ──► [result]
 *
 * Arguments are never copied here: they lie on the value stack one after the
 * other, a self in slot s1 directly before them.  A callee that keeps them
 * copies them (bind.c does).
 */
#include "symbolic/frame.h"
#include "variables/kinds.h"
#include "variables/classes/payloads.h"

/* The names tuple of keyword arguments, out of a constant. */
static PyObject **
name_items(PyObject *names)
{
    return &PyTuple_GET_ITEM(names, 0);
}

/* super() and super(cls, self) before 3.12: an object of which the next instruction takes an
 * attribute. Both are followed at once; *done tells. */
static DtStatus
call_super(DtTrace *trace, DtFrame *frame, const DtArgs *args, int32_t base, bool *done)
{
    const DtInstr *next = &frame->bytecode->instrs[frame->next];
    *done = (next->op == DT_OP_LOAD_ATTR || next->op == DT_OP_LOAD_METHOD) && args->nkw == 0
            && (args->npos == 0 || args->npos == 2);
    if (!*done) {
        return DT_OK;
    }
    DtVar *cls = args->npos > 0 ? args->pos[0] : NULL;
    DtVar *self = args->npos > 0 ? args->pos[1] : NULL;
    frame->sp = base;
    frame->next++;
    return dt_frame_load_super(trace, frame, cls, self, next);
}

/* Calls `callable` with the values from `first` to the top, the last of them named by `names` (or
 * NULL), then cuts the stack to `base` and pushes the result. */
static DtStatus
call_stack(DtTrace *trace, DtFrame *frame, DtVar *callable, int32_t first, int32_t base,
           PyObject *names)
{
    uint32_t total = (uint32_t)(frame->sp - first);
    uint32_t nkw = names != NULL ? (uint32_t)PyTuple_GET_SIZE(names) : 0;
    if (nkw > total) {
        PyErr_SetString(PyExc_SystemError, "more keyword names than arguments");
        return DT_ERROR;
    }
    DtArgs args = {
        .pos = &frame->stack[first],
        .npos = total - nkw,
        .kw = &frame->stack[first + (int32_t)(total - nkw)],
        .kwnames = nkw > 0 ? name_items(names) : NULL,
        .nkw = nkw,
    };
    DT_TRY(dt_segment_check_call(trace, frame, callable));
    DT_TRY(dt_var_realize(trace, callable, &callable));
    if (dt_frame_is_super(callable)) {
        bool done;
        DT_TRY(call_super(trace, frame, &args, base, &done));
        if (done) {
            return DT_OK;
        }
    }
    DtVar *result;
    DT_TRY(dt_var_call(trace, callable, &args, &result));
    frame->sp = base;
    dt_frame_push(frame, result);
    return DT_OK;
}

/* The callable and the first argument of [s0, s1, args...]: see CALL in canonical.def. */
static DtVar *
find_callable(DtTrace *trace, DtFrame *frame, int32_t base, int32_t *first)
{
    DtVar *s0 = frame->stack[base];
    DtVar *s1 = frame->stack[base + 1];
    if (s0 == dt_null(trace)) {
        *first = base + 2;
        return s1;
    }
    *first = s1 == dt_null(trace) ? base + 2 : base + 1;
    return s0;
}

static DtStatus
pop_names(DtTrace *trace, DtFrame *frame, PyObject **names)
{
    *names = dt_var_as_constant(trace, dt_frame_pop(frame));
    if (*names == NULL || !PyTuple_CheckExact(*names)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_SystemError, "keyword names are no tuple");
        }
        return DT_ERROR;
    }
    return DT_OK;
}

DtStatus
dt_op_call(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    int32_t first, base = frame->sp - instr->arg - 2;
    PyObject *names = frame->kwnames;
    frame->kwnames = NULL;
    DtVar *callable = find_callable(trace, frame, base, &first);
    return call_stack(trace, frame, callable, first, base, names);
}

DtStatus
dt_op_call_kw(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *names;
    DT_TRY(pop_names(trace, frame, &names));
    int32_t first, base = frame->sp - instr->arg - 2;
    DtVar *callable = find_callable(trace, frame, base, &first);
    return call_stack(trace, frame, callable, first, base, names);
}

DtStatus
dt_op_call_function(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    int32_t base = frame->sp - instr->arg - 1;
    return call_stack(trace, frame, frame->stack[base], base + 1, base, NULL);
}

DtStatus
dt_op_call_function_kw(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *names;
    DT_TRY(pop_names(trace, frame, &names));
    int32_t base = frame->sp - instr->arg - 1;
    return call_stack(trace, frame, frame->stack[base], base + 1, base, names);
}

DtStatus
dt_op_kw_names(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)trace;
    frame->kwnames = dt_decode_const(frame->bytecode, instr);
    return DT_OK;
}

/* ---- f(*args, **kwargs) ---------------------------------------------------------------------- */

static DtStatus
unpack_mapping(DtTrace *trace, DtVar *mapping, DtArgs *args)
{
    DT_TRY(dt_var_realize(trace, mapping, &mapping));
    if (mapping->type->kind != DT_KIND_DICT) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "** of a %s", mapping->type->name);
    }
    DtVar **keys;
    DT_TRY(dt_var_unpack(trace, mapping, &keys, &args->nkw));
    args->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->nkw + 1);
    args->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, args->nkw + 1);
    if (args->kw == NULL || args->kwnames == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *name = dt_var_as_constant(trace, keys[i]);
        if (name == NULL || !PyUnicode_CheckExact(name)) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_CALL_MISMATCH,
                                               "TypeError: keywords must be strings");
        }
        /* Interned, as every name that handlers compare by pointer. */
        Py_INCREF(name);
        PyUnicode_InternInPlace(&name);
        args->kwnames[i] = dt_trace_keep_take(trace, name);
        if (args->kwnames[i] == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_subscript(trace, mapping, keys[i], &args->kw[i]));
    }
    return DT_OK;
}

static DtStatus
call_ex(DtTrace *trace, DtFrame *frame, const DtInstr *instr, bool with_null)
{
    DtArgs args = {0};
    if (instr->arg & 1) {
        DT_TRY(unpack_mapping(trace, dt_frame_pop(frame), &args));
    }
    DtVar **items, *iterable;
    uint32_t count;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &iterable));
    PyTypeObject *type = dt_var_python_type(trace, iterable);
    if (type != NULL && type->tp_iter == NULL
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "* of a %s in a call",
                        dt_kinds_type_name(trace, iterable)); /* the error names the callable */
    }
    DT_TRY(dt_collect_list(trace, iterable, &items, &count));
    int32_t first = frame->sp, base = frame->sp - (with_null ? 2 : 1);
    DtVar *callable = frame->stack[base];
    if (with_null) {
        callable = find_callable(trace, frame, base, &first);
    }
    /* A self between callable and iterable goes first. */
    uint32_t extra = (uint32_t)(frame->sp - first);
    args.npos = count + extra;
    args.pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args.npos + 1);
    if (args.pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args.npos; i++) {
        args.pos[i] = i < extra ? frame->stack[first + (int32_t)i] : items[i - extra];
    }
    DtVar *result;
    DT_TRY(dt_var_call(trace, callable, &args, &result));
    frame->sp = base;
    dt_frame_push(frame, result);
    return DT_OK;
}

DtStatus
dt_op_call_ex(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return call_ex(trace, frame, instr, false);
}

DtStatus
dt_op_call_ex_null(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return call_ex(trace, frame, instr, true);
}

/* ---- Making functions ------------------------------------------------------------------------ */

enum { WITH_DEFAULTS = 1, WITH_KWDEFAULTS = 2, WITH_ANNOTATIONS = 4, WITH_CLOSURE = 8 };

static DtStatus
set_closure(DtTrace *trace, DtFunctionVar *function, DtVar *tuple)
{
    DtVar **items;
    DT_TRY(dt_var_unpack(trace, tuple, &items, &function->nclosure));
    function->closure = DT_ARENA_ARRAY(&trace->arena, DtCellVar *, function->nclosure + 1);
    if (function->closure == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < function->nclosure; i++) {
        DT_TRY(dt_var_realize(trace, items[i], &items[i]));
        if (items[i]->type->kind != DT_KIND_CELL) {
            PyErr_SetString(PyExc_SystemError, "a closure holds something that is no cell");
            return DT_ERROR;
        }
        function->closure[i] = (DtCellVar *)items[i];
    }
    return DT_OK;
}

static DtStatus
set_attribute(DtTrace *trace, DtFunctionVar *function, int which, DtVar *value)
{
    if (which & WITH_DEFAULTS) {
        function->defaults = value;
    }
    if (which & WITH_KWDEFAULTS) {
        function->kwdefaults = value;
    }
    if (which & WITH_ANNOTATIONS) {
        function->annotations = value;
    }
    return which & WITH_CLOSURE ? set_closure(trace, function, value) : DT_OK;
}

/* A new function takes its __module__ from its globals' __name__, as they are now. */
static DtStatus
read_module(DtTrace *trace, DtFrame *frame, DtFunctionVar *function)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__name__"));
    bool deleted;
    if (name == NULL) {
        return DT_ERROR;
    }
    if (dt_journal_get_global(trace, frame->globals, name, &deleted) != NULL || deleted) {
        return DT_OK; /* known to nobody but plain execution */
    }
    return dt_frame_global_source(trace, frame, name, &function->module);
}

DtStatus
dt_op_make_function(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *name = NULL;
    if (instr->flags & DT_INSTR_QUALNAME) {
        name = dt_var_as_constant(trace, dt_frame_pop(frame));
    }
    PyObject *code = dt_var_as_constant(trace, dt_frame_pop(frame));
    if (code == NULL || !PyCode_Check(code)) {
        PyErr_SetString(PyExc_SystemError, "MAKE_FUNCTION without a code object");
        return DT_ERROR;
    }
    if (name == NULL) {
        name = dt_code_qualname((PyCodeObject *)code);
    }
    DtFunctionVar *function;
    DT_TRY(dt_var_function(trace, (PyCodeObject *)code, frame->globals, name, &function));
    DT_TRY(read_module(trace, frame, function));
    for (int which = WITH_CLOSURE; which > 0; which >>= 1) {
        if (instr->arg & which) {
            DT_TRY(set_attribute(trace, function, which, dt_frame_pop(frame)));
        }
    }
    dt_frame_push(frame, (DtVar *)function);
    return DT_OK;
}

DtStatus
dt_op_set_function_attribute(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *function = dt_frame_pop(frame);
    DT_TRY(dt_var_realize(trace, function, &function));
    if (function->type->kind == DT_KIND_FUNCTION && ((DtFunctionVar *)function)->function != NULL) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a function that is half made");
    }
    if (function->type->kind != DT_KIND_FUNCTION) {
        PyErr_SetString(PyExc_SystemError,
                        "SET_FUNCTION_ATTRIBUTE of something that is no function");
        return DT_ERROR;
    }
    DT_TRY(set_attribute(trace, (DtFunctionVar *)function, instr->arg, dt_frame_pop(frame)));
    dt_frame_push(frame, function);
    return DT_OK;
}
