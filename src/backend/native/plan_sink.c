/* Elementwise nodes go down to the stage that uses them.
 *
 *   stage  m = mean(x)                 stage  m = mean(x)
 *   stage  d = x - m                   stage  v = sum(...)
 *   stage  v = sum(...)        ──►     stage  d = x - m, d / v
 *   stage  d / v
 *
 * Stages are opened in program order and take what is ready by then, so a node whose users all have
 * to wait for something else would wait for them in memory, to be written and read again.  Made
 * where it is used it is in a register.  It goes there if that takes no more memory: at most one of
 * its operands was computed, and is kept instead of it.
 *
 * Views go there too, by ints and slices that are known: the stage finds out where they lie, and no
 * object is made of them.
 *
 * Nothing goes past an effect: a node stays among those that were scheduled together.
 */
#include <string.h>

#include "backend/native/plan.h"

#include "backend/eager.h"

enum { USED_NOWHERE = -1, USED_IN_MANY = -2 }; /* or the stage of all users */

static void
mark_users(const DtOperand *operand, int32_t stage, int32_t *users)
{
    if (operand->kind == DT_OPERAND_NODE) {
        int32_t *user = &users[operand->u.node->index];
        *user = *user == USED_NOWHERE || *user == stage ? stage : USED_IN_MANY;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        mark_users(&operand->items[i], stage, users);
    }
}

/* At most one array operand that is no input of the graph, and none with one element per row, which
 * is cheap where it is. */
static bool
has_light_operands(const DtPlan *plan, const DtPlanNode *own)
{
    const DtNode *computed = NULL;
    for (uint32_t i = 0; i < own->nuses; i++) {
        const DtPlanUse *use = &own->uses[i];
        const DtNode *node = use->kind == DT_USE_ARRAY ? use->operand->u.node : NULL;
        if (node == NULL || node->kind != DT_NODE_CALL) {
            continue;
        }
        const DtPlanNode *maker = &plan->nodes[node->index];
        if ((computed != NULL && computed != node)
            || (maker->stage == own->stage && maker->level != DT_LEVEL_FULL)) {
            return false;
        }
        computed = node;
    }
    return true;
}

static bool
may_sink(const DtPlan *plan, const DtPlanNode *own, int32_t to)
{
    if (own->loop == NULL || to < 0 || to <= own->stage) {
        return false;
    }
    const DtPlanStage *source = plan->stages.items[own->stage], *target = plan->stages.items[to];
    uint8_t level;
    return target->fused && target->segment == source->segment && !dt_plan_is_reduce(own)
           && own->level == DT_LEVEL_FULL && own->loop->allow == DT_ALLOW_ANY
           && own->node->fp_region == plan->nodes[target->nodes.items[0]].node->fp_region
           && dt_plan_has_room(target, own) && has_light_operands(plan, own)
           && dt_plan_find_level(plan, target, (uint32_t)to, own, &level) && level == DT_LEVEL_FULL;
}

static bool
is_known_index(const DtOperand *operand)
{
    bool known = operand->kind == DT_OPERAND_SYM
                 || (operand->kind == DT_OPERAND_CONST
                     && (operand->u.object == Py_None || operand->u.object == Py_Ellipsis
                         || PyLong_CheckExact(operand->u.object)));
    if (operand->kind == DT_OPERAND_SLICE || operand->kind == DT_OPERAND_TUPLE) {
        known = true;
        for (uint32_t i = 0; i < operand->count; i++) {
            known = known && is_known_index(&operand->items[i]);
        }
    }
    return known;
}

/* A view whose users are all elementwise nodes of one stage is no object: the stage looks there. */
static bool
may_be_looked_at(const DtPlan *plan, const DtPlanNode *own, int32_t to)
{
    const DtNode *node = own->node;
    if (own->loop != NULL || to < 0 || to <= own->stage || node->nargs != 2
        || strcmp(node->target, "operator.getitem") != 0 || node->nresults != 1
        || node->naliases == 0 || node->results[0].type != &PyArray_Type
        || node->results[0].ndim == 0 || node->results[0].ndim > DT_FUSED_MAX_NDIM
        || node->args[0].kind != DT_OPERAND_NODE || !is_known_index(&node->args[1])) {
        return false;
    }
    const DtPlanStage *source = plan->stages.items[own->stage], *target = plan->stages.items[to];
    return target->fused && target->segment == source->segment && dt_plan_has_room(target, own)
           && node->fp_region == plan->nodes[target->nodes.items[0]].node->fp_region;
}

/* The stages' nodes anew, in program order; stages that have none are gone. */
static DtStatus
collect(DtPlan *plan)
{
    uint32_t count = 0;
    int32_t *numbers = DT_ARENA_ARRAY(&plan->arena, int32_t, plan->stages.count + 1);
    if (numbers == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < plan->stages.count; i++) {
        plan->stages.items[i]->nodes.count = 0;
    }
    for (uint32_t i = 0; i < plan->graph->nodes.count; i++) {
        int32_t stage = plan->nodes[i].stage;
        if (stage >= 0 && dt_vec_push(&plan->arena, &plan->stages.items[stage]->nodes, i) < 0) {
            return dt_no_memory();
        }
    }
    for (uint32_t i = 0; i < plan->stages.count; i++) {
        numbers[i] = (int32_t)count;
        if (plan->stages.items[i]->nodes.count > 0) {
            plan->stages.items[count++] = plan->stages.items[i];
        }
    }
    plan->stages.count = count;
    for (uint32_t i = 0; i < plan->graph->nodes.count; i++) {
        int32_t *stage = &plan->nodes[i].stage;
        *stage = *stage < 0 ? *stage : numbers[*stage];
    }
    return DT_OK;
}

DtStatus
dt_plan_sink(DtPlan *plan)
{
    const DtGraph *graph = plan->graph;
    bool any = false;
    int32_t *users = DT_ARENA_ARRAY(&plan->arena, int32_t, graph->nodes.count + 1);
    if (users == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        users[i] = USED_NOWHERE;
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        mark_users(&graph->outputs[i], USED_IN_MANY, users);
    }
    for (uint32_t i = graph->nodes.count; i-- > 0;) { /* users before what they use */
        DtPlanNode *own = &plan->nodes[i];
        if (own->node == NULL || own->stage < 0) {
            continue;
        }
        if (may_sink(plan, own, users[i])) {
            own->stage = users[i];
            dt_plan_count_operands(plan, own);
            any = true;
        }
        bool view = may_be_looked_at(plan, own, users[i]);
        if (view) {
            own->stage = users[i];
            own->level = DT_LEVEL_VIEW;
            plan->stages.items[own->stage]->nnodes++;
            any = true;
        }
        for (uint32_t j = 0; j < own->node->nargs; j++) {
            /* What is looked at has to be in memory. */
            mark_users(&own->node->args[j], view ? USED_IN_MANY : own->stage, users);
        }
    }
    return any ? collect(plan) : DT_OK;
}
