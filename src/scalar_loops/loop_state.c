/* See loop_translate.h: code, registers, and the values of a block. */
#include <string.h>

#include "scalar_loops/loop_translate.h"

/* ---- Code ------------------------------------------------------------------------------------ */

int32_t
dt_loop_state_register(DtLoopTranslation *t)
{
    return t->registers++;
}

void
dt_loop_state_emit_instr(DtLoopTranslation *t, DtLoopInstr instr)
{
    if (!t->ended && dt_vec_push(t->arena, &t->code, instr) < 0) {
        t->no_memory = true;
    }
}

void
dt_loop_state_emit(DtLoopTranslation *t, DtLoopOp op, int32_t d, int32_t a, int32_t b)
{
    dt_loop_state_emit_more(t, op, d, a, b, 0, 0);
}

void
dt_loop_state_emit_more(DtLoopTranslation *t, DtLoopOp op, int32_t d, int32_t a, int32_t b,
                        int32_t c, int32_t e)
{
    dt_loop_state_emit_instr(t, (DtLoopInstr){.op = (uint16_t)op,
                                              .d = (uint16_t)d,
                                              .a = (uint16_t)a,
                                              .b = (uint16_t)b,
                                              .u.more = {(uint16_t)c, (uint16_t)e}});
}

void
dt_loop_state_emit_jump(DtLoopTranslation *t, DtLoopOp op, int32_t d, int32_t a, int32_t b,
                        uint32_t to)
{
    dt_loop_state_emit_instr(
        t,
        (DtLoopInstr){
            .op = (uint16_t)op, .d = (uint16_t)d, .a = (uint16_t)a, .b = (uint16_t)b, .u.to = to});
}

void
dt_loop_state_fail(DtLoopTranslation *t)
{
    dt_loop_state_emit(t, DT_LOOP_OP_FAIL, 0, 0, 0);
    t->ended = true;
}

/* ---- Registers ------------------------------------------------------------------------------- */

int32_t
dt_loop_state_stack_register(const DtLoopTranslation *t, int32_t position)
{
    return t->nslots + 3 * position;
}

int32_t
dt_loop_state_box_register(const DtLoopTranslation *t, int32_t place)
{
    return dt_loop_state_stack_register(t, t->positions) + place;
}

int32_t
dt_loop_state_first_register(const DtLoopTranslation *t)
{
    return dt_loop_state_box_register(t, t->nslots + t->positions);
}

int32_t
dt_loop_state_constant(DtLoopTranslation *t, DtLoopRegister value)
{
    for (uint32_t i = 0; i < t->constants.count; i++) {
        if (t->constants.items[i].i == value.i) {
            return t->fixed.items[i];
        }
    }
    int32_t reg = dt_loop_state_register(t);
    if (dt_vec_push(t->arena, &t->constants, value) < 0
        || dt_vec_push(t->arena, &t->fixed, reg) < 0) {
        t->no_memory = true;
    }
    return reg;
}

/* Does anything but stack position `but` lie in this register? */
static bool
is_used(const DtLoopTranslation *t, int32_t reg, int32_t but)
{
    for (int32_t i = t->floor; i < t->depth; i++) {
        if (i != but && (t->stack[i].reg == reg || t->stack[i].box == reg)) {
            return true;
        }
    }
    for (int i = 0; i < t->nheld; i++) {
        if (t->held[i].reg == reg || t->held[i].box == reg) {
            return true;
        }
    }
    return t->operands[0].reg == reg || t->operands[1].reg == reg;
}

static void
evacuate(DtLoopTranslation *t, DtLoopValue *values, int32_t count, int32_t reg, int32_t *aside)
{
    for (int32_t i = 0; i < count; i++) {
        bool here = values[i].reg == reg && !dt_loop_value_is_iterator(&values[i]);
        bool box = values[i].box == reg;
        if ((here || box) && *aside < 0) {
            *aside = dt_loop_state_register(t);
            dt_loop_state_emit(t, DT_LOOP_OP_MOVE, *aside, reg, 0);
        }
        values[i].reg = here ? *aside : values[i].reg;
        values[i].box = box ? *aside : values[i].box;
        if (values[i].parts != NULL) {
            evacuate(t, values[i].parts, values[i].ndim, reg, aside);
        }
    }
}

