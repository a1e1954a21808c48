/* The stages of a graph over a few elements, one behind the other, with no arrays between them.
 *
 *   inputs ──► frame of stage 1 ──► frame of stage 2 ──► ... ──► results, copied into new arrays
 *                    └── numbers ──► cells ──┘
 *
 * What a stage makes for another one stays in its frame (straight.c), and the other one reads it
 * there. Where it would lie in an array follows from the shapes and strides of the graph's inputs
 * alone. So do the shapes of all results: they are found out with stand-ins for the arrays that are
 * not made, the second time that inputs of the same shapes and strides come, and kept with those.
 *
 * A graph has a line if all of its stages have one, or compute numbers (cells.h), and write
 * nothing. A run that comes to anything unusual (a flag, a NaN, a number that is not sure) is given
 * up: nothing of it can be seen, and the stages run one by one.
 */
#include "backend/native/line.h"

#include <stdlib.h>
#include <string.h>

#include "backend/eager.h"
#include "backend/native/fused.h"
#include "backend/native/walk.h"

enum { GIVES_UP = 64 /* runs in vain, with inputs of the same shapes */ };

void
dt_line_free(DtLine *line)
{
    for (uint32_t i = 0; line != NULL && i < line->nlegs; i++) {
        free(line->legs[i].few);
    }
}

/* ---- Finding out how everything lies --------------------------------------------------------- */

/* Other values than inputs are asked for where there are numbers. */
static void
take_inputs(const DtNative *exe, PyObject *const *inputs, PyObject **values)
{
    const DtGraph *graph = exe->base.graph;
    if (exe->stages.ncells > 0) {
        memset(values, 0, graph->nodes.count * sizeof(PyObject *));
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtNode *node = graph->inputs.items[i].node;
        if (node != NULL) {
            values[node->index] = inputs[i];
        }
    }
}

/* The result as an array that is no object. */
static PyObject *
make_stand_in(const DtLineResult *result, DtViewed *viewed)
{
    PyArrayObject *array = (PyArrayObject *)&viewed->array;
    *viewed = (DtViewed){.array.nd = result->ndim};
    Py_SET_TYPE((PyObject *)array, &PyArray_Type);
    Py_SET_REFCNT((PyObject *)array, 1);
    npy_intp stride = result->size;
    for (int i = 0; i < result->ndim; i++) {
        int axis = result->order == NPY_ARRAY_F_CONTIGUOUS ? i : result->ndim - 1 - i;
        viewed->shape[axis] = result->shape[axis];
        viewed->strides[axis] = result->strides != NULL ? result->strides[axis] : stride;
        stride *= result->shape[axis];
    }
    viewed->array.data = (char *)result->place;
    viewed->array.dimensions = viewed->shape;
    viewed->array.strides = viewed->strides;
    viewed->array.descr = result->descr;
    PyArray_UpdateFlags(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED);
    return (PyObject *)array;
}

static void
learn_result(const DtLeg *leg, DtLineResult *result)
{
    const DtFew *few = leg->few;
    npy_intp count = few->total;
    result->place = dt_straight_place(leg->straight, result->slot);
    result->strides = NULL;
    if (result->output < 0) {
        const DtFusedRow *row = &leg->fused->rows[~result->output];
        result->order = NPY_ARRAY_C_CONTIGUOUS;
        result->ndim = dt_reduced_shape(leg->fused, row, few->shape, result->shape);
        count = dt_few_results(few);
    }
    else {
        result->order = few->order;
        result->ndim = (int)leg->fused->ndim;
        memcpy(result->shape, few->shape, sizeof(few->shape));
        if (few->order == 0) {
            result->strides = few->strides[result->output];
        }
    }
    result->bytes = count * result->size;
    result->image.bytes = 0;
    if (result->is_output && result->cell == DT_NO_CELL && result->strides == NULL) {
        dt_memory_image(&result->image, result->descr, result->ndim, result->shape,
                        result->order == NPY_ARRAY_F_CONTIGUOUS);
    }
}

/* False: there is no line for such operands, or no memory to find out, of which the stages may yet
 * have enough. */
static bool
learn_leg(DtLeg *leg, DtNativeRun *run, DtViewed *stand_ins)
{
    leg->straight = dt_straight_get(leg->fused, 1);
    if (leg->few == NULL) {
        leg->few = dt_few_new(leg->fused);
    }
    if (leg->straight == NULL || leg->few == NULL) {
        return false;
    }
    if (dt_few_learn(leg->fused, run, leg->straight, leg->few) < 0) {
        PyErr_Clear(); /* MemoryError */
        return false;
    }
    for (uint32_t i = 0; leg->few->serves && i < leg->nresults; i++) {
        DtLineResult *result = &leg->results[i];
        learn_result(leg, result);
        if (result->cell == DT_NO_CELL) {
            run->values[result->node->index] = make_stand_in(result, &stand_ins[i]);
        }
    }
    return leg->few->serves;
}

