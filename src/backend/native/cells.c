/* Runs stages of cells, and makes objects of cells.  See cells.h.
 *
 * Not in here: which operations a node becomes (cells_plan.c).
 */
#include "backend/native/cells.h"

#include <math.h>
#include <string.h>

#include "adapters/numbers.h"

/* ---- Values from outside --------------------------------------------------------------------- */

/* Takes the value of a NumPy scalar, a zero-dimensional array or a Python number; false: it is
 * another type than planned. */
static bool
unbox(PyObject *object, DtCellType type, DtCell *cell)
{
    if (type == DT_CELL_DOUBLE && Py_IS_TYPE(object, &PyDoubleArrType_Type)) {
        cell->d = PyArrayScalar_VAL(object, Double);
        return true;
    }
    if (type == DT_CELL_DOUBLE && PyFloat_CheckExact(object)) {
        cell->d = PyFloat_AS_DOUBLE(object);
        return true;
    }
    if (type == DT_CELL_INT && PyLong_CheckExact(object)) {
        int overflow;
        cell->i = PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow == 0;
    }
    if (type == DT_CELL_BOOL && PyBool_Check(object)) {
        cell->b = object == Py_True;
        return true;
    }
    return dt_scalar_read(object, dt_cell_type_num(type), cell);
}

static bool
load(const DtCellOp *op, const DtNativeRun *run, DtCell *cell)
{
    DtValue value = {op->u.node, op->b};
    PyObject *object = dt_native_value(run, &value);
    if (object == NULL) {
        return op->a != 0; /* an earlier stage has put it into its cell, which is this one */
    }
    return unbox(object, (DtCellType)op->c, cell);
}

static bool
load_extent(const DtCellOp *op, const DtNativeRun *run, DtCell *cell)
{
    DtValue value = {op->u.node, op->a};
    PyObject *object = dt_native_value(run, &value);
    if (object == NULL || !PyArray_CheckExact(object)
        || PyArray_NDIM((PyArrayObject *)object) <= op->b) {
        return false;
    }
    cell->i = PyArray_DIM((PyArrayObject *)object, op->b);
    return true;
}

bool
dt_cells_index(const DtCellIndex *index, const DtNativeRun *run, npy_intp *out)
{
    DtNumber number;
    DtCell cell;
    PyObject *object = NULL;
    switch (index->kind) {
    case DT_INDEX_SYM:
        if (!dt_sym_eval(index->sym, run->symbols, &number)) {
            return false;
        }
        *out = (npy_intp)number.i;
        return true;
    case DT_INDEX_CELL:
        object = index->from.node != NULL ? run->values[index->from.node->index] : NULL;
        if (object == NULL) {
            *out = (npy_intp)run->cells[index->cell].i;
            return true;
        }
        break;
    case DT_INDEX_VALUE:
        object = dt_native_value(run, &index->from);
        break;
    case DT_INDEX_CONST:
        *out = index->value;
        return true;
    }
    if (object == NULL || !unbox(object, DT_CELL_INT, &cell)) {
        return false;
    }
    *out = (npy_intp)cell.i;
    return true;
}

char *
dt_cells_item(const DtCellItem *item, const DtNativeRun *run)
{
    PyObject *object = dt_native_value(run, &item->array);
    if (object == NULL || !PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != item->type_num || PyArray_NDIM(array) != item->ndim
        || !PyArray_ISNOTSWAPPED(array)) {
        return NULL;
    }
    char *data = PyArray_BYTES(array);
    const npy_intp *dims = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    for (uint32_t i = 0; i < item->ndim; i++) {
        npy_intp at;
        if (!dt_cells_index(&item->index[i], run, &at)) {
            return NULL;
        }
        at += at < 0 ? dims[i] : 0;
        if (at < 0 || at >= dims[i]) {
            return NULL;
        }
        data += at * strides[i];
    }
    return data;
}

