/* Sizes that a trace found equal, and what stands for them.
 *
 *   s4 == s2       s2 stands for s4: the older symbol for the younger one
 *   s4 == s0 - 1   s0 - 1 stands for s4, and s0 - 2 for s4 - 1
 *
 * Shapes that are the same are written the same then, and what has one shape is computed together.
 * What stands for a symbol is made of symbols that nothing stood for yet, never of itself: so the
 * way from a symbol to what stands for it ends.
 */
#include <string.h>

#include "variables/trace.h"

/* Larger expressions don't stand for a symbol: they would be computed wherever it occurs. */
#define MAX_SIZE 7

uint32_t
dt_trace_symbol_root(const DtTrace *trace, uint32_t id)
{
    while (id < trace->symbols.count) {
        const DtSym *other = trace->symbols.items[id].stands_for;
        if (other == NULL || other->op != DT_SYM_OP_SYMBOL) {
            break;
        }
        id = other->id;
    }
    return id;
}

static bool
is_bound(const DtSym *sym, const bool *bound)
{
    if (sym == NULL || dt_sym_is_const(sym)) {
        return true;
    }
    return sym->op == DT_SYM_OP_SYMBOL ? bound[sym->id]
                                       : is_bound(sym->a, bound) && is_bound(sym->b, bound);
}

static DtStatus
canonical_symbol(const DtTrace *trace, DtArena *arena, const DtSym *sym, const bool *bound,
                 const DtSym **out, bool *whole)
{
    uint32_t root = dt_trace_symbol_root(trace, sym->id);
    const DtSym *other = root < trace->symbols.count ? trace->symbols.items[root].stands_for : NULL;
    if (other != NULL && bound != NULL) {
        const DtSym *made;
        DT_TRY(dt_trace_canonical(trace, arena, other, bound, &made, whole));
        if (is_bound(made, bound)) {
            *out = dt_sym_copy(arena, made);
            return *out != NULL ? DT_OK : dt_no_memory();
        }
    }
    *out = root == sym->id ? sym : dt_sym_symbol(arena, root, (DtSymType)sym->type, sym->hint);
    return *out != NULL ? DT_OK : dt_no_memory();
}

DtStatus
dt_trace_canonical(const DtTrace *trace, DtArena *arena, const DtSym *sym, const bool *bound,
                   const DtSym **out, bool *whole)
{
    *out = sym;
    if (sym->op == DT_SYM_OP_SYMBOL) {
        return canonical_symbol(trace, arena, sym, bound, out, whole);
    }
    const DtSym *a = NULL, *b = NULL, *made = NULL;
    if (sym->a != NULL) {
        DT_TRY(dt_trace_canonical(trace, arena, sym->a, bound, &a, whole));
    }
    if (sym->b != NULL) {
        DT_TRY(dt_trace_canonical(trace, arena, sym->b, bound, &b, whole));
    }
    if (a == sym->a && b == sym->b) {
        return DT_OK;
    }
    const DtSym *base;
    int64_t offset;
    dt_sym_split_offset(sym, &base, &offset);
    if (base == sym->a) {
        DT_TRY(dt_sym_offset(arena, a, offset, &made));
    }
    else {
        DT_TRY(b != NULL ? dt_sym_binary(arena, (DtSymOp)sym->op, a, b, &made)
                         : dt_sym_unary(arena, (DtSymOp)sym->op, a, &made));
    }
    *whole = *whole && made != NULL;
    *out = made != NULL ? made : sym;
    return DT_OK;
}

/* ---- What is found equal --------------------------------------------------------------------- */

/* x * 2 and y * 2 are equal where x and y are, x - 1 and y - 1 too: leaves what decides. */
static void
drop_alike(const DtSym **a, const DtSym **b)
{
    while ((*a)->op == (*b)->op && (*a)->type == DT_SYM_INT && (*b)->type == DT_SYM_INT
           && ((*a)->op == DT_SYM_OP_ADD || (*a)->op == DT_SYM_OP_SUB
               || ((*a)->op == DT_SYM_OP_MUL && (*a)->b->hint.i != 0))
           && dt_sym_is_const((*a)->b) && dt_sym_equal((*a)->b, (*b)->b)) {
        *a = (*a)->a;
        *b = (*b)->a;
    }
}

static bool
occurs(uint32_t id, const DtSym *sym)
{
    if (sym == NULL || dt_sym_is_const(sym)) {
        return false;
    }
    return sym->op == DT_SYM_OP_SYMBOL ? sym->id == id : occurs(id, sym->a) || occurs(id, sym->b);
}

/* symbol + offset == other: other - offset stands for the symbol from now on. */
static DtStatus
let_stand(DtTrace *trace, const DtSym *symbol, int64_t offset, const DtSym *other)
{
    if (other->size > MAX_SIZE || occurs(symbol->id, other)) {
        return DT_OK;
    }
    const DtSym *made;
    DT_TRY(dt_sym_offset(&trace->arena, other, -offset, &made));
    trace->symbols.items[symbol->id].stands_for = made;
    trace->some_symbols_equal = true;
    return DT_OK;
}

static bool
is_symbol(const DtSym *sym)
{
    return sym != NULL && sym->op == DT_SYM_OP_SYMBOL;
}

/* Both with what stands for their symbols. */
static DtStatus
let_equal_stand(DtTrace *trace, const DtSym *a, const DtSym *b)
{
    const DtSym *x, *y;
    int64_t c, d;
    drop_alike(&a, &b);
    dt_sym_split_offset(a, &x, &c);
    dt_sym_split_offset(b, &y, &d);
    if (is_symbol(x) && (!is_symbol(y) || x->id > y->id)) {
        return let_stand(trace, x, c, b);
    }
    return is_symbol(y) ? let_stand(trace, y, d, a) : DT_OK;
}

DtStatus
dt_trace_unify(DtTrace *trace, const DtSym *a, const DtSym *b, bool *same)
{
    *same = a->hint.i == b->hint.i;
    if (!*same || dt_sym_equal(a, b)) {
        return DT_OK;
    }
    bool *any = DT_ARENA_ARRAY(&trace->arena, bool, trace->symbols.count + 1);
    if (any == NULL) {
        return dt_no_memory();
    }
    memset(any, true, trace->symbols.count);
    const DtSym *one, *other, *equal;
    bool whole = true;
    DT_TRY(dt_trace_canonical(trace, &trace->arena, a, any, &one, &whole));
    DT_TRY(dt_trace_canonical(trace, &trace->arena, b, any, &other, &whole));
    if (dt_sym_equal(one, other)) {
        return DT_OK; /* it follows from what has been guarded */
    }
    drop_alike(&a, &b);
    DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_EQ, a, b, &equal));
    if (equal == NULL) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "two sizes can't be compared");
    }
    if (!dt_sym_is_const(equal)) {
        DT_TRY(dt_guard_sym(trace, equal));
    }
    return whole ? let_equal_stand(trace, one, other) : DT_OK;
}
