/* The native executor's own structures: a graph as a list of stages.
 *
 *   graph ──plan.c──► stages   CALLED  one node, by a Python call           called.c
 *                              FUSED   many elementwise nodes, block-wise   fused.c, layout.c
 *                                      and reductions of them               reduced.c
 *
 * A fused stage has slots, each a pointer into memory while it runs: array inputs,
 * scalar cells, outputs, and registers (block-sized scratch).  Steps are loops over
 * slots.  Whenever a fused stage finds operands that it can't serve with NumPy's bits,
 * it answers "call" and its nodes run one by one as called ones.
 *
 * Everything here is immutable once planned, except scratch memory and layouts, which are
 * taken and put back under the GIL.
 */
#ifndef DT_BACKEND_NATIVE_NATIVE_H
#define DT_BACKEND_NATIVE_NATIVE_H

#include "backend/backend.h"
#include "backend/native/fpflags.h"
#include "backend/native/loops.h"
#include "backend/written.h"
#include "compat/signals.h"

enum {
    DT_FUSED_MAX_NDIM = 8,
    DT_FUSED_MAX_INPUTS = 24,
    DT_FUSED_MAX_SCALARS = 96,
    DT_FUSED_MAX_OPS = 128,
    DT_FUSED_MAX_OUTPUTS = DT_FUSED_MAX_OPS,
    /* Inputs and two casts of each, numbers, results, and what one op needs for itself. */
    DT_FUSED_MAX_SLOTS = 3 * DT_FUSED_MAX_INPUTS + DT_FUSED_MAX_SCALARS + DT_FUSED_MAX_OPS + 16,
};

/* A result of a node. */
typedef struct DtValue {
    const DtNode *node;
    uint32_t result;
} DtValue;

enum {
    DT_STEP_READ = 1,  /* the loop may clear flags: read them before it */
    DT_STEP_CLEAR = 2, /* flags that the loop raises don't count */
    /* What a step runs over, if not the elements of the block: */
    DT_STEP_REDUCE = 4,  /* each row of the block: reduction `reduce` */
    DT_STEP_ROWS = 8,    /* one element for each row of the block */
    DT_STEP_EXPAND = 16, /* copies one element per row to all of the row */
    DT_STEP_OTHER = DT_STEP_REDUCE | DT_STEP_ROWS | DT_STEP_EXPAND,
    DT_STEP_SILENT = 32,    /* the loop raises no flags */
    DT_STEP_MAY_CLEAR = 64, /* flags, whether there are any before it or not */
};

typedef struct DtStep {
    PyArrayMethod_StridedLoop *call;
    PyArrayMethod_Context *context;
    NpyAuxData *auxdata;
    npy_intp strides[DT_LOOP_MAX_ARGS]; /* for dense operands and scalar cells */
    uint16_t slots[DT_LOOP_MAX_ARGS];
    uint8_t nargs;
    uint8_t flags;  /* DT_STEP_* */
    uint8_t reduce; /* REDUCE */
    uint8_t widest; /* bytes of an operand or of the result, at most */
    DtQuads *quads; /* what does the same for a few elements; or NULL */
} DtStep;

typedef struct DtKernel DtKernel; /* kernels.h */

typedef struct DtFusedInput {
    DtValue value;
    const DtKernel *view; /* that the value would be, of what is there; NULL: the value is there */
    int type_num;
    uint8_t size;
    uint8_t allow; /* DtAllow: the strictest of its users */
    uint16_t slot;
} DtFusedInput;

/* A number without an object; see cells.h. */
typedef union DtCell {
    double d;
    float f;
    int64_t i;
    npy_bool b;
    uint64_t raw;
} DtCell;
enum { DT_NO_CELL = UINT16_MAX };

/* A node whose value may be in a cell alone. */
typedef struct DtBox {
    const DtNode *node;
    uint16_t cell;
    uint8_t type; /* DtCellType */
} DtBox;

