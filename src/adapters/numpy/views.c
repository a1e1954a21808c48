/* Other shapes of the same items: reshape, transpose and their relatives.
 *
 * A result that may share memory with its operand has an alias edge, also where
 * NumPy copies under some strides: an edge too many only forbids, never permits.
 * Not in here: indexing (index.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

static DtStatus
need_ndarray(DtTrace *trace, const DtArrayVar *self, const char *what)
{
    if (!dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a NumPy scalar", what);
    }
    return DT_OK;
}

static uint32_t
shared_layout(const DtMeta *meta)
{
    return meta->layout & (DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE | DT_LAYOUT_NEGATIVE);
}

/* ---- reshape --------------------------------------------------------------------------------- */

static DtStatus
natural_order(DtTrace *trace, DtMeta *meta)
{
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim + 1);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (int8_t i = 0; i < meta->ndim; i++) {
        order[i] = i;
    }
    meta->stride_order = order;
    return DT_OK;
}

/* `unknown`: which size the program left to NumPy with -1, or -1.  NumPy is handed the same: it
 * strides an empty result by how its shape was said. */
static DtStatus
reshape_node(DtTrace *trace, DtArrayVar *self, const DtSym *const *shape, uint32_t ndim,
             int unknown, DtVar **out)
{
    DtOperand args[2] = {dt_np_node(self)};
    DtMeta *meta = dt_np_meta(trace, self->meta->dtype, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, shape, sizeof(shape[0]) * ndim);
    meta->layout = shared_layout(self->meta);
    if (self->meta->layout & DT_LAYOUT_C) {
        DT_TRY(natural_order(trace, meta));
        dt_np_contiguous_flags(meta);
    }
    else if (ndim < 2) {
        DT_TRY(natural_order(trace, meta));
    }
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &args[1]));
    if (unknown >= 0) {
        DT_TRY(dt_np_int_operand(trace, -1, &args[1].items[unknown]));
    }
    return dt_np_emit_view(trace, DT_NP_nd_reshape, args, 2, meta, out);
}

DtStatus
dt_np_reshape(DtTrace *trace, DtArrayVar *self, const DtSym *const *shape, uint32_t ndim,
              DtVar **out)
{
    return reshape_node(trace, self, shape, ndim, -1, out);
}

/* Takes equal factors out of both lists. */
static void
cancel_factors(const DtSym **a, uint32_t *na, const DtSym **b, uint32_t *nb)
{
    for (uint32_t i = 0; i < *na;) {
        uint32_t j = 0;
        while (j < *nb && !dt_sym_equal(a[i], b[j])) {
            j++;
        }
        if (j == *nb) {
            i++;
            continue;
        }
        a[i] = a[--*na];
        b[j] = b[--*nb];
    }
}

/* The size that -1 stands for: all items over the known sizes. */
static DtStatus
inferred_size(DtTrace *trace, const DtSym *const *old, uint32_t nold, const DtSym *const *known,
              uint32_t nknown, const DtSym **out)
{
    const DtSym *a[DT_NP_MAXDIMS], *b[DT_NP_MAXDIMS], *total, *divisor, *rest;
    bool divides;
    memcpy(a, old, sizeof(a[0]) * nold);
    memcpy(b, known, sizeof(b[0]) * nknown);
    for (uint32_t i = 0; i < nknown; i++) {
        if (known[i]->hint.i == 0) {
            return dt_break(trace, DT_BREAK_RAISES, "reshape with an unknown size beside 0");
        }
    }
    cancel_factors(a, &nold, b, &nknown);
    DT_TRY(dt_np_product(trace, a, nold, &total));
    DT_TRY(dt_np_product(trace, b, nknown, &divisor));
    if (dt_np_size_is(divisor, 1)) {
        return dt_np_settle_size(trace, total, out);
    }
    DT_TRY(dt_np_expr(trace, DT_SYM_OP_MOD, total, divisor, &rest));
    DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_EQ, rest, 0, &divides));
    if (!divides) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "reshape of %lld items",
                        (long long)total->hint.i);
    }
    DT_TRY(dt_np_expr(trace, DT_SYM_OP_FLOORDIV, total, divisor, out));
    return dt_np_settle_size(trace, *out, out);
}

