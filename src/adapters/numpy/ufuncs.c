/* Elementwise operations: ufuncs by name, and results that take the place of an array.
 *
 * An in-place operator, or a ufunc with out=, becomes the plain operation and a write of its
 * result. On an array that the trace made and nobody else can see the write is saved: the tracker
 * then stands for the new value. Not in here: operators (operators.c), reductions (reduce.c).
 */
#include "adapters/numbers.h"
#include "adapters/numpy/internal.h"
#include "adapters/numpy/ufuncs.h"

#include <stdio.h>
#include <string.h>

/* ---- Applying a ufunc ------------------------------------------------------------------------ */

static DtStatus
emit_ufunc(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t nin,
           const DtNpUfuncOptions *options, PyObject *dtypes, DtVar **out)
{
    DtOperand args[DT_NP_MAXARGS];
    DtMeta results[DT_NP_MAXOUTS];
    PyObject *kwnames = NULL;
    uint32_t nargs = nin, nout = (uint32_t)(PyTuple_GET_SIZE(dtypes) - nin);
    DT_TRY(dt_np_agree(trace, operands, nin));
    for (uint32_t i = 0; i < nin; i++) {
        DT_TRY(dt_np_fit_weak(trace, &operands[i], PyTuple_GET_ITEM(dtypes, i)));
        args[i] = operands[i].operand;
    }
    for (uint32_t i = 0; i < nout; i++) {
        DtMeta *meta;
        DT_TRY(
            dt_np_elementwise_meta(trace, operands, nin, PyTuple_GET_ITEM(dtypes, nin + i), &meta));
        dt_np_meta_unwrap(meta);
        results[i] = *meta;
    }
    if (options != NULL && (options->dtype != NULL || options->casting != NULL)) {
        const char *names[2];
        uint32_t count = 0;
        if (options->dtype != NULL) {
            names[count++] = "dtype";
            args[nargs++] = dt_np_const(options->dtype);
        }
        if (options->casting != NULL) {
            names[count++] = "casting";
            args[nargs++] = dt_np_const(options->casting);
        }
        kwnames = dt_trace_keep_take(trace, count == 2 ? Py_BuildValue("(ss)", names[0], names[1])
                                                       : Py_BuildValue("(s)", names[0]));
        if (kwnames == NULL) {
            return DT_ERROR;
        }
    }
    DtCallSpec spec = {
        .target = dt_np_target(op),
        .callee = dt_np_called_ufunc(op),
        .args = args,
        .nargs = nargs,
        .kwnames = kwnames,
        .results = results,
        .nresults = nout,
    };
    return dt_np_emit(trace, &spec, out);
}

/* NumPy's resolution.  Casts that are told to drop imaginary parts warn, and so are not made here.
 */
static DtStatus
resolve(DtTrace *trace, DtNpOp op, const DtNpOperand *operands, uint32_t count,
        const DtNpUfuncOptions *options, PyObject **dtypes)
{
    DT_TRY(dt_np_resolve(trace, op, operands, options != NULL ? options->dtype : NULL,
                         options != NULL ? options->casting : NULL, dtypes));
    for (Py_ssize_t i = 0; dt_np_is_foreign(op) && i < PyTuple_GET_SIZE(*dtypes); i++) {
        if (!dt_np_dtype_captured(dt_np_descr(PyTuple_GET_ITEM(*dtypes, i)))) {
            return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of such dtypes", dt_np_target(op));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (dt_np_drops_imaginary(operands[i].dtype, PyTuple_GET_ITEM(*dtypes, i))) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that drops imaginary parts",
                            dt_np_target(op));
        }
    }
    return DT_OK;
}

static DtStatus
apply(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t count,
      const DtNpUfuncOptions *options, DtVar **out)
{
    PyObject *dtypes;
    DT_TRY(resolve(trace, op, operands, count, options, &dtypes));
    return emit_ufunc(trace, op, operands, count, options, dtypes, out);
}

DtStatus
dt_np_apply(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t count, DtVar **out)
{
    return apply(trace, op, operands, count, NULL, out);
}

