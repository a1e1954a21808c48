/* Module code: the loops of a script that are outside of all functions.
 *
 * A module runs once, so nothing but its loops pays.  Its code runs as a driver
 * (broken.h) that has points inside of loops only: one where each iteration
 * begins, which counts until the loop is hot, and sleeping ones wherever a
 * segment may end.  A loop is entered while it runs, at its next iteration.
 *
 *   names ─► the globals, which guards read and effects write
 *
 * Names that a loop stores are variables: numbers among them are symbols, as
 * those of a function's slots are.
 */
#ifndef DT_EVAL_FRAME_MODULE_BODY_H
#define DT_EVAL_FRAME_MODULE_BODY_H

#include "eval_frame/broken.h"

/* What runs in the place of module code: *driver is new, or NULL where there is nothing to enter
 * (no loop, or all of them gained nothing).  DT_ERROR: MemoryError. */
DtStatus dt_module_body_driver(DtRegion *region, PyCodeObject *code,
                               DT_OWNED PyCodeObject **driver) DT_MUST_CHECK;

/* Counts a visit.  Whether a segment may begin in this frame, here and now: its names are its
 * globals, and the loop is hot. */
bool dt_module_body_is_hot(DtPoint *point, DtPyFrame *frame);

#endif
