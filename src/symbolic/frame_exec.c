/* exec() and eval(): following code whose names live in a mapping, as a class body's do.
 *
 *   globals of an active frame or of a module ─► read and written there
 *   a dict of the program ─► its items are the names; the code makes no functions, which would
 *                            have it for their globals, and calls no name global
 */
#include "compat/code.h"
#include "symbolic/inline.h"
#include "variables/kinds.h"

static bool
makes_functions(PyCodeObject *code)
{
    PyObject *consts = dt_code_consts(code);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(consts); i++) {
        if (PyCode_Check(PyTuple_GET_ITEM(consts, i))) {
            return true;
        }
    }
    return false;
}

static DtStatus
refuse(DtTrace *trace, const char *why)
{
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "exec() or eval() %s", why);
}

/* exec() puts the builtins where there are none. */
static DtStatus
put_builtins(DtTrace *trace, DtVar *dict)
{
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString("__builtins__"));
    DtVar *name, *known, *builtins;
    if (text == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_const(trace, text, &name));
    DT_TRY(dt_var_contains(trace, dict, name, &known));
    if (dt_var_peek_constant(known) == Py_True) {
        return refuse(trace, "with builtins of its own");
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, trace->builtins, 0);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_build_lazy(trace, trace->builtins, source, &builtins));
    return dt_var_ass_subscript(trace, dict, name, builtins);
}

typedef struct Scope {
    PyObject *globals;
    const DtSource *function;
    DtVar *names;  /* NULL: the globals */
    bool is_apart; /* the globals are a dict of the program */
} Scope;

/* Globals that are a dict of the program: its names are looked up as locals are, and behind them
 * there is nothing but the builtins. */
static DtStatus
scope_of_dict(DtTrace *trace, PyCodeObject *code, DtVar *dict, DtVar *locals, Scope *out)
{
    if (makes_functions(code) || (locals != NULL && locals != dict)) {
        return refuse(trace, "of functions in a dict of its own");
    }
    DT_TRY(put_builtins(trace, dict));
    out->globals = dt_trace_keep_take(trace, PyDict_New());
    out->function = dt_source_get(trace, DT_SOURCE_SYNTHETIC, NULL, out->globals, 0);
    out->names = dict;
    out->is_apart = true;
    return out->globals != NULL && out->function != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
find_scope(DtTrace *trace, PyCodeObject *code, DtVar *globals, DtVar *locals, Scope *out)
{
    if (globals == NULL) {
        DT_TRY(dt_frame_globals(trace, &globals));
        if (locals == NULL) {
            DT_TRY(dt_frame_locals(trace, &locals));
        }
    }
    if (locals != NULL) {
        DT_TRY(dt_var_realize(trace, locals, &locals));
        if (locals->type->kind != DT_KIND_DICT && locals != globals) {
            return refuse(trace, "with such a mapping of locals");
        }
    }
    DT_TRY(dt_var_realize(trace, globals, &globals));
    if (globals->type->kind == DT_KIND_DICT && ((DtDictVar *)globals)->cls == &PyDict_Type) {
        return scope_of_dict(trace, code, globals, locals, out);
    }
    const DtFrame *frame = globals->type->kind == DT_KIND_NAMESPACE
                               ? dt_frame_with_globals(trace, ((DtNamespaceVar *)globals)->dict)
                               : NULL;
    if (frame == NULL) {
        return refuse(trace, "with the globals of no active frame");
    }
    out->globals = frame->globals;
    out->function = frame->function;
    out->names = locals == globals ? NULL : locals;
    return DT_OK;
}

/* A global statement, or an assignment in a comprehension: these go past the names. */
static bool
declares_globals(const DtBytecode *bytecode)
{
    bool found = false;
    for (uint32_t i = 0; i < bytecode->count && !found; i++) {
        int op = bytecode->instrs[i].op;
        found = op == DT_OP_LOAD_GLOBAL || op == DT_OP_STORE_GLOBAL || op == DT_OP_DELETE_GLOBAL;
    }
    return found;
}

static DtStatus
run(DtTrace *trace, PyCodeObject *code, const Scope *scope, DtVar **out)
{
    DtFrame *frame;
    DT_TRY(dt_frame_build(trace, code, scope->globals, scope->function, trace->frame, &frame));
    if (scope->is_apart && declares_globals(frame->bytecode)) {
        return refuse(trace, "with global names, in a dict of its own");
    }
    frame->names = scope->names;
    frame->module = scope->names == NULL;
    DT_TRY(dt_inline_record(trace, code));
    return dt_frame_run(trace, frame, out);
}

DtStatus
dt_frame_exec(DtTrace *trace, PyObject *object, DtVar *globals, DtVar *locals, DtVar **out)
{
    PyCodeObject *code = (PyCodeObject *)object;
    DtFrame *caller = trace->frame;
    Scope scope = {0};
    if (dt_code_is_generator(code) || (dt_code_flags(code) & CO_OPTIMIZED)
        || dt_code_argument_slots(code) > 0) {
        return refuse(trace, "of the code of a function");
    }
    DT_TRY(find_scope(trace, code, globals, locals, &scope));
    DT_TRY(dt_inline_enter(trace, dt_code_name(code)));
    DtStatus status = run(trace, code, &scope, out);
    trace->frame = caller;
    dt_inline_leave(trace);
    return status;
}
