/* See modules.h.
 *
 * Mirrors what the import statement asks (_PyModuleSpec_IsInitializing), but reads only what lies
 * in dicts: a spec that is no ordinary object is taken for one that is not initializing.
 *
 * Who goes through a dict has an iterator that refers to it, which the collector knows.
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

/* The references to sys.modules when nobody went through it: where there are no more, nobody does.
 */
static Py_ssize_t idle_references;

static int
note_modules(PyObject *referent, void *found)
{
    *(bool *)found |= referent == PyImport_GetModuleDict();
    return 0;
}

static bool
walks(PyObject *object)
{
    static PyTypeObject *const kinds[] = {
        &PyDictIterKey_Type,    &PyDictIterValue_Type,    &PyDictIterItem_Type,
        &PyDictRevIterKey_Type, &PyDictRevIterValue_Type, &PyDictRevIterItem_Type,
    };
    bool found = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (Py_IS_TYPE(object, kinds[i])) {
            kinds[i]->tp_traverse(object, note_modules, &found);
        }
    }
    return found;
}

static bool
has_walker(PyGC_Head *list)
{
    for (PyGC_Head *head = _PyGCHead_NEXT(list); head != list; head = _PyGCHead_NEXT(head)) {
        if (walks((PyObject *)(head + 1))) {
            return true;
        }
    }
    return false;
}

bool
dt_modules_are_walked(void)
{
    struct _gc_runtime_state *collector = &_PyInterpreterState_GET()->gc;
    Py_ssize_t references = Py_REFCNT(PyImport_GetModuleDict());
    if (references > idle_references) {
        for (int i = 0; i < NUM_GENERATIONS; i++) {
            if (has_walker(&collector->generations[i].head)) {
                return true;
            }
        }
    }
    idle_references = references;
    return false;
}
