/* Elementwise operations: ufuncs by name, and the operators of arrays and NumPy scalars.
 *
 *   operator ─┬─ only NumPy scalars and Python numbers ──► operator.<name> node (scalar math)
 *             ├─ array ** number ──► the ufunc that NumPy's own power takes
 *             └─ else ──► numpy.<ufunc> node
 *
 * An in-place operator, or a ufunc with out=, becomes the plain operation and a write of its
 * result. On an array that the trace made and nobody else can see the write is saved: the tracker
 * then stands for the new value. Not in here: reductions.
 */
#include "adapters/numbers.h"
#include "adapters/numpy/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- Applying a ufunc ------------------------------------------------------------------------ */

typedef struct UfuncOptions {
    PyObject *dtype;   /* or NULL */
    PyObject *casting; /* str or NULL */
} UfuncOptions;

static DtStatus
emit_ufunc(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t nin,
           const UfuncOptions *options, PyObject *dtypes, DtVar **out)
{
    DtOperand args[DT_NP_MAXARGS];
    DtMeta results[4];
    PyObject *kwnames = NULL;
    uint32_t nargs = nin, nout = (uint32_t)(PyTuple_GET_SIZE(dtypes) - nin);
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
        .callee = dt_np_callee(op),
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
        const UfuncOptions *options, PyObject **dtypes)
{
    DT_TRY(dt_np_resolve(trace, op, operands, options != NULL ? options->dtype : NULL,
                         options != NULL ? options->casting : NULL, dtypes));
    for (uint32_t i = 0; i < count; i++) {
        if (dt_np_drops_imaginary(operands[i].dtype, PyTuple_GET_ITEM(*dtypes, i))) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s that drops imaginary parts",
                            dt_np_target(op));
        }
    }
    return DT_OK;
}

static DtStatus
apply(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t count, const UfuncOptions *options,
      DtVar **out)
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

static DtStatus put_result(DtTrace *trace, DtArrayVar *self, DtVar *made, NPY_CASTING casting,
                           const char *what);
static bool same_axes_order(const DtMeta *a, const DtMeta *b);

/* Ufuncs whose loops give the same bits wherever they write. */
static bool
writes_anywhere(DtNpOp op, PyObject *dtypes)
{
    static const DtNpOp exact[] = {
        DT_NP_add,          DT_NP_subtract,      DT_NP_multiply,    DT_NP_divide,
        DT_NP_floor_divide, DT_NP_remainder,     DT_NP_negative,    DT_NP_positive,
        DT_NP_absolute,     DT_NP_sign,          DT_NP_square,      DT_NP_sqrt,
        DT_NP_maximum,      DT_NP_minimum,       DT_NP_fmax,        DT_NP_fmin,
        DT_NP_rint,         DT_NP_floor,         DT_NP_ceil,        DT_NP_trunc,
        DT_NP_copysign,     DT_NP_isnan,         DT_NP_isfinite,    DT_NP_isinf,
        DT_NP_equal,        DT_NP_not_equal,     DT_NP_less,        DT_NP_less_equal,
        DT_NP_greater,      DT_NP_greater_equal, DT_NP_logical_and, DT_NP_logical_or,
        DT_NP_logical_not,  DT_NP_logical_xor,   DT_NP_bitwise_and, DT_NP_bitwise_or,
        DT_NP_bitwise_xor,  DT_NP_invert,        DT_NP_left_shift,  DT_NP_right_shift,
    };
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dtypes); i++) {
        if (PyTypeNum_ISCOMPLEX(dt_np_descr(PyTuple_GET_ITEM(dtypes, i))->type_num)) {
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

/* Where a loop reads the one item that it writes, NumPy takes both for overlapping memory, and
 * other code: complex products, powers and functions may then be rounded otherwise. */
static bool
may_be_one_item(const DtTrace *trace, const DtMeta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!dt_np_size_is(meta->shape[i], 1) && !dt_trace_depends_on_data(trace, meta->shape[i])) {
            return false;
        }
    }
    return true;
}

