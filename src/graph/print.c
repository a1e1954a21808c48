/* A graph as text:
 *
 *   graph blend:
 *       x: float64[s0, 3] = input L['x']
 *       f1: float = input L['gain']
 *       multiply = numpy.multiply(x, f1): float64[s0, 3]
 *       return (multiply,)
 *
 * A result of another class than the graph's first value names it.  Effects,
 * views and several results stand behind the line.  Printing may run the repr
 * of constants and dtypes: it is for people, never on the way of a call.
 */
#include <string.h>

#include "graph/internal.h"

#define LONGEST_CONSTANT 80

static void print_graph(const DtGraph *graph, DtStrbuf *buf, int indent);

static void
print_text(PyObject *text, DtStrbuf *buf)
{
    const char *utf8 = text != NULL && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 == NULL) {
        PyErr_Clear(); /* of a failed repr or an unencodable text: the placeholder stands for it */
        dt_strbuf_add(buf, "<?>");
    }
    else if (strlen(utf8) <= LONGEST_CONSTANT) {
        dt_strbuf_add(buf, utf8);
    }
    else {
        size_t length = LONGEST_CONSTANT - 3;
        while (length > 0 && ((unsigned char)utf8[length] & 0xC0) == 0x80) {
            length--; /* not inside a character */
        }
        dt_strbuf_addn(buf, utf8, length);
        dt_strbuf_add(buf, "...");
    }
}

static void
print_type(const PyTypeObject *type, DtStrbuf *buf)
{
    dt_strbuf_add(buf, type->tp_name);
}

static void
print_constant(PyObject *value, DtStrbuf *buf)
{
    if (PyType_Check(value)) {
        print_type((PyTypeObject *)value, buf);
        return;
    }
    PyObject *text = NULL;
    if (PyCallable_Check(value)) { /* a repr with an address in it is of no use */
        text = PyObject_GetAttrString(value, "__name__");
        PyErr_Clear(); /* a callable without name: its repr is printed */
    }
    if (text == NULL) {
        text = PyObject_Repr(value);
    }
    print_text(text, buf);
    Py_XDECREF(text);
}

static void print_items(const DtGraph *graph, const DtOperand *operand, DtStrbuf *buf, int indent);

static void
print_operand(const DtGraph *graph, const DtOperand *operand, DtStrbuf *buf, int indent)
{
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE:
        dt_strbuf_add(buf, operand->u.node->name);
        if (operand->u.node->nresults != 1) {
            dt_strbuf_addf(buf, "[%u]", operand->result);
        }
        break;
    case DT_OPERAND_CONST:
        print_constant(operand->u.object, buf);
        break;
    case DT_OPERAND_SYM:
        dt_sym_print(operand->u.sym, buf);
        break;
    default:
        print_items(graph, operand, buf, indent);
    }
}

/* How each container opens and closes. */
static const struct {
    const char *open, *close;
} brackets[] = {
    [DT_OPERAND_TUPLE] = {"(", ")"},      [DT_OPERAND_LIST] = {"[", "]"},
    [DT_OPERAND_DICT] = {"{", "}"},       [DT_OPERAND_SLICE] = {"slice(", ")"},
    [DT_OPERAND_GRAPH] = {"graph ", ")"},
};

static void
print_items(const DtGraph *graph, const DtOperand *operand, DtStrbuf *buf, int indent)
{
    dt_strbuf_add(buf, brackets[operand->kind].open);
    if (operand->kind == DT_OPERAND_GRAPH) {
        dt_strbuf_addf(buf, "%s(", operand->u.graph->name);
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        bool value = operand->kind == DT_OPERAND_DICT && i % 2 == 1;
        dt_strbuf_add(buf, i == 0 ? "" : value ? ": " : ", ");
        print_operand(graph, &operand->items[i], buf, indent);
    }
    if (operand->kind == DT_OPERAND_TUPLE && operand->count == 1) {
        dt_strbuf_add(buf, ",");
    }
    dt_strbuf_add(buf, brackets[operand->kind].close);
}

static void
print_meta(const DtGraph *graph, const DtMeta *meta, DtStrbuf *buf)
{
    const DtNode *first = graph->nodes.items[0];
    if (first->nresults == 0 || first->results[0].type != meta->type) {
        print_type(meta->type, buf);
        dt_strbuf_add(buf, " ");
    }
    PyObject *dtype = meta->dtype != NULL ? PyObject_Str(meta->dtype) : NULL;
    if (meta->dtype != NULL) {
        print_text(dtype, buf);
    }
    Py_XDECREF(dtype);
    dt_strbuf_add(buf, "[");
    for (int dim = 0; dim < meta->ndim; dim++) {
        dt_strbuf_add(buf, dim ? ", " : "");
        dt_sym_print(meta->shape[dim], buf);
    }
    dt_strbuf_add(buf, "]");
    if (meta->device != NULL) {
        PyObject *device = PyObject_Str(meta->device);
        dt_strbuf_add(buf, " on ");
        print_text(device, buf);
        Py_XDECREF(device);
    }
}

