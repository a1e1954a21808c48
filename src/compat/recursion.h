/* Recursion as deep as plain Python allows.
 *
 * On 3.11 and later a call from Python to Python uses no C stack; entered from
 * our dispatcher, each level runs an eval loop of its own.  3.12 and 3.13 charge
 * such a loop to tstate->c_recursion_remaining, which would end a compiled
 * function's recursion at 749 and 4,999 levels whatever the recursion limit
 * says.  So the charge is given back for the time of the call, and the real C
 * stack of the thread is checked instead, on every version.
 */
#ifndef DT_COMPAT_RECURSION_H
#define DT_COMPAT_RECURSION_H

#include <stdbool.h>
#include <stddef.h>

#include "compat/python.h"

/* What _PyEval_EvalFrameDefault takes: one for its recursive call, the rest of
 * PY_EVAL_C_STACK_UNITS. */
#define DT_RECURSION_UNITS 2

/* The lowest address that this thread's stack may reach; computed once per thread. */
extern _Thread_local char *dt_recursion_limit;
char *dt_recursion_find_limit(void);

/* Sets RecursionError. */
void dt_recursion_raise(void);

/* C stack that following one more call, or one more level of a nested object, may need; the frames
 * of a build with AddressSanitizer are several times as large. */
#if defined(__SANITIZE_ADDRESS__)
#define DT_RECURSION_STEP ((size_t)256 * 1024)
#else
#define DT_RECURSION_STEP ((size_t)32 * 1024)
#endif

/* Whether this thread's C stack has that much, besides what is kept back for the deepest call. */
static inline bool
dt_recursion_has_room(void)
{
    char here;
    char *limit = dt_recursion_limit;
    if (limit == NULL) {
        limit = dt_recursion_find_limit();
    }
    return &here > limit && (size_t)(&here - limit) > DT_RECURSION_STEP;
}

/* Before a call into an eval loop; false with RecursionError when the C stack is nearly used up. */
static inline bool
dt_recursion_enter(PyThreadState *tstate)
{
    char here;
    char *limit = dt_recursion_limit;
    if (limit == NULL) {
        limit = dt_recursion_find_limit();
    }
    if ((char *)&here < limit) {
        dt_recursion_raise();
        return false;
    }
#if DT_PY_AT_LEAST(3, 12)
    tstate->c_recursion_remaining += DT_RECURSION_UNITS;
#else
    (void)tstate;
#endif
    return true;
}

static inline void
dt_recursion_leave(PyThreadState *tstate)
{
#if DT_PY_AT_LEAST(3, 12)
    tstate->c_recursion_remaining -= DT_RECURSION_UNITS;
#else
    (void)tstate;
#endif
}

#endif