static DtStatus
check_total(DtTrace *trace, const DtSym *const *old, uint32_t nold, const DtSym *const *shape,
            uint32_t ndim)
{
    const DtSym *a[DT_NP_MAXDIMS], *b[DT_NP_MAXDIMS], *before, *after;
    bool same;
    memcpy(a, old, sizeof(a[0]) * nold);
    memcpy(b, shape, sizeof(b[0]) * ndim);
    cancel_factors(a, &nold, b, &ndim);
    DT_TRY(dt_np_product(trace, a, nold, &before));
    DT_TRY(dt_np_product(trace, b, ndim, &after));
    DT_TRY(dt_trace_unify(trace, before, after, &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "reshape of %lld items to %lld",
                        (long long)before->hint.i, (long long)after->hint.i);
    }
    return DT_OK;
}

/* reshape to a shape given as trackers; one may be -1. */
static DtStatus
reshape_to(DtTrace *trace, DtArrayVar *self, DtVar *const *sizes, uint32_t ndim, DtVar **out)
{
    const DtSym *shape[DT_NP_MAXDIMS], *known[DT_NP_MAXDIMS];
    const DtMeta *meta = self->meta;
    uint32_t nknown = 0;
    int unknown = -1;
    if (ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", ndim);
    }
    for (uint32_t i = 0; i < ndim; i++) {
        bool negative;
        DT_TRY(dt_np_sym_of(trace, sizes[i], &shape[i]));
        if (shape[i] == NULL) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "reshape with a size that is no int");
        }
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LT, shape[i], 0, &negative));
        if (!negative) {
            DT_TRY(dt_np_settle_size(trace, shape[i], &shape[i]));
            known[nknown++] = shape[i];
            continue;
        }
        DT_TRY(dt_trace_specialize(trace, shape[i]));
        if (shape[i]->hint.i != -1 || unknown >= 0) {
            return dt_break(trace, DT_BREAK_RAISES, "reshape with a negative size");
        }
        unknown = (int)i;
    }
    if (unknown >= 0) {
        DT_TRY(inferred_size(trace, meta->shape, meta->ndim, known, nknown, &shape[unknown]));
    }
    else {
        DT_TRY(check_total(trace, meta->shape, meta->ndim, shape, ndim));
    }
    return reshape_node(trace, self, shape, ndim, unknown, out);
}

DtStatus
dt_np_m_reshape(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *first, **sizes = args->pos;
    uint32_t ndim = args->npos;
    bool many;
    DT_TRY(need_ndarray(trace, self, "reshape"));
    if (args->nkw > 0 || args->npos == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "reshape with keyword arguments");
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &first));
    if (args->npos == 1) {
        DT_TRY(dt_np_items(trace, dt_var_peek(first), &sizes, &ndim, &many));
    }
    return reshape_to(trace, self, sizes, ndim, out);
}