static void
print_effects(const DtGraph *graph, const DtNode *node, DtStrbuf *buf)
{
    static const char *const texts[] = {"", "  # called", "  # random", "  # mutates"};
    dt_strbuf_add(buf, texts[node->effect]);
    for (uint32_t i = 0; i < node->nmutated; i++) {
        dt_strbuf_add(buf, i ? ", " : " ");
        print_operand(graph, &node->args[node->mutated[i]], buf, 0);
    }
    for (uint32_t i = 0; i < node->naliases; i++) {
        dt_strbuf_add(buf, i ? ", " : "  # view of ");
        print_operand(graph, &node->args[node->aliases[i].arg], buf, 0);
    }
}

static void
print_call(const DtGraph *graph, const DtNode *node, DtStrbuf *buf, int indent)
{
    uint32_t nkw = node->kwnames ? (uint32_t)PyTuple_GET_SIZE(node->kwnames) : 0;
    dt_strbuf_addf(buf, "%s = %s(", node->name, node->target);
    for (uint32_t i = 0; i < node->nargs; i++) {
        dt_strbuf_add(buf, i ? ", " : "");
        if (i >= node->nargs - nkw) {
            print_text(PyTuple_GET_ITEM(node->kwnames, i - (node->nargs - nkw)), buf);
            dt_strbuf_add(buf, "=");
        }
        print_operand(graph, &node->args[i], buf, indent);
    }
    dt_strbuf_add(buf, "): ");
    dt_strbuf_add(buf, node->nresults == 1 ? "" : "(");
    for (uint32_t i = 0; i < node->nresults; i++) {
        dt_strbuf_add(buf, i ? ", " : "");
        print_meta(graph, &node->results[i], buf);
    }
    dt_strbuf_add(buf, node->nresults == 1 ? "" : ")");
    print_effects(graph, node, buf);
    dt_strbuf_add(buf, "\n");
}

static void
print_inputs(const DtGraph *graph, DtStrbuf *buf, int indent)
{
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtGraphInput *input = &graph->inputs.items[i];
        dt_strbuf_addf(buf, "%*s", indent, "");
        if (input->node != NULL) {
            dt_strbuf_addf(buf, "%s: ", input->node->name);
            print_meta(graph, &input->node->results[0], buf);
        }
        else {
            bool is_float = false;
            for (uint32_t j = 0; j < graph->symbols.count; j++) {
                is_float = is_float
                           || (graph->symbols.items[j].id == input->symbol
                               && graph->symbols.items[j].type == DT_SYM_FLOAT);
            }
            dt_strbuf_addf(buf, "%c%u: %s", is_float ? 'f' : 's', input->symbol,
                           is_float ? "float" : "int");
        }
        dt_strbuf_addf(buf, " = input %s\n", input->source_text);
    }
}

/* The nested graphs of one node, above it. */
static void
print_bodies(const DtOperand *operands, uint32_t count, DtStrbuf *buf, int indent)
{
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].kind == DT_OPERAND_GRAPH) {
            print_graph(operands[i].u.graph, buf, indent);
        }
        print_bodies(operands[i].items, operands[i].count, buf, indent);
    }
}

static void
print_graph(const DtGraph *graph, DtStrbuf *buf, int indent)
{
    dt_strbuf_addf(buf, "%*sgraph %s:\n", indent, "", graph->name);
    indent += 4;
    print_inputs(graph, buf, indent);
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        if (node->kind == DT_NODE_INPUT) {
            continue;
        }
        print_bodies(node->args, node->nargs, buf, indent);
        dt_strbuf_addf(buf, "%*s", indent, "");
        if (node->kind == DT_NODE_CALL) {
            print_call(graph, node, buf, indent);
            continue;
        }
        dt_strbuf_add(buf, "return ");
        DtOperand tuple = {.kind = DT_OPERAND_TUPLE, .count = node->nargs, .items = node->args};
        print_operand(graph, &tuple, buf, indent);
        dt_strbuf_add(buf, "\n");
    }
}

void
dt_graph_print(const DtGraph *graph, DtStrbuf *buf)
{
    print_graph(graph, buf, 0);
}
