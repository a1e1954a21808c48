/* What the stages of a plan run with.
 *
 *   cells ─► boxes ─► fused stages (fuse.c), cells (cells_plan.c), kernels, calls ─► releases
 *         ─► which writes are saved before ─► what a graph of one fused stage needs not do
 *
 * Not in here: which nodes share a stage, and in which order stages run (plan.c).
 */
#include "backend/native/kernels.h"
#include "backend/native/plan.h"

#include "backend/eager.h"

/* Which nodes have cells. */
static void
give_cells(DtPlan *plan, DtStages *stages)
{
    for (uint32_t i = 0; i < plan->graph->nodes.count; i++) {
        DtPlanNode *own = &plan->nodes[i];
        if (own->node == NULL || own->stage < 0) {
            continue;
        }
        if (plan->stages.items[own->stage]->cells) {
            own->cell_type = (uint8_t)dt_cell_type_made(own->node);
        }
        else if (dt_plan_is_reduce(own) || dt_kernel_gives_number(own->node)) {
            own->cell_type = (uint8_t)dt_cell_type_of(&own->node->results[0]);
        }
        if (own->cell_type != DT_CELL_NONE) {
            own->cell = dt_cells_new(stages);
        }
    }
}

/* Adds what lies in cells to `boxes`, if that is given, and counts it. */
static void
find_boxes(const DtPlan *plan, const DtOperand *operand, DtBox *boxes, uint32_t *count)
{
    if (operand->kind == DT_OPERAND_NODE) {
        const DtPlanNode *own = &plan->nodes[operand->u.node->index];
        if (own->cell_type != DT_CELL_NONE) {
            if (boxes != NULL) {
                boxes[*count] = dt_plan_box(own);
            }
            ++*count;
        }
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        find_boxes(plan, &operand->items[i], boxes, count);
    }
}

static DtStatus
list_boxes(DtNative *exe, const DtPlan *plan, const DtStage *stage, DtBox **boxes, uint32_t *count)
{
    const DtGraph *graph = plan->graph;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t nnodes = stage == NULL ? 1 : stage->nnodes;
        if (pass == 1) {
            *boxes = DT_ARENA_ARRAY(&exe->arena, DtBox, *count + 1);
            if (*boxes == NULL) {
                return dt_no_memory();
            }
        }
        *count = 0;
        for (uint32_t i = 0; i < nnodes; i++) {
            const DtOperand *operands = stage == NULL ? graph->outputs : stage->nodes[i]->args;
            uint32_t noperands = stage == NULL ? graph->noutputs : stage->nodes[i]->nargs;
            for (uint32_t j = 0; j < noperands; j++) {
                find_boxes(plan, &operands[j], pass == 0 ? NULL : *boxes, count);
            }
        }
    }
    return DT_OK;
}

static DtStatus
emit_stage(DtNative *exe, DtPlan *plan, uint32_t index, DtStages *stages, DtStage *out)
{
    DtPlanStage *stage = plan->stages.items[index];
    uint32_t count = stage->nodes.count;
    out->nnodes = count;
    out->nodes = DT_ARENA_ARRAY(&exe->arena, const DtNode *, count);
    out->called = DT_ARENA_ARRAY(&exe->arena, uint8_t, count);
    out->binary = DT_ARENA_ARRAY(&exe->arena, binaryfunc, count);
    if (out->nodes == NULL || out->called == NULL || out->binary == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        out->nodes[i] = plan->graph->nodes.items[stage->nodes.items[i]];
        out->called[i] = dt_called_flags(out->nodes[i]);
        out->binary[i] = dt_called_binary(out->nodes[i]);
    }
    DT_TRY(list_boxes(exe, plan, out, &out->boxes, &out->nboxes));
    if (stage->fused) {
        DT_TRY(dt_fuse_build(exe, plan, stage, &out->fused));
    }
    else if (stage->cells) {
        DT_TRY(dt_cells_build(exe, plan, stage, stages, &out->cells));
    }
    else {
        exe->called_nodes += count;
        if (count == 1) {
            DT_TRY(dt_kernel_plan(exe, plan, out->nodes[0], &out->kernel));
        }
    }
    return DT_OK;
}

static bool
dies_with_stage(const DtPlan *plan, uint32_t node)
{
    int32_t last = plan->nodes[node].last_stage;
    return last >= 0 && last < (int32_t)plan->stages.count;
}

/* What each stage releases: the values that it uses last. */
static DtStatus
emit_releases(DtNative *exe, const DtPlan *plan, DtStages *stages)
{
    uint32_t count = plan->graph->nodes.count;
    for (uint32_t i = 0; i < count; i++) {
        if (dies_with_stage(plan, i)) {
            stages->items[plan->nodes[i].last_stage].nrelease++;
        }
    }
    for (uint32_t i = 0; i < stages->count; i++) {
        DtStage *stage = &stages->items[i];
        stage->release = DT_ARENA_ARRAY(&exe->arena, const DtNode *, stage->nrelease + 1);
        if (stage->release == NULL) {
            return dt_no_memory();
        }
        stage->nrelease = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (dies_with_stage(plan, i)) {
            DtStage *stage = &stages->items[plan->nodes[i].last_stage];
            stage->release[stage->nrelease++] = plan->graph->nodes.items[i];
        }
    }
    return DT_OK;
}

/* What a write changes is saved before if it can fail half-way, or if anything after it can fail.
 */
