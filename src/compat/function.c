/* See function.h.  Mirrors the fields that CPython's function_new and its
 * __code__/__defaults__ setters maintain. */
#include "compat/function.h"

#if DT_PY313
#include "internal/pycore_traceback.h"
#endif

#define SHARE(target, from, field)                                                                 \
    do {                                                                                           \
        PyObject *old_ = (PyObject *)(target)->field;                                              \
        Py_XINCREF((from)->field);                                                                 \
        (target)->field = (from)->field;                                                           \
        Py_XDECREF(old_);                                                                          \
    } while (0)

static void
share_fields(PyFunctionObject *target, PyFunctionObject *from)
{
    SHARE(target, from, func_globals);
    SHARE(target, from, func_builtins);
    SHARE(target, from, func_name);
    SHARE(target, from, func_qualname);
    SHARE(target, from, func_code);
    SHARE(target, from, func_defaults);
    SHARE(target, from, func_kwdefaults);
    SHARE(target, from, func_closure);
    SHARE(target, from, func_doc);
    SHARE(target, from, func_module);
    SHARE(target, from, func_annotations);
#if DT_PY_AT_LEAST(3, 12)
    SHARE(target, from, func_typeparams);
#endif
}

PyObject *
dt_function_copy(PyObject *function)
{
    PyFunctionObject *from = (PyFunctionObject *)function;
    PyObject *copy =
        PyFunction_NewWithQualName(from->func_code, from->func_globals, from->func_qualname);
    if (copy != NULL) {
        share_fields((PyFunctionObject *)copy, from);
    }
    return copy;
}

void
dt_function_fill(PyFunctionObject *target, PyObject *function, vectorcallfunc entry)
{
    share_fields(target, (PyFunctionObject *)function);
    target->vectorcall = entry;
}

void
dt_function_sync(PyFunctionObject *to, PyFunctionObject *from)
{
    /* 3.12 and later tell function watchers of such changes; nobody but us knows the twin. */
#if DT_PY_AT_LEAST(3, 11)
    to->func_version = 0; /* call sites specialised for the old fields must not take them */
#endif
    SHARE(to, from, func_code);
    SHARE(to, from, func_defaults);
    SHARE(to, from, func_kwdefaults);
}

vectorcallfunc dt_function_entry; /* the same for all: a constant of this CPython */

vectorcallfunc
dt_function_plain_entry(void)
{
    if (dt_function_entry == NULL) {
        PyCodeObject *code = PyCode_NewEmpty("", "", 1);
        PyObject *globals = code != NULL ? PyDict_New() : NULL;
        PyObject *function = globals != NULL ? PyFunction_New((PyObject *)code, globals) : NULL;
        if (function != NULL) {
            dt_function_entry = ((PyFunctionObject *)function)->vectorcall;
        }
        Py_XDECREF(function);
        Py_XDECREF(globals);
        Py_XDECREF(code);
    }
    return dt_function_entry;
}

static void
enter_by(PyFunctionObject *function, vectorcallfunc entry)
{
#if DT_PY_AT_LEAST(3, 12)
    PyFunction_SetVectorcall(function, entry);
#else
    function->vectorcall = entry;
#endif
}

uint32_t
dt_function_redirect(PyObject *function, PyTypeObject *subtype, vectorcallfunc entry)
{
    uint32_t version = 0;
#if DT_PY_AT_LEAST(3, 11)
    version = ((PyFunctionObject *)function)->func_version;
    ((PyFunctionObject *)function)->func_version = 0;
#endif
    enter_by((PyFunctionObject *)function, entry);
    Py_SET_TYPE(function, subtype);
    return version;
}

void
dt_function_restore(PyObject *function, vectorcallfunc plain_entry, uint32_t version)
{
    Py_SET_TYPE(function, &PyFunction_Type);
    enter_by((PyFunctionObject *)function, plain_entry);
#if DT_PY_AT_LEAST(3, 11)
    ((PyFunctionObject *)function)->func_version = version;
#else
    (void)version;
#endif
}

PyObject *
dt_function_with_code(PyCodeObject *code, PyFunctionObject *like)
{
    PyObject *made =
        PyFunction_NewWithQualName((PyObject *)code, like->func_globals, like->func_qualname);
    if (made == NULL) {
        return NULL;
    }
    PyFunctionObject *function = (PyFunctionObject *)made;
    share_fields(function, like);
    Py_INCREF(code);
    Py_SETREF(function->func_code, (PyObject *)code);
    return made;
}

