/* What the files of codegen/ share while one frame is planned.
 *
 * The epilogue (effects, result, return) is emitted first: emitting it finds out
 * which graph outputs and early loads it needs.  The prologue (graph call,
 * replay check, early loads) is emitted behind it and then moved in front.
 */
#ifndef DT_CODEGEN_STATE_H
#define DT_CODEGEN_STATE_H

#include "codegen/codegen.h"
#include "codegen/instrs.h"

/* A value that the epilogue has built: kept in a temporary so that it is built once.  Its
 * instructions end with STORE_FAST slot, LOAD_FAST slot at `pair`; they go when nobody else loads
 * the slot. */
typedef struct DtShared {
    int slot; /* -1 while it is being built */
    uint32_t pair;
    bool reused;
} DtShared;

/* An output of the graph, by the temporary that it is unpacked into. */
typedef struct DtPlanOutput {
    DtOperand operand;
    int slot;
} DtPlanOutput;

/* A source that is loaded before the first effect, into a temporary. */
typedef struct DtEarlyLoad {
    const DtSource *source;
    int slot;
} DtEarlyLoad;

/* Instructions start <= i < end load this source: one step for the result program. */
typedef struct DtSourceRange {
    uint32_t start, end;
    const DtSource *source;
} DtSourceRange;

struct DtCodegen {
    DtTrace *trace;
    DtCodePlan *plan;
    DtEmit *emit;
    DtCodeLayout layout;       /* of the root's code; unified slots are slots of `emit` too */
    bool effects;              /* something is replayed: sources are read before it */
    bool operands;             /* emitting those of the writes */
    bool prologue;             /* emitting it: sources are loaded in place */
    DtMap shared;              /* DtVar -> DtShared */
    DT_VEC(DtShared *) pairs;  /* in order of emission */
    uint32_t building;         /* values that are half-built */
    DT_VEC(DtCellVar *) fills; /* made empty, to be filled when nothing is half-built */
    DT_VEC(DtPlanOutput) outputs;
    DtMap output_of; /* metadata of a node's result (one per result) -> 1 + its output */
    DT_VEC(DtEarlyLoad) early;
    DT_VEC(DtSourceRange) ranges;
    int temporaries;
};

/* Of a plan: what assembling needs. */
struct DtCodegenState {
    PyObject *callable; /* placeholder constants that dt_codegen_assemble replaces */
    PyObject *replay;
};

/* A fresh local of the rewritten frame. */
DtStatus dt_codegen_temporary(DtCodegen *codegen, int *slot) DT_MUST_CHECK;
/* The temporary that holds this output of the graph. */
DtStatus dt_codegen_output(DtCodegen *codegen, const DtOperand *operand, int *slot) DT_MUST_CHECK;
/* Instructions that load `source` now; DT_BREAK when bytecode can't. */
DtStatus dt_codegen_load_source(DtCodegen *codegen, const DtSource *source) DT_MUST_CHECK;
/* Can the source be loaded, its bases included? */
bool dt_codegen_is_loadable(const DtSource *source);

/* The result program for the epilogue, or NULL with DT_OK if it needs a frame; sets plan->loads. */
DtStatus dt_result_compile(DtCodegen *codegen, DtResultProgram **out) DT_MUST_CHECK;

#endif
