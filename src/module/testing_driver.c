/* White-box access to places and driver code, for the tests.
 *
 * `driver(code, points, answer, null)` builds a driver whose probes answer as the test wants:
 *
 *     "plain"     nothing was done
 *     "here"      go on at the probe's own point: by its quick edge where that leads there, else by
 *                 the way of unknown edges, where there is a pad; else plain
 *     int n       plain n times, then as "here" (a probe that counts at a loop header)
 *     a callable  answer(at, slots, stack) -> None, or (q, {slot: value}, stack at q)
 *
 * `null` stands for a NULL in slots and stacks.
 */
#include "bytecode/decode.h"
#include "bytecode/places.h"
#include "codegen/driver.h"
#include "compat/errors.h"
#include "module/testing.h"

typedef struct Probe {
    PyObject_HEAD DtDriverSite site;
    PyObject *answer; /* callable, or NULL */
    PyObject *null;
    bool lands_here;
    long countdown;
} Probe;

static void
probe_dealloc(PyObject *self)
{
    Py_XDECREF(((Probe *)self)->answer);
    Py_XDECREF(((Probe *)self)->null);
    PyObject_Free(self);
}

/* --- answers of a callable ----------------------------------------------- */

static PyObject *
list_of_memory(const Probe *probe, PyObject *const *memory, int first, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject *value = memory[dt_driver_slot(probe->site.map, first + i)];
        value = value != NULL ? value : probe->null;
        Py_INCREF(value);
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

static DT_OWNED PyObject *
value_of(const Probe *probe, PyObject *object)
{
    if (object == probe->null) {
        return NULL;
    }
    Py_INCREF(object);
    return object;
}

static void
put(const Probe *probe, PyObject **memory, int slot, PyObject *object)
{
    PyObject **place = &memory[dt_driver_slot(probe->site.map, slot)];
    PyObject *old = *place;
    *place = value_of(probe, object);
    Py_XDECREF(old);
}

static bool
is_landing(const Probe *probe, int q, PyObject *stack)
{
    if (!dt_driver_reaches(&probe->site, q)) {
        PyErr_Format(PyExc_ValueError, "no way from %d to %d", (int)probe->site.at, q);
        return false;
    }
    if (PyList_GET_SIZE(stack) != dt_driver_depth(probe->site.map, q)) {
        PyErr_Format(PyExc_ValueError, "the stack at %d has %d values", q,
                     (int)dt_driver_depth(probe->site.map, q));
        return false;
    }
    return true;
}

static PyObject *
land(const Probe *probe, int nslots, DtPyFrame *frame, int q, PyObject *slots, PyObject *stack)
{
    PyObject **memory = dt_pyframe_memory(frame);
    PyObject *ticket;
    PyObject *slot;
    PyObject *value;
    Py_ssize_t at = 0;
    int depth = (int)PyList_GET_SIZE(stack);
    if (dt_driver_reserve(&probe->site, q, &ticket) != DT_OK) {
        return NULL;
    }
    PyObject **values = PyMem_Calloc((size_t)depth + 1, sizeof(PyObject *));
    if (values == NULL) {
        Py_XDECREF(ticket);
        return PyErr_NoMemory();
    }
    while (PyDict_Next(slots, &at, &slot, &value)) {
        put(probe, memory, (int)PyLong_AsLong(slot), value);
    }
    int common = dt_land_is_return(q) ? 0 : depth < probe->site.depth ? depth : probe->site.depth;
    for (int i = probe->site.base; i < common; i++) {
        put(probe, memory, nslots + i, PyList_GET_ITEM(stack, i));
    }
    for (int i = common; i < depth; i++) {
        values[i - common] = value_of(probe, PyList_GET_ITEM(stack, i));
    }
    PyObject *answer = dt_driver_land(&probe->site, frame, q, values, ticket);
    PyMem_Free(values);
    return answer;
}

static PyObject *
ask(Probe *probe, DtPyFrame *frame)
{
    PyObject **memory = dt_pyframe_memory(frame);
    int nslots = dt_driver_nslots(probe->site.map);
    int q;
    PyObject *slots;
    PyObject *stack;
    PyObject *landed = NULL;
    PyObject *now = list_of_memory(probe, memory, 0, nslots);
    PyObject *above = list_of_memory(probe, memory, nslots, probe->site.depth);
    PyObject *answer =
        now != NULL && above != NULL
            ? PyObject_CallFunction(probe->answer, "iOO", (int)probe->site.at, now, above)
            : NULL;
    Py_XDECREF(now);
    Py_XDECREF(above);
    if (answer == Py_None) {
        Py_DECREF(answer);
        return dt_driver_plain(&probe->site);
    }
    if (answer != NULL
        && PyArg_ParseTuple(answer, "iO!O!", &q, &PyDict_Type, &slots, &PyList_Type, &stack)
        && is_landing(probe, q, stack)) {
        landed = land(probe, nslots, frame, q, slots, stack);
    }
    Py_XDECREF(answer);
    return landed;
}

/* --- the probe ----------------------------------------------------------- */

static PyObject *
probe_next(PyObject *self)
{
    Probe *probe = (Probe *)self;
    PyObject *ticket;
    if (probe->answer != NULL) {
        return ask(probe, dt_pyframe_current(PyThreadState_GET()));
    }
    if (probe->countdown > 0) {
        probe->countdown--;
        return dt_driver_plain(&probe->site);
    }
    int32_t here = probe->site.at;
    if (!probe->lands_here || !dt_driver_reaches(&probe->site, here)) {
        return dt_driver_plain(&probe->site);
    }
    if (dt_driver_reserve(&probe->site, here, &ticket) != DT_OK) {
        return NULL;
    }
    return dt_driver_land(&probe->site, dt_pyframe_current(PyThreadState_GET()), here, NULL,
                          ticket);
}

static PyTypeObject probe_type = {
    .ob_base = {PyObject_HEAD_INIT(NULL) 0},
    .tp_name = "dyntrace._core._testing.Probe",
    .tp_basicsize = sizeof(Probe),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = probe_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = probe_next,
};

static Probe *
make_probe(PyObject *answer, PyObject *null)
{
    Probe *probe = PyObject_New(Probe, &probe_type);
    if (probe == NULL) {
        return NULL;
    }
    probe->answer = NULL;
    probe->countdown = PyLong_CheckExact(answer) ? PyLong_AsLong(answer) : 0;
    probe->lands_here =
        PyLong_CheckExact(answer)
        || (PyUnicode_CheckExact(answer) && PyUnicode_CompareWithASCIIString(answer, "here") == 0);
    if (PyCallable_Check(answer)) {
        Py_INCREF(answer);
        probe->answer = answer;
    }
    Py_INCREF(null);
    probe->null = null;
    return probe;
}

/* --- building ------------------------------------------------------------ */

static DtStatus
analyse(DtArena *arena, PyObject *code, DtPlaces *places)
{
    DtBytecode *bytecode;
    DT_TRY(dt_decode_code(arena, (PyCodeObject *)code, &bytecode));
    return dt_places_build(arena, bytecode, places);
}

static DtStatus
make_points(DtArena *arena, PyObject *list, PyObject *answer, PyObject *null, PyObject *owners,
            DtDriverPoint **out)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    DtDriverPoint *points = DT_ARENA_ARRAY(arena, DtDriverPoint, count + 1);
    if (points == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int at;
        int quick;
        Probe *probe = make_probe(answer, null);
        if (probe == NULL || PyList_Append(owners, (PyObject *)probe) < 0) {
            Py_XDECREF(probe);
            return DT_ERROR;
        }
        Py_DECREF(probe);
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ii", &at, &quick)) {
            return DT_ERROR;
        }
        points[i] = (DtDriverPoint){at, quick, (PyObject *)probe, &probe->site, false};
    }
    *out = points;
    return DT_OK;
}

