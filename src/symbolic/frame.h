/* A symbolic frame: a code object being interpreted over trackers.
 *
 * Laid out like CPython's own frame: unified slots (locals, cells, free
 * variables), then a value stack on which NULLs count.  A cell is a DtCellVar
 * that stands in its slot.  Frames live in the trace's arena and are chained
 * through `parent`; trace->frame is the innermost.
 *
 * What is not in here: what instructions do (op_*.c), how calls bind (bind.c).
 */
#ifndef DT_SYMBOLIC_FRAME_H
#define DT_SYMBOLIC_FRAME_H

#include <assert.h>

#include "bytecode/decode.h"
#include "variables/trace.h"

struct DtSymbolicFrame {
    DtSymbolicFrame *parent; /* the caller's, NULL for the root */
    DtSymbolicFrame *root;
    DtBytecode *bytecode;
    PyObject *globals; /* exact dict */
    /* Whose __globals__ they are; NULL: the root's, read by GLOBAL sources. */
    const DtSource *function;
    DtVar **locals; /* bytecode->layout.nslots; NULL: unbound */
    DtVar **consts; /* of the code: trackers, NULL: not loaded yet */
    DtVar **stack;
    int32_t sp; /* number of values on the stack */
    int32_t capacity;
    uint32_t pc;       /* index of the instruction being interpreted */
    uint32_t next;     /* index of the one after it, set by jumps */
    DtVar *names;      /* of a class body: its namespace, a new dict */
    DtVar *dict;       /* what locals() has given, or NULL */
    bool module;       /* module code: its names are its globals */
    PyObject *kwnames; /* tuple pending from KW_NAMES, or NULL */
    DtVar *result;     /* set by RETURN_VALUE, and by what suspends a generator */
    bool suspended;    /* a generator that goes on later: the result is what it yields */
    bool wrapped;      /* what an asynchronous generator yields is a value of its own */
    uint32_t at;       /* of a suspended frame: the instruction that suspended it */
    uint32_t *visits;  /* per instruction: backward jumps to it; made at the first one */
    uint32_t depth;    /* 0 for the root */
    bool polyfill;     /* code of ours in the place of C code: its globals are constants, and nobody
                        * sees the frame */
    /* Root only. */
    DtVar **initial; /* slots and, of a segment, stack as they were found */
    int32_t ninitial;
    DtMap globals_sources; /* globals dict -> source of a function that has it */
    DtMap bytecodes;       /* code object -> what frame.c knows of it: callees are decoded once */
};

typedef DtSymbolicFrame DtFrame;

/* The handler of one canonical op.  frame->next already points at the next instruction. */
typedef DtStatus (*DtOpHandler)(DtTrace *trace, DtFrame *frame, const DtInstr *instr);

/* One row per canonical op, each with a function of its own or the shared break. */
extern const DtOpHandler dt_op_handlers[DT_OP_COUNT];

/* A frame with empty slots and stack; the code is decoded once per trace. */
DtStatus dt_frame_build(DtTrace *trace, PyCodeObject *code, PyObject *globals,
                        const DtSource *function, DtFrame *parent, DtFrame **out) DT_MUST_CHECK;

/* Interprets `frame` to its end; it is trace->frame meanwhile.  *result is what it returns; NULL
 * when the root was cut. */
DtStatus dt_frame_run(DtTrace *trace, DtFrame *frame, DtVar **result) DT_MUST_CHECK;

/* After an instruction of `frame` gave DT_RAISE: goes on at its handler, or DT_RAISE when there is
 * none and the exception leaves the frame. */
DtStatus dt_frame_unwind(DtTrace *trace, DtFrame *frame) DT_MUST_CHECK;
/* The exception handled at this level of generators and coroutines, or None; and setting it (None,
 * or anything that is no exception of the trace: none). */
DtVar *dt_frame_handled_or_none(DtTrace *trace);
void dt_frame_set_handled(DtTrace *trace, DtVar *value);


/* Did the value at this depth of the root's stack (1 is the top) lie there when the segment began?
 * What handlers and loops keep there is theirs: they are left, and go on, by the frame itself. */
bool dt_segment_is_found(const DtTrace *trace, const DtFrame *frame, int32_t depth);

/* The same, wherever it lies now: `return` in a handler moves what is below its result. */
bool dt_segment_holds(const DtTrace *trace, const DtFrame *frame, int32_t depth);

/* The bound slot is read or deleted: where it was found bound, it has to be so at every call, also
 * if nobody looks at the value. */
DtStatus dt_segment_needs_bound(DtTrace *trace, const DtFrame *frame, int slot) DT_MUST_CHECK;

/* The segment ends before the root's current instruction, with nothing to report. */
DtStatus dt_segment_end_here(DtTrace *trace) DT_MUST_CHECK;
/* Before the root calls `callable`.  If that is never followed, whatever its arguments, the segment
 * can end there at once: DT_BREAK, with trace->cut_here where nothing of the call was begun. */
