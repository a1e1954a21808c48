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

int dt_std_random_init(void); /* registers the adapter; -1 with an exception */

#endif
