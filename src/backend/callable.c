/* dyntrace.CompiledGraph: an executable as a Python callable.
 *
 * Rewritten code calls it with the graph's inputs and gets a tuple of the
 * outputs, or the replay sentinel, upon which it gives up and lets the plain
 * function run.  Not in here: any check of the inputs beyond their number; the
 * guards have done that.
 */
#include <stddef.h>

#include "backend/backend.h"
#include "compat/text.h"

PyObject *dt_replay_sentinel;

typedef struct CompiledGraph {
    PyObject_HEAD vectorcallfunc vectorcall;
    DtExecutable *exe; /* DT_OWNED, unless `lent`; NULL once the lender is gone */
    bool lent;
} CompiledGraph;

static PyTypeObject compiled_graph_type;
static PyTypeObject replay_type;

/* The executable (DT_BORROWED), or NULL with RuntimeError once its lender is gone. */
static DtExecutable *
executable_of(PyObject *self)
{
    DtExecutable *exe = ((CompiledGraph *)self)->exe;
    if (exe == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the compiled graph was dropped by reset()");
    }
    return exe;
}

static PyObject *
compiled_graph_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    enum { SMALL = 8 };
    DtExecutable *exe = executable_of(self);
    PyObject *small[SMALL] = {NULL};
    PyObject **outputs = small;
    PyObject *result = NULL;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (exe == NULL) {
        return NULL;
    }
    if ((kwnames != NULL && PyTuple_GET_SIZE(kwnames) > 0)
        || nargs != (Py_ssize_t)exe->graph->inputs.count) {
        PyErr_Format(PyExc_TypeError, "compiled graph takes %u positional arguments, got %zd",
                     exe->graph->inputs.count, nargs);
        return NULL;
    }
    if (exe->noutputs > SMALL) {
        outputs = PyMem_Calloc(exe->noutputs, sizeof(PyObject *));
        if (outputs == NULL) {
            return PyErr_NoMemory();
        }
    }
    dt_executable_incref(exe); /* a lender may go while it runs */
    switch (exe->type->run(exe, args, outputs)) {
    case DT_RUN_OK:
        result = PyTuple_New(exe->noutputs);
        for (uint32_t i = 0; i < exe->noutputs; i++) {
            if (result == NULL) {
                Py_DECREF(outputs[i]);
                continue;
            }
            PyTuple_SET_ITEM(result, i, outputs[i]);
        }
        break;
    case DT_RUN_REPLAY:
    case DT_RUN_OTHER_WAY:
        result = Py_NewRef(dt_replay_sentinel);
        break;
    case DT_RUN_ERROR:
        break;
    }
    dt_executable_decref(exe);
    if (outputs != small) {
        PyMem_Free(outputs);
    }
    return result;
}

static void
compiled_graph_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    CompiledGraph *graph = (CompiledGraph *)self;
    if (graph->exe != NULL && !graph->lent) {
        dt_executable_decref(graph->exe);
    }
    PyObject_GC_Del(self);
}

static int
compiled_graph_traverse(PyObject *self, visitproc visit, void *arg)
{
    CompiledGraph *graph = (CompiledGraph *)self;
    return graph->exe != NULL && !graph->lent ? dt_executable_traverse(graph->exe, visit, arg) : 0;
}

static PyObject *
compiled_graph_repr(PyObject *self)
{
    const DtExecutable *exe = ((CompiledGraph *)self)->exe;
    if (exe == NULL) {
        return PyUnicode_FromString("<dyntrace.CompiledGraph, dropped>");
    }
    return PyUnicode_FromFormat("<dyntrace.CompiledGraph %s by %s>",
                                exe->graph->name == NULL ? "graph" : exe->graph->name,
                                exe->type->name);
}

static PyObject *
compiled_graph_describe(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    const DtExecutable *exe = executable_of(self);
    DtStrbuf buf = {0};
    if (exe == NULL) {
        return NULL;
    }
    if (exe->type->describe != NULL) {
        exe->type->describe(exe, &buf);
    }
    return dt_text_take(&buf);
}

