/* The block loop of a stage that reduces, alone or together with what it reduces.
 *
 *   rows      [-- row --][-- row --]...   blocks of whole rows; a long row in pieces
 *   columns   row by row added onto one row of results
 *
 * Elements are in C order, so NumPy's iterator forms one inner run per row (per array, if all axes
 * are reduced), beginning with the identity or, where there is none, with the first element.  A row
 * that fits into a block is one call of NumPy's loop, as in NumPy.  Of a longer one:
 *
 *   - sums of floats are cut at the borders of NumPy's pairwise tree (halves, the first rounded
 * down to a multiple of 8), and the parts are added up as the tree would.  Which of two different
 * NaNs survives depends on how NumPy was compiled: then the answer is "unsure", and the nodes are
 * called;
 *   - products run on from piece to piece, in sequence, as NumPy's do;
 *   - integers and booleans can't tell;
 *   - the largest and smallest of floats are what they are, up to the sign of a zero and the bits
 * of a NaN: where one comes out, the answer is "unsure".
 *
 * Columns are elementwise.  NumPy versions whose sums are cut by the iterator's buffer exist: one
 * sum, made once, tells (dt_reduced_sums_whole_runs).
 */
#include <math.h>
#include <string.h>

#include "backend/native/native.h"

enum {
    CHAIN_BLOCK = 16384, /* longest row whose results its own elements may use in a block */
    MAX_REDUCED = DT_FUSED_MAX_OPS,
};

typedef struct Cell {
    uint64_t word[2];
} Cell;

/* ---- What NumPy's sums are like -------------------------------------------------------------- */

static enum { UNTRIED, WHOLE, CUT } sums;
static npy_intp
left_part(npy_intp count)
{
    npy_intp half = count / 2;
    return half - half % 8;
}

/* The sum of `count` doubles that NumPy's loop gives for runs of at most `block`, as this file puts
 * them together. */
static double
tree_sum(const DtLoop *loop, const double *data, npy_intp count, npy_intp block)
{
    if (count > block) {
        npy_intp left = left_part(count);
        double one = tree_sum(loop, data, left, block);
        return one + tree_sum(loop, data + left, count - left, block);
    }
    double sum = -0.0;
    char *args[3] = {(char *)&sum, (char *)data, (char *)&sum};
    npy_intp strides[3] = {0, sizeof(double), 0};
    (void)loop->call(loop->context, args, &count, strides, loop->auxdata);
    return sum;
}

/* np.add.reduce of the array; NaN with an exception cleared: no answer. */
static double
sum_by_numpy(PyObject *ufunc, PyArrayObject *array)
{
    double value = Py_NAN;
    PyObject *sum = PyObject_CallMethod(ufunc, "reduce", "O", (PyObject *)array);
    if (sum != NULL && PyArray_IsScalar(sum, Double)) {
        value = PyArrayScalar_VAL(sum, Double);
    }
    Py_XDECREF(sum);
    return value;
}

static bool
same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static int
try_sums(void)
{
    enum { COUNT = 20001, BLOCK = 512 };
    npy_intp shape = COUNT;
    const DtLoop *loop = NULL;
    PyArray_Descr *descr = PyArray_DescrFromType(NPY_DOUBLE);
    PyObject *types[2] = {(PyObject *)descr, (PyObject *)descr};
    PyObject *module = PyImport_ImportModule("numpy");
    PyObject *ufunc = module == NULL ? NULL : PyObject_GetAttrString(module, "add");
    PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(1, &shape, NPY_DOUBLE);
    int result = -1;
    if (ufunc == NULL || array == NULL || dt_loop_get(ufunc, types, 2, &loop) != DT_OK) {
        goto done;
    }
    sums = CUT;
    if (loop != NULL) {
        double *data = PyArray_DATA(array);
        double x = 0.3;
        for (npy_intp i = 0; i < COUNT; i++) {
            x = 3.7 * x * (1 - x); /* scattered over the unit interval */
            data[i] = x - 0.5;
        }
        if (same_bits(sum_by_numpy(ufunc, array), 0.0 + tree_sum(loop, data, COUNT, BLOCK))) {
            sums = WHOLE;
        }
    }
    result = 0;
done:
    Py_XDECREF(array);
    Py_XDECREF(ufunc);
    Py_XDECREF(module);
    Py_DECREF(descr);
    return result;
}

bool
dt_reduced_sums_whole_runs(void)
{
    if (sums == UNTRIED && try_sums() < 0) {
        PyErr_Clear(); /* no memory for the trial: sums are NumPy's, and it is tried again */
        return false;
    }
    return sums == WHOLE;
}

/* ---- Geometry -------------------------------------------------------------------------------- */

