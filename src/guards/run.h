/* The parts of a run of a guard program (program.c, run_user.c). */
#ifndef DT_GUARDS_RUN_H
#define DT_GUARDS_RUN_H

#include "guards/internal.h"

/* What every part of a run is handed: separate parameters stay in machine registers, where a struct
 * would be read again after each store. */
#define DT_RUN_PARAMS                                                                              \
    DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs, DtNumber *numbers
#define DT_RUN_ARGS program, frame, regs, numbers

/* Runs from `in` to the next END: 1, 0, -1; *failed is the instruction that did not hold. */
int dt_run_list(DT_RUN_PARAMS, const DtGuardInstr *in, const DtGuardInstr **failed) DT_MUST_CHECK;

/* The whole program, which has guards of Python adapters; they may run anything.  Without `keep`
 * nothing runs between the last loads of the registers and the return; with it they are owned when
 * it returns.  *failed NULL: no instruction is to blame. */
int dt_run_user(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs, bool keep,
                const DtGuardInstr **failed) DT_MUST_CHECK;

#endif
