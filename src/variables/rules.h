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

/* A break if calls of the object are never followed, whatever their arguments: a function marked as
 * disabled.  It is only looked at; nothing is guarded. */
DtStatus dt_rules_check_callable(DtTrace *trace, PyObject *object) DT_MUST_CHECK;
/* The mark of an existing function (NULL: of a new one, which has none). */
DtStatus dt_rules_mark(PyObject *function, DtMark *out) DT_MUST_CHECK;

/* Calls a function marked as constant, on arguments that are known while tracing; its result is
 * known by identity.  Runs user code: the mark allows it. */
DtStatus dt_rules_call_constant(DtTrace *trace, DtFunctionVar *function, const DtArgs *args,
                                DtVar **out) DT_MUST_CHECK;

/* Whether the function says that graph breaks in it are errors: 1, that they are not: 0, nothing:
 * -1 (dyntrace.error_on_graph_break as a decorator).  DT_ERROR: MemoryError. */
DtStatus dt_rules_refusing(PyObject *function, int *out) DT_MUST_CHECK;
/* Graph breaks are errors from here on, or are not. */
DtStatus dt_rules_refuse(DtTrace *trace, bool on) DT_MUST_CHECK;
/* The trace enters a function that it follows, and leaves it by whatever way: what the function
 * says counts inside.  *entered is for the leaving. */
DtStatus dt_rules_enter(DtTrace *trace, PyObject *function, uint32_t *entered) DT_MUST_CHECK;
void dt_rules_leave(DtTrace *trace, uint32_t entered);

/* Whether functions with these globals are left alone: the name of the module, or a package that it
 * is in, is on the list. */
bool dt_rules_is_skipped(PyObject *globals);
/* Takes the list, a frozenset of str; -1 with an exception. */
int dt_rules_set_skipped(PyObject *names);

#endif
