/* Copies by index arrays, masks and lists of ints.
 *
 * What a mask selects has a size that depends on data: a symbol that no guard can ask for.
 */
#include "adapters/numpy/index.h"

#include <string.h>

#include "variables/kinds.h"

/* A list, or a tuple inside of a key: NumPy makes an array of it. */
static bool
is_sequence(const DtVar *item)
{
    return item->type->kind == DT_KIND_LIST || item->type->kind == DT_KIND_TUPLE;
}

bool
dt_np_is_index_array(DtVar *item)
{
    const DtArrayVar *array = dt_np_array_of(item);
    if (array != NULL) {
        return array->meta->ndim > 0 || !dt_np_is_integer(item);
    }
    PyObject *constant = dt_var_peek_constant(item);
    return is_sequence(item) || (constant != NULL && PyBool_Check(constant));
}

/* The integers of a range(), of which NumPy makes the same array. */
static DtStatus
range_items(DtTrace *trace, DtVar *range, DtVar **out)
{
    static const char *const members[] = {"start", "stop", "step"};
    DtVar *numbers[3];
    DtArgs args = dt_args_of(numbers, 3);
    for (int i = 0; i < 3; i++) {
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(members[i]));
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_getattr(trace, range, name, &numbers[i]));
    }
    return dt_np_fn_arange(trace, DT_NP_arange, &args, out);
}

DtStatus
dt_np_read_key(DtTrace *trace, DtVar *key, DtVar **out)
{
    DtVar **parts;
    uint32_t count;
    bool many, ranges = false;
    DT_TRY(dt_var_realize(trace, key, &key));
    *out = key = dt_var_peek(key);
    if (key->type->kind == DT_KIND_RANGE) {
        return range_items(trace, key, out);
    }
    DT_TRY(dt_np_items(trace, key, &parts, &count, &many));
    if (!many || key->type->kind == DT_KIND_LIST || count > DT_NP_MAX_ITEMS) {
        return DT_OK;
    }
    DtVar *items[DT_NP_MAX_ITEMS];
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_realize(trace, parts[i], &items[i]));
        if (dt_var_peek(items[i])->type->kind == DT_KIND_RANGE) {
            ranges = true;
            DT_TRY(range_items(trace, items[i], &items[i]));
        }
    }
    return ranges ? dt_var_tuple(trace, items, count, out) : DT_OK;
}

bool
dt_np_is_index_number(DtVar *item)
{
    const DtArrayVar *array = dt_np_array_of(item);
    int num = array != NULL ? dt_np_descr(array->meta->dtype)->type_num : NPY_INTP;
    return dt_np_is_integer(item) && num != NPY_ULONG && num != NPY_ULONGLONG;
}

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

/* How many items a node finds by a mask, which is *mask then; NULL: it does no such thing.  What is
 * no mask, but an array of numbers, selects by their values. */
static const DtSym *
count_of(const DtNode *node, bool numbers, const DtOperand **mask)
{
    static const DtNpOp finders[] = {DT_NP_flatnonzero, DT_NP_nonzero, DT_NP_argwhere};
    bool finds = false;
    if (node->kind != DT_NODE_CALL || node->nargs < 1 || node->results[0].ndim == 0) {
        return NULL;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(finders); i++) {
        finds = finds || node->callee == dt_np_callee(finders[i]);
    }
    bool selects = !numbers && node->nargs == 2 && node->callee == dt_np_callee(DT_NP_op_getitem);
    *mask = &node->args[selects ? 1 : 0];
    return finds || selects ? node->results[0].shape[0] : NULL;
}

