/* See resting.h. */
#include "eval_frame/resting.h"

#include "compat/referents.h"
#include "eval_frame/prepared.h"

typedef struct Resting {
    PyObject *function; /* DT_OWNED, a weak reference */
    DtPrepared *row;    /* DT_OWNED */
    DtRest rest;
    int64_t until;
} Resting;

static Resting *list;
static uint32_t count, room;

static int
make_room(void)
{
    if (count < room) {
        return 0;
    }
    uint32_t more = room != 0 ? 2 * room : 16;
    Resting *larger = PyMem_Realloc(list, more * sizeof(Resting));
    if (larger == NULL) {
        return -1;
    }
    list = larger;
    room = more;
    return 0;
}

static void
wake_at(int64_t until)
{
    if (until < dt_state.rest_until_ns) {
        dt_state.rest_until_ns = until;
    }
}

int
dt_resting_add(PyObject *function, DtPrepared *row, DtRest rest, int64_t until)
{
    PyObject *reference = make_room() == 0 ? PyWeakref_NewRef(function, NULL) : NULL;
    if (reference == NULL) {
        return -1;
    }
    list[count++] = (Resting){reference, row, rest, until};
    wake_at(until);
    return 0;
}

static void
wake(Resting *resting)
{
    PyObject *function = dt_referents_get(resting->function);
    Py_INCREF(function);
    dt_prepared_again(function, resting->row);
    Py_DECREF(function);
    Py_DECREF(resting->function);
}

void
dt_resting_wake(int64_t now)
{
    dt_state.rest_until_ns = INT64_MAX;
    for (uint32_t i = 0; i < count;) {
        if (list[i].until <= now) {
            Resting woken = list[i];
            list[i] = list[--count];
            wake(&woken); /* may let go of what runs code of the program: the list changes */
        }
        else {
            wake_at(list[i++].until);
        }
    }
}

void
dt_resting_hurry(void)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].rest == DT_REST_ACCOUNT) {
            list[i].until = dt_state.rest_until_ns = 0;
        }
    }
}

int
dt_resting_visit(int (*visit)(PyObject *function, DtPrepared *row, void *context), void *context)
{
    int answer = 0;
    for (uint32_t i = 0; i < count && answer == 0; i++) {
        PyObject *function = dt_referents_get(list[i].function);
        if (function != Py_None) {
            Py_INCREF(function);
            answer = visit(function, list[i].row, context);
            Py_DECREF(function);
        }
    }
    return answer;
}
