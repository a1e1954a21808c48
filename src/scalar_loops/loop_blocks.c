/* See loop_translate.h: blocks, what lies between them, and the ends of iterations.
 *
 *   entry ─► block at `at` ─► ... ─► head: COMMIT, next of the iterator ─► block behind the head
 *                        └─► out of the loop, or unknown: FAIL
 *
 * While code is translated the target of a jump is the number of a block, or, marked, an
 * instruction.
 */
#include "scalar_loops/loop_translate.h"

#define MOST_SAME 8     /* blocks at one instruction: what is there in more ways fails */
#define MOST_BLOCKS 160 /* of a program */
#define IS_INSTR (1u << 31)

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool
is_live_in(const DtLoopFrame *frame, int32_t at, int32_t slot)
{
    return frame->liveness == NULL || slot >= frame->bytecode->layout.nslots
           || dt_liveness_is_live(frame->liveness, (uint32_t)at, slot);
}

/* Will the slot be read, by the code that is at `at` or by who called it? */
static bool
is_live(const DtLoopTranslation *t, int32_t at, int32_t slot)
{
    for (const DtLoopFrame *frame = t->frame; frame != NULL; frame = frame->parent) {
        int32_t own = slot - frame->slots;
        if (own >= 0 && own < frame->nslots) {
            return is_live_in(frame, at, own);
        }
        at = frame->next;
    }
    return false;
}

static const DtLoopValue *
value_at(const DtLoopTranslation *t, int32_t place)
{
    return place < t->nslots ? &t->slots[place] : &t->stack[place - t->nslots];
}

/* A value as a block finds it; `id` counts from the lowest place that has the same object. */
static DtLoopValue
as_found(const DtLoopTranslation *t, const DtLoopValue *values, int32_t place)
{
    DtLoopValue value = *value_at(t, place);
    uint32_t id = value.id;
    value.id = (uint32_t)place + 1;
    for (int32_t j = 0; j < place && value.kind != DT_LOOP_NOTHING; j++) {
        if (values[j].kind != DT_LOOP_NOTHING && value_at(t, j)->id == id) {
            value.id = values[j].id;
            break;
        }
    }
    int32_t reg = place < t->nslots ? place : dt_loop_state_stack_register(t, place - t->nslots);
    value.reg = value.reg >= 0 ? reg : -1;
    value.box = value.box >= 0 ? dt_loop_state_box_register(t, place) : -1;
    return value;
}

static bool
describe(const DtLoopTranslation *t, int32_t at, DtLoopValue *values)
{
    for (int32_t i = 0; i < t->nslots + t->depth; i++) {
        if (i < t->nslots && !is_live(t, at, i)) {
            values[i] = dt_loop_nothing;
        }
        else if (dt_loop_value_is_made(value_at(t, i))) {
            return false;
        }
        else {
            values[i] = as_found(t, values, i);
        }
    }
    return true;
}

static bool
are_alike(const DtLoopValue *a, const DtLoopValue *b, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (a[i].kind != b[i].kind || a[i].item != b[i].item || a[i].ndim != b[i].ndim
            || a[i].writable != b[i].writable || a[i].entry != b[i].entry
            || a[i].input != b[i].input || a[i].box != b[i].box || a[i].sample != b[i].sample
            || a[i].object != b[i].object || (a[i].kind != DT_LOOP_NOTHING && a[i].id != b[i].id)) {
            return false;
        }
    }
    return true;
}

uint32_t
dt_loop_blocks_find(DtLoopTranslation *t, int32_t at)
{
    int32_t count = t->nslots + t->depth;
    int same = 0;
    DtLoopValue *values = DT_ARENA_ARRAY(t->arena, DtLoopValue, count + 1);
    if (values == NULL) {
        t->no_memory = true;
        return DT_LOOP_NOWHERE;
    }
    if (!describe(t, at, values)) {
        return DT_LOOP_NOWHERE;
    }
    for (uint32_t i = 0; i < t->blocks.count; i++) {
        const DtLoopBlock *block = t->blocks.items[i];
        if (block->at == at && block->frame == t->frame) {
            same++;
            if (block->depth == t->depth && are_alike(block->values, values, count)) {
                return i;
            }
        }
    }
    DtLoopBlock *block = DT_ARENA_NEW(t->arena, DtLoopBlock);
    if (same >= MOST_SAME || t->blocks.count >= MOST_BLOCKS || block == NULL) {
        return DT_LOOP_NOWHERE;
    }
    *block = (DtLoopBlock){.frame = t->frame, .at = at, .depth = t->depth, .values = values};
    if (dt_vec_push(t->arena, &t->blocks, block) < 0) {
        t->no_memory = true;
        return DT_LOOP_NOWHERE;
    }
    return t->blocks.count - 1;
}

