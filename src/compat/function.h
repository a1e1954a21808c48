/* Function objects as structs: what a static subtype of `function` needs.
 *
 * The layouts are those of each version's funcobject.h.  A subtyped function
 * keeps the fields where CPython's own code (attributes, inspect, garbage
 * collector) looks for them; calls reach it through its `vectorcall` field,
 * because every specialised call site tests for the exact type.
 */
#ifndef DT_COMPAT_FUNCTION_H
#define DT_COMPAT_FUNCTION_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"

/* A plain function with everything of `function` but its own identity: same code, globals, closure,
 * defaults, names, annotations.  `__dict__` is not shared.  NULL with an exception. */
DT_OWNED PyObject *dt_function_copy(PyObject *function);

/* Fills the function fields of `target` (zeroed, of a subtype) from `function`; shares everything
 * but
 * `__dict__`, and enters by `entry`. */
void dt_function_fill(PyFunctionObject *target, PyObject *function, vectorcallfunc entry);

/* After an assignment to `from`.__code__, __defaults__ or __kwdefaults__: makes `to` the same. */
void dt_function_sync(PyFunctionObject *to, PyFunctionObject *from);

static inline bool
dt_function_is_synced(const PyFunctionObject *a, const PyFunctionObject *b)
{
    return a->func_code == b->func_code && a->func_defaults == b->func_defaults
           && a->func_kwdefaults == b->func_kwdefaults;
}

/* How calls enter a plain function; NULL with an exception. */
vectorcallfunc dt_function_plain_entry(void);
/* Its answer, once it has been asked (at import). */
extern vectorcallfunc dt_function_entry;

/* Has code of C put an entry of its own (PyFunction_SetVectorcall), so that calls do not run the
 * function's code?  Subtypes are ours. */
static inline bool
dt_function_is_diverted(PyObject *function)
{
    return Py_IS_TYPE(function, &PyFunction_Type)
           && ((PyFunctionObject *)function)->vectorcall != dt_function_entry;
}

/* Makes a plain function an instance of `subtype` (same layout) that is entered by `entry` from
 * every call site, warm ones included.  Returns what dt_function_restore wants: the version by
 * which call sites had known it. */
uint32_t dt_function_redirect(PyObject *function, PyTypeObject *subtype, vectorcallfunc entry);

/* Makes it plain again.  `version` is 0 if its code or defaults were assigned meanwhile. */
void dt_function_restore(PyObject *function, vectorcallfunc plain_entry, uint32_t version);

/* A plain function that runs `code` where `like` would run: its globals, closure, defaults, names.
 */
DT_OWNED PyObject *dt_function_with_code(PyCodeObject *code, PyFunctionObject *like);

/* What MAKE_FUNCTION makes a function of: borrowed, NULL what is not there. */
typedef struct DtFunctionParts {
    PyObject *code;
    PyObject *defaults;    /* tuple */
    PyObject *kwdefaults;  /* dict */
    PyObject *annotations; /* tuple or dict */
    PyObject *closure;     /* tuple of cells */
} DtFunctionParts;

DT_OWNED PyObject *dt_function_make(const DtFunctionParts *parts, PyObject *globals,
                                    PyObject *qualname);

/* What a function keeps under names of its own that can be assigned; a class has names too, and
 * bases.  Guard programs and sources number the parts like this. */
typedef enum DtFunctionPart {
    DT_FUNCTION_DEFAULTS,
    DT_FUNCTION_KWDEFAULTS,
    DT_FUNCTION_QUALNAME,
    DT_FUNCTION_NAME,
    DT_FUNCTION_DOC,
    DT_FUNCTION_MODULE,
    DT_FUNCTION_ANNOTATIONS, /* the dict; a tuple until somebody has asked for it */
    DT_FUNCTION_TYPE_PARAMS, /* 3.12 and later */
    DT_FUNCTION_DICT,
    DT_FUNCTION_CLOSURE,
    DT_FUNCTION_BASES, /* of a class: while they are assigned, its version is still the old one */
    DT_FUNCTION_PART_COUNT
} DtFunctionPart;

/* A part of a function, or the names or bases of a class that a class statement made; None for one
 * that is not there, NULL for anything else.  No code runs, nothing is made. */
DT_BORROWED PyObject *dt_function_part(PyObject *object, int64_t part);
/* The part of that attribute on this version, or -1. */
int dt_function_part_named(PyObject *name);

/* Adds a line to the traceback of the pending exception, as a frame of that function would. */
void dt_function_add_traceback(PyObject *name, PyObject *filename, int line);

/* A tuple that begins with the names of the parameters, in slot order. */
static inline DT_BORROWED PyObject *
dt_function_parameter_names(PyCodeObject *code)
{
#if DT_PY310
    return code->co_varnames;
#else
    return code->co_localsplusnames;
#endif
}

#endif
