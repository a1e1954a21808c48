/* dyntrace._core._testing: white-box entries for the project's own tests. */
#ifndef DT_MODULE_TESTING_H
#define DT_MODULE_TESTING_H

#include "compat/python.h"

int dt_testing_add(PyObject *module);

extern PyMethodDef dt_testing_bytecode_methods[];
extern PyMethodDef dt_testing_variables_methods[];
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
