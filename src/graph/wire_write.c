/* Graphs to bytes; the form is described in wire.h.
 *
 * Runs user code: pickling constants, and importing modules to prove that a
 * path leads to the object that it stands for.
 */
#include "graph/wire.h"

typedef struct Writer {
    DtStrbuf out;
    PyObject *numbers; /* dict: address -> number of an object written before */
    PyObject *kept;    /* list of those objects, so that addresses stay theirs */
    int depth;
} Writer;

static const uint8_t arities[DT_SYM_OP_COUNT] = {
#define SYM_OP(NAME, ARITY, TEXT) [DT_SYM_OP_##NAME] = ARITY,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
};

int
dt_wire_sym_arity(int op)
{
    return arities[op];
}

static void
put_byte(Writer *writer, int byte)
{
    char c = (char)byte;
    dt_strbuf_addn(&writer->out, &c, 1);
}

static void
put_uint(Writer *writer, uint64_t value)
{
    while (value >= 0x80) {
        put_byte(writer, (int)(value & 0x7F) | 0x80);
        value >>= 7;
    }
    put_byte(writer, (int)value);
}

static void
put_int(Writer *writer, int64_t value)
{
    put_uint(writer, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void
put_fixed(Writer *writer, uint64_t bits)
{
    for (int i = 0; i < 8; i++) {
        put_byte(writer, (int)(bits >> (8 * i)) & 0xFF);
    }
}

static void
put_double(Writer *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_fixed(writer, bits);
}

static void
put_data(Writer *writer, const char *data, size_t size)
{
    put_uint(writer, size);
    dt_strbuf_addn(&writer->out, data, size);
}

static void
put_text(Writer *writer, const char *text)
{
    put_data(writer, text, strlen(text));
}

/* Presence, then the text. */
static void
put_optional(Writer *writer, const char *text)
{
    put_byte(writer, text != NULL);
    if (text != NULL) {
        put_text(writer, text);
    }
}

static DtStatus
enter(Writer *writer)
{
    if (++writer->depth > DT_WIRE_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "the graph is nested too deeply to be written");
        return DT_ERROR;
    }
    return DT_OK;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static DtStatus put_object(Writer *writer, PyObject *object);

/* True if `path` (module, qualified name) leads to the object. */
static bool
leads_back(PyObject *module, PyObject *qualname, PyObject *object)
{
    if (module == NULL || qualname == NULL || !PyUnicode_CheckExact(module)
        || !PyUnicode_CheckExact(qualname)) {
        PyErr_Clear(); /* of a missing attribute: there is no path then */
        return false;
    }
    PyObject *found = dt_wire_import(module, qualname);
    PyErr_Clear(); /* of a path that leads nowhere: the object is pickled */
    Py_XDECREF(found);
    return found == object;
}

static DtStatus
put_str(Writer *writer, PyObject *text)
{
    PyObject *data = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (data == NULL) {
        return DT_ERROR;
    }
    put_data(writer, PyBytes_AS_STRING(data), (size_t)PyBytes_GET_SIZE(data));
    Py_DECREF(data);
    return DT_OK;
}

static DtStatus
put_path(Writer *writer, PyObject *object, bool *done)
{
    PyObject *module = PyObject_GetAttrString(object, "__module__");
    PyErr_Clear(); /* a missing attribute: no path */
    PyObject *qualname = PyObject_GetAttrString(object, "__qualname__");
    DtStatus status = DT_OK;
    *done = leads_back(module, qualname, object);
    if (*done) {
        put_byte(writer, DT_WIRE_PATH);
        status = put_str(writer, module);
        if (status == DT_OK) {
            status = put_str(writer, qualname);
        }
    }
    Py_XDECREF(module);
    Py_XDECREF(qualname);
    return status;
}

/* A builtin bound to an object, such as numpy.add.reduce. */
static DtStatus
put_bound(Writer *writer, PyObject *object, bool *done)
{
    PyObject *self = PyCFunction_CheckExact(object) ? PyCFunction_GET_SELF(object) : NULL;
    if (self == NULL || PyModule_Check(self)) {
        return DT_OK;
    }
    *done = true;
    put_byte(writer, DT_WIRE_ATTRIBUTE);
    DT_TRY(put_object(writer, self));
    put_text(writer, ((PyCFunctionObject *)object)->m_ml->ml_name);
    return DT_OK;
}

static DtStatus
put_pickle(Writer *writer, PyObject *object)
{
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *data = pickle ? PyObject_CallMethod(pickle, "dumps", "Oi", object, 5) : NULL;
    Py_XDECREF(pickle);
    if (data == NULL || !PyBytes_Check(data)) {
        Py_XDECREF(data);
        if (PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
            PyErr_Clear(); /* of the pickler: replaced by what it means here */
            PyErr_Format(PyExc_ValueError,
                         "a graph with a %.200s can't be written: it has no "
                         "import path and can't be pickled",
                         Py_TYPE(object)->tp_name);
        }
        return DT_ERROR;
    }
    put_byte(writer, DT_WIRE_PICKLE);
    put_data(writer, PyBytes_AS_STRING(data), (size_t)PyBytes_GET_SIZE(data));
    Py_DECREF(data);
    return DT_OK;
}

static DtStatus
put_tuple(Writer *writer, PyObject *tuple)
{
    DT_TRY(enter(writer));
    put_byte(writer, DT_WIRE_TUPLE);
    put_uint(writer, (uint64_t)PyTuple_GET_SIZE(tuple));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        DT_TRY(put_object(writer, PyTuple_GET_ITEM(tuple, i)));
    }
    writer->depth--;
    return DT_OK;
}

static DtStatus
put_code(Writer *writer, PyCodeObject *code)
{
    put_byte(writer, DT_WIRE_CODE);
    DT_TRY(put_str(writer, code->co_filename));
    DT_TRY(put_str(writer, code->co_name));
    put_int(writer, code->co_firstlineno);
    return DT_OK;
}

/* Objects of few, fixed forms; *done is false for others. */
static DtStatus
put_plain(Writer *writer, PyObject *object, bool *done)
{
    *done = true;
    if (object == Py_None) {
        put_byte(writer, DT_WIRE_NONE);
    }
    else if (object == Py_True || object == Py_False) {
        put_byte(writer, object == Py_True ? DT_WIRE_TRUE : DT_WIRE_FALSE);
    }
    else if (object == Py_Ellipsis) {
        put_byte(writer, DT_WIRE_ELLIPSIS);
    }
    else if (PyFloat_CheckExact(object)) {
        put_byte(writer, DT_WIRE_FLOAT);
        put_double(writer, PyFloat_AS_DOUBLE(object));
    }
    else if (PyUnicode_CheckExact(object)) {
        put_byte(writer, DT_WIRE_STR);
        return put_str(writer, object);
    }
    else if (PyBytes_CheckExact(object)) {
        put_byte(writer, DT_WIRE_BYTES);
        put_data(writer, PyBytes_AS_STRING(object), (size_t)PyBytes_GET_SIZE(object));
    }
    else if (PyTuple_CheckExact(object)) {
        return put_tuple(writer, object);
    }
    else if (PyCode_Check(object)) {
        return put_code(writer, (PyCodeObject *)object);
    }
    else {
        int overflow = 1;
        long long value = 0;
        if (PyLong_CheckExact(object)) {
            value = PyLong_AsLongLongAndOverflow(object, &overflow);
        }
        *done = overflow == 0;
        if (*done) {
            put_byte(writer, DT_WIRE_INT);
            put_int(writer, value);
        }
    }
    return DT_OK;
}

static DtStatus
put_definition(Writer *writer, PyObject *object)
{
    bool done;
    DT_TRY(put_plain(writer, object, &done));
    if (!done) {
        DT_TRY(put_bound(writer, object, &done));
    }
    if (!done) {
        DT_TRY(put_path(writer, object, &done));
    }
    return done ? DT_OK : put_pickle(writer, object);
}

static DtStatus
put_object(Writer *writer, PyObject *object)
{
    PyObject *address = PyLong_FromVoidPtr(object);
    if (address == NULL) {
        return DT_ERROR;
    }
    PyObject *known = PyDict_GetItemWithError(writer->numbers, address);
    if (known != NULL) {
        put_uint(writer, PyLong_AsUnsignedLongLong(known));
        Py_DECREF(address);
        return DT_OK;
    }
    Py_ssize_t number = PyList_GET_SIZE(writer->kept);
    PyObject *value = PyLong_FromSsize_t(number);
    int failed = value == NULL || PyDict_SetItem(writer->numbers, address, value) < 0
                 || PyList_Append(writer->kept, object) < 0;
    Py_XDECREF(value);
    Py_DECREF(address);
    if (failed) {
        return DT_ERROR;
    }
    put_uint(writer, (uint64_t)number);
    return put_definition(writer, object);
}

static DtStatus
put_optional_object(Writer *writer, PyObject *object)
{
    put_byte(writer, object != NULL);
    return object != NULL ? put_object(writer, object) : DT_OK;
}

/* ---- Parts of a graph ------------------------------------------------------------------------ */

static void
put_number(Writer *writer, int type, DtNumber number)
{
    if (type == DT_SYM_FLOAT) {
        put_double(writer, number.d);
    }
    else {
        put_int(writer, number.i);
    }
}

static DtStatus
put_sym(Writer *writer, const DtSym *sym)
{
    DT_TRY(enter(writer));
    put_byte(writer, sym->op);
    put_byte(writer, sym->type);
    put_number(writer, sym->type, sym->hint);
    if (sym->op == DT_SYM_OP_SYMBOL) {
        put_uint(writer, sym->id);
    }
    int arity = dt_wire_sym_arity(sym->op);
    if (arity >= 1) {
        DT_TRY(put_sym(writer, sym->a));
    }
    if (arity == 2) {
        DT_TRY(put_sym(writer, sym->b));
    }
    writer->depth--;
    return DT_OK;
}

static uint32_t
find_nested(const DtGraph *graph, const DtGraph *nested)
{
    uint32_t i = 0;
    while (i < graph->nested.count && graph->nested.items[i] != nested) {
        i++;
    }
    return i;
}

static DtStatus
put_operand(Writer *writer, const DtGraph *graph, const DtOperand *operand)
{
    DT_TRY(enter(writer));
    put_byte(writer, operand->kind);
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE:
        put_uint(writer, operand->u.node->index);
        put_uint(writer, operand->result);
        break;
    case DT_OPERAND_CONST:
        DT_TRY(put_object(writer, operand->u.object));
        break;
    case DT_OPERAND_SYM:
        DT_TRY(put_sym(writer, operand->u.sym));
        break;
    default:
        if (operand->kind == DT_OPERAND_GRAPH) {
            put_uint(writer, find_nested(graph, operand->u.graph));
        }
        put_uint(writer, operand->count);
        for (uint32_t i = 0; i < operand->count; i++) {
            DT_TRY(put_operand(writer, graph, &operand->items[i]));
        }
    }
    writer->depth--;
    return DT_OK;
}

