/* Verify mode: what an entry would do is compared with what plain execution does, before the call.
 *
 *   guards hold ─► due? ─no─► the entry runs
 *                   │ yes
 *                   ├─► a copy of the process runs the call plainly ──────┐ outcomes: result,
 * exception, ├─► another runs the entry ───────────────────────────┤ warnings, all that can be ▼ ▼
 * reached, bit by bit the call runs plainly                        differ ─► reproducer, quarantine
 *
 * Both run in copies (forked.h), so the program's own objects are touched by neither, and its
 * result is the plain one.  An entry serves a frame that was captured whole, so a plain run of that
 * call acts on nothing but memory; what runs in parts (broken.h) can't be run twice, and is only
 * counted.
 *
 * Not in here: how an outcome is described, compared and told (python/dyntrace/_outcome.py,
 * _verify.py).
 */
#ifndef DT_EVAL_FRAME_VERIFY_H
#define DT_EVAL_FRAME_VERIFY_H

#include "eval_frame/dispatch.h"

/* Why a call that was due was not compared: WHY(NAME, "text"). */
#define DT_VERIFY_REASONS(WHY)                                                                     \
    WHY(PARTS, "it runs in parts: a graph break, a loop, an exception that leaves it")             \
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

/* _core.set_verify(share): of the calls, 0.0 to 1.0; _core.get_verify() */
PyObject *dt_verify_set(PyObject *module, PyObject *share);
PyObject *dt_verify_get(PyObject *module, PyObject *unused);

/* _core.list_verified(): a dict per function that was compared, or was to be. */
PyObject *dt_verify_list(PyObject *module, PyObject *unused);
PyObject *dt_verify_list_region(PyObject *region, PyObject *unused); /* region.verified() */

#endif
