/* From a graph to stages.
 *
 *   nodes in program order
 *        │ classify    fusable or called (plan_classify.c)
 *        │ assign      to stages: views and scalars early, fused stages as large as they get
 *        │ sink        to the stage that uses it (plan_sink.c)
 *        │ lifetimes   what to release after which stage
 *        ▼ emit        what the stages run with (plan_emit.c)
 *   stages
 *
 * Pure nodes may move to an earlier stage; nothing crosses a node with an effect, but for
 * pure ones that pass a write to memory which they don't look at.  A node that is not
 * fusable for any reason is called: that is always right.
 */
#include "backend/native/kernels.h"
#include "backend/native/plan.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/numbers.h"
#include "backend/eager.h"

/* ---- Liveness -------------------------------------------------------------------------------- */

static void
mark_live(const DtOperand *operand, DtPlanNode *nodes)
{
    if (operand->kind == DT_OPERAND_NODE) {
        nodes[operand->u.node->index].live = true;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        mark_live(&operand->items[i], nodes);
    }
}

/* Finishing the graph has dropped what nobody can tell from its absence; the calls that are left
 * may warn, so they run although no output needs them.  Inputs are live when used. */
static void
find_live(DtPlan *plan)
{
    const DtGraph *graph = plan->graph;
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        mark_live(&graph->outputs[i], plan->nodes);
    }
    for (uint32_t i = graph->nodes.count; i-- > 0;) {
        const DtNode *node = graph->nodes.items[i];
        DtPlanNode *own = &plan->nodes[i];
        own->live = own->live || node->kind == DT_NODE_CALL;
        for (uint32_t j = 0; node->kind == DT_NODE_CALL && own->live && j < node->nargs; j++) {
            mark_live(&node->args[j], plan->nodes);
        }
    }
}

/* ---- Assign ---------------------------------------------------------------------------------- */

/* Whether everything that the operand needs is in a stage already. */
static bool
operand_ready(const DtOperand *operand, const DtPlanNode *nodes)
{
    if (operand->kind == DT_OPERAND_NODE && operand->u.node->kind == DT_NODE_CALL
        && nodes[operand->u.node->index].stage < 0) {
        return false;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        if (!operand_ready(&operand->items[i], nodes)) {
            return false;
        }
    }
    return true;
}

static bool
node_ready(const DtPlanNode *own, const DtPlanNode *nodes)
{
    for (uint32_t i = 0; i < own->node->nargs; i++) {
        if (!operand_ready(&own->node->args[i], nodes)) {
            return false;
        }
    }
    return true;
}

/* Costs no memory worth the name, so that it may run as early as it can: a view or a scalar. */
static bool
is_light(const DtPlanNode *own)
{
    const DtNode *node = own->node;
    return own->loop == NULL && node->nresults == 1
           && (node->naliases > 0 || node->results[0].ndim == 0);
}

bool
dt_plan_has_room(const DtPlanStage *stage, const DtPlanNode *plan)
{
    uint32_t nin = plan->nuses;
    return stage->nnodes < DT_FUSED_MAX_OPS && stage->noperands + nin <= DT_FUSED_MAX_INPUTS
           && stage->nnumbers + nin <= DT_FUSED_MAX_SCALARS;
}

void
dt_plan_count_operands(DtPlan *plan, const DtPlanNode *own)
{
    DtPlanStage *stage = plan->stages.items[own->stage];
    stage->nnodes++;
    for (uint32_t i = 0; i < own->nuses; i++) {
        const DtPlanUse *use = &own->uses[i];
        if (use->kind != DT_USE_ARRAY) {
            stage->nnumbers++;
        }
        else if (plan->nodes[use->operand->u.node->index].stage != own->stage) {
            bool seen = false;
            for (uint32_t j = 0; j < stage->noutside && !seen; j++) {
                seen = stage->outside[j].node == use->operand->u.node
                       && stage->outside[j].result == use->operand->result;
            }
            if (!seen && stage->noutside < DT_FUSED_MAX_INPUTS) {
                stage->outside[stage->noutside++] =
                    (DtValue){use->operand->u.node, use->operand->result};
            }
            stage->noperands = stage->noutside;
        }
    }
}

/* Puts a node into a stage. */
static DtStatus
place(DtPlan *plan, uint32_t node, uint32_t index)
{
    DtPlanStage *stage = plan->stages.items[index];
    plan->nodes[node].stage = (int32_t)index;
    if (dt_vec_push(&plan->arena, &stage->nodes, node) < 0) {
        return dt_no_memory();
    }
    if (stage->fused) {
        const DtPlanReduce *reduce = &plan->nodes[node].reduce;
        if (reduce->kind != DT_REDUCES_NOTHING) {
            stage->reduces = reduce->kind;
            stage->reduce_axes = reduce->axes;
        }
        dt_plan_count_operands(plan, &plan->nodes[node]);
    }
    return DT_OK;
}