/* A number: filled in once per call, with stride 0. */
typedef struct DtFusedScalar {
    enum { DT_SCALAR_CONST, DT_SCALAR_SYM, DT_SCALAR_VALUE, DT_SCALAR_NUMBER } kind;
    uint16_t slot;
    uint8_t size;     /* bytes, in the loop */
    int type_num;     /* of the loop */
    const DtSym *sym; /* SYM */
    DtValue value;    /* VALUE: a NumPy scalar or an array of no dimensions; NUMBER: a Python one */
    int from_type;    /* VALUE */
    DtBox box;        /* VALUE, NUMBER: where it is if it has no object; box.node may be NULL */
    uint64_t cell[2]; /* CONST */
} DtFusedScalar;

typedef struct DtFusedOutput {
    const DtNode *node;
    PyArray_Descr *descr; /* DT_BORROWED from the loop */
    uint8_t size;
    uint16_t slot;
    uint8_t op;    /* which op makes it */
    int16_t reuse; /* input whose memory it may take over, or -1 */
    /* It is made for this write to the whole of an array alone, and may be made there at once. */
    const DtNode *write;
    DtValue target;
    bool saves; /* what the array holds is saved, block by block, since the run may fail */
} DtFusedOutput;

/* Register: scratch of `size` bytes per element. */
typedef struct DtFusedRegister {
    uint16_t slot;
    uint8_t size;
} DtFusedRegister;

/* What a node of a fused stage has one element for. */
typedef enum DtLevel {
    DT_LEVEL_FULL,   /* each element of the stage's shape */
    DT_LEVEL_REDUCE, /* each row; made from elements */
    DT_LEVEL_ROW,    /* each row; made from such */
    DT_LEVEL_VIEW,   /* nothing: it is where an input lies */
} DtLevel;

/* How a stage reduces: over its last axes, one result per row, or over its first, one result per
 * column (rows are added up).  All axes count as one row. */
typedef enum DtReduceKind { DT_REDUCES_NOTHING, DT_REDUCES_ROWS, DT_REDUCES_COLUMNS } DtReduceKind;

typedef struct DtFusedReduce {
    const DtLoop *loop;
    uint16_t source; /* slot of the elements */
    uint16_t slot;   /* of the results */
    bool first;      /* begins with the first element, not with the identity */
    bool tree;       /* a sum of floats: cut at the borders of NumPy's pairwise tree only */
    bool cut_shows;  /* the sign of a zero or the bits of a NaN may tell where a row was cut */
    uint64_t identity;
    /* Reduces rows of at most DT_REDUCED_SHORT elements; false: NumPy's loop is to do it.  Or NULL.
     */
    bool (*short_rows)(const char *from, char *to, npy_intp rows, npy_intp length);
    /* The same for columns, of which there are as few. */
    bool (*short_columns)(const char *from, char *to, bool begin, npy_intp rows, npy_intp length);
} DtFusedReduce;

/* A result with one element per row (or column) that is seen outside of the stage. */
typedef struct DtFusedRow {
    const DtNode *node;
    PyArray_Descr *descr; /* DT_BORROWED from the loop */
    uint8_t size;
    uint16_t slot;
    uint16_t cell; /* of a single number that needs no object, or DT_NO_CELL */
    int16_t equal; /* the row whose values it has too, or -1 */
    bool keepdims;
} DtFusedRow;

/* How NumPy chooses the memory order of a new result. */
typedef enum DtOrderRule {
    DT_ORDER_UFUNC,    /* of operands that are dense in one order that one, else the iterator's */
    DT_ORDER_ITERATOR, /* as its iterator sorts axes: where(), ufuncs that cast */
    DT_ORDER_COPY,     /* that of the one operand: astype() */
} DtOrderRule;

/* What layouts are computed from: the array operands of each node. */
typedef struct DtFusedOp {
    const DtNode *node;
    uint8_t level;                      /* DtLevel */
    uint8_t rule;                       /* DtOrderRule */
    uint8_t size;                       /* bytes per element of the result */
    uint8_t nin;                        /* array operands */
    int16_t operands[DT_LOOP_MAX_ARGS]; /* input i, or ~op */
} DtFusedOp;

