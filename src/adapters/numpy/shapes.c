/* Operands, symbolic sizes, broadcasting, and the metadata and nodes of results.
 *
 * Sizes follow the rule of DtMeta: 0 and 1 are constants, everything else is
 * guarded to be at least 2, so the broadcast pattern never changes under an entry.
 * The memory order of a new result is the one that NumPy's iterator chooses
 * ("K"); where it depends on strides that are not guarded it is unknown, never guessed.
 */
#include "adapters/numpy/internal.h"

#include <string.h>

/* ---- Operands ------------------------------------------------------------------------------------ */

DtArrayVar *
dt_np_array_of(DtVar *var)
{
    if (var == NULL) {
        return NULL;
    }
    var = dt_var_peek(var);
    if (var->type->kind != DT_KIND_ARRAY || ((DtArrayVar *)var)->adapter != &dt_np_adapter) {
        return NULL;
    }
    return (DtArrayVar *)var;
}

/* The weak category or dtype of an exact Python number; NULL for anything else. */
static PyObject *
number_dtype(PyObject *value)
{
    if (PyBool_Check(value)) {
        return dt_np_dtype(NPY_BOOL);
    }
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyLong_Type || type == &PyFloat_Type || type == &PyComplex_Type ? (PyObject *)type : NULL;
}

static PyObject *
sym_dtype(const DtSym *sym)
{
    switch ((DtSymType)sym->type) {
    case DT_SYM_INT:
        return (PyObject *)&PyLong_Type;
    case DT_SYM_FLOAT:
        return (PyObject *)&PyFloat_Type;
    default:
        return dt_np_dtype(NPY_BOOL);
    }
}

DtStatus
dt_np_operand(DtTrace *trace, DtVar *var, DtNpOperand *out, bool *ok)
{
    memset(out, 0, sizeof(*out));
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    *ok = true;
    out->array = dt_np_array_of(var);
    if (out->array != NULL) {
        out->operand = dt_np_node(out->array);
        out->dtype = out->array->meta->dtype;
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_SYMBOLIC) {
        out->sym = ((DtSymVar *)var)->sym;
        out->operand = (DtOperand){.kind = DT_OPERAND_SYM, .u.sym = out->sym};
        out->dtype = sym_dtype(out->sym);
        return out->dtype != NULL ? DT_OK : DT_ERROR;
    }
    if (var->type->kind == DT_KIND_CONSTANT) {
        out->constant = ((DtConstVar *)var)->value;
        out->dtype = number_dtype(out->constant);
        if (out->dtype != NULL) {
            out->operand = dt_np_const(out->constant);
            return DT_OK;
        }
        if (PyErr_Occurred()) {
            return DT_ERROR;
        }
    }
    *ok = false;
    return DT_OK;
}

DtStatus
dt_np_need_operand(DtTrace *trace, DtVar *var, const char *what, DtNpOperand *out)
{
    bool ok;
    DT_TRY(dt_np_operand(trace, var, out, &ok));
    if (!ok) {
        var = dt_var_peek(var);
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with a %s", what, var->type->name);
    }
    return DT_OK;
}

DtStatus
dt_np_int_operand(DtTrace *trace, int64_t value, DtOperand *out)
{
    PyObject *number = dt_trace_keep_take(trace, PyLong_FromLongLong(value));
    if (number == NULL) {
        return DT_ERROR;
    }
    *out = dt_np_const(number);
    return DT_OK;
}

DtStatus
dt_np_size_operand(DtTrace *trace, const DtSym *size, DtOperand *out)
{
    if (dt_sym_is_const(size)) {
        return dt_np_int_operand(trace, size->hint.i, out);
    }
    *out = (DtOperand){.kind = DT_OPERAND_SYM, .u.sym = size};
    return DT_OK;
}

DtStatus
dt_np_tuple_operand(DtTrace *trace, const DtOperand *items, uint32_t count, DtOperand *out)
{
    *out = (DtOperand){.kind = DT_OPERAND_TUPLE, .count = count};
    out->items = DT_ARENA_ARRAY(&trace->arena, DtOperand, count + 1);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    if (count > 0) {
        memcpy(out->items, items, sizeof(DtOperand) * count);
    }
    return DT_OK;
}

