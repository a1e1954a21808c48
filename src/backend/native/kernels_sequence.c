/* Kernels of sequences and orders: arange, linspace, cumsum, sort, repeated and triangular arrays,
 * matrices of a diagonal.
 *
 * Numbers are NumPy's own fill function, loops of its ufuncs, its sort, or plain arithmetic in the
 * order that NumPy's Python code has it.  Where NumPy gives a view of memory that it made itself
 * (linspace), so do the kernels: its base can be seen.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/native/kernels.h"
#include "compat/import.h"

/* Beyond it a float stands for several ints; no multiple of a smaller one by an index overflows. */
#define MAX_EXACT 9007199254740992.0

static DtFusedRun
give(const DtKernel *kernel, DtNativeRun *run, PyObject *array)
{
    run->values[kernel->node->index] = array;
    return array == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

static bool
is_c_result(const DtNode *node, uint32_t ndim)
{
    const DtMeta *meta = &node->results[0];
    return meta->type == &PyArray_Type && meta->ndim == ndim && (meta->layout & DT_LAYOUT_C);
}

/* The kernel's operand: in C order, not empty, of at most so many bytes, of the result's type
 * unless `any`. */
static PyArrayObject *
c_operand_up_to(const DtKernel *kernel, const DtNativeRun *run, int ndim, bool any, npy_intp most)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    return array != NULL && PyArray_IS_C_CONTIGUOUS(array) && PyArray_SIZE(array) > 0
                   && (ndim == 0 || PyArray_NDIM(array) == ndim)
                   && (any || PyArray_TYPE(array) == kernel->descr->type_num)
                   && PyArray_NBYTES(array) <= most
               ? array
               : NULL;
}

static PyArrayObject *
c_operand(const DtKernel *kernel, const DtNativeRun *run, int ndim, bool any)
{
    return c_operand_up_to(kernel, run, ndim, any, DT_KERNEL_MAX_BYTES);
}

static bool
is_none(const DtOperand *operand)
{
    return operand->kind == DT_OPERAND_CONST && operand->u.object == Py_None;
}

/* ---- arange, linspace ------------------------------------------------------------------------ */

/* The length that the trace has found. */
static bool
read_length(const DtKernel *kernel, const DtNativeRun *run, npy_intp *length)
{
    const DtSym *size = kernel->node->results[0].shape[0];
    DtNumber number = size->hint;
    if (!dt_sym_is_const(size) && !dt_sym_eval(size, run->symbols, &number)) {
        return false;
    }
    *length = (npy_intp)number.i;
    return number.i > 0 && number.i <= DT_KERNEL_MAX_BYTES / (int64_t)kernel->size;
}

/* The first `count` scalars as floats; false: large, not finite, or something else. */
static bool
read_floats(const DtKernel *kernel, const DtNativeRun *run, uint32_t count, double *out)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t cell[2];
        if (dt_scalar_fill(&kernel->scalars[i], run, cell) != DT_FUSED_OK) {
            return false;
        }
        memcpy(&out[i], cell, sizeof(double));
        if (!(fabs(out[i]) <= MAX_EXACT)) {
            return false;
        }
    }
    return true;
}

static DtFusedRun
run_arange_floats(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    double numbers[3];
    npy_intp length;
    (void)stage;
    if (!read_length(kernel, run, &length) || !read_floats(kernel, run, 3, numbers)
        || fabs(numbers[2]) < DBL_MIN) {
        return DT_FUSED_CALL;
    }
    PyObject *array = dt_memory_new_array(kernel->descr, 1, &length, NULL, 0);
    if (array == NULL) {
        return DT_FUSED_ERROR;
    }
    double *data = PyArray_DATA((PyArrayObject *)array);
    data[0] = numbers[0];
    if (length > 1) {
        data[1] = numbers[0] + numbers[2];
    }
    if (length > 2 && PyDataType_GetArrFuncs(kernel->descr)->fill(data, length, array) < 0) {
        Py_DECREF(array);
        return DT_FUSED_ERROR;
    }
    return give(kernel, run, array);
}

