/* One attempt at compiling a frame: trace, plan, backend, guards, publish.
 *
 * Whatever goes wrong, the call can run plainly: a graph break and an internal
 * fault are recorded and logged; only MemoryError, KeyboardInterrupt, the
 * errors of a user's backend, and Unsupported under fullgraph=True come out.
 */
#ifndef DT_EVAL_FRAME_COMPILE_H
#define DT_EVAL_FRAME_COMPILE_H

#include "eval_frame/region.h"

typedef enum DtCompile {
    DT_COMPILE_PUBLISHED, /* a new entry stands first in the cache, and its guards hold for this
                             call */
    DT_COMPILE_PLAIN,     /* run this call plainly */
    DT_COMPILE_ERROR      /* an exception is set */
} DtCompile;

/* `slots`: the bound arguments.  The caller holds them. */
DtCompile dt_compile_attempt(DtCodeCache *cache, PyFunctionObject *function,
                             PyObject *const *slots);

#endif
