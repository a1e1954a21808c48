/* Is somebody watching this execution?
 *
 * While a trace or profile function or a sys.monitoring event is active,
 * compiled functions run their original code, so that every event arrives.
 * Both questions are a few loads; no user code runs.  And code that is not to be watched.
 */
#ifndef DT_COMPAT_TRACING_H
#define DT_COMPAT_TRACING_H

#include <stdbool.h>
#include <string.h>

#include "compat/python.h"

/* sys.settrace, sys.setprofile, or any global sys.monitoring event. */
static inline bool
dt_tracing_is_active(PyThreadState *tstate)
{
#if DT_PY310 || DT_PY311
    return tstate->cframe->use_tracing != 0;
#else
    /* sys.settrace and sys.setprofile are monitoring tools themselves since 3.12. */
    static const _Py_GlobalMonitors none;
    return memcmp(&tstate->interp->monitors, &none, sizeof(none)) != 0;
#endif
}

/* Does a sys.monitoring tool ask for events of this code object alone? */
static inline bool
dt_tracing_code_is_watched(PyCodeObject *code)
{
#if DT_PY310 || DT_PY311
    (void)code;
    return false;
#else
    static const _Py_LocalMonitors none;
    return code->_co_monitoring != NULL
           && memcmp(&code->_co_monitoring->local_monitors, &none, sizeof(none)) != 0;
#endif
}

/* Calls Python code of our own in the middle of the program's: no trace or profile function and no
 * tool sees it.  A new reference, or NULL with an exception. */
static inline PyObject *
dt_tracing_call_unseen(PyObject *function, PyObject *argument)
{
    PyThreadState *tstate = PyThreadState_Get();
#if DT_PY310
    tstate->tracing++;
    tstate->cframe->use_tracing = 0;
#else
    PyThreadState_EnterTracing(tstate);
#endif
    PyObject *answer = PyObject_CallOneArg(function, argument);
#if DT_PY310
    tstate->tracing--;
    tstate->cframe->use_tracing = tstate->c_tracefunc != NULL || tstate->c_profilefunc != NULL;
#else
    PyThreadState_LeaveTracing(tstate);
#endif
    return answer;
}

#endif
