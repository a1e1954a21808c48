/* Types: looking names up through the MRO, and the number that says whether a
 * type or one of its bases has changed.
 *
 * All results are borrowed; no user code runs; no error is set.
 */
#ifndef DT_COMPAT_TYPE_H
#define DT_COMPAT_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/status.h"

/* The attribute as it stands in the dict of the first class of the MRO that has it (not bound), or
 * NULL.  `name` is a str. */
DT_BORROWED PyObject *dt_type_lookup(PyTypeObject *type, PyObject *name);

/* The same by a C text; NULL also without memory, which is no error here. */
DT_BORROWED PyObject *dt_type_lookup_text(PyTypeObject *type, const char *text);

/* Whether `x.__class__` of an instance is this type, for the program and for isinstance(): no
 * proxy, no property of that name, no __getattribute__ of Python or unknown C. */
bool dt_type_shows_itself(PyTypeObject *type);
/* The class that the object shows there, borrowed; NULL: only its own code can tell. */
DT_BORROWED PyTypeObject *dt_type_shown_by(PyObject *object);

/* Whether looking a name up may ask a key of the program: a class of the MRO was made with one that
 * is no exact text, and its `__eq__` may do anything. */
bool dt_type_has_odd_keys(PyTypeObject *type);

/* As dt_type_lookup, without the bases: the type's own dict. */
DT_BORROWED PyObject *dt_type_own_lookup(PyTypeObject *type, PyObject *name);
DT_BORROWED PyObject *dt_type_own_lookup_text(PyTypeObject *type, const char *text);
/* The type's own dict (an exact dict); NULL for a type that is not ready. */
DT_BORROWED PyObject *dt_type_dict(PyTypeObject *type);

/* `base` no longer knows its subclass `type`: base.__subclasses__() and changes of `base` leave it
 * out.  Only for classes that no program sees. */
void dt_type_forget_subclass(PyTypeObject *base, PyTypeObject *type);

/* The type's version tag, assigned if it had none; 0 when that is impossible.  No two states of
 * types share a tag, and a change of the type or a base takes it away. */
unsigned int dt_type_version(PyTypeObject *type);

/* Whether the type still has that tag (one or two loads; 0 is never valid). */
static inline bool
dt_type_has_version(PyTypeObject *type, unsigned int version)
{
#if DT_PY310
    /* Only the flag is sure to be cleared by every kind of change. */
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) {
        return false;
    }
#endif
    return type->tp_version_tag == version && version != 0;
}

/* Whether instances of `type` and the type itself can never change or die: a static type. */
static inline bool
dt_type_is_static(PyTypeObject *type)
{
    return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* Whether a class attribute is a descriptor (method, member, getter, slot wrapper) that a static
 * type defines in C. */
static inline bool
dt_type_is_static_descriptor(PyObject *attribute)
{
    PyTypeObject *kind = Py_TYPE(attribute);
    return (kind == &PyMethodDescr_Type || kind == &PyWrapperDescr_Type
            || kind == &PyGetSetDescr_Type || kind == &PyMemberDescr_Type)
           && dt_type_is_static(PyDescr_TYPE(attribute));
}

#endif
