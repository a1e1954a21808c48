/* The journal: every change that traced code makes, in order.
 *
 *   trackers ──will_change, set_attr, set_global, set_cell──► entries, in program order
 *                                                │
 *                                  dt_journal_finish: what is visible?
 *                                                ▼
 *   codegen ◄──visit_escapes, replay── writes: stores, deletes, slices ...
 *
 * Payloads of mutable trackers change only after dt_journal_will_change() (see
 * variables/trace.h for the services trackers call); a mark can be rolled back.
 * After the trace, codegen replays what is visible: changes of objects that
 * existed before, and of new objects that escape.  What only the trace could
 * see is never emitted.
 */
#ifndef DT_SIDEEFFECTS_JOURNAL_H
#define DT_SIDEEFFECTS_JOURNAL_H

#include "variables/trace.h"

DtStatus dt_journal_init(DtTrace *trace) DT_MUST_CHECK;

typedef uint32_t DtJournalMark;
/* A point to roll back to; from now on what a rollback needs is kept.  Memory that is out shows at
 * the next change. */
DtJournalMark dt_journal_mark(const DtTrace *trace);
DtStatus dt_journal_rollback(DtTrace *trace, DtJournalMark mark) DT_MUST_CHECK;

/* Called once, at the end of the root frame: finds which effects are visible, given the tracker
 * that the frame returns, and guards that objects which were changed are not the others that were
 * read. */
DtStatus dt_journal_finish(DtTrace *trace, DtVar *result) DT_MUST_CHECK;

/* Is there anything to replay?  After dt_journal_finish(). */
bool dt_journal_has_effects(const DtTrace *trace);

/* Emits the replay: values first, then the writes in program order.  It leaves the stack as it
 * found it, so a result that was pushed before is untouched: push it before, since a write may
 * change what its source loads. */
DtStatus dt_journal_replay(DtTrace *trace, DtCodegen *codegen) DT_MUST_CHECK;

#endif
