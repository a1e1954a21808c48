/* Which loop an instruction stands in.
 *
 * Handlers of exceptions may stand behind everything else, as they do since 3.12, and jump back to
 * what comes after their `try`; a jump back alone is no loop.  One to what leads to the handler is.
 */
#ifndef DT_BYTECODE_LOOPS_H
#define DT_BYTECODE_LOOPS_H

#include "bytecode/decode.h"

/* The innermost loop around instruction `at`, as its first instruction and a jump back to it;
 * false if there is none, or no memory to look for one (no exception is set). */
bool dt_loop_around(const DtBytecode *bytecode, int32_t at, int32_t *head, int32_t *last);

/* Does instruction `jump` jump back to the first one of a loop?  False without memory, too. */
bool dt_loop_is_closed_at(const DtBytecode *bytecode, int32_t jump);

/* May control that is at `at` come there again in the same frame?  True without memory, too. */
bool dt_loop_may_return_to(const DtBytecode *bytecode, int32_t at);

#endif