/* A new stage that begins with `node`. */
static DtStatus
open_stage(DtPlan *plan, uint32_t node)
{
    DtPlanStage *stage = DT_ARENA_NEW(&plan->arena, DtPlanStage);
    if (stage == NULL || dt_vec_push(&plan->arena, &plan->stages, stage) < 0) {
        return dt_no_memory();
    }
    stage->fused = plan->nodes[node].loop != NULL;
    stage->cells = plan->nodes[node].cell_op;
    stage->segment = plan->segment;
    stage->shape = &plan->nodes[node].node->results[0];
    if (dt_plan_is_reduce(&plan->nodes[node])) {
        const DtOperand *operand = plan->nodes[node].uses[0].operand;
        stage->shape = &operand->u.node->results[operand->result];
        plan->nodes[node].level = DT_LEVEL_REDUCE;
    }
    return place(plan, node, plan->stages.count - 1);
}

/* Gives the node its part of the stage: nodes that continue each other's results are one part.  One
 * that continues nothing begins a part, and may become a result of its own that waits in memory for
 * its users, so there are few parts: false if it would be one too many. */
static bool
join_parts(DtPlan *plan, DtPlanStage *stage, uint32_t index, DtPlanNode *own)
{
    enum { MAX_PARTS = 4 };
    uint32_t joined = 0, taken = 0;
    for (uint32_t i = 0; i < own->nuses; i++) {
        const DtOperand *operand = own->uses[i].operand;
        if (operand->kind == DT_OPERAND_NODE
            && plan->nodes[operand->u.node->index].stage == (int32_t)index) {
            joined |= 1u << plan->nodes[operand->u.node->index].part;
        }
    }
    own->part = 0;
    for (uint32_t i = 0; i < stage->nodes.count; i++) {
        taken |= 1u << plan->nodes[stage->nodes.items[i]].part;
    }
    uint32_t wanted = joined != 0 ? joined : ~taken;
    while (!(wanted & (1u << own->part))) {
        own->part++;
    }
    for (uint32_t i = 0; i < stage->nodes.count; i++) {
        DtPlanNode *other = &plan->nodes[stage->nodes.items[i]];
        other->part = joined & (1u << other->part) ? own->part : other->part;
    }
    return own->part < MAX_PARTS;
}

/* A fused stage that begins with `first` and takes what it can of the nodes before `end`. */
static DtStatus
open_fused(DtPlan *plan, uint32_t first, uint32_t end)
{
    uint32_t index = plan->stages.count;
    DT_TRY(open_stage(plan, first));
    DtPlanStage *stage = plan->stages.items[index];
    for (uint32_t i = first + 1; i < end; i++) {
        DtPlanNode *own = &plan->nodes[i];
        uint8_t level;
        if (own->loop == NULL || own->stage >= 0 || !own->live || !dt_plan_has_room(stage, own)
            || own->node->fp_region != plan->nodes[first].node->fp_region
            || !node_ready(own, plan->nodes) || !dt_plan_find_level(plan, stage, index, own, &level)
            || !join_parts(plan, stage, index, own)) {
            continue;
        }
        own->level = level;
        DT_TRY(place(plan, i, index));
    }
    return DT_OK;
}

/* A stage of cells that begins with `first` and takes all that can be computed there. */
static DtStatus
open_cells(DtPlan *plan, uint32_t first, uint32_t end)
{
    uint32_t index = plan->stages.count;
    DT_TRY(open_stage(plan, first));
    for (uint32_t i = first + 1; i < end; i++) {
        const DtPlanNode *own = &plan->nodes[i];
        if (own->cell_op && own->stage < 0 && own->live
            && own->node->fp_region == plan->nodes[first].node->fp_region
            && node_ready(own, plan->nodes)) {
            DT_TRY(place(plan, i, index));
        }
    }
    return DT_OK;
}

/* Schedules the pure nodes from `start` to `end`: views and scalars as soon as they can be
 * computed, so that they don't cut fused stages in two; the others in program order. */