static PyObject *
compiled_graph_backend(PyObject *self, void *Py_UNUSED(closure))
{
    const DtExecutable *exe = executable_of(self);
    return exe != NULL ? PyUnicode_FromString(exe->type->name) : NULL;
}

static PyObject *
compiled_graph_graph(PyObject *self, void *Py_UNUSED(closure))
{
    const DtExecutable *exe = executable_of(self);
    return exe != NULL ? dt_graph_object(exe->graph) : NULL;
}

static PyMethodDef compiled_graph_methods[] = {
    {"describe", compiled_graph_describe, METH_NOARGS,
     PyDoc_STR("describe() -> str\n\nThe stages that the graph was compiled to, a line each.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef compiled_graph_getset[] = {
    {"backend", compiled_graph_backend, NULL, PyDoc_STR("Name of the backend."), NULL},
    {"graph", compiled_graph_graph, NULL, PyDoc_STR("The graph that it runs."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject compiled_graph_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.CompiledGraph",
    .tp_doc =
        PyDoc_STR("A compiled graph. Called with the graph's inputs it returns a tuple of the "
                  "outputs, or REPLAY when the call has to be made plainly."),
    .tp_basicsize = sizeof(CompiledGraph),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
                | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(CompiledGraph, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = compiled_graph_dealloc,
    .tp_traverse = compiled_graph_traverse,
    .tp_repr = compiled_graph_repr,
    .tp_methods = compiled_graph_methods,
    .tp_getset = compiled_graph_getset,
};

static PyObject *
replay_repr(PyObject *Py_UNUSED(self))
{
    return PyUnicode_FromString("dyntrace.REPLAY");
}

static PyTypeObject replay_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.Replay",
    .tp_doc = PyDoc_STR("Type of the value that asks for plain execution."),
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_repr = replay_repr,
};

PyObject *
dt_executable_object(DtExecutable *exe)
{
    if (dt_callable_init() < 0) {
        return NULL;
    }
    CompiledGraph *self = PyObject_GC_New(CompiledGraph, &compiled_graph_type);
    if (self == NULL) {
        return NULL;
    }
    dt_executable_incref(exe);
    self->exe = exe;
    self->lent = false;
    self->vectorcall = compiled_graph_call;
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

PyObject *
dt_executable_lend(DtExecutable *exe)
{
    PyObject *object = dt_executable_object(exe);
    if (object != NULL) {
        ((CompiledGraph *)object)->lent = true;
        dt_executable_decref(exe);
    }
    return object;
}

void
dt_executable_take_back(PyObject *object)
{
    ((CompiledGraph *)object)->exe = NULL;
}

DtExecutable *
dt_executable_of_object(PyObject *object)
{
    if (!Py_IS_TYPE(object, &compiled_graph_type)) {
        PyErr_Format(PyExc_TypeError, "expected a dyntrace.CompiledGraph, got %s",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    return ((CompiledGraph *)object)->exe;
}

/* graph(*inputs): op by op, errors as they come. */
static PyObject *
call_graph(DtGraph *graph, PyObject *const *inputs, Py_ssize_t n)
{
    DtExecutable *exe;
    if (dt_eager_compile(graph, &exe) != DT_OK) {
        return NULL;
    }
    exe->replayable = false;
    PyObject *callable = dt_executable_object(exe);
    dt_executable_decref(exe);
    if (callable == NULL) {
        return NULL;
    }
    PyObject *answer = PyObject_Vectorcall(callable, inputs, (size_t)n, NULL);
    Py_DECREF(callable);
    return answer;
}

int
dt_callable_init(void)
{
    if (dt_replay_sentinel != NULL) {
        return 0;
    }
    if (PyType_Ready(&compiled_graph_type) < 0 || PyType_Ready(&replay_type) < 0) {
        return -1;
    }
    dt_graph_caller = call_graph;
    dt_replay_sentinel = PyObject_New(PyObject, &replay_type);
    return dt_replay_sentinel == NULL ? -1 : 0;
}
