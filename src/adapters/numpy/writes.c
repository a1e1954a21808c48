/* Writing into arrays: assignment to items, results that go into an array, functions that change
 * their argument.
 *
 *   a[key] = v ─────────────► operator.setitem(a, key, v)      mutates a (masks: fills.c)
 *   a += b, ufunc(out=a) ───► t = ufunc(a, b); operator.setitem(a, ..., t)
 *   a.sort(), np.put(a) ────► the call itself                  mutates its operand
 *
 * Nodes that write stand in program order, on the arrays themselves: views stay views, and what is
 * read after a write sees it.  Which of them may be moved, and how a run that fails leaves no
 * trace, is the backend's (backend/written.h, native/plan.c).  Errors that depend on values or on
 * index arrays are NumPy's own: the run is dropped and the call made again plainly. What may give a
 * Python warning that is no floating-point error must break here.
 */
#include "adapters/numpy/index.h"

#include <stdio.h>
#include <string.h>

#include "variables/kinds.h"

/* ---- Targets --------------------------------------------------------------------------------- */

/* A broadcast view, a diagonal or windows on the way to the memory is read-only; *strided: there is
 * one whose items may lie on each other. */
static bool
through_broadcast(const DtArrayVar *array, bool *strided)
{
    const DtNode *node = array->node;
    *strided = false;
    while (node->kind == DT_NODE_CALL && node->naliases > 0) {
        if (node->callee == dt_np_callee(DT_NP_broadcast_to)
            || node->callee == dt_np_callee(DT_NP_broadcast_arrays)
            || node->callee == dt_np_callee(DT_NP_from_dlpack)
            || node->callee == dt_np_callee(DT_NP_sliding_window_view)
            || node->callee == dt_np_callee(DT_NP_diagonal)) {
            return true;
        }
        *strided = *strided || node->callee == dt_np_callee(DT_NP_as_strided);
        node = node->args[node->aliases[0].arg].u.node;
    }
    return false;
}

DtStatus
dt_np_need_writable(DtTrace *trace, const DtArrayVar *self, const char *what)
{
    const DtNode *owner;
    DtOperand operand = dt_np_node(self);
    if (!dt_np_is_ndarray(self)) {
        return dt_break(trace, DT_BREAK_RAISES, "%s into a NumPy scalar", what);
    }
    if (self->node->graph != trace->graph) {
        return dt_break(trace, DT_BREAK_ARRAY_MUTATION, "%s into an array from outside of the body",
                        what);
    }
    DtMemory memory = dt_graph_memory(&operand, &owner);
    if (memory == DT_MEMORY_UNKNOWN) {
        return dt_break(trace, DT_BREAK_ARRAY_MUTATION,
                        "%s into an array that may share its memory with any other", what);
    }
    bool strided, read_only = through_broadcast(self, &strided);
    if (strided) {
        return dt_break(trace, DT_BREAK_ARRAY_MUTATION,
                        "%s into a view whose items may lie on each other", what);
    }
    if (read_only
        || (memory == DT_MEMORY_INPUT && !(owner->results[0].layout & DT_LAYOUT_WRITEABLE))) {
        return dt_break(trace, DT_BREAK_RAISES, "%s into a read-only array", what);
    }
    return DT_OK;
}

static DtStatus
emit(DtTrace *trace, const char *function, PyObject *callee, const DtOperand *args, uint32_t nargs,
     PyObject *kwnames, uint32_t target)
{
    DtNode *node;
    DtCallSpec spec = {
        .target = function,
        .callee = callee,
        .args = args,
        .nargs = nargs,
        .kwnames = kwnames,
        .effect = DT_EFFECT_MUTATES,
        .mutated = &target,
        .nmutated = 1,
    };
    if (callee == NULL) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_OP, "%s is not in this NumPy", function);
    }
    DT_TRY(dt_trace_use_adapter(trace, &dt_np_adapter));
    return dt_graph_call(trace, &spec, &node);
}

