/* What the handlers of builtins share: arguments by position or name, calls of the real builtin. */
#ifndef DT_VARIABLES_BUILTIN_ARGS_H
#define DT_VARIABLES_BUILTIN_ARGS_H

#include "variables/kinds.h"


/* Whether all keywords are allowed ones; the list ends with NULL. */
bool dt_builtin_knows(const DtArgs *args, const char *const *allowed);

/* Positional arguments out of positional ones and keywords: names[i] is the name of number i,
 * out[i] NULL where the call has none.  A call that does not fit fails as the real one does. */
DtStatus dt_builtin_bind(DtTrace *trace, DtVar *self, const DtArgs *args, const char *const *names,
                         uint32_t count, DtVar **out) DT_MUST_CHECK;

/* Fails as the real builtin does with arguments that don't fit. */
DtStatus dt_builtin_misfit(DtTrace *trace, DtVar *self, const DtArgs *args) DT_MUST_CHECK;

/* Calls the real builtin type or function on what is known; a handler of its own kind, too. */
DtStatus dt_builtin_fold(DtTrace *trace, DtVar *self, const DtArgs *args,
                         DtVar **out) DT_MUST_CHECK;

/* sum, min, max, any or all with an array alone; *out NULL: its items are taken one by one. */
DtStatus dt_builtin_of_array(DtTrace *trace, DtVar *self, const DtArgs *args,
                             DtVar **out) DT_MUST_CHECK;

/* The break of a function that wants the number in an array. */
DtStatus dt_builtin_scalar(DtTrace *trace, const char *function) DT_MUST_CHECK;

#endif
