/* CompiledFunction: a function to the world, a dispatcher inside.
 *
 *   call ─► vectorcall ─► watched? ──────────────► twin (plain function)
 *                │  bind arguments into slots
 *                ▼
 *           entries of (code, region): guards hold ─► kernel, result     no Python frame
 *                │                                 └► rewritten code     a Python frame
 *                ▼ none
 *           compile (compile.h), then as above
 *                │ graph break
 *                ▼
 *           driver (broken.h): the function's own frame, compiled between its breaks; or the twin
 *
 * It is a static subtype of `function`, so inspect, binding as a method and
 * attribute access are CPython's own.  The twin is a plain function over the
 * same parts; assignments to __code__, __defaults__ and __kwdefaults__ reach it
 * before its next call.
 */
#ifndef DT_EVAL_FRAME_COMPILED_FUNCTION_H
#define DT_EVAL_FRAME_COMPILED_FUNCTION_H

#include "eval_frame/region.h"

typedef struct DtCompiledFunction {
    PyFunctionObject base;
    PyObject *twin;        /* plain function */
    DtRegion *region;      /* DT_OWNED */
    DtCodeCache *cache;    /* of base.func_code; lives as long as the region */
    DtEntry *framed;       /* the entry that `framed_code` runs; DT_OWNED */
    PyObject *framed_code; /* function around framed->code with this function's closure */
    PyObject *driven;      /* function around the driver of a code that breaks, or NULL */
} DtCompiledFunction;

extern PyTypeObject DtCompiledFunction_Type;

/* A compiled function over `function` (a plain or compiled one).  NULL with an exception. */
DT_OWNED PyObject *dt_compiled_function_new(PyObject *function, DtRegion *region);

/* The same for our own use only: it has no attributes, and does not refer to `function`. */
DT_OWNED PyObject *dt_compiled_function_hidden(PyObject *function, DtRegion *region);

/* The cache of the code that it has now; NULL with MemoryError. */
DtCodeCache *dt_compiled_function_cache(DtCompiledFunction *function);

/* A call of the function as it stands in the user's source. */
DT_OWNED PyObject *dt_compiled_function_call_plainly(DtCompiledFunction *function,
                                                     PyObject *const *args, size_t nargsf,
                                                     PyObject *kwnames);

/* A call before it is worth compiling the function: its loops are entered once they are hot
 * (running_loops.h), the rest runs plainly. */
DT_OWNED PyObject *dt_compiled_function_call_looping(DtCompiledFunction *function,
                                                     PyObject *const *args, size_t nargsf,
                                                     PyObject *kwnames);

/* No entry, no driver, and no further attempt: it is a plain function with a detour. */
bool dt_compiled_function_is_idle(DtCompiledFunction *function);
/* Was it measured to be no faster than plain execution? */
bool dt_compiled_function_is_forsaken(DtCompiledFunction *function);

/* A callable object: calls go to `compiled` with `object` in front; attributes are the object's. */
DT_OWNED PyObject *dt_compiled_callable_new(PyObject *object, PyObject *compiled);

/* Puts an Adoption into the function's `dict`, so that by-value pickles compile again where they
 * arrive.  -1 with an exception. */
int dt_adoption_prepare(PyObject *function, PyObject *dict, PyObject *region);
PyObject *dt_adoption_adopt(PyObject *module, PyObject *args); /* _core.adopt(function, region) */
int dt_adoption_init(void);

int dt_compiled_function_add_types(PyObject *module);

#endif
