/* Graphs from bytes; the form is described in wire.h.
 *
 * Nothing in the bytes is trusted (wire_read.h), and the whole is linted at the end.
 * Not in here: numbers and texts (wire_bytes.c), objects (wire_objects.c).
 */
#include "graph/wire_read.h"

/* ---- Parts of a graph ------------------------------------------------------------------------ */

static DtStatus
get_number(DtWireReader *reader, int type, DtNumber *out)
{
    return type == DT_SYM_FLOAT ? dt_wire_get_double(reader, &out->d)
                                : dt_wire_get_int(reader, &out->i);
}

static DtStatus
get_sym(DtWireReader *reader, DtGraph *graph, const DtSym **out)
{
    DT_TRY(dt_wire_enter(reader));
    DtSym *sym = DT_ARENA_NEW(&graph->arena, DtSym);
    if (sym == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_wire_get_choice(reader, DT_SYM_OP_COUNT, &sym->op));
    DT_TRY(dt_wire_get_choice(reader, DT_SYM_BOOL + 1, &sym->type));
    DT_TRY(get_number(reader, sym->type, &sym->hint));
    if (sym->op == DT_SYM_OP_SYMBOL) {
        DT_TRY(dt_wire_get_below(reader, UINT32_MAX, &sym->id));
    }
    int arity = dt_wire_sym_arity(sym->op);
    if (arity >= 1) {
        DT_TRY(get_sym(reader, graph, &sym->a));
    }
    if (arity == 2) {
        DT_TRY(get_sym(reader, graph, &sym->b));
    }
    reader->depth--;
    *out = sym;
    return DT_OK;
}

static DtStatus
get_operand(DtWireReader *reader, DtGraph *graph, DtOperand *out)
{
    DT_TRY(dt_wire_enter(reader));
    uint32_t index;
    DT_TRY(dt_wire_get_choice(reader, DT_OPERAND_GRAPH + 1, &out->kind));
    switch ((DtOperandKind)out->kind) {
    case DT_OPERAND_NODE:
        DT_TRY(dt_wire_get_below(reader, graph->nodes.count, &index)); /* nodes before this one */
        out->u.node = graph->nodes.items[index];
        DT_TRY(dt_wire_get_below(reader, out->u.node->nresults, &out->result));
        break;
    case DT_OPERAND_CONST:
        DT_TRY(dt_wire_get_kept(reader, graph, &out->u.object));
        break;
    case DT_OPERAND_SYM:
        DT_TRY(get_sym(reader, graph, &out->u.sym));
        break;
    default:
        if (out->kind == DT_OPERAND_GRAPH) {
            DT_TRY(dt_wire_get_below(reader, graph->nested.count, &index));
            out->u.graph = graph->nested.items[index];
        }
        DT_TRY(dt_wire_get_count(reader, &out->count));
        out->items = DT_ARENA_ARRAY(&graph->arena, DtOperand, out->count);
        if (out->items == NULL) {
            return dt_no_memory();
        }
        for (uint32_t i = 0; i < out->count; i++) {
            DT_TRY(get_operand(reader, graph, &out->items[i]));
        }
    }
    reader->depth--;
    return DT_OK;
}

static DtStatus
get_strides(DtWireReader *reader, DtGraph *graph, DtMeta *meta)
{
    uint8_t there;
    DT_TRY(dt_wire_get_choice(reader, 2, &there));
    if (!there) {
        return DT_OK;
    }
    int8_t *order = dt_arena_alloc(&graph->arena, meta->ndim);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < meta->ndim; i++) {
        DT_TRY(dt_wire_get_choice(reader, meta->ndim, (uint8_t *)&order[i]));
    }
    meta->stride_order = order;
    return DT_OK;
}

static DtStatus
get_meta(DtWireReader *reader, DtGraph *graph, DtMeta *meta)
{
    const char *adapter;
    PyObject *type;
    DT_TRY(dt_wire_get_optional(reader, graph, &adapter));
    if (adapter != NULL) {
        meta->adapter = dt_adapter_by_name(adapter);
        if (meta->adapter == NULL) {
            PyErr_Format(PyExc_ValueError, "the graph needs the adapter %s, which is missing",
                         adapter);
            return DT_ERROR;
        }
    }
    DT_TRY(dt_wire_get_kept(reader, graph, &type));
    if (!PyType_Check(type)) {
        return dt_wire_bad("a type that is none");
    }
    meta->type = (PyTypeObject *)type;
    DT_TRY(dt_wire_get_optional_object(reader, graph, &meta->dtype));
    DT_TRY(dt_wire_get_optional_object(reader, graph, &meta->device));
    DT_TRY(dt_wire_get_below(reader, UINT32_MAX, &meta->layout));
    DT_TRY(dt_wire_get_byte(reader, &meta->ndim));
    meta->shape = DT_ARENA_ARRAY(&graph->arena, const DtSym *, meta->ndim);
    if (meta->shape == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < meta->ndim; i++) {
        DT_TRY(get_sym(reader, graph, &meta->shape[i]));
    }
    return get_strides(reader, graph, meta);
}

