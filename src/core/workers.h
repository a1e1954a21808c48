/* Threads that help with one large piece of work at a time.
 *
 *   dt_workers_run(work, context, 4)   ──►  work(context, 0)   in the calling thread, at once
 *                                           work(context, 1)   in a worker, when it has woken up
 *                                           ...                one that comes too late does nothing
 *
 * The work has to be such that any of the calls alone does all of it: each takes what is left,
 * share by share.  So a busy machine costs nothing but the help.
 *
 * Workers are started when first wanted, wait without using time, take no signals, and run under
 * the caller's floating-point environment.  The child of a fork has none, and starts its own.  Only
 * one work is shared at a time: whoever comes meanwhile goes on alone.
 */
#ifndef DT_CORE_WORKERS_H
#define DT_CORE_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

enum { DT_WORKERS_MAX = 64 }; /* threads of one work, the calling one among them */

/* Threads that the user wants; 0: as many as the process may use. */
extern uint32_t dt_workers_wanted;

/* To be called once, when the extension is loaded: forks are noticed from then on.  False: out of
 * memory. */
bool dt_workers_init(void);
/* Is this process the child of a fork since then? */
bool dt_workers_forked(void);

typedef void (*DtWork)(void *context, uint32_t lane);

/* Returns when all calls of `work` are over.  `lanes` is at least 1; less of them may be called. */
void dt_workers_run(DtWork work, void *context, uint32_t lanes);

/* How often a worker has helped, in this process. */
uint64_t dt_workers_helped(void);

#endif
