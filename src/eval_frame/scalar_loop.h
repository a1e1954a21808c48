/* Loops over numbers at a point of a frame that breaks: when they are translated, entered and left.
 *
 *   probe at the beginning of an iteration ─► a program for what lies in the slots? ─► runs
 *                                                  └► none: translated, or a segment as elsewhere
 *   run ─► iterations ─► slots and iterator as the last whole one has left them ─► the jump back
 */
#ifndef DT_EVAL_FRAME_SCALAR_LOOP_H
#define DT_EVAL_FRAME_SCALAR_LOOP_H

#include "eval_frame/broken.h"

/* DONE: iterations were run, or an exception is set, as dt_driver_land() says it in *answer.
 * Otherwise nothing was done. */
bool dt_scalar_loop_run(DtPoint *point, const DtDriverSite *site, DtPyFrame *frame,
                        const DtGuardFrame *guarded, PyObject **answer);

/* Before a segment is tried at the point: can its loop be translated for this frame? */
bool dt_scalar_loop_compile(DtPoint *point, const DtDriverSite *site, const DtGuardFrame *guarded);

/* Is something translated that serves? */
bool dt_scalar_loop_serves(const DtScalarLoop *loop);

/* Instruction at which the frame goes on, or -1. */
int32_t dt_scalar_loop_landing(const DtScalarLoop *loop);


int dt_scalar_loop_traverse(const DtScalarLoop *loop, visitproc visit, void *arg);
void dt_scalar_loop_release(DtScalarLoop *loop);

#endif