typedef struct DtFused {
    uint32_t ndim;
    DtFusedInput *inputs;
    uint32_t ninputs;
    DtFusedScalar *scalars;
    uint32_t nscalars;
    uint32_t nvarying; /* of them, the first ones: they are no constants */
    DtFusedOutput *outputs;
    uint32_t noutputs;
    DtFusedRegister *registers;
    uint32_t nregisters;
    DtFusedOp *ops;
    uint32_t nops;
    DtStep *steps;
    uint32_t nsteps;
    uint32_t nquads; /* of the steps, those that have one */
    uint32_t nslots;
    uint32_t register_bytes; /* per element, of all registers */
    npy_intp block;          /* elements */
    bool single_called;      /* one element alone runs other code in NumPy */
    bool dense_called;       /* operands that are not all dense in one order do */
    bool raises;             /* a loop may set an exception */
    bool tells_nans;         /* the sign of a NaN may show in a result that is none */
    bool iterated;           /* an output has the order of NumPy's iterator */
    uint8_t fp_region;       /* of its nodes */
    bool simple;             /* reduces nothing; all outputs are new arrays */
    bool writes;             /* an output may be made in an array that others can see */
    uint8_t reduces;         /* DtReduceKind */
    bool chained;            /* results of rows are used by elements of the same row */
    bool single_row_called;  /* one row alone runs other code in NumPy */
    uint32_t reduce_axes;    /* a bit for each */
    DtFusedReduce *reduce;
    uint32_t nreduce;
    DtFusedRow *rows;
    uint32_t nrows;
    struct DtLayout *
        *layout; /* what is kept of the last one, or NULL: taken and put back by runs */
    struct DtStraight **straight; /* the line of a few elements; NULL: not made yet */
} DtFused;
typedef struct DtStraight DtStraight; /* straight.h */

enum {
    DT_CALLED_QUIET = 1,  /* can't raise floating-point errors: views, item access */
    DT_CALLED_EFFECT = 2, /* a second run could be noticed */
    DT_CALLED_PYTHON = 4, /* may run Python code, which may warn */
    DT_CALLED_SETITEM = 8,
};

typedef struct DtCellStage DtCellStage; /* cells.h */

typedef struct DtStage {
    DtFused *fused;       /* or NULL */
    DtCellStage *cells;   /* or NULL; neither: called */
    DtKernel *kernel;     /* of a called node: what may do instead of the call; or NULL */
    const DtNode **nodes; /* in order; a called stage has one */
    uint8_t *called;      /* per node: DT_CALLED_* */
    binaryfunc *binary;   /* per node: the C function behind its callee, or NULL */
    uint32_t nnodes;
    DtBox *boxes; /* operands that may be in cells, for when nodes are called */
    uint32_t nboxes;
    const DtNode **release; /* values that die with this stage */
    uint32_t nrelease;
    /* A called stage that writes visible memory: is what it changes saved before, because the run
     * may fail yet?  COVERED: it has been saved for an earlier write.  LAST: it is the last that
     * may fail, and only before it has written anything. */
    enum {
        DT_WRITES_NOTHING,
        DT_WRITES_SAVED,
        DT_WRITES_COVERED,
        DT_WRITES_LAST,
        DT_WRITES_AT_END
    } writes;
    const DtNode *value; /* of a write that a fused stage may have made already: then it is gone */
} DtStage;

typedef struct DtStages {
    DtStage *items; /* NULL: not planned */
    uint32_t count;
    uint32_t ncells;
    DtBox *boxes; /* outputs of the graph that may be in cells */
    uint32_t nboxes;
} DtStages;

/* Values and symbols of small graphs live on the C stack. */
enum {
    DT_NATIVE_STACK_VALUES = 256,
    DT_NATIVE_STACK_SYMBOLS = 32,
    DT_NATIVE_STACK_CELLS = 256,
    DT_NATIVE_MAX_CELLS = 32768,
};

