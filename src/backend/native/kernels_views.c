/* Kernels that make views: subscripts by ints and slices, and transposed arrays. */
#include <string.h>

#include "backend/native/kernels.h"

/* One axis of the array; *gone: an int. False: no such item, or a step of 0. */
static bool
cut(const DtKernelAxis *axis, const DtNativeRun *run, npy_intp size, npy_intp *start,
    npy_intp *step, npy_intp *count)
{
    if (axis->kind == DT_AXIS_INT) {
        if (!dt_cells_index(&axis->at, run, start)) {
            return false;
        }
        *start += *start < 0 ? size : 0;
        return *start >= 0 && *start < size;
    }
    Py_ssize_t bounds[3] = {0, PY_SSIZE_T_MAX, 1};
    for (int i = 2; i >= 0; i--) {
        if (axis->has[i] && !dt_cells_index(&axis->bounds[i], run, &bounds[i])) {
            return false;
        }
    }
    if (bounds[2] == 0 || bounds[2] < -PY_SSIZE_T_MAX) {
        return false;
    }
    if (bounds[2] < 0) {
        bounds[0] = axis->has[0] ? bounds[0] : PY_SSIZE_T_MAX;
        bounds[1] = axis->has[1] ? bounds[1] : PY_SSIZE_T_MIN;
    }
    *count = PySlice_AdjustIndices(size, &bounds[0], &bounds[1], bounds[2]);
    *start = *count > 0 ? bounds[0] : 0;
    *step = bounds[2];
    return *count > 0; /* an empty one may lie anywhere: NumPy says where */
}

/* The view becomes the node's value; `flags` are what it may have of the array's. */
static DtFusedRun
give_view(const DtKernel *kernel, DtNativeRun *run, PyArrayObject *array, int ndim, npy_intp *shape,
          npy_intp *strides, char *data, int flags)
{
    PyArray_Descr *descr = PyArray_DESCR(array);
    Py_INCREF(descr);
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, data,
                                          PyArray_FLAGS(array) & flags, NULL);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)made, Py_NewRef((PyObject *)array)) < 0) {
        Py_DECREF(made);
        return DT_FUSED_ERROR;
    }
    run->values[kernel->node->index] = made;
    return DT_FUSED_OK;
}

PyObject *
dt_kernel_whole_view(DT_STEALS PyObject *base, int ndim, const npy_intp *shape,
                     const npy_intp *strides)
{
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)base);
    Py_INCREF(descr);
    PyObject *made =
        PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides,
                             PyArray_BYTES((PyArrayObject *)base), NPY_ARRAY_CARRAY, NULL);
    if (made == NULL) {
        Py_DECREF(base);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)made, base) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

int
dt_kernel_find_view(const DtKernel *kernel, const DtNativeRun *run, PyArrayObject *array,
                    npy_intp *shape, npy_intp *strides, char **first)
{
    int ndim = 0, from = 0;
    char *data = PyArray_BYTES(array);
    for (uint32_t i = 0; i < kernel->naxes; i++) {
        const DtKernelAxis *axis = &kernel->axes[i];
        npy_intp start = 0, step = 1, count = 1;
        if (axis->kind == DT_AXIS_NEW) {
            shape[ndim] = 1;
            strides[ndim++] = 0;
            continue;
        }
        if (from == PyArray_NDIM(array)
            || !cut(axis, run, PyArray_DIM(array, from), &start, &step, &count)) {
            return -1;
        }
        data += start * PyArray_STRIDE(array, from);
        if (axis->kind == DT_AXIS_SLICE) {
            shape[ndim] = count;
            strides[ndim++] = step * PyArray_STRIDE(array, from);
        }
        from++;
    }
    for (; from < PyArray_NDIM(array); from++) {
        if (ndim == DT_KERNEL_MAX_NDIM) {
            return -1;
        }
        shape[ndim] = PyArray_DIM(array, from);
        strides[ndim++] = PyArray_STRIDE(array, from);
    }
    *first = data;
    return ndim;
}

static DtFusedRun
run_view(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    npy_intp shape[DT_KERNEL_MAX_NDIM], strides[DT_KERNEL_MAX_NDIM];
    char *data;
    (void)stage;
    if (array == NULL || dt_np_warns_on_write(array)) {
        return DT_FUSED_CALL;
    }
    int ndim = dt_kernel_find_view(kernel, run, array, shape, strides, &data);
    if (ndim < 0) {
        return DT_FUSED_CALL;
    }
    return give_view(kernel, run, array, ndim, shape, strides, data,
                     NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED);
}

