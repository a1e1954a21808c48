/* See scale.h. */
#include "eval_frame/scale.h"

#include <string.h>

#include "backend/backend.h"
#include "core/clock.h"
#include "eval_frame/investment.h"

/* Calls until a verdict is looked at again; four times as many after each.  The first against what
 * was compiled is looked at sooner. */
#define WEIGH_AGAIN (1 << 14)
#define SECOND_LOOK (1 << 8)
/* Long calls are weighed from the first one on, without a warm-up; and samples of a kind that are
 * worth waiting for then. */
#define LONG_CALL_NS 2000000
#define LONG_CALL_SAMPLES 4
/* What is worth its memory, in percent of plain; what is so near to plain that samples of a busy
 * machine could tell otherwise is weighed a second time soon. */
#define WORTH_PERCENT 97
#define CLOSE_FROM_PERCENT 88
#define CLOSE_TO_PERCENT 110
#define CLOSE_WAIT 32
#define WEIGH_CLOSE_AGAIN (1 << 9)
/* Calls whose times differ by more than this part of their median are another amount of work each;
 * rounds that may be added up then, and the share of pairs that is enough after the last. */
#define WIDE_SHARE 8
#define MOST_UNDECIDED 16
#define ENOUGH_PERCENT 55
/* Samples of a part that are so long differ by little but what the part gains. */
#define LONG_PART_NS 1000000
/* What the samples of a part may take together before chance has to do: half of them are plain. */
#define PART_PATIENCE_NS 20000000
/* A scale under which things keep being compiled waits. */
#define DISCARD_LIMIT 32
#define UNSETTLED_WAIT 1024
#define SETTLING_WAIT 3
/* Calls in which a missing attempt may be made, before a verdict without it counts. */
#define MOST_TRIES 64
/* What is kept tells what it has saved about each time that it is so much. */
#define TELLING_NS 500000

uint64_t
dt_scale_news(void)
{
    return dt_state.compiled + dt_state.broken;
}

bool
dt_scale_weighs(const DtRegion *region)
{
    return !region->fullgraph && dt_backend_is_native(region->backend);
}

static void
wait(DtScale *scale, uint32_t calls)
{
    scale->state = DT_SCALE_WARMING;
    scale->countdown = calls < INT32_MAX ? (int32_t)calls : INT32_MAX;
}

static void
start_weighing(DtScale *scale)
{
    scale->state = DT_SCALE_WEIGHING;
    scale->taken[DT_SIDE_COMPILED] = scale->taken[DT_SIDE_PLAIN] = 0;
    scale->step = 0;
    scale->discarded = 0;
}

/* What a call of what is kept saves. */
static int64_t
gain_of(const DtScale *scale)
{
    int64_t gain = scale->medians[DT_SIDE_PLAIN] - scale->medians[DT_SIDE_COMPILED];
    return gain > 0 ? gain : 0;
}

/* The next calls of what is kept, up to when it has saved something to tell of. */
static void
begin_stint(DtScale *scale)
{
    int64_t gain = gain_of(scale), calls = gain > 0 ? TELLING_NS / gain + 1 : scale->left;
    scale->stint = calls < scale->left ? (uint32_t)calls : scale->left;
    scale->left -= scale->stint;
    scale->countdown = (int32_t)scale->stint - 1; /* the last one is asked */
}

/* They have been made; false: what is kept is to be weighed again. */
static bool
end_stint(DtScale *scale)
{
    if (!scale->told) {
        dt_investment_gain(scale->stint * gain_of(scale));
    }
    if (scale->left == 0) {
        return false;
    }
    begin_stint(scale);
    return true;
}

bool
dt_scale_goes_on(DtScale *scale)
{
    return scale->state == DT_SCALE_KEPT && scale->left > 0 && end_stint(scale);
}

static uint32_t
calls_until_next(const DtScale *scale)
{
    return (uint32_t)WEIGH_AGAIN << (2 * (scale->rounds < 8 ? scale->rounds - 1u : 7u));
}

