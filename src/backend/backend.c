/* The registry of backends, and the way from a backend's name to an executable.
 *
 * Builtin backends are rows of a table; registered ones are Python callables in
 * a dict.  Names are checked when a function is decorated, so that a misspelt one
 * is reported there and not at the first call.
 */
#include "backend/backend.h"

#include "backend/user.h"

PyObject *dt_backend_error;

/* name -> callable of registered backends; made at first use. */
static PyObject *registry;

typedef struct BuiltinBackend {
    const char *name;
    DtStatus (*compile)(DtGraph *, DtExecutable **);
} BuiltinBackend;

static const BuiltinBackend builtin_backends[] = {
#if DYNTRACE_HAVE_NUMPY
    {"native", dt_native_compile},
#else
    {"native", dt_eager_compile}, /* without NumPy's headers the default still has to work */
#endif
    {"eager", dt_eager_compile},
};
enum { NBUILTIN = sizeof(builtin_backends) / sizeof(builtin_backends[0]) };

static const BuiltinBackend *
find_builtin(PyObject *name)
{
    for (int i = 0; i < NBUILTIN; i++) {
        if (PyUnicode_CompareWithASCIIString(name, builtin_backends[i].name) == 0) {
            return &builtin_backends[i];
        }
    }
    return NULL;
}

/* The registered callable (DT_BORROWED), or NULL, with or without an exception. */
static PyObject *
find_registered(PyObject *name)
{
    return registry == NULL ? NULL : PyDict_GetItemWithError(registry, name);
}

PyObject *
dt_backend_list(void)
{
    PyObject *names = registry == NULL ? PyList_New(0) : PyDict_Keys(registry);
    for (int i = 0; names != NULL && i < NBUILTIN; i++) {
        PyObject *name = PyUnicode_FromString(builtin_backends[i].name);
        if (name == NULL || PyList_Insert(names, i, name) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(name);
    }
    return names;
}

static void
set_unknown(PyObject *name)
{
    PyObject *names = dt_backend_list();
    PyObject *separator = PyUnicode_FromString(", ");
    PyObject *text = names == NULL || separator == NULL ? NULL : PyUnicode_Join(separator, names);
    if (text != NULL) {
        PyErr_Format(PyExc_ValueError, "backend: unknown backend %R, known ones are: %U", name,
                     text);
    }
    Py_XDECREF(text);
    Py_XDECREF(separator);
    Py_XDECREF(names);
}

int
dt_backend_validate(PyObject *backend)
{
    if (PyUnicode_Check(backend)) {
        if (find_builtin(backend) != NULL || find_registered(backend) != NULL) {
            return 0;
        }
        if (!PyErr_Occurred()) {
            set_unknown(backend);
        }
        return -1;
    }
    if (PyCallable_Check(backend)) {
        return 0;
    }
    PyErr_Format(
        PyExc_TypeError,
        "backend: expected the name of a backend or a callable (graph, example_inputs), got %s",
        Py_TYPE(backend)->tp_name);
    return -1;
}

int
dt_backend_register(PyObject *name, PyObject *callable)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "name: expected a str, got %s", Py_TYPE(name)->tp_name);
        return -1;
    }
    if (!PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError,
                     "backend: expected a callable (graph, example_inputs), got %s",
                     Py_TYPE(callable)->tp_name);
        return -1;
    }
    if (find_builtin(name) != NULL) {
        PyErr_Format(PyExc_ValueError, "name: %R is a builtin backend", name);
        return -1;
    }
    if (registry == NULL) {
        registry = PyDict_New();
        if (registry == NULL) {
            return -1;
        }
    }
    return PyDict_SetItem(registry, name, callable);
}

/* How messages call a backend that was given as a callable: its qualified name, else its type. */
static PyObject *
callable_name(PyObject *backend)
{
    PyObject *name = PyObject_GetAttrString(backend, "__qualname__");
    if (name != NULL && PyUnicode_Check(name)) {
        return name;
    }
    /* An object without a name is no error here: its type serves. */
    PyErr_Clear();
    Py_XDECREF(name);
    return PyUnicode_FromString(Py_TYPE(backend)->tp_name);
}

DtStatus
dt_backend_compile(PyObject *backend, DtGraph *graph, PyObject *const *examples, uint32_t nexamples,
                   PyObject *options, DtExecutable **out)
{
    PyObject *callable = backend;
    PyObject *name;
    if (dt_backend_validate(backend) < 0) {
        return DT_ERROR;
    }
    if (PyUnicode_Check(backend)) {
        const BuiltinBackend *builtin = find_builtin(backend);
        if (builtin != NULL) {
            return builtin->compile(graph, out);
        }
        callable = find_registered(backend);
        name = Py_NewRef(backend);
    }
    else {
        name = callable_name(backend);
    }
    DtStatus status = DT_ERROR;
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    if (text != NULL && callable != NULL) {
        Py_INCREF(callable); /* the backend may unregister itself */
        status = dt_user_compile(callable, text, graph, examples, nexamples, options, out);
        Py_DECREF(callable);
    }
    Py_XDECREF(name);
    return status;
}

bool
dt_backend_is_native(PyObject *backend)
{
#if DYNTRACE_HAVE_NUMPY
    return PyUnicode_Check(backend) && PyUnicode_CompareWithASCIIString(backend, "native") == 0;
#else
    (void)backend;
    return false;
#endif
}