DtStatus
dt_np_shape_operand(DtTrace *trace, const DtSym *const *shape, uint32_t ndim, DtOperand *out)
{
    DT_TRY(dt_np_tuple_operand(trace, NULL, 0, out));
    out->items = DT_ARENA_ARRAY(&trace->arena, DtOperand, ndim + 1);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    out->count = ndim;
    for (uint32_t i = 0; i < ndim; i++) {
        DT_TRY(dt_np_size_operand(trace, shape[i], &out->items[i]));
    }
    return DT_OK;
}

/* ---- Expressions ---------------------------------------------------------------------------------- */

#define NO_LOW INT64_MIN
#define NO_HIGH INT64_MAX
#define MAX_SIZE ((int64_t)1 << 47) /* no array has more elements than addresses */

static int64_t
saturating_mul(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? NO_HIGH : result;
}

static int64_t
saturating_add(int64_t a, int64_t b)
{
    int64_t result;
    if (__builtin_add_overflow(a, b, &result)) {
        return a > 0 ? NO_HIGH : NO_LOW;
    }
    return result;
}

void
dt_np_bounds(const DtTrace *trace, const DtSym *sym, int64_t *low, int64_t *high)
{
    int64_t alow, ahigh, blow, bhigh;
    *low = NO_LOW;
    *high = NO_HIGH;
    if (sym->type != DT_SYM_INT) {
        return;
    }
    if (dt_sym_is_const(sym)) {
        *low = *high = sym->hint.i;
        return;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        const DtSource *source = trace->symbols.items[sym->id].source;
        if (source != NULL && source->kind == DT_SOURCE_ARRAY_DIM) {
            *low = 2;
            *high = MAX_SIZE;
        }
        return;
    }
    if (sym->a == NULL || sym->b == NULL) {
        return;
    }
    dt_np_bounds(trace, sym->a, &alow, &ahigh);
    dt_np_bounds(trace, sym->b, &blow, &bhigh);
    switch ((DtSymOp)sym->op) {
    case DT_SYM_OP_ADD:
        *low = alow == NO_LOW || blow == NO_LOW ? NO_LOW : saturating_add(alow, blow);
        *high = ahigh == NO_HIGH || bhigh == NO_HIGH ? NO_HIGH : saturating_add(ahigh, bhigh);
        break;
    case DT_SYM_OP_SUB:
        if (blow == bhigh && blow != NO_LOW && blow != NO_HIGH) {
            *low = alow == NO_LOW ? NO_LOW : saturating_add(alow, -blow);
            *high = ahigh == NO_HIGH ? NO_HIGH : saturating_add(ahigh, -blow);
        }
        break;
    case DT_SYM_OP_MUL:
        if (alow >= 0 && blow >= 0) {
            *low = saturating_mul(alow, blow);
            *high = ahigh == NO_HIGH || bhigh == NO_HIGH ? NO_HIGH : saturating_mul(ahigh, bhigh);
        }
        break;
    case DT_SYM_OP_FLOORDIV:
        if (alow >= 0 && blow == bhigh && blow > 0) {
            *low = alow / blow;
            *high = ahigh == NO_HIGH ? NO_HIGH : ahigh / blow;
        }
        break;
    default:
        break;
    }
}

DtStatus
dt_np_expr(DtTrace *trace, DtSymOp op, const DtSym *a, const DtSym *b, const DtSym **out)
{
    DT_TRY(dt_sym_binary(&trace->arena, op, a, b, out));
    if (*out == NULL) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a size that can't be computed");
    }
    return DT_OK;
}

const DtSym *
dt_np_size(DtTrace *trace, int64_t value)
{
    const DtSym *sym = dt_sym_int(&trace->arena, value);
    if (sym == NULL) {
        PyErr_NoMemory();
    }
    return sym;
}

DtStatus
dt_np_expr_int(DtTrace *trace, DtSymOp op, const DtSym *a, int64_t b, const DtSym **out)
{
    const DtSym *value = dt_np_size(trace, b);
    return value != NULL ? dt_np_expr(trace, op, a, value, out) : DT_ERROR;
}

