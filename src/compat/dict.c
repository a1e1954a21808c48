/* Exact dicts, read without running user code; see dict.h.
 *
 * Mirrors the open addressing of Objects/dictobject.c: the index table is as
 * large as a power of two, is probed from the low bits of the hash, and each
 * further probe mixes five more bits of it in.
 */
#include "compat/dict.h"

#include "compat/import.h"
#include "compat/object.h"
#include "compat/set.h"
#include "compat/type.h"

#include <string.h>

bool
dt_dict_is_plain_key(PyObject *key)
{
    if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || PyFloat_CheckExact(key)
        || PyBytes_CheckExact(key) || PyBool_Check(key) || PyComplex_CheckExact(key)
        || key == Py_None || key == Py_Ellipsis) {
        return true;
    }
    if (PyTuple_CheckExact(key)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
            if (!dt_dict_is_plain_key(PyTuple_GET_ITEM(key, i))) {
                return false;
            }
        }
        return true;
    }
    return false;
}

static bool
is_frozenset_of_inert(PyObject *key)
{
    Py_ssize_t slot = 0;
    PyObject *item;
    if (!PyFrozenSet_CheckExact(key)) {
        return false;
    }
    while (dt_set_next(key, &slot, &item)) {
        if (!dt_dict_is_inert_key(item)) {
            return false;
        }
    }
    return true;
}

bool
dt_dict_is_inert_key(PyObject *key)
{
    PyTypeObject *type = Py_TYPE(key);
    if (dt_dict_is_plain_key(key) || is_frozenset_of_inert(key)) {
        return true;
    }
    if (type == &PyTuple_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
            if (!dt_dict_is_inert_key(PyTuple_GET_ITEM(key, i))) {
                return false;
            }
        }
        return true;
    }
    return type->tp_richcompare == PyBaseObject_Type.tp_richcompare
           && type->tp_hash == PyBaseObject_Type.tp_hash;
}

static PyObject *enum_hash; /* Enum.__hash__, kept for the life of the process */

/* An OrderedDict and its list of keys, as in Objects/odictobject.c; an iterator hashes each key. */
typedef struct OrderedNode {
    PyObject *key;
    Py_hash_t hash;
    struct OrderedNode *next, *previous;
} OrderedNode;

typedef struct Ordered {
    PyDictObject dict;
    OrderedNode *first, *last;
    OrderedNode **places;
    Py_ssize_t size;
    void *sized_for;
    size_t state;
    PyObject *attributes, *weak_references;
} Ordered;

int
dt_dict_init(void)
{
    if (PyODict_Type.tp_basicsize != sizeof(Ordered)) {
        PyErr_SetString(PyExc_ImportError, "this CPython's OrderedDict has another layout");
        return -1;
    }
    PyObject *cls = enum_hash == NULL ? dt_import_attr("enum", "Enum") : NULL;
    if (cls != NULL) {
        enum_hash = Py_XNewRef(dt_type_lookup_text((PyTypeObject *)cls, "__hash__"));
        Py_DECREF(cls);
    }
    return enum_hash != NULL || !PyErr_Occurred() ? 0 : -1;
}

bool
dt_dict_hashes_as_base(PyTypeObject *type)
{
    PyTypeObject *base = PyType_FastSubclass(type, Py_TPFLAGS_LONG_SUBCLASS)      ? &PyLong_Type
                         : PyType_FastSubclass(type, Py_TPFLAGS_UNICODE_SUBCLASS) ? &PyUnicode_Type
                         : PyType_FastSubclass(type, Py_TPFLAGS_BYTES_SUBCLASS)   ? &PyBytes_Type
                                                                                  : NULL;
    return base != NULL && type->tp_hash == base->tp_hash
           && type->tp_richcompare == base->tp_richcompare;
}

bool
dt_dict_is_settled_key(PyObject *key)
{
    PyTypeObject *type = Py_TYPE(key);
    if (dt_dict_is_plain_key(key) || dt_dict_hashes_as_base(type) || is_frozenset_of_inert(key)) {
        return true;
    }
    if (type == &PyTuple_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
            if (!dt_dict_is_settled_key(PyTuple_GET_ITEM(key, i))) {
                return false;
            }
        }
        return true;
    }
    return type->tp_richcompare == PyBaseObject_Type.tp_richcompare
           && (type->tp_hash == PyBaseObject_Type.tp_hash
               || (enum_hash != NULL && dt_type_lookup_text(type, "__hash__") == enum_hash));
}

