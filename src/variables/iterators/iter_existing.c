/* Iterators that existed before the trace.
 *
 *   itertools.count(n)              the number that it gives next is an input, a symbol
 *   iter(list), iter(tuple)         one that was not started yet: over what it iterates is an input
 *
 * Steps are counted in `index`; the replay makes as many (sideeffects/diff.c). What stands
 * somewhere else at each call would need a new entry each time: iterators over sequences that were
 * started, and counters whose number decides what is done, are left to breaks. So are iterators
 * that a running frame holds: a loop over one stays a loop there.
 *
 * Not in here: what a step does for sequences (v_iter.c), every other existing iterator.
 */
#include "compat/iterators.h"
#include "variables/iterators/iterators.h"

/* ---- count ----------------------------------------------------------------------------------- */

enum { NEXT_NUMBER };

static DtStatus
next_of_existing_count(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *one;
    *out = self->state[NEXT_NUMBER];
    DT_TRY(dt_var_int(trace, 1, &one));
    DT_TRY(dt_var_binary(trace, DT_BINARY_ADD, *out, one, &self->state[NEXT_NUMBER]));
    self->index++;
    return DT_OK;
}

static const DtIterRow existing_count_row = {.name = "count", .next = next_of_existing_count};

DtStatus
dt_existing_count_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                        DtVar **out)
{
    int64_t value;
    if (trace->options.dynamic == 0 || !dt_iterators_count(object, &value)) {
        return dt_opaque_build(trace, object, source, trusted, out);
    }
    const DtSource *number = dt_source_get(trace, DT_SOURCE_COUNTED, source, NULL, 0);
    PyObject *hint = dt_trace_keep_take(trace, PyLong_FromLongLong(value));
    DtIterVar *self = DT_KINDS_NEW(trace, ITERATOR, DtIterVar, source);
    if (number == NULL || hint == NULL || self == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    DT_TRY(dt_guard_present(trace, number));
    self->row = &existing_count_row;
    self->cls = Py_TYPE(object);
    *out = &self->base;
    return dt_symbolic_build(trace, hint, number, false, &self->state[NEXT_NUMBER]);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

DtStatus
dt_existing_sequence_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                           DtVar **out)
{
    PyObject *sequence = trace->live ? NULL : dt_iterators_fresh(object);
    if (sequence == NULL) {
        return dt_opaque_build(trace, object, source, trusted, out);
    }
    const DtSource *over = dt_source_get(trace, DT_SOURCE_ITERATED, source, NULL, 0);
    if (over == NULL) {
        return DT_ERROR;
    }
    DtVar *subject;
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    DT_TRY(dt_guard_present(trace, over));
    DT_TRY(dt_var_build(trace, sequence, over, &subject));
    DT_TRY(dt_var_realize(trace, subject, &subject));
    return dt_iter_existing_sequence(trace, subject, source, out);
}
