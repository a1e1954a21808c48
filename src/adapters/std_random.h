/* Generators of the module `random` that existed before the trace: draws of numbers, in the graph.
 *
 *   random.gauss(0, 1) ─► random.Random.gauss(<generator>, 0, 1)   mutates the generator
 *
 * Python draws when the graph runs, in program order, so the stream is that of plain execution; a
 * run that is dropped puts the state back.  Generators that the trace makes are none of this: their
 * numbers are known (polyfills/random.py).
 */
#ifndef DT_ADAPTERS_STD_RANDOM_H
#define DT_ADAPTERS_STD_RANDOM_H

#include "variables/adapter.h"

extern const DtAdapter dt_std_random_adapter;

/* Methods that give several numbers (std_random_several.c), up to one without a name. */
typedef struct DtRandomSeveral {
    const char *name;
    DtStatus (*call)(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out);
} DtRandomSeveral;
extern const DtRandomSeveral dt_random_several[];

/* 'i' or 'f' if a list, tuple or range has numbers of that kind only, a list or tuple at most so
 * many; else 0. */
DtStatus dt_random_kind_of_items(DtTrace *trace, DtVar *var, uint32_t most,
                                 char *out) DT_MUST_CHECK;

int dt_std_random_init(void); /* registers the adapter; -1 with an exception */

#endif
