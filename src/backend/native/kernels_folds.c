/* Kernels of Python's sum(), min() and max() of an array: item by item, as they are asked for.
 *
 * A sum begins with 0 + the first item, of which no sum is -0.0.  What overflows, and flags that
 * somebody wants to hear of, are left to the call.
 */
#include <math.h>
#include <string.h>

#include "backend/native/kernels.h"

typedef bool Fold(const char *data, npy_intp count, npy_intp stride, DtCell *out);

#define SUM(NAME, T, FIELD)                                                                        \
    /* Not inlined, so that all is computed when flags are read. */                                \
    __attribute__((noinline)) static bool NAME(const char *data, npy_intp count, npy_intp stride,  \
                                               DtCell *out)                                        \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            sum = sum + *(const T *)(data + i * stride);                                           \
        }                                                                                          \
        out->FIELD = sum;                                                                          \
        return true;                                                                               \
    }
SUM(sum_double, npy_double, d)
SUM(sum_float, npy_float, f)

#define SUM_OF_INTS(NAME, T)                                                                       \
    static bool NAME(const char *data, npy_intp count, npy_intp stride, DtCell *out)               \
    {                                                                                              \
        int64_t sum = 0;                                                                           \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            if (__builtin_add_overflow(sum, *(const T *)(data + i * stride), &sum)) {              \
                return false;                                                                      \
            }                                                                                      \
        }                                                                                          \
        out->i = sum;                                                                              \
        return true;                                                                               \
    }
SUM_OF_INTS(sum_long, npy_long)
SUM_OF_INTS(sum_bool, npy_bool)

/* Of equal ones the first; the comparisons raise no flag for a NaN. */
#define PICK(NAME, T, FIELD, BETTER)                                                               \
    static bool NAME(const char *data, npy_intp count, npy_intp stride, DtCell *out)               \
    {                                                                                              \
        T best = *(const T *)data;                                                                 \
        for (npy_intp i = 1; i < count; i++) {                                                     \
            T item = *(const T *)(data + i * stride);                                              \
            best = BETTER(item, best) ? item : best;                                               \
        }                                                                                          \
        out->FIELD = best;                                                                         \
        return true;                                                                               \
    }
#define GREATER(a, b) ((a) > (b))
#define LESS(a, b) ((a) < (b))
PICK(max_double, npy_double, d, isgreater)
PICK(max_float, npy_float, f, isgreater)
PICK(max_long, npy_long, i, GREATER)
PICK(max_bool, npy_bool, b, GREATER)
PICK(min_double, npy_double, d, isless)
PICK(min_float, npy_float, f, isless)
PICK(min_long, npy_long, i, LESS)
PICK(min_bool, npy_bool, b, LESS)

static const struct {
    const char *target;
    int type_num;
    Fold *fold;
} folds[] = {
    {"builtins.sum", NPY_DOUBLE, sum_double}, {"builtins.sum", NPY_FLOAT, sum_float},
    {"builtins.sum", NPY_LONG, sum_long},     {"builtins.sum", NPY_BOOL, sum_bool},
    {"builtins.max", NPY_DOUBLE, max_double}, {"builtins.max", NPY_FLOAT, max_float},
    {"builtins.max", NPY_LONG, max_long},     {"builtins.max", NPY_BOOL, max_bool},
    {"builtins.min", NPY_DOUBLE, min_double}, {"builtins.min", NPY_FLOAT, min_float},
    {"builtins.min", NPY_LONG, min_long},     {"builtins.min", NPY_BOOL, min_bool},
};

static Fold *
find_fold(const char *target, int type_num)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(folds); i++) {
        if (folds[i].type_num == type_num && strcmp(folds[i].target, target) == 0) {
            return folds[i].fold;
        }
    }
    return NULL;
}

static DtFusedRun
run_fold(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[0]);
    (void)stage;
    if (array == NULL || PyArray_NDIM(array) != 1 || PyArray_SIZE(array) < 1
        || PyArray_SIZE(array) > DT_KERNEL_MAX_COPIED) {
        return DT_FUSED_CALL;
    }
    Fold *fold = find_fold(kernel->node->target, PyArray_TYPE(array));
    dt_fpflags_clear();
    bool done = fold != NULL
                && fold(PyArray_BYTES(array), PyArray_DIM(array, 0), PyArray_STRIDE(array, 0),
                        &run->cells[kernel->cell]);
    unsigned flags = dt_fpflags_read() & DT_FP_ALL;
    return done && (DT_LIKELY(flags == 0) || !dt_errstate_hears(kernel->node->fp_region, flags))
               ? DT_FUSED_OK
               : DT_FUSED_CALL;
}

static DtStatus
choose_fold(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    (void)exe;
    (void)plan;
    kernel->run = run_fold;
    *ok = kernel->cell != DT_NO_CELL && node->nargs == 1 && dt_kernel_take_value(node, 0, kernel);
    return DT_OK;
}

const DtKernelRow dt_kernels_folds[] = {
    {"builtins.max", choose_fold},
    {"builtins.min", choose_fold},
    {"builtins.sum", choose_fold},
    {NULL, NULL},
};
