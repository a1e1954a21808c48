/* Rows of module `builtins` that compile source text: exec, eval, compile.
 *
 * Text that is known is compiled while tracing, and what comes out is followed.  What would warn,
 * or raise a SyntaxError, is a break.
 *
 * Not in here: where the names of such code are (symbolic/frame_exec.c).
 */
#include <string.h>

#include "compat/compile_text.h"
#include "variables/builtins/builtin_args.h"

static DtStatus
compile_text(DtTrace *trace, PyObject *text, PyObject *filename, bool expression, PyObject **out)
{
    *out = dt_compile_text(text, filename, expression, dt_frame_asking_code(trace));
    if (*out == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "source text that does not compile, or not without a warning");
    }
    *out = dt_trace_keep_take(trace, *out);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* The code that exec() or eval() is given: text or a code object. */
static DtStatus
code_of(DtTrace *trace, DtVar *source, bool expression, PyObject **out)
{
    DT_TRY(dt_var_realize(trace, source, &source));
    PyObject *value = dt_var_as_constant(trace, source);
    PyObject *filename = dt_trace_keep_take(trace, PyUnicode_InternFromString("<string>"));
    if (filename == NULL) {
        return DT_ERROR;
    }
    if (value != NULL && PyUnicode_CheckExact(value)) {
        return compile_text(trace, value, filename, expression, out);
    }
    if (value == NULL || !PyCode_Check(value) || dt_made_find(trace, value) != NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "exec() or eval() of a %s",
                        dt_kinds_type_name(trace, source));
    }
    *out = value;
    return DT_OK;
}

static DtStatus
run(DtTrace *trace, const DtArgs *args, bool expression, DtVar **out)
{
    DtVar *globals = args->npos > 1 ? args->pos[1] : NULL;
    DtVar *locals = args->npos > 2 ? args->pos[2] : NULL;
    PyObject *code;
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (PyUnicode_CompareWithASCIIString(args->kwnames[i], "globals") == 0 && globals == NULL) {
            globals = args->kw[i];
        }
        else if (PyUnicode_CompareWithASCIIString(args->kwnames[i], "locals") == 0
                 && locals == NULL) {
            locals = args->kw[i];
        }
        else {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "exec() or eval() with such keywords");
        }
    }
    if (args->nkw > 0 && !dt_compile_takes_names()) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "exec() or eval() with keywords");
    }
    DT_TRY(code_of(trace, args->pos[0], expression, &code));
    DT_TRY(dt_var_given(trace, &globals));
    DT_TRY(dt_var_given(trace, &locals));
    return dt_frame_exec(trace, code, globals, locals, out);
}

static DtStatus
call_exec(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DT_TRY(run(trace, args, false, out));
    *out = dt_none(trace);
    return DT_OK;
}

static DtStatus
call_eval(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return run(trace, args, true, out);
}

/* compile(source, filename, "eval" or "exec"), without more. */
static DtStatus
call_compile(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *parts[3], *code;
    for (uint32_t i = 0; i < 3; i++) {
        parts[i] = dt_var_as_constant(trace, args->pos[i]);
        if (parts[i] == NULL || !PyUnicode_CheckExact(parts[i])) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "compile() of such arguments");
        }
    }
    bool expression = PyUnicode_CompareWithASCIIString(parts[2], "eval") == 0;
    if (!expression && PyUnicode_CompareWithASCIIString(parts[2], "exec") != 0) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "compile() in such a mode");
    }
    DT_TRY(compile_text(trace, parts[0], parts[1], expression, &code));
    return dt_build_known(trace, code, out);
}

static const DtMethodRow rows[] = {
    {"compile", call_compile, 3, 3, false},
    {"eval", call_eval, 1, 3, true},
    {"exec", call_exec, 1, 3, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_exec_table = {"builtins", rows};
