/* See order.h.
 *
 * Invariants: an instruction stays behind those that give what it uses, and behind the checks of
 * these values that stood before it.  Only the pure part is put into another order, and only
 * under the interpreter's lock, between two checks: nothing points at an instruction then.
 *
 * Who fails most is found by votes: a failure at the suspect is one for it, every other one is one
 * against.
 */
#include "guards/order.h"

#define VOTES 8 /* more failures at one instruction than elsewhere, until it moves */

typedef enum Uses { USES_NONE, USES_ONE, USES_TWO, USES_NUMBER, USES_MANY } Uses;
typedef enum Gives {
    GIVES_NOTHING,
    GIVES_VALUE,
    GIVES_NUMBER,
    GIVES_FLOAT,
    GIVES_GROUP,
    GIVES_RUN
} Gives;

static const struct {
    uint8_t uses, gives;
} rows[DT_GOP_COUNT] = {
#define GUARD_OP(NAME, FORM, USES, GIVES) {USES_##USES, GIVES_##GIVES},
#include "guards/ops.def"
#undef GUARD_OP
};

/* Of a register or number (numbers come behind the registers). */
enum { UNUSED, WANTED, GIVEN };

typedef struct Sorting {
    DtGuardProgram *program;
    uint8_t *things; /* by register and number */
    uint8_t *kept;   /* by instruction: goes to the front */
} Sorting;

static void
want(Sorting *sorting, uint32_t thing)
{
    if (sorting->things[thing] == UNUSED) {
        sorting->things[thing] = WANTED;
    }
}

static void
want_all_used(Sorting *sorting, const DtGuardInstr *instr)
{
    uint8_t uses = rows[instr->op].uses;
    if (uses == USES_ONE || uses == USES_TWO) {
        want(sorting, instr->a);
    }
    if (uses == USES_TWO) {
        want(sorting, instr->dst);
    }
    if (uses == USES_NUMBER) {
        want(sorting, sorting->program->nregs + instr->a);
    }
}

static bool
give(Sorting *sorting, uint32_t thing)
{
    if (sorting->things[thing] == UNUSED) {
        return false;
    }
    sorting->things[thing] = GIVEN;
    return true;
}

/* Whether the instruction gives something that is wanted. */
static bool
gives_wanted(Sorting *sorting, const DtGuardInstr *instr)
{
    uint32_t nregs = sorting->program->nregs, count = 0;
    const uint32_t *regs = NULL;
    bool found = false;
    switch ((Gives)rows[instr->op].gives) {
    case GIVES_NOTHING:
        break;
    case GIVES_VALUE:
        return give(sorting, instr->dst);
    case GIVES_NUMBER:
        return give(sorting, nregs + instr->dst);
    case GIVES_FLOAT:
        found = give(sorting, instr->dst);
        return give(sorting, nregs + instr->pair.number) || found;
    case GIVES_GROUP:
        regs = ((const DtGroup *)instr->x)->regs;
        count = ((const DtGroup *)instr->x)->nneeded;
        break;
    case GIVES_RUN:
        regs = ((const DtAttrRun *)instr->x)->regs;
        count = ((const DtAttrRun *)instr->x)->count - ((const DtAttrRun *)instr->x)->ncompared;
        break;
    }
    for (uint32_t i = 0; i < count; i++) {
        found = give(sorting, regs[i]) || found;
    }
    return found;
}

/* Whether it does nothing but check something that is wanted. */
static bool
checks_wanted(const Sorting *sorting, const DtGuardInstr *instr)
{
    uint8_t uses = rows[instr->op].uses;
    return rows[instr->op].gives == GIVES_NOTHING && (uses == USES_ONE || uses == USES_TWO)
           && (sorting->things[instr->a] != UNUSED
               || (uses == USES_TWO && sorting->things[instr->dst] != UNUSED));
}

/* Marks what goes to the front with instruction number `last`; false if it can't go there. */
static bool
mark(Sorting *sorting, uint32_t last)
{
    const DtGuardProgram *program = sorting->program;
    sorting->kept[last] = true;
    want_all_used(sorting, &program->instrs[last]);
    for (uint32_t i = last; i > 0; i--) {
        const DtGuardInstr *instr = &program->instrs[i - 1];
        if (gives_wanted(sorting, instr) || checks_wanted(sorting, instr)) {
            if (rows[instr->op].uses == USES_MANY) {
                return false;
            }
            sorting->kept[i - 1] = true;
            want_all_used(sorting, instr);
        }
    }
    for (uint32_t i = 0; i < program->nregs + program->nsymbols; i++) {
        if (sorting->things[i] == WANTED) {
            return false; /* a group gives it only when it is verified */
        }
    }
    return true;
}

/* Puts the marked ones of the first `count` before the others. */
static bool
move_marked(const Sorting *sorting, uint32_t count)
{
    DtGuardProgram *program = sorting->program;
    DtGuardInstr *instrs = PyMem_New(DtGuardInstr, count);
    int32_t *origins = PyMem_New(int32_t, count);
    bool moves = instrs != NULL && origins != NULL;
    uint32_t made = 0;
    for (int kept = 1; moves && kept >= 0; kept--) {
        for (uint32_t i = 0; i < count; i++) {
            if (sorting->kept[i] == kept) {
                instrs[made] = program->instrs[i];
                origins[made++] = program->origins[i];
            }
        }
        if (kept == 1) {
            program->front = made;
        }
    }
    for (uint32_t i = 0; moves && i < count; i++) {
        program->instrs[i] = instrs[i];
        program->origins[i] = origins[i];
    }
    PyMem_Free(instrs);
    PyMem_Free(origins);
    return moves;
}

static void
move_ahead(DtGuardProgram *program, uint32_t index)
{
    Sorting sorting = {.program = program};
    sorting.things = PyMem_Calloc(program->nregs + program->nsymbols + 1, 1);
    sorting.kept = PyMem_Calloc(index + 1, 1);
    if (sorting.things != NULL && sorting.kept != NULL
        && rows[program->instrs[index].op].uses != USES_MANY && mark(&sorting, index)) {
        (void)move_marked(&sorting, index + 1); /* without memory it stays as it is */
    }
    PyMem_Free(sorting.things);
    PyMem_Free(sorting.kept);
}

void
dt_order_note_failure(DtGuardProgram *program, const DtGuardInstr *failed)
{
    ptrdiff_t index = failed == NULL ? -1 : failed - program->instrs;
    if (index < (ptrdiff_t)program->front || index >= (ptrdiff_t)program->npure) {
        return;
    }
    if ((uint32_t)index == program->suspect) {
        if (++program->votes >= VOTES) {
            program->votes = 0;
            move_ahead(program, (uint32_t)index);
        }
    }
    else if (program->votes == 0) {
        program->suspect = (uint32_t)index;
        program->votes = 1;
    }
    else {
        program->votes--;
    }
}