typedef struct DtNative {
    DtExecutable base;
    DtArena arena;
    DtStages stages;   /* writes made as late as can be: for inputs that share no memory */
    DtStages strict;   /* writes made where they stand; planned when first needed */
    uint32_t *written; /* inputs that are written */
    uint32_t nwritten;
    bool apart; /* inputs that are written must not overlap others: loops would round otherwise */
    bool needs_symbols;
    const DtFused *lone; /* the whole graph is this simple stage, and returns its outputs */
    struct DtLine *line; /* its stages for a few elements, one behind the other; or NULL */
    bool declines;       /* large arrays are written faster by plain execution */
    uint32_t called_nodes;
    char *scratch; /* cached block memory, or NULL while a run has it */
    size_t scratch_size;
} DtNative;

typedef struct DtPlan DtPlan; /* plan.h */

/* How long a run goes on while a signal waits for its Python handler: lanes.c. */
typedef struct DtPatience {
    const PyThreadState *thread; /* which runs the handlers */
    int64_t since;               /* when one was first seen to wait, on dt_clock_ns(); 0: none */
} DtPatience;

/* A signal waits: for too long?  False for a while from when it is first asked. */
bool dt_patience_ends(DtPatience *patience);

/* May be asked without the GIL. */
static inline bool
dt_patience_is_over(DtPatience *patience)
{
    return DT_UNLIKELY(dt_signals_wait(patience->thread)) && dt_patience_ends(patience);
}

/* One run. */
typedef struct DtNativeRun {
    DtNative *exe;
    PyObject **values;
    DtNumber *symbols;
    DtCell *cells;
    PyObject *errstate; /* token that restores the context's errstate, or NULL */
    uint8_t fp_region;  /* that it was made for */
    bool committed;     /* an effect has happened */
    bool strayed;       /* a branch that was guessed goes the other way */
    DtWrittenLog log;   /* what was written and can be taken back */
    DtPatience patience;
} DtNativeRun;

/* From this many bytes on, passes over memory cost more than calls of NumPy. */
enum { DT_LARGE_WRITE = 48 << 10 };

/* direct.c: finds the writes that fused stages can make themselves. */
DtStatus dt_direct_plan(DtNative *exe, DtPlan *plan, DtStages *stages) DT_MUST_CHECK;

/* plan.c */
DtStatus dt_native_plan(DtNative *exe, bool strict) DT_MUST_CHECK;

/* write.c */
/* An assignment to items that can neither fail nor report anything. */
bool dt_write_is_sure(const DtNode *node);
/* One that may fail, but not after it has written anything, and that reports nothing. */
bool dt_write_is_whole(const DtNode *node);
/* Whether the value can be put into such an array without an error or a warning, if the shapes fit.
 */
bool dt_write_is_plain(const DtOperand *value, const DtMeta *target);
/* Sure is also looking at an array in another way. */
bool dt_write_is_sure_view(const DtNode *node);
/* May the inputs that the graph writes be written, and do they share memory with no other? */
typedef enum DtWriteInputs { DT_WRITE_APART, DT_WRITE_OVERLAP, DT_WRITE_REFUSED } DtWriteInputs;
DtWriteInputs dt_write_check_inputs(const DtNative *exe, PyObject *const *inputs);
/* Makes an assignment to items (DT_CALLED_SETITEM); -1 with an exception. */
int dt_write_run(const DtNode *node, DtNativeRun *run);

/* fused.c: DT_FUSED_CALL = nothing has happened, run the nodes one by one. */
typedef enum DtFusedRun {
    DT_FUSED_OK,
    DT_FUSED_CALL,
    DT_FUSED_REPLAY,
    DT_FUSED_OTHER_WAY, /* of cells, and lines with some */
    DT_FUSED_ERROR
} DtFusedRun;
DtFusedRun dt_fused_run(const DtFused *fused, DtNativeRun *run);
/* kernels_views.c: a view that is no object, for as long as the array is there. */
typedef struct DtViewed {
    PyArrayObject_fields array;
    npy_intp shape[DT_FUSED_MAX_NDIM], strides[DT_FUSED_MAX_NDIM];
} DtViewed;
/* NULL: the node has to be called. */
PyArrayObject *dt_kernel_view(const DtKernel *kernel, const DtNativeRun *run, DtViewed *viewed);
/* The array of which it would be a view whose place follows from that array's shape and strides;
 * NULL: there is none, or the place depends on something else. */
