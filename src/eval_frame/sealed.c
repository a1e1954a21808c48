/* See sealed.h. */
#define _GNU_SOURCE
#include "eval_frame/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* Where system calls can be refused. */
#if defined(__linux__) && defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__linux__) && defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* ---- Memory ---------------------------------------------------------------------------------- */

#if defined(__linux__)
/* A mapping that others see becomes one of our own with the same content.  Those of devices stay:
 * reading them may act. */
static void
keep_memory_to_ourselves(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4352], path[4097];
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        unsigned long from, to;
        char rights[5] = "";
        path[0] = '\0';
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %4096s", &from, &to, rights, path) < 3
            || strncmp(rights, "rw", 2) != 0 || rights[3] != 's'
            || (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0
                && strcmp(path, "/dev/zero") != 0)) {
            continue;
        }
        size_t size = to - from;
        void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy != MAP_FAILED) {
            memcpy(copy, (void *)from, size);
            mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)from);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}
#else
static void
keep_memory_to_ourselves(void)
{
}
#endif

/* ---- Files ----------------------------------------------------------------------------------- */

static void
close_from(int first)
{
#if defined(SYS_close_range)
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0) {
        return;
    }
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (most > 0 ? most : 1024); fd++) {
        close(fd);
    }
}

/* A file in memory where there are such, /dev/null elsewhere. */
static int
open_in_memory(void)
{
#if defined(SYS_memfd_create)
    int fd = (int)syscall(SYS_memfd_create, "dyntrace", 0u);
    if (fd >= 0) {
        return fd;
    }
#endif
    return open("/dev/null", O_RDWR);
}

static bool
close_files(int told)
{
    /* All above those that they become. */
    int pipe_end = fcntl(told, F_DUPFD, DT_SEALED_PIPE + 1);
    int files[DT_SEALED_PIPE] = {open("/dev/null", O_RDWR), open_in_memory(), open_in_memory()};
    for (int fd = 0; fd < DT_SEALED_PIPE; fd++) {
        files[fd] = files[fd] < 0 ? -1 : fcntl(files[fd], F_DUPFD, DT_SEALED_PIPE + 1);
    }
    for (int fd = 0; fd < DT_SEALED_PIPE; fd++) {
        if (files[fd] < 0 || dup2(files[fd], fd) < 0) {
            return false;
        }
    }
    if (pipe_end < 0 || dup2(pipe_end, DT_SEALED_PIPE) < 0) {
        return false;
    }
    close_from(DT_SEALED_PIPE + 1);
    return true;
}

/* ---- System calls ---------------------------------------------------------------------------- */

#if defined(ARCHITECTURE)

/* Calls that newer architectures are without, or older headers do not know. */
enum { NO_CALL = -1 };
#ifndef SYS_access
#define SYS_access NO_CALL
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 NO_CALL
#endif
#ifndef SYS_getpgrp
#define SYS_getpgrp NO_CALL
#endif
#ifndef SYS_getrandom
#define SYS_getrandom NO_CALL
#endif
#ifndef SYS_getrlimit
#define SYS_getrlimit NO_CALL
#endif
#ifndef SYS_lstat
#define SYS_lstat NO_CALL
#endif
#ifndef SYS_membarrier
#define SYS_membarrier NO_CALL
#endif
#ifndef SYS_newfstatat
#define SYS_newfstatat NO_CALL
#endif
#ifndef SYS_poll
#define SYS_poll NO_CALL
#endif
#ifndef SYS_readlink
#define SYS_readlink NO_CALL
#endif
#ifndef SYS_rseq
#define SYS_rseq NO_CALL
#endif
#ifndef SYS_select
#define SYS_select NO_CALL
#endif
#ifndef SYS_stat
#define SYS_stat NO_CALL
#endif
#ifndef SYS_statx
#define SYS_statx NO_CALL
#endif
#ifndef SYS_time
#define SYS_time NO_CALL
#endif
#ifndef SYS_clone3
#define SYS_clone3 NO_CALL
#endif

typedef enum Condition { ALWAYS, BETWEEN, WITH } Condition;

typedef struct Permitted {
    int call;
    Condition condition; /* of the first argument */
    uint32_t low, high;  /* WITH: the bit is `low` */
} Permitted;

#define RULES_OF_A_ROW 6 /* at most */
#define RULES_BEFORE 6

typedef struct Rules {
    struct sock_filter list[512];
    unsigned short count;
    uint32_t otherwise;
} Rules;

