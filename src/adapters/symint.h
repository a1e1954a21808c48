/* dyntrace.SymInt and SymFloat: symbolic numbers in the hands of Python hooks.
 *
 * Arithmetic stays symbolic; a question (comparison, truth, conversion to a real
 * number) is answered for the call being traced and leaves a guard.  The objects
 * point into the arena of their trace, so they work only while a hook of that
 * very trace runs in this thread; later use raises RuntimeError.
 */
#ifndef DT_ADAPTERS_SYMINT_H
#define DT_ADAPTERS_SYMINT_H

#include "variables/trace.h"

/* The hook that runs in this thread; nests. */
typedef struct DtSymScope {
    DtTrace *trace;
    uint64_t serial; /* of the trace: numbers of other traces are refused */
    DtStatus status; /* not DT_OK: a question ended in a break, which waits for the hook's return */
    struct DtSymScope *outer;
} DtSymScope;

void dt_symint_enter(DtSymScope *scope, DtTrace *trace);
void dt_symint_leave(DtSymScope *scope);

/* A plain number for a constant, else a SymInt or SymFloat (bool expressions are SymInt). */
DT_OWNED PyObject *dt_symint_new(const DtSym *sym);
/* The expression behind such an object of the current scope; NULL without an error for other types,
 * with RuntimeError for one that has outlived its trace. */
const DtSym *dt_symint_get(PyObject *object);

/* Readies the types and adds them to the module; -1 with an error. */
int dt_symint_add(PyObject *module);

#endif
