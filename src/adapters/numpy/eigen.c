/* Eigenvalues and roots: numbers that are real where all of them are, complex otherwise.
 *
 *   w, v = np.linalg.eig(a)    late arrays ─► is w complex? guessed, like a branch ─► as_found
 *
 * Which of both they are in the call that is traced is looked up, and the trace goes on with arrays
 * of that dtype; a call in which they are of the other one finds another entry.  Where nothing is
 * guessed they stay arrays of which nothing is known.
 */
#include "adapters/numpy/dry.h"

/* Is the first argument an array of complex numbers?  NULL: it is no array. */
static DtStatus
first_array(DtTrace *trace, const DtArgs *args, const DtArrayVar **out)
{
    *out = NULL;
    if (args->npos > 0) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[0], &var));
        *out = dt_np_array_of(var);
    }
    return DT_OK;
}

/* Of which dtype are numbers that were computed of an array of real ones? */
static PyObject *
dtype_of(const DtMeta *from, bool imaginary)
{
    bool single = dt_np_descr(from->dtype)->type_num == NPY_FLOAT;
    return dt_np_dtype(imaginary ? (single ? NPY_CFLOAT : NPY_CDOUBLE)
                                 : (single ? NPY_FLOAT : NPY_DOUBLE));
}

/* The late array as one of this dtype and shape, of whose memory nothing is known. */
static DtStatus
as_found(DtTrace *trace, DtVar *late, PyObject *dtype, const DtSym *const *shape, uint32_t ndim,
         DtVar **out)
{
    DtMeta *meta = dtype != NULL ? dt_np_meta(trace, dtype, ndim) : NULL;
    DtOperand operands[3] = {{0}};
    bool ok;
    if (meta == NULL) {
        return DT_ERROR;
    }
    memcpy(meta->shape, shape, sizeof(shape[0]) * ndim);
    meta->layout = DT_LAYOUT_NATIVE | DT_LAYOUT_ALIGNED;
    DT_TRY(dt_graph_operand(trace, late, &operands[0], &ok));
    operands[1] = dt_np_const(dtype);
    DT_TRY(dt_np_int_operand(trace, ndim, &operands[2]));
    return dt_np_emit_view(trace, DT_NP_as_found, operands, 3, meta, out);
}

/* *done false: it is not to be guessed. */
static DtStatus
guess_imaginary(DtTrace *trace, DtVar *late, bool *imaginary, bool *done)
{
    PyObject *callee = dt_np_callee(DT_NP_is_imaginary);
    DtOperand operand;
    DtVar *asked;
    bool ok;
    *done = false;
    DT_TRY(dt_graph_operand(trace, late, &operand, &ok));
    if (callee == NULL || !ok) {
        return callee == NULL ? DT_ERROR : DT_OK;
    }
    DT_TRY(
        dt_number_emit(trace, dt_np_target(DT_NP_is_imaginary), callee, &operand, 1, 'b', &asked));
    return dt_frame_ask(trace, asked, imaginary, done);
}

DtStatus
dt_np_fn_eigen(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    const DtArrayVar *array;
    DtVar **items = out;
    uint32_t count = 1;
    bool many, imaginary, done;
    DT_TRY(first_array(trace, args, &array));
    if (array != NULL && PyTypeNum_ISCOMPLEX(dt_np_descr(array->meta->dtype)->type_num)) {
        return dt_np_fn_dry(trace, op, args, out);
    }
    DT_TRY(dt_np_fn_late(trace, op, args, out));
    DT_TRY(dt_np_items(trace, *out, &items, &count, &many));
    items = many ? items : out;
    count = many ? count : 1;
    if (array == NULL || array->meta->ndim < 2) {
        return DT_OK;
    }
    DT_TRY(guess_imaginary(trace, items[0], &imaginary, &done));
    for (uint32_t i = 0; i < count && done; i++) { /* the vectors have an axis more */
        uint32_t ndim = array->meta->ndim - (i == 0);
        DT_TRY(as_found(trace, items[i], dtype_of(array->meta, imaginary),
                        (const DtSym *const *)array->meta->shape, ndim, &items[i]));
    }
    return DT_OK;
}

/* Zeros at both ends of the coefficients count: how many roots there are, the data say. */
DtStatus
dt_np_fn_roots(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    const DtArrayVar *array;
    const DtSym *size;
    bool imaginary, done;
    DT_TRY(first_array(trace, args, &array));
    DT_TRY(dt_np_fn_late(trace, op, args, out));
    if (array == NULL || PyTypeNum_ISCOMPLEX(dt_np_descr(array->meta->dtype)->type_num)) {
        return DT_OK;
    }
    DT_TRY(guess_imaginary(trace, *out, &imaginary, &done));
    if (!done) {
        return DT_OK;
    }
    DT_TRY(dt_trace_symbol(trace, NULL, DT_SYM_INT, (DtNumber){.i = 2}, &size));
    return as_found(trace, *out, dtype_of(array->meta, imaginary), &size, 1, out);
}
