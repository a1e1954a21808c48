/* Instructions as code units, and the tables beside them: what the two that place instructions
 * share (assemble.c, driver_code.c).
 *
 *   size ─► offsets, jump arguments ─► units written ─► entries of both tables, one instruction
 *   after the other
 */
#ifndef DT_CODEGEN_UNITS_H
#define DT_CODEGEN_UNITS_H

#include "bytecode/exception_table.h"
#include "bytecode/line_table.h"
#include "bytecode/opcodes.h"
#include "compat/python.h"

/* In units, with the prefixes of the argument and the caches. */
uint32_t dt_units_size(uint8_t opcode, int32_t arg);

/* The argument of a jump whose last unit is in front of `end` to the unit `to`; negative: it can't
 * go there. */
int32_t dt_units_jump(uint8_t opcode, int32_t end, int32_t to);

/* Where units are written; dt_units_begin() makes bytes for `count` of them. */
typedef struct DtUnits {
    PyObject *bytes; /* owned; NULL with an exception */
    uint8_t extended_arg;
} DtUnits;

void dt_units_begin(DtUnits *units, uint32_t count);
/* The units [start, end): more than the argument needs are prefixes of nothing. */
void dt_units_write(DtUnits *units, uint32_t start, uint32_t end, uint8_t opcode, int32_t arg);

/* Instructions side by side with the same position are one entry. */
typedef struct DtLineRuns {
    DtArena *arena;
    DtLineEntry *entries;
    uint32_t count;
} DtLineRuns;

DtStatus dt_line_runs_begin(DtLineRuns *runs, DtArena *arena, uint32_t most) DT_MUST_CHECK;
void dt_line_runs_add(DtLineRuns *runs, uint32_t start, uint32_t end, const DtSpan *position);
/* The bytes of the table; a new reference, or NULL with an exception. */
DT_OWNED PyObject *dt_line_runs_encode(const DtLineRuns *runs, int32_t firstlineno);

/* Those with the same handler are one entry. */
typedef struct DtHandlerRuns {
    DtArena *arena;
    DtExceptionEntry *entries;
    uint32_t count;
    int32_t running; /* the handler of the last instruction, or -1 */
} DtHandlerRuns;

DtStatus dt_handler_runs_begin(DtHandlerRuns *runs, DtArena *arena, uint32_t most) DT_MUST_CHECK;
/* `entry` says where the handler of that number is and how it is entered; -1: none. */
void dt_handler_runs_add(DtHandlerRuns *runs, uint32_t start, uint32_t end, int32_t handler,
                         DtExceptionEntry entry);
DT_OWNED PyObject *dt_handler_runs_encode(const DtHandlerRuns *runs);

#endif