/* sym = *base + *offset, with *base NULL for a constant. */
static void
split_offset(const DtSym *sym, const DtSym **base, int64_t *offset)
{
    *base = sym;
    *offset = 0;
    if (dt_sym_is_const(sym)) {
        *base = NULL;
        *offset = sym->hint.i;
        return;
    }
    bool sums = sym->op == DT_SYM_OP_ADD || sym->op == DT_SYM_OP_SUB;
    if (sums && dt_sym_is_const(sym->b) && sym->b->hint.i != INT64_MIN) {
        *base = sym->a;
        *offset = sym->op == DT_SYM_OP_ADD ? sym->b->hint.i : -sym->b->hint.i;
    }
}

DtStatus
dt_np_offset(DtTrace *trace, const DtSym *a, int64_t offset, const DtSym **out)
{
    const DtSym *base;
    int64_t known;
    split_offset(a, &base, &known);
    if (__builtin_add_overflow(known, offset, &offset) || offset == INT64_MIN) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a size that can't be computed");
    }
    if (base == NULL) {
        *out = dt_np_size(trace, offset);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    if (offset == 0) {
        *out = base;
        return DT_OK;
    }
    return offset > 0 ? dt_np_expr_int(trace, DT_SYM_OP_ADD, base, offset, out)
                      : dt_np_expr_int(trace, DT_SYM_OP_SUB, base, -offset, out);
}

DtStatus
dt_np_difference(DtTrace *trace, const DtSym *a, const DtSym *b, const DtSym **out)
{
    const DtSym *abase, *bbase, *rest;
    int64_t aoffset, boffset;
    split_offset(a, &abase, &aoffset);
    split_offset(b, &bbase, &boffset);
    if (boffset == INT64_MIN) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a size that can't be computed");
    }
    if (bbase == NULL) {
        return dt_np_offset(trace, a, -boffset, out);
    }
    if (abase != NULL && dt_sym_equal(abase, bbase)) {
        rest = dt_np_size(trace, aoffset);
        return rest != NULL ? dt_np_offset(trace, rest, -boffset, out) : DT_ERROR;
    }
    return dt_np_expr(trace, DT_SYM_OP_SUB, a, b, out);
}

/* -1 false, 1 true, 0 depends on the call. */
static int
settled(const DtTrace *trace, DtSymOp op, const DtSym *a, const DtSym *b)
{
    int64_t alow, ahigh, blow, bhigh;
    dt_np_bounds(trace, a, &alow, &ahigh);
    dt_np_bounds(trace, b, &blow, &bhigh);
    switch (op) {
    case DT_SYM_OP_GE:
        return alow >= bhigh ? 1 : ahigh < blow ? -1 : 0;
    case DT_SYM_OP_LE:
        return ahigh <= blow ? 1 : alow > bhigh ? -1 : 0;
    case DT_SYM_OP_GT:
        return alow > bhigh ? 1 : ahigh <= blow ? -1 : 0;
    case DT_SYM_OP_LT:
        return ahigh < blow ? 1 : alow >= bhigh ? -1 : 0;
    case DT_SYM_OP_EQ:
        return alow > bhigh || ahigh < blow ? -1 : 0;
    default:
        return 0;
    }
}

DtStatus
dt_np_decide(DtTrace *trace, DtSymOp op, const DtSym *a, const DtSym *b, bool *truth)
{
    int known = settled(trace, op, a, b);
    if (known != 0) {
        *truth = known > 0;
        return DT_OK;
    }
    const DtSym *condition;
    DT_TRY(dt_np_expr(trace, op, a, b, &condition));
    return dt_trace_decide(trace, condition, truth);
}

DtStatus
dt_np_decide_int(DtTrace *trace, DtSymOp op, const DtSym *a, int64_t b, bool *truth)
{
    const DtSym *value = dt_np_size(trace, b);
    return value != NULL ? dt_np_decide(trace, op, a, value, truth) : DT_ERROR;
}

