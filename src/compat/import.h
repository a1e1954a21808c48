/* What lies in a module, by name. */
#ifndef DT_COMPAT_IMPORT_H
#define DT_COMPAT_IMPORT_H

#include "compat/python.h"
#include "core/status.h"

/* The attribute of a module, which is imported if it was not yet; NULL with an exception. */
DT_OWNED PyObject *dt_import_attr(const char *module, const char *name);

#endif
