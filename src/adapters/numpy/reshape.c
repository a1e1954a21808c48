/* The same items under another shape: reshape and expand_dims, views where NumPy gives one.
 *
 * Not in here: other views (views.c, transpose.c).
 */
#include "adapters/numbers.h"
#include "adapters/numpy/internal.h"

#include <string.h>

/* `unknown`: which size the program left to NumPy with -1, or -1.  NumPy is handed the same: it
 * strides an empty result by how its shape was said. */
static DtStatus
reshape_node(DtTrace *trace, DtArrayVar *self, const DtSym *const *shape, uint32_t ndim,
             int unknown, DtVar **out)
{
    DtOperand args[2] = {dt_np_node(self)};
    const DtSym *said[DT_NP_MAXDIMS];
    DtMeta *meta = dt_np_view_meta(trace, self->meta, shape, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    if (self->meta->layout & DT_LAYOUT_C) {
        DT_TRY(dt_np_natural_order(trace, meta));
        dt_np_contiguous_flags(meta);
    }
    else if (ndim < 2) {
        DT_TRY(dt_np_natural_order(trace, meta));
    }
    memcpy(said, shape, sizeof(said[0]) * ndim);
    if (unknown >= 0) {
        said[unknown] = dt_np_size(trace, -1);
        if (said[unknown] == NULL) {
            return DT_ERROR;
        }
    }
    DT_TRY(dt_np_shape_operand(trace, said, ndim, &args[1]));
    for (uint32_t i = 0; i < ndim; i++) {
        if (dt_np_is_computed_int(trace, said[i])) { /* for -1 NumPy would take another size */
            DT_TRY(dt_number_fit(trace, 0, INT64_MAX, &args[1].items[i]));
        }
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

/* The size that -1 stands for: all items over the known sizes.  Where that depends on data, NumPy
 * sees whether it fits. */
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
    if (dt_trace_depends_on_data(trace, total) || dt_trace_depends_on_data(trace, divisor)) {
        return dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, out);
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
    if (dt_trace_depends_on_data(trace, before) || dt_trace_depends_on_data(trace, after)) {
        return DT_OK; /* NumPy sees whether it fits */
    }
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
        DT_TRY(dt_np_size_of(trace, sizes[i], &shape[i]));
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

/* Is memory in C order, of which no row is one in Fortran's order too? */
static bool
is_copied_to_a_row(DtTrace *trace, const DtMeta *meta)
{
    uint32_t axes = 0;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        const DtSym *size = meta->shape[i];
        if (dt_trace_depends_on_data(trace, size) || dt_np_size_is(size, 0)) {
            return false;
        }
        axes += !dt_np_size_is(size, 1);
    }
    return (meta->layout & DT_LAYOUT_C) && axes > 1;
}

/* In Fortran's order: what the transposed array is in C's, transposed back.  Only where it is known
 * whether memory is copied first, for it is the base of the result. */
static DtStatus
reshape_fortran(DtTrace *trace, DtArrayVar *self, DtVar *const *sizes, uint32_t ndim, DtVar **out)
{
    DtVar *turned[DT_NP_MAXDIMS], *found;
    if (ndim == 1 && is_copied_to_a_row(trace, self->meta)) {
        DT_TRY(dt_var_const_take(trace, PyUnicode_InternFromString("F"), &found));
        DtArgs order = {.pos = &found, .npos = 1};
        DT_TRY(dt_np_m_copy(trace, self, &order, &found));
        self = dt_np_any_array(found);
    }
    uint32_t layout = self->meta->layout;
    if (!(layout & DT_LAYOUT_F) && !(self->meta->ndim < 2 && (layout & DT_LAYOUT_C))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "reshape of other memory in Fortran's order");
    }
    if (ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", ndim);
    }
    for (uint32_t i = 0; i < ndim; i++) {
        turned[i] = sizes[ndim - 1 - i];
    }
    DT_TRY(dt_np_transpose_reversed(trace, self, &found));
    DT_TRY(reshape_to(trace, dt_np_any_array(found), turned, ndim, &found));
    return dt_np_transpose_reversed(trace, dt_np_any_array(found), out);
}

DtStatus
dt_np_m_reshape(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *first, **sizes = args->pos, *order = NULL;
    uint32_t ndim = args->npos;
    bool many, fortran;
    DT_TRY(dt_np_need_ndarray(trace, self, "reshape"));
    if (args->nkw == 1 && PyUnicode_CompareWithASCIIString(args->kwnames[0], "order") == 0) {
        order = args->kw[0];
    }
    if (args->nkw > (order != NULL) || args->npos == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "reshape with keyword arguments");
    }
    DT_TRY(dt_np_order_arg(trace, "reshape", order, NULL, &fortran));
    DT_TRY(dt_var_realize(trace, args->pos[0], &first));
    if (args->npos == 1) {
        DT_TRY(dt_np_items(trace, dt_var_peek(first), &sizes, &ndim, &many));
    }
    return fortran ? reshape_fortran(trace, self, sizes, ndim, out)
                   : reshape_to(trace, self, sizes, ndim, out);
}

DtStatus
dt_np_fn_expand_dims(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "axis"};
    const DtSym *shape[DT_NP_MAXDIMS];
    DtVar *slots[2], **axes;
    uint32_t count = 1, mask = 0, from = 0;
    bool many;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 2, slots));
    DtArrayVar *self = dt_np_array_of(slots[0]);
    axes = &slots[1];
    DT_TRY(dt_np_items(trace, slots[1], &axes, &count, &many));
    if (self == NULL || !dt_np_is_ndarray(self) || self->meta->ndim + count > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "expand_dims of a %s", slots[0]->type->name);
    }
    uint32_t ndim = self->meta->ndim + count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        DT_TRY(dt_np_axis(trace, dt_np_target(op), axes[i], ndim, &axis));
        if (mask & (1u << axis)) {
            return dt_break(trace, DT_BREAK_RAISES, "expand_dims by an axis twice");
        }
        mask |= 1u << axis;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        shape[i] = mask & (1u << i) ? dt_np_size(trace, 1) : self->meta->shape[from++];
        if (shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    return dt_np_reshape(trace, self, shape, ndim, out);
}
