/* What a node becomes in a stage of cells.
 *
 *   operator.*   NumPy scalars, or Python numbers: C's arithmetic in the result's type
 *   ufuncs       of numbers alone: NumPy's loop on one element, where its bits rest on no stride
 *   getitem      of one element
 *   math.*       of Python numbers: the function of libm, where it raises nothing
 *   _numbers.*   what has to hold of numbers, and sizes of arrays
 *   asarray      of one number (cells_array.c)
 *
 * The types of operands follow from the graph's metadata; weak Python numbers were made to fit by
 * the trace, or are checked as they are converted.
 */
#include <math.h>
#include <string.h>

#include "adapters/numbers.h"
#include "backend/native/cells_choose.h"

/* ---- Types ----------------------------------------------------------------------------------- */

DtCellType
dt_cell_type_of_num(int type_num)
{
    switch (type_num) {
    case NPY_BOOL:
        return DT_CELL_BOOL;
    case NPY_LONG:
        return sizeof(long) == 8 ? DT_CELL_INT : DT_CELL_NONE;
    case NPY_FLOAT:
        return DT_CELL_FLOAT;
    case NPY_DOUBLE:
        return DT_CELL_DOUBLE;
    default:
        return DT_CELL_NONE;
    }
}

int
dt_cell_type_num(DtCellType type)
{
    static const int nums[] = {
        [DT_CELL_NONE] = NPY_NOTYPE, [DT_CELL_BOOL] = NPY_BOOL,     [DT_CELL_INT] = NPY_LONG,
        [DT_CELL_FLOAT] = NPY_FLOAT, [DT_CELL_DOUBLE] = NPY_DOUBLE,
    };
    return nums[type];
}

static DtCellType
type_of_kind(char kind)
{
    return kind == 'f'   ? DT_CELL_DOUBLE
           : kind == 'i' ? DT_CELL_INT
           : kind == 'b' ? DT_CELL_BOOL
                         : DT_CELL_NONE;
}

DtCellType
dt_cell_type_of(const DtMeta *meta)
{
    char kind = dt_number_kind_of(meta);
    if (kind != 0) {
        return type_of_kind(kind);
    }
    if (meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype) || meta->ndim != 0) {
        return DT_CELL_NONE;
    }
    const PyArray_Descr *descr = (const PyArray_Descr *)meta->dtype;
    bool usual = meta->type == descr->typeobj && PyArray_ISNBO(descr->byteorder);
    return usual ? dt_cell_type_of_num(descr->type_num) : DT_CELL_NONE;
}

bool
dt_cells_look(const DtOperand *operand, DtCellOperand *out)
{
    static PyObject *dtypes[NPY_DOUBLE + 1];
    *out = (DtCellOperand){0};
    char python = 0;
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_SYM:
        python = operand->u.sym->type == DT_SYM_FLOAT ? 'f'
                 : operand->u.sym->type == DT_SYM_INT ? 'i'
                                                      : 'b';
        break;
    case DT_OPERAND_CONST: {
        int overflow = 0;
        python = dt_number_kind_of_type(Py_TYPE(operand->u.object));
        if (python == 'i') {
            (void)PyLong_AsLongLongAndOverflow(operand->u.object, &overflow);
        }
        if (overflow != 0) {
            return false;
        }
        break;
    }
    case DT_OPERAND_NODE: {
        const DtMeta *meta = &operand->u.node->results[operand->result];
        python = dt_number_kind_of(meta);
        if (python != 0) {
            break;
        }
        if (meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype) || meta->ndim != 0) {
            return false;
        }
        const PyArray_Descr *descr = (const PyArray_Descr *)meta->dtype;
        out->is_array = meta->type == &PyArray_Type;
        out->type = dt_cell_type_of_num(descr->type_num);
        out->kind = meta->dtype;
        return out->type != DT_CELL_NONE && PyArray_ISNBO(descr->byteorder)
               && (out->is_array || meta->type == descr->typeobj);
    }
    default:
        return false;
    }
    out->type = type_of_kind(python);
    if (out->type == DT_CELL_NONE) {
        return false;
    }
    out->weak = python != 'b';
    out->python = true;
    if (python == 'b') {
        if (dtypes[NPY_BOOL] == NULL) {
            dtypes[NPY_BOOL] = (PyObject *)PyArray_DescrFromType(NPY_BOOL);
        }
        out->kind = dtypes[NPY_BOOL];
    }
    else {
        out->kind = (PyObject *)dt_number_type(python);
    }
    return true;
}

