/* Indexing: views by ints, slices, None and Ellipsis; items; copies by index arrays and masks;
 * iteration over a short first axis.
 *
 * The shape of a view is an expression of the sizes and bounds.  Comparisons that
 * the form of that expression rests on (is the bound inside?) are decided with a
 * guard unless they hold for every size.
 * What a mask selects has a size that depends on data: a symbol that no guard can ask for.
 * Not in here: writing (writes.c).
 */
#include "adapters/numpy/internal.h"

#include <string.h>

#define MAX_ITEMS (2 * DT_NP_MAXDIMS)

typedef enum ItemKind { ITEM_INT, ITEM_SLICE, ITEM_NEW, ITEM_ELLIPSIS } ItemKind;

/* What is being put together. */
typedef struct View {
    const DtMeta *base;
    const DtSym *shape[MAX_ITEMS];
    int8_t source[MAX_ITEMS]; /* base axis of a result axis, -1 for a new one */
    uint32_t ndim;
    uint32_t axis;               /* next base axis */
    bool partial[DT_NP_MAXDIMS]; /* base axis is not taken whole */
    bool stepped[DT_NP_MAXDIMS]; /* with a step other than 1 */
    bool negative;
    bool ellipsis; /* an Ellipsis was written: 0-d results stay arrays */
} View;

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

