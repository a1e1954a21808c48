/* Kernels that make arrays: of numbers, of one number, of other arrays put together.
 *
 * Results are new arrays in C order; the trace has found that NumPy's would be, too.
 */
#include <string.h>

#include "backend/native/kernels.h"

static DtFusedRun
give(const DtKernel *kernel, DtNativeRun *run, PyObject *array)
{
    run->values[kernel->node->index] = array;
    return array == NULL ? DT_FUSED_ERROR : DT_FUSED_OK;
}

/* The sizes of the result; false: large, or none of this trace. */
static bool
read_shape(const DtKernel *kernel, const DtNativeRun *run, npy_intp *shape, npy_intp *bytes)
{
    *bytes = kernel->size;
    for (uint32_t i = 0; i < kernel->ndim; i++) {
        if (!dt_cells_index(&kernel->shape[i], run, &shape[i]) || shape[i] < 0
            || shape[i] > DT_KERNEL_MAX_BYTES) {
            return false;
        }
        *bytes *= shape[i];
        if (*bytes > DT_KERNEL_MAX_BYTES) {
            return false;
        }
    }
    return true;
}

static bool
is_in_c_order(const DtNode *node)
{
    return node->results[0].type == &PyArray_Type && (node->results[0].layout & DT_LAYOUT_C)
           && node->results[0].ndim <= DT_KERNEL_MAX_NDIM;
}

/* The operand that says the shape: a tuple, or one number. */
static bool
take_shape(const DtPlan *plan, const DtNode *node, const DtOperand *operand, DtKernel *kernel)
{
    const DtOperand *items = operand->kind == DT_OPERAND_TUPLE ? operand->items : operand;
    kernel->ndim = operand->kind == DT_OPERAND_TUPLE ? operand->count : 1;
    bool ok = kernel->ndim == node->results[0].ndim && is_in_c_order(node);
    for (uint32_t i = 0; i < kernel->ndim && ok; i++) {
        ok = dt_kernel_index(plan, &items[i], &kernel->shape[i]);
    }
    return ok;
}

/* ---- Of one number --------------------------------------------------------------------------- */

static void
repeat(char *data, const void *cell, npy_intp size, npy_intp bytes)
{
    for (npy_intp at = 0; at < bytes; at += size) {
        memcpy(data + at, cell, (size_t)size);
    }
}

/* zeros, ones, full, empty: scalars[0] is the number; without one the contents are nobody's. */
static DtFusedRun
run_filled(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    npy_intp shape[DT_KERNEL_MAX_NDIM], bytes;
    uint64_t cell[2] = {0, 0};
    (void)stage;
    if (kernel->nvalues > 0) {
        PyArrayObject *like = dt_kernel_array(run, &kernel->values[0]);
        if (like == NULL || !PyArray_IS_C_CONTIGUOUS(like)
            || PyArray_NDIM(like) != (int)kernel->ndim
            || PyArray_SIZE(like) * kernel->size > DT_KERNEL_MAX_BYTES) {
            return DT_FUSED_CALL;
        }
        bytes = PyArray_SIZE(like) * kernel->size;
        memcpy(shape, PyArray_DIMS(like), kernel->ndim * sizeof(npy_intp));
    }
    else if (!read_shape(kernel, run, shape, &bytes)) {
        return DT_FUSED_CALL;
    }
    if (kernel->nscalars > 0 && dt_scalar_fill(kernel->scalars, run, cell) != DT_FUSED_OK) {
        return DT_FUSED_CALL;
    }
    PyObject *array = dt_memory_new_array(kernel->descr, (int)kernel->ndim, shape, NULL, 0);
    if (array != NULL && kernel->nscalars > 0) {
        char *data = PyArray_BYTES((PyArrayObject *)array);
        if (cell[0] == 0 && cell[1] == 0) {
            memset(data, 0, (size_t)bytes);
        }
        else {
            repeat(data, cell, kernel->size, bytes);
        }
    }
    return give(kernel, run, array);
}

static bool
constant(DtKernel *kernel, int number)
{
    int type_num = kernel->descr->type_num;
    kernel->nscalars = 1;
    *kernel->scalars = (DtFusedScalar){.kind = DT_SCALAR_CONST, .type_num = type_num};
    if (type_num == NPY_BOOL) {
        *(npy_bool *)kernel->scalars->cell = (npy_bool)number;
        return true;
    }
    return dt_cast_int(number, type_num, kernel->scalars->cell);
}

