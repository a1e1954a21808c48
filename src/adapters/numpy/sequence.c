/* array, asarray and copy: of sequences of numbers, and of arrays.
 *
 * A sequence is read as nested lists and tuples of numbers, NumPy scalars and arrays of one shape;
 * the node takes it as an operand tree, so symbolic numbers in it stay symbols.
 */
#include "adapters/numpy/internal.h"

#include "variables/kinds.h"

/* ---- array, asarray -------------------------------------------------------------------------- */

/* Nested lists and tuples of numbers and arrays: shape and dtype. */
typedef struct Nested {
    const DtSym *shape[DT_NP_MAXDIMS]; /* NULL: not known yet */
    uint32_t ndim;   /* of the first leaf's path, its own axes too; 0xff: none yet */
    PyObject *dtype; /* as asked for, or NULL */
    DT_VEC(DtNpOperand) leaves;
} Nested;

static DtStatus
match_axis(DtTrace *trace, Nested *nested, uint32_t axis, const DtSym *size)
{
    if (size == NULL) {
        return DT_ERROR;
    }
    if (nested->shape[axis] == NULL) {
        nested->shape[axis] = size;
        return DT_OK;
    }
    return dt_np_match_size(trace, "an array from a sequence", size, &nested->shape[axis]);
}

static DtStatus
read_leaf(DtTrace *trace, Nested *nested, DtVar *var, uint32_t depth)
{
    DtNpOperand leaf;
    DT_TRY(dt_np_need_operand(trace, var, "array from a sequence", &leaf));
    const DtMeta *meta = leaf.array != NULL ? leaf.array->meta : NULL;
    uint32_t own = meta != NULL ? meta->ndim : 0;
    if (meta != NULL && !(meta->layout & DT_LAYOUT_NATIVE)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from a sequence of such items");
    }
    if (depth + own > DT_NP_MAXDIMS || (nested->ndim != 0xff && nested->ndim != depth + own)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from a ragged sequence");
    }
    nested->ndim = depth + own;
    for (uint32_t i = 0; i < own; i++) {
        DT_TRY(match_axis(trace, nested, depth + i, meta->shape[i]));
    }
    return dt_vec_push(&trace->arena, &nested->leaves, leaf) < 0 ? dt_no_memory() : DT_OK;
}

static DtStatus
read_nested(DtTrace *trace, Nested *nested, DtVar *var, uint32_t depth)
{
    DtVar **items;
    uint32_t count;
    bool is_sequence;
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    DT_TRY(dt_np_items(trace, var, &items, &count, &is_sequence));
    if (!is_sequence) {
        return read_leaf(trace, nested, var, depth);
    }
    if (depth == DT_NP_MAXDIMS || (nested->ndim != 0xff && depth >= nested->ndim)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from a ragged sequence");
    }
    DT_TRY(match_axis(trace, nested, depth, dt_np_size(trace, count)));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(read_nested(trace, nested, items[i], depth + 1));
    }
    return DT_OK;
}

static DtStatus
nested_dtype(DtTrace *trace, Nested *nested)
{
    PyObject *found = nested->dtype;
    if (found == NULL && nested->leaves.count == 0) {
        found = dt_np_dtype(NPY_DOUBLE);
        if (found == NULL) {
            return DT_ERROR;
        }
    }
    if (found == NULL) {
        DtNpOperand pair[2];
        for (uint32_t i = 0; i < nested->leaves.count; i++) {
            pair[i > 0] = nested->leaves.items[i];
            pair[i > 0].dtype = dt_np_strong_dtype(pair[i > 0].dtype);
            if (pair[i > 0].dtype == NULL) {
                return DT_ERROR;
            }
            if (i > 0 && pair[1].dtype != pair[0].dtype) {
                PyObject *common;
                DT_TRY(dt_np_result_type(trace, pair, 2, &common));
                pair[0].dtype = common;
            }
        }
        found = pair[0].dtype;
    }
    for (uint32_t i = 0; i < nested->leaves.count; i++) {
        if (dt_np_drops_imaginary(nested->leaves.items[i].dtype, found)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "an array that drops imaginary parts");
        }
        DT_TRY(dt_np_fit_weak(trace, &nested->leaves.items[i], found));
    }
    nested->dtype = found;
    return DT_OK;
}

