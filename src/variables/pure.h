/* Folding beyond plain constants: calling C code that is known to be pure while
 * tracing.
 *
 * A pure object is an immutable object of a C type of the standard library
 * (rows in pure.c) that is known whole: patterns, matches, itemgetters.  Its
 * attributes are read and its methods called while tracing, on arguments that
 * are known too; what comes out is known.
 *
 * No user code runs: arguments are rebuilt from constants and pure objects.
 */
#ifndef DT_VARIABLES_PURE_H
#define DT_VARIABLES_PURE_H

#include "variables/classes/payloads.h"

/* Whether the object is of a pure type, and what it looks at can't change, either (a match over a
 * bytearray can). */
bool dt_pure_is(PyObject *object);

/* Whether it is pure and its text shows nothing but values: no address, no object of the user. */
bool dt_pure_has_text(PyObject *object);
/* Whether the type has a row: objects of it that are not pure hold something that is not. */
bool dt_pure_has_row(PyTypeObject *type);
/* Whether it is a function of a C module that is pure (rows in pure.c, too). */
bool dt_pure_is_function(PyObject *object);

/* Calls `callable`, which has to be pure, on arguments that are known: constants, pure objects, and
 * tuples, lists, dicts and sets of such (copies; the callable must not keep or change them).  A
 * break when one is not known; what the callable raises, the traced program raises. */
DtStatus dt_pure_call(DtTrace *trace, PyObject *callable, const DtArgs *args,
                      DtVar **out) DT_MUST_CHECK;
/* Whether dt_pure_call() would take the argument. */
DtStatus dt_pure_knows(DtTrace *trace, DtVar *var, bool *out) DT_MUST_CHECK;
/* As dt_pure_call(); parts of the result that are neither constants nor pure become objects known
 * by identity.  For members of pure objects. */
DtStatus dt_pure_members(DtTrace *trace, PyObject *callable, const DtArgs *args,
                         DtVar **out) DT_MUST_CHECK;

/* The attribute of a pure object (tracker `self`).  Its methods come back as builtins. */
DtStatus dt_pure_getattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
/* Calls the builtin method `method`, whose self is a pure object. */
DtStatus dt_pure_call_method(DtTrace *trace, PyObject *method, const DtArgs *args,
                             DtVar **out) DT_MUST_CHECK;
/* Calls the pure object itself. */
DtStatus dt_pure_call_object(DtTrace *trace, DtVar *self, const DtArgs *args,
                             DtVar **out) DT_MUST_CHECK;
/* An operator of which one operand is a pure object. */
DtStatus dt_pure_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right,
                        DtVar **out) DT_MUST_CHECK;
/* object[key] */
DtStatus dt_pure_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out) DT_MUST_CHECK;

#endif