PyArrayObject *
dt_kernel_view(const DtKernel *kernel, const DtNativeRun *run, DtViewed *viewed)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    char *data;
    int ndim = array == NULL
                   ? -1
                   : dt_kernel_find_view(kernel, run, array, viewed->shape, viewed->strides, &data);
    if (ndim < 0) {
        return NULL;
    }
    PyArrayObject *view = (PyArrayObject *)&viewed->array;
    Py_SET_TYPE((PyObject *)view, &PyArray_Type);
    Py_SET_REFCNT((PyObject *)view, 1);
    viewed->array.nd = ndim;
    viewed->array.data = data;
    viewed->array.dimensions = viewed->shape;
    viewed->array.strides = viewed->strides;
    viewed->array.base = (PyObject *)array;
    viewed->array.descr = PyArray_DESCR(array);
    viewed->array.flags = 0;
    PyArray_UpdateFlags(view, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED);
    return view;
}

static bool
is_fixed(const DtKernelAxis *axis)
{
    bool fixed = axis->kind != DT_AXIS_INT || axis->at.kind == DT_INDEX_CONST;
    for (int i = 0; axis->kind == DT_AXIS_SLICE && i < 3; i++) {
        fixed = fixed && (!axis->has[i] || axis->bounds[i].kind == DT_INDEX_CONST);
    }
    return fixed;
}

const DtValue *
dt_kernel_viewed(const DtKernel *kernel)
{
    return kernel->fixed ? &kernel->values[0] : NULL;
}

PyArrayObject *
dt_kernel_view_base(const DtKernel *kernel, const DtNativeRun *run)
{
    const DtValue *viewed = dt_kernel_viewed(kernel);
    return viewed != NULL ? dt_kernel_array(run, viewed) : NULL;
}

static bool
is_constant(const DtOperand *operand, PyObject *object)
{
    return operand->kind == DT_OPERAND_CONST && operand->u.object == object;
}

static bool
take_axis(const DtPlan *plan, const DtOperand *operand, DtKernelAxis *axis)
{
    *axis = (DtKernelAxis){.kind = DT_AXIS_INT};
    if (is_constant(operand, Py_None)) {
        axis->kind = DT_AXIS_NEW;
        return true;
    }
    if (operand->kind != DT_OPERAND_SLICE) {
        return dt_kernel_index(plan, operand, &axis->at);
    }
    axis->kind = DT_AXIS_SLICE;
    for (int i = 0; i < 3; i++) {
        const DtOperand *bound = &operand->items[i];
        axis->has[i] = !is_constant(bound, Py_None);
        if (axis->has[i] && !dt_kernel_index(plan, bound, &axis->bounds[i])) {
            return false;
        }
    }
    return true;
}

DtStatus
dt_kernel_take_axes(DtNative *exe, const DtPlan *plan, const DtOperand *key, uint32_t ndim,
                    DtKernel *kernel, bool *ok)
{
    const DtOperand *items = key->kind == DT_OPERAND_TUPLE ? key->items : key;
    uint32_t nitems = key->kind == DT_OPERAND_TUPLE ? key->count : 1, named = 0;
    if (nitems > DT_KERNEL_MAX_NDIM || ndim > DT_KERNEL_MAX_NDIM) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < nitems; i++) {
        named += !is_constant(&items[i], Py_None) && !is_constant(&items[i], Py_Ellipsis);
    }
    kernel->axes = DT_ARENA_ARRAY(&exe->arena, DtKernelAxis, nitems + ndim + 1);
    if (kernel->axes == NULL) {
        return dt_no_memory();
    }
    *ok = named <= ndim;
    for (uint32_t i = 0; i < nitems && *ok; i++) {
        if (!is_constant(&items[i], Py_Ellipsis)) {
            *ok = take_axis(plan, &items[i], &kernel->axes[kernel->naxes++]);
            continue;
        }
        for (; named < ndim; named++) { /* there is but one ellipsis */
            kernel->axes[kernel->naxes++] = (DtKernelAxis){.kind = DT_AXIS_SLICE};
        }
    }
    uint32_t seen = ndim; /* dimensions of the view: axes that are not named are all there */
    for (uint32_t i = 0; i < kernel->naxes; i++) {
        seen += kernel->axes[i].kind == DT_AXIS_NEW;
        seen -= kernel->axes[i].kind == DT_AXIS_INT;
    }
    *ok = *ok && seen <= DT_KERNEL_MAX_NDIM;
    return DT_OK;
}