static void
mark_writes(DtStages *stages)
{
    bool fails_later = false;
    for (uint32_t i = stages->count; i-- > 0;) {
        DtStage *stage = &stages->items[i];
        const DtNode *node = stage->nodes[0];
        bool sure = stage->fused == NULL;
        for (uint32_t j = 0; j < stage->nnodes && sure; j++) {
            sure = dt_write_is_sure(stage->nodes[j]) || dt_write_is_sure_view(stage->nodes[j]);
        }
        bool is_last = !fails_later && !sure && stage->fused == NULL && dt_write_is_whole(node);
        fails_later = fails_later || !sure;
        if (stage->fused == NULL && dt_written_can_undo(node)) {
            stage->writes = is_last       ? DT_WRITES_LAST
                            : fails_later ? DT_WRITES_SAVED
                                          : DT_WRITES_AT_END;
        }
    }
    const DtNode *saved[16]; /* a loop writes the same few parts over and over */
    uint32_t nsaved = 0;
    for (uint32_t i = 0; i < stages->count; i++) {
        DtStage *stage = &stages->items[i];
        bool covered = false;
        if (stage->writes != DT_WRITES_SAVED || (stage->kernel != NULL && stage->kernel->saves)) {
            continue;
        }
        for (uint32_t j = 0; j < nsaved && !covered; j++) {
            covered = dt_written_is_same_part(saved[j], stage->nodes[0]);
        }
        if (covered) {
            stage->writes = DT_WRITES_COVERED;
        }
        else if (nsaved < sizeof(saved) / sizeof(saved[0])) {
            saved[nsaved++] = stage->nodes[0];
        }
    }
}

static bool
is_listed(const uint32_t *items, uint32_t count, uint32_t item)
{
    for (uint32_t i = 0; i < count; i++) {
        if (items[i] == item) {
            return true;
        }
    }
    return false;
}

/* May it stand for a ufunc that wrote its result into an array, by a loop that rounds otherwise
 * where it reads what it writes? */
static bool
wants_apart(const DtPlan *plan, const DtNode *write)
{
    if (!dt_written_is_setitem(write) || write->args[1].kind != DT_OPERAND_CONST
        || write->args[1].u.object != Py_Ellipsis || write->args[2].kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtNode *value = write->args[2].u.node;
    if (value->kind != DT_NODE_CALL || !PyObject_TypeCheck(value->callee, &PyUFunc_Type)) {
        return false;
    }
    const DtLoop *loop = plan->nodes[value->index].loop;
    return loop == NULL || loop->allow != DT_ALLOW_ANY;
}

/* The inputs that the graph writes. */
static DtStatus
find_written(DtNative *exe, const DtPlan *plan)
{
    const DtGraph *graph = exe->base.graph;
    exe->nwritten = 0;
    exe->written = DT_ARENA_ARRAY(&exe->arena, uint32_t, graph->inputs.count + 1);
    if (exe->written == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i], *owner;
        exe->apart = exe->apart || wants_apart(plan, node);
        for (uint32_t j = 0; dt_written_can_undo(node) && j < node->nmutated; j++) {
            if (dt_graph_memory(&node->args[node->mutated[j]], &owner) != DT_MEMORY_INPUT) {
                continue;
            }
            for (uint32_t k = 0; k < graph->inputs.count; k++) {
                if (graph->inputs.items[k].node == owner
                    && !is_listed(exe->written, exe->nwritten, k)) {
                    exe->written[exe->nwritten++] = k;
                }
            }
        }
    }
    return DT_OK;
}

/* The stage of a graph that consists of it alone and returns each of its outputs once. */
static const DtFused *
find_lone(const DtNative *exe)
{
    const DtGraph *graph = exe->base.graph;
    const DtFused *fused = exe->stages.count == 1 ? exe->stages.items[0].fused : NULL;
    if (fused == NULL || !fused->simple || exe->nwritten > 0 || graph->noutputs != fused->noutputs
        || graph->nodes.count > DT_NATIVE_STACK_VALUES
        || graph->symbol_limit > DT_NATIVE_STACK_SYMBOLS) {
        return NULL;
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        const DtOperand *operand = &graph->outputs[i];
        uint32_t made = 0;
        for (uint32_t j = 0; operand->kind == DT_OPERAND_NODE && j < fused->noutputs; j++) {
            made += operand->u.node == fused->outputs[j].node;
        }
        for (uint32_t j = 0; j < i; j++) {
            made += graph->outputs[j].u.node == operand->u.node; /* twice the same */
        }
        if (made != 1 || operand->u.node->nresults > 1) {
            return NULL;
        }
    }
    return fused;
}

DtStatus
dt_plan_emit(DtNative *exe, DtPlan *plan, bool strict)
{
    DtStages stages = {.count = plan->stages.count};
    stages.items = DT_ARENA_ARRAY(&exe->arena, DtStage, stages.count + 1);
    if (stages.items == NULL) {
        return dt_no_memory();
    }
    give_cells(plan, &stages);
    for (uint32_t i = 0; i < stages.count; i++) {
        DT_TRY(emit_stage(exe, plan, i, &stages, &stages.items[i]));
    }
    DT_TRY(list_boxes(exe, plan, NULL, &stages.boxes, &stages.nboxes));
    DT_TRY(emit_releases(exe, plan, &stages));
    mark_writes(&stages);
    if (!strict) {
        DT_TRY(dt_direct_plan(exe, plan, &stages));
    }
    for (uint32_t i = 0; i < stages.count; i++) {
        if (stages.items[i].fused != NULL) {
            stages.items[i].fused->simple = dt_fused_is_simple(stages.items[i].fused);
            stages.items[i].fused->writes = dt_fused_writes(stages.items[i].fused);
        }
    }
    *(strict ? &exe->strict : &exe->stages) = stages;
    if (strict) {
        return DT_OK;
    }
    DT_TRY(find_written(exe, plan));
    exe->lone = find_lone(exe);
    return DT_OK;
}
