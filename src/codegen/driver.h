/* Driver code: the one frame of a function that breaks.
 *
 * A driver is a copy of a code object's own instructions, with *probes* in front of some of them:
 *
 *     p:  probe ──nothing done──► the user's instruction at p, plainly
 *           └────landing at q───► the user's instruction at q (without q's probe), or a return
 *
 * Names, slots, handlers, lines and flags are those of the original, so the frame is the user's
 * frame.  Jumps that led to p lead to its probe; landings lead behind it.
 *
 * A probe is an object whose type has tp_iternext.  The driver calls it with FOR_ITER: no
 * arguments, no call protocol, and what it answers costs no comparison.  It finds the frame with
 * dt_pyframe_current() and reads and writes slots and stack in place:
 *
 *     memory = dt_pyframe_memory(frame);
 *     memory[dt_driver_slot(map, i)]           unified slot i, 0 <= i < nslots
 *     memory[dt_driver_slot(map, nslots + j)]  value j of the stack of p, 0 <= j < site->depth
 *
 * NULL there is an unbound slot, or a NULL that belongs to a callable.  Then tp_iternext returns
 *
 *     dt_driver_plain(site)      nothing was done (it may be asked again and again, and may count)
 *     dt_driver_land(site, ...)  the frame goes on at q
 *     NULL with an exception     raised by p; never a StopIteration, which FOR_ITER swallows
 *
 * A site begins with a switch: a NOP, or, while its probe sleeps, a jump to the user's instruction.
 * It is written into the code that runs, so that a probe that sleeps costs one jump and wakes up in
 * frames that run already.
 *
 * Each point has at most one *quick* edge: one jump between the probe and q, no object made, and
 * with room for q's values on the stack already.  Everything else that is legal and has a pad
 * (DT_PLACE_PAD) is reached by a search, also edges that were not known when the driver was built.
 *
 * Behind an instruction an object may stand whose tp_iternext only looks: it returns NULL, and the
 * frame goes on as if it were not there, or with the exception that is set.
 *
 * Not in here: what probes do, and when a driver is worth it (eval_frame/).
 */
#ifndef DT_CODEGEN_DRIVER_H
#define DT_CODEGEN_DRIVER_H

#include "bytecode/places.h"
#include "compat/pyframe.h"

enum {
    DT_LAND_RETURN = -1,  /* as q: leave the frame with a value, at no line; from context 0 only */
    DT_LAND_NOWHERE = -2, /* as quick edge: none */
    DT_LAND_RETURN_0 = -3 /* as q: leave it as instruction 0 does */
};

/* As q: leave the frame as this RETURN_VALUE does, whose line a finished frame shows. */
static inline int32_t
dt_land_return_at(int32_t instr)
{
    return DT_LAND_RETURN_0 - instr;
}

static inline bool
dt_land_is_return(int32_t q)
{
    return q == DT_LAND_RETURN || q <= DT_LAND_RETURN_0;
}

/* What a driver knows of its code when it runs; a Python object among the driver's constants. */
typedef struct DtDriverMap DtDriverMap;

/* What a probe has to know of the driver it is in; part of the probe.  Filled by the build. */
typedef struct DtDriverSite {
    DT_BORROWED DtDriverMap *map; /* lives as long as the driver */
    int32_t at;                   /* p */
    int32_t depth;                /* of the stack at p */
    int32_t base;                 /* of p's handler context: slots below it stay untouched */
    int32_t quick;                /* q, a return or DT_LAND_NOWHERE */
    int32_t there;                /* depth of the stack at q */
    int32_t room;                 /* values that the driver has pushed for the quick edge */
    int32_t unit;                 /* of the switch */
    int32_t skip;                 /* argument of its jump */
    bool asleep;
} DtDriverSite;

typedef struct DtDriverPoint {
    int32_t at;                  /* p, a DT_PLACE_POINT */
    int32_t quick;               /* q, a return or DT_LAND_NOWHERE */
    DT_BORROWED PyObject *probe; /* becomes a constant of the driver; must not own the driver */
    DtDriverSite *site;          /* filled; the probe's own */
    bool asleep;                 /* to begin with */
} DtDriverPoint;

/* Builds the driver of places->bytecode->code; one probe per point, in any order of points.
 * `behind`: per instruction what stands behind it, or NULL; or NULL: nowhere.  An illegal point or
 * edge is DT_ERROR with SystemError.  Runs no user code. */
DtStatus dt_driver_build(DtArena *arena, const DtPlaces *places, const DtDriverPoint *points,
                         uint32_t npoints, PyObject *const *behind,
                         DT_OWNED PyCodeObject **driver) DT_MUST_CHECK;

/* Whether this driver can go from the site to q. */
bool dt_driver_reaches(const DtDriverSite *site, int32_t q);

/* Puts the site's switch: asleep, the probe is passed by.  A driver that a tool watches stays as it
 * is, which is always right: a probe that is asked in vain does nothing. */
void dt_driver_switch(PyCodeObject *driver, DtDriverSite *site, bool asleep);

/* Stack depth at q, as dt_driver_land wants it filled (1 for a return). */
int32_t dt_driver_depth(const DtDriverMap *map, int32_t q);

/* Index of a unified slot, or of nslots + a stack position, in dt_pyframe_memory(): the number
 * itself, apart from code on 3.10 that captures an argument. */
int dt_driver_nslots(const DtDriverMap *map);
int dt_driver_slot(const DtDriverMap *map, int slot);

/* Ahead of the effects of a segment: sees to it that the landing can't fail.  *ticket is NULL for
 * the quick edge.  DT_ERROR: MemoryError.  An unused ticket is dropped with Py_XDECREF. */
DtStatus dt_driver_reserve(const DtDriverSite *site, int32_t q, PyObject **ticket) DT_MUST_CHECK;

/* What tp_iternext returns when nothing was done. */
PyObject *dt_driver_plain(const DtDriverSite *site);

/* What tp_iternext returns when the frame goes on at q.  Before it, the caller has put the new
 * values of local slots, and of stack slots below min(site->depth, depth of q), into the frame.
 * `values` are those of the stack slots from there up to the depth of q (for a return always
 * one: the result), may contain NULL where q's instruction expects one, and are stolen.  Stack
 * values of p that q has not are dropped, which may run finalisers. */
PyObject *dt_driver_land(const DtDriverSite *site, DtPyFrame *frame, int32_t q,
                         DT_STEALS PyObject *const *values, DT_STEALS PyObject *ticket);

#endif
