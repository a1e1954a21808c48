/* What a loop program computes with: numbers that are not objects, and what they lie in.
 *
 *   kind                    register holds          in Python
 *   BOOL  INT  FLOAT        the number              bool, int (of 64 bits), float
 *   ITEM_BOOL .. ITEM_FLOAT the number              a scalar of an array library: its arithmetic
 *   CHAR                    the code point          a text of one letter
 *   ARRAY                   a DtLoopArray           an array
 *   SEQUENCE  TEXT          the object              a list or tuple, a text
 *   RANGE                   next, step, left        an iterator over a range: three registers
 *   WALK                    object, index           one over a list, tuple or array
 *   OBJECT                  nothing                 an object that the frame or the code holds
 *
 * A value remembers which object it is, if it is one that existed before the loop was entered: that
 * very object is put back.  Of others, values that were copied are one new object.
 */
#ifndef DT_SCALAR_LOOPS_LOOP_VALUES_H
#define DT_SCALAR_LOOPS_LOOP_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "compat/text.h"

typedef enum DtLoopKind {
    DT_LOOP_NOTHING, /* an unbound slot, or one that nobody reads again */
    DT_LOOP_BOOL,
    DT_LOOP_INT,
    DT_LOOP_FLOAT,
    DT_LOOP_ITEM_BOOL,
    DT_LOOP_ITEM_INT,
    DT_LOOP_ITEM_FLOAT,
    DT_LOOP_CHAR,
    DT_LOOP_ARRAY,
    DT_LOOP_SEQUENCE,
    DT_LOOP_TEXT,
    DT_LOOP_RANGE,
    DT_LOOP_WALK,
    DT_LOOP_OBJECT,
    DT_LOOP_NULL, /* that belongs to a callable */
    /* Only inside of a block: made of other values. */
    DT_LOOP_TUPLE,
    DT_LOOP_SLICE_OF_ARRAY, /* an array and the first of its indices */
    DT_LOOP_SHAPE,          /* of an array */
    DT_LOOP_METHOD,         /* of an object; `object` is its name */
    DT_LOOP_BOUNDS          /* start, stop and step of a range that is not iterated over yet */
} DtLoopKind;

enum { DT_LOOP_MOST_AXES = 3 };

/* An array as it lies in memory.  No code of the program runs in a loop, so it stays there. */
typedef struct DtLoopArray {
    char *data;
    int64_t sizes[DT_LOOP_MOST_AXES];
    int64_t strides[DT_LOOP_MOST_AXES]; /* bytes */
    uint8_t item;                       /* DT_LOOP_ITEM_* */
    uint8_t ndim;
    bool writable;
} DtLoopArray;

typedef union DtLoopRegister {
    int64_t i;
    double d;
    const DtLoopArray *array;
    PyObject *object; /* DT_BORROWED: of who lives as long as the run */
} DtLoopRegister;

/* A function of a library on one or two doubles.  False: it would report something. */
typedef struct DtLoopCall {
    bool (*run)(const struct DtLoopCall *call, double a, double b, double *result);
    const void *data;
} DtLoopCall;

/* A number drawn at random, by the methods of a library's generators or Python's random(). */
typedef enum DtLoopDraw {
    DT_LOOP_DRAW_NONE,
    DT_LOOP_DRAW_RANDOM,  /* from 0 to 1 */
    DT_LOOP_DRAW_UNIFORM, /* from a to b */
    DT_LOOP_DRAW_INT,     /* an int, at least a and below b */
    DT_LOOP_DRAW_TWISTER, /* random() of the standard library */
} DtLoopDraw;

enum { DT_LOOP_MOST_DRAWN = 32 };

/* What a draw has changed in the generator, and what was there. */
typedef struct DtLoopDrawn {
    char *place;
    uint32_t size; /* a multiple of four */
    char before[DT_LOOP_MOST_DRAWN];
} DtLoopDrawn;

/* How a library of arrays takes part; one for the process (NumPy). */
typedef struct DtLoopLibrary {
    /* Fills all but nothing: false for what is no plain array of such items. */
    bool (*describe)(PyObject *object, DtLoopArray *array);
    /* A scalar of the library: its kind, or DT_LOOP_NOTHING; and its value. */
    DtLoopKind (*read)(PyObject *object, DtLoopRegister *value);
    /* A new scalar; NULL with MemoryError. */
    PyObject *(*make)(DtLoopKind kind, DtLoopRegister value);
    /* Does the library report what arithmetic of its scalars raises as far as a loop expects it:
     * nothing about what underflows?  False also where that can't be told. */
    bool (*reports_as_expected)(void);
    /* What a callable does with `count` doubles, where it gives a double; it lives as long as the
     * process.  NULL: it is of another kind. */
    const DtLoopCall *(*function)(PyObject *callable, int count);
    /* What a method of a generator draws, called with so many arguments. */
    DtLoopDraw (*method)(PyObject *generator, const char *name, int count);
    /* False: nothing was drawn; the library has to. */
    bool (*draw)(PyObject *generator, DtLoopDraw how, DtLoopRegister a, DtLoopRegister b,
                 DtLoopDrawn *drawn, DtLoopRegister *out);
} DtLoopLibrary;

void dt_loop_values_set_library(const DtLoopLibrary *library);

/* An object as a value: its kind, with the register filled (of an array: `array`). */
DtLoopKind dt_loop_values_read(PyObject *object, DtLoopRegister *value, DtLoopArray *array);

/* May its letters be read where they lie?  (Before 3.12 there are texts that are not laid out yet.)
 */
static inline bool
dt_loop_values_is_text(PyObject *text)
{
    return PyUnicode_CheckExact(text) && dt_text_is_laid_out(text);
}

/* A number, or a letter, as an object; NULL with MemoryError. */
PyObject *dt_loop_values_make(DtLoopKind kind, DtLoopRegister value);

/* See DtLoopLibrary. */
const DtLoopCall *dt_loop_values_function(PyObject *callable, int count);

/* What a method of an object draws; and a draw. */
DtLoopDraw dt_loop_values_method(PyObject *generator, const char *name, int count);
bool dt_loop_values_draw(PyObject *generator, DtLoopDraw how, DtLoopRegister a, DtLoopRegister b,
                         DtLoopDrawn *drawn, DtLoopRegister *out);

/* May scalars of the library be computed with now? */
bool dt_loop_values_may_compute_items(void);

static inline bool
dt_loop_kind_is_number(DtLoopKind kind)
{
    return kind >= DT_LOOP_BOOL && kind <= DT_LOOP_ITEM_FLOAT;
}

static inline bool
dt_loop_kind_is_item(DtLoopKind kind)
{
    return kind >= DT_LOOP_ITEM_BOOL && kind <= DT_LOOP_ITEM_FLOAT;
}

/* Those that a register holds as a double. */
static inline bool
dt_loop_kind_is_real(DtLoopKind kind)
{
    return kind == DT_LOOP_FLOAT || kind == DT_LOOP_ITEM_FLOAT;
}

static inline bool
dt_loop_kind_is_truth(DtLoopKind kind)
{
    return kind == DT_LOOP_BOOL || kind == DT_LOOP_ITEM_BOOL;
}

#endif
