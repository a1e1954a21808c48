/* Instance attributes, read where they lie; see object.h.
 *
 * Mirrors the object layouts of Objects/dictobject.c and pycore_object.h:
 *   3.10  a dict pointer at tp_dictoffset
 *   3.11  managed: values pointer and dict pointer before the object
 *   3.12  managed: one tagged pointer before the object, values or dict
 *   3.13  managed: dict pointer before the object, values behind its head
 */
#include "compat/object.h"

#include <string.h>

bool
dt_object_type_has_dict(PyTypeObject *type)
{
#if !DT_PY310
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        return true;
    }
#endif
    return type->tp_dictoffset != 0;
}

PyObject *
dt_object_dict(PyObject *obj)
{
    PyObject *dict = PyObject_GenericGetDict(obj, NULL);
    Py_XDECREF(dict); /* the object has another reference */
    return dict != NULL && PyDict_CheckExact(dict) ? dict : NULL;
}

/* Index of `name` among shared keys, or -1.  At most thirty: linear. */
#if !DT_PY310
static Py_ssize_t
find_shared(PyDictKeysObject *keys, PyObject *name)
{
    Py_ssize_t found = dt_dict_keys_find(keys, name);
    if (found >= 0) {
        return found;
    }
    /* A key that came through __dict__ need not be interned. */
    Py_ssize_t length = PyUnicode_GET_LENGTH(name);
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
        PyObject *key = DK_UNICODE_ENTRIES(keys)[i].me_key;
        if (key != NULL && PyUnicode_GET_LENGTH(key) == length
            && PyUnicode_KIND(key) == PyUnicode_KIND(name)
            && memcmp(PyUnicode_DATA(key), PyUnicode_DATA(name),
                      (size_t)length * PyUnicode_KIND(name))
                   == 0) {
            return i;
        }
    }
    return -1;
}
#endif

int
dt_object_instance_dict_get(PyObject *obj, PyObject *name, PyObject **value)
{
    *value = NULL;
    if (!PyUnicode_CheckExact(name)) {
        return -1;
    }
#if !DT_PY310
    PyObject **values = dt_object_inline_values(obj);
    if (values != NULL) {
        Py_ssize_t index = find_shared(((PyHeapTypeObject *)Py_TYPE(obj))->ht_cached_keys, name);
        if (index < 0) {
            return 0;
        }
        *value = values[index];
        return *value != NULL;
    }
#endif
    PyObject *dict = dt_object_existing_dict(obj);
    if (dict == NULL) {
        return 0;
    }
    return dt_dict_get(dict, name, value);
}

bool
dt_object_has_only(PyObject *obj, PyObject *name)
{
    PyObject *value, *dict = dt_object_existing_dict(obj);
    if (dt_object_instance_dict_get(obj, name, &value) != 1) {
        return false;
    }
    Py_ssize_t count = dict != NULL ? PyDict_GET_SIZE(dict) : 0;
#if !DT_PY310
    PyObject **values = dt_object_inline_values(obj);
    if (values != NULL) {
        PyDictKeysObject *keys = ((PyHeapTypeObject *)Py_TYPE(obj))->ht_cached_keys;
        count = 0;
        for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
            count += values[i] != NULL;
        }
    }
#endif
    return count == 1;
}

Py_ssize_t
dt_object_hint(PyObject *obj, PyObject *name)
{
#if !DT_PY310
    if (dt_object_inline_values(obj) != NULL) {
        return dt_dict_keys_find(((PyHeapTypeObject *)Py_TYPE(obj))->ht_cached_keys, name);
    }
#endif
    PyObject *dict = dt_object_existing_dict(obj);
    return dict == NULL ? -1 : dt_dict_hint(dict, name);
}

/* ---- Members --------------------------------------------------------------------------------- */

/* The getters of BaseException give these fields as they are. */
static const struct {
    const char *name;
    size_t offset;
} exception_fields[] = {
    {"args", offsetof(PyBaseExceptionObject, args)},
    {"__cause__", offsetof(PyBaseExceptionObject, cause)},
    {"__context__", offsetof(PyBaseExceptionObject, context)},
    {"__traceback__", offsetof(PyBaseExceptionObject, traceback)},
};

static PyObject *
read_exception(PyObject *obj, PyObject *descriptor)
{
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    if (((PyDescrObject *)descriptor)->d_type != (PyTypeObject *)PyExc_BaseException) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(exception_fields) / sizeof(exception_fields[0]); i++) {
        if (PyUnicode_CompareWithASCIIString(name, exception_fields[i].name) == 0) {
            PyObject *value = *(PyObject **)((char *)obj + exception_fields[i].offset);
            return value != NULL ? value : Py_None;
        }
    }
    return NULL;
}

PyObject *
dt_object_member(PyObject *obj, PyObject *descriptor)
{
    bool getter = Py_IS_TYPE(descriptor, &PyGetSetDescr_Type);
    if ((!getter && !Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
        || !PyObject_TypeCheck(obj, ((PyDescrObject *)descriptor)->d_type)) {
        return NULL;
    }
    if (getter) {
        return read_exception(obj, descriptor);
    }
    const PyMemberDef *member = ((PyMemberDescrObject *)descriptor)->d_member;
    const char *place = (const char *)obj + member->offset;
    if (member->type == T_BOOL) {
        return *place ? Py_True : Py_False;
    }
    if (member->type != T_OBJECT && member->type != T_OBJECT_EX) {
        return NULL;
    }
    PyObject *value = *(PyObject *const *)place;
    return value == NULL && member->type == T_OBJECT ? Py_None : value;
}
