/* Kernels that show an array in C order in other dimensions: reshape and ravel. */
#include "backend/native/kernels.h"

static DtFusedRun
run_reshape(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    npy_intp shape[DT_KERNEL_MAX_NDIM], size = 1;
    if (dt_cells_box_all(stage->boxes, stage->nboxes, run) < 0) {
        return DT_FUSED_ERROR;
    }
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    if (array == NULL || !PyArray_IS_C_CONTIGUOUS(array) || !dt_kernel_can_write(array)) {
        return DT_FUSED_CALL;
    }
    if (kernel->shape == NULL) {
        shape[0] = PyArray_SIZE(array);
    }
    for (uint32_t i = 0; i < kernel->ndim && kernel->shape != NULL; i++) {
        if (!dt_cells_index(&kernel->shape[i], run, &shape[i]) || shape[i] < 1
            || __builtin_mul_overflow(size, shape[i], &size)) {
            return DT_FUSED_CALL;
        }
    }
    if (PyArray_SIZE(array) == 0 || (kernel->shape != NULL && size != PyArray_SIZE(array))) {
        return DT_FUSED_CALL; /* an error, or what NumPy makes of no items */
    }
    int ndim = (int)kernel->ndim;
    /* Asked for the same dimensions NumPy keeps the strides, and one item may have any.  (ravel()
     * asks for -1.) */
    bool same = kernel->shape != NULL && PyArray_NDIM(array) == ndim
                && PyArray_CompareLists(PyArray_DIMS(array), shape, ndim);
    PyObject *made =
        dt_kernel_whole_view(Py_NewRef(array), ndim, shape, same ? PyArray_STRIDES(array) : NULL);
    run->values[kernel->node->index] = made;
    return made == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

static DtStatus
choose_reshape(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    if (node->nargs != 2 || node->results[0].type != &PyArray_Type
        || !dt_kernel_take_value(node, 0, kernel)) {
        return DT_OK;
    }
    bool many = node->args[1].kind == DT_OPERAND_TUPLE;
    const DtOperand *sizes = many ? node->args[1].items : &node->args[1];
    kernel->ndim = many ? node->args[1].count : 1;
    if (kernel->ndim == 0 || kernel->ndim > DT_KERNEL_MAX_NDIM
        || kernel->ndim != node->results[0].ndim) {
        return DT_OK;
    }
    kernel->shape = DT_ARENA_ARRAY(&exe->arena, DtCellIndex, kernel->ndim);
    if (kernel->shape == NULL) {
        return dt_no_memory();
    }
    *ok = true;
    for (uint32_t i = 0; i < kernel->ndim && *ok; i++) {
        *ok = dt_kernel_index(plan, &sizes[i], &kernel->shape[i]);
    }
    kernel->run = run_reshape;
    return DT_OK;
}

static DtStatus
choose_ravel(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    *ok = node->nargs == 1 && node->naliases == 1 && node->results[0].type == &PyArray_Type
          && dt_kernel_take_value(node, 0, kernel);
    kernel->ndim = 1;
    kernel->run = run_reshape;
    return DT_OK;
}

const DtKernelRow dt_kernels_reshape[] = {
    {"ndarray.reshape", choose_reshape},
    {"numpy.reshape", choose_reshape},
    {"ndarray.ravel", choose_ravel},
    {"numpy.ravel", choose_ravel},
    {NULL, NULL},
};
