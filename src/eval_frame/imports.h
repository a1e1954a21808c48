/* How the modules that a program imports are reached.
 *
 * The exec_module of the interpreter's loaders is wrapped, and what calls that of all loaders; a
 * callback sees each module that has finished executing.  Most modules are somebody else's: those
 * are told apart here, as each of them would cost its import more than its own finders do.  No
 * frame of ours is ever between the user's frames.
 */
#ifndef DT_EVAL_FRAME_IMPORTS_H
#define DT_EVAL_FRAME_IMPORTS_H

#include "compat/python.h"

/* _core.after_executing(exec_module, callback, others=None) -> what stands for the function: calls
 * it, and tells the callback its module when it has returned.  Where there is a set `others` of
 * folders (it may grow), modules of the standard library and parts of packages that lie in one of
 * these are not told. */
PyObject *dt_imports_after_executing(PyObject *module, PyObject *args);

/* _core.after_loading(function, callback) -> the same for a function whose first argument is a
 * spec; nothing is told where the spec's loader has an exec_module that tells already. */
PyObject *dt_imports_after_loading(PyObject *module, PyObject *args);

int dt_imports_init(void);

#endif
