/* Frames as the PEP 523 hook sees them, and what each version wants done with one.
 *
 * A hook gets a frame that has its arguments and has not begun.  To answer for
 * it without running it, the arguments are read, the result is computed, and
 * the frame is finished: on 3.10 and 3.11 its caller clears it, on 3.12 and 3.13
 * whoever evaluates it has to.
 *
 * Mirrors the frame layouts and _PyEval_Vector / _PyEval_FrameClearAndPop.
 */
#ifndef DT_COMPAT_PYFRAME_H
#define DT_COMPAT_PYFRAME_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

#if DT_PY310
typedef PyFrameObject DtPyFrame;
#else
typedef struct _PyInterpreterFrame DtPyFrame;
#endif

typedef PyObject *(*DtEvalFrame)(PyThreadState *, DtPyFrame *, int throwflag);

/* The interpreter's evaluator now; set it to _PyEval_EvalFrameDefault to remove a hook. */
DtEvalFrame dt_pyframe_evaluator(void);
void dt_pyframe_set_evaluator(DtEvalFrame evaluator);

/* A plain function's frame that has not begun: no generator, no exception thrown in. */
bool dt_pyframe_is_fresh(DtPyFrame *frame, int throwflag);

/* The frame of a module's code that has not begun. */
bool dt_pyframe_is_fresh_module(DtPyFrame *frame, int throwflag);

DT_BORROWED PyCodeObject *dt_pyframe_code(DtPyFrame *frame);
DT_BORROWED PyObject *dt_pyframe_globals(DtPyFrame *frame);

DT_BORROWED PyObject *dt_pyframe_builtins(DtPyFrame *frame);

/* Where the names of module code live: its globals, unless exec() was given another mapping.  NULL
 * for a function. */
DT_BORROWED PyObject *dt_pyframe_names(DtPyFrame *frame);

/* The function that was called, or NULL where the frame does not keep it (3.10). */
DT_BORROWED PyObject *dt_pyframe_called(DtPyFrame *frame);

/* The function that was called (3.10 does not keep it: one like it, over the same parts).  NULL
 * with an exception. */
DT_OWNED PyObject *dt_pyframe_function(DtPyFrame *frame);

/* Borrowed values of the argument slots, taken out of their cells where 3.10 has moved them. */
void dt_pyframe_read_arguments(DtPyFrame *frame, PyObject **slots);

/* What is read of a running frame at once: each as the function of its name says. */
typedef struct DtPyFrameParts {
    DT_BORROWED PyCodeObject *code;
    PyObject **memory;
    DT_BORROWED PyObject *globals;
    DT_BORROWED PyObject *builtins;
    DT_BORROWED PyObject *called;
} DtPyFrameParts;
void dt_pyframe_read(DtPyFrame *frame, DtPyFrameParts *parts);

/* The innermost Python frame of this thread; a C function that Python called has none itself. */
DT_BORROWED DtPyFrame *dt_pyframe_current(PyThreadState *tstate);

/* The array of a frame's slots, with the value stack behind them, where the interpreter itself
 * keeps them: what is written there is what the frame goes on with.  Which index is which slot:
 * `memory` and `stack_start` of DtCodeLayout.  References in it are the frame's. */
PyObject **dt_pyframe_memory(DtPyFrame *frame);

/* 3.10 keeps open blocks in the frame: all but the `keep` outermost ones are closed, and `count`
 * new ones that lead to handlers are opened.  Later versions have no blocks: nothing. */
typedef struct DtPyBlock {
    int32_t handler; /* instruction unit */
    int32_t level;   /* stack depth that the handler is given */
} DtPyBlock;
void dt_pyframe_set_blocks(DtPyFrame *frame, int keep, const DtPyBlock *blocks, int count);

/* What the next one needs. */
#if DT_PY312
int dt_pyframe_init(void);
#else
static inline int
dt_pyframe_init(void)
{
    return 0;
}
#endif

/* Takes a frame that will not run off the stack.  A pending exception stays.  Returns -1 with an
 * exception if that failed. */
int dt_pyframe_finish(PyThreadState *tstate, DtPyFrame *frame);

#endif
