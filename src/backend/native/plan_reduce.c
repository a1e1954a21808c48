/* Which reductions fused stages make, and what else may run over their results there.
 *
 *   x ──► elements ──► rows ──► elements of the same rows
 *         (FULL)       (REDUCE, ROW)
 *
 * A reduction over the last axes gives one element per row; arithmetic on such results, and of
 * elements with them, stays in the stage, since blocks hold whole rows.  One over the first axes,
 * or over all, is known when the stage is through: who uses it comes later.
 *
 * Not in here, and called: axes in the middle, complex numbers, sums that NumPy casts through its
 * buffer (integers as floats), operands that are not in C order.
 */
#include <string.h>

#include "backend/native/plan.h"

enum {
    LONGEST_CHAINED = 16384
}; /* elements of a row, by the example: it has to fit into a block */

typedef struct ReduceRow {
    const char *ufunc;
    int identity;   /* for numbers that have it */
    bool first;     /* none: begins with the first element */
    bool only_bool; /* others are tested for truth first */
    bool only_whole;
    bool in_sequence; /* floats too: runs on from piece to piece */
} ReduceRow;

static const ReduceRow rows[] = {
    {"add", 0, false, false, false, false},       {"multiply", 1, false, false, false, true},
    {"maximum", 0, true, false, false, false},    {"minimum", 0, true, false, false, false},
    {"logical_or", 0, false, true, true, false},  {"logical_and", 1, false, true, true, false},
    {"bitwise_or", 0, false, false, true, false}, {"bitwise_xor", 0, false, false, true, false},
};

static const ReduceRow *
find_row(PyObject *callee)
{
    if (!PyCFunction_Check(callee)
        || strcmp(((PyCFunctionObject *)callee)->m_ml->ml_name, "reduce") != 0) {
        return NULL;
    }
    PyObject *self = PyCFunction_GET_SELF(callee);
    if (self == NULL || !PyObject_TypeCheck(self, &PyUFunc_Type)) {
        return NULL;
    }
    const char *name = ((PyUFuncObject *)self)->name;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (strcmp(name, rows[i].ufunc) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* A bit per axis; 0 if the operand is something else. */
static uint32_t
axes_of(const DtOperand *operand, uint32_t ndim)
{
    if (operand->kind == DT_OPERAND_CONST && operand->u.object == Py_None) {
        return (1u << ndim) - 1;
    }
    uint32_t count = operand->kind == DT_OPERAND_TUPLE ? operand->count : 1;
    uint32_t axes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const DtOperand *item = operand->kind == DT_OPERAND_TUPLE ? &operand->items[i] : operand;
        if (item->kind != DT_OPERAND_CONST || !PyLong_CheckExact(item->u.object)) {
            return 0;
        }
        int overflow;
        long axis = PyLong_AsLongAndOverflow(item->u.object, &overflow);
        if (overflow != 0 || axis < 0 || axis >= (long)ndim) {
            return 0;
        }
        axes |= 1u << axis;
    }
    return axes;
}

static uint8_t
kind_of(uint32_t axes, uint32_t ndim)
{
    uint32_t all = (1u << ndim) - 1, kept = all & ~axes;
    if (axes == 0) {
        return DT_REDUCES_NOTHING;
    }
    if ((kept & (kept + 1)) == 0) { /* the kept ones are the first */
        return DT_REDUCES_ROWS;
    }
    return (axes & (axes + 1)) == 0 ? DT_REDUCES_COLUMNS : DT_REDUCES_NOTHING;
}

static bool
is_constant(const DtOperand *operand, bool truth)
{
    return operand->kind == DT_OPERAND_CONST
           && (truth ? PyBool_Check(operand->u.object) : operand->u.object == Py_None);
}

/* The dtype of an operand or result that fused code can reduce; NULL: it can't. */
static PyArray_Descr *
plain_dtype(const DtMeta *meta)
{
    if (meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype)) {
        return NULL;
    }
    PyArray_Descr *descr = (PyArray_Descr *)meta->dtype;
    return dt_loop_knows_type(descr->type_num) && PyArray_ISNBO(descr->byteorder)
                   && !PyTypeNum_ISCOMPLEX(descr->type_num)
               ? descr
               : NULL;
}

static bool
takes_types(const ReduceRow *row, int from, int to)
{
    bool floats = PyTypeNum_ISFLOAT(to) || PyTypeNum_ISFLOAT(from);
    if (row->only_bool && (from != NPY_BOOL || to != NPY_BOOL)) {
        return false;
    }
    if (from != to
        && (floats || dt_cast_get(from, to) == NULL || PyArray_EquivTypenums(from, to))) {
        return false; /* two names of one integer are two types of scalars */
    }
    return !floats || row->in_sequence || dt_reduced_sums_whole_runs();
}