DtStatus
dt_np_emit_write(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs,
                 PyObject *kwnames, uint32_t target)
{
    return emit(trace, dt_np_target(op), dt_np_called_ufunc(op), args, nargs, kwnames, target);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool
is_complex(PyObject *dtype)
{
    return dtype == (PyObject *)&PyComplex_Type
           || (PyArray_DescrCheck(dtype) && PyTypeNum_ISCOMPLEX(dt_np_descr(dtype)->type_num));
}

/* A value of the graph: an array of reals, or a real Python number. */
static bool
is_real_value(const DtMeta *meta)
{
    char number = dt_number_kind_of(meta);
    return number != 0 ? strchr("bif", number) != NULL
                       : meta->dtype != NULL && !is_complex(meta->dtype);
}

/* Does the operand hold nothing but real numbers and arrays of them? */
static bool
is_real(const DtOperand *operand)
{
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE:
        return is_real_value(&operand->u.node->results[operand->result]);
    case DT_OPERAND_CONST:
        return PyLong_Check(operand->u.object) || PyFloat_CheckExact(operand->u.object);
    case DT_OPERAND_SYM:
        return true;
    case DT_OPERAND_TUPLE:
    case DT_OPERAND_LIST:
        for (uint32_t i = 0; i < operand->count; i++) {
            if (!is_real(&operand->items[i])) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

/* The value of an assignment to an array of `dtype`.  *array is NULL for numbers and sequences. */
static DtStatus
value_operand(DtTrace *trace, PyObject *dtype, DtVar *value, DtOperand *out, DtArrayVar **array,
              bool *sequence)
{
    DtNpOperand operand;
    bool ok;
    bool numbers = dt_np_dtype_captured(dt_np_descr(dtype));
    DT_TRY(numbers ? dt_np_operand(trace, value, &operand, &ok)
                   : dt_np_any_operand(trace, value, &operand, &ok));
    *array = ok ? operand.array : NULL;
    *sequence = !ok;
    if (ok) {
        DT_TRY(dt_np_need_date(trace, &operand, dtype));
        *out = operand.operand;
        if (is_complex(operand.dtype) && !is_complex(dtype)) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "complex numbers put into a real array");
        }
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, value, &value));
    value = dt_var_peek(value);
    PyObject *constant = dt_var_peek_constant(value);
    int num = dt_np_descr(dtype)->type_num;
    if (constant != NULL
        && ((num == NPY_UNICODE && PyUnicode_CheckExact(constant))
            || (num == NPY_STRING && PyBytes_CheckExact(constant)))) {
        *out = dt_np_const(constant);
        *sequence = false;
        return DT_OK;
    }
    if (numbers && (value->type->kind == DT_KIND_TUPLE || value->type->kind == DT_KIND_LIST)) {
        DT_TRY(dt_graph_operand(trace, value, out, &ok));
        if (ok && is_real(out)) {
            return DT_OK;
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "a %s put into an array", value->type->name);
}

/* Breaks unless `from` can be broadcast to `shape`; more axes must be 1, if they may be at all. */
static DtStatus
check_fits(DtTrace *trace, const DtMeta *from, const DtSym *const *shape, uint32_t ndim,
           bool more_axes, const char *what)
{
    uint32_t extra = from->ndim > ndim ? from->ndim - ndim : 0;
    bool same = extra == 0 || more_axes;
    for (uint32_t i = 0; i < extra && same; i++) {
        same = dt_np_size_is(from->shape[i], 1);
    }
    for (uint32_t i = extra; i < from->ndim && same; i++) {
        const DtSym *size = shape[ndim - from->ndim + i];
        if (dt_np_size_is(from->shape[i], 1)) {
            continue;
        }
        DT_TRY(dt_trace_unify(trace, size, from->shape[i], &same));
    }
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s: the shapes do not fit", what);
    }
    return DT_OK;
}

/* ---- Assignment to items --------------------------------------------------------------------- */

/* A mask has the sizes of the first axes. */
static DtStatus
check_mask(DtTrace *trace, const DtArrayVar *self, const DtArrayVar *mask)
{
    bool same = mask->meta->ndim <= self->meta->ndim;
    for (uint32_t i = 0; i < mask->meta->ndim && same; i++) {
        DT_TRY(dt_trace_unify(trace, self->meta->shape[i], mask->meta->shape[i], &same));
    }
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "a mask of another shape than the array");
    }
    return DT_OK;
}

