/* Cells: numbers that a graph computes, without objects.
 *
 *   x[i] ──► ITEM ──► cell ──► arithmetic, functions ──► cell ──► a fused stage's scalar
 *                                                             ──► an object, when somebody
 *                                                                 needs one (dt_cells_box)
 *
 * A stage of cells (DtCellStage) is a straight line of operations on NumPy scalars, arrays of no
 * dimensions and Python numbers.  It computes what NumPy's scalar arithmetic, its loops on one
 * element or Python's floats would, and answers "call" whenever it isn't sure: an overflow, an
 * index that does not fit, an operand of another type, a floating-point flag that somebody wants
 * to hear of.  Its nodes are then called one by one, which is always right.
 *
 * A node with a cell has its value in run->values, or, if that is NULL, in its cell.
 */
#ifndef DT_BACKEND_NATIVE_CELLS_H
#define DT_BACKEND_NATIVE_CELLS_H

#include "backend/native/native.h"

typedef enum DtCellType {
    DT_CELL_NONE,
    DT_CELL_BOOL,
    DT_CELL_INT, /* int64; of a Python int that fits */
    DT_CELL_FLOAT,
    DT_CELL_DOUBLE,
} DtCellType;

/* What an operation does with cells a, b, c; letters at the end name types. */
typedef enum DtCellCode {
    DT_CELLS_CONST,
    DT_CELLS_SYM_I,
    DT_CELLS_SYM_D,
    DT_CELLS_SYM_B,
    DT_CELLS_LOAD,   /* a value from outside of the stage, of DtCellType c */
    DT_CELLS_ITEM,   /* of an array */
    DT_CELLS_EXTENT, /* the size of axis b of a node's result a */
    DT_CELLS_FIT,    /* a, which lies from b to c */
    DT_CELLS_EXPECT, /* a, which is b */
    DT_CELLS_LOOP,   /* NumPy's loop on one element */
    DT_CELLS_UNARY,
    DT_CELLS_BINARY, /* functions of libm; NaN and infinity are left to their callers */
    DT_CELLS_B_TO_I,
    DT_CELLS_B_TO_D,
    DT_CELLS_I_TO_D,
    DT_CELLS_F_TO_D,
    DT_CELLS_I_TO_F,
    DT_CELLS_D_TO_F, /* of a Python float: one that overflows is left to NumPy */
    DT_CELLS_D_TO_I, /* int() */
    DT_CELLS_ADD_D,
    DT_CELLS_ADD_F,
    DT_CELLS_ADD_I,
    DT_CELLS_SUB_D,
    DT_CELLS_SUB_F,
    DT_CELLS_SUB_I,
    DT_CELLS_MUL_D,
    DT_CELLS_MUL_F,
    DT_CELLS_MUL_I,
    DT_CELLS_DIV_D,
    DT_CELLS_DIV_F,
    DT_CELLS_PYTHON_DIV_D, /* division by zero raises */
    DT_CELLS_PYTHON_DIV_I, /* rounded once: of ints that are floats */
    DT_CELLS_FLOORDIV_I,
    DT_CELLS_MOD_I,
    DT_CELLS_POW_D,
    DT_CELLS_POW_F,
    DT_CELLS_POW_I,
    DT_CELLS_PYTHON_POW_D, /* of a positive base */
    DT_CELLS_AND_B,
    DT_CELLS_AND_I,
    DT_CELLS_OR_B,
    DT_CELLS_OR_I,
    DT_CELLS_XOR_B,
    DT_CELLS_XOR_I,
    DT_CELLS_NEG_D,
    DT_CELLS_NEG_F,
    DT_CELLS_NEG_I,
    DT_CELLS_ABS_D,
    DT_CELLS_ABS_F,
    DT_CELLS_ABS_I,
    DT_CELLS_COPY,
    DT_CELLS_LT_D,
    DT_CELLS_LT_F,
    DT_CELLS_LT_I,
    DT_CELLS_LE_D,
    DT_CELLS_LE_F,
    DT_CELLS_LE_I,
    DT_CELLS_EQ_D,
    DT_CELLS_EQ_F,
    DT_CELLS_EQ_I,
    DT_CELLS_NE_D,
    DT_CELLS_NE_F,
    DT_CELLS_NE_I,
    DT_CELLS_GT_D,
    DT_CELLS_GT_F,
    DT_CELLS_GT_I,
    DT_CELLS_GE_D,
    DT_CELLS_GE_F,
    DT_CELLS_GE_I,
    DT_CELLS_IS_FINITE,
    DT_CELLS_IS_INF,
    DT_CELLS_IS_NAN,
    DT_CELLS_GUESS, /* a branch goes the way b, or the run is dropped */
} DtCellCode;