DtStatus
dt_np_apply_vars(DtTrace *trace, DtNpOp op, DtVar *const *vars, uint32_t count, DtVar **out)
{
    DtNpOperand operands[4];
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_np_need_operand(trace, vars[i], dt_np_target(op), &operands[i]));
    }
    return apply(trace, op, operands, count, NULL, out);
}

static DtStatus
casting_arg(DtTrace *trace, DtNpOp op, DtVar *var, PyObject **casting)
{
    *casting = var != NULL ? dt_var_as_constant(trace, var) : NULL;
    if (var != NULL && (*casting == NULL || !PyUnicode_CheckExact(*casting))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s: casting= is not a constant",
                        dt_np_target(op));
    }
    return DT_OK;
}

/* ---- out= ------------------------------------------------------------------------------------ */

/* The one array of out=, alone or in a tuple; NULL: not given. */
static DtStatus
out_arg(DtTrace *trace, DtNpOp op, DtVar *var, DtArrayVar **out)
{
    *out = NULL;
    if (dt_np_is_default(var)) {
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_TUPLE && ((DtSeqVar *)var)->count == 1) {
        DT_TRY(dt_var_realize(trace, ((DtSeqVar *)var)->items[0], &var));
        var = dt_var_peek(var);
        if (dt_np_is_none(var)) {
            return DT_OK;
        }
    }
    *out = dt_np_array_of(var);
    if (*out == NULL || !dt_np_is_ndarray(*out) || ((PyUFuncObject *)dt_np_callee(op))->nout != 1) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such an out=", dt_np_target(op));
    }
    return DT_OK;
}

/* An array of booleans; NULL: not given, or True. */
static DtStatus
where_arg(DtTrace *trace, DtNpOp op, DtVar *var, DtArrayVar **out)
{
    *out = NULL;
    if (var == NULL || dt_var_peek_constant(var) == Py_True) {
        return DT_OK;
    }
    *out = dt_np_array_of(var);
    if (*out == NULL || dt_np_descr((*out)->meta->dtype)->type_num != NPY_BOOL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such a where=", dt_np_target(op));
    }
    return DT_OK;
}

bool
dt_np_divides_spans(DtNpOp op, int num)
{
    return num == NPY_TIMEDELTA && (op == DT_NP_divide || op == DT_NP_floor_divide);
}

/* Ufuncs whose loops give the same bits, and tell of the same errors, wherever they write. */
static bool
writes_anywhere(DtNpOp op, PyObject *dtypes)
{
    static const DtNpOp exact[] = {
        DT_NP_add,          DT_NP_subtract,    DT_NP_multiply,    DT_NP_divide,
        DT_NP_floor_divide, DT_NP_remainder,   DT_NP_negative,    DT_NP_positive,
        DT_NP_absolute,     DT_NP_sign,        DT_NP_square,      DT_NP_sqrt,
        DT_NP_maximum,      DT_NP_minimum,     DT_NP_rint,        DT_NP_floor,
        DT_NP_ceil,         DT_NP_trunc,       DT_NP_copysign,    DT_NP_isnan,
        DT_NP_isfinite,     DT_NP_isinf,       DT_NP_equal,       DT_NP_not_equal,
        DT_NP_less,         DT_NP_less_equal,  DT_NP_greater,     DT_NP_greater_equal,
        DT_NP_logical_and,  DT_NP_logical_or,  DT_NP_logical_not, DT_NP_logical_xor,
        DT_NP_bitwise_and,  DT_NP_bitwise_or,  DT_NP_bitwise_xor, DT_NP_invert,
        DT_NP_left_shift,   DT_NP_right_shift,
    };
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dtypes); i++) {
        int num = dt_np_descr(PyTuple_GET_ITEM(dtypes, i))->type_num;
        if (PyTypeNum_ISCOMPLEX(num) || dt_np_divides_spans(op, num)) {
            return false;
        }
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(exact); i++) {
        if (exact[i] == op) {
            return true;
        }
    }
    return false;
}

