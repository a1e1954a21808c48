/* Symbols of a graph: which input gives each its value.
 *
 * A symbol that is the size of an array input is read from that input; any
 * other is a number input of its own.  In a nested tracer the parent binds
 * first, and the body gets the number as a captured value: each symbol is bound
 * once per tracer.  Symbols that the trace found equal share one binding, that
 * of their root; finish.c rewrites expressions to roots.
 */
#include "graph/internal.h"

DtStatus
dt_symbols_walk(const DtSym *sym, DtSymVisit visit, void *arg)
{
    if (sym->op == DT_SYM_OP_SYMBOL) {
        return visit(sym, arg);
    }
    if (sym->a != NULL) {
        DT_TRY(dt_symbols_walk(sym->a, visit, arg));
    }
    if (sym->b != NULL) {
        DT_TRY(dt_symbols_walk(sym->b, visit, arg));
    }
    return DT_OK;
}

PyObject *
dt_symbols_number(DtSymType type, DtNumber number)
{
    switch (type) {
    case DT_SYM_FLOAT:
        return PyFloat_FromDouble(number.d);
    case DT_SYM_BOOL:
        return PyBool_FromLong(number.i != 0);
    default:
        return PyLong_FromLongLong(number.i);
    }
}

/* ---- Binding --------------------------------------------------------------------------------- */

typedef struct Binding {
    DtTrace *trace;
    DtGraph *graph;
} Binding;

bool
dt_graph_has_symbol(const DtGraph *graph, uint32_t id)
{
    return id < graph->bound.count && graph->bound.items[id];
}

/* The symbol, or one that was found equal. */
static bool
is_bound(const DtTrace *trace, const DtGraph *graph, uint32_t id)
{
    if (dt_graph_has_symbol(graph, id)) {
        return true;
    }
    uint32_t root = dt_trace_symbol_root(trace, id);
    for (uint32_t i = 0; trace->some_symbols_equal && i < graph->symbols.count; i++) {
        if (dt_trace_symbol_root(trace, graph->symbols.items[i].id) == root) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_graph_add_symbol(DtGraph *graph, DtGraphSymbol row)
{
    while (graph->bound.count <= row.id) {
        if (dt_vec_push(&graph->arena, &graph->bound, false) < 0) {
            return dt_no_memory();
        }
    }
    graph->bound.items[row.id] = true;
    return dt_vec_push(&graph->arena, &graph->symbols, row) < 0 ? dt_no_memory() : DT_OK;
}

/* A number input for the symbol; `source` is NULL in a body, where it is captured. */
static DtStatus
add_number(DtGraph *graph, const DtSym *symbol, const DtSource *source, const char *text)
{
    uint32_t position = graph->inputs.count;
    DtGraphInput input = {NULL, symbol->id, source, text};
    DtGraphSymbol bound = {symbol->id, position, -1, symbol->type, symbol->hint};
    return dt_vec_push(&graph->arena, &graph->inputs, input) < 0
               ? dt_no_memory()
               : dt_graph_add_symbol(graph, bound);
}

static DtStatus
capture_number(DtGraph *graph, const DtSym *symbol)
{
    const DtSym *copy = dt_sym_copy(&graph->parent->arena, symbol);
    const char *text = dt_arena_printf(&graph->arena, "%c%u",
                                       symbol->type == DT_SYM_FLOAT ? 'f' : 's', symbol->id);
    DtOperand capture = {.kind = DT_OPERAND_SYM, .u.sym = copy};
    if (copy == NULL || text == NULL || dt_vec_push(&graph->arena, &graph->captures, capture) < 0) {
        return dt_no_memory();
    }
    return add_number(graph, symbol, NULL, text);
}

static DtStatus
bind_symbol(const DtSym *symbol, void *arg)
{
    Binding *binding = arg;
    DtTrace *trace = binding->trace;
    DtGraph *graph = binding->graph;
    if (is_bound(trace, graph, symbol->id)) {
        return DT_OK;
    }
    if (graph->parent != NULL && dt_trace_depends_on_data(trace, symbol)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "a selection in the body of an operator");
    }
    if (graph->parent != NULL) {
        DT_TRY(dt_graph_bind_sym(trace, graph->parent, symbol));
        return capture_number(graph, symbol);
    }
    if (symbol->id >= trace->symbols.count) {
        PyErr_Format(PyExc_SystemError, "symbol %u is unknown to its trace", symbol->id);
        return DT_ERROR;
    }
    const DtSource *source = trace->symbols.items[symbol->id].source;
    if (source == NULL) {
        DtGraphSymbol unknown = {symbol->id, DT_NO_INPUT, -1, symbol->type, symbol->hint};
        return dt_graph_add_symbol(graph, unknown);
    }
    const char *text = dt_graph_source_text(graph, source);
    if (text == NULL) {
        return DT_ERROR;
    }
    return add_number(graph, symbol, source, text);
}

DtStatus
dt_graph_bind_sym(DtTrace *trace, DtGraph *graph, const DtSym *sym)
{
    Binding binding = {trace, graph};
    return dt_symbols_walk(sym, bind_symbol, &binding);
}

bool
dt_graph_is_open_size(const DtGraph *graph, const DtSym *sym)
{
    if (sym == NULL || dt_sym_is_const(sym)) {
        return false;
    }
    if (sym->op != DT_SYM_OP_SYMBOL) {
        return dt_graph_is_open_size(graph, sym->a) || dt_graph_is_open_size(graph, sym->b);
    }
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        if (graph->symbols.items[i].id == sym->id) {
            return graph->symbols.items[i].input == DT_NO_INPUT;
        }
    }
    return true;
}

/* Do the numbers in what the graph gives fit 64 bits? */
static bool
has_value(const DtOperand *operand, const DtNumber *values)
{
    DtNumber number;
    if (operand->kind == DT_OPERAND_SYM) {
        return dt_sym_eval(operand->u.sym, values, &number);
    }
    for (uint32_t i = 0; operand->kind >= DT_OPERAND_TUPLE && i < operand->count; i++) {
        if (!has_value(&operand->items[i], values)) {
            return false;
        }
    }
    return true;
}

bool
dt_graph_read_symbols(const DtGraph *graph, PyObject *const *inputs, DtNumber *values)
{
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        DtNumber *value = &values[symbol->id];
        if (symbol->input == DT_NO_INPUT) {
            *value = symbol->hint; /* nobody computes with it */
            continue;
        }
        PyObject *object = inputs[symbol->input];
        if (symbol->dim >= 0) {
            const DtAdapter *adapter = graph->inputs.items[symbol->input].node->results[0].adapter;
            value->i = adapter->dim(adapter, object, symbol->dim);
        }
        else if (symbol->type == DT_SYM_FLOAT) {
            if (!PyFloat_Check(object)) {
                return false;
            }
            value->d = PyFloat_AS_DOUBLE(object);
        }
        else {
            if (!PyLong_Check(object)) {
                return false;
            }
            int overflow;
            value->i = PyLong_AsLongLongAndOverflow(object, &overflow);
            if (overflow) {
                return false;
            }
        }
    }
    /* What an effect has come before can't be left to plain execution any more. */
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        if (!has_value(&graph->outputs[i], values)) {
            return false;
        }
    }
    return true;
}