static DtStatus
from_sequence(DtTrace *trace, DtNpOp op, DtVar *var, PyObject *dtype, DtVar **out)
{
    Nested nested = {.ndim = 0xff, .dtype = dtype};
    DtOperand operands[2];
    DtMeta *meta;
    bool ok;
    DT_TRY(read_nested(trace, &nested, var, 0));
    if (nested.leaves.count == 0) { /* as deep as it goes */
        nested.ndim = 0;
        while (nested.ndim < DT_NP_MAXDIMS && nested.shape[nested.ndim] != NULL) {
            nested.ndim++;
        }
    }
    DT_TRY(nested_dtype(trace, &nested));
    DT_TRY(dt_np_new_meta(trace, nested.dtype, nested.shape, nested.ndim, &meta));
    DT_TRY(dt_graph_operand(trace, var, &operands[0], &ok));
    if (!ok) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array from such a sequence");
    }
    operands[1] = dt_np_const(nested.dtype);
    return dt_np_emit_one(trace, op, operands, 2, meta, out);
}

DtStatus
dt_np_array_like(DtTrace *trace, DtVar **var)
{
    DtVar *found, **items;
    uint32_t count;
    bool is_sequence;
    DT_TRY(dt_np_list_array(trace, *var, NULL, &found));
    if (found != NULL) {
        *var = found;
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, *var, &found));
    found = dt_var_peek(found);
    DT_TRY(dt_np_items(trace, found, &items, &count, &is_sequence));
    return is_sequence ? from_sequence(trace, DT_NP_asarray, found, NULL, var) : DT_OK;
}

DtStatus
dt_np_array_or_number(DtTrace *trace, DtVar **var)
{
    DT_TRY(dt_np_array_like(trace, var));
    DtVar *found = dt_var_peek(*var);
    return dt_symbolic_of(trace, found) != NULL
               ? from_sequence(trace, DT_NP_asarray, found, NULL, var)
               : DT_OK;
}