static bool
same_key(const DtOperand *a, const DtOperand *b)
{
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    switch ((DtOperandKind)a->kind) {
    case DT_OPERAND_CONST:
        return a->u.object == b->u.object;
    case DT_OPERAND_SYM:
        return dt_sym_equal(a->u.sym, b->u.sym);
    case DT_OPERAND_TUPLE:
    case DT_OPERAND_SLICE:
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!same_key(&a->items[i], &b->items[i])) {
            return false;
        }
    }
    return true;
}

/* Is the array's memory written before, or its own?  Then no run gets here with a read-only array.
 */
static bool
is_seen_to_be_writable(const DtArrayVar *self)
{
    DtOperand operand = dt_np_node(self);
    const DtNode *owner, *written;
    if (dt_graph_memory(&operand, &owner) == DT_MEMORY_OWN) {
        return true;
    }
    const DtGraph *graph = self->node->graph;
    for (uint32_t i = graph->nodes.count; i-- > owner->index;) {
        const DtNode *node = graph->nodes.items[i];
        for (uint32_t j = 0; dt_graph_is_write(node) && j < node->nmutated; j++) {
            (void)dt_graph_memory(&node->args[node->mutated[j]], &written);
            if (written == owner) {
                return true;
            }
        }
    }
    return false;
}

bool
dt_np_is_put_back(const DtArrayVar *self, const DtOperand *key, const DtArrayVar *value)
{
    if (value == NULL) {
        return false;
    }
    const DtNode *node = value->node;
    return node->kind == DT_NODE_CALL && node->naliases == 1 && node->nargs == 2
           && node->callee == dt_np_callee(DT_NP_op_getitem) && node->args[0].u.node == self->node
           && node->args[0].result == self->result && same_key(&node->args[1], key)
           && is_seen_to_be_writable(self);
}

DtStatus
dt_np_ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                    DtVar *value)
{
    static const char *const what = "an assignment to items";
    DtOperand args[3];
    DtArrayVar *array;
    DtNpRegion region;
    bool ok, sequence;
    (void)adapter;
    DT_TRY(dt_np_read_key(trace, key, &key));
    DT_TRY(dt_np_need_writable(trace, self, what));
    DT_TRY(dt_np_region(trace, self, key, &region));
    DT_TRY(value_operand(trace, self->meta->dtype, value, &args[2], &array, &sequence));
    if (!region.advanced && region.item && (sequence || (array != NULL && array->meta->ndim > 0))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an item of an array set to a sequence");
    }
    const DtArrayVar *mask = dt_np_array_of(key);
    if (mask != NULL && dt_np_descr(mask->meta->dtype)->type_num == NPY_BOOL) {
        DT_TRY(check_mask(trace, self, mask));
    }
    if (!region.advanced && array != NULL) {
        DT_TRY(check_fits(trace, array->meta, region.shape, region.ndim, true, what));
    }
    if (region.advanced) {
        DT_TRY(dt_np_fill_masked(trace, self, key, value, &ok));
        if (ok) {
            return DT_OK;
        }
    }
    args[0] = dt_np_node(self);
    DT_TRY(dt_graph_operand(trace, key, &args[1], &ok));
    if (!ok) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "an index that is no constant");
    }
    if (dt_np_is_put_back(self, &args[1], array)) {
        return DT_OK;
    }
    return dt_np_emit_write(trace, DT_NP_op_setitem, args, 3, NULL, 0);
}