/* May the array lie in the target's memory, other than as the target itself?  Where a loop reads
 * what it writes elsewhere, NumPy runs other code, too.  Inputs are taken to lie apart: for those
 * that do not the executor refuses (write.c). */
static bool
may_overlap(const DtArrayVar *target, const DtArrayVar *array)
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
        if (may_overlap(target, operands[i].array)) {
            return true;
        }
    }
    return false;
}

/* The call itself, into `target`. */
static DtStatus
call_into(DtTrace *trace, DtNpOp op, const DtNpOperand *operands, uint32_t nin,
          const UfuncOptions *options, DtArrayVar *target, DtArrayVar *where)
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

static DtStatus
apply_into(DtTrace *trace, DtNpOp op, DtNpOperand *operands, uint32_t nin,
           const UfuncOptions *options, DtArrayVar *target, DtArrayVar *where)
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
        return put_result(trace, target, made, NPY_SAME_KIND_CASTING, what);
    }
    if (where == NULL && same_casts && (target->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))
        && target->meta->dtype == dtype && !may_be_one_item(trace, target->meta)
        && !any_may_overlap(target, operands, nin)) {
        DtMeta *meta;
        DT_TRY(dt_np_elementwise_meta(trace, operands, nin, dtype, &meta));
        if (same_axes_order(meta, target->meta)) {
            DT_TRY(emit_ufunc(trace, op, operands, nin, options, dtypes, &made));
            return put_result(trace, target, made, NPY_SAME_KIND_CASTING, what);
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
    UfuncOptions options;
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
        return apply_into(trace, op, operands, nin, &options, target, where);
    }
    return apply(trace, op, operands, nin, &options, out);
}

/* ---- Scalar math ----------------------------------------------------------------------------- */

static bool
any_ndarray(const DtNpOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].array != NULL && dt_np_is_ndarray(operands[i].array)) {
            return true;
        }
    }
    return false;
}

/* A complex number takes a float on its right for Python's, and a float64 is one: the result is
 * Python's complex, or bool.  (A float leaves its operator to the float64, a subclass of its own.)
 */
static char
pythons_own(DtNpOp op, const DtNpOperand *operands, uint32_t count)
{
    static const struct {
        DtNpOp op;
        char result;
    } rows[] = {{DT_NP_add, 'c'},      {DT_NP_subtract, 'c'}, {DT_NP_multiply, 'c'},
                {DT_NP_divide, 'c'},   {DT_NP_power, 'c'},    {DT_NP_equal, 'b'},
                {DT_NP_not_equal, 'b'}};
    if (count != 2 || operands[0].dtype != (PyObject *)&PyComplex_Type || operands[1].array == NULL
        || operands[1].array->meta->type != &PyDoubleArrType_Type) {
        return 0;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (rows[i].op == op) {
            return rows[i].result;
        }
    }
    return 0;
}

/* `op` is the ufunc that gives the dtype, `scalar_op` what runs. */
static DtStatus
scalar_math(DtTrace *trace, DtNpOp op, DtNpOp scalar_op, DtNpOperand *operands, uint32_t count,
            DtVar **out)
{
    PyObject *dtypes;
    DtOperand args[2];
    char number = pythons_own(op, operands, count);
    if (number != 0) {
        args[0] = operands[0].operand;
        args[1] = operands[1].operand;
        return dt_number_emit(trace, dt_np_target(scalar_op), dt_np_callee(scalar_op), args, 2,
                              number, out);
    }
    DT_TRY(dt_np_resolve(trace, op, operands, NULL, NULL, &dtypes));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_np_fit_weak(trace, &operands[i], PyTuple_GET_ITEM(dtypes, i)));
        args[i] = operands[i].operand;
    }
    DtMeta *meta = dt_np_meta(trace, PyTuple_GET_ITEM(dtypes, count), 0);
    if (meta == NULL) {
        return DT_ERROR;
    }
    dt_np_meta_unwrap(meta);
    DT_TRY(dt_np_fresh_c(trace, meta));
    return dt_np_emit_one(trace, scalar_op, args, count, meta, out);
}

