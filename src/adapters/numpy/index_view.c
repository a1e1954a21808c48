/* Views by ints, slices, None and Ellipsis; items.
 *
 * The shape of a view is an expression of the sizes and bounds.  Comparisons that
 * the form of that expression rests on (is the bound inside?) are decided with a
 * guard unless they hold for every size.
 */
#include "adapters/numpy/index.h"

#include <string.h>

/* ---- Slices ---------------------------------------------------------------------------------- */

/* A bound of a slice, brought into 0..size (or -1..size-1 backwards). */
static DtStatus
clamp_bound(DtTrace *trace, const DtSym *bound, const DtSym *size, bool backwards,
            const DtSym **out)
{
    bool negative, outside;
    DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LT, bound, 0, &negative));
    if (negative) {
        if (dt_sym_is_const(bound)) {
            DT_TRY(dt_np_offset(trace, size, bound->hint.i, out));
        }
        else {
            DT_TRY(dt_np_expr(trace, DT_SYM_OP_ADD, size, bound, out));
        }
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LT, *out, 0, &outside));
        if (outside) {
            *out = dt_np_size(trace, backwards ? -1 : 0);
        }
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    *out = bound;
    DT_TRY(dt_np_decide(trace, backwards ? DT_SYM_OP_GE : DT_SYM_OP_GT, bound, size, &outside));
    return outside ? dt_np_offset(trace, size, backwards ? -1 : 0, out) : DT_OK;
}

static DtStatus
slice_bound(DtTrace *trace, DtVar *var, const DtSym **out)
{
    *out = NULL;
    DT_TRY(dt_var_realize(trace, var, &var));
    if (dt_np_is_none(dt_var_peek(var))) {
        return DT_OK;
    }
    DT_TRY(dt_np_sym_of(trace, var, out));
    if (*out == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a slice whose bound is a %s",
                        dt_var_peek(var)->type->name);
    }
    return DT_OK;
}

static DtStatus
slice_length(DtTrace *trace, const DtSym *start, const DtSym *stop, int64_t step, const DtSym **out)
{
    bool some;
    DT_TRY(step > 0 ? dt_np_difference(trace, stop, start, out)
                    : dt_np_difference(trace, start, stop, out));
    DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GT, *out, 0, &some));
    if (!some) {
        *out = dt_np_size(trace, 0);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    int64_t stride = step > 0 ? step : -step;
    if (stride > 1) {
        DT_TRY(dt_np_offset(trace, *out, stride - 1, out));
        DT_TRY(dt_np_expr_int(trace, DT_SYM_OP_FLOORDIV, *out, stride, out));
    }
    return dt_np_settle_size(trace, *out, out);
}