bool
dt_scale_wants_samples(DtScale *scale, const DtRegion *region)
{
    scale->countdown = 0;
    if (dt_state.verify.on) {
        return false; /* what is compiled is to be compared, and comparing takes time */
    }
    switch ((DtScaleState)scale->state) {
    case DT_SCALE_NEW:
        if (dt_state.weigh_after > 0 && (region->records == NULL || region->quiet)
            && dt_scale_weighs(region)) {
            start_weighing(scale);
            scale->first = true;
            return true;
        }
        scale->state = DT_SCALE_UNWEIGHED;
        scale->countdown = INT32_MAX;
        return false;
    case DT_SCALE_KEPT:
        if (end_stint(scale)) {
            return false;
        }
        start_weighing(scale);
        return true;
    case DT_SCALE_WARMING:
        start_weighing(scale);
        return true;
    case DT_SCALE_WEIGHING:
        return true;
    case DT_SCALE_FORSAKEN:
        if (++scale->calls < (scale->rounds == 1 ? SECOND_LOOK : calls_until_next(scale))) {
            return false;
        }
        start_weighing(scale);
        return true;
    case DT_SCALE_UNWEIGHED:
        break;
    }
    scale->countdown = INT32_MAX;
    return false;
}

DtSide
dt_scale_next_side(const DtScale *scale)
{
    /* The Thue-Morse sequence: drifts of the machine's speed fall on both alike, and so does what
     * comes every so many samples, such as the end of an inner loop. */
    return __builtin_parity(scale->step) ? DT_SIDE_PLAIN : DT_SIDE_COMPILED;
}

static void
sort(int64_t *samples, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        int64_t sample = samples[i];
        uint32_t j = i;
        for (; j > 0 && samples[j - 1] > sample; j--) {
            samples[j] = samples[j - 1];
        }
        samples[j] = sample;
    }
}

/* Are the two ways told apart by chance only?  Pairs of one sample each are counted, of this round
 * and those before that said nothing (Mann and Whitney's U): by chance each is first in half of the
 * pairs, and twice the difference exceeds 2 standard deviations in one case of twenty. */
static bool
is_chance(DtScale *scale, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            int64_t later = scale->samples[DT_SIDE_PLAIN][j] - scale->samples[DT_SIDE_COMPILED][i];
            scale->ahead += (later > 0) - (later < 0);
        }
    }
    scale->chance += (int32_t)(4 * count * count * (2 * count + 1));
    return 3 * (int64_t)scale->ahead * scale->ahead <= scale->chance;
}

/* What rounds of mixed samples say: the compiled way was first in so many percent of the pairs. */
static int64_t
pairs_percent(const DtScale *scale, uint32_t count)
{
    int64_t pairs = (int64_t)(scale->undecided + 1) * count * count;
    return 50 + 50 * scale->ahead / pairs;
}

static void
judge(DtScale *scale)
{
    uint32_t count = scale->taken[0] < scale->taken[1] ? scale->taken[0] : scale->taken[1];
    for (int side = 0; side < 2; side++) {
        sort(scale->samples[side], scale->taken[side]);
        scale->medians[side] = scale->samples[side][(scale->taken[side] - 1) / 2];
        for (uint32_t i = 0; i + 1 < count; i++) {
            scale->sums[side] += scale->samples[side][i];
        }
    }
    int64_t compiled = scale->medians[DT_SIDE_COMPILED] * 100;
    int64_t plain = scale->medians[DT_SIDE_PLAIN];
    const int64_t *sorted = scale->samples[DT_SIDE_PLAIN];
    bool wide = sorted[count - 2] - sorted[1] > plain / WIDE_SHARE;
    bool close = compiled >= plain * CLOSE_FROM_PERCENT && compiled <= plain * CLOSE_TO_PERCENT;
    bool worth = compiled < plain * WORTH_PERCENT;
    scale->rounds += scale->rounds < UINT8_MAX;
    scale->calls = 0;
    bool chance = is_chance(scale, count);
    bool by_pairs = wide || (scale->part && plain < LONG_PART_NS);
    int64_t spent = (scale->undecided + 1) * 2 * (int64_t)count * plain; /* about */
    bool patient = wide || (by_pairs && spent < PART_PATIENCE_NS);
    if (patient && chance && scale->undecided < MOST_UNDECIDED) {
        scale->undecided++;
        wait(scale, CLOSE_WAIT);
        return;
    }
    if (by_pairs) {
        worth = pairs_percent(scale, count) >= ENOUGH_PERCENT
                && scale->sums[DT_SIDE_COMPILED] < scale->sums[DT_SIDE_PLAIN];
    }
    else if (close && scale->rounds == 1 && count == DT_SCALE_SAMPLES) {
        wait(scale, CLOSE_WAIT);
        return;
    }
    scale->undecided = 0;
    scale->ahead = scale->chance = 0;
    scale->sums[0] = scale->sums[1] = 0;
    if (!worth) {
        scale->state = DT_SCALE_FORSAKEN;
        return;
    }
    uint32_t calls = calls_until_next(scale);
    scale->state = DT_SCALE_KEPT;
    scale->left = close ? calls / (WEIGH_AGAIN / WEIGH_CLOSE_AGAIN) : calls;
    begin_stint(scale);
}

