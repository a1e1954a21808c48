/* Who has something to do with arrays: which modules, code objects and values reach the library of
 * an adapter.  Questions about names and types only; nothing of the user's runs.
 */
#ifndef DT_EVAL_FRAME_REACH_H
#define DT_EVAL_FRAME_REACH_H

#include <stdbool.h>

#include "compat/python.h"

/* Never captured: the standard library, the libraries that adapters stand for, and dyntrace. */
bool dt_reach_is_skipped_module(PyObject *globals);

/* Modules that are left alone from now on: patterns as fnmatch(3) takes them, a tuple of str. */
void dt_reach_exclude(PyObject *patterns);
bool dt_reach_is_excluded(PyObject *globals);

/* Installed for all programs, and not this one's own. */
bool dt_reach_is_installed(PyCodeObject *code);

/* Of a module that is to be left alone; or called by the program's own code, of an installed
 * package, and nothing that names an array library: it would be followed for nothing, or with
 * guards on state of the package's own. */
bool dt_reach_is_left_alone(PyCodeObject *callee, PyObject *globals, PyCodeObject *caller);

/* A module that a trace may need itself: dyntrace's own, and the import system. */
bool dt_reach_is_in_the_way(PyObject *globals);

/* Does the value: an array, a function or the module of its library? */
bool dt_reach_is_of_adapter(PyObject *value);

/* Does a global that the code names belong to an adapter's library? */
bool dt_reach_code(PyCodeObject *code, PyObject *globals);

/* Is an array among the values?  NULLs are skipped. */
bool dt_reach_values(PyObject *const *values, int count);

/* Does anything in a module's namespace (a dict) belong to an adapter's library? */
bool dt_reach_namespace(PyObject *globals);

#endif
