/* Whether a node can be fused, and by which loop.
 *
 *   callee ─► ufunc, where, astype, or a reduction (plan_reduce.c)
 *   operands ─► array, scalar or number ─► the loop for their types ─► the rules of ufuncs.def
 *
 * A node that is not fusable for any reason is called: that is always right.
 */
#include <string.h>

#include "adapters/numbers.h"
#include "backend/eager.h"
#include "backend/native/plan.h"

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
static bool
is_exponent_of_two(const DtPlanUse *use)
{
    if (PyArray_GetNDArrayCFeatureVersion() >= DT_NP_API_OF_2_3 || use->kind != DT_USE_NUMBER) {
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
        bool casts = use->kind != DT_USE_NUMBER && !dt_loop_takes(loop, (uint32_t)i, use->type_num);
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
    DtOrderRule rule;
} elementwise[] = {
    {"numpy.where", 3, 3, find_where, DT_ORDER_ITERATOR},
    /* The other operand is the dtype, which the result has too. */
    {"ndarray.astype", 2, 1, find_astype, DT_ORDER_COPY},
};

/* NumPy's loop without an iterator takes arrays as they are. */
static DtOrderRule
ufunc_rule(const DtPlanNode *plan)
{
    for (uint32_t i = 0; i < plan->nuses; i++) {
        if (plan->uses[i].kind == DT_USE_ARRAY
            && !dt_loop_takes(plan->loop, i, plan->uses[i].type_num)) {
            return DT_ORDER_ITERATOR;
        }
    }
    return DT_ORDER_UFUNC;
}

DtStatus
dt_plan_classify(const DtNode *node, DtPlanNode *plan)
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
            plan->rule = (uint8_t)elementwise[i].rule;
            plan->nuses = elementwise[i].nuses;
        }
    }
    if (find == NULL || node->effect != DT_EFFECT_PURE || node->nresults != 1
        || node->kwnames != NULL || plan->nuses == 0 || plan->nuses >= DT_LOOP_MAX_ARGS) {
        return DT_OK;
    }
    const DtMeta *result = &node->results[0];
    if (!is_plain_array(result) || !PyArray_ISNBO(((PyArray_Descr *)result->dtype)->byteorder)
        || result->ndim == 0 || result->ndim > DT_FUSED_MAX_NDIM) {
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
    if (plan->loop != NULL && find == find_ufunc) {
        plan->rule = (uint8_t)ufunc_rule(plan);
    }
    return DT_OK;
}
