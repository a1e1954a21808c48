/* Functions are prepared as a module or a class defines them.
 *
 *   MAKE_FUNCTION ─► SET_FUNCTION_ATTRIBUTE ... ─► prepared ─► decorators, or a name
 *
 * The code stays what it is, but for what a driver adds (codegen/driver.h): behind the instructions
 * that make a function stands an object that is asked like a probe, and looks at the top of the
 * stack.  Lambdas and comprehensions are no definitions.
 */
#ifndef DT_EVAL_FRAME_DEFINITIONS_H
#define DT_EVAL_FRAME_DEFINITIONS_H

#include "compat/python.h"

/* _core.follow_definitions(region, code, wanted) -> code that prepares each function that it
 * defines itself, if its names reach arrays by then; `code` if it defines none.  `wanted`: asked
 * whether to, or None. */
PyObject *dt_definitions_follow(PyObject *module, PyObject *args);

int dt_definitions_init(void);

#endif
