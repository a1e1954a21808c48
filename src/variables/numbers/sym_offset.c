/* Whole numbers that are another one and a constant: x + 3, x - 1, x.  They are written in one way.
 */
#include "compat/errors.h"
#include "variables/numbers/sym.h"

void
dt_sym_split_offset(const DtSym *sym, const DtSym **base, int64_t *offset)
{
    *base = sym;
    *offset = 0;
    if (dt_sym_is_const(sym)) {
        *base = NULL;
        *offset = sym->hint.i;
        return;
    }
    if (sym->op == DT_SYM_OP_ADD && dt_sym_is_const(sym->a) && sym->type == DT_SYM_INT) {
        *base = sym->b;
        *offset = sym->a->hint.i;
        return;
    }
    bool sums = sym->op == DT_SYM_OP_ADD || sym->op == DT_SYM_OP_SUB;
    if (sums && dt_sym_is_const(sym->b) && sym->type == DT_SYM_INT && sym->b->hint.i != INT64_MIN) {
        *base = sym->a;
        *offset = sym->op == DT_SYM_OP_ADD ? sym->b->hint.i : -sym->b->hint.i;
    }
}

DtStatus
dt_sym_offset(DtArena *arena, const DtSym *sym, int64_t offset, const DtSym **out)
{
    const DtSym *base, *shift;
    int64_t known;
    dt_sym_split_offset(sym, &base, &known);
    *out = NULL;
    if (__builtin_add_overflow(known, offset, &offset) || offset == INT64_MIN) {
        return DT_OK;
    }
    if (base == NULL || offset == 0) {
        *out = base == NULL ? dt_sym_int(arena, offset) : base;
        return *out != NULL ? DT_OK : dt_no_memory();
    }
    shift = dt_sym_int(arena, offset < 0 ? -offset : offset);
    if (shift == NULL) {
        return dt_no_memory();
    }
    return dt_sym_binary(arena, offset > 0 ? DT_SYM_OP_ADD : DT_SYM_OP_SUB, base, shift, out);
}
