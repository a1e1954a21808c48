/* See loop_translate.h: operators, by the kinds of their operands.
 *
 *   int and int        ints of 64 bits; what needs more fails
 *   with a float       doubles
 *   with an item       what the library makes of it (NEP 50: a Python number adapts to the item)
 *
 * A Python bool is the int that it is; two items that are truths know bits alone.
 */
#include "scalar_loops/loop_translate.h"

typedef struct Row {
    uint16_t ints, reals, items; /* DtLoopOp, 0 (FAIL): none */
} Row;

static const Row rows[] = {
    [DT_BINARY_ADD] = {DT_LOOP_OP_I_ADD, DT_LOOP_OP_F_ADD, DT_LOOP_OP_N_ADD},
    [DT_BINARY_SUBTRACT] = {DT_LOOP_OP_I_SUB, DT_LOOP_OP_F_SUB, DT_LOOP_OP_N_SUB},
    [DT_BINARY_MULTIPLY] = {DT_LOOP_OP_I_MUL, DT_LOOP_OP_F_MUL, DT_LOOP_OP_N_MUL},
    [DT_BINARY_TRUE_DIVIDE] = {DT_LOOP_OP_I_DIVIDE, DT_LOOP_OP_F_DIVIDE, DT_LOOP_OP_N_DIVIDE},
    [DT_BINARY_FLOOR_DIVIDE] = {DT_LOOP_OP_I_FLOOR_DIVIDE, DT_LOOP_OP_F_FLOOR_DIVIDE,
                                DT_LOOP_OP_F_FLOOR_DIVIDE},
    [DT_BINARY_REMAINDER] = {DT_LOOP_OP_I_REMAINDER, DT_LOOP_OP_F_REMAINDER,
                             DT_LOOP_OP_F_REMAINDER},
    [DT_BINARY_POWER] = {DT_LOOP_OP_I_POWER, DT_LOOP_OP_F_POWER, DT_LOOP_OP_F_POWER},
    [DT_BINARY_AND] = {.ints = DT_LOOP_OP_I_AND},
    [DT_BINARY_OR] = {.ints = DT_LOOP_OP_I_OR},
    [DT_BINARY_XOR] = {.ints = DT_LOOP_OP_I_XOR},
    [DT_BINARY_LSHIFT] = {.ints = DT_LOOP_OP_I_LSHIFT},
    [DT_BINARY_RSHIFT] = {.ints = DT_LOOP_OP_I_RSHIFT},
};

static bool
is_bits(int plain)
{
    return plain == DT_BINARY_AND || plain == DT_BINARY_OR || plain == DT_BINARY_XOR;
}

static bool
are_numbers(const DtLoopValue *a, const DtLoopValue *b)
{
    return dt_loop_kind_is_number(a->kind) && dt_loop_kind_is_number(b->kind);
}

static int32_t
to_real(DtLoopTranslation *t, const DtLoopValue *value, DtLoopOp op)
{
    if (dt_loop_kind_is_real(value->kind)) {
        return value->reg;
    }
    int32_t reg = dt_loop_state_register(t);
    dt_loop_state_emit(t, op, reg, value->reg, 0);
    return reg;
}

int32_t
dt_loop_arithmetic_real(DtLoopTranslation *t, const DtLoopValue *value)
{
    return to_real(t, value, DT_LOOP_OP_I_TO_F);
}

void
dt_loop_arithmetic_binary(DtLoopTranslation *t, int plain)
{
    DtLoopValue b = dt_loop_state_pop(t), a = dt_loop_state_pop(t);
    if (t->ended || !are_numbers(&a, &b) || (size_t)plain >= Py_ARRAY_LENGTH(rows)) {
        dt_loop_state_fail(t);
        return;
    }
    const Row *row = &rows[plain];
    bool item = dt_loop_kind_is_item(a.kind) || dt_loop_kind_is_item(b.kind);
    bool truths = dt_loop_kind_is_truth(a.kind) && dt_loop_kind_is_truth(b.kind);
    bool real = dt_loop_kind_is_real(a.kind) || dt_loop_kind_is_real(b.kind);
    DtLoopOp op = (DtLoopOp)(!real ? row->ints : item ? row->items : row->reals);
    if (op == DT_LOOP_OP_FAIL || (item && truths && !is_bits(plain))) {
        dt_loop_state_fail(t);
        return;
    }
    DtLoopKind kind = real || op == DT_LOOP_OP_I_DIVIDE
                          ? (item ? DT_LOOP_ITEM_FLOAT : DT_LOOP_FLOAT)
                      : truths && is_bits(plain) ? (item ? DT_LOOP_ITEM_BOOL : DT_LOOP_BOOL)
                                                 : (item ? DT_LOOP_ITEM_INT : DT_LOOP_INT);
    int32_t left = real ? dt_loop_arithmetic_real(t, &a) : a.reg;
    int32_t right = real ? dt_loop_arithmetic_real(t, &b) : b.reg;
    dt_loop_state_push_op(t, kind, op, left, right);
}

/* ---- Comparisons and truth ------------------------------------------------------------------- */

