/* Points and landings; see places.h.
 *
 * The state that flows along the edges is one context and, on 3.10, one chain of open blocks.  A
 * handler is *entered* with what was saved below its exception; PUSH_EXC_INFO makes it *run*, and
 * POP_EXCEPT ends it.  A SWAP that reaches below the base brings the saved value to the top, for
 * a POP_EXCEPT that follows; in between the frame is neither here nor there (`moved`).
 */
#include "bytecode/places.h"

#include "compat/errors.h"
#include "core/vec.h"

enum { UNSEEN = -2, UNCLEAR = -1, MAX_STEPS = 16 };

typedef enum ContextKind { PLAIN, ENTERED, RUNNING, MOVED } ContextKind;

typedef struct State {
    int32_t context;
    int32_t block;
} State;

typedef struct Walk {
    DtArena *arena;
    const DtBytecode *bytecode;
    DtPlaces *out;
    State *states;
    uint32_t *work;
    uint32_t work_count;
    DT_VEC(DtContext) contexts;
    DT_VEC(DtOpenBlock) blocks;
    bool no_memory;
} Walk;

/* --- contexts and blocks, each made once ------------------------------- */

static int32_t
make_context(Walk *walk, DtContext wanted)
{
    for (uint32_t i = 0; i < walk->contexts.count; i++) {
        const DtContext *known = &walk->contexts.items[i];
        if (known->outer == wanted.outer && known->kind == wanted.kind && known->key == wanted.key
            && known->base == wanted.base && known->block == wanted.block) {
            return (int32_t)i;
        }
    }
    walk->no_memory |= dt_vec_push(walk->arena, &walk->contexts, wanted) != 0;
    return walk->no_memory ? UNCLEAR : (int32_t)walk->contexts.count - 1;
}

static int32_t
make_block(Walk *walk, DtOpenBlock wanted)
{
    for (uint32_t i = 0; i < walk->blocks.count; i++) {
        const DtOpenBlock *known = &walk->blocks.items[i];
        if (known->outer == wanted.outer && known->context == wanted.context
            && known->handler == wanted.handler && known->level == wanted.level) {
            return (int32_t)i;
        }
    }
    walk->no_memory |= dt_vec_push(walk->arena, &walk->blocks, wanted) != 0;
    return walk->no_memory ? -1 : (int32_t)walk->blocks.count - 1;
}

static int32_t
kind_of(const Walk *walk, int32_t context)
{
    return context < 0 ? UNCLEAR : walk->contexts.items[context].kind;
}

/* The same context with another kind. */
static int32_t
turn(Walk *walk, int32_t context, ContextKind kind)
{
    DtContext turned = walk->contexts.items[context];
    turned.kind = (int32_t)kind;
    return make_context(walk, turned);
}

/* Leaves every context that needs more of the stack than there is. */
static int32_t
cut(const Walk *walk, int32_t context, int32_t depth)
{
    while (context > 0 && walk->contexts.items[context].base > depth) {
        context = walk->contexts.items[context].outer;
    }
    return context;
}

/* --- edges --------------------------------------------------------------- */

static void
arrive(Walk *walk, int32_t index, State state)
{
    State *known = &walk->states[index];
    State merged = state;
    if (known->context != UNSEEN) {
        bool same = known->context == state.context && known->block == state.block;
        if (same || known->context == UNCLEAR) {
            return;
        }
        merged = (State){UNCLEAR, -1};
    }
    *known = merged;
    walk->work[walk->work_count++] = (uint32_t)index;
}

/* An exception in `instr` on 3.11 and later. */
static void
raise_to_handler(Walk *walk, const DtInstr *instr, State state)
{
    const DtHandler *handler = &walk->bytecode->handlers[instr->handler];
    int32_t outer = state.context;
    if (outer != UNCLEAR) {
        /* What is moved is so for the moment of a POP_EXCEPT, which does not raise. */
        outer = kind_of(walk, outer) == MOVED ? turn(walk, outer, RUNNING) : outer;
        outer = cut(walk, outer, handler->depth);
        DtContext entered = {
            .outer = outer,
            .kind = ENTERED,
            .base = handler->depth + DT_HANDLER_PUSHED(handler),
            .key = handler->target,
            .block = -1,
        };
        outer = make_context(walk, entered);
    }
    arrive(walk, handler->target, (State){outer, -1});
}