/* ---- Power ----------------------------------------------------------------------------------- */

/* Until 2.2 the shortcuts of ** took any 0-d exponent and floats, now only exact ints and 0.5. */
static DtStatus
power_takes_all_exponents(DtTrace *trace, bool *out)
{
    static int known = -1;
    if (known < 0) {
        PyObject *version = dt_np_module_attr("__version__");
        int major, minor;
        if (version == NULL) {
            return DT_ERROR;
        }
        const char *text = PyUnicode_AsUTF8(version);
        if (text == NULL || sscanf(text, "%d.%d", &major, &minor) != 2) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "** under an unknown NumPy");
        }
        known = major == 2 && minor < 3;
    }
    *out = known;
    return DT_OK;
}

/* The ufunc that replaces power for a float or complex base, or power itself. */
static DtNpOp
fast_power(PyObject *exponent, bool all)
{
    static const struct {
        double value;
        DtNpOp op;
    } rows[] = {
        {1.0, DT_NP_positive}, {-1.0, DT_NP_reciprocal}, {0.5, DT_NP_sqrt}, {2.0, DT_NP_square}};
    bool is_int = PyLong_CheckExact(exponent);
    if (!is_int && !PyFloat_CheckExact(exponent)) {
        return DT_NP_power;
    }
    double value = is_int ? PyLong_AsDouble(exponent) : PyFloat_AS_DOUBLE(exponent);
    if (value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear(); /* an int beyond double: no shortcut */
        return DT_NP_power;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (value == rows[i].value && (all || is_int || value == 0.5)) {
            return rows[i].op;
        }
    }
    return DT_NP_power;
}

/* Breaks where the value of an array of exponents would choose the loop. */
static DtStatus
need_exponents(DtTrace *trace, const DtArrayVar *exponents, bool all)
{
    return all && exponents->meta->ndim == 0
               ? dt_break(trace, DT_BREAK_ARRAY_OP, "an array to the power of a NumPy scalar")
               : DT_OK;
}

static DtStatus
power(DtTrace *trace, DtNpOperand *operands, DtVar *right, DtVar **out)
{
    bool all;
    DT_TRY(power_takes_all_exponents(trace, &all));
    if (operands[1].array != NULL) {
        DT_TRY(need_exponents(trace, operands[1].array, all));
        return apply(trace, DT_NP_power, operands, 2, NULL, out);
    }
    /* Which loop runs depends on the exponent's value: it is never generalised. */
    PyObject *exponent = dt_var_as_constant(trace, right);
    if (exponent == NULL) {
        return PyErr_Occurred() ? DT_ERROR
                                : dt_break(trace, DT_BREAK_ARRAY_OP, "** with an unknown exponent");
    }
    operands[1].sym = NULL;
    operands[1].constant = exponent;
    operands[1].operand = dt_np_const(exponent);
    int num = dt_np_descr(operands[0].dtype)->type_num;
    DtNpOp op = fast_power(exponent, all);
    if (PyTypeNum_ISFLOAT(num) || PyTypeNum_ISCOMPLEX(num)) {
        return apply(trace, op, operands, op == DT_NP_power ? 2 : 1, NULL, out);
    }
    if (op != DT_NP_square) {
        return apply(trace, DT_NP_power, operands, 2, NULL, out);
    }
    if (PyFloat_CheckExact(exponent) && PyTypeNum_ISINTEGER(num)) {
        DtVar *cast;
        DT_TRY(dt_np_cast(trace, operands[0].array, dt_np_dtype(NPY_DOUBLE), &cast));
        return dt_np_apply_vars(trace, DT_NP_square, &cast, 1, out);
    }
    return apply(trace, DT_NP_square, operands, 1, NULL, out);
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

static bool
same_axes_order(const DtMeta *a, const DtMeta *b)
{
    if (a->ndim != b->ndim || a->stride_order == NULL || b->stride_order == NULL) {
        return a->ndim == b->ndim && a->ndim < 2;
    }
    return memcmp(a->stride_order, b->stride_order, a->ndim) == 0;
}

/* Not known from the order of axes alone: the strides of axes of one item, if it is not C's. */
static bool
strides_are_known(const DtMeta *meta)
{
    bool one = false;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        one = one || dt_np_size_is(meta->shape[i], 1);
    }
    return !one || (meta->layout & DT_LAYOUT_C);
}