DtStatus
dt_np_fn_expand_dims(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis"};
    const DtSym *shape[DT_NP_MAXDIMS + 1];
    DtVar *slots[2];
    uint32_t axis, from = 0;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 2, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    if (self == NULL || !dt_np_is_ndarray(self) || self->meta->ndim == DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "expand_dims of a %s", slots[0]->type->name);
    }
    uint32_t ndim = self->meta->ndim + 1u;
    DT_TRY(dt_np_axis(trace, dt_np_target(op), slots[1], ndim, &axis));
    for (uint32_t i = 0; i < ndim; i++) {
        shape[i] = i == axis ? dt_np_size(trace, 1) : self->meta->shape[from++];
        if (shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    return dt_np_reshape(trace, self, shape, ndim, out);
}

/* ---- transpose ------------------------------------------------------------------------------- */

DtStatus
dt_np_transpose(DtTrace *trace, DtArrayVar *self, const int8_t *axes, DtVar **out)
{
    const DtMeta *base = self->meta;
    DtOperand args[2] = {dt_np_node(self)}, items[DT_NP_MAXDIMS];
    DtMeta *meta = dt_np_meta(trace, base->dtype, base->ndim);
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, base->ndim + 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    if (order == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        meta->shape[i] = base->shape[axes[i]];
        for (uint32_t j = 0; base->stride_order != NULL && j < base->ndim; j++) {
            if (base->stride_order[j] == axes[i]) {
                order[j] = (int8_t)i;
            }
        }
        DT_TRY(dt_np_int_operand(trace, axes[i], &items[i]));
    }
    meta->layout = shared_layout(base);
    meta->stride_order = base->stride_order != NULL ? order : NULL;
    if (base->layout & (DT_LAYOUT_C | DT_LAYOUT_F)) {
        dt_np_contiguous_flags(meta);
    }
    DT_TRY(dt_np_tuple_operand(trace, items, base->ndim, &args[1]));
    return dt_np_emit_view(trace, DT_NP_nd_transpose, args, 2, meta, out);
}

static DtStatus
transpose_reversed(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    int8_t axes[DT_NP_MAXDIMS];
    for (uint32_t i = 0; i < self->meta->ndim; i++) {
        axes[i] = (int8_t)(self->meta->ndim - 1 - i);
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_a_transposed(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    if (!dt_np_is_ndarray(self)) {
        *out = &self->base;
        return DT_OK;
    }
    return transpose_reversed(trace, self, out);
}

DtStatus
dt_np_m_transpose(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *first = NULL, **items = args->pos;
    uint32_t count = args->npos, seen = 0, ndim = self->meta->ndim;
    bool many;
    int8_t axes[DT_NP_MAXDIMS];
    DT_TRY(need_ndarray(trace, self, "transpose"));
    if (args->nkw > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "transpose with keyword arguments");
    }
    if (args->npos == 1) {
        DT_TRY(dt_var_realize(trace, args->pos[0], &first));
        first = dt_var_peek(first);
        DT_TRY(dt_np_items(trace, first, &items, &count, &many));
    }
    if (args->npos == 0 || (args->npos == 1 && dt_np_is_none(first))) {
        return transpose_reversed(trace, self, out);
    }
    if (count != ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "transpose with %u axes", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        DT_TRY(dt_np_axis(trace, "transpose", items[i], ndim, &axis));
        axes[i] = (int8_t)axis;
        seen |= 1u << axis;
    }
    if (ndim > 0 && seen != (uint32_t)(((uint64_t)1 << ndim) - 1)) {
        return dt_break(trace, DT_BREAK_RAISES, "transpose with an axis twice");
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_m_swapaxes(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis1", "axis2"};
    DtVar *slots[3];
    uint32_t first, second;
    int8_t axes[DT_NP_MAXDIMS];
    DT_TRY(need_ndarray(trace, self, "swapaxes"));
    DT_TRY(dt_np_bind(trace, "swapaxes", &self->base, args, names, 3, 3, 3, slots));
    DT_TRY(dt_np_axis(trace, "swapaxes", slots[1], self->meta->ndim, &first));
    DT_TRY(dt_np_axis(trace, "swapaxes", slots[2], self->meta->ndim, &second));
    for (uint32_t i = 0; i < self->meta->ndim; i++) {
        axes[i] = (int8_t)(i == first ? second : i == second ? first : i);
    }
    return dt_np_transpose(trace, self, axes, out);
}

DtStatus
dt_np_fn_moveaxis(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "source", "destination"};
    DtVar *slots[3];
    uint32_t source, destination, next = 0;
    int8_t axes[DT_NP_MAXDIMS];
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 3, 3, 3, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    if (self == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "moveaxis of a %s", slots[0]->type->name);
    }
    DT_TRY(need_ndarray(trace, self, "moveaxis"));
    DT_TRY(dt_np_axis(trace, dt_np_target(op), slots[1], self->meta->ndim, &source));
    DT_TRY(dt_np_axis(trace, dt_np_target(op), slots[2], self->meta->ndim, &destination));
    for (uint32_t i = 0; i < self->meta->ndim; i++) {
        if (i == destination) {
            axes[i] = (int8_t)source;
            continue;
        }
        next += next == source;
        axes[i] = (int8_t)next++;
    }
    return dt_np_transpose(trace, self, axes, out);
}

/* ---- squeeze, ravel, flatten, copy ----------------------------------------------------------- */

DtStatus
dt_np_m_squeeze(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis"};
    const DtMeta *base = self->meta;
    DtVar *slots[2];
    DtOperand operands[2] = {dt_np_node(self)};
    uint32_t mask, ndim = 0;
    int8_t place[DT_NP_MAXDIMS];
    bool all;
    DT_TRY(need_ndarray(trace, self, "squeeze"));
    DT_TRY(dt_np_bind(trace, "squeeze", &self->base, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_axes(trace, "squeeze", slots[1], base->ndim, &mask, &all));
    DtMeta *meta = dt_np_meta(trace, base->dtype, base->ndim);
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, base->ndim + 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    if (order == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        bool one = dt_np_size_is(base->shape[i], 1), wanted = mask & (1u << i);
        if (wanted && dt_trace_depends_on_data(trace, base->shape[i])) {
            return dt_break(trace, DT_BREAK_DATA_SIZE, "squeeze of a selection");
        }
        if (wanted && !one && !all) {
            return dt_break(trace, DT_BREAK_RAISES, "squeeze of an axis that is not 1");
        }
        place[i] = wanted && one ? -1 : (int8_t)ndim;
        if (place[i] >= 0) {
            meta->shape[ndim++] = base->shape[i];
        }
    }
    if (all && ndim == base->ndim) {
        *out = &self->base; /* NumPy gives the array itself */
        return DT_OK;
    }
    meta->ndim = (uint8_t)ndim;
    meta->layout = shared_layout(base) | (base->layout & (DT_LAYOUT_C | DT_LAYOUT_F));
    for (uint32_t i = 0, filled = 0; base->stride_order != NULL && i < base->ndim; i++) {
        if (place[base->stride_order[i]] >= 0) {
            order[filled++] = place[base->stride_order[i]];
        }
    }
    meta->stride_order = base->stride_order != NULL ? order : NULL;
    if (all) {
        return dt_np_emit_view(trace, DT_NP_nd_squeeze, operands, 1, meta, out);
    }
    bool ok;
    DT_TRY(dt_graph_operand(trace, slots[1], &operands[1], &ok));
    return ok ? dt_np_emit_view(trace, DT_NP_nd_squeeze, operands, 2, meta, out)
              : dt_break(trace, DT_BREAK_ARRAY_OP, "squeeze with such an axis");
}

/* The one-dimensional result of ravel and flatten. */
static DtStatus
flat_meta(DtTrace *trace, DtArrayVar *self, DtMeta **out)
{
    const DtSym *size;
    DT_TRY(dt_np_product(trace, self->meta->shape, self->meta->ndim, &size));
    *out = dt_np_meta(trace, self->meta->dtype, 1);
    if (*out == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_settle_size(trace, size, &(*out)->shape[0]));
    return dt_np_fresh_c(trace, *out);
}

static DtStatus
need_c_order(DtTrace *trace, const char *function, DtVar *var)
{
    PyObject *order = var != NULL ? dt_var_as_constant(trace, var) : NULL;
    if (var != NULL
        && (order == NULL || !PyUnicode_Check(order)
            || PyUnicode_CompareWithASCIIString(order, "C") != 0)) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with order=", function);
    }
    return DT_OK;
}

static DtStatus
flatten(DtTrace *trace, const char *function, DtNpOp op, DtArrayVar *self, const DtArgs *args,
        DtVar **out)
{
    static const char *const names[] = {"a", "order"};
    DtVar *slots[2];
    DtMeta *meta;
    DtOperand operand = dt_np_node(self);
    DT_TRY(need_ndarray(trace, self, function));
    DT_TRY(dt_np_bind(trace, function, &self->base, args, names, 2, 2, 1, slots));
    DT_TRY(need_c_order(trace, function, slots[1]));
    DT_TRY(flat_meta(trace, self, &meta));
    if (op == DT_NP_nd_flatten) {
        return dt_np_emit_one(trace, op, &operand, 1, meta, out);
    }
    meta->layout &= ~(uint32_t)DT_LAYOUT_FRESH;
    return dt_np_emit_view(trace, op, &operand, 1, meta, out);
}

DtStatus
dt_np_m_ravel(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return flatten(trace, "ravel", DT_NP_nd_ravel, self, args, out);
}

DtStatus
dt_np_m_flatten(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return flatten(trace, "flatten", DT_NP_nd_flatten, self, args, out);
}

DtStatus
dt_np_m_copy(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "order"};
    DtVar *slots[2];
    DtOperand operand = dt_np_node(self);
    DT_TRY(need_ndarray(trace, self, "copy"));
    DT_TRY(dt_np_bind(trace, "copy", &self->base, args, names, 2, 2, 1, slots));
    DT_TRY(need_c_order(trace, "copy", slots[1]));
    DtMeta *meta = dt_np_meta(trace, self->meta->dtype, self->meta->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, self->meta->shape, sizeof(meta->shape[0]) * meta->ndim);
    DT_TRY(dt_np_fresh_c(trace, meta));
    return dt_np_emit_one(trace, DT_NP_nd_copy, &operand, 1, meta, out);
}

/* copy.copy() and copy.deepcopy() keep the order in memory: of one that is known to be C's. */
DtStatus
dt_np_m_copy_as_is(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtArgs none = {0};
    if (args->npos > 1 || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "a copy of an array with such arguments");
    }
    if (self->meta->ndim > 1 && !(self->meta->layout & DT_LAYOUT_C)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a copy of an array that is not in C order");
    }
    return dt_np_m_copy(trace, self, &none, out);
}