/* The same for the same mask, if nothing was written in between. */
DtStatus
dt_np_count_of_mask(DtTrace *trace, const DtArrayVar *mask, const DtSym **out)
{
    const DtGraph *graph = trace->graph;
    DtOperand operand = dt_np_node(mask);
    const DtOperand *other;
    bool numbers = dt_np_descr(mask->meta->dtype)->type_num != NPY_BOOL;
    uint32_t start = graph->nodes.count; /* after the last write */
    while (start > 0 && graph->nodes.items[start - 1]->effect == DT_EFFECT_PURE) {
        start--;
    }
    for (uint32_t i = graph->nodes.count; i-- > start;) {
        const DtSym *count = count_of(graph->nodes.items[i], numbers, &other);
        if (count != NULL && dt_trace_depends_on_data(trace, count) && count->op == DT_SYM_OP_SYMBOL
            && same_value(other, &operand, start, 0)) {
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
    return dt_np_count_of_mask(trace, mask, &out->shape[0]);
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
        bool computed; /* by the graph */
        DT_TRY(dt_var_realize(trace, items->items[i], &item));
        item = dt_var_peek(item);
        PyObject *constant = dt_var_peek_constant(item);
        if (is_sequence(item)) {
            DT_TRY(list_shape(trace, item, inner, &own));
        }
        else if (constant == NULL || !PyBool_Check(constant)) {
            DT_TRY(dt_np_sym_of(trace, item, &number));
        }
        computed = dt_np_is_index_number(item);
        fits =
            (own > 0) != (number != NULL || computed) && own + 1 < DT_NP_MAXDIMS
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
        bool takes_none = dt_np_is_none(items[i]) || dt_np_is_ellipsis(items[i])
                          || (constant != NULL && PyBool_Check(constant));
        used += takes_none ? 0 : is_mask ? array->meta->ndim : 1;
    }
    return used;
}

DtStatus
dt_np_need_items_in_slices(DtTrace *trace, const DtArrayVar *self, DtVar *const *items,
                           uint32_t count)
{
    DtNpView view = {.base = self->meta};
    uint32_t used = axes_taken(items, count);
    if (used > self->meta->ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with too many items");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (items[i]->type->kind == DT_KIND_SLICE) {
            DT_TRY(dt_np_view_slice(trace, &view, (DtSeqVar *)items[i]));
            if (dt_np_size_is(view.shape[view.ndim - 1], 0)) {
                return dt_break(trace, DT_BREAK_ARRAY_OP,
                                "an index array where there are no items");
            }
            continue;
        }
        if (!dt_np_is_ellipsis(items[i])) {
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
DtStatus
dt_np_take_items(DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar *const *items, uint32_t count,
                 DtVar **out)
{
    Advanced parts[DT_NP_MAX_ITEMS], joined;
    DtNpView view = {.base = self->meta};
    uint32_t nparts = 0, used = axes_taken(items, count), place = 0, last = 0;
    bool apart = false, ok;
    if (used > self->meta->ndim) {
        return dt_break(trace, DT_BREAK_RAISES, "an index with too many items");
    }
    for (uint32_t i = 0; i < count; i++) {
        DtNpItemKind kind = DT_NP_ITEM_INT;
        if (!dt_np_is_index_array(items[i])) {
            DT_TRY(dt_np_item_kind(trace, items[i], &kind));
        }
        switch (kind) {
        case DT_NP_ITEM_INT:
            DT_TRY(read_advanced(trace, self, view.axis, items[i], &parts[nparts]));
            apart = apart || (nparts > 0 && last + 1 != i);
            place = nparts == 0 ? view.ndim : place;
            last = i;
            view.axis += parts[nparts++].axes;
            continue;
        case DT_NP_ITEM_SLICE:
            DT_TRY(dt_np_view_slice(trace, &view, (DtSeqVar *)items[i]));
            break;
        case DT_NP_ITEM_NEW:
            DT_TRY(dt_np_view_new_axis(trace, &view));
            break;
        case DT_NP_ITEM_ELLIPSIS:
            if (view.ellipsis) {
                return dt_break(trace, DT_BREAK_RAISES, "an index with two Ellipsis");
            }
            view.ellipsis = true;
            dt_np_view_whole(&view, view.axis + self->meta->ndim - used);
            break;
        }
    }
    dt_np_view_whole(&view, self->meta->ndim);
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
