/* The state of generators: found, saved and put back.
 *
 * Before a run draws, the state is saved, so that a run that is dropped leaves the stream where it
 * was.  NumPy's own way of reading the state of a Mersenne Twister takes longer than many draws, so
 * its memory is copied, and that of PCG64; where the parts lie is tried out once, on generators of
 * our own, and if that does not give the same numbers again the slow way is taken (or, for
 * RandomState, which keeps half of a pair of normal numbers to itself, none).
 *
 * Another thread that draws from the same generator between a draw and the drop of its run sees
 * numbers that come again.
 *
 * Not in here: tracing (random.c).
 */
#include "adapters/numpy/random.h"

#include <stddef.h>
#include <string.h>

#include "adapters/numpy/random_bits.h"

enum { TWISTER_SIZE = 624 * 4 + 4, PCG_SIZE = 32, PCG_REST = 8 };

typedef struct TwisterCopy {
    char state[TWISTER_SIZE];
    int32_t has_gauss;
    double gauss;
} TwisterCopy;

typedef struct PcgCopy {
    char state[PCG_SIZE]; /* behind the pointer that comes first */
    char rest[PCG_REST];
} PcgCopy;

/* How the states of a kind of bit generator are saved. */
typedef enum Way { WAY_UNKNOWN, WAY_NONE, WAY_ATTRIBUTE, WAY_TWISTER, WAY_PCG } Way;

static struct {
    PyTypeObject *legacy, *modern; /* kept by the process */
    PyObject *global;
    Way twister_way, pcg_way;
    Py_ssize_t gauss_at; /* of the flag in a RandomState, the number is 8 bytes behind */
} found;

/* ---- Types ----------------------------------------------------------------------------------- */

/* Of a module that is loaded, or NULL without an error. DT_BORROWED. */
static PyObject *
module_attr(const char *name, const char *attr)
{
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), name);
    PyObject *dict = module != NULL && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
    return dict != NULL ? PyDict_GetItemString(dict, attr) : NULL;
}

PyObject *
dt_np_random_attr(DtRandomClass cls, const char *name)
{
    return module_attr(cls == DT_RANDOM_LEGACY ? "numpy.random.mtrand" : "numpy.random._generator",
                       name);
}

static PyTypeObject *
find_type(DtRandomClass cls, const char *name)
{
    PyObject *type = dt_np_random_attr(cls, name);
    return type != NULL && PyType_Check(type) ? (PyTypeObject *)Py_NewRef(type) : NULL;
}

PyTypeObject *
dt_np_random_type(DtRandomClass cls)
{
    PyTypeObject **type = cls == DT_RANDOM_LEGACY ? &found.legacy : &found.modern;
    if (*type == NULL) {
        *type = find_type(cls, cls == DT_RANDOM_LEGACY ? "RandomState" : "Generator");
    }
    return *type;
}

int
dt_np_random_class(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == found.legacy || type == found.modern) {
        return type == found.legacy ? DT_RANDOM_LEGACY : DT_RANDOM_MODERN;
    }
    if (strncmp(type->tp_name, "numpy.random.", 13) != 0) {
        return 0;
    }
    return type == dt_np_random_type(DT_RANDOM_LEGACY)   ? DT_RANDOM_LEGACY
           : type == dt_np_random_type(DT_RANDOM_MODERN) ? DT_RANDOM_MODERN
                                                         : 0;
}

