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
static unsigned seen_bits; /* categories that it does not ignore */
static bool seen_reports;  /* it reports otherwise than by raising */
/* By what they raise for, a bit per category: states that do, set by runs that began in `seen`. */
static PyObject *raising[1 << NCATEGORIES];

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
    unsigned bits = 0;
    bool reports = false;
    PyObject *modes = PyObject_CallNoArgs(get_dict);
    if (modes == NULL) {
        return -1;
    }
    for (int i = 0; i < NCATEGORIES; i++) {
        PyObject *mode = PyDict_GetItemString(modes, categories[i].name);
        bool ignored = mode != NULL && PyUnicode_Check(mode)
                       && PyUnicode_CompareWithASCIIString(mode, "ignore") == 0;
        bool raises = mode != NULL && PyUnicode_Check(mode)
                      && PyUnicode_CompareWithASCIIString(mode, "raise") == 0;
        bits |= ignored ? 0 : 1u << i;
        reports = reports || !(ignored || raises);
    }
    Py_DECREF(modes);
    Py_XSETREF(seen, Py_NewRef(now));
    for (size_t i = 0; i < Py_ARRAY_LENGTH(raising); i++) {
        Py_CLEAR(raising[i]);
    }
    seen_bits = bits;
    seen_reports = reports;
    return 0;
}

/* The state that raises for these categories and ignores the others. DT_BORROWED */
static PyObject *
raising_state(unsigned bits)
{
    if (raising[bits] != NULL) {
        return raising[bits];
    }
    PyObject *wanted = PyDict_New(), *none = PyTuple_New(0);
    bool made = wanted != NULL && none != NULL;
    for (int i = 0; i < NCATEGORIES && made; i++) {
        PyObject *text = PyUnicode_FromString(bits & 1u << i ? "raise" : "ignore");
        made = text != NULL && PyDict_SetItemString(wanted, categories[i].name, text) == 0;
        Py_XDECREF(text);
    }
    raising[bits] = made ? PyObject_Call(make_state, none, wanted) : NULL;
    Py_XDECREF(wanted);
    Py_XDECREF(none);
    return raising[bits];
}

/* Of the categories that the current state does not ignore, what the region leaves; more that it
 * adds. */
static unsigned
bits_in(uint8_t fp_region)
{
    return (seen_bits & ~(unsigned)fp_region & 0xf) | (unsigned)fp_region >> 4;
}

/* Is it a state that a run has set for its calls?  What it was made from counts, since the next
 * stage may belong to another region. */
static bool
is_raising(const PyObject *state)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(raising); i++) {
        if (raising[i] == state) {
            return true;
        }
    }
    return false;
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
    int result = now == seen || is_raising(now) ? 0 : study(now);
    Py_DECREF(now);
    return result;
}

int
dt_errstate_watched(uint8_t fp_region, unsigned *flags)
{
    if (look() < 0) {
        return -1;
    }
    unsigned bits = bits_in(fp_region);
    *flags = 0;
    for (int i = 0; i < NCATEGORIES; i++) {
        *flags |= bits & 1u << i ? categories[i].flag : 0;
    }
    return 0;
}

bool
dt_errstate_hears(uint8_t fp_region, unsigned flags)
{
    unsigned watched;
    if (dt_errstate_watched(fp_region, &watched) < 0) {
        PyErr_Clear(); /* what hindered asking hinders the call, which reports it */
        return true;
    }
    return (flags & watched) != 0;
}

int
dt_errstate_raise(uint8_t fp_region, PyObject **token)
{
    *token = NULL;
    if (look() < 0) {
        return -1;
    }
    if (!seen_reports && fp_region == 0) {
        return 0;
    }
    PyObject *state = raising_state(bits_in(fp_region));
    *token = state != NULL ? PyContextVar_Set(state_var, state) : NULL;
    return *token == NULL ? -1 : 0;
}

int
dt_errstate_restore(PyObject *token)
{
    int result = PyContextVar_Reset(state_var, token);
    Py_DECREF(token);
    return result;
}