static bool
load_item(const DtCellItem *item, const DtNativeRun *run, DtCell *cell)
{
    const char *data = dt_cells_item(item, run);
    if (data == NULL) {
        return false;
    }
    switch (item->size) {
    case 8:
        memcpy(cell, data, 8);
        break;
    case 4:
        memcpy(cell, data, 4);
        break;
    default:
        cell->b = *(const npy_bool *)data != 0;
        break;
    }
    return true;
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static int64_t
floor_quotient(int64_t a, int64_t b, int64_t *rest)
{
    int64_t quotient = a / b;
    *rest = a % b;
    if (*rest != 0 && (*rest < 0) != (b < 0)) {
        *rest += b;
        quotient--;
    }
    return quotient;
}

/* False: the result leaves int64, or the exponent is negative. */
static bool
int_power(int64_t base, int64_t exponent, int64_t *out)
{
    int64_t result = 1;
    if (exponent < 0) {
        return false;
    }
    for (;;) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) {
            return false;
        }
        exponent >>= 1;
        if (exponent == 0) {
            *out = result;
            return true;
        }
        if (__builtin_mul_overflow(base, base, &base)) {
            return false;
        }
    }
}

static bool
run_loop(const DtCellOp *op, DtCell *cells, unsigned *flags)
{
    const DtLoop *loop = op->u.loop;
    npy_intp one = 1, strides[DT_LOOP_MAX_ARGS] = {0};
    char *args[DT_LOOP_MAX_ARGS] = {(char *)&cells[op->a], (char *)&cells[op->b],
                                    (char *)&cells[op->c], NULL};
    int nin = loop->nargs - 1;
    args[nin] = (char *)&cells[op->out];
    strides[nin] = loop->sizes[nin];
    if (!(loop->row->flags & DT_UFUNC_KEEPS) || loop->no_flags) {
        *flags |= dt_fpflags_read();
    }
    if (loop->call(loop->context, args, &one, strides, loop->auxdata) < 0) {
        return false;
    }
    if (loop->no_flags) {
        dt_fpflags_clear();
    }
    return true;
}

/* Is it one whatever it is? */
static bool
is_float(int64_t value)
{
    return value >= -((int64_t)1 << 53) && value <= (int64_t)1 << 53;
}

/* A value that says nothing about an exception of its function. */
static bool
is_usual(double value)
{
    return isfinite(value);
}

/* Of two NaNs that differ, which one a sum or product keeps depends on how NumPy was compiled. */
#define OF_TWO_NANS(x, y, result)                                                                  \
    (DT_UNLIKELY(isnan(result)) && isnan(x) && isnan(y) && memcmp(&(x), &(y), sizeof(x)) != 0)

#define COMPARE(NAME, QUIET, OPERATOR)                                                             \
    case DT_CELLS_##NAME##_D:                                                                      \
        out->b = (npy_bool)(QUIET(a.d, b.d));                                                      \
        break;                                                                                     \
    case DT_CELLS_##NAME##_F:                                                                      \
        out->b = (npy_bool)(QUIET(a.f, b.f));                                                      \
        break;                                                                                     \
    case DT_CELLS_##NAME##_I:                                                                      \
        out->b = a.i OPERATOR b.i;                                                                 \
        break;
#define BITS(NAME, OPERATOR)                                                                       \
    case DT_CELLS_##NAME##_B:                                                                      \
        out->b = (npy_bool)(a.b OPERATOR b.b);                                                     \
        break;                                                                                     \
    case DT_CELLS_##NAME##_I:                                                                      \
        out->i = a.i OPERATOR b.i;                                                                 \
        break;
#define EQUAL(x, y) ((x) == (y))
#define UNEQUAL(x, y) ((x) != (y))

#define ARITHMETIC(NAME, OPERATOR, BUILTIN)                                                        \
    case DT_CELLS_##NAME##_D:                                                                      \
        out->d = a.d OPERATOR b.d;                                                                 \
        if (OF_TWO_NANS(a.d, b.d, out->d)) {                                                       \
            return false;                                                                          \
        }                                                                                          \
        break;                                                                                     \
    case DT_CELLS_##NAME##_F:                                                                      \
        out->f = a.f OPERATOR b.f;                                                                 \
        if (OF_TWO_NANS(a.f, b.f, out->f)) {                                                       \
            return false;                                                                          \
        }                                                                                          \
        break;                                                                                     \
    case DT_CELLS_##NAME##_I:                                                                      \
        if (BUILTIN(a.i, b.i, &out->i)) {                                                          \
            return false;                                                                          \
        }                                                                                          \
        break;

