/* From a graph to stages.
 *
 *   nodes in program order
 *        │ classify    fusable or called
 *        │ assign      to stages: views and scalars early, fused stages as large as they get
 *        │ lifetimes   what to release after which stage
 *        ▼ emit        slots, registers and steps of each fused stage (fuse.c)
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

static DtStatus
out_of_memory(void)
{
    PyErr_NoMemory();
    return DT_ERROR;
}

/* ---- Classify -------------------------------------------------------------------------------- */

static bool
is_plain_array(const DtMeta *meta)
{
    return meta->type == &PyArray_Type && meta->dtype != NULL && PyArray_DescrCheck(meta->dtype);
}

/* What NumPy's resolution is asked with for a number; NULL: not a number. */
static PyObject *
number_type(PyObject *number)
{
    if (PyBool_Check(number)) {
        return NULL; /* a strong bool: the caller has its dtype */
    }
    if (PyLong_CheckExact(number) || PyFloat_CheckExact(number) || PyComplex_CheckExact(number)) {
        return (PyObject *)Py_TYPE(number);
    }
    return NULL;
}

/* Fills `use` for one operand; *type gets what the resolution needs, borrowed (dtypes of bool live
 * as long as the process).  False: this node is called. */
static bool
classify_operand(const DtOperand *operand, uint32_t ndim, DtPlanUse *use, PyObject **type)
{
    static PyArray_Descr *bool_descr;
    if (bool_descr == NULL) {
        bool_descr = PyArray_DescrFromType(NPY_BOOL);
    }
    use->operand = operand;
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_SYM:
        use->kind = DT_USE_NUMBER;
        *type = operand->u.sym->type == DT_SYM_INT     ? (PyObject *)&PyLong_Type
                : operand->u.sym->type == DT_SYM_FLOAT ? (PyObject *)&PyFloat_Type
                                                       : (PyObject *)bool_descr;
        return true;
    case DT_OPERAND_CONST:
        use->kind = DT_USE_NUMBER;
        *type = PyBool_Check(operand->u.object) ? (PyObject *)bool_descr
                                                : number_type(operand->u.object);
        return *type != NULL;
    case DT_OPERAND_NODE:
        break;
    default:
        return false;
    }
    const DtMeta *meta = &operand->u.node->results[operand->result];
    char number = dt_number_kind_of(meta);
    if (number == 'b' || number == 'i' || number == 'f' || number == 'c') {
        use->kind = DT_USE_NUMBER;
        *type = number == 'b' ? (PyObject *)bool_descr : (PyObject *)meta->type;
        return true;
    }
    if (meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype)) {
        return false;
    }
    PyArray_Descr *descr = (PyArray_Descr *)meta->dtype;
    use->type_num = descr->type_num;
    *type = (PyObject *)descr;
    if (!dt_loop_knows_type(descr->type_num) || !PyArray_ISNBO(descr->byteorder)) {
        return false;
    }
    if (meta->ndim == 0) {
        use->kind = DT_USE_SCALAR;
        return meta->type == &PyArray_Type || PyType_IsSubtype(meta->type, &PyGenericArrType_Type);
    }
    use->kind = DT_USE_ARRAY;
    return is_plain_array(meta) && meta->ndim <= ndim;
}

bool
dt_plan_same_shape(const DtMeta *a, const DtMeta *b)
{
    if (a->ndim != b->ndim) {
        return false;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i] && !dt_sym_equal(a->shape[i], b->shape[i])) {
            return false;
        }
    }
    return true;
}

/* NumPy 2.2 and older buffer a Python number beside an array that is not contiguous, so that an
 * exponent of 2 has stride 0 in some runs only; 2.3 casts it first. */
#define NUMBERS_ARE_CAST_FIRST 0x14

