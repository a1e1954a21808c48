/* See substitutes.h.
 *
 * Invariants: originals and functions are kept for the life of the process, so
 * addresses are good keys; a module leaves `pending` only after its polyfills
 * were loaded without an exception.
 */
#include "variables/substitutes.h"

#include <string.h>

#include "compat/code.h"
#include "compat/function.h"
#include "compat/modules.h"
#include "compat/type.h"
#include "variables/kinds.h"

static DtArena table_arena;
static DtMap functions;  /* original -> function */
static DtMap namespaces; /* globals of polyfills -> themselves */
static DT_VEC(PyObject *) originals;
static PyObject *pending; /* dict: module -> name of its polyfills that are not loaded yet */
static PyObject *loader;
static PyObject *imported; /* set of names: modules that were imported for a trace, or can't be */

/* ---- Registering ----------------------------------------------------------------------------- */

static int
add(PyObject *original, PyObject *function)
{
    if (functions.count == 0) {
        dt_arena_init(&table_arena);
    }
    if (dt_map_set(&table_arena, &functions, original, function) < 0
        || dt_vec_push(&table_arena, &originals, original) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    Py_INCREF(original);
    Py_INCREF(function);
    return 0;
}

int
dt_substitute_register(PyObject *original, PyObject *function)
{
    if (dt_builtin_find(original) != NULL) {
        PyErr_Format(PyExc_ValueError, "original: calls of %R are followed already", original);
        return -1;
    }
    if (dt_map_get(&functions, original) != NULL) {
        PyErr_Format(PyExc_ValueError, "original: %R has a substitute already", original);
        return -1;
    }
    return add(original, function);
}

int
dt_substitute_register_polyfill(PyObject *original, PyObject *function)
{
    if (dt_builtin_find(original) != NULL || dt_map_get(&functions, original) != NULL) {
        return 0;
    }
    if (add(original, function) < 0) {
        return -1;
    }
    PyObject *globals = ((PyFunctionObject *)function)->func_globals;
    if (dt_map_set(&table_arena, &namespaces, globals, globals) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0; /* the function, which is kept, keeps its globals */
}

PyObject *
dt_substitute_list(void)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < originals.count; i++) {
        PyObject *original = originals.items[i];
        if (!PyCallable_Check(original)) {
            continue; /* code of functions that the standard library makes, attributes of C types */
        }
        PyObject *pair = PyTuple_Pack(2, original, dt_map_get(&functions, original));
        if (pair == NULL || PyList_Append(list, pair) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(pair);
    }
    return list;
}

/* ---- Loading --------------------------------------------------------------------------------- */

int
dt_substitute_set_loader(PyObject *modules, PyObject *function)
{
    PyObject *copy = PyDict_Copy(modules);
    if (copy == NULL) {
        return -1;
    }
    Py_INCREF(function);
    Py_XSETREF(pending, copy);
    Py_XSETREF(loader, function);
    return 0;
}

/* Takes every module that these polyfills serve off the list. */
static int
forget_pending(PyObject *name)
{
    PyObject *modules = PyDict_Keys(pending);
    for (Py_ssize_t i = 0; modules != NULL && i < PyList_GET_SIZE(modules); i++) {
        PyObject *module = PyList_GET_ITEM(modules, i);
        if (PyUnicode_Compare(PyDict_GetItem(pending, module), name) == 0
            && PyDict_DelItem(pending, module) < 0) {
            Py_CLEAR(modules);
        }
    }
    Py_XDECREF(modules);
    return modules != NULL ? 0 : -1;
}

int
dt_substitute_load(PyObject *name)
{
    PyObject *result = PyObject_CallOneArg(loader, name);
    if (result == NULL) {
        return -1;
    }
    Py_DECREF(result);
    return forget_pending(name);
}

/* Each is tried once; what it raises the program meets when it comes there itself. */
static int
import_wanted(PyObject *name)
{
    if (PySet_Add(imported, name) < 0) {
        return -1;
    }
    PyObject *none = PyTuple_New(0);
    PyObject *module =
        none != NULL ? PyImport_ImportModuleLevelObject(name, NULL, NULL, none, 0) : NULL;
    Py_XDECREF(none);
    if (module == NULL && !PyErr_ExceptionMatches(PyExc_Exception)) {
        return -1; /* KeyboardInterrupt */
    }
    Py_XDECREF(module);
    PyErr_Clear(); /* see above */
    return 0;
}

DtStatus
dt_substitute_want_module(DtTrace *trace, PyObject *name)
{
    Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1);
    PyObject *package = dot > 0 ? PyUnicode_Substring(name, 0, dot) : NULL;
    const char *text = package != NULL ? PyUnicode_AsUTF8(package) : NULL;
    bool known = text != NULL && dt_adapter_by_name(text) != NULL;
    Py_XDECREF(package);
    PyErr_Clear(); /* a name with surrogates is no library's */
    if (imported == NULL) {
        imported = PySet_New(NULL);
    }
    int tried = known && imported != NULL ? PySet_Contains(imported, name) : 1;
    if (tried != 0) {
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    trace->wanted_module = name;
    DT_TRY(dt_trace_keep(trace, name));
    return DT_RESTART;
}

int
dt_substitute_load_wanted(DT_STEALS DtTrace *trace)
{
    PyObject *wanted = Py_XNewRef(trace->wanted_polyfills);
    PyObject *module = Py_XNewRef(trace->wanted_module);
    dt_trace_release(trace);
    int status = wanted != NULL ? dt_substitute_load(wanted) : 0;
    if (status == 0 && module != NULL) {
        status = import_wanted(module);
    }
    Py_XDECREF(wanted);
    Py_XDECREF(module);
    return status;
}

/* The module of a class, read where it lies: a new reference, or NULL. */
static PyObject *
module_of_class(PyTypeObject *type)
{
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        PyObject *name = PyUnicode_InternFromString("__module__");
        PyObject *module = name != NULL ? dt_type_own_lookup(type, name) : NULL;
        Py_XDECREF(name);
        Py_XINCREF(module);
        return module;
    }
    const char *dot = strrchr(type->tp_name, '.');
    return dot != NULL ? PyUnicode_FromStringAndSize(type->tp_name, dot - type->tp_name)
                       : PyUnicode_InternFromString("builtins");
}

