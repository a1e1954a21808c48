/* Rolled arrays: numpy.roll by one shift, along one axis or of all items as one row.
 *
 *   memory of a dense array   outer axes │ the axis and what lies inside of it: `inner` bytes
 *                                        └ of which each stretch is turned around by `shift` bytes
 *
 * So a part of the result is a few stretches of the operand.  An operand that is not dense is
 * copied by NumPy, as its own function does it.  The result has the memory order of the operand;
 * without an axis it is a view of a new flat array, whose base can be seen.
 */
#include <string.h>

#include "backend/native/kernels.h"

enum { FLAT = -1 };

/* 0 <= *shift < count */
static bool
read_shift(const DtKernel *kernel, const DtNativeRun *run, npy_intp count, npy_intp *shift)
{
    if (!dt_cells_index(kernel->shape, run, shift)) {
        return false;
    }
    *shift %= count;
    *shift += *shift < 0 ? count : 0;
    return true;
}

typedef struct Rolled {
    const char *data;
    npy_intp inner, shift; /* bytes */
} Rolled;

/* The operand is dense, and not empty. */
static bool
find_rolled(const DtKernel *kernel, const DtNativeRun *run, PyArrayObject *array, Rolled *rolled)
{
    const npy_intp *shape = PyArray_DIMS(array);
    npy_intp unit = kernel->size, count = PyArray_SIZE(array), shift;
    if (kernel->axis != FLAT) {
        bool c = PyArray_IS_C_CONTIGUOUS(array);
        count = shape[kernel->axis];
        for (int i = c ? kernel->axis + 1 : 0; i < (c ? PyArray_NDIM(array) : kernel->axis); i++) {
            unit *= shape[i];
        }
    }
    if (!read_shift(kernel, run, count, &shift)) {
        return false;
    }
    *rolled = (Rolled){PyArray_BYTES(array), count * unit, shift * unit};
    return true;
}

static void
copy_rolled(char *to, const Rolled *rolled, npy_intp total)
{
    npy_intp inner = rolled->inner, shift = rolled->shift;
    const char *from = rolled->data;
    for (const char *end = to + total; to < end; to += inner, from += inner) {
        memcpy(to, from + inner - shift, (size_t)shift);
        memcpy(to + shift, from, (size_t)(inner - shift));
    }
}

/* Items `start` to `stop` of the array along the axis. */
static PyObject *
part_of(PyArrayObject *array, int axis, npy_intp start, npy_intp stop)
{
    npy_intp shape[DT_KERNEL_MAX_NDIM];
    PyArray_Descr *descr = PyArray_DESCR(array);
    memcpy(shape, PyArray_DIMS(array), (size_t)PyArray_NDIM(array) * sizeof(npy_intp));
    shape[axis] = stop - start;
    Py_INCREF(descr);
    return PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(array), shape,
                                PyArray_STRIDES(array),
                                PyArray_BYTES(array) + start * PyArray_STRIDE(array, axis),
                                NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE, NULL);
}

/* from[start:stop] becomes to[at:]; -1 with an exception. */
static int
copy_part(PyArrayObject *to, npy_intp at, PyArrayObject *from, npy_intp start, npy_intp stop,
          int axis)
{
    if (start == stop) {
        return 0;
    }
    PyObject *source = part_of(from, axis, start, stop);
    PyObject *target = part_of(to, axis, at, at + stop - start);
    int result = source == NULL || target == NULL
                     ? -1
                     : PyArray_CopyInto((PyArrayObject *)target, (PyArrayObject *)source);
    Py_XDECREF(source);
    Py_XDECREF(target);
    return result;
}

