/* The settings of dyntrace.config that C reads. */
#ifndef DT_MODULE_CONFIG_H
#define DT_MODULE_CONFIG_H

#include "compat/python.h"

PyObject *dt_config_get(PyObject *module, PyObject *name);
PyObject *dt_config_set(PyObject *module, PyObject *args); /* (name, value) */

#endif