/* The type that two NumPy scalars, or one and a Python number, are worked on in. */
static DtCellType
common_type(const DtCellOperand *a, const DtCellOperand *b)
{
    if (a->weak && b->weak) {
        return a->type == b->type ? a->type : DT_CELL_NONE;
    }
    if (!a->weak && !b->weak) {
        bool mixed = (a->type == DT_CELL_INT && b->type == DT_CELL_FLOAT)
                     || (a->type == DT_CELL_FLOAT && b->type == DT_CELL_INT);
        return mixed ? DT_CELL_DOUBLE : a->type > b->type ? a->type : b->type;
    }
    const DtCellOperand *strong = a->weak ? b : a, *weak = a->weak ? a : b;
    if (weak->type == DT_CELL_DOUBLE && strong->type < DT_CELL_FLOAT) {
        return DT_CELL_DOUBLE;
    }
    return strong->type == DT_CELL_BOOL ? DT_CELL_INT : strong->type;
}

const uint8_t dt_cells_conversions[DT_CELL_DOUBLE + 1][DT_CELL_DOUBLE + 1] = {
    [DT_CELL_BOOL] = {[DT_CELL_INT] = DT_CELLS_B_TO_I, [DT_CELL_DOUBLE] = DT_CELLS_B_TO_D},
    [DT_CELL_INT] = {[DT_CELL_FLOAT] = DT_CELLS_I_TO_F, [DT_CELL_DOUBLE] = DT_CELLS_I_TO_D},
    [DT_CELL_FLOAT] = {[DT_CELL_DOUBLE] = DT_CELLS_F_TO_D},
    [DT_CELL_DOUBLE] = {[DT_CELL_FLOAT] = DT_CELLS_D_TO_F},
};

static bool
can_convert(const DtCellOperand *operand, DtCellType to)
{
    bool narrows = operand->type == DT_CELL_DOUBLE && to == DT_CELL_FLOAT;
    return operand->type == to || (operand->type == DT_CELL_BOOL && to == DT_CELL_FLOAT)
           || (dt_cells_conversions[operand->type][to] != DT_CELLS_CONST
               && (!narrows || operand->weak));
}

/* ---- What a node becomes --------------------------------------------------------------------- */

