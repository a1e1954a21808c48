/* White-box entries of the native backend, for the tests in tests/backend and for bench/:
 *
 *   native_compile(backend, inputs, nodes, outputs) -> CompiledGraph
 *       A graph made by hand and compiled.  `nodes` are (target, callee, operands); an operand is
 *       ("v", i), value i (inputs first, then nodes), ("s", i), the number input i, or a constant.
 *       Metadata comes from running the nodes once; equal sizes above 1 share a symbol.
 *   bare_call(compiled, *inputs) -> output or tuple
 *       The kernel alone: no check, no guard; the measure of what an entry adds.
 */
#include "module/testing.h"

#if DYNTRACE_HAVE_NUMPY

#include "backend/backend.h"
#include "backend/native/lanes.h"
#include "core/workers.h"
#include "graph/internal.h"

typedef struct Maker {
    DtGraph *graph;
    PyObject *values;   /* list of example values, inputs first; DT_OWNED */
    DtNode **nodes;     /* per value; NULL for number inputs */
    const DtSym **syms; /* per value; NULL for arrays */
    uint32_t nvalues;
    DtMap sizes; /* size -> its symbol */
} Maker;

static DtStatus
fill_meta(Maker *maker, PyObject *value, DtMeta *meta)
{
    DtArena *arena = &maker->graph->arena;
    PyArrayObject *array = PyArray_Check(value) ? (PyArrayObject *)value : NULL;
    PyArray_Descr *descr = array != NULL ? (PyArray_Descr *)Py_NewRef(PyArray_DESCR(array))
                                         : PyArray_DescrFromScalar(value);
    if (descr == NULL) {
        return DT_ERROR;
    }
    meta->type = Py_TYPE(value);
    meta->dtype = (PyObject *)descr;
    meta->ndim = array == NULL ? 0 : (uint8_t)PyArray_NDIM(array);
    meta->layout = array != NULL && PyArray_IS_C_CONTIGUOUS(array) ? DT_LAYOUT_C : 0;
    meta->shape = DT_ARENA_ARRAY(arena, const DtSym *, meta->ndim + 1);
    DtStatus status = dt_graph_keep(maker->graph, (PyObject *)descr);
    Py_DECREF(descr);
    DT_TRY(status);
    DT_TRY(dt_graph_keep(maker->graph, (PyObject *)meta->type));
    if (meta->shape == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < meta->ndim; i++) {
        npy_intp size = PyArray_DIM(array, i);
        if (size <= 1) {
            meta->shape[i] = dt_sym_int(arena, size);
            continue;
        }
        const DtSym *sym = dt_map_get(&maker->sizes, (const void *)(uintptr_t)size);
        if (sym == NULL) {
            uint32_t id = maker->graph->symbol_limit++;
            sym = dt_sym_symbol(arena, id, DT_SYM_INT, (DtNumber){.i = size});
            if (sym == NULL
                || dt_map_set(arena, &maker->sizes, (const void *)(uintptr_t)size, (void *)sym)
                       < 0) {
                return dt_no_memory();
            }
        }
        meta->shape[i] = sym;
    }
    return DT_OK;
}

static DtStatus
add_input(Maker *maker, PyObject *value)
{
    DtGraph *graph = maker->graph;
    uint32_t position = graph->inputs.count;
    DtGraphInput input = {NULL, 0, NULL, "made by hand"};
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value)) {
        DtSymType type = PyFloat_CheckExact(value) ? DT_SYM_FLOAT
                         : PyBool_Check(value)     ? DT_SYM_BOOL
                                                   : DT_SYM_INT;
        DtNumber hint = {.i = 0};
        if (type == DT_SYM_FLOAT) {
            hint.d = PyFloat_AS_DOUBLE(value);
        }
        else {
            hint.i = PyLong_AsLongLong(value);
        }
        input.symbol = graph->symbol_limit++;
        maker->syms[maker->nvalues] = dt_sym_symbol(&graph->arena, input.symbol, type, hint);
        DtGraphSymbol symbol = {input.symbol, position, -1, (uint8_t)type, hint};
        if (maker->syms[maker->nvalues] == NULL) {
            return dt_no_memory();
        }
        DT_TRY(dt_graph_add_symbol(graph, symbol));
    }
    else {
        DT_TRY(dt_graph_add_node(graph, DT_NODE_INPUT, "x", &input.node));
        input.node->results = DT_ARENA_NEW(&graph->arena, DtMeta);
        input.node->nresults = 1;
        if (input.node->results == NULL) {
            return dt_no_memory();
        }
        DT_TRY(fill_meta(maker, value, input.node->results));
        maker->nodes[maker->nvalues] = input.node;
    }
    if (dt_vec_push(&graph->arena, &graph->inputs, input) < 0) {
        return dt_no_memory();
    }
    return PyList_Append(maker->values, value) < 0 ? DT_ERROR : (maker->nvalues++, DT_OK);
}