static bool
is_exponent_of_two(const DtPlanUse *use)
{
    if (PyArray_GetNDArrayCFeatureVersion() >= NUMBERS_ARE_CAST_FIRST
        || use->kind != DT_USE_NUMBER) {
        return false;
    }
    if (use->operand->kind != DT_OPERAND_CONST) {
        return true; /* may be */
    }
    uint64_t cell[2];
    double number;
    if (!dt_cast_number(use->operand->u.object, NPY_DOUBLE, cell)) {
        return true;
    }
    memcpy(&number, cell, sizeof(number));
    return number == 2.0;
}

/* The rules of ufuncs.def that can be decided from types and shapes alone. */
static bool
rules_hold(const DtPlanNode *plan, const DtMeta *result)
{
    const DtLoop *loop = plan->loop;
    bool power = loop->row->flags & DT_UFUNC_POWER;
    bool any_array = false;
    for (int i = 0; i < loop->nargs - 1; i++) {
        const DtPlanUse *use = &plan->uses[i];
        bool casts = use->kind != DT_USE_NUMBER && use->type_num != loop->types[i];
        any_array = any_array || use->kind == DT_USE_ARRAY;
        if (casts
            && (power || loop->allow == DT_ALLOW_CONTIG
                || dt_cast_get(use->type_num, loop->types[i]) == NULL)) {
            return false;
        }
        /* An exponent that is broadcast has stride 0 in some runs of NumPy's iterator and not in
         * others. */
        if (power && i == 1 && is_exponent_of_two(use)) {
            return false;
        }
        if (power && use->kind == DT_USE_ARRAY
            && !dt_plan_same_shape(&use->operand->u.node->results[use->operand->result], result)) {
            return false;
        }
        uint64_t cell[2];
        if (use->kind == DT_USE_NUMBER && use->operand->kind == DT_OPERAND_CONST
            && !dt_cast_number(use->operand->u.object, loop->types[i], cell)) {
            return false;
        }
        if (use->kind == DT_USE_NUMBER && use->operand->kind == DT_OPERAND_SYM
            && use->operand->u.sym->type == DT_SYM_FLOAT && !PyTypeNum_ISFLOAT(loop->types[i])
            && !PyTypeNum_ISCOMPLEX(loop->types[i])) {
            return false;
        }
    }
    return any_array;
}

/* The loop for a ufunc. */
static DtStatus
find_ufunc(DtPlanNode *plan, PyObject *const *types)
{
    return dt_loop_get(plan->node->callee, types, plan->nuses, &plan->loop);
}

static DtStatus
find_where(DtPlanNode *plan, PyObject *const *types)
{
    const PyArray_Descr *condition = (const PyArray_Descr *)types[0];
    if (PyArray_DescrCheck(types[0]) && condition->type_num == NPY_BOOL) {
        plan->loop = dt_own_where(((PyArray_Descr *)plan->node->results[0].dtype)->type_num);
    }
    return DT_OK;
}

static DtStatus
find_astype(DtPlanNode *plan, PyObject *const *types)
{
    plan->loop = dt_own_astype(((PyArray_Descr *)types[0])->type_num,
                               ((PyArray_Descr *)plan->node->results[0].dtype)->type_num);
    return DT_OK;
}

/* Array functions that are no ufuncs but elementwise all the same. */
static const struct Elementwise {
    const char *target;
    uint32_t nargs;
    uint32_t nuses;
    DtStatus (*find)(DtPlanNode *, PyObject *const *types);
} elementwise[] = {
    {"numpy.where", 3, 3, find_where},
    {"ndarray.astype", 2, 1,
     find_astype}, /* the other operand is the dtype, which the result has too */
};