static DtStatus
constant_size(DtTrace *trace, int64_t value, const DtSym **out)
{
    *out = dt_np_size(trace, value);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* The length of the slice of `size`; *whole: it takes all items in their order. */
static DtStatus
sliced_length(DtTrace *trace, const DtSym *size, DtSeqVar *slice, int64_t step,
              const DtSym **length, bool *whole)
{
    const DtSym *start, *stop;
    DT_TRY(slice_bound(trace, slice->items[0], &start));
    DT_TRY(slice_bound(trace, slice->items[1], &stop));
    bool all = start == NULL && stop == NULL;
    *whole = all && step == 1;
    *length = size;
    if (all && (step == 1 || step == -1)) {
        return DT_OK;
    }
    if (start != NULL) {
        DT_TRY(clamp_bound(trace, start, size, step < 0, &start));
    }
    else {
        DT_TRY(step > 0 ? constant_size(trace, 0, &start) : dt_np_offset(trace, size, -1, &start));
    }
    if (stop != NULL) {
        DT_TRY(clamp_bound(trace, stop, size, step < 0, &stop));
    }
    else if (step > 0) {
        stop = size;
    }
    else {
        DT_TRY(constant_size(trace, -1, &stop));
    }
    DT_TRY(slice_length(trace, start, stop, step, length));
    *whole = step == 1 && dt_sym_equal(*length, size);
    return DT_OK;
}

DtStatus
dt_np_view_slice(DtTrace *trace, DtNpView *view, DtSeqVar *slice)
{
    const DtSym *size = view->base->shape[view->axis], *length;
    int64_t step = 1;
    bool whole = false;
    DtVar *step_var;
    DT_TRY(dt_var_realize(trace, slice->items[2], &step_var));
    step_var = dt_var_peek(step_var);
    if (!dt_np_is_none(step_var)) {
        DT_TRY(dt_np_int_arg(trace, "a slice", step_var, &step));
    }
    if (step == 0 || step == INT64_MIN) {
        return dt_break(trace, DT_BREAK_RAISES, "a slice with step %lld", (long long)step);
    }
    DT_TRY(dt_np_computed_length(trace, size, slice, step, &length));
    if (length == NULL) {
        DT_TRY(sliced_length(trace, size, slice, step, &length, &whole));
    }
    view->partial[view->axis] = !whole;
    view->stepped[view->axis] = step != 1;
    view->negative = view->negative || step < 0;
    view->shape[view->ndim] = whole ? size : length;
    view->source[view->ndim++] = (int8_t)view->axis++;
    return DT_OK;
}

/* ---- Items ----------------------------------------------------------------------------------- */

bool
dt_np_is_integer(DtVar *var)
{
    const DtArrayVar *array = dt_np_array_of(var);
    if (array == NULL) {
        return dt_number_kind(var) == 'i';
    }
    return array->meta->ndim == 0 && PyTypeNum_ISINTEGER(dt_np_descr(array->meta->dtype)->type_num);
}

static DtStatus
add_int(DtTrace *trace, DtNpView *view, DtVar *var)
{
    const DtSym *index, *size = view->base->shape[view->axis];
    bool inside = true, negative;
    /* Whether it is inside of a selection is seen when it runs, by whoever looks for an item. */
    bool reads = view->items && dt_trace_depends_on_data(trace, size);
    if (!dt_np_is_integer(var) && !reads) {
        DT_TRY(dt_np_sym_of(trace, var, &index));
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LT, index, 0, &negative));
        if (negative) {
            DT_TRY(dt_np_expr(trace, DT_SYM_OP_ADD, size, index, &index));
            DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GE, index, 0, &inside));
        }
        else {
            DT_TRY(dt_np_decide(trace, DT_SYM_OP_LT, index, size, &inside));
        }
    }
    if (!inside) {
        return dt_break(trace, DT_BREAK_RAISES, "an index out of bounds");
    }
    view->partial[view->axis++] = true;
    return DT_OK;
}

DtStatus
dt_np_view_new_axis(DtTrace *trace, DtNpView *view)
{
    view->shape[view->ndim] = dt_np_size(trace, 1);
    view->source[view->ndim] = -1;
    return view->shape[view->ndim++] != NULL ? DT_OK : DT_ERROR;
}

void
dt_np_view_whole(DtNpView *view, uint32_t until)
{
    while (view->axis < until) {
        view->shape[view->ndim] = view->base->shape[view->axis];
        view->source[view->ndim++] = (int8_t)view->axis++;
    }
}

bool
dt_np_is_ellipsis(DtVar *item)
{
    return dt_var_peek_constant(item) == Py_Ellipsis || dt_payload_object(item) == Py_Ellipsis;
}

DtStatus
dt_np_item_kind(DtTrace *trace, DtVar *var, DtNpItemKind *kind)
{
    const DtSym *number;
    if (var->type->kind == DT_KIND_SLICE) {
        *kind = DT_NP_ITEM_SLICE;
        return DT_OK;
    }
    if (dt_np_is_none(var)) {
        *kind = DT_NP_ITEM_NEW;
        return DT_OK;
    }
    if (dt_np_is_ellipsis(var)) {
        *kind = DT_NP_ITEM_ELLIPSIS;
        return DT_OK;
    }
    *kind = DT_NP_ITEM_INT;
    if (dt_np_is_integer(var)) {
        return DT_OK;
    }
    DT_TRY(dt_np_sym_of(trace, var, &number));
    if (number == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is a %s", var->type->name);
    }
    return DT_OK;
}