/* *value is borrowed. */
static DtStatus
make_operand(Maker *maker, PyObject *spec, DtOperand *operand, PyObject **value)
{
    const char *kind;
    Py_ssize_t index;
    if (!PyTuple_Check(spec)) {
        operand->kind = DT_OPERAND_CONST;
        operand->u.object = spec;
        *value = spec;
        return dt_graph_keep(maker->graph, spec);
    }
    if (!PyArg_ParseTuple(spec, "sn", &kind, &index)) {
        return DT_ERROR;
    }
    if (index < 0 || index >= (Py_ssize_t)maker->nvalues) {
        PyErr_SetString(PyExc_IndexError, "no such value");
        return DT_ERROR;
    }
    *value = PyList_GET_ITEM(maker->values, index);
    if (kind[0] == 's') {
        operand->kind = DT_OPERAND_SYM;
        operand->u.sym = maker->syms[index];
    }
    else {
        operand->kind = DT_OPERAND_NODE;
        operand->u.node = maker->nodes[index];
    }
    return DT_OK;
}

static DtStatus
add_call(Maker *maker, PyObject *spec)
{
    DtArena *arena = &maker->graph->arena;
    const char *target;
    PyObject *callee, *operands;
    if (!PyArg_ParseTuple(spec, "sOO!", &target, &callee, &PyTuple_Type, &operands)) {
        return DT_ERROR;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(operands);
    DtNode *node;
    DT_TRY(dt_graph_add_node(maker->graph, DT_NODE_CALL, "call", &node));
    node->target = dt_arena_strdup(arena, target);
    node->callee = callee;
    node->nargs = (uint32_t)count;
    node->args = DT_ARENA_ARRAY(arena, DtOperand, count + 1);
    node->results = DT_ARENA_NEW(arena, DtMeta);
    node->nresults = 1;
    if (node->target == NULL || node->args == NULL || node->results == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_graph_keep(maker->graph, callee));
    PyObject *args = PyTuple_New(count);
    if (args == NULL) {
        return DT_ERROR;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value;
        DtStatus status =
            make_operand(maker, PyTuple_GET_ITEM(operands, i), &node->args[i], &value);
        if (status != DT_OK) {
            Py_DECREF(args);
            return status;
        }
        PyTuple_SET_ITEM(args, i, Py_NewRef(value));
    }
    PyObject *result = PyObject_Call(callee, args, NULL);
    Py_DECREF(args);
    if (result == NULL) {
        return DT_ERROR;
    }
    DtStatus status = PyList_Append(maker->values, result) < 0 ? DT_ERROR : DT_OK;
    if (status == DT_OK) {
        status = fill_meta(maker, result, node->results);
    }
    Py_DECREF(result);
    maker->nodes[maker->nvalues++] = node;
    return status;
}

static DtStatus
make_graph(Maker *maker, PyObject *inputs, PyObject *nodes, PyObject *outputs)
{
    DtGraph *graph = maker->graph;
    Py_ssize_t count = PyList_GET_SIZE(inputs) + PyList_GET_SIZE(nodes);
    maker->nodes = DT_ARENA_ARRAY(&graph->arena, DtNode *, count + 1);
    maker->syms = DT_ARENA_ARRAY(&graph->arena, const DtSym *, count + 1);
    if (maker->nodes == NULL || maker->syms == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        DT_TRY(add_input(maker, PyList_GET_ITEM(inputs, i)));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(nodes); i++) {
        DT_TRY(add_call(maker, PyList_GET_ITEM(nodes, i)));
    }
    graph->noutputs = (uint32_t)PyList_GET_SIZE(outputs);
    graph->outputs = DT_ARENA_ARRAY(&graph->arena, DtOperand, graph->noutputs + 1);
    if (graph->outputs == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        PyObject *value;
        DT_TRY(make_operand(maker, PyList_GET_ITEM(outputs, i), &graph->outputs[i], &value));
    }
    DtNode *output;
    DT_TRY(dt_graph_add_node(graph, DT_NODE_OUTPUT, "output", &output));
    graph->finished = true;
    return DT_OK;
}

static PyObject *
native_compile(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *backend, *inputs, *nodes, *outputs;
    if (!PyArg_ParseTuple(args, "OO!O!O!", &backend, &PyList_Type, &inputs, &PyList_Type, &nodes,
                          &PyList_Type, &outputs)) {
        return NULL;
    }
    PyObject *result = NULL;
    DtExecutable *exe = NULL;
    Maker maker = {.graph = dt_graph_new("by_hand"), .values = PyList_New(0)};
    if (maker.graph == NULL || maker.values == NULL || dt_native_init() < 0) {
        goto done;
    }
    if (make_graph(&maker, inputs, nodes, outputs) != DT_OK) {
        goto done;
    }
    if (dt_backend_compile(backend, maker.graph, PySequence_Fast_ITEMS(inputs),
                           (uint32_t)PyList_GET_SIZE(inputs), NULL, &exe)
        == DT_OK) {
        result = dt_executable_object(exe);
        dt_executable_decref(exe);
    }
done:
    dt_graph_decref(maker.graph);
    Py_XDECREF(maker.values);
    return result;
}

static PyObject *
bare_call(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs)
{
    enum { SMALL = 16 };
    PyObject *outputs[SMALL];
    DtExecutable *exe = nargs == 0 ? NULL : dt_executable_of_object(args[0]);
    if (exe == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "bare_call() takes a compiled graph and its inputs");
        }
        return NULL;
    }
    if (exe->noutputs > SMALL) {
        PyErr_Format(PyExc_ValueError, "bare_call() handles at most %d outputs", SMALL);
        return NULL;
    }
    switch (exe->type->run(exe, args + 1, outputs)) {
    case DT_RUN_OK:
        break;
    case DT_RUN_REPLAY:
    case DT_RUN_OTHER_WAY:
        return Py_NewRef(dt_replay_sentinel);
    case DT_RUN_ERROR:
        return NULL;
    }
    if (exe->noutputs == 1) {
        return outputs[0];
    }
    PyObject *tuple = PyTuple_New(exe->noutputs);
    for (uint32_t i = 0; i < exe->noutputs; i++) {
        if (tuple == NULL) {
            Py_DECREF(outputs[i]);
            continue;
        }
        PyTuple_SET_ITEM(tuple, i, outputs[i]);
    }
    return tuple;
}

