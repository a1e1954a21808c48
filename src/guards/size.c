/* How much memory a guard program takes: what a check touches, and what is for people.
 *
 * Touched is what a warm check reads or writes of the program: its head, the
 * instructions and what they point at.  Names and the checks of groups are read only when
 * a container has changed, facts and sources only by explain.
 */
#include "guards/internal.h"

#define HEAD 64 /* the fields of the program that a check reads are within one cache line */

/* Has an earlier instruction the same adapter's data? */
static bool
is_shared(const DtGuardProgram *program, const DtGuardInstr *instr)
{
    for (const DtGuardInstr *other = program->instrs; other < instr; other++) {
        bool adapters = other->op == DT_GOP_LOCAL_ARRAY || other->op == DT_GOP_ADAPTER
                        || other->op == DT_GOP_STATE;
        if (adapters && other->x == instr->x) {
            return true;
        }
    }
    return false;
}

static size_t
touched_by(const DtGuardProgram *program, const DtGuardInstr *instr)
{
    switch ((DtGuardOp)instr->op) {
    case DT_GOP_GROUP_GLOBALS:
    case DT_GOP_GROUP_KNOWN:
    case DT_GOP_GROUP: {
        const DtGroup *group = instr->x;
        return sizeof(*group) + group->nneeded * (sizeof(*group->cached) + sizeof(*group->regs));
    }
    case DT_GOP_ATTRS: {
        const DtAttrRun *run = instr->x;
        return sizeof(*run) + run->count * sizeof(*run->attrs);
    }
    case DT_GOP_ATTR:
    case DT_GOP_ATTR_ANY:
    case DT_GOP_ABSENT:
        return sizeof(DtPlace);
    case DT_GOP_DIM_OBJECT:
        return sizeof(DtDimObject);
    case DT_GOP_KEYS:
        return sizeof(DtKeys);
    case DT_GOP_TYPE_VERSION:
    case DT_GOP_CLASS_VERSION:
        return sizeof(DtTypeState);
    case DT_GOP_SYM:
        return sizeof(DtSymCheck) + dt_sym_program_size(&((DtSymCheck *)instr->x)->program);
    case DT_GOP_LOCAL_ARRAY:
    case DT_GOP_ADAPTER:
    case DT_GOP_STATE:
        return is_shared(program, instr) ? 0 : program->facts[instr->origin].fact.spec_size;
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
        touched += sizeof(*instr) + touched_by(program, instr);
        lists -= instr->op == DT_GOP_END;
    }
    out->touched = touched;
    out->texts = dt_arena_used(&program->arena) - touched + HEAD;
}
