/* The PEP 523 hook: capture inside a frame that could not be captured itself.
 *
 *   root frame breaks ─► runs plainly under the hook
 *                             │ each Python call inside
 *                             ▼
 *         frame of the same thread, fresh, not skipped ─► entries, or an attempt
 *                             │ none                          │ answer
 *                             ▼                               ▼
 *                        runs as always                 frame finished
 *
 * An installed hook slows every Python call, so it is installed only while such
 * a root frame runs, and a root frame under which nothing was captured twice in
 * a row is left alone until reset(), unless something was before, or may be once
 * it has been called often enough.  A run in which nearly all frames only pass
 * goes on without it.  Other threads pass through.
 */
#ifndef DT_EVAL_FRAME_HOOK_H
#define DT_EVAL_FRAME_HOOK_H

#include "eval_frame/region.h"

/* Does a root frame run without the hook: too little was captured below it? */
bool dt_hook_stays_away(const DtCodeCache *cache);

/* Calls a plain function whose frame belongs to `cache`; frames below it are captured if that may
 * gain anything.  The same contract as vectorcall. */
PyObject *dt_hook_call(DtCodeCache *cache, PyObject *function, PyObject *const *args, size_t nargsf,
                       PyObject *kwnames);

/* Is the hook installed now?  For tests. */
bool dt_hook_is_installed(void);

/* From now on every call of a Python function is captured in `region`, arrays or not, whatever its
 * module.  For proving soundness on programs that were not written for it: an installed hook slows
 * all calls. */
void dt_hook_capture_everywhere(DtRegion *region);

#endif
