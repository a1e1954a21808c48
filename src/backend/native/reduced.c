/* Stages that reduce: what of NumPy's order counts, the shapes, the results.
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
 *
 * Not in here: the block loop (reduced_blocks.c).
 */
#include <string.h>

#include "backend/native/native.h"
#include "compat/import.h"

enum { CHAIN_BLOCK = 16384 }; /* longest row whose results its own elements may use in a block */

/* ---- What NumPy's sums are like -------------------------------------------------------------- */

static enum { UNTRIED, WHOLE, CUT } sums;

/* The sum of `count` doubles that NumPy's loop gives for runs of at most `block`, as this file puts
 * them together. */
static double
tree_sum(const DtLoop *loop, const double *data, npy_intp count, npy_intp block)
{
    if (count > block) {
        npy_intp left = dt_reduced_left(count);
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
    PyObject *ufunc = dt_import_attr("numpy", "add");
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
    geometry->depth = 0;
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
dt_reduced_shape(const DtFused *fused, const DtFusedRow *row, const npy_intp *shape, npy_intp *own)
{
    int ndim = 0;
    for (uint32_t axis = 0; axis < fused->ndim; axis++) {
        bool reduced = fused->reduce_axes & (1u << axis);
        if (!reduced || row->keepdims) {
            own[ndim++] = reduced ? 1 : shape[axis];
        }
    }
    return ndim;
}

int
dt_reduced_make(const DtFused *fused, const npy_intp *shape, PyObject **made, uint64_t (*cells)[2],
                char **slots)
{
    for (uint32_t i = 0; i < fused->nrows; i++) {
        const DtFusedRow *row = &fused->rows[i];
        npy_intp own[DT_FUSED_MAX_NDIM];
        int ndim = dt_reduced_shape(fused, row, shape, own);
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

/* Results that equal others get their values. */
static void
copy_equal(const DtFused *fused, PyObject *const *made, uint64_t (*cells)[2])
{
    for (uint32_t i = 0; i < fused->nrows; i++) {
        int16_t equal = fused->rows[i].equal;
        if (equal >= 0) {
            const char *from = made[equal] == NULL ? (const char *)cells[equal]
                                                   : PyArray_BYTES((PyArrayObject *)made[equal]);
            if (made[i] == NULL) {
                memcpy(cells[i], from, fused->rows[i].size);
            }
            else {
                memcpy(PyArray_BYTES((PyArrayObject *)made[i]), from,
                       (size_t)PyArray_NBYTES((PyArrayObject *)made[i]));
            }
        }
    }
}

int
dt_reduced_take(const DtFused *fused, DtNativeRun *run, PyObject **made, uint64_t (*cells)[2],
                bool keep)
{
    if (keep) {
        copy_equal(fused, made, cells);
    }
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
