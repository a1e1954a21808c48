/* The end of a graph's construction.
 *
 *   nodes in order of creation, inputs between calls, dead ones among them
 *        │ output node; liveness backwards from it and from nodes with an effect
 *        │ expressions rewritten to what stands for equal symbols
 *        │ each needed symbol gets one provider: a size of a live input first
 *        ▼
 *   input ... input   call ... call   output      all used, indices anew, linted
 *
 * Calls keep their order among each other, so effects keep theirs.
 */
#include <string.h>

#include "graph/internal.h"

typedef struct Finish {
    DtTrace *trace;
    DtGraph *graph;
    bool merged;      /* some symbols were found equal */
    bool *bound;      /* by symbol id: may be a part of what stands for another; or NULL */
    bool whole;       /* so far */
    bool *live;       /* by node index */
    bool *live_input; /* by input */
    bool *needed;     /* by symbol id */
    uint32_t limit;
} Finish;

static DtStatus
mark_operand(DtOperand *operand, void *arg)
{
    Finish *finish = arg;
    if (operand->kind == DT_OPERAND_NODE) {
        finish->live[operand->u.node->index] = true;
    }
    return DT_OK;
}

static DtStatus
find_node(DtOperand *operand, void *found)
{
    *(bool *)found = *(bool *)found || operand->kind == DT_OPERAND_NODE;
    return DT_OK;
}

/* Has an array that the operand is, or holds, a size that only the run knows? */
typedef struct OpenSizes {
    const Finish *finish;
    bool found;
} OpenSizes;

static DtStatus
find_open_symbol(const DtSym *symbol, void *arg)
{
    OpenSizes *open = arg;
    open->found = open->found || symbol->id >= open->finish->limit
                  || dt_trace_depends_on_data(open->finish->trace, symbol);
    return DT_OK;
}

static DtStatus
find_open_size(DtOperand *operand, void *arg)
{
    if (operand->kind != DT_OPERAND_NODE) {
        return DT_OK;
    }
    const DtMeta *meta = &operand->u.node->results[operand->result];
    for (uint32_t i = 0; i < meta->ndim; i++) {
        DT_TRY(dt_symbols_walk(meta->shape[i], find_open_symbol, arg));
    }
    return DT_OK;
}

/* A view of known arguments and sizes: an index that only the run knows may be out of bounds, and
 * so may a known one of an array that may be shorter, or have a size that the new shape does not
 * divide. */
static DtStatus
is_sure_view(const Finish *finish, const DtNode *node, bool *sure)
{
    *sure = node->naliases > 0;
    for (uint32_t i = 0; i < node->nargs && *sure; i++) {
        bool viewed = false, found = false;
        OpenSizes open = {finish, false};
        for (uint32_t j = 0; j < node->naliases; j++) {
            viewed = viewed || node->aliases[j].arg == i;
        }
        DT_TRY(dt_operand_walk(&node->args[i], find_node, &found));
        DT_TRY(dt_operand_walk(&node->args[i], find_open_size, &open));
        *sure = (viewed || !found) && !open.found;
    }
    return DT_OK;
}

/* Nobody can tell whether a view was made.  Any other operation may warn (a division by zero), so
 * it is computed although its result is not used, as plain execution does. */
static DtStatus
must_stay(const Finish *finish, const DtNode *node, bool *stays)
{
    bool sure;
    DT_TRY(is_sure_view(finish, node, &sure));
    *stays = node->kind == DT_NODE_OUTPUT
             || (node->kind == DT_NODE_CALL && (node->effect != DT_EFFECT_PURE || !sure));
    return DT_OK;
}

