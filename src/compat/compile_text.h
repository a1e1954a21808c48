/* Compiling source text as exec(), eval() and compile() do, without a word to anybody. */
#ifndef DT_COMPAT_COMPILE_TEXT_H
#define DT_COMPAT_COMPILE_TEXT_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

/* The code object of `text` (exact str), an expression or statements, with the future features that
 * the code object `like` (or NULL) has.  NULL without an exception: compiling it would warn, or
 * raise a SyntaxError.  No user code runs; warnings that would be shown are not. */
DT_OWNED PyObject *dt_compile_text(PyObject *text, PyObject *filename, bool expression,
                                   PyCodeObject *like);

/* Whether exec() and eval() take globals and locals by name. */
bool dt_compile_takes_names(void);

#endif
