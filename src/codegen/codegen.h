/* From a finished trace to something that runs.
 *
 *   trace, result tracker
 *        │ collect graph outputs (arrays and symbols that the result or an effect needs)
 *        ▼
 *   canonical instructions:  graph call │ effects │ result │ RETURN_VALUE
 *        │                                   │
 *        ▼ legalise, assemble                ▼ if only constants, inputs, outputs, containers
 *   code object for this CPython        result program, run in C without a frame
 *
 * Both consumers read the same instruction list, so they can't disagree.
 */
#ifndef DT_CODEGEN_CODEGEN_H
#define DT_CODEGEN_CODEGEN_H

#include "codegen/instrs.h"
#include "graph/graph.h"
#include "variables/trace.h"

/* A result program: postfix, over a stack of owned references. */
typedef struct DtResultProgram DtResultProgram;

typedef struct DtCodePlan {
    /* Inputs of the graph, in its order: where the caller reads them. */
    const DtSource **inputs;
    uint32_t ninputs;
    /* Sources that the result program loads, in its order. */
    const DtSource **loads;
    uint32_t nloads;
    DtResultProgram *result; /* DT_OWNED; NULL if the result needs a frame */
    uint32_t npushed;        /* of a segment that was cut: values that the frame pushes */
    bool has_graph;          /* false: the graph has neither calls nor outputs */
    uint32_t ncalls;         /* operations left in the graph; 0: nothing but sizes and numbers */
    bool has_arrays;         /* some of them are on arrays */
    DtEmit *emit;            /* canonical instructions of the new code; the graph's callable is
                                a placeholder constant patched by dt_codegen_assemble */
    struct DtCodegenState *state; /* private */
} DtCodePlan;

/* Finishes trace->graph and plans the rewritten frame that returns `result`.  Of a segment: what it
 * leaves in its frame (`result` NULL), or its return; it has a result program or breaks, and its
 * code is for people only. */
DtStatus dt_codegen_plan(DtTrace *trace, DtVar *result, DtCodePlan *plan) DT_MUST_CHECK;

/* The rewritten code: same arguments, names, filename and lines as the original; calls
 * `graph_callable(*inputs)`, which returns a tuple of the outputs, or `replay` (a sentinel object)
 * when the call has to be made again plainly: then the rewritten code returns `replay` too, before
 * any effect. */
DtStatus dt_codegen_assemble(DtTrace *trace, DtCodePlan *plan, PyObject *graph_callable,
                             PyObject *replay, DT_OWNED PyObject **code) DT_MUST_CHECK;

/* The frame that a result program stands for. */
typedef struct DtRunFrame {
    PyObject *globals; /* DT_BORROWED */
    /* Of a segment: the frame's memory, and where the values that it pushes go. */
    PyObject **memory;
    PyObject **landing;
} DtRunFrame;

/* Runs the result program, effects included: `outputs` (stolen, each set to NULL) of the graph,
 * `loads` borrowed.  Effects run what the user's own statements would.  A new reference, or NULL
 * with an error, whose traceback shows the user's line.  A segment that was cut gives None. */
DT_OWNED PyObject *dt_result_run(const DtResultProgram *program, PyObject **outputs,
                                 PyObject *const *loads, const DtRunFrame *frame);
void dt_result_free(DtResultProgram *program);
int dt_result_traverse(DtResultProgram *program, visitproc visit, void *arg);

#endif
