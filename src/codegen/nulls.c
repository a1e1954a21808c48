/* NULL placement.
 *
 *   3.10         callable, args           nothing to do
 *   3.11, 3.12   NULL, callable, args     before the callable's whole computation when that is
 *                                         straight-line code, else put under it afterwards
 *   3.13         callable, NULL, args     behind the callable
 *
 * The emitted stack is followed in the order of the code.  Each value knows at
 * which instruction its computation began (-1: not by straight-line code that
 * a NULL may be put in front of) and whether a NULL belongs to it.  Operands
 * that are depths (COPY, SWAP, LIST_APPEND ...) count emitted values, so the
 * NULLs between are added.
 */
#include "codegen/nulls.h"

#include <string.h>

#include "compat/errors.h"

typedef struct Value {
    int32_t start;
    bool callable;
} Value;

typedef struct Stack {
    Value *items;
    uint32_t depth;
    bool known; /* false behind an instruction that does not fall through */
} Stack;

typedef struct Placer {
    DtArena *arena;
    const DtEmit *emit;
    DtNulls *nulls;
    Stack now;
    uint32_t capacity;
    Stack *at_label;
    uint8_t *bound; /* per instruction: a label leads here */
} Placer;

static DtStatus
fault(uint32_t index, const char *what)
{
    PyErr_Format(PyExc_SystemError, "emitted code, instruction %u: %s", (unsigned)index, what);
    return DT_ERROR;
}

static void
forget_starts(Placer *placer)
{
    for (uint32_t i = 0; i < placer->now.depth; i++) {
        placer->now.items[i].start = -1;
    }
}

/* Notes the stack with which `label` is reached, `extra` values on top of the first `depth`. */
static DtStatus
reach_label(Placer *placer, uint32_t index, DtLabel label, uint32_t depth, uint32_t extra)
{
    Stack *at = &placer->at_label[label];
    if (at->known) {
        return at->depth == depth + extra ? DT_OK : fault(index, "two stack depths at a label");
    }
    at->items = DT_ARENA_ARRAY(placer->arena, Value, depth + extra + 1);
    if (at->items == NULL) {
        return dt_no_memory();
    }
    memcpy(at->items, placer->now.items, depth * sizeof(Value));
    memset(at->items + depth, 0, extra * sizeof(Value));
    at->depth = depth + extra;
    at->known = true;
    return DT_OK;
}

static DtStatus
grow(Placer *placer, uint32_t need)
{
    return dt_vec_reserve(placer->arena, (void **)&placer->now.items, &placer->capacity,
                          placer->now.depth, need, sizeof(Value))
                   == 0
               ? DT_OK
               : dt_no_memory();
}

/* Joins what is known at a label with the stack that falls into it. */
static DtStatus
enter_label(Placer *placer, uint32_t index, DtLabel label)
{
    const Stack *at = &placer->at_label[label];
    if (at->known && placer->now.known && at->depth != placer->now.depth) {
        return fault(index, "two stack depths at a label");
    }
    if (at->known && !placer->now.known) {
        DT_TRY(grow(placer, at->depth + 1));
        memcpy(placer->now.items, at->items, at->depth * sizeof(Value));
        placer->now.depth = at->depth;
        placer->now.known = true;
    }
    forget_starts(placer);
    return placer->now.known ? reach_label(placer, index, label, placer->now.depth, 0) : DT_OK;
}

static DtStatus
enter_instruction(Placer *placer, uint32_t index)
{
    const DtEmit *emit = placer->emit;
    if (placer->bound[index]) {
        for (uint32_t label = 0; label < emit->labels.count; label++) {
            if (emit->labels.items[label] == index) {
                DT_TRY(enter_label(placer, index, (DtLabel)label));
            }
        }
        for (uint32_t i = emit->tries.count; i-- > 0;) {
            const DtEmitTry *region = &emit->tries.items[i];
            if (emit->labels.items[region->start] == index && placer->now.known) {
                DT_TRY(reach_label(placer, index, region->handler, placer->now.depth, 1));
            }
        }
    }
    return DT_OK;
}

static bool
has_depth_operand(int op)
{
    switch (op) {
    case DT_OP_COPY:
    case DT_OP_SWAP:
    case DT_OP_LIST_APPEND:
    case DT_OP_SET_ADD:
    case DT_OP_MAP_ADD:
    case DT_OP_LIST_EXTEND:
    case DT_OP_SET_UPDATE:
    case DT_OP_DICT_UPDATE:
    case DT_OP_DICT_MERGE:
        return true;
    default:
        return false;
    }
}

/* NULLs above the value at the operand's depth; `depth` counts from the top
 * after the instruction has popped its own operands. */
