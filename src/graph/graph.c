/* Graphs and their nodes: memory, inputs, calls, nested tracers.
 *
 * A graph owns one arena and one list of Python references.  Nodes are added
 * at the end while a trace runs; finish.c brings them into their final order.
 * Not in here: operands (operand.c), symbols (symbols.c).
 */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "graph/internal.h"

DtGraph *
dt_graph_new(const char *name)
{
    DtGraph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    dt_arena_init(&graph->arena);
    graph->refs = 1;
    graph->name = dt_arena_strdup(&graph->arena, name);
    if (graph->name == NULL) {
        dt_graph_decref(graph);
        PyErr_NoMemory();
        return NULL;
    }
    return graph;
}

void
dt_graph_incref(DtGraph *graph)
{
    graph->refs++;
}

void
dt_graph_decref(DtGraph *graph)
{
    if (graph == NULL || --graph->refs > 0) {
        return;
    }
    for (uint32_t i = 0; i < graph->nested.count; i++) {
        dt_graph_decref(graph->nested.items[i]);
    }
    for (uint32_t i = 0; i < graph->kept.count; i++) {
        Py_DECREF(graph->kept.items[i]);
    }
    DtGraph *parent = graph->parent;
    dt_arena_release(&graph->arena);
    free(graph);
    dt_graph_decref(parent);
}