static DtStatus
add_slice(DtTrace *trace, View *view, DtSeqVar *slice)
{
    const DtSym *size = view->base->shape[view->axis], *start, *stop, *length;
    int64_t step = 1;
    DtVar *step_var;
    DT_TRY(slice_bound(trace, slice->items[0], &start));
    DT_TRY(slice_bound(trace, slice->items[1], &stop));
    DT_TRY(dt_var_realize(trace, slice->items[2], &step_var));
    step_var = dt_var_peek(step_var);
    if (!dt_np_is_none(step_var)) {
        DT_TRY(dt_np_int_arg(trace, "a slice", step_var, &step));
    }
    if (step == 0 || step == INT64_MIN) {
        return dt_break(trace, DT_BREAK_RAISES, "a slice with step %lld", (long long)step);
    }
    bool whole = start == NULL && stop == NULL && step == 1;
    bool view_all = start == NULL && stop == NULL && (step == 1 || step == -1);
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
    if (view_all) {
        length = size;
    }
    else {
        DT_TRY(slice_length(trace, start, stop, step, &length));
    }
    whole = whole || (step == 1 && dt_sym_equal(length, size));
    view->partial[view->axis] = !whole;
    view->stepped[view->axis] = step != 1;
    view->negative = view->negative || step < 0;
    view->shape[view->ndim] = whole ? size : length;
    view->source[view->ndim++] = (int8_t)view->axis++;
    return DT_OK;
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* An integer that the graph computes as an index: its value is checked when it runs. */
static bool
is_integer_scalar(DtVar *var)
{
    const DtArrayVar *array = dt_np_array_of(var);
    if (array == NULL) {
        return dt_number_kind(var) == 'i';
    }
    return array->meta->ndim == 0 && PyTypeNum_ISINTEGER(dt_np_descr(array->meta->dtype)->type_num);
}

static DtStatus
add_int(DtTrace *trace, View *view, DtVar *var)
{
    const DtSym *index, *size = view->base->shape[view->axis];
    bool inside = true, negative;
    if (!is_integer_scalar(var)) {
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

static DtStatus
add_new_axis(DtTrace *trace, View *view)
{
    view->shape[view->ndim] = dt_np_size(trace, 1);
    view->source[view->ndim] = -1;
    return view->shape[view->ndim++] != NULL ? DT_OK : DT_ERROR;
}

static void
add_whole(View *view, uint32_t until)
{
    while (view->axis < until) {
        view->shape[view->ndim] = view->base->shape[view->axis];
        view->source[view->ndim++] = (int8_t)view->axis++;
    }
}

static bool
is_ellipsis(DtVar *item)
{
    return dt_var_peek_constant(item) == Py_Ellipsis || dt_payload_object(item) == Py_Ellipsis;
}

static DtStatus
classify(DtTrace *trace, DtVar *var, ItemKind *kind)
{
    const DtSym *number;
    if (var->type->kind == DT_KIND_SLICE) {
        *kind = ITEM_SLICE;
        return DT_OK;
    }
    if (dt_np_is_none(var)) {
        *kind = ITEM_NEW;
        return DT_OK;
    }
    if (is_ellipsis(var)) {
        *kind = ITEM_ELLIPSIS;
        return DT_OK;
    }
    *kind = ITEM_INT;
    if (is_integer_scalar(var)) {
        return DT_OK;
    }
    DT_TRY(dt_np_sym_of(trace, var, &number));
    if (number == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is a %s", var->type->name);
    }
    return DT_OK;
}

static DtStatus
read_items(DtTrace *trace, DtVar *const *items, uint32_t count, View *view)
{
    ItemKind kinds[MAX_ITEMS];
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(classify(trace, items[i], &kinds[i]));
        used += kinds[i] == ITEM_INT || kinds[i] == ITEM_SLICE;
        if (kinds[i] == ITEM_ELLIPSIS && view->ellipsis) {
            return dt_break(trace, DT_BREAK_RAISES, "an index with two Ellipsis");
        }
        view->ellipsis = view->ellipsis || kinds[i] == ITEM_ELLIPSIS;
    }
    if (used > view->base->ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with too many items");
    }
    for (uint32_t i = 0; i < count; i++) {
        switch (kinds[i]) {
        case ITEM_INT:
            DT_TRY(add_int(trace, view, items[i]));
            break;
        case ITEM_SLICE:
            DT_TRY(add_slice(trace, view, (DtSeqVar *)items[i]));
            break;
        case ITEM_NEW:
            DT_TRY(add_new_axis(trace, view));
            break;
        case ITEM_ELLIPSIS:
            add_whole(view, view->axis + view->base->ndim - used);
            break;
        }
    }
    add_whole(view, view->base->ndim);
    return DT_OK;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Is the part of C (or, backwards, F) ordered memory without gaps?  Counted from the fast end:
 * whole axes, then at most one cut with step 1, then only single items. */
static bool
stays_contiguous(const View *view, bool backwards)
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
view_layout(DtTrace *trace, const View *view, DtMeta *meta)
{
    const DtMeta *base = view->base;
    meta->layout = base->layout & (DT_LAYOUT_ALIGNED | DT_LAYOUT_NATIVE | DT_LAYOUT_NEGATIVE);
    meta->layout |= view->negative ? DT_LAYOUT_NEGATIVE : 0u;
    meta->layout |=
        (base->layout & DT_LAYOUT_C) && stays_contiguous(view, false) ? DT_LAYOUT_C : 0u;
    meta->layout |= (base->layout & DT_LAYOUT_F) && stays_contiguous(view, true) ? DT_LAYOUT_F : 0u;
    if (base->stride_order == NULL && base->ndim > 1) {
        return DT_OK;
    }
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim + 1);
    if (order == NULL) {
        return dt_no_memory();
    }
    uint32_t filled = 0;
    for (uint32_t i = 0; i < view->ndim; i++) {
        if (view->source[i] < 0) {
            order[filled++] = (int8_t)i;
        }
    }
    for (uint32_t i = 0; i < base->ndim; i++) {
        for (uint32_t j = 0; j < view->ndim; j++) {
            if (view->source[j] == (base->stride_order != NULL ? base->stride_order[i] : 0)) {
                order[filled++] = (int8_t)j;
            }
        }
    }
    meta->stride_order = order;
    return DT_OK;
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
emit_view(DtTrace *trace, DtArrayVar *self, DtVar *key, const View *view, DtVar **out)
{
    DtOperand args[2] = {dt_np_node(self)};
    bool ok, item = view->ndim == 0 && !view->ellipsis;
    if (view->ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", view->ndim);
    }
    DT_TRY(dt_graph_operand(trace, key, &args[1], &ok));
    if (!ok) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is no constant");
    }
    PyObject *dtype = item ? native_dtype(trace, self->meta->dtype) : self->meta->dtype;
    DtMeta *meta = dtype != NULL ? dt_np_meta(trace, dtype, view->ndim) : NULL;
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, view->shape, sizeof(meta->shape[0]) * view->ndim);
    if (item) {
        dt_np_meta_unwrap(meta);
        DT_TRY(dt_np_fresh_c(trace, meta));
        return dt_np_emit_one(trace, DT_NP_op_getitem, args, 2, meta, out);
    }
    DT_TRY(view_layout(trace, view, meta));
    return dt_np_emit_view(trace, DT_NP_op_getitem, args, 2, meta, out);
}

/* A list, or a tuple inside of a key: NumPy makes an array of it. */
static bool
is_sequence(const DtVar *item)
{
    return item->type->kind == DT_KIND_LIST || item->type->kind == DT_KIND_TUPLE;
}

/* An index array, or a sequence or bool that stands for one. */
static bool
is_advanced(DtVar *item)
{
    const DtArrayVar *array = dt_np_array_of(item);
    if (array != NULL) {
        return array->meta->ndim > 0 || !is_integer_scalar(item);
    }
    PyObject *constant = dt_var_peek_constant(item);
    return is_sequence(item) || (constant != NULL && PyBool_Check(constant));
}

/* ---- Index arrays ---------------------------------------------------------------------------- */

/* An index array in a key: an array of integers or booleans, or a list of ints. */
typedef struct Advanced {
    const DtSym *shape[DT_NP_MAXDIMS];
    uint32_t ndim;
    uint32_t axes; /* of the base that it takes */
} Advanced;

/* The same value twice: one node, or two at `start` or later that compute alike from the same. */
static bool
same_value(const DtOperand *a, const DtOperand *b, uint32_t start, int depth)
{
    if (a->kind != b->kind || depth > 4) {
        return false;
    }
    if (a->kind == DT_OPERAND_CONST) {
        return a->u.object == b->u.object;
    }
    if (a->kind == DT_OPERAND_SYM) {
        return dt_sym_equal(a->u.sym, b->u.sym);
    }
    if (a->kind != DT_OPERAND_NODE || a->result != b->result) {
        return false;
    }
    const DtNode *m = a->u.node, *n = b->u.node;
    if (m == n) {
        return true;
    }
    bool alike = m->kind == DT_NODE_CALL && n->kind == DT_NODE_CALL && m->callee == n->callee
                 && m->effect == DT_EFFECT_PURE && m->nargs == n->nargs && m->kwnames == NULL
                 && n->kwnames == NULL && m->index >= start && n->index >= start;
    for (uint32_t i = 0; alike && i < m->nargs; i++) {
        alike = same_value(&m->args[i], &n->args[i], start, depth + 1);
    }
    return alike;
}

/* The number of items that a mask selects: the same for the same mask, if nothing was written in
 * between. */
static DtStatus
count_of_mask(DtTrace *trace, const DtArrayVar *mask, const DtSym **out)
{
    const DtGraph *graph = trace->graph;
    DtOperand operand = dt_np_node(mask);
    uint32_t start = graph->nodes.count; /* after the last write */
    while (start > 0 && graph->nodes.items[start - 1]->effect == DT_EFFECT_PURE) {
        start--;
    }
    for (uint32_t i = graph->nodes.count; i-- > start;) {
        const DtNode *node = graph->nodes.items[i];
        const DtOperand *key = node->kind == DT_NODE_CALL && node->nargs == 2
                                       && node->callee == dt_np_callee(DT_NP_op_getitem)
                                   ? &node->args[1]
                                   : NULL;
        const DtSym *count =
            key != NULL && node->results[0].ndim > 0 ? node->results[0].shape[0] : NULL;
        if (dt_trace_depends_on_data(trace, count) && count->op == DT_SYM_OP_SYMBOL
            && same_value(key, &operand, start, 0)) {
            *out = dt_sym_symbol(&trace->arena, count->id, DT_SYM_INT, count->hint);
            return *out != NULL ? DT_OK : dt_no_memory();
        }
    }
    return dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, out);
}

