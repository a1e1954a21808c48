/* Loops that are entered while they run: those of module bodies, and of functions that have not
 * been called often enough to be compiled as a whole.
 *
 * A module runs once, and so do many functions; then nothing but their loops
 * pays.  Such code runs as a driver (broken.h) that has points inside of loops
 * only: one where each iteration begins, which counts until the loop is hot,
 * and sleeping ones wherever a segment may end.  A loop is entered at its next
 * iteration.
 *
 *   module code: names ─► the globals, which guards read and effects write
 *
 * Names that a loop of a module stores are variables: numbers among them are
 * symbols, as those of a function's slots are.
 */
#ifndef DT_EVAL_FRAME_RUNNING_LOOPS_H
#define DT_EVAL_FRAME_RUNNING_LOOPS_H

#include "eval_frame/broken.h"

/* What runs in the place of module code: *driver is new, or NULL where there is nothing to enter
 * (no loop, or all of them gained nothing).  DT_ERROR: MemoryError. */
DtStatus dt_running_loops_of_module(DtRegion *region, PyCodeObject *code,
                                    DT_OWNED PyCodeObject **driver) DT_MUST_CHECK;

/* The same for code of a function, which `cache` is of. */
DT_BORROWED PyCodeObject *dt_running_loops_of_function(DtCodeCache *cache);

/* Is there a loop in the code? */
bool dt_running_loops_has_one(PyCodeObject *code);

/* Counts a visit.  Whether a segment may begin in this frame, here and now: the loop is hot, and
 * names of module code are its globals. */
bool dt_running_loops_is_hot(DtPoint *point, DtPyFrame *frame);

#endif