/* 1 equal, 0 not, -1 can't tell.  The hashes are equal already. */
static int
same_key(PyObject *stored, PyObject *key, bool key_is_inert)
{
    if (stored == key) {
        return 1;
    }
    if (!key_is_inert || !dt_dict_is_inert_key(stored)) {
        return -1;
    }
    int equal = PyObject_RichCompareBool(stored, key, Py_EQ);
    if (equal < 0) {
        PyErr_Clear(); /* memory or recursion while comparing nested tuples: no answer */
        return -1;
    }
    return equal;
}

#if !DT_PY310
static Py_ssize_t
index_at(PyDictKeysObject *keys, size_t slot)
{
    int log2 = DK_LOG_SIZE(keys);
    if (log2 < 8) {
        return ((const int8_t *)keys->dk_indices)[slot];
    }
    if (log2 < 16) {
        return ((const int16_t *)keys->dk_indices)[slot];
    }
    if (log2 < 32) {
        return ((const int32_t *)keys->dk_indices)[slot];
    }
    return (Py_ssize_t)((const int64_t *)keys->dk_indices)[slot];
}
#else
static Py_ssize_t
index_at(PyDictKeysObject *opaque, size_t slot)
{
    DtDictKeys310 *keys = (DtDictKeys310 *)opaque;
    Py_ssize_t size = keys->dk_size;
    if (size <= 0xff) {
        return ((const int8_t *)keys->dk_indices)[slot];
    }
    if (size <= 0xffff) {
        return ((const int16_t *)keys->dk_indices)[slot];
    }
    if ((size >> 32) == 0) {
        return ((const int32_t *)keys->dk_indices)[slot];
    }
    return (Py_ssize_t)((const int64_t *)keys->dk_indices)[slot];
}
#endif

static size_t
table_size(PyDictKeysObject *keys)
{
#if DT_PY310
    return (size_t)((DtDictKeys310 *)keys)->dk_size;
#else
    return (size_t)DK_SIZE(keys);
#endif
}

/* Hash of the key of entry `index`. */
static Py_hash_t
entry_hash(PyDictKeysObject *keys, Py_ssize_t index)
{
#if DT_PY310
    return dt_dict_entries310(keys)[index].me_hash;
#else
    if (DK_IS_UNICODE(keys)) {
        return ((PyASCIIObject *)DK_UNICODE_ENTRIES(keys)[index].me_key)->hash;
    }
    return DK_ENTRIES(keys)[index].me_hash;
#endif
}

static PyObject *
entry_value(PyDictObject *dict, Py_ssize_t index)
{
#if DT_PY310
    return dict->ma_values != NULL ? dict->ma_values[index]
                                   : dt_dict_entries310(dict->ma_keys)[index].me_value;
#else
    if (dict->ma_values != NULL) {
        return dict->ma_values->values[index];
    }
    return DK_IS_UNICODE(dict->ma_keys) ? DK_UNICODE_ENTRIES(dict->ma_keys)[index].me_value
                                        : DK_ENTRIES(dict->ma_keys)[index].me_value;
#endif
}

/* The value under this very key: its hash may be Python's, which does not run here. */
static int
get_by_identity(PyObject *dict, PyObject *key, PyObject **value)
{
    Py_ssize_t position = 0;
    PyObject *stored, *found;
    while (PyDict_Next(dict, &position, &stored, &found)) {
        if (stored == key) {
            *value = found;
            return 1;
        }
    }
    return -1;
}

int
dt_dict_get(PyObject *object, PyObject *key, PyObject **value)
{
    PyDictObject *dict = (PyDictObject *)object;
    PyDictKeysObject *keys = dict->ma_keys;
    bool inert = dt_dict_is_inert_key(key);
    *value = NULL;
    if (dict->ma_used == 0) {
        return 0;
    }
    if (!inert && Py_TYPE(key)->tp_hash != PyBaseObject_Type.tp_hash
        && Py_TYPE(key)->tp_hash != PyType_Type.tp_hash) {
        return dt_dict_is_settled_key(key) ? get_by_identity(object, key, value) : -1;
    }
    Py_hash_t hash = PyObject_Hash(key);
    if (hash == -1) {
        PyErr_Clear(); /* memory or recursion while hashing a nested tuple: no answer */
        return -1;
    }
    size_t mask = table_size(keys) - 1;
    size_t perturb = (size_t)hash;
    size_t slot = (size_t)hash & mask;
    for (;;) {
        Py_ssize_t index = index_at(keys, slot);
        if (index == -1) { /* never used: the end of the chain */
            return 0;
        }
        if (index >= 0 && entry_hash(keys, index) == hash) {
            int same = same_key(dt_dict_keys_key(keys, index), key, inert);
            if (same < 0) {
                return -1;
            }
            if (same) {
                *value = entry_value(dict, index);
                return *value != NULL; /* a split table may lack it */
            }
        }
        perturb >>= 5;
        slot = (slot * 5 + perturb + 1) & mask;
    }
}

