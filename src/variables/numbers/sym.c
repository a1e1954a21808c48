/* Symbolic numbers: building, folding, evaluating.
 *
 * Invariants: a node's hint is what the node evaluates to with the hints of its
 * symbols; integer nodes never leave int64; a constant node has no operands.
 * Folding keeps the value exactly, floats included (x + 0.0 is not x for -0.0,
 * so float identities are not folded).
 *
 * Not in here: printing (sym_print.c), where symbols get their values (graph) and guards on them
 * (trace.c).
 */
#include "variables/numbers/sym_math.h"

#include <math.h>
#include <string.h>

#include "compat/errors.h"
#include "compat/python.h"
#include "core/status.h"

/* ---- One operation on numbers ---------------------------------------------------------------- */

/* Quotient rounded down; false for a zero divisor or an overflow. */
static bool
floor_divide(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        return false;
    }
    int64_t quotient = a / b;
    if (a % b != 0 && ((a < 0) != (b < 0))) {
        quotient--;
    }
    *out = quotient;
    return true;
}

static bool
floor_modulo(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) {
        return false;
    }
    if (b == -1) {
        *out = 0;
        return true;
    }
    int64_t rest = a % b;
    if (rest != 0 && ((rest < 0) != (b < 0))) {
        rest += b;
    }
    *out = rest;
    return true;
}

/* Python's float %: the result has the divisor's sign. */
static double
float_modulo(double a, double b)
{
    double rest = fmod(a, b);
    if (rest != 0.0) {
        if ((b < 0) != (rest < 0)) {
            rest += b;
        }
    }
    else {
        rest = copysign(0.0, b);
    }
    return rest;
}

/* Python's float //. */
static double
float_floor_divide(double a, double b)
{
    double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0.0 && (b < 0) != (rest < 0)) {
        quotient -= 1.0;
    }
    if (quotient == 0.0) {
        return copysign(0.0, a / b);
    }
    double floored = floor(quotient);
    return quotient - floored > 0.5 ? floored + 1.0 : floored;
}

/* Whether an int converts to double without rounding; int/int and int-float comparisons need it. */
static bool
is_exact_double(int64_t value)
{
    return value >= -(INT64_C(1) << 53) && value <= (INT64_C(1) << 53);
}

static bool
apply_int(DtSymOp op, int64_t a, int64_t b, DtNumber *out)
{
    switch (op) {
    case DT_SYM_OP_ADD:
        return !__builtin_add_overflow(a, b, &out->i);
    case DT_SYM_OP_SUB:
        return !__builtin_sub_overflow(a, b, &out->i);
    case DT_SYM_OP_MUL:
        return !__builtin_mul_overflow(a, b, &out->i);
    case DT_SYM_OP_TRUEDIV:
        if (b == 0 || !is_exact_double(a) || !is_exact_double(b)) {
            return false;
        }
        out->d = (double)a / (double)b;
        return true;
    case DT_SYM_OP_FLOORDIV:
        return floor_divide(a, b, &out->i);
    case DT_SYM_OP_MOD:
        return floor_modulo(a, b, &out->i);
    case DT_SYM_OP_MIN:
        out->i = b < a ? b : a;
        return true;
    case DT_SYM_OP_MAX:
        out->i = b > a ? b : a;
        return true;
    case DT_SYM_OP_EQ:
        out->i = a == b;
        return true;
    case DT_SYM_OP_NE:
        out->i = a != b;
        return true;
    case DT_SYM_OP_LT:
        out->i = a < b;
        return true;
    case DT_SYM_OP_LE:
        out->i = a <= b;
        return true;
    case DT_SYM_OP_GT:
        out->i = a > b;
        return true;
    case DT_SYM_OP_GE:
        out->i = a >= b;
        return true;
    case DT_SYM_OP_AND:
        out->i = a && b;
        return true;
    case DT_SYM_OP_OR:
        out->i = a || b;
        return true;
    case DT_SYM_OP_NEG:
        return !__builtin_sub_overflow((int64_t)0, a, &out->i);
    case DT_SYM_OP_ABS:
        if (a == INT64_MIN) {
            return false;
        }
        out->i = a < 0 ? -a : a;
        return true;
    case DT_SYM_OP_NOT:
        out->i = !a;
        return true;
    case DT_SYM_OP_FLOAT:
        out->d = (double)a;
        return true;
    default:
        return false;
    }
}

