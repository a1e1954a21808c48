/* See imports.h. */
#include "eval_frame/imports.h"

#include <stddef.h>
#include <string.h>

#include "compat/dict.h"
#include "compat/tracing.h"
#include "compat/type.h"
#include "eval_frame/reach.h"
#include "eval_frame/state.h"
#include "variables/adapter.h"

typedef struct AfterCall AfterCall;

struct AfterCall {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *function;
    Py_ssize_t position; /* of the argument that the callback is told */
    PyObject *callback;
    PyObject *others; /* what `is_known` looks in, or NULL */
    /* Has the callback nothing to do with this one?  NULL: it is told of all. */
    bool (*is_known)(const AfterCall *self, PyObject *argument);
};

static PyTypeObject after_call_type;
static PyObject *loader_key, *exec_module_key, *file_key;

static PyObject *
call_and_tell(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    AfterCall *self = (AfterCall *)callable;
    PyObject *answer = PyObject_Vectorcall(self->function, args, nargsf, kwnames);
    if (answer == NULL || PyVectorcall_NARGS(nargsf) <= self->position) {
        return answer;
    }
    PyObject *argument = args[self->position];
    if (self->is_known == NULL || !self->is_known(self, argument)) {
        PyObject *seen = dt_tracing_call_unseen(self->callback, argument);
        if (seen == NULL) {
            PyErr_WriteUnraisable(self->callback); /* the module itself is fine */
        }
        Py_XDECREF(seen);
    }
    return answer;
}

/* ---- What most imports are ------------------------------------------------------------------ */

/* A spec whose loader's exec_module tells already. */
static bool
is_told_by_loader(const AfterCall *Py_UNUSED(self), PyObject *spec)
{
    PyObject *loader = PyObject_GetAttr(spec, loader_key);
    PyObject *found =
        loader != NULL ? dt_type_lookup(Py_TYPE(loader), exec_module_key) : NULL; /* borrowed */
    bool told = found != NULL && Py_IS_TYPE(found, &after_call_type);
    Py_XDECREF(loader);
    PyErr_Clear(); /* the callback looks itself */
    return told;
}

static PyObject *
text_in(PyObject *namespace, PyObject *key)
{
    PyObject *value;
    return dt_dict_get(namespace, key, &value) == 1 && PyUnicode_CheckExact(value) ? value : NULL;
}

static bool
is_in_folder_of(PyObject *path, PyObject *folders)
{
    Py_ssize_t end = PyUnicode_FindChar(path, '/', 0, PyUnicode_GET_LENGTH(path), -1);
    PyObject *folder = end >= 0 ? PyUnicode_Substring(path, 0, end) : NULL;
    bool found = folder != NULL && PySet_Contains(folders, folder) > 0;
    Py_XDECREF(folder);
    return found;
}

/* A module in which nothing is prepared: one of the standard library, or in one of the folders of
 * others.  What is no part of a package may be an array library, which is waited for. */
static bool
is_of_others(const AfterCall *self, PyObject *module)
{
    PyObject *namespace = PyModule_CheckExact(module) ? PyModule_GetDict(module) : NULL;
    PyObject *name = namespace != NULL ? text_in(namespace, dt_state.name_key) : NULL;
    PyObject *path = name != NULL ? text_in(namespace, file_key) : NULL;
    const char *text = path != NULL ? PyUnicode_AsUTF8(name) : NULL;
    bool known = false;
    if (text != NULL && dt_adapter_by_name(text) == NULL) {
        known = dt_reach_is_skipped_module(namespace)
                || (strchr(text, '.') != NULL && is_in_folder_of(path, self->others));
    }
    PyErr_Clear(); /* the callback looks itself */
    return known;
}

/* ---- The type ------------------------------------------------------------------------------- */

static PyObject *
bind_as_function(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(type))
{
    if (instance == NULL || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyMethod_New(self, instance);
}

static void
after_call_dealloc(PyObject *self)
{
    AfterCall *parts = (AfterCall *)self;
    Py_XDECREF(parts->function);
    Py_XDECREF(parts->callback);
    Py_XDECREF(parts->others);
    Py_TYPE(self)->tp_free(self);
}

/* What is asked of it is answered by the function that it stands for. */
static PyObject *
after_call_getattro(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((AfterCall *)self)->function, name);
}

static PyTypeObject after_call_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.AfterCall",
    .tp_basicsize = sizeof(AfterCall),
    .tp_dealloc = after_call_dealloc,
    .tp_getattro = after_call_getattro,
    .tp_descr_get = bind_as_function,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(AfterCall, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

static AfterCall *
after_call_new(PyObject *function, Py_ssize_t position, PyObject *callback)
{
    AfterCall *self = (AfterCall *)after_call_type.tp_alloc(&after_call_type, 0);
    if (self != NULL) {
        self->vectorcall = call_and_tell;
        Py_INCREF(function);
        self->function = function;
        self->position = position;
        Py_INCREF(callback);
        self->callback = callback;
    }
    return self;
}

PyObject *
dt_imports_after_executing(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *callback, *others = NULL;
    if (!PyArg_ParseTuple(args, "OO|O!:after_executing", &function, &callback, &PySet_Type,
                          &others)) {
        return NULL;
    }
    AfterCall *self = after_call_new(function, 1, callback);
    if (self != NULL && others != NULL) {
        Py_INCREF(others);
        self->others = others;
        self->is_known = is_of_others;
    }
    return (PyObject *)self;
}

PyObject *
dt_imports_after_loading(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *callback;
    if (!PyArg_ParseTuple(args, "OO:after_loading", &function, &callback)) {
        return NULL;
    }
    AfterCall *self = after_call_new(function, 0, callback);
    if (self != NULL) {
        self->is_known = is_told_by_loader;
    }
    return (PyObject *)self;
}

int
dt_imports_init(void)
{
    loader_key = PyUnicode_InternFromString("loader");
    exec_module_key = PyUnicode_InternFromString("exec_module");
    file_key = PyUnicode_InternFromString("__file__");
    return loader_key == NULL || exec_module_key == NULL || file_key == NULL
                   || PyType_Ready(&after_call_type) < 0
               ? -1
               : 0;
}