void
dt_scale_add(DtScale *scale, DtSide side, int64_t ns, bool news)
{
    if (news) {
        if (++scale->discarded == DISCARD_LIMIT) {
            wait(scale, UNSETTLED_WAIT);
        }
        return;
    }
    if (scale->first) {
        scale->first = false;
        if (ns < LONG_CALL_NS) {
            wait(scale, dt_state.weigh_after);
            return;
        }
    }
    scale->step++;
    if (scale->taken[side] < DT_SCALE_SAMPLES) {
        scale->samples[side][scale->taken[side]++] = ns;
    }
    uint8_t least = scale->taken[0] < scale->taken[1] ? scale->taken[0] : scale->taken[1];
    if (least == DT_SCALE_SAMPLES || (least == LONG_CALL_SAMPLES && ns > LONG_CALL_NS)) {
        judge(scale);
    }
}

void
dt_scale_begin(DtScale *scale, const DtRegion *region, DtScaleReady ready, DtScaleRun *run)
{
    *run = (DtScaleRun){.side = DT_SIDE_COMPILED};
    if (ready < DT_SCALE_WAITING && scale->state == DT_SCALE_NEW) {
        scale->countdown = ready == DT_SCALE_NOTHING ? 0 : SETTLING_WAIT;
        return;
    }
    if (scale->state == DT_SCALE_FORSAKEN && scale->early) {
        scale->countdown = 0;
        if (ready == DT_SCALE_TRYING && ++scale->calls == MOST_TRIES) {
            scale->early = false; /* what was missing is not come by any more */
        }
        if (ready == DT_SCALE_WAITING || !scale->early) {
            run->side = DT_SIDE_PLAIN;
        }
        else if (ready != DT_SCALE_TRYING) {
            wait(scale, SETTLING_WAIT);
        }
        return;
    }
    if (ready < DT_SCALE_WAITING
        && (scale->state == DT_SCALE_WARMING || scale->state == DT_SCALE_WEIGHING)) {
        wait(scale, SETTLING_WAIT);
        return;
    }
    if (scale->busy) {
        run->side = scale->state == DT_SCALE_WEIGHING ? dt_scale_next_side(scale) : run->side;
        scale->countdown = 0;
        return;
    }
    if (!dt_scale_wants_samples(scale, region)) {
        run->side = scale->state == DT_SCALE_FORSAKEN ? DT_SIDE_PLAIN : DT_SIDE_COMPILED;
        return;
    }
    run->side = dt_scale_next_side(scale);
    run->timed = true;
    scale->early = ready != DT_SCALE_SETTLED;
    run->news = dt_scale_news();
    run->taken = ++dt_state.samples;
    scale->busy = true;
    run->start = dt_clock_thread_ns();
}

bool
dt_scale_end(DtScale *scale, const DtScaleRun *run, bool failed)
{
    if (!run->timed || !scale->busy) { /* or reset() came in between */
        return false;
    }
    int64_t end = dt_clock_thread_ns();
    scale->busy = false;
    if (!failed && scale->state == DT_SCALE_WEIGHING && run->taken == dt_state.samples) {
        dt_scale_add(scale, run->side, end - run->start, run->news != dt_scale_news());
    }
    return dt_scale_is_forsaken(scale);
}