/* Sets plan->loop if the node can be fused. */
static DtStatus
classify(const DtNode *node, DtPlanNode *plan)
{
    DtStatus (*find)(DtPlanNode *, PyObject *const *) = NULL;
    PyObject *types[DT_LOOP_MAX_ARGS];
    plan->node = node;
    DT_TRY(dt_plan_classify_reduce(node, plan));
    if (dt_plan_is_reduce(plan)) {
        return DT_OK;
    }
    if (PyObject_TypeCheck(node->callee, &PyUFunc_Type)) {
        find = find_ufunc;
        plan->nuses = node->nargs;
    }
    for (size_t i = 0; find == NULL && i < sizeof(elementwise) / sizeof(elementwise[0]); i++) {
        if (node->nargs == elementwise[i].nargs
            && strcmp(node->target, elementwise[i].target) == 0) {
            find = elementwise[i].find;
            plan->nuses = elementwise[i].nuses;
        }
    }
    if (find == NULL || node->effect != DT_EFFECT_PURE || node->nresults != 1
        || node->kwnames != NULL || plan->nuses == 0 || plan->nuses >= DT_LOOP_MAX_ARGS) {
        return DT_OK;
    }
    const DtMeta *result = &node->results[0];
    if (!is_plain_array(result) || result->ndim == 0 || result->ndim > DT_FUSED_MAX_NDIM) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < plan->nuses; i++) {
        if (!classify_operand(&node->args[i], result->ndim, &plan->uses[i], &types[i])) {
            return DT_OK;
        }
    }
    DT_TRY(find(plan, types));
    const DtLoop *loop = plan->loop;
    if (loop != NULL
        && (loop->out->type_num != ((PyArray_Descr *)result->dtype)->type_num
            || !rules_hold(plan, result))) {
        plan->loop = NULL;
    }
    return DT_OK;
}

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

/* Room in a fused stage for one more node; counts are upper bounds. */
static bool
has_room(const DtPlanStage *stage, const DtPlanNode *plan)
{
    uint32_t nin = plan->nuses;
    return stage->nodes.count < DT_FUSED_MAX_OPS && stage->noperands + nin <= DT_FUSED_MAX_INPUTS
           && stage->nnumbers + nin <= DT_FUSED_MAX_SCALARS;
}

