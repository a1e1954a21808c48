/* A fused stage over a few elements that are not all dense in one order, or that are reduced.
 *
 *   shapes and strides as at the call before? ──yes──► gather, run the straight line, new arrays
 *                        └─no──► layout.c and reduced.c say how they lie: kept
 *
 * Where operands lie, what the results' shapes are, and what is a row depends on shapes and strides
 * alone, so that most calls have nothing to find out.  Whatever the line does not serve is
 * fused.c's.
 */
#include <string.h>

#include "backend/native/fused.h"
#include "backend/native/straight.h"
#include "backend/native/walk.h"

/* The operands of a run: arrays, or those that they are views of. */
typedef struct Operands {
    PyArrayObject *arrays[DT_FUSED_MAX_INPUTS];
    DtViewed viewed[DT_FUSED_MAX_INPUTS];
} Operands;

static bool
is_usual(const DtFusedInput *input, PyArrayObject *array)
{
    return array != NULL && PyArray_TYPE(array) == input->type_num && PyArray_ISNOTSWAPPED(array)
           && PyArray_ISALIGNED(array) && PyArray_NDIM(array) <= DT_FUSED_MAX_NDIM;
}

/* False: other operands than the stage is for.  *same: they lie as the last ones did. */
static bool
take_operands(const DtFused *fused, const DtNativeRun *run, DtFew *few, Operands *operands,
              bool *same)
{
    *same = few->known;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtFusedInput *input = &fused->inputs[i];
        PyArrayObject *array = input->view != NULL ? dt_kernel_view_base(input->view, run) : NULL;
        if (array == NULL) {
            array = dt_fused_array(input, run, &operands->viewed[i]);
        }
        if (!is_usual(input, array)) {
            few->known = false; /* the key is half another one's */
            return false;
        }
        operands->arrays[i] = array;
        *same = dt_layout_note(few->inputs[i].key, array) && *same;
    }
    return true;
}

/* ---- How they lie ---------------------------------------------------------------------------- */

/* The arrays themselves, with what they are views of made views. */
static bool
see(const DtFused *fused, const DtNativeRun *run, DtFew *few, Operands *operands, int *order)
{
    PyArrayObject *bases[DT_FUSED_MAX_INPUTS];
    memcpy(bases, operands->arrays, fused->ninputs * sizeof(bases[0]));
    if (!dt_fused_take_inputs(fused, run, operands->viewed, operands->arrays, order)) {
        return false;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        bool viewed = fused->inputs[i].view != NULL
                      && dt_kernel_view_base(fused->inputs[i].view, run) == bases[i];
        few->inputs[i].first =
            viewed ? PyArray_BYTES(operands->arrays[i]) - PyArray_BYTES(bases[i]) : 0;
    }
    return true;
}

/* Where element `index` of the walk lies. */
static npy_intp
offset_of(const DtLayout *layout, const npy_intp *strides, npy_intp index)
{
    npy_intp offset = 0;
    for (int i = layout->nwalk - 1; i >= 0; i--) {
        offset += index % layout->walk_shape[i] * strides[i];
        index /= layout->walk_shape[i];
    }
    return offset;
}

static void
note_layout(const DtFused *fused, const DtLayout *layout, DtFew *few)
{
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        DtFewInput *input = &few->inputs[i];
        input->dense = layout->readers[i].linear;
        for (npy_intp k = 0; k < few->total; k++) {
            input->offsets[k] = offset_of(layout, layout->walk_strides[i], k);
        }
    }
    memcpy(few->strides, layout->strides, fused->noutputs * sizeof(DtStrides));
    memcpy(few->shape, layout->shape, sizeof(few->shape));
}

static bool
fits(const DtFused *fused, DtStraight *straight, npy_intp total)
{
    return total > 0 && !(total == 1 && fused->single_called)
           && dt_straight_reserve(straight, total);
}

static bool
note_rows(const DtFused *fused, PyArrayObject *const *arrays, const DtLayout *layout, DtFew *few)
{
    DtGeometry geometry = {.rows = few->total, .length = 1};
    if (fused->nreduce > 0
        && !dt_reduced_geometry(fused, arrays, few->shape, few->order, layout, &geometry)) {
        return false;
    }
    few->columns = geometry.columns;
    few->rows = geometry.rows;
    few->length = geometry.length;
    return true;
}

