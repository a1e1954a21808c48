/* Entering a frame below the one that is being interpreted: a call that is followed, or a step of a
 * generator. */
#ifndef DT_SYMBOLIC_INLINE_H
#define DT_SYMBOLIC_INLINE_H

#include "symbolic/frame.h"

/* A generator, coroutine or asynchronous generator over a frame whose arguments are bound. */
DtStatus dt_generator_build(DtTrace *trace, DtFunctionVar *function, const DtArgs *args,
                            DtFrame *frame, DtVar **out) DT_MUST_CHECK;

/* The exception as which `exception` leaves a generator, coroutine or asynchronous generator with
 * this code. */
DtStatus dt_generator_wrap_stop(DtTrace *trace, PyCodeObject *code, DtVar *exception,
                                DtVar **out) DT_MUST_CHECK;

/* Whether it stands at an await or yield from. */
bool dt_generator_is_awaited(const DtGeneratorVar *self);

/* Remembers that code of this function was followed. */
DtStatus dt_inline_record(DtTrace *trace, PyCodeObject *code) DT_MUST_CHECK;

#endif