DtStatus
dt_np_fn_broadcast_to(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"array", "shape"};
    DtVar *slots[2], **items;
    DtOperand operands[2];
    const DtSym *shape[DT_NP_MAXDIMS];
    uint32_t ndim = 1;
    bool many;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 2, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    items = &slots[1];
    DT_TRY(dt_np_items(trace, slots[1], &items, &ndim, &many));
    if (self == NULL || ndim > DT_NP_MAXDIMS || ndim < self->meta->ndim) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "broadcast_to of such arguments");
    }
    for (uint32_t i = 0; i < ndim; i++) {
        bool same = true;
        DT_TRY(dt_np_sym_of(trace, items[i], &shape[i]));
        if (shape[i] == NULL || shape[i]->hint.i < 0) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "broadcast_to with a size that is no int");
        }
        DT_TRY(dt_np_settle_size(trace, shape[i], &shape[i]));
        uint32_t missing = ndim - self->meta->ndim;
        if (i >= missing && !dt_np_size_is(self->meta->shape[i - missing], 1)) {
            DT_TRY(dt_trace_unify(trace, self->meta->shape[i - missing], shape[i], &same));
        }
        if (!same) {
            return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "broadcast_to another size");
        }
    }
    DtMeta *meta = dt_np_meta(trace, self->meta->dtype, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, shape, sizeof(shape[0]) * ndim);
    meta->layout = shared_layout(self->meta);
    operands[0] = dt_np_node(self);
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &operands[1]));
    return dt_np_emit_view(trace, op, operands, 2, meta, out);
}