DtStatus
dt_graph_keep(DtGraph *graph, PyObject *object)
{
    if (object == NULL || dt_map_get(&graph->kept_set, object) != NULL) {
        return DT_OK;
    }
    if (dt_vec_push(&graph->arena, &graph->kept, object) < 0) {
        return dt_no_memory();
    }
    Py_INCREF(object);
    if (dt_map_set(&graph->arena, &graph->kept_set, object, graph) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

int
dt_graph_traverse(DtGraph *graph, visitproc visit, void *arg)
{
    if (graph == NULL || graph->refs != 1) {
        return 0;
    }
    for (uint32_t i = 0; i < graph->kept.count; i++) {
        Py_VISIT(graph->kept.items[i]);
    }
    for (uint32_t i = 0; i < graph->nested.count; i++) {
        int result = dt_graph_traverse(graph->nested.items[i], visit, arg);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

static DtStatus
copy_meta(DtGraph *graph, const DtMeta *meta, DtMeta *out)
{
    *out = *meta;
    out->extra = NULL; /* lives in the trace, whose end the graph outlives */
    DT_TRY(dt_graph_keep(graph, (PyObject *)meta->type));
    DT_TRY(dt_graph_keep(graph, meta->dtype));
    DT_TRY(dt_graph_keep(graph, meta->device));
    out->shape = DT_ARENA_ARRAY(&graph->arena, const DtSym *, meta->ndim);
    if (out->shape == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < meta->ndim; i++) {
        out->shape[i] = dt_sym_copy(&graph->arena, meta->shape[i]);
        if (out->shape[i] == NULL) {
            return dt_no_memory();
        }
    }
    if (meta->stride_order != NULL) {
        int8_t *order = dt_arena_alloc(&graph->arena, meta->ndim);
        if (order == NULL) {
            return dt_no_memory();
        }
        out->stride_order = memcpy(order, meta->stride_order, meta->ndim);
    }
    return DT_OK;
}

DtMeta *
dt_graph_meta(DtGraph *graph, const DtMeta *meta)
{
    DtMeta *copy = DT_ARENA_NEW(&graph->arena, DtMeta);
    if (copy == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    return copy_meta(graph, meta, copy) == DT_OK ? copy : NULL;
}

DtStatus
dt_graph_add_node(DtGraph *graph, DtNodeKind kind, const char *base, DtNode **out)
{
    DtNode *node = DT_ARENA_NEW(&graph->arena, DtNode);
    if (node == NULL || base == NULL) {
        return dt_no_memory();
    }
    node->graph = graph;
    node->index = graph->nodes.count;
    node->kind = (uint8_t)kind;
    node->where = (DtPosition){NULL, -1, -1, -1, -1};
    node->name = dt_names_unique(&graph->arena, &graph->names, base);
    if (node->name == NULL || dt_vec_push(&graph->arena, &graph->nodes, node) < 0) {
        return dt_no_memory();
    }
    *out = node;
    return DT_OK;
}

const char *
dt_graph_source_text(DtGraph *graph, const DtSource *source)
{
    DtStrbuf buf = {0};
    dt_source_print(source, &buf);
    const char *text = buf.failed ? NULL : dt_arena_strdup(&graph->arena, dt_strbuf_text(&buf));
    dt_strbuf_release(&buf);
    if (text == NULL) {
        PyErr_NoMemory();
    }
    return text;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* The sizes of a new array input give symbols their values. */
static DtStatus
bind_dimensions(DtGraph *graph, uint32_t input, const DtMeta *meta)
{
    for (int dim = 0; dim < meta->ndim; dim++) {
        const DtSym *size = meta->shape[dim];
        if (size->op != DT_SYM_OP_SYMBOL || dt_graph_has_symbol(graph, size->id)) {
            continue;
        }
        DtGraphSymbol symbol = {size->id, input, dim, size->type, size->hint};
        DT_TRY(dt_graph_add_symbol(graph, symbol));
    }
    return DT_OK;
}

DtStatus
dt_graph_add_input(DtGraph *graph, const DtSource *source, const char *text, const DtMeta *meta,
                   DtNode **out)
{
    DtNode *node;
    const char *base = dt_names_from_source(&graph->arena, text);
    DT_TRY(dt_graph_add_node(graph, DT_NODE_INPUT, base, &node));
    node->results = dt_graph_meta(graph, meta);
    if (node->results == NULL) {
        return DT_ERROR;
    }
    node->nresults = 1;
    node->source = source;
    node->source_text = text;
    DtGraphInput input = {node, 0, source, text};
    if (dt_vec_push(&graph->arena, &graph->inputs, input) < 0) {
        return dt_no_memory();
    }
    DT_TRY(bind_dimensions(graph, graph->inputs.count - 1, node->results));
    *out = node;
    return DT_OK;
}

DtStatus
dt_graph_input(DtGraph *graph, const DtSource *source, const DtMeta *meta, DtNode **out)
{
    while (graph->parent != NULL) {
        graph = graph->parent;
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        if (graph->inputs.items[i].source == source && graph->inputs.items[i].node != NULL) {
            *out = graph->inputs.items[i].node;
            return DT_OK;
        }
    }
    const char *text = dt_graph_source_text(graph, source);
    if (text == NULL) {
        return DT_ERROR;
    }
    return dt_graph_add_input(graph, source, text, meta, out);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static DtStatus
copy_results(DtTrace *trace, DtGraph *graph, const DtCallSpec *spec, DtNode *node)
{
    node->nresults = spec->nresults;
    node->results = DT_ARENA_ARRAY(&graph->arena, DtMeta, spec->nresults);
    if (node->results == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < spec->nresults; i++) {
        DtMeta *meta = &node->results[i];
        DT_TRY(copy_meta(graph, &spec->results[i], meta));
        for (int dim = 0; dim < meta->ndim; dim++) {
            DT_TRY(dt_graph_bind_sym(trace, graph, meta->shape[dim]));
        }
    }
    return DT_OK;
}

static void *
copy_array(DtGraph *graph, const void *items, size_t size)
{
    void *copy = dt_arena_alloc(&graph->arena, size);
    return copy != NULL && size > 0 ? memcpy(copy, items, size) : copy;
}

DtStatus
dt_graph_call(DtTrace *trace, const DtCallSpec *spec, DtNode **out)
{
    DtGraph *graph = trace->graph;
    graph->called = graph->called || spec->effect == DT_EFFECT_CALLED;
    if (trace->fp_region != 0 && (graph->called || graph->parent != NULL)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s under another errstate", spec->target);
    }
    if (trace->unsettled & DT_UNSETTLED_BITS) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s under another setting", spec->target);
    }
    /* Operands first: lifting and number inputs may add to the graph, and a failure leaves no half
     * node. */
    DtOperand *args = DT_ARENA_ARRAY(&graph->arena, DtOperand, spec->nargs);
    const char *target = dt_arena_strdup(&graph->arena, spec->target);
    if (args == NULL || target == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < spec->nargs; i++) {
        DT_TRY(dt_operand_copy(trace, graph, &spec->args[i], &args[i]));
    }
    DtNode shell = {0};
    DT_TRY(copy_results(trace, graph, spec, &shell));
    DT_TRY(dt_graph_keep(graph, spec->callee));
    DT_TRY(dt_graph_keep(graph, spec->kwnames));
    DtPosition where = dt_trace_position(trace);
    DT_TRY(dt_graph_keep(graph, (PyObject *)where.code));

    DtAlias *aliases = copy_array(graph, spec->aliases, sizeof(DtAlias) * spec->naliases);
    uint32_t *mutated = copy_array(graph, spec->mutated, sizeof(uint32_t) * spec->nmutated);
    if (aliases == NULL || mutated == NULL) {
        return dt_no_memory();
    }
    DtNode *node;
    const char *base = dt_names_from_target(&graph->arena, target);
    DT_TRY(dt_graph_add_node(graph, DT_NODE_CALL, base, &node));
    node->effect = (uint8_t)spec->effect;
    node->fp_region = trace->fp_region;
    node->target = target;
    node->callee = spec->callee;
    node->args = args;
    node->nargs = spec->nargs;
    node->kwnames = spec->kwnames;
    node->results = shell.results;
    node->nresults = shell.nresults;
    node->aliases = aliases;
    node->naliases = spec->naliases;
    node->mutated = mutated;
    node->nmutated = spec->nmutated;
    node->where = where;
    *out = node;
    return DT_OK;
}

/* ---- Nested tracers -------------------------------------------------------------------------- */

DtStatus
dt_graph_push(DtTrace *trace, const char *name)
{
    DtGraph *body = dt_graph_new(name);
    if (body == NULL) {
        return DT_ERROR;
    }
    body->parent = trace->graph;
    trace->graph = body;
    return DT_OK;
}

void
dt_graph_abandon(DtTrace *trace)
{
    DtGraph *body = trace->graph;
    trace->graph = body->parent;
    body->parent = NULL;
    dt_graph_decref(body);
}

DtStatus
dt_graph_pop(DtTrace *trace, const DtOperand *outputs, uint32_t count, DtOperand *out)
{
    DtGraph *body = trace->graph;
    DtGraph *parent = body->parent;
    DT_TRY(dt_graph_finish(trace, body, outputs, count));
    DtOperand *captures =
        copy_array(parent, body->captures.items, sizeof(DtOperand) * body->captures.count);
    if (captures == NULL || dt_vec_push(&parent->arena, &parent->nested, body) < 0) {
        return dt_no_memory();
    }
    body->parent = NULL;
    trace->graph = parent;
    *out = (DtOperand){.kind = DT_OPERAND_GRAPH, .count = body->captures.count, .items = captures};
    out->u.graph = body;
    return DT_OK;
}