DtStatus
dt_np_settle_size(DtTrace *trace, const DtSym *sym, const DtSym **out)
{
    bool large;
    *out = sym;
    if (dt_sym_is_const(sym)) {
        return DT_OK;
    }
    if (sym->hint.i < 2) {
        DT_TRY(dt_trace_specialize(trace, sym));
        *out = dt_np_size(trace, sym->hint.i);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    return dt_np_decide_int(trace, DT_SYM_OP_GE, sym, 2, &large);
}

DtStatus
dt_np_product(DtTrace *trace, const DtSym *const *sizes, uint32_t count, const DtSym **out)
{
    *out = dt_np_size(trace, 1);
    if (*out == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_np_expr(trace, DT_SYM_OP_MUL, *out, sizes[i], out));
    }
    return DT_OK;
}

DtStatus
dt_np_sym_of(DtTrace *trace, DtVar *var, const DtSym **out)
{
    *out = NULL;
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_var_peek(var);
    if (var->type->kind == DT_KIND_SYMBOLIC) {
        const DtSym *sym = ((DtSymVar *)var)->sym;
        *out = sym->type == DT_SYM_INT ? sym : NULL;
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_CONSTANT && PyLong_CheckExact(((DtConstVar *)var)->value)) {
        int overflow;
        int64_t value = PyLong_AsLongLongAndOverflow(((DtConstVar *)var)->value, &overflow);
        if (overflow) {
            return DT_OK;
        }
        *out = dt_np_size(trace, value);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    return DT_OK;
}

/* ---- Weak numbers ---------------------------------------------------------------------------------- */

/* The values that an integer dtype holds; uint64 is cut to int64, the range of symbols. */
static void
integer_range(const PyArray_Descr *descr, int64_t *low, int64_t *high)
{
    int bits = (int)PyDataType_ELSIZE(descr) * 8;
    if (PyTypeNum_ISUNSIGNED(descr->type_num)) {
        *low = 0;
        *high = bits == 64 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    }
    else {
        *high = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
        *low = -*high - 1;
    }
}

#define EXACT_IN_DOUBLE ((int64_t)1 << 53)

DtStatus
dt_np_fit_weak(DtTrace *trace, DtNpOperand *operand, PyObject *dtype)
{
    const PyArray_Descr *descr = dt_np_descr(dtype);
    if (operand->dtype != (PyObject *)&PyLong_Type || PyTypeNum_ISBOOL(descr->type_num)) {
        return DT_OK;
    }
    int64_t low = -EXACT_IN_DOUBLE, high = EXACT_IN_DOUBLE;
    bool integer = PyTypeNum_ISINTEGER(descr->type_num), fits = true;
    if (integer) {
        integer_range(descr, &low, &high);
    }
    if (operand->sym != NULL) {
        DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_GE, operand->sym, low, &fits));
        if (fits) {
            DT_TRY(dt_np_decide_int(trace, DT_SYM_OP_LE, operand->sym, high, &fits));
        }
    }
    else {
        int overflow;
        int64_t value = PyLong_AsLongLongAndOverflow(operand->constant, &overflow);
        fits = !overflow && value >= low && value <= high;
    }
    if (!fits) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a Python int that %s does not hold exactly",
                        descr->typeobj->tp_name);
    }
    return DT_OK;
}

/* ---- Metadata ---------------------------------------------------------------------------------------- */

DtMeta *
dt_np_meta(DtTrace *trace, PyObject *dtype, uint32_t ndim)
{
    DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
    const DtSym **shape = DT_ARENA_ARRAY(&trace->arena, const DtSym *, ndim + 1);
    if (meta == NULL || shape == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (dt_trace_keep(trace, dtype) != DT_OK) {
        return NULL;
    }
    meta->adapter = &dt_np_adapter;
    meta->type = &PyArray_Type;
    meta->dtype = dtype;
    meta->ndim = (uint8_t)ndim;
    meta->shape = shape;
    return meta;
}

void
dt_np_meta_unwrap(DtMeta *meta)
{
    if (meta->ndim == 0) {
        meta->type = dt_np_descr(meta->dtype)->typeobj;
    }
}

void
dt_np_contiguous_flags(DtMeta *meta)
{
    meta->layout &= ~(uint32_t)(DT_LAYOUT_C | DT_LAYOUT_F);
    bool c = true, f = true;
    int last = -1;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        int axis = meta->stride_order != NULL ? meta->stride_order[i] : (int)i;
        if (dt_np_size_is(meta->shape[i], 0)) {
            c = f = true;
            break;
        }
        if (dt_np_size_is(meta->shape[axis], 1)) {
            continue;
        }
        if (last >= 0) {
            c = c && axis > last && meta->stride_order != NULL;
            f = f && axis < last && meta->stride_order != NULL;
        }
        last = axis;
    }
    meta->layout |= (c ? DT_LAYOUT_C : 0u) | (f ? DT_LAYOUT_F : 0u);
}

