/* Policy: may a frame be compiled now, and what follows from a failure.
 *
 * Numbers live in dt_state (dyntrace.config); decisions live on the code cache,
 * so they are per code object and region and end with reset().
 */
#ifndef DT_EVAL_FRAME_POLICY_H
#define DT_EVAL_FRAME_POLICY_H

#include "eval_frame/region.h"

/* 0: this call runs plainly.  Says so loudly, once, when the recompile limit is reached: which
 * guards fail on `frame`.  -1 with RecompileError where recompiling is an error. */
int dt_policy_may_compile(DtCodeCache *cache, const DtGuardFrame *frame);

/* Before a recompile: a number for which the newest entry was specialised and that is another one
 * now becomes a symbol in the next; so that a class has changed is known. */
void dt_policy_note_varied(DtCodeCache *cache, const DtGuardFrame *frame);

/* Breaks are errors, or said not to be, where this code runs: it runs as compiled, to find them. */
bool dt_policy_wants_breaks(const DtCodeCache *cache);

/* The code is known to break, and breaks are errors now: it is tried once more. */
bool dt_policy_may_refuse(const DtCodeCache *cache);

DtTraceOptions dt_policy_trace_options(const DtCodeCache *cache);

void dt_policy_count_break(DtCodeCache *cache, DtBreakId id);
void dt_policy_count_fault(DtCodeCache *cache);

/* Does it pay to run the frame by a driver after such a break, which was counted?  Not if a larger
 * budget will do, or the next call. */
bool dt_policy_is_worth_a_driver(const DtCodeCache *cache, DtBreakId id);

/* Under fullgraph=True: is this break the user's business?  A function without arrays is not. */
bool dt_policy_is_refusal(DtBreakId id);

/* Has the attempt that broke like this to raise Unsupported? */
bool dt_policy_refuses(const DtCodeCache *cache, const DtBreakInfo *brk);

/* Is the current exception one that must reach the caller (MemoryError, KeyboardInterrupt,
 * BackendError)? */
bool dt_policy_is_users_error(void);

/* Takes the current exception and logs it once with an id. */
void dt_policy_log_fault(DtCodeCache *cache);

#endif
