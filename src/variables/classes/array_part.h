/* Instances of classes of Python that derive from a library's class of arrays.
 *
 * Such an instance is an instance tracker; its `contents` is the tracker of the plain array with
 * the same memory, which the program does not see.  `more` of a new one is the array or instance
 * whose memory it shows as a view, NULL: that of `contents`.  What the library's class does is its
 * adapter's.
 */
#ifndef DT_VARIABLES_CLASSES_ARRAY_PART_H
#define DT_VARIABLES_CLASSES_ARRAY_PART_H

#include "variables/classes/payloads.h"

typedef struct DtArrayPart {
    PyTypeObject *base;
    const DtAdapter *adapter; /* of the plain array */
    /* Exact test, no user code: is an existing one followed? */
    bool (*fits)(PyObject *object);
    /* Gives an existing instance, and a new one that base.__new__(cls, *args) makes, its array. */
    DtStatus (*build)(DtTrace *, DtInstanceVar *self);
    DtStatus (*make)(DtTrace *, DtInstanceVar *self, const DtArgs *args);
    /* A method or slot, and an attribute, that `base` defines. */
    DtStatus (*call)(DtTrace *, DtInstanceVar *self, PyObject *descriptor, const DtArgs *args,
                     DtVar **out);
    DtStatus (*get)(DtTrace *, DtInstanceVar *self, PyObject *name, DtVar **out);
    /* A callable that gives an instance of (class, array, owner of the memory) without telling
     * anybody; DT_BORROWED, NULL with an exception. */
    PyObject *(*rebuild)(void);
} DtArrayPart;

/* One library has such classes so far; it is kept. */
void dt_array_part_register(const DtArrayPart *part);
/* Of that class of arrays itself, or NULL. */
const DtArrayPart *dt_array_part_of(const PyTypeObject *base);
/* Of an instance of a class derived from it, or NULL. */
const DtArrayPart *dt_array_part_find(const DtInstanceVar *self);

#endif