/* ---- Jumps over code that follows ------------------------------------------------------------ */

/* Its place is not known before that code is made. */
static uint32_t
emit_skip(DtLoopTranslation *t, DtLoopOp jump, int32_t d, int32_t a, int32_t b)
{
    uint32_t skip = t->code.count;
    dt_loop_state_emit_jump(t, jump, d, a, b, 0);
    return skip;
}

static void
land_skip(DtLoopTranslation *t, uint32_t skip)
{
    t->ended = false;
    if (skip < t->code.count) {
        t->code.items[skip].u.to = t->code.count | IS_INSTR;
    }
}

uint32_t
dt_loop_blocks_resolve(const DtLoopTranslation *t, uint32_t to)
{
    return to & IS_INSTR ? to & ~IS_INSTR : t->blocks.items[to]->code;
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* How the value of a slot is put into the frame. */
static DtLoopWrite
write_of(const DtLoopTranslation *t, const DtLoopWrite *writes, uint32_t count, int32_t slot)
{
    const DtLoopValue *value = &t->slots[slot];
    DtLoopWrite write = {.slot = slot, .kind = value->kind, .from = value->reg};
    if (value->object != NULL) {
        write.how = DT_LOOP_FROM_OBJECT;
        write.object = value->object;
    }
    else if (value->entry >= 0) {
        write.how = DT_LOOP_FROM_ENTRY;
        write.from = value->entry;
    }
    else if (value->box >= 0) {
        write.how = DT_LOOP_FROM_BOX;
        write.from = value->box;
    }
    for (uint32_t j = 0; j < count && write.how == DT_LOOP_FROM_REGISTER; j++) {
        if (writes[j].how == DT_LOOP_FROM_REGISTER && writes[j].from >= 0
            && t->slots[writes[j].slot].id == value->id) {
            write.from = ~(int32_t)j;
            break;
        }
    }
    return write;
}

/* What is to be put into the frame behind this iteration. */
static bool
note_commit(DtLoopTranslation *t, uint32_t *out)
{
    DtLoopProgram *program = t->program;
    DtLoopWrite *writes = DT_ARENA_ARRAY(&program->arena, DtLoopWrite, t->nroot + 1);
    uint32_t count = 0;
    if (writes == NULL) {
        t->no_memory = true;
        return false;
    }
    for (int32_t i = 0; i < t->nroot; i++) {
        const DtLoopValue *value = &t->slots[i];
        if (value->kind != DT_LOOP_NOTHING && value->entry != i && is_live(t, t->place->head, i)) {
            writes[count] = write_of(t, writes, count, i);
            program->written[i] = true;
            count++;
        }
    }
    *out = program->commits.count;
    program->saved = count > program->saved ? count : program->saved;
    if (dt_vec_push(&program->arena, &program->commits, ((DtLoopCommit){writes, count})) < 0) {
        t->no_memory = true;
        return false;
    }
    return true;
}

/* Emits what moves an iterator on, with a jump at its end that is to be landed; its value is
 * pushed. DT_LOOP_NOWHERE: what it gives is not known. */
static uint32_t
emit_next(DtLoopTranslation *t, const DtLoopValue *iterator)
{
    int32_t place = dt_loop_state_stack_register(t, t->depth);
    uint32_t skip;
    if (iterator->kind == DT_LOOP_RANGE) {
        skip = emit_skip(t, DT_LOOP_OP_RANGE_NEXT, place, iterator->reg, 0);
        dt_loop_state_push(t, dt_loop_state_new(t, DT_LOOP_INT, place));
    }
    else if (iterator->sample == NULL) {
        skip = emit_skip(t, DT_LOOP_OP_WALK_ARRAY, place, iterator->reg, 0);
        dt_loop_state_push(t, dt_loop_state_new(t, (DtLoopKind)iterator->item, place));
        t->program->items = true;
    }
    else {
        PyObject *sample = dt_loop_objects_sample(iterator);
        if (sample == NULL) {
            return DT_LOOP_NOWHERE;
        }
        int32_t box = dt_loop_state_box_register(t, t->nslots + t->depth);
        skip = emit_skip(t, DT_LOOP_OP_WALK_NEXT, box, iterator->reg, 0);
        dt_loop_state_push(t, dt_loop_objects_read(t, box, sample));
    }
    return skip;
}

/* The block at an instruction follows. */
static bool
enter_block(DtLoopTranslation *t, int32_t at)
{
    dt_loop_state_put_in_place(t);
    uint32_t block = dt_loop_blocks_find(t, at);
    if (block == DT_LOOP_NOWHERE) {
        dt_loop_state_fail(t);
        return false;
    }
    dt_loop_state_emit_jump(t, DT_LOOP_OP_JUMP, 0, 0, 0, block);
    t->ended = true;
    return true;
}

/* The loop begins its next iteration: that of the iterator, or the one that its condition led to.
 */
static void
come_back(DtLoopTranslation *t)
{
    const DtLoopPlace *place = t->place;
    uint32_t commit, skip = 0;
    if (!note_commit(t, &commit)) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_emit_jump(t, DT_LOOP_OP_COMMIT, 0, 0, 0, commit);
    if (place->iterates && (skip = emit_next(t, &t->iterator)) == DT_LOOP_NOWHERE) {
        dt_loop_state_fail(t);
        return;
    }
    t->comes_back |= enter_block(t, place->iterates ? place->head + 1 : place->at);
    if (place->iterates) {
        land_skip(t, skip);
        dt_loop_state_emit(t, DT_LOOP_OP_FINISH, 0, 0, 0);
    }
    t->ended = true;
}

/* ---- The ends of blocks ---------------------------------------------------------------------- */

void
dt_loop_blocks_go(DtLoopTranslation *t, int32_t to, bool backward)
{
    const DtLoopPlace *place = t->place;
    if (t->ended) {
        return;
    }
    bool own = t->frame->parent == NULL;
    if (own && to == place->head && t->depth == place->bytecode->instrs[to].depth) {
        come_back(t);
        return;
    }
    if (own && (to < place->head || to > place->last)) {
        dt_loop_state_fail(t);
        return;
    }
    if (backward) {
        dt_loop_state_emit(t, DT_LOOP_OP_TICK, 0, 0, 0);
    }
    enter_block(t, to);
}

uint32_t
dt_loop_blocks_fork(DtLoopTranslation *t, DtLoopOp jump, int32_t a, int32_t b)
{
    t->operands[0].reg = a;
    t->operands[1].reg = b;
    dt_loop_state_put_in_place(t);
    uint32_t skip = emit_skip(t, jump, 0, t->operands[0].reg, t->operands[1].reg);
    t->operands[0] = t->operands[1] = dt_loop_nothing;
    return skip;
}

void
dt_loop_blocks_land(DtLoopTranslation *t, uint32_t skip, int32_t depth)
{
    land_skip(t, skip);
    t->depth = depth;
}

void
dt_loop_blocks_branch(DtLoopTranslation *t, DtLoopOp jump, int32_t a, int32_t b, int32_t yes,
                      int32_t no)
{
    int32_t depth = t->depth;
    uint32_t skip = dt_loop_blocks_fork(t, jump, a, b);
    dt_loop_blocks_go(t, no, false);
    dt_loop_blocks_land(t, skip, depth);
    dt_loop_blocks_go(t, yes, yes < no);
    t->ended = true;
}

void
dt_loop_blocks_iterate(DtLoopTranslation *t, int32_t next, int32_t end)
{
    if (t->depth <= t->frame->floor || !dt_loop_value_is_iterator(&t->stack[t->depth - 1])) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_put_in_place(t);
    int32_t depth = t->depth;
    DtLoopValue iterator = t->stack[depth - 1];
    uint32_t skip = emit_next(t, &iterator);
    if (skip == DT_LOOP_NOWHERE) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_blocks_go(t, next, false);
    land_skip(t, skip);
    t->depth = depth - 1;
    dt_loop_blocks_go(t, end, false);
    t->ended = true;
}