/* All arrays over the shape that they have together: the arrays themselves if each has it. */
DtStatus
dt_np_fn_broadcast_arrays(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtNpOperand arrays[DT_NP_MAXARGS];
    DtOperand operands[DT_NP_MAXARGS];
    DtMeta metas[DT_NP_MAXARGS];
    DtAlias aliases[DT_NP_MAXARGS];
    DtVar *items[DT_NP_MAXARGS];
    const DtSym *shape[DT_NP_MAXDIMS];
    uint32_t ndim;
    bool same = true;
    if (args->nkw > 0 || args->npos < 2 || args->npos > DT_NP_MAXARGS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of %u arrays", dt_np_target(op), args->npos);
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(dt_var_realize(trace, args->pos[i], &items[i]));
        DtArrayVar *array = dt_np_array_of(items[i]);
        if (array == NULL || !dt_np_is_ndarray(array)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op),
                            dt_var_peek(items[i])->type->name);
        }
        arrays[i] = (DtNpOperand){
            .operand = dt_np_node(array), .array = array, .dtype = array->meta->dtype};
        operands[i] = arrays[i].operand;
        aliases[i] = (DtAlias){i, i};
    }
    DT_TRY(dt_np_broadcast(trace, arrays, args->npos, shape, &ndim));
    for (uint32_t i = 0; i < args->npos; i++) {
        const DtMeta *own = arrays[i].array->meta;
        same = same && own->ndim == ndim;
        for (uint32_t axis = 0; axis < ndim && same; axis++) {
            same = !dt_np_size_is(own->shape[axis], 1) || dt_np_size_is(shape[axis], 1);
        }
        DtMeta *meta = dt_np_meta(trace, own->dtype, ndim);
        if (meta == NULL) {
            return DT_ERROR;
        }
        memcpy(meta->shape, shape, sizeof(shape[0]) * ndim);
        meta->layout = shared_layout(own);
        metas[i] = *meta;
    }
    if (same) {
        return dt_var_tuple(trace, items, args->npos, out);
    }
    DtCallSpec spec = {
        .target = dt_np_target(op),
        .callee = dt_np_callee(op),
        .args = operands,
        .nargs = args->npos,
        .results = metas,
        .nresults = args->npos,
        .aliases = aliases,
        .naliases = args->npos,
    };
    return spec.callee != NULL ? dt_np_emit(trace, &spec, out) : DT_ERROR;
}

