/* Where a value came from.  One tree serves guards (to read it in C), codegen
 * (to load it in bytecode) and people (printed form: L['x'], G['f'].w, ...).
 *
 * Sources are interned in their trace: equal sources are the same pointer.
 * Names and keys are objects that the trace keeps alive.
 */
#ifndef DT_VARIABLES_SOURCE_H
#define DT_VARIABLES_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "compat/python.h"
#include "core/status.h"
#include "core/strbuf.h"

typedef struct DtTrace DtTrace;

typedef enum DtSourceKind {
#define SOURCE(NAME, TEXT) DT_SOURCE_##NAME,
#include "variables/sources.def"
#undef SOURCE
    DT_SOURCE_COUNT
} DtSourceKind;

typedef struct DtSource {
    uint8_t kind;   /* DtSourceKind */
    bool synthetic; /* it, or a base of it, is synthetic: no guard is made for it */
    bool watched;   /* in a guard program: its key is not kept alive */
    uint32_t id;    /* dense, in order of creation; registers of guard programs follow it */
    uint32_t hash;
    int64_t index; /* slot, position, dimension; by kind */
    PyObject *key; /* name or key; by kind */
    const struct DtSource *base;
    const struct DtSource *at; /* of PICKED, COMPUTED and PAIR the second one, else NULL */
} DtSource;

/* The index of a LIST_ARRAY: so many of the first and of the last items of the list are not in it.
 */
static inline int64_t
dt_source_ends(uint32_t first, uint32_t last)
{
    return (int64_t)((uint64_t)last << 32 | first);
}

static inline uint32_t
dt_source_first(int64_t ends)
{
    return (uint32_t)ends;
}

static inline uint32_t
dt_source_last(int64_t ends)
{
    return (uint32_t)((uint64_t)ends >> 32);
}

/* The interned source, or NULL with a Python error set (memory). */
const DtSource *dt_source_get(DtTrace *trace, DtSourceKind kind, const DtSource *base,
                              PyObject *key, int64_t index) DT_MUST_CHECK;

/* What a position of the value stack is called, kept by the trace; NULL with MemoryError. */
DT_BORROWED PyObject *dt_source_stack_name(DtTrace *trace, int position);
/* Is it a place of the stack: a value that may have no other owner? */
bool dt_source_is_stack(const DtSource *source);
/* L['x'] for a plain local or argument in unified slot `slot` of the root frame. */
const DtSource *dt_source_local(DtTrace *trace, int slot, PyObject *name);
/* L['x'] for a cell or free variable of the root frame, read through the cell. */
const DtSource *dt_source_local_deref(DtTrace *trace, int slot, PyObject *name);
const DtSource *dt_source_global(DtTrace *trace, PyObject *name); /* of the root frame's globals */
const DtSource *dt_source_builtin(DtTrace *trace,
                                  PyObject *name); /* of the root frame's builtins */
const DtSource *dt_source_attr(DtTrace *trace, const DtSource *base, PyObject *name);
const DtSource *dt_source_item(DtTrace *trace, const DtSource *base,
                               PyObject *key); /* base[key], a dict */
const DtSource *dt_source_index(DtTrace *trace, const DtSource *base,
                                int64_t index); /* tuple or list */
/* One that is read by two others: PICKED, COMPUTED or PAIR. */
const DtSource *dt_source_by_two(DtTrace *trace, DtSourceKind kind, const DtSource *base,
                                 const DtSource *at, int64_t index);
bool dt_source_has_two(int kind);
/* Whether a COMPUTED source may have this operation: one of two ints that gives an int. */
bool dt_source_computes(int64_t op);

void dt_source_print(const DtSource *source, DtStrbuf *buf);

#endif
