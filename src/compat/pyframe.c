/* See pyframe.h. */
#include "compat/pyframe.h"

#include "compat/code.h"

#if DT_PY310
#include <opcode.h>
#endif

DtEvalFrame
dt_pyframe_evaluator(void)
{
    return (DtEvalFrame)_PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
}

void
dt_pyframe_set_evaluator(DtEvalFrame evaluator)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), (_PyFrameEvalFunction)evaluator);
}

DtPyFrame *
dt_pyframe_current(PyThreadState *tstate)
{
#if DT_PY310
    return tstate->frame;
#elif DT_PY313
    return tstate->current_frame;
#else
    return tstate->cframe->current_frame;
#endif
}

PyObject **
dt_pyframe_memory(DtPyFrame *frame)
{
#if DT_PY310
    return frame->f_localsplus;
#else
    return frame->localsplus;
#endif
}

void
dt_pyframe_set_blocks(DtPyFrame *frame, int keep, const DtPyBlock *blocks, int count)
{
#if DT_PY310
    for (int i = 0; i < count; i++) {
        PyTryBlock *block = &frame->f_blockstack[keep + i];
        block->b_type = SETUP_FINALLY;
        block->b_handler = blocks[i].handler;
        block->b_level = blocks[i].level;
    }
    frame->f_iblock = keep + count;
#else
    (void)frame;
    (void)keep;
    (void)blocks;
    (void)count;
#endif
}

PyObject *
dt_pyframe_builtins(DtPyFrame *frame)
{
    return frame->f_builtins;
}

PyObject *
dt_pyframe_names(DtPyFrame *frame)
{
    return frame->f_locals;
}

PyObject *
dt_pyframe_called(DtPyFrame *frame)
{
#if DT_PY310
    (void)frame;
    return NULL;
#elif DT_PY311
    return (PyObject *)frame->f_func;
#else
    return frame->f_funcobj;
#endif
}

#if DT_PY310

static bool
has_not_begun(DtPyFrame *frame)
{
    return frame->f_lasti == -1 && frame->f_gen == NULL;
}

PyCodeObject *
dt_pyframe_code(DtPyFrame *frame)
{
    return frame->f_code;
}

PyObject *
dt_pyframe_globals(DtPyFrame *frame)
{
    return frame->f_globals;
}

PyObject *
dt_pyframe_function(DtPyFrame *frame)
{
    PyCodeObject *code = frame->f_code;
    PyObject *function =
        PyFunction_NewWithQualName((PyObject *)code, frame->f_globals, code->co_name);
    if (function == NULL) {
        return NULL;
    }
    /* A new function takes the builtins that its globals name now; the frame has what they named
     * when its function was made. */
    Py_INCREF(frame->f_builtins);
    Py_XSETREF(((PyFunctionObject *)function)->func_builtins, frame->f_builtins);
    Py_ssize_t nfree = PyTuple_GET_SIZE(code->co_freevars);
    if (nfree == 0) {
        return function;
    }
    PyObject *closure = PyTuple_New(nfree);
    if (closure == NULL) {
        Py_DECREF(function);
        return NULL;
    }
    PyObject **cells = frame->f_localsplus + code->co_nlocals + PyTuple_GET_SIZE(code->co_cellvars);
    for (Py_ssize_t i = 0; i < nfree; i++) {
        Py_INCREF(cells[i]);
        PyTuple_SET_ITEM(closure, i, cells[i]);
    }
    ((PyFunctionObject *)function)->func_closure = closure;
    return function;
}

void
dt_pyframe_read_arguments(DtPyFrame *frame, PyObject **slots)
{
    PyCodeObject *code = frame->f_code;
    int nargs = dt_code_argument_slots(code);
    for (int i = 0; i < nargs; i++) {
        slots[i] = frame->f_localsplus[i];
    }
    for (Py_ssize_t i = 0; code->co_cell2arg != NULL && i < PyTuple_GET_SIZE(code->co_cellvars);
         i++) {
        Py_ssize_t arg = code->co_cell2arg[i];
        if (arg != CO_CELL_NOT_AN_ARG) {
            slots[arg] = PyCell_GET(frame->f_localsplus[code->co_nlocals + i]);
        }
    }
}

int
dt_pyframe_finish(PyThreadState *Py_UNUSED(tstate), DtPyFrame *Py_UNUSED(frame))
{
    return 0; /* the caller clears it */
}