bool
dt_np_may_be_one_item(const DtTrace *trace, const DtMeta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!dt_np_size_is(meta->shape[i], 1) && !dt_trace_depends_on_data(trace, meta->shape[i])) {
            return false;
        }
    }
    return true;
}

bool
dt_np_may_overlap(const DtArrayVar *target, const DtArrayVar *array)
{
    const DtNode *owner, *written;
    if (array == NULL || !dt_np_is_ndarray(array)
        || (array->node == target->node && array->result == target->result)) {
        return false;
    }
    DtOperand read = dt_np_node(array), into = dt_np_node(target);
    return dt_graph_memory(&read, &owner) == DT_MEMORY_UNKNOWN
           || dt_graph_memory(&into, &written) == DT_MEMORY_UNKNOWN || owner == written;
}

static bool
any_may_overlap(const DtArrayVar *target, const DtNpOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (dt_np_may_overlap(target, operands[i].array)) {
            return true;
        }
    }
    return false;
}

/* The call itself, into `target`. */
static DtStatus
call_into(DtTrace *trace, DtNpOp op, const DtNpOperand *operands, uint32_t nin,
          const DtNpUfuncOptions *options, DtArrayVar *target, DtArrayVar *where)
{
    DtOperand args[DT_NP_MAXARGS];
    const char *names[4] = {"out"};
    uint32_t nargs = 0, nkw = 1;
    for (uint32_t i = 0; i < nin; i++) {
        args[nargs++] = operands[i].operand;
    }
    args[nargs++] = dt_np_node(target);
    if (where != NULL) {
        names[nkw++] = "where";
        args[nargs++] = dt_np_node(where);
    }
    if (options->dtype != NULL) {
        names[nkw++] = "dtype";
        args[nargs++] = dt_np_const(options->dtype);
    }
    if (options->casting != NULL) {
        names[nkw++] = "casting";
        args[nargs++] = dt_np_const(options->casting);
    }
    PyObject *kwnames = dt_trace_keep_take(trace, PyTuple_New(nkw));
    if (kwnames == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < nkw; i++) {
        PyObject *name = PyUnicode_InternFromString(names[i]);
        if (name == NULL) {
            return DT_ERROR;
        }
        PyTuple_SET_ITEM(kwnames, i, name);
    }
    return dt_np_emit_write(trace, op, args, nargs, kwnames, nin);
}

DtStatus
dt_np_apply_into(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t nin,
                 const DtNpUfuncOptions *options, DtArrayVar *target, DtArrayVar *where)
{
    const char *what = dt_np_target(op);
    DtVar *made;
    PyObject *dtypes;
    DT_TRY(dt_np_need_writable(trace, target, what));
    DT_TRY(resolve(trace, op, operands, nin, options, &dtypes));
    for (uint32_t i = 0; i < nin; i++) {
        DT_TRY(dt_np_need_date(trace, &operands[i], PyTuple_GET_ITEM(dtypes, i)));
    }
    PyObject *dtype = PyTuple_GET_ITEM(dtypes, nin);
    /* Where items are left as they are, NumPy reads them too. */
    if (dt_np_drops_imaginary(dtype, target->meta->dtype)
        || (where != NULL && dt_np_drops_imaginary(target->meta->dtype, dtype))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that drops imaginary parts", what);
    }
    bool same_casts = options->casting == NULL; /* else NumPy checks as it is told */
    bool anywhere = writes_anywhere(op, dtypes);
    if (where == NULL && same_casts && anywhere) {
        DT_TRY(emit_ufunc(trace, op, operands, nin, options, dtypes, &made));
        return dt_np_put_result(trace, target, made, NPY_SAME_KIND_CASTING, what);
    }
    if (where == NULL && same_casts && (target->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))
        && target->meta->dtype == dtype && !dt_np_may_be_one_item(trace, target->meta)
        && !any_may_overlap(target, operands, nin)) {
        DtMeta *meta;
        DT_TRY(dt_np_elementwise_meta(trace, operands, nin, dtype, &meta));
        if (dt_np_same_axes_order(meta, target->meta)) {
            DT_TRY(emit_ufunc(trace, op, operands, nin, options, dtypes, &made));
            return dt_np_put_result(trace, target, made, NPY_SAME_KIND_CASTING, what);
        }
    }
    return call_into(trace, op, operands, nin, options, target, where);
}

