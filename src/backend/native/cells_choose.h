/* What a node becomes in a stage of cells; between cells_choose.c and cells_plan.c. */
#ifndef DT_BACKEND_NATIVE_CELLS_CHOOSE_H
#define DT_BACKEND_NATIVE_CELLS_CHOOSE_H

#include "backend/native/cells.h"

/* What an operand is. */
typedef struct DtCellOperand {
    DtCellType type;
    bool weak;     /* a Python int or float (a bool is as strong as NumPy's) */
    bool is_array; /* of no dimensions */
    bool python;
    PyObject *kind; /* what NumPy's resolution is asked with */
} DtCellOperand;

typedef struct DtCellChoice {
    DtCellCode code;
    DtCellType type; /* that operands are converted to */
    DtCellType result;
    uint32_t nargs;
    const DtLoop *loop;
    double (*unary)(double);
    double (*binary)(double, double);
    bool is_item;
} DtCellChoice;

/* The operation that converts one type to another; CONST: there is none. */
extern const uint8_t dt_cells_conversions[DT_CELL_DOUBLE + 1][DT_CELL_DOUBLE + 1];

DtCellType dt_cell_type_of_num(int type_num);
/* Is it an array of no dimensions that is made of its first operand, and stays what it is? */
bool dt_cells_is_array(const DtNode *node);
/* False: no operand of cells. */
bool dt_cells_look(const DtOperand *operand, DtCellOperand *out);
/* *out = false: the node can't be computed in cells. */
DtStatus dt_cells_choose(const DtNode *node, DtCellChoice *choice, bool *out) DT_MUST_CHECK;

#endif
