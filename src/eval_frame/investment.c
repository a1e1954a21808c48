/* See investment.h. */
#include "eval_frame/investment.h"

#include "eval_frame/broken.h"
#include "eval_frame/resting.h"
#include "eval_frame/running_loops.h"

/* Given to every program: what tracing needs is read, and two or three attempts are made. */
#define ADVANCE_NS 4000000
/* The part of a program's time that it gives; and the part of what it has gained, up to one of its
 * time: what scales (scale.h) say is not exact. */
#define TIME_SHARE 40
#define GAIN_SHARE 4
#define MOST_SHARE 27
/* Until the processor's clock is looked at again, which is a system call, at least. */
#define LEAST_PAUSE_NS 1000000
/* Of the first trace of something: nearly all that come to something take less. */
#define FIRST_BUDGET_NS 3000000
/* When a function has been called so often, short calls of it are timed one for so many. */
#define CALLS_IN_SERIES 32
#define CALLS_UNASKED 15
#define SHORT_CALL_NS 100000
/* Short enough to be nothing but a branch or an item; and what makes a function rest (resting.h):
 * so many such calls in a row, or calls that are short and reach no array.  For how long it rests
 * first, twice as long each time, and how often. */
#define TINY_CALL_NS 300
#define IDLE_CALL_NS 10000
#define IDLE_CALLS 4
#define FIRST_REST_NS 20000000
#define MOST_DOUBLED 6
/* Functions that rest have calls as short as that: of longer ones the way through C is a small
 * part. For the account they rest when it takes so long. */
#define RESTING_CALL_NS 20000
#define LEAST_WAIT_NS 1000000
/* Calls that run unasked when an attempt was put off: twice as many each time, up to these. */
#define MOST_PUT_OFF 1023

static bool
has_account(const DtCodeCache *cache)
{
    return dt_state.hot_ns > 0 && cache->region->quiet && !dt_state.everything;
}

/* ---- The account ----------------------------------------------------------------------------- */

void
dt_investment_start(void)
{
    if (dt_state.began_ns == 0 && dt_state.hot_ns > 0) {
        dt_state.began_ns = dt_clock_process_ns();
    }
}

void
dt_investment_spend(int64_t ns)
{
    dt_state.compile_ns += ns;
    dt_state.invested_ns += ns;
}

void
dt_investment_gain(int64_t ns)
{
    dt_state.gained_ns += ns;
    dt_state.paused_until_ns = 0; /* it was reckoned without */
    dt_resting_hurry();
}

int64_t
dt_investment_budget(const DtCodeCache *cache)
{
    return cache->budget_ns != 0 ? cache->budget_ns : has_account(cache) ? FIRST_BUDGET_NS : 0;
}

int64_t
dt_investment_missing(int64_t wanted, int64_t gained, int64_t ran)
{
    int64_t gain = gained / GAIN_SHARE, most = ran / MOST_SHARE;
    return (wanted - ADVANCE_NS - (gain < most ? gain : most)) * TIME_SHARE - ran;
}

bool
dt_investment_is_spent(DtCodeCache *cache, int64_t now)
{
    if (!has_account(cache)) {
        return false;
    }
    dt_resting_look(now);
    if (now < dt_state.paused_until_ns || now < cache->paused_until_ns) {
        return true;
    }
    int64_t ran = dt_clock_process_ns() - dt_state.began_ns;
    if (ran < 0) { /* a child of fork(): its own time, its own account */
        dt_state.began_ns += ran;
        dt_state.invested_ns = dt_state.gained_ns = ran = 0;
    }
    int64_t wanted = dt_state.invested_ns + cache->budget_ns; /* known to be long: all of it */
    int64_t missing = dt_investment_missing(wanted, dt_state.gained_ns, ran);
    if (missing > 0) {
        int64_t *paused =
            cache->budget_ns == 0 ? &dt_state.paused_until_ns : &cache->paused_until_ns;
        *paused = now + (missing > LEAST_PAUSE_NS ? missing : LEAST_PAUSE_NS);
    }
    return missing > 0;
}

/* ---- Calls before the first attempt ---------------------------------------------------------- */