/* Array operands that come from outside and numbers, after adding the node. */
static void
count_operands(DtPlanStage *stage, const DtPlanNode *nodes, const DtPlanNode *plan, uint32_t index)
{
    for (uint32_t i = 0; i < plan->nuses; i++) {
        const DtPlanUse *use = &plan->uses[i];
        if (use->kind != DT_USE_ARRAY) {
            stage->nnumbers++;
        }
        else if (nodes[use->operand->u.node->index].stage != (int32_t)index) {
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
        return out_of_memory();
    }
    if (stage->fused) {
        const DtPlanReduce *reduce = &plan->nodes[node].reduce;
        if (reduce->kind != DT_REDUCES_NOTHING) {
            stage->reduces = reduce->kind;
            stage->reduce_axes = reduce->axes;
        }
        count_operands(stage, plan->nodes, &plan->nodes[node], index);
    }
    return DT_OK;
}

/* A new stage that begins with `node`. */
static DtStatus
open_stage(DtPlan *plan, uint32_t node)
{
    DtPlanStage *stage = DT_ARENA_NEW(&plan->arena, DtPlanStage);
    if (stage == NULL || dt_vec_push(&plan->arena, &plan->stages, stage) < 0) {
        return out_of_memory();
    }
    stage->fused = plan->nodes[node].loop != NULL;
    stage->cells = plan->nodes[node].cell_op;
    stage->shape = &plan->nodes[node].node->results[0];
    if (dt_plan_is_reduce(&plan->nodes[node])) {
        const DtOperand *operand = plan->nodes[node].uses[0].operand;
        stage->shape = &operand->u.node->results[operand->result];
        plan->nodes[node].level = DT_LEVEL_REDUCE;
    }
    return place(plan, node, plan->stages.count - 1);
}

static bool
uses_stage(const DtPlanNode *own, const DtPlanNode *nodes, uint32_t index)
{
    for (uint32_t i = 0; i < own->nuses; i++) {
        const DtOperand *operand = own->uses[i].operand;
        if (operand->kind == DT_OPERAND_NODE
            && nodes[operand->u.node->index].stage == (int32_t)index) {
            return true;
        }
    }
    return false;
}

/* A fused stage that begins with `first` and takes what it can of the nodes before `end`.  Nodes
 * that continue nothing in it may become results of their own that wait in memory for their users,
 * so there are few of them. */
static DtStatus
open_fused(DtPlan *plan, uint32_t first, uint32_t end)
{
    enum { MAX_STARTS = 4 };
    uint32_t starts = 1;
    uint32_t index = plan->stages.count;
    DT_TRY(open_stage(plan, first));
    DtPlanStage *stage = plan->stages.items[index];
    for (uint32_t i = first + 1; i < end; i++) {
        DtPlanNode *own = &plan->nodes[i];
        uint8_t level;
        if (own->loop == NULL || own->stage >= 0 || !own->live || !has_room(stage, own)
            || own->node->fp_region != plan->nodes[first].node->fp_region
            || !node_ready(own, plan->nodes)
            || !dt_plan_find_level(plan, stage, index, own, &level)) {
            continue;
        }
        if (!uses_stage(own, plan->nodes, index)) {
            if (starts == MAX_STARTS) {
                continue;
            }
            starts++;
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
        /* A write that reads what an earlier one wrote keeps it. */
        for (uint32_t j = 0; j < earlier->nargs; j++) {
            if (j != earlier->mutated[0] && dt_plan_looks_at(&earlier->args[j], node)) {
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
                return out_of_memory();
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

/* ---- Emit ------------------------------------------------------------------------------------ */

/* Which nodes have cells. */
static void
give_cells(DtPlan *plan, DtStages *stages)
{
    for (uint32_t i = 0; i < plan->graph->nodes.count; i++) {
        DtPlanNode *own = &plan->nodes[i];
        if (own->node == NULL || own->stage < 0) {
            continue;
        }
        bool reduced = dt_plan_is_reduce(own) && own->node->nresults == 1
                       && dt_cell_type_of(&own->node->results[0]) != DT_CELL_NONE;
        own->cells =
            plan->stages.items[own->stage]->cells || reduced || dt_kernel_gives_number(own->node);
        if (own->cells) {
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
        if (own->cells) {
            if (boxes != NULL) {
                boxes[*count] = dt_plan_box(own, (uint8_t)dt_cell_type_of(&own->node->results[0]));
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
                return out_of_memory();
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
        return out_of_memory();
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
            return out_of_memory();
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

/* A write is saved before if it can fail itself, or anything after it can. */
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
        fails_later = fails_later || !sure;
        if (stage->fused == NULL && dt_written_can_undo(node)) {
            stage->writes = fails_later ? DT_WRITES_SAVED : DT_WRITES_AT_END;
        }
    }
    const DtNode *saved[16]; /* a loop writes the same few parts over and over */
    uint32_t nsaved = 0;
    for (uint32_t i = 0; i < stages->count; i++) {
        DtStage *stage = &stages->items[i];
        bool covered = false;
        if (stage->writes != DT_WRITES_SAVED) {
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

/* The inputs that the graph writes. */
static DtStatus
find_written(DtNative *exe)
{
    const DtGraph *graph = exe->base.graph;
    exe->nwritten = 0;
    exe->written = DT_ARENA_ARRAY(&exe->arena, uint32_t, graph->inputs.count + 1);
    if (exe->written == NULL) {
        return out_of_memory();
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i], *owner;
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

static DtStatus
build_plan(DtNative *exe, DtPlan *plan, bool strict)
{
    DtStages stages = {0};
    const DtGraph *graph = plan->graph;
    plan->nodes = DT_ARENA_ARRAY(&plan->arena, DtPlanNode, graph->nodes.count + 1);
    if (plan->nodes == NULL) {
        return out_of_memory();
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        if (node->kind != DT_NODE_CALL) {
            continue;
        }
        DT_TRY(classify(node, &plan->nodes[i]));
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
    lifetimes(plan);
    stages.count = plan->stages.count;
    stages.items = DT_ARENA_ARRAY(&exe->arena, DtStage, stages.count + 1);
    if (stages.items == NULL) {
        return out_of_memory();
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
        }
    }
    *(strict ? &exe->strict : &exe->stages) = stages;
    if (strict) {
        return DT_OK;
    }
    DT_TRY(find_written(exe));
    exe->lone = find_lone(exe);
    return DT_OK;
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
