/* What a line knows of its numbers before it runs: those that follow from constants, and from
 * sizes, once shapes are known.
 */
#include "backend/native/fpflags.h"
#include "backend/native/line.h"

/* Cells that an operation computes with and nothing else; -1: it does something else, or may have
 * to be left to NumPy for what it finds. */
static int
count_operands(const DtLine *line, DtCellCode code)
{
    if (code == DT_CELLS_CONST) {
        return 0;
    }
    if (code == DT_CELLS_SYM_I || code == DT_CELLS_SYM_D || code == DT_CELLS_SYM_B) {
        return line->keeps_symbols ? 0 : -1;
    }
    if (code >= DT_CELLS_B_TO_I && code <= DT_CELLS_I_TO_F) {
        return 1;
    }
    return code >= DT_CELLS_ADD_D && code <= DT_CELLS_MOD_I ? 2 : -1;
}

/* The number comes from an earlier stage, which has put it there. */
static bool
is_there(const DtCellOp *op)
{
    return op->code == DT_CELLS_LOAD && op->a != 0 && op->u.node->kind == DT_NODE_CALL;
}

bool
dt_line_know_cells(const DtLine *line, DtLeg *leg, DtNativeRun *run, bool *known)
{
    DtCellOp first[DT_NATIVE_STACK_CELLS];
    DtCellStage stage = *leg->cells;
    unsigned flags = 0;
    stage.ops = first;
    stage.nops = leg->left.nops = 0;
    for (uint32_t i = 0; i < leg->cells->nops; i++) {
        const DtCellOp *op = &leg->cells->ops[i];
        int count = count_operands(line, (DtCellCode)op->code);
        known[op->out] = stage.nops < DT_NATIVE_STACK_CELLS && count >= 0
                         && (count < 1 || known[op->a]) && (count < 2 || known[op->b]);
        if (known[op->out]) {
            first[stage.nops++] = *op;
        }
        else if (!is_there(op)) {
            leg->left.ops[leg->left.nops++] = *op;
        }
    }
    dt_fpflags_clear();
    bool ok = dt_cells_go(&stage, run, &flags);
    flags |= dt_fpflags_read();
    dt_fpflags_clear();
    return ok && (flags & DT_FP_ALL) == 0;
}