/* SETUP_FINALLY on 3.10: the block is open behind it, its handler runs with what it saved. */
static State
open_block(Walk *walk, const DtInstr *instr, int32_t depth, State state)
{
    int32_t level = depth - instr->arg;
    if (state.context == UNCLEAR) {
        arrive(walk, instr->target, state);
        return state;
    }
    DtContext running = {
        .outer = state.context,
        .kind = RUNNING,
        .base = level + 3,
        .key = instr->target,
        .block = state.block,
    };
    arrive(walk, instr->target, (State){make_context(walk, running), -1});
    DtOpenBlock open = {state.block, state.context, instr->target, level};
    return (State){state.context, make_block(walk, open)};
}

static State
pop_except(Walk *walk, State state)
{
    int32_t context = state.context;
    if (kind_of(walk, context) == ENTERED) {
        context = walk->contexts.items[context].outer; /* a clean-up: the handler around it ends */
    }
    if (context <= 0) {
        return (State){UNCLEAR, -1};
    }
    return (State){walk->contexts.items[context].outer, walk->contexts.items[context].block};
}

/* What an instruction does to the state; `depth` before it. */
static State
step_state(Walk *walk, const DtInstr *instr, State state)
{
    if (state.context == UNCLEAR) {
        if (instr->op == DT_OP_SETUP_FINALLY) {
            arrive(walk, instr->target, state);
        }
        return state;
    }
    switch (instr->op) {
    case DT_OP_PUSH_EXC_INFO:
        state.context =
            kind_of(walk, state.context) == ENTERED ? turn(walk, state.context, RUNNING) : UNCLEAR;
        return state;
    case DT_OP_SWAP:
        if (instr->depth - instr->arg < walk->contexts.items[state.context].base) {
            state.context = turn(walk, state.context, MOVED);
        }
        return state;
    case DT_OP_POP_EXCEPT:
    case DT_OP_POP_EXCEPT_TRIPLE:
    case DT_OP_END_ASYNC_FOR_TRIPLE:
        return pop_except(walk, state);
    case DT_OP_SETUP_FINALLY:
        return open_block(walk, instr, instr->depth, state);
    case DT_OP_POP_BLOCK:
        state.block = state.block < 0 ? -1 : walk->blocks.items[state.block].outer;
        return state;
    default:
        return state;
    }
}

static void
step(Walk *walk, uint32_t index)
{
    const DtInstr *instr = &walk->bytecode->instrs[index];
    State state = walk->states[index];
    int32_t rest = instr->depth - dt_canonical_popped(instr->op, instr->arg, instr->flags);
    /* 3.10's handlers are entered where their blocks are opened; PUSH_EXC_INFO does not raise. */
    bool raises = !DT_PY310 && instr->op != DT_OP_PUSH_EXC_INFO;
    if (instr->handler >= 0 && raises) {
        raise_to_handler(walk, instr, state);
    }
    state = step_state(walk, instr, state);
    if (instr->target >= 0 && instr->op != DT_OP_SETUP_FINALLY) {
        int32_t depth = rest + dt_canonical_pushed(instr->op, instr->arg, instr->flags, true);
        arrive(walk, instr->target, (State){cut(walk, state.context, depth), state.block});
    }
    if (dt_canonical_falls_through(instr->op)) {
        int32_t depth = rest + dt_canonical_pushed(instr->op, instr->arg, instr->flags, false);
        arrive(walk, (int32_t)index + 1, (State){cut(walk, state.context, depth), state.block});
    }
}

/* --- flags --------------------------------------------------------------- */

static bool
is_prologue(int op)
{
    return op == DT_OP_COPY_FREE_VARS || op == DT_OP_MAKE_CELL;
}

static int32_t
find_entry(const DtBytecode *bytecode)
{
    const DtInstr *instrs = bytecode->instrs;
    uint32_t i = 0;
    while (i < bytecode->count && is_prologue(instrs[i].op)) {
        i++;
    }
    if (i + 2 < bytecode->count && instrs[i].op == DT_OP_RETURN_GENERATOR) {
        i += 2; /* and the POP_TOP of the value that starts it */
    }
    if (i < bytecode->count && (instrs[i].op == DT_OP_RESUME || instrs[i].op == DT_OP_GEN_START)) {
        i++;
    }
    return (int32_t)i;
}

static bool
is_plain_move(int op)
{
    switch (op) {
    case DT_OP_NOP:
    case DT_OP_RESUME:
    case DT_OP_POP_TOP:
    case DT_OP_COPY:
    case DT_OP_SWAP:
    case DT_OP_PUSH_NULL:
    case DT_OP_LOAD_CONST:
    case DT_OP_LOAD_FAST:
    case DT_OP_LOAD_FAST_AND_CLEAR:
    case DT_OP_STORE_FAST:
    case DT_OP_LOAD_CLOSURE:
    case DT_OP_KW_NAMES:
    case DT_OP_JUMP:
    case DT_OP_SETUP_FINALLY:
    case DT_OP_POP_BLOCK:
        return true;
    default:
        return false;
    }
}