void
dt_investment_put_off(DtCodeCache *cache)
{
    if (cache->entries == NULL && (cache->broken == NULL || !cache->broken->served)) {
        cache->put_off = cache->put_off < MOST_PUT_OFF ? 2 * cache->put_off + 1 : MOST_PUT_OFF;
        cache->skips = cache->put_off;
    }
}

void
dt_investment_rest(DtCodeCache *cache)
{
    cache->skips = CALLS_UNASKED;
}

bool
dt_investment_is_early(DtCodeCache *cache)
{
    if (dt_state.everything) {
        return false;
    }
    bool hot = cache->seen >= dt_state.hot_count && cache->early_ns >= dt_state.hot_ns;
    if (hot && (cache->tried_ns != 0 || !dt_investment_is_spent(cache, dt_clock_ns()))) {
        return false;
    }
    if (hot) {
        dt_investment_put_off(cache);
    }
    if (cache->seen == 0) {
        dt_investment_start();
        cache->loops = dt_running_loops_has_one(cache->code);
    }
    cache->seen += cache->seen < UINT32_MAX;
    return true;
}

int64_t
dt_investment_begin(const DtCodeCache *cache)
{
    return cache->early_ns < dt_state.hot_ns ? dt_investment_clock() : 0;
}

int64_t
dt_investment_end(DtCodeCache *cache, int64_t began)
{
    if (began == 0) {
        return 0;
    }
    int64_t now = dt_investment_clock(), taken = now - began;
    cache->early_ns += taken;
    if (dt_state.hot_ns > 0 && cache->seen >= CALLS_IN_SERIES && taken < SHORT_CALL_NS) {
        /* The next ones will take as long. */
        cache->skips = CALLS_UNASKED;
        cache->early_ns += CALLS_UNASKED * taken;
        cache->seen += cache->seen < UINT32_MAX - CALLS_UNASKED ? CALLS_UNASKED : 0;
    }
    dt_resting_look(now + dt_state.compile_ns);
    return taken > 0 ? taken : 1;
}

/* ---- Calls that need not be asked for a while ------------------------------------------------ */

bool
dt_investment_is_short(const DtCodeCache *cache, int64_t taken)
{
    return taken != 0 && taken < IDLE_CALL_NS && cache->seen > CALLS_IN_SERIES
           && has_account(cache);
}

bool
dt_investment_is_asked(const DtCodeCache *cache)
{
    return has_account(cache) && cache->tried_ns == 0;
}

int64_t
dt_investment_give_up(DtCodeCache *cache, int64_t taken)
{
    int64_t now = dt_clock_ns(), pause = (int64_t)FIRST_REST_NS << cache->rests;
    cache->idle = 0;
    if (now < cache->idle_until_ns) {
        return cache
            ->idle_until_ns; /* a call that others are made in, which have said it already */
    }
    cache->rests += cache->rests < MOST_DOUBLED;
    if (taken < RESTING_CALL_NS) {
        return cache->idle_until_ns = now + pause;
    }
    int64_t calls = pause / taken;
    cache->skips = calls < MOST_PUT_OFF ? (uint32_t)calls : MOST_PUT_OFF;
    return 0;
}

int64_t
dt_investment_idle_until(DtCodeCache *cache, int64_t taken, bool reaches)
{
    bool idle = !reaches || taken < TINY_CALL_NS;
    cache->idle = idle ? cache->idle + 1 : 0;
    if (cache->idle < IDLE_CALLS) {
        return 0;
    }
    return dt_investment_give_up(cache, taken);
}

int64_t
dt_investment_waits_until(const DtCodeCache *cache)
{
    if (!dt_investment_has_to_wait(cache) || !has_account(cache)
        || cache->early_ns < dt_state.hot_ns
        || cache->early_ns > (int64_t)cache->seen * RESTING_CALL_NS) {
        return 0;
    }
    int64_t until = dt_state.paused_until_ns > cache->paused_until_ns ? dt_state.paused_until_ns
                                                                      : cache->paused_until_ns;
    return until > dt_clock_ns() + LEAST_WAIT_NS ? until : 0;
}
