/* What must be true of every finished graph, checked.
 *
 * Runs at the end of each trace and after reading bytes, so that everything
 * that consumes graphs may rely on it: order of nodes, operands that exist
 * already, bound symbols, unique names, effects that match their lists.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/internal.h"

#define MAX_DEPTH 100 /* of operands in operands */

typedef struct Lint {
    const DtGraph *graph;
    const DtNode *node; /* being looked at, or NULL */
    bool *bound;        /* by symbol id */
    bool *read;         /* by input: some symbol is read from it */
} Lint;

static DtStatus DT_PRINTF(2, 3) complain(const Lint *lint, const char *format, ...)
{
    DtStrbuf buf = {0};
    dt_strbuf_addf(&buf, "graph %s: ", lint->graph->name ? lint->graph->name : "?");
    if (lint->node != NULL) {
        dt_strbuf_addf(&buf, "node %u (%s): ", lint->node->index,
                       lint->node->name ? lint->node->name : "?");
    }
    va_list args;
    va_start(args, format);
    dt_strbuf_vaddf(&buf, format, args);
    va_end(args);
    PyErr_SetString(PyExc_ValueError, dt_strbuf_text(&buf));
    dt_strbuf_release(&buf);
    return DT_ERROR;
}

#define REQUIRE(lint, condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return complain((lint), __VA_ARGS__);                                                  \
        }                                                                                          \
    } while (0)

/* ---- Symbols --------------------------------------------------------------------------------- */

static DtStatus
check_sym(const Lint *lint, const DtSym *sym)
{
    REQUIRE(lint, sym != NULL, "an expression is missing");
    REQUIRE(lint, sym->op < DT_SYM_OP_COUNT && sym->type <= DT_SYM_BOOL, "a broken expression");
    if (sym->op == DT_SYM_OP_CONST) {
        return DT_OK;
    }
    if (sym->op != DT_SYM_OP_SYMBOL) {
        DT_TRY(check_sym(lint, sym->a));
        return sym->b != NULL ? check_sym(lint, sym->b) : DT_OK;
    }
    REQUIRE(lint, sym->id < lint->graph->symbol_limit, "symbol %u is past the limit", sym->id);
    REQUIRE(lint, lint->bound[sym->id], "symbol %u is not bound to an input", sym->id);
    return DT_OK;
}

static DtStatus
check_symbols(Lint *lint)
{
    const DtGraph *graph = lint->graph;
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        REQUIRE(lint, symbol->id < graph->symbol_limit, "symbol %u is past the limit", symbol->id);
        REQUIRE(lint, symbol->input < graph->inputs.count || symbol->input == DT_NO_INPUT,
                "symbol %u is read from input %u of %u", symbol->id, symbol->input,
                graph->inputs.count);
        REQUIRE(lint, i == 0 || graph->symbols.items[i - 1].id < symbol->id,
                "symbol %u is bound twice or out of order", symbol->id);
        if (symbol->input == DT_NO_INPUT) {
            continue;
        }
        const DtGraphInput *input = &graph->inputs.items[symbol->input];
        if (symbol->dim < 0) {
            REQUIRE(lint, input->node == NULL && input->symbol == symbol->id,
                    "symbol %u is no number input", symbol->id);
            continue;
        }
        REQUIRE(lint,
                input->node != NULL && symbol->dim < input->node->results[0].ndim
                    && symbol->type == DT_SYM_INT,
                "symbol %u is no size of its input", symbol->id);
        const DtSym *size = input->node->results[0].shape[symbol->dim];
        REQUIRE(lint, size->op == DT_SYM_OP_SYMBOL && size->id == symbol->id,
                "symbol %u is another size than dimension %d", symbol->id, symbol->dim);
    }
    return DT_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static DtStatus