/* What says where a callable comes from: a new reference, or NULL (also without memory). */
static PyObject *
module_of(PyObject *object)
{
    PyObject *module = NULL;
    if (PyFunction_Check(object)) {
        module = ((PyFunctionObject *)object)->func_module;
    }
    else if (PyType_Check(object)) {
        return module_of_class((PyTypeObject *)object);
    }
    else if (Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyWrapperDescr_Type)) {
        return module_of_class(((PyDescrObject *)object)->d_type);
    }
    else if (PyCFunction_Check(object)) {
        module = ((PyCFunctionObject *)object)->m_module;
        PyObject *self = PyCFunction_GET_SELF(object);
        if (module == NULL && self != NULL) {
            return module_of_class(Py_TYPE(self));
        }
    }
    Py_XINCREF(module);
    return module;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool
has_keyword(PyCodeObject *code, PyObject *name)
{
    PyObject *names = dt_function_parameter_names(code);
    int end = dt_code_argcount(code) + dt_code_kwonlyargcount(code);
    for (int i = dt_code_posonlyargcount(code); i < end; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_given(const DtArgs *args, PyObject *name)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (PyUnicode_Compare(args->kwnames[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether every parameter has a value, and none has two. */
static bool
fills_all(PyFunctionObject *function, const DtArgs *args)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    PyObject *names = dt_function_parameter_names(code);
    Py_ssize_t ndefaults =
        function->func_defaults != NULL ? PyTuple_GET_SIZE(function->func_defaults) : 0;
    int positional = dt_code_argcount(code), posonly = dt_code_posonlyargcount(code);
    for (int i = 0; i < positional + dt_code_kwonlyargcount(code); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        bool by_name = i >= posonly && is_given(args, name);
        bool by_place = i < positional && i < (int)args->npos;
        bool has_default = i < positional ? i >= positional - ndefaults
                                          : function->func_kwdefaults != NULL
                                                && PyDict_Contains(function->func_kwdefaults, name);
        if ((by_name && by_place) || !(by_name || by_place || has_default)) {
            return false;
        }
    }
    return true;
}

bool
dt_substitute_takes(PyObject *function, const DtArgs *args)
{
    PyCodeObject *code = (PyCodeObject *)((PyFunctionObject *)function)->func_code;
    int flags = dt_code_flags(code);
    if (args->npos > (uint32_t)dt_code_argcount(code) && !(flags & CO_VARARGS)) {
        return false;
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (!has_keyword(code, args->kwnames[i]) && !(flags & CO_VARKEYWORDS)) {
            return false;
        }
    }
    return fills_all((PyFunctionObject *)function, args);
}

bool
dt_substitute_fits(PyObject *function, const DtArgs *args)
{
    return !dt_substitute_is_namespace(((PyFunctionObject *)function)->func_globals)
           || dt_substitute_takes(function, args);
}

bool
dt_substitute_is_namespace(PyObject *globals)
{
    return dt_map_get(&namespaces, globals) != NULL;
}

bool
dt_substitute_hides_class(PyTypeObject *cls)
{
    static const char prefix[] = "dyntrace.polyfills.";
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE) || functions.count == 0) {
        return false;
    }
    PyObject *module = module_of_class(cls);
    const char *text = module != NULL && PyUnicode_CheckExact(module) ? dt_kinds_text(module) : "";
    bool hides = strncmp(text, prefix, sizeof(prefix) - 1) == 0;
    Py_XDECREF(module);
    PyErr_Clear(); /* MemoryError of the attribute's name: such a class has one since it was made */
    return hides;
}

/* The package that a module lies in: a new reference, or NULL. */
static PyObject *
package_of(PyObject *module)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(module);
    Py_ssize_t dot = PyUnicode_FindChar(module, '.', 0, length, -1);
    return dot > 0 ? PyUnicode_Substring(module, 0, dot) : NULL;
}

/* The polyfills that the module (taken; or NULL), or a package around it, still waits for, or NULL.
 */
static PyObject *
wanted_by(DT_STEALS PyObject *module)
{
    PyObject *name = NULL;
    while (pending != NULL && name == NULL && module != NULL && PyUnicode_CheckExact(module)) {
        name = PyDict_GetItemWithError(pending, module);
        Py_SETREF(module, package_of(module));
    }
    Py_XDECREF(module);
    PyErr_Clear(); /* MemoryError of a name for messages: the callable is taken as it is */
    return name;
}

/* Polyfills are named after the module that they are for, and import it: while it is being imported
 * they can't be loaded, and another thread would have to wait for it.  They are asked for again. */
static DtStatus
want(DtTrace *trace, PyObject *wanted)
{
    if (wanted == NULL) {
        return DT_OK;
    }
    if (dt_modules_name_is_initializing(wanted)) {
        return dt_break(trace, DT_BREAK_MODULE_NOT_READY, "module %s", dt_kinds_text(wanted));
    }
    trace->wanted_polyfills = wanted;
    DT_TRY(dt_trace_keep(trace, wanted)); /* another thread may load them meanwhile */
    return DT_RESTART;
}

static DtStatus
find(DtTrace *trace, PyObject *callable, PyObject *owner, PyObject **out)
{
    *out = dt_map_get(&functions, callable);
    bool waits = *out == NULL && pending != NULL && PyDict_GET_SIZE(pending) > 0;
    return waits ? want(trace, wanted_by(module_of(owner))) : DT_OK;
}

DtStatus
dt_substitute_find(DtTrace *trace, DtVar *callable, PyObject **out)
{
    *out = NULL;
    DtKind kind = callable->type->kind;
    PyObject *object = NULL;
    if (kind == DT_KIND_FUNCTION) {
        object = ((DtFunctionVar *)callable)->function;
    }
    else if ((kind == DT_KIND_BUILTIN || kind == DT_KIND_CLASS)
             && ((DtObjectVar *)callable)->row == NULL) {
        object = ((DtObjectVar *)callable)->object;
    }
    if (object == NULL) {
        return DT_OK;
    }
    return find(trace, object, object, out);
}

DtStatus
dt_substitute_find_object(DtTrace *trace, PyObject *callable, const char *module, PyObject **out)
{
    *out = dt_map_get(&functions, callable);
    return *out == NULL ? want(trace, wanted_by(PyUnicode_FromString(module))) : DT_OK;
}

DtStatus
dt_substitute_find_descriptor(DtTrace *trace, PyObject *descriptor, PyObject **out)
{
    return find(trace, descriptor, (PyObject *)((PyDescrObject *)descriptor)->d_type, out);
}

DtStatus
dt_substitute_find_code(DtTrace *trace, const DtFunctionVar *function, PyObject **out)
{
    *out = dt_map_get(&functions, function->code);
    bool may_wait = *out == NULL && pending != NULL && PyDict_GET_SIZE(pending) > 0
                    && (dt_code_flags(function->code) & CO_NESTED);
    if (!may_wait) {
        return DT_OK;
    }
    /* Not __module__, which wraps() copies from another function. */
    PyObject *module = PyDict_GetItemString(function->globals, "__name__");
    Py_XINCREF(module);
    return want(trace, wanted_by(module));
}

DtStatus
dt_substitute_find_method(DtTrace *trace, PyTypeObject *type, const char *name, PyObject **out)
{
    PyObject *key = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
    if (key == NULL) {
        return DT_ERROR;
    }
    PyObject *descriptor = dt_type_own_lookup(type, key);
    *out = NULL;
    return descriptor != NULL ? find(trace, descriptor, (PyObject *)type, out) : DT_OK;
}
