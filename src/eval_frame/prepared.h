/* Prepared functions: functions of a whole script, compiled where they stand.
 *
 *   plain function ──prepare──► prepared ──gains nothing──► plain function
 *                                  │ hot
 *                                  ▼
 *                            compiled function (compiled_function.h), out of sight
 *
 * The object, its attributes and everything that refers to it stay; only its
 * type and its vectorcall change.  A function is compiled when it has been
 * called a few times; before, its loops are entered once they are hot
 * (running_loops.h).  A function whose calls have nothing to be asked for now rests (resting.h):
 * it is plain for a while.  A function in which nothing is captured, or that its scale (scale.h)
 * finds no faster, is made plain again, at no further cost.
 */
#ifndef DT_EVAL_FRAME_PREPARED_H
#define DT_EVAL_FRAME_PREPARED_H

#include "eval_frame/region.h"
#include "eval_frame/resting.h"

/* 1: prepared; 0: not a plain Python function, or one that is no candidate (a generator, a
 * coroutine, marked with disable); -1 with MemoryError.  Whether its module reaches arrays is the
 * caller's question. */
int dt_prepared_add(PyObject *function, DtRegion *region);

/* A function that rested is prepared once more; or it is None, or no candidate any more.  Takes
 * what was kept of it. */
void dt_prepared_again(PyObject *function, DT_STEALS DtPrepared *row);

/* A list of dicts, one per function that is or was prepared: function, file, line, state, calls,
 * plain_ns, compiled_ns (of the last weighing; 0: none yet).  NULL with an exception. */
DT_OWNED PyObject *dt_prepared_list(void);

int dt_prepared_init(void);

#endif
