/* Operands: from trackers, copied into a graph, lifted into a nested tracer.
 *
 *   tracker ──dt_graph_operand──► operand in the trace's arena
 *                                      │ dt_operand_copy
 *                                      ▼
 *                  operand in the graph's arena; values of outer tracers are
 *                  inputs of the body now, captured through every tracer between
 */
#include "graph/internal.h"

static DtStatus
constant_operand(DtTrace *trace, PyObject *value, DtOperand *out)
{
    if (!PyTuple_CheckExact(value)) {
        out->kind = DT_OPERAND_CONST;
        out->u.object = value;
        return DT_OK;
    }
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(value);
    out->kind = DT_OPERAND_TUPLE;
    out->count = count;
    out->items = DT_ARENA_ARRAY(&trace->arena, DtOperand, count);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(constant_operand(trace, PyTuple_GET_ITEM(value, i), &out->items[i]));
    }
    return DT_OK;
}

static const struct {
    DtKind var;
    DtOperandKind operand;
} sequence_kinds[] = {
    {DT_KIND_TUPLE, DT_OPERAND_TUPLE},
    {DT_KIND_LIST, DT_OPERAND_LIST},
    {DT_KIND_SLICE, DT_OPERAND_SLICE},
};

static DtStatus
sequence_operand(DtTrace *trace, DtSeqVar *seq, DtOperandKind kind, DtOperand *out, bool *ok)
{
    if ((kind == DT_OPERAND_TUPLE && seq->cls != &PyTuple_Type)
        || (kind == DT_OPERAND_LIST && seq->cls != &PyList_Type)) {
        *ok = false;
        return DT_OK;
    }
    out->kind = (uint8_t)kind;
    out->count = seq->count;
    out->items = DT_ARENA_ARRAY(&trace->arena, DtOperand, seq->count);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < seq->count && *ok; i++) {
        DT_TRY(dt_graph_operand(trace, seq->items[i], &out->items[i], ok));
    }
    return DT_OK;
}

DtStatus
dt_graph_operand(DtTrace *trace, DtVar *var, DtOperand *out, bool *ok)
{
    *out = (DtOperand){0};
    *ok = true;
    DT_TRY(dt_var_realize(trace, var, &var));
    DtKind kind = var->type->kind;
    if (kind == DT_KIND_ARRAY) {
        out->kind = DT_OPERAND_NODE;
        out->u.node = ((DtArrayVar *)var)->node;
        out->result = ((DtArrayVar *)var)->result;
        return DT_OK;
    }
    if (kind == DT_KIND_SYMBOLIC) {
        out->kind = DT_OPERAND_SYM;
        out->u.sym = ((DtSymVar *)var)->sym;
        return DT_OK;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(sequence_kinds); i++) {
        if (kind == sequence_kinds[i].var) {
            return sequence_operand(trace, (DtSeqVar *)var, sequence_kinds[i].operand, out, ok);
        }
    }
    PyObject *value = dt_var_as_constant(trace, var);
    if (value != NULL) {
        return constant_operand(trace, value, out);
    }
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    *ok = false;
    return DT_OK;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static DtStatus
copy_sym(DtTrace *trace, DtGraph *graph, const DtSym *sym, DtOperand *out)
{
    if (dt_sym_is_const(sym)) {
        PyObject *value = dt_symbols_number((DtSymType)sym->type, sym->hint);
        if (value == NULL) {
            return DT_ERROR;
        }
        DtStatus status = dt_graph_keep(graph, value);
        Py_DECREF(value);
        out->kind = DT_OPERAND_CONST;
        out->u.object = value;
        return status;
    }
    if (dt_trace_depends_on_data(trace, sym)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "the size of a selection as a number");
    }
    out->u.sym = dt_sym_copy(&graph->arena, sym);
    if (out->u.sym == NULL) {
        return dt_no_memory();
    }
    return dt_graph_bind_sym(trace, graph, out->u.sym);
}

DtStatus
dt_operand_copy(DtTrace *trace, DtGraph *graph, const DtOperand *operand, DtOperand *out)
{
    *out = *operand;
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE:
        return dt_graph_lift(trace, graph, operand, out);
    case DT_OPERAND_CONST:
        return dt_graph_keep(graph, operand->u.object);
    case DT_OPERAND_SYM:
        return copy_sym(trace, graph, operand->u.sym, out);
    default:
        break;
    }
    out->items = DT_ARENA_ARRAY(&graph->arena, DtOperand, operand->count);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        DT_TRY(dt_operand_copy(trace, graph, &operand->items[i], &out->items[i]));
    }
    return DT_OK;
}

DtStatus
dt_operand_walk(DtOperand *operand, DtOperandVisit visit, void *arg)
{
    DT_TRY(visit(operand, arg));
    for (uint32_t i = 0; i < operand->count; i++) {
        DT_TRY(dt_operand_walk(&operand->items[i], visit, arg));
    }
    return DT_OK;
}

/* ---- Lifting --------------------------------------------------------------------------------- */

DtStatus
dt_graph_lift(DtTrace *trace, DtGraph *graph, const DtOperand *outer, DtOperand *inner)
{
    if (outer->u.node->graph == graph) {
        *inner = *outer;
        return DT_OK;
    }
    if (graph->parent == NULL) {
        PyErr_Format(PyExc_SystemError, "graph %s uses %s, which belongs to no tracer around it",
                     graph->name, outer->u.node->name);
        return DT_ERROR;
    }
    DtOperand between;
    DT_TRY(dt_graph_lift(trace, graph->parent, outer, &between));
    for (uint32_t i = 0; i < graph->captures.count; i++) {
        const DtOperand *known = &graph->captures.items[i];
        if (known->kind == DT_OPERAND_NODE && known->u.node == between.u.node
            && known->result == between.result) {
            *inner = (DtOperand){.kind = DT_OPERAND_NODE, .u.node = graph->inputs.items[i].node};
            return DT_OK;
        }
    }
    const DtNode *node = between.u.node;
    const char *text = dt_arena_strdup(&graph->arena, node->name);
    if (text == NULL) {
        return dt_no_memory();
    }
    DtNode *lifted;
    DT_TRY(dt_graph_add_input(graph, NULL, text, &node->results[between.result], &lifted));
    if (dt_vec_push(&graph->arena, &graph->captures, between) < 0) {
        return dt_no_memory();
    }
    *inner = (DtOperand){.kind = DT_OPERAND_NODE, .u.node = lifted};
    return DT_OK;
}
