/* See scale.h. */
#include "eval_frame/scale.h"

#include <string.h>

#include "core/clock.h"
#include "eval_frame/region.h"

/* Calls until a verdict is looked at again; four times as many after each. */
#define WEIGH_AGAIN (1 << 14)
/* Samples of a kind that are worth waiting for: long calls are known sooner. */
#define LONG_CALL_NS 2000000
#define LONG_CALL_SAMPLES 4
/* What is worth its memory, in percent of plain; what is so near to plain that samples of a busy
 * machine could tell otherwise is weighed a second time soon. */
#define WORTH_PERCENT 97
#define CLOSE_FROM_PERCENT 88
#define CLOSE_TO_PERCENT 110
#define CLOSE_WAIT 32
#define WEIGH_CLOSE_AGAIN (1 << 9)
/* A scale under which things keep being compiled waits. */
#define DISCARD_LIMIT 32
#define UNSETTLED_WAIT 1024
#define SETTLING_WAIT 8

uint64_t
dt_scale_news(void)
{
    return dt_state.compiled + dt_state.broken;
}

bool
dt_scale_weighs(const DtRegion *region)
{
    return !region->fullgraph && PyUnicode_Check(region->backend)
           && PyUnicode_CompareWithASCIIString(region->backend, "native") == 0;
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

bool
dt_scale_wants_samples(DtScale *scale, const DtRegion *region)
{
    scale->countdown = 0;
    switch ((DtScaleState)scale->state) {
    case DT_SCALE_NEW:
        if (dt_state.weigh_after > 0 && (region->records == NULL || region->quiet)
            && dt_scale_weighs(region)) {
            wait(scale, dt_state.weigh_after);
            return false;
        }
        scale->state = DT_SCALE_UNWEIGHED;
        scale->countdown = INT32_MAX;
        return false;
    case DT_SCALE_WARMING:
    case DT_SCALE_KEPT:
        start_weighing(scale);
        return true;
    case DT_SCALE_WEIGHING:
        return true;
    case DT_SCALE_FORSAKEN:
        if (++scale->calls >> (2 * (scale->rounds < 8 ? scale->rounds : 8)) < WEIGH_AGAIN / 4) {
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
    /* Drifts of the machine's speed fall on both alike. */
    return (scale->step & 3) == 1 || (scale->step & 3) == 2 ? DT_SIDE_PLAIN : DT_SIDE_COMPILED;
}

static int64_t
median(const int64_t *samples, uint32_t count)
{
    int64_t sorted[DT_SCALE_SAMPLES];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = i;
        for (; j > 0 && sorted[j - 1] > samples[i]; j--) {
            sorted[j] = sorted[j - 1];
        }
        sorted[j] = samples[i];
    }
    return sorted[(count - 1) / 2];
}

static void
judge(DtScale *scale)
{
    for (int side = 0; side < 2; side++) {
        scale->medians[side] = median(scale->samples[side], scale->taken[side]);
    }
    int64_t compiled = scale->medians[DT_SIDE_COMPILED] * 100;
    int64_t plain = scale->medians[DT_SIDE_PLAIN];
    bool close = compiled >= plain * CLOSE_FROM_PERCENT && compiled <= plain * CLOSE_TO_PERCENT;
    scale->rounds += scale->rounds < UINT8_MAX;
    scale->calls = 0;
    if (close && scale->rounds == 1) {
        wait(scale, CLOSE_WAIT);
        return;
    }
    if (compiled >= plain * WORTH_PERCENT) {
        scale->state = DT_SCALE_FORSAKEN;
        return;
    }
    uint32_t shift = 2 * (scale->rounds < 8 ? scale->rounds - 1u : 7u);
    scale->state = DT_SCALE_KEPT;
    dt_state.paid += dt_state.paid < UINT32_MAX;
    scale->countdown = (close ? WEIGH_CLOSE_AGAIN : WEIGH_AGAIN) << shift;
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
dt_scale_begin(DtScale *scale, const DtRegion *region, bool settled, DtScaleRun *run)
{
    *run = (DtScaleRun){.side = DT_SIDE_COMPILED};
    if (!settled && (scale->state == DT_SCALE_WARMING || scale->state == DT_SCALE_WEIGHING)) {
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
    return scale->state == DT_SCALE_FORSAKEN;
}