/* Operators by the type they work in; 0 (CONST): not done. */
static const struct Operator {
    const char *target;
    uint8_t nargs;
    uint8_t ints, floats, doubles, bools; /* DtCellCode */
    enum { GIVES_TYPE, GIVES_BOOL, GIVES_FLOAT } gives;
} operators[] = {
    {"operator.add", 2, DT_CELLS_ADD_I, DT_CELLS_ADD_F, DT_CELLS_ADD_D, 0, GIVES_TYPE},
    {"operator.sub", 2, DT_CELLS_SUB_I, DT_CELLS_SUB_F, DT_CELLS_SUB_D, 0, GIVES_TYPE},
    {"operator.mul", 2, DT_CELLS_MUL_I, DT_CELLS_MUL_F, DT_CELLS_MUL_D, 0, GIVES_TYPE},
    {"operator.truediv", 2, 0, DT_CELLS_DIV_F, DT_CELLS_DIV_D, 0, GIVES_FLOAT},
    {"operator.floordiv", 2, DT_CELLS_FLOORDIV_I, 0, 0, 0, GIVES_TYPE},
    {"operator.mod", 2, DT_CELLS_MOD_I, 0, 0, 0, GIVES_TYPE},
    {"operator.pow", 2, DT_CELLS_POW_I, DT_CELLS_POW_F, DT_CELLS_POW_D, 0, GIVES_TYPE},
    {"operator.and_", 2, DT_CELLS_AND_I, 0, 0, DT_CELLS_AND_B, GIVES_TYPE},
    {"operator.or_", 2, DT_CELLS_OR_I, 0, 0, DT_CELLS_OR_B, GIVES_TYPE},
    {"operator.xor", 2, DT_CELLS_XOR_I, 0, 0, DT_CELLS_XOR_B, GIVES_TYPE},
    {"operator.lt", 2, DT_CELLS_LT_I, DT_CELLS_LT_F, DT_CELLS_LT_D, 0, GIVES_BOOL},
    {"operator.le", 2, DT_CELLS_LE_I, DT_CELLS_LE_F, DT_CELLS_LE_D, 0, GIVES_BOOL},
    {"operator.eq", 2, DT_CELLS_EQ_I, DT_CELLS_EQ_F, DT_CELLS_EQ_D, 0, GIVES_BOOL},
    {"operator.ne", 2, DT_CELLS_NE_I, DT_CELLS_NE_F, DT_CELLS_NE_D, 0, GIVES_BOOL},
    {"operator.gt", 2, DT_CELLS_GT_I, DT_CELLS_GT_F, DT_CELLS_GT_D, 0, GIVES_BOOL},
    {"operator.ge", 2, DT_CELLS_GE_I, DT_CELLS_GE_F, DT_CELLS_GE_D, 0, GIVES_BOOL},
    {"operator.neg", 1, DT_CELLS_NEG_I, DT_CELLS_NEG_F, DT_CELLS_NEG_D, 0, GIVES_TYPE},
    {"operator.pos", 1, DT_CELLS_COPY, DT_CELLS_COPY, DT_CELLS_COPY, 0, GIVES_TYPE},
    {"operator.abs", 1, DT_CELLS_ABS_I, DT_CELLS_ABS_F, DT_CELLS_ABS_D, 0, GIVES_TYPE},
};

static DtCellCode
code_for(const struct Operator *row, DtCellType type)
{
    switch (type) {
    case DT_CELL_BOOL:
        return (DtCellCode)row->bools;
    case DT_CELL_INT:
        return (DtCellCode)row->ints;
    case DT_CELL_FLOAT:
        return (DtCellCode)row->floats;
    case DT_CELL_DOUBLE:
        return (DtCellCode)row->doubles;
    default:
        return DT_CELLS_CONST;
    }
}

/* Python's floor division and remainder of floats, and what the other codes mean for it. */
static DtCellCode
python_code(DtCellCode code)
{
    return code == DT_CELLS_DIV_D ? DT_CELLS_PYTHON_DIV_D : code;
}

static bool
choose_operator(const DtNode *node, const DtCellOperand *operands, DtCellChoice *choice)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(operators); i++) {
        const struct Operator *row = &operators[i];
        if (row->nargs != node->nargs || strcmp(row->target, node->target) != 0) {
            continue;
        }
        bool python = dt_number_kind_of(&node->results[0]) != 0;
        DtCellType type = operands[0].type;
        for (uint32_t j = 0; j < node->nargs; j++) {
            if (operands[j].is_array || (python && !operands[j].python)) {
                return false; /* that would be a ufunc, or NumPy's number */
            }
        }
        if (node->nargs == 2) {
            type = python && operands[0].type != operands[1].type
                       ? DT_CELL_NONE
                       : common_type(&operands[0], &operands[1]);
            if (python && row->gives != GIVES_BOOL && type == DT_CELL_NONE
                && operands[0].type != DT_CELL_BOOL && operands[1].type != DT_CELL_BOOL) {
                type = DT_CELL_DOUBLE; /* an int and a float: the int becomes one */
            }
        }
        if (row->gives == GIVES_FLOAT && type == DT_CELL_INT) {
            if (python) {
                choice->code = DT_CELLS_PYTHON_DIV_I;
                choice->type = DT_CELL_INT;
                choice->result = DT_CELL_DOUBLE;
                choice->nargs = 2;
                return true;
            }
            type = DT_CELL_DOUBLE;
        }
        if (type == DT_CELL_BOOL && row->nargs == 1) {
            return false;
        }
        if (row->doubles == DT_CELLS_POW_D && !python && operands[0].type == DT_CELL_BOOL) {
            return false; /* a bool's power is the ufunc's, whose loop tells of 0 ** -inf */
        }
        choice->code = code_for(row, type);
        if (python) {
            choice->code = python_code(choice->code);
        }
        choice->type = type;
        choice->result = row->gives == GIVES_BOOL ? DT_CELL_BOOL : type;
        choice->nargs = node->nargs;
        return choice->code != DT_CELLS_CONST;
    }
    return false;
}

