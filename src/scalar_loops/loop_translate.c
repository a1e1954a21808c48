/* See loop_translate.h: instruction by instruction. */
#include "scalar_loops/loop_translate.h"

#include <string.h>

#define MOST_REGISTERS 4096

/* ---- Slots and the stack --------------------------------------------------------------------- */

static bool
is_cell(const DtLoopTranslation *t, int32_t own)
{
    const DtCodeLayout *layout = &t->frame->bytecode->layout;
    return own < layout->nslots && (layout->slots[own].kind & (DT_SLOT_CELL | DT_SLOT_FREE)) != 0;
}

void
dt_loop_translate_store(DtLoopTranslation *t, int32_t own)
{
    DtLoopValue value = dt_loop_state_pop(t);
    int32_t slot = t->frame->slots + own;
    if (own < 0 || dt_loop_value_is_made(&value) || dt_loop_value_is_iterator(&value)
        || value.kind == DT_LOOP_NOTHING || value.kind == DT_LOOP_NULL || is_cell(t, own)) {
        dt_loop_state_fail(t);
        return;
    }
    if (value.reg >= 0 && value.reg != slot) {
        /* The instruction that has made it for nobody else writes the slot itself, behind those
         * that save what still lies there. */
        bool moved = dt_loop_state_is_just_made(t, &value);
        DtLoopInstr last = moved ? t->code.items[--t->code.count]
                                 : (DtLoopInstr){.op = DT_LOOP_OP_MOVE, .a = (uint16_t)value.reg};
        dt_loop_state_evacuate(t, slot);
        last.d = (uint16_t)slot;
        dt_loop_state_emit_instr(t, last);
        value.reg = slot;
    }
    int32_t box = dt_loop_state_box_register(t, slot);
    if (value.box >= 0 && value.box != box) {
        dt_loop_state_evacuate(t, box);
        dt_loop_state_emit(t, DT_LOOP_OP_MOVE, box, value.box, 0);
        value.box = box;
    }
    t->slots[slot] = value;
}

static void
load(DtLoopTranslation *t, int32_t own)
{
    const DtLoopValue *value = &t->slots[t->frame->slots + own];
    if (value->kind == DT_LOOP_NOTHING || is_cell(t, own)) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push(t, *value);
}

static void
load_cell(DtLoopTranslation *t, int32_t slot)
{
    DtLoopValue value;
    DtLoopInput input = {.how = DT_LOOP_INPUT_CELL, .from = slot};
    PyObject *cell = t->frame->parent == NULL ? t->samples[slot] : NULL;
    if (cell == NULL || !dt_loop_objects_input(t, input, cell, &value)) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push(t, value);
}

/* The slot of a variable of module code; -1: the name is none that its loops store. */
static int32_t
slot_of_name(const DtLoopTranslation *t, PyObject *name)
{
    int32_t first = t->place->bytecode->layout.nslots;
    for (int32_t i = first; i < t->place->nslots; i++) {
        if (t->place->names[i - first] == name) {
            return i;
        }
    }
    return -1;
}

static void
load_name(DtLoopTranslation *t, PyObject *name)
{
    int32_t slot = t->frame->parent == NULL ? slot_of_name(t, name) : -1;
    if (slot >= 0) {
        load(t, slot);
        return;
    }
    DtLoopValue value;
    if (!dt_loop_objects_name(t, t->frame->globals, true, name, &value)) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push(t, value);
}

static void
load_method(DtLoopTranslation *t, const DtInstr *instr, PyObject *name)
{
    DtLoopValue null = dt_loop_state_new(t, DT_LOOP_NULL, -1);
    dt_loop_items_method(t, name);
    DtLoopValue callable = dt_loop_state_pop(t);
    bool first = instr->flags & DT_INSTR_NULL_FIRST;
    dt_loop_state_push(t, first ? null : callable);
    dt_loop_state_push(t, first ? callable : null);
}

/* Where a value leaves a loop, the iterator below it goes: a swap, and the next instruction. */
static bool
drops_iterator(const DtLoopTranslation *t)
{
    return dt_loop_value_is_iterator(&t->stack[t->depth - 2])
           && t->frame->bytecode->instrs[t->at].op == DT_OP_POP_TOP;
}

