/* dyntrace._core._testing: white-box entries for the project's own tests. */
#ifndef DT_MODULE_TESTING_H
#define DT_MODULE_TESTING_H

#include "compat/python.h"
#include "variables/trace.h"

int dt_testing_add(PyObject *module);

/* A trace of the function's code, for its globals and builtins; NULL with TypeError or MemoryError.
 */
DT_OWNED DtTrace *dt_testing_trace(PyObject *function);

/* Names of sources.def and sym_ops.def, by number. */
extern const char *const dt_testing_source_names[];
extern const char *const dt_testing_sym_names[];

/* The number of a name among `count`; -1 with ValueError, or if `name` is NULL. */
int dt_testing_index(const char *const *names, int count, const char *name);

/* The names as a list of str. */
DT_OWNED PyObject *dt_testing_names(const char *const *names, int count);

extern PyMethodDef dt_testing_bytecode_methods[];
extern PyMethodDef dt_testing_variables_methods[];
extern PyMethodDef dt_testing_trackers_methods[];
extern PyMethodDef dt_testing_adapters_methods[];
extern PyMethodDef dt_testing_guards_methods[];
extern PyMethodDef dt_testing_damage_methods[];
extern PyMethodDef dt_testing_graph_methods[];
extern PyMethodDef dt_testing_plan_methods[];
extern PyMethodDef dt_testing_driver_methods[];
extern PyMethodDef dt_testing_scale_methods[];
extern PyMethodDef dt_testing_sideeffects_methods[];
#if DYNTRACE_HAVE_NUMPY
extern PyMethodDef dt_testing_native_methods[];
#endif

#endif