/* Inputs that are reduced themselves have to be in C order, like what is made here. */
static bool
inputs_in_order(const DtFused *fused, PyArrayObject *const *arrays, const npy_intp *shape)
{
    for (uint32_t i = 0; i < fused->nops; i++) {
        const DtFusedOp *op = &fused->ops[i];
        if (op->level != DT_LEVEL_REDUCE || op->operands[0] < 0) {
            continue;
        }
        PyArrayObject *array = arrays[op->operands[0]];
        if (!PyArray_IS_C_CONTIGUOUS(array) || PyArray_NDIM(array) != (int)fused->ndim
            || memcmp(PyArray_DIMS(array), shape, fused->ndim * sizeof(npy_intp)) != 0) {
            return false;
        }
    }
    return true;
}

bool
dt_reduced_geometry(const DtFused *fused, PyArrayObject *const *arrays, const npy_intp *shape,
                    int order, const DtLayout *layout, DtGeometry *geometry)
{
    npy_intp reduced = 1, kept = 1;
    for (uint32_t i = 0; i < fused->ndim; i++) {
        *(fused->reduce_axes & (1u << i) ? &reduced : &kept) *= shape[i];
    }
    bool all = kept == 1;
    if (layout != NULL ? !layout->c_order || !inputs_in_order(fused, arrays, shape)
                       : order != NPY_ARRAY_C_CONTIGUOUS && !(all && fused->ndim == 1)) {
        return false;
    }
    geometry->columns = fused->reduces == DT_REDUCES_COLUMNS && !all;
    geometry->rows = geometry->columns ? reduced : kept;
    geometry->length = geometry->columns ? kept : reduced;
    geometry->block = fused->block;
    if (fused->chained && geometry->length > fused->block) {
        geometry->block = geometry->length;
    }
    npy_intp total = reduced * kept;
    geometry->block = total < geometry->block ? total : geometry->block;
    return !(fused->chained && geometry->length > CHAIN_BLOCK)
           && !(fused->single_row_called && geometry->rows == 1);
}

/* ---- Results --------------------------------------------------------------------------------- */

int
dt_reduced_make(const DtFused *fused, const npy_intp *shape, PyObject **made, uint64_t (*cells)[2],
                char **slots)
{
    for (uint32_t i = 0; i < fused->nrows; i++) {
        const DtFusedRow *row = &fused->rows[i];
        npy_intp own[DT_FUSED_MAX_NDIM];
        int ndim = 0;
        for (uint32_t axis = 0; axis < fused->ndim; axis++) {
            bool reduced = fused->reduce_axes & (1u << axis);
            if (!reduced || row->keepdims) {
                own[ndim++] = reduced ? 1 : shape[axis];
            }
        }
        made[i] = NULL;
        if (ndim == 0) {
            slots[row->slot] = (char *)cells[i];
            continue;
        }
        made[i] = dt_memory_new_array(row->descr, ndim, own, NULL, NPY_ARRAY_C_CONTIGUOUS);
        if (made[i] == NULL) {
            while (i > 0) {
                i--;
                Py_XDECREF(made[i]);
            }
            return -1;
        }
        slots[row->slot] = PyArray_BYTES((PyArrayObject *)made[i]);
    }
    return 0;
}

int
dt_reduced_take(const DtFused *fused, DtNativeRun *run, PyObject **made, uint64_t (*cells)[2],
                bool keep)
{
    for (uint32_t i = 0; i < fused->nrows; i++) {
        const DtFusedRow *row = &fused->rows[i];
        if (keep && made[i] == NULL && row->cell != DT_NO_CELL) {
            memcpy(&run->cells[row->cell], cells[i], sizeof(DtCell));
            continue;
        }
        if (keep && made[i] == NULL) {
            made[i] = PyArray_Scalar(cells[i], row->descr, NULL);
            keep = made[i] != NULL;
        }
        if (!keep) {
            Py_XDECREF(made[i]);
            made[i] = NULL;
            continue;
        }
        run->values[row->node->index] = made[i];
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- The loop -------------------------------------------------------------------------------- */

typedef struct Walk {
    const DtFused *fused;
    char **slots;
    const DtGeometry *geometry;
    const DtLayout *layout;
    DtReader *readers;
    DtOutcome *outcome;
    char *starts[DT_FUSED_MAX_INPUTS];
} Walk;

static void
call_reduce(const DtFusedReduce *reduce, char *result, char *elements, npy_intp count,
            npy_intp result_stride, DtOutcome *outcome)
{
    const DtLoop *loop = reduce->loop;
    char *args[3] = {result, elements, result};
    npy_intp strides[3] = {result_stride, loop->sizes[0], result_stride};
    if (count > 0 && loop->call(loop->context, args, &count, strides, loop->auxdata) < 0) {
        outcome->failed = true;
    }
}

/* One element; a copy of unknown size is a call. */
static inline void
copy_one(char *to, const char *from, uint8_t size)
{
    switch (size) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, size);
        break;
    }
}