static DtFusedRun
run_arange_ints(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    npy_uint64 numbers[3];
    npy_intp length;
    (void)stage;
    if (!read_length(kernel, run, &length)) {
        return DT_FUSED_CALL;
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t cell[2];
        if (dt_scalar_fill(&kernel->scalars[i], run, cell) != DT_FUSED_OK) {
            return DT_FUSED_CALL;
        }
        numbers[i] = cell[0];
    }
    PyObject *array = dt_memory_new_array(kernel->descr, 1, &length, NULL, 0);
    if (array == NULL) {
        return DT_FUSED_ERROR;
    }
    npy_uint64 *data = PyArray_DATA((PyArrayObject *)array), value = numbers[0];
    for (npy_intp i = 0; i < length; i++, value += numbers[2]) {
        data[i] = value;
    }
    return give(kernel, run, array);
}

/* A number that stands for one of the result's type without a conversion that could lose anything.
 */
static bool
is_number_for(const DtOperand *operand, bool floats)
{
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_CONST:
        return PyLong_CheckExact(operand->u.object)
               || (floats && PyFloat_CheckExact(operand->u.object));
    case DT_OPERAND_SYM:
        return operand->u.sym->type == DT_SYM_INT
               || (floats && operand->u.sym->type == DT_SYM_FLOAT);
    case DT_OPERAND_NODE: {
        PyObject *dtype = operand->u.node->results[operand->result].dtype;
        return dtype != NULL && PyArray_DescrCheck(dtype)
               && ((PyArray_Descr *)dtype)->type_num == (floats ? NPY_DOUBLE : NPY_LONG);
    }
    default:
        return false;
    }
}

static DtStatus
choose_numbers_between(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel,
                       uint32_t count, bool *ok)
{
    bool floats = kernel->descr->type_num == NPY_DOUBLE;
    kernel->scalars = DT_ARENA_ARRAY(&exe->arena, DtFusedScalar, count);
    if (kernel->scalars == NULL) {
        return dt_no_memory();
    }
    *ok = is_c_result(node, 1) && node->nargs == 4
          && (floats || kernel->descr->type_num == NPY_LONG)
          && !dt_graph_is_open_size(node->graph, node->results[0].shape[0]);
    for (uint32_t i = 0; i < count && *ok; i++) {
        *ok =
            is_number_for(&node->args[i], floats)
            && dt_kernel_scalar(plan, &node->args[i], kernel->descr->type_num, &kernel->scalars[i]);
        kernel->nscalars++;
    }
    return DT_OK;
}

static DtStatus
choose_arange(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = kernel->descr->type_num == NPY_DOUBLE ? run_arange_floats : run_arange_ints;
    return choose_numbers_between(exe, plan, node, kernel, 3, ok);
}

/* kernel->axis: how many steps there are. */
static DtFusedRun
run_linspace(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    double numbers[2];
    npy_intp length;
    (void)stage;
    if (!read_length(kernel, run, &length) || !read_floats(kernel, run, 2, numbers)) {
        return DT_FUSED_CALL;
    }
    double start = numbers[0], step = (numbers[1] - numbers[0]) / kernel->axis;
    if (fabs(step) < DBL_MIN) {
        return DT_FUSED_CALL; /* equal ends are divided in another order */
    }
    PyObject *array = dt_memory_new_array(kernel->descr, 1, &length, NULL, 0);
    if (array == NULL) {
        return DT_FUSED_ERROR;
    }
    double *data = PyArray_DATA((PyArrayObject *)array);
    for (npy_intp i = 0; i < length; i++) {
        data[i] = (double)i * step + start;
    }
    if (kernel->axis < length) {
        data[length - 1] = numbers[1];
    }
    return give(kernel, run,
                dt_kernel_whole_view(array, PyArray_NDIM((PyArrayObject *)array),
                                     PyArray_DIMS((PyArrayObject *)array), NULL));
}

static DtStatus
choose_linspace(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp count;
    kernel->run = run_linspace;
    DT_TRY(choose_numbers_between(exe, plan, node, kernel, 2, ok));
    *ok = *ok && kernel->descr->type_num == NPY_DOUBLE && dt_kernel_constant(&node->args[2], &count)
          && count >= 2 && count <= DT_KERNEL_MAX_BYTES && node->args[3].kind == DT_OPERAND_CONST;
    if (*ok) {
        kernel->axis = (int)count - (node->args[3].u.object == Py_True);
    }
    return DT_OK;
}

/* ---- cumsum, cumprod ------------------------------------------------------------------------- */