static DtStatus
read_mask(DtTrace *trace, const DtArrayVar *self, uint32_t axis, const DtArrayVar *mask,
          Advanced *out)
{
    const DtMeta *meta = mask->meta;
    bool same = meta->ndim > 0 && axis + meta->ndim <= self->meta->ndim;
    for (uint32_t i = 0; i < meta->ndim && same; i++) {
        DT_TRY(dt_trace_unify(trace, self->meta->shape[axis + i], meta->shape[i], &same));
    }
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a mask of another shape than the array");
    }
    out->axes = meta->ndim;
    out->ndim = 1;
    return count_of_mask(trace, mask, &out->shape[0]);
}

/* The shape of a list of ints, or of lists that have one shape. */
static DtStatus
list_shape(DtTrace *trace, DtVar *list, int64_t *shape, uint32_t *ndim)
{
    DtSeqVar *items = (DtSeqVar *)list;
    int64_t inner[DT_NP_MAXDIMS];
    uint32_t depth = 0;
    bool fits = items->count > 0;
    for (uint32_t i = 0; i < items->count && fits; i++) {
        DtVar *item;
        const DtSym *number = NULL;
        uint32_t own = 0;
        bool drawn; /* or computed from an array: an int of the graph */
        DT_TRY(dt_var_realize(trace, items->items[i], &item));
        item = dt_var_peek(item);
        PyObject *constant = dt_var_peek_constant(item);
        if (is_sequence(item)) {
            DT_TRY(list_shape(trace, item, inner, &own));
        }
        else if (constant == NULL || !PyBool_Check(constant)) {
            DT_TRY(dt_np_sym_of(trace, item, &number));
        }
        drawn = dt_number_kind(item) == 'i';
        fits =
            (own > 0) != (number != NULL || drawn) && own + 1 < DT_NP_MAXDIMS
            && (i == 0 || (own == depth && memcmp(inner, shape + 1, sizeof(inner[0]) * own) == 0));
        depth = own;
        memcpy(shape + 1, inner, sizeof(inner[0]) * (fits ? own : 0));
    }
    if (!fits) {
        return dt_break(trace, DT_BREAK_ARRAY_OP,
                        "an index that is a list of other things than ints");
    }
    shape[0] = items->count;
    *ndim = depth + 1;
    return DT_OK;
}