PyObject *
dt_np_random_global(void)
{
    if (found.global == NULL) {
        found.global = Py_XNewRef(dt_np_random_attr(DT_RANDOM_LEGACY, "_rand"));
    }
    return found.global;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Names that every run asks for. */
enum { ATTR_BITS, ATTR_CAPSULE, ATTR_LOCK, ATTR_ACQUIRE, ATTR_RELEASE, ATTR_COUNT };

static PyObject *
attr_name(int which)
{
    static const char *const texts[] = {"_bit_generator", "capsule", "lock", "acquire", "release"};
    static PyObject *names[ATTR_COUNT]; /* kept by the process */
    if (names[which] == NULL) {
        names[which] = PyUnicode_InternFromString(texts[which]);
    }
    return names[which];
}

static PyObject *
get_attr(PyObject *object, int which)
{
    PyObject *name = attr_name(which);
    return name != NULL ? PyObject_GetAttr(object, name) : NULL;
}

static DtBitGen *
bitgen_of(PyObject *bits)
{
    PyObject *capsule = get_attr(bits, ATTR_CAPSULE);
    DtBitGen *gen = capsule != NULL ? PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
    Py_XDECREF(capsule); /* the bit generator keeps it */
    return gen;
}

/* Between two draws of other threads: acquire, or release. */
static int
lock(PyObject *bits, int step)
{
    PyObject *name = attr_name(step);
    PyObject *own = name != NULL ? get_attr(bits, ATTR_LOCK) : NULL;
    PyObject *done = own != NULL ? PyObject_CallMethodNoArgs(own, name) : NULL;
    Py_XDECREF(own);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static void
copy_twister(PyObject *object, DtBitGen *gen, TwisterCopy *copy, bool back)
{
    char *own = (char *)object + found.gauss_at;
    if (back) {
        memcpy(gen->state, copy->state, TWISTER_SIZE);
        memcpy(own, &copy->has_gauss, sizeof(copy->has_gauss));
        memcpy(own + 8, &copy->gauss, sizeof(copy->gauss));
    }
    else {
        memcpy(copy->state, gen->state, TWISTER_SIZE);
        memcpy(&copy->has_gauss, own, sizeof(copy->has_gauss));
        memcpy(&copy->gauss, own + 8, sizeof(copy->gauss));
    }
}

static void
copy_pcg(DtBitGen *gen, PcgCopy *copy, bool back)
{
    char *state = *(char **)gen->state, *rest = (char *)gen->state + sizeof(char *);
    memcpy(back ? state : copy->state, back ? copy->state : state, PCG_SIZE);
    memcpy(back ? rest : copy->rest, back ? copy->rest : rest, PCG_REST);
}

static PyObject *
save_memory(PyObject *object, PyObject *bits, Way way)
{
    DtBitGen *gen = bitgen_of(bits);
    Py_ssize_t size = way == WAY_TWISTER ? sizeof(TwisterCopy) : sizeof(PcgCopy);
    PyObject *saved = gen != NULL ? PyBytes_FromStringAndSize(NULL, size) : NULL;
    if (saved == NULL || lock(bits, ATTR_ACQUIRE) < 0) {
        Py_XDECREF(saved);
        return NULL;
    }
    if (way == WAY_TWISTER) {
        copy_twister(object, gen, (TwisterCopy *)PyBytes_AS_STRING(saved), false);
    }
    else {
        copy_pcg(gen, (PcgCopy *)PyBytes_AS_STRING(saved), false);
    }
    if (lock(bits, ATTR_RELEASE) < 0) {
        Py_CLEAR(saved);
    }
    return saved;
}

static int
restore_memory(PyObject *object, PyObject *bits, Way way, PyObject *saved)
{
    DtBitGen *gen = bitgen_of(bits);
    if (gen == NULL || lock(bits, ATTR_ACQUIRE) < 0) {
        return -1;
    }
    if (way == WAY_TWISTER) {
        copy_twister(object, gen, (TwisterCopy *)PyBytes_AS_STRING(saved), true);
    }
    else {
        copy_pcg(gen, (PcgCopy *)PyBytes_AS_STRING(saved), true);
    }
    return lock(bits, ATTR_RELEASE);
}

/* ---- Trying it out --------------------------------------------------------------------------- */

static PyObject *
draw(PyObject *object, const char *method, int count)
{
    PyObject *array = PyObject_CallMethod(object, method, "i", count);
    PyObject *bytes = array != NULL ? PyObject_CallMethod(array, "tobytes", NULL) : NULL;
    Py_XDECREF(array);
    return bytes;
}

/* Do the same numbers come again after the state was put back? */
static int
comes_again(PyObject *object, PyObject *bits, Way way, const char *method, int count)
{
    int same = -1;
    PyObject *saved = save_memory(object, bits, way);
    PyObject *first = saved != NULL ? draw(object, method, count) : NULL;
    PyObject *second = first != NULL && restore_memory(object, bits, way, saved) == 0
                           ? draw(object, method, count)
                           : NULL;
    if (second != NULL) {
        same = PyObject_RichCompareBool(first, second, Py_EQ);
    }
    Py_XDECREF(saved);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return same;
}

/* Where a RandomState keeps the second of a pair of normal numbers: one place that holds what
 * get_state() says.  -1 with an error, 0: not found. */
static int
find_gauss(PyObject *object)
{
    int count = 0;
    PyObject *state = PyObject_CallMethod(object, "get_state", NULL);
    if (state == NULL || !PyTuple_Check(state) || PyTuple_GET_SIZE(state) != 5) {
        Py_XDECREF(state);
        return PyErr_Occurred() ? -1 : 0;
    }
    double gauss = PyFloat_AsDouble(PyTuple_GET_ITEM(state, 4));
    Py_DECREF(state);
    if (gauss == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    const char *memory = (const char *)object;
    uint64_t wanted;
    memcpy(&wanted, &gauss, sizeof(wanted));
    for (Py_ssize_t at = sizeof(PyObject); at + 16 <= Py_TYPE(object)->tp_basicsize; at += 8) {
        int32_t has;
        uint64_t bits;
        memcpy(&has, memory + at, sizeof(has));
        memcpy(&bits, memory + at + 8, sizeof(bits));
        if (has == 1 && bits == wanted) {
            found.gauss_at = at;
            count++;
        }
    }
    return count == 1;
}

/* More than the twister's 624 words, odd and even numbers of normal ones, then the key itself. */
static int
try_twister(PyObject *object, PyObject *bits)
{
    PyObject *first = draw(object, "standard_normal", 1);
    if (first == NULL) {
        return -1;
    }
    Py_DECREF(first);
    int good = find_gauss(object);
    static const struct {
        const char *method;
        int count;
    } steps[] = {{"standard_normal", 2},
                 {"standard_normal", 1501},
                 {"standard_normal", 3},
                 {"random_sample", 1501},
                 {"standard_normal", 2}};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(steps) && good > 0; i++) {
        good = comes_again(object, bits, WAY_TWISTER, steps[i].method, steps[i].count);
    }
    return good;
}

static int
try_pcg(PyObject *object, PyObject *bits)
{
    static const char *const methods[] = {"random", "standard_normal", "integers", "random"};
    int good = 1;
    PyObject *before = PyObject_GetAttrString(bits, "state");
    PyObject *saved = before != NULL ? save_memory(object, bits, WAY_PCG) : NULL;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods) && saved != NULL && good > 0; i++) {
        PyObject *drawn = i == 2 ? PyObject_CallMethod(object, "integers", "iiis", 0, 99, 3, "u4")
                                 : draw(object, methods[i], 7);
        good = drawn != NULL ? 1 : -1;
        Py_XDECREF(drawn);
    }
    PyObject *between = saved != NULL && good > 0 ? PyObject_GetAttrString(bits, "state") : NULL;
    if (between != NULL && restore_memory(object, bits, WAY_PCG, saved) == 0) {
        PyObject *after = PyObject_GetAttrString(bits, "state");
        good = after != NULL ? PyObject_RichCompareBool(before, after, Py_EQ) : -1;
        if (good > 0) {
            good = PyObject_RichCompareBool(before, between, Py_NE);
        }
        Py_XDECREF(after);
    }
    else {
        good = -1;
    }
    Py_XDECREF(before);
    Py_XDECREF(saved);
    Py_XDECREF(between);
    return good;
}