/* Whether the instruction belongs to the one before it: names for a call, 3.11's PRECALL. */
static bool
is_inside_call(const DtBytecode *bytecode, uint32_t index)
{
    const DtInstr *instrs = bytecode->instrs;
    if (index == 0) {
        return false;
    }
    bool precall = DT_PY311 && instrs[index].op == DT_OP_CALL && instrs[index - 1].op == DT_OP_NOP;
    return instrs[index - 1].op == DT_OP_KW_NAMES || precall;
}

/* What CPython itself looks at when it runs, by the instructions before or behind: what a generator
 * waits for, and on 3.10 whose awaitable it was, for the text of an error. */
static bool
has_neighbours(const DtBytecode *bytecode, uint32_t index)
{
    switch (bytecode->instrs[index].op) {
    case DT_OP_SEND:
    case DT_OP_END_SEND:
    case DT_OP_YIELD_FROM:
        return true;
    case DT_OP_GET_AWAITABLE:
        return DT_PY310;
    case DT_OP_CALL_FUNCTION:
        return index > 0 && bytecode->instrs[index - 1].op == DT_OP_COPY;
    default:
        return false;
    }
}

static int32_t
flags_of(const Walk *walk, uint32_t index)
{
    const DtInstr *instr = &walk->bytecode->instrs[index];
    int32_t kind = kind_of(walk, walk->states[index].context);
    if ((int32_t)index < walk->out->entry || instr->depth < 0 || (kind != PLAIN && kind != RUNNING)
        || instr->flags & (DT_INSTR_CONTINUES | DT_INSTR_SYNTHETIC) || instr->op == DT_OP_RESUME
        || is_inside_call(walk->bytecode, index)) {
        return 0;
    }
    return has_neighbours(walk->bytecode, index) ? DT_PLACE_LANDING
                                                 : DT_PLACE_LANDING | DT_PLACE_POINT;
}

/* The loop behind a SEND is of one piece. */
static void
close_send_loops(DtPlaces *out)
{
    const DtBytecode *bytecode = out->bytecode;
    for (uint32_t i = 0; i < bytecode->count; i++) {
        if (bytecode->instrs[i].op != DT_OP_SEND) {
            continue;
        }
        for (uint32_t k = i + 1; k < bytecode->count; k++) {
            int op = bytecode->instrs[k].op;
            bool back = op == DT_OP_JUMP && bytecode->instrs[k].flags & DT_INSTR_NO_INTERRUPT;
            if (op != DT_OP_YIELD_VALUE && op != DT_OP_RESUME && !back) {
                break;
            }
            out->places[k].flags = 0;
        }
    }
}

/* A loop's jump backward ends a segment of its body. */
static bool
ends_a_round(const DtBytecode *bytecode, uint32_t i)
{
    int32_t target = bytecode->instrs[i].target;
    return bytecode->instrs[i].op == DT_OP_JUMP && target >= 0 && target <= (int32_t)i;
}

static void
mark_pads(DtPlaces *out)
{
    for (uint32_t i = 0; i < out->bytecode->count; i++) {
        if (!is_plain_move(out->bytecode->instrs[i].op) || ends_a_round(out->bytecode, i)) {
            int32_t landing = dt_places_landing_before(out, (int32_t)i);
            if (landing >= 0) {
                out->places[landing].flags |= DT_PLACE_PAD;
            }
        }
    }
}

static void
fill_places(Walk *walk)
{
    DtPlaces *out = walk->out;
    const DtBytecode *bytecode = walk->bytecode;
    for (uint32_t i = 0; i < bytecode->count; i++) {
        int32_t context = walk->states[i].context;
        out->places[i] =
            (DtPlace){context < 0 ? -1 : context, walk->states[i].block, flags_of(walk, i)};
    }
    /* Where an exception arrives, what is on the stack is the interpreter's. */
    for (uint32_t i = 0; i < bytecode->handler_count; i++) {
        out->places[bytecode->handlers[i].target].flags = 0;
    }
    close_send_loops(out);
    mark_pads(out);
}

/* --- entry --------------------------------------------------------------- */

