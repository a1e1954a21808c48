/* Functions that arrive by value from another process (cloudpickle).
 *
 * A by-value pickler sees a compiled function as the function that it is, so a
 * plain function arrives.  The compiled function's __dict__ holds an Adoption,
 * whose own pickle names the function and the region's options; unpickled, it
 * turns the plain function that is being rebuilt into an adopted one: same
 * object, same layout, but calls go to a compiled function made at the first
 * call, when all its parts have arrived.
 */
#include <stddef.h>

#include "compat/function.h"
#include "compat/import.h"
#include "eval_frame/compiled_function.h"
#include "eval_frame/function_subtype.h"

static PyObject *adoption_key; /* "__dyntrace_adoption__" */

typedef struct Adoption {
    PyObject_HEAD PyObject *owner; /* weak reference to the function whose __dict__ holds it */
    PyObject *region;              /* DtRegion */
    PyObject *compiled;            /* of an adopted function after its first call; else NULL */
} Adoption;

static PyTypeObject adoption_type;
static PyTypeObject adopted_function_type;

static Adoption *
new_adoption(PyObject *function, PyObject *region)
{
    Adoption *adoption = (Adoption *)adoption_type.tp_alloc(&adoption_type, 0);
    if (adoption == NULL) {
        return NULL;
    }
    Py_INCREF(region);
    adoption->region = region;
    adoption->owner = PyWeakref_NewRef(function, NULL);
    if (adoption->owner == NULL) {
        Py_CLEAR(adoption);
    }
    return adoption;
}

int
dt_adoption_prepare(PyObject *function, PyObject *dict, PyObject *region)
{
    Adoption *adoption = new_adoption(function, region);
    int failed = adoption == NULL || PyDict_SetItem(dict, adoption_key, (PyObject *)adoption) < 0;
    Py_XDECREF(adoption);
    return failed ? -1 : 0;
}

/* The compiled function behind an adopted one (DT_BORROWED), made at first use. */
static PyObject *
compiled_of(PyObject *function)
{
    PyObject *dict = ((PyFunctionObject *)function)->func_dict;
    PyObject *held = dict != NULL ? PyDict_GetItemWithError(dict, adoption_key) : NULL;
    if (held == NULL || !Py_IS_TYPE(held, &adoption_type)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_RuntimeError, "this function's compile options were removed");
        }
        return NULL;
    }
    Adoption *adoption = (Adoption *)held;
    if (adoption->compiled == NULL) {
        PyObject *plain = dt_function_copy(function);
        if (plain != NULL) {
            adoption->compiled = dt_compiled_function_new(plain, (DtRegion *)adoption->region);
            Py_DECREF(plain);
        }
    }
    return adoption->compiled;
}

static PyObject *
call_adopted(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyObject *compiled = compiled_of(function);
    if (compiled == NULL) {
        return NULL;
    }
    PyFunctionObject *target = (PyFunctionObject *)compiled;
    if (!dt_function_is_synced(target, (PyFunctionObject *)function)) {
        dt_function_sync(target, (PyFunctionObject *)function);
    }
    Py_INCREF(compiled); /* the call may take the adoption away */
    PyObject *answer = target->vectorcall(compiled, args, nargsf, kwnames);
    Py_DECREF(compiled);
    return answer;
}

/* _core.adopt(function, region) -> Adoption: what an unpickled Adoption is made by. */
PyObject *
dt_adoption_adopt(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *region;
    if (!PyArg_ParseTuple(args, "OO!:adopt", &function, &DtRegion_Type, &region)) {
        return NULL;
    }
    if (PyFunction_Check(function)) {
        dt_function_redirect(function, &adopted_function_type, call_adopted);
    }
    else if (!Py_IS_TYPE(function, &DtCompiledFunction_Type)
             && !Py_IS_TYPE(function, &adopted_function_type)) {
        PyErr_Format(PyExc_TypeError, "function: expected a Python function, got %s",
                     Py_TYPE(function)->tp_name);
        return NULL;
    }
    return (PyObject *)new_adoption(function, region);
}

static PyObject *
adoption_reduce(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Adoption *adoption = (Adoption *)self;
    PyObject *owner = PyObject_CallNoArgs(adoption->owner);
    PyObject *adopt = owner != NULL ? dt_import_attr("dyntrace._core", "adopt") : NULL;
    PyObject *answer =
        adopt != NULL ? Py_BuildValue("O(OO)", adopt, owner, adoption->region) : NULL;
    Py_XDECREF(adopt);
    Py_XDECREF(owner);
    return answer;
}

static int
adoption_traverse(PyObject *self, visitproc visit, void *arg)
{
    Adoption *adoption = (Adoption *)self;
    Py_VISIT(adoption->owner);
    Py_VISIT(adoption->region);
    Py_VISIT(adoption->compiled);
    return 0;
}

static int
adoption_clear(PyObject *self)
{
    Py_CLEAR(((Adoption *)self)->compiled);
    return 0;
}

static void
adoption_dealloc(PyObject *self)
{
    Adoption *adoption = (Adoption *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(adoption->owner);
    Py_CLEAR(adoption->region);
    Py_CLEAR(adoption->compiled);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef adoption_methods[] = {
    {"__reduce__", adoption_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject adoption_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.Adoption",
    .tp_basicsize = sizeof(Adoption),
    .tp_dealloc = adoption_dealloc,
    .tp_traverse = adoption_traverse,
    .tp_clear = adoption_clear,
    .tp_methods = adoption_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Compile options that travel with a function pickled by value.",
};

/* Attributes that only compiled functions have are answered by the compiled function. */
static PyObject *
adopted_getattro(PyObject *function, PyObject *name)
{
    PyObject *own = PyObject_GenericGetAttr(function, name);
    if (own != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return own;
    }
    PyErr_Clear(); /* our own AttributeError: the compiled function is asked, and raises its own */
    PyObject *compiled = compiled_of(function);
    return compiled != NULL ? PyObject_GetAttr(compiled, name) : NULL;
}

static PyMethodDef adopted_methods[] = {
    DT_FUNCTION_SUBTYPE_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyMemberDef adopted_members[] = {
    DT_FUNCTION_SUBTYPE_DOC,
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject adopted_function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.AdoptedFunction",
    .tp_base = &PyFunction_Type,
    .tp_getattro = adopted_getattro,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(PyFunctionObject, vectorcall),
    .tp_methods = adopted_methods,
    .tp_members = adopted_members,
    .tp_flags = DT_FUNCTION_SUBTYPE_FLAGS,
};

int
dt_adoption_init(void)
{
    if (adoption_key == NULL) {
        adoption_key = PyUnicode_InternFromString("__dyntrace_adoption__");
    }
    return adoption_key == NULL || PyType_Ready(&adoption_type) < 0
                   || dt_function_subtype_ready(&adopted_function_type) < 0
               ? -1
               : 0;
}
