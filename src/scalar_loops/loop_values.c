/* See loop_values.h. */
#include "scalar_loops/loop_values.h"

#include <string.h>

#include "compat/twister.h"

static const DtLoopLibrary *library; /* NULL: arrays are objects like others */

void
dt_loop_values_set_library(const DtLoopLibrary *given)
{
    library = given;
}

DtLoopKind
dt_loop_values_read(PyObject *object, DtLoopRegister *value, DtLoopArray *array)
{
    if (PyFloat_CheckExact(object)) {
        value->d = PyFloat_AS_DOUBLE(object);
        return DT_LOOP_FLOAT;
    }
    if (PyLong_CheckExact(object)) {
        int overflow;
        value->i = PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow ? DT_LOOP_OBJECT : DT_LOOP_INT;
    }
    if (PyBool_Check(object)) {
        value->i = object == Py_True;
        return DT_LOOP_BOOL;
    }
    if (PyUnicode_CheckExact(object)) {
        if (!dt_loop_values_is_text(object)) {
            return DT_LOOP_OBJECT;
        }
        if (PyUnicode_GET_LENGTH(object) == 1) {
            value->i = PyUnicode_READ_CHAR(object, 0);
            return DT_LOOP_CHAR;
        }
        value->object = object;
        return DT_LOOP_TEXT;
    }
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
        value->object = object;
        return DT_LOOP_SEQUENCE;
    }
    if (library == NULL) {
        return DT_LOOP_OBJECT;
    }
    DtLoopKind kind = library->read(object, value);
    if (kind != DT_LOOP_NOTHING) {
        return kind;
    }
    if (library->describe(object, array)) {
        value->array = array;
        return DT_LOOP_ARRAY;
    }
    return DT_LOOP_OBJECT;
}

PyObject *
dt_loop_values_make(DtLoopKind kind, DtLoopRegister value)
{
    switch (kind) {
    case DT_LOOP_BOOL:
        return PyBool_FromLong(value.i != 0);
    case DT_LOOP_INT:
        return PyLong_FromLongLong(value.i);
    case DT_LOOP_FLOAT:
        return PyFloat_FromDouble(value.d);
    case DT_LOOP_CHAR:
        return PyUnicode_FromOrdinal((int)value.i);
    default:
        return library->make(kind, value);
    }
}

bool
dt_loop_values_may_compute_items(void)
{
    return library != NULL && library->reports_as_expected();
}

const DtLoopCall *
dt_loop_values_function(PyObject *callable, int count)
{
    return library != NULL ? library->function(callable, count) : NULL;
}

DtLoopDraw
dt_loop_values_method(PyObject *generator, const char *name, int count)
{
    return library != NULL ? library->method(generator, name, count) : DT_LOOP_DRAW_NONE;
}

bool
dt_loop_values_draw(PyObject *generator, DtLoopDraw how, DtLoopRegister a, DtLoopRegister b,
                    DtLoopDrawn *drawn, DtLoopRegister *out)
{
    if (how != DT_LOOP_DRAW_TWISTER) {
        return library->draw(generator, how, a, b, drawn, out);
    }
    drawn->place = dt_twister_place(generator);
    drawn->size = sizeof(int);
    memcpy(drawn->before, drawn->place, drawn->size);
    return dt_twister_random(generator, &out->d);
}
