/* Kernels of single random numbers: random(), uniform(), normal(), randint() and an item chosen of
 * a few.
 *
 * The generator's own bits are drawn, without a call of NumPy, which takes far longer than the
 * draw. Of a generator's state only what the draw changes is saved, whoever has saved it before.
 */
#include <math.h>
#include <string.h>

#include "adapters/numpy/random_bits.h"
#include "backend/native/kernels.h"

/* Before a draw. */
static bool
find_bits(const DtKernel *kernel, DtNativeRun *run, PyObject **generator, DtRandomBits *bits)
{
    *generator = dt_native_value(run, &kernel->values[0]);
    return *generator != NULL && dt_np_random_bits(*generator, bits);
}

static int
save_bytes(DtNativeRun *run, PyObject *generator, char *place, uint8_t size)
{
    for (uint8_t at = 0; at < size && !run->committed; at += 8) {
        uint8_t part = size - at < 8 ? size - at : 8;
        if (dt_written_save_bytes(&run->log, generator, place + at, part) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Notes what a draw is about to change. */
static int
save(DtNativeRun *run, PyObject *generator, const DtRandomBits *bits)
{
    return save_bytes(run, generator, bits->place, bits->size);
}

/* The numbers beside the generator in the call. */
static bool
read_numbers(const DtKernel *kernel, const DtNativeRun *run, double *numbers)
{
    for (uint32_t i = 0; i < kernel->nscalars; i++) {
        uint64_t cell[2];
        if (dt_scalar_fill(&kernel->scalars[i], run, cell) != DT_FUSED_OK) {
            return false;
        }
        memcpy(&numbers[i], cell, sizeof(numbers[i]));
    }
    return true;
}

static DtFusedRun
run_uniform(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyObject *generator;
    DtRandomBits bits;
    double bounds[2] = {0, 1}, number;
    (void)stage;
    if (!read_numbers(kernel, run, bounds)) {
        return DT_FUSED_CALL;
    }
    double range = bounds[1] - bounds[0];
    if (!isfinite(range) || range < 0 || !find_bits(kernel, run, &generator, &bits)
        || bits.ready < 2) {
        return DT_FUSED_CALL;
    }
    if (save(run, generator, &bits) < 0) {
        return DT_FUSED_ERROR;
    }
    (void)dt_np_random_double(&bits, &number); /* enough lies ready */
    run->cells[kernel->cell].d = kernel->nscalars == 0 ? number : bounds[0] + range * number;
    return DT_FUSED_OK;
}

static DtFusedRun
draw_normal(const DtKernel *kernel, DtNativeRun *run, double *out)
{
    PyObject *generator;
    DtRandomBits bits;
    if (!find_bits(kernel, run, &generator, &bits) || bits.half == NULL) {
        return DT_FUSED_CALL;
    }
    if (save(run, generator, &bits) < 0
        || save_bytes(run, generator, bits.half, DT_RANDOM_HALF_SIZE) < 0) {
        return DT_FUSED_ERROR;
    }
    return dt_np_random_normal(&bits, out) ? DT_FUSED_OK : DT_FUSED_CALL;
}

static DtFusedRun
run_standard_normal(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    (void)stage;
    return draw_normal(kernel, run, &run->cells[kernel->cell].d);
}

static DtFusedRun
run_normal(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    double numbers[2] = {0, 1}, drawn; /* the mean and the deviation */
    (void)stage;
    if (!read_numbers(kernel, run, numbers) || !(numbers[1] > 0)) {
        return DT_FUSED_CALL;
    }
    DtFusedRun made = draw_normal(kernel, run, &drawn);
    if (made == DT_FUSED_OK) {
        run->cells[kernel->cell].d = numbers[0] + numbers[1] * drawn;
    }
    return made;
}

/* A number from 0 to `count` - 1. */
static DtFusedRun
draw_below(const DtKernel *kernel, DtNativeRun *run, int64_t count, uint64_t *out)
{
    PyObject *generator;
    DtRandomBits bits;
    if (count < 1 || !find_bits(kernel, run, &generator, &bits)) {
        return DT_FUSED_CALL;
    }
    if (save(run, generator, &bits) < 0) {
        return DT_FUSED_ERROR;
    }
    return dt_np_random_below(&bits, (uint64_t)count - 1, out) ? DT_FUSED_OK : DT_FUSED_CALL;
}

static DtFusedRun
run_randint(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    npy_intp bounds[2] = {0, 0};
    uint64_t drawn;
    int64_t count;
    (void)stage;
    for (uint32_t i = 0; i < kernel->ndim; i++) {
        if (!dt_cells_index(&kernel->shape[i], run, &bounds[2 - kernel->ndim + i])) {
            return DT_FUSED_CALL;
        }
    }
    if (__builtin_sub_overflow((int64_t)bounds[1], (int64_t)bounds[0], &count)) {
        return DT_FUSED_CALL;
    }
    DtFusedRun made = draw_below(kernel, run, count, &drawn);
    run->cells[kernel->cell].i = made == DT_FUSED_OK ? bounds[0] + (int64_t)drawn : 0;
    return made;
}

static DtFusedRun
run_choice(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run)
{
    PyArrayObject *array = dt_kernel_array(run, &kernel->values[1]);
    uint64_t drawn;
    (void)stage;
    if (array == NULL || PyArray_NDIM(array) != 1
        || PyArray_TYPE(array) != kernel->descr->type_num) {
        return DT_FUSED_CALL;
    }
    DtFusedRun made = draw_below(kernel, run, (int64_t)PyArray_DIM(array, 0), &drawn);
    if (made == DT_FUSED_OK) {
        const char *item = PyArray_BYTES(array) + (npy_intp)drawn * PyArray_STRIDE(array, 0);
        DtCell *cell = &run->cells[kernel->cell];
        if (kernel->size == sizeof(npy_bool)) {
            cell->b = *(const npy_bool *)item != 0;
        }
        else {
            memcpy(cell, item, kernel->size);
        }
    }
    return made;
}

/* ---- Planning -------------------------------------------------------------------------------- */

static bool
take_generator(const DtNode *node, DtKernel *kernel)
{
    const DtOperand *operand = &node->args[0];
    kernel->saves = true;
    kernel->values[kernel->nvalues++] = (DtValue){operand->u.node, operand->result};
    return operand->kind == DT_OPERAND_NODE && kernel->cell != DT_NO_CELL
           && dt_written_is_draw(node);
}

/* Of up to `most` numbers beside the generator. */
static DtStatus
choose_float(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, uint32_t most,
             bool *ok)
{
    kernel->scalars = DT_ARENA_ARRAY(&exe->arena, DtFusedScalar, 2);
    if (kernel->scalars == NULL) {
        return dt_no_memory();
    }
    *ok = take_generator(node, kernel) && node->nargs <= 1 + most;
    for (uint32_t i = 1; *ok && i < node->nargs; i++) {
        *ok = dt_kernel_scalar(plan, &node->args[i], NPY_DOUBLE,
                               &kernel->scalars[kernel->nscalars++]);
    }
    return DT_OK;
}

static DtStatus
choose_random(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_uniform;
    return choose_float(exe, plan, node, kernel, 0, ok);
}

static DtStatus
choose_uniform(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_uniform;
    return choose_float(exe, plan, node, kernel, 2, ok);
}

static DtStatus
choose_standard_normal(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_standard_normal;
    return choose_float(exe, plan, node, kernel, 0, ok);
}

static DtStatus
choose_normal(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_normal;
    return choose_float(exe, plan, node, kernel, 2, ok);
}

static DtStatus
choose_randint(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    kernel->run = run_randint;
    kernel->shape = DT_ARENA_ARRAY(&exe->arena, DtCellIndex, 2);
    if (kernel->shape == NULL) {
        return dt_no_memory();
    }
    *ok = take_generator(node, kernel) && (node->nargs == 2 || node->nargs == 3);
    for (uint32_t i = 1; *ok && i < node->nargs; i++) {
        *ok = dt_kernel_index(plan, &node->args[i], &kernel->shape[kernel->ndim++]);
    }
    return DT_OK;
}

/* Of range(n), or of an array of numbers. */
static DtStatus
choose_choice(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel, bool *ok)
{
    if (node->nargs == 2 && kernel->descr == NULL) {
        return choose_randint(exe, plan, node, kernel, ok);
    }
    kernel->run = run_choice;
    *ok = take_generator(node, kernel) && node->nargs == 2 && kernel->descr != NULL
          && dt_kernel_take_value(node, 1, kernel);
    return DT_OK;
}

const DtKernelRow dt_kernels_draws[] = {
    {"numpy.random.RandomState.rand", choose_random},
    {"numpy.random.RandomState.random", choose_random},
    {"numpy.random.RandomState.random_sample", choose_random},
    {"numpy.random.RandomState.uniform", choose_uniform},
    {"numpy.random.Generator.random", choose_random},
    {"numpy.random.Generator.uniform", choose_uniform},
    {"numpy.random.RandomState.randn", choose_standard_normal},
    {"numpy.random.RandomState.standard_normal", choose_standard_normal},
    {"numpy.random.RandomState.normal", choose_normal},
    {"numpy.random.RandomState.randint", choose_randint},
    {"numpy.random.RandomState.choice", choose_choice},
    {NULL, NULL},
};