/* False: the nodes are to be called.  Not inlined, so that all is computed when flags are read. */
__attribute__((noinline)) bool
dt_cells_go(const DtCellStage *stage, DtNativeRun *run, unsigned *flags)
{
    DtCell *cells = run->cells;
    const DtCellOp *op = stage->ops;
    for (const DtCellOp *end = op + stage->nops; op < end; op++) {
        DtCell *out = &cells[op->out];
        DtCell a = cells[op->a], b = cells[op->b];
        DtNumber number;
        int64_t rest;
        switch ((DtCellCode)op->code) {
        case DT_CELLS_CONST:
            out->raw = op->u.constant;
            break;
        case DT_CELLS_SYM_I:
        case DT_CELLS_SYM_D:
        case DT_CELLS_SYM_B:
            if (!dt_sym_eval(op->u.sym, run->symbols, &number)) {
                return false;
            }
            if (op->code == DT_CELLS_SYM_D) {
                out->d = number.d;
            }
            else if (op->code == DT_CELLS_SYM_I) {
                out->i = number.i;
            }
            else {
                out->b = number.i != 0;
            }
            break;
        case DT_CELLS_LOAD:
            if (!load(op, run, out)) {
                return false;
            }
            break;
        case DT_CELLS_ITEM:
            if (!load_item(op->u.item, run, out)) {
                return false;
            }
            break;
        case DT_CELLS_EXTENT:
            if (!load_extent(op, run, out)) {
                return false;
            }
            break;
        case DT_CELLS_FIT:
            if (a.i < b.i || a.i > cells[op->c].i) {
                return false;
            }
            *out = a;
            break;
        case DT_CELLS_EXPECT:
            if (a.b != b.b) {
                return false;
            }
            *out = a;
            break;
        case DT_CELLS_LOOP:
            if (!run_loop(op, cells, flags)) {
                return false;
            }
            break;
        case DT_CELLS_UNARY:
            out->d = op->u.unary(a.d);
            if (!is_usual(a.d) || !is_usual(out->d)) {
                return false;
            }
            break;
        case DT_CELLS_BINARY:
            out->d = op->u.binary(a.d, b.d);
            if (!is_usual(a.d) || !is_usual(b.d) || !is_usual(out->d)) {
                return false;
            }
            break;
        case DT_CELLS_B_TO_I:
            out->i = a.b;
            break;
        case DT_CELLS_B_TO_D:
            out->d = a.b;
            break;
        case DT_CELLS_I_TO_D:
            out->d = (double)a.i;
            break;
        case DT_CELLS_F_TO_D:
            out->d = a.f;
            break;
        case DT_CELLS_I_TO_F:
            if (!dt_cast_int(a.i, NPY_FLOAT, &out->f)) {
                return false;
            }
            break;
        case DT_CELLS_D_TO_F:
            if (!dt_cast_double(a.d, NPY_FLOAT, &out->f)) {
                return false;
            }
            break;
        case DT_CELLS_D_TO_I:
            if (!(fabs(a.d) < 9e18)) {
                return false;
            }
            out->i = (int64_t)a.d;
            break;
            ARITHMETIC(ADD, +, __builtin_add_overflow)
            ARITHMETIC(SUB, -, __builtin_sub_overflow)
            ARITHMETIC(MUL, *, __builtin_mul_overflow)
        case DT_CELLS_DIV_D:
            out->d = a.d / b.d;
            break;
        case DT_CELLS_DIV_F:
            out->f = a.f / b.f;
            break;
        case DT_CELLS_PYTHON_DIV_D:
            if (b.d == 0) {
                return false;
            }
            out->d = a.d / b.d;
            break;
        case DT_CELLS_PYTHON_DIV_I:
            if (b.i == 0 || !is_float(a.i) || !is_float(b.i)) {
                return false;
            }
            out->d = (double)a.i / (double)b.i;
            break;
        case DT_CELLS_FLOORDIV_I:
        case DT_CELLS_MOD_I:
            if (b.i == 0 || b.i == -1) {
                return false;
            }
            out->i = floor_quotient(a.i, b.i, &rest);
            if (op->code == DT_CELLS_MOD_I) {
                out->i = rest;
            }
            break;
        case DT_CELLS_POW_D:
            out->d = pow(a.d, b.d);
            break;
        case DT_CELLS_POW_F:
            out->f = powf(a.f, b.f);
            break;
        case DT_CELLS_POW_I:
            if (!int_power(a.i, b.i, &out->i)) {
                return false;
            }
            break;
        case DT_CELLS_PYTHON_POW_D:
            out->d = pow(a.d, b.d);
            if (!(a.d > 0) || !is_usual(a.d) || !is_usual(b.d) || !is_usual(out->d)) {
                return false;
            }
            break;
            BITS(AND, &)
            BITS(OR, |)
            BITS(XOR, ^)
        case DT_CELLS_NEG_D:
            out->d = -a.d;
            break;
        case DT_CELLS_NEG_F:
            out->f = -a.f;
            break;
        case DT_CELLS_NEG_I:
        case DT_CELLS_ABS_I:
            if (a.i == INT64_MIN) {
                return false;
            }
            out->i = op->code == DT_CELLS_NEG_I || a.i < 0 ? -a.i : a.i;
            break;
        case DT_CELLS_ABS_D:
            out->d = fabs(a.d);
            break;
        case DT_CELLS_ABS_F:
            out->f = fabsf(a.f);
            break;
        case DT_CELLS_COPY:
            *out = a;
            break;
            COMPARE(LT, isless, <)
            COMPARE(LE, islessequal, <=)
            COMPARE(EQ, EQUAL, ==)
            COMPARE(NE, UNEQUAL, !=)
            COMPARE(GT, isgreater, >)
            COMPARE(GE, isgreaterequal, >=)
        case DT_CELLS_IS_FINITE:
            out->b = isfinite(a.d) != 0;
            break;
        case DT_CELLS_IS_INF:
            out->b = isinf(a.d) != 0;
            break;
        case DT_CELLS_IS_NAN:
            out->b = isnan(a.d) != 0;
            break;
        case DT_CELLS_GUESS:
            if (a.b != b.b) {
                run->strayed = true;
                return false;
            }
            break;
        }
    }
    return true;
}

