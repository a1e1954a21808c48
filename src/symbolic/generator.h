/* The parts of a generator that the trace makes (generator.c, generator_throw.c,
 * generator_dropped.c); who calls them see inline.h and variables/trace.h. */
#ifndef DT_SYMBOLIC_GENERATOR_H
#define DT_SYMBOLIC_GENERATOR_H

#include "symbolic/frame.h"

/* "generator", "coroutine" or "async generator". */
const char *dt_generator_kind_name(DtKind kind);

/* Puts the slots, the stack and the place of the suspended frame back into it. */
void dt_generator_load(DtGeneratorVar *self);

/* Whether a step can begin; *done: there is nothing left to run. */
DtStatus dt_generator_check_state(DtTrace *trace, DtGeneratorVar *self, DtVar *sent,
                                  bool *done) DT_MUST_CHECK;

/* One step: `sent` goes on the stack, or `raised` is raised where the frame stands; both NULL: it
 * is ready to go on. */
DtStatus dt_generator_step(DtTrace *trace, DtGeneratorVar *self, DtVar *sent, DtVar *raised,
                           DtVar **out, bool *returned) DT_MUST_CHECK;

#endif
