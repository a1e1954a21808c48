/* Kernels of items that are picked: read and written by a mask, read by index numbers, and written
 * by ints and slices.
 *
 *   a[mask]       count the mask, then store each item, and go on to the next place if it is picked
 *   a[mask] = v   store each number at its place, or at one that nobody looks at
 *   a[numbers]    of one dimension
 *   a[1:, ::2] = v, with v a number or as large as the part
 *
 * No branch is taken on the mask, for a random one costs NumPy a wrong guess per item.  Places that
 * are not picked are not written, not even with what they hold: another thread may be at them.
 */
#include "backend/native/kernels.h"

#include <string.h>

#include "adapters/numpy/extent.h"
#include "backend/eager.h"
#include "backend/native/by_size.h"
#include "backend/native/masks.h"
#include "backend/native/parts.h"
#include "backend/native/vector.h"
#include "backend/native/walk.h"

static bool
overlap(PyArrayObject *a, PyArrayObject *b)
{
    const char *low_a, *high_a, *low_b, *high_b;
    return dt_np_extent((PyObject *)a, &low_a, &high_a)
           && dt_np_extent((PyObject *)b, &low_b, &high_b) && low_a < high_b && low_b < high_a;
}

static bool
have_same_shape(PyArrayObject *array, int ndim, const npy_intp *shape)
{
    return PyArray_NDIM(array) == ndim
           && memcmp(PyArray_DIMS(array), shape, (size_t)ndim * sizeof(npy_intp)) == 0;
}

/* ---- Masks ----------------------------------------------------------------------------------- */

/* The kernel's array, with a mask of its shape; NULL: other operands. */
static PyArrayObject *
masked(const DtKernel *kernel, const DtNativeRun *run, const npy_bool **mask)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    PyArrayObject *picks = dt_kernel_array(run, &kernel->values[1]);
    if (array == NULL || picks == NULL || PyArray_TYPE(array) != kernel->descr->type_num
        || PyArray_TYPE(picks) != NPY_BOOL || !PyArray_IS_C_CONTIGUOUS(array)
        || !PyArray_IS_C_CONTIGUOUS(picks) || PyArray_NBYTES(array) > DT_KERNEL_MAX_COPIED
        || !have_same_shape(picks, PyArray_NDIM(array), PyArray_DIMS(array))) {
        return NULL;
    }
    *mask = PyArray_DATA(picks);
    return array;
}

/* Eight at a time, for as long as there are places for eight.  Another thread may change the mask
 * meanwhile: no more is stored than has a place, and nothing behind the mask is looked at. */