/* Known of most memory: Fortran's order, but not C's too. */
DtStatus
dt_np_fn_isfortran(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a"};
    DtVar *slot;
    uint32_t longer = 0;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 1, 1, 1, &slot));
    DtArrayVar *self = dt_np_array_of(slot);
    const DtMeta *meta = self != NULL ? self->meta : NULL;
    for (uint32_t i = 0; meta != NULL && i < meta->ndim; i++) {
        longer += !dt_np_size_is(meta->shape[i], 1) && !dt_np_size_is(meta->shape[i], 0);
    }
    bool c = meta != NULL && (meta->layout & DT_LAYOUT_C);
    bool fortran =
        meta != NULL && (meta->layout & DT_LAYOUT_F) && longer == meta->ndim && longer > 1;
    if (!c && !fortran) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of memory in no known order",
                        dt_np_target(op));
    }
    return dt_var_const(trace, c ? Py_False : Py_True, out);
}

/* The same items in another array object. */
DtStatus
dt_np_fn_from_dlpack(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"x"};
    DtVar *slot;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 1, 1, 1, &slot));
    DtArrayVar *self = dt_np_array_of(slot);
    if (self == NULL || !dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op), slot->type->name);
    }
    DtOperand operand = dt_np_node(self);
    DtMeta *meta = dt_np_meta(trace, self->meta->dtype, self->meta->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, self->meta->shape, sizeof(meta->shape[0]) * self->meta->ndim);
    meta->layout = shared_layout(self->meta);
    return dt_np_emit_view(trace, op, &operand, 1, meta, out);
}

/* A slice of the array, which is as long as the data says. */
DtStatus
dt_np_fn_trim_zeros(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"filt", "trim"};
    DtVar *slots[2];
    DtOperand operands[2];
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 1, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    PyObject *ends = slots[1] != NULL ? dt_var_as_constant(trace, slots[1]) : NULL;
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    if (self == NULL || self->meta->ndim != 1 || (slots[1] != NULL && ends == NULL)
        || (ends != NULL && !PyUnicode_CheckExact(ends))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s in this form", dt_np_target(op));
    }
    DtMeta *meta = dt_np_meta(trace, self->meta->dtype, 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, &meta->shape[0]));
    meta->layout = shared_layout(self->meta);
    operands[0] = dt_np_node(self);
    if (ends != NULL) {
        DT_TRY(dt_trace_keep(trace, ends));
        operands[1] = dt_np_const(ends);
    }
    return dt_np_emit_view(trace, op, operands, ends != NULL ? 2 : 1, meta, out);
}

/* ---- Functions that are methods -------------------------------------------------------------- */

static const struct {
    DtNpOp op;
    DtNpMethod method;
} function_methods[] = {
    {DT_NP_round, dt_np_m_round},
    {DT_NP_around, dt_np_m_round},
    {DT_NP_reshape, dt_np_m_reshape},
    {DT_NP_transpose, dt_np_m_transpose},
    {DT_NP_permute_dims, dt_np_m_transpose},
    {DT_NP_swapaxes, dt_np_m_swapaxes},
    {DT_NP_squeeze, dt_np_m_squeeze},
    {DT_NP_ravel, dt_np_m_ravel},
};

