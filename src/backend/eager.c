/* The eager executor: runs a graph op by op through Python calls, in program order.
 *
 * It is there for debugging, for comparison and for graphs of any adapter.
 * Invariants: a value is released right after its last use, so intermediates
 * live no longer than in plain execution; an exception is never reported from
 * here as long as nothing visible happened (the caller runs the frame plainly,
 * which raises it from the user's line), and what was written to arrays is
 * put back; after any other effect it is reported, because a second run would
 * repeat the effect.
 *
 * Not in here: anything that knows NumPy.
 */
#include "backend/eager.h"

#include "backend/guessed.h"
#include "backend/written.h"

#include <stdlib.h>
#include <string.h>

typedef struct EagerExecutable {
    DtExecutable base;
    uint32_t last_use[]; /* per node */
} EagerExecutable;

/* Values of small graphs live on the C stack. */
enum { STACK_VALUES = 64 };

static void
mark_uses(const DtOperand *operand, uint32_t user, uint32_t *last)
{
    if (operand->kind == DT_OPERAND_NODE) {
        last[operand->u.node->index] = user;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        mark_uses(&operand->items[i], user, last);
    }
}

void
dt_eager_last_uses(const DtGraph *graph, uint32_t *last)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        last[i] = i;
        for (uint32_t j = 0; node->kind == DT_NODE_CALL && j < node->nargs; j++) {
            mark_uses(&node->args[j], i, last);
        }
    }
    for (uint32_t i = 0; i < graph->noutputs; i++) {
        mark_uses(&graph->outputs[i], UINT32_MAX, last);
    }
}

bool
dt_eager_has_effect(const DtNode *node)
{
    if (node->effect != DT_EFFECT_MUTATES) {
        return node->effect != DT_EFFECT_PURE;
    }
    /* Writing memory that this run of the graph has made itself is nobody's business. */
    return dt_graph_is_write(node) && !dt_written_can_undo(node);
}

static PyObject *
number_object(const DtSym *sym, const DtNumber *symbols)
{
    DtNumber number;
    if (!dt_sym_eval(sym, symbols, &number)) {
        PyErr_SetString(PyExc_OverflowError, "a symbolic number leaves the range of int64");
        return NULL;
    }
    switch (sym->type) {
    case DT_SYM_INT:
        return PyLong_FromLongLong(number.i);
    case DT_SYM_FLOAT:
        return PyFloat_FromDouble(number.d);
    default:
        return PyBool_FromLong(number.i != 0);
    }
}

static PyObject *
node_value(const DtOperand *operand, PyObject *const *values)
{
    const DtNode *node = operand->u.node;
    PyObject *value = values[node->index];
    if (value == NULL) {
        PyErr_Format(PyExc_SystemError, "graph value %s is not there", node->name);
        return NULL;
    }
    if (node->kind == DT_NODE_CALL && node->nresults > 1) {
        if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) <= (Py_ssize_t)operand->result) {
            PyErr_Format(PyExc_TypeError, "%s should have given %u results", node->target,
                         node->nresults);
            return NULL;
        }
        value = PyTuple_GET_ITEM(value, operand->result);
    }
    return Py_NewRef(value);
}

/* A nested graph becomes a callable with its captures already bound in front. */
static PyObject *
graph_object(const DtOperand *operand, PyObject *const *values, const DtNumber *symbols)
{
    DtExecutable *exe;
    if (dt_eager_compile(operand->u.graph, &exe) != DT_OK) {
        return NULL;
    }
    exe->replayable = false;
    PyObject *callable = dt_executable_object(exe);
    dt_executable_decref(exe);
    if (callable == NULL || operand->count == 0) {
        return callable;
    }
    PyObject *bound = NULL, *partial = NULL;
    PyObject *arguments = PyTuple_New((Py_ssize_t)operand->count + 1);
    PyObject *functools = PyImport_ImportModule("functools");
    if (arguments == NULL || functools == NULL) {
        goto done;
    }
    PyTuple_SET_ITEM(arguments, 0, Py_NewRef(callable));
    for (uint32_t i = 0; i < operand->count; i++) {
        PyObject *item = dt_eager_operand(&operand->items[i], values, symbols);
        if (item == NULL) {
            goto done;
        }
        PyTuple_SET_ITEM(arguments, (Py_ssize_t)i + 1, item);
    }
    partial = PyObject_GetAttrString(functools, "partial");
    bound = partial == NULL ? NULL : PyObject_CallObject(partial, arguments);
done:
    Py_XDECREF(partial);
    Py_XDECREF(functools);
    Py_XDECREF(arguments);
    Py_DECREF(callable);
    return bound;
}