/* Finds out how the operands lie; -1 with MemoryError. */
static int
learn(const DtFused *fused, const DtNativeRun *run, DtStraight *straight, DtFew *few,
      Operands *operands)
{
    DtTarget targets[DT_FUSED_MAX_OUTPUTS];
    DtLayout *layout = NULL;
    DtFusedRun served = DT_FUSED_OK;
    few->known = true;
    few->serves = false;
    few->turn++;
    if (!see(fused, run, few, operands, &few->order)) {
        few->known = false;
        return 0;
    }
    const npy_intp *shape = PyArray_DIMS(operands->arrays[0]);
    if (few->order != 0 && dt_fused_sees_order(fused, shape, few->order)) {
        few->order = 0;
    }
    if (few->order == 0) {
        for (uint32_t i = 0; i < fused->noutputs; i++) {
            targets[i] = (DtTarget){.array = NULL};
        }
        served = dt_layout_kept_take(fused, operands->arrays, targets, &layout);
    }
    if (served == DT_FUSED_OK) {
        few->total = layout != NULL ? layout->total : PyArray_SIZE(operands->arrays[0]);
        few->serves = fits(fused, straight, few->total);
    }
    if (few->serves && layout != NULL) {
        note_layout(fused, layout, few);
    }
    for (uint32_t i = 0; few->serves && layout == NULL && i < fused->ninputs; i++) {
        few->inputs[i].dense = true;
        memcpy(few->shape, shape, fused->ndim * sizeof(npy_intp));
    }
    few->serves = few->serves && note_rows(fused, operands->arrays, layout, few);
    if (layout != NULL) {
        dt_layout_kept_give(fused, layout);
    }
    return served == DT_FUSED_ERROR ? -1 : 0;
}

int
dt_few_learn(const DtFused *fused, const DtNativeRun *run, DtStraight *straight, DtFew *few)
{
    Operands operands;
    bool same;
    few->serves = false;
    return take_operands(fused, run, few, &operands, &same)
               ? learn(fused, run, straight, few, &operands)
               : 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool
has_many(const DtNativeRun *run, const DtFusedInput *input)
{
    PyObject *object = input->view == NULL ? dt_native_value(run, &input->value) : NULL;
    return object != NULL && PyArray_Check(object)
           && PyArray_SIZE((PyArrayObject *)object) > DT_STRAIGHT_MOST;
}

DtFusedRun
dt_fused_run_few(const DtFused *fused, DtNativeRun *run)
{
    DtStraight *straight = has_many(run, &fused->inputs[0]) ? NULL : dt_straight_get(fused, 1);
    DtFew *few = straight == NULL ? NULL : dt_straight_few(straight);
    Operands operands;
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    char *slots[DT_FUSED_MAX_SLOTS];
    bool same;
    if (few == NULL || !take_operands(fused, run, few, &operands, &same)) {
        return DT_FUSED_CALL;
    }
    if (!same && learn(fused, run, straight, few, &operands) < 0) {
        return DT_FUSED_ERROR;
    }
    if (!few->serves) {
        return DT_FUSED_CALL;
    }
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        npy_intp first = same ? few->inputs[i].first : 0;
        slots[fused->inputs[i].slot] = PyArray_BYTES(operands.arrays[i]) + first;
    }
    DtFusedRun result = dt_fused_take_scalars(fused, run, slots, cells);
    if (result != DT_FUSED_OK) {
        return result;
    }
    PyObject *made[DT_FUSED_MAX_OUTPUTS], *rows[DT_FUSED_MAX_OPS];
    uint64_t row_cells[DT_FUSED_MAX_OPS][2];
    uint32_t nmade = 0;
    unsigned turn = few->turn;
    bool has_rows = false;
    result = DT_FUSED_ERROR;
    for (; nmade < fused->noutputs; nmade++) {
        const DtFusedOutput *output = &fused->outputs[nmade];
        made[nmade] = dt_memory_new_array(output->descr, (int)fused->ndim, few->shape,
                                          few->order == 0 ? few->strides[nmade] : NULL, few->order);
        if (made[nmade] == NULL) {
            goto done;
        }
        slots[output->slot] = PyArray_BYTES((PyArrayObject *)made[nmade]);
    }
    if (dt_reduced_make(fused, few->shape, rows, row_cells, slots) < 0) {
        goto done;
    }
    has_rows = true;
    /* A handler of memory that is the program's may have run the stage, over others. */
    result = few->turn == turn && dt_straight_run_few(straight, few, slots) ? DT_FUSED_OK
                                                                            : DT_FUSED_CALL;
done:
    if (has_rows && dt_reduced_take(fused, run, rows, row_cells, result == DT_FUSED_OK) < 0
        && result == DT_FUSED_OK) {
        result = DT_FUSED_ERROR;
    }
    dt_fused_give(fused, run, made, nmade, result);
    return result;
}
