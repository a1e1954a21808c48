/* CompiledCallable: an object whose __call__ is compiled.
 *
 * Calls enter by vectorcall, put the object in front and go to the compiled
 * __call__; every other attribute is the object's own.
 */
#include <stddef.h>
#include <string.h>

#include "eval_frame/broken.h"
#include "eval_frame/compiled_function.h"
#include "eval_frame/definitions.h"
#include "eval_frame/dispatch.h"
#include "eval_frame/function_subtype.h"
#include "eval_frame/imports.h"
#include "eval_frame/prepared.h"

typedef struct CompiledCallable {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *object;
    PyObject *compiled; /* compiled function of type(object).__call__ */
    PyObject *weakrefs;
} CompiledCallable;

static PyObject *
call_object(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    CompiledCallable *self = (CompiledCallable *)callable;
    size_t nargs = (size_t)PyVectorcall_NARGS(nargsf);
    size_t total = nargs + (kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0);
    PyObject *few[DT_DISPATCH_STACK];
    PyObject **shifted = few;
    if (total + 1 > DT_DISPATCH_STACK) {
        shifted = PyMem_New(PyObject *, total + 1);
        if (shifted == NULL) {
            return PyErr_NoMemory();
        }
    }
    shifted[0] = self->object;
    memcpy(shifted + 1, args, total * sizeof(PyObject *));
    PyObject *answer = PyObject_Vectorcall(self->compiled, shifted, nargs + 1, kwnames);
    if (shifted != few) {
        PyMem_Free(shifted);
    }
    return answer;
}

static PyTypeObject compiled_callable_type;

PyObject *
dt_compiled_callable_new(PyObject *object, PyObject *compiled)
{
    CompiledCallable *self =
        (CompiledCallable *)compiled_callable_type.tp_alloc(&compiled_callable_type, 0);
    if (self != NULL) {
        self->vectorcall = call_object;
        Py_INCREF(object);
        self->object = object;
        Py_INCREF(compiled);
        self->compiled = compiled;
    }
    return (PyObject *)self;
}

static void
callable_dealloc(PyObject *object)
{
    CompiledCallable *self = (CompiledCallable *)object;
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(object);
    }
    Py_CLEAR(self->object);
    Py_CLEAR(self->compiled);
    Py_TYPE(object)->tp_free(object);
}

static int
callable_traverse(PyObject *object, visitproc visit, void *arg)
{
    CompiledCallable *self = (CompiledCallable *)object;
    Py_VISIT(self->object);
    Py_VISIT(self->compiled);
    return 0;
}

static PyObject *
callable_getattro(PyObject *object, PyObject *name)
{
    PyObject *own = PyObject_GenericGetAttr(object, name);
    if (own != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return own;
    }
    PyErr_Clear(); /* our own AttributeError: the wrapped object is asked next and raises its own */
    return PyObject_GetAttr(((CompiledCallable *)object)->object, name);
}

static int
callable_setattro(PyObject *object, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((CompiledCallable *)object)->object, name, value);
}

static PyObject *
callable_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<dyntrace.CompiledCallable of %R>",
                                ((CompiledCallable *)object)->object);
}

static PyObject *
callable_reduce(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    CompiledCallable *self = (CompiledCallable *)object;
    PyObject *region = PyObject_GetAttrString(self->compiled, "__dyntrace_region__");
    PyObject *pickling = region != NULL ? PyImport_ImportModule("dyntrace._pickling") : NULL;
    PyObject *answer = pickling != NULL ? PyObject_CallMethod(pickling, "reduce_callable", "OO",
                                                              self->object, region)
                                        : NULL;
    Py_XDECREF(pickling);
    Py_XDECREF(region);
    return answer;
}

static PyMethodDef callable_methods[] = {
    {"__reduce__", callable_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef callable_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(CompiledCallable, object), READONLY, NULL},
    {"__dyntrace_compiled__", T_OBJECT, offsetof(CompiledCallable, compiled), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject compiled_callable_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.CompiledCallable",
    .tp_basicsize = sizeof(CompiledCallable),
    .tp_dealloc = callable_dealloc,
    .tp_traverse = callable_traverse,
    .tp_getattro = callable_getattro,
    .tp_setattro = callable_setattro,
    .tp_repr = callable_repr,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(CompiledCallable, vectorcall),
    .tp_weaklistoffset = offsetof(CompiledCallable, weakrefs),
    .tp_methods = callable_methods,
    .tp_members = callable_members,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
                | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A callable object whose calls are compiled.",
};

int
dt_compiled_function_add_types(PyObject *module)
{
    if (dt_adoption_init() < 0 || dt_function_subtype_ready(&DtCompiledFunction_Type) < 0
        || dt_prepared_init() < 0 || dt_imports_init() < 0 || dt_definitions_init() < 0
        || PyType_Ready(&DtEntry_Type) < 0 || PyType_Ready(&DtProbe_Type) < 0) {
        return -1;
    }
    return PyModule_AddType(module, &compiled_callable_type) < 0
                   || PyModule_AddType(module, &DtRegion_Type) < 0
                   || PyModule_AddObjectRef(module, "CompiledFunction",
                                            (PyObject *)&DtCompiledFunction_Type)
                          < 0
               ? -1
               : 0;
}
