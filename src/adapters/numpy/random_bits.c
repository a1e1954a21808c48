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

#include <math.h>
#include <string.h>

#include "adapters/numpy/random.h"
#include "compat/locks.h"

enum { TWISTER_WORDS = 624, PCG_SIZE = 32, MANY = 1 << 30, TRIES = 90, BEFORE = 280 };

/* Where things lie in an object of a class. */
typedef struct Parts {
    enum { UNTRIED, KNOWN, UNKNOWN } answer;
    Py_ssize_t bits, gen, lock, half;
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
find_parts(Parts *parts, DtRandomClass cls, PyObject *object)
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
        parts->half = cls == DT_RANDOM_LEGACY ? dt_np_random_half_at() : 0;
        good = parts->bits > 0 && parts->lock > 0 && parts->gen > 0
               && (cls == DT_RANDOM_MODERN || parts->half > 0);
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
        *bits = (DtRandomBits){gen, *(char **)gen->state, PCG_SIZE, MANY, false, NULL};
        return true;
    }
    int32_t next;
    char *place = (char *)gen->state + TWISTER_WORDS * sizeof(uint32_t);
    memcpy(&next, place, sizeof(next));
    *bits = (DtRandomBits){
        gen, place, sizeof(next), TWISTER_WORDS - next, true, (char *)object + parts->half};
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

/* The polar method makes two numbers, of which the second comes next time. */
bool
dt_np_random_normal(DtRandomBits *bits, double *out)
{
    int32_t has, before;
    double x, y, square, second = 0;
    if (bits->half == NULL) {
        return false;
    }
    memcpy(&has, bits->half, sizeof(has));
    memcpy(&before, bits->place, sizeof(before));
    if (has) {
        memcpy(out, bits->half + 8, sizeof(*out));
    }
    else {
        do {
            if (!dt_np_random_double(bits, &x) || !dt_np_random_double(bits, &y)) {
                memcpy(bits->place, &before, sizeof(before));
                return false;
            }
            x = 2.0 * x - 1.0;
            y = 2.0 * y - 1.0;
            square = x * x + y * y;
        } while (square >= 1.0 || square == 0.0);
        double factor = sqrt(-2.0 * log(square) / square);
        second = factor * x;
        *out = factor * y;
    }
    has = !has;
    memcpy(bits->half, &has, sizeof(has));
    memcpy(bits->half + 8, &second, sizeof(second));
    return true;
}

/* ---- Trying it out --------------------------------------------------------------------------- */

/* One whose words are used up after some of the tries. */
static PyObject *
make(DtRandomClass cls)
{
    PyObject *maker = cls == DT_RANDOM_LEGACY ? (PyObject *)dt_np_random_type(DT_RANDOM_LEGACY)
                                              : dt_np_random_attr(cls, "default_rng");
    PyObject *object = maker != NULL ? PyObject_CallFunction(maker, "i", 7654321) : NULL;
    PyObject *drawn =
        object != NULL ? PyObject_CallMethod(object, "random", "i", (int)BEFORE) : NULL;
    if (drawn == NULL) {
        Py_CLEAR(object);
    }
    Py_XDECREF(drawn);
    return object;
}

/* What is tried out: random(), standard_normal(), or ints up to that. */
enum { UNIFORM, NORMAL };

/* What NumPy draws.  False with an exception. */
static bool
draw_plainly(PyObject *object, uint64_t what, double *out)
{
    PyObject *number = what == UNIFORM  ? PyObject_CallMethod(object, "random", NULL)
                       : what == NORMAL ? PyObject_CallMethod(object, "standard_normal", NULL)
                                        : PyObject_CallMethod(object, "randint", "K", what + 1);
    *out = number != NULL ? PyFloat_AsDouble(number) : -1;
    Py_XDECREF(number);
    return !PyErr_Occurred();
}

static bool
draw_own(DtRandomBits bits, uint64_t what, double *out)
{
    uint64_t below = 0;
    bool drawn = what == UNIFORM  ? dt_np_random_double(&bits, out)
                 : what == NORMAL ? dt_np_random_normal(&bits, out)
                                  : dt_np_random_below(&bits, what, &below);
    if (what > NORMAL) {
        *out = (double)below;
    }
    return drawn;
}

/* The same number from one's words, and from the other by NumPy, which draws it where no words are
 * left; and is it the same again when what has changed is put back? */
static bool
is_same(const Parts *parts, DtRandomClass cls, PyObject *own, PyObject *plain, uint64_t what)
{
    DtRandomBits bits;
    char before[PCG_SIZE], half[DT_RANDOM_HALF_SIZE];
    double number, expected;
    if (!read_bits(parts, cls, own, &bits) || !draw_plainly(plain, what, &expected)) {
        return false;
    }
    memcpy(before, bits.place, bits.size);
    memcpy(half, bits.half != NULL ? bits.half : before, sizeof(half));
    for (int i = 0; i < 2; i++) {
        memcpy(bits.place, before, bits.size);
        memcpy(bits.half != NULL ? bits.half : half, half, sizeof(half));
        if (!draw_own(bits, what, &number)) {
            return draw_plainly(own, what, &number) && number == expected;
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
    static const uint64_t draws[] = {UNIFORM, NORMAL, 2,    NORMAL, UNIFORM,   9,
                                     NORMAL,  1023,   1024, 99,     123456789, 4000000000};
    PyObject *own = make(cls), *plain = own != NULL ? make(cls) : NULL;
    bool good = plain != NULL && find_parts(parts, cls, own);
    for (int i = 0; i < TRIES && good; i++) {
        uint64_t what = cls == DT_RANDOM_LEGACY ? draws[i % (int)Py_ARRAY_LENGTH(draws)] : 0;
        good = is_same(parts, cls, own, plain, what);
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
