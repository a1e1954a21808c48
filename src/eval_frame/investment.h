/* Attempts are an investment: what a program that did not ask to be compiled gives for them.
 *
 *   call ─► early: counted, and timed now and then ─► hot ─► an attempt, or ─┐
 *             ▲                                                              │ the account is empty
 *             └──────────────────────────────────────────────────────────────┘
 *
 * Nothing is tried before it has run hot_count times and for hot_ns.  All attempts together get a
 * share of the processor time since the program began to compute (importing is nothing that could
 * gain), and one of the time that what was compiled has saved since then.  With hot_ns == 0 time
 * does not count: then there is no account, and attempts are made when the counts say so.
 *
 * What waits costs as little as can be: no clock, no scale.
 */
#ifndef DT_EVAL_FRAME_INVESTMENT_H
#define DT_EVAL_FRAME_INVESTMENT_H

#include "core/clock.h"
#include "eval_frame/region.h"

/* For how long something ran before it is compiled: differences count, and compiling does not. */
static inline int64_t
dt_investment_clock(void)
{
    return (dt_state.hot_ns > 0 ? dt_clock_ns() : dt_clock_thread_ns()) - dt_state.compile_ns;
}

/* What attempts are measured with.  Where the sum of them decides what is tried, a busy machine
 * must not: the thread's own time, which is a call of the system each time. */
static inline clockid_t
dt_investment_busy_clock(void)
{
    return dt_state.hot_ns > 0 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

/* A call pays that is one of many, or a loop: is this one of code of `cache` too early, or waits it
 * for the account?  Then it is counted, and runs between the two that follow. */
bool dt_investment_is_early(DtCodeCache *cache);

/* When it began; 0: it is not timed.  And how long it took, or 0. */
int64_t dt_investment_begin(const DtCodeCache *cache);
int64_t dt_investment_end(DtCodeCache *cache, int64_t began);

/* An early call took so long: is it so short that what it reaches says whether it is idle, one of
 * which nothing is to be had?  When several were, the time on dt_clock_ns() up to which no call of
 * `cache` has to be asked; else 0. */
bool dt_investment_is_short(const DtCodeCache *cache, int64_t taken);
int64_t dt_investment_idle_until(DtCodeCache *cache, int64_t taken, bool reaches);

/* Is it asked of `cache` whether it comes to arrays (horizon.h) before the first attempt is made?
 * If it does not, it is left alone, longer each time: up to the time that is returned; or, where
 * that is 0 because the call of now took long, for some calls, unasked. */
bool dt_investment_is_asked(const DtCodeCache *cache);
int64_t dt_investment_give_up(DtCodeCache *cache, int64_t taken);

/* Was an attempt put off in the call that has just ended?  If calls are short: until when there is
 * none; else 0. */
static inline bool
dt_investment_has_to_wait(const DtCodeCache *cache)
{
    return cache != NULL && cache->skips > 0;
}
int64_t dt_investment_waits_until(const DtCodeCache *cache);

/* An attempt of `cache` was put off: if nothing serves its calls, the next ones run unasked. */
void dt_investment_put_off(DtCodeCache *cache);

/* A call was plain because something waits for the account: so are some that follow, unasked. */
void dt_investment_rest(DtCodeCache *cache);

/* Is this a call, or a visit of a point, that runs plainly and unasked? */
static inline bool
dt_investment_skips(DtCodeCache *cache)
{
    bool skips = cache->skips > 0;
    cache->skips -= skips;
    return skips;
}

/* The program computes from now on, if it did not before. */
void dt_investment_start(void);

/* May no attempt of `cache` be made now, because of what the others have cost? */
bool dt_investment_is_spent(DtCodeCache *cache, int64_t now);

/* How much longer a program has to run, in ns, until attempts may have cost `wanted` ns together,
 * where it ran for `ran` and what was compiled has saved `gained`; 0 or less: they may. */
int64_t dt_investment_missing(int64_t wanted, int64_t gained, int64_t ran);

/* How long the next trace of `cache` may take, in ns; 0: as long as config.trace_budget_ns says. */
int64_t dt_investment_budget(const DtCodeCache *cache);

/* An attempt, or what it needs, has taken so much on dt_investment_busy_clock(). */
void dt_investment_spend(int64_t ns);

/* What was compiled has saved so much, by what its scale (scale.h) says. */
void dt_investment_gain(int64_t ns);

#endif