/* m_... of CPython's math module, where the argument and the result are finite. */
static double
to_degrees(double x)
{
    return x * (180.0 / Py_MATH_PI);
}

static double
to_radians(double x)
{
    return x * (Py_MATH_PI / 180.0);
}

static const struct Function {
    const char *target;
    DtCellCode code;
    double (*unary)(double);
    double (*binary)(double, double);
} functions[] = {
    {"math.acos", DT_CELLS_UNARY, acos, NULL},
    {"math.asin", DT_CELLS_UNARY, asin, NULL},
    {"math.atan", DT_CELLS_UNARY, atan, NULL},
    {"math.atan2", DT_CELLS_BINARY, NULL, atan2},
    {"math.copysign", DT_CELLS_BINARY, NULL, copysign},
    {"math.cos", DT_CELLS_UNARY, cos, NULL},
    {"math.cosh", DT_CELLS_UNARY, cosh, NULL},
    {"math.degrees", DT_CELLS_UNARY, to_degrees, NULL},
    {"math.exp", DT_CELLS_UNARY, exp, NULL},
    {"math.fabs", DT_CELLS_UNARY, fabs, NULL},
    {"math.fmod", DT_CELLS_BINARY, NULL, fmod},
    {"math.isfinite", DT_CELLS_IS_FINITE, NULL, NULL},
    {"math.isinf", DT_CELLS_IS_INF, NULL, NULL},
    {"math.isnan", DT_CELLS_IS_NAN, NULL, NULL},
    {"math.pow", DT_CELLS_BINARY, NULL, pow},
    {"math.radians", DT_CELLS_UNARY, to_radians, NULL},
    {"math.sin", DT_CELLS_UNARY, sin, NULL},
    {"math.sinh", DT_CELLS_UNARY, sinh, NULL},
    {"math.sqrt", DT_CELLS_UNARY, sqrt, NULL},
    {"math.tan", DT_CELLS_UNARY, tan, NULL},
    {"math.tanh", DT_CELLS_UNARY, tanh, NULL},
    {"dyntrace._numbers.power", DT_CELLS_PYTHON_POW_D, NULL, NULL},
    {"builtins.float", DT_CELLS_COPY, NULL, NULL},
};

static bool
choose_function(const DtNode *node, const DtCellOperand *operands, DtCellChoice *choice)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(functions); i++) {
        const struct Function *row = &functions[i];
        uint32_t nargs = row->code == DT_CELLS_BINARY || row->code == DT_CELLS_PYTHON_POW_D ? 2 : 1;
        if (node->nargs != nargs || strcmp(row->target, node->target) != 0) {
            continue;
        }
        for (uint32_t j = 0; j < nargs && row->code == DT_CELLS_PYTHON_POW_D; j++) {
            if (operands[j].type != DT_CELL_DOUBLE || !operands[j].weak) {
                return false;
            }
        }
        choice->code = row->code;
        choice->unary = row->unary;
        choice->binary = row->binary;
        choice->type = DT_CELL_DOUBLE;
        choice->nargs = nargs;
        choice->result = row->code == DT_CELLS_IS_FINITE || row->code == DT_CELLS_IS_INF
                                 || row->code == DT_CELLS_IS_NAN
                             ? DT_CELL_BOOL
                             : DT_CELL_DOUBLE;
        return true;
    }
    if (node->nargs == 1 && strcmp(node->target, "builtins.int") == 0
        && operands[0].type != DT_CELL_BOOL) {
        bool whole = operands[0].type == DT_CELL_INT;
        choice->code = whole ? DT_CELLS_COPY : DT_CELLS_D_TO_I;
        choice->type = whole ? DT_CELL_INT : DT_CELL_DOUBLE;
        choice->result = DT_CELL_INT;
        choice->nargs = 1;
        return true;
    }
    return false;
}