Py_ssize_t
dt_dict_keys_find(PyDictKeysObject *keys, PyObject *key)
{
    Py_ssize_t count = dt_dict_keys_count(keys);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (dt_dict_keys_key(keys, i) == key) {
            return i;
        }
    }
    return -1;
}

Py_ssize_t
dt_dict_hint(PyObject *dict, PyObject *key)
{
    return dt_dict_keys_find(((PyDictObject *)dict)->ma_keys, key);
}

static PyObject *
ordered_keys(PyObject *dict)
{
    Py_ssize_t size = PyDict_GET_SIZE(dict), count = 0;
    PyObject *keys = PyTuple_New(size);
    OrderedNode *node = ((Ordered *)dict)->first;
    for (; keys != NULL && node != NULL && count < size; node = node->next) {
        PyTuple_SET_ITEM(keys, count++, Py_NewRef(node->key));
    }
    if (keys != NULL && (node != NULL || count < size)) {
        PyErr_SetObject(PyExc_KeyError, dict);
        Py_CLEAR(keys);
    }
    return keys;
}

PyObject *
dt_dict_keys_in_order(PyObject *dict)
{
    if (PyODict_Check(dict)) {
        return ordered_keys(dict);
    }
    Py_ssize_t size = PyDict_GET_SIZE(dict), pos = 0;
    PyObject *key, *value, *keys = PyTuple_New(size);
    for (Py_ssize_t i = 0; keys != NULL && i < size && PyDict_Next(dict, &pos, &key, &value); i++) {
        PyTuple_SET_ITEM(keys, i, Py_NewRef(key));
    }
    return keys;
}

/* Whether an ordered dict has the order of these keys, which are as many as it has. */
static bool
ordered_match(PyObject *dict, PyObject *const *keys, Py_ssize_t count)
{
    OrderedNode *node = ((Ordered *)dict)->first;
    for (; node != NULL && count > 0; node = node->next, keys++, count--) {
        if (node->key != *keys
            && (Py_TYPE(node->key) != Py_TYPE(*keys)
                || same_key(node->key, *keys, dt_dict_is_plain_key(*keys)) != 1)) {
            return false;
        }
    }
    return node == NULL && count == 0;
}

bool
dt_dict_keys_match(PyObject *dict, PyObject *const *keys, Py_ssize_t count)
{
    if (PyODict_Check(dict)) {
        return PyDict_GET_SIZE(dict) == count && ordered_match(dict, keys, count);
    }
    Py_ssize_t pos = 0;
    PyObject *key, *value;
    if (PyDict_GET_SIZE(dict) != count) {
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyDict_Next(dict, &pos, &key, &value)) {
            return false;
        }
        if (key == keys[i]) {
            continue;
        }
        if (Py_TYPE(key) != Py_TYPE(keys[i])
            || same_key(key, keys[i], dt_dict_is_plain_key(keys[i])) != 1) {
            return false;
        }
    }
    return true;
}

PyObject *
dt_dict_key_at(PyObject *dict, Py_ssize_t index)
{
    Py_ssize_t pos = 0;
    PyObject *key, *value;
    while (PyDict_Next(dict, &pos, &key, &value)) {
        if (index-- == 0) {
            return key;
        }
    }
    return NULL;
}

#if DT_PY313
/* The __dict__ of an object whose attributes lie in the object itself: 3.13 stores an attribute
 * there and leaves the tag as it is.  Such a dict has another version each time it is asked. */
uint64_t
dt_dict_split_version(PyObject *dict)
{
    static uint64_t asked;
    if (((PyDictObject *)dict)->ma_values->embedded) {
        return UINT64_MAX - ++asked; /* far above all tags */
    }
    return ((PyDictObject *)dict)->ma_version_tag >> DT_DICT_VERSION_SHIFT;
}
#endif
