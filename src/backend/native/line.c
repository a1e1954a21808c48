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
static inline void
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
    result->take = dt_take_choose(result->descr->type_num, result->bytes);
    result->image.bytes = 0;
    if (result->is_output && result->cell == DT_NO_CELL && result->strides == NULL) {
        dt_memory_image(&result->image, result->descr, result->ndim, result->shape,
                        result->order == NPY_ARRAY_F_CONTIGUOUS);
    }
}

/* Operands and numbers: those that are another one at each run are taken then. */
static bool
learn_slots(const DtLine *line, DtLeg *leg, const DtNativeRun *run)
{
    const DtFused *fused = leg->fused;
    bool ok = true;
    leg->nmoves = leg->nvarying = leg->nwanted = 0;
    for (uint32_t i = 0; i < fused->ninputs; i++) {
        const DtLineSource *source = &leg->sources[i];
        uint16_t slot = fused->inputs[i].slot;
        npy_intp first = leg->few->inputs[i].first;
        if (source->operand != NULL) {
            leg->moves[leg->nmoves++] = (DtLineMove){first, source->operand->input, slot};
        }
        else {
            leg->slots[slot] = source->result->place + first;
        }
    }
    for (uint32_t i = 0; ok && i < fused->nvarying; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        leg->slots[scalar->slot] = (char *)leg->numbers[i];
        if (scalar->kind == DT_SCALAR_SYM && line->keeps_symbols) {
            ok = dt_scalar_fill(scalar, run, leg->numbers[i]) == DT_FUSED_OK;
        }
        else {
            leg->varying[leg->nvarying++] = (uint16_t)i;
        }
    }
    for (uint32_t i = 0; i < leg->nresults; i++) {
        if (leg->results[i].cell != DT_NO_CELL || leg->results[i].is_output) {
            leg->wanted[leg->nwanted++] = &leg->results[i];
        }
    }
    return ok;
}

/* False: there is no line for such operands, or no memory to find out, of which the stages may yet
 * have enough. */
static bool
learn_leg(const DtLine *line, DtLeg *leg, DtNativeRun *run, DtViewed *stand_ins)
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
    if (!leg->few->serves) {
        return false;
    }
    for (uint32_t i = 0; i < leg->nresults; i++) {
        DtLineResult *result = &leg->results[i];
        learn_result(leg, result);
        if (result->cell == DT_NO_CELL) {
            run->values[result->node->index] = make_stand_in(result, &stand_ins[i]);
        }
    }
    return learn_slots(line, leg, run);
}

static bool
learn(DtNative *exe, PyObject *const *inputs)
{
    DtLine *line = exe->line;
    PyObject *values[DT_NATIVE_STACK_VALUES];
    bool known[DT_NATIVE_STACK_CELLS] = {false};
    DtNativeRun run = {
        .exe = exe, .values = values, .symbols = line->symbols, .cells = line->cells};
    uint32_t nresults = 0;
    for (uint32_t i = 0; i < line->nlegs; i++) {
        nresults += line->legs[i].nresults;
    }
    DtViewed *stand_ins = malloc((nresults + 1) * sizeof(DtViewed)), *next = stand_ins;
    bool serves = stand_ins != NULL;
    if (line->keeps_symbols) {
        serves = serves && dt_graph_read_symbols(exe->base.graph, inputs, line->symbols);
    }
    take_inputs(exe, inputs, values);
    for (uint32_t i = 0; serves && i < line->nlegs; i++) {
        DtLeg *leg = &line->legs[i];
        if (leg->fused == NULL) {
            serves = dt_line_know_cells(line, leg, &run, known);
            continue;
        }
        serves = learn_leg(line, leg, &run, next);
        leg->reads = serves && i > 0 && dt_straight_clears(leg->straight);
        next += leg->nresults;
    }
    free(stand_ins);
    line->state = serves ? DT_LINE_SERVES : DT_LINE_REFUSES;
    return serves;
}

/* ---- Running --------------------------------------------------------------------------------- */

static inline bool
lies_so(const DtLineOperand *operand, PyObject *object)
{
    const PyArrayObject_fields *array = (const PyArrayObject_fields *)object;
    const npy_intp *key = operand->key;
    if (Py_TYPE(object) != &PyArray_Type || array->descr != operand->descr || array->nd != key[0]
        || !(array->flags & NPY_ARRAY_ALIGNED)) {
        return false;
    }
    for (int i = 0; i < array->nd; i++) {
        if (array->dimensions[i] != key[1 + 2 * i] || array->strides[i] != key[2 + 2 * i]) {
            return false;
        }
    }
    return true;
}

