/* Playing deaths through; see dying.h. */
#include "compat/dying.h"

#include <stdint.h>

#define MOST_DEATHS 4000 /* of one play: beyond, it is not told */
#define DEEPEST 50
#define MOST_SHARED 4096
#define MOST_TYPES 4

static struct {
    PyTypeObject *type;
    DtDyingTraverse traverse;
} registered[MOST_TYPES];

int
dt_dying_register(PyTypeObject *type, DtDyingTraverse traverse)
{
    for (int i = 0; i < MOST_TYPES; i++) {
        if (registered[i].type == NULL || registered[i].type == type) {
            registered[i].type = type;
            registered[i].traverse = traverse;
            return 0;
        }
    }
    return -1;
}

bool
dt_dying_is_plain_type(PyTypeObject *type)
{
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type
           || type == Py_TYPE(Py_None) || type == &PyBool_Type || type == &PyBytes_Type
           || type == &PyComplex_Type;
}

/* The first one, or NULL. */
static PyWeakReference *
weak_references(PyObject *object)
{
    Py_ssize_t offset = Py_TYPE(object)->tp_weaklistoffset; /* negative: before it, 3.12 on */
    return offset != 0 ? *(PyWeakReference **)((char *)object + offset) : NULL;
}

bool
dt_dying_acts(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type->tp_finalize != NULL || type->tp_del != NULL) {
        return true;
    }
    PyWeakReference *ref = weak_references(object);
    for (; ref != NULL; ref = ref->wr_next) {
        if (ref->wr_callback != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- Objects with several references --------------------------------------------------------- */

static DtDyingShared *
place_of(DtDyingShared *table, uint32_t size, PyObject *object)
{
    uint32_t at = (uint32_t)((uintptr_t)object >> 4) & (size - 1);
    while (table[at].object != NULL && table[at].object != object) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

static bool
grow(DtDying *play)
{
    uint32_t size = play->size == 0 ? 8 * DT_DYING_FEW : 4 * play->size;
    DtDyingShared *rows = play->size == 0 ? play->few : play->many;
    uint32_t count = play->size == 0 ? play->nshared : play->size;
    DtDyingShared *table = PyMem_RawCalloc(size, sizeof(DtDyingShared));
    if (table == NULL || play->nshared >= MOST_SHARED) {
        PyMem_RawFree(table);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].object != NULL) {
            *place_of(table, size, rows[i].object) = rows[i];
        }
    }
    PyMem_RawFree(play->many);
    play->many = table;
    play->size = size;
    return true;
}

/* The object's row; NULL: it has none, or (`add`) there is no room for it. */
static DtDyingShared *
find_shared(DtDying *play, PyObject *object, bool add)
{
    if (play->size == 0) {
        for (uint32_t i = 0; i < play->nshared; i++) {
            if (play->few[i].object == object) {
                return &play->few[i];
            }
        }
        if (add && play->nshared < DT_DYING_FEW) {
            play->few[play->nshared] = (DtDyingShared){object, 0};
            return &play->few[play->nshared++];
        }
    }
    if (add && 2 * play->nshared >= play->size && !grow(play)) {
        return NULL;
    }
    DtDyingShared *row = play->size != 0 ? place_of(play->many, play->size, object) : NULL;
    if (row != NULL && row->object == NULL) {
        if (!add) {
            return NULL;
        }
        row->object = object;
        play->nshared++;
    }
    return row;
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

static int lose(PyObject *object, void *arg);

static void
let_go(DtDying *play, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (++play->depth > DEEPEST) {
        play->noticed = true;
    }
    for (int i = 0; i < MOST_TYPES && registered[i].type != NULL && !play->noticed; i++) {
        if (type == registered[i].type || PyType_IsSubtype(type, registered[i].type)) {
            play->noticed = registered[i].traverse(object, lose, play) != 0 || play->noticed;
        }
    }
    if (!play->noticed && type->tp_traverse != NULL) {
        type->tp_traverse(object, lose, play);
    }
    play->depth--;
}

static int
lose(PyObject *object, void *arg)
{
    DtDying *play = arg;
    if (play->noticed) {
        return 1;
    }
    /* A class is part of a cycle, its order of bases. */
    if (dt_dying_is_plain_type(Py_TYPE(object)) || PyType_Check(object)) {
        return 0;
    }
    Py_ssize_t refs = Py_REFCNT(object);
    if (refs > MOST_DEATHS + MOST_SHARED) {
        return 0; /* more than can go: immortal ones */
    }
    if (play->keeps != NULL && dt_map_get(play->keeps, object) != NULL) {
        refs--;
    }
    if (refs > 1 || play->nshared > 0) {
        DtDyingShared *row = find_shared(play, object, refs > 1);
        if (row == NULL && refs > 1) {
            play->noticed = true;
            return 1;
        }
        if (row != NULL && refs > ++row->gone) {
            /* It lives on; but without this reference it dies sooner than it would have. */
            play->noticed = play->asked && dt_dying_acts(object);
            return play->noticed;
        }
    }
    if (dt_dying_acts(object) || (play->asked && weak_references(object) != NULL)
        || ++play->deaths > MOST_DEATHS) {
        play->noticed = true;
        return 1;
    }
    let_go(play, object);
    return play->noticed;
}

void
dt_dying_begin(DtDying *play, const DtMap *keeps)
{
    play->keeps = keeps;
    play->noticed = play->asked = false;
    play->deaths = play->depth = 0;
    play->nshared = play->size = 0;
    play->many = NULL;
}

void
dt_dying_end(DtDying *play)
{
    PyMem_RawFree(play->many);
    play->many = NULL;
}

void
dt_dying_stays(DtDying *play, PyObject *object)
{
    if (!dt_dying_is_plain_type(Py_TYPE(object)) && !PyType_Check(object)) {
        DtDyingShared *row = find_shared(play, object, true);
        if (row != NULL) { /* else it is taken for one that dies: that errs on the safe side */
            row->gone--;
        }
    }
}

bool
dt_dying_goes(DtDying *play, PyObject *object)
{
    lose(object, play);
    return !play->noticed;
}

bool
dt_dying_contents_go(DtDying *play, PyObject *container)
{
    let_go(play, container);
    return !play->noticed;
}

bool
dt_dying_is_unseen(PyObject *object)
{
    DtDying play;
    dt_dying_begin(&play, NULL);
    play.asked = true;
    bool unseen = dt_dying_goes(&play, object);
    dt_dying_end(&play);
    return unseen;
}

bool
dt_dying_is_quiet(PyObject *object, const DtMap *keeps)
{
    DtDying play;
    dt_dying_begin(&play, keeps);
    bool quiet = dt_dying_goes(&play, object);
    dt_dying_end(&play);
    return quiet;
}
