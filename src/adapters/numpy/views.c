/* Other shapes of the same items: squeeze, ravel, copies, what is broadcast.
 *
 * A result that may share memory with its operand has an alias edge, also where
 * NumPy copies under some strides: an edge too many only forbids, never permits.
 * Not in here: reshape (reshape.c), permuted axes (transpose.c), indexing (index.c).
 */
#include "adapters/numpy/internal.h"
#include "variables/kinds.h"

#include <string.h>

DtStatus
dt_np_need_ndarray(DtTrace *trace, const DtArrayVar *self, const char *what)
{
    if (!dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a NumPy scalar", what);
    }
    return DT_OK;
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
    DT_TRY(dt_np_need_ndarray(trace, self, "squeeze"));
    DT_TRY(dt_np_bind(trace, "squeeze", &self->base, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_axes(trace, "squeeze", slots[1], base->ndim, &mask, &all));
    DtMeta *meta = dt_np_view_meta(trace, base, NULL, base->ndim);
    if (meta == NULL) {
        return DT_ERROR;
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
    meta->layout |= base->layout & (DT_LAYOUT_C | DT_LAYOUT_F);
    DT_TRY(dt_np_kept_order(trace, base, place, meta));
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
flatten(DtTrace *trace, const char *function, DtNpOp op, DtArrayVar *self, const DtArgs *args,
        DtVar **out)
{
    static const char *const names[] = {"a", "order"};
    DtVar *slots[2];
    DtMeta *meta;
    bool fortran;
    DT_TRY(dt_np_need_ndarray(trace, self, function));
    DT_TRY(dt_np_bind(trace, function, &self->base, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_order_arg(trace, function, slots[1], self->meta, &fortran));
    if (fortran && self->meta->ndim > 1) { /* the items of the transposed array in C's order */
        DtVar *turned;
        DT_TRY(dt_np_transpose_reversed(trace, self, &turned));
        self = dt_np_any_array(turned);
    }
    DtOperand operand = dt_np_node(self);
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
    DtOperand operands[2] = {dt_np_node(self)};
    bool fortran;
    DT_TRY(dt_np_need_ndarray(trace, self, "copy"));
    DT_TRY(dt_np_bind(trace, "copy", &self->base, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_order_arg(trace, "copy", slots[1], self->meta, &fortran));
    DtMeta *meta = dt_np_meta(trace, self->meta->dtype, self->meta->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, self->meta->shape, sizeof(meta->shape[0]) * meta->ndim);
    if (fortran && meta->ndim > 1) {
        int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim);
        if (order == NULL) {
            return dt_no_memory();
        }
        for (uint32_t i = 0; i < meta->ndim; i++) {
            order[i] = (int8_t)(meta->ndim - 1u - i);
        }
        DT_TRY(dt_np_fresh(trace, meta, order));
        operands[1] = dt_np_const(dt_var_as_constant(trace, slots[1]));
        return dt_np_emit_one(trace, DT_NP_nd_copy, operands, 2, meta, out);
    }
    DT_TRY(dt_np_fresh_c(trace, meta));
    return dt_np_emit_one(trace, DT_NP_nd_copy, operands, 1, meta, out);
}

/* copy.copy() and copy.deepcopy() keep the order in memory: of one that is known to be C's. */
DtStatus
dt_np_m_shallow(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtArgs none = {0};
    if (args->npos + args->nkw > 0) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "a copy of an array with such arguments");
    }
    if (self->meta->ndim > 1 && !(self->meta->layout & DT_LAYOUT_C)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a copy of an array that is not in C order");
    }
    return dt_np_m_copy(trace, self, &none, out);
}

DtStatus
dt_np_m_deepcopy(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtArgs none = {0};
    if (args->npos != 1 || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "a copy of an array with such arguments");
    }
    return dt_np_m_shallow(trace, self, &none, out);
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
        DT_TRY(dt_np_size_of(trace, items[i], &shape[i]));
        if (shape[i] == NULL || shape[i]->hint.i < 0) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "broadcast_to with a size that is no int");
        }
        DT_TRY(dt_np_settle_size(trace, shape[i], &shape[i]));
        uint32_t missing = ndim - self->meta->ndim;
        const DtSym *own = i >= missing ? self->meta->shape[i - missing] : NULL;
        bool computed =
            own != NULL
            && (dt_trace_depends_on_data(trace, own) || dt_trace_depends_on_data(trace, shape[i]));
        if (own != NULL && !computed && !dt_np_size_is(own, 1)) {
            DT_TRY(dt_trace_unify(trace, self->meta->shape[i - missing], shape[i], &same));
        }
        if (!same) {
            return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "broadcast_to another size");
        }
    }
    DtMeta *meta = dt_np_view_meta(trace, self->meta, shape, ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    operands[0] = dt_np_node(self);
    DT_TRY(dt_np_shape_operand(trace, shape, ndim, &operands[1]));
    return dt_np_emit_view(trace, op, operands, 2, meta, out);
}