static void
append(Rules *rules, int code, uint32_t value, uint8_t skipped_if, uint8_t skipped_unless)
{
    rules->list[rules->count++] =
        (struct sock_filter){(uint16_t)code, skipped_if, skipped_unless, value};
}

static void
append_load(Rules *rules, size_t offset)
{
    append(rules, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void
append_test(Rules *rules, int test, uint32_t value, uint8_t skipped_unless)
{
    append(rules, BPF_JMP | BPF_K | test, value, 0, skipped_unless);
}

static void
append_answer(Rules *rules, uint32_t answer)
{
    append(rules, BPF_RET | BPF_K, answer, 0, 0);
}

/* The number of the call is loaded.  Of an argument the low half is looked at, which both
 * architectures have first: files, processes and the flags of clone() have no other. */
static void
append_row(Rules *rules, const Permitted *row)
{
    static const uint8_t LENGTHS[] = {[ALWAYS] = 1, [BETWEEN] = 5, [WITH] = 4};
    append_test(rules, BPF_JEQ, (uint32_t)row->call, LENGTHS[row->condition]);
    if (row->condition != ALWAYS) {
        append_load(rules, offsetof(struct seccomp_data, args));
    }
    if (row->condition == BETWEEN) {
        append_test(rules, BPF_JGE, row->low, 2);
        append(rules, BPF_JMP | BPF_K | BPF_JGT, row->high, 1, 0);
    }
    if (row->condition == WITH) {
        append_test(rules, BPF_JSET, row->low, 1);
    }
    append_answer(rules, SECCOMP_RET_ALLOW);
    if (row->condition != ALWAYS) {
        append_answer(rules, rules->otherwise);
    }
}

static bool
refuse_calls(DtSealing sealing)
{
    const uint32_t ourselves = (uint32_t)getpid();
    const Permitted permitted[] = {
#define MAY(NAME) {SYS_##NAME, ALWAYS, 0, 0},
#define MAY_IF(NAME, LOW, HIGH) {SYS_##NAME, BETWEEN, LOW, HIGH},
#define MAY_WITH(NAME, BIT) {SYS_##NAME, WITH, BIT, 0},
#define OURSELVES ourselves
#include "eval_frame/system_calls.def"
#undef OURSELVES
    };
    enum { ROWS = sizeof(permitted) / sizeof(permitted[0]) };
    Rules rules = {.otherwise = sealing == DT_SEALED_ENDS ? SECCOMP_RET_KILL_PROCESS
                                                          : SECCOMP_RET_ERRNO | EPERM};
    _Static_assert(ROWS * RULES_OF_A_ROW + RULES_BEFORE + 1
                       <= sizeof(rules.list) / sizeof(rules.list[0]),
                   "room for all rules");
    append_load(&rules, offsetof(struct seccomp_data, arch));
    append(&rules, BPF_JMP | BPF_K | BPF_JEQ, ARCHITECTURE, 1, 0);
    append_answer(&rules, rules.otherwise);
    append_load(&rules, offsetof(struct seccomp_data, nr));
    /* Its flags are in memory, where no rule can look; who finds it missing takes clone(). */
    append_test(&rules, BPF_JEQ, (uint32_t)SYS_clone3, 1);
    append_answer(&rules, SECCOMP_RET_ERRNO | ENOSYS);
    for (int i = 0; i < ROWS; i++) {
        if (permitted[i].call != NO_CALL) {
            append_row(&rules, &permitted[i]);
        }
    }
    append_answer(&rules, rules.otherwise);
    struct sock_fprog program = {rules.count, rules.list};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

static bool
refuse_calls(DtSealing sealing)
{
    (void)sealing;
    return false;
}

#endif

/* ---- All of it ------------------------------------------------------------------------------- */

DtSealed
dt_sealed_begin(DtSealing sealing, int told)
{
    struct rlimit none = {0, 0};
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    setrlimit(RLIMIT_CORE, &none);
    if (!close_files(told)) {
        return DT_SEALED_FAILED;
    }
    keep_memory_to_ourselves(); /* opens a file */
    if (sealing == DT_SEALED_FILES) {
        return DT_SEALED_PARTLY;
    }
    if (refuse_calls(sealing)) {
        return DT_SEALED_WHOLLY; /* with a limit of no files, some would not even ask for one */
    }
    setrlimit(RLIMIT_NOFILE, &none);
    return DT_SEALED_PARTLY;
}
