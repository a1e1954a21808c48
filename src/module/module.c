/* The extension module dyntrace._core: types, functions for python/dyntrace, start-up.
 *
 * Everything public is re-exported, documented and checked for its arguments by
 * python/dyntrace/; nothing here is meant for users.
 */
#if DYNTRACE_HAVE_NUMPY
#include "adapters/numpy/shaped.h"
#endif
#include "adapters/python.h"
#include "backend/backend.h"
#include "backend/guessed.h"
#include "compat/heap.h"
#include "compat/stack_chunks.h"
#include "compat/pyframe.h"
#include "core/workers.h"
#include "eval_frame/compiled_function.h"
#include "eval_frame/definitions.h"
#include "eval_frame/hook.h"
#include "eval_frame/imports.h"
#include "eval_frame/prepared.h"
#include "eval_frame/reach.h"
#include "eval_frame/running_loops.h"
#include "eval_frame/script.h"
#include "eval_frame/refusals.h"
#include "eval_frame/state.h"
#include "eval_frame/verify.h"
#include "graph/graph.h"
#include "module/config.h"
#include "module/testing.h"
#include "variables/rules.h"
#include "variables/substitutes.h"

static PyObject *
core_compile_function(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *region;
    if (!PyArg_ParseTuple(args, "OO!:compile_function", &function, &DtRegion_Type, &region)) {
        return NULL;
    }
    if (!PyObject_TypeCheck(function, &PyFunction_Type)) {
        PyErr_Format(PyExc_TypeError, "fn: expected a Python function, got %s",
                     Py_TYPE(function)->tp_name);
        return NULL;
    }
    return dt_compiled_function_new(function, (DtRegion *)region);
}

static PyObject *
core_compile_callable(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object, *compiled;
    if (!PyArg_ParseTuple(args, "OO!:compile_callable", &object, &DtCompiledFunction_Type,
                          &compiled)) {
        return NULL;
    }
    return dt_compiled_callable_new(object, compiled);
}

static PyObject *
core_reset(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    dt_region_reset_all();
    Py_RETURN_NONE;
}

/* Modules die one after the other when the interpreter ends, each with what its names hold, and
 * their objects' finalisers look at those that are left.  An entry would keep one alive until it is
 * emptied by force.  What is registered first is called last. */