/* May the tracker simply stand for a new value?  The array is the trace's own, and nobody looks at
 * its memory through a view. */
static bool
is_replaceable(const DtTrace *trace, const DtArrayVar *self)
{
    return (self->meta->layout & DT_LAYOUT_FRESH) && !(self->meta->layout & DT_LAYOUT_VIEW)
           && self->node->graph == trace->graph && self->meta->ndim > 0
           && strides_are_known(self->meta) && !has_views(self);
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
                 && same_axes_order(self->meta, meta);
    for (uint32_t i = 0; i < meta->ndim && alike; i++) {
        alike = dt_sym_equal(self->meta->shape[i], meta->shape[i]);
    }
    self->content = alike ? value->node : NULL;
    self->content_result = value->result;
    self->content_until = trace->graph->nodes.count;
}

/* The result of the plain operation takes the place of `self`, if writing into it would give the
 * same; else it is written. */
static DtStatus
put_result(DtTrace *trace, DtArrayVar *self, DtVar *made, NPY_CASTING casting, const char *what)
{
    DtArrayVar *result = dt_np_any_array(made);
    const DtMeta *meta = result->meta;
    bool same = is_replaceable(trace, self) && meta->ndim == self->meta->ndim
                && same_axes_order(self->meta, meta) && dt_np_is_ndarray(result);
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
        || !same_axes_order(self->meta, result->meta)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with such an out=", what);
    }
    bool same = true;
    for (uint32_t i = 0; i < self->meta->ndim && same; i++) { /* nothing is broadcast here */
        DT_TRY(dt_trace_unify(trace, self->meta->shape[i], result->meta->shape[i], &same));
    }
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s with an out= of another shape", what);
    }
    DT_TRY(put_result(trace, self, *out, NPY_NO_CASTING, what));
    *out = target;
    return DT_OK;
}

/* ---- Operators ------------------------------------------------------------------------------- */

static const struct {
    DtNpOp ufunc, scalar;
} binary_rows[] = {
    [DT_BINARY_ADD] = {DT_NP_add, DT_NP_op_add},
    [DT_BINARY_AND] = {DT_NP_bitwise_and, DT_NP_op_and},
    [DT_BINARY_FLOOR_DIVIDE] = {DT_NP_floor_divide, DT_NP_op_floordiv},
    [DT_BINARY_LSHIFT] = {DT_NP_left_shift, DT_NP_op_lshift},
    [DT_BINARY_MATRIX_MULTIPLY] = {DT_NP_matmul, DT_NP_matmul},
    [DT_BINARY_MULTIPLY] = {DT_NP_multiply, DT_NP_op_mul},
    [DT_BINARY_REMAINDER] = {DT_NP_remainder, DT_NP_op_mod},
    [DT_BINARY_OR] = {DT_NP_bitwise_or, DT_NP_op_or},
    [DT_BINARY_POWER] = {DT_NP_power, DT_NP_op_pow},
    [DT_BINARY_RSHIFT] = {DT_NP_right_shift, DT_NP_op_rshift},
    [DT_BINARY_SUBTRACT] = {DT_NP_subtract, DT_NP_op_sub},
    [DT_BINARY_TRUE_DIVIDE] = {DT_NP_divide, DT_NP_op_truediv},
    [DT_BINARY_XOR] = {DT_NP_bitwise_xor, DT_NP_op_xor},
};

#define REUSED_BYTES (256 * 1024)

