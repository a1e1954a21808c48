/* See testing.h: collects the tables that each layer's testing file brings. */
#include "module/testing.h"

#include "eval_frame/hook.h"

static PyObject *
hook_is_installed(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(dt_hook_is_installed());
}

static PyObject *
fault_next(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    dt_state.fault_next = true;
    Py_RETURN_NONE;
}

static PyObject *
force_breaks(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned int at, every, below = 0;
    if (!PyArg_ParseTuple(args, "II|I:force_breaks", &at, &every, &below)) {
        return NULL;
    }
    dt_state.trace_options.break_at = at;
    dt_state.trace_options.break_every = every;
    dt_state.trace_options.break_below = below;
    Py_RETURN_NONE;
}

static PyMethodDef own_methods[] = {
    {"force_breaks", force_breaks, METH_VARARGS,
     "force_breaks(at, every, below=0)\n--\n\n"
     "Later traces break before the root's canonical instruction number at - 1, and before every\n"
     "every-th that they come to, and before every below-th instruction, if it is one of a call\n"
     "that is followed; 0: don't."},
    {"fault_next", fault_next, METH_NOARGS, NULL},
    {"hook_is_installed", hook_is_installed, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef *const tables[] = {
    own_methods,
    dt_testing_bytecode_methods,
    dt_testing_variables_methods,
    dt_testing_trackers_methods,
    dt_testing_adapters_methods,
    dt_testing_guards_methods,
    dt_testing_damage_methods,
    dt_testing_graph_methods,
    dt_testing_plan_methods,
    dt_testing_driver_methods,
    dt_testing_scale_methods,
    dt_testing_sideeffects_methods,
#if DYNTRACE_HAVE_NUMPY
    dt_testing_native_methods,
#endif
};

int
dt_testing_add(PyObject *module)
{
    PyObject *testing = PyModule_New("dyntrace._core._testing");
    if (testing == NULL) {
        return -1;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !failed; i++) {
        failed = PyModule_AddFunctions(testing, tables[i]) < 0;
    }
    failed = failed || PyModule_AddObjectRef(module, "_testing", testing) < 0;
    Py_DECREF(testing);
    return failed ? -1 : 0;
}
