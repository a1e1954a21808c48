/* Matrix products: always one call on whole operands, since blocks would change the bits.
 *
 * Not in here: linalg proper (graph breaks).
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
