/* Stack depths along every path of decoded code, and 3.10's block stack. */
#ifndef DT_BYTECODE_STACK_H
#define DT_BYTECODE_STACK_H

#include "bytecode/decode.h"

/* Sets `depth` of every reachable instruction and `max_depth`.  On code with
 * SETUP_FINALLY (3.10) it also makes the handlers and sets `handler`; else the
 * handlers must be there.  A stack that is popped below zero, that has two
 * depths at one place, or a handler that does not fit gives DT_ERROR with
 * ValueError. */
DtStatus dt_stack_compute(DtArena *arena, DtBytecode *bytecode) DT_MUST_CHECK;

#endif