/* A new array of the operand's dimensions and memory order. */
static PyObject *
new_like(PyArrayObject *array)
{
    int ndim = PyArray_NDIM(array), order[DT_FUSED_MAX_NDIM];
    npy_intp strides[DT_FUSED_MAX_NDIM], stride = PyArray_ITEMSIZE(array);
    if (PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array)) {
        return dt_memory_new_array(PyArray_DESCR(array), ndim, PyArray_DIMS(array), NULL,
                                   PyArray_IS_C_CONTIGUOUS(array) ? 0 : NPY_ARRAY_F_CONTIGUOUS);
    }
    dt_layout_sort_copy(PyArray_STRIDES(array), ndim, order);
    for (int i = 0; i < ndim; i++) {
        strides[order[i]] = stride;
        stride *= PyArray_DIM(array, order[i]);
    }
    return dt_memory_new_array(PyArray_DESCR(array), ndim, PyArray_DIMS(array), strides, 0);
}

static DtFusedRun
give(const DtKernel *kernel, DtNativeRun *run, PyObject *array)
{
    run->values[kernel->node->index] = array;
    return array == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

static DtFusedRun
roll_dense(const DtKernel *kernel, DtNativeRun *run, PyArrayObject *array)
{
    Rolled rolled;
    npy_intp count = PyArray_SIZE(array);
    if (!find_rolled(kernel, run, array, &rolled)) {
        return DT_FUSED_CALL;
    }
    PyObject *made = kernel->axis == FLAT
                         ? dt_memory_new_array(PyArray_DESCR(array), 1, &count, NULL, 0)
                         : new_like(array);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    copy_rolled(PyArray_BYTES((PyArrayObject *)made), &rolled, PyArray_NBYTES(array));
    if (kernel->axis == FLAT) {
        made = dt_kernel_whole_view(made, PyArray_NDIM(array), PyArray_DIMS(array), NULL);
    }
    return give(kernel, run, made);
}

static DtFusedRun
roll_apart(const DtKernel *kernel, DtNativeRun *run, PyArrayObject *array)
{
    npy_intp count = PyArray_DIM(array, kernel->axis), shift;
    if (!read_shift(kernel, run, count, &shift)) {
        return DT_FUSED_CALL;
    }
    PyArrayObject *made = (PyArrayObject *)new_like(array);
    if (made != NULL
        && (copy_part(made, shift, array, 0, count - shift, kernel->axis) < 0
            || copy_part(made, 0, array, count - shift, count, kernel->axis) < 0)) {
        Py_CLEAR(made);
    }
    return give(kernel, run, (PyObject *)made);
}

/* kernel->shape: by how many items; kernel->axis: along which one. */
static DtFusedRun
run_roll(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    (void)stage;
    if (array == NULL || PyArray_TYPE(array) != kernel->descr->type_num
        || PyArray_NDIM(array) != (int)kernel->ndim || PyArray_SIZE(array) == 0) {
        return DT_FUSED_CALL;
    }
    bool dense =
        PyArray_IS_C_CONTIGUOUS(array) || (kernel->axis != FLAT && PyArray_IS_F_CONTIGUOUS(array));
    if (dense && PyArray_NBYTES(array) <= DT_KERNEL_MAX_COPIED) {
        return roll_dense(kernel, run, array);
    }
    return kernel->axis == FLAT ? DT_FUSED_CALL : roll_apart(kernel, run, array);
}

static DtStatus
choose_roll(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp axis = FLAT;
    kernel->run = run_roll;
    kernel->ndim = node->results[0].ndim;
    kernel->shape = DT_ARENA_NEW(&exe->arena, DtCellIndex);
    if (kernel->shape == NULL) {
        return dt_no_memory();
    }
    *ok = node->nargs == 3 && node->results[0].type == &PyArray_Type && kernel->ndim > 0
          && kernel->ndim <= DT_KERNEL_MAX_NDIM
          && dt_kernel_index(plan, &node->args[1], kernel->shape)
          && dt_kernel_take_value(node, 0, kernel);
    if (*ok && !(node->args[2].kind == DT_OPERAND_CONST && node->args[2].u.object == Py_None)) {
        *ok =
            dt_kernel_constant(&node->args[2], &axis) && axis >= 0 && axis < (npy_intp)kernel->ndim;
    }
    kernel->axis = (int)axis;
    return DT_OK;
}

const DtKernelRow dt_kernels_roll[] = {{"numpy.roll", choose_roll}, {NULL, NULL}};