/* One dimension of an item's position, a bound, a size. */
typedef struct DtCellIndex {
    enum { DT_INDEX_CONST, DT_INDEX_SYM, DT_INDEX_CELL, DT_INDEX_VALUE } kind;
    npy_intp value;
    const DtSym *sym;
    uint16_t cell;
    DtValue from; /* VALUE: the object; CELL: whose, node NULL: the stage has loaded it */
} DtCellIndex;

enum { DT_ITEM_MAX_NDIM = 4 };

typedef struct DtCellItem {
    DtValue array;
    int type_num;
    uint8_t ndim;
    uint8_t size;
    DtCellIndex index[DT_ITEM_MAX_NDIM];
} DtCellItem;

typedef struct DtCellOp {
    uint16_t code; /* DtCellCode */
    uint16_t out, a, b, c;
    union {
        uint64_t constant;
        const DtCellItem *item;
        const DtLoop *loop;
        const DtSym *sym;
        const DtNode *node; /* LOAD: whose result b; a: it may lie in its cell.  EXTENT */
        double (*unary)(double);
        double (*binary)(double, double);
    } u;
} DtCellOp;

struct DtCellStage {
    DtCellOp *ops;
    uint32_t nops;
    uint8_t fp_region;
};

/* The type of the cell that such a value would have; NONE: it has none. */
DtCellType dt_cell_type_of(const DtMeta *meta);
/* The same of the result of a node in a stage of cells: it may be an array of no dimensions. */
DtCellType dt_cell_type_made(const DtNode *node);
int dt_cell_type_num(DtCellType type);
/* An array of no dimensions with that value; NULL: no memory. */
PyObject *dt_cells_new_array(const DtMeta *meta, const DtCell *cell);
/* Can the node be computed in a stage of cells? */
DtStatus dt_cells_classify(const DtNode *node, bool *out) DT_MUST_CHECK;

/* The cell of a node that has none yet. */
uint16_t dt_cells_new(DtStages *stages);

/* cells.c */
DtFusedRun dt_cells_run(const DtCellStage *stage, DtNativeRun *run);
/* The operations alone; false: the nodes are to be called.  Flags that are looked at on the way are
 * added to `flags`. */
bool dt_cells_go(const DtCellStage *stage, DtNativeRun *run, unsigned *flags);
/* The object of a node whose value is in its cell; -1 with an exception. */
int dt_cells_box(const DtBox *box, DtNativeRun *run);
static inline int
dt_cells_box_all(const DtBox *boxes, uint32_t count, DtNativeRun *run)
{
    for (uint32_t i = 0; i < count; i++) {
        if (run->values[boxes[i].node->index] == NULL && dt_cells_box(&boxes[i], run) < 0) {
            return -1;
        }
    }
    return 0;
}

/* False: it is no int, or none that fits. */
bool dt_cells_index(const DtCellIndex *index, const DtNativeRun *run, npy_intp *out);
/* Where the item lies; NULL: not such an array, or no such item. */
char *dt_cells_item(const DtCellItem *item, const DtNativeRun *run);
/* Fills in the item of getitem or setitem operands; false: it isn't one element. */
bool dt_cells_plan_item(const DtOperand *array, const DtOperand *key, DtCellItem *item);

#endif
