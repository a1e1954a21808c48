/* All stages of a graph along one straight line, for a few elements: line.c. */
#ifndef DT_BACKEND_NATIVE_LINE_H
#define DT_BACKEND_NATIVE_LINE_H

#include "backend/native/cells.h"
#include "backend/native/fills.h"
#include "backend/native/memory.h"
#include "backend/native/straight.h"

/* An input of the graph that is an array operand. */
typedef struct DtLineOperand {
    uint32_t input;
    int type_num;
    const PyArray_Descr *descr; /* that arrays of the type mostly have: NumPy's own, immortal */
    const DtNode *node;
    npy_intp key[1 + 2 * DT_FUSED_MAX_NDIM];
} DtLineOperand;

/* What a stage makes that is seen outside of it. */
typedef struct DtLineResult {
    const DtNode *node;
    PyArray_Descr *descr; /* DT_BORROWED from the loop */
    int size;             /* of an element */
    uint16_t slot;        /* in the stage's frame */
    uint16_t cell;        /* of a number, or DT_NO_CELL: an array */
    bool is_output;       /* of the graph */
    int32_t output;       /* of the stage; or ~row */
    uint32_t given;       /* the output of the graph that takes a new array */
    /* Learnt: */
    char *place;
    DtTake *take;
    npy_intp bytes;
    int ndim;
    int order;
    npy_intp shape[DT_FUSED_MAX_NDIM];
    const npy_intp *strides; /* NULL: dense in this order */
    DtMemoryImage image;     /* of an output of the graph that is so */
} DtLineResult;

/* Where a stage finds an array operand. */
typedef struct DtLineSource {
    const DtLineOperand *operand; /* or NULL: */
    const DtLineResult *result;   /* of an earlier stage */
} DtLineSource;

typedef uint64_t DtLineNumber[2];

/* An array operand whose memory is another one at each run. */
typedef struct DtLineMove {
    npy_intp first; /* element: bytes from the array's first one */
    uint32_t input;
    uint16_t slot;
} DtLineMove;

typedef struct DtLeg {
    const DtFused *fused;     /* or NULL: */
    const DtCellStage *cells; /* numbers */
    DtStraight *straight;
    DtFew *few;
    bool reads;            /* flags of those before it, which it may clear */
    DtLineSource *sources; /* of each input */
    DtLineResult *results;
    uint32_t nresults;
    /* Learnt: */
    char **slots;      /* where operands and numbers are */
    DtLineMove *moves; /* those of slots that change */
    uint16_t *varying; /* numbers that do */
    DtLineNumber *numbers;
    DtLineResult **wanted; /* results that go to a cell or an array */
    uint32_t nmoves, nvarying, nwanted;
    DtCellStage left; /* of `cells`, what is not known beforehand */
} DtLeg;

typedef struct DtLine {
    npy_intp most; /* elements of an operand */
    enum {
        DT_LINE_UNKNOWN,
        DT_LINE_SEEN,
        DT_LINE_SERVES,
        DT_LINE_REFUSES
    } state;          /* of the inputs' shapes and strides */
    unsigned turn;    /* how many there have been */
    unsigned in_vain; /* runs */
    DtLineOperand *operands;
    uint32_t noperands;
    DtLeg *legs;
    uint32_t nlegs;
    DtLineResult **made; /* results that are arrays which the graph returns */
    uint32_t nmade;
    bool *taken;        /* per output of the graph: such an array, and none behind it is the same */
    bool gives_others;  /* outputs that are no such arrays */
    bool asks_values;   /* somebody does, of inputs */
    bool keeps_symbols; /* they follow from shapes, so they are learnt: */
    DtNumber *symbols;
    DtCell *cells; /* of a run, and what is known beforehand */
} DtLine;

/* line_plan.c: whether the graph may have one: exe->line is made. */
DtStatus dt_line_plan(DtNative *exe) DT_MUST_CHECK;
void dt_line_free(DtLine *line); /* what it has kept */

/* line_cells.c: finds out what of the numbers is known beforehand, and computes it; `known` is for
 * each cell.  False: it is not sure. */
bool dt_line_know_cells(const DtLine *line, DtLeg *leg, DtNativeRun *run, bool *known);

/* For inputs of which dt_line_is_for() does not say that they are too large.  DT_FUSED_CALL:
 * nothing has happened, and the stages are to be run one by one. */
DtFusedRun dt_line_run(DtNative *exe, PyObject *const *inputs, PyObject **outputs);

static inline bool
dt_line_is_for(DtLine *line, PyObject *const *inputs)
{
    const PyArrayObject_fields *first =
        (const PyArrayObject_fields *)inputs[line->operands[0].input];
    if (Py_TYPE(first) == &PyArray_Type && first->nd == 1 && first->dimensions[0] > line->most) {
        line->state = DT_LINE_UNKNOWN; /* the stages may move their frames */
        return false;
    }
    return true;
}

#endif