static bool
apply_float(DtSymOp op, double a, double b, DtNumber *out)
{
    switch (op) {
    case DT_SYM_OP_ADD:
        out->d = a + b;
        return true;
    case DT_SYM_OP_SUB:
        out->d = a - b;
        return true;
    case DT_SYM_OP_MUL:
        out->d = a * b;
        return true;
    case DT_SYM_OP_TRUEDIV:
        if (b == 0.0) {
            return false;
        }
        out->d = a / b;
        return true;
    case DT_SYM_OP_FLOORDIV:
        if (b == 0.0) {
            return false;
        }
        out->d = float_floor_divide(a, b);
        return true;
    case DT_SYM_OP_MOD:
        if (b == 0.0) {
            return false;
        }
        out->d = float_modulo(a, b);
        return true;
    case DT_SYM_OP_MIN:
        out->d = b < a ? b : a;
        return true;
    case DT_SYM_OP_MAX:
        out->d = b > a ? b : a;
        return true;
    case DT_SYM_OP_EQ:
        out->i = a == b;
        return true;
    case DT_SYM_OP_NE:
        out->i = a != b;
        return true;
    case DT_SYM_OP_LT:
        out->i = a < b;
        return true;
    case DT_SYM_OP_LE:
        out->i = a <= b;
        return true;
    case DT_SYM_OP_GT:
        out->i = a > b;
        return true;
    case DT_SYM_OP_GE:
        out->i = a >= b;
        return true;
    case DT_SYM_OP_NEG:
        out->d = -a;
        return true;
    case DT_SYM_OP_ABS:
        out->d = fabs(a);
        return true;
    case DT_SYM_OP_NOT:
        out->i = a == 0.0;
        return true;
    case DT_SYM_OP_FLOAT:
        out->d = a;
        return true;
    default:
        return dt_sym_math_is(op) && dt_sym_math_apply(op, a, out);
    }
}

static bool
op_is_comparison(DtSymOp op)
{
    return op >= DT_SYM_OP_EQ && op <= DT_SYM_OP_GE;
}

/* Operand types of a node after conversion, and its own type. */
static bool
apply(DtSymOp op, bool is_float, DtNumber a, DtNumber b, DtNumber *out)
{
    return is_float ? apply_float(op, a.d, b.d, out) : apply_int(op, a.i, b.i, out);
}

/* ---- Constructors ---------------------------------------------------------------------------- */

static DtSym *
new_sym(DtArena *arena, DtSymOp op, DtSymType type, DtNumber hint)
{
    DtSym *sym = DT_ARENA_NEW(arena, DtSym);
    if (sym != NULL) {
        sym->op = (uint8_t)op;
        sym->type = (uint8_t)type;
        sym->size = 1;
        sym->hint = hint;
    }
    return sym;
}

const DtSym *
dt_sym_int(DtArena *arena, int64_t value)
{
    return new_sym(arena, DT_SYM_OP_CONST, DT_SYM_INT, (DtNumber){.i = value});
}

const DtSym *
dt_sym_float(DtArena *arena, double value)
{
    return new_sym(arena, DT_SYM_OP_CONST, DT_SYM_FLOAT, (DtNumber){.d = value});
}

const DtSym *
dt_sym_bool(DtArena *arena, bool value)
{
    return new_sym(arena, DT_SYM_OP_CONST, DT_SYM_BOOL, (DtNumber){.i = value});
}

const DtSym *
dt_sym_symbol(DtArena *arena, uint32_t id, DtSymType type, DtNumber hint)
{
    DtSym *sym = new_sym(arena, DT_SYM_OP_SYMBOL, type, hint);
    if (sym != NULL) {
        sym->id = id;
    }
    return sym;
}

bool
dt_sym_is_const(const DtSym *sym)
{
    return sym->op == DT_SYM_OP_CONST;
}

static bool
is_int_const(const DtSym *sym, int64_t value)
{
    return sym->op == DT_SYM_OP_CONST && sym->type == DT_SYM_INT && sym->hint.i == value;
}

bool
dt_sym_equal(const DtSym *a, const DtSym *b)
{
    if (a == b) {
        return true;
    }
    if (a == NULL || b == NULL || a->op != b->op || a->type != b->type) {
        return false;
    }
    if (a->op == DT_SYM_OP_CONST) {
        return memcmp(&a->hint, &b->hint, sizeof(DtNumber)) == 0;
    }
    if (a->op == DT_SYM_OP_SYMBOL) {
        return a->id == b->id;
    }
    return dt_sym_equal(a->a, b->a) && dt_sym_equal(a->b, b->b);
}

