/* Symbolic numbers as text: "s0*2 + 1", with no more parentheses than needed. */
#include "variables/numbers/sym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strbuf.h"

static const char *const op_texts[] = {
#define SYM_OP(NAME, ARITY, TEXT) TEXT,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
};

enum { PRODUCT = 10, CALL = 12 };

/* How tightly an operation binds; operands that bind less get parentheses. */
static int
precedence(const DtSym *sym)
{
    switch ((DtSymOp)sym->op) {
    case DT_SYM_OP_OR:
        return 1;
    case DT_SYM_OP_AND:
        return 2;
    case DT_SYM_OP_NOT:
        return 3;
    case DT_SYM_OP_EQ:
    case DT_SYM_OP_NE:
    case DT_SYM_OP_LT:
    case DT_SYM_OP_LE:
    case DT_SYM_OP_GT:
    case DT_SYM_OP_GE:
        return 4;
    case DT_SYM_OP_BITOR:
        return 5;
    case DT_SYM_OP_BITXOR:
        return 6;
    case DT_SYM_OP_BITAND:
        return 7;
    case DT_SYM_OP_LSHIFT:
    case DT_SYM_OP_RSHIFT:
        return 8;
    case DT_SYM_OP_ADD:
    case DT_SYM_OP_SUB:
        return 9;
    case DT_SYM_OP_MUL:
    case DT_SYM_OP_TRUEDIV:
    case DT_SYM_OP_FLOORDIV:
    case DT_SYM_OP_MOD:
        return PRODUCT;
    case DT_SYM_OP_NEG:
        return PRODUCT + 1;
    default:
        return CALL;
    }
}

static void
print_number(const DtSym *sym, DtStrbuf *buf)
{
    if (sym->type == DT_SYM_BOOL) {
        dt_strbuf_add(buf, sym->hint.i ? "True" : "False");
    }
    else if (sym->type == DT_SYM_INT) {
        dt_strbuf_addf(buf, "%lld", (long long)sym->hint.i);
    }
    else {
        char text[40];
        for (int digits = 6; digits <= 17; digits++) {
            snprintf(text, sizeof(text), "%.*g", digits, sym->hint.d);
            if (strtod(text, NULL) == sym->hint.d) {
                break;
            }
        }
        dt_strbuf_add(buf, text);
        if (strpbrk(text, ".eni") == NULL) {
            dt_strbuf_add(buf, ".0");
        }
    }
}

static void
print_operand(const DtSym *sym, int least, DtStrbuf *buf)
{
    bool wrap = precedence(sym) < least;
    if (wrap) {
        dt_strbuf_add(buf, "(");
    }
    dt_sym_print(sym, buf);
    if (wrap) {
        dt_strbuf_add(buf, ")");
    }
}

void
dt_sym_print(const DtSym *sym, DtStrbuf *buf)
{
    const char *text = op_texts[sym->op];
    int level = precedence(sym);
    if (sym->op == DT_SYM_OP_CONST) {
        print_number(sym, buf);
    }
    else if (sym->op == DT_SYM_OP_SYMBOL) {
        dt_strbuf_addf(buf, "%c%u", sym->type == DT_SYM_FLOAT ? 'f' : 's', (unsigned)sym->id);
    }
    else if (level == CALL) {
        dt_strbuf_addf(buf, "%s(", text);
        dt_sym_print(sym->a, buf);
        if (sym->b != NULL) {
            dt_strbuf_add(buf, ", ");
            dt_sym_print(sym->b, buf);
        }
        dt_strbuf_add(buf, ")");
    }
    else if (sym->b == NULL) {
        dt_strbuf_add(buf, text);
        print_operand(sym->a, level, buf);
    }
    else {
        /* Products are printed tight, "s0*2 + 1". */
        print_operand(sym->a, level, buf);
        dt_strbuf_addf(buf, level == PRODUCT ? "%s" : " %s ", text);
        print_operand(sym->b, level + 1, buf);
    }
}
