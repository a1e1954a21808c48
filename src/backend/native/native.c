/* The native executor: runs the stages of a planned graph. */
#include "backend/native/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "backend/eager.h"
#include "backend/native/line.h"
#include "backend/native/straight.h"

int
dt_native_init(void)
{
    if (dt_numpy_import() < 0) {
        return -1;
    }
    dt_native_register_loop_items();
    return 0;
}

static DtRun
run_stage(const DtStage *stage, DtNativeRun *run)
{
    if (stage->fused != NULL) {
        switch (dt_fused_run(stage->fused, run)) {
        case DT_FUSED_OK:
            return DT_RUN_OK;
        case DT_FUSED_CALL:
            break;
        case DT_FUSED_REPLAY:
            if (!run->committed) {
                return DT_RUN_REPLAY;
            }
            break; /* too late for that: NumPy reports as it would */
        case DT_FUSED_OTHER_WAY:
            return DT_RUN_OTHER_WAY;
        case DT_FUSED_ERROR:
            return DT_RUN_ERROR;
        }
    }
    if (stage->cells != NULL) {
        DtFusedRun made = dt_cells_run(stage->cells, run);
        if (DT_LIKELY(made != DT_FUSED_CALL)) {
            return made == DT_FUSED_OK ? DT_RUN_OK : DT_RUN_OTHER_WAY;
        }
    }
    if (stage->kernel != NULL) {
        DtFusedRun made = stage->kernel->run(stage->kernel, stage, run);
        if (DT_LIKELY(made != DT_FUSED_CALL)) {
            return made == DT_FUSED_OK ? DT_RUN_OK : dt_eager_failure(run->committed);
        }
    }
    return dt_called_run(stage, run);
}

/* A signal waits: is the run dropped for it? */
static bool
gives_up(DtNativeRun *run)
{
    run->patience.thread = run->committed ? NULL : dt_signals_thread();
    return run->patience.thread != NULL && dt_patience_ends(&run->patience);
}

static DtRun
run_stages(const DtStages *stages, DtNativeRun *run)
{
    for (uint32_t i = 0; i < stages->count; i++) {
        const DtStage *stage = &stages->items[i];
        DtRun result = run_stage(stage, run);
        if (result != DT_RUN_OK) {
            return result;
        }
        for (uint32_t j = 0; j < stage->nrelease; j++) {
            Py_CLEAR(run->values[stage->release[j]->index]);
        }
        if (DT_UNLIKELY(dt_signals_wait(PyThreadState_GET())) && i + 1 < stages->count
            && gives_up(run)) {
            return DT_RUN_REPLAY;
        }
    }
    return DT_RUN_OK;
}

static bool
is_large(const DtNative *exe, PyObject *const *inputs)
{
    for (uint32_t i = 0; i < exe->nwritten; i++) {
        PyObject *input = inputs[exe->written[i]];
        if (PyArray_Check(input) && PyArray_NBYTES((PyArrayObject *)input) >= DT_LARGE_WRITE) {
            return true;
        }
    }
    return false;
}

/* The stages for these inputs; NULL with *result for the run. */
static const DtStages *
choose_stages(DtNative *exe, PyObject *const *inputs, DtRun *result)
{
    switch (dt_write_check_inputs(exe, inputs)) {
    case DT_WRITE_APART:
        if (exe->declines && is_large(exe, inputs)) {
            *result = DT_RUN_REPLAY;
            return NULL;
        }
        return &exe->stages;
    case DT_WRITE_REFUSED:
        *result = DT_RUN_REPLAY;
        return NULL;
    case DT_WRITE_OVERLAP:
        break;
    }
    if (exe->strict.items == NULL && dt_native_plan(exe, true) != DT_OK) {
        *result = dt_eager_failure(false);
        return NULL;
    }
    return &exe->strict;
}

/* Outputs of the graph from the values; on failure none. */
static DtRun
take_outputs(const DtNative *exe, const DtStages *stages, DtNativeRun *run, PyObject **outputs)
{
    const DtGraph *graph = exe->base.graph;
    if (dt_cells_box_all(stages->boxes, stages->nboxes, run) < 0) {
        return dt_eager_failure(run->committed);
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        const DtOperand *operand = &graph->outputs[i];
        outputs[i] = dt_eager_operand(operand, run->values, run->symbols);
        if (outputs[i] == NULL) {
            while (i > 0) {
                i--; /* the macro of 3.10 and 3.11 evaluates its argument several times */
                Py_CLEAR(outputs[i]);
            }
            return dt_eager_failure(run->committed);
        }
    }
    return DT_RUN_OK;
}