static DtStatus
mark_live(Finish *finish)
{
    DtGraph *graph = finish->graph;
    for (uint32_t i = graph->nodes.count; i-- > 0;) {
        DtNode *node = graph->nodes.items[i];
        bool stays;
        DT_TRY(must_stay(finish, node, &stays));
        finish->live[i] = finish->live[i] || stays;
        for (uint32_t j = 0; finish->live[i] && j < node->nargs; j++) {
            DT_TRY(dt_operand_walk(&node->args[j], mark_operand, finish));
        }
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        DtNode *node = graph->inputs.items[i].node;
        finish->live_input[i] = node != NULL && finish->live[node->index];
    }
    return DT_OK;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

static DtStatus
need_symbol(const DtSym *symbol, void *arg)
{
    Finish *finish = arg;
    if (symbol->id >= finish->limit) {
        PyErr_Format(PyExc_SystemError, "symbol %u is unknown to its trace", symbol->id);
        return DT_ERROR;
    }
    finish->needed[symbol->id] = true;
    return DT_OK;
}

static DtStatus
settle_sym(Finish *finish, const DtSym **sym)
{
    if (finish->merged) {
        DT_TRY(dt_trace_canonical(finish->trace, &finish->graph->arena, *sym, finish->bound, sym,
                                  &finish->whole));
    }
    return dt_symbols_walk(*sym, need_symbol, finish);
}

static DtStatus
settle_operand(DtOperand *operand, void *arg)
{
    Finish *finish = arg;
    if (operand->kind != DT_OPERAND_SYM) {
        return DT_OK;
    }
    DT_TRY(settle_sym(finish, &operand->u.sym));
    if (!dt_sym_is_const(operand->u.sym)) {
        return DT_OK;
    }
    const DtSym *sym = operand->u.sym; /* equal symbols made it a constant: s0 - s1 */
    PyObject *value = dt_symbols_number((DtSymType)sym->type, sym->hint);
    if (value == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_graph_keep(finish->graph, value);
    Py_DECREF(value);
    operand->kind = DT_OPERAND_CONST;
    operand->u.object = value;
    return status;
}

static DtStatus
settle_node(Finish *finish, DtNode *node)
{
    for (uint32_t i = 0; i < node->nargs; i++) {
        DT_TRY(dt_operand_walk(&node->args[i], settle_operand, finish));
    }
    for (uint32_t i = 0; i < node->nresults; i++) {
        for (int dim = 0; dim < node->results[i].ndim; dim++) {
            DT_TRY(settle_sym(finish, &node->results[i].shape[dim]));
        }
    }
    return DT_OK;
}

/* Can all that the graph computes sizes with be rewritten?  Larger expressions may be too large. */
static DtStatus
try_symbol(DtOperand *operand, void *arg)
{
    Finish *finish = arg;
    const DtSym *made;
    return operand->kind != DT_OPERAND_SYM
               ? DT_OK
               : dt_trace_canonical(finish->trace, &finish->graph->arena, operand->u.sym,
                                    finish->bound, &made, &finish->whole);
}

static DtStatus
try_symbols(Finish *finish)
{
    DtGraph *graph = finish->graph;
    finish->bound = DT_ARENA_ARRAY(&graph->arena, bool, finish->limit + 1);
    if (finish->bound == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        finish->bound[dt_trace_symbol_root(finish->trace, symbol->id)] = true;
    }
    finish->whole = true;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        DtNode *node = graph->nodes.items[i];
        for (uint32_t j = 0; j < node->nargs; j++) {
            DT_TRY(dt_operand_walk(&node->args[j], try_symbol, finish));
        }
        for (uint32_t j = 0; j < node->nresults; j++) {
            for (int dim = 0; dim < node->results[j].ndim; dim++) {
                DtOperand size = {.kind = DT_OPERAND_SYM, .u.sym = node->results[j].shape[dim]};
                DT_TRY(try_symbol(&size, finish));
            }
        }
    }
    if (!finish->whole) {
        finish->bound = NULL;
    }
    return DT_OK;
}

static DtStatus
settle_symbols(Finish *finish)
{
    const DtTrace *trace = finish->trace;
    finish->merged = trace->some_symbols_equal;
    if (finish->merged) {
        DT_TRY(try_symbols(finish));
    }
    for (uint32_t i = 0; i < finish->graph->nodes.count; i++) {
        if (finish->live[i]) {
            DT_TRY(settle_node(finish, finish->graph->nodes.items[i]));
        }
    }
    return DT_OK;
}

/* Where a symbol can be read. */
typedef struct Provider {
    bool known;
    uint32_t input;
    int dim; /* -1: the input itself */
} Provider;

static void
offer(const Finish *finish, Provider *providers, uint32_t id, uint32_t input, int dim)
{
    if (id >= finish->limit) {
        return; /* need_symbol() complains if anybody uses it */
    }
    Provider *raw = &providers[id];
    Provider *root = &providers[dt_trace_symbol_root(finish->trace, id)];
    Provider offered = {true, input, dim};
    *raw = raw->known ? *raw : offered;
    *root = root->known ? *root : offered;
}

static void
offer_sizes(const Finish *finish, Provider *providers, uint32_t input)
{
    const DtMeta *meta = &finish->graph->inputs.items[input].node->results[0];
    for (int dim = 0; dim < meta->ndim; dim++) {
        if (meta->shape[dim]->op == DT_SYM_OP_SYMBOL) {
            offer(finish, providers, meta->shape[dim]->id, input, dim);
        }
    }
}

/* The cheapest providers first: an input that is there anyway, then a number, then an array kept
 * for its size. */
static void
find_providers(const Finish *finish, Provider *providers)
{
    const DtGraph *graph = finish->graph;
    memset(providers, 0, sizeof *providers * finish->limit);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        if (finish->live_input[i] && graph->inputs.items[i].node != NULL) {
            offer_sizes(finish, providers, i);
        }
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        if (graph->inputs.items[i].node == NULL) {
            offer(finish, providers, graph->inputs.items[i].symbol, i, -1);
        }
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        if (!finish->live_input[i] && graph->inputs.items[i].node != NULL) {
            offer_sizes(finish, providers, i);
        }
    }
}

static void
start_again(Finish *finish)
{
    DtGraph *graph = finish->graph;
    graph->symbols.count = 0;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        finish->live_input[i] = finish->live_input[i] && graph->inputs.items[i].node != NULL;
    }
}

