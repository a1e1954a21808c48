/* See script.h. */
#include "eval_frame/script.h"

#include "compat/code.h"
#include "compat/pyframe.h"
#include "compat/tracing.h"

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

/* ---- Other modules ------------------------------------------------------------------------- */

typedef struct AfterCall {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *function;
    Py_ssize_t position; /* of the argument that the callback is told */
    PyObject *callback;
} AfterCall;

static PyObject *
call_and_tell(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    AfterCall *self = (AfterCall *)callable;
    PyObject *answer = PyObject_Vectorcall(self->function, args, nargsf, kwnames);
    if (answer != NULL && PyVectorcall_NARGS(nargsf) > self->position) {
        PyObject *seen = dt_tracing_call_unseen(self->callback, args[self->position]);
        if (seen == NULL) {
            PyErr_WriteUnraisable(self->callback); /* the module itself is fine */
        }
        Py_XDECREF(seen);
    }
    return answer;
}

static PyObject *
bind_as_function(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(type))
{
    if (instance == NULL || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyMethod_New(self, instance);
}

static void
after_call_dealloc(PyObject *self)
{
    Py_XDECREF(((AfterCall *)self)->function);
    Py_XDECREF(((AfterCall *)self)->callback);
    Py_TYPE(self)->tp_free(self);
}

/* What is asked of it is answered by the function that it stands for. */
static PyObject *
after_call_getattro(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((AfterCall *)self)->function, name);
}

static PyTypeObject after_call_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace._core.AfterCall",
    .tp_basicsize = sizeof(AfterCall),
    .tp_dealloc = after_call_dealloc,
    .tp_getattro = after_call_getattro,
    .tp_descr_get = bind_as_function,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(AfterCall, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

PyObject *
dt_script_after_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *function, *callback;
    Py_ssize_t position;
    if (!PyArg_ParseTuple(args, "OnO:after_call", &function, &position, &callback)) {
        return NULL;
    }
    AfterCall *self = (AfterCall *)after_call_type.tp_alloc(&after_call_type, 0);
    if (self != NULL) {
        self->vectorcall = call_and_tell;
        Py_INCREF(function);
        self->function = function;
        self->position = position;
        Py_INCREF(callback);
        self->callback = callback;
    }
    return (PyObject *)self;
}

int
dt_script_init(void)
{
    return PyType_Ready(&after_call_type);
}
