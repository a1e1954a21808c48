/* Elementwise operations on few elements, four at a time: quads.c. */
#ifndef DT_BACKEND_NATIVE_QUADS_H
#define DT_BACKEND_NATIVE_QUADS_H

#include "adapters/numpy/api.h"

/* Operands and, last, the result: each of 4 * quads elements, which may be read and written all.
 * Numbers are repeated for each element. */
typedef void DtQuads(char *const *args, npy_intp quads);

/* What does the same as the ufunc's loop for these types, or NULL. */
DtQuads *dt_quads_find(const char *ufunc, const int *types, int nargs);
DtQuads *dt_quads_where(int size);

#endif
