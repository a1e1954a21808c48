/* For values that refer to themselves: what a reconstruct slot leaves for later.
 *
 * Not in here: the other services for such slots (trace.h).
 */
#ifndef DT_VARIABLES_REBUILD_H
#define DT_VARIABLES_REBUILD_H

#include "variables/trace.h"

/* The cell that is being built is empty so far; it gets its contents once everything around it
 * exists, and before anything else is emitted. */
DtStatus dt_codegen_fill_later(DtCodegen *codegen, DtCellVar *cell) DT_MUST_CHECK;

#endif
