/* See guessed.h. */
#include "backend/guessed.h"

PyObject *dt_guessed_other_way;

static _Thread_local int seen = -1;

static int
truth_of(PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) {
        PyErr_Format(PyExc_TypeError, "expected a value and a bool, got %zd arguments", nargs);
        return -1;
    }
    return PyObject_IsTrue(args[0]);
}

PyObject *
dt_guessed_guess(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    int truth = truth_of(args, nargs);
    if (truth < 0) {
        return NULL;
    }
    if (truth != (args[1] == Py_True)) {
        PyErr_SetNone(dt_guessed_other_way);
        return NULL;
    }
    return Py_NewRef(args[1]);
}

PyObject *
dt_guessed_look(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    int truth = truth_of(args, nargs);
    if (truth >= 0) {
        seen = truth;
        PyErr_SetNone(dt_guessed_other_way);
    }
    return NULL;
}

int
dt_guessed_take(void)
{
    int taken = seen;
    seen = -1;
    return taken;
}

int
dt_guessed_init(void)
{
    if (dt_guessed_other_way == NULL) {
        dt_guessed_other_way = PyErr_NewException("dyntrace._core.OtherWay", NULL, NULL);
    }
    return dt_guessed_other_way != NULL ? 0 : -1;
}
