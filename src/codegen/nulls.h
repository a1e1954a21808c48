/* Where the NULLs of emitted calls go on this CPython. */
#ifndef DT_CODEGEN_NULLS_H
#define DT_CODEGEN_NULLS_H

#include "codegen/instrs.h"

typedef struct DtNulls {
    uint8_t *before;  /* per instruction: NULLs to push before it */
    uint8_t *after;   /* per instruction: whether to push one behind it */
    uint8_t *beneath; /* per instruction: whether to put one under the value on top behind it */
    uint8_t *deeper;  /* per instruction: NULLs that its depth operand has to count too */
} DtNulls;

/* Follows the emitted stack and decides.  A stack that does not balance, or a
 * call of a value that nobody marked as a callable, is an internal error:
 * DT_ERROR with SystemError. */
DtStatus dt_nulls_place(DtArena *arena, const DtEmit *emit, DtNulls *nulls) DT_MUST_CHECK;

#endif
