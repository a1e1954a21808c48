/* Matrix products: always one call on whole operands, since blocks would change the bits.
 *
 * Of linalg what LAPACK answers with one array of known shape: inv, solve, det, and the norm;
 * a singular matrix is NumPy's exception, for which the call is made again plainly.
 * Not in here: decompositions, stacks of matrices, norms of other kinds (graph breaks).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

typedef struct Product {
    DtArrayVar *left, *right;
    const DtMeta *l, *r;
} Product;

static DtStatus
read_product(DtTrace *trace, const char *function, DtVar *left, DtVar *right, Product *out)
{
    DtNpOperand operand;
    DT_TRY(dt_np_array_like(trace, &left));
    DT_TRY(dt_np_array_like(trace, &right));
    DT_TRY(dt_np_need_operand(trace, left, function, &operand));
    out->left = operand.array;
    DT_TRY(dt_np_need_operand(trace, right, function, &operand));
    out->right = operand.array;
    if (out->left == NULL || out->right == NULL || out->left->meta->ndim == 0
        || out->right->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a number", function);
    }
    out->l = out->left->meta;
    out->r = out->right->meta;
    return DT_OK;
}

/* The inner sizes: last of the left, second last (or only) of the right. */
static DtStatus
match_inner(DtTrace *trace, const char *function, const Product *p)
{
    const DtSym *a = p->l->shape[p->l->ndim - 1],
                *b = p->r->shape[p->r->ndim > 1 ? p->r->ndim - 2 : 0];
    bool same;
    DT_TRY(dt_trace_unify(trace, a, b, &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s with inner sizes %lld and %lld", function,
                        (long long)a->hint.i, (long long)b->hint.i);
    }
    return DT_OK;
}

static DtStatus
emit_product(DtTrace *trace, DtNpOp op, const Product *p, PyObject *dtype,
             const DtSym *const *shape, uint32_t ndim, bool in_c_order, DtVar **out)
{
    DtOperand args[2] = {dt_np_node(p->left), dt_np_node(p->right)};
    DtMeta *meta = dt_np_meta(trace, dtype, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    if (ndim > 0) {
        memcpy(meta->shape, shape, sizeof(shape[0]) * ndim);
    }
    dt_np_meta_unwrap(meta);
    DT_TRY(in_c_order ? dt_np_fresh_c(trace, meta) : dt_np_fresh(trace, meta, NULL));
    return dt_np_emit_one(trace, op, args, 2, meta, out);
}

/* Leading axes of both operands, broadcast. */
static DtStatus
batch_shape(DtTrace *trace, const Product *p, const DtSym **shape, uint32_t *ndim)
{
    DtMeta metas[2] = {*p->l, *p->r};
    DtArrayVar arrays[2];
    DtNpOperand operands[2];
    memset(arrays, 0, sizeof(arrays));
    memset(operands, 0, sizeof(operands));
    for (int i = 0; i < 2; i++) {
        metas[i].ndim = (uint8_t)(metas[i].ndim > 2 ? metas[i].ndim - 2 : 0);
        arrays[i].meta = &metas[i];
        operands[i].array = &arrays[i];
    }
    return dt_np_broadcast(trace, operands, 2, shape, ndim);
}

DtStatus
dt_np_matmul(DtTrace *trace, DtNpOp op, DtVar *left, DtVar *right, DtVar **out)
{
    Product p;
    PyObject *dtypes;
    const DtSym *shape[DT_NP_MAXDIMS + 2];
    uint32_t ndim;
    DT_TRY(read_product(trace, "matmul", left, right, &p));
    DtNpOperand operands[2] = {{.array = p.left, .dtype = p.l->dtype},
                               {.array = p.right, .dtype = p.r->dtype}};
    DT_TRY(dt_np_resolve(trace, op, operands, NULL, NULL, &dtypes));
    DT_TRY(match_inner(trace, "matmul", &p));
    DT_TRY(batch_shape(trace, &p, shape, &ndim));
    bool in_c_order = ndim == 0 || ((p.l->layout & DT_LAYOUT_C) && (p.r->layout & DT_LAYOUT_C));
    if (p.l->ndim > 1) {
        shape[ndim++] = p.l->shape[p.l->ndim - 2];
    }
    if (p.r->ndim > 1) {
        shape[ndim++] = p.r->shape[p.r->ndim - 1];
    }
    return emit_product(trace, op, &p, PyTuple_GET_ITEM(dtypes, 2), shape, ndim, in_c_order, out);
}

static DtStatus
dot(DtTrace *trace, DtVar *left, DtVar *right, DtVar **out)
{
    Product p;
    PyObject *dtype;
    const DtSym *shape[2 * DT_NP_MAXDIMS];
    uint32_t ndim = 0;
    DT_TRY(read_product(trace, "dot", left, right, &p));
    DtNpOperand operands[2] = {{.array = p.left, .dtype = p.l->dtype},
                               {.array = p.right, .dtype = p.r->dtype}};
    DT_TRY(dt_np_result_type(trace, operands, 2, &dtype));
    DT_TRY(match_inner(trace, "dot", &p));
    for (uint32_t i = 0; i + 1 < p.l->ndim; i++) {
        shape[ndim++] = p.l->shape[i];
    }
    for (uint32_t i = 0; i < p.r->ndim; i++) {
        if (p.r->ndim > 1 && i != p.r->ndim - 2u) {
            shape[ndim++] = p.r->shape[i];
        }
    }
    if (ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "a product of %u dimensions", ndim);
    }
    return emit_product(trace, DT_NP_dot, &p, dtype, shape, ndim, true, out);
}