PyArrayObject *dt_kernel_view_base(const DtKernel *kernel, const DtNativeRun *run);
const DtValue *dt_kernel_viewed(const DtKernel *kernel); /* that array as a value */
/* scalars.c: the number's value in the loop's type; DT_FUSED_OK, CALL or REPLAY. */
DtFusedRun dt_scalar_fill(const DtFusedScalar *scalar, const DtNativeRun *run, void *cell);
/* The value of a NumPy scalar or zero-dimensional array of that type; false: it is none. */
bool dt_scalar_read(PyObject *object, int type_num, void *cell);
/* To be asked once, when the stage is complete: is it simple?  Does it write? */
bool dt_fused_is_simple(const DtFused *fused);
bool dt_fused_writes(const DtFused *fused);

/* What comes of a stage's loops. */
typedef struct DtOutcome {
    unsigned flags;   /* floating-point flags seen */
    bool failed;      /* a loop said so */
    bool unsure;      /* a result may have other bits than NumPy's: the nodes are called */
    bool interrupted; /* a signal has been waiting for too long */
} DtOutcome;

static inline void
dt_fused_step(const DtStep *step, char *const *slots, npy_intp count, DtOutcome *outcome)
{
    char *args[DT_LOOP_MAX_ARGS];
    args[0] = slots[step->slots[0]];
    args[1] = slots[step->slots[1]];
    args[2] = slots[step->slots[2]];
    args[3] = slots[step->slots[3]];
    if (step->flags & DT_STEP_READ) {
        outcome->flags |= dt_fpflags_read();
    }
    if (DT_UNLIKELY(step->call(step->context, args, &count, step->strides, step->auxdata) < 0)) {
        outcome->failed = true;
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* An output that is made in an array which others can see. */
typedef struct DtTarget {
    PyArrayObject *array;    /* DT_BORROWED from the run; NULL: the output is a new array */
    char *data;              /* its first element */
    const npy_intp *strides; /* of the walk, or NULL: dense in its order */
    char *scratch;           /* of a block, if there are strides */
    PyObject *saved;         /* DT_OWNED: what it held, dense in the order of the walk; or NULL */
    char *kept;              /* the data of that */
    uint8_t size;
} DtTarget;

typedef npy_intp DtStrides[DT_FUSED_MAX_NDIM];

/* gather.c: how one input that is not dense in the walk's order is read, block by block. */
typedef struct DtReader {
    char *data;
    const npy_intp *strides; /* of the walk */
    char *scratch;
    char *last;          /* what the scratch was filled from, if that can come again ... */
    npy_intp last_count; /* ... and how far */
    bool linear;         /* dense in the walk's order */
    bool periodic;       /* the same for each row of the walk */
} DtReader;

/* layout.c: how a fused stage walks over operands that are not all dense in one order. */
typedef struct DtLayout {
    int ndim;                          /* of the result */
    npy_intp shape[DT_FUSED_MAX_NDIM]; /* of the result */
    npy_intp total;
    int nwalk; /* coalesced dimensions, slowest first */
    npy_intp walk_shape[DT_FUSED_MAX_NDIM];
    DtStrides *strides;        /* of each output */
    DtStrides *walk_strides;   /* of each input */
    DtStrides *target_strides; /* of each output that has a target, in the walk */
    DtReader *readers;         /* of each input, before it has data */
    bool c_order;              /* all results of elements are */
    /* layout_kept.c */
    npy_intp *key; /* what it was computed from */
    bool is_known; /* it was */
    bool serves;   /* the operands can be run so */
} DtLayout;
/* Targets of another shape are dropped.  False: the operands don't broadcast, or the outputs have
 * no common order. */
bool dt_layout_compute(const DtFused *fused, PyArrayObject *const *arrays, DtTarget *targets,
                       DtLayout *layout);
void dt_layout_drop_targets(const DtFused *fused, const DtLayout *layout, DtTarget *targets);
/* The order of a copy that keeps one that is neither C's nor Fortran's, by strides alone: order[0]
 * is the fastest axis. */
void dt_layout_sort_copy(const npy_intp *strides, int ndim, int *order);
/* Whether an array of items of `size` bytes is dense in the order of the walk. */
bool dt_layout_is_linear(const DtLayout *layout, const npy_intp *strides, npy_intp size);
/* Whether input `input` may be copied into dense blocks that way. */
bool dt_layout_allows(const DtFused *fused, uint32_t input, PyArrayObject *array,
                      const DtLayout *layout);
/* The layout for these operands, taken from the stage or new, to be given back; OK, CALL, or ERROR.
 */
DtFusedRun dt_layout_kept_take(const DtFused *fused, PyArrayObject *const *arrays,
                               DtTarget *targets, DtLayout **out);
void dt_layout_kept_give(const DtFused *fused, DT_STEALS DtLayout *layout);

DtReader dt_reader_make(const DtLayout *layout, const npy_intp *strides, uint8_t size);
/* The address of `count` elements from walk position `start` on: the operand's own memory where
 * they lie together, else a copy in the reader's scratch. */
char *dt_reader_block(DtReader *reader, const DtLayout *layout, npy_intp start, npy_intp count,
                      uint8_t size);

/* targets.c.  Finds the targets for operands of this shape that are dense in `*order`, which
 * becomes 0 if a target is not; for order 0 dt_layout_compute looks at the shapes.  Are there any?
 */
bool dt_targets_find(const DtFused *fused, const DtNativeRun *run, const npy_intp *shape,
                     int *order, DtTarget *targets);
/* Makes room for what the array of output `index` holds; -1 with MemoryError. `layout` is NULL for
 * dense operands in `order`. */
int dt_target_open(DtTarget *target, const DtFusedOutput *output, const DtLayout *layout,
                   uint32_t index, const npy_intp *shape, int order);
/* Saves what the next block holds; the address where it is to be made. */
char *dt_target_block(const DtTarget *target, const DtLayout *layout, npy_intp start,
                      npy_intp count);
/* The block has been made. */
void dt_target_put(const DtTarget *target, const DtLayout *layout, npy_intp start, npy_intp count,
                   const char *block);
/* Puts back what these elements held. */
void dt_target_take_back(const DtTarget *target, const DtLayout *layout, npy_intp start,
                         npy_intp count);

/* reduced.c: a stage that reduces; its block loop is in lanes.h. */
typedef struct DtGeometry {
    bool columns;
    npy_intp rows, length; /* rows of so many elements */
    npy_intp block;        /* elements of scratch */
    int depth;             /* rows longer than that are 2 to the power of so many parts ... */
    union DtPart *parts;   /* ... and this is what they came to, if there is more than one */
} DtGeometry;

/* What NumPy's pairwise sum of so many elements adds up first. */
static inline npy_intp
dt_reduced_left(npy_intp count)
{
    npy_intp half = count / 2;
    return half - half % 8;
}

/* False: not with NumPy's bits. `layout` is NULL for dense operands in `order`. */
bool dt_reduced_geometry(const DtFused *fused, PyArrayObject *const *arrays, const npy_intp *shape,
                         int order, const DtLayout *layout, DtGeometry *geometry);
/* The dimensions of a result of rows, for elements of this shape. */
int dt_reduced_shape(const DtFused *fused, const DtFusedRow *row, const npy_intp *shape,
                     npy_intp *own);
/* Makes the arrays for the results of rows (NULL for a number) and sets their slots; cells hold
 * numbers.  -1 with an exception and nothing made. */
int dt_reduced_make(const DtFused *fused, const npy_intp *shape, PyObject **made,
                    uint64_t (*cells)[2], char **slots);
/* Puts the results into the run's values (made[i] is taken) or, if !keep, drops them; -1 with an
 * exception. */
int dt_reduced_take(const DtFused *fused, DtNativeRun *run, PyObject **made, uint64_t (*cells)[2],
                    bool keep);
/* reduced_blocks.c: one row, or the first piece of one, by NumPy's loop from the beginning. */
void dt_reduced_row(const DtFusedReduce *reduce, char *result, char *elements, npy_intp count,
                    DtOutcome *outcome);
/* Whole rows, one result each; rows that are added up, into `count` results, which they begin or
 * not. */
void dt_reduced_rows(const DtFusedReduce *reduce, char *result, char *elements, npy_intp rows,
                     npy_intp length, DtOutcome *outcome);
void dt_reduced_columns(const DtFusedReduce *reduce, char *result, char *elements, bool begin,
                        npy_intp rows, npy_intp count, DtOutcome *outcome);
/* reduced_short.c: sets `short_rows` and `short_columns`. */
enum { DT_REDUCED_SHORT = 24 };
void dt_reduced_find_short(DtFusedReduce *reduce);
/* Is NumPy's sum of a run of floats the pairwise tree over the whole run?  Tried out once. */
bool dt_reduced_sums_whole_runs(void);

/* memory.c: a new array with uninitialised elements; strides may be NULL: C order, or Fortran's if
 * `order` is NPY_ARRAY_F_CONTIGUOUS. */
enum { DT_MEMORY_POOLED = 1 << 17 }; /* bytes from which data comes from the pool */
DT_OWNED PyObject *dt_memory_new_array(PyArray_Descr *descr, int ndim, const npy_intp *shape,
                                       const npy_intp *strides, int order);
/* Until dt_memory_leave(token) the arrays that NumPy makes in this context take their data from the
 * pool, if they are large.  *token = NULL: not so, the program has a handler of its own.  -1 with
 * an exception. */
int dt_memory_enter(PyObject **token);
void dt_memory_leave(DT_STEALS PyObject *token);

/* called.c */
uint8_t dt_called_flags(const DtNode *node);
/* The C function that operator.add and its like call: NumPy scalars are worked on faster by it. */
binaryfunc dt_called_binary(const DtNode *node);
DtRun dt_called_run(const DtStage *stage, DtNativeRun *run);
/* From here on floating-point errors that somebody is to hear of raise; -1 with an exception. */
int dt_called_raise(uint8_t fp_region, DtNativeRun *run);
void dt_called_restore(DtNativeRun *run); /* gives the context its own errstate back */

/* errstate.c: the floating-point flags (DT_FP_*) that the current errstate, but for what the region
 * says (DtNode.fp_region), does not ignore, and the
 * errstate that raises for exactly those; 0 or -1 with an exception. */
int dt_errstate_watched(uint8_t fp_region, unsigned *flags);

/* Loops over numbers know NumPy's items from then on (loop_items.c). */
void dt_native_register_loop_items(void);
/* Whether somebody is to hear of these flags, or it can't be told: then NumPy's call reports it. */
bool dt_errstate_hears(uint8_t fp_region, unsigned flags);
enum { DT_REGION_IGNORES_ALL = 0x0f };
/* Sets it in the current context; *token restores it (NULL: nothing was to be done). */
int dt_errstate_raise(uint8_t fp_region, PyObject **token);
int dt_errstate_restore(DT_STEALS PyObject *token);

/* A value that dt_eager_operand would give for a node operand, borrowed; NULL: not there. */
static inline PyObject *
dt_native_value(const DtNativeRun *run, const DtValue *value)
{
    PyObject *object = run->values[value->node->index];
    if (value->node->kind == DT_NODE_CALL && value->node->nresults > 1) {
        return object != NULL && PyTuple_Check(object)
                       && PyTuple_GET_SIZE(object) > (Py_ssize_t)value->result
                   ? PyTuple_GET_ITEM(object, value->result)
                   : NULL;
    }
    return object;
}

#endif
