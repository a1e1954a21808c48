/* See reach.h. */
#include "eval_frame/reach.h"

#include <fnmatch.h>
#include <string.h>

#include "compat/code.h"
#include "compat/dict.h"
#include "eval_frame/state.h"
#include "variables/adapter.h"

/* The name of a module up to its first dot; false if it is no text or too long to be one we know.
 */
static bool
package_of(PyObject *name, char *package, size_t size)
{
    Py_ssize_t length;
    const char *text =
        name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : NULL;
    if (text == NULL) {
        PyErr_Clear(); /* a name that is no UTF-8 is nobody's we know */
        return false;
    }
    size_t first = strcspn(text, ".");
    if (first >= size) {
        return false;
    }
    memcpy(package, text, first);
    package[first] = '\0';
    return true;
}

static bool
is_in_standard_library(const char *package)
{
    PyObject *known = PySys_GetObject("stdlib_module_names");
    PyObject *key = known != NULL ? PyUnicode_FromString(package) : NULL;
    int found = key != NULL ? PySet_Contains(known, key) : 0;
    Py_XDECREF(key);
    if (found < 0) {
        PyErr_Clear(); /* no memory for the look-up: the attempt decides */
    }
    return found > 0;
}

static bool
package_of_globals(PyObject *globals, char *package, size_t size)
{
    PyObject *name;
    return dt_dict_get(globals, dt_state.name_key, &name) == 1 && package_of(name, package, size);
}

bool
dt_reach_is_in_the_way(PyObject *globals)
{
    char package[64];
    return package_of_globals(globals, package, sizeof(package))
           && (strcmp(package, "dyntrace") == 0 || strcmp(package, "importlib") == 0
               || strncmp(package, "_frozen_importlib", 17) == 0);
}

bool
dt_reach_is_skipped_module(PyObject *globals)
{
    char package[64];
    if (!package_of_globals(globals, package, sizeof(package))) {
        return false;
    }
    return strcmp(package, "dyntrace") == 0 || dt_adapter_by_name(package) != NULL
           || is_in_standard_library(package);
}

static PyObject *excluded; /* tuple of str, or NULL */

void
dt_reach_exclude(PyObject *patterns)
{
    Py_INCREF(patterns);
    Py_XSETREF(excluded, patterns);
}

bool
dt_reach_is_excluded(PyObject *globals)
{
    PyObject *name;
    if (excluded == NULL || dt_dict_get(globals, dt_state.name_key, &name) != 1
        || !PyUnicode_Check(name)) {
        return false;
    }
    bool found = false;
    const char *text = PyUnicode_AsUTF8(name);
    for (Py_ssize_t i = 0; text != NULL && !found && i < PyTuple_GET_SIZE(excluded); i++) {
        const char *pattern = PyUnicode_AsUTF8(PyTuple_GET_ITEM(excluded, i));
        found = pattern != NULL && fnmatch(pattern, text, FNM_NOESCAPE) == 0;
    }
    PyErr_Clear(); /* a name that is no UTF-8 is nobody's */
    return found;
}

bool
dt_reach_is_installed(PyCodeObject *code)
{
    PyObject *name = dt_code_filename(code);
    const char *path = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (path == NULL) {
        PyErr_Clear(); /* no UTF-8: nobody installs such a file */
        return false;
    }
    return strstr(path, "site-packages") != NULL || strstr(path, "dist-packages") != NULL;
}

/* An adapter may stand for a module of the standard library (random): it has no arrays. */
static bool
is_of_arrays(const DtAdapter *adapter)
{
    return adapter != NULL && !is_in_standard_library(adapter->name);
}

bool
dt_reach_is_of_adapter(PyObject *value)
{
    if (PyModule_CheckExact(value)) {
        char package[64];
        PyObject *names = PyModule_GetDict(value); /* NULL: made by __new__ alone */
        return names != NULL && package_of_globals(names, package, sizeof(package))
               && is_of_arrays(dt_adapter_by_name(package));
    }
    if (PyMethod_Check(value)) { /* np.random.rand is one of a generator */
        value = PyMethod_GET_SELF(value);
    }
    return is_of_arrays(dt_adapter_of_array(value))
           || (Py_TYPE(value)->tp_call != NULL && is_of_arrays(dt_adapter_of_callable(value)));
}

bool
dt_reach_code(PyCodeObject *code, PyObject *globals)
{
    PyObject *names = dt_code_names(code);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *value;
        if (dt_dict_get(globals, PyTuple_GET_ITEM(names, i), &value) == 1
            && dt_reach_is_of_adapter(value)) {
            return true;
        }
    }
    return false;
}

bool
dt_reach_is_left_alone(PyCodeObject *callee, PyObject *globals, PyCodeObject *caller)
{
    bool package =
        !dt_state.everything && dt_reach_is_installed(callee) && !dt_reach_is_installed(caller);
    return dt_reach_is_excluded(globals)
           || (package && !dt_reach_is_skipped_module(globals) && !dt_reach_code(callee, globals));
}

bool
dt_reach_values(PyObject *const *slots, int count)
{
    for (int i = 0; i < count; i++) {
        if (slots[i] != NULL && dt_adapter_of_array(slots[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool
dt_reach_namespace(PyObject *globals)
{
    PyObject *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(globals, &at, NULL, &value)) {
        if (dt_reach_is_of_adapter(value)) {
            return true;
        }
    }
    return false;
}