static DtStatus
choose_ufunc(const DtNode *node, const DtCellOperand *operands, DtCellChoice *choice, bool *out)
{
    PyObject *types[DT_LOOP_MAX_ARGS];
    const DtLoop *loop;
    bool same = true;
    *out = false;
    for (uint32_t i = 0; i < node->nargs; i++) {
        types[i] = operands[i].kind;
    }
    DT_TRY(dt_loop_get(node->callee, types, node->nargs, &loop));
    if (loop == NULL || loop->allow < DT_ALLOW_STRIDED
        || (loop->row->flags & (DT_UFUNC_POWER | DT_UFUNC_RAISES))) {
        return DT_OK;
    }
    for (int i = 0; i < loop->nargs; i++) {
        if (dt_cell_type_of_num(loop->types[i]) == DT_CELL_NONE) {
            return DT_OK;
        }
        /* Rounding of integers by NumPy's casts is not looked into. */
        if (i < loop->nargs - 1 && operands[i].type == DT_CELL_INT
            && dt_cell_type_of_num(loop->types[i]) == DT_CELL_FLOAT && !operands[i].weak) {
            return DT_OK;
        }
    }
    if (loop->allow != DT_ALLOW_ANY) {
        DT_TRY(dt_loop_try(node->callee, loop, DT_TRIED_NUMBERS, &same));
    }
    choice->code = DT_CELLS_LOOP;
    choice->loop = loop;
    choice->result = dt_cell_type_of_num(loop->types[loop->nargs - 1]);
    choice->nargs = node->nargs;
    *out = same;
    return DT_OK;
}

/* What has to hold of a number. */
static bool
choose_check(const DtNode *node, const DtCellOperand *operands, DtCellChoice *choice)
{
    static const struct {
        const char *target;
        uint8_t nargs, code, type;
    } rows[] = {
        {"dyntrace._numbers.fit", 3, DT_CELLS_FIT, DT_CELL_INT},
        {"dyntrace._numbers.expect", 2, DT_CELLS_EXPECT, DT_CELL_BOOL},
        {"dyntrace._core.guess", 2, DT_CELLS_GUESS, DT_CELL_BOOL},
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
        if (node->nargs != rows[i].nargs || strcmp(rows[i].target, node->target) != 0) {
            continue;
        }
        for (uint32_t j = 0; j < node->nargs; j++) {
            if (operands[j].type != rows[i].type || operands[j].is_array) {
                return false;
            }
        }
        choice->code = rows[i].code;
        choice->type = choice->result = rows[i].type;
        choice->nargs = node->nargs;
        return true;
    }
    return false;
}

