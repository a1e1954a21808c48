/* The journal: every change that traced code makes, in order.
 *
 * Payloads of mutable trackers change only after dt_journal_will_change() (see
 * variables/trace.h for the services trackers call); a mark can be rolled back.
 * After the trace, codegen replays what is visible: changes of objects that
 * existed before, and of new objects that escape.
 */
#ifndef DT_SIDEEFFECTS_JOURNAL_H
#define DT_SIDEEFFECTS_JOURNAL_H

#include "variables/trace.h"

DtStatus dt_journal_init(DtTrace *trace) DT_MUST_CHECK;

typedef uint32_t DtJournalMark;
DtJournalMark dt_journal_mark(const DtTrace *trace);
DtStatus dt_journal_rollback(DtTrace *trace, DtJournalMark mark) DT_MUST_CHECK;

/* Is there anything to replay? */
bool dt_journal_has_effects(const DtTrace *trace);

/* Calls visit() on every tracker that a replayed effect stores: they escape. */
DtStatus dt_journal_visit_escapes(DtTrace *trace, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                                  void *arg) DT_MUST_CHECK;

/* Emits the replay: values first, then the writes in program order. */
DtStatus dt_journal_replay(DtTrace *trace, DtCodegen *codegen) DT_MUST_CHECK;

#endif
