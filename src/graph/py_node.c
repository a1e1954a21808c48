/* dyntrace.Node and dyntrace.TensorMeta: one node of a graph seen from Python,
 * and operands as Python values.
 *
 * Node objects are made on demand; two of the same node are equal.  As an
 * operand, one of several results of a node is a Node whose `result` is set.
 */
#include "graph/internal.h"
#include "graph/py_types.h"

typedef struct NodeObject {
    PyObject_HEAD DtGraphObject *graph;
    const DtNode *node;
    int result; /* -1: the node itself */
} NodeObject;

static PyTypeObject *meta_type;

PyObject *
dt_py_node(DtGraphObject *graph, const DtNode *node, int result)
{
    NodeObject *self = PyObject_GC_New(NodeObject, &dt_node_type);
    if (self == NULL) {
        return NULL;
    }
    self->graph = (DtGraphObject *)Py_NewRef((PyObject *)graph);
    self->node = node;
    self->result = result;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

/* ---- Operands as Python values --------------------------------------------------------------- */

PyObject *
dt_py_operands(DtGraphObject *graph, const DtOperand *operands, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (uint32_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *item = dt_py_operand(graph, &operands[i]);
        if (item == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

static PyObject *
dict_from_items(PyObject *items)
{
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict != NULL && i + 1 < PyTuple_GET_SIZE(items); i += 2) {
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(items, i), PyTuple_GET_ITEM(items, i + 1)) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *
container(const DtOperand *operand, DT_STEALS PyObject *items)
{
    PyObject *result;
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_LIST:
        result = PySequence_List(items);
        break;
    case DT_OPERAND_DICT:
        result = dict_from_items(items);
        break;
    case DT_OPERAND_SLICE:
        result = PySlice_New(PyTuple_GET_ITEM(items, 0), PyTuple_GET_ITEM(items, 1),
                             PyTuple_GET_ITEM(items, 2));
        break;
    case DT_OPERAND_GRAPH:
        return dt_py_graph(operand->u.graph, items);
    default:
        return items;
    }
    Py_DECREF(items);
    return result;
}

PyObject *
dt_py_operand(DtGraphObject *graph, const DtOperand *operand)
{
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE:
        return dt_py_node(graph, operand->u.node,
                          operand->u.node->nresults == 1 ? -1 : (int)operand->result);
    case DT_OPERAND_CONST:
        return Py_NewRef(operand->u.object);
    case DT_OPERAND_SYM:
        return dt_py_sym(graph, operand->u.sym, NULL);
    default:
        break;
    }
    PyObject *items = dt_py_operands(graph, operand->items, operand->count);
    return items != NULL ? container(operand, items) : NULL;
}

/* ---- TensorMeta ------------------------------------------------------------------------------ */

static PyStructSequence_Field meta_fields[] = {
    {"dtype", "the library's dtype object"},
    {"shape", "tuple of int and SymExpr"},
    {"ndim", "number of dimensions"},
    {"device", "the library's device object, or None"},
    {"type", "exact class of the value"},
    {"hint", "the shape in the call that was traced"},
    {NULL, NULL},
};

static PyStructSequence_Desc meta_desc = {
    "dyntrace.TensorMeta",
    "What is known of a value of a graph.",
    meta_fields,
    6,
};

PyObject *
dt_py_meta(DtGraphObject *graph, const DtMeta *meta)
{
    PyObject *self = PyStructSequence_New(meta_type);
    PyObject *shape = PyTuple_New(meta->ndim);
    PyObject *hint = PyTuple_New(meta->ndim);
    if (self == NULL || shape == NULL || hint == NULL) {
        goto fail;
    }
    for (int i = 0; i < meta->ndim; i++) {
        PyObject *size = dt_py_sym(graph, meta->shape[i], NULL);
        PyObject *known = dt_symbols_number(DT_SYM_INT, meta->shape[i]->hint);
        PyTuple_SET_ITEM(shape, i, size);
        PyTuple_SET_ITEM(hint, i, known);
        if (size == NULL || known == NULL) {
            goto fail;
        }
    }
    PyObject *ndim = PyLong_FromLong(meta->ndim);
    if (ndim == NULL) {
        goto fail;
    }
    PyStructSequence_SetItem(self, 0, Py_NewRef(meta->dtype != NULL ? meta->dtype : Py_None));
    PyStructSequence_SetItem(self, 1, shape);
    PyStructSequence_SetItem(self, 2, ndim);
    PyStructSequence_SetItem(self, 3, Py_NewRef(meta->device != NULL ? meta->device : Py_None));
    PyStructSequence_SetItem(self, 4, Py_NewRef((PyObject *)meta->type));
    PyStructSequence_SetItem(self, 5, hint);
    return self;
fail:
    Py_XDECREF(self);
    Py_XDECREF(shape);
    Py_XDECREF(hint);
    return NULL;
}

/* ---- Node ------------------------------------------------------------------------------------ */

static int
node_traverse(NodeObject *self, visitproc visit, void *arg)
{
    Py_VISIT(self->graph);
    return 0;
}

static void
node_dealloc(NodeObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_DECREF(self->graph);
    PyObject_GC_Del(self);
}

static PyObject *
node_repr(NodeObject *self)
{
    if (self->result >= 0) {
        return PyUnicode_FromFormat("%s[%d]", self->node->name, self->result);
    }
    return PyUnicode_FromString(self->node->name);
}

static Py_hash_t
node_hash(NodeObject *self)
{
    Py_hash_t hash = (Py_hash_t)((uintptr_t)self->node >> 4) + self->result;
    return hash == -1 ? -2 : hash;
}

static PyObject *
node_compare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !Py_IS_TYPE(a, &dt_node_type)
        || !Py_IS_TYPE(b, &dt_node_type)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    const NodeObject *left = (NodeObject *)a, *right = (NodeObject *)b;
    bool equal = left->node == right->node && left->result == right->result;
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject *
text_or_none(const char *text)
{
    return text != NULL ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
}

static PyObject *
node_get_op(NodeObject *self, void *Py_UNUSED(closure))
{
    static const char *const ops[] = {"input", "call", "output"};
    return PyUnicode_FromString(ops[self->node->kind]);
}

static PyObject *
node_get_name(NodeObject *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(self->node->name);
}

static PyObject *
node_get_target(NodeObject *self, void *Py_UNUSED(closure))
{
    return text_or_none(self->node->target);
}

static PyObject *
node_get_callee(NodeObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(self->node->callee != NULL ? self->node->callee : Py_None);
}

static uint32_t
count_positional(const DtNode *node)
{
    return node->nargs - (node->kwnames ? (uint32_t)PyTuple_GET_SIZE(node->kwnames) : 0);
}

static PyObject *
node_get_args(NodeObject *self, void *Py_UNUSED(closure))
{
    return dt_py_operands(self->graph, self->node->args, count_positional(self->node));
}

static PyObject *
node_get_kwargs(NodeObject *self, void *Py_UNUSED(closure))
{
    const DtNode *node = self->node;
    uint32_t npos = count_positional(node);
    PyObject *dict = PyDict_New();
    for (uint32_t i = npos; dict != NULL && i < node->nargs; i++) {
        PyObject *value = dt_py_operand(self->graph, &node->args[i]);
        if (value == NULL
            || PyDict_SetItem(dict, PyTuple_GET_ITEM(node->kwnames, i - npos), value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *
node_get_meta(NodeObject *self, void *Py_UNUSED(closure))
{
    const DtNode *node = self->node;
    if (node->nresults == 1 || self->result >= 0) {
        return dt_py_meta(self->graph, &node->results[self->result < 0 ? 0 : self->result]);
    }
    if (node->kind == DT_NODE_OUTPUT) {
        Py_RETURN_NONE;
    }
    PyObject *tuple = PyTuple_New(node->nresults);
    for (uint32_t i = 0; tuple != NULL && i < node->nresults; i++) {
        PyObject *meta = dt_py_meta(self->graph, &node->results[i]);
        if (meta == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, meta);
    }
    return tuple;
}

static PyObject *
node_get_effect(NodeObject *self, void *Py_UNUSED(closure))
{
    static const char *const effects[] = {"pure", "called", "random", "mutates"};
    return PyUnicode_FromString(effects[self->node->effect]);
}

static PyObject *
node_get_aliases(NodeObject *self, void *Py_UNUSED(closure))
{
    const DtNode *node = self->node;
    PyObject *tuple = PyTuple_New(node->naliases);
    for (uint32_t i = 0; tuple != NULL && i < node->naliases; i++) {
        PyObject *operand = dt_py_operand(self->graph, &node->args[node->aliases[i].arg]);
        PyObject *pair = Py_BuildValue("(IN)", node->aliases[i].result, operand);
        if (pair == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, pair);
    }
    return tuple;
}

static PyObject *
node_get_mutated(NodeObject *self, void *Py_UNUSED(closure))
{
    const DtNode *node = self->node;
    PyObject *tuple = PyTuple_New(node->nmutated);
    for (uint32_t i = 0; tuple != NULL && i < node->nmutated; i++) {
        PyObject *operand = dt_py_operand(self->graph, &node->args[node->mutated[i]]);
        if (operand == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, operand);
    }
    return tuple;
}

typedef struct Uses {
    const DtNode *node;
    bool found;
} Uses;

static DtStatus
visit_use(DtOperand *operand, void *arg)
{
    Uses *uses = arg;
    if (operand->kind == DT_OPERAND_NODE && operand->u.node == uses->node) {
        uses->found = true;
    }
    return DT_OK;
}

static PyObject *
node_get_users(NodeObject *self, void *Py_UNUSED(closure))
{
    const DtGraph *graph = self->node->graph;
    PyObject *users = PyList_New(0);
    for (uint32_t i = self->node->index + 1; users != NULL && i < graph->nodes.count; i++) {
        Uses uses = {self->node, false};
        DtNode *user = graph->nodes.items[i];
        for (uint32_t j = 0; j < user->nargs && !uses.found; j++) {
            (void)!dt_operand_walk(&user->args[j], visit_use, &uses); /* visit_use never fails */
        }
        PyObject *item = uses.found ? dt_py_node(self->graph, user, -1) : NULL;
        if (uses.found && (item == NULL || PyList_Append(users, item) < 0)) {
            Py_CLEAR(users);
        }
        Py_XDECREF(item);
    }
    if (users != NULL) {
        Py_SETREF(users, PyList_AsTuple(users));
    }
    return users;
}

static PyObject *
node_get_result(NodeObject *self, void *Py_UNUSED(closure))
{
    return self->result >= 0 ? PyLong_FromLong(self->result) : Py_NewRef(Py_None);
}

static PyObject *
node_get_line(NodeObject *self, void *Py_UNUSED(closure))
{
    int line = self->node->where.line;
    return self->node->where.code != NULL && line >= 0 ? PyLong_FromLong(line) : Py_NewRef(Py_None);
}

static PyObject *
node_get_file(NodeObject *self, void *Py_UNUSED(closure))
{
    PyCodeObject *code = self->node->where.code;
    return Py_NewRef(code != NULL ? code->co_filename : Py_None);
}

static PyObject *
node_get_source(NodeObject *self, void *Py_UNUSED(closure))
{
    return text_or_none(self->node->source_text);
}

static PyObject *
node_get_graph(NodeObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)self->graph);
}

static PyGetSetDef node_getsets[] = {
    {"op", (getter)node_get_op, NULL, "'input', 'call' or 'output'.", NULL},
    {"name", (getter)node_get_name, NULL, "Unique in the graph.", NULL},
    {"target", (getter)node_get_target, NULL, "Of a call: 'numpy.add', 'ndarray.T' ...", NULL},
    {"callee", (getter)node_get_callee, NULL, "Of a call: what runs it on real values.", NULL},
    {"args", (getter)node_get_args, NULL, "Positional operands.", NULL},
    {"kwargs", (getter)node_get_kwargs, NULL, "Keyword operands.", NULL},
    {"meta", (getter)node_get_meta, NULL, "TensorMeta, or a tuple for several results.", NULL},
    {"effect", (getter)node_get_effect, NULL, "'pure', 'called', 'random' or 'mutates'.", NULL},
    {"aliases", (getter)node_get_aliases, NULL, "(result, operand) pairs that share memory.", NULL},
    {"mutated", (getter)node_get_mutated, NULL, "Operands whose memory is written.", NULL},
    {"users", (getter)node_get_users, NULL, "Nodes that use this one.", NULL},
    {"result", (getter)node_get_result, NULL, "As an operand: which of several results.", NULL},
    {"line", (getter)node_get_line, NULL, "User's line, or None.", NULL},
    {"file", (getter)node_get_file, NULL, "User's file, or None.", NULL},
    {"source", (getter)node_get_source, NULL, "Of an input: where it is read.", NULL},
    {"graph", (getter)node_get_graph, NULL, "The graph that it belongs to.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject dt_node_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.Node",
    .tp_doc = "A node of a graph: an input, a call or the output.",
    .tp_basicsize = sizeof(NodeObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = (traverseproc)node_traverse,
    .tp_dealloc = (destructor)node_dealloc,
    .tp_repr = (reprfunc)node_repr,
    .tp_hash = (hashfunc)node_hash,
    .tp_richcompare = node_compare,
    .tp_getset = node_getsets,
};

int
dt_py_node_init(PyObject *module)
{
    if (meta_type == NULL) {
        meta_type = PyStructSequence_NewType(&meta_desc);
        if (meta_type == NULL) {
            return -1;
        }
    }
    if (PyModule_AddType(module, meta_type) < 0) {
        return -1;
    }
    return PyModule_AddType(module, &dt_node_type);
}
