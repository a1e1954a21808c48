/* Binding a vectorcall's arguments to a function's parameters, in C.
 *
 * This is the warm path's binder: it fills argument slots, or says that the
 * call is not a plain fit; then the plain function is called and CPython itself
 * raises the TypeError.  No user code runs (keyword names are exact strings).
 */
#ifndef DT_EVAL_FRAME_BIND_H
#define DT_EVAL_FRAME_BIND_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

typedef enum DtBind {
    DT_BIND_OK,
    DT_BIND_NO_FIT, /* call the plain function */
    DT_BIND_ERROR   /* MemoryError is set */
} DtBind;

/* `slots` has dt_code_argument_slots() places.  They hold borrowed references, but for *args and
 * **kwargs, which are new: dt_bind_release() lets go of them. */
DtBind dt_bind_arguments(PyFunctionObject *function, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames, PyObject **slots);
void dt_bind_release(PyFunctionObject *function, PyObject **slots);

/* The reverse: calls a function with the parameters of `code` by arguments that fill its slots so.
 */
DT_OWNED PyObject *dt_bind_call(PyObject *function, PyCodeObject *code, PyObject *const *slots);

#endif
