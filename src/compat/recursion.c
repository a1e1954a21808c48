/* See recursion.h.  Stacks grow towards lower addresses on every platform that is supported. */
#include "compat/recursion.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#endif

/* Left for what runs in the deepest call: an extension, a handler, our own tracer. */
#define LARGEST_RESERVE ((size_t)256 * 1024)

_Thread_local char *dt_recursion_limit;

/* What the kernel keeps free below the first stack of a process, however small its limit is. */
#define LEAST_GAP ((rlim_t)64 * 1024 * 1024)
#define PAGE ((uintptr_t)4096)

/* The first thread's stack ends behind the name of the program, and may grow up to its limit.  What
 * the library would say of it, it reads from a file of a line for each mapping of the process,
 * which takes longer than many programs' imports.  False: another thread, or not to be told. */
static bool
first_stack(char **lowest, size_t *size)
{
#if defined(__linux__) && defined(AT_EXECFN)
    struct rlimit limit;
    const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (name == NULL || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > LEAST_GAP) {
        return false;
    }
    uintptr_t top = ((uintptr_t)name + strlen(name) + PAGE) & ~(PAGE - 1);
    *size = (size_t)limit.rlim_cur;
    *lowest = (char *)top - *size;
    return (char *)&limit > *lowest && (uintptr_t)&limit < top;
#else
    (void)lowest, (void)size;
    return false;
#endif
}

static bool
stack_bounds(char **lowest, size_t *size)
{
    if (first_stack(lowest, size)) {
        return true;
    }
#if defined(__APPLE__)
    pthread_t self = pthread_self();
    *size = pthread_get_stacksize_np(self);
    *lowest = (char *)pthread_get_stackaddr_np(self) - *size;
    return true;
#else
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return false;
    }
    void *address = NULL;
    bool known = pthread_attr_getstack(&attributes, &address, size) == 0;
    pthread_attr_destroy(&attributes);
    *lowest = address;
    return known;
#endif
}

char *
dt_recursion_find_limit(void)
{
    char here;
    char *lowest;
    size_t size;
    if (stack_bounds(&lowest, &size)) {
        size_t reserve = size / 4 < LARGEST_RESERVE ? size / 4 : LARGEST_RESERVE;
        dt_recursion_limit = lowest + reserve;
    }
    else { /* unknown: half a megabyte below this frame is safe with any usual stack */
        dt_recursion_limit = (char *)((uintptr_t)&here - (uintptr_t)512 * 1024);
    }
    return dt_recursion_limit;
}

void
dt_recursion_raise(void)
{
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded: the C stack is used up");
}
