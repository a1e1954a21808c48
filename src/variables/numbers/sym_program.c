/* Symbolic numbers as flat programs: what guards and sizes evaluate at every call.
 *
 * The left operand of an instruction is in the accumulator (what was there before is on a stack),
 * the right one is a symbol, a constant, or what the accumulator was before.
 *
 * Not in here: what an operation computes (sym_apply.c).
 */
#include <string.h>

#include "compat/errors.h"
#include "variables/numbers/sym_apply.h"

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
 * dt_sym_apply(). */
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
    return dt_sym_apply((DtSymOp)instr->op, instr->is_float, a, b, out);
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
