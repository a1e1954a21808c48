/* The last step of lowering: three lists of instructions become one array of 16 bytes each.
 *
 *   pure, user, folded (DtLowerInstr)  ──►  instrs (DtGuardInstr) + origins
 *
 * Operands go where the row of ops.def says; a number that does not fit there
 * turns the instruction into the next row, which has it in memory.
 *
 * Not in here: which instructions there are (lower_load.c, lower_facts.c, lower_runs.c).
 */
#include "guards/lower.h"

typedef enum Form { FORM_X, FORM_I, FORM_AUX, FORM_WIDE, FORM_PAIR } Form;

static const uint8_t forms[DT_GOP_COUNT] = {
#define GUARD_OP(NAME, FORM, USES, GIVES) FORM_##FORM,
#include "guards/ops.def"
#undef GUARD_OP
};

static DtStatus
move_far(DtLower *lower, const DtLowerInstr *from, DtGuardInstr *to)
{
    DtFar *far = DT_ARENA_NEW(&lower->program->arena, DtFar);
    if (far == NULL) {
        return dt_no_memory();
    }
    *far = (DtFar){from->x, from->y};
    to->op = from->op + 1U;
    to->x = far;
    return DT_OK;
}

static DtStatus
pack_one(DtLower *lower, const DtLowerInstr *from, DtGuardInstr *to)
{
    int64_t number = from->op == DT_GOP_SLOT && from->y % (int64_t)sizeof(void *) == 0
                         ? from->y / (int64_t)sizeof(void *)
                         : from->y;
    if (from->a >= DT_GUARD_MOST_REGISTERS || from->dst >= DT_GUARD_MOST_REGISTERS) {
        PyErr_SetString(PyExc_SystemError, "a guard program of more than 16777216 values");
        return DT_ERROR;
    }
    to->op = from->op;
    to->a = from->a;
    to->dst = from->dst;
    switch ((Form)forms[from->op]) {
    case FORM_X:
        to->x = from->x;
        break;
    case FORM_I:
        to->i = from->y;
        break;
    case FORM_AUX:
        if (number < 0 || number > UINT8_MAX) {
            return move_far(lower, from, to);
        }
        to->aux = (uint8_t)number;
        to->x = from->x;
        break;
    case FORM_WIDE:
        if (number < 0 || number > UINT32_MAX) {
            return move_far(lower, from, to);
        }
        to->wide = (uint32_t)number;
        to->x = from->x;
        break;
    case FORM_PAIR:
        to->pair.index = (uint32_t)from->y;
        to->pair.number = (uint32_t)(uintptr_t)from->x;
        break;
    }
    return DT_OK;
}

static DtStatus
pack_list(DtLower *lower, const DtInstrs *list, uint32_t at)
{
    DtGuardProgram *program = lower->program;
    for (uint32_t i = 0; i < list->count; i++) {
        DT_TRY(pack_one(lower, &list->items[i], &program->instrs[at + i]));
        program->origins[at + i] = list->items[i].origin;
    }
    return DT_OK;
}

DtStatus
dt_lower_pack(DtLower *lower)
{
    DtGuardProgram *program = lower->program;
    uint32_t pure = lower->pure.count, user = lower->user.count;
    uint32_t before = pure + 1 + (user != 0 ? user + 1 : 0);
    uint32_t count = before + lower->folded.count + 1;
    program->instrs = DT_ARENA_ARRAY(&program->arena, DtGuardInstr, count);
    program->origins = DT_ARENA_ARRAY(&program->arena, int32_t, count);
    if (program->instrs == NULL || program->origins == NULL) {
        return dt_no_memory();
    }
    /* The arena is zeroed and END is 0: a list ends where a gap is left. */
    program->npure = pure;
    program->user = user != 0 ? pure + 1 : 0;
    DT_TRY(pack_list(lower, &lower->pure, 0));
    DT_TRY(pack_list(lower, &lower->user, pure + 1));
    DT_TRY(pack_list(lower, &lower->folded, before));
    for (uint32_t i = 0; i < lower->made.count; i++) {
        lower->made.items[i]->checks += before;
    }
    return DT_OK;
}
