/* See function_subtype.h. */
#include "eval_frame/function_subtype.h"

PyObject *
dt_function_subtype_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    /* By reference, like a plain function: pickle looks the name up and checks the identity. */
    Py_INCREF(((PyFunctionObject *)self)->func_qualname);
    return ((PyFunctionObject *)self)->func_qualname;
}

PyObject *
dt_function_subtype_copy(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Py_INCREF(self);
    return self;
}

int
dt_function_subtype_ready(PyTypeObject *type)
{
    /* A debug interpreter insists on what METHOD_DESCRIPTOR promises before it inherits. */
    type->tp_descr_get = PyFunction_Type.tp_descr_get;
    if (type->tp_basicsize == 0) {
        type->tp_basicsize = PyFunction_Type.tp_basicsize;
    }
    if (type->tp_traverse == NULL) {
        type->tp_traverse = PyFunction_Type.tp_traverse;
        type->tp_clear = PyFunction_Type.tp_clear;
    }
    if (type->tp_dealloc == NULL) {
        type->tp_dealloc = PyFunction_Type.tp_dealloc;
    }
    return PyType_Ready(type);
}
