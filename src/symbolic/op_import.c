/* import statements inside of functions, of modules that are imported already.
 *
 *   [level, fromlist] ──► sys.modules[name], or its first package ──► [module]
 *
 * Importing anything else runs code: a graph break; a part of an array library, which it loads when
 * it is first asked for, is imported before the trace begins anew.  The builtin __import__ and
 * the entry of sys.modules are guarded.
 */
#include "compat/dict.h"
#include "compat/modules.h"
#include "symbolic/frame.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

#include <string.h>

static DtStatus
break_import(DtTrace *trace, PyObject *name, const char *why)
{
    return dt_break(trace, DT_BREAK_UNSUPPORTED_OPCODE, "IMPORT_NAME %s: %s", dt_frame_text(name),
                    why);
}

/* The program may have put an __import__ of its own into builtins. */
static DtStatus
check_import_function(DtTrace *trace, PyObject *name)
{
    PyObject *key = dt_trace_keep_take(trace, PyUnicode_InternFromString("__import__"));
    PyObject *function = NULL;
    const DtSource *source = key != NULL ? dt_source_builtin(trace, key) : NULL;
    if (source == NULL) {
        return DT_ERROR;
    }
    if (dt_dict_get(trace->builtins, key, &function) != 1 || !PyCFunction_CheckExact(function)
        || strcmp(((PyCFunctionObject *)function)->m_ml->ml_name, "__import__") != 0) {
        return break_import(trace, name, "builtins.__import__ is replaced");
    }
    DtVar *var;
    return dt_var_build(trace, function, source, &var);
}

static DtStatus
find_module(DtTrace *trace, PyObject *wanted, PyObject *name, DtVar **out)
{
    PyObject *modules = PyImport_GetModuleDict(), *module = NULL;
    if (!PyDict_CheckExact(modules) || dt_dict_get(modules, name, &module) != 1
        || !PyModule_CheckExact(module)) {
        DT_TRY(dt_substitute_want_module(trace, name));
        return break_import(trace, wanted, "the module is not imported yet");
    }
    if (dt_modules_is_initializing(module)) { /* by another thread: the statement waits for it */
        return dt_break(trace, DT_BREAK_MODULE_NOT_READY, "module %s", dt_frame_text(name));
    }
    DT_TRY(dt_trace_keep(trace, modules));
    const DtSource *base = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, modules, 0);
    const DtSource *source = base != NULL ? dt_source_item(trace, base, name) : NULL;
    return source != NULL ? dt_var_build(trace, module, source, out) : DT_ERROR;
}

/* `from package import name` imports a submodule that the package does not have yet.  A module
 * without a __path__ is no package. */
static bool
lacks_one(DtTrace *trace, DtVar *module, DtVar *names)
{
    PyObject *list = dt_var_as_constant(trace, names), *value;
    PyObject *object = dt_payload_object(module);
    PyObject *dict = object != NULL && PyModule_Check(object) ? PyModule_GetDict(object) : NULL;
    if (dict == NULL || list == NULL || !PyTuple_CheckExact(list)) {
        return true;
    }
    PyObject *path = dt_trace_keep_take(trace, PyUnicode_InternFromString("__path__"));
    if (path == NULL) {
        PyErr_Clear(); /* no memory: not followed */
        return true;
    }
    if (dt_dict_get(dict, path, &value) == 0) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        if (dt_dict_get(dict, PyTuple_GET_ITEM(list, i), &value) != 1) {
            return true;
        }
    }
    return false;
}

DtStatus
dt_op_import_name(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    PyObject *level = dt_var_peek_constant(*dt_frame_at(frame, 2));
    DtVar *names = *dt_frame_at(frame, 1); /* a tuple, or None */
    bool whole = dt_var_peek_constant(names) == Py_None;
    frame->sp -= 2;
    if (level == NULL || !PyLong_CheckExact(level) || PyLong_AsLong(level) != 0) {
        return break_import(trace, name, "a relative import");
    }
    DT_TRY(check_import_function(trace, name));
    DtVar *module;
    DT_TRY(find_module(trace, name, name, &module));
    if (!whole && lacks_one(trace, module, names)) {
        return break_import(trace, name, "a name that it lacks, or a submodule");
    }
    Py_ssize_t dot = whole ? PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1) : -1;
    if (dot == -2) {
        return DT_ERROR;
    }
    if (dot >= 0) { /* `import a.b` binds a */
        PyObject *package = dt_trace_keep_take(trace, PyUnicode_Substring(name, 0, dot));
        if (package == NULL) {
            return DT_ERROR;
        }
        DT_TRY(find_module(trace, name, package, &module));
    }
    dt_frame_push(frame, module);
    return DT_OK;
}

DtStatus
dt_op_import_from(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value, *exception;
    DtVar *module = *dt_frame_at(frame, 1);
    PyObject *name = dt_decode_name(frame->bytecode, instr);
    DtStatus status = dt_var_getattr(trace, module, name, &value);
    if (dt_kinds_take_raised(trace, status, PyExc_AttributeError, &exception)) {
        /* Plain execution looks for a submodule, then raises ImportError. */
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "'%s' is not in the module that it is imported "
                        "from",
                        dt_frame_text(name));
    }
    DT_TRY(status);
    dt_frame_push(frame, value);
    return DT_OK;
}
