/* Inside of result programs: shared by the compiler (result.c) and the machine (result_run.c).
 *
 * A program is a list of steps over a stack of owned references.  Names and
 * constants are `consts`; values that the guard check has read are `loads`.
 */
#ifndef DT_CODEGEN_RESULT_H
#define DT_CODEGEN_RESULT_H

#include "codegen/codegen.h"

typedef enum DtStepKind {
#define STEP(NAME, STACK) DT_STEP_##NAME,
#include "codegen/steps.def"
#undef STEP
    DT_STEP_COUNT
} DtStepKind;

typedef struct DtResultStep {
    uint16_t step; /* DtStepKind */
    uint16_t flags;
    uint32_t arg;
} DtResultStep;

struct DtResultProgram {
    bool single; /* the answer is output 0, nothing else */
    bool sure;   /* no step can fail, and none leaves anything on the stack */
    bool packed; /* the answer is a tuple of the outputs and constants that steps before it push */
    uint32_t nsteps;
    uint32_t noutputs;
    uint32_t ntemporaries;
    uint32_t depth;
    uint32_t nconsts;
    int line;           /* of the return: where a failing effect shows in a traceback */
    PyObject *name;     /* DT_OWNED; function and file for the same */
    PyObject *filename; /* DT_OWNED */
    PyObject **consts;  /* DT_OWNED; behind the steps */
    DtResultStep steps[];
};

#endif
