/* What loop programs read and write: items of arrays and lists, and how an iteration is taken back.
 *
 * Private to loop_machine.c.  Nothing here runs code of the program or leaves an error set.
 */
#ifndef DT_SCALAR_LOOPS_LOOP_MEMORY_H
#define DT_SCALAR_LOOPS_LOOP_MEMORY_H

#include <string.h>

#include "compat/dying.h"
#include "scalar_loops/loop_program.h"

/* Of one iteration. */
#define DT_LOOP_MOST_WRITES 1024

typedef struct DtLoopUndo {
    char *at;
    uint64_t before;
    uint32_t size; /* 0: a place of a list, which held an object */
} DtLoopUndo;

typedef struct DtLoopLog {
    uint32_t count;
    DtLoopUndo items[DT_LOOP_MOST_WRITES];
} DtLoopLog;

static inline void
dt_loop_memory_take_back(DtLoopLog *log)
{
    while (log->count > 0) {
        const DtLoopUndo *undo = &log->items[--log->count];
        if (undo->size > 0) {
            memcpy(undo->at, &undo->before, undo->size);
            continue;
        }
        PyObject **place = (PyObject **)undo->at, *now = *place;
        *place = Py_NewRef((PyObject *)(uintptr_t)undo->before); /* the run owns it, too */
        Py_DECREF(now);                                          /* and this one */
    }
}

static inline bool
dt_loop_memory_note(DtLoopLog *log, char *at, uint32_t size)
{
    if (DT_UNLIKELY(log->count == DT_LOOP_MOST_WRITES)) {
        return false;
    }
    DtLoopUndo *undo = &log->items[log->count++];
    undo->at = at;
    undo->size = size;
    memcpy(&undo->before, at, size);
    return true;
}

/* What a draw changes in its generator is taken back like an item of an array. */
static inline bool
dt_loop_memory_draw(DtLoopLog *log, PyObject *generator, DtLoopDraw how, DtLoopRegister a,
                    DtLoopRegister b, DtLoopRegister *to)
{
    DtLoopDrawn drawn;
    if (log->count + DT_LOOP_MOST_DRAWN / 4 > DT_LOOP_MOST_WRITES
        || !dt_loop_values_draw(generator, how, a, b, &drawn, to)) {
        return false;
    }
    for (uint32_t i = 0; i < drawn.size; i += 4) {
        DtLoopUndo *undo = &log->items[log->count++];
        undo->at = drawn.place + i;
        undo->size = 4;
        memcpy(&undo->before, drawn.before + i, 4);
    }
    return true;
}

/* Where an index points, counted from the end if it is negative; false: beyond the axis. */
static inline bool
dt_loop_memory_step(const DtLoopArray *array, int axis, int64_t index, char **at)
{
    int64_t size = array->sizes[axis];
    index += index < 0 ? size : 0;
    if (DT_UNLIKELY((uint64_t)index >= (uint64_t)size)) {
        return false;
    }
    *at += index * array->strides[axis];
    return true;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static inline PyObject **
dt_loop_memory_items(PyObject *sequence)
{
    return PyList_CheckExact(sequence) ? ((PyListObject *)sequence)->ob_item
                                       : ((PyTupleObject *)sequence)->ob_item;
}

/* NULL: there is none at the index. */
static inline PyObject **
dt_loop_memory_place(PyObject *sequence, int64_t index)
{
    int64_t size = Py_SIZE(sequence);
    index += index < 0 ? size : 0;
    return (uint64_t)index < (uint64_t)size ? dt_loop_memory_items(sequence) + index : NULL;
}

/* One reference more that ends with the run. */
static inline bool
dt_loop_memory_own(DtLoopRun *run, PyObject *object)
{
    if (DT_UNLIKELY(object == NULL || run->nowned == DT_LOOP_MOST_OWNED)) {
        Py_XDECREF(object);
        PyErr_Clear(); /* MemoryError: the frame tries it again */
        return false;
    }
    run->owned[run->nowned++] = object;
    return true;
}

/* What the list lets go of lives until the run ends, and nobody may hear of its death then. */
static inline bool
dt_loop_memory_set(DtLoopRun *run, DtLoopLog *log, PyObject *list, int64_t index, PyObject *object)
{
    PyObject **place = PyList_CheckExact(list) ? dt_loop_memory_place(list, index) : NULL;
    if (place == NULL || !dt_dying_is_plain_type(Py_TYPE(*place))
        || run->nowned == DT_LOOP_MOST_OWNED || log->count == DT_LOOP_MOST_WRITES) {
        return false;
    }
    log->items[log->count++] = (DtLoopUndo){(char *)place, (uint64_t)(uintptr_t)*place, 0};
    run->owned[run->nowned++] = *place;
    *place = Py_NewRef(object);
    return true;
}

static inline bool
dt_loop_memory_read(DtLoopRegister *to, PyObject *object, DtLoopKind kind)
{
    DtLoopRegister value;
    DtLoopArray array;
    if (kind == DT_LOOP_FLOAT) {
        to->d = PyFloat_CheckExact(object) ? PyFloat_AS_DOUBLE(object) : 0.0;
        return PyFloat_CheckExact(object);
    }
    if (kind == DT_LOOP_SEQUENCE) {
        to->object = object;
        return PyList_CheckExact(object) || PyTuple_CheckExact(object);
    }
    bool like = dt_loop_values_read(object, &value, &array) == kind;
    if (like) {
        *to = value;
    }
    return like;
}

static inline bool
dt_loop_memory_letter(DtLoopRegister *to, PyObject *text, int64_t index)
{
    int64_t size = PyUnicode_GET_LENGTH(text);
    index += index < 0 ? size : 0;
    if ((uint64_t)index >= (uint64_t)size) {
        return false;
    }
    to->i = PyUnicode_READ_CHAR(text, index);
    return true;
}

/* Item of an array of one axis. */
static inline void
dt_loop_memory_item(DtLoopRegister *to, const DtLoopArray *array, int64_t index)
{
    const char *at = array->data + index * array->strides[0];
    if (array->item == DT_LOOP_ITEM_FLOAT) {
        to->d = *(const double *)at;
    }
    else {
        to->i = array->item == DT_LOOP_ITEM_INT ? *(const int64_t *)at : *(const uint8_t *)at != 0;
    }
}

#endif
