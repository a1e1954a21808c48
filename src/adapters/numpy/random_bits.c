/* Single numbers out of a generator's bits.  See random_bits.h.
 *
 *   Generator, RandomState    ─► its bit generator (an object), whose type says what lies behind
 *                             ─► functions and state, copied from the bit generator's capsule
 *                             ─► the lock, which NumPy takes for each draw
 *
 * Where these three lie in an object is found by what they are, in one of our own.  A lock that is
 * free stays so while the GIL is held, so it isn't taken.
 *
 * The Mersenne Twister makes 624 words at a time and says which comes next: as long as it makes no
 * new ones, that number is all that changes.
 *
 * Not in here: states as a whole (random_state.c).
 */
#include "adapters/numpy/random_bits.h"

#include <string.h>

#include "adapters/numpy/random.h"
#include "compat/locks.h"

enum { TWISTER_WORDS = 624, PCG_SIZE = 32, MANY = 1 << 30, TRIES = 700 };

/* Where things lie in an object of a class. */
typedef struct Parts {
    enum { UNTRIED, KNOWN, UNKNOWN } answer;
    Py_ssize_t bits, gen, lock;
    PyTypeObject *type; /* of its bit generator; kept by the process */
} Parts;

static Parts found[2]; /* per class */

/* The one place at which `size` bytes are such, or -1. */
static Py_ssize_t
find_part(PyObject *object, const void *part, size_t size)
{
    Py_ssize_t place = -1, last = Py_TYPE(object)->tp_basicsize - (Py_ssize_t)size;
    for (Py_ssize_t at = sizeof(PyObject); at <= last; at += sizeof(void *)) {
        if (memcmp((const char *)object + at, part, size) == 0) {
            if (place >= 0) {
                return -1;
            }
            place = at;
        }
    }
    return place;
}

static PyObject *
pointer_at(PyObject *object, Py_ssize_t at)
{
    return *(PyObject **)((char *)object + at);
}

static bool
find_parts(Parts *parts, PyObject *object)
{
    PyObject *bits = PyObject_GetAttrString(object, "_bit_generator");
    PyObject *lock = bits != NULL ? PyObject_GetAttrString(bits, "lock") : NULL;
    PyObject *capsule = lock != NULL ? PyObject_GetAttrString(bits, "capsule") : NULL;
    const DtBitGen *gen = capsule != NULL ? PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
    bool good = gen != NULL;
    if (good) {
        parts->bits = find_part(object, &bits, sizeof(bits));
        parts->lock = find_part(object, &lock, sizeof(lock));
        parts->gen = find_part(object, gen, sizeof(*gen));
        parts->type = Py_TYPE(bits);
        good = parts->bits > 0 && parts->lock > 0 && parts->gen > 0;
    }
    Py_XDECREF(capsule);
    Py_XDECREF(lock);
    Py_XDECREF(bits);
    return good;
}

static bool
read_bits(const Parts *parts, DtRandomClass cls, PyObject *object, DtRandomBits *bits)
{
    PyObject *generator = pointer_at(object, parts->bits), *lock = pointer_at(object, parts->lock);
    const DtBitGen *gen = (const DtBitGen *)((char *)object + parts->gen);
    if (generator == NULL || Py_TYPE(generator) != parts->type || lock == NULL
        || !dt_lock_is_free(lock)) {
        return false;
    }
    if (cls == DT_RANDOM_MODERN) {
        *bits = (DtRandomBits){gen, *(char **)gen->state, PCG_SIZE, MANY, false};
        return true;
    }
    int32_t next;
    char *place = (char *)gen->state + TWISTER_WORDS * sizeof(uint32_t);
    memcpy(&next, place, sizeof(next));
    *bits = (DtRandomBits){gen, place, sizeof(next), TWISTER_WORDS - next, true};
    return next >= 0;
}

bool
dt_np_random_double(DtRandomBits *bits, double *out)
{
    if (bits->ready < 2) {
        return false;
    }
    bits->ready -= 2;
    *out = bits->gen->next_double(bits->gen->state);
    return true;
}