static DtStatus
schedule(DtPlan *plan, uint32_t start, uint32_t end)
{
    plan->segment++;
    for (;;) {
        uint32_t next = end;
        for (uint32_t i = start; i < end; i++) {
            const DtPlanNode *own = &plan->nodes[i];
            if (own->node == NULL || own->stage >= 0 || !own->live
                || own->node->effect != DT_EFFECT_PURE || !node_ready(own, plan->nodes)) {
                continue;
            }
            if (own->cell_op) {
                DT_TRY(open_cells(plan, i, end));
            }
            else if (is_light(own)) {
                DT_TRY(open_stage(plan, i));
            }
            else if (next == end) {
                next = i;
            }
        }
        if (next == end) {
            return DT_OK;
        }
        if (plan->nodes[next].loop != NULL) {
            DT_TRY(open_fused(plan, next, end));
        }
        else {
            DT_TRY(open_stage(plan, next));
        }
        while (start < end
               && (plan->nodes[start].node == NULL || plan->nodes[start].stage >= 0
                   || !plan->nodes[start].live
                   || plan->nodes[start].node->effect != DT_EFFECT_PURE)) {
            start++;
        }
    }
}

/* ---- Writes ---------------------------------------------------------------------------------- */

/* Writes that wait: pure nodes may pass them as long as none looks at the memory they write. */
typedef DT_VEC(uint32_t) Waiting;

/* Do the two operands lie in memory that may be the same?  Inputs of different names share none, or
 * the stages made here do not run. */
static bool
may_share(const DtOperand *a, const DtOperand *b)
{
    const DtNode *owner_a, *owner_b;
    DtMemory memory_a = dt_graph_memory(a, &owner_a), memory_b = dt_graph_memory(b, &owner_b);
    return memory_a == DT_MEMORY_UNKNOWN || memory_b == DT_MEMORY_UNKNOWN || owner_a == owner_b;
}

/* A number without memory that could be written. */
static bool
is_scalar_value(const DtOperand *operand)
{
    const DtMeta *meta = &operand->u.node->results[operand->result];
    return meta->ndim == 0 && meta->type != NULL && meta->type != &PyArray_Type
           && (PyType_IsSubtype(meta->type, &PyGenericArrType_Type)
               || dt_number_kind_of(meta) != 0);
}

bool
dt_plan_looks_at(const DtOperand *operand, const DtNode *write)
{
    if (operand->kind == DT_OPERAND_NODE && !is_scalar_value(operand)) {
        for (uint32_t i = 0; i < write->nmutated; i++) {
            if (may_share(operand, &write->args[write->mutated[i]])) {
                return true;
            }
        }
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        if (dt_plan_looks_at(&operand->items[i], write)) {
            return true;
        }
    }
    return false;
}

static bool
looks_at_waiting(const DtPlan *plan, const DtNode *node, const Waiting *waiting)
{
    for (uint32_t i = 0; i < waiting->count; i++) {
        const DtNode *write = plan->graph->nodes.items[waiting->items[i]];
        for (uint32_t j = 0; j < node->nargs; j++) {
            if (dt_plan_looks_at(&node->args[j], write)) {
                return true;
            }
        }
    }
    return false;
}

/* Drops a waiting write of the same part that nobody will have seen when `node` writes it. */
static void
drop_overwritten(DtPlan *plan, const DtNode *node, Waiting *waiting)
{
    for (uint32_t i = waiting->count; i-- > 0;) {
        const DtNode *earlier = plan->graph->nodes.items[waiting->items[i]];
        if (dt_written_is_same_part(earlier, node) && dt_write_is_sure(earlier)) {
            plan->nodes[earlier->index].live = false;
            waiting->count--;
            memmove(&waiting->items[i], &waiting->items[i + 1],
                    (waiting->count - i) * sizeof(waiting->items[0]));
            return;
        }
        /* A write that reads what an earlier one wrote keeps it; all but an assignment to items may
         * read what they are about to change (sort). */
        for (uint32_t j = 0; j < earlier->nargs; j++) {
            bool only_written = j == earlier->mutated[0] && dt_written_is_setitem(earlier);
            if (!only_written && dt_plan_looks_at(&earlier->args[j], node)) {
                return;
            }
        }
    }
}

/* Gives the nodes from `start` to `end` their stages, the waiting writes after the pure ones. */
static DtStatus
flush(DtPlan *plan, uint32_t start, uint32_t end, Waiting *waiting)
{
    DT_TRY(schedule(plan, start, end));
    for (uint32_t i = 0; i < waiting->count; i++) {
        DT_TRY(open_stage(plan, waiting->items[i]));
    }
    waiting->count = 0;
    return DT_OK;
}

/* Gives every live node its stage.  Nothing crosses a node with an effect, but for pure nodes that
 * pass a write to memory they don't look at. */
