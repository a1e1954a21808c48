/* How the table of a set came to be.
 *
 * In which order a set is iterated over follows from everything that was done
 * to it.  So a set tracker remembers its operations; where the order matters
 * they are performed again on a real set, and where the set leaves the
 * function they are emitted.  The elements need not be constants for the
 * latter.
 *
 *   EMPTY ─► ADD 1 ─► ADD 9 ─► CALL discard(1)          a set made step by step
 *   REAL ─► ...                                          one that existed before
 *   RESULT union(<set after its step k>, (4, 5))         what a method returned
 *
 * Invariant: a step never changes once another follows it, so a rollback that
 * puts back the pointer to an earlier step puts back the layout.
 */
#ifndef DT_VARIABLES_SET_LAYOUT_H
#define DT_VARIABLES_SET_LAYOUT_H

#include "variables/kinds.h"

/* The empty set of a type. */
DtStatus dt_layout_begin(DtTrace *trace, DtDictVar *set) DT_MUST_CHECK;
/* A set that exists.  Its layout is guarded when it is first asked for. */
DtStatus dt_layout_begin_real(DtTrace *trace, DtDictVar *set) DT_MUST_CHECK;
DtStatus dt_layout_add(DtTrace *trace, DtDictVar *set, DtVar *item) DT_MUST_CHECK;
/* The set was changed by its method; arguments are sets, dicts, tuples or elements. */
DtStatus dt_layout_call(DtTrace *trace, DtDictVar *set, const char *method, DtVar *const *args,
                        uint32_t nargs) DT_MUST_CHECK;
/* `made` is what the method of `receiver` returned. */
DtStatus dt_layout_result(DtTrace *trace, DtDictVar *made, DtDictVar *receiver, const char *method,
                          DtVar *const *args, uint32_t nargs) DT_MUST_CHECK;

/* A real set of the same layout, not to be changed; *out NULL: it is not known. */
DtStatus dt_layout_replay(DtTrace *trace, const DtDictVar *set,
                          DT_BORROWED PyObject **out) DT_MUST_CHECK;
/* Takes the real set that stands for the newest step, to perform the next one on it; *out NULL: it
 * is not known. */
DtStatus dt_layout_take(DtTrace *trace, const DtDictVar *set,
                        DT_OWNED PyObject **out) DT_MUST_CHECK;
/* Gives back what was taken, after the step was recorded. */
DtStatus dt_layout_give(DtTrace *trace, DtDictVar *set, DT_STEALS PyObject *real) DT_MUST_CHECK;

/* What was called on a set that existed before: `set.method(*args)`, in order. */
typedef struct DtLayoutCall {
    const char *method;
    DtVar **args;
    uint32_t nargs;
} DtLayoutCall;

/* The calls that make of the set as it was what it is now, its table included.  *count 0: they are
 * not known, or additions alone say the same. */
DtStatus dt_layout_calls(DtTrace *trace, const DtDictVar *set, DtLayoutCall **out,
                         uint32_t *count) DT_MUST_CHECK;

/* Leaves a set of this layout on the stack. */
DtStatus dt_layout_emit(DtCodegen *codegen, DtDictVar *set) DT_MUST_CHECK;

#endif
