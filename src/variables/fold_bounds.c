/* How large the result of a call may become, by the name of what is called: see fold.h.
 *
 *   "ab".ljust(width), n * "ab", 1 << n     a number says it
 *   "%9999999d" % n                         digits in a text do
 *   text.replace(a, b), sep.join(parts)     the lengths do
 */
#include "variables/fold.h"

#include <string.h>

/* The largest width, count or size that folding takes. */
#define MAX_SIZE 100000

/* Methods and functions whose result is as large as an int argument says. */
static const char *const sized_by_int[] = {
    "center",   "ljust",      "rjust",       "zfill",     "expandtabs", "to_bytes", "__mul__",
    "__rmul__", "__lshift__", "__rlshift__", "__pow__",   "__rpow__",   "bytes",    "bytearray",
    "pow",      "repeat",     "ldexp",       "factorial", "comb",       "perm",     "mul",
    "lshift",   "imul",       "ilshift",     "ipow",      "__imul__",   NULL,
};
/* Those whose strings may say a width. */
static const char *const formatting[] = {
    "format", "format_map", "__format__", "__mod__", "__rmod__", "mod", "imod", NULL,
};

static bool
is_listed(const char *name, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_large_int(PyObject *value)
{
    if (!PyLong_Check(value)) {
        return false;
    }
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow != 0 || number > MAX_SIZE || number < -MAX_SIZE;
}

static bool
is_over_a_thousand(PyObject *value)
{
    return is_large_int(value) || (PyLong_Check(value) && PyLong_AsLong(value) > 1000);
}

/* A width that is an argument. */
static bool
has_star(PyObject *text)
{
    return PyBytes_Check(text)
               ? memchr(PyBytes_AS_STRING(text), '*', (size_t)PyBytes_GET_SIZE(text)) != NULL
               : PyUnicode_FindChar(text, '*', 0, PyUnicode_GET_LENGTH(text), 1) >= 0;
}

/* A run of six digits or more: a width or a precision that is not meant for people. */
static bool
has_large_width(PyObject *value)
{
    Py_ssize_t length = 0, run = 0;
    if (PyBytes_Check(value)) {
        const char *text = PyBytes_AS_STRING(value);
        length = PyBytes_GET_SIZE(value);
        for (Py_ssize_t i = 0; i < length && run < 6; i++) {
            run = text[i] >= '0' && text[i] <= '9' ? run + 1 : 0;
        }
    }
    else if (PyUnicode_Check(value)) {
        length = PyUnicode_GET_LENGTH(value);
        for (Py_ssize_t i = 0; i < length && run < 6; i++) {
            run = Py_UNICODE_ISDIGIT(PyUnicode_READ_CHAR(value, i)) ? run + 1 : 0;
        }
    }
    return run >= 6;
}

static Py_ssize_t
size_of(PyObject *value)
{
    return PyUnicode_Check(value) ? PyUnicode_GET_LENGTH(value)
           : PyBytes_Check(value) ? PyBytes_GET_SIZE(value)
                                  : 1;
}

/* replace() and join() put one argument between all parts of another. */
static bool
product_is_large(PyObject *bound, PyObject *args)
{
    double product = bound != NULL ? (double)size_of(bound) + 1 : 1;
    Py_ssize_t largest = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i);
        Py_ssize_t size = PyList_Check(arg)    ? PyList_GET_SIZE(arg)
                          : PyTuple_Check(arg) ? PyTuple_GET_SIZE(arg)
                                               : size_of(arg);
        largest = size > largest ? size : largest;
    }
    return product * (double)largest > 10.0 * DT_FOLD_MAX_PARTS;
}

static bool
any_in(PyObject *args, PyObject *keywords, bool (*test)(PyObject *))
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i);
        if (test(arg) || (PyTuple_Check(arg) && any_in(arg, NULL, test))) {
            return true;
        }
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (keywords != NULL && PyDict_Next(keywords, &position, &key, &value)) {
        if (test(value)) {
            return true;
        }
    }
    return false;
}

static bool
is_modulo_power(const char *name, PyObject *args)
{
    return (strcmp(name, "pow") == 0 && PyTuple_GET_SIZE(args) == 3)
           || (strcmp(name, "__pow__") == 0 && PyTuple_GET_SIZE(args) == 2);
}

/* Whether a number in it is a size that is too large.  The exact product of two numbers is not as
 * large as what they say. */
static bool
sizes_are_bounded(const char *name, PyObject *bound, PyObject *args, PyObject *keywords)
{
    bool product = strstr(name, "mul") != NULL;
    PyObject *first = bound != NULL                ? bound
                      : PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0)
                                                   : Py_None;
    if (product && (PyLong_Check(first) || PyFloat_Check(first))) {
        PyObject *last = PyTuple_GET_ITEM(args, PyTuple_GET_SIZE(args) - 1);
        return (!PyLong_Check(first) || _PyLong_NumBits(first) < MAX_SIZE)
               && (!PyLong_Check(last) || _PyLong_NumBits(last) < MAX_SIZE);
    }
    bool exponent = strncmp(name, "__", 2) == 0 && is_large_int(first);
    return !exponent && !any_in(args, keywords, is_large_int) && size_of(first) <= 100;
}

bool
dt_fold_is_bounded(const char *name, PyObject *bound, PyObject *args, PyObject *keywords)
{
    if (is_listed(name, sized_by_int) && !is_modulo_power(name, args)
        && PyTuple_GET_SIZE(args) > 0) {
        return sizes_are_bounded(name, bound, args, keywords)
               || !(any_in(args, keywords, is_large_int)
                    || any_in(args, keywords, is_over_a_thousand));
    }
    if (is_listed(name, formatting)) {
        bool text = bound != NULL && (PyUnicode_Check(bound) || PyBytes_Check(bound));
        return !(text && has_large_width(bound)) && !any_in(args, keywords, has_large_width)
               && !(text && any_in(args, keywords, is_large_int) && has_star(bound));
    }
    if (strcmp(name, "replace") == 0 || strcmp(name, "join") == 0) {
        return !product_is_large(bound, args);
    }
    return true;
}
