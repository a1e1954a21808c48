/* From emitted instructions to the real instructions of this CPython.
 *
 *   DtEmit ──► prologue │ NULLs │ regions (3.10: SETUP_FINALLY, POP_BLOCK)
 *              │ landings of FOR_ITER │ real opcodes (lower.c) ──► DtLegal
 *
 * Not in here: argument prefixes, caches, distances of jumps, tables
 * (assemble.c).
 */
#ifndef DT_CODEGEN_LEGALISE_H
#define DT_CODEGEN_LEGALISE_H

#include "codegen/instrs.h"
#include "codegen/nulls.h"
#include "core/map.h"

typedef struct DtRealInstr {
    uint8_t opcode;
    int32_t arg;  /* final, except for jumps */
    int32_t jump; /* index of a real instruction, or -1; a label while legalising */
    DtSpan position;
} DtRealInstr;

/* start <= instruction < end; the handler is entered with the depth before `start` plus
 * `extra`. */
typedef struct DtRealTry {
    uint32_t start;
    uint32_t end;
    uint32_t handler;
    int32_t extra;
    bool lasti;
} DtRealTry;

typedef struct DtLegal {
    DtArena *arena;
    const DtEmit *emit;
    DtNulls nulls;
    DT_VEC(DtRealInstr) instrs;
    DT_VEC(DtRealTry) tries; /* inner ones before outer ones */
    DT_VEC(PyObject *) consts;
    DT_VEC(PyObject *) names;
    DtMap const_numbers; /* object -> index + 1 */
    DtMap name_numbers;
    int *frame_slot; /* emitted slot -> slot of the frame (localsplus) */
    int *deref_slot; /* emitted slot -> argument of the DEREF opcodes */
    int nargs;       /* slots before this one are arguments */
    int ncells;
    int nfrees;
    uint32_t *starts;     /* emitted instruction -> first real one, behind any landing */
    uint8_t *is_loop_end; /* per emitted instruction: some FOR_ITER leads here */
    uint32_t *landings;   /* per emitted instruction: landing of those FOR_ITERs in front of it */
    int32_t fixed_label;  /* labels from here on are real indices: label - fixed_label */
} DtLegal;

/* `legal` is filled in the arena.  `doc` becomes the first constant. */
DtStatus dt_legalise_code(DtArena *arena, const DtEmit *emit, PyObject *doc, int firstlineno,
                          int nargs, DtLegal *legal) DT_MUST_CHECK;

/* The kind of a slot in the new code: only arguments can be local and cell at once. */
int dt_legal_slot_kind(const DtLegal *legal, uint32_t slot);

/* For lower.c: append real instructions with the position of `instr`. */
DtStatus dt_legal_put(DtLegal *legal, const DtEmitInstr *instr, int opcode, int arg) DT_MUST_CHECK;
DtStatus dt_legal_put_jump(DtLegal *legal, const DtEmitInstr *instr, int opcode,
                           DtLabel label) DT_MUST_CHECK;
DtStatus dt_legal_const(DtLegal *legal, PyObject *constant, int *number) DT_MUST_CHECK;
DtStatus dt_legal_name(DtLegal *legal, PyObject *name, int *number) DT_MUST_CHECK;

#endif