static DtStatus
get_effects(DtWireReader *reader, DtGraph *graph, DtNode *node)
{
    DT_TRY(dt_wire_get_count(reader, &node->naliases));
    node->aliases = DT_ARENA_ARRAY(&graph->arena, DtAlias, node->naliases);
    if (node->aliases == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->naliases; i++) {
        DT_TRY(dt_wire_get_below(reader, node->nresults, &node->aliases[i].result));
        DT_TRY(dt_wire_get_below(reader, node->nargs, &node->aliases[i].arg));
    }
    DT_TRY(dt_wire_get_count(reader, &node->nmutated));
    node->mutated = DT_ARENA_ARRAY(&graph->arena, uint32_t, node->nmutated);
    if (node->mutated == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->nmutated; i++) {
        DT_TRY(dt_wire_get_below(reader, node->nargs, &node->mutated[i]));
    }
    return DT_OK;
}

static DtStatus
get_position(DtWireReader *reader, DtGraph *graph, DtPosition *where)
{
    PyObject *code;
    DT_TRY(dt_wire_get_optional_object(reader, graph, &code));
    if (code != NULL && !PyCode_Check(code)) {
        return dt_wire_bad("a code object that is none");
    }
    where->code = (PyCodeObject *)code;
    DT_TRY(dt_wire_get_int32(reader, &where->line));
    DT_TRY(dt_wire_get_int32(reader, &where->end_line));
    DT_TRY(dt_wire_get_int32(reader, &where->col));
    return dt_wire_get_int32(reader, &where->end_col);
}

static DtStatus
get_node(DtWireReader *reader, DtGraph *graph)
{
    DtNode *node = DT_ARENA_NEW(&graph->arena, DtNode);
    if (node == NULL) {
        return dt_no_memory();
    }
    node->graph = graph;
    node->index = graph->nodes.count;
    DT_TRY(dt_wire_get_choice(reader, DT_NODE_OUTPUT + 1, &node->kind));
    DT_TRY(dt_wire_get_choice(reader, DT_EFFECT_MUTATES + 1, &node->effect));
    DT_TRY(dt_wire_get_byte(reader, &node->fp_region));
    DT_TRY(dt_wire_get_text(reader, graph, &node->name));
    DT_TRY(dt_wire_get_optional(reader, graph, &node->target));
    DT_TRY(dt_wire_get_optional(reader, graph, &node->source_text));
    DT_TRY(dt_wire_get_optional_object(reader, graph, &node->callee));
    DT_TRY(dt_wire_get_optional_object(reader, graph, &node->kwnames));
    DT_TRY(dt_wire_get_count(reader, &node->nargs));
    node->args = DT_ARENA_ARRAY(&graph->arena, DtOperand, node->nargs);
    if (node->args == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->nargs; i++) {
        DT_TRY(get_operand(reader, graph, &node->args[i]));
    }
    DT_TRY(dt_wire_get_count(reader, &node->nresults));
    node->results = DT_ARENA_ARRAY(&graph->arena, DtMeta, node->nresults);
    if (node->results == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->nresults; i++) {
        DT_TRY(get_meta(reader, graph, &node->results[i]));
    }
    DT_TRY(get_effects(reader, graph, node));
    DT_TRY(get_position(reader, graph, &node->where));
    if (node->kind == DT_NODE_OUTPUT) {
        graph->outputs = node->args;
        graph->noutputs = node->nargs;
    }
    return dt_vec_push(&graph->arena, &graph->nodes, node) < 0 ? dt_no_memory() : DT_OK;
}

