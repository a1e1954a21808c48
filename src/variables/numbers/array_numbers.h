/* Builtin functions called with numbers that lie in arrays: which of them the graph can call.
 *
 * The rows are array_numbers.def; the adapter of the array makes the node.
 */
#ifndef DT_VARIABLES_ARRAY_NUMBERS_H
#define DT_VARIABLES_ARRAY_NUMBERS_H

#include "variables/var.h"

struct DtNumberRow {
    const char *module, *name;
    const char *target; /* "math.sqrt" */
    char result;        /* see array_numbers.def */
};

/* A call of builtin `self` with an array among its (realised) arguments: a graph value, or the
 * break array-to-scalar. */
DtStatus dt_array_number(DtTrace *, DtVar *self, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
/* Can a Python number be taken out of it? */
bool dt_array_is_number(DtVar *var);
/* Realises the values; is there an array among them? */
DtStatus dt_array_among(DtTrace *, DtVar *const *vars, uint32_t count, bool *out) DT_MUST_CHECK;

#endif