static DtStatus
read_list(DtTrace *trace, DtVar *list, Advanced *out)
{
    int64_t shape[DT_NP_MAXDIMS + 1];
    DT_TRY(list_shape(trace, list, shape, &out->ndim));
    out->axes = 1;
    for (uint32_t i = 0; i < out->ndim; i++) {
        out->shape[i] = dt_np_size(trace, shape[i]);
        if (out->shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

static DtStatus
read_advanced(DtTrace *trace, const DtArrayVar *self, uint32_t axis, DtVar *item, Advanced *out)
{
    const DtArrayVar *array = dt_np_array_of(item);
    if (is_sequence(item)) {
        return read_list(trace, item, out);
    }
    if (array != NULL && dt_np_descr(array->meta->dtype)->type_num == NPY_BOOL) {
        return read_mask(trace, self, axis, array, out);
    }
    if (array != NULL && !PyTypeNum_ISINTEGER(dt_np_descr(array->meta->dtype)->type_num)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is an array of %s",
                        dt_np_descr(array->meta->dtype)->typeobj->tp_name);
    }
    PyObject *constant = dt_var_peek_constant(item);
    if (constant != NULL && PyBool_Check(constant)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is a bool");
    }
    out->axes = 1;
    out->ndim = array != NULL ? array->meta->ndim : 0; /* a number: an index array of none */
    if (array != NULL) {
        memcpy(out->shape, array->meta->shape, sizeof(out->shape[0]) * out->ndim);
    }
    return DT_OK;
}

/* Broadcasts the shapes of the index arrays. */
static DtStatus
join_advanced(DtTrace *trace, const Advanced *parts, uint32_t count, Advanced *out)
{
    out->ndim = 0;
    for (uint32_t i = 0; i < count; i++) {
        out->ndim = parts[i].ndim > out->ndim ? parts[i].ndim : out->ndim;
    }
    for (uint32_t axis = 0; axis < out->ndim; axis++) {
        const DtSym **size = &out->shape[axis];
        *size = NULL;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t missing = out->ndim - parts[i].ndim;
            bool same = true;
            if (axis < missing) {
                continue;
            }
            const DtSym *own = parts[i].shape[axis - missing];
            if (*size == NULL || dt_np_size_is(*size, 1)) {
                *size = own;
            }
            else if (!dt_np_size_is(own, 1)) {
                DT_TRY(dt_trace_unify(trace, *size, own, &same));
            }
            if (!same) {
                return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "index arrays that do not broadcast");
            }
        }
    }
    return DT_OK;
}

