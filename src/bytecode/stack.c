/* Stack depths; see stack.h.
 *
 *   instrs, handlers ──walk every edge once──► depth per instruction
 *
 * A work list of instructions; each is entered with one state (depth, and on
 * 3.10 a chain of blocks), and a second arrival must bring the same state.
 * 3.10 has no exception table: SETUP_FINALLY pushes a block, so that walking
 * the chain gives each instruction its handler, in the same form as later.
 */
#include "bytecode/stack.h"

#include <string.h>

#include "compat/errors.h"
#include "core/vec.h"

typedef struct Walk {
    DtArena *arena;
    DtBytecode *bytecode;
    const DtTryBlock **blocks; /* per instruction: the chain before it */
    uint32_t *work;
    uint32_t work_count;
    DT_VEC(DtHandler) handlers; /* made on the way (3.10) */
} Walk;

static DtStatus
broken(const Walk *walk, uint32_t index, const char *what)
{
    PyErr_Format(PyExc_ValueError, "broken code object %R: %s at offset %u",
                 dt_code_name(walk->bytecode->code), what,
                 (unsigned)walk->bytecode->instrs[index].offset);
    return DT_ERROR;
}

static bool
same_blocks(const Walk *walk, const DtTryBlock *a, const DtTryBlock *b)
{
    for (; a != b; a = a->outer, b = b->outer) {
        if (a == NULL || b == NULL || a->running != b->running) {
            return false;
        }
        if (a->handler != b->handler
            && walk->handlers.items[a->handler].target != walk->handlers.items[b->handler].target) {
            return false;
        }
    }
    return true;
}

/* One edge arrives at `index`. */
static DtStatus
arrive(Walk *walk, int64_t index, int32_t depth, const DtTryBlock *blocks)
{
    DtBytecode *bytecode = walk->bytecode;
    if (index < 0 || index >= bytecode->count) {
        PyErr_Format(PyExc_ValueError, "broken code object %R: it runs off its end",
                     dt_code_name(bytecode->code));
        return DT_ERROR;
    }
    DtInstr *instr = &bytecode->instrs[index];
    if (instr->depth >= 0) {
        if (instr->depth != depth) {
            return broken(walk, (uint32_t)index, "two stack depths");
        }
        if (!same_blocks(walk, walk->blocks[index], blocks)) {
            return broken(walk, (uint32_t)index, "two block stacks");
        }
        return DT_OK;
    }
    instr->depth = depth;
    walk->blocks[index] = blocks;
    walk->work[walk->work_count++] = (uint32_t)index;
    if (depth > bytecode->max_depth) {
        bytecode->max_depth = depth;
    }
    return DT_OK;
}

static const DtTryBlock *
push_block(Walk *walk, const DtTryBlock *outer, bool running, int32_t handler)
{
    DtTryBlock *block = DT_ARENA_NEW(walk->arena, DtTryBlock);
    if (block != NULL) {
        block->outer = outer;
        block->running = running;
        block->handler = handler;
    }
    return block;
}

/* SETUP_FINALLY: a new handler, entered with the block that runs it. */
static DtStatus
setup_block(Walk *walk, uint32_t index, int32_t depth, const DtTryBlock **blocks)
{
    const DtInstr *instr = &walk->bytecode->instrs[index];
    int32_t number = (int32_t)walk->handlers.count;
    DtHandler handler = {
        .start = INT32_MAX,
        .end = 0,
        .target = instr->target,
        .depth = depth - instr->arg,
        .triple = true,
    };
    if (handler.depth < 0) {
        return broken(walk, index, "a block below the stack");
    }
    if (dt_vec_push(walk->arena, &walk->handlers, handler) != 0) {
        return dt_no_memory();
    }
    const DtTryBlock *running = push_block(walk, *blocks, true, number);
    *blocks = push_block(walk, *blocks, false, number);
    if (running == NULL || *blocks == NULL) {
        return dt_no_memory();
    }
    return arrive(walk, handler.target, handler.depth + DT_HANDLER_PUSHED(&handler), running);
}

