/* Folding: what a builtin operation gives for values that are all known is
 * found by performing it, on the real objects.
 *
 *   trackers ──► real objects (containers are made anew) ──► the call ──► a tracker of the result
 *                                                               └──────► a traced exception
 *
 * Invariants: only values of exact builtin types whose slots run no user code
 * take part, so no user code runs; a result that an argument could make huge
 * is a graph break instead.
 *
 * Also here: the exception of an operation that can't succeed, found by
 * performing it on stand-ins of the same types.
 */
#ifndef DT_VARIABLES_FOLD_H
#define DT_VARIABLES_FOLD_H

#include "variables/kinds.h"

/* An object equal to what the tracker stands for, or NULL if it is not wholly known.  Lists, dicts,
 * sets and bytearrays are made anew, shared parts once; symbolic numbers are specialised. */
DtStatus dt_fold_value(DtTrace *trace, DtVar *var, DT_OWNED PyObject **out) DT_MUST_CHECK;

/* callable(*args) of known arguments.  A break names `callable` and the first argument that is not
 * known.  `bound`: the receiver of a method, or NULL; it is looked at for the size of the result.
 */
DtStatus dt_fold_call(DtTrace *trace, PyObject *callable, PyObject *bound, const DtArgs *args,
                      DtVar **out) DT_MUST_CHECK;

/* The same with objects; takes neither reference.  `keywords` may be NULL. */
DtStatus dt_fold_objects(DtTrace *trace, PyObject *callable, PyObject *bound, PyObject *args,
                         PyObject *keywords, DtVar **out) DT_MUST_CHECK;

/* The call itself: *out is its result, or NULL with its exception set. */
DtStatus dt_fold_object_call(DtTrace *trace, PyObject *callable, PyObject *bound,
                             const DtArgs *args, DT_OWNED PyObject **out) DT_MUST_CHECK;

/* Puts the value of argument i, counted over both, into a new tuple of those by position or a dict
 * of those by name. */
DtStatus dt_fold_put_argument(const DtArgs *args, uint32_t i, DT_STEALS PyObject *value,
                              PyObject *values, PyObject *keywords) DT_MUST_CHECK;

/* An object of which an operation that fails for the type alone fails with the same text: the value
 * if it is known, an empty or None-filled container, or an instance of a class of the same name. */
DtStatus dt_fold_stand_in(DtTrace *trace, DtVar *var, DT_OWNED PyObject **out) DT_MUST_CHECK;

/* Calls with stand-ins for the arguments something that must raise, and raises that in the traced
 * program; a break if it succeeds. */
DtStatus dt_fold_failure(DtTrace *trace, PyObject *callable, const DtArgs *args) DT_MUST_CHECK;

/* The same for a function of module operator (getitem, lt ...), for a method of the first argument,
 * and for a builtin function. */
DtStatus dt_fold_operator_failure(DtTrace *trace, const char *name, DtVar *const *args,
                                  uint32_t nargs) DT_MUST_CHECK;
DtStatus dt_fold_method_failure(DtTrace *trace, DtVar *self, const char *name, DtVar *const *args,
                                uint32_t nargs) DT_MUST_CHECK;
DtStatus dt_fold_builtin_failure(DtTrace *trace, const char *name, DtVar *arg) DT_MUST_CHECK;
/* The same for a binary operator. */
DtStatus dt_fold_binary_failure(DtTrace *trace, DtBinaryOp op, DtVar *left,
                                DtVar *right) DT_MUST_CHECK;

/* ---- Between the files ---------------------------------------------------------------------- */

/* Folding never makes an object with more parts than this. */
#define DT_FOLD_MAX_PARTS 1000000
#define DT_FOLD_NAME_SIZE 64

/* What the callable calls itself, for messages and for its bounds. */
const char *dt_fold_name(PyObject *callable, char buffer[DT_FOLD_NAME_SIZE]);

/* Is the result of the call sure to be no larger than a program would mean it? */
bool dt_fold_is_bounded(const char *name, PyObject *bound, PyObject *args, PyObject *keywords);

/* Runs a method of this name no code that a program has registered as a codec or error handler? */
bool dt_fold_is_own_codec(const char *name, PyObject *args, PyObject *keywords);

#endif
