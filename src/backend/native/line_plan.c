/* Which graphs have a line for a few elements, and where its stages find their operands: line.c.
 *
 *   input of the graph ──► stage ──► result ──► later stage, or output of the graph
 *
 * All stages have to be fused or compute numbers, and write nothing; what one finds outside of
 * itself is an input of the graph, or made by an earlier one. A stage that is all there is, and
 * has few steps of ours, takes less time without, unless there are very few elements.
 */
#include "backend/native/line.h"

enum { MOST_OF_SHORT = 24 /* elements, of such a stage */ };

static bool
is_output(const DtGraph *graph, const DtNode *node)
{
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        if (graph->outputs[i].kind == DT_OPERAND_NODE && graph->outputs[i].u.node == node) {
            return true;
        }
    }
    return false;
}

static DtLineResult *
find_result(const DtLine *line, const DtNode *node)
{
    for (uint32_t i = 0; i < line->nlegs; i++) {
        for (uint32_t j = 0; j < line->legs[i].nresults; j++) {
            if (line->legs[i].results[j].node == node) {
                return &line->legs[i].results[j];
            }
        }
    }
    return NULL;
}

static bool
is_input(const DtGraph *graph, const DtNode *node, uint32_t *index)
{
    for (*index = 0; *index < graph->inputs.count; ++*index) {
        if (graph->inputs.items[*index].node == node) {
            return true;
        }
    }
    return false;
}

static const PyArray_Descr *
usual_descr(int type_num)
{
    PyArray_Descr *descr = PyArray_DescrFromType(type_num);
    Py_DECREF(descr); /* NumPy keeps it */
    return descr;
}

/* The operand that an input of the graph is; NULL: no input, or one of another type. */
static const DtLineOperand *
find_operand(const DtNative *exe, DtLine *line, const DtNode *node, int type_num)
{
    for (uint32_t i = 0; i < line->noperands; i++) {
        if (line->operands[i].node == node) {
            return line->operands[i].type_num == type_num ? &line->operands[i] : NULL;
        }
    }
    DtLineOperand *operand = &line->operands[line->noperands];
    if (!is_input(exe->base.graph, node, &operand->input)) {
        return NULL;
    }
    operand->node = node;
    operand->type_num = type_num;
    operand->descr = usual_descr(type_num);
    line->noperands++;
    return operand;
}

static bool
plan_sources(const DtNative *exe, DtLine *line, DtLeg *leg)
{
    for (uint32_t i = 0; i < leg->fused->ninputs; i++) {
        const DtFusedInput *input = &leg->fused->inputs[i];
        const DtValue *value = input->view != NULL ? dt_kernel_viewed(input->view) : &input->value;
        if (value == NULL || value->node->nresults > 1) {
            return false;
        }
        DtLineSource *source = &leg->sources[i];
        source->result = find_result(line, value->node);
        if (source->result != NULL) {
            if (source->result->cell != DT_NO_CELL) {
                return false;
            }
            continue;
        }
        source->operand = find_operand(exe, line, value->node, input->type_num);
        if (source->operand == NULL) {
            return false;
        }
    }
    return true;
}

/* Numbers come from the graph's inputs, from cells, or are known. */
static bool
has_numbers(const DtNative *exe, const DtFused *fused)
{
    uint32_t input;
    for (uint32_t i = 0; i < fused->nvarying; i++) {
        const DtFusedScalar *scalar = &fused->scalars[i];
        if (scalar->kind != DT_SCALAR_SYM && scalar->box.node == NULL
            && !is_input(exe->base.graph, scalar->value.node, &input)) {
            return false;
        }
    }
    return true;
}

static bool
plan_results(const DtNative *exe, DtLeg *leg)
{
    const DtFused *fused = leg->fused;
    for (uint32_t i = 0; i < fused->noutputs; i++) {
        const DtFusedOutput *output = &fused->outputs[i];
        leg->results[leg->nresults++] = (DtLineResult){
            .node = output->node,
            .descr = output->descr,
            .size = output->size,
            .slot = output->slot,
            .cell = DT_NO_CELL,
            .is_output = is_output(exe->base.graph, output->node),
            .output = (int32_t)i,
        };
    }
    for (uint32_t i = 0; i < fused->nrows; i++) {
        const DtFusedRow *row = &fused->rows[i];
        bool number = row->node->results[0].ndim == 0;
        if (number && row->cell == DT_NO_CELL) {
            return false;
        }
        leg->results[leg->nresults++] = (DtLineResult){
            .node = row->node,
            .descr = row->descr,
            .size = row->size,
            .slot = row->equal >= 0 ? fused->rows[row->equal].slot : row->slot,
            .cell = number ? row->cell : DT_NO_CELL,
            .is_output = is_output(exe->base.graph, row->node),
            .output = ~(int32_t)i,
        };
    }
    return true;
}

static DtStatus
plan_cells(DtNative *exe, DtLeg *leg)
{
    leg->left = *leg->cells;
    leg->left.ops = DT_ARENA_ARRAY(&exe->arena, DtCellOp, leg->cells->nops + 1);
    return leg->left.ops != NULL ? DT_OK : dt_no_memory();
}

