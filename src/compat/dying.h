/* What happens when references go: does anybody notice?
 *
 * The deaths that follow are played through on the objects' own reference counts, without touching
 * them: an object whose last reference goes dies and lets go of what it holds.  Whoever lives on
 * is not looked into.  No user code runs, no error is set.
 *
 *   begin ─► stays: gets a reference ... ─► goes: loses one ... ─► noticed? ─► end
 *
 * Not in here: cycles, which die when the collector finds them, in plain execution too.
 */
#ifndef DT_COMPAT_DYING_H
#define DT_COMPAT_DYING_H

#include <stdbool.h>

#include "compat/python.h"
#include "core/map.h"

/* Instances hold nothing, and nobody can wait for their death. */
bool dt_dying_is_plain_type(PyTypeObject *type);

enum { DT_DYING_FEW = 16 };

typedef struct DtDyingShared {
    PyObject *object;
    Py_ssize_t gone; /* references lost, less those gained */
} DtDyingShared;

typedef struct DtDying {
    const DtMap *keeps; /* objects that have one reference too many for now; or NULL */
    bool noticed;       /* code would run, or that can't be told in reasonable time */
    bool asked;         /* a weak reference would notice, too: it can be asked */
    int deaths, depth;
    uint32_t nshared, size; /* size: of `many`, a power of two; 0: there are few */
    DtDyingShared few[DT_DYING_FEW];
    DtDyingShared *many;
} DtDying;

void dt_dying_begin(DtDying *play, const DtMap *keeps);
/* The object is referenced once more. */
void dt_dying_stays(DtDying *play, PyObject *object);
/* One reference to the object goes; one to everything that a container holds.  False: noticed. */
bool dt_dying_goes(DtDying *play, PyObject *object);
bool dt_dying_contents_go(DtDying *play, PyObject *container);
void dt_dying_end(DtDying *play);

/* For one reference: true if no code runs when it goes, and nobody can find out that it has. */
bool dt_dying_is_unseen(PyObject *object);
/* The object itself, unlike what is in it: a finaliser, or a weak reference with a callback. */
bool dt_dying_acts(PyObject *object);
/* For one reference: true if no code runs when it goes. */
bool dt_dying_is_quiet(PyObject *object, const DtMap *keeps);

/* How instances of a type that the garbage collector does not know are looked into: `visit` as for
 * tp_traverse.  For libraries of arrays, once per process; -1 when there is no room left. */
typedef int (*DtDyingTraverse)(PyObject *object, visitproc visit, void *arg);
int dt_dying_register(PyTypeObject *type, DtDyingTraverse traverse);

#endif
