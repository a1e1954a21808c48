/* Graphs from bytes; the form is described in wire.h.
 *
 * Nothing in the bytes is trusted to be well-formed: every count is compared
 * with the bytes that are left before memory is taken for it, every number with
 * its range, and the whole is linted at the end.  Whatever goes wrong is a
 * ValueError.  Reading imports modules and unpickles.
 */
#include "graph/wire.h"

typedef struct Reader {
    const uint8_t *next;
    const uint8_t *end;
    PyObject *objects; /* list, by number */
    int depth;
} Reader;

static DtStatus
bad(const char *what)
{
    PyErr_Format(PyExc_ValueError, "these bytes are no graph: %s", what);
    return DT_ERROR;
}

static DtStatus
get_byte(Reader *reader, uint8_t *out)
{
    if (reader->next == reader->end) {
        return bad("they end too early");
    }
    *out = *reader->next++;
    return DT_OK;
}

/* A byte below `limit`. */
static DtStatus
get_choice(Reader *reader, uint32_t limit, uint8_t *out)
{
    DT_TRY(get_byte(reader, out));
    return *out < limit ? DT_OK : bad("a number out of its range");
}

static DtStatus
get_uint64(Reader *reader, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        DT_TRY(get_byte(reader, &byte));
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) {
            return DT_OK;
        }
    }
    return bad("a number that does not end");
}

static DtStatus
get_int(Reader *reader, int64_t *out)
{
    uint64_t bits;
    DT_TRY(get_uint64(reader, &bits));
    *out = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
    return DT_OK;
}

/* A number below `limit`. */
static DtStatus
get_below(Reader *reader, uint64_t limit, uint32_t *out)
{
    uint64_t value;
    DT_TRY(get_uint64(reader, &value));
    if (value >= limit || value > UINT32_MAX) {
        return bad("a number out of its range");
    }
    *out = (uint32_t)value;
    return DT_OK;
}

/* A count of things that take at least one byte each. */
static DtStatus
get_count(Reader *reader, uint32_t *out)
{
    return get_below(reader, (uint64_t)(reader->end - reader->next) + 1, out);
}

static DtStatus
get_int32(Reader *reader, int *out)
{
    int64_t value;
    DT_TRY(get_int(reader, &value));
    if (value < INT32_MIN || value > INT32_MAX) {
        return bad("a number out of its range");
    }
    *out = (int)value;
    return DT_OK;
}

static DtStatus
get_data(Reader *reader, const char **data, uint32_t *size)
{
    DT_TRY(get_count(reader, size));
    if (*size > (size_t)(reader->end - reader->next)) {
        return bad("they end too early");
    }
    *data = (const char *)reader->next;
    reader->next += *size;
    return DT_OK;
}

static DtStatus
get_double(Reader *reader, double *out)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        uint8_t byte;
        DT_TRY(get_byte(reader, &byte));
        bits |= (uint64_t)byte << (8 * i);
    }
    memcpy(out, &bits, sizeof bits);
    return DT_OK;
}

static DtStatus
get_text(Reader *reader, DtGraph *graph, const char **out)
{
    const char *data;
    uint32_t size;
    DT_TRY(get_data(reader, &data, &size));
    char *text = dt_arena_alloc(&graph->arena, (size_t)size + 1);
    if (text == NULL) {
        return dt_no_memory();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    *out = text;
    return DT_OK;
}

static DtStatus
get_optional(Reader *reader, DtGraph *graph, const char **out)
{
    uint8_t there;
    DT_TRY(get_choice(reader, 2, &there));
    *out = NULL;
    return there ? get_text(reader, graph, out) : DT_OK;
}

static DtStatus
enter(Reader *reader)
{
    return ++reader->depth > DT_WIRE_DEPTH ? bad("they are nested too deeply") : DT_OK;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static DtStatus get_object(Reader *reader, PyObject **out);

PyObject *
dt_wire_import(PyObject *module, PyObject *qualname)
{
    PyObject *found = PyImport_Import(module);
    PyObject *dot = PyUnicode_FromString(".");
    PyObject *parts = dot != NULL ? PyUnicode_Split(qualname, dot, -1) : NULL;
    Py_XDECREF(dot);
    if (found == NULL || parts == NULL) {
        Py_XDECREF(found);
        Py_XDECREF(parts);
        return NULL;
    }
    Py_SETREF(found, PyImport_GetModule(module));
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(parts); i++) {
        Py_SETREF(found, PyObject_GetAttr(found, PyList_GET_ITEM(parts, i)));
    }
    Py_DECREF(parts);
    if (found == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ImportError, "no module named %R", module);
    }
    return found;
}