DtStatus
dt_np_fresh(DtTrace *trace, DtMeta *meta, const int8_t *order)
{
    (void)trace;
    meta->layout = DT_LAYOUT_ALIGNED | DT_LAYOUT_FRESH
                   | (PyArray_ISNBO(dt_np_descr(meta->dtype)->byteorder) ? DT_LAYOUT_NATIVE : 0u);
    meta->stride_order = order;
    dt_np_contiguous_flags(meta);
    return DT_OK;
}

DtStatus
dt_np_fresh_c(DtTrace *trace, DtMeta *meta)
{
    int8_t *order = DT_ARENA_ARRAY(&trace->arena, int8_t, meta->ndim + 1);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (int8_t i = 0; i < meta->ndim; i++) {
        order[i] = i;
    }
    return dt_np_fresh(trace, meta, order);
}

/* ---- Broadcasting --------------------------------------------------------------------------------------- */

static DtStatus
broadcast_size(DtTrace *trace, const DtSym *size, uint32_t axis, const DtSym **result)
{
    bool same;
    if (dt_np_size_is(size, 1)) {
        return DT_OK;
    }
    if (dt_np_size_is(*result, 1)) {
        *result = size;
        return DT_OK;
    }
    DT_TRY(dt_trace_unify(trace, *result, size, &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "sizes %lld and %lld of axis %u do not broadcast",
                        (long long)(*result)->hint.i, (long long)size->hint.i, axis);
    }
    if (dt_sym_is_const(size)) {
        *result = size;
    }
    return DT_OK;
}

DtStatus
dt_np_broadcast(DtTrace *trace, const DtNpOperand *operands, uint32_t count, const DtSym **shape,
                uint32_t *ndim)
{
    *ndim = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].array != NULL && operands[i].array->meta->ndim > *ndim) {
            *ndim = operands[i].array->meta->ndim;
        }
    }
    for (uint32_t axis = 0; axis < *ndim; axis++) {
        shape[axis] = dt_np_size(trace, 1);
        if (shape[axis] == NULL) {
            return DT_ERROR;
        }
        for (uint32_t i = 0; i < count; i++) {
            const DtMeta *meta = operands[i].array != NULL ? operands[i].array->meta : NULL;
            if (meta == NULL || axis < *ndim - meta->ndim) {
                continue;
            }
            DT_TRY(broadcast_size(trace, meta->shape[axis - (*ndim - meta->ndim)], axis, &shape[axis]));
        }
    }
    return DT_OK;
}

/* Place of the result's axis in the operand's memory, 1 the slowest; 0 when it has no stride there. */
static int
place_in_memory(const DtMeta *meta, uint32_t ndim, uint32_t axis)
{
    uint32_t missing = ndim - meta->ndim;
    if (axis < missing || dt_np_size_is(meta->shape[axis - missing], 1)) {
        return 0;
    }
    if (meta->stride_order == NULL) {
        return 1; /* of one axis: never compared with another */
    }
    for (int i = 0; i < meta->ndim; i++) {
        if (meta->stride_order[i] == (int8_t)(axis - missing)) {
            return i + 1;
        }
    }
    return 0;
}

/* Is `axis` slower in memory than `than`, which stands behind it in the shape?  1 yes, -1 no, 0 no operand
 * tells.  Where operands disagree, the order of the shape wins. */
static int
is_slower(const DtNpOperand *operands, uint32_t count, uint32_t ndim, uint32_t axis, uint32_t than)
{
    int answer = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].array == NULL) {
            continue;
        }
        int mine = place_in_memory(operands[i].array->meta, ndim, axis);
        int other = place_in_memory(operands[i].array->meta, ndim, than);
        if (mine == 0 || other == 0) {
            continue;
        }
        if (mine < other) {
            return 1;
        }
        answer = -1;
    }
    return answer;
}