static bool
learn(DtNative *exe, PyObject *const *inputs)
{
    DtLine *line = exe->line;
    PyObject *values[DT_NATIVE_STACK_VALUES];
    DtNativeRun run = {.exe = exe, .values = values};
    uint32_t nresults = 0;
    for (uint32_t i = 0; i < line->nlegs; i++) {
        nresults += line->legs[i].nresults;
    }
    DtViewed *stand_ins = malloc((nresults + 1) * sizeof(DtViewed)), *next = stand_ins;
    bool serves = stand_ins != NULL;
    take_inputs(exe, inputs, values);
    for (uint32_t i = 0; serves && i < line->nlegs; i++) {
        if (line->legs[i].fused != NULL) {
            serves = learn_leg(&line->legs[i], &run, next);
            line->legs[i].reads = serves && i > 0 && dt_straight_clears(line->legs[i].straight);
            next += line->legs[i].nresults;
        }
    }
    free(stand_ins);
    line->state = serves ? DT_LINE_SERVES : DT_LINE_REFUSES;
    return serves;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Looks at the inputs: does the line serve such? */
static bool
serves(DtNative *exe, PyObject *const *inputs)
{
    DtLine *line = exe->line;
    bool same = true;
    PyArrayObject *first = (PyArrayObject *)inputs[line->operands[0].input];
    if (PyArray_Check(first) && PyArray_SIZE(first) > DT_STRAIGHT_MOST) {
        line->state = DT_LINE_UNKNOWN;
        return false;
    }
    for (uint32_t i = 0; i < line->noperands; i++) {
        DtLineOperand *operand = &line->operands[i];
        PyArrayObject *array = (PyArrayObject *)inputs[operand->input];
        if (!PyArray_CheckExact(array) || PyArray_TYPE(array) != operand->type_num
            || !PyArray_ISNOTSWAPPED(array) || !PyArray_ISALIGNED(array)
            || PyArray_NDIM(array) > DT_FUSED_MAX_NDIM) {
            line->state = DT_LINE_UNKNOWN; /* the key is half another one's */
            return false;
        }
        same = dt_layout_note(operand->key, array) && same;
    }
    if (DT_LIKELY(same && line->state != DT_LINE_UNKNOWN)) {
        return line->state == DT_LINE_SERVES || (line->state == DT_LINE_SEEN && learn(exe, inputs));
    }
    line->state = DT_LINE_SEEN;
    line->in_vain = 0;
    line->turn++;
    return false;
}

static PyObject *
make_output(const DtLineResult *result, PyObject *handler)
{
    PyObject *made = NULL;
    if (DT_LIKELY(handler != NULL && result->image.bytes > 0)) {
        made = dt_memory_new_like(&result->image, handler);
    }
    return made != NULL ? made
                        : dt_memory_new_array(result->descr, result->ndim, result->shape,
                                              result->strides, result->order);
}

/* The arrays that the graph returns; or -1, and none that are missing. */
static int
make_outputs(const DtLine *line, DtNativeRun *run)
{
    PyObject *handler = line->nmade > 0 ? dt_memory_handler() : NULL;
    bool ok = true;
    for (uint32_t i = 0; i < line->nmade; i++) {
        PyObject *made = ok ? make_output(line->made[i], handler) : NULL;
        run->values[line->made[i]->node->index] = made;
        ok = made != NULL;
    }
    Py_XDECREF(handler);
    return ok ? 0 : -1;
}

/* Runs a stage up to its results: numbers go to their cells, outputs of the graph to their arrays.
 */
static bool
run_leg(const DtLeg *leg, DtNativeRun *run, PyObject *const *inputs, unsigned *flags)
{
    const DtFused *fused = leg->fused;
    char *slots[DT_FUSED_MAX_SLOTS];
    uint64_t cells[DT_FUSED_MAX_SCALARS][2];
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtLineSource *source = &leg->sources[i];
        const char *start = source->operand != NULL
                                ? PyArray_BYTES((PyArrayObject *)inputs[source->operand->input])
                                : source->result->place;
        slots[fused->inputs[i].slot] = (char *)start + leg->few->inputs[i].first;
    }
    if ((fused->nvarying > 0 && dt_fused_take_scalars(fused, run, slots, cells) != DT_FUSED_OK)
        || !dt_straight_go(leg->straight, leg->few, slots, flags)) {
        return false;
    }
    for (uint32_t i = 0; i < leg->nresults; i++) {
        const DtLineResult *result = &leg->results[i];
        char *to = result->cell != DT_NO_CELL ? (char *)&run->cells[result->cell]
                   : result->is_output
                       ? PyArray_BYTES((PyArrayObject *)run->values[result->node->index])
                       : NULL;
        if (to != NULL
            && !dt_straight_take(result->place, result->descr->type_num, to, result->bytes)) {
            return false;
        }
    }
    return true;
}