check_operand(const Lint *lint, const DtOperand *operand, int depth)
{
    const DtGraph *graph = lint->graph;
    REQUIRE(lint, depth < MAX_DEPTH, "operands are nested too deeply");
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE: {
        const DtNode *node = operand->u.node;
        REQUIRE(lint,
                node != NULL && node->graph == graph && node->index < graph->nodes.count
                    && graph->nodes.items[node->index] == node,
                "uses a node of another graph");
        REQUIRE(lint, node->index < lint->node->index, "uses %s before it is computed", node->name);
        REQUIRE(lint, operand->result < node->nresults, "uses result %u of %s, which has %u",
                operand->result, node->name, node->nresults);
        return DT_OK;
    }
    case DT_OPERAND_CONST:
        REQUIRE(lint, operand->u.object != NULL, "a constant is missing");
        return DT_OK;
    case DT_OPERAND_SYM:
        return check_sym(lint, operand->u.sym);
    case DT_OPERAND_DICT:
        REQUIRE(lint, operand->count % 2 == 0, "a key has no value");
        break;
    case DT_OPERAND_SLICE:
        REQUIRE(lint, operand->count == 3, "a slice has %u parts", operand->count);
        break;
    case DT_OPERAND_GRAPH:
        REQUIRE(lint, operand->u.graph != NULL && operand->u.graph->finished,
                "a nested graph is not finished");
        REQUIRE(lint, operand->count == operand->u.graph->inputs.count,
                "captures %u values for %u inputs of %s", operand->count,
                operand->u.graph->inputs.count, operand->u.graph->name);
        DT_TRY(dt_graph_lint(operand->u.graph));
        break;
    case DT_OPERAND_TUPLE:
    case DT_OPERAND_LIST:
        break;
    default:
        return complain(lint, "an operand of unknown kind %u", operand->kind);
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        DT_TRY(check_operand(lint, &operand->items[i], depth + 1));
    }
    return DT_OK;
}

static DtStatus
check_meta(const Lint *lint, const DtMeta *meta)
{
    REQUIRE(lint, meta->type != NULL, "a result has no type");
    REQUIRE(lint, meta->ndim == 0 || meta->shape != NULL, "a result has no shape");
    for (int dim = 0; dim < meta->ndim; dim++) {
        const DtSym *size = meta->shape[dim];
        DT_TRY(check_sym(lint, size));
        REQUIRE(lint, size->type == DT_SYM_INT, "dimension %d is no int", dim);
        REQUIRE(lint, size->op != DT_SYM_OP_CONST || size->hint.i >= 0, "dimension %d is negative",
                dim);
    }
    return DT_OK;
}

static DtStatus
check_call(const Lint *lint)
{
    const DtNode *node = lint->node;
    REQUIRE(lint, node->target != NULL && node->callee != NULL, "a call has no target");
    REQUIRE(lint, node->effect <= DT_EFFECT_MUTATES, "unknown effect %u", node->effect);
    REQUIRE(lint, (node->effect == DT_EFFECT_MUTATES) == (node->nmutated > 0),
            "effect and mutated operands disagree");
    for (uint32_t i = 0; i < node->nmutated; i++) {
        REQUIRE(lint,
                node->mutated[i] < node->nargs
                    && node->args[node->mutated[i]].kind == DT_OPERAND_NODE,
                "mutated operand %u is no graph value", node->mutated[i]);
    }
    for (uint32_t i = 0; i < node->naliases; i++) {
        REQUIRE(lint,
                node->aliases[i].result < node->nresults && node->aliases[i].arg < node->nargs
                    && node->args[node->aliases[i].arg].kind == DT_OPERAND_NODE,
                "alias %u leads nowhere", i);
    }
    if (node->kwnames != NULL) {
        REQUIRE(lint,
                PyTuple_CheckExact(node->kwnames)
                    && PyTuple_GET_SIZE(node->kwnames) <= (Py_ssize_t)node->nargs,
                "more keyword names than operands");
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->kwnames); i++) {
            REQUIRE(lint, PyUnicode_CheckExact(PyTuple_GET_ITEM(node->kwnames, i)),
                    "a keyword name is no str");
        }
    }
    return DT_OK;
}

