/* See script.h. */
#include "eval_frame/script.h"

#include "compat/code.h"
#include "compat/pyframe.h"

/* ---- The main module ----------------------------------------------------------------------- */

static PyObject *main_callback;  /* waits for a frame of __main__, or NULL */
static PyObject *main_namespace; /* dict of __main__ */
static bool goes_on;             /* nobody has said that there is enough */
static DtEvalFrame before;

static PyObject *evaluate_main(PyThreadState *tstate, DtPyFrame *frame, int throwflag);

static void
watch(PyObject *callback, PyObject *namespace)
{
    if (main_callback == NULL) {
        before = dt_pyframe_evaluator();
        dt_pyframe_set_evaluator(evaluate_main);
    }
    Py_INCREF(namespace);
    Py_XSETREF(main_namespace, namespace);
    Py_INCREF(callback);
    Py_XSETREF(main_callback, callback);
}

static void
watch_no_more(void)
{
    if (main_callback != NULL && dt_pyframe_evaluator() == evaluate_main) {
        dt_pyframe_set_evaluator(before);
    }
    Py_CLEAR(main_callback);
    Py_CLEAR(main_namespace);
}

/* Will somebody type more code of __main__? */
static bool
is_interactive(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *flags = PySys_GetObject("flags");
    PyObject *inspect = flags != NULL ? PyObject_GetAttrString(flags, "inspect") : NULL;
    bool found =
        PySys_GetObject("ps1") != NULL || (inspect != NULL && PyObject_IsTrue(inspect) == 1);
    Py_XDECREF(inspect);
    PyErr_Clear(); /* a program may have put something else into sys.flags */
    PyErr_Restore(type, value, traceback);
    return found;
}

static PyObject *
evaluate_main(PyThreadState *tstate, DtPyFrame *frame, int throwflag)
{
    if (main_callback == NULL || dt_pyframe_globals(frame) != main_namespace
        || !dt_pyframe_is_fresh_module(frame, throwflag)
        || dt_code_is_generator(dt_pyframe_code(frame))) {
        return before(tstate, frame, throwflag);
    }
    PyObject *callback = Py_NewRef(main_callback), *namespace = Py_NewRef(main_namespace);
    watch_no_more();
    PyObject *code = PyObject_CallOneArg(callback, (PyObject *)dt_pyframe_code(frame));
    PyObject *answer = NULL;
    if (code == NULL) {
        PyErr_WriteUnraisable(callback); /* our own failure: the script runs all the same */
        answer = before(tstate, frame, throwflag);
    }
    else if (code == Py_None) {
        answer = before(tstate, frame, throwflag);
    }
    else {
        answer = PyEval_EvalCode(code, namespace, namespace);
        if (dt_pyframe_finish(tstate, frame) < 0) {
            Py_CLEAR(answer);
        }
    }
    if (goes_on && is_interactive()) {
        watch(callback, namespace);
    }
    Py_XDECREF(code);
    Py_DECREF(callback);
    Py_DECREF(namespace);
    return answer;
}

PyObject *
dt_script_watch_main(PyObject *Py_UNUSED(module), PyObject *callback)
{
    PyObject *main = PyImport_AddModule("__main__"); /* borrowed */
    if (main == NULL) {
        return NULL;
    }
    goes_on = callback != Py_None;
    if (goes_on) {
        watch(callback, PyModule_GetDict(main));
    }
    else {
        watch_no_more();
    }
    Py_RETURN_NONE;
}
