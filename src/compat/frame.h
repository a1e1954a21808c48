/* Frames as the PEP 523 hook sees them, and what each version wants done with one.
 *
 * A hook gets a frame that has its arguments and has not begun.  To answer for
 * it without running it, the arguments are read, the result is computed, and
 * the frame is finished: on 3.10 and 3.11 its caller clears it, on 3.12 and 3.13
 * whoever evaluates it has to.
 *
 * Mirrors the frame layouts and _PyEval_Vector / _PyEval_FrameClearAndPop.
 */
#ifndef DT_COMPAT_FRAME_H
#define DT_COMPAT_FRAME_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

#if DT_PY310
typedef PyFrameObject DtFrame;
#else
typedef struct _PyInterpreterFrame DtFrame;
#endif

typedef PyObject *(*DtEvalFrame)(PyThreadState *, DtFrame *, int throwflag);

/* The interpreter's evaluator now; set it to _PyEval_EvalFrameDefault to remove a hook. */
DtEvalFrame dt_frame_evaluator(void);
void dt_frame_set_evaluator(DtEvalFrame evaluator);

/* A plain function's frame that has not begun: no generator, no exception thrown in. */
bool dt_frame_is_fresh(DtFrame *frame, int throwflag);

DT_BORROWED PyCodeObject *dt_frame_code(DtFrame *frame);
DT_BORROWED PyObject *dt_frame_globals(DtFrame *frame);

/* The function that was called (3.10 does not keep it: one like it, over the same parts).  NULL with an
 * exception. */
DT_OWNED PyObject *dt_frame_function(DtFrame *frame);

/* Borrowed values of the argument slots, taken out of their cells where 3.10 has moved them. */
void dt_frame_read_arguments(DtFrame *frame, PyObject **slots);

/* Takes a frame that will not run off the stack.  A pending exception stays.  Returns -1 with an
 * exception if that failed (memory at the first use). */
int dt_frame_finish(PyThreadState *tstate, DtFrame *frame);

#endif
