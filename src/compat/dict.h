/* Exact dicts, read without running user code.
 *
 * A look-up in a dict may call __eq__ of a key with the same hash; the readers
 * here never do.  They know the layout of the table, compare keys of builtin
 * immutable types only, and answer "can't tell" for the rest.
 *
 * All results are borrowed, nothing is allocated, and no error is ever set.
 * Not in here: writing, dict subclasses, instance dicts (object.h).
 */
#ifndef DT_COMPAT_DICT_H
#define DT_COMPAT_DICT_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/status.h"

/* The low bits of ma_version_tag belong to watchers from 3.12 on. */
#if DT_PY313
#define DT_DICT_VERSION_SHIFT 12
#elif DT_PY312
#define DT_DICT_VERSION_SHIFT 8
#else
#define DT_DICT_VERSION_SHIFT 0
#endif

#if DT_PY313
/* For a dict that shares its values with a table of keys. */
uint64_t dt_dict_split_version(PyObject *dict);
#endif

/* A number that no other state of any dict in this process has.  Storing the identical object keeps
 * it; every other change renews it.  Never 0. */
static inline uint64_t
dt_dict_version(PyObject *dict)
{
#if DT_PY313
    if (((PyDictObject *)dict)->ma_values != NULL) {
        return dt_dict_split_version(dict);
    }
#endif
    return ((PyDictObject *)dict)->ma_version_tag >> DT_DICT_VERSION_SHIFT;
}

#if DT_PY310
/* Objects/dict-common.h of 3.10, which is not installed. */
typedef struct DtDictKeys310 {
    Py_ssize_t dk_refcnt;
    Py_ssize_t dk_size;
    void *dk_lookup;
    Py_ssize_t dk_usable;
    Py_ssize_t dk_nentries;
    char dk_indices[];
} DtDictKeys310;
typedef struct DtDictEntry310 {
    Py_hash_t me_hash;
    PyObject *me_key;
    PyObject *me_value;
} DtDictEntry310;

static inline DtDictEntry310 *
dt_dict_entries310(PyDictKeysObject *opaque)
{
    DtDictKeys310 *keys = (DtDictKeys310 *)opaque;
    Py_ssize_t size = keys->dk_size;
    size_t width = size <= 0xff ? 1 : size <= 0xffff ? 2 : (size >> 32) == 0 ? 4 : 8;
    return (DtDictEntry310 *)(keys->dk_indices + (size_t)size * width);
}
#endif

/* Number of entries of a key table, deleted ones included. */
static inline Py_ssize_t
dt_dict_keys_count(PyDictKeysObject *keys)
{
#if DT_PY310
    return ((DtDictKeys310 *)keys)->dk_nentries;
#else
    return keys->dk_nentries;
#endif
}

/* Key of entry `index` (below the count), or NULL if it was deleted. */
static inline PyObject *
dt_dict_keys_key(PyDictKeysObject *keys, Py_ssize_t index)
{
#if DT_PY310
    return dt_dict_entries310(keys)[index].me_key;
#else
    return DK_IS_UNICODE(keys) ? DK_UNICODE_ENTRIES(keys)[index].me_key
                               : DK_ENTRIES(keys)[index].me_key;
#endif
}

/* Index of the entry whose key is identical with `key`, or -1.  Linear: for use ahead of time. */
Py_ssize_t dt_dict_keys_find(PyDictKeysObject *keys, PyObject *key);
/* The same for a dict: a hint for dt_dict_get_hinted(). */
Py_ssize_t dt_dict_hint(PyObject *dict, PyObject *key);

/* The value of the interned str `key` if entry `hint` is still its place, else NULL: ask
 * dt_dict_get(). */
static inline PyObject *
dt_dict_get_hinted(PyObject *dict, PyObject *key, Py_ssize_t hint)
{
    PyDictObject *mp = (PyDictObject *)dict;
    PyDictKeysObject *keys = mp->ma_keys;
    if ((size_t)hint >= (size_t)dt_dict_keys_count(keys)) {
        return NULL;
    }
#if DT_PY310
    DtDictEntry310 *entry = &dt_dict_entries310(keys)[hint];
    if (entry->me_key != key) {
        return NULL;
    }
    return mp->ma_values == NULL ? entry->me_value : mp->ma_values[hint];
#else
    if (dt_dict_keys_key(keys, hint) != key) {
        return NULL;
    }
    if (mp->ma_values != NULL) {
        return mp->ma_values->values[hint];
    }
    return DK_IS_UNICODE(keys) ? DK_UNICODE_ENTRIES(keys)[hint].me_value
                               : DK_ENTRIES(keys)[hint].me_value;
#endif
}

/* Looks `key` up: 1 and *value, 0 if absent, -1 if that can't be told without running user code
 * (the key, or one with the same hash, is of a type other than the builtin constants). */
int dt_dict_get(PyObject *dict, PyObject *key, PyObject **value);

/* The next item in order; *pos begins at 0.  The dict must not change meanwhile. */
static inline bool
dt_dict_next(PyObject *dict, Py_ssize_t *pos, PyObject **key, PyObject **value)
{
    return PyDict_Next(dict, pos, key, value) != 0;
}

/* The keys of a dict or of an instance of a subclass, in order (an OrderedDict has one of its own):
 * a new tuple, or NULL with MemoryError, or with KeyError for an OrderedDict that a method of dict
 * has changed.  Nothing that a subclass overrides is asked, and no key is hashed. */
DT_OWNED PyObject *dt_dict_keys_in_order(PyObject *dict);

/* Whether the keys are these, in this order: identical, or equal builtin constants of the same
 * type. */
bool dt_dict_keys_match(PyObject *dict, PyObject *const *keys, Py_ssize_t count);

/* Key number `index` in order, or NULL. */
PyObject *dt_dict_key_at(PyObject *dict, Py_ssize_t index);

/* Whether the object is a builtin constant through and through: hashing and comparing it runs no
 * user code (None, bool, int, float, complex, str, bytes, Ellipsis, tuples of these). */
bool dt_dict_is_plain_key(PyObject *key);

/* Whether hashing and comparing it runs no Python code: plain keys, objects that compare by
 * identity as object does (classes and functions among them), tuples and frozen sets of such. */
bool dt_dict_is_inert_key(PyObject *key);

/* Finds what is_settled_key() compares with: 0, or -1 with an exception. */
int dt_dict_init(void);
/* Whether instances of this subclass of int, str or bytes hash and compare as those do. */
bool dt_dict_hashes_as_base(PyTypeObject *type);
/* Whether its hash never changes and only the standard library's code hashes or compares it: plain
 * keys, objects that compare by identity as object does or as members of enumerations do, instances
 * that hash and compare as their builtin base, and tuples of such. */
bool dt_dict_is_settled_key(PyObject *key);

#endif
