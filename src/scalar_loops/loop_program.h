/* A loop over numbers and items of arrays as a program of its own.
 *
 *   bytecode of the loop ─translate─► program ─run─► registers ─► the frame, behind an iteration
 *
 * A loop that is hot is translated for the kinds of what lies in the frame's slots.  The program
 * runs whole iterations; where it can't go on (an error, a number of more than 64 bits, a value of
 * another kind, a way through the loop that it does not know) the iteration that it is in is taken
 * back, and the frame makes it, from its beginning.  So everything that the program does not do, it
 * need not know: exceptions, warnings and their lines are the interpreter's.
 *
 * Nothing that could run code of the program is part of a loop program, so nothing that it has read
 * can change meanwhile, and nobody sees the frame before it is put in order.
 */
#ifndef DT_SCALAR_LOOPS_LOOP_PROGRAM_H
#define DT_SCALAR_LOOPS_LOOP_PROGRAM_H

#include "bytecode/decode.h"
#include "bytecode/liveness.h"
#include "core/vec.h"
#include "scalar_loops/loop_values.h"

/* Slots of code whose loops are translated. */
enum { DT_LOOP_MOST_SLOTS = 64 };

typedef enum DtLoopOp {
#define DT_LOOP_OP(NAME, DOC) DT_LOOP_OP_##NAME,
#include "scalar_loops/loop_ops.def"
#undef DT_LOOP_OP
    DT_LOOP_OP_COUNT
} DtLoopOp;

typedef double (*DtLoopFunction)(double);
typedef double (*DtLoopFunction2)(double, double);

typedef struct DtLoopInstr {
    uint16_t op; /* DtLoopOp */
    uint16_t d, a, b;
    union {
        struct {
            uint16_t c, e;
        } more;
        uint32_t to; /* an instruction, a block while it is translated, or a commit */
        DtLoopFunction function;
        DtLoopFunction2 function2;
        const DtLoopCall *call;
    } u;
} DtLoopInstr;

/* Where a loop stands in its code. */
typedef struct DtLoopPlace {
    const DtBytecode *bytecode;
    const DtLiveness *liveness; /* NULL: the code looks at its own locals */
    int32_t at; /* where an iteration is entered: the head, or behind a FOR_ITER and its target */
    int32_t head;
    int32_t last;  /* the jump back from furthest behind */
    bool iterates; /* the head is a FOR_ITER ... */
    bool pushed;   /* ... whose value lies on the stack at `at` */
    /* Module code keeps its variables in its globals: they are slots behind those of the frame. */
    PyObject **names;
    int32_t nslots; /* of both */
} DtLoopPlace;

/* Where the value of a slot comes from when an iteration has ended. */
typedef enum DtLoopFrom {
    DT_LOOP_FROM_REGISTER, /* a new object for a number */
    DT_LOOP_FROM_BOX,      /* the object in a register */
    DT_LOOP_FROM_ENTRY,    /* what lay in slot `from` when the loop was entered */
    DT_LOOP_FROM_OBJECT,   /* a constant */
} DtLoopFrom;

typedef struct DtLoopWrite {
    int32_t slot;
    uint8_t how;  /* DtLoopFrom */
    uint8_t kind; /* of a new object */
    int32_t from; /* register; of a new object that an earlier write has made: ~(that write) */
    PyObject *object;
} DtLoopWrite;

/* The state between two iterations: what to put into the frame if it is the last one. */
typedef struct DtLoopCommit {
    DtLoopWrite *writes;
    uint32_t count;
} DtLoopCommit;

/* A name that the loop reads: the program holds as long as it has this value, which is a number, a
 * module, a class or a function.  Of what else a name is only the kind is relied on (DtLoopInput).
 */
typedef struct DtLoopName {
    PyObject *dict;   /* DT_OWNED; NULL: the frame's globals */
    bool global;      /* it may be one of the builtins, too */
    PyObject *name;   /* DT_BORROWED: of the code */
    PyObject *object; /* DT_OWNED */

    uint64_t versions[2]; /* of the dict, and of the builtins, when it was looked up last */
} DtLoopName;

/* A function that it calls: the program holds as long as it has this code, and these defaults. */
typedef struct DtLoopCallee {
    PyObject *function, *code, *defaults; /* DT_OWNED */
} DtLoopCallee;

