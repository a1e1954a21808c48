/* NumPy's floating-point error handling, as the current context has it.
 *
 * The state is an opaque object in a context variable.  The last one seen is kept with
 * what it means, so that the answer is usually a pointer comparison.  Only asked for
 * when a flag is up, or before operations that could report.
 */
#include "backend/native/fpflags.h"
#include "backend/native/native.h"

typedef struct Category {
    const char *name;
    unsigned flag;
} Category;

static const Category categories[] = {
    {"divide", DT_FP_DIVIDE},
    {"over", DT_FP_OVER},
    {"under", DT_FP_UNDER},
    {"invalid", DT_FP_INVALID},
};
enum { NCATEGORIES = sizeof(categories) / sizeof(categories[0]) };

/* DT_OWNED, made at first use. */
static PyObject *state_var;
static PyObject *get_dict;
static PyObject *make_state;

/* The last state seen; all DT_OWNED. */
static PyObject *seen;
static unsigned seen_flags;
static PyObject
    *seen_raising; /* the state that raises; None: `seen` itself never reports otherwise */

static int
import_state(void)
{
    PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath");
    if (module == NULL) {
        return -1;
    }
    get_dict = PyObject_GetAttrString(module, "_get_extobj_dict");
    make_state = PyObject_GetAttrString(module, "_make_extobj");
    PyObject *var = PyObject_GetAttrString(module, "_extobj_contextvar");
    Py_DECREF(module);
    if (get_dict == NULL || make_state == NULL || var == NULL) {
        Py_CLEAR(get_dict);
        Py_CLEAR(make_state);
        Py_XDECREF(var);
        return -1;
    }
    state_var = var;
    return 0;
}

/* Finds out what the current state `now` means. */
static int
study(PyObject *now)
{
    unsigned flags = 0;
    bool reports = false;
    PyObject *raising = NULL;
    PyObject *modes = PyObject_CallNoArgs(get_dict);
    PyObject *wanted = PyDict_New();
    PyObject *none = modes == NULL || wanted == NULL ? NULL : PyTuple_New(0);
    if (none == NULL) {
        goto done;
    }
    for (int i = 0; i < NCATEGORIES; i++) {
        PyObject *mode = PyDict_GetItemString(modes, categories[i].name);
        bool ignored = mode != NULL && PyUnicode_Check(mode)
                       && PyUnicode_CompareWithASCIIString(mode, "ignore") == 0;
        PyObject *text = PyUnicode_FromString(ignored ? "ignore" : "raise");
        if (text == NULL || PyDict_SetItemString(wanted, categories[i].name, text) < 0) {
            Py_XDECREF(text);
            goto done;
        }
        Py_DECREF(text);
        flags |= ignored ? 0 : categories[i].flag;
        reports = reports || !(ignored || PyUnicode_CompareWithASCIIString(mode, "raise") == 0);
    }
    raising = reports ? PyObject_Call(make_state, none, wanted) : Py_NewRef(Py_None);
done:
    Py_XDECREF(none);
    Py_XDECREF(wanted);
    Py_XDECREF(modes);
    if (raising == NULL) {
        return -1;
    }
    Py_XSETREF(seen, Py_NewRef(now));
    Py_XSETREF(seen_raising, raising);
    seen_flags = flags;
    return 0;
}

static int
look(void)
{
    PyObject *now = NULL;
    if ((state_var == NULL && import_state() < 0) || PyContextVar_Get(state_var, NULL, &now) < 0) {
        return -1;
    }
    if (now == NULL) {
        PyErr_SetString(PyExc_LookupError, "NumPy's error state has no value");
        return -1;
    }
    int result = now == seen ? 0 : study(now);
    Py_DECREF(now);
    return result;
}

int
dt_errstate_watched(unsigned *flags)
{
    if (look() < 0) {
        return -1;
    }
    *flags = seen_flags;
    return 0;
}

int
dt_errstate_raise(PyObject **token)
{
    *token = NULL;
    if (look() < 0) {
        return -1;
    }
    if (seen_raising == Py_None) {
        return 0;
    }
    *token = PyContextVar_Set(state_var, seen_raising);
    return *token == NULL ? -1 : 0;
}

int
dt_errstate_restore(PyObject *token)
{
    int result = PyContextVar_Reset(state_var, token);
    Py_DECREF(token);
    return result;
}
