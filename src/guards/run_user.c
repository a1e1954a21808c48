/* See run.h: a run of a program that has guards of Python adapters.
 *
 *   pure part ─► registers held ─► guards of adapters ─► registers let go ─► pure part once more
 *
 * Such a guard can do anything: the registers are kept alive around it, and what it might have
 * changed is seen by the second run.  Other threads may check the same program meanwhile, so this
 * run has numbers of its own.
 */
#include "guards/run.h"

#include <string.h>

/* May run anything: the last reference to an object can be among them. */
static void
release_all(PyObject **held, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Py_CLEAR(held[i]);
    }
}

/* The pure part with numbers of its own; those that groups have read stay with the program. */
static int
run_pure(DT_RUN_PARAMS, const DtGuardInstr **failed)
{
    size_t size = program->nsymbols * sizeof(DtNumber);
    memcpy(numbers, program->numbers, size);
    int ok = dt_run_list(DT_RUN_ARGS, program->instrs, failed);
    memcpy(program->numbers, numbers, size);
    return ok;
}

int
dt_run_user(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs, bool keep,
            const DtGuardInstr **failed)
{
    uint32_t nregs = program->nregs;
    int ok = -1;
    PyObject **held = PyMem_Calloc(nregs + 1, sizeof(PyObject *));
    DtNumber *numbers = PyMem_Calloc(program->nsymbols + 1, sizeof(DtNumber));
    *failed = NULL;
    if (held == NULL || numbers == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (uint32_t i = 0; i < nregs; i++) {
        regs[i] = NULL; /* some are loaded by the user part, some only when a group has changed */
    }
    ok = run_pure(DT_RUN_ARGS, failed);
    if (ok != 1) {
        goto done;
    }
    for (uint32_t i = 0; i < nregs; i++) {
        held[i] = regs[i];
        Py_XINCREF(held[i]);
    }
    ok = dt_run_list(DT_RUN_ARGS, &program->instrs[program->user], failed);
    if (!keep) {
        release_all(held, nregs);
    }
    if (ok == 1) {
        ok = program->life->dead ? 0 : run_pure(DT_RUN_ARGS, failed);
    }
done:
    if (keep && held != NULL) {
        for (uint32_t i = 0; i < nregs; i++) {
            Py_XINCREF(regs[i]); /* loaded just now, or still held since the first run */
        }
        release_all(held, nregs);
    }
    PyMem_Free(held);
    PyMem_Free(numbers);
    return ok;
}