static DtStatus
get_inputs(DtWireReader *reader, DtGraph *graph)
{
    uint32_t count, index;
    DT_TRY(dt_wire_get_count(reader, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtGraphInput input = {0};
        DT_TRY(dt_wire_get_below(reader, (uint64_t)graph->nodes.count + 1, &index));
        input.node = index > 0 ? graph->nodes.items[index - 1] : NULL;
        DT_TRY(dt_wire_get_below(reader, UINT32_MAX, &input.symbol));
        DT_TRY(dt_wire_get_text(reader, graph, &input.source_text));
        if (dt_vec_push(&graph->arena, &graph->inputs, input) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

/* Arrays of symbol values are as long as the limit says: it is bounded here. */
#define MOST_SYMBOLS (1u << 20)

static DtStatus
get_symbols(DtWireReader *reader, DtGraph *graph)
{
    uint32_t count;
    DT_TRY(dt_wire_get_below(reader, MOST_SYMBOLS, &graph->symbol_limit));
    DT_TRY(dt_wire_get_count(reader, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtGraphSymbol symbol = {0};
        DT_TRY(dt_wire_get_below(reader, graph->symbol_limit, &symbol.id));
        DT_TRY(dt_wire_get_below(reader, graph->inputs.count + 1, &symbol.input));
        symbol.input--; /* 0: DT_NO_INPUT */
        DT_TRY(dt_wire_get_int32(reader, &symbol.dim));
        DT_TRY(dt_wire_get_choice(reader, DT_SYM_BOOL + 1, &symbol.type));
        DT_TRY(get_number(reader, symbol.type, &symbol.hint));
        if (dt_vec_push(&graph->arena, &graph->symbols, symbol) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

static DtStatus get_graph(DtWireReader *reader, DtGraph **out);

static DtStatus
get_nested(DtWireReader *reader, DtGraph *graph)
{
    uint32_t count;
    DT_TRY(dt_wire_get_count(reader, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtGraph *nested;
        DT_TRY(get_graph(reader, &nested));
        if (dt_vec_push(&graph->arena, &graph->nested, nested) < 0) {
            dt_graph_decref(nested);
            return dt_no_memory();
        }
    }
    return DT_OK;
}

static DtStatus
fill_graph(DtWireReader *reader, DtGraph *graph)
{
    uint32_t count;
    DT_TRY(dt_wire_enter(reader));
    DT_TRY(dt_wire_get_text(reader, graph, &graph->name));
    DT_TRY(get_nested(reader, graph));
    DT_TRY(dt_wire_get_count(reader, &count));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(get_node(reader, graph));
    }
    DT_TRY(get_inputs(reader, graph));
    DT_TRY(get_symbols(reader, graph));
    reader->depth--;
    graph->finished = true;
    return dt_graph_lint(graph);
}

static DtStatus
get_graph(DtWireReader *reader, DtGraph **out)
{
    DtGraph *graph = dt_graph_new("");
    if (graph == NULL) {
        return DT_ERROR;
    }
    if (fill_graph(reader, graph) != DT_OK) {
        dt_graph_decref(graph);
        return DT_ERROR;
    }
    *out = graph;
    return DT_OK;
}

/* Whatever an import or an unpickler raised means that the bytes can't be used. */
static void
as_value_error(void)
{
    if (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_MemoryError)
        || !PyErr_ExceptionMatches(PyExc_Exception)) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Format(PyExc_ValueError, "these bytes are no graph of this process: %s",
                 ((PyTypeObject *)type)->tp_name);
    PyObject *new_type, *new_value, *new_traceback;
    PyErr_Fetch(&new_type, &new_value, &new_traceback);
    PyErr_NormalizeException(&new_type, &new_value, &new_traceback);
    PyException_SetCause(new_value, value);
    PyErr_Restore(new_type, new_value, new_traceback);
    Py_DECREF(type);
    Py_XDECREF(traceback);
}

DtGraph *
dt_graph_from_bytes(PyObject *bytes)
{
    if (!PyBytes_Check(bytes)) {
        PyErr_Format(PyExc_TypeError, "expected bytes, not %.200s", Py_TYPE(bytes)->tp_name);
        return NULL;
    }
    const char *data = PyBytes_AS_STRING(bytes);
    size_t size = (size_t)PyBytes_GET_SIZE(bytes);
    if (size < DT_WIRE_HEADER || memcmp(data, DT_WIRE_MAGIC, DT_WIRE_MAGIC_SIZE) != 0) {
        dt_wire_bad("they begin with something else");
        return NULL;
    }
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++) {
        sum |= (uint64_t)(uint8_t)data[DT_WIRE_MAGIC_SIZE + i] << (8 * i);
    }
    if (sum != dt_wire_checksum(data + DT_WIRE_HEADER, size - DT_WIRE_HEADER)) {
        dt_wire_bad("their checksum is wrong");
        return NULL;
    }
    DtWireReader reader = {.next = (const uint8_t *)data + DT_WIRE_HEADER,
                           .end = (const uint8_t *)data + size,
                           .objects = PyList_New(0)};
    if (reader.objects == NULL) {
        return NULL;
    }
    DtGraph *graph = NULL;
    if (get_graph(&reader, &graph) != DT_OK) {
        as_value_error();
    }
    else if (reader.next != reader.end) {
        dt_graph_decref(graph);
        graph = NULL;
        dt_wire_bad("there are bytes behind it");
    }
    Py_DECREF(reader.objects);
    return graph;
}
