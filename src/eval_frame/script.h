/* Whole scripts: how the functions of the main module are reached; those of others, see imports.h.
 *
 * The main module is executed by no loader: its frame is caught by the PEP 523 hook, which is gone
 * before the frame runs, and a callback gives other code to run there.  Where code is typed, each
 * statement is such a frame.  No frame of ours is ever between the user's frames.
 */
#ifndef DT_EVAL_FRAME_SCRIPT_H
#define DT_EVAL_FRAME_SCRIPT_H

#include "compat/python.h"

/* _core.watch_main(callback): callback(code) -> code or None before __main__ runs; in an
 * interactive session before each statement, until watch_main(None). */
PyObject *dt_script_watch_main(PyObject *module, PyObject *callback);

#endif