DtStatus
dt_np_view_read(DtTrace *trace, DtVar *const *items, uint32_t count, DtNpView *view)
{
    DtNpItemKind kinds[DT_NP_MAX_ITEMS];
    uint32_t used = 0, ints = 0;
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_np_item_kind(trace, items[i], &kinds[i]));
        ints += kinds[i] == DT_NP_ITEM_INT;
        used += kinds[i] == DT_NP_ITEM_INT || kinds[i] == DT_NP_ITEM_SLICE;
        if (kinds[i] == DT_NP_ITEM_ELLIPSIS && view->ellipsis) {
            return dt_break(trace, DT_BREAK_RAISES, "an index with two Ellipsis");
        }
        view->ellipsis = view->ellipsis || kinds[i] == DT_NP_ITEM_ELLIPSIS;
    }
    if (used > view->base->ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with too many items");
    }
    view->items = view->reads && ints == count && ints == view->base->ndim;
    for (uint32_t i = 0; i < count; i++) {
        switch (kinds[i]) {
        case DT_NP_ITEM_INT:
            DT_TRY(add_int(trace, view, items[i]));
            break;
        case DT_NP_ITEM_SLICE:
            DT_TRY(dt_np_view_slice(trace, view, (DtSeqVar *)items[i]));
            break;
        case DT_NP_ITEM_NEW:
            DT_TRY(dt_np_view_new_axis(trace, view));
            break;
        case DT_NP_ITEM_ELLIPSIS:
            dt_np_view_whole(view, view->axis + view->base->ndim - used);
            break;
        }
    }
    dt_np_view_whole(view, view->base->ndim);
    return DT_OK;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Is the part of C (or, backwards, F) ordered memory without gaps?  Counted from the fast end:
 * whole axes, then at most one cut with step 1, then only single items. */
static bool
stays_contiguous(const DtNpView *view, bool backwards)
{
    bool cut = false;
    bool single[DT_NP_MAXDIMS];
    for (uint32_t i = 0; i < view->base->ndim; i++) {
        single[i] = true;
    }
    for (uint32_t i = 0; i < view->ndim; i++) {
        if (view->source[i] >= 0 && !dt_np_size_is(view->shape[i], 1)) {
            single[view->source[i]] = false;
        }
    }
    for (uint32_t i = 0; i < view->base->ndim; i++) {
        uint32_t axis = backwards ? i : view->base->ndim - 1 - i;
        if (cut && !single[axis]) {
            return false;
        }
        if (view->stepped[axis] && !single[axis]) {
            return false;
        }
        cut = cut || view->partial[axis];
    }
    return true;
}

static DtStatus
view_layout(DtTrace *trace, const DtNpView *view, DtMeta *meta)
{
    const DtMeta *base = view->base;
    int8_t place[DT_NP_MAXDIMS];
    meta->layout |= view->negative ? DT_LAYOUT_NEGATIVE : 0u;
    meta->layout |=
        (base->layout & DT_LAYOUT_C) && stays_contiguous(view, false) ? DT_LAYOUT_C : 0u;
    meta->layout |= (base->layout & DT_LAYOUT_F) && stays_contiguous(view, true) ? DT_LAYOUT_F : 0u;
    memset(place, -1, sizeof(place));
    for (uint32_t i = 0; i < view->ndim; i++) {
        if (view->source[i] >= 0) {
            place[view->source[i]] = (int8_t)i;
        }
    }
    return dt_np_kept_order(trace, base, place, meta);
}

/* The dtype in native byte order, as NumPy scalars have it. */
static PyObject *
native_dtype(DtTrace *trace, PyObject *dtype)
{
    PyArray_Descr *descr = dt_np_descr(dtype);
    if (PyArray_ISNBO(descr->byteorder)) {
        return dtype;
    }
    return dt_np_dtype_captured(descr)
               ? dt_np_dtype(descr->type_num)
               : dt_trace_keep_take(trace,
                                    (PyObject *)PyArray_DescrNewByteorder(descr, NPY_NATIVE));
}

static DtStatus
item_meta(DtTrace *trace, PyObject *dtype, DtMeta **out)
{
    dtype = native_dtype(trace, dtype);
    *out = dtype != NULL ? dt_np_meta(trace, dtype, 0) : NULL;
    if (*out == NULL) {
        return DT_ERROR;
    }
    dt_np_meta_unwrap(*out);
    return dt_np_fresh_c(trace, *out);
}

DtStatus
dt_np_view_emit(DtTrace *trace, DtArrayVar *self, DtVar *key, const DtNpView *view, DtVar **out)
{
    DtOperand args[2] = {dt_np_node(self)};
    DtMeta *meta;
    bool ok, item = view->ndim == 0 && !view->ellipsis;
    if (view->ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", view->ndim);
    }
    DT_TRY(dt_graph_operand(trace, key, &args[1], &ok));
    if (!ok) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is no constant");
    }
    if (item) {
        DT_TRY(item_meta(trace, self->meta->dtype, &meta));
        return dt_np_emit_one(trace, DT_NP_op_getitem, args, 2, meta, out);
    }
    meta = dt_np_view_meta(trace, self->meta, view->shape, view->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(view_layout(trace, view, meta));
    return dt_np_emit_view(trace, DT_NP_op_getitem, args, 2, meta, out);
}