static DtStatus
assign(DtPlan *plan, bool strict)
{
    enum { MAX_WAITING = 64, MAX_EARLY = 8 };
    uint32_t early = 0;
    uint32_t count = plan->graph->nodes.count;
    Waiting waiting = {0};
    for (uint32_t i = 0; i < count; i++) {
        plan->nodes[i].stage = -1;
    }
    uint32_t start = 0;
    for (uint32_t i = 0; i < count; i++) {
        const DtNode *node = plan->nodes[i].node;
        if (node == NULL) {
            continue;
        }
        if (node->effect == DT_EFFECT_PURE) {
            if (waiting.count > 0 && looks_at_waiting(plan, node, &waiting)) {
                DT_TRY(flush(plan, start, i, &waiting));
                start = i;
            }
            continue;
        }
        /* A draw of random numbers passes what it does not look at, so that it does not cut
         * arithmetic in two; few at a time, for what they draw takes memory. */
        if (dt_written_is_draw(node) && node->nresults > 0 && !strict && early < MAX_EARLY
            && !dt_eager_has_effect(node) && node_ready(&plan->nodes[i], plan->nodes)
            && !looks_at_waiting(plan, node, &waiting)) {
            early++;
            DT_TRY(open_stage(plan, i));
            continue;
        }
        early = 0;
        if (node->effect == DT_EFFECT_MUTATES && node->nresults == 0 && !strict
            && !dt_eager_has_effect(node)) {
            bool reads = false; /* what it is about to write */
            for (uint32_t j = 0; j < node->nargs; j++) {
                reads = reads || (j != node->mutated[0] && dt_plan_looks_at(&node->args[j], node));
            }
            if (!reads) {
                drop_overwritten(plan, node, &waiting);
            }
            if (waiting.count == MAX_WAITING) { /* or planning takes their number squared */
                DT_TRY(flush(plan, start, i, &waiting));
                start = i;
            }
            if (dt_vec_push(&plan->arena, &waiting, i) < 0) {
                return dt_no_memory();
            }
            continue;
        }
        DT_TRY(flush(plan, start, i, &waiting));
        DT_TRY(open_stage(plan, i));
        start = i + 1;
    }
    return flush(plan, start, count, &waiting);
}

/* ---- Lifetimes ------------------------------------------------------------------------------- */

/* Marks that `stage` uses the nodes in `operand`. */
static void
mark_stage(const DtOperand *operand, DtPlan *plan, int32_t stage)
{
    if (operand->kind == DT_OPERAND_NODE) {
        DtPlanNode *producer = &plan->nodes[operand->u.node->index];
        if (producer->last_stage < stage) {
            producer->last_stage = stage;
        }
        producer->outside = producer->outside || producer->stage != stage;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        mark_stage(&operand->items[i], plan, stage);
    }
}

static void
lifetimes(DtPlan *plan)
{
    const DtGraph *graph = plan->graph;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        plan->nodes[i].last_stage = plan->nodes[i].stage;
        for (uint32_t j = 0; plan->nodes[i].stage >= 0 && j < node->nargs; j++) {
            mark_stage(&node->args[j], plan, plan->nodes[i].stage);
        }
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        mark_stage(&graph->outputs[i], plan, INT32_MAX);
    }
}

static bool
uses_symbols(const DtOperand *operand)
{
    if (operand->kind == DT_OPERAND_SYM) {
        return true;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        if (uses_symbols(&operand->items[i])) {
            return true;
        }
    }
    return false;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static DtStatus
build_plan(DtNative *exe, DtPlan *plan, bool strict)
{
    const DtGraph *graph = plan->graph;
    plan->nodes = DT_ARENA_ARRAY(&plan->arena, DtPlanNode, graph->nodes.count + 1);
    if (plan->nodes == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        if (node->kind != DT_NODE_CALL) {
            continue;
        }
        DT_TRY(dt_plan_classify(node, &plan->nodes[i]));
        if (plan->nodes[i].loop == NULL && graph->nodes.count < DT_NATIVE_MAX_CELLS / 8) {
            DT_TRY(dt_cells_classify(node, &plan->nodes[i].cell_op));
        }
        for (uint32_t j = 0; j < node->nargs; j++) {
            exe->needs_symbols = exe->needs_symbols || uses_symbols(&node->args[j]);
        }
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        exe->needs_symbols = exe->needs_symbols || uses_symbols(&graph->outputs[i]);
    }
    find_live(plan);
    DT_TRY(assign(plan, strict));
    DT_TRY(dt_plan_sink(plan));
    lifetimes(plan);
    return dt_plan_emit(exe, plan, strict);
}

DtStatus
dt_native_plan(DtNative *exe, bool strict)
{
    DtPlan plan = {.graph = exe->base.graph};
    dt_arena_init(&plan.arena);
    DtStatus status = build_plan(exe, &plan, strict);
    dt_arena_release(&plan.arena);
    return status;
}
