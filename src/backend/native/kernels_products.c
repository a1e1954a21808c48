/* Kernels of products and linear algebra: NumPy's own loops and BLAS, without the calls around
 * them.
 *
 * dot() of vectors is the dtype's dot function, as in NumPy for vectors of two elements or more;
 * matmul, inv, solve and det are the loops of their ufuncs, with the strides that NumPy hands over
 * for operands without further axes: an axis that is missing or of one item has the stride 0.
 */
#include <math.h>
#include <string.h>

#include "backend/native/kernels.h"

/* ---- Products of vectors --------------------------------------------------------------------- */

/* The two operands' sum of products; false: not by this way. */
static bool
product(const DtKernel *kernel, const DtNativeRun *run, bool flat, DtCell *out)
{
    PyArrayObject *arrays[2];
    for (uint32_t i = 0; i < 2; i++) {
        PyArrayObject *array = arrays[i] =
            dt_kernel_array(run, &kernel->values[i < kernel->nvalues ? i : 0]);
        if (array == NULL || PyArray_TYPE(array) != kernel->descr->type_num
            || !(flat ? PyArray_FLAGS(array) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)
                      : PyArray_NDIM(array) == 1 && PyArray_IS_C_CONTIGUOUS(array))) {
            return false;
        }
    }
    npy_intp count = PyArray_SIZE(arrays[0]);
    if (count != PyArray_SIZE(arrays[1]) || count < 2 || count > DT_KERNEL_MAX_WORK) {
        return false;
    }
    dt_fpflags_clear();
    PyDataType_GetArrFuncs(kernel->descr)
        ->dotfunc(PyArray_BYTES(arrays[0]), kernel->size, PyArray_BYTES(arrays[1]), kernel->size,
                  out, count, arrays[0]);
    unsigned flags = dt_fpflags_read() & DT_FP_ALL;
    return DT_LIKELY(flags == 0) || !dt_errstate_hears(kernel->node->fp_region, flags);
}

static DtFusedRun
run_dot(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    (void)stage;
    return product(kernel, run, false, &run->cells[kernel->cell]) ? DT_FUSED_OK : DT_FUSED_CALL;
}

static bool
is_float(const DtKernel *kernel)
{
    return kernel->descr->type_num == NPY_DOUBLE || kernel->descr->type_num == NPY_FLOAT;
}

#define CROSS(NAME, T)                                                                             \
    /* Not inlined, so that all is computed when flags are read. */                                \
    __attribute__((noinline)) static void NAME(const char *left, const char *right, char *to)      \
    {                                                                                              \
        const T *a = (const T *)left, *b = (const T *)right;                                       \
        T *out = (T *)to;                                                                          \
        out[0] = a[1] * b[2] - a[2] * b[1];                                                        \
        out[1] = a[2] * b[0] - a[0] * b[2];                                                        \
        out[2] = a[0] * b[1] - a[1] * b[0];                                                        \
    }
CROSS(cross_double, double)
CROSS(cross_float, float)

/* dot() with a matrix: what NumPy's function calls when it has its arguments. */
static DtFusedRun
run_matrix_dot(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *a = dt_kernel_array(run, &kernel->values[0]);
    PyArrayObject *b = dt_kernel_array(run, &kernel->values[1]);
    (void)stage;
    if (a == NULL || b == NULL) {
        return DT_FUSED_CALL;
    }
    if (!run->committed && dt_called_raise(kernel->node->fp_region, run) < 0) {
        PyErr_Clear(); /* what hindered it hinders the call, which reports it */
        return DT_FUSED_CALL;
    }
    PyObject *made = PyArray_MatrixProduct2((PyObject *)a, (PyObject *)b, NULL);
    if (made == NULL) {
        PyErr_Clear(); /* the call reports it */
        return DT_FUSED_CALL;
    }
    run->values[kernel->node->index] = made;
    return DT_FUSED_OK;
}