bool
dt_np_random_below(DtRandomBits *bits, uint64_t max, uint64_t *out)
{
    if (!bits->words || max >= UINT32_MAX) {
        return false;
    }
    *out = 0;
    if (max == 0) {
        return true; /* without a draw */
    }
    uint32_t before, word, mask = UINT32_MAX >> __builtin_clz((uint32_t)max);
    memcpy(&before, bits->place, sizeof(before));
    do {
        if (bits->ready < 1) {
            memcpy(bits->place, &before, sizeof(before));
            return false;
        }
        bits->ready--;
        word = bits->gen->next_uint32(bits->gen->state) & mask;
    } while (word > max);
    *out = word;
    return true;
}

/* ---- Trying it out --------------------------------------------------------------------------- */

static PyObject *
make(DtRandomClass cls)
{
    PyObject *maker = cls == DT_RANDOM_LEGACY ? (PyObject *)dt_np_random_type(DT_RANDOM_LEGACY)
                                              : dt_np_random_attr(cls, "default_rng");
    return maker != NULL ? PyObject_CallFunction(maker, "i", 7654321) : NULL;
}

/* What NumPy draws: a float, or an int up to `max`.  False with an exception. */
static bool
draw_plainly(PyObject *object, uint64_t max, double *out)
{
    PyObject *number = max == 0 ? PyObject_CallMethod(object, "random", NULL)
                                : PyObject_CallMethod(object, "randint", "K", max + 1);
    *out = number != NULL ? PyFloat_AsDouble(number) : -1;
    Py_XDECREF(number);
    return !PyErr_Occurred();
}

/* The same number from one's words, and from the other by NumPy, which draws it where no words are
 * left; and is it the same again when the place is put back? */
static bool
is_same(const Parts *parts, DtRandomClass cls, PyObject *own, PyObject *plain, uint64_t max)
{
    DtRandomBits bits;
    char before[PCG_SIZE];
    double number, expected;
    if (!read_bits(parts, cls, own, &bits) || !draw_plainly(plain, max, &expected)) {
        return false;
    }
    memcpy(before, bits.place, bits.size);
    for (int i = 0; i < 2; i++) {
        uint64_t below = 0;
        DtRandomBits copy = bits;
        memcpy(bits.place, before, bits.size);
        bool drawn =
            max == 0 ? dt_np_random_double(&copy, &number) : dt_np_random_below(&copy, max, &below);
        number = max == 0 ? number : (double)below;
        if (!drawn) {
            return draw_plainly(own, max, &number) && number == expected;
        }
        if (number != expected) {
            return false;
        }
    }
    return true;
}

static bool
try_out(Parts *parts, DtRandomClass cls)
{
    static const uint64_t ranges[] = {0, 1, 2, 0, 9, 99, 1023, 1024, 123456789, 4000000000};
    PyObject *own = make(cls), *plain = own != NULL ? make(cls) : NULL;
    bool good = plain != NULL && find_parts(parts, own);
    for (int i = 0; i < TRIES && good; i++) {
        uint64_t max = cls == DT_RANDOM_LEGACY ? ranges[i % (int)Py_ARRAY_LENGTH(ranges)] : 0;
        good = is_same(parts, cls, own, plain, max);
    }
    PyErr_Clear(); /* whatever went wrong, NumPy draws */
    Py_XDECREF(own);
    Py_XDECREF(plain);
    return good;
}

static const Parts *
parts_of(DtRandomClass cls)
{
    Parts *parts = &found[cls - 1];
    if (parts->answer == UNTRIED) {
        parts->answer = UNKNOWN; /* to whoever asks meanwhile */
        if (try_out(parts, cls)) {
            parts->answer = KNOWN;
            Py_INCREF(parts->type);
        }
    }
    return parts->answer == KNOWN ? parts : NULL;
}

PyObject *
dt_np_random_bit_generator(PyObject *object, DtRandomClass cls)
{
    const Parts *parts = parts_of(cls);
    return parts != NULL ? pointer_at(object, parts->bits) : NULL;
}

int
dt_np_random_bits_class(PyObject *generator)
{
    int cls = dt_np_random_class(generator);
    return cls == DT_RANDOM_LEGACY ? 1 : cls == DT_RANDOM_MODERN ? 2 : 0;
}

bool
dt_np_random_bits(PyObject *generator, DtRandomBits *bits)
{
    int cls = dt_np_random_class(generator);
    const Parts *parts = cls != 0 ? parts_of((DtRandomClass)cls) : NULL;
    return parts != NULL && read_bits(parts, (DtRandomClass)cls, generator, bits);
}