static bool
order_is_known(const DtNpOperand *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const DtMeta *meta = operands[i].array != NULL ? operands[i].array->meta : NULL;
        if (meta != NULL && meta->stride_order == NULL && meta->ndim > 1) {
            return false;
        }
    }
    return true;
}

DtStatus
dt_np_k_order(DtTrace *trace, const DtNpOperand *operands, uint32_t count, uint32_t ndim,
              const int8_t **order)
{
    *order = NULL;
    if (!order_is_known(operands, count) && ndim > 1) {
        return DT_OK;
    }
    int8_t *axes = DT_ARENA_ARRAY(&trace->arena, int8_t, ndim + 1);
    if (axes == NULL) {
        return dt_no_memory();
    }
    *order = axes;
    /* From the fastest axis (last in the shape) an insertion sort, as the iterator does it: an axis
     * moves down past every axis that is slower by an unambiguous comparison. */
    int8_t fastest_first[DT_NP_MAXDIMS];
    for (uint32_t i = 0; i < ndim; i++) {
        int8_t axis = (int8_t)(ndim - 1 - i);
        uint32_t place = i;
        for (uint32_t j = i; j-- > 0;) {
            int slower = is_slower(operands, count, ndim, (uint32_t)axis, (uint32_t)fastest_first[j]);
            if (slower > 0) {
                break;
            }
            if (slower < 0) {
                place = j;
            }
        }
        memmove(&fastest_first[place + 1], &fastest_first[place], i - place);
        fastest_first[place] = axis;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        axes[i] = fastest_first[ndim - 1 - i];
    }
    return DT_OK;
}

DtStatus
dt_np_elementwise_meta(DtTrace *trace, const DtNpOperand *operands, uint32_t count, PyObject *dtype,
                       DtMeta **out)
{
    const DtSym *shape[DT_NP_MAXDIMS];
    const int8_t *order;
    uint32_t ndim;
    DT_TRY(dt_np_broadcast(trace, operands, count, shape, &ndim));
    *out = dt_np_meta(trace, dtype, ndim);
    if (*out == NULL) {
        return DT_ERROR;
    }
    memcpy((*out)->shape, shape, sizeof(shape[0]) * ndim);
    DT_TRY(dt_np_k_order(trace, operands, count, ndim, &order));
    return dt_np_fresh(trace, *out, order);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------ */

DtStatus
dt_np_emit(DtTrace *trace, const DtCallSpec *spec, DtVar **out)
{
    DtNode *node;
    DtVar *results[DT_NP_MAXARGS];
    DT_TRY(dt_trace_use_adapter(trace, &dt_np_adapter));
    DT_TRY(dt_graph_call(trace, spec, &node));
    for (uint32_t i = 0; i < spec->nresults; i++) {
        DtMeta *meta = DT_ARENA_NEW(&trace->arena, DtMeta);
        if (meta == NULL) {
            return dt_no_memory();
        }
        *meta = spec->results[i];
        DT_TRY(dt_var_array(trace, node, i, meta, &results[i]));
    }
    if (spec->nresults == 1) {
        *out = results[0];
        return DT_OK;
    }
    return dt_var_tuple(trace, results, spec->nresults, out);
}

static DtStatus
emit_row(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs, const DtMeta *meta, bool view,
         DtVar **out)
{
    static const DtAlias of_first = {0, 0};
    DtCallSpec spec = {
        .target = dt_np_target(op),
        .callee = dt_np_callee(op),
        .args = args,
        .nargs = nargs,
        .results = meta,
        .nresults = 1,
        .aliases = view ? &of_first : NULL,
        .naliases = view,
    };
    if (spec.callee == NULL) {
        if (PyErr_Occurred()) {
            return DT_ERROR;
        }
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s is not in this NumPy", spec.target);
    }
    return dt_np_emit(trace, &spec, out);
}

DtStatus
dt_np_emit_one(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs, const DtMeta *meta,
               DtVar **out)
{
    return emit_row(trace, op, args, nargs, meta, false, out);
}

DtStatus
dt_np_emit_view(DtTrace *trace, DtNpOp op, const DtOperand *args, uint32_t nargs, const DtMeta *meta,
                DtVar **out)
{
    return emit_row(trace, op, args, nargs, meta, true, out);
}
