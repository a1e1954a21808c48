/* Which loop an instruction stands in.
 *
 * Since 3.11 handlers of exceptions stand behind everything else and jump back to what comes after
 * their `try`; a jump back alone is no loop.
 */
#ifndef DT_BYTECODE_LOOPS_H
#define DT_BYTECODE_LOOPS_H

#include "bytecode/decode.h"

/* The innermost loop around instruction `at`, as its first instruction and its jump back; false if
 * there is none, or no memory to look for one (no exception is set). */
bool dt_loop_around(const DtBytecode *bytecode, int32_t at, int32_t *head, int32_t *last);

#endif
