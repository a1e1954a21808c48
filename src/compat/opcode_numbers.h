/* Opcode numbers of this CPython, as the macros of its opcode.h.
 *
 * Apart from compat/python.h because the macros are everyday words (COPY,
 * CALL, NOP): only the file that writes real instructions includes this.
 */
#ifndef DT_COMPAT_OPCODE_NUMBERS_H
#define DT_COMPAT_OPCODE_NUMBERS_H

#include "compat/python.h"

#include <opcode.h>

#endif