DtStatus
dt_np_call_ufunc(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"", "", "", "out", "where", "dtype", "casting"};
    DtVar *slots[Py_ARRAY_LENGTH(names)];
    DtNpOperand operands[3];
    DtNpUfuncOptions options;
    DtArrayVar *target, *where;
    PyUFuncObject *ufunc = (PyUFuncObject *)dt_np_callee(op);
    uint32_t nin = (uint32_t)ufunc->nin;
    DT_TRY(dt_np_try_overrides(trace, op, args, out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (args->npos > nin + 1 || args->npos < nin || nin > 3) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with %u positional arguments",
                        dt_np_target(op), args->npos);
    }
    if (args->npos > nin && (op == DT_NP_maximum || op == DT_NP_minimum)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP,
                        "%s with a third positional argument, which warns", dt_np_target(op));
    }
    /* Inputs have no names; the slots in front of "out" are filled from the right. */
    DT_TRY(dt_np_bind(trace, dt_np_target(op), NULL, args, names + (3 - nin), 4 + nin, nin + 1, nin,
                      slots));
    DT_TRY(out_arg(trace, op, slots[nin], &target));
    DT_TRY(where_arg(trace, op, slots[nin + 1], &where));
    DT_TRY(dt_np_dtype_arg(trace, dt_np_target(op), slots[nin + 2], &options.dtype));
    DT_TRY(casting_arg(trace, op, slots[nin + 3], &options.casting));
    for (uint32_t i = 0; i < nin; i++) {
        DT_TRY(dt_np_array_like(trace, &slots[i]));
    }
    DT_TRY(dt_np_read_operands(trace, slots, nin, dt_np_target(op), operands));
    if (where != NULL && target == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP,
                        "%s with where= and without out=", dt_np_target(op));
    }
    if (target != NULL) {
        *out = &target->base;
        return dt_np_apply_into(trace, op, operands, nin, &options, target, where);
    }
    return apply(trace, op, operands, nin, &options, out);
}

/* ---- In place -------------------------------------------------------------------------------- */

/* Does anything in the graph share the array's memory? */
static bool
has_views(const DtArrayVar *array)
{
    const DtGraph *graph = array->node->graph;
    for (uint32_t i = array->node->index + 1; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        for (uint32_t j = 0; j < node->naliases; j++) {
            const DtOperand *viewed = &node->args[node->aliases[j].arg];
            if (viewed->kind == DT_OPERAND_NODE && viewed->u.node == array->node
                && viewed->result == array->result) {
                return true;
            }
        }
    }
    return false;
}

bool
dt_np_same_axes_order(const DtMeta *a, const DtMeta *b)
{
    if (a->ndim != b->ndim || a->stride_order == NULL || b->stride_order == NULL) {
        return a->ndim == b->ndim && a->ndim < 2;
    }
    return memcmp(a->stride_order, b->stride_order, a->ndim) == 0;
}

/* Not known from the order of axes alone: the strides of axes of one item.  They are C's where all
 * that the array was made of lies in C order; out of other memory comes an array that is contiguous
 * too, if it has one long axis, but not with these strides. */
static bool
strides_are_known(const DtArrayVar *array)
{
    const DtMeta *meta = array->meta;
    bool one = false;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        one = one || dt_np_size_is(meta->shape[i], 1);
    }
    bool c = meta->layout & DT_LAYOUT_C;
    for (uint32_t i = 0; one && c && i < array->node->nargs; i++) {
        const DtOperand *from = &array->node->args[i];
        c = from->kind != DT_OPERAND_NODE
            || (from->u.node->results[from->result].layout & DT_LAYOUT_C);
    }
    return !one || c;
}

/* May the tracker simply stand for a new value?  The array is the trace's own, and nobody looks at
 * its memory through a view. */
