/* The guard program: what an entry relies on, checked in C.
 *
 *   recipe (in the trace)  --lower-->  program (owned by the entry)
 *     (source, fact) ...                loads and checks over registers
 *
 * Every source used by a fact or wanted by the caller has a register that holds
 * a borrowed pointer after its load.  One implementation serves check and
 * explain: explain runs the same program with a reporter.
 * The check runs no user code except through a Python adapter's guard.
 */
#ifndef DT_GUARDS_PROGRAM_H
#define DT_GUARDS_PROGRAM_H

#include "variables/trace.h"

typedef struct DtGuardProgram DtGuardProgram;

/* The frame a program is checked against. */
typedef struct DtGuardFrame {
    PyObject *const *locals; /* the argument slots of the root frame */
    PyObject *globals;
    PyObject *builtins;
    PyObject *function; /* function object (its closure gives the free variables), or NULL */
} DtGuardFrame;

/* Lowers the trace's recipe.  `wanted[i]` must be readable after a successful check in
 * register dt_program_register(program, i).  Takes references to what identity guards need
 * (weak where the type allows). */
DtStatus dt_program_lower(DtTrace *trace, const DtSource *const *wanted, uint32_t nwanted,
                          DT_OWNED DtGuardProgram **out) DT_MUST_CHECK;
void dt_program_free(DtGuardProgram *program);
int dt_program_traverse(DtGuardProgram *program, visitproc visit, void *arg);

uint32_t dt_program_register_count(const DtGuardProgram *program);
uint32_t dt_program_register(const DtGuardProgram *program, uint32_t wanted);
/* After a check that held: the first `count` values that were wanted, in a tuple that keeps them
 * alive.  NULL with an error. */
DT_OWNED PyObject *dt_program_hold(const DtGuardProgram *program, PyObject *const *regs,
                                   uint32_t count);

/* 1 holds, 0 fails, -1 error (only from a Python adapter).  `regs` has register_count slots; on 1
 * they hold borrowed references, valid until anything else runs. */
int dt_program_check(DtGuardProgram *program, const DtGuardFrame *frame, PyObject **regs);

/* True once an object that the program relies on has died: the entry can never hold again. */
bool dt_program_is_dead(const DtGuardProgram *program);
/* Has it guards of Python adapters, which may do anything? */
bool dt_program_runs_user_code(const DtGuardProgram *program);

/* The first guard that fails, as text: "L['x'].shape[0] == 3, was 4 (file.py:12)"; "" if all hold.
 */
DtStatus dt_program_explain(DtGuardProgram *program, const DtGuardFrame *frame,
                            DtStrbuf *out) DT_MUST_CHECK;
/* All guards, a line each, with the user's line. */
void dt_program_print(const DtGuardProgram *program, DtStrbuf *out);
/* What the first guard that fails is about. */
typedef enum DtVaried {
    DT_VARIED_OTHER,
    DT_VARIED_NUMBER,      /* it asks a number to be one value, and it is another of its type */
    DT_VARIED_SPECIALISED, /* the same, of a size or of what was computed with numbers */
    DT_VARIED_CLASS        /* a class has changed */
} DtVaried;
/* `names`, a list, gets the printed sources of the numbers. */
DtStatus dt_program_varied(DtGuardProgram *program, const DtGuardFrame *frame, DtVaried *varied,
                           PyObject *names) DT_MUST_CHECK;
uint32_t dt_program_guard_count(const DtGuardProgram *program);

/* Bytes that a check reads or writes, and bytes that only explanations and changes need. */
typedef struct DtProgramSize {
    size_t touched;
    size_t texts;
} DtProgramSize;
void dt_program_measure(const DtGuardProgram *program, DtProgramSize *out);

/* The portable recipe (by source and content, no address) that the program was lowered from, and a
 * program lowered again from it in this process (identity facts are resolved by source on `frame`).
 */
DT_OWNED PyObject *dt_program_to_bytes(const DtGuardProgram *program);
DtStatus dt_program_from_bytes(PyObject *bytes, const DtGuardFrame *frame,
                               DT_OWNED DtGuardProgram **out) DT_MUST_CHECK;

#endif
