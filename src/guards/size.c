/* How much memory a guard program takes: what a check touches, and what is for people.
 *
 * Touched is what a warm check reads or writes of the program: its head, the
 * instructions and what they point at.  Names and the checks of groups are read only when
 * a container has changed, facts and sources only by explain.
 */
#include "guards/internal.h"

#include <stddef.h>

/* The fields of a program that a check reads, and what `life` points at. */
#define HEAD (offsetof(DtGuardProgram, failed) + sizeof(((DtLife *)NULL)->dead))
/* Of a place that is known. */
#define PLACE (offsetof(DtAttrPlace, name))
/* Of the instruction at the end of a list only the operation is read. */
#define END_SIZE sizeof(uint32_t)

/* Does an earlier instruction point at the same? */
static bool
is_shared(const DtGuardProgram *program, const DtGuardInstr *instr)
{
    for (const DtGuardInstr *other = program->instrs; other < instr; other++) {
        if (other->x == instr->x && other->op != DT_GOP_INDEX_FLOAT) {
            return true;
        }
    }
    return false;
}

static size_t
spec_size(const void *spec)
{
    return sizeof(const DtAdapter *) + ((const DtSpecHead *)spec)[-1].size;
}

static size_t
touched_by(const DtGuardProgram *program, const DtGuardInstr *instr)
{
    switch ((DtGuardOp)instr->op) {
    case DT_GOP_GROUP_GLOBALS:
    case DT_GOP_GROUP_KNOWN:
    case DT_GOP_GROUP: {
        const DtGroup *group = instr->x;
        size_t head =
            instr->op == DT_GOP_GROUP_KNOWN ? offsetof(DtGroup, cached) : offsetof(DtGroup, dict);
        size_t each = sizeof(*group->cached) + sizeof(*group->regs);
        return head + (group->nneeded > 0 ? 2 * sizeof(void *) + group->nneeded * each : 0);
    }
    case DT_GOP_ATTRS: {
        const DtAttrRun *run = instr->x;
        size_t nloaded = run->count - run->ncompared;
        size_t each = sizeof(*run->regs) + (run->shared ? sizeof(*run->hints) : sizeof(void *));
        size_t compared = run->shared && !run->side_by_side ? sizeof(*run->hints) : 0;
        return offsetof(DtAttrRun, attrs) + run->count * sizeof(*run->expected) + nloaded * each
               + run->ncompared * compared;
    }
    case DT_GOP_ATTR:
        return PLACE;
    case DT_GOP_ATTR_ANY:
    case DT_GOP_ABSENT:
        return sizeof(DtAttrPlace);
    case DT_GOP_DIM_OBJECT:
        return sizeof(DtDimObject);
    case DT_GOP_KEYS:
        return sizeof(DtKeys);
    case DT_GOP_TYPE_VERSION:
    case DT_GOP_CLASS_VERSION:
        return is_shared(program, instr) ? 0 : offsetof(DtTypeState, nbases);
    case DT_GOP_SYM:
        return offsetof(DtSymCheck, sym) + dt_sym_program_size(&((DtSymCheck *)instr->x)->program);
    case DT_GOP_LOCAL_ARRAY:
    case DT_GOP_ADAPTER:
    case DT_GOP_STATE:
        return is_shared(program, instr) ? 0 : spec_size(instr->x);
    case DT_GOP_SLOT_FAR:
    case DT_GOP_LENGTH_FAR:
    case DT_GOP_SLOT_EMPTY_FAR:
        return sizeof(DtFar);
    case DT_GOP_SYM_DIM_FAR:
        return sizeof(DtFar) + sizeof(DtNumber);
    case DT_GOP_SYM_DIM:
    case DT_GOP_SYM_INT:
    case DT_GOP_SYM_FLOAT:
    case DT_GOP_SYM_BOOL:
    case DT_GOP_INDEX_FLOAT:
        return sizeof(DtNumber);
    default:
        return 0;
    }
}

void
dt_program_measure(const DtGuardProgram *program, DtProgramSize *out)
{
    size_t touched = HEAD;
    const DtGuardInstr *instr = program->instrs;
    for (uint32_t lists = program->user != 0 ? 2 : 1; lists > 0; instr++) {
        touched += instr->op == DT_GOP_END ? END_SIZE : sizeof(*instr) + touched_by(program, instr);
        lists -= instr->op == DT_GOP_END;
    }
    out->touched = touched;
    out->texts = dt_arena_used(&program->arena) - touched + HEAD;
}