DtStatus dt_segment_check_call(DtTrace *trace, DtFrame *frame, DtVar *callable) DT_MUST_CHECK;

/* Goes on at `target`; a backward jump counts against the unroll limit.  A segment that began
 * inside of a loop does not go around it: its pieces are compiled once each, the loop stays a loop.
 */
DtStatus dt_frame_jump(DtTrace *trace, DtFrame *frame, int32_t target) DT_MUST_CHECK;

/* The truth of `var`, which the instruction at `at` asks for, if that is a jump.  Of a number that
 * the graph computes it is decided where the other way leads to a `raise` alone (expect.c). */
DtStatus dt_frame_branch_truth(DtTrace *trace, const DtFrame *frame, uint32_t at, DtVar *var,
                               bool *truth) DT_MUST_CHECK;

/* The truth as it is in this call, if the attempt knows it or can find it out (guess.c): DT_RESTART
 * to look; *done false: it is not to be guessed. */
DtStatus dt_frame_guess(DtTrace *trace, const DtFrame *frame, uint32_t at, DtVar *var, bool *truth,
                        bool *done) DT_MUST_CHECK;

/* The position of the instruction that `frame` is at; and of all active frames, innermost first
 * (trace->positions). */
DtPosition dt_frame_position(const DtFrame *frame);
uint32_t dt_frame_positions(const DtTrace *trace, DtPosition *out, uint32_t max);

/* The source of `name` in the frame's globals, or NULL with an exception. */
DtStatus dt_frame_global_source(DtTrace *trace, DtFrame *frame, PyObject *name,
                                const DtSource **out) DT_MUST_CHECK;

/* A new cell for slot `slot` of `frame`, holding `contents` (NULL: empty). */
DtStatus dt_frame_new_cell(DtTrace *trace, DtFrame *frame, int slot, DtVar *contents,
                           DtVar **out) DT_MUST_CHECK;

/* A name, for messages. */
const char *dt_frame_text(PyObject *name);

/* The NameError of a name that is nowhere; `format` takes it as %U. */
DtStatus dt_frame_raise_name_error(DtTrace *trace, const char *format, PyObject *name);
/* A slot or cell without a value is read or deleted. */
DtStatus dt_frame_raise_unbound(DtTrace *trace, const DtFrame *frame, int slot);
/* The TypeError of a call whose arguments do not fit `function`. */
DtStatus dt_frame_raise_mismatch(DtTrace *trace, DtFunctionVar *function, const DtArgs *args);

/* Puts the cells of the closure into the free slots. */
DtStatus dt_frame_fill_free_slots(DtFrame *frame, DtCellVar *const *closure,
                                  uint32_t count) DT_MUST_CHECK;

/* Binds arguments to the slots of `frame` by CPython's rules; a mismatch is a graph break with
 * the text of CPython's TypeError. */
DtStatus dt_frame_bind(DtTrace *trace, DtFrame *frame, DtFunctionVar *function,
                       const DtArgs *args) DT_MUST_CHECK;

/* Whether a realised tracker is the builtin `super`. */
bool dt_frame_is_super(DtVar *callable);
/* super(cls, self).name for the LOAD_ATTR, LOAD_METHOD or LOAD_SUPER_* instruction `load`, and
 * pushes as that does; cls NULL: super() without arguments in `frame`. */
DtStatus dt_frame_load_super(DtTrace *trace, DtFrame *frame, DtVar *cls, DtVar *self,
                             const DtInstr *load) DT_MUST_CHECK;

/* The innermost frame of the program that has these globals, or NULL. */
const DtFrame *dt_frame_with_globals(const DtTrace *trace, PyObject *globals);

static inline void
dt_frame_push(DtFrame *frame, DtVar *value)
{
    assert(value != NULL);
    assert(frame->sp < frame->capacity);
    frame->stack[frame->sp++] = value;
}

/* A bool that the trace knows, pushed. */
static inline DtStatus
dt_frame_push_bool(DtTrace *trace, DtFrame *frame, bool value)
{
    DtVar *known;
    DT_TRY(dt_var_bool(trace, value, &known));
    dt_frame_push(frame, known);
    return DT_OK;
}

static inline DtVar *
dt_frame_pop(DtFrame *frame)
{
    assert(frame->sp > 0);
    return frame->stack[--frame->sp];
}

/* The value at depth `depth`; 1 is the top. */
static inline DtVar **
dt_frame_at(DtFrame *frame, int32_t depth)
{
    assert(depth >= 1 && depth <= frame->sp);
    return &frame->stack[frame->sp - depth];
}

/* The handlers; handlers.def says which op uses which. */
#define HANDLER(OP, FUNCTION) DtStatus dt_op_##FUNCTION(DtTrace *, DtFrame *, const DtInstr *);
#define BREAKS(OP, BREAK)
#include "symbolic/handlers.def"
#undef HANDLER
#undef BREAKS

#endif
