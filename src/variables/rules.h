/* What the user has said about calls: functions marked as disabled or constant,
 * and modules whose functions are not followed.
 *
 * A mark is an attribute of the function.  No user code runs but the marked
 * constant function itself.
 */
#ifndef DT_VARIABLES_RULES_H
#define DT_VARIABLES_RULES_H

#include "variables/var.h"

typedef enum DtMark {
    DT_MARK_NONE,
    DT_MARK_DISABLED, /* dyntrace.disable */
    DT_MARK_CONSTANT  /* dyntrace.assume_constant_result */
} DtMark;

/* The mark of an existing function (NULL: of a new one, which has none). */
DtStatus dt_rules_mark(PyObject *function, DtMark *out) DT_MUST_CHECK;

/* Calls a function marked as constant, on arguments that are known while tracing; its result is
 * known by identity.  Runs user code: the mark allows it. */
DtStatus dt_rules_call_constant(DtTrace *trace, DtFunctionVar *function, const DtArgs *args,
                                DtVar **out) DT_MUST_CHECK;

/* Whether functions with these globals are left alone: the name of the module, or a package that it
 * is in, is on the list. */
bool dt_rules_is_skipped(PyObject *globals);
/* Takes the list, a frozenset of str; -1 with an exception. */
int dt_rules_set_skipped(PyObject *names);

#endif