/* One row, or the first piece of one, from the beginning. */
static void
reduce_row(const DtFusedReduce *reduce, char *result, char *elements, npy_intp count,
           DtOutcome *outcome)
{
    uint8_t size = reduce->loop->sizes[0];
    if (reduce->first) {
        copy_one(result, elements, size);
        elements += size;
        count--;
    }
    else {
        copy_one(result, (const char *)&reduce->identity, size);
    }
    call_reduce(reduce, result, elements, count, 0, outcome);
}

/* Rows of a block, added onto the results: `column` is the first one's place among them. */
static void
reduce_columns(const Walk *walk, const DtFusedReduce *reduce, npy_intp row, npy_intp column,
               npy_intp count, npy_intp rows)
{
    uint8_t size = reduce->loop->sizes[0];
    char *result = walk->slots[reduce->slot] + column * size;
    char *elements = walk->slots[reduce->source];
    for (npy_intp i = 0; i < rows; i++, elements += count * size) {
        if (row + i == 0) {
            if (reduce->first) {
                memcpy(result, elements, (size_t)(count * size));
                continue;
            }
            for (npy_intp k = 0; k < count; k++) {
                copy_one(result + k * size, (const char *)&reduce->identity, size);
            }
        }
        call_reduce(reduce, result, elements, count, size, walk->outcome);
    }
}

#define EXPAND(T)                                                                                  \
    for (npy_intp row = 0; row < rows; row++) {                                                    \
        T one = ((const T *)from)[row], *place = (T *)to + row * length;                           \
        for (npy_intp i = 0; i < length; i++) {                                                    \
            place[i] = one;                                                                        \
        }                                                                                          \
    }

static void
expand(char *to, const char *from, npy_intp rows, npy_intp length, npy_intp size)
{
    switch (size) {
    case 1:
        EXPAND(uint8_t)
        break;
    case 2:
        EXPAND(uint16_t)
        break;
    case 4:
        EXPAND(uint32_t)
        break;
    default:
        EXPAND(uint64_t)
        break;
    }
}

/* What a piece of a row is to the row. */
typedef enum Piece { PIECE_ALL, PIECE_FIRST, PIECE_LATER } Piece;

/* A step that does not run over the elements. */
static void
other_step(const Walk *walk, const DtStep *step, npy_intp row, npy_intp column, npy_intp rows,
           npy_intp length, Piece piece, Cell *parts)
{
    char **slots = walk->slots;
    DtOutcome *outcome = walk->outcome;
    if (step->flags & DT_STEP_EXPAND) {
        expand(slots[step->slots[1]], slots[step->slots[0]], rows, length, step->strides[1]);
        return;
    }
    if (step->flags & DT_STEP_ROWS) {
        dt_fused_step(step, slots, rows, outcome);
        return;
    }
    const DtFusedReduce *reduce = &walk->fused->reduce[step->reduce];
    uint8_t size = reduce->loop->sizes[0];
    if (step->flags & DT_STEP_READ) {
        outcome->flags |= dt_fpflags_read();
    }
    if (walk->geometry->columns) {
        reduce_columns(walk, reduce, row, column, length, rows);
    }
    else if (piece == PIECE_ALL) {
        char *result = slots[reduce->slot], *elements = slots[reduce->source];
        for (npy_intp i = 0; i < rows; i++, result += size, elements += length * size) {
            reduce_row(reduce, result, elements, length, outcome);
        }
    }
    else if (reduce->tree) {
        char *part = (char *)&parts[step->reduce];
        double nothing = -0.0; /* adding it changes no bit */
        float nothing_small = -0.0f;
        memcpy(part, size == 8 ? (char *)&nothing : (char *)&nothing_small, size);
        call_reduce(reduce, part, slots[reduce->source], length, 0, outcome);
    }
    else if (piece == PIECE_FIRST) {
        reduce_row(reduce, slots[reduce->slot], slots[reduce->source], length, outcome);
    }
    else {
        call_reduce(reduce, slots[reduce->slot], slots[reduce->source], length, 0, outcome);
    }
    if (step->flags & DT_STEP_CLEAR) {
        dt_fpflags_clear();
    }
}

/* Computes `rows` runs of `length` elements that follow each other from (row, column) on. */
static void
run_block(const Walk *walk, npy_intp row, npy_intp column, npy_intp rows, npy_intp length,
          Piece piece, Cell *parts)
{
    const DtFused *fused = walk->fused;
    npy_intp start = row * walk->geometry->length + column, count = rows * length;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        walk->slots[input->slot] =
            walk->readers == NULL
                ? walk->starts[i] + start * input->size
                : dt_reader_block(&walk->readers[i], walk->layout, start, count, input->size);
    }
    const DtStep *step = fused->steps;
    for (const DtStep *end = step + fused->nsteps; step < end; step++) {
        if (DT_UNLIKELY(step->flags & DT_STEP_OTHER)) {
            other_step(walk, step, row, column, rows, length, piece, parts);
        }
        else {
            dt_fused_step(step, walk->slots, count, walk->outcome);
        }
    }
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        walk->slots[fused->outputs[i].slot] += count * fused->outputs[i].size;
    }
}

