/* Results that are made in the array that they are written to.
 *
 *   fused stage ──► t        called  a[...] = t       becomes       fused stage ──► a
 *
 * What `a` held is saved block by block while the stage runs, since the run may fail yet; so
 * nothing is read or written twice.  Allowed where `t` is made for that write alone, nothing
 * between looks at `a`, and the stage itself reads `a` no later than it writes it.  Whether the
 * arrays are laid out alike is seen at run time (fused.c); if not, things go the long way.
 *
 * For arrays that don't fit the caches the number of passes over memory decides.  A graph that
 * would make more of them than plain execution declines such arrays.
 */
#include "backend/eager.h"
#include "backend/native/plan.h"

static bool
is_value_of(const DtOperand *operand, const DtNode *node)
{
    if (operand->kind == DT_OPERAND_NODE && operand->u.node == node) {
        return true;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        if (is_value_of(&operand->items[i], node)) {
            return true;
        }
    }
    return false;
}

/* Is the node used in its own stage and by `write` only? */
static bool
made_for(const DtPlan *plan, const DtNode *node, const DtNode *write)
{
    const DtGraph *graph = plan->graph;
    int32_t stage = plan->nodes[node->index].stage;
    for (uint32_t i = node->index + 1; i < graph->nodes.count; i++) {
        const DtNode *user = graph->nodes.items[i];
        if (user == write || (user->kind == DT_NODE_CALL && plan->nodes[i].stage == stage)) {
            continue;
        }
        for (uint32_t j = 0; j < user->nargs; j++) {
            if (is_value_of(&user->args[j], node)) {
                return false;
            }
        }
    }
    return true;
}

static bool
any_looks_at(const DtStage *stage, const DtNode *write)
{
    for (uint32_t i = 0; i < stage->nnodes; i++) {
        for (uint32_t j = 0; j < stage->nodes[i]->nargs; j++) {
            if (dt_plan_looks_at(&stage->nodes[i]->args[j], write)) {
                return true;
            }
        }
    }
    return false;
}

/* Does the stage read the array itself only, element by element, and not after `output` is made? */
static bool
reads_in_time(const DtFused *fused, const DtFusedOutput *output, const DtNode *write)
{
    const DtOperand *target = &write->args[0];
    for (uint32_t op = 0; op < fused->nops; op++) {
        const DtNode *node = fused->ops[op].node;
        for (uint32_t j = 0; j < node->nargs; j++) {
            const DtOperand *operand = &node->args[j];
            if (!dt_plan_looks_at(operand, write)) {
                continue;
            }
            if (operand->kind != DT_OPERAND_NODE || operand->u.node != target->u.node
                || operand->result != target->result || op > output->op) {
                return false;
            }
        }
    }
    return true;
}

/* Is another output made in memory that `write` may write? */
static bool
memory_is_taken(const DtFused *fused, const DtNode *write)
{
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        const DtNode *other = fused->outputs[i].write;
        if (other != NULL && dt_plan_looks_at(&other->args[0], write)) {
            return true;
        }
    }
    return false;
}

static DtFusedOutput *
output_of(const DtFused *fused, const DtNode *node)
{
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        if (fused->outputs[i].node == node) {
            return &fused->outputs[i];
        }
    }
    return NULL;
}

/* A write to all of an array of a value that a fused stage makes; that stage, or NULL. */
static const DtStage *
stage_of_value(const DtPlan *plan, const DtStages *stages, uint32_t index)
{
    const DtNode *write = stages->items[index].nodes[0];
    if (stages->items[index].fused != NULL || write->effect != DT_EFFECT_MUTATES
        || !dt_written_is_setitem(write) || write->args[1].kind != DT_OPERAND_CONST
        || write->args[1].u.object != Py_Ellipsis || write->args[2].kind != DT_OPERAND_NODE
        || write->args[2].u.node->kind != DT_NODE_CALL) {
        return NULL;
    }
    int32_t made = plan->nodes[write->args[2].u.node->index].stage;
    return made >= 0 && stages->items[made].fused != NULL ? &stages->items[made] : NULL;
}