/* The first item, then the ufunc's loop from item to item, as accumulate() has it. */
static DtFusedRun
run_accumulate(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = c_operand(kernel, run, 1, false);
    (void)stage;
    if (array == NULL) {
        return DT_FUSED_CALL;
    }
    npy_intp count = PyArray_SIZE(array), size = kernel->size;
    PyObject *made = dt_memory_new_array(kernel->descr, 1, &count, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    char *out = PyArray_BYTES((PyArrayObject *)made);
    memcpy(out, PyArray_BYTES(array), (size_t)size);
    if (count > 1) {
        char *data[3] = {out, PyArray_BYTES(array) + size, out + size};
        npy_intp strides[3] = {size, size, size};
        count--;
        dt_fpflags_clear();
        int failed =
            kernel->loop->call(kernel->loop->context, data, &count, strides, kernel->loop->auxdata);
        unsigned flags = dt_fpflags_read() & DT_FP_ALL;
        if (failed || (flags != 0 && dt_errstate_hears(kernel->node->fp_region, flags))) {
            PyErr_Clear(); /* the call reports it */
            Py_DECREF(made);
            return DT_FUSED_CALL;
        }
    }
    return give(kernel, run, made);
}

static DtStatus
choose_accumulate(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    npy_intp axis;
    kernel->run = run_accumulate;
    if (!is_c_result(node, 1) || node->nargs != 3 || !dt_kernel_take_value(node, 0, kernel)
        || !(is_none(&node->args[1]) || (dt_kernel_constant(&node->args[1], &axis) && axis == 0))) {
        return DT_OK;
    }
    PyObject *ufunc =
        dt_import_attr("numpy", strcmp(node->target, "numpy.cumsum") == 0 ? "add" : "multiply");
    if (ufunc == NULL) {
        return DT_ERROR;
    }
    PyObject *types[2] = {(PyObject *)kernel->descr, (PyObject *)kernel->descr};
    DtStatus status = dt_loop_get(ufunc, types, 2, &kernel->loop);
    Py_DECREF(ufunc); /* numpy keeps it */
    DT_TRY(status);
    *ok = kernel->loop != NULL && kernel->loop->types[2] == kernel->descr->type_num
          && kernel->loop->types[0] == kernel->descr->type_num;
    return DT_OK;
}

/* ---- sort, argsort --------------------------------------------------------------------------- */

static DtFusedRun
run_sort(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = c_operand(kernel, run, 0, false);
    (void)stage;
    if (array == NULL) {
        return DT_FUSED_CALL;
    }
    PyObject *made =
        dt_memory_new_array(kernel->descr, PyArray_NDIM(array), PyArray_DIMS(array), NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    memcpy(PyArray_BYTES((PyArrayObject *)made), PyArray_BYTES(array),
           (size_t)PyArray_NBYTES(array));
    if (PyArray_Sort((PyArrayObject *)made, kernel->axis, NPY_QUICKSORT) < 0) {
        Py_DECREF(made);
        return DT_FUSED_ERROR;
    }
    return give(kernel, run, made);
}

static DtFusedRun
run_argsort(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = c_operand(kernel, run, 0, true);
    (void)stage;
    return array == NULL ? DT_FUSED_CALL
                         : give(kernel, run, PyArray_ArgSort(array, kernel->axis, NPY_QUICKSORT));
}

static DtStatus
choose_sort(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    npy_intp axis;
    kernel->run = strcmp(node->target, "numpy.sort") == 0 ? run_sort : run_argsort;
    *ok = node->nargs == 3 && node->results[0].ndim > 0 && is_c_result(node, node->results[0].ndim)
          && dt_kernel_constant(&node->args[1], &axis) && is_none(&node->args[2])
          && dt_kernel_take_value(node, 0, kernel);
    kernel->axis = (int)axis;
    return DT_OK;
}

/* ---- Rearranged items ------------------------------------------------------------------------ */

/* kernel->axis: how many times. */
static DtFusedRun
run_repeat(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = c_operand(kernel, run, 1, false);
    npy_intp size = kernel->size, count;
    (void)stage;
    if (array == NULL || PyArray_NBYTES(array) * kernel->axis > DT_KERNEL_MAX_BYTES) {
        return DT_FUSED_CALL;
    }
    count = PyArray_SIZE(array) * kernel->axis;
    PyObject *made = dt_memory_new_array(kernel->descr, 1, &count, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    char *to = PyArray_BYTES((PyArrayObject *)made);
    for (npy_intp i = 0; i < count; i++) {
        memcpy(to + i * size, PyArray_BYTES(array) + i / kernel->axis * size, (size_t)size);
    }
    return give(kernel, run, made);
}

static DtStatus
choose_repeat(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp times;
    (void)exe;
    (void)plan;
    kernel->run = run_repeat;
    *ok = node->nargs == 3 && is_c_result(node, 1) && dt_kernel_constant(&node->args[1], &times)
          && times > 0 && times <= DT_KERNEL_MAX_BYTES && dt_kernel_take_value(node, 0, kernel);
    kernel->axis = *ok ? (int)times : 0;
    return DT_OK;
}

/* kernel->axis: by which diagonal; kernel->ndim: is it the upper triangle? */
static DtFusedRun
run_triangle(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = c_operand_up_to(kernel, run, 2, false, DT_KERNEL_MAX_COPIED);
    (void)stage;
    if (array == NULL) {
        return DT_FUSED_CALL;
    }
    npy_intp rows = PyArray_DIM(array, 0), columns = PyArray_DIM(array, 1), size = kernel->size;
    PyObject *made = dt_memory_new_array(kernel->descr, 2, PyArray_DIMS(array), NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    char *to = PyArray_BYTES((PyArrayObject *)made), *from = PyArray_BYTES(array);
    for (npy_intp i = 0; i < rows; i++, to += columns * size, from += columns * size) {
        npy_intp cut = i + kernel->axis + (kernel->ndim ? 0 : 1); /* columns to its left */
        size_t left = (size_t)((cut < 0 ? 0 : cut > columns ? columns : cut) * size);
        size_t right = (size_t)(columns * size) - left;
        memcpy(to, from, left);
        memcpy(to + left, from + left, right);
        memset(kernel->ndim ? to : to + left, 0, kernel->ndim ? left : right);
    }
    return give(kernel, run, made);
}

static DtStatus
choose_triangle(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp k;
    (void)exe;
    (void)plan;
    kernel->run = run_triangle;
    kernel->ndim = strcmp(node->target, "numpy.triu") == 0;
    *ok = node->nargs == 2 && is_c_result(node, 2) && dt_kernel_constant(&node->args[1], &k)
          && k >= -DT_KERNEL_MAX_BYTES && k <= DT_KERNEL_MAX_BYTES
          && dt_kernel_take_value(node, 0, kernel);
    kernel->axis = *ok ? (int)k : 0;
    return DT_OK;
}

/* kernel->axis: which diagonal. */
static DtFusedRun
run_diag(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = c_operand(kernel, run, 1, false);
    (void)stage;
    if (array == NULL) {
        return DT_FUSED_CALL;
    }
    npy_intp k = kernel->axis, count = PyArray_SIZE(array), size = kernel->size;
    npy_intp shape[2] = {count + (k < 0 ? -k : k), count + (k < 0 ? -k : k)};
    if (shape[0] * shape[0] * size > DT_KERNEL_MAX_BYTES) {
        return DT_FUSED_CALL;
    }
    PyObject *made = dt_memory_new_array(kernel->descr, 2, shape, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    char *to = PyArray_BYTES((PyArrayObject *)made);
    memset(to, 0, (size_t)(shape[0] * shape[0] * size));
    to += (k < 0 ? -k * shape[0] : k) * size;
    for (npy_intp i = 0; i < count; i++) {
        memcpy(to + i * (shape[0] + 1) * size, PyArray_BYTES(array) + i * size, (size_t)size);
    }
    return give(kernel, run, made);
}

static DtStatus
choose_diag(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp k;
    (void)exe;
    (void)plan;
    kernel->run = run_diag;
    *ok = node->nargs == 2 && is_c_result(node, 2) && dt_kernel_constant(&node->args[1], &k)
          && k >= -DT_KERNEL_MAX_BYTES && k <= DT_KERNEL_MAX_BYTES
          && dt_kernel_take_value(node, 0, kernel);
    kernel->axis = *ok ? (int)k : 0;
    return DT_OK;
}

const DtKernelRow dt_kernels_sequence[] = {
    {"numpy.arange", choose_arange},
    {"numpy.linspace", choose_linspace},
    {"numpy.cumsum", choose_accumulate},
    {"numpy.cumprod", choose_accumulate},
    {"numpy.sort", choose_sort},
    {"numpy.argsort", choose_sort},
    {"numpy.repeat", choose_repeat},
    {"numpy.triu", choose_triangle},
    {"numpy.tril", choose_triangle},
    {"numpy.diag", choose_diag},
    {NULL, NULL},
};
