/* See workers.h.
 *
 * The lock is held for moments only, never during work, so that a fork can take it.
 */
#include "core/workers.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

uint32_t dt_workers_wanted;

enum { STACK = 1 << 20 };

/* One work, on the caller's stack. */
typedef struct Job {
    DtWork work;
    void *context;
    fenv_t environment;
    uint32_t lanes; /* handed out */
    uint32_t seats; /* still free */
    uint32_t busy;  /* workers that are at it */
} Job;

typedef struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* a job has seats */
    pthread_cond_t over; /* the last worker has left the job */
    Job *job;            /* or NULL */
    uint32_t threads;
    uint64_t helped;
} Pool;
#define NEW_POOL                                                                                   \
    {.lock = PTHREAD_MUTEX_INITIALIZER,                                                            \
     .wake = PTHREAD_COND_INITIALIZER,                                                             \
     .over = PTHREAD_COND_INITIALIZER}
static Pool pool = NEW_POOL;
static bool forked;

static void *
worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        Job *job = pool.job;
        if (job == NULL || job->seats == 0) {
            pthread_cond_wait(&pool.wake, &pool.lock);
            continue;
        }
        job->seats--;
        job->busy++;
        pool.helped++;
        uint32_t lane = job->lanes++;
        pthread_mutex_unlock(&pool.lock);
        fesetenv(&job->environment);
        job->work(job->context, lane);
        pthread_mutex_lock(&pool.lock);
        if (--job->busy == 0) {
            pthread_cond_signal(&pool.over);
        }
    }
    return NULL;
}

/* ---- Forks ----------------------------------------------------------------------------------- */

static void
before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void
after_fork_in_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The workers are gone, and so is the thread whose job it may have been. */
static void
after_fork_in_child(void)
{
    pthread_mutex_unlock(&pool.lock);
    pool = (Pool)NEW_POOL;
    forked = true;
}

bool
dt_workers_init(void)
{
    static bool watches;
    if (!watches) {
        watches = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    }
    return watches;
}

bool
dt_workers_forked(void)
{
    return forked;
}

/* ---- Starting -------------------------------------------------------------------------------- */

/* Under the lock.  What can't be started is not there to help: no error. */
static void
start_threads(uint32_t count)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pool.threads >= count || pthread_attr_init(&attributes) != 0) {
        return;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* workers inherit it */
    while (pool.threads < count) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker, NULL) != 0) {
            break;
        }
        pool.threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Offers the job to workers; false: another one is on its way, or there are none. */
static bool
offer(Job *job, uint32_t helpers)
{
    fegetenv(&job->environment);
    pthread_mutex_lock(&pool.lock);
    bool free = pool.job == NULL;
    if (free) {
        start_threads(helpers);
        job->seats = helpers < pool.threads ? helpers : pool.threads;
        free = job->seats > 0;
    }
    if (free) {
        pool.job = job;
        for (uint32_t i = 0; i < job->seats; i++) {
            pthread_cond_signal(&pool.wake);
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return free;
}

void
dt_workers_run(DtWork work, void *context, uint32_t lanes)
{
    Job job = {.work = work, .context = context, .lanes = 1};
    if (lanes > DT_WORKERS_MAX) {
        lanes = DT_WORKERS_MAX;
    }
    bool shared = lanes > 1 && offer(&job, lanes - 1);
    work(context, 0);
    if (!shared) {
        return;
    }
    pthread_mutex_lock(&pool.lock);
    job.seats = 0;
    while (job.busy > 0) {
        pthread_cond_wait(&pool.over, &pool.lock);
    }
    pool.job = NULL;
    pthread_mutex_unlock(&pool.lock);
}

uint64_t
dt_workers_helped(void)
{
    pthread_mutex_lock(&pool.lock);
    uint64_t helped = pool.helped;
    pthread_mutex_unlock(&pool.lock);
    return helped;
}
