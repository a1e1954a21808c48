/* dyntrace.Graph: a graph seen from Python, read-only.
 *
 * Several Graph objects and entries may share one DtGraph; each has a reference
 * of its own.
 */
#include <stdlib.h>

#include "compat/text.h"
#include "graph/internal.h"
#include "graph/py_types.h"

PyObject *
dt_py_graph(DtGraph *graph, PyObject *captures)
{
    DtGraphObject *self = PyObject_GC_New(DtGraphObject, &dt_graph_type);
    if (self == NULL) {
        Py_XDECREF(captures);
        return NULL;
    }
    dt_graph_incref(graph);
    self->graph = graph;
    self->captures = captures;
    self->weakrefs = NULL;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

PyObject *
dt_graph_object(DtGraph *graph)
{
    return dt_py_graph(graph, NULL);
}

static int
graph_traverse(DtGraphObject *self, visitproc visit, void *arg)
{
    Py_VISIT(self->captures);
    return dt_graph_traverse(self->graph, visit, arg);
}

static void
graph_dealloc(DtGraphObject *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    Py_XDECREF(self->captures);
    dt_graph_decref(self->graph);
    PyObject_GC_Del(self);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static PyObject *
graph_get_nodes(DtGraphObject *self, void *Py_UNUSED(closure))
{
    const DtGraph *graph = self->graph;
    PyObject *tuple = PyTuple_New(graph->nodes.count);
    for (uint32_t i = 0; tuple != NULL && i < graph->nodes.count; i++) {
        PyObject *node = dt_py_node(self, graph->nodes.items[i], -1);
        if (node == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, node);
    }
    return tuple;
}

static PyObject *
input_object(DtGraphObject *self, const DtGraphInput *input)
{
    if (input->node != NULL) {
        return dt_py_node(self, input->node, -1);
    }
    const DtGraph *graph = self->graph;
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        if (symbol->id == input->symbol) {
            DtSym sym = {.op = DT_SYM_OP_SYMBOL, .type = symbol->type, .id = symbol->id};
            sym.hint = symbol->hint;
            return dt_py_sym(self, &sym, input->source_text);
        }
    }
    PyErr_SetString(PyExc_SystemError, "a number input without a symbol");
    return NULL;
}

static PyObject *
graph_get_inputs(DtGraphObject *self, void *Py_UNUSED(closure))
{
    const DtGraph *graph = self->graph;
    PyObject *tuple = PyTuple_New(graph->inputs.count);
    for (uint32_t i = 0; tuple != NULL && i < graph->inputs.count; i++) {
        PyObject *input = input_object(self, &graph->inputs.items[i]);
        if (input == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, input);
    }
    return tuple;
}

static PyObject *
graph_get_outputs(DtGraphObject *self, void *Py_UNUSED(closure))
{
    return dt_py_operands(self, self->graph->outputs, self->graph->noutputs);
}

/* A dict with what `value` makes of each symbol, under its name. */
static PyObject *
symbols_dict(DtGraphObject *self, PyObject *(*value)(const DtGraphSymbol *, const void *),
             const void *arg)
{
    const DtGraph *graph = self->graph;
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        DtSym printed = {.op = DT_SYM_OP_SYMBOL, .type = symbol->type, .id = symbol->id};
        DtStrbuf name = {0};
        dt_sym_print(&printed, &name);
        PyObject *item = value(symbol, arg);
        if (item == NULL || PyDict_SetItemString(dict, dt_strbuf_text(&name), item) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(item);
        dt_strbuf_release(&name);
    }
    return dict;
}

static PyObject *
symbol_binding(const DtGraphSymbol *symbol, const void *Py_UNUSED(arg))
{
    PyObject *hint = dt_symbols_number((DtSymType)symbol->type, symbol->hint);
    PyObject *dim = symbol->dim >= 0 ? PyLong_FromLong(symbol->dim) : Py_NewRef(Py_None);
    PyObject *input =
        symbol->input != DT_NO_INPUT ? PyLong_FromUnsignedLong(symbol->input) : Py_NewRef(Py_None);
    return Py_BuildValue("(NNN)", input, dim, hint);
}

static PyObject *
graph_get_symbols(DtGraphObject *self, void *Py_UNUSED(closure))
{
    return symbols_dict(self, symbol_binding, NULL);
}

static PyObject *
symbol_value(const DtGraphSymbol *symbol, const void *arg)
{
    return dt_symbols_number((DtSymType)symbol->type, ((const DtNumber *)arg)[symbol->id]);
}

static int
check_arity(const DtGraph *graph, Py_ssize_t given)
{
    if (given == (Py_ssize_t)graph->inputs.count) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "graph %s takes %u inputs, %zd given", graph->name,
                 graph->inputs.count, given);
    return -1;
}