/* Can the two be of one shape?  Broadcasting has unified sizes, so only a 1 differs. */
static bool
one_shape(const DtMeta *a, const DtMeta *b)
{
    if (a->ndim != b->ndim) {
        return false;
    }
    for (uint32_t i = 0; i < a->ndim; i++) {
        if (dt_np_size_is(a->shape[i], 1) != dt_np_size_is(b->shape[i], 1)) {
            return false;
        }
    }
    return true;
}

/* NumPy lets an operator write into a large temporary that nobody else holds, if the other operand
 * is a number or has the same shape.  The result then has the temporary's memory order, not the
 * iterator's choice, and its byte order.  With a number the memory order is the same.  Who holds
 * the temporary is not known here, so where they differ only small arrays are captured. */
static DtStatus
check_reuse(DtTrace *trace, const DtNpOperand *operands, uint32_t count, const DtMeta *result)
{
    const DtMeta *l = operands[0].array != NULL ? operands[0].array->meta : NULL;
    const DtMeta *r = count > 1 && operands[1].array != NULL ? operands[1].array->meta : NULL;
    bool arrays = l != NULL && r != NULL && l->ndim >= 2;
    if (l != NULL && r != NULL && !one_shape(l, r)) {
        return DT_OK;
    }
    for (int i = 0; i < 2; i++) {
        const DtMeta *meta = i == 0 ? l : r;
        if (meta == NULL
            || !(meta->layout & DT_LAYOUT_FRESH
                 || dt_source_is_stack(operands[i].array->base.source))
            || ((meta->layout & DT_LAYOUT_NATIVE) && (!arrays || same_axes_order(meta, result)))) {
            continue;
        }
        const DtSym *size;
        bool small;
        DT_TRY(dt_np_product(trace, meta->shape, meta->ndim, &size));
        int64_t items = REUSED_BYTES / PyDataType_ELSIZE(dt_np_descr(meta->dtype));
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LT, size, items, &small));
        if (!small) {
            return dt_break(trace, DT_BREAK_ARRAY_OP,
                            "an operator on a large temporary of another order");
        }
    }
    return DT_OK;
}

/* The operands of an operator, lists and tuples as the arrays that NumPy makes of them.  A product
 * of a sequence and a NumPy scalar repeats the sequence: it stays, and breaks. */
static DtStatus
read_pair(DtTrace *trace, bool product, DtVar *l, DtVar *r, const char *what, DtNpOperand *operands)
{
    DtVar *pair[] = {l, r};
    const DtArrayVar *left = dt_np_any_array(l), *right = dt_np_any_array(r);
    bool arrays =
        (left != NULL && dt_np_is_ndarray(left)) || (right != NULL && dt_np_is_ndarray(right));
    for (int i = 0; i < 2 && (arrays || !product); i++) {
        DT_TRY(dt_np_array_like(trace, &pair[i]));
    }
    return dt_np_read_operands(trace, pair, 2, what, operands);
}

static DtStatus
binary(DtTrace *trace, int plain, DtVar *l, DtVar *r, bool in_place, DtVar **out)
{
    const char *symbol = dt_canonical_binary_symbol(plain);
    DtNpOperand operands[2];
    if (plain == DT_BINARY_MATRIX_MULTIPLY) {
        return dt_np_matmul(trace, DT_NP_matmul, l, r, out);
    }
    DT_TRY(read_pair(trace, plain == DT_BINARY_MULTIPLY, l, r, symbol, operands));
    if (!any_ndarray(operands, 2)) {
        return scalar_math(trace, binary_rows[plain].ufunc, binary_rows[plain].scalar, operands, 2,
                           out);
    }
    if (plain == DT_BINARY_POWER && operands[0].array != NULL
        && dt_np_is_ndarray(operands[0].array)) {
        DT_TRY(power(trace, operands, r, out));
        return in_place ? DT_OK : check_reuse(trace, operands, 1, dt_np_any_array(*out)->meta);
    }
    DT_TRY(apply(trace, binary_rows[plain].ufunc, operands, 2, NULL, out));
    return in_place ? DT_OK : check_reuse(trace, operands, 2, dt_np_any_array(*out)->meta);
}