static DtStatus
two_arguments(DtTrace *trace, DtNpOp op, const DtArgs *args)
{
    if (args->npos != 2 || args->nkw != 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such arguments", dt_np_target(op));
    }
    return DT_OK;
}

DtStatus
dt_np_fn_matmul(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DT_TRY(two_arguments(trace, op, args));
    return dt_np_matmul(trace, op, args->pos[0], args->pos[1], out);
}

DtStatus
dt_np_fn_dot(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DT_TRY(two_arguments(trace, op, args));
    return dot(trace, args->pos[0], args->pos[1], out);
}

DtStatus
dt_np_m_dot(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos != 1 || args->nkw != 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "dot with such arguments");
    }
    return dot(trace, &self->base, args->pos[0], out);
}

/* ---- tensordot ------------------------------------------------------------------------------- */

/* The last axes of the left against the first of the right; a view of a product in C order. */
DtStatus
dt_np_fn_tensordot(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "b", "axes"};
    const char *function = dt_np_target(op);
    const DtSym *shape[2 * DT_NP_MAXDIMS];
    DtVar *slots[3];
    Product p;
    DtOperand operands[3];
    DtMeta *meta;
    int64_t axes = 2;
    uint32_t ndim = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 3, 3, 2, slots));
    PyObject *count = slots[2] != NULL ? dt_var_as_constant(trace, slots[2]) : NULL;
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    if (slots[2] != NULL && (count == NULL || !PyLong_CheckExact(count))) {
        return dt_np_fn_dry(trace, op, args, out); /* pairs of axes */
    }
    DT_TRY(read_product(trace, function, slots[0], slots[1], &p));
    if (slots[2] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[2], &axes));
    }
    if (p.l->dtype != p.r->dtype || !(p.l->layout & p.r->layout & DT_LAYOUT_NATIVE) || axes < 1
        || axes > p.l->ndim || axes > p.r->ndim || p.l->ndim + p.r->ndim - 2 * axes < 1
        || p.l->ndim + p.r->ndim - 2 * axes > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such arrays", function);
    }
    uint32_t summed = (uint32_t)axes;
    for (uint32_t i = 0; i < summed; i++) {
        bool same;
        DT_TRY(dt_trace_unify(trace, p.l->shape[p.l->ndim - summed + i], p.r->shape[i], &same));
        if (!same) {
            return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s of sizes that differ", function);
        }
    }
    for (uint32_t i = 0; i < p.l->ndim - summed; i++) {
        shape[ndim++] = p.l->shape[i];
    }
    for (uint32_t i = summed; i < p.r->ndim; i++) {
        shape[ndim++] = p.r->shape[i];
    }
    DT_TRY(dt_np_new_meta(trace, p.l->dtype, shape, ndim, &meta));
    meta->layout &= ~(uint32_t)DT_LAYOUT_FRESH;
    operands[0] = dt_np_node(p.left);
    operands[1] = dt_np_node(p.right);
    DT_TRY(dt_np_int_operand(trace, axes, &operands[2]));
    return dt_np_emit_one(trace, op, operands, 3, meta, out);
}

/* ---- linalg ---------------------------------------------------------------------------------- */

/* The type in which linalg answers for this one, or -1. */
static int
answer_type(int num)
{
    if (num == NPY_BOOL || PyTypeNum_ISINTEGER(num)) {
        return NPY_DOUBLE;
    }
    return num == NPY_FLOAT || num == NPY_DOUBLE || num == NPY_CFLOAT || num == NPY_CDOUBLE ? num
                                                                                            : -1;
}

static DtStatus
need_matrix(DtTrace *trace, const char *function, DtVar *var, DtArrayVar **out, int *num)
{
    *out = dt_np_array_of(var);
    const DtMeta *meta = *out != NULL ? (*out)->meta : NULL;
    *num = meta != NULL ? answer_type(dt_np_descr(meta->dtype)->type_num) : -1;
    if (*num < 0 || !dt_np_is_ndarray(*out) || meta->ndim == 0
        || !(meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such a %s", function, var->type->name);
    }
    return DT_OK;
}

static DtStatus
need_square(DtTrace *trace, const char *function, const DtMeta *meta)
{
    bool same = false;
    if (meta->ndim != 2) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of %u dimensions", function, meta->ndim);
    }
    DT_TRY(dt_trace_unify(trace, meta->shape[0], meta->shape[1], &same));
    return same ? DT_OK
                : dt_break(trace, DT_BREAK_RAISES, "%s of a matrix that is not square", function);
}