static DtStatus
plan_leg(DtNative *exe, DtLine *line, const DtStage *stage, bool *ok)
{
    DtLeg *leg = &line->legs[line->nlegs];
    const DtFused *fused = stage->fused;
    leg->fused = fused;
    leg->cells = stage->cells;
    if (fused == NULL) {
        *ok = stage->cells != NULL;
        line->asks_values = true;
        line->nlegs++;
        return *ok ? plan_cells(exe, leg) : DT_OK;
    }
    *ok = !fused->writes && !fused->raises && !fused->tells_nans && fused->ninputs > 0
          && has_numbers(exe, fused);
    if (!*ok) {
        return DT_OK;
    }
    uint32_t most = fused->noutputs + fused->nrows + 1;
    leg->sources = DT_ARENA_ARRAY(&exe->arena, DtLineSource, fused->ninputs);
    leg->moves = DT_ARENA_ARRAY(&exe->arena, DtLineMove, fused->ninputs);
    leg->slots = DT_ARENA_ARRAY(&exe->arena, char *, fused->nslots);
    leg->varying = DT_ARENA_ARRAY(&exe->arena, uint16_t, fused->nvarying + 1);
    leg->numbers = DT_ARENA_ARRAY(&exe->arena, DtLineNumber, fused->nvarying + 1);
    leg->results = DT_ARENA_ARRAY(&exe->arena, DtLineResult, most);
    leg->wanted = DT_ARENA_ARRAY(&exe->arena, DtLineResult *, most);
    if (leg->sources == NULL || leg->moves == NULL || leg->slots == NULL || leg->varying == NULL
        || leg->numbers == NULL || leg->results == NULL || leg->wanted == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < fused->nvarying; i++) {
        line->asks_values = line->asks_values || fused->scalars[i].kind != DT_SCALAR_SYM;
    }
    *ok = plan_sources(exe, line, leg) && plan_results(exe, leg);
    line->nlegs++;
    return DT_OK;
}

/* Which results become arrays, and where the last reference to one is given away. */
static DtStatus
plan_outputs(DtNative *exe, DtLine *line)
{
    const DtGraph *graph = exe->base.graph;
    line->made = DT_ARENA_ARRAY(&exe->arena, DtLineResult *, graph->noutputs + 1);
    line->taken = DT_ARENA_ARRAY(&exe->arena, bool, graph->noutputs + 1);
    if (line->made == NULL || line->taken == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = graph->noutputs; i-- > 0;) {
        DtLineResult *result = graph->outputs[i].kind == DT_OPERAND_NODE
                                   ? find_result(line, graph->outputs[i].u.node)
                                   : NULL;
        bool taken = result != NULL && result->cell == DT_NO_CELL;
        for (uint32_t j = 0; taken && j < line->nmade; j++) {
            taken = line->made[j] != result;
        }
        line->taken[i] = taken;
        if (taken) {
            result->given = i;
            line->made[line->nmade++] = result;
        }
        line->gives_others = line->gives_others || !taken;
    }
    return DT_OK;
}

/* Symbols that are all sizes of operands need not be read at each run. */
static DtStatus
plan_symbols(DtNative *exe, DtLine *line)
{
    const DtGraph *graph = exe->base.graph;
    bool keeps = true;
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        bool found = symbol->input == DT_NO_INPUT;
        for (uint32_t j = 0; !found && symbol->dim >= 0 && j < line->noperands; j++) {
            found = line->operands[j].input == symbol->input;
        }
        keeps = keeps && found;
    }
    line->keeps_symbols = keeps;
    line->symbols = DT_ARENA_ARRAY(&exe->arena, DtNumber, graph->symbol_limit + 1);
    line->cells = DT_ARENA_ARRAY(&exe->arena, DtCell, exe->stages.ncells + 1);
    return line->symbols != NULL && line->cells != NULL ? DT_OK : dt_no_memory();
}

DtStatus
dt_line_plan(DtNative *exe)
{
    const DtGraph *graph = exe->base.graph;
    const DtStages *stages = &exe->stages;
    bool short_one = exe->lone != NULL && exe->lone->nquads < DT_STRAIGHT_PAYS;
    bool ok = (!short_one || exe->lone->nquads > 0) && exe->nwritten == 0 && stages->count > 0
              && graph->nodes.count <= DT_NATIVE_STACK_VALUES
              && graph->symbol_limit <= DT_NATIVE_STACK_SYMBOLS
              && stages->ncells <= DT_NATIVE_STACK_CELLS;
    for (uint32_t i = 0; ok && i < stages->count; i++) {
        ok = stages->items[i].fused != NULL || stages->items[i].cells != NULL;
    }
    if (!ok) {
        return DT_OK;
    }
    DtLine *line = DT_ARENA_NEW(&exe->arena, DtLine);
    if (line == NULL) {
        return dt_no_memory();
    }
    line->most = short_one ? MOST_OF_SHORT : DT_STRAIGHT_MOST;
    line->legs = DT_ARENA_ARRAY(&exe->arena, DtLeg, stages->count);
    line->operands = DT_ARENA_ARRAY(&exe->arena, DtLineOperand, graph->inputs.count + 1);
    if (line->legs == NULL || line->operands == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; ok && i < stages->count; i++) {
        DT_TRY(plan_leg(exe, line, &stages->items[i], &ok));
    }
    if (ok && line->noperands > 0) {
        DT_TRY(plan_outputs(exe, line));
        DT_TRY(plan_symbols(exe, line));
        line->asks_values = line->asks_values || line->gives_others;
        exe->line = line;
    }
    return DT_OK;
}
