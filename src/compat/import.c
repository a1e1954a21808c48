/* See import.h. */
#include "compat/import.h"

PyObject *
dt_import_attr(const char *module, const char *name)
{
    PyObject *imported = PyImport_ImportModule(module);
    /* The interpreter's cache of look-ups keeps names by address: it is to be the same each time.
     */
    PyObject *interned = imported != NULL ? PyUnicode_InternFromString(name) : NULL;
    PyObject *found = interned != NULL ? PyObject_GetAttr(imported, interned) : NULL;
    Py_XDECREF(interned);
    Py_XDECREF(imported);
    return found;
}