static DtStatus
put_meta(Writer *writer, const DtMeta *meta)
{
    put_optional(writer, meta->adapter != NULL ? meta->adapter->name : NULL);
    DT_TRY(put_object(writer, (PyObject *)meta->type));
    DT_TRY(put_optional_object(writer, meta->dtype));
    DT_TRY(put_optional_object(writer, meta->device));
    put_uint(writer, meta->layout);
    put_byte(writer, meta->ndim);
    for (int i = 0; i < meta->ndim; i++) {
        DT_TRY(put_sym(writer, meta->shape[i]));
    }
    put_byte(writer, meta->stride_order != NULL);
    if (meta->stride_order != NULL) {
        dt_strbuf_addn(&writer->out, (const char *)meta->stride_order, meta->ndim);
    }
    return DT_OK;
}

static DtStatus
put_node(Writer *writer, const DtGraph *graph, const DtNode *node)
{
    put_byte(writer, node->kind);
    put_byte(writer, node->effect);
    put_byte(writer, node->fp_region);
    put_text(writer, node->name);
    put_optional(writer, node->target);
    put_optional(writer, node->source_text);
    DT_TRY(put_optional_object(writer, node->callee));
    DT_TRY(put_optional_object(writer, node->kwnames));
    put_uint(writer, node->nargs);
    for (uint32_t i = 0; i < node->nargs; i++) {
        DT_TRY(put_operand(writer, graph, &node->args[i]));
    }
    put_uint(writer, node->nresults);
    for (uint32_t i = 0; i < node->nresults; i++) {
        DT_TRY(put_meta(writer, &node->results[i]));
    }
    put_uint(writer, node->naliases);
    for (uint32_t i = 0; i < node->naliases; i++) {
        put_uint(writer, node->aliases[i].result);
        put_uint(writer, node->aliases[i].arg);
    }
    put_uint(writer, node->nmutated);
    for (uint32_t i = 0; i < node->nmutated; i++) {
        put_uint(writer, node->mutated[i]);
    }
    DT_TRY(put_optional_object(writer, (PyObject *)node->where.code));
    put_int(writer, node->where.line);
    put_int(writer, node->where.end_line);
    put_int(writer, node->where.col);
    put_int(writer, node->where.end_col);
    return DT_OK;
}