static bool
is_possible(const DtPlan *plan, const DtStages *stages, uint32_t index, const DtStage *stage,
            const DtFusedOutput *output)
{
    const DtNode *write = stages->items[index].nodes[0];
    const DtOperand *target = &write->args[0];
    const DtNode *array = target->u.node, *value = output->node;
    const DtMeta *meta = &array->results[target->result];
    uint32_t made = (uint32_t)(stage - stages->items);
    if ((array->kind == DT_NODE_CALL && plan->nodes[array->index].stage >= (int32_t)made)
        || stage->fused->nreduce > 0) {
        return false;
    }
    if (meta->type != &PyArray_Type || meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype)
        || ((PyArray_Descr *)meta->dtype)->type_num != output->descr->type_num
        || !dt_plan_same_shape(meta, &value->results[0])) {
        return false;
    }
    for (uint32_t i = made + 1; i < index; i++) {
        if (any_looks_at(&stages->items[i], write)) {
            return false;
        }
    }
    return made_for(plan, value, write) && reads_in_time(stage->fused, output, write)
           && !memory_is_taken(stage->fused, write);
}

/* ---- Passes over memory ---------------------------------------------------------------------- */

/* Writing fresh memory costs about twice, since it is fetched first; saving was measured to cost as
 * much as three passes. */
enum { SAVING = 3 };

static void
count_passes(const DtPlan *plan, const DtStages *stages, uint32_t *plain, uint32_t *own)
{
    for (uint32_t i = 0; i < stages->count; i++) {
        const DtFused *fused = stages->items[i].fused;
        const DtStage *made = fused == NULL ? stage_of_value(plan, stages, i) : NULL;
        if (made != NULL) {
            const DtFusedOutput *output =
                output_of(made->fused, stages->items[i].nodes[0]->args[2].u.node);
            *plain -= *plain > 0; /* NumPy writes there at once: no fresh memory */
            *own += output != NULL && output->write != NULL ? 0 : 2;
        }
        if (fused == NULL) {
            continue;
        }
        *own += fused->ninputs;
        for (uint32_t j = 0; j < fused->noutputs; j++) {
            const DtFusedOutput *output = &fused->outputs[j];
            *own += output->write == NULL ? 2 : output->saves ? 1 + SAVING : 1;
        }
        for (uint32_t j = 0; j < fused->nops; j++) {
            *plain += fused->ops[j].level == DT_LEVEL_VIEW ? 0 : fused->ops[j].nin + 2u;
        }
    }
}

/* A part of an array that is small whatever the array is, as H[3:6, 3:6]. */
static bool
is_small(const DtMeta *meta, npy_intp size)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!dt_sym_is_const(meta->shape[i])
            || __builtin_mul_overflow(size, (npy_intp)meta->shape[i]->hint.i, &size)) {
            return false;
        }
    }
    return size < DT_LARGE_WRITE;
}

DtStatus
dt_direct_plan(DtNative *exe, DtPlan *plan, DtStages *stages)
{
    bool saves = false;
    for (uint32_t i = 0; i < stages->count; i++) {
        DtStage *stage = &stages->items[i];
        const DtStage *made = stage_of_value(plan, stages, i);
        DtFusedOutput *output =
            made == NULL ? NULL : output_of(made->fused, stage->nodes[0]->args[2].u.node);
        if (output == NULL || !is_possible(plan, stages, i, made, output)) {
            continue;
        }
        const DtNode *write = stage->nodes[0];
        output->write = write;
        output->target = (DtValue){write->args[0].u.node, write->args[0].result};
        output->saves = dt_graph_is_write(write) && stage->writes != DT_WRITES_COVERED;
        output->reuse = -1;
        stage->value = output->node;
        saves = saves
                || (output->saves && !is_small(&output->node->results[0], (npy_intp)output->size));
    }
    uint32_t plain = 0, own = 0;
    count_passes(plan, stages, &plain, &own);
    exe->declines = saves && 5 * own >= 4 * plain;
    return DT_OK;
}