DtStatus
dt_plan_classify_reduce(const DtNode *node, DtPlanNode *plan)
{
    const ReduceRow *row = find_row(node->callee);
    if (row == NULL || node->effect != DT_EFFECT_PURE || node->nresults != 1 || node->nargs != 5
        || node->kwnames != NULL || node->args[0].kind != DT_OPERAND_NODE
        || !is_constant(&node->args[3], false) || !is_constant(&node->args[4], true)) {
        return DT_OK;
    }
    const DtMeta *operand = &node->args[0].u.node->results[node->args[0].result];
    const DtMeta *result = &node->results[0];
    PyArray_Descr *from = plain_dtype(operand), *to = plain_dtype(result);
    bool plain_result = result->type == &PyArray_Type
                        || (result->ndim == 0 && result->type != NULL
                            && PyType_IsSubtype(result->type, &PyGenericArrType_Type));
    if (from == NULL || to == NULL || operand->type != &PyArray_Type || !plain_result
        || operand->ndim == 0 || operand->ndim > DT_FUSED_MAX_NDIM
        || !(operand->layout & DT_LAYOUT_C) || !takes_types(row, from->type_num, to->type_num)
        || (row->only_whole && PyTypeNum_ISFLOAT(to->type_num))) {
        return DT_OK;
    }
    uint32_t axes = axes_of(&node->args[1], operand->ndim);
    DtPlanReduce reduce = {
        .kind = kind_of(axes, operand->ndim),
        .axes = axes,
        .first = row->first,
        .tree = PyTypeNum_ISFLOAT(to->type_num) && !row->first && !row->in_sequence,
        .cut_shows = PyTypeNum_ISFLOAT(to->type_num) && row->first,
    };
    if (reduce.kind == DT_REDUCES_NOTHING
        || (!row->first && to->type_num != NPY_BOOL
            && !dt_cast_int(row->identity, to->type_num, &reduce.identity))) {
        return DT_OK;
    }
    if (to->type_num == NPY_BOOL && !row->first) {
        *(npy_bool *)&reduce.identity = row->identity != 0;
    }
    PyObject *types[2] = {(PyObject *)to, (PyObject *)to};
    const DtLoop *loop;
    DT_TRY(dt_loop_get(PyCFunction_GET_SELF(node->callee), types, 2, &loop));
    if (loop == NULL || loop->allow != DT_ALLOW_ANY) {
        return DT_OK;
    }
    for (int i = 0; i < 3; i++) {
        if (loop->types[i] != to->type_num) {
            return DT_OK;
        }
    }
    plan->loop = loop;
    plan->reduce = reduce;
    plan->nuses = 1;
    plan->uses[0] = (DtPlanUse){DT_USE_ARRAY, &node->args[0], from->type_num};
    return DT_OK;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* May results of rows be used in the stage? */
static bool
chains(const DtPlanStage *stage)
{
    int64_t length = 1;
    uint32_t ndim = stage->shape->ndim;
    if (stage->reduces != DT_REDUCES_ROWS || stage->reduce_axes == (1u << ndim) - 1) {
        return false;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        if (stage->reduce_axes & (1u << i)) {
            int64_t size = stage->shape->shape[i]->hint.i;
            if (size > LONGEST_CHAINED || (length *= size) > LONGEST_CHAINED) {
                return false;
            }
        }
    }
    return true;
}

bool
dt_plan_find_level(const DtPlan *plan, const DtPlanStage *stage, uint32_t index,
                   const DtPlanNode *own, uint8_t *level)
{
    const DtMeta *result = &own->node->results[0];
    bool of_rows = false, of_elements = false, other_shape = false, keeps = true;
    for (uint32_t i = 0; i < own->nuses; i++) {
        const DtPlanUse *use = &own->uses[i];
        if (use->kind == DT_USE_SCALAR
            && plan->nodes[use->operand->u.node->index].stage == (int32_t)index) {
            return false; /* the reduction of all elements has to be over before it is used */
        }
        if (use->kind != DT_USE_ARRAY) {
            continue;
        }
        const DtNode *node = use->operand->u.node;
        const DtMeta *meta = &node->results[use->operand->result];
        if (plan->nodes[node->index].stage == (int32_t)index
            && plan->nodes[node->index].level != DT_LEVEL_FULL) {
            of_rows = true;
            other_shape = other_shape || !dt_plan_same_shape(meta, result);
            keeps =
                keeps && meta->ndim == stage->shape->ndim && !PyTypeNum_ISCOMPLEX(use->type_num);
        }
        else {
            of_elements = true;
        }
    }
    if (dt_plan_is_reduce(own)) {
        const DtOperand *operand = own->uses[0].operand;
        *level = DT_LEVEL_REDUCE;
        return !of_rows
               && dt_plan_same_shape(stage->shape, &operand->u.node->results[operand->result])
               && (stage->reduces == DT_REDUCES_NOTHING
                   || (stage->reduces == own->reduce.kind
                       && stage->reduce_axes == own->reduce.axes));
    }
    if (of_rows && !chains(stage)) {
        return false;
    }
    if (of_rows && !of_elements && !other_shape) {
        *level = DT_LEVEL_ROW;
        return own->loop->allow >= DT_ALLOW_STRIDED;
    }
    *level = DT_LEVEL_FULL;
    return dt_plan_same_shape(stage->shape, result)
           && (!of_rows || (keeps && own->loop->allow == DT_ALLOW_ANY));
}
