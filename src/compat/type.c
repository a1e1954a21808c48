/* Types: MRO look-ups and version tags; see type.h.
 *
 * Mirrors the method cache of Objects/typeobject.c: a look-up assigns the tag,
 * type_modified takes it away.  3.12 has a function that only assigns.
 */
#include "compat/type_names.h"

#include "compat/dict.h"

static _Thread_local DtTypeListener listener;

DtTypeListener
dt_type_listen(DtTypeListener next)
{
    DtTypeListener before = listener;
    listener = next;
    return before;
}

static void
tell(PyTypeObject *type, PyObject *name)
{
    if (listener.note != NULL) {
        listener.note(listener.of, type, name);
    }
}

PyObject *
dt_type_find(PyTypeObject *type, PyObject *name)
{
    return _PyType_Lookup(type, name);
}

PyObject *
dt_type_lookup(PyTypeObject *type, PyObject *name)
{
    tell(type, name);
    return _PyType_Lookup(type, name);
}

PyObject *
dt_type_dict(PyTypeObject *type)
{
#if DT_PY_AT_LEAST(3, 12)
    /* Static builtin types keep their dict per interpreter, not in tp_dict. */
    PyObject *dict = PyType_GetDict(type);
    Py_XDECREF(dict); /* the type holds it */
    return dict;
#else
    return type->tp_dict;
#endif
}

static bool
has_odd_keys(PyObject *dict)
{
#if DT_PY_AT_LEAST(3, 11)
    if (DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys)) {
        return false;
    }
#endif
    PyObject *key;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, NULL)) {
        if (!PyUnicode_CheckExact(key)) {
            return true;
        }
    }
    return false;
}

bool
dt_type_has_odd_keys(PyTypeObject *type)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(type->tp_mro, i);
        if (!dt_type_is_static(base) && has_odd_keys(dt_type_dict(base))) {
            return true;
        }
    }
    return false;
}

void
dt_type_forget_subclass(PyTypeObject *base, PyTypeObject *type)
{
    if (DT_PY_AT_LEAST(3, 12) && dt_type_is_static(base)) {
        return; /* which keep them per interpreter */
    }
    PyObject *subclasses = (PyObject *)base->tp_subclasses;
    PyObject *key = PyLong_FromVoidPtr(type);
    if (key == NULL || subclasses == NULL || !PyDict_CheckExact(subclasses)
        || PyDict_DelItem(subclasses, key) < 0) {
        PyErr_Clear(); /* it is not there, or there is no memory: then it stays until it dies */
    }
    Py_XDECREF(key);
}

PyObject *
dt_type_own_find(PyTypeObject *type, PyObject *name)
{
    PyObject *dict = dt_type_dict(type);
    PyObject *value = NULL;
    if (dict != NULL && dt_dict_get(dict, name, &value) == 1) {
        return value;
    }
    return NULL;
}

PyObject *
dt_type_own_lookup(PyTypeObject *type, PyObject *name)
{
    tell(type, name);
    return dt_type_own_find(type, name);
}

static PyObject *
look_up_text(PyObject *(*look_up)(PyTypeObject *, PyObject *), PyTypeObject *type, const char *text)
{
    PyObject *name = PyUnicode_InternFromString(text);
    PyObject *found = name != NULL ? look_up(type, name) : NULL;
    PyErr_Clear(); /* no memory: nothing is found */
    Py_XDECREF(name);
    return found;
}

PyObject *
dt_type_lookup_text(PyTypeObject *type, const char *text)
{
    return look_up_text(dt_type_lookup, type, text);
}

PyObject *
dt_type_own_lookup_text(PyTypeObject *type, const char *text)
{
    return look_up_text(dt_type_own_lookup, type, text);
}

/* Getters of attributes that find object's `__class__` where the MRO has no other. */
static bool
finds_class(getattrofunc get)
{
#if DT_PY_AT_LEAST(3, 11)
    if (get == Py_GenericAliasType.tp_getattro) { /* before that, it asks the class */
        return true;
    }
#endif
    return get == PyObject_GenericGetAttr || get == PyType_Type.tp_getattro
           || get == PyModule_Type.tp_getattro || get == PyMethod_Type.tp_getattro
           || get == PySuper_Type.tp_getattro;
}

bool
dt_type_shows_itself(PyTypeObject *type)
{
    PyObject *getter = dt_type_lookup_text(type, "__getattribute__");
    return getter != NULL && Py_IS_TYPE(getter, &PyWrapperDescr_Type)
           && finds_class((getattrofunc)((PyWrapperDescrObject *)getter)->d_wrapped)
           && dt_type_lookup_text(type, "__class__")
                  == dt_type_lookup_text(&PyBaseObject_Type, "__class__");
}

PyTypeObject *
dt_type_shown_by(PyObject *object)
{
    if (dt_type_shows_itself(Py_TYPE(object))) {
        return Py_TYPE(object);
    }
    if (!Py_IS_TYPE(object, &Py_GenericAliasType)) {
        return NULL;
    }
    PyObject *origin = PyObject_GetAttrString(object, "__origin__"); /* a member of the alias */
    PyTypeObject *shown = origin != NULL ? dt_type_shown_by(origin) : NULL;
    Py_XDECREF(origin); /* the alias keeps it */
    PyErr_Clear();      /* no memory: unknown */
    return shown;
}

unsigned int
dt_type_version(PyTypeObject *type)
{
#if DT_PY_AT_LEAST(3, 12)
    if (!PyUnstable_Type_AssignVersionTag(type)) {
        return 0;
    }
#else
    /* Interned and never freed: any cacheable name makes the look-up assign a tag. */
    static PyObject *name = NULL;
    if (name == NULL) {
        name = PyUnicode_InternFromString("__class__");
        if (name == NULL) {
            PyErr_Clear(); /* no memory for nine letters: no tag either */
            return 0;
        }
    }
    (void)_PyType_Lookup(type, name);
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) {
        return 0;
    }
#endif
    return type->tp_version_tag;
}