static DtStatus
copy_of(DtTrace *trace, DtNpOp op, DtArrayVar *array, PyObject *dtype, DtVar **out)
{
    DtNpOperand operand = {.array = array, .dtype = array->meta->dtype};
    DtOperand operands[2] = {dt_np_node(array)};
    DtMeta *meta;
    dtype = dtype != NULL ? dtype : array->meta->dtype;
    if (dt_np_drops_imaginary(array->meta->dtype, dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array that drops imaginary parts");
    }
    DT_TRY(dt_np_elementwise_meta(trace, &operand, 1, dtype, &meta));
    operands[1] = dt_np_const(dtype);
    return dt_np_emit_one(trace, op, operands, op == DT_NP_copy ? 1 : 2, meta, out);
}

/* A dtype that the trace has read from an array: more often than not from this one. */
static bool
was_read(DtVar *given)
{
    const DtSource *source = dt_var_peek(given)->source;
    return source != NULL && source->kind == DT_SOURCE_OBJECT;
}

/* The array that NumPy gives where it need not copy: itself, or a view if an equal dtype that is
 * another object is asked for; *out NULL: it copies. */
static DtStatus
not_copied(DtTrace *trace, DtArrayVar *array, PyObject *dtype, DtVar *given, DtVar **out)
{
    bool exact = array != NULL && dt_np_is_ndarray(array), same = true;
    *out = NULL;
    if (exact && dtype != NULL && dtype != array->meta->dtype
        && PyArray_EquivTypes(dt_np_descr(dtype), dt_np_descr(array->meta->dtype))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an array under another dtype of that kind");
    }
    if (!exact || (dtype != NULL && dtype != array->meta->dtype)) {
        return DT_OK;
    }
    if (dtype != NULL && !was_read(given)) {
        DT_TRY(dt_np_has_usual_dtype(trace, array, &same));
    }
    if (!same) {
        DtArgs args = dt_args_of(&given, 1);
        return dt_np_m_view(trace, array, &args, out);
    }
    *out = &array->base;
    return DT_OK;
}

/* order= that says what is done in any case: "K", or "C" of what comes in C order. */
static DtStatus
need_usual_order(DtTrace *trace, const char *function, const DtArrayVar *array, DtVar *order)
{
    PyObject *given = dt_np_is_default(order) ? NULL : dt_var_as_constant(trace, order);
    if (dt_np_is_default(order)) {
        return DT_OK;
    }
    bool in_c = array == NULL || (array->meta->layout & DT_LAYOUT_C);
    bool usual = given != NULL && PyUnicode_Check(given)
                 && (PyUnicode_CompareWithASCIIString(given, "K") == 0
                     || (in_c && PyUnicode_CompareWithASCIIString(given, "C") == 0));
    return usual              ? DT_OK
           : PyErr_Occurred() ? DT_ERROR
                              : dt_break(trace, DT_BREAK_ARRAY_OP, "%s with order=", function);
}

/* The view that ndmin= makes of the array *out: axes of one item in front. */
static DtStatus
prepend_axes(DtTrace *trace, DtVar *ndmin, DtVar **out)
{
    const DtSym *shape[DT_NP_MAXDIMS];
    int64_t count = 0;
    if (ndmin != NULL) {
        DT_TRY(dt_np_int_arg(trace, "numpy.array", ndmin, &count));
    }
    DtArrayVar *array = dt_np_array_of(*out);
    if (array == NULL || array->meta->ndim >= count) {
        return DT_OK;
    }
    if (count > DT_NP_MAXDIMS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "numpy.array of so many dimensions");
    }
    if (array->meta->ndim > 0 && !(array->meta->layout & DT_LAYOUT_C)) {
        /* In Fortran's order NumPy gives the new axes the stride of an item. */
        return dt_break(trace, DT_BREAK_ARRAY_OP,
                        "numpy.array with ndmin= of memory in that order");
    }
    uint32_t more = (uint32_t)count - array->meta->ndim;
    for (uint32_t i = 0; i < count; i++) {
        shape[i] = i < more ? dt_np_size(trace, 1) : array->meta->shape[i - more];
        if (shape[i] == NULL) {
            return DT_ERROR;
        }
    }
    return dt_np_reshape(trace, array, shape, (uint32_t)count, out);
}

static DtStatus
make_array(DtTrace *trace, DtNpOp op, DtVar *object, DtVar *given, DtVar *if_copied, DtVar **out)
{
    bool copy = false;
    PyObject *dtype;
    *out = NULL;
    DT_TRY(dt_np_dtype_arg(trace, dt_np_target(op), given, &dtype));
    bool if_needed = if_copied != NULL && dt_np_is_none(if_copied);
    if (!if_needed) {
        DT_TRY(dt_np_bool_arg(trace, dt_np_target(op), if_copied, true, &copy));
    }
    if (copy || if_needed) {
        DT_TRY(dt_np_list_array(trace, object, dtype, out));
    }
    if (*out == NULL) {
        DT_TRY(dt_np_array_of_part(trace, op, object, dtype, copy, out));
    }
    if (*out != NULL) {
        return DT_OK;
    }
    DtArrayVar *array = dt_np_array_of(object);
    if (!copy) {
        DT_TRY(not_copied(trace, array, dtype, given, out));
        if (*out != NULL) {
            return DT_OK;
        }
    }
    if (!copy && !if_needed) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "array with copy=");
    }
    op = copy ? DT_NP_array : op; /* asarray() without copy= is made again without */
    return array != NULL ? copy_of(trace, op, array, dtype, out)
                         : from_sequence(trace, op, object, dtype, out);
}