DtStatus
dt_np_fn_method(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtVar *self;
    DtArgs rest = *args;
    if (args->npos == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s without positional arguments",
                        dt_np_target(op));
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &self));
    DtArrayVar *array = dt_np_array_of(self);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op),
                        dt_var_peek(self)->type->name);
    }
    rest.pos++;
    rest.npos--;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(function_methods); i++) {
        if (function_methods[i].op == op) {
            return function_methods[i].method(trace, array, &rest, out);
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s", dt_np_target(op));
}

/* ---- Diagonals ------------------------------------------------------------------------------- */

/* Of a matrix: a view that can't be written. */
static DtStatus
diagonal(DtTrace *trace, DtVar *self, const char *function, uint32_t npos, const DtArgs *args,
         DtVar **out)
{
    static const char *const names[] = {"a", "offset", "axis1", "axis2"};
    DtVar *slots[4];
    DtOperand operands[2];
    const DtSym *rows, *columns, *size;
    int64_t offset = 0;
    bool taller;
    DT_TRY(dt_np_bind(trace, function, self, args, names, 4, npos, 1, slots));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL || array->meta->ndim != 2 || slots[2] != NULL || slots[3] != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such an array", function);
    }
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &offset));
    }
    DT_TRY(dt_np_offset(trace, array->meta->shape[0], offset < 0 ? offset : 0, &rows));
    DT_TRY(dt_np_offset(trace, array->meta->shape[1], offset > 0 ? -offset : 0, &columns));
    DT_TRY(dt_np_decide(trace, DT_SYM_OP_GT, rows, columns, &taller));
    size = taller ? columns : rows;
    if (size->hint.i < 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s beside the array", function);
    }
    DtMeta *meta = dt_np_meta(trace, array->meta->dtype, 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_np_settle_size(trace, size, &meta->shape[0]));
    meta->layout =
        array->meta->layout & (DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE | DT_LAYOUT_NEGATIVE);
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_int_operand(trace, offset, &operands[1]));
    return dt_np_emit_view(trace, DT_NP_diagonal, operands, 2, meta, out);
}

DtStatus
dt_np_fn_diagonal(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    uint32_t npos = op == DT_NP_diagonal ? 4 : 1; /* of linalg's, offset= goes by name */
    return diagonal(trace, NULL, dt_np_target(op), npos, args, out);
}

/* Of a vector the matrix that has it on a diagonal, of a matrix its diagonal. */
DtStatus
dt_np_fn_diag(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"v", "k"};
    const char *function = dt_np_target(op);
    DtVar *slots[2];
    DtOperand operands[2];
    const DtSym *shape[2];
    DtMeta *meta;
    int64_t k = 0;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 2, 2, 1, slots));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL || !dt_np_is_ndarray(array) || array->meta->ndim < 1 || array->meta->ndim > 2
        || !(array->meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of such an array", function);
    }
    if (array->meta->ndim == 2) {
        DtArgs both = {.pos = slots, .npos = slots[1] != NULL ? 2 : 1};
        return diagonal(trace, NULL, function, 2, &both, out);
    }
    if (slots[1] != NULL) {
        DT_TRY(dt_np_int_arg(trace, function, slots[1], &k));
    }
    if (k > INT32_MAX || k < -INT32_MAX) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s %lld beside the diagonal", function,
                        (long long)k);
    }
    DT_TRY(dt_np_offset(trace, array->meta->shape[0], k < 0 ? -k : k, &shape[0]));
    DT_TRY(dt_np_settle_size(trace, shape[0], &shape[0]));
    shape[1] = shape[0];
    DT_TRY(dt_np_new_meta(trace, array->meta->dtype, shape, 2, &meta));
    operands[0] = dt_np_node(array);
    DT_TRY(dt_np_int_operand(trace, k, &operands[1]));
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

DtStatus
dt_np_m_diagonal(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return diagonal(trace, &self->base, "diagonal", 4, args, out);
}