static int
reset_at_exit(PyObject *module)
{
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *reset = PyObject_GetAttrString(module, "reset");
    PyObject *done = atexit != NULL && reset != NULL
                         ? PyObject_CallMethod(atexit, "register", "O", reset)
                         : NULL;
    Py_XDECREF(atexit);
    Py_XDECREF(reset);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static PyObject *
core_validate_backend(PyObject *Py_UNUSED(module), PyObject *backend)
{
    if (dt_backend_validate(backend) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
core_register_backend(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *callable;
    if (!PyArg_ParseTuple(args, "OO:register_backend", &name, &callable)
        || dt_backend_register(name, callable) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
core_list_backends(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return dt_backend_list();
}

static PyObject *
core_set_logs(PyObject *Py_UNUSED(module), PyObject *names)
{
    const char *text = PyUnicode_AsUTF8(names);
    if (text == NULL || dt_state_set_logs(text) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
core_counters(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:L,s:L,s:I}", "compiled", (unsigned long long)dt_state.compiled, "loops",
        (unsigned long long)dt_state.loops, "iterations", (unsigned long long)dt_state.iterations,
        "broken", (unsigned long long)dt_state.broken, "compile_ns", (long long)dt_state.compile_ns,
        "gained_ns", (long long)dt_state.gained_ns, "faults", (unsigned int)dt_state.faults);
}

static PyObject *
core_register_traced(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *function;
    if (!PyArg_ParseTuple(args, "UO:register_traced", &name, &function)
        || dt_api_register(name, function) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef int (*RegisterPair)(PyObject *, PyObject *);

static PyObject *
register_pair(PyObject *args, RegisterPair add)
{
    PyObject *original, *function;
    if (!PyArg_ParseTuple(args, "OO!", &original, &PyFunction_Type, &function)
        || add(original, function) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
core_register_substitute(PyObject *Py_UNUSED(module), PyObject *args)
{
    return register_pair(args, dt_substitute_register);
}

static PyObject *
core_register_polyfill(PyObject *Py_UNUSED(module), PyObject *args)
{
    return register_pair(args, dt_substitute_register_polyfill);
}

static PyObject *
core_set_polyfill_loader(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *modules, *loader;
    if (!PyArg_ParseTuple(args, "O!O:set_polyfill_loader", &PyDict_Type, &modules, &loader)
        || dt_substitute_set_loader(modules, loader) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
core_load_polyfills(PyObject *Py_UNUSED(module), PyObject *name)
{
    if (dt_substitute_load(name) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
core_list_substitutes(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return dt_substitute_list();
}

static PyObject *
core_set_skipped_modules(PyObject *Py_UNUSED(module), PyObject *names)
{
    if (dt_rules_set_skipped(names) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* prepare_function(region, function) -> function, prepared if it may have to do with arrays. */
static PyObject *
core_prepare_function(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *region, *function;
    if (!PyArg_ParseTuple(args, "O!O:prepare_function", &DtRegion_Type, &region, &function)
        || dt_prepared_add(function, (DtRegion *)region) < 0) {
        return NULL;
    }
    Py_INCREF(function);
    return function;
}

/* module_driver(region, code) -> code: what runs in the place of module code, or None: itself. */
static PyObject *
core_module_driver(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *region, *code;
    PyCodeObject *driver;
    if (!PyArg_ParseTuple(args, "O!O!:module_driver", &DtRegion_Type, &region, &PyCode_Type, &code)
        || dt_running_loops_of_module((DtRegion *)region, (PyCodeObject *)code, &driver) != DT_OK) {
        return NULL;
    }
    if (driver == NULL) {
        Py_RETURN_NONE;
    }
    return (PyObject *)driver;
}

static PyObject *
core_capture_everywhere(PyObject *Py_UNUSED(module), PyObject *region)
{
    if (!Py_IS_TYPE(region, &DtRegion_Type)) {
        PyErr_Format(PyExc_TypeError, "region: expected a Region, got %s",
                     Py_TYPE(region)->tp_name);
        return NULL;
    }
    dt_hook_capture_everywhere((DtRegion *)region);
    Py_RETURN_NONE;
}

/* leave_alone(patterns): modules of which whole-script mode captures and follows nothing. */
static PyObject *
core_leave_alone(PyObject *Py_UNUSED(module), PyObject *patterns)
{
    Py_ssize_t count = PyTuple_Check(patterns) ? PyTuple_GET_SIZE(patterns) : -1;
    bool good = count >= 0;
    for (Py_ssize_t i = 0; i < count && good; i++) {
        good = PyUnicode_Check(PyTuple_GET_ITEM(patterns, i));
    }
    if (!good) {
        PyErr_SetString(PyExc_TypeError, "patterns: expected a tuple of str");
        return NULL;
    }
    dt_reach_exclude(patterns);
    Py_RETURN_NONE;
}

/* load_tracing(): dyntrace's exceptions, and what tracing needs of the standard library. */
static PyObject *
core_load_tracing(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    if (dt_state_load() < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* load_numpy(): from now on NumPy's arrays are known; imports NumPy if nobody has. */
static PyObject *
core_load_numpy(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    if (dt_region_load_numpy() < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* keep_freed_memory(): temporaries of arrays and chunks of frames do not go back to the system. */
static PyObject *
core_keep_freed_memory(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    dt_heap_keep_freed();
    dt_stack_chunks_keep();
    Py_RETURN_NONE;
}

static PyObject *
core_list_prepared(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return dt_prepared_list();
}

static PyObject *
core_reaches_arrays(PyObject *Py_UNUSED(module), PyObject *namespace)
{
    if (!PyDict_Check(namespace)) {
        PyErr_Format(PyExc_TypeError, "namespace: expected a dict, got %s",
                     Py_TYPE(namespace)->tp_name);
        return NULL;
    }
    return PyBool_FromLong(!dt_reach_is_skipped_module(namespace) && dt_reach_namespace(namespace));
}

static PyMethodDef core_methods[] = {
    {"prepare_function", core_prepare_function, METH_VARARGS, NULL},
    {"module_driver", core_module_driver, METH_VARARGS, NULL},
    {"capture_everywhere", core_capture_everywhere, METH_O, NULL},
    {"leave_alone", core_leave_alone, METH_O, NULL},
    {"load_numpy", core_load_numpy, METH_NOARGS, NULL},
    {"keep_freed_memory", core_keep_freed_memory, METH_NOARGS, NULL},
    {"load_tracing", core_load_tracing, METH_NOARGS, NULL},
    {"list_prepared", core_list_prepared, METH_NOARGS, NULL},
    {"reaches_arrays", core_reaches_arrays, METH_O, NULL},
    {"follow_definitions", dt_definitions_follow, METH_VARARGS, NULL},
    {"watch_main", dt_script_watch_main, METH_O, NULL},
    {"after_executing", dt_imports_after_executing, METH_VARARGS, NULL},
    {"after_loading", dt_imports_after_loading, METH_VARARGS, NULL},
    {"set_skipped_modules", core_set_skipped_modules, METH_O, NULL},
    {"register_substitute", core_register_substitute, METH_VARARGS, NULL},
    {"register_polyfill", core_register_polyfill, METH_VARARGS, NULL},
    {"set_polyfill_loader", core_set_polyfill_loader, METH_VARARGS, NULL},
    {"load_polyfills", core_load_polyfills, METH_O, NULL},
    {"list_substitutes", core_list_substitutes, METH_NOARGS, NULL},
    {"register_traced", core_register_traced, METH_VARARGS, NULL},
    {"compile_function", core_compile_function, METH_VARARGS, NULL},
    {"compile_callable", core_compile_callable, METH_VARARGS, NULL},
    {"adopt", dt_adoption_adopt, METH_VARARGS, NULL},
    {"reset", core_reset, METH_NOARGS, NULL},
    {"validate_backend", core_validate_backend, METH_O, NULL},
    {"register_backend", core_register_backend, METH_VARARGS, NULL},
    {"list_backends", core_list_backends, METH_NOARGS, NULL},
    {"set_logs", core_set_logs, METH_O, NULL},
    {"refuse_breaks", dt_refusals_refuse, METH_O, NULL},
    {"accept_breaks", dt_refusals_accept, METH_NOARGS, NULL},
    {"set_verify", dt_verify_set, METH_O, NULL},
    {"get_verify", dt_verify_get, METH_NOARGS, NULL},
    {"list_verified", dt_verify_list, METH_NOARGS, NULL},
    {"guess", (PyCFunction)(void (*)(void))dt_guessed_guess, METH_FASTCALL, NULL},
    {"look", (PyCFunction)(void (*)(void))dt_guessed_look, METH_FASTCALL, NULL},
    {"counters", core_counters, METH_NOARGS, NULL},
    {"get_config", dt_config_get, METH_O, NULL},
    {"set_config", dt_config_set, METH_VARARGS, NULL},
#if DYNTRACE_HAVE_NUMPY
    {"shaped", (PyCFunction)(void (*)(void))dt_np_shaped, METH_FASTCALL | METH_KEYWORDS, NULL},
#endif
    {NULL, NULL, 0, NULL},
};

static int
check_interpreter(void)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "dyntrace supports the main interpreter only");
        return -1;
    }
    /* The struct layouts in compat/ are those of one minor version. */
    int major = 0, minor = 0;
    if (sscanf(Py_GetVersion(), "%d.%d", &major, &minor) != 2 || major != PY_MAJOR_VERSION
        || minor != PY_MINOR_VERSION) {
        PyErr_Format(PyExc_ImportError, "dyntrace was built for CPython %d.%d, this is %d.%d",
                     PY_MAJOR_VERSION, PY_MINOR_VERSION, major, minor);
        return -1;
    }
    return 0;
}

static int
core_exec(PyObject *module)
{
    if (check_interpreter() < 0) {
        return -1;
    }
    dt_variables_init();
    if (!dt_workers_init()) {
        PyErr_NoMemory();
        return -1;
    }
    if (dt_pyframe_init() < 0 || dt_callable_init() < 0 || dt_guessed_init() < 0
        || dt_state_init() < 0 || dt_compiled_function_add_types(module) < 0
        || dt_graph_add_types(module) < 0 || dt_python_adapter_add(module) < 0
        || dt_testing_add(module) < 0 || reset_at_exit(module) < 0) {
        return -1;
    }
    return PyModule_AddObjectRef(module, "HAVE_NUMPY", DYNTRACE_HAVE_NUMPY ? Py_True : Py_False);
}

static PyModuleDef_Slot core_slots[] = {
    {Py_mod_exec, core_exec},
    {0, NULL},
};

static struct PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT, .m_name = "dyntrace._core", .m_doc = "The C part of dyntrace.",
    .m_size = 0,           .m_methods = core_methods,  .m_slots = core_slots,
};

__attribute__((visibility("default"))) PyObject *PyInit__core(void);

PyObject *
PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
