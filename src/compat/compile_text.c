/* See compile_text.h.
 *
 * The compiler hands a warning to the filters of the module `warnings`, which it reads anew each
 * time.  While it runs a filter stands in front of them that makes an error of every warning; the
 * interpreter lock is not given away meanwhile.
 */
#include "compat/compile_text.h"

#include <string.h>

#include "compat/code.h"

/* warnings.filters, borrowed; NULL: not a list. */
static PyObject *
find_filters(void)
{
    PyObject *name = PyUnicode_InternFromString("warnings");
    PyObject *module = name != NULL ? PyImport_GetModule(name) : NULL;
    PyObject *filters = module != NULL && PyModule_CheckExact(module)
                            ? PyDict_GetItemString(PyModule_GetDict(module), "filters")
                            : NULL;
    Py_XDECREF(name);
    Py_XDECREF(module); /* sys.modules keeps it */
    return filters != NULL && PyList_CheckExact(filters) ? filters : NULL;
}

DT_OWNED PyObject *
dt_compile_text(PyObject *text, PyObject *filename, bool expression, PyCodeObject *like)
{
    PyObject *filters = find_filters();
    PyObject *error = Py_BuildValue("(sOOOi)", "error", Py_None, PyExc_Warning, Py_None, 0);
    Py_ssize_t size = 0;
    const char *source = PyUnicode_AsUTF8AndSize(text, &size);
    PyObject *code = NULL;
    bool whole = source != NULL && strlen(source) == (size_t)size; /* a NUL is refused */
    if (filters != NULL && error != NULL && whole && PyList_Insert(filters, 0, error) == 0) {
        PyCompilerFlags flags = {.cf_flags = PyCF_SOURCE_IS_UTF8,
                                 .cf_feature_version = PY_MINOR_VERSION};
        if (like != NULL) {
            flags.cf_flags |= dt_code_flags(like) & PyCF_MASK;
        }
        while (expression && (*source == ' ' || *source == '\t')) {
            source++;
        }
        code = Py_CompileStringObject(source, filename, expression ? Py_eval_input : Py_file_input,
                                      &flags, -1);
        PyErr_Clear(); /* SyntaxError, or a warning: the program itself will raise it */
        if (PyList_GET_SIZE(filters) > 0 && PyList_GET_ITEM(filters, 0) == error) {
            (void)PyList_SetSlice(filters, 0, 1, NULL);
        }
    }
    PyErr_Clear(); /* a lone surrogate, or no memory: not compiled here */
    Py_XDECREF(error);
    return code;
}

bool
dt_compile_takes_names(void)
{
    return DT_PY_AT_LEAST(3, 13);
}