/* a @= b: NumPy's own call. */
static DtStatus
matmul_in_place(DtTrace *trace, DtArrayVar *self, DtVar *other, const char *symbol)
{
    DtNpOperand operand;
    DT_TRY(dt_np_need_operand(trace, other, symbol, &operand));
    DT_TRY(dt_np_need_writable(trace, self, symbol));
    DtOperand args[] = {dt_np_node(self), operand.operand};
    return dt_np_emit_write(trace, DT_NP_op_imatmul, args, 2, NULL, 0);
}

/* The loops of float powers and of complex numbers may round by the strides of what they are given,
 * and by whether it overlaps.  *direct: the ufunc is called into the array. */
static DtStatus
goes_directly(DtTrace *trace, int plain, const DtArrayVar *self, DtVar *other, bool *direct)
{
    int num = dt_np_descr(self->meta->dtype)->type_num;
    bool all, complex_kind = PyTypeNum_ISCOMPLEX(num);
    *direct = false;
    bool dense = (self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F)) != 0;
    if ((dense && !may_be_one_item(trace, self->meta) && !may_overlap(self, dt_np_array_of(other)))
        || !(complex_kind || (plain == DT_BINARY_POWER && PyTypeNum_ISFLOAT(num)))) {
        return DT_OK;
    }
    *direct = true;
    if (plain != DT_BINARY_POWER) {
        return DT_OK;
    }
    const DtArrayVar *exponents = dt_np_array_of(other);
    DT_TRY(power_takes_all_exponents(trace, &all));
    if (exponents != NULL) {
        return need_exponents(trace, exponents, all);
    }
    PyObject *exponent = dt_var_as_constant(trace, other);
    *direct = exponent != NULL && fast_power(exponent, all) == DT_NP_power;
    if (!*direct && complex_kind) {
        return PyErr_Occurred()
                   ? DT_ERROR
                   : dt_break(trace, DT_BREAK_ARRAY_MUTATION,
                              "**= on complex numbers in another memory order, or on one item");
    }
    return DT_OK;
}

/* An operator of an array and an instance (one of l and r): *out = NULL: it has no word. */
static DtStatus
ask_instance(DtTrace *trace, DtNpOp ufunc, DtVar *l, DtVar *r, bool in_place, DtVar **out)
{
    DtVar *instance = l->type->kind == DT_KIND_INSTANCE ? l : r, *method, *inputs[2] = {l, r};
    DtArrayVar *array = dt_np_array_of(instance == l ? r : l);
    bool defers;
    *out = NULL;
    if (instance->type->kind != DT_KIND_INSTANCE || array == NULL || !dt_np_is_ndarray(array)) {
        return DT_OK;
    }
    DT_TRY(dt_np_overrider(trace, instance, in_place, &defers, &method));
    if (defers && instance == r) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return method != NULL && !in_place ? dt_np_call_override(trace, ufunc, method, inputs, 2, out)
                                       : DT_OK;
}

