/* The memory of arrays as it lies there: strides, flags, and views of it as items of another dtype.
 */
#include "adapters/numpy/internal.h"
#include "adapters/numpy/extent.h"

#include <string.h>

#include "variables/kinds.h"

/* ---- Where it lies --------------------------------------------------------------------------- */

bool
dt_np_adapter_extent(const DtAdapter *adapter, PyObject *object, const char **low,
                     const char **high)
{
    (void)adapter;
    return dt_np_extent(object, low, high);
}

/* ---- strides --------------------------------------------------------------------------------- */

/* Known of memory without gaps, but for axes of no or one item, of which NumPy says what it likes.
 */
DtStatus
dt_np_a_strides(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    const DtMeta *meta = self->meta;
    const DtSym *stride = dt_np_size(trace, PyDataType_ELSIZE(dt_np_descr(meta->dtype)));
    DtVar *strides[DT_NP_MAXDIMS];
    bool c = meta->layout & DT_LAYOUT_C, known = c || (meta->layout & DT_LAYOUT_F);
    if (stride == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        known = known && !dt_trace_depends_on_data(trace, meta->shape[i])
                && !dt_np_size_is(meta->shape[i], 0) && !dt_np_size_is(meta->shape[i], 1);
    }
    for (uint32_t i = 0; i < meta->ndim && known; i++) {
        uint32_t axis = c ? meta->ndim - 1 - i : i;
        DT_TRY(dt_var_sym(trace, stride, &strides[axis]));
        DT_TRY(dt_np_expr(trace, DT_SYM_OP_MUL, stride, meta->shape[axis], &stride));
    }
    return known ? dt_var_tuple(trace, strides, meta->ndim, out)
                 : dt_break(trace, DT_BREAK_ARRAY_OP, "strides of memory in no known order");
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* Are the items in the one order, known of memory that is in the other one? Only where at most one
 * axis has more than one item. */
static PyObject *
is_in_both(DtTrace *trace, const DtMeta *meta)
{
    uint32_t long_axes = 0;
    bool empty = false;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (dt_trace_depends_on_data(trace, meta->shape[i])) {
            return Py_None;
        }
        long_axes += !dt_np_size_is(meta->shape[i], 1);
        empty = empty || dt_np_size_is(meta->shape[i], 0);
    }
    return empty || long_axes < 2 ? Py_True : Py_False;
}

/* True, False, or None where it is not known. Guards look at the flags of inputs, so there what is
 * not set is not the case. */
static PyObject *
is_in_order(DtTrace *trace, const DtArrayVar *self, uint32_t order)
{
    uint32_t both = DT_LAYOUT_C | DT_LAYOUT_F;
    if (self->meta->layout & order) {
        return Py_True;
    }
    if (self->node->kind == DT_NODE_INPUT) {
        return Py_False;
    }
    return self->meta->layout & both ? is_in_both(trace, self->meta) : Py_None;
}

/* Memory that the graph made, of which no other array is a part. */
static PyObject *
is_own(const DtArrayVar *self)
{
    uint32_t fresh = self->meta->layout & (DT_LAYOUT_FRESH | DT_LAYOUT_VIEW);
    return fresh == DT_LAYOUT_FRESH ? Py_True : Py_None;
}

/* The polyfill is told what is known. */
DtStatus
dt_np_a_flags(DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    PyObject *known[] = {
        is_in_order(trace, self, DT_LAYOUT_C),
        is_in_order(trace, self, DT_LAYOUT_F),
        self->meta->layout & DT_LAYOUT_ALIGNED ? Py_True
        : self->node->kind == DT_NODE_INPUT    ? Py_False
                                               : Py_None,
        is_own(self),
    };
    DtVar *pos[Py_ARRAY_LENGTH(known)];
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("flags"));
    if (name == NULL) {
        return DT_ERROR;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        DT_TRY(dt_var_const(trace, known[i], &pos[i]));
    }
    DtArgs args = dt_args_of(pos, Py_ARRAY_LENGTH(known));
    return dt_np_call_followed(trace, self, name, &args, DT_BREAK_ARRAY_OP, "attribute", out);
}

/* ---- view ------------------------------------------------------------------------------------ */

/* The same memory as items of another dtype: as large ones, or smaller ones along the last axis. */
DtStatus
dt_np_m_view(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "dtype"};
    const DtMeta *base = self->meta;
    DtVar *slots[2];
    DtOperand operands[2] = {dt_np_node(self)};
    PyObject *dtype;
    bool truth = PyTypeNum_ISBOOL(dt_np_descr(base->dtype)->type_num);
    if (!dt_np_is_ndarray(self) && truth && args->npos + args->nkw == 0) {
        *out = &self->base; /* there is one object for each truth */
        return DT_OK;
    }
    DT_TRY(dt_np_need_ndarray(trace, self, "view"));
    DT_TRY(dt_np_bind(trace, "view", &self->base, args, names, 2, 2, 1, slots));
    if (slots[1] != NULL) {
        bool done;
        DT_TRY(dt_np_view_as_part(trace, &self->base, self, slots[1], &done, out));
        if (done) {
            return DT_OK;
        }
    }
    DT_TRY(dt_np_any_dtype_arg(trace, "view", slots[1], &dtype));
    dtype = dt_np_one_dtype(dtype != NULL ? dtype : base->dtype);
    if (dtype == NULL) {
        return DT_ERROR;
    }
    PyArray_Descr *from = dt_np_descr(base->dtype), *to = dt_np_descr(dtype);
    int64_t before = PyDataType_ELSIZE(from), after = PyDataType_ELSIZE(to);
    bool new_bools = PyTypeNum_ISBOOL(to->type_num) && !PyTypeNum_ISBOOL(from->type_num);
    bool records = from->type_num == NPY_VOID || to->type_num == NPY_VOID;
    if ((slots[1] != NULL && dt_np_is_none(slots[1]))
        || records   /* the program may rename their fields */
        || new_bools /* bytes may be other than 0, 1 */
        || !(base->layout & DT_LAYOUT_NATIVE) || !PyArray_ISNBO(to->byteorder)
        || before % after != 0 || PyDataType_ALIGNMENT(to) > PyDataType_ALIGNMENT(from)
        || (before != after && (base->ndim == 0 || !(base->layout & DT_LAYOUT_C)))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "view as such a dtype");
    }
    DtMeta *meta = dt_np_meta(trace, dtype, base->ndim);
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, base->shape, sizeof(meta->shape[0]) * base->ndim);
    meta->layout = dt_np_shared_layout(base) | (base->layout & (DT_LAYOUT_C | DT_LAYOUT_F));
    meta->stride_order = base->stride_order;
    if (before != after) {
        uint32_t last = base->ndim - 1u;
        DT_TRY(dt_np_expr_int(trace, DT_SYM_OP_MUL, base->shape[last], before / after,
                              &meta->shape[last]));
        DT_TRY(dt_np_settle_size(trace, meta->shape[last], &meta->shape[last]));
        meta->layout &= ~(uint32_t)DT_LAYOUT_F;
        DT_TRY(dt_np_natural_order(trace, meta));
        dt_np_contiguous_flags(meta);
    }
    operands[1] = dt_np_const(dtype);
    return dt_np_emit_view(trace, DT_NP_nd_view, operands, slots[1] != NULL ? 2 : 1, meta, out);
}