static DtStatus
put_graph(Writer *writer, const DtGraph *graph)
{
    DT_TRY(enter(writer));
    put_text(writer, graph->name);
    put_uint(writer, graph->nested.count);
    for (uint32_t i = 0; i < graph->nested.count; i++) {
        DT_TRY(put_graph(writer, graph->nested.items[i]));
    }
    put_uint(writer, graph->nodes.count);
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        DT_TRY(put_node(writer, graph, graph->nodes.items[i]));
    }
    put_uint(writer, graph->inputs.count);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtGraphInput *input = &graph->inputs.items[i];
        put_uint(writer, input->node != NULL ? input->node->index + 1 : 0);
        put_uint(writer, input->symbol);
        put_text(writer, input->source_text);
    }
    put_uint(writer, graph->symbol_limit);
    put_uint(writer, graph->symbols.count);
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        put_uint(writer, symbol->id);
        put_uint(writer, symbol->input + 1); /* 0: DT_NO_INPUT */
        put_int(writer, symbol->dim);
        put_byte(writer, symbol->type);
        put_number(writer, symbol->type, symbol->hint);
    }
    writer->depth--;
    return DT_OK;
}

PyObject *
dt_graph_to_bytes(const DtGraph *graph)
{
    Writer writer = {.numbers = PyDict_New(), .kept = PyList_New(0)};
    PyObject *bytes = NULL;
    dt_strbuf_addn(&writer.out, DT_WIRE_MAGIC "\0\0\0\0\0\0\0\0", DT_WIRE_HEADER);
    if (writer.numbers != NULL && writer.kept != NULL && dt_graph_lint(graph) == DT_OK
        && put_graph(&writer, graph) == DT_OK) {
        if (writer.out.failed) {
            PyErr_NoMemory();
        }
        else {
            uint64_t sum = dt_wire_checksum(writer.out.text + DT_WIRE_HEADER,
                                            writer.out.length - DT_WIRE_HEADER);
            for (int i = 0; i < 8; i++) {
                writer.out.text[DT_WIRE_MAGIC_SIZE + i] = (char)(sum >> (8 * i));
            }
            bytes = PyBytes_FromStringAndSize(writer.out.text, (Py_ssize_t)writer.out.length);
        }
    }
    Py_XDECREF(writer.numbers);
    Py_XDECREF(writer.kept);
    dt_strbuf_release(&writer.out);
    return bytes;
}
