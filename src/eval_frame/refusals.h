/* Where graph breaks are errors: what dyntrace.error_on_graph_break() has said in this thread.
 *
 * It matters when something is compiled, so an entry that serves a call is not asked about it; a
 * function that is known to break is tried again.
 *
 * Not in here: what a trace enters and leaves itself (variables/rules.h).
 */
#ifndef DT_EVAL_FRAME_REFUSALS_H
#define DT_EVAL_FRAME_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/status.h"

extern uint32_t dt_refusals_entered; /* in all threads: 0 makes every answer a quick one */

/* -1 with MemoryError. */
int dt_refusals_push(bool on) DT_MUST_CHECK;
/* Nothing to leave is no error: a manager may be left by hand. */
void dt_refusals_pop(void);

/* What the innermost one says: 1, 0; -1: there is none. */
int dt_refusals_ask(void);

static inline bool
dt_refusals_are_on(void)
{
    return dt_refusals_entered != 0 && dt_refusals_ask() == 1;
}

/* For Python: refuse_breaks(on), accept_breaks(). */
PyObject *dt_refusals_refuse(PyObject *module, PyObject *on);
PyObject *dt_refusals_accept(PyObject *module, PyObject *ignored);

#endif
