/* Branches of which one way leads to nothing but a `raise`.
 *
 *   if not np.isfinite(x).all():     the truth of a number that the graph computes
 *       raise ValueError("bad x")    ─► the way that goes on is followed, and a node checks it
 *
 * Where the check fails, the run is dropped and the call is made again plainly, which raises from
 * the user's frame; a function that does so too often runs plainly from then on, as after any
 * replay. Polyfills raise Unexpected where their original would look at the data and go another
 * way. So a way that raises must be one that ends the call: an exception that the program handles
 * is control flow like any other, and the branch is one (guess.c).
 */
#include "symbolic/frame.h"
#include "variables/kinds.h"

/* So many instructions make an exception. */
#define MOST_INSTRUCTIONS 64

/* Straight to a `raise`, with nothing around it that could handle it? */
static bool
leads_to_raise(const DtBytecode *bytecode, uint32_t at)
{
    for (int step = 0; step < MOST_INSTRUCTIONS && at < bytecode->count; step++) {
        const DtInstr *instr = &bytecode->instrs[at];
        if (instr->handler >= 0) {
            return false;
        }
        switch (instr->op) {
        case DT_OP_RAISE_VARARGS:
            return true;
        case DT_OP_JUMP:
            if ((uint32_t)instr->target <= at) {
                return false;
            }
            at = (uint32_t)instr->target;
            continue;
        case DT_OP_RETURN_VALUE:
        case DT_OP_YIELD_VALUE:
            return false;
        default:
            if (instr->target >= 0) {
                return false;
            }
            at++;
        }
    }
    return false;
}

/* Would a caller of the frame that is followed, too, handle an exception? */
static bool
is_handled_outside(const DtFrame *frame)
{
    for (const DtFrame *caller = frame->parent; caller != NULL; caller = caller->parent) {
        if (caller->bytecode->instrs[caller->pc].handler >= 0) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_frame_branch_truth(DtTrace *trace, const DtFrame *frame, uint32_t at, DtVar *var, bool *truth)
{
    const DtBytecode *bytecode = frame->bytecode;
    const DtInstr *jump = &bytecode->instrs[at];
    bool when_true = jump->op == DT_OP_POP_JUMP_IF_TRUE;
    bool done = false;
    DT_TRY(dt_var_receiver(trace, var, &var));
    const DtArrayVar *value =
        var->type->kind == DT_KIND_ARRAY ? (const DtArrayVar *)dt_var_peek(var) : NULL;
    if (value == NULL || value->adapter->expect == NULL
        || !(when_true || jump->op == DT_OP_POP_JUMP_IF_FALSE)) {
        return dt_var_truth(trace, var, truth);
    }
    bool jumping = leads_to_raise(bytecode, (uint32_t)jump->target);
    if (jumping == leads_to_raise(bytecode, at + 1)
        || (!frame->polyfill && is_handled_outside(frame))) {
        DT_TRY(dt_frame_guess(trace, frame, at, var, truth, &done));
    }
    else {
        *truth = jumping != when_true;
        DT_TRY(
            value->adapter->expect(trace, var, *truth ? DT_EXPECT_TRUE : DT_EXPECT_FALSE, &done));
    }
    return done ? DT_OK : dt_var_truth(trace, var, truth);
}