DtStatus
dt_places_build(DtArena *arena, const DtBytecode *bytecode, DtPlaces *places)
{
    Walk walk = {.arena = arena, .bytecode = bytecode, .out = places};
    *places = (DtPlaces){.bytecode = bytecode, .entry = find_entry(bytecode)};
    places->places = DT_ARENA_ARRAY(arena, DtPlace, bytecode->count + 1);
    walk.states = DT_ARENA_ARRAY(arena, State, bytecode->count + 1);
    walk.work = DT_ARENA_ARRAY(arena, uint32_t, 2 * bytecode->count + 1); /* seen, then unclear */
    if (places->places == NULL || walk.states == NULL || walk.work == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < bytecode->count; i++) {
        walk.states[i] = (State){UNSEEN, -1};
    }
    DtContext outermost = {.outer = -1, .kind = PLAIN, .key = -1, .block = -1};
    arrive(&walk, 0, (State){make_context(&walk, outermost), -1});
    while (walk.work_count > 0 && !walk.no_memory) {
        step(&walk, walk.work[--walk.work_count]);
    }
    if (walk.no_memory) {
        return dt_no_memory();
    }
    places->contexts = walk.contexts.items;
    places->context_count = walk.contexts.count;
    places->blocks = walk.blocks.items;
    places->block_count = walk.blocks.count;
    fill_places(&walk);
    return DT_OK;
}

bool
dt_places_is_edge(const DtPlaces *places, int32_t p, int32_t q)
{
    return places->places[p].flags & DT_PLACE_POINT && places->places[q].flags & DT_PLACE_LANDING
           && places->places[p].context == places->places[q].context;
}

int32_t
dt_places_landing_before(const DtPlaces *places, int32_t at)
{
    const DtInstr *instrs = places->bytecode->instrs;
    for (int step = 0; step < MAX_STEPS && at >= 0; step++, at--) {
        if (places->places[at].flags & DT_PLACE_LANDING) {
            return at;
        }
        bool inside =
            instrs[at].flags & DT_INSTR_CONTINUES || is_inside_call(places->bytecode, (uint32_t)at)
            || (at > 0 && instrs[at].op == DT_OP_YIELD_VALUE && instrs[at - 1].op == DT_OP_SEND);
        if (!inside) {
            return -1;
        }
    }
    return -1;
}

bool
dt_places_is_load(const DtPlaces *places, int32_t at)
{
    switch (places->bytecode->instrs[at].op) {
    case DT_OP_PUSH_NULL:
    case DT_OP_LOAD_CONST:
    case DT_OP_LOAD_FAST:
    case DT_OP_LOAD_DEREF:
    case DT_OP_LOAD_GLOBAL:
        return true;
    default:
        return false;
    }
}

/* A point at which nothing but a value's way off the stack comes before another one: the frame does
 * that in less time than a segment, which would have to look at the value. */
static bool
only_takes(const DtPlaces *places, int32_t at)
{
    int op = places->bytecode->instrs[at].op;
    const DtPlace *place = &places->places[at];
    return (op == DT_OP_POP_TOP || op == DT_OP_STORE_FAST)
           && at + 1 < (int32_t)places->bytecode->count && place[1].flags & DT_PLACE_POINT
           && place[1].context == place->context;
}

/* Follows control from `at` to the next point, over what has no choice. */
static int32_t
next_point(const DtPlaces *places, int32_t at)
{
    const DtInstr *instrs = places->bytecode->instrs;
    for (int step = 0; step < MAX_STEPS && at < (int32_t)places->bytecode->count; step++) {
        if (places->places[at].flags & DT_PLACE_POINT && !only_takes(places, at)) {
            return at;
        }
        if (!dt_canonical_falls_through(instrs[at].op) && instrs[at].op != DT_OP_JUMP) {
            return -1;
        }
        bool jumps = instrs[at].op == DT_OP_JUMP || instrs[at].op == DT_OP_SEND;
        at = jumps ? instrs[at].target : at + 1;
    }
    return -1;
}

int
dt_places_after(const DtPlaces *places, int32_t q, int32_t points[2])
{
    const DtBytecode *bytecode = places->bytecode;
    const DtInstr *instrs = bytecode->instrs;
    int count = 0;
    /* To the last canonical instruction of the real one. */
    while (q + 1 < (int32_t)bytecode->count && instrs[q + 1].flags & DT_INSTR_CONTINUES) {
        q++;
    }
    int op = instrs[q].op;
    if (instrs[q].target >= 0 && op != DT_OP_SETUP_FINALLY) {
        points[count] = next_point(places, instrs[q].target);
        count += points[count] >= 0;
    }
    if (dt_canonical_falls_through(op) && op != DT_OP_SEND) {
        points[count] = next_point(places, q + 1);
        count += points[count] >= 0 && (count == 0 || points[0] != points[1]);
    }
    return count;
}