/* The innermost handler of a chain of blocks; it covers `index` from now on. */
static int32_t
covering_handler(Walk *walk, uint32_t index, const DtTryBlock *blocks)
{
    while (blocks != NULL && blocks->running) {
        blocks = blocks->outer;
    }
    if (blocks == NULL) {
        return -1;
    }
    DtHandler *handler = &walk->handlers.items[blocks->handler];
    if ((int32_t)index < handler->start) {
        handler->start = (int32_t)index;
    }
    if ((int32_t)index >= handler->end) {
        handler->end = (int32_t)index + 1;
    }
    return blocks->handler;
}

static DtStatus
pop_block(Walk *walk, uint32_t index, bool running, const DtTryBlock **blocks)
{
    if (*blocks == NULL || (*blocks)->running != running) {
        return broken(walk, index, "no such block to pop");
    }
    *blocks = (*blocks)->outer;
    return DT_OK;
}

/* What an instruction does to the chain of blocks. */
static DtStatus
step_blocks(Walk *walk, uint32_t index, int32_t depth, const DtTryBlock **blocks)
{
    switch (walk->bytecode->instrs[index].op) {
    case DT_OP_SETUP_FINALLY:
        return setup_block(walk, index, depth, blocks);
    case DT_OP_POP_BLOCK:
        return pop_block(walk, index, false, blocks);
    case DT_OP_POP_EXCEPT_TRIPLE:
    case DT_OP_END_ASYNC_FOR_TRIPLE:
        return pop_block(walk, index, true, blocks);
    default:
        return DT_OK;
    }
}

static DtStatus
step_exception(Walk *walk, uint32_t index)
{
    const DtInstr *instr = &walk->bytecode->instrs[index];
    if (instr->handler < 0 || walk->handlers.count > 0) {
        return DT_OK;
    }
    const DtHandler *handler = &walk->bytecode->handlers[instr->handler];
    if (handler->depth > instr->depth) {
        return broken(walk, index, "a handler above the stack");
    }
    return arrive(walk, handler->target, handler->depth + DT_HANDLER_PUSHED(handler), NULL);
}

static DtStatus
step(Walk *walk, uint32_t index)
{
    DtInstr *instr = &walk->bytecode->instrs[index];
    const DtTryBlock *blocks = walk->blocks[index];
    int32_t rest = instr->depth - dt_canonical_popped(instr->op, instr->arg, instr->flags);
    if (rest < 0) {
        return broken(walk, index, "stack popped below zero");
    }
    if (blocks != NULL) {
        instr->handler = covering_handler(walk, index, blocks);
    }
    DT_TRY(step_exception(walk, index));
    DT_TRY(step_blocks(walk, index, instr->depth, &blocks));
    if (instr->target >= 0 && instr->op != DT_OP_SETUP_FINALLY) {
        int32_t pushed = dt_canonical_pushed(instr->op, instr->arg, instr->flags, true);
        DT_TRY(arrive(walk, instr->target, rest + pushed, blocks));
    }
    if (dt_canonical_falls_through(instr->op)) {
        int32_t pushed = dt_canonical_pushed(instr->op, instr->arg, instr->flags, false);
        DT_TRY(arrive(walk, (int64_t)index + 1, rest + pushed, blocks));
    }
    return DT_OK;
}

/* 3.10 starts a generator with None on the stack. */
static int32_t
entry_depth(const DtBytecode *bytecode)
{
    uint32_t index = 0;
    while (index < bytecode->count && bytecode->instrs[index].flags & DT_INSTR_SYNTHETIC) {
        index++;
    }
    return index < bytecode->count && bytecode->instrs[index].op == DT_OP_GEN_START;
}

DtStatus
dt_stack_compute(DtArena *arena, DtBytecode *bytecode)
{
    Walk walk = {.arena = arena, .bytecode = bytecode};
    walk.blocks = DT_ARENA_ARRAY(arena, const DtTryBlock *, bytecode->count);
    walk.work = DT_ARENA_ARRAY(arena, uint32_t, bytecode->count);
    if (walk.blocks == NULL || walk.work == NULL) {
        return dt_no_memory();
    }
    DT_TRY(arrive(&walk, 0, entry_depth(bytecode), NULL));
    while (walk.work_count > 0) {
        DT_TRY(step(&walk, walk.work[--walk.work_count]));
    }
    if (walk.handlers.count > 0) {
        bytecode->handlers = walk.handlers.items;
        bytecode->handler_count = walk.handlers.count;
        bytecode->blocks = walk.blocks;
    }
    return DT_OK;
}