DtStatus
dt_np_binary(const DtAdapter *adapter, DtTrace *trace, DtBinaryOp op, DtVar *l, DtVar *r,
             DtVar **out)
{
    int plain = DT_BINARY_PLAIN((int)op);
    DtArrayVar *self = dt_np_any_array(l);
    (void)adapter;
    DT_TRY(ask_instance(trace, binary_rows[plain].ufunc, l, r, DT_BINARY_IS_INPLACE((int)op), out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (!DT_BINARY_IS_INPLACE((int)op) || self == NULL || !dt_np_is_ndarray(self)) {
        return binary(trace, plain, l, r, false, out);
    }
    const char *symbol = dt_canonical_binary_symbol(op);
    if (self->adapter == &dt_np_called_adapter
        && !(self->meta->layout & (DT_LAYOUT_C | DT_LAYOUT_F))) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of dates with gaps", symbol);
    } /* whether NumPy before 2.3 warns of a division depends on what it is written to */
    *out = l;
    if (plain == DT_BINARY_MATRIX_MULTIPLY) {
        return matmul_in_place(trace, self, r, symbol);
    }
    DtVar *made;
    bool direct;
    DT_TRY(goes_directly(trace, plain, self, r, &direct));
    if (direct) {
        DtNpOperand operands[2];
        UfuncOptions options = {NULL, NULL};
        DT_TRY(dt_np_need_operand(trace, l, symbol, &operands[0]));
        DT_TRY(dt_np_need_operand(trace, r, symbol, &operands[1]));
        return apply_into(trace, binary_rows[plain].ufunc, operands, 2, &options, self, NULL);
    }
    DT_TRY(binary(trace, plain, l, r, true, &made));
    return put_result(trace, self, made, NPY_SAME_KIND_CASTING, symbol);
}

DtStatus
dt_np_compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r, DtVar **out)
{
    static const struct {
        DtNpOp ufunc, scalar;
    } rows[] = {
        [Py_LT] = {DT_NP_less, DT_NP_op_lt},    [Py_LE] = {DT_NP_less_equal, DT_NP_op_le},
        [Py_EQ] = {DT_NP_equal, DT_NP_op_eq},   [Py_NE] = {DT_NP_not_equal, DT_NP_op_ne},
        [Py_GT] = {DT_NP_greater, DT_NP_op_gt}, [Py_GE] = {DT_NP_greater_equal, DT_NP_op_ge},
    };
    DtNpOperand operands[2];
    (void)adapter;
    DT_TRY(ask_instance(trace, rows[op].ufunc, l, r, false, out));
    if (*out != NULL) {
        return DT_OK;
    }
    DT_TRY(read_pair(trace, false, l, r, "a comparison", operands));
    if (any_ndarray(operands, 2)) {
        return apply(trace, rows[op].ufunc, operands, 2, NULL, out);
    }
    return scalar_math(trace, rows[op].ufunc, rows[op].scalar, operands, 2, out);
}

DtStatus
dt_np_unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self, DtVar **out)
{
    static const struct {
        const char *name;
        DtNpOp ufunc, scalar;
    } rows[] = {
        {"-", DT_NP_negative, DT_NP_op_neg},        {"neg", DT_NP_negative, DT_NP_op_neg},
        {"negative", DT_NP_negative, DT_NP_op_neg}, {"+", DT_NP_positive, DT_NP_op_pos},
        {"pos", DT_NP_positive, DT_NP_op_pos},      {"positive", DT_NP_positive, DT_NP_op_pos},
        {"~", DT_NP_invert, DT_NP_op_invert},       {"invert", DT_NP_invert, DT_NP_op_invert},
        {"abs", DT_NP_absolute, DT_NP_op_abs},      {"absolute", DT_NP_absolute, DT_NP_op_abs},
    };
    DtNpOperand operand;
    (void)adapter;
    DT_TRY(dt_np_read_operands(trace, (DtVar *[]){&self->base}, 1, op, &operand));
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (strcmp(rows[i].name, op) == 0) {
            if (!dt_np_is_ndarray(self)) {
                return scalar_math(trace, rows[i].ufunc, rows[i].scalar, &operand, 1, out);
            }
            DT_TRY(apply(trace, rows[i].ufunc, &operand, 1, NULL, out));
            return check_reuse(trace, &operand, 1, dt_np_any_array(*out)->meta);
        }
    }
    return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of an array", op);
}

DtStatus
dt_np_truth(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, bool *out)
{
    (void)adapter;
    (void)out;
    return dt_break(trace, DT_BREAK_ARRAY_BRANCH, "the truth of %s %s",
                    dt_np_is_ndarray(self) ? "an array of" : "a",
                    dt_np_descr(self->meta->dtype)->typeobj->tp_name);
}
