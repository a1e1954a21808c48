/* White-box functions of the code generation layer, for `_core._testing`. */
#include "codegen/codegen.h"
#include "compat/text.h"
#include "graph/internal.h"
#include "module/testing.h"
#include "symbolic/interp.h"
#include "variables/substitutes.h"

static PyObject *
list_of_sources(const DtSource *const *sources, uint32_t count)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        DtStrbuf buf = {0};
        dt_source_print(sources[i], &buf);
        PyObject *text = dt_text_take(&buf);
        if (text == NULL || PyList_Append(list, text) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

/* Runs the result program on outputs and loads; None when the plan has none. */
static PyObject *
run_result(const DtTrace *trace, const DtCodePlan *plan, PyObject *outputs, PyObject *loads)
{
    if (plan->result == NULL || outputs == Py_None) {
        return Py_NewRef(Py_None);
    }
    Py_ssize_t count = PyTuple_GET_SIZE(outputs);
    if (count != trace->graph->noutputs || PyTuple_GET_SIZE(loads) != plan->nloads) {
        return PyErr_Format(PyExc_ValueError, "the plan has %u outputs and %u loads",
                            trace->graph->noutputs, plan->nloads);
    }
    PyObject **taken = PyMem_New(PyObject *, count + 1);
    if (taken == NULL) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        taken[i] = Py_NewRef(PyTuple_GET_ITEM(outputs, i));
    }
    PyObject *answer = dt_result_run(plan->result, taken, &PyTuple_GET_ITEM(loads, 0),
                                     &(DtRunFrame){.globals = trace->globals});
    PyMem_Free(taken);
    return answer;
}

static PyObject *
describe_plan(DtTrace *trace, DtCodePlan *plan, PyObject *callable, PyObject *replay,
              PyObject *outputs, PyObject *loads)
{
    DtStrbuf buf = {0};
    PyObject *code = NULL, *answer = NULL, *dict = NULL;
    if (dt_emit_print(plan->emit, &buf) == DT_OK
        && dt_codegen_assemble(trace, plan, callable, replay, &code) == DT_OK) {
        answer = run_result(trace, plan, outputs, loads);
    }
    if (answer != NULL) {
        dict = Py_BuildValue(
            "{sN sO sN sN sN sO sI sO}", "text", dt_text_take(&buf), "code", code, "graph",
            dt_graph_object(trace->graph), "inputs", list_of_sources(plan->inputs, plan->ninputs),
            "loads", list_of_sources(plan->loads, plan->nloads), "frameless",
            plan->result != NULL ? Py_True : Py_False, "ncalls", plan->ncalls, "answer", answer);
    }
    Py_XDECREF(code);
    Py_XDECREF(answer);
    dt_strbuf_release(&buf);
    return dict;
}

/* codegen_plan(function, slots, callable, replay[, outputs, loads]): traces the call with these
 * values in the unified slots, and says what was planned. */
static PyObject *
testing_codegen_plan(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *slots, *callable, *replay, *outputs = Py_None, *loads = Py_None;
    if (!PyArg_ParseTuple(args, "O!O!OO|OO!:codegen_plan", &PyFunction_Type, &function,
                          &PyTuple_Type, &slots, &callable, &replay, &outputs, &PyTuple_Type,
                          &loads)) {
        return NULL;
    }
    PyFunctionObject *func = (PyFunctionObject *)function;
    PyCodeObject *code = (PyCodeObject *)func->func_code;
    PyObject *locals[256] = {NULL};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots) && i < 256; i++) {
        locals[i] = PyTuple_GET_ITEM(slots, i);
    }
    DtTraceFrame frame = {.locals = locals, .closure = func->func_closure};
    DtTrace *trace = NULL;
    DtVar *result;
    DtStatus status;
    do {
        if (trace != NULL && dt_substitute_load_wanted(trace) < 0) {
            return NULL;
        }
        trace = dt_trace_new(code, func->func_globals, PyEval_GetBuiltins(), function, NULL);
        if (trace == NULL) {
            return NULL;
        }
        status = dt_interp_run(trace, &frame, &result);
    } while (status == DT_RESTART);
    DtCodePlan plan = {0};
    PyObject *answer = NULL;
    if (status == DT_OK) {
        status = dt_codegen_plan(trace, result, &plan);
    }
    if (status == DT_OK) {
        answer = describe_plan(trace, &plan, callable, replay, outputs, loads);
    }
    else if (status != DT_ERROR) {
        answer = Py_BuildValue("{ss ss}", "break", dt_break_rows[trace->brk.id].id, "message",
                               trace->brk.message);
    }
    dt_result_free(plan.result);
    dt_trace_release(trace);
    return answer;
}

PyMethodDef dt_testing_plan_methods[] = {
    {"codegen_plan", testing_codegen_plan, METH_VARARGS,
     "codegen_plan(function, slots, callable, replay, outputs=None, loads=())\n--\n\n"
     "Traces one call and describes the plan; runs the result program if outputs are given."},
    {NULL, NULL, 0, NULL},
};
