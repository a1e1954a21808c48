/* Verify mode: what compiled code would do is compared with what plain execution does, before the
 * call.
 *
 *   guards hold, or the call runs in parts
 *        |
 *       due? -- no --> compiled
 *        | yes
 *        +--> a copy of the process runs the call plainly --+
 *        +--> another runs what is compiled ----------------+--> outcomes, bit by bit
 *        |                                                       | differ
 *     the call                                                   +--> reproducer, quarantine
 *
 * An outcome is the result or exception, the warnings, the output, and all that can be reached.
 * Both run in copies that can reach nothing but their memory (forked.h, sealed.h), so the program's
 * own objects are touched by neither.  A call that an entry serves whole then runs plainly.  One
 * that runs in parts (broken.h) runs so again, in the parts that were compared: what is compiled
 * during the call waits for the next one.  If the plain copy asks for more than memory (it opens a
 * file, say), the call can't be made twice, and is only counted.
 *
 * Not in here: how an outcome is described, compared and told (python/dyntrace/_outcome.py,
 * _verify.py).
 */
#ifndef DT_EVAL_FRAME_VERIFY_H
#define DT_EVAL_FRAME_VERIFY_H

#include "eval_frame/dispatch.h"

/* Why a call that was due was not compared: WHY(NAME, "text"). */
#define DT_VERIFY_REASONS(WHY)                                                                     \
    WHY(RUNNING, "its frame was running already: a loop of a module, a generator")                 \
    WHY(ACTS, "it acts on files, processes or the network")                                        \
    WHY(OPEN, "it runs in parts, and this system can't shut off a copy that runs them")            \
    WHY(THREADS, "other threads of Python were running")                                           \
    WHY(NOTICED, "the program handles SIGCHLD, and would notice a child")                          \
    WHY(NEVER, "the process can't be copied")                                                      \
    WHY(LATE, "the plain run took too long")                                                       \
    WHY(DIED, "the plain run ended the process")                                                   \
    WHY(UNTOLD, "the outcome can't be described")                                                  \
    WHY(UNSTEADY, "two plain runs differ")

typedef enum DtVerifyReason {
#define WHY(NAME, TEXT) DT_VERIFY_##NAME,
    DT_VERIFY_REASONS(WHY)
#undef WHY
        DT_VERIFY_REASON_COUNT
} DtVerifyReason;

/* The entry's guards hold: what is to become of the call.  As dt_dispatch_find(). */
DtDispatch dt_verify_call(DtCodeCache *cache, DtEntry *entry, const DtGuardFrame *frame,
                          const DtSegmentCall *segment, PyObject **regs, DtEntry **framed,
                          PyObject **answer);

/* Runs a call in parts, by the driver of its code. */
typedef PyObject *(*DtVerifyDriven)(void *context);

/* A call that runs in parts.  True: it is done, *answer is its result, or NULL with an exception;
 * false: it has to run plainly. */
bool dt_verify_driven(DtCodeCache *cache, const DtGuardFrame *frame, DtVerifyDriven driven,
                      void *context, PyObject **answer);

/* _core.set_verify(share): of the calls, 0.0 to 1.0; _core.get_verify() */
PyObject *dt_verify_set(PyObject *module, PyObject *share);
PyObject *dt_verify_get(PyObject *module, PyObject *unused);

/* _core.list_verified(): a dict per function that was compared, or was to be. */
PyObject *dt_verify_list(PyObject *module, PyObject *unused);
PyObject *dt_verify_list_region(PyObject *region, PyObject *unused); /* region.verified() */

#endif
