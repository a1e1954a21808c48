/* Sizes and Python numbers as expressions: bounds, decisions, and the ranges that dtypes hold.
 *
 * Sizes follow the rule of DtMeta: 0 and 1 are constants, everything else is guarded to be
 * at least 2, so the broadcast pattern never changes under an entry.  A question
 * whose answer follows from the bounds of its symbols adds no guard.
 * Not in here: shapes of results (shapes.c).
 */
#include "adapters/numpy/internal.h"

/* ---- Expressions ----------------------------------------------------------------------------- */

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
        if (source == NULL) { /* of a selection: it may well be 0 or 1 */
            *low = 0;
            *high = MAX_SIZE;
        }
        else if (source->kind == DT_SOURCE_ARRAY_DIM) {
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

DtStatus
dt_np_offset(DtTrace *trace, const DtSym *a, int64_t offset, const DtSym **out)
{
    DT_TRY(dt_sym_offset(&trace->arena, a, offset, out));
    if (*out == NULL) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a size that can't be computed");
    }
    return DT_OK;
}

DtStatus
dt_np_difference(DtTrace *trace, const DtSym *a, const DtSym *b, const DtSym **out)
{
    const DtSym *abase, *bbase, *rest;
    int64_t aoffset, boffset;
    dt_sym_split_offset(a, &abase, &aoffset);
    dt_sym_split_offset(b, &bbase, &boffset);
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
dt_np_match_size(DtTrace *trace, const char *function, const DtSym *size, const DtSym **result)
{
    bool same;
    DT_TRY(dt_trace_unify(trace, *result, size, &same));
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_SHAPES, "%s of sizes %lld and %lld", function,
                        (long long)(*result)->hint.i, (long long)size->hint.i);
    }
    *result = dt_sym_is_const(size) ? size : *result;
    return DT_OK;
}

DtStatus
dt_np_settle_size(DtTrace *trace, const DtSym *sym, const DtSym **out)
{
    bool large;
    *out = sym;
    if (dt_sym_is_const(sym) || dt_trace_depends_on_data(trace, sym)) {
        return DT_OK; /* of the latter nothing is known */
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

/* ---- Weak numbers ---------------------------------------------------------------------------- */

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
    DT_TRY(dt_np_need_date(trace, operand, dtype));
    if (operand->dtype != (PyObject *)&PyLong_Type || PyTypeNum_ISBOOL(descr->type_num)) {
        return DT_OK;
    }
    int64_t low = -EXACT_IN_DOUBLE, high = EXACT_IN_DOUBLE;
    bool integer = PyTypeNum_ISINTEGER(descr->type_num), fits = true;
    if (integer) {
        integer_range(descr, &low, &high);
    }
    if (operand->sym == NULL && operand->constant == NULL) {
        return dt_number_fit(trace, low, high, &operand->operand);
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
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE,
                        "a Python int that %s does not hold exactly", descr->typeobj->tp_name);
    }
    return DT_OK;
}
