/* The straight line that a fused stage is for a few elements: straight.c. */
#ifndef DT_BACKEND_NATIVE_STRAIGHT_H
#define DT_BACKEND_NATIVE_STRAIGHT_H

#include "backend/native/native.h"

enum { DT_STRAIGHT_MOST = 16 }; /* elements, where none has more than eight bytes */

/* The stage's line, made at first use; NULL: it has none for so many elements, or there is no
 * memory for it.  To be taken when no other code of Python can run before it is done with. */
DtStraight *dt_straight_get(const DtFused *fused, npy_intp total);
void dt_straight_free(DtStraight *straight);

/* Runs it over `total` elements, dense in one order: slots say where operands, numbers that are not
 * constant, and results are.  False: what came out is not sure to be all that NumPy's loops give,
 * and they are to be run. */
bool dt_straight_run(DtStraight *straight, char *const *slots, npy_intp total);

#endif
