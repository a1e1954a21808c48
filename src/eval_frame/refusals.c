/* See refusals.h. */
#include "eval_frame/refusals.h"

uint32_t dt_refusals_entered;

/* Innermost last; released when the last one is left. */
static _Thread_local struct {
    bool *items;
    uint32_t count, room;
} stack;

int
dt_refusals_push(bool on)
{
    if (stack.count == stack.room) {
        uint32_t room = stack.room * 2 + 4;
        bool *items = PyMem_Resize(stack.items, bool, room);
        if (items == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        stack.items = items;
        stack.room = room;
    }
    stack.items[stack.count++] = on;
    dt_refusals_entered++;
    return 0;
}

void
dt_refusals_pop(void)
{
    if (stack.count == 0) {
        return;
    }
    dt_refusals_entered--;
    if (--stack.count == 0) {
        PyMem_Free(stack.items);
        stack.items = NULL;
        stack.room = 0;
    }
}

int
dt_refusals_ask(void)
{
    return stack.count > 0 ? stack.items[stack.count - 1] : -1;
}

PyObject *
dt_refusals_refuse(PyObject *module, PyObject *on)
{
    (void)module;
    if (dt_refusals_push(on == Py_True) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *
dt_refusals_accept(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    dt_refusals_pop();
    Py_RETURN_NONE;
}
