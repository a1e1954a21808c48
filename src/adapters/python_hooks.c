/* How hooks of Python adapters are called: see python_hooks.h. */
#include "adapters/python_hooks.h"

#include "adapters/symint.h"

static PyObject *
hooks_of(const DtAdapter *adapter)
{
    return adapter->state;
}

/* Hooks that run in this thread.  Their own code is not captured: to it, nothing is an array. */
static _Thread_local int busy;

bool
dt_python_hook_runs(void)
{
    return busy > 0;
}

DtStatus
dt_python_hook_call(DtHook *hook, const char *name, DT_STEALS PyObject *args, PyObject **out)
{
    DtSymScope scope;
    *out = NULL;
    if (args == NULL) {
        return DT_ERROR;
    }
    PyObject *method = dt_python_attr(hooks_of(hook->adapter), name);
    if (method == NULL) {
        Py_DECREF(args);
        return DT_ERROR;
    }
    dt_symint_enter(&scope, hook->trace);
    busy++;
    PyObject *answer = PyObject_CallObject(method, args);
    busy--;
    dt_symint_leave(&scope);
    Py_DECREF(method);
    Py_DECREF(args);
    if (scope.status != DT_OK) {
        PyErr_Clear(); /* the exception that unwound the hook; the reason is in the trace */
        Py_XDECREF(answer);
        return scope.status;
    }
    if (answer == NULL) {
        return dt_break_on_exception(hook->trace);
    }
    *out = dt_trace_keep_take(hook->trace, answer);
    return *out == NULL ? DT_ERROR : DT_OK;
}

DtHook
dt_python_hook_new(const DtAdapter *adapter, DtTrace *trace)
{
    return (DtHook){.adapter = adapter, .trace = trace};
}

DtStatus
dt_python_hook_accept(DtHook *hook, PyObject *answer, DtVar **out)
{
    *out = NULL;
    if (answer == Py_NotImplemented) {
        return DT_OK;
    }
    DtSymScope scope;
    dt_symint_enter(&scope, hook->trace);
    DtStatus status = dt_python_accept(hook, answer, out);
    dt_symint_leave(&scope);
    return status;
}

DtStatus
dt_python_hook_refused(DtHook *hook, const char *what, const char *name)
{
    return dt_break(hook->trace, DT_BREAK_ARRAY_OP, "%s%s of %s is not captured by its adapter",
                    what, name, hook->adapter->name);
}

DtStatus
dt_python_hook_show(DtHook *hook, DtVar *var, PyObject **out)
{
    DtSymScope scope;
    dt_symint_enter(&scope, hook->trace);
    DtStatus status = dt_python_show(hook, var, out);
    dt_symint_leave(&scope);
    return status;
}

PyObject *
dt_python_hook_call_plain(const DtAdapter *adapter, const char *name, PyObject *argument)
{
    PyObject *method = dt_python_attr(hooks_of(adapter), name);
    busy++;
    PyObject *answer = method == NULL ? NULL : PyObject_CallOneArg(method, argument);
    busy--;
    Py_XDECREF(method);
    return answer;
}

int
dt_python_hook_ask(const DtAdapter *adapter, const char *name, PyObject *first, PyObject *second)
{
    PyObject *method = PyUnicode_InternFromString(name);
    if (method == NULL) {
        return -1;
    }
    busy++;
    PyObject *answer = PyObject_CallMethodObjArgs(hooks_of(adapter), method, first, second, NULL);
    int truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    busy--;
    Py_DECREF(method);
    Py_XDECREF(answer);
    return truth;
}

bool
dt_python_hook_ask_quietly(const DtAdapter *adapter, const char *name, PyObject *object)
{
    int yes = dt_python_hook_ask(adapter, name, object, NULL);
    if (yes < 0) {
        PyErr_WriteUnraisable(hooks_of(adapter));
    }
    return yes == 1;
}
