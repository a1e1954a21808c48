/* Making iterators, taking steps, and collecting what they give. */
#ifndef DT_VARIABLES_ITERATE_H
#define DT_VARIABLES_ITERATE_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Iterators (iter_existing.c, iter_containers.c, v_iter_over.c, v_iter.c) ----------------- */

DtStatus dt_existing_count_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_existing_sequence_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_iter_sequence(DtTrace *trace, DtVar *sequence, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_reversed(DtTrace *trace, DtVar *sequence, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_range(DtTrace *trace, DtVar *range, bool reversed, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_dict(DtTrace *trace, DtDictVar *dict, int what, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_getitem(DtTrace *trace, DtVar *instance, DtVar **out) DT_MUST_CHECK;
/* reversed() of an instance that has `length` items by __getitem__. */
DtStatus dt_iter_reversed_getitem(DtTrace *trace, DtVar *instance, int64_t length,
                                  DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_enumerate(DtTrace *trace, DtVar *iterable, int64_t start,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_zip(DtTrace *trace, DtVar *const *iterables, uint32_t count, bool strict,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_map(DtTrace *trace, DtVar *function, DtVar *const *iterables, uint32_t count,
                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_filter(DtTrace *trace, DtVar *function, DtVar *iterable,
                        DtVar **out) DT_MUST_CHECK;
/* Over the items of a str or bytes constant. */
DtStatus dt_iter_constant(DtTrace *trace, DtVar *constant, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_reversed_constant(DtTrace *trace, DtVar *constant, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_callable(DtTrace *trace, DtVar *callable, DtVar *sentinel,
                          DtVar **out) DT_MUST_CHECK;
/* next(iterator): what it yields, or NULL when it is exhausted, or the StopIteration that it raises
 * (dt_var_iternext() takes that for exhaustion too). */
DtStatus dt_iter_next(DtTrace *trace, DtVar *iterator, DtVar **out) DT_MUST_CHECK;
/* The value that a StopIteration carries; and, after a call that gave `status`, that of the
 * StopIteration it has raised (*returned), which is taken. */
DtStatus dt_iter_stop_value(DtTrace *trace, DtVar *exception, DtVar **out) DT_MUST_CHECK;
DtStatus dt_iter_take_stop(DtTrace *trace, DtStatus status, DtVar **out,
                           bool *returned) DT_MUST_CHECK;
/* An attribute, or NULL when there is none. */
DtStatus dt_iter_find_method(DtTrace *trace, DtVar *var, const char *name,
                             DtVar **out) DT_MUST_CHECK;
/* The traced program raises StopIteration(value), without arguments for None. */
DtStatus dt_iter_raise_stop(DtTrace *trace, DtVar *value);

/* ---- Generators (v_generator.c; trace.h has what drives one) --------------------------------- */

/* A generator, coroutine or asynchronous generator made by the trace. */
static inline bool
dt_generator_is(const DtVar *var)
{
    return var->type->kind == DT_KIND_GENERATOR || var->type->kind == DT_KIND_COROUTINE
           || var->type->kind == DT_KIND_ASYNC_GENERATOR;
}

/* ---- Collecting (collect.c) ------------------------------------------------------------------ */

/* What a __len__ of Python has returned, as len() gives it; raises what len() raises. */
DtStatus dt_collect_length(DtTrace *trace, DtVar *result, DtVar **out) DT_MUST_CHECK;
/* Follows what asking an object for a length hint runs; the hint itself is of no interest. */
DtStatus dt_collect_hint(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* dt_var_unpack() as list(iterable) does it: with the length hint of the iterable. */
DtStatus dt_collect_list(DtTrace *trace, DtVar *iterable, DtVar ***items,
                         uint32_t *count) DT_MUST_CHECK;
/* As C does it where it wants a sequence: a list or tuple as it is, else list(iter(iterable)). */
DtStatus dt_collect_fast(DtTrace *trace, DtVar *iterable, DtVar ***items,
                         uint32_t *count) DT_MUST_CHECK;
/* What an iterator gives from here on. */
DtStatus dt_collect_rest(DtTrace *trace, DtVar *iterator, DtVar ***items,
                         uint32_t *count) DT_MUST_CHECK;
/* dt_var_iternext(), with a break once `done` steps have reached config.unroll_limit. */
DtStatus dt_collect_step(DtTrace *trace, DtVar *iterator, uint32_t done, DtVar **out) DT_MUST_CHECK;

#endif