#else

static bool
has_not_begun(DtPyFrame *frame)
{
    PyCodeObject *code = dt_pyframe_code(frame);
#if DT_PY313
    bool begun = frame->instr_ptr != _PyCode_CODE(code);
#else
    bool begun = frame->prev_instr != _PyCode_CODE(code) - 1;
#endif
    return !begun && frame->owner == FRAME_OWNED_BY_THREAD;
}

PyCodeObject *
dt_pyframe_code(DtPyFrame *frame)
{
#if DT_PY313
    return (PyCodeObject *)frame->f_executable;
#else
    return frame->f_code;
#endif
}

PyObject *
dt_pyframe_globals(DtPyFrame *frame)
{
    return frame->f_globals;
}

PyObject *
dt_pyframe_function(DtPyFrame *frame)
{
#if DT_PY311
    PyObject *function = (PyObject *)frame->f_func;
#else
    PyObject *function = frame->f_funcobj;
#endif
    Py_INCREF(function);
    return function;
}

void
dt_pyframe_read_arguments(DtPyFrame *frame, PyObject **slots)
{
    int nargs = dt_code_argument_slots(dt_pyframe_code(frame));
    for (int i = 0; i < nargs; i++) {
        slots[i] = frame->localsplus[i];
    }
}

#if DT_PY311

int
dt_pyframe_finish(PyThreadState *Py_UNUSED(tstate), DtPyFrame *Py_UNUSED(frame))
{
    return 0; /* _PyEval_Vector clears it */
}

#elif DT_PY313

int
dt_pyframe_finish(PyThreadState *tstate, DtPyFrame *frame)
{
    /* The frame was never entered, so its caller is still the current one. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    _PyEval_FrameClearAndPop(tstate, frame);
    PyErr_Restore(type, value, traceback);
    return 0;
}

#else

/* 3.12 exports nothing that clears a frame.  The interpreter itself does it at the end of a code
 * object that does nothing and has no locals: RESUME, RETURN_CONST.  It starts behind the RESUME,
 * where events are put into the code, for who traces the program has no part in this, and where
 * signals are handled. */
static PyCodeObject *empty_code;

/* Not when the first frame has to be finished: the stack may be used up then. */
int
dt_pyframe_init(void)
{
    empty_code = (PyCodeObject *)Py_CompileString("None", "<dyntrace>", Py_eval_input);
    return empty_code != NULL ? 0 : -1;
}

int
dt_pyframe_finish(PyThreadState *tstate, DtPyFrame *frame)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int nslots = frame->f_code->co_nlocalsplus;
    frame->stacktop = 0;
    for (int i = 0; i < nslots; i++) {
        PyObject *old = frame->localsplus[i];
        frame->localsplus[i] = NULL;
        Py_XDECREF(old);
    }
    PyCodeObject *code = frame->f_code;
    frame->f_code = (PyCodeObject *)Py_NewRef((PyObject *)empty_code);
    frame->prev_instr = _PyCode_CODE(empty_code); /* that was last */
    Py_DECREF(code);
    PyObject *none = _PyEval_EvalFrameDefault(tstate, frame, 0);
    Py_XDECREF(none);
    if (none != NULL) {
        PyErr_Restore(type, value, traceback);
        return 0;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

#endif
#endif

bool
dt_pyframe_is_fresh(DtPyFrame *frame, int throwflag)
{
    return !throwflag && has_not_begun(frame) && (dt_pyframe_code(frame)->co_flags & CO_NEWLOCALS)
           && frame->f_locals == NULL;
}

bool
dt_pyframe_is_fresh_module(DtPyFrame *frame, int throwflag)
{
    return !throwflag && has_not_begun(frame) && !(dt_pyframe_code(frame)->co_flags & CO_NEWLOCALS)
           && frame->f_locals != NULL && frame->f_locals == dt_pyframe_globals(frame);
}

void
dt_pyframe_read(DtPyFrame *frame, DtPyFrameParts *parts)
{
    *parts = (DtPyFrameParts){
        .code = dt_pyframe_code(frame),
        .memory = dt_pyframe_memory(frame),
        .globals = dt_pyframe_globals(frame),
        .builtins = dt_pyframe_builtins(frame),
        .called = dt_pyframe_called(frame),
    };
}