static DtStatus
get_str(Reader *reader, PyObject **out)
{
    const char *data;
    uint32_t size;
    DT_TRY(get_data(reader, &data, &size));
    *out = PyUnicode_Decode(data, size, "utf-8", "surrogatepass");
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_path(Reader *reader, PyObject **out)
{
    PyObject *module, *qualname;
    DT_TRY(get_str(reader, &module));
    if (get_str(reader, &qualname) != DT_OK) {
        Py_DECREF(module);
        return DT_ERROR;
    }
    *out = dt_wire_import(module, qualname);
    Py_DECREF(module);
    Py_DECREF(qualname);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_attribute(Reader *reader, PyObject **out)
{
    PyObject *self, *name;
    DT_TRY(get_object(reader, &self));
    DT_TRY(get_str(reader, &name));
    *out = PyObject_GetAttr(self, name);
    Py_DECREF(name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_code(Reader *reader, PyObject **out)
{
    PyObject *file = NULL, *name = NULL;
    int line;
    DtStatus status = get_str(reader, &file);
    if (status == DT_OK) {
        status = get_str(reader, &name);
    }
    if (status == DT_OK) {
        status = get_int32(reader, &line);
    }
    if (status == DT_OK) {
        const char *file_text = PyUnicode_AsUTF8(file);
        const char *name_text = PyUnicode_AsUTF8(name);
        *out = file_text != NULL && name_text != NULL
                   ? (PyObject *)PyCode_NewEmpty(file_text, name_text, line < 0 ? 0 : line)
                   : NULL;
        status = *out != NULL ? DT_OK : DT_ERROR;
    }
    Py_XDECREF(file);
    Py_XDECREF(name);
    return status;
}

static DtStatus
get_tuple(Reader *reader, PyObject **out)
{
    uint32_t count;
    DT_TRY(enter(reader));
    DT_TRY(get_count(reader, &count));
    PyObject *tuple = PyTuple_New(count);
    if (tuple == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item;
        if (get_object(reader, &item) != DT_OK) {
            Py_DECREF(tuple);
            return DT_ERROR;
        }
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(item));
    }
    reader->depth--;
    *out = tuple;
    return DT_OK;
}

static DtStatus
get_pickle(Reader *reader, PyObject **out)
{
    const char *data;
    uint32_t size;
    DT_TRY(get_data(reader, &data, &size));
    PyObject *pickle = PyImport_ImportModule("pickle");
    *out = NULL;
    if (pickle != NULL) {
        *out = PyObject_CallMethod(pickle, "loads", "y#", data, (Py_ssize_t)size);
    }
    Py_XDECREF(pickle);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
get_definition(Reader *reader, PyObject **out)
{
    uint8_t tag;
    DT_TRY(get_byte(reader, &tag));
    const char *data;
    uint32_t size;
    int64_t whole;
    double real;
    *out = NULL;
    switch (tag) {
    case DT_WIRE_NONE:
        *out = Py_NewRef(Py_None);
        return DT_OK;
    case DT_WIRE_TRUE:
        *out = Py_NewRef(Py_True);
        return DT_OK;
    case DT_WIRE_FALSE:
        *out = Py_NewRef(Py_False);
        return DT_OK;
    case DT_WIRE_ELLIPSIS:
        *out = Py_NewRef(Py_Ellipsis);
        return DT_OK;
    case DT_WIRE_INT:
        DT_TRY(get_int(reader, &whole));
        *out = PyLong_FromLongLong(whole);
        break;
    case DT_WIRE_FLOAT:
        DT_TRY(get_double(reader, &real));
        *out = PyFloat_FromDouble(real);
        break;
    case DT_WIRE_STR:
        return get_str(reader, out);
    case DT_WIRE_BYTES:
        DT_TRY(get_data(reader, &data, &size));
        *out = PyBytes_FromStringAndSize(data, size);
        break;
    case DT_WIRE_TUPLE:
        return get_tuple(reader, out);
    case DT_WIRE_PATH:
        return get_path(reader, out);
    case DT_WIRE_ATTRIBUTE:
        return get_attribute(reader, out);
    case DT_WIRE_CODE:
        return get_code(reader, out);
    case DT_WIRE_PICKLE:
        return get_pickle(reader, out);
    default:
        return bad("an object of unknown form");
    }
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* *out is borrowed from the list of objects. */
static DtStatus
get_object(Reader *reader, PyObject **out)
{
    uint32_t number;
    Py_ssize_t count = PyList_GET_SIZE(reader->objects);
    DT_TRY(get_below(reader, (uint64_t)count + 1, &number));
    if ((Py_ssize_t)number < count) {
        *out = PyList_GET_ITEM(reader->objects, number);
        /* The place of an object that is being read right now: a tuple in itself. */
        return *out != Py_NotImplemented ? DT_OK : bad("an object that contains itself");
    }
    if (PyList_Append(reader->objects, Py_NotImplemented) < 0) {
        return DT_ERROR;
    }
    PyObject *object;
    DT_TRY(get_definition(reader, &object));
    *out = object;
    return PyList_SetItem(reader->objects, number, object) == 0 ? DT_OK : DT_ERROR;
}

static DtStatus
get_kept(Reader *reader, DtGraph *graph, PyObject **out)
{
    DT_TRY(get_object(reader, out));
    return dt_graph_keep(graph, *out);
}

static DtStatus
get_optional_object(Reader *reader, DtGraph *graph, PyObject **out)
{
    uint8_t there;
    DT_TRY(get_choice(reader, 2, &there));
    *out = NULL;
    return there ? get_kept(reader, graph, out) : DT_OK;
}

/* ---- Parts of a graph ------------------------------------------------------------------------ */

static DtStatus
get_number(Reader *reader, int type, DtNumber *out)
{
    return type == DT_SYM_FLOAT ? get_double(reader, &out->d) : get_int(reader, &out->i);
}

static DtStatus
get_sym(Reader *reader, DtGraph *graph, const DtSym **out)
{
    DT_TRY(enter(reader));
    DtSym *sym = DT_ARENA_NEW(&graph->arena, DtSym);
    if (sym == NULL) {
        return dt_no_memory();
    }
    DT_TRY(get_choice(reader, DT_SYM_OP_COUNT, &sym->op));
    DT_TRY(get_choice(reader, DT_SYM_BOOL + 1, &sym->type));
    DT_TRY(get_number(reader, sym->type, &sym->hint));
    if (sym->op == DT_SYM_OP_SYMBOL) {
        DT_TRY(get_below(reader, UINT32_MAX, &sym->id));
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
get_operand(Reader *reader, DtGraph *graph, DtOperand *out)
{
    DT_TRY(enter(reader));
    uint32_t index;
    DT_TRY(get_choice(reader, DT_OPERAND_GRAPH + 1, &out->kind));
    switch ((DtOperandKind)out->kind) {
    case DT_OPERAND_NODE:
        DT_TRY(get_below(reader, graph->nodes.count, &index)); /* nodes before this one */
        out->u.node = graph->nodes.items[index];
        DT_TRY(get_below(reader, out->u.node->nresults, &out->result));
        break;
    case DT_OPERAND_CONST:
        DT_TRY(get_kept(reader, graph, &out->u.object));
        break;
    case DT_OPERAND_SYM:
        DT_TRY(get_sym(reader, graph, &out->u.sym));
        break;
    default:
        if (out->kind == DT_OPERAND_GRAPH) {
            DT_TRY(get_below(reader, graph->nested.count, &index));
            out->u.graph = graph->nested.items[index];
        }
        DT_TRY(get_count(reader, &out->count));
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
get_strides(Reader *reader, DtGraph *graph, DtMeta *meta)
{
    uint8_t there;
    DT_TRY(get_choice(reader, 2, &there));
    if (!there) {
        return DT_OK;
    }
    int8_t *order = dt_arena_alloc(&graph->arena, meta->ndim);
    if (order == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < meta->ndim; i++) {
        DT_TRY(get_choice(reader, meta->ndim, (uint8_t *)&order[i]));
    }
    meta->stride_order = order;
    return DT_OK;
}

static DtStatus
get_meta(Reader *reader, DtGraph *graph, DtMeta *meta)
{
    const char *adapter;
    PyObject *type;
    DT_TRY(get_optional(reader, graph, &adapter));
    if (adapter != NULL) {
        meta->adapter = dt_adapter_by_name(adapter);
        if (meta->adapter == NULL) {
            PyErr_Format(PyExc_ValueError, "the graph needs the adapter %s, which is missing",
                         adapter);
            return DT_ERROR;
        }
    }
    DT_TRY(get_kept(reader, graph, &type));
    if (!PyType_Check(type)) {
        return bad("a type that is none");
    }
    meta->type = (PyTypeObject *)type;
    DT_TRY(get_optional_object(reader, graph, &meta->dtype));
    DT_TRY(get_optional_object(reader, graph, &meta->device));
    DT_TRY(get_below(reader, UINT32_MAX, &meta->layout));
    DT_TRY(get_byte(reader, &meta->ndim));
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
get_effects(Reader *reader, DtGraph *graph, DtNode *node)
{
    DT_TRY(get_count(reader, &node->naliases));
    node->aliases = DT_ARENA_ARRAY(&graph->arena, DtAlias, node->naliases);
    if (node->aliases == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->naliases; i++) {
        DT_TRY(get_below(reader, node->nresults, &node->aliases[i].result));
        DT_TRY(get_below(reader, node->nargs, &node->aliases[i].arg));
    }
    DT_TRY(get_count(reader, &node->nmutated));
    node->mutated = DT_ARENA_ARRAY(&graph->arena, uint32_t, node->nmutated);
    if (node->mutated == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->nmutated; i++) {
        DT_TRY(get_below(reader, node->nargs, &node->mutated[i]));
    }
    return DT_OK;
}

static DtStatus
get_position(Reader *reader, DtGraph *graph, DtPosition *where)
{
    PyObject *code;
    DT_TRY(get_optional_object(reader, graph, &code));
    if (code != NULL && !PyCode_Check(code)) {
        return bad("a code object that is none");
    }
    where->code = (PyCodeObject *)code;
    DT_TRY(get_int32(reader, &where->line));
    DT_TRY(get_int32(reader, &where->end_line));
    DT_TRY(get_int32(reader, &where->col));
    return get_int32(reader, &where->end_col);
}

static DtStatus
get_node(Reader *reader, DtGraph *graph)
{
    DtNode *node = DT_ARENA_NEW(&graph->arena, DtNode);
    if (node == NULL) {
        return dt_no_memory();
    }
    node->graph = graph;
    node->index = graph->nodes.count;
    DT_TRY(get_choice(reader, DT_NODE_OUTPUT + 1, &node->kind));
    DT_TRY(get_choice(reader, DT_EFFECT_MUTATES + 1, &node->effect));
    DT_TRY(get_byte(reader, &node->fp_region));
    DT_TRY(get_text(reader, graph, &node->name));
    DT_TRY(get_optional(reader, graph, &node->target));
    DT_TRY(get_optional(reader, graph, &node->source_text));
    DT_TRY(get_optional_object(reader, graph, &node->callee));
    DT_TRY(get_optional_object(reader, graph, &node->kwnames));
    DT_TRY(get_count(reader, &node->nargs));
    node->args = DT_ARENA_ARRAY(&graph->arena, DtOperand, node->nargs);
    if (node->args == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < node->nargs; i++) {
        DT_TRY(get_operand(reader, graph, &node->args[i]));
    }
    DT_TRY(get_count(reader, &node->nresults));
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
get_inputs(Reader *reader, DtGraph *graph)
{
    uint32_t count, index;
    DT_TRY(get_count(reader, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtGraphInput input = {0};
        DT_TRY(get_below(reader, (uint64_t)graph->nodes.count + 1, &index));
        input.node = index > 0 ? graph->nodes.items[index - 1] : NULL;
        DT_TRY(get_below(reader, UINT32_MAX, &input.symbol));
        DT_TRY(get_text(reader, graph, &input.source_text));
        if (dt_vec_push(&graph->arena, &graph->inputs, input) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

/* Arrays of symbol values are as long as the limit says: it is bounded here. */
#define MOST_SYMBOLS (1u << 20)

static DtStatus
get_symbols(Reader *reader, DtGraph *graph)
{
    uint32_t count;
    DT_TRY(get_below(reader, MOST_SYMBOLS, &graph->symbol_limit));
    DT_TRY(get_count(reader, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtGraphSymbol symbol = {0};
        DT_TRY(get_below(reader, graph->symbol_limit, &symbol.id));
        DT_TRY(get_below(reader, graph->inputs.count + 1, &symbol.input));
        symbol.input--; /* 0: DT_NO_INPUT */
        DT_TRY(get_int32(reader, &symbol.dim));
        DT_TRY(get_choice(reader, DT_SYM_BOOL + 1, &symbol.type));
        DT_TRY(get_number(reader, symbol.type, &symbol.hint));
        if (dt_vec_push(&graph->arena, &graph->symbols, symbol) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

static DtStatus get_graph(Reader *reader, DtGraph **out);

static DtStatus
get_nested(Reader *reader, DtGraph *graph)
{
    uint32_t count;
    DT_TRY(get_count(reader, &count));
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
fill_graph(Reader *reader, DtGraph *graph)
{
    uint32_t count;
    DT_TRY(enter(reader));
    DT_TRY(get_text(reader, graph, &graph->name));
    DT_TRY(get_nested(reader, graph));
    DT_TRY(get_count(reader, &count));
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
get_graph(Reader *reader, DtGraph **out)
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
        bad("they begin with something else");
        return NULL;
    }
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++) {
        sum |= (uint64_t)(uint8_t)data[DT_WIRE_MAGIC_SIZE + i] << (8 * i);
    }
    if (sum != dt_wire_checksum(data + DT_WIRE_HEADER, size - DT_WIRE_HEADER)) {
        bad("their checksum is wrong");
        return NULL;
    }
    Reader reader = {.next = (const uint8_t *)data + DT_WIRE_HEADER,
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
        bad("there are bytes behind it");
    }
    Py_DECREF(reader.objects);
    return graph;
}
