/* Symbolic numbers: building, folding, evaluating.
 *
 * Invariants: a node's hint is what the node evaluates to with the hints of its
 * symbols; integer nodes never leave int64; a constant node has no operands.
 * Folding keeps the value exactly, floats included (x + 0.0 is not x for -0.0,
 * so float identities are not folded).
 *
 * Not in here: what an operation computes (sym_apply.c), the programs that evaluate at every call
 * (sym_program.c), printing (sym_print.c), where symbols get their values (graph) and guards on
 * them (trace.c).
 */
#include "variables/numbers/sym_math.h"

#include <string.h>

#include "compat/errors.h"
#include "variables/numbers/sym_apply.h"

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
    if (dt_sym_compares(op) || op == DT_SYM_OP_AND || op == DT_SYM_OP_OR || op == DT_SYM_OP_NOT) {
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

/* (x + y) - y is x, and (x + y) - x is y: the lengths of adjoining slices.  NULL: neither. */
static const DtSym *
rest_of_sum(const DtSym *sum, const DtSym *part)
{
    if (sum->op != DT_SYM_OP_ADD || part->size >= sum->size) {
        return NULL;
    }
    if (sum->a->type == DT_SYM_INT && dt_sym_equal(sum->b, part)) {
        return sum->a;
    }
    return sum->b->type == DT_SYM_INT && dt_sym_equal(sum->a, part) ? sum->b : NULL;
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
        return is_int_const(b, 0) ? a : same ? dt_sym_int(arena, 0) : rest_of_sum(a, b);
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
        if (!dt_sym_is_const(whole) && dt_sym_compares(op)) {
            return DT_OK;
        }
        if (!dt_sym_is_exact(whole->hint.i) && dt_sym_compares(op)) {
            return DT_OK;
        }
        DT_TRY(to_float(arena, a, &a));
        DT_TRY(to_float(arena, b, &b));
    }
    DtNumber hint = {0};
    if (!dt_sym_apply(op, is_float, a->hint, b->hint, &hint)) {
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
    if (a->size + b->size > DT_SYM_MAX_SIZE && !dt_sym_compares(op)) {
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
    if (!dt_sym_apply(op, is_float, a->hint, (DtNumber){.i = 0}, &hint)) {
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
    return dt_sym_apply((DtSymOp)sym->op, sym->a->type == DT_SYM_FLOAT, a, b, out);
}
