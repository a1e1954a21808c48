/* Signals whose Python handler has not run yet, and everything else that the interpreter sees to
 * between instructions.
 *
 * Mirrors what Python/ceval_gil.c (3.12, 3.13) and Python/ceval.c (3.10, 3.11) look at between
 * instructions.
 */
#ifndef DT_COMPAT_SIGNALS_H
#define DT_COMPAT_SIGNALS_H

#include <stdbool.h>

#include "compat/python.h"

/* The current thread if it is the one that runs the handlers, else NULL. */
static inline const PyThreadState *
dt_signals_thread(void)
{
    const PyThreadState *thread = PyThreadState_Get();
    return _Py_ThreadCanHandleSignals(thread->interp) ? thread : NULL;
}

/* Does one wait for that thread?  May be asked without the GIL. */
static inline bool
dt_signals_wait(const PyThreadState *thread)
{
#if DT_PY313
    return (_Py_atomic_load_uintptr_relaxed(&thread->eval_breaker) & _PY_SIGNALS_PENDING_BIT) != 0;
#else
    (void)thread;
    return _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending) != 0;
#endif
}

/* Would the interpreter do something at a jump backward: handle a signal, give the GIL away,
 * collect? */
static inline bool
dt_signals_interrupt(PyThreadState *thread)
{
#if DT_PY313
    return (_Py_atomic_load_uintptr_relaxed(&thread->eval_breaker) & _PY_EVAL_EVENTS_MASK) != 0;
#else
    return _Py_atomic_load_relaxed(&thread->interp->ceval.eval_breaker) != 0;
#endif
}

#endif