static DtStatus
provide_symbols(Finish *finish)
{
    DtGraph *graph = finish->graph;
    Provider *providers = DT_ARENA_ARRAY(&graph->arena, Provider, finish->limit);
    if (providers == NULL) {
        return dt_no_memory();
    }
    find_providers(finish, providers);
    graph->symbols.count = 0;
    for (uint32_t id = 0; id < finish->limit; id++) {
        if (!finish->needed[id]) {
            continue;
        }
        const DtSymbol *known = &finish->trace->symbols.items[id];
        if (known->source == NULL) {
            DtGraphSymbol unknown = {id, DT_NO_INPUT, -1, (uint8_t)known->type, known->hint};
            if (dt_vec_push(&graph->arena, &graph->symbols, unknown) < 0) {
                return dt_no_memory();
            }
            continue;
        }
        uint32_t i = providers[id].input;
        int dim = providers[id].dim;
        if (!providers[id].known) {
            PyErr_Format(PyExc_SystemError, "graph %s: nothing gives symbol %u a value",
                         graph->name, id);
            return DT_ERROR;
        }
        DtGraphInput *input = &graph->inputs.items[i];
        if (!finish->live_input[i] && input->node != NULL) {
            finish->live[input->node->index] = true;
            DT_TRY(settle_node(finish, input->node));
            finish->live_input[i] = true;
            start_again(finish); /* its other sizes may be symbols passed by already */
            find_providers(finish, providers);
            id = UINT32_MAX;
            continue;
        }
        finish->live_input[i] = true;
        if (input->node == NULL) {
            input->symbol = id;
        }
        DtGraphSymbol symbol = {id, i, dim, (uint8_t)known->type, known->hint};
        if (dt_vec_push(&graph->arena, &graph->symbols, symbol) < 0) {
            return dt_no_memory();
        }
    }
    graph->symbol_limit = finish->limit;
    return DT_OK;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static DtStatus
compact(Finish *finish)
{
    DtGraph *graph = finish->graph;
    uint32_t *moved = DT_ARENA_ARRAY(&graph->arena, uint32_t, graph->inputs.count);
    DtNode **nodes = DT_ARENA_ARRAY(&graph->arena, DtNode *, graph->nodes.count);
    if (moved == NULL || nodes == NULL) {
        return dt_no_memory();
    }
    uint32_t kept = 0, count = 0;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        if (!finish->live_input[i]) {
            continue;
        }
        moved[i] = kept;
        if (graph->inputs.items[i].node != NULL) {
            nodes[count++] = graph->inputs.items[i].node;
        }
        if (graph->captures.count > 0) {
            graph->captures.items[kept] = graph->captures.items[i];
        }
        graph->inputs.items[kept++] = graph->inputs.items[i];
    }
    graph->inputs.count = kept;
    graph->captures.count = graph->captures.count > 0 ? kept : 0;
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        uint32_t *input = &graph->symbols.items[i].input;
        *input = *input == DT_NO_INPUT ? DT_NO_INPUT : moved[*input];
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        DtNode *node = graph->nodes.items[i];
        if (finish->live[i] && node->kind != DT_NODE_INPUT) {
            nodes[count++] = node;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        nodes[i]->index = i;
    }
    graph->nodes.items = nodes;
    graph->nodes.capacity = graph->nodes.count;
    graph->nodes.count = count;
    return DT_OK;
}

static DtStatus
add_output(DtTrace *trace, DtGraph *graph, const DtOperand *outputs, uint32_t count)
{
    DtOperand *args = DT_ARENA_ARRAY(&graph->arena, DtOperand, count);
    if (args == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_operand_copy(trace, graph, &outputs[i], &args[i]));
    }
    DtNode *node;
    DT_TRY(dt_graph_add_node(graph, DT_NODE_OUTPUT, "output", &node));
    node->args = graph->outputs = args;
    node->nargs = graph->noutputs = count;
    return DT_OK;
}

DtStatus
dt_graph_finish(DtTrace *trace, DtGraph *graph, const DtOperand *outputs, uint32_t count)
{
    DT_TRY(add_output(trace, graph, outputs, count));
    Finish finish = {.trace = trace, .graph = graph, .limit = trace->symbols.count};
    finish.live = DT_ARENA_ARRAY(&graph->arena, bool, graph->nodes.count);
    finish.live_input = DT_ARENA_ARRAY(&graph->arena, bool, graph->inputs.count);
    finish.needed = DT_ARENA_ARRAY(&graph->arena, bool, finish.limit);
    if (finish.live == NULL || finish.live_input == NULL || finish.needed == NULL) {
        return dt_no_memory();
    }
    DT_TRY(mark_live(&finish));
    DT_TRY(settle_symbols(&finish));
    DT_TRY(provide_symbols(&finish));
    DT_TRY(compact(&finish));
    graph->finished = true;
    return dt_graph_lint(graph);
}
