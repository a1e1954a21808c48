/* Executables around a user's compiled callable.  Private to backend/. */
#ifndef DT_BACKEND_USER_H
#define DT_BACKEND_USER_H

#include "backend/backend.h"

/* Asks `backend` (a callable named `name` for messages) to compile; DT_ERROR with
 * dyntrace.BackendError. */
DtStatus dt_user_compile(PyObject *backend, const char *name, DtGraph *graph,
                         PyObject *const *examples, uint32_t nexamples, PyObject *options,
                         DT_OWNED DtExecutable **out) DT_MUST_CHECK;

#endif
