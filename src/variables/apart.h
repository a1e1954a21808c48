/* What the graph knows of the memory of two arrays, for polyfills (v_api.c). */
#ifndef DT_VARIABLES_APART_H
#define DT_VARIABLES_APART_H

#include "variables/var.h"

/* Known to share no memory, one of them being new (graph/memory.c). */
bool dt_arrays_lie_apart(const DtArrayVar *a, const DtArrayVar *b);

#endif