void
dt_loop_state_evacuate(DtLoopTranslation *t, int32_t reg)
{
    int32_t aside = -1;
    evacuate(t, t->stack + t->floor, t->depth - t->floor, reg, &aside);
    evacuate(t, t->held, t->nheld, reg, &aside);
    evacuate(t, t->operands, 2, reg, &aside);
}

/* Puts a register of stack position i into its place. */
static void
move_to(DtLoopTranslation *t, int32_t i, int32_t *reg, int32_t place)
{
    if (*reg < 0 || *reg == place) {
        return;
    }
    if (is_used(t, place, i)) { /* by one that was swapped: it makes room first */
        dt_loop_state_evacuate(t, place);
    }
    dt_loop_state_emit(t, DT_LOOP_OP_MOVE, place, *reg, 0);
    *reg = place;
}

void
dt_loop_state_put_in_place(DtLoopTranslation *t)
{
    for (int32_t i = t->floor; i < t->depth; i++) {
        DtLoopValue *value = &t->stack[i];
        if (!dt_loop_value_is_made(value) && !dt_loop_value_is_iterator(value)) {
            move_to(t, i, &value->reg, dt_loop_state_stack_register(t, i));
            move_to(t, i, &value->box, dt_loop_state_box_register(t, t->nslots + i));
        }
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

const DtLoopValue dt_loop_nothing = {
    .kind = DT_LOOP_NOTHING, .reg = -1, .box = -1, .entry = -1, .input = -1};

DtLoopValue
dt_loop_state_new(DtLoopTranslation *t, DtLoopKind kind, int32_t reg)
{
    DtLoopValue value = dt_loop_nothing;
    value.kind = (uint8_t)kind;
    value.reg = reg;
    value.id = ++t->ids;
    return value;
}

DtLoopValue
dt_loop_state_made(DtLoopTranslation *t, DtLoopKind kind, const DtLoopValue *parts, int count)
{
    DtLoopValue value = dt_loop_state_new(t, kind, -1);
    value.parts = DT_ARENA_ARRAY(t->arena, DtLoopValue, count + 1);
    value.ndim = (uint8_t)count;
    if (value.parts == NULL) {
        t->no_memory = true;
        dt_loop_state_fail(t);
        return dt_loop_nothing;
    }
    memcpy(value.parts, parts, sizeof(*parts) * (size_t)count);
    return value;
}

void
dt_loop_state_push(DtLoopTranslation *t, DtLoopValue value)
{
    if (t->depth >= t->positions) {
        dt_loop_state_fail(t);
        return;
    }
    t->stack[t->depth++] = value;
}

/* What lies below a frame's part of the stack is nothing that it can compute with. */
DtLoopValue
dt_loop_state_pop(DtLoopTranslation *t)
{
    if (t->depth <= t->frame->floor) {
        dt_loop_state_fail(t);
        return dt_loop_nothing;
    }
    return t->stack[--t->depth];
}

void
dt_loop_state_push_op(DtLoopTranslation *t, DtLoopKind kind, DtLoopOp op, int32_t a, int32_t b)
{
    int32_t reg = dt_loop_state_register(t);
    dt_loop_state_emit(t, op, reg, a, b);
    t->program->items |= dt_loop_kind_is_item(kind);
    dt_loop_state_push(t, dt_loop_state_new(t, kind, reg));
}

bool
dt_loop_state_is_just_made(const DtLoopTranslation *t, const DtLoopValue *value)
{
    if (t->code.count == 0 || value->reg < dt_loop_state_first_register(t) || value->box >= 0) {
        return false;
    }
    const DtLoopInstr *last = &t->code.items[t->code.count - 1];
    bool writes = last->op >= DT_LOOP_OP_I_ADD && last->op < DT_LOOP_OP_SET_1_F;
    return writes && last->d == value->reg && !is_used(t, value->reg, -1);
}
