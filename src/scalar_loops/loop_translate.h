/* From the bytecode of a loop to a loop program: what the parts of the translator share.
 *
 *   (instruction, kinds of slots and stack) = a block ─► code ─► the blocks that follow
 *
 * There is a block for each instruction that is jumped to *and* each combination of kinds with
 * which control comes there, so kinds are known everywhere and nothing has to be merged.  Between
 * blocks slot i lies in register i, stack position j in three registers behind those, and the
 * objects that values are have registers of their own.  Inside of one a value may lie anywhere, and
 * may be made of others (a tuple of indices).
 *
 * What can't be translated fails where it stands (DT_LOOP_OP_FAIL): the program is of use as long
 * as there are ways around it.
 */
#ifndef DT_SCALAR_LOOPS_LOOP_TRANSLATE_H
#define DT_SCALAR_LOOPS_LOOP_TRANSLATE_H

#include "scalar_loops/loop_program.h"

enum { DT_LOOP_MOST_PARTS = 4 };

typedef struct DtLoopValue DtLoopValue;
struct DtLoopValue {
    uint8_t kind; /* DtLoopKind */
    uint8_t item; /* of an array, and of an iterator over one */
    uint8_t ndim; /* of an array; of what is made of others: how many */
    bool writable;
    int32_t reg;   /* -1: none */
    int32_t box;   /* register with the object that it is, or -1 */
    int32_t entry; /* slot in which the object lay when the loop was entered, or -1 */
    int32_t input; /* the input that the object is, or -1 */
    uint32_t id;   /* equal: the same object */
    DT_BORROWED PyObject *object; /* a constant, or NULL */
    DT_BORROWED PyObject *sample; /* a list or tuple like it; of an input: the object, to look at */
    DtLoopValue *parts;
};

/* Code that is being translated: the loop's own, or a function's that it calls. */
typedef struct DtLoopFrame {
    const struct DtLoopFrame *parent; /* NULL: the loop's own */
    const DtBytecode *bytecode;
    const DtLiveness *liveness; /* NULL: every slot may be read */
    PyObject *globals;          /* NULL: those of the frame in which the loop runs */
    int32_t slots, nslots;      /* its first slot, and how many it has */
    int32_t floor;              /* the stack below it is not its own */
    int32_t next;               /* instruction of the parent behind the call */
    int32_t depth;              /* of calls */
} DtLoopFrame;

typedef struct DtLoopBlock {
    const DtLoopFrame *frame;
    int32_t at;
    int32_t depth;
    DtLoopValue *values; /* slots, then the stack from the bottom */
    uint32_t code;       /* where it begins */
} DtLoopBlock;

typedef struct DtLoopTranslation {
    const DtLoopPlace *place;
    PyObject *globals, *builtins;
    PyObject *const *samples; /* per entry */
    DtArena *arena;           /* of the translation; what the program keeps is in the program's */
    DtLoopProgram *program;
    DT_VEC(DtLoopInstr) code;
    DT_VEC(DtLoopBlock *) blocks;
    DT_VEC(DtLoopFrame *) frames;
    DT_VEC(DtLoopRegister) constants;
    DT_VEC(int32_t) fixed;      /* the registers that they lie in */
    DtLoopValue iterator;       /* the loop's own */
    DtLoopValue *slots, *stack; /* here and now */
    DtLoopValue *held;          /* popped values that are still to be used, and ... */
    int nheld;
    DtLoopValue operands[2]; /* ... what a jump compares */
    const DtLoopFrame *frame;
    int32_t at; /* the next instruction */
    int32_t depth;
    int32_t nroot;     /* slots of the loop's own frame */
    int32_t nslots;    /* with those of functions that it calls */
    int32_t positions; /* of the stack */
    int32_t floor;     /* the stack below it is not the loop's */
    int32_t registers; /* used so far */
    uint32_t ids;
    bool ended;      /* the block has no further instruction */
    bool comes_back; /* an iteration can be followed to its end */
    bool no_memory;
} DtLoopTranslation;