static DtStatus
choose_view(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    if (node->nargs != 2 || node->naliases == 0 || node->results[0].type != &PyArray_Type
        || node->results[0].ndim == 0 || node->results[0].ndim > DT_KERNEL_MAX_NDIM
        || !dt_kernel_take_value(node, 0, kernel)) {
        return DT_OK;
    }
    uint32_t ndim = node->args[0].u.node->results[node->args[0].result].ndim;
    DT_TRY(dt_kernel_take_axes(exe, plan, &node->args[1], ndim, kernel, ok));
    kernel->run = run_view;
    kernel->fixed = *ok;
    for (uint32_t i = 0; i < kernel->naxes; i++) {
        kernel->fixed = kernel->fixed && is_fixed(&kernel->axes[i]);
    }
    return DT_OK;
}

static DtFusedRun
run_transpose(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    npy_intp order[DT_KERNEL_MAX_NDIM];
    (void)stage;
    if (array == NULL || PyArray_NDIM(array) != (int)kernel->ndim) {
        return DT_FUSED_CALL;
    }
    for (uint32_t i = 0; i < kernel->ndim; i++) {
        order[i] = kernel->permutation[i];
    }
    PyArray_Dims permute = {order, (int)kernel->ndim};
    PyObject *made = PyArray_Transpose(array, &permute);
    run->values[kernel->node->index] = made;
    return made == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

static DtStatus
choose_transpose(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    if (node->nargs != 2 || node->args[1].kind != DT_OPERAND_TUPLE
        || node->results[0].type != &PyArray_Type || node->args[1].count > DT_KERNEL_MAX_NDIM
        || node->args[1].count != node->results[0].ndim || !dt_kernel_take_value(node, 0, kernel)) {
        return DT_OK;
    }
    kernel->run = run_transpose;
    kernel->ndim = node->args[1].count;
    *ok = true;
    for (uint32_t i = 0; i < kernel->ndim && *ok; i++) {
        npy_intp axis;
        *ok = dt_kernel_constant(&node->args[1].items[i], &axis) && axis >= 0
              && axis < (npy_intp)kernel->ndim;
        kernel->permutation[i] = (int)axis;
    }
    return DT_OK;
}

/* The items of a matrix on one of its diagonals, which can't be written. */
static DtFusedRun
run_diagonal(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    (void)stage;
    if (array == NULL || PyArray_NDIM(array) != 2 || dt_np_warns_on_write(array)) {
        return DT_FUSED_CALL;
    }
    npy_intp below = kernel->axis < 0 ? -kernel->axis : 0,
             right = kernel->axis > 0 ? kernel->axis : 0;
    npy_intp rows = PyArray_DIM(array, 0) - below, columns = PyArray_DIM(array, 1) - right;
    npy_intp count = rows < columns ? rows : columns;
    npy_intp stride = PyArray_STRIDE(array, 0) + PyArray_STRIDE(array, 1);
    if (count < 1) {
        return DT_FUSED_CALL; /* NumPy says where an empty one lies */
    }
    char *data =
        PyArray_BYTES(array) + below * PyArray_STRIDE(array, 0) + right * PyArray_STRIDE(array, 1);
    return give_view(kernel, run, array, 1, &count, &stride, data, NPY_ARRAY_ALIGNED);
}

static DtStatus
choose_diagonal(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp offset;
    (void)exe;
    (void)plan;
    kernel->run = run_diagonal;
    *ok = node->nargs == 2 && node->results[0].type == &PyArray_Type && node->results[0].ndim == 1
          && dt_kernel_constant(&node->args[1], &offset) && offset >= -DT_KERNEL_MAX_BYTES
          && offset <= DT_KERNEL_MAX_BYTES && dt_kernel_take_value(node, 0, kernel);
    kernel->axis = *ok ? (int)offset : 0;
    return DT_OK;
}

const DtKernelRow dt_kernels_views[] = {
    {"operator.getitem", choose_view},
    {"ndarray.transpose", choose_transpose},
    {"numpy.diagonal", choose_diagonal},
    {NULL, NULL},
};