/* The size of an array's axis. */
static bool
is_extent(const DtNode *node)
{
    if (node->nargs != 2 || strcmp(node->target, "dyntrace._numbers.extent") != 0
        || node->args[0].kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtMeta *meta = &node->args[0].u.node->results[node->args[0].result];
    return meta->type == &PyArray_Type;
}

bool
dt_cells_plan_item(const DtOperand *array, const DtOperand *key, DtCellItem *item)
{
    if (array->kind != DT_OPERAND_NODE) {
        return false;
    }
    const DtMeta *meta = &array->u.node->results[array->result];
    if (meta->type != &PyArray_Type || meta->dtype == NULL || !PyArray_DescrCheck(meta->dtype)) {
        return false;
    }
    const PyArray_Descr *descr = (const PyArray_Descr *)meta->dtype;
    const DtOperand *items = key->kind == DT_OPERAND_TUPLE ? key->items : key;
    uint32_t count = key->kind == DT_OPERAND_TUPLE ? key->count : 1;
    if (dt_cell_type_of_num(descr->type_num) == DT_CELL_NONE || !PyArray_ISNBO(descr->byteorder)
        || count != meta->ndim || count > DT_ITEM_MAX_NDIM) {
        return false;
    }
    *item = (DtCellItem){
        .array = {array->u.node, array->result},
        .type_num = descr->type_num,
        .ndim = (uint8_t)count,
        .size = (uint8_t)PyDataType_ELSIZE(descr),
    };
    for (uint32_t i = 0; i < count; i++) {
        DtCellOperand operand;
        bool constant = items[i].kind == DT_OPERAND_CONST;
        if (!dt_cells_look(&items[i], &operand) || operand.type != DT_CELL_INT
            || operand.is_array) {
            return false;
        }
        item->index[i].kind = constant                          ? DT_INDEX_CONST
                              : items[i].kind == DT_OPERAND_SYM ? DT_INDEX_SYM
                                                                : DT_INDEX_CELL;
        item->index[i].value = constant ? (npy_intp)PyLong_AsLongLong(items[i].u.object) : 0;
        item->index[i].sym = items[i].u.sym;
    }
    return true;
}

DtStatus
dt_cells_choose(const DtNode *node, DtCellChoice *choice, bool *out)
{
    DtCellOperand operands[DT_LOOP_MAX_ARGS];
    *choice = (DtCellChoice){0};
    *out = false;
    if (node->kind != DT_NODE_CALL || node->effect != DT_EFFECT_PURE || node->nresults != 1
        || node->kwnames != NULL || node->nargs == 0 || node->nargs >= DT_LOOP_MAX_ARGS) {
        return DT_OK;
    }
    DtCellType result = dt_cell_type_made(node);
    if (result == DT_CELL_NONE) {
        return DT_OK;
    }
    if (node->nargs == 2 && strcmp(node->target, "operator.getitem") == 0) {
        DtCellItem item;
        choice->is_item = true;
        choice->code = DT_CELLS_ITEM;
        *out = dt_cells_plan_item(&node->args[0], &node->args[1], &item)
               && dt_cell_type_of_num(item.type_num) == result;
        return DT_OK;
    }
    if (is_extent(node)) {
        choice->code = DT_CELLS_EXTENT;
        *out = true;
        return DT_OK;
    }
    uint32_t count = dt_cells_is_array(node) ? 1 : node->nargs; /* the other one is the dtype */
    for (uint32_t i = 0; i < count; i++) {
        if (!dt_cells_look(&node->args[i], &operands[i])) {
            return DT_OK;
        }
    }
    if (dt_cells_is_array(node)) {
        choice->code = DT_CELLS_COPY;
        choice->type = choice->result = result;
        choice->nargs = 1;
        *out = !operands[0].is_array;
    }
    else if (PyObject_TypeCheck(node->callee, &PyUFunc_Type)) {
        DT_TRY(choose_ufunc(node, operands, choice, out));
    }
    else {
        *out = choose_operator(node, operands, choice) || choose_function(node, operands, choice)
               || choose_check(node, operands, choice);
    }
    *out = *out && choice->result == result;
    for (uint32_t i = 0; i < choice->nargs && *out; i++) {
        *out = can_convert(&operands[i], choice->loop != NULL
                                             ? dt_cell_type_of_num(choice->loop->types[i])
                                             : choice->type);
    }
    return DT_OK;
}

DtStatus
dt_cells_classify(const DtNode *node, bool *out)
{
    DtCellChoice choice;
    return dt_cells_choose(node, &choice, out);
}