/* Looks at the inputs: are they as they were when the line was learnt, or does it serve such? */
static bool __attribute__((noinline))
looks_at(DtNative *exe, PyObject *const *inputs)
{
    DtLine *line = exe->line;
    bool same = true;
    PyArrayObject *first = (PyArrayObject *)inputs[line->operands[0].input];
    if (PyArray_Check(first) && PyArray_SIZE(first) > line->most) {
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

static inline bool
serves(DtNative *exe, PyObject *const *inputs)
{
    const DtLine *line = exe->line;
    bool same = line->state == DT_LINE_SERVES;
    for (uint32_t i = 0; same && i < line->noperands; i++) {
        same = lies_so(&line->operands[i], inputs[line->operands[i].input]);
    }
    return DT_LIKELY(same) || looks_at(exe, inputs);
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
make_outputs(const DtLine *line, DtNativeRun *run, PyObject **outputs)
{
    PyObject *handler = line->nmade > 0 ? dt_memory_handler() : NULL;
    bool ok = true;
    for (uint32_t i = 0; i < line->nmade; i++) {
        const DtLineResult *result = line->made[i];
        PyObject *made = ok ? make_output(result, handler) : NULL;
        run->values[result->node->index] = made;
        outputs[result->given] = made;
        ok = made != NULL;
    }
    Py_XDECREF(handler);
    return ok ? 0 : -1;
}

/* Runs a stage up to its results: numbers go to their cells, outputs of the graph to their arrays.
 */
static inline bool
run_leg(const DtLeg *leg, DtNativeRun *run, PyObject *const *inputs, unsigned *flags)
{
    for (uint32_t i = 0; i < leg->nmoves; i++) {
        const DtLineMove *move = &leg->moves[i];
        leg->slots[move->slot] = PyArray_BYTES((PyArrayObject *)inputs[move->input]) + move->first;
    }
    for (uint32_t i = 0; i < leg->nvarying; i++) {
        uint16_t number = leg->varying[i];
        const DtFusedScalar *scalar = &leg->fused->scalars[number];
        if (dt_scalar_fill(scalar, run, leg->numbers[number]) != DT_FUSED_OK) {
            return false;
        }
    }
    if (!dt_straight_go(leg->straight, leg->few, leg->slots, flags)) {
        return false;
    }
    for (uint32_t i = 0; i < leg->nwanted; i++) {
        const DtLineResult *result = leg->wanted[i];
        char *to = result->cell != DT_NO_CELL
                       ? (char *)&run->cells[result->cell]
                       : PyArray_BYTES((PyArrayObject *)run->values[result->node->index]);
        if (!result->take(result->place, to, result->bytes)) {
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
                                     : dt_cells_go(&leg->left, run, flags);
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

/* Outputs that are no arrays of the line's; -1: there is none of them. */
static int
give_others(const DtNative *exe, DtNativeRun *run, PyObject **outputs)
{
    const DtGraph *graph = exe->base.graph;
    const DtLine *line = exe->line;
    uint32_t given = 0;
    bool ok = dt_cells_box_all(exe->stages.boxes, exe->stages.nboxes, run) == 0;
    for (; ok && given < graph->noutputs; given++) {
        if (!line->taken[given]) {
            outputs[given] = dt_eager_operand(&graph->outputs[given], run->values, run->symbols);
            ok = outputs[given] != NULL;
        }
    }
    while (!ok && given > 0) {
        given--; /* the macro of 3.10 and 3.11 evaluates its argument several times */
        if (!line->taken[given]) {
            Py_CLEAR(outputs[given]);
        }
    }
    for (uint32_t i = 0; i < exe->stages.nboxes; i++) {
        Py_CLEAR(run->values[exe->stages.boxes[i].node->index]); /* it may be there twice */
    }
    return ok ? 0 : -1;
}

/* What the line made is let go of. */
static void __attribute__((noinline))
drop_outputs(const DtLine *line, PyObject **outputs)
{
    for (uint32_t i = 0; i < line->nmade; i++) {
        uint32_t given = line->made[i]->given;
        Py_CLEAR(outputs[given]);
    }
}

DtFusedRun
dt_line_run(DtNative *exe, PyObject *const *inputs, PyObject **outputs)
{
    DtLine *line = exe->line;
    PyObject *values[DT_NATIVE_STACK_VALUES];
    DtNumber symbols[DT_NATIVE_STACK_SYMBOLS];
    if (!serves(exe, inputs)) {
        return DT_FUSED_CALL;
    }
    if (!line->keeps_symbols && exe->needs_symbols
        && !dt_graph_read_symbols(exe->base.graph, inputs, symbols)) {
        return DT_FUSED_REPLAY;
    }
    if (line->asks_values) {
        take_inputs(exe, inputs, values);
    }
    DtNativeRun run;
    run.exe = exe;
    run.values = values;
    run.symbols = line->keeps_symbols ? line->symbols : symbols;
    run.cells = line->cells;
    run.strayed = false;
    unsigned turn = line->turn;
    DtFusedRun result = DT_FUSED_CALL;
    if (make_outputs(line, &run, outputs) < 0) {
        result = DT_FUSED_ERROR;
    }
    /* A handler of memory that is the program's may have run the line, over others. */
    else if (line->turn == turn && line->state == DT_LINE_SERVES && run_usual(line, &run, inputs)) {
        line->in_vain = 0;
        result =
            !line->gives_others || give_others(exe, &run, outputs) == 0 ? DT_FUSED_OK : failure();
    }
    else if (run.strayed) {
        result = DT_FUSED_OTHER_WAY;
    }
    else if (++line->in_vain >= GIVES_UP) {
        line->state = DT_LINE_REFUSES;
    }
    if (DT_UNLIKELY(result != DT_FUSED_OK)) {
        drop_outputs(line, outputs);
    }
    return result;
}
