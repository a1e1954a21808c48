/* Exceptions and groups as the other kinds see them.  Raising and catching: trace.h. */
#ifndef DT_VARIABLES_EXCEPTIONS_H
#define DT_VARIABLES_EXCEPTIONS_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Exceptions (v_exception.c, exception_leaves.c, exception.c, exception_attr.c) ----------- */

DtStatus dt_exception_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
DtStatus dt_traceback_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* What calling an exception class gives: a new instance whose __init__ has run. */
DtStatus dt_exception_make(DtTrace *trace, DtVar *cls, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
/* A new instance of a builtin exception class with these arguments, made without calling it. */
DtStatus dt_exception_new(DtTrace *trace, PyTypeObject *cls, DtVar *const *args, uint32_t count,
                          DtInstanceVar **out) DT_MUST_CHECK;
/* What C defines for an exception of the trace: calling a method or slot wrapper, reading and
 * writing members, `raise ... from`, and the slots of its kind that end a trace. */
DtStatus dt_exception_call(DtTrace *trace, DtVar *self, PyObject *descriptor, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;
/* Whether an attribute found in the class is a member that C keeps in an exception of the trace. */
bool dt_exception_keeps(DtVar *self, PyObject *found);
DtStatus dt_exception_get(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
DtStatus dt_exception_set(DtTrace *trace, DtVar *self, PyObject *name, DtVar *value) DT_MUST_CHECK;
DtStatus dt_exception_set_cause(DtTrace *trace, DtVar *self, DtVar *value) DT_MUST_CHECK;
/* Makes `context`, which is not `self`, its context. */
DtStatus dt_exception_set_context(DtTrace *trace, DtVar *self, DtVar *context) DT_MUST_CHECK;
/* It is raised in a frame, or leaves one: a traceback that the program has seen is another one from
 * now on. */
DtStatus dt_exception_lengthen(DtTrace *trace, DtVar *exception) DT_MUST_CHECK;
DtStatus dt_exception_traceback(DtTrace *trace, DtVar *self, DtVar **out) DT_MUST_CHECK;
/* Has the interpreter told it of which name and object it is, when it left what was asked for that?
 * An exception that had said so itself is left alone. */
bool dt_exception_was_told(const DtExceptionState *state);
DtStatus dt_exception_children(DtTrace *trace, DtVar *self,
                               DtStatus (*visit)(DtTrace *, DtVar *, void *),
                               void *arg) DT_MUST_CHECK;
DtStatus dt_exception_reconstruct(DtCodegen *codegen, DtVar *self) DT_MUST_CHECK;
/* A copy of the state, for a change; the caller fills it before anything else happens. */
DtStatus dt_exception_change(DtTrace *trace, DtInstanceVar *self,
                             DtExceptionState **out) DT_MUST_CHECK;
/* Whether a realised tracker is an exception; and whether one that the trace has made. */
static inline bool
dt_exception_is(const DtVar *var)
{
    return var->type->kind == DT_KIND_INSTANCE && ((const DtInstanceVar *)var)->exception != NULL;
}

static inline bool
dt_exception_is_new(const DtVar *var)
{
    return dt_exception_is(var) && ((const DtInstanceVar *)var)->object == NULL;
}

/* Takes an exception that the traced program has raised, if it is a `type`; then it can be raised
 * again. */
bool dt_kinds_take_raised(DtTrace *trace, DtStatus status, PyObject *type, DtVar **exception);
DtStatus dt_kinds_raise_again(DtTrace *trace, DtVar *exception);

/* ---- Groups (v_exception_group.c) ------------------------------------------------------------ */

/* Whether a class, or NULL, is one of groups; making a group; the
 * text, and the methods, of one. */
bool dt_group_is_class(PyTypeObject *cls);
DtStatus dt_group_make(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
DtStatus dt_group_str(DtTrace *trace, DtVar *self, DtVar **out) DT_MUST_CHECK;
extern const DtMethodRow dt_group_rows[];
/* `except* wanted` of an exception, which `whole` says to be one of these: the group that the
 * clause handles, or None, and what is left. */
DtStatus dt_group_match(DtTrace *trace, DtVar *exception, bool whole, DtVar *wanted, DtVar **match,
                        DtVar **rest) DT_MUST_CHECK;
/* What is raised after the clauses, or None: `raised` is what they have raised and what no clause
 * took. */
DtStatus dt_group_prepare_reraise(DtTrace *trace, DtVar *original, DtSeqVar *raised,
                                  DtVar **out) DT_MUST_CHECK;

#endif
