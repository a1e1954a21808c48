/* What graphs call where a dry run has guessed the sizes of results (dry_sizes.c).
 *
 *   shaped(function, type of the tuple of results or None, forms, ...)
 *       ─► function(...), of arrays with items, if it is of those forms; else ValueError,
 *          and the call is made again plainly
 *
 * A form is (type, dtype, sizes, whether it owns its memory); of a size about which nothing is
 * known None, and of what is no array None but for its type.  No argument has any of its memory.
 */
#include "adapters/numpy/shaped.h"

#include "adapters/numpy/api.h"
#include "adapters/numpy/extent.h"

enum { FUNCTION, RESULTS, FORMS, FIRST };

static PyObject *
unexpected(void)
{
    PyErr_SetString(PyExc_ValueError, "an array is not as it is expected");
    return NULL;
}

static bool
overlap(PyObject *a, PyObject *b)
{
    const char *low_a, *high_a, *low_b, *high_b;
    return dt_np_extent(a, &low_a, &high_a) && dt_np_extent(b, &low_b, &high_b) && low_a < high_b
           && low_b < high_a;
}

/* Have all arrays among the arguments items, and, if there is one, none in the memory of `found`?
 */
static bool
are_apart(PyObject *const *values, Py_ssize_t count, PyObject *found)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = values[i];
        if (PyTuple_Check(value) || PyList_Check(value)) {
            if (!are_apart(PySequence_Fast_ITEMS(value), PySequence_Fast_GET_SIZE(value), found)) {
                return false;
            }
        }
        else if (PyArray_Check(value)
                 && (PyArray_SIZE((PyArrayObject *)value) == 0
                     || (found != NULL && overlap(value, found)))) {
            return false;
        }
    }
    return true;
}

/* Are these the sizes that are known?  -1 with an exception. */
static int
has_sizes(PyArrayObject *array, PyObject *sizes)
{
    if (PyTuple_GET_SIZE(sizes) != PyArray_NDIM(array)) {
        return 0;
    }
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        PyObject *size = PyTuple_GET_ITEM(sizes, i);
        if (size == Py_None) {
            continue;
        }
        Py_ssize_t wanted = PyLong_AsSsize_t(size);
        if (wanted == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (wanted != PyArray_DIM(array, i)) {
            return 0;
        }
    }
    return 1;
}

/* Is the result of that form?  -1 with an exception. */
static int
has_form(PyObject *found, PyObject *form, PyObject *const *values, Py_ssize_t count)
{
    if (!PyTuple_Check(form) || PyTuple_GET_SIZE(form) != 4) {
        return 0;
    }
    PyObject *dtype = PyTuple_GET_ITEM(form, 1), *sizes = PyTuple_GET_ITEM(form, 2);
    if ((PyObject *)Py_TYPE(found) != PyTuple_GET_ITEM(form, 0)) {
        return 0;
    }
    if (sizes == Py_None) {
        return 1;
    }
    PyArrayObject *array = (PyArrayObject *)found;
    if (!PyArray_Check(found) || !PyArray_DescrCheck(dtype) || !PyTuple_Check(sizes)
        || ((PyObject *)PyArray_DESCR(array) != dtype
            && !PyArray_EquivTypes(PyArray_DESCR(array), (PyArray_Descr *)dtype))
        || PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA) != (PyTuple_GET_ITEM(form, 3) == Py_True)) {
        return 0;
    }
    int sized = has_sizes(array, sizes);
    return sized > 0 ? are_apart(values, count, found) : sized;
}

PyObject *
dt_np_shaped(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t given = nargs - FIRST + (kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0);
    (void)module;
    if (nargs < FIRST || !PyTuple_Check(args[FORMS])) {
        PyErr_SetString(PyExc_TypeError, "shaped(function, results, forms, ...)");
        return NULL;
    }
    if (!are_apart(args + FIRST, given, NULL)) {
        return unexpected();
    }
    PyObject *found =
        PyObject_Vectorcall(args[FUNCTION], args + FIRST, (size_t)(nargs - FIRST), kwnames);
    if (found == NULL) {
        return NULL;
    }
    bool many = args[RESULTS] != Py_None;
    Py_ssize_t count = PyTuple_GET_SIZE(args[FORMS]);
    int ok = !many
             || ((PyObject *)Py_TYPE(found) == args[RESULTS] && PyTuple_Check(found)
                 && PyTuple_GET_SIZE(found) == count);
    for (Py_ssize_t i = 0; i < count && ok > 0; i++) {
        ok = has_form(many ? PyTuple_GET_ITEM(found, i) : found, PyTuple_GET_ITEM(args[FORMS], i),
                      args + FIRST, given);
    }
    if (ok <= 0) {
        Py_DECREF(found);
        return ok < 0 ? NULL : unexpected();
    }
    return found;
}
