/* White-box functions of the graph's lint and bytes, for `_core._testing`.
 *
 * graph_damage breaks one invariant of a copy and lints it; graph_reseal lets
 * damaged bytes past the checksum.
 */
#include <string.h>

#include "graph/internal.h"
#include "graph/wire.h"
#include "module/testing.h"

/* The graph's first call. */
static DtNode *
first_call(DtGraph *graph)
{
    uint32_t i = 0;
    while (graph->nodes.items[i]->kind == DT_NODE_INPUT) {
        i++;
    }
    return graph->nodes.items[i];
}

static DtNode *
last_node(DtGraph *graph)
{
    return graph->nodes.items[graph->nodes.count - 1];
}

static void
damage_index(DtGraph *graph)
{
    first_call(graph)->index++;
}

static void
damage_name(DtGraph *graph)
{
    first_call(graph)->name = graph->nodes.items[0]->name;
}

static void
damage_order(DtGraph *graph)
{
    first_call(graph)->args[0].u.node = first_call(graph);
}

static void
damage_result(DtGraph *graph)
{
    first_call(graph)->args[0].result = 7;
}

static void
damage_effect(DtGraph *graph)
{
    first_call(graph)->effect = DT_EFFECT_MUTATES;
}

static void
damage_alias(DtGraph *graph)
{
    static DtAlias nowhere = {0, 99};
    first_call(graph)->aliases = &nowhere;
    first_call(graph)->naliases = 1;
}

static void
damage_output(DtGraph *graph)
{
    graph->nodes.count--;
}

static void
damage_symbol(DtGraph *graph)
{
    graph->symbols.count = 0;
}

static void
damage_input(DtGraph *graph)
{
    graph->inputs.count--;
}

static void
damage_kind(DtGraph *graph)
{
    last_node(graph)->args[0].kind = 200;
}

static void
damage_target(DtGraph *graph)
{
    first_call(graph)->target = NULL;
}

static void
damage_kwnames(DtGraph *graph)
{
    first_call(graph)->kwnames = Py_None;
}

static void
damage_type(DtGraph *graph)
{
    first_call(graph)->results[0].type = NULL;
}

static void
damage_finished(DtGraph *graph)
{
    graph->finished = false;
}

static const struct {
    const char *name;
    void (*run)(DtGraph *);
} damages[] = {
    {"index", damage_index},   {"name", damage_name},         {"order", damage_order},
    {"result", damage_result}, {"effect", damage_effect},     {"alias", damage_alias},
    {"output", damage_output}, {"symbol", damage_symbol},     {"input", damage_input},
    {"kind", damage_kind},     {"target", damage_target},     {"kwnames", damage_kwnames},
    {"type", damage_type},     {"finished", damage_finished},
};

static PyObject *
testing_graph_damage(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *bytes;
    const char *what;
    if (!PyArg_ParseTuple(args, "Ss:graph_damage", &bytes, &what)) {
        return NULL;
    }
    DtGraph *graph = dt_graph_from_bytes(bytes); /* its own: nobody sees the damage */
    if (graph == NULL) {
        return NULL;
    }
    DtStatus status = DT_OK;
    bool found = false;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(damages); i++) {
        if (strcmp(what, damages[i].name) == 0) {
            found = true;
            damages[i].run(graph);
            status = dt_graph_lint(graph);
        }
    }
    dt_graph_decref(graph);
    if (!found) {
        return PyErr_Format(PyExc_ValueError, "no damage named %s", what);
    }
    return status == DT_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
testing_graph_damages(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < Py_ARRAY_LENGTH(damages); i++) {
        PyObject *name = PyUnicode_FromString(damages[i].name);
        if (name == NULL || PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *
testing_graph_reseal(PyObject *Py_UNUSED(module), PyObject *bytes)
{
    if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) < DT_WIRE_HEADER) {
        PyErr_SetString(PyExc_TypeError, "graph_reseal takes the bytes of a graph");
        return NULL;
    }
    Py_ssize_t size = PyBytes_GET_SIZE(bytes);
    PyObject *copy = PyBytes_FromStringAndSize(PyBytes_AS_STRING(bytes), size);
    if (copy == NULL) {
        return NULL;
    }
    char *data = PyBytes_AS_STRING(copy);
    uint64_t sum = dt_wire_checksum(data + DT_WIRE_HEADER, (size_t)size - DT_WIRE_HEADER);
    for (int i = 0; i < 8; i++) {
        data[DT_WIRE_MAGIC_SIZE + i] = (char)(sum >> (8 * i));
    }
    return copy;
}

PyMethodDef dt_testing_damage_methods[] = {
    {"graph_damage", testing_graph_damage, METH_VARARGS,
     "graph_damage(data, what)\n--\n\nLints a copy of the graph with one invariant broken."},
    {"graph_damages", testing_graph_damages, METH_NOARGS,
     "graph_damages()\n--\n\nAll that graph_damage knows."},
    {"graph_reseal", testing_graph_reseal, METH_O,
     "graph_reseal(data)\n--\n\nThe bytes with a fresh checksum, so that the reader is reached."},
    {NULL, NULL, 0, NULL},
};
