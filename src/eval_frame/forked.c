/* See forked.h. */
#define _GNU_SOURCE
#include "eval_frame/forked.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"

enum { POLL_MS = 50, FIRST_ROOM = 1 << 16 };
enum {
    MARK_TOLD = 'T',
    MARK_CONFUSED = 'C',
    MARK_OPEN = 'O'
}; /* the first byte of what is written */

/* ---- In the copy ----------------------------------------------------------------------------- */

static void
write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t count = write(fd, data, size);
        if (count < 0 && errno != EINTR) {
            return; /* nobody listens any more */
        }
        data += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
}

/* The pending exception as text, in bytes. */
static PyObject *
text_of_error(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = PyUnicode_FromFormat("%s: %S", ((PyTypeObject *)type)->tp_name, value);
    return text != NULL ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;
}

static void __attribute__((noreturn))
do_work(const DtForkedJob *job, int told)
{
    char mark = MARK_TOLD;
    DtSealed sealed = dt_sealed_begin(job->sealing, told);
    if (sealed == DT_SEALED_FAILED) {
        _exit(1);
    }
    if (sealed == DT_SEALED_PARTLY && job->wholly) {
        mark = MARK_OPEN;
        write_all(DT_SEALED_PIPE, &mark, 1);
        _exit(0);
    }
    PyGC_Disable(); /* what dies in the copy is to act there as little as it can */
    PyObject *answer = job->work(job->context);
    if (answer == NULL) {
        mark = MARK_CONFUSED;
        answer = text_of_error();
    }
    if (answer != NULL) {
        write_all(DT_SEALED_PIPE, &mark, 1);
        write_all(DT_SEALED_PIPE, PyBytes_AS_STRING(answer), (size_t)PyBytes_GET_SIZE(answer));
    }
    _exit(0);
}

/* ---- In the process -------------------------------------------------------------------------- */

typedef struct Heard {
    char *data;
    size_t size, room;
} Heard;

typedef enum Listened { HEARD_ALL, HEARD_TOO_LATE, HEARD_AN_ERROR } Listened;

static Listened
listen_to(int fd, int64_t until_ns, Heard *heard)
{
    for (;;) {
        if (heard->size == heard->room) {
            size_t room = heard->room != 0 ? heard->room * 2 : FIRST_ROOM;
            char *data = PyMem_Realloc(heard->data, room);
            if (data == NULL) {
                PyErr_NoMemory();
                return HEARD_AN_ERROR;
            }
            heard->data = data;
            heard->room = room;
        }
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int count = poll(&ready, 1, POLL_MS);
        if (PyErr_CheckSignals() < 0) {
            return HEARD_AN_ERROR;
        }
        if (count > 0) {
            ssize_t more = read(fd, heard->data + heard->size, heard->room - heard->size);
            if (more == 0) {
                return HEARD_ALL;
            }
            heard->size += more > 0 ? (size_t)more : 0;
        }
        else if (dt_clock_ns() > until_ns) {
            return HEARD_TOO_LATE;
        }
    }
}

/* What it died of, 0 if it ended by itself, or if somebody else has asked. */
static int
wait_for_end(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return 0;
        }
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static DtForkedAnswer
follow(pid_t child, int fd, int64_t until_ns)
{
    DtForkedAnswer answer = {.end = DT_FORKED_DIED};
    Heard heard = {0};
    Listened listened = listen_to(fd, until_ns, &heard);
    if (listened != HEARD_ALL) {
        kill(child, SIGKILL);
    }
    answer.signal = wait_for_end(child);
    if (listened == HEARD_TOO_LATE) {
        answer.end = DT_FORKED_LATE;
    }
    else if (listened == HEARD_AN_ERROR) {
        answer.end = DT_FORKED_ERROR;
    }
    else if (answer.signal == DT_SEALED_SIGNAL) {
        answer.end = DT_FORKED_ACTED;
    }
    else if (answer.signal == 0 && heard.size > 0) {
        answer.end = heard.data[0] == MARK_TOLD   ? DT_FORKED_TOLD
                     : heard.data[0] == MARK_OPEN ? DT_FORKED_OPEN
                                                  : DT_FORKED_CONFUSED;
        answer.told = PyBytes_FromStringAndSize(heard.data + 1, (Py_ssize_t)heard.size - 1);
        answer.end = answer.told == NULL ? DT_FORKED_ERROR : answer.end;
    }
    PyMem_Free(heard.data);
    return answer;
}

DtForkedAnswer
dt_forked_run(const DtForkedJob *job)
{
    DtForkedAnswer answer = {.end = DT_FORKED_NEVER};
    int ends[2];
    sigset_t all, before;
    if (pipe(ends) < 0) {
        return answer;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* and so it stays in the copy */
    pid_t child = fork();
    if (child == 0) {
        do_work(job, ends[1]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (child > 0) {
        answer = follow(child, ends[0], dt_clock_ns() + job->limit_ns);
    }
    close(ends[0]);
    return answer;
}

bool
dt_forked_is_noticed(void)
{
    struct sigaction action;
    return sigaction(SIGCHLD, NULL, &action) < 0
           || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}