static PyObject *
replay(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return dt_callable_init() < 0 ? NULL : Py_NewRef(dt_replay_sentinel);
}

static PyObject *
set_lane_work(PyObject *Py_UNUSED(module), PyObject *number)
{
    Py_ssize_t before = dt_lanes_work, work = PyLong_AsSsize_t(number);
    if (work < 1) {
        PyErr_SetString(PyExc_ValueError, "expected a positive number");
        return NULL;
    }
    dt_lanes_work = work;
    return PyLong_FromSsize_t(before);
}

static PyObject *
workers_helped(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLongLong(dt_workers_helped());
}

PyMethodDef dt_testing_native_methods[] = {
    {"replay", replay, METH_NOARGS, PyDoc_STR("replay() -> what asks for plain execution")},
    {"native_compile", native_compile, METH_VARARGS,
     PyDoc_STR("native_compile(backend, inputs, nodes, outputs) -> CompiledGraph")},
    {"bare_call", (PyCFunction)(void (*)(void))bare_call, METH_FASTCALL,
     PyDoc_STR("bare_call(compiled, *inputs): run the kernel, check nothing")},
    {"set_lane_work", set_lane_work, METH_O,
     PyDoc_STR(
         "set_lane_work(n) -> before: steps on elements from which on a thread more is used")},
    {"workers_helped", workers_helped, METH_NOARGS,
     PyDoc_STR("workers_helped() -> how often a worker thread did a part of something")},
    {NULL, NULL, 0, NULL},
};

#endif