/* What the loop reads besides slots, when it is entered: a number, an array ... */
typedef enum DtLoopInputFrom {
    DT_LOOP_INPUT_ATTRIBUTE,          /* of the object in slot `from` */
    DT_LOOP_INPUT_ATTRIBUTE_OF_INPUT, /* of that of input `from` */
    DT_LOOP_INPUT_CELL,               /* what the cell in slot `from` holds */
    DT_LOOP_INPUT_SLOT,               /* the object in slot `from` itself */
    DT_LOOP_INPUT_NAME,               /* what a name of the globals is */
} DtLoopInputFrom;

/* What a slot held when the loop was entered. */
typedef struct DtLoopEntrySlot {
    uint8_t kind;     /* DtLoopKind */
    uint8_t item;     /* of an array */
    uint8_t ndim;     /* of an array */
    uint8_t writable; /* of an array */
} DtLoopEntrySlot;

typedef struct DtLoopInput {
    uint8_t how; /* DtLoopInputFrom */
    int32_t from;
    PyTypeObject *type; /* of the object whose attribute it is; only compared ... */
    unsigned version;   /* ... and which state of it, a number that no other type has */
    PyObject *name;     /* DT_BORROWED: of the code */
    PyObject *dict;     /* DT_OWNED: where the name is; NULL: the frame's globals */
    DtLoopEntrySlot entry;
    int32_t reg, box; /* registers of the value and the object */
} DtLoopInput;

typedef struct DtLoopProgram DtLoopProgram;
struct DtLoopProgram {
    DtLoopProgram *next;
    DtArena arena;
    DtLoopEntrySlot *entry; /* per slot, then what FOR_ITER has pushed, and its iterator */
    DtLoopInstr *code;
    uint32_t nregisters;
    DtLoopRegister *registers; /* with constants in their places */
    int32_t iterator;          /* first register of the loop's own, or -1 */
    int32_t value;             /* of what it has given and is on the stack, or -1 */
    DT_VEC(DtLoopCommit) commits;
    DT_VEC(DtLoopName) names;
    DT_VEC(DtLoopInput) inputs;
    DT_VEC(DtLoopCallee) callees;
    uint32_t saved; /* the most writes of a commit */
    bool *written;  /* per slot: may its value become another one? */
    bool items;     /* scalars of a library are computed with */
    uint64_t runs, iterations, failures;
};

/* Entries behind those of the slots. */
enum { DT_LOOP_ENTRY_PUSHED, DT_LOOP_ENTRY_ITERATOR, DT_LOOP_ENTRIES };

/* Translates the loop for what `entry` says; `samples` are the objects (of an iterator: what it
 * walks over), from which it is told what lies in lists.  *out NULL: no iteration of it can be
 * followed.  DT_ERROR: MemoryError.  The caller keeps `place` and what it refers to as long as the
 * program. */
DtStatus dt_loop_program_new(const DtLoopPlace *place, const DtLoopEntrySlot *entry,
                             PyObject *const *samples, PyObject *globals, PyObject *builtins,
                             DtLoopProgram **out) DT_MUST_CHECK;
/* What the name is now: 1 and *object, 0 or -1 if it can't be told.  Runs no user code. */
int dt_loop_program_look_up(const DtLoopName *name, PyObject *globals, PyObject *builtins,
                            PyObject **object);
/* What the input is now, borrowed, if it is one of `of` (what the cell `of` holds, a name of the
 * dict `of`); NULL: that has become of another kind, or can't be told. */
PyObject *dt_loop_program_read_input(const DtLoopInput *input, PyObject *of);
void dt_loop_program_free(DtLoopProgram *program);
int dt_loop_program_traverse(const DtLoopProgram *program, visitproc visit, void *arg);

/* How a run has ended. */
typedef enum DtLoopEnd {
    DT_LOOP_END_NOTHING, /* not even one iteration: the frame is as it was */
    DT_LOOP_END_ITERATIONS,
    DT_LOOP_END_TOO_LONG, /* and no iteration that could be finished soon enough */
} DtLoopEnd;

/* New objects of a run, and those that lists have let go of. */
enum { DT_LOOP_MOST_OWNED = 512 };

typedef struct DtLoopRun {
    uint32_t nowned; /* out: the caller lets go of them */
    PyObject *owned[DT_LOOP_MOST_OWNED];
    DtLoopRegister *registers; /* program->nregisters */
    DtLoopRegister *saved;     /* program->saved + 3: of the last commit, and its iterator behind */
    const DtLoopCommit *commit; /* out: the last one */
    uint64_t iterations;        /* out */
    bool failed;                /* out: the next iteration can't be followed */
} DtLoopRun;

/* Runs it from its beginning.  Sets no error, runs no code of the program, keeps the GIL. */
DtLoopEnd dt_loop_machine_run(const DtLoopProgram *program, DtLoopRun *run);

#endif
