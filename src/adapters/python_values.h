/* Between trackers and what hooks of Python adapters see; private to adapters/. */
#ifndef DT_ADAPTERS_PYTHON_VALUES_H
#define DT_ADAPTERS_PYTHON_VALUES_H

#include "core/vec.h"
#include "graph/graph.h"
#include "variables/adapter.h"

/* An array as a hook sees it. */
typedef struct DtShown {
    PyObject *meta; /* kept by the trace */
    DtArrayVar *var;
} DtShown;

/* One call of a hook. */
typedef struct DtHook {
    const DtAdapter *adapter;
    DtTrace *trace;
    DT_VEC(DtShown) shown;
} DtHook;

/* Imports Meta, Op and METHOD; -1 with an error. */
int dt_python_values_init(void);

/* object.name, a new reference.  The name is interned: CPython's method cache keeps those that it
 * sees. */
DT_OWNED PyObject *dt_python_attr(PyObject *object, const char *name);

/* A Python object for a tracker (kept by the trace): Meta, SymInt, constants, containers of these,
 * and functions, classes and modules themselves.  A break for the rest.  Needs a DtSymScope. */
DtStatus dt_python_show(DtHook *hook, DtVar *var, PyObject **out) DT_MUST_CHECK;
/* A tracker for the answer of a hook; adds the node of an Op.  Needs a DtSymScope. */
DtStatus dt_python_accept(DtHook *hook, PyObject *answer, DtVar **out) DT_MUST_CHECK;
/* The metadata that a Meta object gives, in the trace's arena. */
DtStatus dt_python_meta(DtHook *hook, PyObject *object, DtMeta **out) DT_MUST_CHECK;
bool dt_python_is_method(PyObject *answer); /* adapters.METHOD */

#endif