/* *left += *right, floats of that size. */
static void
add_cells(const Walk *walk, Cell *left, const Cell *right, uint8_t size)
{
    bool nans;
    if (size == sizeof(double)) {
        double a, b;
        memcpy(&a, left, sizeof(a));
        memcpy(&b, right, sizeof(b));
        nans = isnan(a) && isnan(b) && memcmp(&a, &b, sizeof(a)) != 0;
        a += b;
        memcpy(left, &a, sizeof(a));
    }
    else {
        float a, b;
        memcpy(&a, left, sizeof(a));
        memcpy(&b, right, sizeof(b));
        nans = isnan(a) && isnan(b) && memcmp(&a, &b, sizeof(a)) != 0;
        a += b;
        memcpy(left, &a, sizeof(a));
    }
    walk->outcome->unsure = walk->outcome->unsure || nans;
}

/* `count` elements of a row from `column` on, cut where NumPy's tree is; parts[k] gets the sum of
 * reduction k. */
static void
run_tree(const Walk *walk, npy_intp row, npy_intp column, npy_intp count, Cell *parts)
{
    const DtFused *fused = walk->fused;
    if (walk->outcome->failed) {
        return;
    }
    if (count <= walk->geometry->block) {
        run_block(walk, row, column, 1, count, column == 0 ? PIECE_FIRST : PIECE_LATER, parts);
        return;
    }
    Cell right[MAX_REDUCED];
    npy_intp left = left_part(count);
    run_tree(walk, row, column, left, parts);
    run_tree(walk, row, column + left, count - left, right);
    for (uint32_t k = 0; k < fused->nreduce; k++) {
        if (fused->reduce[k].tree) {
            add_cells(walk, &parts[k], &right[k], fused->reduce[k].loop->sizes[0]);
        }
    }
}

/* The sign of a zero and the bits of a NaN depend on where the row was cut. */
static bool
is_unsure(const DtFusedReduce *reduce, const char *result)
{
    double value;
    float small;
    if (reduce->loop->sizes[0] == sizeof(double)) {
        memcpy(&value, result, sizeof(value));
    }
    else {
        memcpy(&small, result, sizeof(small));
        value = small;
    }
    return value == 0 || isnan(value);
}

static void
run_long_row(const Walk *walk, npy_intp row)
{
    const DtFused *fused = walk->fused;
    Cell parts[MAX_REDUCED];
    run_tree(walk, row, 0, walk->geometry->length, parts);
    for (uint32_t k = 0; k < fused->nreduce; k++) {
        const DtFusedReduce *reduce = &fused->reduce[k];
        char *result = walk->slots[reduce->slot];
        if (reduce->tree) {
            Cell sum = {{reduce->identity, 0}};
            add_cells(walk, &sum, &parts[k], reduce->loop->sizes[0]);
            memcpy(result, &sum, reduce->loop->sizes[0]);
        }
        else if (reduce->cut_shows && is_unsure(reduce, result)) {
            walk->outcome->unsure = true;
        }
    }
}

static void
next_rows(const Walk *walk, npy_intp rows)
{
    const DtFused *fused = walk->fused;
    for (uint32_t i = 0; i < fused->nrows; i++) {
        walk->slots[fused->rows[i].slot] += rows * fused->rows[i].size;
    }
}

void
dt_reduced_run(const DtFused *fused, char **slots, const DtGeometry *geometry,
               const DtLayout *layout, DtReader *readers, DtOutcome *outcome)
{
    Walk walk = {fused, slots, geometry, layout, readers, outcome, {NULL}};
    npy_intp length = geometry->length, block = geometry->block;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        walk.starts[i] = slots[fused->inputs[i].slot];
    }
    npy_intp at_once = length <= block ? block / length : 1;
    for (npy_intp row = 0; row < geometry->rows && !outcome->failed; row += at_once) {
        npy_intp rows = geometry->rows - row < at_once ? geometry->rows - row : at_once;
        if (length <= block) {
            run_block(&walk, row, 0, rows, length, PIECE_ALL, NULL);
        }
        else if (geometry->columns) {
            for (npy_intp column = 0; column < length; column += block) {
                npy_intp count = length - column < block ? length - column : block;
                run_block(&walk, row, column, 1, count, PIECE_ALL, NULL);
            }
        }
        else {
            run_long_row(&walk, row);
        }
        if (!geometry->columns) {
            next_rows(&walk, rows);
        }
    }
}