DtFusedRun
dt_cells_run(const DtCellStage *stage, DtNativeRun *run)
{
    unsigned flags = 0;
    dt_fpflags_clear();
    if (!dt_cells_go(stage, run, &flags)) {
        return run->strayed ? DT_FUSED_OTHER_WAY : DT_FUSED_CALL;
    }
    flags |= dt_fpflags_read();
    if (DT_LIKELY((flags & DT_FP_ALL) == 0)) {
        return DT_FUSED_OK;
    }
    /* Python's arithmetic raises flags too, and means nothing by them: called, it is told apart. */
    return dt_errstate_hears(stage->fp_region, flags) ? DT_FUSED_CALL : DT_FUSED_OK;
}

/* ---- Objects --------------------------------------------------------------------------------- */

int
dt_cells_box(const DtBox *box, DtNativeRun *run)
{
    const DtMeta *meta = &box->node->results[0];
    DtCell *cell = &run->cells[box->cell];
    PyObject *object;
    if (dt_number_kind_of(meta) != 0) {
        object = box->type == DT_CELL_DOUBLE ? PyFloat_FromDouble(cell->d)
                 : box->type == DT_CELL_INT  ? PyLong_FromLongLong(cell->i)
                                             : PyBool_FromLong(cell->b);
    }
    else if (meta->type == &PyArray_Type) {
        object = dt_cells_new_array(meta, cell);
    }
    else if (box->type == DT_CELL_DOUBLE) {
        object = PyArrayScalar_New(Double);
        if (object != NULL) {
            PyArrayScalar_ASSIGN(object, Double, cell->d);
        }
    }
    else if (box->type == DT_CELL_BOOL) {
        object = PyArrayScalar_FromLong(cell->b);
        Py_INCREF(object);
    }
    else if (box->type == DT_CELL_INT && ((PyArray_Descr *)meta->dtype)->type_num == NPY_LONG) {
        object = PyArrayScalar_New(Long);
        if (object != NULL) {
            PyArrayScalar_ASSIGN(object, Long, (long)cell->i);
        }
    }
    else {
        object = PyArray_Scalar(cell, (PyArray_Descr *)meta->dtype, NULL);
    }
    run->values[box->node->index] = object;
    return object == NULL ? -1 : 0;
}
