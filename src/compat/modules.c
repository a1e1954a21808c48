/* See modules.h.
 *
 * Mirrors what the import statement asks (_PyModuleSpec_IsInitializing), but reads only what lies
 * in dicts: a spec that is no ordinary object is taken for one that is not initializing.
 */
#include "compat/modules.h"

#include "compat/dict.h"
#include "compat/object.h"

static PyObject *spec_name, *flag_name; /* interned, kept for the life of the process */

static bool
has_names(void)
{
    if (spec_name == NULL) {
        spec_name = PyUnicode_InternFromString("__spec__");
    }
    if (flag_name == NULL) {
        flag_name = PyUnicode_InternFromString("_initializing");
    }
    if (spec_name == NULL || flag_name == NULL) {
        PyErr_Clear(); /* no memory for a name: the import itself will say so */
        return false;
    }
    return true;
}

bool
dt_modules_is_initializing(PyObject *module)
{
    PyObject *spec, *flag;
    return PyModule_CheckExact(module) && has_names()
           && dt_dict_get(PyModule_GetDict(module), spec_name, &spec) == 1
           && dt_object_instance_dict_get(spec, flag_name, &flag) == 1 && flag == Py_True;
}

bool
dt_modules_name_is_initializing(PyObject *name)
{
    PyObject *modules = PyImport_GetModuleDict(), *module;
    return PyDict_CheckExact(modules) && dt_dict_get(modules, name, &module) == 1
           && dt_modules_is_initializing(module);
}