DtStatus
dt_np_fn_array(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"object", "dtype", "copy", "order", "subok", "ndmin"};
    const char *function = dt_np_target(op);
    DtVar *slots[6];
    bool subok;
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 6, 2, 1, slots));
    DT_TRY(dt_np_bool_arg(trace, function, slots[4], false, &subok));
    if (subok && dt_np_part_of(slots[0]) != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s with subok=True", function);
    }
    DT_TRY(need_usual_order(trace, function, dt_np_array_of(slots[0]), slots[3]));
    DT_TRY(make_array(trace, op, slots[0], slots[1], slots[2], out));
    return prepend_axes(trace, slots[5], out);
}

DtStatus
dt_np_fn_asarray(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "dtype", "order", "copy"};
    const char *function = dt_np_target(op);
    DtVar *slots[4];
    DT_TRY(dt_np_bind(trace, function, NULL, args, names, 4, 3, 1, slots));
    DT_TRY(need_usual_order(trace, function, dt_np_array_of(slots[0]), slots[2]));
    DtVar *copy = slots[3] != NULL ? slots[3] : dt_none(trace);
    return make_array(trace, op, slots[0], slots[1], copy, out);
}

/* The array with that dtype (NULL: its own).  Of one that is equal but another object NumPy may
 * give either; a cast that keeps the order may give an axis of one item another stride. */
static DtStatus
with_dtype(DtTrace *trace, const char *function, DtArrayVar *array, PyObject *dtype, DtVar **out)
{
    const DtMeta *meta = array->meta;
    *out = &array->base;
    if (dtype == NULL || (dtype == meta->dtype && !(meta->layout & DT_LAYOUT_OWN_DTYPE))) {
        return DT_OK;
    }
    bool one = false;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        one = one || (meta->ndim > 1 && dt_np_size_is(meta->shape[i], 1));
    }
    if (one || PyArray_EquivTypes(dt_np_descr(dtype), dt_np_descr(meta->dtype))
        || dt_np_drops_imaginary(meta->dtype, dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such a dtype", function);
    }
    return dt_np_cast(trace, array, dtype, out);
}

/* ascontiguousarray and asfortranarray: a copy in that order, or the array itself. */
DtStatus
dt_np_fn_in_order(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "dtype"};
    bool c = op == DT_NP_ascontiguousarray;
    DtVar *slots[2];
    PyObject *dtype;
    DtMeta *meta;
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_dtype_arg(trace, dt_np_target(op), slots[1], &dtype));
    DT_TRY(dt_np_array_like(trace, &slots[0]));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL || array->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op),
                        slots[0]->type->name);
    }
    DT_TRY(with_dtype(trace, dt_np_target(op), array, dtype, out));
    array = dt_np_array_of(*out);
    if (array->meta->layout & (c ? DT_LAYOUT_C : DT_LAYOUT_F)) {
        return DT_OK; /* NumPy gives the array itself */
    }
    DtOperand operand = dt_np_node(array);
    DT_TRY(dt_np_new_meta(trace, array->meta->dtype, array->meta->shape, array->meta->ndim, &meta));
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        order[i] = (int8_t)(c ? i : meta->ndim - 1u - i);
    }
    DT_TRY(dt_np_fresh(trace, meta, order));
    meta->layout &= ~(uint32_t)DT_LAYOUT_FRESH; /* it may be the array itself under some strides */
    return dt_np_emit_view(trace, op, &operand, 1, meta, out);
}

DtStatus
dt_np_fn_copy(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"a", "order"};
    DtVar *slots[2];
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names, 2, 2, 1, slots));
    DT_TRY(dt_np_array_like(trace, &slots[0]));
    DtArrayVar *array = dt_np_array_of(slots[0]);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", dt_np_target(op),
                        slots[0]->type->name);
    }
    if (slots[1] != NULL && dt_np_is_ndarray(array)) {
        DtArgs order = dt_args_of(&slots[1], 1);
        return dt_np_m_copy(trace, array, &order, out);
    }
    if (slots[1] != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a number with order=", dt_np_target(op));
    }
    return copy_of(trace, op, array, NULL, out);
}