static void
swap(DtLoopTranslation *t, int32_t n)
{
    if (t->depth - n < t->frame->floor) {
        dt_loop_state_fail(t);
        return;
    }
    DtLoopValue top = t->stack[t->depth - 1];
    if (n == 2 && drops_iterator(t)) {
        t->stack[--t->depth - 1] = top;
        t->at++;
        return;
    }
    t->stack[t->depth - 1] = t->stack[t->depth - n];
    t->stack[t->depth - n] = top;
    if (dt_loop_value_is_iterator(&top) || dt_loop_value_is_iterator(&t->stack[t->depth - 1])) {
        dt_loop_state_fail(t);
    }
}

static void
copy(DtLoopTranslation *t, int32_t n)
{
    if (t->depth - n < t->frame->floor || dt_loop_value_is_iterator(&t->stack[t->depth - n])) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push(t, t->stack[t->depth - n]);
}

static void
build_tuple(DtLoopTranslation *t, int32_t count)
{
    if (count < 1 || count > DT_LOOP_MOST_PARTS || t->depth - count < t->frame->floor) {
        dt_loop_state_fail(t);
        return;
    }
    t->depth -= count;
    dt_loop_state_push(t, dt_loop_state_made(t, DT_LOOP_TUPLE, t->stack + t->depth, (int)count));
}

/* ---- Iterators ------------------------------------------------------------------------------- */

static void
begin_walk(DtLoopTranslation *t, const DtLoopValue *over, int32_t place)
{
    int32_t zero = dt_loop_state_constant(t, (DtLoopRegister){.i = 0});
    DtLoopValue walk = dt_loop_state_new(t, DT_LOOP_WALK, place);
    walk.item = over->item;
    walk.sample = over->sample;
    dt_loop_state_emit(t, DT_LOOP_OP_MOVE, place, over->reg, 0);
    dt_loop_state_emit(t, DT_LOOP_OP_MOVE, place + 1, zero, 0);
    dt_loop_state_push(t, walk);
}

static void
begin_iterator(DtLoopTranslation *t)
{
    DtLoopValue over = dt_loop_state_pop(t);
    int32_t place = dt_loop_state_stack_register(t, t->depth);
    for (int32_t i = 0; i < 3; i++) {
        dt_loop_state_evacuate(t, place + i);
    }
    if (over.kind == DT_LOOP_BOUNDS) {
        dt_loop_state_emit_more(t, DT_LOOP_OP_RANGE_BEGIN, place, over.parts[0].reg,
                                over.parts[1].reg, over.parts[2].reg, 0);
        dt_loop_state_push(t, dt_loop_state_new(t, DT_LOOP_RANGE, place));
    }
    else if (over.kind == DT_LOOP_SEQUENCE || (over.kind == DT_LOOP_ARRAY && over.ndim == 1)) {
        begin_walk(t, &over, place);
    }
    else {
        dt_loop_state_fail(t);
    }
}

/* ---- Jumps ----------------------------------------------------------------------------------- */

/* Where the last instruction has compared for a jump alone, it jumps itself. */
static void
fuse_jump(DtLoopTranslation *t, bool when, DtLoopOp *jump, int32_t *a, int32_t *b)
{
    static const struct {
        uint16_t op, yes, no;
        bool swapped; /* for `no` */
    } fused[] = {
        {DT_LOOP_OP_I_LT, DT_LOOP_OP_JUMP_I_LT, DT_LOOP_OP_JUMP_I_LE, true},
        {DT_LOOP_OP_I_LE, DT_LOOP_OP_JUMP_I_LE, DT_LOOP_OP_JUMP_I_LT, true},
        {DT_LOOP_OP_I_EQ, DT_LOOP_OP_JUMP_I_EQ, DT_LOOP_OP_JUMP_I_NE, false},
        {DT_LOOP_OP_I_NE, DT_LOOP_OP_JUMP_I_NE, DT_LOOP_OP_JUMP_I_EQ, false},
        {DT_LOOP_OP_F_LT, DT_LOOP_OP_JUMP_F_LT, DT_LOOP_OP_JUMP_NOT_F_LT, false},
        {DT_LOOP_OP_F_LE, DT_LOOP_OP_JUMP_F_LE, DT_LOOP_OP_JUMP_NOT_F_LE, false},
        {DT_LOOP_OP_F_EQ, DT_LOOP_OP_JUMP_F_EQ, DT_LOOP_OP_JUMP_F_NE, false},
        {DT_LOOP_OP_F_NE, DT_LOOP_OP_JUMP_F_NE, DT_LOOP_OP_JUMP_F_EQ, false},
    };
    DtLoopInstr last = t->code.items[t->code.count - 1];
    for (size_t i = 0; i < Py_ARRAY_LENGTH(fused); i++) {
        if (fused[i].op == last.op) {
            bool swapped = !when && fused[i].swapped;
            *jump = (DtLoopOp)(when ? fused[i].yes : fused[i].no);
            *a = swapped ? last.b : last.a;
            *b = swapped ? last.a : last.b;
            t->code.count--;
            return;
        }
    }
}

