/* What trace.c needs of the layers above when a trace begins and ends: defined
 * by graph/graph.c, guards/recipe.c and sideeffects/journal.c. */
#ifndef DT_VARIABLES_SERVICES_H
#define DT_VARIABLES_SERVICES_H

#include "variables/trace.h"

DT_OWNED DtGraph *dt_graph_new(const char *name); /* NULL with MemoryError */
void dt_graph_decref(DtGraph *graph);
DtStatus dt_recipe_init(DtTrace *trace) DT_MUST_CHECK;
DtStatus dt_journal_init(DtTrace *trace) DT_MUST_CHECK;

#endif