/* Whether it is of that shape already: no size of one becomes another. */
static bool
fills(const DtMeta *meta, const DtSym *const *shape, uint32_t ndim)
{
    for (uint32_t axis = 0; axis < ndim && meta->ndim == ndim; axis++) {
        if (dt_np_size_is(meta->shape[axis], 1) && !dt_np_size_is(shape[axis], 1)) {
            return false;
        }
    }
    return meta->ndim == ndim;
}

/* All arrays over the shape that they have together: those that have it stay what they are.  What
 * is no array becomes one before. */
DtStatus
dt_np_fn_broadcast_arrays(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtNpOperand arrays[DT_NP_MAXARGS];
    DtOperand operands[DT_NP_MAXARGS];
    DtMeta metas[DT_NP_MAXARGS];
    DtAlias aliases[DT_NP_MAXARGS];
    DtVar *items[DT_NP_MAXARGS];
    const DtSym *shape[DT_NP_MAXDIMS];
    uint32_t ndim, nsame = 0;
    if (args->nkw > 0 || args->npos == 0 || args->npos > DT_NP_MAXARGS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of %u arrays", dt_np_target(op), args->npos);
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(dt_np_realize(trace, args->pos[i], &items[i]));
        if (dt_np_any_array(items[i]) == NULL || !dt_np_is_ndarray(dt_np_any_array(items[i]))) {
            DtArgs one = dt_args_of(&items[i], 1);
            DT_TRY(dt_np_fn_asarray(trace, DT_NP_asarray, &one, &items[i]));
        }
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
        nsame += fills(own, shape, ndim);
        DtMeta *meta = dt_np_view_meta(trace, own, shape, ndim);
        if (meta == NULL) {
            return DT_ERROR;
        }
        metas[i] = *meta;
    }
    if (nsame == args->npos) {
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
    DT_TRY(spec.callee != NULL ? dt_np_emit(trace, &spec, out) : DT_ERROR);
    for (uint32_t i = 0; i < args->npos; i++) {
        if (!fills(arrays[i].array->meta, shape, ndim)) {
            items[i] = ((DtSeqVar *)*out)->items[i];
        }
    }
    return dt_var_tuple(trace, items, args->npos, out);
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
    uint32_t layout =
        self->meta->layout; /* it refuses strides that are no multiples of the items' size */
    if (!(layout & DT_LAYOUT_NATIVE) || !(layout & (DT_LAYOUT_C | DT_LAYOUT_F))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of memory that it may refuse",
                        dt_np_target(op));
    }
    DtOperand operand = dt_np_node(self);
    DtMeta *meta = dt_np_view_meta(trace, self->meta, self->meta->shape, self->meta->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    return dt_np_emit_view(trace, op, &operand, 1, meta, out);
}

/* Of others it complains. */
static bool
names_ends(PyObject *ends)
{
    static const char *const known[] = {"f", "b", "fb", "bf", NULL};
    return PyUnicode_CheckExact(ends) && dt_kinds_is_among(ends, known);
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
        || (ends != NULL && !names_ends(ends))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s in this form", dt_np_target(op));
    }
    DtMeta *meta = dt_np_view_meta(trace, self->meta, NULL, 1);
    if (meta == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, &meta->shape[0]));
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
    DtVar *self, *named;
    DtArgs rest = *args;
    if (args->npos == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s without positional arguments",
                        dt_np_target(op));
    }
    DT_TRY(dt_var_realize(trace, args->pos[0], &self));
    DT_TRY(dt_np_array_like(trace, &self));
    DtArrayVar *array = dt_np_array_of(self);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op),
                        dt_var_peek(self)->type->name);
    }
    rest.pos++;
    rest.npos--;
    bool turns = op == DT_NP_transpose || op == DT_NP_permute_dims;
    if (rest.npos == 0 && rest.nkw == 1 && turns
        && PyUnicode_CompareWithASCIIString(rest.kwnames[0], "axes") == 0) {
        named = rest.kw[0]; /* the method takes it by place alone */
        rest = (DtArgs){.pos = &named, .npos = 1};
    }
    if (rest.npos == 2 && rest.nkw == 0 && op == DT_NP_reshape) {
        PyObject *order = dt_trace_keep_take(trace, PyUnicode_InternFromString("order"));
        if (order == NULL) {
            return DT_ERROR;
        }
        rest.kw = &rest.pos[1];
        rest.kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, 1);
        if (rest.kwnames == NULL) {
            return dt_no_memory();
        }
        rest.kwnames[0] = order;
        rest.nkw = rest.npos = 1;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(function_methods); i++) {
        if (function_methods[i].op == op) {
            return function_methods[i].method(trace, array, &rest, out);
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s", dt_np_target(op));
}
