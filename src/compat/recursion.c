/* See recursion.h.  Stacks grow towards lower addresses on every platform that is supported. */
#include "compat/recursion.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Left for what runs in the deepest call: an extension, a handler, our own tracer. */
#define LARGEST_RESERVE ((size_t)256 * 1024)

_Thread_local char *dt_recursion_limit;

static bool
stack_bounds(char **lowest, size_t *size)
{
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
