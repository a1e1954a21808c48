/* Branches on data that entries follow one way: symbolic/guess.c, for an attempt.
 *
 *   trace ─► a branch that nobody knows ─► its graph so far, run with the inputs of this call
 *     ▲                                      ▼
 *     └──────── begins anew, knowing ◄── true or false; or nothing is guessed
 *
 * A cache gets a few entries that guess, for calls that go different ways; what none of them serves
 * runs in parts, as without them (broken.h).  Such parts do not guess: to end at a branch and to
 * begin again behind it costs less than a run in vain now and then.
 */
#ifndef DT_EVAL_FRAME_GUESS_H
#define DT_EVAL_FRAME_GUESS_H

#include "eval_frame/record.h"

/* How many branches a trace for the cache may guess. */
uint32_t dt_guess_limit(const DtCodeCache *cache);

/* After a trace that ended with DT_RESTART, before it is let go of: what it wants to know. */
DtStatus dt_guess_learn(DtAttempt *attempt) DT_MUST_CHECK;

/* After a trace that has come through: DT_RESTART where it must not guess. */
DtStatus dt_guess_check(DtAttempt *attempt) DT_MUST_CHECK;

#endif
