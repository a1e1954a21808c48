/* User backends: a callable (graph, example_inputs[, options=...]) that returns a callable.
 *
 * The compiled callable gets the graph's inputs (arrays and Python numbers) and
 * returns a tuple or list of the outputs.  Whatever a backend gets wrong is a
 * dyntrace.BackendError that names the backend, with the original exception as
 * its cause.  What its compiled callable raises at run time is the user's own and
 * comes through as it is.  MemoryError and interrupts always do.
 */
#include "backend/user.h"

#include <stdlib.h>
#include <string.h>

typedef struct UserExecutable {
    DtExecutable base;
    PyObject *callable; /* DT_OWNED */
    char name[];        /* of the backend, for messages */
} UserExecutable;

/* Replaces the exception that is set by a BackendError whose cause it becomes. */
static void
wrap_exception(const char *name, const char *what)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) {
        return;
    }
    PyObject *type, *cause, *traceback;
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(cause, traceback);
    }
    PyErr_Format(dt_backend_error, "backend %s %s: %s: %S", name, what, Py_TYPE(cause)->tp_name,
                 cause);
    PyObject *error_type, *error, *error_traceback;
    PyErr_Fetch(&error_type, &error, &error_traceback);
    PyErr_NormalizeException(&error_type, &error, &error_traceback);
    if (PyErr_GivenExceptionMatches(error, dt_backend_error)) {
        PyException_SetCause(error, Py_NewRef(cause));
        PyException_SetContext(error, Py_NewRef(cause));
    }
    PyErr_Restore(error_type, error, error_traceback);
    Py_XDECREF(type);
    Py_XDECREF(cause);
    Py_XDECREF(traceback);
}

static DtRun
user_run(DtExecutable *base, PyObject *const *inputs, PyObject **outputs)
{
    UserExecutable *exe = (UserExecutable *)base;
    DtRun run = DT_RUN_ERROR;
    dt_executable_incref(base); /* the callable may drop the entry that owns us */
    PyObject *result = PyObject_Vectorcall(exe->callable, inputs, base->graph->inputs.count, NULL);
    if (result == NULL) {
        goto done;
    }
    if (!PyTuple_Check(result) && !PyList_Check(result)) {
        PyErr_Format(dt_backend_error,
                     "the callable compiled by backend %s returned %s, expected a tuple or list of "
                     "%u values",
                     exe->name, Py_TYPE(result)->tp_name, base->noutputs);
        goto done;
    }
    if (PySequence_Fast_GET_SIZE(result) != (Py_ssize_t)base->noutputs) {
        PyErr_Format(dt_backend_error,
                     "the callable compiled by backend %s returned %zd values, expected %u",
                     exe->name, PySequence_Fast_GET_SIZE(result), base->noutputs);
        goto done;
    }
    for (uint32_t i = 0; i < base->noutputs; i++) {
        outputs[i] = Py_NewRef(PySequence_Fast_GET_ITEM(result, i));
    }
    run = DT_RUN_OK;
done:
    Py_XDECREF(result);
    dt_executable_decref(base);
    return run;
}

static void
user_dealloc(DtExecutable *base)
{
    UserExecutable *exe = (UserExecutable *)base;
    Py_XDECREF(exe->callable);
    free(exe);
}

static int
user_traverse(DtExecutable *base, visitproc visit, void *arg)
{
    Py_VISIT(((UserExecutable *)base)->callable);
    return 0;
}

static void
user_describe(const DtExecutable *base, DtStrbuf *buf)
{
    const UserExecutable *exe = (const UserExecutable *)base;
    dt_strbuf_addf(buf, "backend %s: %s\n", exe->name, Py_TYPE(exe->callable)->tp_name);
}

static const DtExecutableType user_type = {
    .name = "user",
    .run = user_run,
    .dealloc = user_dealloc,
    .traverse = user_traverse,
    .describe = user_describe,
};

/* backend(graph, [examples], options=options); a new reference to what it returns. */
static PyObject *
call_backend(PyObject *backend, DtGraph *graph, PyObject *const *examples, uint32_t nexamples,
             PyObject *options)
{
    PyObject *result = NULL, *kwnames = NULL;
    PyObject *list = PyList_New(nexamples);
    PyObject *object = dt_graph_object(graph);
    if (list == NULL || object == NULL) {
        goto done;
    }
    for (uint32_t i = 0; i < nexamples; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(examples[i]));
    }
    if (options != NULL && options != Py_None) {
        kwnames = Py_BuildValue("(s)", "options");
        if (kwnames == NULL) {
            goto done;
        }
    }
    PyObject *args[] = {object, list, options};
    result = PyObject_Vectorcall(backend, args, 2, kwnames);
done:
    Py_XDECREF(kwnames);
    Py_XDECREF(object);
    Py_XDECREF(list);
    return result;
}

DtStatus
dt_user_compile(PyObject *backend, const char *name, DtGraph *graph, PyObject *const *examples,
                uint32_t nexamples, PyObject *options, DtExecutable **out)
{
    PyObject *callable = call_backend(backend, graph, examples, nexamples, options);
    if (callable == NULL) {
        wrap_exception(name, "raised");
        return DT_ERROR;
    }
    if (!PyCallable_Check(callable)) {
        PyErr_Format(dt_backend_error, "backend %s returned %s, expected a callable", name,
                     Py_TYPE(callable)->tp_name);
        Py_DECREF(callable);
        return DT_ERROR;
    }
    size_t length = strlen(name) + 1;
    UserExecutable *exe = calloc(1, sizeof(UserExecutable) + length);
    if (exe == NULL) {
        Py_DECREF(callable);
        return dt_no_memory();
    }
    dt_executable_init(&exe->base, &user_type, graph);
    exe->base.replayable = false;
    exe->callable = callable;
    memcpy(exe->name, name, length);
    *out = &exe->base;
    return DT_OK;
}