static DtStatus
answer(DtTrace *trace, int num, const DtMeta *shaped, bool c, DtMeta **out)
{
    PyObject *dtype = dt_np_dtype(num);
    DT_TRY(dt_np_new_meta(trace, dtype, shaped != NULL ? (const DtSym *const *)shaped->shape : NULL,
                          shaped != NULL ? shaped->ndim : 0, out));
    dt_np_meta_unwrap(*out);
    return c || shaped == NULL || shaped->ndim < 2 ? DT_OK : dt_np_fresh(trace, *out, NULL);
}

/* inv and det: one square matrix. */
DtStatus
dt_np_fn_of_square(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a"};
    const char *function = dt_np_target(op);
    DtVar *slot;
    DtArrayVar *array;
    DtOperand operand;
    DtMeta *meta;
    int num;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 1, 1, 1, &slot));
    DT_TRY(need_matrix(trace, function, slot, &array, &num));
    DT_TRY(need_square(trace, function, array->meta));
    DT_TRY(answer(trace, num, op == DT_NP_linalg_inv ? array->meta : NULL,
                  array->meta->layout & DT_LAYOUT_C, &meta));
    operand = dt_np_node(array);
    return dt_np_emit_one(trace, op, &operand, 1, meta, out);
}

DtStatus
dt_np_fn_solve(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "b"};
    const char *function = dt_np_target(op);
    DtVar *slots[2];
    DtArrayVar *a, *b;
    DtOperand operands[2];
    DtMeta *meta;
    int num, other;
    bool same;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 2, 2, 2, slots));
    DT_TRY(need_matrix(trace, function, slots[0], &a, &num));
    DT_TRY(need_matrix(trace, function, slots[1], &b, &other));
    DT_TRY(need_square(trace, function, a->meta));
    if (b->meta->ndim > 2 || num != other) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such arrays", function);
    }
    DT_TRY(dt_trace_unify(trace, a->meta->shape[0], b->meta->shape[0], &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_RAISES, "%s of sizes that differ", function);
    }
    DT_TRY(answer(trace, num, b->meta, a->meta->layout & b->meta->layout & DT_LAYOUT_C, &meta));
    operands[0] = dt_np_node(a);
    operands[1] = dt_np_node(b);
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

/* Along one axis the steps that NumPy takes: the root of a sum of products. */
static DtStatus
norm_along(DtTrace *trace, DtArrayVar *array, DtVar *axis_var, bool keepdims, DtVar **out)
{
    DtVar *pair[2];
    uint32_t axis;
    int num = dt_np_descr(array->meta->dtype)->type_num;
    DT_TRY(dt_np_axis(trace, "numpy.linalg.norm", axis_var, array->meta->ndim, &axis));
    if (PyTypeNum_ISCOMPLEX(num)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "numpy.linalg.norm of complex rows");
    }
    pair[0] = &array->base;
    if (!PyTypeNum_ISFLOAT(num)) {
        PyObject *real = dt_np_dtype(NPY_DOUBLE);
        if (real == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_np_cast(trace, array, real, &pair[0]));
    }
    pair[1] = pair[0];
    DT_TRY(dt_np_apply_vars(trace, DT_NP_multiply, pair, 2, &pair[0]));
    DT_TRY(dt_np_reduce(trace, DT_NP_add, dt_np_array_of(pair[0]), 1u << axis, false, NULL,
                        keepdims, &pair[0]));
    return dt_np_apply_vars(trace, DT_NP_sqrt, pair, 1, out);
}

/* The root of the sum of squares, of all items or along an axis. */
DtStatus
dt_np_fn_norm(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"x", "ord", "axis", "keepdims"};
    const char *function = dt_np_target(op);
    DtVar *slots[4];
    DtArrayVar *array;
    DtOperand operand;
    DtMeta *meta;
    int num;
    bool keepdims;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 4, 4, 1, slots));
    DT_TRY(dt_np_array_like(trace, &slots[0]));
    DT_TRY(dt_np_bool_arg(trace, function, slots[3], false, &keepdims));
    bool all = dt_np_is_none(slots[2]);
    PyObject *axis = !all ? dt_var_as_constant(trace, slots[2]) : NULL;
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    bool one = axis != NULL && PyLong_CheckExact(axis);
    if (!dt_np_is_default(slots[1]) || (all ? keepdims : !one)) {
        return dt_np_fn_dry(trace, op, args, out);
    }
    DT_TRY(need_matrix(trace, function, slots[0], &array, &num));
    if (!all) {
        return norm_along(trace, array, slots[2], keepdims, out);
    }
    num = num == NPY_CFLOAT ? NPY_FLOAT : num == NPY_CDOUBLE ? NPY_DOUBLE : num;
    DT_TRY(answer(trace, num, NULL, true, &meta));
    operand = dt_np_node(array);
    return dt_np_emit_one(trace, op, &operand, 1, meta, out);
}