/* Any graph. */
static DtRun
run_planned(DtNative *exe, PyObject *const *inputs, PyObject **outputs)
{
    DtExecutable *base = &exe->base;
    const DtGraph *graph = base->graph;
    uint32_t nodes = graph->nodes.count;
    PyObject *stack_values[DT_NATIVE_STACK_VALUES];
    DtNumber stack_symbols[DT_NATIVE_STACK_SYMBOLS];
    DtCell stack_cells[DT_NATIVE_STACK_CELLS];
    DtWritten stack_log[DT_WRITTEN_ROOM];
    DtNativeRun run = {.exe = exe,
                       .values = stack_values,
                       .symbols = stack_symbols,
                       .cells = stack_cells,
                       .log.room = stack_log};
    void *heap = NULL;
    DtRun result = DT_RUN_REPLAY;

    if (DT_UNLIKELY(nodes > DT_NATIVE_STACK_VALUES
                    || graph->symbol_limit > DT_NATIVE_STACK_SYMBOLS)) {
        heap = PyMem_Malloc(graph->symbol_limit * sizeof(DtNumber) + nodes * sizeof(PyObject *));
        if (heap == NULL) {
            return DT_RUN_REPLAY;
        }
        run.symbols = heap;
        run.values = (PyObject **)(run.symbols + graph->symbol_limit);
    }
    memset(run.values, 0, nodes * sizeof(PyObject *));
    dt_executable_incref(base); /* a called op may drop the entry that owns us */
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtNode *node = graph->inputs.items[i].node;
        if (node != NULL) {
            run.values[node->index] = Py_NewRef(inputs[i]);
        }
    }
    if (!exe->needs_symbols || dt_graph_read_symbols(graph, inputs, run.symbols)) {
        const DtStages *stages = &exe->stages;
        if (exe->nwritten > 0) {
            stages = choose_stages(exe, inputs, &result);
        }
        if (stages != NULL && stages->ncells > DT_NATIVE_STACK_CELLS) {
            run.cells = PyMem_Malloc(stages->ncells * sizeof(DtCell));
            if (run.cells == NULL) {
                PyErr_NoMemory();
                result = DT_RUN_ERROR;
                stages = NULL;
            }
        }
        if (stages != NULL) {
            result = run_stages(stages, &run);
        }
        if (result == DT_RUN_OK) {
            result = take_outputs(exe, stages, &run, outputs);
        }
    }
    dt_called_restore(&run);
    result = dt_eager_outcome(result, run.committed);
    if (result != DT_RUN_OK && !run.committed) {
        dt_written_undo(&run.log);
    }
    dt_written_forget(&run.log);
    for (uint32_t i = 0; i < nodes; i++) {
        Py_XDECREF(run.values[i]);
    }
    if (run.cells != stack_cells) {
        PyMem_Free(run.cells);
    }
    PyMem_Free(heap);
    dt_executable_decref(base);
    return result;
}

/* The graph is one fused stage.  Nothing is called that could let go of the executable or of an
 * input, so the caller's references do.  *done: false where the stage has to be called. */
static DtRun
run_lone(DtNative *exe, PyObject *const *inputs, PyObject **outputs, bool *done)
{
    const DtGraph *graph = exe->base.graph;
    PyObject *values[DT_NATIVE_STACK_VALUES];
    DtNumber symbols[DT_NATIVE_STACK_SYMBOLS];
    DtNativeRun run = {.exe = exe, .values = values, .symbols = symbols};
    *done = true;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtNode *node = graph->inputs.items[i].node;
        if (node != NULL) {
            values[node->index] = inputs[i];
        }
    }
    if (exe->needs_symbols && !dt_graph_read_symbols(graph, inputs, symbols)) {
        return DT_RUN_REPLAY;
    }
    switch (dt_fused_run(exe->lone, &run)) {
    case DT_FUSED_OK:
        for (uint32_t i = 0; i < graph->noutputs; i++) {
            outputs[i] = values[graph->outputs[i].u.node->index];
        }
        return DT_RUN_OK;
    case DT_FUSED_CALL:
        *done = false;
        return DT_RUN_OK;
    case DT_FUSED_REPLAY:
        return DT_RUN_REPLAY;
    case DT_FUSED_OTHER_WAY:
        return DT_RUN_OTHER_WAY;
    case DT_FUSED_ERROR:
        break;
    }
    return dt_eager_outcome(DT_RUN_ERROR, false);
}