#define PICK(T)                                                                                    \
    {                                                                                              \
        const T *x = (const T *)from;                                                              \
        T *place = (T *)to, *end = place + count;                                                  \
        npy_intp i = 0;                                                                            \
        for (; end - place >= 8 && i + 8 <= total; i += 8) {                                       \
            DtTruths eight = dt_eight_truths(mask + i);                                            \
            if (eight == DT_ALL_TRUE) {                                                            \
                memcpy(place, x + i, 8 * sizeof(T));                                               \
                place += 8;                                                                        \
            }                                                                                      \
            else if (eight != 0) {                                                                 \
                for (int k = 0; k < 8; k++) {                                                      \
                    *place = x[i + k];                                                             \
                    place += mask[i + k] & 1;                                                      \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        while (place < end && i < total) {                                                         \
            if (i + 8 <= total && dt_eight_truths(mask + i) == 0) {                                \
                i += 8;                                                                            \
                continue;                                                                          \
            }                                                                                      \
            for (int k = 0; k < 8 && place < end && i < total; k++, i++) {                         \
                *place = x[i];                                                                     \
                place += mask[i] & 1;                                                              \
            }                                                                                      \
        }                                                                                          \
    }

static void
pick(char *to, const char *from, const npy_bool *mask, npy_intp total, npy_intp count, uint8_t size)
{
    DT_BY_SIZE(size, PICK);
}

static DtFusedRun
run_masked_read(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    const npy_bool *mask;
    PyArrayObject *array = masked(kernel, run, &mask);
    npy_intp count = array != NULL ? dt_count_truths(mask, PyArray_SIZE(array)) : -1;
    (void)stage;
    if (count < 0) {
        return DT_FUSED_CALL;
    }
    PyObject *made = dt_memory_new_array(kernel->descr, 1, &count, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    pick(PyArray_BYTES((PyArrayObject *)made), PyArray_BYTES(array), mask, PyArray_SIZE(array),
         count, kernel->size);
    run->values[kernel->node->index] = made;
    return DT_FUSED_OK;
}

/* a[mask], with a mask of the first axis. */
static DtFusedRun
run_masked_rows(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    PyArrayObject *picks = dt_kernel_array(run, &kernel->values[1]);
    (void)stage;
    if (array == NULL || picks == NULL || PyArray_TYPE(array) != kernel->descr->type_num
        || PyArray_TYPE(picks) != NPY_BOOL || !PyArray_IS_C_CONTIGUOUS(array)
        || !PyArray_IS_C_CONTIGUOUS(picks) || PyArray_NBYTES(array) > DT_KERNEL_MAX_COPIED
        || PyArray_NDIM(array) < 2 || PyArray_NDIM(array) > DT_KERNEL_MAX_NDIM
        || PyArray_NDIM(picks) != 1 || PyArray_SIZE(array) == 0
        || PyArray_DIM(picks, 0) != PyArray_DIM(array, 0)) {
        return DT_FUSED_CALL;
    }
    const npy_bool *mask = PyArray_DATA(picks);
    npy_intp rows = PyArray_DIM(array, 0), shape[DT_KERNEL_MAX_NDIM];
    memcpy(shape, PyArray_DIMS(array), (size_t)PyArray_NDIM(array) * sizeof(npy_intp));
    shape[0] = dt_count_truths(mask, rows);
    if (shape[0] <= 0) {
        return DT_FUSED_CALL;
    }
    PyObject *made = dt_memory_new_array(kernel->descr, PyArray_NDIM(array), shape, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    size_t bytes = (size_t)(PyArray_NBYTES(array) / rows);
    char *to = PyArray_BYTES((PyArrayObject *)made), *end = to + (size_t)shape[0] * bytes;
    for (npy_intp i = 0; i < rows && to < end; i++) {
        if (mask[i]) {
            memcpy(to, PyArray_BYTES(array) + (size_t)i * bytes, bytes);
            to += bytes;
        }
    }
    memset(to, 0, (size_t)(end - to)); /* another thread has changed the mask */
    run->values[kernel->node->index] = made;
    return DT_FUSED_OK;
}

#define PUT_ONE(T)                                                                                 \
    {                                                                                              \
        T *x = (T *)to, one, other;                                                                \
        npy_intp i = 0;                                                                            \
        memcpy(&one, from, sizeof(T));                                                             \
        for (; i + 8 <= total; i += 8) {                                                           \
            DtTruths eight = dt_eight_truths(mask + i);                                            \
            if (eight == 0) {                                                                      \
                continue;                                                                          \
            }                                                                                      \
            if (eight == DT_ALL_TRUE) {                                                            \
                for (int k = 0; k < 8; k++) {                                                      \
                    x[i + k] = one;                                                                \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (int k = 0; k < 8; k++) {                                                          \
                T *place = mask[i + k] ? &x[i + k] : &other;                                       \
                *place = one;                                                                      \
            }                                                                                      \
        }                                                                                          \
        for (; i < total; i++) {                                                                   \
            T *place = mask[i] ? &x[i] : &other;                                                   \
            *place = one;                                                                          \
        }                                                                                          \
    }
#define PUT_EACH(T)                                                                                \
    {                                                                                              \
        T *x = (T *)to, other;                                                                     \
        const T *next = (const T *)from, *end = next + count;                                      \
        npy_intp i = 0;                                                                            \
        for (; end - next >= 8 && i + 8 <= total; i += 8) {                                        \
            DtTruths eight = dt_eight_truths(mask + i);                                            \
            if (eight == DT_ALL_TRUE) {                                                            \
                memcpy(x + i, next, 8 * sizeof(T));                                                \
                next += 8;                                                                         \
            }                                                                                      \
            else if (eight != 0) {                                                                 \
                for (int k = 0; k < 8; k++) {                                                      \
                    T *place = mask[i + k] ? &x[i + k] : &other;                                   \
                    *place = *next;                                                                \
                    next += mask[i + k] & 1;                                                       \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (; next < end && i < total; i++) {                                                     \
            T *place = mask[i] ? &x[i] : &other;                                                   \
            *place = *next;                                                                        \
            next += mask[i] & 1;                                                                   \
        }                                                                                          \
    }

static void
put_one(char *to, const char *from, const npy_bool *mask, npy_intp total, uint8_t size)
{
    DT_BY_SIZE(size, PUT_ONE);
}

static void
put_each(char *to, const char *from, const npy_bool *mask, npy_intp total, npy_intp count,
         uint8_t size)
{
    DT_BY_SIZE(size, PUT_EACH);
}

/* ---- What writes have in common -------------------------------------------------------------- */

/* What is written: a number in `cell`, or an array that is its own; false: anything else. */
static bool
take_written(const DtKernel *kernel, const DtNativeRun *run, PyArrayObject *target, uint64_t *cell,
             PyArrayObject **value)
{
    *value = NULL;
    if (kernel->nscalars > 0) {
        return dt_scalar_fill(kernel->scalars, run, cell) == DT_FUSED_OK;
    }
    *value = dt_kernel_array(run, kernel->pieces);
    return *value != NULL && PyArray_TYPE(*value) == PyArray_TYPE(target);
}

/* May the run be dropped after the write? */
static bool
must_save(const DtStage *stage, const DtNativeRun *run)
{
    return !run->committed && stage->writes == DT_WRITES_SAVED;
}

/* From here on the write is made. */
static void
begin_write(const DtStage *stage, DtNativeRun *run)
{
    if (stage->writes == DT_WRITES_AT_END || stage->writes == DT_WRITES_LAST) {
        run->committed = true;
    }
}

/* An assignment of a number, or of an array, of the target's type. */
static DtStatus
choose_written(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    if (!dt_written_is_setitem(node) || dt_eager_has_effect(node)
        || !dt_kernel_take_value(node, 0, kernel)) {
        return DT_OK;
    }
    const DtOperand *value = &node->args[2];
    const DtMeta *target = &node->args[0].u.node->results[node->args[0].result];
    kernel->descr = (PyArray_Descr *)target->dtype;
    kernel->size = (uint8_t)PyDataType_ELSIZE(kernel->descr);
    if (!PyArray_ISNBO(kernel->descr->byteorder) || !dt_write_is_plain(value, target)) {
        return DT_OK;
    }
    bool array = value->kind == DT_OPERAND_NODE && value->u.node->results[value->result].ndim > 0;
    if (array) {
        kernel->pieces = DT_ARENA_NEW(&exe->arena, DtValue);
        if (kernel->pieces == NULL) {
            return dt_no_memory();
        }
        *kernel->pieces = (DtValue){value->u.node, value->result};
        *ok = true;
        return DT_OK;
    }
    kernel->nscalars = 1;
    kernel->scalars = DT_ARENA_NEW(&exe->arena, DtFusedScalar);
    if (kernel->scalars == NULL) {
        return dt_no_memory();
    }
    *ok = dt_kernel_scalar(plan, value, kernel->descr->type_num, kernel->scalars);
    return DT_OK;
}

static DtFusedRun
run_masked_write(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    const npy_bool *mask;
    npy_intp count = 0;
    uint64_t cell[2];
    PyArrayObject *value, *array = masked(kernel, run, &mask);
    if (array == NULL || !dt_kernel_can_write(array)
        || overlap(array, dt_kernel_array(run, &kernel->values[1]))
        || !take_written(kernel, run, array, cell, &value)
        || (value != NULL && overlap(value, array))) {
        return DT_FUSED_CALL;
    }
    if (value != NULL) {
        count = dt_count_truths(mask, PyArray_SIZE(array));
        if (!PyArray_IS_C_CONTIGUOUS(value) || !have_same_shape(value, 1, &count)) {
            return DT_FUSED_CALL;
        }
    }
    if (must_save(stage, run)) {
        if (PyArray_NBYTES(array) > DT_KERNEL_MAX_BYTES) {
            return DT_FUSED_CALL;
        }
        if (dt_part_save_masked(&run->log, array, mask) < 0) {
            return DT_FUSED_ERROR;
        }
    }
    begin_write(stage, run);
    if (value != NULL) {
        put_each(PyArray_BYTES(array), PyArray_BYTES(value), mask, PyArray_SIZE(array), count,
                 kernel->size);
    }
    else {
        put_one(PyArray_BYTES(array), (char *)cell, mask, PyArray_SIZE(array), kernel->size);
    }
    return DT_FUSED_OK;
}

static uint32_t
ndim_of(const DtOperand *array)
{
    return array->u.node->results[array->result].ndim;
}

/* Is the node's key a mask of that many dimensions of the array? */
static bool
takes_mask(const DtNode *node, uint32_t ndim, DtKernel *kernel)
{
    const DtOperand *mask = &node->args[1];
    if (mask->kind != DT_OPERAND_NODE || !dt_kernel_take_value(node, 1, kernel)) {
        return false;
    }
    const DtMeta *meta = &mask->u.node->results[mask->result];
    return ((PyArray_Descr *)meta->dtype)->type_num == NPY_BOOL && ndim > 0 && meta->ndim == ndim;
}

static DtStatus
choose_masked_read(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    if (node->nargs != 2 || node->results[0].type != &PyArray_Type
        || !dt_kernel_take_value(node, 0, kernel)) {
        return DT_OK;
    }
    uint32_t ndim = ndim_of(&node->args[0]);
    bool rows = ndim > 1 && node->results[0].ndim == ndim;
    kernel->run = rows ? run_masked_rows : run_masked_read;
    *ok = (rows || node->results[0].ndim == 1) && takes_mask(node, rows ? 1 : ndim, kernel);
    return DT_OK;
}

static DtStatus
choose_masked_write(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_masked_write;
    DT_TRY(choose_written(exe, plan, node, kernel, ok));
    *ok = *ok && takes_mask(node, ndim_of(&node->args[0]), kernel);
    return DT_OK;
}

/* ---- Index numbers --------------------------------------------------------------------------- */

/* False: an index is out of bounds. */
#define TAKE(T)                                                                                    \
    for (npy_intp i = 0; i < count; i++) {                                                         \
        npy_intp at = numbers[i];                                                                  \
        at += at < 0 ? total : 0;                                                                  \
        if (at < 0 || at >= total) {                                                               \
            return false;                                                                          \
        }                                                                                          \
        ((T *)to)[i] = ((const T *)from)[at];                                                      \
    }

static bool
take(char *to, const char *from, const npy_intp *numbers, npy_intp total, npy_intp count,
     uint8_t size)
{
    DT_BY_SIZE(size, TAKE);
    return true;
}

static DtFusedRun
run_indexed_read(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    PyArrayObject *numbers = dt_kernel_array(run, &kernel->values[1]);
    (void)stage;
    if (array == NULL || numbers == NULL || PyArray_TYPE(array) != kernel->descr->type_num
        || PyArray_TYPE(numbers) != NPY_INTP || PyArray_NDIM(array) != 1
        || PyArray_NDIM(numbers) != 1 || !PyArray_IS_C_CONTIGUOUS(array)
        || !PyArray_IS_C_CONTIGUOUS(numbers) || PyArray_SIZE(array) == 0
        || PyArray_SIZE(numbers) == 0 || PyArray_NBYTES(numbers) > DT_KERNEL_MAX_BYTES) {
        return DT_FUSED_CALL;
    }
    npy_intp count = PyArray_SIZE(numbers);
    PyObject *made = dt_memory_new_array(kernel->descr, 1, &count, NULL, 0);
    if (made == NULL) {
        return DT_FUSED_ERROR;
    }
    if (!take(PyArray_BYTES((PyArrayObject *)made), PyArray_BYTES(array), PyArray_DATA(numbers),
              PyArray_SIZE(array), count, kernel->size)) {
        Py_DECREF(made);
        return DT_FUSED_CALL; /* NumPy says which one */
    }
    run->values[kernel->node->index] = made;
    return DT_FUSED_OK;
}

static DtStatus
choose_indexed_read(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    const DtOperand *array = &node->args[0], *numbers = &node->args[1];
    (void)exe;
    (void)plan;
    kernel->run = run_indexed_read;
    if (node->nargs != 2 || node->results[0].type != &PyArray_Type || node->results[0].ndim != 1
        || numbers->kind != DT_OPERAND_NODE || !dt_kernel_take_value(node, 0, kernel)
        || !dt_kernel_take_value(node, 1, kernel)) {
        return DT_OK;
    }
    const DtMeta *meta = &numbers->u.node->results[numbers->result];
    *ok = ((PyArray_Descr *)meta->dtype)->type_num == NPY_INTP && meta->ndim == 1
          && array->u.node->results[array->result].ndim == 1;
    return DT_OK;
}

/* ---- Ints and slices ------------------------------------------------------------------------- */

enum { READ_BEFORE = 4096 }; /* bytes */

/* An array that may share memory with what is written is read before, as NumPy reads it; so is one
 * where neither its rows nor the part's lie together. */
static bool
is_read_before(const DtPartView *part, PyArrayObject *value, PyArrayObject *array)
{
    int last = part->ndim - 1;
    bool rows = PyArray_STRIDE(value, last) == part->size || part->strides[last] == part->size;
    return !rows || overlap(value, array);
}

static void
write_read(const DtPartView *part, PyArrayObject *value)
{
    char items[READ_BEFORE];
    DtPartView all = *part;
    all.data = PyArray_BYTES(value);
    memcpy(all.strides, PyArray_STRIDES(value), (size_t)part->ndim * sizeof(npy_intp));
    dt_part_read(&all, items);
    dt_part_write_dense(part, items);
}

static DtFusedRun
run_part_write(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    uint64_t cell[2];
    DtPartView part = {.size = kernel->size};
    PyArrayObject *value, *array = dt_kernel_array(run, &kernel->values[0]);
    if (array == NULL || PyArray_TYPE(array) != kernel->descr->type_num
        || !dt_kernel_can_write(array) || !take_written(kernel, run, array, cell, &value)) {
        return DT_FUSED_CALL;
    }
    part.ndim = dt_kernel_find_view(kernel, run, array, part.shape, part.strides, &part.data);
    npy_intp bytes = part.ndim < 1 ? -1 : dt_part_bytes(&part);
    if (bytes < 0 || (value != NULL && !have_same_shape(value, part.ndim, part.shape))) {
        return DT_FUSED_CALL;
    }
    bool before = value != NULL && is_read_before(&part, value, array);
    if (before && bytes > READ_BEFORE) {
        return DT_FUSED_CALL;
    }
    if (must_save(stage, run) && dt_part_save(&run->log, (PyObject *)array, &part) < 0) {
        return DT_FUSED_ERROR;
    }
    begin_write(stage, run);
    if (before) {
        write_read(&part, value);
        return DT_FUSED_OK;
    }
    dt_part_write(&part, value != NULL ? PyArray_BYTES(value) : (char *)cell,
                  value != NULL ? PyArray_STRIDES(value) : NULL);
    return DT_FUSED_OK;
}

static DtStatus
choose_part_write(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_part_write;
    DT_TRY(choose_written(exe, plan, node, kernel, ok));
    if (*ok) {
        uint32_t ndim = node->args[0].u.node->results[node->args[0].result].ndim;
        *ok = false;
        DT_TRY(dt_kernel_take_axes(exe, plan, &node->args[1], ndim, kernel, ok));
    }
    return DT_OK;
}

const DtKernelRow dt_kernels_picked[] = {
    {"operator.getitem", choose_masked_read},
    {"operator.getitem", choose_indexed_read},
    {"operator.setitem", choose_masked_write},
    {"operator.setitem", choose_part_write},
    {NULL, NULL},
};