static DtStatus
count_deeper(Placer *placer, uint32_t index, uint32_t rest)
{
    const DtEmitInstr *instr = &placer->emit->instrs.items[index];
    uint32_t reach = (uint32_t)instr->arg;
    if (instr->arg < 1 || reach > rest) {
        return fault(index, "a depth below the stack");
    }
    for (uint32_t i = rest - reach; i < rest; i++) {
        bool counts = DT_PY313 || i > rest - reach;
        placer->nulls->deeper[index] += counts && !DT_PY310 && placer->now.items[i].callable;
    }
    if (instr->op == DT_OP_SWAP
        && (placer->now.items[rest - 1].callable || placer->now.items[rest - reach].callable)) {
        return fault(index, "a marked callable is moved");
    }
    return DT_OK;
}

static bool
is_call(int op)
{
    return op == DT_OP_CALL || op == DT_OP_CALL_KW || op == DT_OP_CALL_EX;
}

/* A NULL for the value that the instruction has just left on top. */
static void
mark_callable(Placer *placer, uint32_t index)
{
    Value *top = &placer->now.items[placer->now.depth - 1];
    top->callable = true;
    if (DT_PY313) {
        placer->nulls->after[index] = 1;
    }
    else if (!DT_PY310 && top->start >= 0) {
        placer->nulls->before[top->start]++;
    }
    else if (!DT_PY310) {
        placer->nulls->beneath[index] = 1;
    }
}

static DtStatus
step(Placer *placer, uint32_t index)
{
    const DtEmitInstr *instr = &placer->emit->instrs.items[index];
    Stack *now = &placer->now;
    uint32_t popped = (uint32_t)dt_emit_popped(instr);
    uint32_t pushed = (uint32_t)dt_emit_pushed(instr, false);
    if (popped > now->depth) {
        return fault(index, "stack popped below zero");
    }
    uint32_t rest = now->depth - popped;
    int32_t start = popped > 0 ? now->items[rest].start : (int32_t)index;
    for (uint32_t i = rest; i < now->depth; i++) {
        start = now->items[i].start < 0 ? -1 : start;
    }
    if (is_call(instr->op) && !now->items[rest].callable) {
        return fault(index, "a call of a value that is not marked as a callable");
    }
    if (has_depth_operand(instr->op)) {
        DT_TRY(count_deeper(placer, index, rest));
        forget_starts(placer);
        start = -1;
    }
    if (instr->label >= 0) {
        uint32_t jumped = (uint32_t)dt_emit_pushed(instr, true);
        forget_starts(placer);
        start = -1;
        DT_TRY(reach_label(placer, index, instr->label, rest, jumped));
    }
    DT_TRY(grow(placer, rest + pushed + 1));
    now->depth = rest + pushed;
    for (uint32_t i = rest; i < now->depth; i++) {
        now->items[i] = (Value){pushed == 1 ? start : -1, false};
    }
    if (instr->flags & DT_EMIT_CALLABLE) {
        if (pushed != 1) {
            return fault(index, "no single value to mark as a callable");
        }
        mark_callable(placer, index);
    }
    now->known = dt_canonical_falls_through(instr->op);
    return DT_OK;
}

static DtStatus
check_labels(Placer *placer)
{
    const DtEmit *emit = placer->emit;
    for (uint32_t i = 0; i < emit->labels.count; i++) {
        if (emit->labels.items[i] > emit->instrs.count) {
            return fault(i, "an unbound label (its number is given)");
        }
        placer->bound[emit->labels.items[i]] = 1;
    }
    for (uint32_t i = 0; i < emit->instrs.count; i++) {
        const DtEmitInstr *instr = &emit->instrs.items[i];
        bool jumps = dt_canonical_operand(instr->op) == DT_OPARG_JUMP;
        if (jumps != (instr->label >= 0) || instr->label >= (DtLabel)emit->labels.count
            || (jumps && emit->labels.items[instr->label] >= emit->instrs.count)) {
            return fault(i, "a jump to nowhere");
        }
    }
    return DT_OK;
}

DtStatus
dt_nulls_place(DtArena *arena, const DtEmit *emit, DtNulls *nulls)
{
    uint32_t count = emit->instrs.count;
    Placer placer = {.arena = arena, .emit = emit, .nulls = nulls};
    uint8_t *bytes = DT_ARENA_ARRAY(arena, uint8_t, (size_t)(count + 1) * 5);
    placer.at_label = DT_ARENA_ARRAY(arena, Stack, emit->labels.count + 1);
    if (bytes == NULL || placer.at_label == NULL) {
        return dt_no_memory();
    }
    nulls->before = bytes;
    nulls->after = bytes + (count + 1);
    nulls->beneath = bytes + (size_t)(count + 1) * 2;
    nulls->deeper = bytes + (size_t)(count + 1) * 3;
    placer.bound = bytes + (size_t)(count + 1) * 4;
    DT_TRY(grow(&placer, 1));
    DT_TRY(check_labels(&placer));
    placer.now.known = true;
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(enter_instruction(&placer, i));
        if (placer.now.known) {
            DT_TRY(step(&placer, i));
        }
    }
    return placer.now.known ? fault(count, "the code runs off its end") : DT_OK;
}