DtStatus
dt_np_write_all(DtTrace *trace, DtArrayVar *self, DtVar *value, const char *what)
{
    DtOperand args[3] = {dt_np_node(self), dt_np_const(Py_Ellipsis)};
    DtNpOperand operand;
    DT_TRY(dt_np_read_operands(trace, &value, 1, what, &operand));
    if (dt_np_drops_imaginary(operand.dtype, self->meta->dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that drops imaginary parts", what);
    }
    if (operand.array != NULL) {
        DT_TRY(check_fits(trace, operand.array->meta, self->meta->shape, self->meta->ndim, false,
                          what));
    }
    args[2] = operand.operand;
    return dt_np_emit_write(trace, DT_NP_op_setitem, args, 3, NULL, 0);
}

/* ---- Functions and methods that write -------------------------------------------------------- */

/* The call as it is, its first operand written. */
static DtStatus
call_through(DtTrace *trace, const char *function, PyObject *callee, DtVar *self,
             const DtArgs *args, DtVar **out)
{
    DtOperand operands[DT_NP_MAXARGS];
    PyObject *kwnames;
    uint32_t count = 0, total = args->npos + args->nkw + (self != NULL);
    if (total > DT_NP_MAXARGS || (self == NULL && args->npos == 0)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such arguments", function);
    }
    DT_TRY(dt_args_kwnames(trace, args, &kwnames));
    bool real = true;
    for (uint32_t i = 0; i < total; i++) {
        uint32_t at = self != NULL ? i - 1 : i;
        DtVar *var = self != NULL && i == 0 ? self
                     : at < args->npos      ? args->pos[at]
                                            : args->kw[at - args->npos];
        bool ok;
        DT_TRY(dt_var_realize(trace, var, &var));
        var = dt_var_peek(var);
        DT_TRY(dt_graph_operand(trace, var, &operands[count], &ok));
        /* A known object of a class of the program may take the call, or refuse it. */
        if (!ok
            || (operands[count].kind == DT_OPERAND_CONST
                && PyType_HasFeature(Py_TYPE(operands[count].u.object), Py_TPFLAGS_HEAPTYPE))) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a %s", function, var->type->name);
        }
        const DtOperand *operand = &operands[count++];
        real = real && (i == 0 || operand->kind == DT_OPERAND_CONST || is_real(operand))
               && !(operand->kind == DT_OPERAND_CONST && PyComplex_Check(operand->u.object));
        if (i > 0) {
            continue;
        }
        DtArrayVar *array = dt_np_array_of(var);
        if (array == NULL) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of a %s", function, var->type->name);
        }
        DT_TRY(dt_np_need_writable(trace, array, function));
    }
    if (!real && !is_complex(operands[0].u.node->results[operands[0].result].dtype)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s: complex numbers put into a real array",
                        function);
    }
    DT_TRY(emit(trace, function, callee, operands, count, kwnames, 0));
    *out = trace->none;
    return DT_OK;
}

static DtStatus
through_method(DtTrace *trace, DtNpOp op, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return call_through(trace, dt_np_target(op), dt_np_callee(op), &self->base, args, out);
}

DtStatus
dt_np_call_at(DtTrace *trace, DtNpOp op, PyObject *callable, const DtArgs *args, DtVar **out)
{
    char function[80];
    DtVar *target = args->npos > 0 ? args->pos[0] : NULL;
    if (target != NULL) {
        DT_TRY(dt_var_realize(trace, target, &target));
    }
    const DtArrayVar *array = target != NULL ? dt_np_array_of(target) : NULL;
    if (array != NULL) {
        DT_TRY(dt_np_need_items(trace, array->meta));
    }
    for (uint32_t i = 0; array != NULL && i < array->meta->ndim; i++) {
        if (dt_trace_depends_on_data(trace, array->meta->shape[i])) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s.at of items that may be none",
                            dt_np_target(op));
        }
    }
    snprintf(function, sizeof(function), "%s.at", dt_np_target(op));
    return call_through(trace, function, callable, NULL, args, out);
}

DtStatus
dt_np_fn_mutator(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    return call_through(trace, dt_np_target(op), dt_np_callee(op), NULL, args, out);
}