static DtRun
native_run(DtExecutable *base, PyObject *const *inputs, PyObject **outputs)
{
    DtNative *exe = (DtNative *)base;
    if (exe->line != NULL && dt_line_is_for(exe->line, inputs)) {
        switch (dt_line_run(exe, inputs, outputs)) {
        case DT_FUSED_OK:
            return DT_RUN_OK;
        case DT_FUSED_REPLAY:
            return DT_RUN_REPLAY;
        case DT_FUSED_OTHER_WAY:
            return DT_RUN_OTHER_WAY;
        case DT_FUSED_ERROR:
            return dt_eager_outcome(DT_RUN_ERROR, false);
        case DT_FUSED_CALL:
            break;
        }
    }
    if (DT_LIKELY(exe->lone != NULL)) {
        bool done;
        DtRun ran = run_lone(exe, inputs, outputs, &done);
        if (DT_LIKELY(done)) {
            return ran;
        }
    }
    return run_planned(exe, inputs, outputs);
}

static void
free_kept(const DtStages *stages)
{
    for (uint32_t i = 0; stages->items != NULL && i < stages->count; i++) {
        if (stages->items[i].fused != NULL) {
            free(*stages->items[i].fused->layout);
            dt_straight_free(*stages->items[i].fused->straight);
        }
    }
}

static void
native_dealloc(DtExecutable *base)
{
    DtNative *exe = (DtNative *)base;
    free_kept(&exe->stages);
    free_kept(&exe->strict);
    dt_line_free(exe->line);
    free(exe->scratch);
    dt_arena_release(&exe->arena);
    free(exe);
}

static void
native_describe(const DtExecutable *base, DtStrbuf *buf)
{
    const DtNative *exe = (const DtNative *)base;
    dt_strbuf_addf(buf, "native: %u stages\n", exe->stages.count);
    for (uint32_t i = 0; i < exe->stages.count; i++) {
        const DtStage *stage = &exe->stages.items[i];
        if (stage->cells != NULL) {
            dt_strbuf_addf(buf, "  cells   %u nodes, %u steps:", stage->nnodes, stage->cells->nops);
            for (uint32_t j = 0; j < stage->nnodes; j++) {
                dt_strbuf_addf(buf, " %s", stage->nodes[j]->target);
            }
        }
        else if (stage->fused == NULL) {
            dt_strbuf_addf(buf, "  %s  %s%s", stage->kernel != NULL ? "kernel" : "called",
                           stage->nodes[0]->target,
                           stage->writes == DT_WRITES_NOTHING  ? ""
                           : stage->writes == DT_WRITES_AT_END ? " (at the end)"
                           : stage->writes == DT_WRITES_LAST   ? " (fails as a whole)"
                                                               : " (can be taken back)");
        }
        else {
            dt_strbuf_addf(buf, "  fused   %u ops, %u steps, blocks of %ld:", stage->nnodes,
                           stage->fused->nsteps, (long)stage->fused->block);
            for (uint32_t j = 0; j < stage->nnodes; j++) {
                dt_strbuf_addf(buf, " %s", stage->nodes[j]->target);
            }
        }
        dt_strbuf_add(buf, "\n");
    }
    if (exe->line != NULL) {
        dt_strbuf_add(buf, "  in a line where there are a few elements\n");
    }
}

static const DtExecutableType native_type = {
    .name = "native",
    .run = native_run,
    .dealloc = native_dealloc,
    .describe = native_describe,
};

DtStatus
dt_native_compile(DtGraph *graph, DtExecutable **out)
{
    if (dt_native_init() < 0) {
        return DT_ERROR;
    }
    DtNative *exe = calloc(1, sizeof(DtNative));
    if (exe == NULL) {
        return dt_no_memory();
    }
    dt_executable_init(&exe->base, &native_type, graph);
    dt_arena_init(&exe->arena);
    DtStatus status = dt_native_plan(exe, false);
    if (status == DT_OK) {
        status = dt_line_plan(exe);
    }
    if (status != DT_OK) {
        dt_executable_decref(&exe->base);
        return status;
    }
    *out = &exe->base;
    return DT_OK;
}
