/* Pieces of op-by-op execution that the eager executor and the native one's
 * called stages share, and what the hook asks of them. */
#ifndef DT_BACKEND_EAGER_H
#define DT_BACKEND_EAGER_H

#include "backend/backend.h"

/* Calls `node` on the values of its operands: a new reference, or NULL with an exception.  Runs
 * user code if the callee does. */
DT_OWNED PyObject *dt_eager_call(const DtNode *node, PyObject *const *values,
                                 const DtNumber *symbols);

/* Whether this thread is inside such a call.  A library's own Python must not be captured then: the
 * graph of a function that asks for `x.real` calls numpy.real, which asks for `x.real`. */
bool dt_eager_is_calling(void);

/* last[i]: index of the last node that uses node i (UINT32_MAX: a graph output, or kept to the
 * end). */
void dt_eager_last_uses(const DtGraph *graph, uint32_t *last);

/* Whether running the node a second time could be noticed. */
bool dt_eager_has_effect(const DtNode *node);

/* Classifies the exception that is set.  MemoryError and interrupts, and everything once
 * `committed` (an effect has happened, so the call can't be made again): DT_RUN_ERROR, still set.
 * Else it is cleared, for plain execution raises it again from the user's line: DT_RUN_REPLAY,
 * or DT_RUN_OTHER_WAY. */
DtRun dt_eager_failure(bool committed);

/* What a run has come to, for its caller: memory that was out may be there for plain execution, and
 * if it is not, that raises from the user's line, within the user's handlers. */
DtRun dt_eager_outcome(DtRun run, bool committed);

#endif