static PyObject *
sequence_object(const DtOperand *operand, PyObject *const *values, const DtNumber *symbols)
{
    bool is_list = operand->kind == DT_OPERAND_LIST;
    PyObject *sequence = is_list ? PyList_New(operand->count) : PyTuple_New(operand->count);
    if (sequence == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        PyObject *item = dt_eager_operand(&operand->items[i], values, symbols);
        if (item == NULL) {
            Py_DECREF(sequence);
            return NULL;
        }
        if (is_list) {
            PyList_SET_ITEM(sequence, i, item);
        }
        else {
            PyTuple_SET_ITEM(sequence, i, item);
        }
    }
    return sequence;
}

static PyObject *
dict_object(const DtOperand *operand, PyObject *const *values, const DtNumber *symbols)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict != NULL && i + 1 < operand->count; i += 2) {
        PyObject *key = dt_eager_operand(&operand->items[i], values, symbols);
        PyObject *value =
            key == NULL ? NULL : dt_eager_operand(&operand->items[i + 1], values, symbols);
        if (value == NULL || PyDict_SetItem(dict, key, value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *
slice_object(const DtOperand *operand, PyObject *const *values, const DtNumber *symbols)
{
    PyObject *parts[3] = {NULL, NULL, NULL};
    PyObject *slice = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        parts[i] = dt_eager_operand(&operand->items[i], values, symbols);
        if (parts[i] == NULL) {
            goto done;
        }
    }
    slice = PySlice_New(parts[0], parts[1], parts[2]);
done:
    Py_XDECREF(parts[0]);
    Py_XDECREF(parts[1]);
    Py_XDECREF(parts[2]);
    return slice;
}

PyObject *
dt_eager_operand(const DtOperand *operand, PyObject *const *values, const DtNumber *symbols)
{
    switch ((DtOperandKind)operand->kind) {
    case DT_OPERAND_NODE:
        return node_value(operand, values);
    case DT_OPERAND_CONST:
        return Py_NewRef(operand->u.object);
    case DT_OPERAND_SYM:
        return number_object(operand->u.sym, symbols);
    case DT_OPERAND_TUPLE:
    case DT_OPERAND_LIST:
        return sequence_object(operand, values, symbols);
    case DT_OPERAND_DICT:
        return dict_object(operand, values, symbols);
    case DT_OPERAND_SLICE:
        return slice_object(operand, values, symbols);
    case DT_OPERAND_GRAPH:
        return graph_object(operand, values, symbols);
    }
    PyErr_Format(PyExc_SystemError, "unknown operand kind %d", operand->kind);
    return NULL;
}

static _Thread_local uint32_t calls_on_the_way;

bool
dt_eager_is_calling(void)
{
    return calls_on_the_way > 0;
}

PyObject *
dt_eager_call(const DtNode *node, PyObject *const *values, const DtNumber *symbols)
{
    enum { SMALL = 8 };
    PyObject *small[SMALL];
    PyObject **args = small;
    PyObject *result = NULL;
    uint32_t made = 0;
    if (node->nargs > SMALL) {
        args = PyMem_Malloc(node->nargs * sizeof(PyObject *));
        if (args == NULL) {
            return PyErr_NoMemory();
        }
    }
    for (; made < node->nargs; made++) {
        args[made] = dt_eager_operand(&node->args[made], values, symbols);
        if (args[made] == NULL) {
            goto done;
        }
    }
    Py_ssize_t nkw = node->kwnames == NULL ? 0 : PyTuple_GET_SIZE(node->kwnames);
    calls_on_the_way++;
    result = PyObject_Vectorcall(node->callee, args, (size_t)((Py_ssize_t)node->nargs - nkw),
                                 node->kwnames);
    calls_on_the_way--;
done:
    while (made > 0) {
        made--;
        Py_DECREF(args[made]);
    }
    if (args != small) {
        PyMem_Free(args);
    }
    return result;
}

DtRun
dt_eager_failure(bool committed)
{
    if (committed || PyErr_ExceptionMatches(PyExc_MemoryError)
        || !PyErr_ExceptionMatches(PyExc_Exception)) {
        return DT_RUN_ERROR;
    }
    bool other_way = PyErr_ExceptionMatches(dt_guessed_other_way);
    /* The exception of an array operation (a shape, a floating-point error, ...): the call is made
     * again plainly and raises it with the user's frames. */
    PyErr_Clear();
    return other_way ? DT_RUN_OTHER_WAY : DT_RUN_REPLAY;
}

DtRun
dt_eager_outcome(DtRun run, bool committed)
{
    if (run == DT_RUN_ERROR && !committed && PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear(); /* MemoryError: see eager.h */
        return DT_RUN_REPLAY;
    }
    return run;
}

/* Runs all nodes; values of dead nodes are released on the way. */
static DtRun
run_nodes(EagerExecutable *exe, PyObject **values, const DtNumber *symbols, bool *committed,
          DtWrittenLog *log)
{
    const DtGraph *graph = exe->base.graph;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const DtNode *node = graph->nodes.items[i];
        if (node->kind != DT_NODE_CALL) {
            continue;
        }
        *committed = *committed || dt_eager_has_effect(node);
        if (!*committed && dt_written_can_undo(node)) {
            DtRun saved = dt_written_save(log, node, values, symbols);
            if (saved != DT_RUN_OK) {
                return saved == DT_RUN_ERROR ? dt_eager_failure(false) : saved;
            }
        }
        values[i] = dt_eager_call(node, values, symbols);
        if (values[i] == NULL) {
            return dt_eager_failure(*committed);
        }
        for (uint32_t j = 0; j <= i; j++) {
            if (exe->last_use[j] == i) {
                Py_CLEAR(values[j]);
            }
        }
    }
    return DT_RUN_OK;
}

static DtRun
eager_run(DtExecutable *base, PyObject *const *inputs, PyObject **outputs)
{
    EagerExecutable *exe = (EagerExecutable *)base;
    const DtGraph *graph = base->graph;
    uint32_t nodes = graph->nodes.count;
    PyObject *stack_values[STACK_VALUES];
    DtNumber stack_symbols[STACK_VALUES];
    PyObject **values = stack_values;
    DtNumber *symbols = stack_symbols;
    void *heap = NULL;
    DtRun run = DT_RUN_OK;
    uint32_t made = 0;
    bool committed = !base->replayable;
    DtWrittenLog log = {0};

    if (nodes > STACK_VALUES || graph->symbol_limit > STACK_VALUES) {
        heap = PyMem_Malloc(nodes * sizeof(PyObject *) + graph->symbol_limit * sizeof(DtNumber));
        if (heap == NULL) {
            PyErr_NoMemory();
            return dt_eager_outcome(DT_RUN_ERROR, committed);
        }
        symbols = heap;
        values = (PyObject **)(symbols + graph->symbol_limit);
    }
    memset(values, 0, nodes * sizeof(PyObject *));
    dt_executable_incref(base); /* a called op may drop the entry that owns us */
    if (!dt_graph_read_symbols(graph, inputs, symbols)) {
        if (committed) {
            PyErr_SetString(PyExc_OverflowError, "a number leaves the range of int64");
        }
        run = committed ? DT_RUN_ERROR : DT_RUN_REPLAY;
        goto done;
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const DtNode *node = graph->inputs.items[i].node;
        if (node != NULL) {
            values[node->index] = Py_NewRef(inputs[i]);
        }
    }
    run = run_nodes(exe, values, symbols, &committed, &log);
    for (; run == DT_RUN_OK && made < graph->noutputs; made++) {
        outputs[made] = dt_eager_operand(&graph->outputs[made], values, symbols);
        if (outputs[made] == NULL) {
            run = dt_eager_failure(committed);
            break;
        }
    }
done:
    run = dt_eager_outcome(run, committed);
    if (run != DT_RUN_OK) {
        if (!committed) {
            dt_written_undo(&log);
        }
        while (made > 0) {
            made--; /* the macro of 3.10 and 3.11 evaluates its argument several times */
            Py_CLEAR(outputs[made]);
        }
    }
    dt_written_forget(&log);
    for (uint32_t i = 0; i < nodes; i++) {
        Py_XDECREF(values[i]);
    }
    PyMem_Free(heap);
    dt_executable_decref(base);
    return run;
}

static void
eager_dealloc(DtExecutable *exe)
{
    free(exe);
}

static void
eager_describe(const DtExecutable *exe, DtStrbuf *buf)
{
    uint32_t calls = 0;
    for (uint32_t i = 0; i < exe->graph->nodes.count; i++) {
        calls += exe->graph->nodes.items[i]->kind == DT_NODE_CALL;
    }
    dt_strbuf_addf(buf, "eager: %u operations, one Python call each\n", calls);
}

static const DtExecutableType eager_type = {
    .name = "eager",
    .run = eager_run,
    .dealloc = eager_dealloc,
    .describe = eager_describe,
};

DtStatus
dt_eager_compile(DtGraph *graph, DtExecutable **out)
{
    EagerExecutable *exe =
        calloc(1, sizeof(EagerExecutable) + graph->nodes.count * sizeof(uint32_t));
    if (exe == NULL) {
        return dt_no_memory();
    }
    dt_executable_init(&exe->base, &eager_type, graph);
    dt_eager_last_uses(graph, exe->last_use);
    *out = &exe->base;
    return DT_OK;
}