PyObject *
dt_function_make(const DtFunctionParts *parts, PyObject *globals, PyObject *qualname)
{
    PyObject *made = PyFunction_NewWithQualName(parts->code, globals, qualname);
    if (made != NULL) {
        PyFunctionObject *function = (PyFunctionObject *)made;
        Py_XINCREF(parts->defaults);
        Py_XINCREF(parts->kwdefaults);
        Py_XINCREF(parts->annotations);
        Py_XINCREF(parts->closure);
        function->func_defaults = parts->defaults;
        function->func_kwdefaults = parts->kwdefaults;
        function->func_annotations = parts->annotations;
        function->func_closure = parts->closure;
    }
    return made;
}

static PyObject *
part_of(PyFunctionObject *function, DtFunctionPart part)
{
    switch (part) {
    case DT_FUNCTION_DEFAULTS:
        return function->func_defaults;
    case DT_FUNCTION_KWDEFAULTS:
        return function->func_kwdefaults;
    case DT_FUNCTION_QUALNAME:
        return function->func_qualname;
    case DT_FUNCTION_NAME:
        return function->func_name;
    case DT_FUNCTION_DOC:
        return function->func_doc;
    case DT_FUNCTION_MODULE:
        return function->func_module;
    case DT_FUNCTION_ANNOTATIONS:
        return function->func_annotations;
    case DT_FUNCTION_DICT:
        return function->func_dict;
    case DT_FUNCTION_CLOSURE:
        return function->func_closure;
    case DT_FUNCTION_TYPE_PARAMS:
#if DT_PY_AT_LEAST(3, 12)
        return function->func_typeparams;
#endif
    case DT_FUNCTION_BASES:
    case DT_FUNCTION_PART_COUNT:
        break;
    }
    return NULL;
}

static PyObject *
part_of_class(PyHeapTypeObject *cls, DtFunctionPart part)
{
    switch (part) {
    case DT_FUNCTION_NAME:
        return cls->ht_name;
    case DT_FUNCTION_QUALNAME:
        return cls->ht_qualname;
    case DT_FUNCTION_BASES:
        return cls->ht_type.tp_bases;
    default:
        return NULL;
    }
}

PyObject *
dt_function_part(PyObject *object, int64_t part)
{
    PyObject *value;
    if (PyType_Check(object)) {
        return PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE)
                   ? part_of_class((PyHeapTypeObject *)object, (DtFunctionPart)part)
                   : NULL;
    }
    if (!PyObject_TypeCheck(object, &PyFunction_Type)) {
        return NULL;
    }
    value = part_of((PyFunctionObject *)object, (DtFunctionPart)part);
    if (value == NULL && part == DT_FUNCTION_TYPE_PARAMS) {
        static PyObject *empty = NULL; /* kept for the life of the process */
        if (empty == NULL) {
            empty = PyTuple_New(0);
            PyErr_Clear(); /* MemoryError: not readable this time */
        }
        return empty;
    }
    return value != NULL ? value : Py_None;
}

int
dt_function_part_named(PyObject *name)
{
    static const char *const names[DT_FUNCTION_PART_COUNT] = {
        [DT_FUNCTION_DEFAULTS] = "__defaults__",
        [DT_FUNCTION_KWDEFAULTS] = "__kwdefaults__",
        [DT_FUNCTION_QUALNAME] = "__qualname__",
        [DT_FUNCTION_NAME] = "__name__",
        [DT_FUNCTION_DOC] = "__doc__",
        [DT_FUNCTION_MODULE] = "__module__",
        [DT_FUNCTION_ANNOTATIONS] = "__annotations__",
#if DT_PY_AT_LEAST(3, 12)
        [DT_FUNCTION_TYPE_PARAMS] = "__type_params__",
#endif
        [DT_FUNCTION_DICT] = "__dict__",
        [DT_FUNCTION_CLOSURE] = "__closure__",
    };
    for (int part = 0; part < DT_FUNCTION_PART_COUNT; part++) {
        if (names[part] != NULL && PyUnicode_CompareWithASCIIString(name, names[part]) == 0) {
            return part;
        }
    }
    return -1;
}

void
dt_function_add_traceback(PyObject *name, PyObject *filename, int line)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const char *name_text = PyUnicode_AsUTF8(name);
    const char *filename_text = PyUnicode_AsUTF8(filename);
    PyErr_Restore(type, value, traceback); /* in place of a name's UnicodeEncodeError */
    if (name_text != NULL && filename_text != NULL) {
        _PyTraceback_Add(name_text, filename_text, line);
    }
}