static DtStatus
choose_filled(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    bool like = strstr(node->target, "_like") != NULL;
    const char *name = node->target + strlen("numpy.");
    bool full = strncmp(name, "full", 4) == 0;
    kernel->run = run_filled;
    kernel->scalars = DT_ARENA_NEW(&exe->arena, DtFusedScalar);
    kernel->shape = DT_ARENA_ARRAY(&exe->arena, DtCellIndex, DT_KERNEL_MAX_NDIM);
    if (kernel->scalars == NULL || kernel->shape == NULL) {
        return dt_no_memory();
    }
    if (like) {
        kernel->ndim = node->results[0].ndim;
        *ok = is_in_c_order(node) && dt_kernel_take_value(node, 0, kernel);
    }
    else {
        *ok = take_shape(plan, node, &node->args[0], kernel);
    }
    *ok = *ok && node->nargs == (full ? 3 : 2);
    if (*ok && full) {
        kernel->nscalars = 1;
        *ok = dt_kernel_scalar(plan, &node->args[1], kernel->descr->type_num, kernel->scalars);
    }
    else if (*ok && strncmp(name, "empty", 5) != 0) {
        *ok = constant(kernel, name[0] == 'o');
    }
    return DT_OK;
}

/* eye, identity. */
static DtFusedRun
run_eye(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    npy_intp shape[DT_KERNEL_MAX_NDIM], bytes;
    (void)stage;
    if (!read_shape(kernel, run, shape, &bytes)) {
        return DT_FUSED_CALL;
    }
    PyObject *array = dt_memory_new_array(kernel->descr, 2, shape, NULL, 0);
    if (array != NULL) {
        char *data = PyArray_BYTES((PyArrayObject *)array);
        memset(data, 0, (size_t)bytes);
        npy_intp least = shape[0] < shape[1] ? shape[0] : shape[1];
        for (npy_intp i = 0; i < least; i++) {
            memcpy(data + (i * shape[1] + i) * kernel->size, kernel->scalars->cell, kernel->size);
        }
    }
    return give(kernel, run, array);
}

static DtStatus
choose_eye(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    npy_intp diagonal;
    (void)plan;
    kernel->run = run_eye;
    kernel->ndim = 2;
    kernel->shape = DT_ARENA_ARRAY(&exe->arena, DtCellIndex, 2);
    kernel->scalars = DT_ARENA_NEW(&exe->arena, DtFusedScalar);
    if (kernel->shape == NULL || kernel->scalars == NULL) {
        return dt_no_memory();
    }
    bool eye = strcmp(node->target, "numpy.eye") == 0;
    *ok = is_in_c_order(node) && node->nargs == (eye ? 4 : 1) && constant(kernel, 1)
          && dt_kernel_index(plan, &node->args[0], &kernel->shape[0])
          && dt_kernel_index(plan, &node->args[eye ? 1 : 0], &kernel->shape[1]);
    if (*ok && eye) {
        *ok = dt_kernel_constant(&node->args[2], &diagonal) && diagonal == 0;
    }
    return DT_OK;
}

/* ---- Of many numbers ------------------------------------------------------------------------- */

static DtFusedRun
run_numbers(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    npy_intp shape[DT_KERNEL_MAX_NDIM], bytes;
    uint64_t cell[2];
    (void)stage;
    if (!read_shape(kernel, run, shape, &bytes)) {
        return DT_FUSED_CALL;
    }
    PyObject *array = dt_memory_new_array(kernel->descr, (int)kernel->ndim, shape, NULL, 0);
    if (array == NULL) {
        return DT_FUSED_ERROR;
    }
    char *data = PyArray_BYTES((PyArrayObject *)array);
    memcpy(data, kernel->contents, (size_t)bytes);
    for (uint32_t i = 0; i < kernel->nscalars; i++) {
        const DtFusedScalar *scalar = &kernel->scalars[i];
        if (dt_scalar_fill(scalar, run, cell) != DT_FUSED_OK) {
            Py_DECREF(array);
            return DT_FUSED_CALL;
        }
        memcpy(data + (npy_intp)scalar->slot * kernel->size, cell, kernel->size);
    }
    return give(kernel, run, array);
}

