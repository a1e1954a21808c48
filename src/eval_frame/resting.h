/* Prepared functions that rest: they are plain functions for a while.
 *
 *   prepared ──nothing to be had of its calls for now──► plain, and in a list here
 *      ▲                                                        │ its time has come
 *      └────── at a moment when a clock was read anyway ────────┘
 *
 * A call of a prepared function goes through C, where CPython runs one of a plain function in the
 * same loop: for a short one that is half of its time.  So a function whose calls are short and
 * reach no array, and a short one that can't get an attempt before the account (investment.h) bears
 * it, are not asked meanwhile.  The list keeps no function alive.
 *
 * Not in here: which functions rest (prepared.c), and what becomes of them then.
 */
#ifndef DT_EVAL_FRAME_RESTING_H
#define DT_EVAL_FRAME_RESTING_H

#include "eval_frame/state.h"

/* What prepared.c keeps of a function. */
typedef struct DtPrepared DtPrepared;

typedef enum DtRest {
    DT_REST_IDLE,    /* its calls had nothing to do with arrays */
    DT_REST_ACCOUNT, /* it waits for the account, which what was compiled may fill sooner */
} DtRest;

/* The function is plain from now on and until dt_clock_ns() is `until`; takes `row`.  -1, with
 * nothing taken, when there is no memory. */
int dt_resting_add(PyObject *function, DtPrepared *row, DtRest rest, int64_t until);

/* The time is `now`: wakes those whose time has come. */
void dt_resting_wake(int64_t now);
static inline void
dt_resting_look(int64_t now)
{
    if (DT_UNLIKELY(now >= dt_state.rest_until_ns)) {
        dt_resting_wake(now);
    }
}

/* The account has more than was reckoned with. */
void dt_resting_hurry(void);

/* Calls `visit` with each function that rests and with what is kept of it, until one fails; its
 * answer. */
int dt_resting_visit(int (*visit)(PyObject *function, DtPrepared *row, void *context),
                     void *context);

#endif
