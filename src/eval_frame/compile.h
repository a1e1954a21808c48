/* One attempt at compiling a frame: trace, plan, backend, guards, publish.
 *
 * Whatever goes wrong, the call can run plainly: a graph break and an internal
 * fault are recorded and logged; only MemoryError, KeyboardInterrupt, the
 * errors of a user's backend, and Unsupported under fullgraph=True come out.
 */
#ifndef DT_EVAL_FRAME_COMPILE_H
#define DT_EVAL_FRAME_COMPILE_H

#include "codegen/driver.h"
#include "eval_frame/region.h"

typedef enum DtCompile {
    DT_COMPILE_PUBLISHED, /* a new entry stands first in the cache, and its guards hold for this
                             call */
    DT_COMPILE_PLAIN,     /* run this call plainly */
    DT_COMPILE_ERROR      /* an exception is set */
} DtCompile;

/* Is this thread in the middle of an attempt?  What runs then (a polyfill on its way in, an adapter
 * in Python) is not captured itself. */
bool dt_compile_is_running(void);

/* Until dt_compile_resume() this thread captures nothing. */
void dt_compile_pause(void);
void dt_compile_resume(void);

/* A segment of a running frame, which has reached the probe of `point` and may be compiled;
 * `frame` is what guards read: its memory, globals and builtins. */
DtCompile dt_compile_segment(DtPoint *point, const DtDriverSite *site, const DtGuardFrame *frame);

/* A whole frame, of frame->function; the caller holds its arguments. */
DtCompile dt_compile_attempt(DtCodeCache *cache, const DtGuardFrame *frame);

#endif