/* Fills t->program; false: no iteration can be followed, or no_memory. */
bool dt_loop_translate(DtLoopTranslation *t, const DtLoopEntrySlot *entry);
/* Slot of the function that is being translated; false: it is none that can be stored. */
void dt_loop_translate_store(DtLoopTranslation *t, int32_t slot);

/* ---- Code and values (loop_state.c) ---------------------------------------------------------- */

/* A new register; an instruction into it or from it. */
int32_t dt_loop_state_register(DtLoopTranslation *t);
void dt_loop_state_emit_instr(DtLoopTranslation *t, DtLoopInstr instr);
void dt_loop_state_emit(DtLoopTranslation *t, DtLoopOp op, int32_t d, int32_t a, int32_t b);
/* The same with a third and a fourth operand; or with a place to go to. */
void dt_loop_state_emit_more(DtLoopTranslation *t, DtLoopOp op, int32_t d, int32_t a, int32_t b,
                             int32_t c, int32_t e);
void dt_loop_state_emit_jump(DtLoopTranslation *t, DtLoopOp op, int32_t d, int32_t a, int32_t b,
                             uint32_t to);
/* What follows can't be translated. */
void dt_loop_state_fail(DtLoopTranslation *t);

/* Where values lie between blocks: stack position, the object in a slot or stack position (behind
 * the slots); and what is free for everything else. */
int32_t dt_loop_state_stack_register(const DtLoopTranslation *t, int32_t position);
int32_t dt_loop_state_box_register(const DtLoopTranslation *t, int32_t place);
int32_t dt_loop_state_first_register(const DtLoopTranslation *t);
/* Who lies in a register that is about to be written moves: stack values and held ones. */
void dt_loop_state_evacuate(DtLoopTranslation *t, int32_t reg);
/* Stack values go where the next block looks for them. */
void dt_loop_state_put_in_place(DtLoopTranslation *t);
/* Did the last instruction make the value, for nobody else? */
bool dt_loop_state_is_just_made(const DtLoopTranslation *t, const DtLoopValue *value);

extern const DtLoopValue dt_loop_nothing;
static inline bool
dt_loop_value_is_made(const DtLoopValue *value)
{
    return value->kind >= DT_LOOP_TUPLE;
}

static inline bool
dt_loop_value_is_iterator(const DtLoopValue *value)
{
    return value->kind == DT_LOOP_RANGE || value->kind == DT_LOOP_WALK;
}

void dt_loop_state_push(DtLoopTranslation *t, DtLoopValue value);
DtLoopValue dt_loop_state_pop(DtLoopTranslation *t);
/* A new number that op makes of two registers. */
void dt_loop_state_push_op(DtLoopTranslation *t, DtLoopKind kind, DtLoopOp op, int32_t a,
                           int32_t b);
DtLoopValue dt_loop_state_new(DtLoopTranslation *t, DtLoopKind kind, int32_t reg);
/* Something made of `count` values. */
DtLoopValue dt_loop_state_made(DtLoopTranslation *t, DtLoopKind kind, const DtLoopValue *parts,
                               int count);
/* A register that holds a constant. */
int32_t dt_loop_state_constant(DtLoopTranslation *t, DtLoopRegister value);

/* ---- Objects (loop_objects.c) ---------------------------------------------------------------- */

/* A constant, of the code or of a name. */
DtLoopValue dt_loop_objects_constant(DtLoopTranslation *t, PyObject *object);
/* What a name of the dict (NULL: of the frame's globals) is now, or else of the builtins; the
 * program relies on it. */
bool dt_loop_objects_name(DtLoopTranslation *t, PyObject *dict, bool global, PyObject *name,
                          DtLoopValue *out);
/* What is read when the loop is entered; `of` is the object whose attribute it is now, or the cell.
 */
bool dt_loop_objects_input(DtLoopTranslation *t, DtLoopInput input, PyObject *of, DtLoopValue *out);
/* The object in a register, of the kind that the sample has. */
DtLoopValue dt_loop_objects_read(DtLoopTranslation *t, int32_t box, PyObject *sample);
/* What a list or tuple like that holds; NULL: nothing. */
PyObject *dt_loop_objects_sample(const DtLoopValue *sequence);
/* A register with an object that was there when the loop was entered, and the object, to look at;
 * -1: it is none. */
