/* What the files about classes derived from ndarray share (parts*.c). */
#ifndef DT_ADAPTERS_NUMPY_PARTS_H
#define DT_ADAPTERS_NUMPY_PARTS_H

#include "adapters/numpy/internal.h"
#include "variables/kinds.h"

/* What the class has under the name, if that is not ndarray's own; *out NULL: nothing. */
DtStatus dt_parts_own(DtTrace *, DtInstanceVar *self, const char *name,
                      PyObject **out) DT_MUST_CHECK;
/* An instance of the class of `like` around the plain array, told by __array_finalize__(like).
 * `owner`: whose memory it is, or NULL: the array's own. */
DtStatus dt_parts_dress(DtTrace *, DtInstanceVar *like, DtVar *array, DtVar *owner,
                        DtVar **out) DT_MUST_CHECK;
/* A view of all of a plain array. */
DtStatus dt_parts_view(DtTrace *, DtVar *array, DtVar **out) DT_MUST_CHECK;
/* The arguments with instances of the class of `self` as their plain arrays, in tuples too; another
 * class is a break, as is an object that is no array, number or sequence of those. */
DtStatus dt_parts_plain_args(DtTrace *, DtInstanceVar *self, const DtArgs *,
                             DtArgs *out) DT_MUST_CHECK;
/* Is there an instance behind the tracker, or in a list or tuple? */
DtStatus dt_parts_inside(DtTrace *, DtVar *, bool *out) DT_MUST_CHECK;

/* ---- Ufuncs (parts_ufunc.c) ---- */

/* Nobody but the class has a word about a ufunc of these: plain arrays and numbers, and instances
 * of the class. */
DtStatus dt_parts_need_operands(DtTrace *, DtInstanceVar *self, const DtArgs *) DT_MUST_CHECK;
/* Results may be wrapped as ndarray does it, and the class wins over plain arrays; else a break. */
DtStatus dt_parts_need_plain_ufuncs(DtTrace *, DtInstanceVar *self) DT_MUST_CHECK;
/* A result of a ufunc, or a tuple of them: a view of the class around each, also around what has no
 * dimensions. */
DtStatus dt_parts_wrap(DtTrace *, DtInstanceVar *owner, DtVar *result, DtVar **out) DT_MUST_CHECK;
/* A slot of that name of a class with an __array_ufunc__. */
DtStatus dt_parts_ask_array_ufunc(DtTrace *, DtInstanceVar *self, const char *name, const DtArgs *,
                                  DtVar **out) DT_MUST_CHECK;

#endif