static bool
is_replaceable(const DtTrace *trace, const DtArrayVar *self)
{
    return (self->meta->layout & DT_LAYOUT_FRESH) && !(self->meta->layout & DT_LAYOUT_VIEW)
           && self->node->graph == trace->graph && self->meta->ndim > 0 && strides_are_known(self)
           && !has_views(self);
}

/* After self[...] = value: arithmetic may read the value instead.  Laid out alike, so that loops
 * are given the same strides. */
static void
remember_content(const DtTrace *trace, DtArrayVar *self, const DtArrayVar *value)
{
    const DtMeta *meta = value->meta;
    bool alike = dt_np_is_ndarray(value) && meta->dtype == self->meta->dtype
                 && meta->ndim == self->meta->ndim && (meta->layout & DT_LAYOUT_FRESH)
                 && (self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))
                 && dt_np_same_axes_order(self->meta, meta);
    for (uint32_t i = 0; i < meta->ndim && alike; i++) {
        alike = dt_sym_equal(self->meta->shape[i], meta->shape[i]);
    }
    self->content = alike ? value->node : NULL;
    self->content_result = value->result;
    self->content_until = trace->graph->nodes.count;
}

DtStatus
dt_np_put_result(DtTrace *trace, DtArrayVar *self, DtVar *made, NPY_CASTING casting,
                 const char *what)
{
    DtArrayVar *result = dt_np_any_array(made);
    const DtMeta *meta = result->meta;
    bool same = is_replaceable(trace, self) && meta->ndim == self->meta->ndim
                && dt_np_same_axes_order(self->meta, meta) && dt_np_is_ndarray(result);
    if (meta->ndim > self->meta->ndim) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s with a result of more axes", what);
    }
    if (meta->dtype != self->meta->dtype
        && !PyArray_CanCastTypeTo(dt_np_descr(meta->dtype), dt_np_descr(self->meta->dtype),
                                  casting)) {
        return dt_break(trace, DT_BREAK_RAISES, "%s can't keep the dtype of the array", what);
    }
    for (uint32_t i = 0; i < meta->ndim && same; i++) {
        if (dt_sym_is_const(meta->shape[i]) != dt_sym_is_const(self->meta->shape[i])) {
            same = false;
            break;
        }
        DT_TRY(dt_trace_unify(trace, self->meta->shape[i], meta->shape[i], &same));
    }
    if (!same) {
        DT_TRY(dt_np_need_writable(trace, self, what));
        DT_TRY(dt_np_write_all(trace, self, made, what));
        remember_content(trace, self, result);
        return DT_OK;
    }
    if (meta->dtype != self->meta->dtype) {
        DT_TRY(dt_np_cast(trace, result, self->meta->dtype, &made));
        result = dt_np_any_array(made);
    }
    self->node = result->node;
    self->result = result->result;
    self->meta = result->meta;
    return DT_OK;
}

/* Where a reduction writes decides the order in which it walks, so the array must be as the result
 * would be. */
DtStatus
dt_np_put_into(DtTrace *trace, DtVar *target, const char *what, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, target, &target));
    target = dt_var_peek(target);
    if (dt_np_is_none(target)) {
        return DT_OK;
    }
    DtArrayVar *self = dt_np_array_of(target), *result = dt_np_array_of(*out);
    if (self == NULL || result == NULL || !dt_np_is_ndarray(self)
        || self->meta->dtype != result->meta->dtype || self->meta->ndim != result->meta->ndim
        || !(self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))
        || !dt_np_same_axes_order(self->meta, result->meta)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such an out=", what);
    }
    bool same = true;
    for (uint32_t i = 0; i < self->meta->ndim && same; i++) { /* nothing is broadcast here */
        DT_TRY(dt_trace_unify(trace, self->meta->shape[i], result->meta->shape[i], &same));
    }
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s with an out= of another shape", what);
    }
    DT_TRY(dt_np_put_result(trace, self, *out, NPY_NO_CASTING, what));
    *out = target;
    return DT_OK;
}
