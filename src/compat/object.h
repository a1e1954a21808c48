/* Instance attributes, read where they lie.
 *
 * CPython 3.11 - 3.13 keep the attributes of most instances in an array beside
 * the object and make a dict only when somebody asks for __dict__, which slows
 * the object down for good.  Nothing here makes that dict but dt_object_dict().
 *
 * All results are borrowed; no user code runs; no error is set.
 * Not in here: slots, descriptors, the type's attributes (type.h).
 */
#ifndef DT_COMPAT_OBJECT_H
#define DT_COMPAT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/dict.h"
#include "compat/python.h"
#include "core/status.h"

/* Attribute `name` (a str) of the object's own dict or inline values: 1 and *value, 0 if it has
 * none of that name, -1 if that can't be told without running user code. */
int dt_object_instance_dict_get(PyObject *obj, PyObject *name, PyObject **value);

/* Whether the object has an attribute of that name of its own, and no other one. */
bool dt_object_has_only(PyObject *obj, PyObject *name);

/* Whether instances of this type can have attributes of their own. */
bool dt_object_type_has_dict(PyTypeObject *type);

/* What a descriptor of C gives for the object where that is an object that lies in its struct: a
 * member of type T_OBJECT (None if it is empty), T_OBJECT_EX or T_BOOL, and the args, cause,
 * context and traceback of an exception (None for none).  NULL: it is of another kind, does not fit
 * the object, or a slot is empty. */
DT_BORROWED PyObject *dt_object_member(PyObject *obj, PyObject *descriptor);

/* The object's __dict__, which is made if there is none yet: a program that asks for it does so
 * too.  Its type has a dict.  NULL with MemoryError, or if that is no exact dict. */
DT_BORROWED PyObject *dt_object_dict(PyObject *obj);

/* Where `name` lies in this object, for dt_object_get_hinted(); -1: unknown. */
Py_ssize_t dt_object_hint(PyObject *obj, PyObject *name);

/* The inline values of an object whose type has a managed dict, or NULL if a dict took over (always
 * on 3.10).  Their order is that of dt_object_shared_keys(). */
static inline PyObject **
dt_object_inline_values(PyObject *obj)
{
    PyTypeObject *type = Py_TYPE(obj);
#if DT_PY310
    (void)type;
#elif DT_PY311
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        PyDictValues *values = *_PyObject_ValuesPointer(obj);
        return values == NULL ? NULL : values->values;
    }
#elif DT_PY312
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        PyDictOrValues either = *_PyObject_DictOrValuesPointer(obj);
        return _PyDictOrValues_IsValues(either) ? _PyDictOrValues_GetValues(either)->values : NULL;
    }
#else
    if (type->tp_flags & Py_TPFLAGS_INLINE_VALUES) {
        PyDictValues *values = _PyObject_InlineValues(obj);
        return values->valid ? values->values : NULL;
    }
#endif
    return NULL;
}

/* A dict that exists already, or NULL (none, or the attributes lie inline). */
static inline PyObject *
dt_object_existing_dict(PyObject *obj)
{
    PyTypeObject *type = Py_TYPE(obj);
    PyObject *dict;
#if DT_PY311
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        dict = *_PyObject_ManagedDictPointer(obj);
        return dict != NULL && PyDict_Check(dict) ? dict : NULL;
    }
#elif DT_PY312
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        PyDictOrValues either = *_PyObject_DictOrValuesPointer(obj);
        dict = _PyDictOrValues_IsValues(either) ? NULL : _PyDictOrValues_GetDict(either);
        return dict != NULL && PyDict_Check(dict) ? dict : NULL;
    }
#elif DT_PY313
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        dict = (PyObject *)_PyObject_GetManagedDict(obj);
        return dict != NULL && PyDict_Check(dict) ? dict : NULL;
    }
#endif
    if (type->tp_dictoffset > 0) {
        dict = *(PyObject **)((char *)obj + type->tp_dictoffset);
    }
    else if (type->tp_dictoffset < 0) { /* counted from the end of a variable-size object */
        PyObject **place = _PyObject_GetDictPtr(obj);
        dict = place == NULL ? NULL : *place;
    }
    else {
        return NULL;
    }
    return dict != NULL && PyDict_Check(dict) ? dict : NULL;
}

/* The names of inline values; they belong to the type, and only grow while it lives. */
static inline PyDictKeysObject *
dt_object_shared_keys(PyTypeObject *type)
{
    return ((PyHeapTypeObject *)type)->ht_cached_keys;
}

/* The attribute if it still lies at `hint`, else NULL: ask dt_object_instance_dict_get().
 * `name` is interned. */
static inline PyObject *
dt_object_get_hinted(PyObject *obj, PyObject *name, Py_ssize_t hint)
{
#if !DT_PY310
    PyObject **values = dt_object_inline_values(obj);
    if (values != NULL) {
        PyDictKeysObject *keys = ((PyHeapTypeObject *)Py_TYPE(obj))->ht_cached_keys;
        if ((size_t)hint >= (size_t)keys->dk_nentries
            || DK_UNICODE_ENTRIES(keys)[hint].me_key != name) {
            return NULL;
        }
        return values[hint];
    }
#endif
    PyObject *dict = dt_object_existing_dict(obj);
    return dict == NULL ? NULL : dt_dict_get_hinted(dict, name, hint);
}

#endif