/* An instance of our own to try a way with. */
static Way
choose_way(PyObject *maker, int (*attempt)(PyObject *, PyObject *), Way good, Way otherwise)
{
    PyObject *object = maker != NULL ? PyObject_CallFunction(maker, "i", 1234567) : NULL;
    PyObject *bits = object != NULL ? PyObject_GetAttrString(object, "_bit_generator") : NULL;
    int answer = bits != NULL ? attempt(object, bits) : -1;
    PyErr_Clear(); /* whatever went wrong, this way is not taken */
    Py_XDECREF(object);
    Py_XDECREF(bits);
    return answer > 0 ? good : otherwise;
}

static Way
twister_way(void)
{
    if (found.twister_way == WAY_UNKNOWN) {
        PyObject *maker = (PyObject *)dt_np_random_type(DT_RANDOM_LEGACY);
        found.twister_way = choose_way(maker, try_twister, WAY_TWISTER, WAY_NONE);
    }
    return found.twister_way;
}

Py_ssize_t
dt_np_random_half_at(void)
{
    return twister_way() == WAY_TWISTER ? found.gauss_at : 0;
}

static Way
pcg_way(void)
{
    if (found.pcg_way == WAY_UNKNOWN) {
        PyObject *maker = dt_np_random_attr(DT_RANDOM_MODERN, "default_rng");
        found.pcg_way = choose_way(maker, try_pcg, WAY_PCG, WAY_ATTRIBUTE);
    }
    return found.pcg_way;
}

