/* dyntrace.SymExpr: a symbolic size or number of a graph, for people and for
 * backends written in Python.
 */
#include <stdlib.h>
#include <string.h>

#include "compat/text.h"
#include "graph/internal.h"
#include "graph/py_types.h"

typedef struct SymExprObject {
    PyObject_HEAD DtGraphObject *graph;
    const DtSym *sym;   /* in the graph's arena, or `own` */
    DtSym own;          /* a symbol alone: callers may pass one from their stack */
    const char *source; /* of a number input, or NULL */
} SymExprObject;

PyObject *
dt_py_sym(DtGraphObject *graph, const DtSym *sym, const char *source)
{
    if (dt_sym_is_const(sym)) {
        return dt_symbols_number((DtSymType)sym->type, sym->hint);
    }
    SymExprObject *self = PyObject_GC_New(SymExprObject, &dt_sym_expr_type);
    if (self == NULL) {
        return NULL;
    }
    self->graph = (DtGraphObject *)Py_NewRef((PyObject *)graph);
    self->own = *sym;
    self->sym = sym->op == DT_SYM_OP_SYMBOL ? &self->own : sym;
    self->source = source;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static int
sym_traverse(SymExprObject *self, visitproc visit, void *arg)
{
    Py_VISIT(self->graph);
    return 0;
}

static void
sym_dealloc(SymExprObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_DECREF(self->graph);
    PyObject_GC_Del(self);
}

static PyObject *
sym_str(SymExprObject *self)
{
    DtStrbuf buf = {0};
    dt_sym_print(self->sym, &buf);
    return dt_text_take(&buf);
}

static Py_hash_t
sym_hash(SymExprObject *self)
{
    PyObject *text = sym_str(self);
    if (text == NULL) {
        return -1;
    }
    Py_hash_t hash = PyObject_Hash(text);
    Py_DECREF(text);
    return hash;
}

static PyObject *
sym_compare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !Py_IS_TYPE(a, &dt_sym_expr_type)
        || !Py_IS_TYPE(b, &dt_sym_expr_type)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool equal = dt_sym_equal(((SymExprObject *)a)->sym, ((SymExprObject *)b)->sym);
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject *
sym_get_hint(SymExprObject *self, void *Py_UNUSED(closure))
{
    return dt_symbols_number((DtSymType)self->sym->type, self->sym->hint);
}

static PyObject *
sym_get_type(SymExprObject *self, void *Py_UNUSED(closure))
{
    static PyTypeObject *const types[] = {&PyLong_Type, &PyFloat_Type, &PyBool_Type};
    return Py_NewRef((PyObject *)types[self->sym->type]);
}

static PyObject *
sym_get_source(SymExprObject *self, void *Py_UNUSED(closure))
{
    return self->source != NULL ? PyUnicode_FromString(self->source) : Py_NewRef(Py_None);
}

static PyObject *
sym_get_graph(SymExprObject *self, void *Py_UNUSED(closure))
{
    return Py_NewRef((PyObject *)self->graph);
}

static int
number_of(PyObject *object, DtSymType type, DtNumber *out)
{
    if (type == DT_SYM_FLOAT) {
        out->d = PyFloat_AsDouble(object);
    }
    else {
        out->i = PyLong_AsLongLong(object);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *
sym_evaluate(SymExprObject *self, PyObject *mapping)
{
    const DtGraph *graph = self->graph->graph;
    DtNumber *values = calloc((size_t)graph->symbol_limit + 1, sizeof *values);
    PyObject *result = NULL;
    if (values == NULL) {
        return PyErr_NoMemory();
    }
    for (uint32_t i = 0; i < graph->symbols.count; i++) {
        const DtGraphSymbol *symbol = &graph->symbols.items[i];
        DtSym printed = {.op = DT_SYM_OP_SYMBOL, .type = symbol->type, .id = symbol->id};
        DtStrbuf name = {0};
        dt_sym_print(&printed, &name);
        PyObject *value = PyMapping_GetItemString(mapping, dt_strbuf_text(&name));
        dt_strbuf_release(&name);
        int failed =
            value == NULL || number_of(value, (DtSymType)symbol->type, &values[symbol->id]) < 0;
        Py_XDECREF(value);
        if (failed) {
            goto done;
        }
    }
    DtNumber number;
    if (dt_sym_eval(self->sym, values, &number)) {
        result = dt_symbols_number((DtSymType)self->sym->type, number);
    }
    else {
        PyErr_SetString(PyExc_OverflowError, "the value does not fit int64, or divides by zero");
    }
done:
    free(values);
    return result;
}

static PyMethodDef sym_methods[] = {
    {"evaluate", (PyCFunction)sym_evaluate, METH_O,
     "evaluate($self, symbols, /)\n--\n\nThe value for a mapping from symbol names to numbers, "
     "such as "
     "Graph.bind() returns.\nOverflowError if it leaves int64 or divides by zero."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef sym_getsets[] = {
    {"hint", (getter)sym_get_hint, NULL, "Value in the call that was traced.", NULL},
    {"type", (getter)sym_get_type, NULL, "int, float or bool.", NULL},
    {"source", (getter)sym_get_source, NULL, "Where a number input is read; else None.", NULL},
    {"graph", (getter)sym_get_graph, NULL, "The graph that it belongs to.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject dt_sym_expr_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.SymExpr",
    .tp_doc = "A symbolic number of a graph: a size, an input or an expression of them.",
    .tp_basicsize = sizeof(SymExprObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = (traverseproc)sym_traverse,
    .tp_dealloc = (destructor)sym_dealloc,
    .tp_repr = (reprfunc)sym_str,
    .tp_str = (reprfunc)sym_str,
    .tp_hash = (hashfunc)sym_hash,
    .tp_richcompare = sym_compare,
    .tp_methods = sym_methods,
    .tp_getset = sym_getsets,
};

int
dt_py_sym_init(PyObject *module)
{
    return PyModule_AddType(module, &dt_sym_expr_type);
}
