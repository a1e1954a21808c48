/* What several of the testing files take from Python: functions to trace, names of tables. */
#include <string.h>

#include "module/testing.h"
#include "variables/kinds.h"

const char *const dt_testing_source_names[] = {
#define SOURCE(NAME, TEXT) #NAME,
#include "variables/sources.def"
#undef SOURCE
};

const char *const dt_testing_sym_names[] = {
#define SYM_OP(NAME, ARITY, TEXT) #NAME,
#include "variables/numbers/sym_ops.def"
#undef SYM_OP
};

DtTrace *
dt_testing_trace(PyObject *function)
{
    if (!PyFunction_Check(function)) {
        PyErr_SetString(PyExc_TypeError, "expected a function");
        return NULL;
    }
    PyFunctionObject *f = (PyFunctionObject *)function;
    return dt_trace_new((PyCodeObject *)f->func_code, f->func_globals, f->func_builtins, function,
                        NULL);
}

int
dt_testing_index(const char *const *names, int count, const char *name)
{
    for (int i = 0; name != NULL && i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    if (name != NULL) {
        PyErr_Format(PyExc_ValueError, "unknown name '%s'", name);
    }
    return -1;
}

PyObject *
dt_testing_names(const char *const *names, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, name);
    }
    return list;
}
