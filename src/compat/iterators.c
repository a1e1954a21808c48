/* Mirrors the iterators of Objects/listobject.c, tupleobject.c, unicodeobject.c, bytesobject.c,
 * dictobject.c, setobject.c and enumobject.c: those over sequences have __setstate__, those over
 * dicts and sets are moved step by step.
 */
#include "compat/iterators.h"

#include "compat/import.h"
#include "compat/type.h"

/* The builtin type that a class of the user's derives from: its own methods are meant here, not
 * what the class has in their place. */
static PyTypeObject *
builtin_type(PyObject *subject)
{
    PyTypeObject *type = Py_TYPE(subject);
    while (type->tp_flags & Py_TPFLAGS_HEAPTYPE && type->tp_base != NULL) {
        type = type->tp_base;
    }
    return type;
}

static PyObject *
make_iterator(PyObject *subject, int reversed)
{
    PyTypeObject *type = builtin_type(subject);
    if (!reversed) {
        return type->tp_iter != NULL ? type->tp_iter(subject) : PyObject_GetIter(subject);
    }
    PyObject *name = PyUnicode_InternFromString("__reversed__");
    PyObject *method = name != NULL ? dt_type_lookup(type, name) : NULL; /* borrowed */
    Py_XDECREF(name);
    return PyErr_Occurred() ? NULL
           : method != NULL ? PyObject_CallOneArg(method, subject)
                            : PyObject_CallOneArg((PyObject *)&PyReversed_Type, subject);
}

/* A container of the same builtin type without items: an exhausted iterator keeps nothing alive. */
static PyObject *
make_empty(PyObject *subject)
{
    if (Py_IS_TYPE(subject, &PyDictKeys_Type) || Py_IS_TYPE(subject, &PyDictValues_Type)
        || Py_IS_TYPE(subject, &PyDictItems_Type)) {
        static const char *const names[] = {"keys", "values", "items"};
        int which = Py_IS_TYPE(subject, &PyDictKeys_Type)     ? 0
                    : Py_IS_TYPE(subject, &PyDictValues_Type) ? 1
                                                              : 2;
        PyObject *dict = PyDict_New();
        PyObject *view = dict != NULL ? PyObject_CallMethod(dict, names[which], NULL) : NULL;
        Py_XDECREF(dict);
        return view;
    }
    return PyObject_CallNoArgs((PyObject *)builtin_type(subject));
}

/* Takes `steps` steps, or all when it is negative; -1 with an exception. */
static int
advance(PyObject *iterator, Py_ssize_t steps)
{
    for (Py_ssize_t i = 0; steps < 0 || i < steps; i++) {
        PyObject *item = PyIter_Next(iterator);
        if (item == NULL) {
            return PyErr_Occurred() ? -1 : 0;
        }
        Py_DECREF(item);
    }
    return 0;
}

/* One over the same builtin type, or, where items are read by index, of the one type for that. */
static PyObject *
make_exhausted(PyObject *subject, int reversed)
{
    PyObject *like = make_iterator(subject, reversed);
    if (like == NULL) {
        return NULL;
    }
    bool by_index = PySeqIter_Check(like);
    Py_DECREF(like);
    PyObject *empty = by_index ? PyTuple_New(0) : make_empty(subject);
    PyObject *iterator = empty == NULL ? NULL
                         : by_index    ? PySeqIter_New(empty)
                                       : make_iterator(empty, reversed);
    Py_XDECREF(empty);
    if (iterator != NULL && advance(iterator, -1) < 0) {
        Py_CLEAR(iterator);
    }
    return iterator;
}

/* The iterators of listobject.c, tupleobject.c, bytearrayobject.c and enumobject.c. */
typedef struct SequenceIterator {
    PyObject_HEAD Py_ssize_t index;
    PyObject *sequence; /* NULL: exhausted */
} SequenceIterator;

/* Does its __setstate__ cut the index to a length?  An iterator whose list has become shorter
 * stands beyond its end. */
static bool
cuts_index(PyObject *iterator)
{
    return Py_IS_TYPE(iterator, &PyListIter_Type) || Py_IS_TYPE(iterator, &PyListRevIter_Type)
           || Py_IS_TYPE(iterator, &PyByteArrayIter_Type) || Py_IS_TYPE(iterator, &PyReversed_Type);
}

static int
move_to(PyObject *iterator, PyObject *index)
{
    if (cuts_index(iterator)) {
        ((SequenceIterator *)iterator)->index = PyLong_AsSsize_t(index);
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *method = PyObject_GetAttrString(iterator, "__setstate__");
    if (method != NULL) {
        PyObject *none = PyObject_CallOneArg(method, index);
        Py_DECREF(method);
        Py_XDECREF(none);
        return none != NULL ? 0 : -1;
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear(); /* AttributeError of an iterator without __setstate__ */
    Py_ssize_t steps = PyLong_AsSsize_t(index);
    return steps < 0 ? -1 : advance(iterator, steps);
}

static PyObject *
restore(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "an iterator is restored from three values");
        return NULL;
    }
    int reversed = args[1] == Py_True;
    if (args[2] == Py_None) {
        return make_exhausted(args[0], reversed);
    }
    PyObject *iterator = make_iterator(args[0], reversed);
    if (iterator != NULL && move_to(iterator, args[2]) < 0) {
        Py_CLEAR(iterator);
    }
    return iterator;
}