PyDoc_STRVAR(driver_doc, "driver(code, [(at, quick), ...], answer, null) -> code\n\n"
                         "quick: an instruction, -1 (return) or -2 (none).");

static PyObject *
testing_driver(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code;
    PyObject *list;
    PyObject *answer;
    PyObject *null;
    PyCodeObject *driver = NULL;
    DtDriverPoint *points;
    DtPlaces places;
    DtArena arena;
    if (!PyArg_ParseTuple(args, "O!O!OO", &PyCode_Type, &code, &PyList_Type, &list, &answer, &null)
        || PyType_Ready(&probe_type) < 0) {
        return NULL;
    }
    PyObject *owners = PyList_New(0);
    if (owners == NULL) {
        return NULL;
    }
    dt_arena_init(&arena);
    if (analyse(&arena, code, &places) == DT_OK
        && make_points(&arena, list, answer, null, owners, &points) == DT_OK
        && dt_driver_build(&arena, &places, points, (uint32_t)PyList_GET_SIZE(list), NULL, &driver)
               != DT_OK) {
        driver = NULL;
    }
    dt_arena_release(&arena);
    Py_DECREF(owners);
    return (PyObject *)driver;
}

PyDoc_STRVAR(places_doc, "places(code) -> (entry, [(context, flags, depth, after), ...], bases)\n\n"
                         "after: the points that come first behind a landing.");

static PyObject *
describe_place(const DtPlaces *places, int32_t index)
{
    int32_t points[2];
    const DtPlace *place = &places->places[index];
    int count = place->flags & DT_PLACE_LANDING ? dt_places_after(places, index, points) : 0;
    PyObject *after = PyTuple_New(count);
    for (int i = 0; after != NULL && i < count; i++) {
        PyTuple_SET_ITEM(after, i, PyLong_FromLong(points[i]));
    }
    return Py_BuildValue("(iiiNi)", place->context, place->flags,
                         places->bytecode->instrs[index].depth, after,
                         dt_places_landing_before(places, index));
}

static PyObject *
testing_places(PyObject *Py_UNUSED(module), PyObject *code)
{
    DtArena arena;
    DtPlaces places;
    PyObject *list = NULL;
    PyObject *bases = NULL;
    PyObject *result = NULL;
    if (!PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "a code object is needed");
        return NULL;
    }
    dt_arena_init(&arena);
    if (analyse(&arena, code, &places) == DT_OK) {
        list = PyList_New(places.bytecode->count);
        for (uint32_t i = 0; list != NULL && i < places.bytecode->count; i++) {
            PyList_SET_ITEM(list, i, describe_place(&places, (int32_t)i));
        }
        bases = PyTuple_New(places.context_count);
        for (uint32_t i = 0; bases != NULL && i < places.context_count; i++) {
            PyTuple_SET_ITEM(bases, i, PyLong_FromLong(places.contexts[i].base));
        }
        result = Py_BuildValue("(iNN)", places.entry, list, bases);
    }
    dt_arena_release(&arena);
    return result;
}

PyMethodDef dt_testing_driver_methods[] = {
    {"driver", testing_driver, METH_VARARGS, driver_doc},
    {"places", testing_places, METH_O, places_doc},
    {NULL, NULL, 0, NULL},
};
