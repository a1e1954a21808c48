/* Equal nodes of a fused stage are computed once.
 *
 *   t = x * y                 t = x * y            one step
 *   u = x * y + t      ──►    u = t + t
 *
 *     a = abs(x), b = abs(-x)       one step
 *
 * The same loop on the same operands gives the same bits and raises the same flags; a write between
 * the two to what they read would have put them into different stages.  A node whose array is seen
 * outside of the stage is computed all the same: two results are two arrays; what a reduction gave
 * is copied.  Where the stage's nodes are called, all are.
 */
#include <string.h>

#include "backend/native/plan.h"

/* Do the two operands say the same? */
static bool
same_operand(const DtOperand *a, const DtOperand *b)
{
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!same_operand(&a->items[i], &b->items[i])) {
            return false;
        }
    }
    switch (a->kind) {
    case DT_OPERAND_NODE:
        return a->u.node == b->u.node && a->result == b->result;
    case DT_OPERAND_SYM:
        return a->u.sym == b->u.sym;
    case DT_OPERAND_CONST:
        return a->u.object == b->u.object
               || (PyLong_CheckExact(a->u.object) && PyLong_CheckExact(b->u.object)
                   && PyObject_RichCompareBool(a->u.object, b->u.object, Py_EQ) == 1);
    default:
        return a->kind == DT_OPERAND_SLICE || a->kind == DT_OPERAND_TUPLE;
    }
}

/* Are two numbers the same in the type of the loop? */
static bool
same_number(const DtOperand *a, const DtOperand *b, int type_num)
{
    uint64_t one[2] = {0}, other[2] = {0};
    if (a->kind != DT_OPERAND_CONST || b->kind != DT_OPERAND_CONST) {
        return (a->kind == DT_OPERAND_NODE || a->kind == DT_OPERAND_SYM) && same_operand(a, b);
    }
    return dt_cast_number(a->u.object, type_num, one)
           && dt_cast_number(b->u.object, type_num, other) && memcmp(one, other, sizeof(one)) == 0;
}

/* The operand of `own`, past a change of sign in the same stage, if the loop takes no notice of it.
 */
static const DtOperand *
past_sign(const DtPlan *plan, const DtPlanNode *own, const DtPlanUse *use)
{
    const DtPlanNode *from = &plan->nodes[use->operand->u.node->index];
    int type_num = own->loop->types[0];
    bool skips = (own->loop->row->flags & DT_UFUNC_EVEN) && PyTypeNum_ISFLOAT(type_num)
                 && use->type_num == type_num && from->stage == own->stage
                 && from->level == own->level && from->loop != NULL
                 && (from->loop->row->flags & DT_UFUNC_OPPOSITE)
                 && from->uses[0].kind == DT_USE_ARRAY && from->uses[0].type_num == type_num;
    return skips ? from->uses[0].operand : use->operand;
}

static bool
same_use(const DtPlan *plan, const DtPlanNode *own, const DtPlanNode *other, uint32_t index)
{
    const DtPlanUse *a = &own->uses[index], *b = &other->uses[index];
    int type_num = own->loop->types[index];
    if (a->kind != b->kind || a->type_num != b->type_num) {
        return false;
    }
    if (a->kind != DT_USE_ARRAY) {
        return same_number(a->operand, b->operand, type_num);
    }
    const DtOperand *left = past_sign(plan, own, a), *right = past_sign(plan, other, b);
    return left->result == right->result
           && (left->u.node == right->u.node
               || dt_plan_maker(&plan->nodes[left->u.node->index])
                      == dt_plan_maker(&plan->nodes[right->u.node->index]));
}

static bool
same_view(const DtPlanNode *a, const DtPlanNode *b)
{
    return a->level == DT_LEVEL_VIEW && b->level == DT_LEVEL_VIEW
           && same_operand(&a->node->args[0], &b->node->args[0])
           && same_operand(&a->node->args[1], &b->node->args[1]);
}

static bool
same_node(const DtPlan *plan, const DtPlanNode *a, const DtPlanNode *b)
{
    if (a->level == DT_LEVEL_VIEW || b->level == DT_LEVEL_VIEW) {
        return same_view(a, b);
    }
    if (a->loop != b->loop || a->level != b->level || a->nuses != b->nuses
        || a->reduce.kind != b->reduce.kind || a->reduce.axes != b->reduce.axes
        || (a->level != DT_LEVEL_REDUCE /* a kept axis is no other value */
            && !dt_plan_same_shape(&a->node->results[0], &b->node->results[0]))) {
        return false;
    }
    for (uint32_t i = 0; i < a->nuses; i++) {
        if (!same_use(plan, a, b, i)) {
            return false;
        }
    }
    return true;
}

void
dt_plan_find_equal(DtPlan *plan, const DtPlanStage *stage)
{
    for (uint32_t i = 1; i < stage->nodes.count; i++) {
        DtPlanNode *own = &plan->nodes[stage->nodes.items[i]];
        for (uint32_t j = 0; j < i && own->same == NULL; j++) {
            DtPlanNode *earlier = &plan->nodes[stage->nodes.items[j]];
            bool allowed = !own->outside || (own->level == DT_LEVEL_REDUCE && earlier->outside);
            if (allowed && earlier->same == NULL && same_node(plan, earlier, own)) {
                own->same = earlier;
            }
        }
    }
}