/* With arrays of one dtype, or numbers into an array of float64, it is an assignment. */
DtStatus
dt_np_fn_copyto(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    if (args->npos == 2 && args->nkw == 0) {
        DtVar *target;
        DtNpOperand operand;
        bool ok;
        DT_TRY(dt_var_realize(trace, args->pos[0], &target));
        DtArrayVar *self = dt_np_array_of(target);
        DT_TRY(dt_np_operand(trace, args->pos[1], &operand, &ok));
        if (self != NULL && ok && operand.array != NULL && dt_np_is_ndarray(operand.array)
            && operand.dtype == self->meta->dtype
            && operand.array->meta->ndim <= self->meta->ndim) {
            DT_TRY(dt_np_need_writable(trace, self, dt_np_target(op)));
            DT_TRY(dt_np_write_all(trace, self, args->pos[1], dt_np_target(op)));
            *out = trace->none;
            return DT_OK;
        }
    }
    return call_through(trace, dt_np_target(op), dt_np_callee(op), NULL, args, out);
}

DtStatus
dt_np_m_fill(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    DtNpOperand operand;
    bool ok = false;
    if (args->npos == 1 && args->nkw == 0) {
        DT_TRY(dt_np_operand(trace, args->pos[0], &operand, &ok));
    }
    /* Of a number and a float64 array it is an assignment. */
    if (ok && operand.array == NULL && !is_complex(operand.dtype)
        && self->meta->dtype == dt_np_dtype(NPY_DOUBLE)) {
        DT_TRY(dt_np_need_writable(trace, self, "fill"));
        DT_TRY(dt_np_write_all(trace, self, args->pos[0], "fill"));
        *out = trace->none;
        return DT_OK;
    }
    return through_method(trace, DT_NP_nd_fill, self, args, out);
}

DtStatus
dt_np_m_sort(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return through_method(trace, DT_NP_nd_sort, self, args, out);
}

DtStatus
dt_np_m_partition(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return through_method(trace, DT_NP_nd_partition, self, args, out);
}

DtStatus
dt_np_m_put(DtTrace *trace, DtArrayVar *self, const DtArgs *args, DtVar **out)
{
    return through_method(trace, DT_NP_nd_put, self, args, out);
}

/* ---- What a backend needs to take a write back ----------------------------------------------- */

/* No two items at one address, told from the strides alone: false when in doubt. */
static bool
items_apart(PyArrayObject *array)
{
    bool done[NPY_MAXDIMS] = {false};
    int ndim = PyArray_NDIM(array);
    npy_intp reach = PyArray_ITEMSIZE(array);
    if (PyArray_FLAGS(array) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)) {
        return true;
    }
    for (int round = 0; round < ndim; round++) {
        int best = -1;
        npy_intp least = NPY_MAX_INTP;
        for (int i = 0; i < ndim; i++) {
            npy_intp stride = PyArray_STRIDE(array, i);
            stride = stride < 0 ? -stride : stride;
            if (!done[i] && stride < least) {
                least = stride;
                best = i;
            }
        }
        if (best < 0) {
            return false;
        }
        done[best] = true;
        if (PyArray_DIM(array, best) == 1) {
            continue;
        }
        if (least < reach) {
            return PyArray_SIZE(array) == 0;
        }
        reach = least * PyArray_DIM(array, best);
    }
    return true;
}

int
dt_np_can_write(const DtAdapter *adapter, PyObject *object)
{
    (void)adapter;
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_ISWRITEABLE(array) && !dt_np_warns_on_write(array) && items_apart(array);
}

PyObject *
dt_np_save(const DtAdapter *adapter, PyObject *array, PyObject *key)
{
    (void)adapter;
    PyObject *part = key != NULL ? PyObject_GetItem(array, key) : Py_NewRef(array);
    if (part == NULL || !PyArray_Check(part)) {
        return part; /* an item is a value of its own */
    }
    bool own = part != array && PyArray_BASE((PyArrayObject *)part) == NULL;
    if (own) {
        return part;
    }
    PyObject *copy = PyArray_NewCopy((PyArrayObject *)part, NPY_KEEPORDER);
    Py_DECREF(part);
    return copy;
}

int
dt_np_restore(const DtAdapter *adapter, PyObject *array, PyObject *key, PyObject *saved)
{
    (void)adapter;
    return key != NULL ? PyObject_SetItem(array, key, saved)
                       : PyArray_CopyInto((PyArrayObject *)array, (PyArrayObject *)saved);
}
