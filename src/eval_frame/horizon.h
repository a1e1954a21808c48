/* How far a call or a loop can see: does it come to an array, or to the library of one?
 *
 *   values ──► what they hold ──► ...                             an array among them?
 *      │ their classes
 *      ▼
 *   code ──► what it names: functions, attributes of these classes, of modules
 *      ▲            │                                             the library among them?
 *      └── theirs ──┘
 *
 * Operators of classes count as named; what makes an object does only where its class is named.
 * A look at some dozen or some hundred objects, the nearest first, and at a few items of each
 * container only, since the others are mostly of the same kind.  It costs a small part of what an
 * attempt costs, and what it doesn't find may still be there: what an answer keeps from being tried
 * is asked about again.  Nothing of the program runs.
 */
#ifndef DT_EVAL_FRAME_HORIZON_H
#define DT_EVAL_FRAME_HORIZON_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/status.h"

#define DT_HORIZON_OBJECTS 384
#define DT_HORIZON_CODES 96
#define DT_HORIZON_TYPES 24

typedef struct DtHorizon {
    uint32_t most; /* objects that are looked at */
    uint32_t count, next;
    uint32_t ncodes, next_code;
    uint32_t ntypes;
    uint32_t items, visits; /* that the container of now may still give */
    bool found;             /* an array, or the library of one */
    DT_OWNED PyObject *objects[DT_HORIZON_OBJECTS];
    DT_OWNED PyObject *codes[DT_HORIZON_CODES];
    DT_OWNED PyObject *globals[DT_HORIZON_CODES]; /* of each code */
    PyTypeObject *types[DT_HORIZON_TYPES];        /* classes among the objects */
    DT_BORROWED PyObject *attributes;             /* beside the names of the codes; or NULL */
} DtHorizon;

/* A short look, at a call that takes hardly longer; and a long one, where an attempt is the
 * alternative. */
#define DT_HORIZON_SHORT 40
#define DT_HORIZON_LONG DT_HORIZON_OBJECTS

void dt_horizon_begin(DtHorizon *horizon, uint32_t most);
/* What is looked at: a value (NULL: none), a code with its globals, a name in them, and names (a
 * tuple) that may be attributes. */
void dt_horizon_add(DtHorizon *horizon, PyObject *value);
void dt_horizon_add_code(DtHorizon *horizon, PyObject *code, PyObject *globals);
void dt_horizon_add_name(DtHorizon *horizon, PyObject *name, PyObject *globals);
void dt_horizon_add_attributes(DtHorizon *horizon, PyObject *names);
/* The answer; lets go of everything. */
bool dt_horizon_end(DtHorizon *horizon);

/* The answer for a call of the function with such arguments, those by name included. */
bool dt_horizon_of_call(const PyFunctionObject *function, PyObject *const *args, Py_ssize_t count,
                        uint32_t most);

#endif
