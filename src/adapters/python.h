/* Adapters written in Python: objects with the hooks of dyntrace.adapters.Adapter.
 *
 * The public interface and its meaning are documented in
 * python/dyntrace/adapters.py.  Hooks are user code: they run while tracing and
 * in the guards of the arrays that they describe.
 */
#ifndef DT_ADAPTERS_PYTHON_H
#define DT_ADAPTERS_PYTHON_H

#include "variables/adapter.h"

/* Adds SymInt, SymFloat, register_adapter and unregister_adapter to the module; -1 with an error.
 */
int dt_python_adapter_add(PyObject *module);

#endif