/* NumPy before 2.5 only warns of an index that is out of bounds where there are no items. */
DtStatus
dt_np_need_items(DtTrace *trace, const DtMeta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (dt_np_size_is(meta->shape[i], 0)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "an index array where there are no items");
        }
    }
    return DT_OK;
}

/* Axes of the array that the items of a key take, `...` aside. */
static uint32_t
axes_taken(DtVar *const *items, uint32_t count)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const DtArrayVar *array = dt_np_array_of(items[i]);
        PyObject *constant = dt_var_peek_constant(items[i]);
        bool is_mask = array != NULL && dt_np_descr(array->meta->dtype)->type_num == NPY_BOOL;
        bool takes_none = dt_np_is_none(items[i]) || is_ellipsis(items[i])
                          || (constant != NULL && PyBool_Check(constant));
        used += takes_none ? 0 : is_mask ? array->meta->ndim : 1;
    }
    return used;
}

/* Breaks where index arrays stand beside a slice of nothing. */
static DtStatus
need_items_in_slices(DtTrace *trace, const DtArrayVar *self, DtVar *const *items, uint32_t count)
{
    View view = {.base = self->meta};
    uint32_t used = axes_taken(items, count);
    if (used > self->meta->ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with too many items");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (items[i]->type->kind == DT_KIND_SLICE) {
            DT_TRY(add_slice(trace, &view, (DtSeqVar *)items[i]));
            if (dt_np_size_is(view.shape[view.ndim - 1], 0)) {
                return dt_break(trace, DT_BREAK_ARRAY_OP,
                                "an index array where there are no items");
            }
            continue;
        }
        if (!is_ellipsis(items[i])) {
            view.axis += axes_taken(&items[i], 1);
            continue;
        }
        if (view.ellipsis) {
            return dt_break(trace, DT_BREAK_RAISES, "an index with two Ellipsis");
        }
        view.ellipsis = true;
        view.axis += self->meta->ndim - used;
    }
    return DT_OK;
}

/* array[index arrays, slices, ...]: a copy.  The axes of the index arrays stand where the first one
 * stood, or in front if something stands between two of them.  Whether the indices are inside is
 * seen when it runs. */
static DtStatus
take(DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar *const *items, uint32_t count, DtVar **out)
{
    Advanced parts[MAX_ITEMS], joined;
    View view = {.base = self->meta};
    uint32_t nparts = 0, used = axes_taken(items, count), place = 0, last = 0;
    bool apart = false, ok;
    if (used > self->meta->ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with too many items");
    }
    for (uint32_t i = 0; i < count; i++) {
        ItemKind kind = ITEM_INT;
        if (!is_advanced(items[i])) {
            DT_TRY(classify(trace, items[i], &kind));
        }
        switch (kind) {
        case ITEM_INT:
            DT_TRY(read_advanced(trace, self, view.axis, items[i], &parts[nparts]));
            apart = apart || (nparts > 0 && last + 1 != i);
            place = nparts == 0 ? view.ndim : place;
            last = i;
            view.axis += parts[nparts++].axes;
            continue;
        case ITEM_SLICE:
            DT_TRY(add_slice(trace, &view, (DtSeqVar *)items[i]));
            break;
        case ITEM_NEW:
            DT_TRY(add_new_axis(trace, &view));
            break;
        case ITEM_ELLIPSIS:
            if (view.ellipsis) {
                return dt_break(trace, DT_BREAK_RAISES, "an index with two Ellipsis");
            }
            view.ellipsis = true;
            add_whole(&view, view.axis + self->meta->ndim - used);
            break;
        }
    }
    add_whole(&view, self->meta->ndim);
    DT_TRY(join_advanced(trace, parts, nparts, &joined));
    place = apart ? 0 : place;
    uint32_t ndim = view.ndim + joined.ndim;
    DtOperand args[2] = {dt_np_node(self)};
    DtMeta *meta = ndim <= DT_NP_MAXDIMS ? dt_np_meta(trace, self->meta->dtype, ndim) : NULL;
    if (meta == NULL) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", ndim);
    }
    memcpy(meta->shape, view.shape, sizeof(meta->shape[0]) * place);
    memcpy(meta->shape + place, joined.shape, sizeof(meta->shape[0]) * joined.ndim);
    memcpy(meta->shape + place + joined.ndim, view.shape + place,
           sizeof(meta->shape[0]) * (view.ndim - place));
    DT_TRY(dt_np_need_items(trace, meta));
    if (ndim <= 1) {
        DT_TRY(dt_np_fresh_c(trace, meta));
    }
    else {
        DT_TRY(dt_np_fresh(trace, meta, NULL));
    }
    DT_TRY(dt_graph_operand(trace, key, &args[1], &ok));
    if (!ok) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is no constant");
    }
    return dt_np_emit_one(trace, DT_NP_op_getitem, args, 2, meta, out);
}