/* The product of two vectors of three numbers, as NumPy's function computes it. */
static DtFusedRun
run_cross(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *arrays[2];
    const char *data[2];
    npy_intp three = 3;
    (void)stage;
    for (int i = 0; i < 2; i++) {
        PyArrayObject *array = arrays[i] = dt_kernel_array(run, &kernel->values[i]);
        if (array == NULL || PyArray_TYPE(array) != kernel->descr->type_num
            || PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != 3
            || !PyArray_IS_C_CONTIGUOUS(array)) {
            return DT_FUSED_CALL;
        }
        data[i] = PyArray_BYTES(array);
    }
    PyObject *made = dt_memory_new_array(kernel->descr, 1, &three, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    char *result = PyArray_BYTES((PyArrayObject *)made);
    dt_fpflags_clear();
    (kernel->size == sizeof(double) ? cross_double : cross_float)(data[0], data[1], result);
    unsigned flags = dt_fpflags_read() & DT_FP_ALL;
    if (flags != 0 && dt_errstate_hears(kernel->node->fp_region, flags)) {
        Py_DECREF(made);
        return DT_FUSED_CALL;
    }
    PyObject *view = PyArray_View((PyArrayObject *)made, NULL, NULL); /* of moveaxis(), there */
    Py_DECREF(made);
    run->values[kernel->node->index] = view;
    return view != NULL ? DT_FUSED_OK : DT_FUSED_ERROR;
}

static DtStatus
choose_cross(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_cross;
    *ok = is_float(kernel) && kernel->cell == DT_NO_CELL && node->nargs == 2
          && node->results[0].ndim == 1 && dt_kernel_take_value(node, 0, kernel)
          && dt_kernel_take_value(node, 1, kernel);
    return DT_OK;
}

/* sqrt(dot(x, x)) of all elements. */
static DtFusedRun
run_norm(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    DtCell *cell = &run->cells[kernel->cell];
    (void)stage;
    if (!product(kernel, run, true, cell)) {
        return DT_FUSED_CALL;
    }
    if (kernel->size == sizeof(double)) {
        cell->d = sqrt(cell->d);
    }
    else {
        cell->f = sqrtf(cell->f);
    }
    return DT_FUSED_OK;
}

static DtStatus
choose_dot(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    bool matrix = kernel->cell == DT_NO_CELL && strcmp(node->target, "numpy.dot") == 0
                  && node->results[0].ndim > 0;
    kernel->run = matrix ? run_matrix_dot : run_dot;
    *ok = (kernel->cell != DT_NO_CELL || matrix) && is_float(kernel) && node->nargs == 2
          && dt_kernel_take_value(node, 0, kernel) && dt_kernel_take_value(node, 1, kernel);
    return DT_OK;
}

static DtStatus
choose_norm(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_norm;
    *ok = kernel->cell != DT_NO_CELL && is_float(kernel) && node->nargs == 1
          && dt_kernel_take_value(node, 0, kernel);
    return DT_OK;
}

/* ---- Positions ------------------------------------------------------------------------------- */

static DtFusedRun
run_argument(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    npy_intp at = 0;
    (void)stage;
    if (array == NULL || !PyArray_IS_C_CONTIGUOUS(array) || PyArray_SIZE(array) < 1
        || PyArray_SIZE(array) > DT_KERNEL_MAX_WORK) {
        return DT_FUSED_CALL;
    }
    PyArray_ArrFuncs *functions = PyDataType_GetArrFuncs(PyArray_DESCR(array));
    PyArray_ArgFunc *function = kernel->axis ? functions->argmax : functions->argmin;
    if (function == NULL || function(PyArray_BYTES(array), PyArray_SIZE(array), &at, array) < 0) {
        PyErr_Clear(); /* the call reports it */
        return DT_FUSED_CALL;
    }
    run->cells[kernel->cell].i = at;
    return DT_FUSED_OK;
}

static DtStatus
choose_argument(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_argument;
    kernel->axis = strcmp(node->target, "numpy.argmax") == 0;
    *ok = kernel->cell != DT_NO_CELL && node->nargs == 2 && node->args[1].kind == DT_OPERAND_CONST
          && node->args[1].u.object == Py_None && dt_kernel_take_value(node, 0, kernel);
    return DT_OK;
}

/* ---- Ufuncs with core dimensions ------------------------------------------------------------- */

/* Clears flags, runs the loop and looks whether anybody is to hear of what it raised. */
static bool
run_core_loop(const DtKernel *kernel, char **args, const npy_intp *dims, const npy_intp *steps,
              unsigned ignored)
{
    const DtLoop *loop = kernel->loop;
    dt_fpflags_clear();
    if (loop->call(loop->context, args, dims, steps, loop->auxdata) < 0) {
        PyErr_Clear(); /* the call reports it */
        return false;
    }
    unsigned flags = dt_fpflags_read() & DT_FP_ALL & ~ignored;
    if (DT_LIKELY(flags == 0)) {
        return true;
    }
    return !dt_errstate_hears(kernel->node->fp_region, flags)
           && !(ignored && (flags & DT_FP_INVALID));
}

static DtFusedRun
run_matmul(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *a = dt_kernel_array(run, &kernel->values[0]);
    PyArrayObject *b = dt_kernel_array(run, &kernel->values[1]);
    (void)stage;
    if (a == NULL || b == NULL || PyArray_TYPE(a) != kernel->descr->type_num
        || PyArray_TYPE(b) != kernel->descr->type_num || PyArray_NDIM(a) > 2 || PyArray_NDIM(a) < 1
        || PyArray_NDIM(b) > 2 || PyArray_NDIM(b) < 1) {
        return DT_FUSED_CALL;
    }
    bool rows = PyArray_NDIM(a) == 2, columns = PyArray_NDIM(b) == 2;
    npy_intp shape[2];
    npy_intp m = rows ? PyArray_DIM(a, 0) : 1, n = PyArray_DIM(a, rows);
    npy_intp p = columns ? PyArray_DIM(b, 1) : 1;
    int ndim = 0;
    if (n != PyArray_DIM(b, 0) || n < 1 || m < 1 || p < 1 || m > DT_KERNEL_MAX_WORK
        || n > DT_KERNEL_MAX_WORK || p > DT_KERNEL_MAX_WORK || m * n * p > DT_KERNEL_MAX_WORK) {
        return DT_FUSED_CALL;
    }
    if (rows) {
        shape[ndim++] = m;
    }
    if (columns) {
        shape[ndim++] = p;
    }
    if ((ndim == 0) != (kernel->cell != DT_NO_CELL)) {
        return DT_FUSED_CALL;
    }
    PyObject *made = NULL;
    char *args[3] = {PyArray_BYTES(a), PyArray_BYTES(b), NULL};
    if (ndim > 0) {
        made = dt_memory_new_array(kernel->descr, ndim, shape, NULL, 0);
        if (made == NULL) {
            return DT_FUSED_ERROR;
        }
        args[2] = PyArray_BYTES((PyArrayObject *)made);
    }
    else {
        args[2] = (char *)&run->cells[kernel->cell];
    }
    npy_intp dims[4] = {1, m, n, p};
    npy_intp size = kernel->size;
    /* An axis that is missing or of one item has no stride. */
    npy_intp steps[9] = {
        0,
        0,
        0,
        m > 1 ? PyArray_STRIDE(a, 0) : 0,
        n > 1 ? PyArray_STRIDE(a, rows) : 0,
        n > 1 ? PyArray_STRIDE(b, 0) : 0,
        p > 1 ? PyArray_STRIDE(b, 1) : 0,
        m > 1 ? p * size : 0,
        p > 1 ? size : 0,
    };
    if (!run_core_loop(kernel, args, dims, steps, 0)) {
        Py_XDECREF(made);
        return DT_FUSED_CALL;
    }
    if (made != NULL) {
        run->values[kernel->node->index] = made;
    }
    return DT_FUSED_OK;
}

/* Square matrices: inv, det, and solve with one vector or several. */
static DtFusedRun
run_square(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *a = dt_kernel_array(run, &kernel->values[0]);
    PyArrayObject *b = kernel->nvalues > 1 ? dt_kernel_array(run, &kernel->values[1]) : NULL;
    (void)stage;
    if (a == NULL || PyArray_NDIM(a) != 2 || PyArray_TYPE(a) != kernel->descr->type_num
        || PyArray_DIM(a, 0) != PyArray_DIM(a, 1) || PyArray_DIM(a, 0) < 2
        || PyArray_DIM(a, 0) > 64) {
        return DT_FUSED_CALL;
    }
    npy_intp n = PyArray_DIM(a, 0), size = kernel->size, p = 1;
    int bdim = b != NULL ? PyArray_NDIM(b) : 0;
    if (kernel->nvalues > 1) {
        p = bdim == 2 ? PyArray_DIM(b, 1) : 1;
        if (b == NULL || bdim != kernel->axis || PyArray_TYPE(b) != kernel->descr->type_num
            || PyArray_DIM(b, 0) != n || (bdim == 2 && (p < 2 || p > 64))) {
            return DT_FUSED_CALL;
        }
    }
    bool number = kernel->cell != DT_NO_CELL;
    npy_intp shape[2] = {n, b != NULL ? p : n};
    PyObject *made = NULL;
    if (!number) {
        made = dt_memory_new_array(kernel->descr, b != NULL ? bdim : 2, shape, NULL, 0);
        if (made == NULL) {
            return DT_FUSED_ERROR;
        }
    }
    char *result =
        number ? (char *)&run->cells[kernel->cell] : PyArray_BYTES((PyArrayObject *)made);
    char *args[3] = {PyArray_BYTES(a), b != NULL ? PyArray_BYTES(b) : result, result};
    npy_intp dims[3] = {1, n, p};
    npy_intp steps[9] = {0};
    int at = b != NULL ? 3 : 2; /* after the steps of the loop over matrices */
    steps[at++] = PyArray_STRIDE(a, 0);
    steps[at++] = PyArray_STRIDE(a, 1);
    if (b != NULL) {
        steps[at++] = PyArray_STRIDE(b, 0);
        if (bdim == 2) {
            steps[at++] = PyArray_STRIDE(b, 1);
        }
    }
    if (b == NULL || bdim == 2) {
        steps[at++] = shape[1] * size;
    }
    steps[at] = size;
    /* inv and solve ignore all but "invalid", which says that the matrix is singular. */
    unsigned ignored = number ? 0 : DT_FP_ALL & ~(unsigned)DT_FP_INVALID;
    if (!run_core_loop(kernel, args, dims, steps, ignored)) {
        Py_XDECREF(made);
        return DT_FUSED_CALL;
    }
    if (made != NULL) {
        run->values[kernel->node->index] = made;
    }
    return DT_FUSED_OK;
}

static DtStatus
choose_matmul(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_matmul;
    bool is_complex = PyTypeNum_ISCOMPLEX(kernel->descr->type_num);
    *ok = (is_float(kernel) || is_complex) && node->nargs == 2
          && dt_kernel_take_value(node, 0, kernel) && dt_kernel_take_value(node, 1, kernel);
    if (*ok) {
        DT_TRY(dt_loop_get_core("numpy._core.umath", "matmul", kernel->descr, 2, &kernel->loop));
        *ok = kernel->loop != NULL;
    }
    return DT_OK;
}

static DtStatus
choose_square(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    const char *name = strrchr(node->target, '.') + 1;
    bool solves = strcmp(name, "solve") == 0;
    (void)exe;
    (void)plan;
    kernel->run = run_square;
    *ok = kernel->descr->type_num == NPY_DOUBLE /* float32 is computed as double */
          && node->nargs == (solves ? 2 : 1) && dt_kernel_take_value(node, 0, kernel)
          && (kernel->cell != DT_NO_CELL) == (strcmp(name, "det") == 0);
    if (*ok && solves) {
        *ok = dt_kernel_take_value(node, 1, kernel);
        kernel->axis = *ok ? node->args[1].u.node->results[node->args[1].result].ndim : 0;
        name = kernel->axis == 1 ? "solve1" : "solve";
    }
    if (*ok) {
        DT_TRY(dt_loop_get_core("numpy.linalg._umath_linalg", name, kernel->descr, solves ? 2 : 1,
                                &kernel->loop));
        *ok = kernel->loop != NULL;
    }
    return DT_OK;
}

const DtKernelRow dt_kernels_products[] = {
    {"numpy.dot", choose_dot},
    {"numpy.inner", choose_dot},
    {"numpy.vdot", choose_dot},
    {"numpy.linalg.norm", choose_norm},
    {"numpy.argmax", choose_argument},
    {"numpy.argmin", choose_argument},
    {"numpy.matmul", choose_matmul},
    {"numpy.linalg.inv", choose_square},
    {"numpy.linalg.solve", choose_square},
    {"numpy.linalg.det", choose_square},
    {"numpy.cross", choose_cross},
    {NULL, NULL},
};