void
dt_loop_arithmetic_compare(DtLoopTranslation *t, int how)
{
    static const struct {
        uint16_t ints, reals;
        bool swapped;
    } compared[] = {
        [Py_LT] = {DT_LOOP_OP_I_LT, DT_LOOP_OP_F_LT, false},
        [Py_LE] = {DT_LOOP_OP_I_LE, DT_LOOP_OP_F_LE, false},
        [Py_EQ] = {DT_LOOP_OP_I_EQ, DT_LOOP_OP_F_EQ, false},
        [Py_NE] = {DT_LOOP_OP_I_NE, DT_LOOP_OP_F_NE, false},
        [Py_GT] = {DT_LOOP_OP_I_LT, DT_LOOP_OP_F_LT, true},
        [Py_GE] = {DT_LOOP_OP_I_LE, DT_LOOP_OP_F_LE, true},
    };
    DtLoopValue b = dt_loop_state_pop(t), a = dt_loop_state_pop(t);
    bool letters = a.kind == DT_LOOP_CHAR && b.kind == DT_LOOP_CHAR;
    if (t->ended || !(letters || are_numbers(&a, &b)) || (size_t)how >= Py_ARRAY_LENGTH(compared)) {
        dt_loop_state_fail(t);
        return;
    }
    bool item = dt_loop_kind_is_item(a.kind) || dt_loop_kind_is_item(b.kind);
    bool real = dt_loop_kind_is_real(a.kind) || dt_loop_kind_is_real(b.kind);
    /* Python compares an int with a float by what they are, a library by what they become. */
    DtLoopOp convert = item ? DT_LOOP_OP_I_TO_F : DT_LOOP_OP_I_TO_F_EXACT;
    int32_t left = real ? to_real(t, &a, convert) : a.reg;
    int32_t right = real ? to_real(t, &b, convert) : b.reg;
    bool swapped = compared[how].swapped;
    dt_loop_state_push_op(t, item ? DT_LOOP_ITEM_BOOL : DT_LOOP_BOOL,
                          (DtLoopOp)(real ? compared[how].reals : compared[how].ints),
                          swapped ? right : left, swapped ? left : right);
}

int32_t
dt_loop_arithmetic_truth(DtLoopTranslation *t, const DtLoopValue *value)
{
    if (!dt_loop_kind_is_number(value->kind)) {
        return -1;
    }
    if (dt_loop_kind_is_truth(value->kind)) {
        return value->reg;
    }
    int32_t reg = dt_loop_state_register(t);
    bool real = dt_loop_kind_is_real(value->kind);
    dt_loop_state_emit(t, real ? DT_LOOP_OP_F_TRUE : DT_LOOP_OP_I_TRUE, reg, value->reg, 0);
    return reg;
}

/* ---- Operators of one operand ---------------------------------------------------------------- */

static void
negate(DtLoopTranslation *t, const DtLoopValue *value)
{
    if (value->kind == DT_LOOP_ITEM_BOOL) {
        dt_loop_state_fail(t);
        return;
    }
    bool real = dt_loop_kind_is_real(value->kind);
    DtLoopKind kind = value->kind == DT_LOOP_BOOL ? DT_LOOP_INT : (DtLoopKind)value->kind;
    dt_loop_state_push_op(t, kind, real ? DT_LOOP_OP_F_NEGATIVE : DT_LOOP_OP_I_NEGATIVE, value->reg,
                          0);
}

static void
invert(DtLoopTranslation *t, const DtLoopValue *value)
{
    bool truth = value->kind == DT_LOOP_ITEM_BOOL;
    if (!truth && value->kind != DT_LOOP_INT && value->kind != DT_LOOP_ITEM_INT) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push_op(t, (DtLoopKind)value->kind, truth ? DT_LOOP_OP_NOT : DT_LOOP_OP_I_INVERT,
                          value->reg, 0);
}

void
dt_loop_arithmetic_unary(DtLoopTranslation *t, DtOp op)
{
    DtLoopValue value = dt_loop_state_pop(t);
    if (t->ended || !dt_loop_kind_is_number(value.kind)) {
        dt_loop_state_fail(t);
        return;
    }
    switch (op) {
    case DT_OP_UNARY_NEGATIVE:
        negate(t, &value);
        break;
    case DT_OP_UNARY_INVERT:
        invert(t, &value);
        break;
    case DT_OP_UNARY_NOT:
        dt_loop_state_push_op(t, DT_LOOP_BOOL, DT_LOOP_OP_NOT, dt_loop_arithmetic_truth(t, &value),
                              0);
        break;
    case DT_OP_TO_BOOL:
        /* Only a jump looks at it, which may have been fused with what made it. */
        if (value.kind == DT_LOOP_ITEM_BOOL) {
            value.kind = DT_LOOP_BOOL;
            value.id = ++t->ids;
            dt_loop_state_push(t, value);
        }
        else if (value.kind == DT_LOOP_BOOL) {
            dt_loop_state_push(t, value);
        }
        else {
            int32_t truth = dt_loop_arithmetic_truth(t, &value);
            dt_loop_state_push(t, dt_loop_state_new(t, DT_LOOP_BOOL, truth));
        }
        break;
    default: /* `+x` of a Python number is that number */
        if (value.kind == DT_LOOP_INT || value.kind == DT_LOOP_FLOAT) {
            dt_loop_state_push(t, value);
        }
        else {
            dt_loop_state_fail(t);
        }
    }
}