/* ---- Reading --------------------------------------------------------------------------------- */

DtStatus
dt_np_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar **out)
{
    DtVar *items[MAX_ITEMS], **parts = &key;
    uint32_t count = 1;
    View view = {.base = self->meta};
    bool many;
    (void)adapter;
    DT_TRY(dt_var_realize(trace, key, &key));
    key = dt_var_peek(key);
    bool advanced = false;
    if (!dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index into a NumPy scalar");
    }
    if (key->type->kind != DT_KIND_LIST) {
        DT_TRY(dt_np_items(trace, key, &parts, &count, &many));
    }
    if (count > MAX_ITEMS) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with %u items", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_realize(trace, parts[i], &items[i]));
        items[i] = dt_var_peek(items[i]);
        advanced = advanced || is_advanced(items[i]);
    }
    if (advanced) {
        return take(trace, self, key, items, count, out);
    }
    DT_TRY(read_items(trace, items, count, &view));
    return emit_view(trace, self, key, &view, out);
}

DtStatus
dt_np_region(DtTrace *trace, DtArrayVar *self, DtVar *key, DtNpRegion *out)
{
    DtVar *items[MAX_ITEMS], **parts = &key;
    uint32_t count = 1;
    View view = {.base = self->meta};
    bool many;
    out->advanced = key->type->kind == DT_KIND_LIST;
    if (!out->advanced) {
        DT_TRY(dt_np_items(trace, key, &parts, &count, &many));
    }
    if (count > MAX_ITEMS) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with %u items", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_realize(trace, parts[i], &items[i]));
        items[i] = dt_var_peek(items[i]);
        out->advanced = out->advanced || is_advanced(items[i]);
    }
    if (out->advanced) {
        DT_TRY(dt_np_need_items(trace, self->meta));
        return need_items_in_slices(trace, self, items, count);
    }
    DT_TRY(read_items(trace, items, count, &view));
    if (view.ndim > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %u dimensions", view.ndim);
    }
    out->item = view.ndim == 0 && !view.ellipsis;
    out->ndim = view.ndim;
    memcpy(out->shape, view.shape, sizeof(view.shape[0]) * view.ndim);
    return DT_OK;
}

/* ---- Length and iteration -------------------------------------------------------------------- */

DtStatus
dt_np_length(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    if (self->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "len() of an array without dimensions");
    }
    return dt_var_sym(trace, self->meta->shape[0], out);
}

#define MAX_UNROLLED 64

DtStatus
dt_np_iter(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    if (self->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "iteration over an array without dimensions");
    }
    int64_t size = self->meta->shape[0]->hint.i;
    if (size > MAX_UNROLLED) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "iteration over %lld rows of an array",
                        (long long)size);
    }
    DT_TRY(dt_trace_specialize(trace, self->meta->shape[0]));
    return dt_iter_array(trace, self, out);
}