uint64_t
dt_sym_hash(const DtSym *sym)
{
    if (sym == NULL) {
        return 0;
    }
    uint64_t value = sym->op * 8u + sym->type;
    if (sym->op == DT_SYM_OP_CONST) {
        value ^= (uint64_t)sym->hint.i << 8; /* the bits of a float, too */
    }
    else if (sym->op == DT_SYM_OP_SYMBOL) {
        value ^= (uint64_t)sym->id << 8;
    }
    else {
        value ^= dt_sym_hash(sym->a) * 3 + dt_sym_hash(sym->b) * 5;
    }
    value *= 0x9E3779B97F4A7C15u;
    return value ^ (value >> 29);
}

static DtSymType
result_type(DtSymOp op, bool is_float)
{
    if (op_is_comparison(op) || op == DT_SYM_OP_AND || op == DT_SYM_OP_OR || op == DT_SYM_OP_NOT) {
        return DT_SYM_BOOL;
    }
    if (dt_sym_math_is(op)) {
        return dt_sym_math_gives_int(op) ? DT_SYM_INT : DT_SYM_FLOAT;
    }
    if (op == DT_SYM_OP_TRUEDIV || op == DT_SYM_OP_FLOAT || is_float) {
        return DT_SYM_FLOAT;
    }
    return DT_SYM_INT;
}

static DtStatus
to_float(DtArena *arena, const DtSym *sym, const DtSym **out)
{
    if (sym->type == DT_SYM_FLOAT) {
        *out = sym;
        return DT_OK;
    }
    double value = (double)sym->hint.i;
    if (dt_sym_is_const(sym)) {
        *out = dt_sym_float(arena, value);
    }
    else {
        DtSym *node = new_sym(arena, DT_SYM_OP_FLOAT, DT_SYM_FLOAT, (DtNumber){.d = value});
        if (node != NULL) {
            node->a = sym;
            node->size = (uint16_t)(sym->size + 1);
        }
        *out = node;
    }
    return *out != NULL ? DT_OK : dt_no_memory();
}

/* Identities of integers that need no node. */
static const DtSym *
fold_identity(DtArena *arena, DtSymOp op, const DtSym *a, const DtSym *b)
{
    bool ints = a->type == DT_SYM_INT && b->type == DT_SYM_INT;
    if (!ints) {
        return NULL;
    }
    bool same = dt_sym_equal(a, b);
    switch (op) {
    case DT_SYM_OP_ADD:
        return is_int_const(b, 0) ? a : is_int_const(a, 0) ? b : NULL;
    case DT_SYM_OP_SUB:
        return is_int_const(b, 0) ? a : same ? dt_sym_int(arena, 0) : NULL;
    case DT_SYM_OP_MUL:
        return is_int_const(b, 1) ? a : is_int_const(a, 1) ? b : NULL;
    case DT_SYM_OP_FLOORDIV:
        return is_int_const(b, 1) ? a : NULL;
    case DT_SYM_OP_MIN:
    case DT_SYM_OP_MAX:
        return same ? a : NULL;
    case DT_SYM_OP_EQ:
    case DT_SYM_OP_LE:
    case DT_SYM_OP_GE:
        return same ? dt_sym_bool(arena, true) : NULL;
    case DT_SYM_OP_NE:
    case DT_SYM_OP_LT:
    case DT_SYM_OP_GT:
        return same ? dt_sym_bool(arena, false) : NULL;
    default:
        return NULL;
    }
}

DtStatus
dt_sym_binary(DtArena *arena, DtSymOp op, const DtSym *a, const DtSym *b, const DtSym **out)
{
    *out = NULL;
    bool is_float = a->type == DT_SYM_FLOAT || b->type == DT_SYM_FLOAT;
    if (is_float && (op == DT_SYM_OP_AND || op == DT_SYM_OP_OR)) {
        return DT_OK;
    }
    /* min and max return one of their operands as it is: no conversion may show. */
    if ((op == DT_SYM_OP_MIN || op == DT_SYM_OP_MAX)
        && (a->type != b->type || a->type == DT_SYM_BOOL)) {
        return DT_OK;
    }
    if (is_float && a->type != b->type) {
        /* Beyond 2**53 the comparison and the conversion of ints are not those of doubles. */
        const DtSym *whole = a->type == DT_SYM_FLOAT ? b : a;
        if (!dt_sym_is_const(whole) && op_is_comparison(op)) {
            return DT_OK;
        }
        if (!is_exact_double(whole->hint.i) && op_is_comparison(op)) {
            return DT_OK;
        }
        DT_TRY(to_float(arena, a, &a));
        DT_TRY(to_float(arena, b, &b));
    }
    DtNumber hint = {0};
    if (!apply(op, is_float, a->hint, b->hint, &hint)) {
        return DT_OK;
    }
    DtSymType type = result_type(op, is_float);
    if (dt_sym_is_const(a) && dt_sym_is_const(b)) {
        *out = new_sym(arena, DT_SYM_OP_CONST, type, hint);
        return *out != NULL ? DT_OK : dt_no_memory();
    }
    const DtSym *folded = fold_identity(arena, op, a, b);
    if (folded != NULL) {
        *out = folded;
        return DT_OK;
    }
    /* A loop that computes makes an expression that no guard should evaluate, or a recursion walk.
     */
    if (a->size + b->size > DT_SYM_MAX_SIZE && !op_is_comparison(op)) {
        return DT_OK;
    }
    DtSym *node = new_sym(arena, op, type, hint);
    if (node == NULL) {
        return dt_no_memory();
    }
    node->size = (uint16_t)(a->size + b->size + 1);
    node->a = a;
    node->b = b;
    *out = node;
    return DT_OK;
}