/* Takes the numbers in nested lists and tuples; false: something else is among them. */
static bool
take_numbers(const DtPlan *plan, const DtOperand *operand, uint32_t depth, DtKernel *kernel,
             uint32_t *at, uint32_t most)
{
    const DtNode *node = kernel->node;
    if (depth == node->results[0].ndim) {
        DtFusedScalar *scalar = &kernel->scalars[kernel->nscalars];
        if (*at == most || !dt_kernel_scalar(plan, operand, kernel->descr->type_num, scalar)) {
            return false;
        }
        if (scalar->kind == DT_SCALAR_CONST) {
            memcpy(kernel->contents + (size_t)*at * kernel->size, scalar->cell, kernel->size);
        }
        else {
            scalar->slot = (uint16_t)*at;
            kernel->nscalars++;
        }
        ++*at;
        return true;
    }
    if ((operand->kind != DT_OPERAND_LIST && operand->kind != DT_OPERAND_TUPLE)
        || !dt_sym_is_const(node->results[0].shape[depth])
        || node->results[0].shape[depth]->hint.i != (int64_t)operand->count) {
        return false;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        if (!take_numbers(plan, &operand->items[i], depth + 1, kernel, at, most)) {
            return false;
        }
    }
    return true;
}

static DtStatus
choose_numbers(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    enum { MOST = 256 };
    const DtMeta *meta = &node->results[0];
    uint32_t count = 1, at = 0;
    if (!is_in_c_order(node) || node->nargs != 2 || meta->ndim == 0) {
        return DT_OK;
    }
    kernel->ndim = meta->ndim;
    kernel->shape = DT_ARENA_ARRAY(&exe->arena, DtCellIndex, meta->ndim);
    if (kernel->shape == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!dt_sym_is_const(meta->shape[i]) || meta->shape[i]->hint.i > MOST) {
            return DT_OK;
        }
        count *= (uint32_t)meta->shape[i]->hint.i;
        if (count > MOST) {
            return DT_OK;
        }
        kernel->shape[i] =
            (DtCellIndex){.kind = DT_INDEX_CONST, .value = (npy_intp)meta->shape[i]->hint.i};
    }
    kernel->scalars = DT_ARENA_ARRAY(&exe->arena, DtFusedScalar, count + 1);
    kernel->contents = dt_arena_alloc(&exe->arena, (size_t)count * kernel->size + 16);
    if (kernel->scalars == NULL || kernel->contents == NULL) {
        return dt_no_memory();
    }
    kernel->run = run_numbers;
    *ok = take_numbers(plan, &node->args[0], 0, kernel, &at, count) && at == count;
    return DT_OK;
}

/* ---- Of arrays ------------------------------------------------------------------------------- */

/* concatenate, stack, hstack, vstack, column_stack: rows of the operands in turn.  `axis` counts in
 * the operands; the result's first axes are theirs, but for a new one.  Axes of one item have no
 * say in the order of the result, so that operands in C order make one in C order. */