DT_BORROWED PyObject *
dt_iterators_restore(void)
{
    static PyObject *function; /* kept for the life of the process */
    static PyMethodDef method = {"restore_iterator", (PyCFunction)(void (*)(void))restore,
                                 METH_FASTCALL, NULL};
    if (function == NULL) {
        function = PyCFunction_New(&method, NULL);
    }
    return function;
}

/* ---- Iterators that exist already ------------------------------------------------------------ */

/* itertools.count, Modules/itertoolsmodule.c. */
typedef struct Count {
    PyObject_HEAD Py_ssize_t number;
    PyObject *long_number; /* not NULL: counts in another way */
    PyObject *long_step;
} Count;

static PyTypeObject *count_type; /* kept for the life of the process; NULL: laid out otherwise */

int
dt_iterators_init(void)
{
    if (count_type != NULL) {
        return 0;
    }
    PyObject *type = dt_import_attr("itertools", "count");
    if (type == NULL) {
        return -1;
    }
    if (PyType_Check(type) && ((PyTypeObject *)type)->tp_basicsize == (Py_ssize_t)sizeof(Count)) {
        count_type = (PyTypeObject *)type;
        return 0;
    }
    Py_DECREF(type);
    return 0;
}

PyObject *
dt_iterators_fresh(PyObject *iterator)
{
    const SequenceIterator *self = (const SequenceIterator *)iterator;
    bool list = Py_IS_TYPE(iterator, &PyListIter_Type);
    if ((!list && !Py_IS_TYPE(iterator, &PyTupleIter_Type)) || self->index != 0
        || self->sequence == NULL) {
        return NULL;
    }
    return Py_IS_TYPE(self->sequence, list ? &PyList_Type : &PyTuple_Type) ? self->sequence : NULL;
}

bool
dt_iterators_walk(PyObject *iterator, PyObject **sequence, Py_ssize_t *index)
{
    const SequenceIterator *self = (const SequenceIterator *)iterator;
    if (!Py_IS_TYPE(iterator, &PyListIter_Type) && !Py_IS_TYPE(iterator, &PyTupleIter_Type)
        && !PySeqIter_Check(iterator)) {
        return false;
    }
    *sequence = self->sequence;
    *index = self->index;
    return self->sequence != NULL;
}

void
dt_iterators_walk_to(PyObject *iterator, Py_ssize_t index)
{
    ((SequenceIterator *)iterator)->index = index;
}

bool
dt_iterators_count(PyObject *count, int64_t *value)
{
    const Count *self = (const Count *)count;
    if (count_type == NULL || !Py_IS_TYPE(count, count_type) || self->long_number != NULL
        || self->number == PY_SSIZE_T_MAX) {
        return false;
    }
    *value = self->number;
    return true;
}

static PyObject *
read_fresh(PyObject *module, PyObject *iterator)
{
    (void)module;
    PyObject *sequence = dt_iterators_fresh(iterator);
    if (sequence == NULL) {
        PyErr_SetString(PyExc_ValueError, "an iterator has been started");
        return NULL;
    }
    Py_INCREF(sequence);
    return sequence;
}

static PyObject *
read_count(PyObject *module, PyObject *count)
{
    (void)module;
    int64_t value;
    if (!dt_iterators_count(count, &value)) {
        PyErr_SetString(PyExc_ValueError, "a counter counts in another way now");
        return NULL;
    }
    return PyLong_FromLongLong(value);
}

static PyObject *
advance_by(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_ssize_t steps = count == 2 ? PyLong_AsSsize_t(args[1]) : -1;
    if (steps < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "an iterator is advanced by a number of steps");
        }
        return NULL;
    }
    if (advance(args[0], steps) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Each is made once and kept for the life of the process. */
DT_BORROWED PyObject *
dt_iterators_fresh_function(void)
{
    static PyObject *function;
    static PyMethodDef method = {"iterated", read_fresh, METH_O, NULL};
    return function != NULL ? function : (function = PyCFunction_New(&method, NULL));
}

DT_BORROWED PyObject *
dt_iterators_count_function(void)
{
    static PyObject *function;
    static PyMethodDef method = {"next_number", read_count, METH_O, NULL};
    return function != NULL ? function : (function = PyCFunction_New(&method, NULL));
}

DT_BORROWED PyObject *
dt_iterators_advance(void)
{
    static PyObject *function;
    static PyMethodDef method = {"advance_iterator", (PyCFunction)(void (*)(void))advance_by,
                                 METH_FASTCALL, NULL};
    return function != NULL ? function : (function = PyCFunction_New(&method, NULL));
}

bool
dt_iterators_asyncgen_hooked(void)
{
    const PyThreadState *tstate = PyThreadState_Get();
    return tstate->async_gen_firstiter != NULL || tstate->async_gen_finalizer != NULL;
}

bool
dt_iterators_origins_tracked(void)
{
    return PyThreadState_Get()->coroutine_origin_tracking_depth > 0;
}
