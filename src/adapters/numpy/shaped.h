/* The call that looks at the forms of results: see shaped.c. */
#ifndef DT_ADAPTERS_NUMPY_SHAPED_H
#define DT_ADAPTERS_NUMPY_SHAPED_H

#include "compat/python.h"
#include "core/status.h"

/* dyntrace._core.shaped, with vectorcall's arguments. */
DT_OWNED PyObject *dt_np_shaped(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames);

#endif