static DtFusedRun
run_joined(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    enum { MOST = 8 };
    PyArrayObject *arrays[MOST];
    npy_intp rows[MOST], shape[DT_KERNEL_MAX_NDIM], count = 1, row = 0;
    int ndim = 0, axis = kernel->axis;
    bool is_new = kernel->ndim > 0;
    (void)stage;
    if (kernel->npieces > MOST) {
        return DT_FUSED_CALL;
    }
    for (uint32_t i = 0; i < kernel->npieces; i++) {
        PyArrayObject *array = arrays[i] = dt_kernel_array(run, &kernel->pieces[i]);
        if (array == NULL || PyArray_TYPE(array) != kernel->descr->type_num
            || !PyArray_IS_C_CONTIGUOUS(array) || PyArray_NBYTES(array) > DT_KERNEL_MAX_BYTES
            || (i > 0 && PyArray_NDIM(array) != ndim)) {
            return DT_FUSED_CALL;
        }
        ndim = PyArray_NDIM(array);
        count = 1;
        rows[i] = kernel->size;
        for (int k = 0; k < ndim; k++) {
            npy_intp size = PyArray_DIM(array, k);
            if (size < 1 || (i > 0 && (k != axis || is_new) && size != PyArray_DIM(arrays[0], k))) {
                return DT_FUSED_CALL;
            }
            *(k < axis ? &count : &rows[i]) *= size;
        }
        row += rows[i];
    }
    if (axis > ndim - !is_new || count * row > DT_KERNEL_MAX_BYTES) {
        return DT_FUSED_CALL;
    }
    memcpy(shape, PyArray_DIMS(arrays[0]), (size_t)ndim * sizeof(npy_intp));
    if (is_new) {
        memmove(&shape[axis + 1], &shape[axis], (size_t)(ndim - axis) * sizeof(npy_intp));
        shape[axis] = kernel->npieces;
        ndim++;
    }
    else {
        for (uint32_t i = 1; i < kernel->npieces; i++) {
            shape[axis] += PyArray_DIM(arrays[i], axis);
        }
    }
    PyObject *made = dt_memory_new_array(kernel->descr, ndim, shape, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    char *data = PyArray_BYTES((PyArrayObject *)made);
    for (npy_intp at = 0; at < count; at++) {
        for (uint32_t i = 0; i < kernel->npieces; i++) {
            memcpy(data, PyArray_BYTES(arrays[i]) + at * rows[i], (size_t)rows[i]);
            data += rows[i];
        }
    }
    return give(kernel, run, made);
}

static DtStatus
choose_joined(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    const DtOperand *items = &node->args[0];
    const char *name = node->target + strlen("numpy.");
    bool columns = strcmp(name, "column_stack") == 0;
    bool stacks = strcmp(name, "stack") == 0, has_axis = stacks || (name[0] == 'c' && !columns);
    npy_intp axis = 0;
    (void)plan;
    if ((items->kind != DT_OPERAND_TUPLE && items->kind != DT_OPERAND_LIST) || items->count < 2
        || !is_in_c_order(node) || node->nargs != (has_axis ? 2 : 1)
        || (has_axis && !dt_kernel_constant(&node->args[1], &axis))) {
        return DT_OK;
    }
    kernel->pieces = DT_ARENA_ARRAY(&exe->arena, DtValue, items->count);
    if (kernel->pieces == NULL) {
        return dt_no_memory();
    }
    int ndim = 0;
    for (uint32_t i = 0; i < items->count; i++) {
        DtNode list = *node;
        list.args = items->items;
        kernel->nvalues = 0;
        if (!dt_kernel_take_value(&list, i, kernel)) {
            return DT_OK;
        }
        kernel->pieces[kernel->npieces++] = kernel->values[0];
        const DtMeta *meta = &kernel->values[0].node->results[kernel->values[0].result];
        if (meta->ndim == 0 || (i > 0 && meta->ndim != ndim)) {
            return DT_OK;
        }
        ndim = meta->ndim;
    }
    kernel->nvalues = 0;
    kernel->axis = (int)axis;
    if (name[0] == 'h') {
        kernel->axis = ndim > 1;
    }
    if (columns) {
        kernel->axis = 1;
    }
    stacks = stacks || ((name[0] == 'v' || columns) && ndim == 1);
    if (kernel->axis < 0) {
        kernel->axis += ndim + stacks;
    }
    kernel->ndim = stacks; /* is there a new axis? */
    kernel->run = run_joined;
    *ok =
        kernel->axis >= 0 && kernel->axis < ndim + stacks && node->results[0].ndim == ndim + stacks;
    return DT_OK;
}

static DtFusedRun
run_copy(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    (void)stage;
    if (array == NULL || !PyArray_IS_C_CONTIGUOUS(array) || PyArray_SIZE(array) == 0
        || PyArray_TYPE(array) != kernel->descr->type_num
        || PyArray_NBYTES(array) > DT_KERNEL_MAX_BYTES) {
        return DT_FUSED_CALL;
    }
    PyObject *made =
        dt_memory_new_array(kernel->descr, PyArray_NDIM(array), PyArray_DIMS(array), NULL, 0);
    if (made != NULL) {
        memcpy(PyArray_BYTES((PyArrayObject *)made), PyArray_BYTES(array),
               (size_t)PyArray_NBYTES(array));
    }
    return give(kernel, run, made);
}

static DtStatus
choose_copy(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_copy;
    *ok = node->nargs == 1 && is_in_c_order(node) && dt_kernel_take_value(node, 0, kernel);
    return DT_OK;
}

const DtKernelRow dt_kernels_make[] = {
    {"numpy.zeros", choose_filled},
    {"numpy.ones", choose_filled},
    {"numpy.full", choose_filled},
    {"numpy.empty", choose_filled},
    {"numpy.zeros_like", choose_filled},
    {"numpy.ones_like", choose_filled},
    {"numpy.full_like", choose_filled},
    {"numpy.empty_like", choose_filled},
    {"numpy.eye", choose_eye},
    {"numpy.identity", choose_eye},
    {"numpy.array", choose_numbers},
    {"numpy.asarray", choose_numbers},
    {"numpy.concatenate", choose_joined},
    {"numpy.stack", choose_joined},
    {"numpy.hstack", choose_joined},
    {"numpy.vstack", choose_joined},
    {"numpy.column_stack", choose_joined},
    {"ndarray.copy", choose_copy},
    {NULL, NULL},
};