static bool
run_legs(const DtLine *line, DtNativeRun *run, PyObject *const *inputs, unsigned *flags)
{
    for (uint32_t i = 0; i < line->nlegs; i++) {
        const DtLeg *leg = &line->legs[i];
        if (leg->reads) {
            *flags |= dt_fpflags_read();
        }
        bool ok = leg->fused != NULL ? run_leg(leg, run, inputs, flags)
                                     : dt_cells_go(leg->cells, run, flags);
        if (!ok) {
            return false;
        }
    }
    *flags |= dt_fpflags_read();
    return true;
}

/* Flags that are there at the end may have been there before (straight.c). */
static bool
run_usual(const DtLine *line, DtNativeRun *run, PyObject *const *inputs)
{
    for (int turn = 0; turn < 2; turn++) {
        unsigned flags = 0;
        if (!run_legs(line, run, inputs, &flags)) {
            return false;
        }
        if (DT_LIKELY((flags & DT_FP_ALL) == 0)) {
            return true;
        }
        dt_fpflags_clear();
    }
    return false;
}

/* What becomes of a run that met an exception, a number that leaves int64 say: a line writes
 * nothing, so plain code can say what it is. */
static DtFusedRun
failure(void)
{
    return dt_eager_failure(false) == DT_RUN_ERROR ? DT_FUSED_ERROR : DT_FUSED_REPLAY;
}

/* Outputs of the graph from the values, or none; what the line made is let go of. */
static DtFusedRun
give_outputs(const DtNative *exe, DtNativeRun *run, DtFusedRun result, PyObject **outputs)
{
    const DtGraph *graph = exe->base.graph;
    const DtLine *line = exe->line;
    uint32_t given = 0;
    if (result == DT_FUSED_OK && dt_cells_box_all(exe->stages.boxes, exe->stages.nboxes, run) < 0) {
        result = failure();
    }
    for (; result == DT_FUSED_OK && given < graph->noutputs; given++) {
        const DtOperand *output = &graph->outputs[given];
        if (line->taken[given]) {
            outputs[given] = run->values[output->u.node->index];
            run->values[output->u.node->index] = NULL;
            continue;
        }
        outputs[given] = dt_eager_operand(output, run->values, run->symbols);
        if (outputs[given] == NULL) {
            result = failure();
        }
    }
    if (DT_UNLIKELY(result != DT_FUSED_OK)) {
        while (given > 0) {
            given--; /* the macro of 3.10 and 3.11 evaluates its argument several times */
            Py_CLEAR(outputs[given]);
        }
        for (uint32_t i = 0; i < line->nmade; i++) {
            Py_XDECREF(run->values[line->made[i]->node->index]);
        }
    }
    for (uint32_t i = 0; i < exe->stages.nboxes; i++) {
        Py_CLEAR(run->values[exe->stages.boxes[i].node->index]); /* it may be there twice */
    }
    return result;
}

DtFusedRun
dt_line_run(DtNative *exe, PyObject *const *inputs, PyObject **outputs)
{
    DtLine *line = exe->line;
    const DtGraph *graph = exe->base.graph;
    PyObject *values[DT_NATIVE_STACK_VALUES];
    DtNumber symbols[DT_NATIVE_STACK_SYMBOLS];
    DtCell cells[DT_NATIVE_STACK_CELLS];
    DtNativeRun run = {.exe = exe, .values = values, .symbols = symbols, .cells = cells};
    if (!serves(exe, inputs)) {
        return DT_FUSED_CALL;
    }
    if (exe->needs_symbols && !dt_graph_read_symbols(graph, inputs, symbols)) {
        return DT_FUSED_REPLAY;
    }
    take_inputs(exe, inputs, values);
    unsigned turn = line->turn;
    DtFusedRun result = DT_FUSED_CALL;
    if (make_outputs(line, &run) < 0) {
        result = DT_FUSED_ERROR;
    }
    /* A handler of memory that is the program's may have run the line, over others. */
    else if (line->turn == turn && line->state == DT_LINE_SERVES && run_usual(line, &run, inputs)) {
        line->in_vain = 0;
        result = DT_FUSED_OK;
    }
    else if (run.strayed) {
        result = DT_FUSED_OTHER_WAY;
    }
    else if (++line->in_vain >= GIVES_UP) {
        line->state = DT_LINE_REFUSES;
    }
    return give_outputs(exe, &run, result, outputs);
}