static PyObject *
graph_bind(DtGraphObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    const DtGraph *graph = self->graph;
    if (check_arity(graph, nargs) < 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtNode *node = graph->inputs.items[i].node;
        if (node != NULL && node->results[0].adapter != NULL
            && !node->results[0].adapter->is_array(node->results[0].adapter, args[i])) {
            return PyErr_Format(PyExc_TypeError, "input %u (%s) must be an array, not %.200s", i,
                                node->name, Py_TYPE(args[i])->tp_name);
        }
    }
    DtNumber *values = calloc((size_t)graph->symbol_limit + 1, sizeof *values);
    if (values == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *dict = NULL;
    if (dt_graph_read_symbols(graph, args, values)) {
        dict = symbols_dict(self, symbol_value, values);
    }
    else {
        PyErr_SetString(PyExc_ValueError, "a number input has another type or does not fit int64");
    }
    free(values);
    return dict;
}

static PyObject *
graph_get_name(DtGraphObject *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(self->graph->name);
}

static PyObject *
graph_get_captures(DtGraphObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(self->captures != NULL ? self->captures : Py_None);
}

/* ---- Methods --------------------------------------------------------------------------------- */

static PyObject *
graph_str(DtGraphObject *self)
{
    DtStrbuf buf = {0};
    dt_graph_print(self->graph, &buf);
    return dt_text_take(&buf);
}

static PyObject *
graph_repr(DtGraphObject *self)
{
    return PyUnicode_FromFormat("<dyntrace.Graph %s: %u inputs, %u nodes, %u outputs>",
                                self->graph->name, self->graph->inputs.count,
                                self->graph->nodes.count, self->graph->noutputs);
}

static PyObject *
graph_print(DtGraphObject *self, PyObject *args)
{
    PyObject *file = NULL;
    if (!PyArg_ParseTuple(args, "|O:print", &file)) {
        return NULL;
    }
    if (file == NULL) {
        file = PySys_GetObject("stdout");
    }
    if (file == NULL || file == Py_None) {
        Py_RETURN_NONE;
    }
    PyObject *text = graph_str(self);
    int failed = text == NULL || PyFile_WriteObject(text, file, Py_PRINT_RAW) < 0;
    Py_XDECREF(text);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *
graph_lint(DtGraphObject *self, PyObject *Py_UNUSED(ignored))
{
    return dt_graph_lint(self->graph) == DT_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
graph_to_bytes(DtGraphObject *self, PyObject *Py_UNUSED(ignored))
{
    return dt_graph_to_bytes(self->graph);
}

static PyObject *
graph_from_bytes(PyObject *Py_UNUSED(type), PyObject *bytes)
{
    if (!PyBytes_Check(bytes)) {
        return PyErr_Format(PyExc_TypeError, "from_bytes() takes bytes, not %.200s",
                            Py_TYPE(bytes)->tp_name);
    }
    DtGraph *graph = dt_graph_from_bytes(bytes);
    if (graph == NULL) {
        return NULL;
    }
    PyObject *object = dt_graph_object(graph);
    dt_graph_decref(graph);
    return object;
}

static PyObject *
graph_reduce(DtGraphObject *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *loader = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "from_bytes");
    PyObject *bytes = loader != NULL ? dt_graph_to_bytes(self->graph) : NULL;
    if (bytes == NULL) {
        Py_XDECREF(loader);
        return NULL;
    }
    return Py_BuildValue("(N(N))", loader, bytes);
}

static PyObject *
graph_iter(DtGraphObject *self)
{
    PyObject *nodes = graph_get_nodes(self, NULL);
    if (nodes == NULL) {
        return NULL;
    }
    PyObject *iterator = PyObject_GetIter(nodes);
    Py_DECREF(nodes);
    return iterator;
}

static Py_ssize_t
graph_length(DtGraphObject *self)
{
    return self->graph->nodes.count;
}

static PySequenceMethods graph_as_sequence = {.sq_length = (lenfunc)graph_length};

static PyMethodDef graph_methods[] = {
    {"print", (PyCFunction)graph_print, METH_VARARGS,
     "print($self, file=None, /)\n--\n\nWrites the text of the graph."},
    {"lint", (PyCFunction)graph_lint, METH_NOARGS,
     "lint($self, /)\n--\n\nChecks every invariant; ValueError names the node that breaks one."},
    {"bind", (PyCFunction)(void (*)(void))graph_bind, METH_FASTCALL,
     "bind($self, /, *inputs)\n--\n\nThe values of the graph's symbols for these inputs, by name."},
    {"to_bytes", (PyCFunction)graph_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nThe graph as bytes that another process can read; they hold no "
     "address."},
    {"from_bytes", (PyCFunction)graph_from_bytes, METH_O | METH_STATIC,
     "from_bytes(data, /)\n--\n\nA graph written by to_bytes(). Reading imports modules and "
     "unpickles constants:\nread only what you trust. ValueError if the bytes are no graph."},
    {"__reduce__", (PyCFunction)graph_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef graph_getsets[] = {
    {"name", (getter)graph_get_name, NULL, "Name of the traced function.", NULL},
    {"nodes", (getter)graph_get_nodes, NULL, "All nodes: inputs, calls, the output.", NULL},
    {"inputs", (getter)graph_get_inputs, NULL,
     "In calling order: a Node or, for numbers, a SymExpr.", NULL},
    {"outputs", (getter)graph_get_outputs, NULL, "Operands of the output.", NULL},
    {"symbols", (getter)graph_get_symbols, NULL,
     "Name of each symbol -> (input, dimension or None, value when traced).", NULL},
    {"captures", (getter)graph_get_captures, NULL,
     "As an operand: the values for its inputs; else None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyObject *(*dt_graph_caller)(DtGraph *, PyObject *const *, Py_ssize_t);

static PyObject *
graph_call(DtGraphObject *self, PyObject *args, PyObject *kwargs)
{
    if (dt_graph_caller == NULL || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0)) {
        PyErr_SetString(PyExc_TypeError, "a Graph takes positional arguments only");
        return NULL;
    }
    return dt_graph_caller(self->graph, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args));
}

PyTypeObject dt_graph_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.Graph",
    .tp_doc = "Array code as data: inputs, calls and outputs. Iterating gives its nodes;\n"
              "calling it with its inputs runs it op by op and gives a tuple of its outputs.",
    .tp_basicsize = sizeof(DtGraphObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_weaklistoffset = offsetof(DtGraphObject, weakrefs),
    .tp_traverse = (traverseproc)graph_traverse,
    .tp_dealloc = (destructor)graph_dealloc,
    .tp_repr = (reprfunc)graph_repr,
    .tp_str = (reprfunc)graph_str,
    .tp_iter = (getiterfunc)graph_iter,
    .tp_call = (ternaryfunc)graph_call,
    .tp_as_sequence = &graph_as_sequence,
    .tp_methods = graph_methods,
    .tp_getset = graph_getsets,
};

int
dt_graph_add_types(PyObject *module)
{
    if (PyModule_AddType(module, &dt_graph_type) < 0 || dt_py_sym_init(module) < 0) {
        return -1;
    }
    return dt_py_node_init(module);
}