/* ---- Which way ------------------------------------------------------------------------------- */

/* The bit generators of NumPy itself: reading and setting their states runs no user code. */
static const struct {
    const char *name;
    const char *module;
} own_bits[] = {
    {"MT19937", "numpy.random._mt19937"}, {"PCG64", "numpy.random._pcg64"},
    {"PCG64DXSM", "numpy.random._pcg64"}, {"Philox", "numpy.random._philox"},
    {"SFC64", "numpy.random._sfc64"},
};
enum { BITS_TWISTER, BITS_PCG64, BITS_COUNT = sizeof(own_bits) / sizeof(own_bits[0]) };

/* Which of them an object is, or -1. */
static int
find_bits(PyObject *bits)
{
    static PyTypeObject *types[BITS_COUNT]; /* kept by the process */
    for (int i = 0; i < BITS_COUNT; i++) {
        if (types[i] == NULL) {
            PyObject *type = module_attr(own_bits[i].module, own_bits[i].name);
            types[i] = type != NULL && PyType_Check(type) ? (PyTypeObject *)Py_NewRef(type) : NULL;
        }
        if (types[i] == Py_TYPE(bits)) {
            return i;
        }
    }
    return -1;
}

/* *bits: DT_OWNED, the bit generator. */
static Way
way_of(PyObject *object, PyObject **bits)
{
    int cls = dt_np_random_class(object);
    *bits = cls != 0 ? Py_XNewRef(dt_np_random_bit_generator(object, (DtRandomClass)cls)) : NULL;
    if (cls != 0 && *bits == NULL) {
        *bits = get_attr(object, ATTR_BITS);
    }
    if (*bits == NULL) {
        PyErr_Clear(); /* an object without it is none that is drawn from */
        return WAY_NONE;
    }
    int kind = find_bits(*bits);
    if (kind < 0) {
        return WAY_NONE;
    }
    if (cls == DT_RANDOM_LEGACY) {
        return kind == BITS_TWISTER ? twister_way() : WAY_NONE;
    }
    return kind == BITS_PCG64 ? pcg_way() : WAY_ATTRIBUTE;
}

int
dt_np_random_can_write(const DtAdapter *adapter, PyObject *object)
{
    PyObject *bits;
    (void)adapter;
    Way way = way_of(object, &bits);
    Py_XDECREF(bits);
    return way != WAY_NONE;
}

PyObject *
dt_np_random_save(const DtAdapter *adapter, PyObject *object, PyObject *key)
{
    PyObject *bits, *saved = NULL;
    (void)adapter;
    (void)key;
    Way way = way_of(object, &bits);
    if (way == WAY_NONE) {
        PyErr_SetString(PyExc_TypeError, "a generator whose state can't be saved");
    }
    else {
        saved = way == WAY_ATTRIBUTE ? PyObject_GetAttrString(bits, "state")
                                     : save_memory(object, bits, way);
    }
    Py_XDECREF(bits);
    return saved;
}

int
dt_np_random_restore(const DtAdapter *adapter, PyObject *object, PyObject *key, PyObject *saved)
{
    PyObject *bits;
    (void)adapter;
    (void)key;
    Way way = way_of(object, &bits);
    int done = way == WAY_NONE        ? -1
               : PyBytes_Check(saved) ? restore_memory(object, bits, way, saved)
                                      : PyObject_SetAttrString(bits, "state", saved);
    Py_XDECREF(bits);
    return done;
}
