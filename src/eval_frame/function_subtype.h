/* What the static subtypes of `function` have in common: CPython's own slots, and pickling, copying
 * and `__doc__` as functions have them.
 */
#ifndef DT_EVAL_FRAME_FUNCTION_SUBTYPE_H
#define DT_EVAL_FRAME_FUNCTION_SUBTYPE_H

#include "compat/python.h"

#define DT_FUNCTION_SUBTYPE_FLAGS                                                                  \
    (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL                          \
     | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION)

/* Rows for tp_methods: pickled by reference, copied by identity. */
#define DT_FUNCTION_SUBTYPE_METHODS                                                                \
    {"__reduce__", dt_function_subtype_reduce, METH_NOARGS, NULL},                                 \
        {"__copy__", dt_function_subtype_copy, METH_NOARGS, NULL},                                 \
    {                                                                                              \
        "__deepcopy__", dt_function_subtype_copy, METH_O, NULL                                     \
    }

/* A row for tp_members: the function's text, not the type's. */
#define DT_FUNCTION_SUBTYPE_DOC {"__doc__", T_OBJECT, offsetof(PyFunctionObject, func_doc), 0, NULL}

PyObject *dt_function_subtype_reduce(PyObject *self, PyObject *ignored);
PyObject *dt_function_subtype_copy(PyObject *self, PyObject *ignored);

/* Fills the slots that are missing from `function`'s own, and makes the type ready. */
int dt_function_subtype_ready(PyTypeObject *type);

#endif
