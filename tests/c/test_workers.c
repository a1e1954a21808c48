/* Workers: everything is done once, whoever does it; two works at a time; forks; the caller's
 * rounding and signals. */
#include "check.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/workers.h"

enum { SHARES = 200, LANES = 5 };

typedef struct Task {
    atomic_uint next;
    atomic_uint done[SHARES];
    _Atomic uint64_t lanes; /* a bit for each that was called */
    atomic_uint wrong;      /* another rounding, or a signal that a worker would take */
    atomic_uint busy;       /* at the moment */
    uint32_t wait_for;      /* lanes that have to be there before a share is taken */
    int rounding;
} Task;

static void
work(void *context, uint32_t lane)
{
    Task *task = context;
    sigset_t blocked;
    atomic_fetch_add(&task->busy, 1);
    if (atomic_fetch_or(&task->lanes, 1ull << lane) & (1ull << lane)) {
        atomic_fetch_add(&task->wrong, 1);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (fegetround() != task->rounding || (lane > 0 && !sigismember(&blocked, SIGINT))) {
        atomic_fetch_add(&task->wrong, 1);
    }
    while (atomic_load(&task->busy) < task->wait_for) {
        usleep(50);
    }
    for (uint32_t share; (share = atomic_fetch_add(&task->next, 1)) < SHARES;) {
        atomic_fetch_add(&task->done[share], 1);
    }
}

/* The lanes that were called, as bits. */
static uint64_t
run(uint32_t lanes, uint32_t wait_for)
{
    Task task;
    memset(&task, 0, sizeof(task));
    task.wait_for = wait_for;
    task.rounding = fegetround();
    dt_workers_run(work, &task, lanes);
    for (int i = 0; i < SHARES; i++) {
        CHECK(atomic_load(&task.done[i]) == 1);
    }
    CHECK(atomic_load(&task.wrong) == 0);
    CHECK(atomic_load(&task.lanes) & 1);
    return atomic_load(&task.lanes);
}

static void
one_lane_needs_nobody(void)
{
    CHECK(run(1, 1) == 1);
    CHECK(dt_workers_helped() == 0);
}

static void
all_lanes_take_part(void)
{
    CHECK(run(LANES, LANES) == (1ull << LANES) - 1);
    CHECK(dt_workers_helped() == LANES - 1);
    CHECK(run(2, 2) == 3);
    CHECK(run(LANES + 2, LANES + 2) == (1ull << (LANES + 2)) - 1);
    for (int i = 0; i < 2000; i++) {
        run(1 + (uint32_t)i % LANES, 1); /* who comes too late does nothing */
    }
    uint64_t before = dt_workers_helped();
    run(DT_WORKERS_MAX + 10, 1);
    CHECK(dt_workers_helped() - before < DT_WORKERS_MAX);
}

static void
rounding_is_the_callers(void)
{
    CHECK(fesetround(FE_UPWARD) == 0);
    CHECK(run(LANES, LANES) == (1ull << LANES) - 1);
    CHECK(fesetround(FE_TONEAREST) == 0);
    CHECK(run(LANES, LANES) == (1ull << LANES) - 1);
}

static void *
many_runs(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        run(LANES, 1);
    }
    return NULL;
}

static void
two_at_a_time(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&threads[i], NULL, many_runs, NULL) == 0);
    }
    many_runs(NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* While other threads have works on their way. */
static void
children_start_anew(void)
{
    pthread_t thread;
    CHECK(!dt_workers_forked());
    CHECK(pthread_create(&thread, NULL, many_runs, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20);
            bool fine = dt_workers_forked() && dt_workers_helped() == 0
                        && run(LANES, LANES) == (1ull << LANES) - 1;
            _exit(fine ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    pthread_join(thread, NULL);
    CHECK(!dt_workers_forked());
    CHECK(run(LANES, LANES) == (1ull << LANES) - 1);
}

int
main(void)
{
    alarm(100);
    CHECK(dt_workers_init() && dt_workers_init());
    one_lane_needs_nobody();
    all_lanes_take_part();
    rounding_is_the_callers();
    two_at_a_time();
    children_start_anew();
    return 0;
}
