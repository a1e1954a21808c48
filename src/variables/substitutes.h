/* Substitutes: Python functions that are followed in the place of callables
 * that can't be (functions and classes written in C, as a rule).
 *
 * Two sorts share one table.  A polyfill is ours (python/dyntrace/polyfills/):
 * its globals are constants and its frames are seen by nobody.  A user's is
 * registered by dyntrace.substitute_in_graph and is guarded like any function.
 * Polyfills are loaded per module, when a trace first meets a callable of that
 * module: dt_substitute_find() then answers DT_RESTART, and the attempt loads
 * them with no trace alive (dt_substitute_load) and begins anew.
 *
 * Only calls are replaced: the callable itself keeps its identity everywhere.
 */
#ifndef DT_VARIABLES_SUBSTITUTES_H
#define DT_VARIABLES_SUBSTITUTES_H

#include "variables/var.h"

/* The function to be followed when `callable` (realised) is called, or NULL in *out.  Runs no user
 * code.  DT_RESTART: trace->wanted_polyfills names what must be loaded first. */
DtStatus dt_substitute_find(DtTrace *trace, DtVar *callable, PyObject **out) DT_MUST_CHECK;

/* The same for the callable of an adapter that has no row for it, from the library `module`. */
DtStatus dt_substitute_find_object(DtTrace *trace, PyObject *callable, const char *module,
                                   PyObject **out) DT_MUST_CHECK;

/* Whether the arguments fit the signature of a polyfill.  Those that do not are the original's to
 * refuse; a user's substitute takes what comes. */
bool dt_substitute_fits(PyObject *function, const DtArgs *args);

/* The function that stands for the getter of an attribute of a C type. */
DtStatus dt_substitute_find_descriptor(DtTrace *trace, PyObject *descriptor,
                                       PyObject **out) DT_MUST_CHECK;

/* A polyfill may stand for a code object: for every function that is made of it.  It is then called
 * with the function before the arguments.  The module that has the code, whose globals such a
 * function has, may still wait for its polyfills: DT_RESTART, as above. */
DtStatus dt_substitute_find_code(DtTrace *trace, const DtFunctionVar *function,
                                 PyObject **out) DT_MUST_CHECK;

/* The same for a method of a C type, by the descriptor in the type's own dict. */
DtStatus dt_substitute_find_method(DtTrace *trace, PyTypeObject *type, const char *name,
                                   PyObject **out) DT_MUST_CHECK;

/* Whether they fit the signature of any Python function. */
bool dt_substitute_takes(PyObject *function, const DtArgs *args);

/* Whether this dict is the namespace of polyfills. */
bool dt_substitute_is_namespace(PyObject *globals);

/* Whether the class is one of a polyfill's, which stands for a C type and must not leave the trace.
 */
bool dt_substitute_hides_class(PyTypeObject *cls);

/* Registers `function` (a Python function) for `original`; -1 with an exception.  Both are kept for
 * good.  ValueError: the original has a row or a substitute already. */
int dt_substitute_register(PyObject *original, PyObject *function);
/* The same for a polyfill; its globals become a namespace of polyfills.  A callable that has a row
 * or a user's substitute keeps it. */
int dt_substitute_register_polyfill(PyObject *original, PyObject *function);

/* `modules` is a dict: value of `__module__` -> name of the polyfills; `loader(name)` loads them
 * and registers each.  Both are kept for good. */
int dt_substitute_set_loader(PyObject *modules, PyObject *loader);
/* Calls the loader: Python code of ours runs, so no trace may be alive.  -1 with an exception. */
int dt_substitute_load(PyObject *name);
/* Releases a trace that ended with DT_RESTART, and loads what it asked for, if anything. */
int dt_substitute_load_wanted(DT_STEALS DtTrace *trace);

/* DT_RESTART if the module, which is not imported yet, is one of an array library: it is imported
 * first, with no trace alive.  Each name once: what is missing then is missing. */
DtStatus dt_substitute_want_module(DtTrace *trace, PyObject *name) DT_MUST_CHECK;

/* A new list of (original, function) pairs, in order of registration; NULL with an exception. */
DT_OWNED PyObject *dt_substitute_list(void);

#endif