static void
jump_on(DtLoopTranslation *t, const DtInstr *instr, int32_t at, bool when)
{
    DtLoopValue value = dt_loop_state_pop(t);
    int32_t a = t->ended ? -1 : dt_loop_arithmetic_truth(t, &value), b = a;
    DtLoopOp jump = when ? DT_LOOP_OP_JUMP_IF : DT_LOOP_OP_JUMP_IF_NOT;
    if (a < 0) {
        dt_loop_state_fail(t);
        return;
    }
    if (value.reg == a && dt_loop_state_is_just_made(t, &value)) {
        fuse_jump(t, when, &jump, &a, &b);
    }
    dt_loop_blocks_branch(t, jump, a, b, instr->target, at + 1);
}

static void
jump_or_pop(DtLoopTranslation *t, const DtInstr *instr, int32_t at, bool when)
{
    DtLoopValue value = dt_loop_state_pop(t);
    int32_t truth = t->ended ? -1 : dt_loop_arithmetic_truth(t, &value);
    if (truth < 0) {
        dt_loop_state_fail(t);
        return;
    }
    int32_t depth = t->depth;
    DtLoopOp jump = when ? DT_LOOP_OP_JUMP_IF : DT_LOOP_OP_JUMP_IF_NOT;
    t->held = &value;
    t->nheld = 1;
    uint32_t skip = dt_loop_blocks_fork(t, jump, truth, truth);
    t->nheld = 0;
    dt_loop_blocks_go(t, at + 1, false);
    dt_loop_blocks_land(t, skip, depth);
    dt_loop_state_push(t, value);
    dt_loop_blocks_go(t, instr->target, false);
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void
translate_instr(DtLoopTranslation *t, int32_t at)
{
    const DtBytecode *bytecode = t->frame->bytecode;
    const DtInstr *instr = &bytecode->instrs[at];
    switch ((DtOp)instr->op) {
    case DT_OP_NOP:
    case DT_OP_RESUME:        /* of a function that is called */
    case DT_OP_SETUP_FINALLY: /* the frame's blocks are as they were when the iteration began */
    case DT_OP_POP_BLOCK:
        break;
    case DT_OP_POP_TOP:
        dt_loop_state_pop(t);
        break;
    case DT_OP_COPY:
        copy(t, instr->arg);
        break;
    case DT_OP_SWAP:
        swap(t, instr->arg);
        break;
    case DT_OP_PUSH_NULL:
        dt_loop_state_push(t, dt_loop_state_new(t, DT_LOOP_NULL, -1));
        break;
    case DT_OP_LOAD_CONST:
        dt_loop_state_push(t, dt_loop_objects_constant(t, dt_decode_const(bytecode, instr)));
        break;
    case DT_OP_LOAD_FAST:
        load(t, instr->arg);
        break;
    case DT_OP_STORE_FAST:
        dt_loop_translate_store(t, instr->arg);
        break;
    case DT_OP_STORE_NAME:
        dt_loop_translate_store(t, slot_of_name(t, dt_decode_name(bytecode, instr)));
        break;
    case DT_OP_LOAD_DEREF:
        load_cell(t, instr->arg);
        break;
    case DT_OP_LOAD_NAME:
    case DT_OP_LOAD_GLOBAL:
        load_name(t, dt_decode_name(bytecode, instr));
        break;
    case DT_OP_LOAD_ATTR:
        dt_loop_items_attribute(t, dt_decode_name(bytecode, instr));
        break;
    case DT_OP_LOAD_METHOD:
        load_method(t, instr, dt_decode_name(bytecode, instr));
        break;
    case DT_OP_UNARY_NEGATIVE:
    case DT_OP_UNARY_POSITIVE:
    case DT_OP_UNARY_NOT:
    case DT_OP_UNARY_INVERT:
    case DT_OP_TO_BOOL:
        dt_loop_arithmetic_unary(t, (DtOp)instr->op);
        break;
    case DT_OP_BINARY_OP:
        dt_loop_arithmetic_binary(t, DT_BINARY_PLAIN(instr->arg));
        break;
    case DT_OP_COMPARE_OP:
        dt_loop_arithmetic_compare(t, instr->arg);
        break;
    case DT_OP_BINARY_SUBSCR:
        dt_loop_items_get(t);
        break;
    case DT_OP_STORE_SUBSCR:
        dt_loop_items_set(t);
        break;
    case DT_OP_BUILD_TUPLE:
        build_tuple(t, instr->arg);
        break;
    case DT_OP_UNPACK_SEQUENCE:
        dt_loop_items_unpack(t, instr->arg);
        break;
    case DT_OP_CALL:
        dt_loop_calls_call(t, instr->arg, 2, at + 1);
        break;
    case DT_OP_CALL_FUNCTION:
        dt_loop_calls_call(t, instr->arg, 1, at + 1);
        break;
    case DT_OP_RETURN_VALUE:
        dt_loop_frames_leave(t);
        break;
    case DT_OP_GET_ITER:
        begin_iterator(t);
        break;
    case DT_OP_FOR_ITER:
        dt_loop_blocks_iterate(t, at + 1, instr->target);
        break;
    case DT_OP_JUMP:
        dt_loop_blocks_go(t, instr->target, instr->target <= at);
        break;
    case DT_OP_POP_JUMP_IF_FALSE:
        jump_on(t, instr, at, false);
        break;
    case DT_OP_POP_JUMP_IF_TRUE:
        jump_on(t, instr, at, true);
        break;
    case DT_OP_JUMP_IF_FALSE_OR_POP:
        jump_or_pop(t, instr, at, false);
        break;
    case DT_OP_JUMP_IF_TRUE_OR_POP:
        jump_or_pop(t, instr, at, true);
        break;
    default:
        dt_loop_state_fail(t);
    }
}

/* Is something on the stack that only this block knows? */
static bool
is_under_way(const DtLoopTranslation *t)
{
    bool made = false;
    for (int32_t i = t->floor; i < t->depth; i++) {
        made |= dt_loop_value_is_made(&t->stack[i]);
    }
    return made;
}

/* Where ways meet the block ends, unless something is under way. */
static bool
ends_before(const DtLoopTranslation *t, const DtLoopBlock *block, int32_t at)
{
    bool meets = t->frame->bytecode->instrs[at].flags & DT_INSTR_BLOCK_TARGET;
    bool first = at == block->at && t->frame == block->frame;
    bool head = at == t->place->head && t->frame->parent == NULL;
    return !first && (head || (meets && !is_under_way(t)));
}

static bool
is_beyond(const DtLoopTranslation *t, int32_t at)
{
    return at
           > (t->frame->parent == NULL ? t->place->last : (int32_t)t->frame->bytecode->count - 1);
}

static void
translate_block(DtLoopTranslation *t, DtLoopBlock *block)
{
    memcpy(t->slots, block->values, sizeof(*t->slots) * (size_t)t->nslots);
    memcpy(t->stack, block->values + t->nslots, sizeof(*t->stack) * (size_t)block->depth);
    t->frame = block->frame;
    t->at = block->at;
    t->depth = block->depth;
    t->ids = (uint32_t)(t->nslots + t->depth);
    t->ended = false;
    block->code = t->code.count;
    while (!t->ended) {
        int32_t at = t->at++; /* a call and a return go on elsewhere */
        if (is_beyond(t, at) || t->registers > MOST_REGISTERS || t->no_memory) {
            dt_loop_state_fail(t);
        }
        else if (ends_before(t, block, at)) {
            dt_loop_blocks_go(t, at, false);
            t->ended = true;
        }
        else {
            translate_instr(t, at);
        }
    }
}

/* ---- Programs -------------------------------------------------------------------------------- */

static DtLoopValue
entered(DtLoopTranslation *t, const DtLoopEntrySlot *entry, int32_t place, int32_t reg)
{
    DtLoopValue value = dt_loop_nothing;
    if (entry->kind == DT_LOOP_NOTHING) {
        return value;
    }
    value.kind = entry->kind;
    value.item = entry->item;
    value.ndim = entry->ndim;
    value.writable = entry->writable;
    value.reg = entry->kind == DT_LOOP_OBJECT ? -1 : reg;
    value.entry = place;
    value.id = (uint32_t)place + 1;
    bool walks = entry->kind == DT_LOOP_WALK && entry->item == DT_LOOP_NOTHING;
    value.sample = walks || entry->kind == DT_LOOP_SEQUENCE ? t->samples[place] : NULL;
    t->program->items |= dt_loop_kind_is_item(entry->kind);
    return value;
}

static void
begin(DtLoopTranslation *t, const DtLoopEntrySlot *entry)
{
    const DtLoopPlace *place = t->place;
    t->depth = place->bytecode->instrs[place->at].depth;
    t->floor = place->bytecode->instrs[place->head].depth;
    t->registers = dt_loop_state_first_register(t);
    for (int32_t i = 0; i < t->depth; i++) {
        t->stack[i] = dt_loop_nothing;
    }
    for (int32_t i = 0; i < t->nslots; i++) {
        t->slots[i] = i < t->nroot ? entered(t, &entry[i], i, i) : dt_loop_nothing;
    }
    int32_t pushed = t->nroot + DT_LOOP_ENTRY_PUSHED;
    t->program->value = place->pushed ? dt_loop_state_stack_register(t, t->floor) : -1;
    if (place->pushed) {
        t->stack[t->floor] = entered(t, &entry[pushed], pushed, t->program->value);
    }
    int32_t iterator = t->nroot + DT_LOOP_ENTRY_ITERATOR;
    t->program->iterator = place->iterates ? dt_loop_state_stack_register(t, t->floor - 1) : -1;
    if (place->iterates) {
        t->iterator = entered(t, &entry[iterator], iterator, t->program->iterator);
    }
}

static bool
finish(DtLoopTranslation *t)
{
    DtLoopProgram *program = t->program;
    program->nregisters = (uint32_t)t->registers;
    program->code = DT_ARENA_ARRAY(&program->arena, DtLoopInstr, t->code.count + 1);
    program->registers = DT_ARENA_ARRAY(&program->arena, DtLoopRegister, t->registers + 1);
    if (program->code == NULL || program->registers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < t->code.count; i++) {
        DtLoopInstr *instr = &program->code[i];
        *instr = t->code.items[i];
        if ((instr->op >= DT_LOOP_OP_JUMP && instr->op <= DT_LOOP_OP_JUMP_NOT_F_LE)
            || (instr->op >= DT_LOOP_OP_RANGE_NEXT && instr->op <= DT_LOOP_OP_WALK_ARRAY)) {
            instr->u.to = dt_loop_blocks_resolve(t, instr->u.to);
        }
    }
    for (uint32_t i = 0; i < t->constants.count; i++) {
        program->registers[t->fixed.items[i]] = t->constants.items[i];
    }
    return true;
}

bool
dt_loop_translate(DtLoopTranslation *t, const DtLoopEntrySlot *entry)
{
    const DtLoopPlace *place = t->place;
    const DtBytecode *bytecode = place->bytecode;
    DtLoopFrame own = {.bytecode = bytecode,
                       .liveness = place->liveness,
                       .nslots = place->nslots,
                       .floor = bytecode->instrs[place->head].depth};
    t->frame = &own;
    t->nroot = place->nslots;
    t->nslots = t->nroot + DT_LOOP_CALLEE_SLOTS;
    t->positions = bytecode->max_depth + 3 + DT_LOOP_CALLEE_POSITIONS;
    t->slots = DT_ARENA_ARRAY(t->arena, DtLoopValue, t->nslots + 1);
    t->stack = DT_ARENA_ARRAY(t->arena, DtLoopValue, t->positions + 1);
    if (t->slots == NULL || t->stack == NULL) {
        t->no_memory = true;
        return false;
    }
    t->operands[0] = t->operands[1] = dt_loop_nothing;
    begin(t, entry);
    dt_loop_blocks_find(t, t->place->at);
    for (uint32_t i = 0; i < t->blocks.count && !t->no_memory; i++) {
        translate_block(t, t->blocks.items[i]);
    }
    if (t->no_memory || !t->comes_back || t->registers > MOST_REGISTERS) {
        return false;
    }
    t->no_memory = !finish(t);
    return !t->no_memory;
}
