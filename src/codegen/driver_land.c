/* What probes of a driver do to its frame; see driver.h.
 *
 *   quick edge    values go where the driver has made room ─► FOR_ITER "exhausted" ─► q
 *   other edges   a landing takes the values and the stack above the context's base; the driver
 *                 drops what is left (None by now), finds q, makes room, and the landing, asked
 *                 with FOR_ITER once more, fills it
 *
 * Between the two halves of the second way nothing allocates, raises or checks for signals.
 */
#include "codegen/driver_map.h"

/* The values of the stack at q from `base` on; an iterator that fills them in and is exhausted. */
typedef struct Landing {
    PyObject_VAR_HEAD DtDriverMap *map;
    int32_t q;
    int32_t base;
    PyObject *values[1]; /* ob_size of them, owned; may be NULL */
} Landing;

static void
put(PyObject **slot, DT_STEALS PyObject *value)
{
    PyObject *old = *slot;
    *slot = value;
    Py_XDECREF(old);
}

static PyObject *
new_none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static void
open_blocks(const DtDriverMap *map, DtPyFrame *frame, int32_t q)
{
#if DT_PY310
    if (dt_land_is_return(q)) {
        dt_pyframe_set_blocks(frame, 0, NULL, 0);
        return;
    }
    const DtDriverPlace *place = &map->places[q];
    dt_pyframe_set_blocks(frame, map->around[place->context], &map->blocks[place->block],
                          place->nblocks);
#else
    (void)map;
    (void)frame;
    (void)q;
#endif
}

/* --- landings ------------------------------------------------------------ */

static void
landing_dealloc(PyObject *self)
{
    Landing *landing = (Landing *)self;
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        Py_XDECREF(landing->values[i]);
    }
    Py_DECREF(landing->map);
    PyObject_Free(self);
}

static PyObject *
landing_fill(PyObject *self)
{
    Landing *landing = (Landing *)self;
    DtPyFrame *frame = dt_pyframe_current(PyThreadState_GET());
    PyObject **stack = dt_pyframe_memory(frame) + landing->map->stack_start + landing->base;
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        PyObject *value = landing->values[i];
        landing->values[i] = NULL;
        put(&stack[i], value);
    }
    open_blocks(landing->map, frame, landing->q);
    return NULL;
}

static PyTypeObject landing_type;

/* Only the driver's search subtracts: is q below a number?  A comparison would be counted as a call
 * (3.11), and fail where calls are as deep as they may be. */
static PyObject *
landing_minus(PyObject *self, PyObject *number)
{
    if (!PyObject_TypeCheck(self, &landing_type) || !PyLong_CheckExact(number)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyBool_FromLong(((Landing *)self)->q < PyLong_AsLong(number));
}

static PyNumberMethods landing_number = {.nb_subtract = landing_minus};

static PyTypeObject landing_type = {
    .ob_base = {PyObject_HEAD_INIT(NULL) 0},
    .tp_name = "dyntrace._core.Landing",
    .tp_basicsize = offsetof(Landing, values),
    .tp_itemsize = sizeof(PyObject *),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = landing_dealloc,
    .tp_as_number = &landing_number,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = landing_fill,
};

bool
dt_driver_reaches(const DtDriverSite *site, int32_t q)
{
    if (q == site->quick && q != DT_LAND_NOWHERE) {
        return true;
    }
    const DtDriverPlace *places = site->map->places;
    if (dt_land_is_return(q)) {
        return places[site->at].context == 0;
    }
    return q >= 0 && q < (int32_t)site->map->count && places[q].pad
           && places[q].context == places[site->at].context;
}

DtStatus
dt_driver_reserve(const DtDriverSite *site, int32_t q, PyObject **ticket)
{
    *ticket = NULL;
    if (q == site->quick) {
        return DT_OK;
    }
    if (PyType_Ready(&landing_type) < 0) {
        return DT_ERROR;
    }
    int32_t count = dt_driver_depth(site->map, q) - site->base;
    Landing *landing = PyObject_NewVar(Landing, &landing_type, count);
    if (landing == NULL) {
        return DT_ERROR;
    }
    Py_INCREF(site->map);
    landing->map = site->map;
    landing->q = q;
    landing->base = site->base;
    for (int32_t i = 0; i < count; i++) {
        landing->values[i] = NULL;
    }
    *ticket = (PyObject *)landing;
    return DT_OK;
}

/* --- answers ------------------------------------------------------------- */

PyObject *
dt_driver_plain(const DtDriverSite *site)
{
    if (site->quick == DT_LAND_NOWHERE) {
        return NULL;
    }
    Py_RETURN_FALSE;
}

static PyObject *
land_quickly(const DtDriverSite *site, DtPyFrame *frame, PyObject **stack, PyObject *const *values)
{
    int32_t common = dt_land_is_return(site->quick) ? 0
                     : site->there < site->depth    ? site->there
                                                    : site->depth;
    for (int32_t i = common; i < site->there; i++) {
        put(&stack[i], values[i - common]);
    }
    for (int32_t i = site->there; i < site->depth; i++) {
        put(&stack[i], new_none());
    }
    open_blocks(site->map, frame, site->quick);
    return NULL;
}

PyObject *
dt_driver_land(const DtDriverSite *site, DtPyFrame *frame, int32_t q, PyObject *const *values,
               PyObject *ticket)
{
    PyObject **stack = dt_pyframe_memory(frame) + site->map->stack_start;
    if (ticket == NULL) {
        return land_quickly(site, frame, stack, values);
    }
    int32_t depth = dt_driver_depth(site->map, q);
    int32_t common = dt_land_is_return(q) ? 0 : depth < site->depth ? depth : site->depth;
    Landing *landing = (Landing *)ticket;
    for (int32_t i = site->base; i < common; i++) {
        landing->values[i - site->base] = stack[i];
        stack[i] = new_none();
    }
    for (int32_t i = common; i < depth; i++) {
        landing->values[i - site->base] = values[i - common];
    }
#if DT_PY310
    dt_pyframe_set_blocks(frame, site->map->around[site->map->places[site->at].context], NULL, 0);
#endif
    for (int32_t i = common; i < site->depth; i++) {
        put(&stack[i], new_none());
    }
    put(&stack[site->base], ticket); /* it may be the probe's own place */
    Py_RETURN_TRUE;
}
