/* See loop_translate.h: functions of Python that a loop calls are translated where they are called.
 *
 * Plain functions without cells, called with positional arguments: of helpers on numbers nearly
 * all. The program relies on the function having the code and the defaults that it has now.
 *
 * Not in here: methods, and what may see its own frame.
 */
#include "scalar_loops/loop_translate.h"

#include "compat/function.h"
#include "variables/rules.h"

#define MOST_DEEP 4

/* Of one code, at most once in a chain of calls. */
static bool
is_running(const DtLoopTranslation *t, PyObject *code)
{
    bool running = false;
    for (const DtLoopFrame *frame = t->frame; frame != NULL; frame = frame->parent) {
        running |= (PyObject *)frame->bytecode->code == code;
    }
    return running;
}

/* How many of the parameters have values by default; -1: no such call is known. */
static int
missing(const PyFunctionObject *function, int count)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    Py_ssize_t ndefaults =
        function->func_defaults != NULL ? PyTuple_GET_SIZE(function->func_defaults) : 0;
    int lacks = dt_code_argcount(code) - count;
    bool simple = dt_code_argument_slots(code) == dt_code_argcount(code)
                  && !dt_code_is_generator(code) && (dt_code_flags(code) & CO_OPTIMIZED) != 0;
    return simple && lacks >= 0 && lacks <= ndefaults ? lacks : -1;
}

static bool
may_follow(const DtLoopTranslation *t, PyObject *object)
{
    const PyFunctionObject *function = (PyFunctionObject *)object;
    DtMark mark;
    if (t->frame->depth >= MOST_DEEP || dt_function_is_diverted(object)
        || is_running(t, function->func_code) || function->func_builtins != t->builtins
        || !PyDict_CheckExact(function->func_globals)) {
        return false;
    }
    if (dt_rules_mark(object, &mark) != DT_OK) {
        PyErr_Clear(); /* MemoryError: it is called plainly */
        return false;
    }
    return mark == DT_MARK_NONE;
}

/* NULL: it can't be translated here. */
static DtLoopFrame *
new_frame(DtLoopTranslation *t, const PyFunctionObject *function, int32_t next)
{
    DtLoopFrame *frame = DT_ARENA_NEW(t->arena, DtLoopFrame);
    DtLiveness *liveness = DT_ARENA_NEW(t->arena, DtLiveness);
    DtBytecode *bytecode;
    DtCfg cfg;
    if (frame == NULL || liveness == NULL
        || dt_decode_code(t->arena, (PyCodeObject *)function->func_code, &bytecode) != DT_OK
        || dt_cfg_build(t->arena, bytecode, &cfg) != DT_OK
        || dt_liveness_build(t->arena, bytecode, &cfg, liveness) != DT_OK) {
        PyErr_Clear(); /* MemoryError, or code that is none of the compiler's: called plainly */
        return NULL;
    }
    *frame = (DtLoopFrame){
        .parent = t->frame,
        .bytecode = bytecode,
        .liveness = liveness,
        .globals = function->func_globals,
        .slots = t->frame->slots + t->frame->nslots,
        .nslots = bytecode->layout.nslots,
        .floor = t->depth,
        .next = next,
        .depth = t->frame->depth + 1,
    };
    const DtCodeLayout *layout = &bytecode->layout;
    bool fits = layout->ncells + layout->nfrees == 0 && frame->slots + layout->nslots <= t->nslots
                && t->depth + bytecode->max_depth + 3 <= t->positions;
    return fits ? frame : NULL;
}

/* The same call site, entered with other kinds, is the same frame. */
static DtLoopFrame *
find_frame(const DtLoopTranslation *t, const PyFunctionObject *function, int32_t next)
{
    for (uint32_t i = 0; i < t->frames.count; i++) {
        DtLoopFrame *frame = t->frames.items[i];
        if (frame->parent == t->frame && frame->next == next && frame->floor == t->depth
            && (PyObject *)frame->bytecode->code == function->func_code
            && frame->globals == function->func_globals) {
            return frame;
        }
    }
    return NULL;
}

static bool
rely_on(DtLoopTranslation *t, PyObject *object)
{
    PyFunctionObject *function = (PyFunctionObject *)object;
    DtLoopCallee row = {object, function->func_code, function->func_defaults};
    for (uint32_t i = 0; i < t->program->callees.count; i++) {
        if (t->program->callees.items[i].function == object) {
            return true;
        }
    }
    if (dt_vec_push(&t->program->arena, &t->program->callees, row) < 0) {
        t->no_memory = true;
        return false;
    }
    Py_INCREF(row.function);
    Py_INCREF(row.code);
    Py_XINCREF(row.defaults);
    return true;
}

bool
dt_loop_frames_enter(DtLoopTranslation *t, PyObject *function, const DtLoopValue *args, int count,
                     int32_t next)
{
    const PyFunctionObject *parts = (PyFunctionObject *)function;
    int lacks = missing(parts, count);
    if (lacks < 0 || !may_follow(t, function) || !rely_on(t, function)) {
        return false;
    }
    DtLoopFrame *frame = find_frame(t, parts, next);
    if (frame == NULL) {
        frame = new_frame(t, parts, next);
        if (frame == NULL || dt_vec_push(t->arena, &t->frames, frame) < 0) {
            return false;
        }
    }
    t->frame = frame;
    t->at = 0;
    for (int32_t i = 0; i < frame->nslots; i++) {
        t->slots[frame->slots + i] = dt_loop_nothing;
    }
    for (int i = 0; i < count; i++) {
        dt_loop_state_push(t, args[i]);
        dt_loop_translate_store(t, i);
    }
    for (int i = 0; i < lacks; i++) {
        Py_ssize_t last = PyTuple_GET_SIZE(parts->func_defaults) - lacks;
        dt_loop_state_push(
            t, dt_loop_objects_constant(t, PyTuple_GET_ITEM(parts->func_defaults, last + i)));
        dt_loop_translate_store(t, count + i);
    }
    return true;
}

void
dt_loop_frames_leave(DtLoopTranslation *t)
{
    DtLoopValue value = dt_loop_state_pop(t);
    const DtLoopFrame *frame = t->frame;
    if (frame->parent == NULL || t->ended || t->depth != frame->floor) {
        dt_loop_state_fail(t); /* the loop is left, or iterators are */
        return;
    }
    /* A parameter or variable that is given back lies in its slot, which is free from now on. */
    t->frame = frame->parent;
    t->at = frame->next;
    for (int32_t i = 0; i < frame->nslots; i++) {
        t->slots[frame->slots + i] = dt_loop_nothing;
    }
    dt_loop_state_push(t, value);
}