DtStatus
dt_sym_unary(DtArena *arena, DtSymOp op, const DtSym *a, const DtSym **out)
{
    *out = NULL;
    bool is_float = a->type == DT_SYM_FLOAT;
    if (op == DT_SYM_OP_FLOAT) {
        return to_float(arena, a, out);
    }
    if (op == DT_SYM_OP_NOT && a->op == DT_SYM_OP_NOT && a->a->type == DT_SYM_BOOL) {
        *out = a->a;
        return DT_OK;
    }
    DtNumber hint = {0};
    if (!apply(op, is_float, a->hint, (DtNumber){.i = 0}, &hint)) {
        return DT_OK;
    }
    if (a->size > DT_SYM_MAX_SIZE && op != DT_SYM_OP_NOT) {
        return DT_OK;
    }
    DtSym *node =
        new_sym(arena, dt_sym_is_const(a) ? DT_SYM_OP_CONST : op, result_type(op, is_float), hint);
    if (node == NULL) {
        return dt_no_memory();
    }
    node->size = dt_sym_is_const(a) ? 1 : (uint16_t)(a->size + 1);
    node->a = dt_sym_is_const(a) ? NULL : a;
    *out = node;
    return DT_OK;
}

const DtSym *
dt_sym_copy(DtArena *arena, const DtSym *sym)
{
    DtSym *copy = DT_ARENA_NEW(arena, DtSym);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *sym;
    if (sym->a != NULL && (copy->a = dt_sym_copy(arena, sym->a)) == NULL) {
        return NULL;
    }
    if (sym->b != NULL && (copy->b = dt_sym_copy(arena, sym->b)) == NULL) {
        return NULL;
    }
    return copy;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

bool
dt_sym_eval(const DtSym *sym, const DtNumber *values, DtNumber *out)
{
    if (sym->op == DT_SYM_OP_CONST) {
        *out = sym->hint;
        return true;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        *out = values[sym->id];
        return true;
    }
    DtNumber a = {0}, b = {0};
    if (!dt_sym_eval(sym->a, values, &a)) {
        return false;
    }
    if (sym->b != NULL && !dt_sym_eval(sym->b, values, &b)) {
        return false;
    }
    return apply((DtSymOp)sym->op, sym->a->type == DT_SYM_FLOAT, a, b, out);
}

/* A flat program: the left operand is in the accumulator (what was there before is on a stack), the
 * right one is a symbol, a constant, or what the accumulator was before. */
typedef enum Form { PUSH_SYMBOL, PUSH_CONST, WITH_SYMBOL, WITH_CONST, WITH_STACK, ALONE } Form;

struct DtSymInstr {
    uint8_t op;
    uint8_t form;
    bool is_float;    /* of the operands */
    uint32_t operand; /* id of a symbol, index of a constant */
};

static bool
is_leaf(const DtSym *sym)
{
    return sym->op == DT_SYM_OP_CONST || sym->op == DT_SYM_OP_SYMBOL;
}

static void
measure(const DtSym *sym, uint32_t *count, uint32_t *nconsts, uint32_t *depth)
{
    uint32_t left = 0, right = 0;
    *nconsts += sym->op == DT_SYM_OP_CONST;
    *count += 1;
    if (sym->a != NULL) {
        measure(sym->a, count, nconsts, &left);
    }
    if (sym->b != NULL && is_leaf(sym->b)) {
        *nconsts += sym->b->op == DT_SYM_OP_CONST;
    }
    else if (sym->b != NULL) {
        measure(sym->b, count, nconsts, &right);
        right++;
    }
    *depth = left > right ? left : right;
    *depth = *depth == 0 ? 1 : *depth;
}

typedef struct Emitter {
    struct DtSymInstr *next;
    DtNumber *consts;
    uint32_t nconsts;
} Emitter;

static uint32_t
emit_operand(Emitter *emitter, const DtSym *leaf)
{
    if (leaf->op == DT_SYM_OP_SYMBOL) {
        return leaf->id;
    }
    emitter->consts[emitter->nconsts] = leaf->hint;
    return emitter->nconsts++;
}

static void
emit_code(Emitter *emitter, const DtSym *sym)
{
    struct DtSymInstr instr = {.op = sym->op, .form = ALONE};
    if (is_leaf(sym)) {
        instr.form = sym->op == DT_SYM_OP_SYMBOL ? PUSH_SYMBOL : PUSH_CONST;
        instr.operand = emit_operand(emitter, sym);
        *emitter->next++ = instr;
        return;
    }
    emit_code(emitter, sym->a);
    instr.is_float = sym->a->type == DT_SYM_FLOAT;
    if (sym->b != NULL && is_leaf(sym->b)) {
        instr.form = sym->b->op == DT_SYM_OP_SYMBOL ? WITH_SYMBOL : WITH_CONST;
        instr.operand = emit_operand(emitter, sym->b);
    }
    else if (sym->b != NULL) {
        emit_code(emitter, sym->b);
        instr.form = WITH_STACK;
    }
    *emitter->next++ = instr;
}

DtStatus
dt_sym_compile(DtArena *arena, const DtSym *sym, DtSymProgram *out)
{
    memset(out, 0, sizeof(*out));
    uint32_t depth = 0, count = 0, nconsts = 0;
    measure(sym, &count, &nconsts, &depth);
    if (depth > DT_SYM_MAX_DEPTH) {
        return DT_OK;
    }
    struct DtSymInstr *instrs = DT_ARENA_ARRAY(arena, struct DtSymInstr, count);
    DtNumber *consts = DT_ARENA_ARRAY(arena, DtNumber, nconsts);
    if (instrs == NULL || consts == NULL) {
        return dt_no_memory();
    }
    Emitter emitter = {instrs, consts, 0};
    emit_code(&emitter, sym);
    out->instrs = instrs;
    out->consts = consts;
    out->count = count;
    out->nconsts = nconsts;
    out->type = sym->type;
    return DT_OK;
}

size_t
dt_sym_program_size(const DtSymProgram *program)
{
    return program->count * sizeof(struct DtSymInstr) + program->nconsts * sizeof(DtNumber);
}

/* The operations that conditions on floats are mostly made of; the rest, and what can fail, goes to
 * apply(). */
static inline bool
apply_fast(const struct DtSymInstr *instr, DtNumber a, DtNumber b, DtNumber *out)
{
    if (instr->is_float) {
        switch ((DtSymOp)instr->op) {
        case DT_SYM_OP_ADD:
            out->d = a.d + b.d;
            return true;
        case DT_SYM_OP_SUB:
            out->d = a.d - b.d;
            return true;
        case DT_SYM_OP_MUL:
            out->d = a.d * b.d;
            return true;
        default:
            break;
        }
    }
    return apply((DtSymOp)instr->op, instr->is_float, a, b, out);
}

bool
dt_sym_run(const DtSymProgram *program, const DtNumber *values, DtNumber *out)
{
    DtNumber stack[DT_SYM_MAX_DEPTH + 1];
    DtNumber top = {0}, b;
    uint32_t depth = 0;
    const struct DtSymInstr *instr = program->instrs;
    for (const struct DtSymInstr *end = instr + program->count; instr < end; instr++) {
        switch ((Form)instr->form) {
        case PUSH_SYMBOL:
            stack[depth++] = top;
            top = values[instr->operand];
            continue;
        case PUSH_CONST:
            stack[depth++] = top;
            top = program->consts[instr->operand];
            continue;
        case WITH_SYMBOL:
            b = values[instr->operand];
            break;
        case WITH_CONST:
            b = program->consts[instr->operand];
            break;
        case WITH_STACK:
            b = top;
            top = stack[--depth];
            break;
        case ALONE:
            b.i = 0;
            break;
        }
        if (!apply_fast(instr, top, b, &top)) {
            return false;
        }
    }
    *out = top;
    return true;
}
