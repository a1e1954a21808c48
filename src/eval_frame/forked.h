/* Work that is done in a copy of the process, which tells what came of it and ends.
 *
 * The copy is what fork() makes: every object is there, at the same address, and whatever is done
 * to it is done to the copy.  What would reach the world outside all the same is taken away first
 * (sealed.h), and signals are blocked.  Hooks of os.register_at_fork() do not run.
 */
#ifndef DT_EVAL_FRAME_FORKED_H
#define DT_EVAL_FRAME_FORKED_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/status.h"
#include "eval_frame/sealed.h"

typedef enum DtForkedEnd {
    DT_FORKED_TOLD,     /* `told` is what the work gave: bytes */
    DT_FORKED_CONFUSED, /* the work raised; `told` is the exception's text as bytes */
    DT_FORKED_DIED,     /* by `signal`, or on its own if that is 0 */
    DT_FORKED_LATE,     /* it took too long, and was ended */
    DT_FORKED_ACTED,    /* it asked the system for more than memory, and was ended */
    DT_FORKED_OPEN,     /* it was not done: this system can't refuse what it may not ask for */
    DT_FORKED_NEVER,    /* it can't be started; nothing is set */
    DT_FORKED_ERROR /* an exception is set here: MemoryError, or what a signal's handler raised */
} DtForkedEnd;

typedef struct DtForkedAnswer {
    DtForkedEnd end;
    int signal;
    DT_OWNED PyObject *told; /* bytes, or NULL */
} DtForkedAnswer;

typedef struct DtForkedJob {
    PyObject *(*work)(void *context); /* bytes, or NULL with an exception */
    void *context;
    int64_t limit_ns;
    DtSealing sealing;
    bool wholly; /* not done at all where DT_SEALED_WHOLLY can't be had */
} DtForkedJob;

/* Runs it while this thread waits, with the GIL held. */
DtForkedAnswer dt_forked_run(const DtForkedJob *job);

/* Can a copy be made that tells nobody?  The children of a program that handles SIGCHLD can't. */
bool dt_forked_is_noticed(void);

#endif
