/* For tests: scales (eval_frame/scale.h) with times that the test makes up; how far a call sees.
 *
 * What is in here never runs outside of tests.
 */
#include "eval_frame/horizon.h"
#include "eval_frame/investment.h"
#include "module/testing.h"

static const char *const states[] = {"new", "warming", "weighing", "kept", "forsaken", "unweighed"};
static const char *const readies[] = {"nothing", "changing", "waiting", "trying", "settled"};
static const char *const sides[] = {"compiled", "plain"};

/* Sample number i of one side, the first again behind the last; -1 with an exception. */
static int64_t
sample(PyObject *times, Py_ssize_t i)
{
    Py_ssize_t count = PyTuple_GET_SIZE(times);
    if (count == 0) {
        PyErr_SetString(PyExc_ValueError, "no samples");
        return -1;
    }
    return PyLong_AsLongLong(PyTuple_GET_ITEM(times, i % count));
}

/* Rounds are given until there is a verdict, or there were `most` of samples. */
static int
weigh(DtScale *scale, PyObject *const times[2], Py_ssize_t most)
{
    Py_ssize_t taken[2] = {0, 0};
    while (scale->state != DT_SCALE_KEPT && scale->state != DT_SCALE_FORSAKEN && most-- > 0) {
        dt_scale_wants_samples(scale, NULL); /* it is not new: nothing of a region is asked */
        DtSide side = dt_scale_next_side(scale);
        int64_t ns = sample(times[side], taken[side]++);
        if (ns < 0) {
            return -1;
        }
        dt_scale_add(scale, side, ns, false);
    }
    return 0;
}

/* The call that follows: which way it goes, and the state then. */
static PyObject *
follow(DtScale *scale, const char *ready)
{
    if (!dt_scale_is_due(scale)) {
        return Py_BuildValue("(ss)", sides[DT_SIDE_COMPILED], states[scale->state]);
    }
    for (int i = DT_SCALE_NOTHING; i <= DT_SCALE_SETTLED; i++) {
        if (strcmp(ready, readies[i]) == 0) {
            DtScaleRun run;
            dt_scale_begin(scale, NULL, (DtScaleReady)i, &run);
            dt_scale_end(scale, &run, true);
            return Py_BuildValue("(ss)", sides[run.side], states[scale->state]);
        }
    }
    return PyErr_Format(PyExc_ValueError, "no such state of what is weighed: %s", ready);
}

static PyObject *
scale_verdict(PyObject *Py_UNUSED(module), PyObject *args)
{
    int part, early;
    Py_ssize_t most;
    PyObject *times[2], *calls;
    if (!PyArg_ParseTuple(args, "ppO!O!nO!:scale_verdict", &part, &early, &PyTuple_Type,
                          &times[DT_SIDE_COMPILED], &PyTuple_Type, &times[DT_SIDE_PLAIN], &most,
                          &PyTuple_Type, &calls)) {
        return NULL;
    }
    DtScale scale = {.state = DT_SCALE_WARMING, .part = part, .early = early};
    if (weigh(&scale, times, most) < 0) {
        return NULL;
    }
    const char *state = states[scale.state];
    PyObject *ways = PyList_New(0);
    for (Py_ssize_t i = 0; ways != NULL && i < PyTuple_GET_SIZE(calls); i++) {
        const char *ready = PyUnicode_AsUTF8(PyTuple_GET_ITEM(calls, i));
        PyObject *way = ready != NULL ? follow(&scale, ready) : NULL;
        if (way == NULL || PyList_Append(ways, way) < 0) {
            Py_CLEAR(ways);
        }
        Py_XDECREF(way);
    }
    return ways != NULL ? Py_BuildValue("(sN)", state, ways) : NULL;
}

static PyObject *
account_misses(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long wanted, gained, ran;
    if (!PyArg_ParseTuple(args, "LLL:account_misses", &wanted, &gained, &ran)) {
        return NULL;
    }
    return PyLong_FromLongLong(dt_investment_missing(wanted, gained, ran));
}

static PyObject *
sees_arrays(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *arguments;
    int far;
    if (!PyArg_ParseTuple(args, "OO!p:sees_arrays", &function, &PyTuple_Type, &arguments, &far)) {
        return NULL;
    }
    if (!PyObject_TypeCheck(function, &PyFunction_Type)) {
        PyErr_SetString(PyExc_TypeError, "function: expected a Python function");
        return NULL;
    }
    return PyBool_FromLong(
        dt_horizon_of_call((PyFunctionObject *)function, PySequence_Fast_ITEMS(arguments),
                           PyTuple_GET_SIZE(arguments), far ? DT_HORIZON_LONG : DT_HORIZON_SHORT));
}

PyMethodDef dt_testing_scale_methods[] = {
    {"account_misses", account_misses, METH_VARARGS,
     "account_misses(wanted, gained, ran)\n--\n\n"
     "How much longer a program has to run until attempts may have cost `wanted` ns."},
    {"sees_arrays", sees_arrays, METH_VARARGS,
     "sees_arrays(function, arguments, far)\n--\n\n"
     "Does such a call come to arrays, as far as a short look or a long one can tell?"},
    {"scale_verdict", scale_verdict, METH_VARARGS,
     "scale_verdict(part, early, compiled_ns, plain_ns, most, calls)\n--\n\n"
     "What a scale says of such samples, given by turns and again from the first, `most` of them;\n"
     "and (way, state) of calls after that, for each of which `calls` says how ready it is."},
    {NULL, NULL, 0, NULL},
};