static DtStatus
check_node(Lint *lint, const DtNode *node, uint32_t position)
{
    const DtGraph *graph = lint->graph;
    REQUIRE(lint, node->graph == graph && node->index == position, "stands at the wrong place");
    REQUIRE(lint, node->name != NULL && node->name[0] != '\0', "has no name");
    REQUIRE(lint, position == 0 || graph->nodes.items[position - 1]->kind <= node->kind,
            "inputs, calls and the output are out of order");
    REQUIRE(lint, (node->kind == DT_NODE_OUTPUT) == (position == graph->nodes.count - 1),
            "the output is not the last node, or missing");
    switch ((DtNodeKind)node->kind) {
    case DT_NODE_INPUT:
        REQUIRE(lint, node->nresults == 1 && node->nargs == 0,
                "an input has one result, no operands");
        REQUIRE(lint, node->source_text != NULL, "an input has no source");
        break;
    case DT_NODE_CALL:
        DT_TRY(check_call(lint));
        break;
    case DT_NODE_OUTPUT:
        REQUIRE(lint,
                node->nresults == 0 && node->args == graph->outputs
                    && node->nargs == graph->noutputs,
                "the output is not the graph's");
        for (uint32_t i = 0; i < node->nargs; i++) {
            REQUIRE(lint, node->args[i].kind <= DT_OPERAND_SYM, "output %u is a container", i);
        }
        break;
    default:
        return complain(lint, "unknown kind %u", node->kind);
    }
    for (uint32_t i = 0; i < node->nresults; i++) {
        DT_TRY(check_meta(lint, &node->results[i]));
    }
    for (uint32_t i = 0; i < node->nargs; i++) {
        DT_TRY(check_operand(lint, &node->args[i], 0));
    }
    return DT_OK;
}

static DtStatus
check_names(Lint *lint)
{
    DtArena arena;
    DtNames names = {0};
    dt_arena_init(&arena);
    DtStatus status = DT_OK;
    for (uint32_t i = 0; status == DT_OK && i < lint->graph->nodes.count; i++) {
        const DtNode *node = lint->graph->nodes.items[i];
        const char *name = dt_names_unique(&arena, &names, node->name);
        if (name == NULL) {
            status = dt_no_memory();
        }
        else if (strcmp(name, node->name) != 0) {
            lint->node = node;
            status = complain(lint, "its name is used twice");
        }
    }
    dt_arena_release(&arena);
    return status;
}

static DtStatus
check_inputs(Lint *lint)
{
    const DtGraph *graph = lint->graph;
    uint32_t next = 0;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtGraphInput *input = &graph->inputs.items[i];
        REQUIRE(lint, input->source_text != NULL, "input %u has no source", i);
        if (input->node == NULL) {
            REQUIRE(lint, lint->read[i], "input %u has no symbol", i);
            continue;
        }
        REQUIRE(lint,
                next < graph->nodes.count && graph->nodes.items[next] == input->node
                    && input->node->kind == DT_NODE_INPUT,
                "input %u and its node are out of order", i);
        next++;
    }
    REQUIRE(lint, next < graph->nodes.count && graph->nodes.items[next]->kind != DT_NODE_INPUT,
            "an input node is in no list, or the output is missing");
    return DT_OK;
}

static DtStatus
check_all(Lint *lint)
{
    const DtGraph *graph = lint->graph;
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        if (symbol->id < graph->symbol_limit && symbol->input < graph->inputs.count) {
            lint->bound[symbol->id] = lint->read[symbol->input] = true;
        }
        else if (symbol->id < graph->symbol_limit && symbol->input == DT_NO_INPUT) {
            lint->bound[symbol->id] = true;
        }
    }
    DT_TRY(check_inputs(lint));
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        lint->node = graph->nodes.items[i];
        REQUIRE(lint, lint->node != NULL, "a node is missing");
        DT_TRY(check_node(lint, lint->node, i));
    }
    lint->node = NULL;
    DT_TRY(check_symbols(lint));
    return check_names(lint);
}

DtStatus
dt_graph_lint(const DtGraph *graph)
{
    Lint lint = {.graph = graph};
    REQUIRE(&lint, graph->finished, "is not finished");
    lint.bound = calloc((size_t)graph->symbol_limit + 1, sizeof(bool));
    lint.read = calloc((size_t)graph->inputs.count + 1, sizeof(bool));
    DtStatus status = lint.bound != NULL && lint.read != NULL ? check_all(&lint) : dt_no_memory();
    free(lint.bound);
    free(lint.read);
    return status;
}
