/* Branches on data that are followed as they go in this call.
 *
 *   if x.sum() > limit:    not known while tracing: the graph up to here is run with a node that
 *       ...                looks (eval_frame/guess.c), and the trace begins anew, knowing
 *
 * The trace then follows the one way, and a node of the graph checks that each call goes it.  Where
 * one does not, its run is dropped, as if the guards did not hold: another entry serves it.
 *
 * A branch that a trace comes to a second time, through the same calls, stands in a loop.  There
 * would be an entry for each sequence of ways: such branches are breaks.
 */
#include "graph/graph.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"

static const DtGuess *
find_guess(const DtTrace *trace, const DtArrayVar *asked)
{
    for (uint32_t i = 0; i < trace->guesses.count; i++) {
        const DtGuess *guess = &trace->guesses.items[i];
        if (guess->asked->node == asked->node && guess->asked->result == asked->result) {
            return guess;
        }
    }
    return NULL;
}

/* The instruction `at` of the frame, as reached by the calls that its callers are at: two of one
 * place are one, but for a collision, which makes a break of a branch. */
static uint64_t
place_of(const DtFrame *frame, uint32_t at)
{
    uint64_t place = 0;
    for (; frame != NULL; frame = frame->parent) {
        place = (place ^ (uintptr_t)frame->bytecode->code) * UINT64_C(0x9E3779B97F4A7C15);
        place = (place ^ at) * UINT64_C(0xBF58476D1CE4E5B9);
        at = frame->parent != NULL ? frame->parent->pc : 0;
    }
    return place;
}

static bool
was_here(const DtTrace *trace, uint64_t place)
{
    for (uint32_t i = 0; i < trace->guesses.count; i++) {
        if (trace->guesses.items[i].place == place) {
            return true;
        }
    }
    return false;
}

/* More than one element, or none, has no truth. */
static bool
is_single(const DtMeta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!dt_sym_is_const(meta->shape[i]) || meta->shape[i]->hint.i != 1) {
            return false;
        }
    }
    return true;
}

DtStatus
dt_frame_guess(DtTrace *trace, const DtFrame *frame, uint32_t at, DtVar *var, bool *truth,
               bool *done)
{
    const DtGuesses *guesses = &trace->options.guesses;
    const DtArrayVar *asked = (const DtArrayVar *)dt_var_peek(var);
    *done = false;
    if (guesses->limit == 0 || dt_trace_refuses(trace) || frame->polyfill
        || trace->graph->parent != NULL || !is_single(asked->meta)) {
        return DT_OK;
    }
    const DtGuess *known = find_guess(trace, asked);
    if (known != NULL) {
        *truth = known->truth;
        *done = true;
        return DT_OK;
    }
    uint64_t place = place_of(frame, at);
    if (was_here(trace, place)) {
        trace->goes_in_circles = true;
        return DT_RESTART;
    }
    uint32_t number = trace->guesses.count;
    if (number >= guesses->limit) {
        return DT_OK;
    }
    if (number >= guesses->known) {
        DT_TRY(asked->adapter->expect(trace, var, DT_LOOK, &trace->looks));
        return trace->looks ? DT_RESTART : DT_OK;
    }
    DtGuess guess = {asked, place, guesses->ways >> number & 1};
    DT_TRY(asked->adapter->expect(trace, var, guess.truth ? DT_GUESS_TRUE : DT_GUESS_FALSE, done));
    if (*done && dt_vec_push(&trace->arena, &trace->guesses, guess) < 0) {
        return dt_no_memory();
    }
    *truth = guess.truth;
    return DT_OK;
}

DtStatus
dt_frame_ask(DtTrace *trace, DtVar *var, bool *truth, bool *done)
{
    return dt_frame_guess(trace, trace->frame, trace->frame->pc, var, truth, done);
}
