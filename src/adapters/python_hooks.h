/* Calls of the hooks of Python adapters; private to adapters/.
 *
 * Every hook that takes part in a trace runs inside a DtSymScope.
 */
#ifndef DT_ADAPTERS_PYTHON_HOOKS_H
#define DT_ADAPTERS_PYTHON_HOOKS_H

#include "adapters/python_values.h"

/* Does a hook run in this thread?  Its own code is not captured: to it, nothing is an array. */
bool dt_python_hook_runs(void);

/* ---- In a trace ------------------------------------------------------------------------------ */

DtHook dt_python_hook_new(const DtAdapter *adapter, DtTrace *trace);
/* Calls hook `name` with a tuple of arguments, and leaves the answer, kept by the trace, in *out.
 */
DtStatus dt_python_hook_call(DtHook *hook, const char *name, DT_STEALS PyObject *args,
                             PyObject **out) DT_MUST_CHECK;
/* A tracker as a Python object, an argument of a hook. */
DtStatus dt_python_hook_show(DtHook *hook, DtVar *var, PyObject **out) DT_MUST_CHECK;
/* The tracker for an answer; *out = NULL for NotImplemented. */
DtStatus dt_python_hook_accept(DtHook *hook, PyObject *answer, DtVar **out) DT_MUST_CHECK;
/* The break where a hook has no answer. */
DtStatus dt_python_hook_refused(DtHook *hook, const char *what, const char *name) DT_MUST_CHECK;

/* ---- Outside of traces ----------------------------------------------------------------------- */

/* With one argument; a new reference, or NULL with an exception. */
DT_OWNED PyObject *dt_python_hook_call_plain(const DtAdapter *adapter, const char *name,
                                             PyObject *argument);
/* A hook that answers yes or no: 1, 0, or -1 with an exception.  `second` may be NULL. */
int dt_python_hook_ask(const DtAdapter *adapter, const char *name, PyObject *first,
                       PyObject *second);
/* For slots that have no way to fail: a hook that raises says no, and the user hears of it. */
bool dt_python_hook_ask_quietly(const DtAdapter *adapter, const char *name, PyObject *object);

#endif