int32_t dt_loop_objects_pointer(DtLoopTranslation *t, const DtLoopValue *value, PyObject **sample);
/* A register with the object that a value is, made if there is none yet; -1: that is not known. */
int32_t dt_loop_objects_box(DtLoopTranslation *t, const DtLoopValue *value);

/* ---- Functions that are called (loop_frames.c) ----------------------------------------------- */

/* Slots and stack positions that are kept for them. */
enum { DT_LOOP_CALLEE_SLOTS = 40, DT_LOOP_CALLEE_POSITIONS = 24 };

/* The code of a function of Python follows, with these arguments; false: it can't be. */
bool dt_loop_frames_enter(DtLoopTranslation *t, PyObject *function, const DtLoopValue *args,
                          int count, int32_t next);
/* The value on top is what the function gives. */
void dt_loop_frames_leave(DtLoopTranslation *t);

/* ---- Blocks and jumps (loop_blocks.c) -------------------------------------------------------- */

/* The block for what is there now, as its number; DT_LOOP_NOWHERE: there are too many, or something
 * is under way that only this block knows. */
#define DT_LOOP_NOWHERE UINT32_MAX
uint32_t dt_loop_blocks_find(DtLoopTranslation *t, int32_t at);

/* The block ends, and control goes to instruction `to`. */
void dt_loop_blocks_go(DtLoopTranslation *t, int32_t to, bool backward);
/* ... in one of two others: at `yes` if the jump (a JUMP_* with operands a, b) is taken, else at
 * `no`. */
void dt_loop_blocks_branch(DtLoopTranslation *t, DtLoopOp jump, int32_t a, int32_t b, int32_t yes,
                           int32_t no);
/* One way of two: what follows is made where the jump is not taken; behind dt_loop_blocks_land(),
 * with the stack as deep as it was, where it is.  Both ways end the block. */
uint32_t dt_loop_blocks_fork(DtLoopTranslation *t, DtLoopOp jump, int32_t a, int32_t b);
void dt_loop_blocks_land(DtLoopTranslation *t, uint32_t skip, int32_t depth);
/* ... at `next` with what the iterator on top gives, or at `end` without it. */
void dt_loop_blocks_iterate(DtLoopTranslation *t, int32_t next, int32_t end);
/* The instruction of the program that a jump goes to, once all blocks are translated. */
uint32_t dt_loop_blocks_resolve(const DtLoopTranslation *t, uint32_t to);

/* ---- Operators (loop_arithmetic.c) ----------------------------------------------------------- */

/* A register with the number as a double. */
int32_t dt_loop_arithmetic_real(DtLoopTranslation *t, const DtLoopValue *value);
void dt_loop_arithmetic_binary(DtLoopTranslation *t, int plain);
void dt_loop_arithmetic_unary(DtLoopTranslation *t, DtOp op);
void dt_loop_arithmetic_compare(DtLoopTranslation *t, int how);
/* A register with the truth of a value, or -1. */
int32_t dt_loop_arithmetic_truth(DtLoopTranslation *t, const DtLoopValue *value);

/* ---- Items (loop_items.c) -------------------------------------------------------------------- */

void dt_loop_items_get(DtLoopTranslation *t);
void dt_loop_items_set(DtLoopTranslation *t);
void dt_loop_items_attribute(DtLoopTranslation *t, PyObject *name);
/* The same for a call: of an object that is no module, a method. */
void dt_loop_items_method(DtLoopTranslation *t, PyObject *name);
void dt_loop_items_unpack(DtLoopTranslation *t, int32_t count);

/* ---- Calls (loop_calls.c) -------------------------------------------------------------------- */

/* A call with `count` positional arguments on the stack, above the callable, which takes `below`
 * places; the block ends at `next` where the result may be one of two values. */
void dt_loop_calls_call(DtLoopTranslation *t, int32_t count, int below, int32_t next);

#endif
