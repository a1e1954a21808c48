/* Methods of sets that combine whole sets, over settled arguments.
 *
 *   all elements known?  the method is performed on real sets, and its result,
 *                        order and choice among equal elements are CPython's
 *   else                 it is followed element by element, the order unknown
 */
#ifndef DT_VARIABLES_SET_OPERATION_H
#define DT_VARIABLES_SET_OPERATION_H

#include "variables/kinds.h"

typedef struct DtSetOperation {
    DtDictVar *self;
    const char *method;
    bool mutates;
    DtVar **args; /* settled */
    uint32_t nargs;
    PyObject *real;   /* of self, while it is performed; owned */
    PyObject *values; /* (self, arg, ...), likewise; owned */
} DtSetOperation;

/* Runs the method; `op` is what it does to each of its arguments in turn. */
DtStatus dt_set_operation_run(DtTrace *trace, DtSetOperation *operation, DtBinaryOp op,
                              DtVar **out) DT_MUST_CHECK;

/* Only the former of the two; *out is NULL if something is not known. */
DtStatus dt_set_operation_perform(DtTrace *trace, DtSetOperation *operation,
                                  DtVar **out) DT_MUST_CHECK;

/* Settles all arguments of a call. */
DtStatus dt_set_operation_settle(DtTrace *trace, DtSetOperation *operation,
                                 const DtArgs *args) DT_MUST_CHECK;
/* What iterating over an argument gives, once and for all: sets stay sets, dicts are copied, all
 * else is a tuple. */
DtStatus dt_set_operation_settle_argument(DtTrace *trace, DtVar *arg, DtVar **out) DT_MUST_CHECK;
/* The elements of an argument as a set; its own tracker if it is one. */
DtStatus dt_set_operation_as_set(DtTrace *trace, DtVar *arg, DtDictVar **out) DT_MUST_CHECK;

/* The tracker of an element: the one it came from, or a constant. */
DtStatus dt_set_operation_tracker(DtTrace *trace, DtDictVar *const *sets, uint32_t nsets,
                                  PyObject *item, DtVar **out) DT_MUST_CHECK;
/* Entries of `set` become those of the real one, in its order. */
DtStatus dt_set_operation_take_entries(DtTrace *trace, DtDictVar *set, PyObject *real,
                                       DtDictVar *const *from, uint32_t nfrom) DT_MUST_CHECK;

/* v_set.c: an entry without the journal and the layout; *added tells whether it is new. */
DtStatus dt_set_put_entry(DtTrace *trace, DtDictVar *set, DtVar *item, bool *added) DT_MUST_CHECK;
/* The same, remembered in the layout. */
DtStatus dt_set_put(DtTrace *trace, DtDictVar *set, DtVar *item) DT_MUST_CHECK;
/* What an item is looked up as: a set as the frozenset of its elements. */
DtStatus dt_set_as_element(DtTrace *trace, DtVar *item, DtVar **out) DT_MUST_CHECK;
/* How many elements of `a` are in `b`. */
DtStatus dt_set_count_common(DtTrace *trace, DtDictVar *a, DtDictVar *b,
                             uint32_t *common) DT_MUST_CHECK;
/* set_methods.c */
extern const DtMethodRow dt_set_methods[];

static inline bool
dt_set_is(const DtVar *var)
{
    return var->type->kind == DT_KIND_SET;
}

#endif
