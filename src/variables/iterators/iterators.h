/* What the files of iterators share: rows, and making trackers of them.  Private to variables/.
 *
 * An iterator is a DtIterVar; its row says what next() does.  Everything that a step changes is in
 * the struct itself (or in lists that are journalled on their own), so a copy of the struct is
 * enough to take a step back.  A step never writes into `parts`.
 */
#ifndef DT_VARIABLES_ITERATORS_H
#define DT_VARIABLES_ITERATORS_H

#include "compat/iterators.h"
#include "variables/kinds.h"

/* Arguments of the call that makes an iterator anew. */
#define DT_ITER_REBUILD_MAX 64

/* restore(subject, reversed, index) of compat/iterators.h makes it; `moved`: the subject begins at
 * the position, and the index is 0. */
typedef struct DtIterPosition {
    DtVar *subject;
    bool reversed, moved;
} DtIterPosition;

struct DtIterRow {
    const char *name;
    /* One step.  *out is NULL before the call; NULL after it: exhausted. */
    DtStatus (*next)(DtTrace *trace, DtIterVar *self, DtVar **out);
    /* send(value), for what is awaited: as dt_var_send().  NULL: it has no send. */
    DtStatus (*send)(DtTrace *trace, DtIterVar *self, DtVar *value, DtVar **out, bool *returned);
    PyTypeObject *(*python_type)(DtIterVar *self); /* or self->cls */
    /* The arguments of a call of self->cls that makes an iterator over what is left; a break when
     * there is none.  NULL: the row is rebuilt in another way. */
    DtStatus (*rebuild)(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count);
    DtStatus (*position)(DtTrace *trace, DtIterVar *self, DtIterPosition *out); /* or that */
    /* What asking for its length hint runs; NULL: nothing that anybody can see. */
    DtStatus (*hint)(DtTrace *trace, DtIterVar *self);
    bool latches; /* lets go of what it iterates over when it is exhausted */
};

/* A new iterator that goes over `subject`. */
DtStatus dt_iter_over(DtTrace *trace, const DtIterRow *row, DtVar *subject,
                      DtIterVar **out) DT_MUST_CHECK;
/* A new iterator of the class tracker `cls`, which is called (NULL: none). */
DtStatus dt_iter_make(DtTrace *trace, const DtIterRow *row, DtVar *cls,
                      DtIterVar **out) DT_MUST_CHECK;
/* Its inner iterators, over `count` iterables, in order. */
DtStatus dt_iter_parts(DtTrace *trace, DtIterVar *self, DtVar *const *iterables,
                       uint32_t count) DT_MUST_CHECK;
/* Appends to a list of the trace's own. */
DtStatus dt_iter_append(DtTrace *trace, DtSeqVar *list, DtVar *item) DT_MUST_CHECK;
/* reversed() of a dict or of a view: what 0 keys, 1 values, 2 items. */
DtStatus dt_iter_reversed_dict(DtTrace *trace, DtDictVar *dict, int what,
                               DtVar **out) DT_MUST_CHECK;
bool dt_iter_is_over_tuple(const DtIterVar *self);

/* An iterator that existed before, over a list or tuple, at its beginning. */
DtStatus dt_iter_existing_sequence(DtTrace *trace, DtVar *sequence, const DtSource *source,
                                   DtVar **out) DT_MUST_CHECK;

/* Rebuilders: never; from the parts as long as no step was made; from the parts at any time. */
DtStatus dt_iter_rebuild_never(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count);
DtStatus dt_iter_rebuild_untouched(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count);
DtStatus dt_iter_rebuild_parts(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count);
/* From the function and the parts. */
DtStatus dt_iter_rebuild_function(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count);

/* The row of __next__: a step, or StopIteration. */
DtStatus dt_iter_call_next(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out);

/* Arguments of those that take keywords: every keyword is one of the names, and none says what a
 * positional argument says already; `var`, called `name`, was given. */
DtStatus dt_iter_check_keywords(DtTrace *trace, const DtArgs *args,
                                const char *const *names) DT_MUST_CHECK;
DtStatus dt_iter_require(DtTrace *trace, DtVar *var, const char *name) DT_MUST_CHECK;

/* What awaiting asend(value) of an asynchronous generator, or __await__() of a coroutine gives. */
DtStatus dt_async_step(DtTrace *trace, DtVar *generator, DtVar *value, DtVar **out) DT_MUST_CHECK;
/* Breaks for one that nobody awaits: 3.13 warns of it. */
DtStatus dt_async_check_step(DtTrace *trace, DtVar *step) DT_MUST_CHECK;
DtStatus dt_async_wrapper(DtTrace *trace, DtVar *coroutine, DtVar **out) DT_MUST_CHECK;
/* Guards that no event loop wants to know of asynchronous generators; a break if one does. */
DtStatus dt_async_guard_hooks(DtTrace *trace) DT_MUST_CHECK;
/* The same for the frames that coroutines remember. */
DtStatus dt_async_guard_origins(DtTrace *trace) DT_MUST_CHECK;

/* Rows of itertools that have files of their own. */
int dt_iter_groups_init(void); /* -1 with an exception */
int dt_iter_chain_init(void);
extern const DtBuiltinTable dt_builtin_itertools_table, dt_builtin_itertools_endless_table,
    dt_builtin_itertools_filters_table, dt_builtin_itertools_groups_table,
    dt_builtin_itertools_pools_table;

#endif
