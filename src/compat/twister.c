/* See twister.h.  Mirrors RandomObject of Modules/_randommodule.c: behind the head of the object
 * the index of the next word, and 624 words. */
#include "compat/twister.h"

#include <string.h>

#include "compat/import.h"

enum { WORDS = 624, DRAWS = 700 };

typedef struct Twister {
    PyObject_HEAD int index;
    uint32_t words[WORDS];
} Twister;

static char *
state_of(PyObject *generator)
{
    return (char *)generator + offsetof(Twister, index);
}

void
dt_twister_save(PyObject *generator, char *saved)
{
    memcpy(saved, state_of(generator), DT_TWISTER_SIZE);
}

void
dt_twister_restore(PyObject *generator, const char *saved)
{
    memcpy(state_of(generator), saved, DT_TWISTER_SIZE);
}

/* Does the memory hold what getstate() says?  -1 with an exception. */
static int
says_so(PyObject *generator)
{
    const Twister *twister = (const Twister *)generator;
    PyObject *state = PyObject_CallMethod(generator, "getstate", NULL);
    int same = state != NULL && PyTuple_Check(state) && PyTuple_GET_SIZE(state) == WORDS + 1;
    for (Py_ssize_t i = 0; same && i <= WORDS; i++) {
        unsigned long word = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(state, i));
        same = word == (i < WORDS ? twister->words[i] : (unsigned long)twister->index);
    }
    Py_XDECREF(state);
    return PyErr_Occurred() ? -1 : same;
}

/* More numbers than one turn of the twister gives. */
static PyObject *
draw(PyObject *generator)
{
    PyObject *drawn = PyTuple_New(DRAWS);
    for (Py_ssize_t i = 0; drawn != NULL && i < DRAWS; i++) {
        PyObject *number = PyObject_CallMethod(generator, "random", NULL);
        if (number == NULL) {
            Py_CLEAR(drawn);
            break;
        }
        PyTuple_SET_ITEM(drawn, i, number);
    }
    return drawn;
}

static int
try_out(PyObject *generator)
{
    char saved[DT_TWISTER_SIZE];
    int same = says_so(generator);
    for (int i = 0; same > 0 && i < 3; i++) {
        dt_twister_save(generator, saved);
        PyObject *first = draw(generator);
        dt_twister_restore(generator, saved);
        PyObject *second = first != NULL ? draw(generator) : NULL;
        same = second != NULL ? PyObject_RichCompareBool(first, second, Py_EQ) : -1;
        Py_XDECREF(first);
        Py_XDECREF(second);
        same = same > 0 ? says_so(generator) : same;
    }
    return same;
}

bool
dt_twister_is_known(void)
{
    static enum { UNTRIED, KNOWN, UNKNOWN } answer = UNTRIED;
    if (answer == UNTRIED) {
        PyObject *type = dt_import_attr("_random", "Random");
        bool fits = type != NULL && PyType_Check(type)
                    && ((PyTypeObject *)type)->tp_basicsize >= (Py_ssize_t)sizeof(Twister)
                    && ((PyTypeObject *)type)->tp_itemsize == 0;
        PyObject *generator = fits ? PyObject_CallFunction(type, "i", 1234567) : NULL;
        answer = generator != NULL && try_out(generator) > 0 ? KNOWN : UNKNOWN;
        PyErr_Clear(); /* whatever went wrong, states are not copied */
        Py_XDECREF(generator);
        Py_XDECREF(type);
    }
    return answer == KNOWN;
}

bool
dt_twister_is_random(PyObject *callable)
{
    if (!PyCFunction_Check(callable) || PyCFunction_GET_SELF(callable) == NULL
        || strcmp(((PyCFunctionObject *)callable)->m_ml->ml_name, "random") != 0) {
        return false;
    }
    PyTypeObject *type = Py_TYPE(PyCFunction_GET_SELF(callable));
    while (type != NULL && strcmp(type->tp_name, "_random.Random") != 0) {
        type = type->tp_base;
    }
    return type != NULL && dt_twister_is_known();
}

char *
dt_twister_place(PyObject *generator)
{
    return state_of(generator);
}

/* Mirrors genrand_uint32() where no new words are due. */
static uint32_t
next_word(Twister *twister)
{
    uint32_t word = twister->words[twister->index++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680U;
    word ^= (word << 15) & 0xefc60000U;
    return word ^ (word >> 18);
}

bool
dt_twister_random(PyObject *generator, double *out)
{
    Twister *twister = (Twister *)generator;
    if (twister->index < 0 || twister->index > WORDS - 2) {
        return false;
    }
    uint32_t high = next_word(twister) >> 5, low = next_word(twister) >> 6;
    *out = (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
    return true;
}
