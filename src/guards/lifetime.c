/* What a guard program owns, and how it learns that an object has died.
 *
 * Identity guards hold their object weakly where its type allows that.  The weak
 * references share one callback, which sets a flag that outlives the program;
 * CPython calls it before the object's memory can be used again, so an address
 * compared while the flag is clear is the address of the object meant.
 *
 * Keys of dicts and elements of sets are held in the same way.  The tuple that a dict's
 * keys are compared with must not keep them alive, so it borrows its items; the
 * collector never sees it, and it gives the items up before it goes.
 */
#include "guards/internal.h"

#include "compat/dict.h"
#include "compat/type.h"

static const char life_name[] = "dyntrace.guards.life";

static void
life_decref(DtLife *life)
{
    if (--life->refs == 0) {
        PyMem_Free(life);
    }
}

static void
release_capsule(PyObject *capsule)
{
    DtLife *life = PyCapsule_GetPointer(capsule, life_name);
    if (life != NULL) {
        life_decref(life);
    }
}

static PyObject *
object_died(PyObject *capsule, PyObject *reference)
{
    (void)reference;
    DtLife *life = PyCapsule_GetPointer(capsule, life_name);
    if (life == NULL) {
        return NULL;
    }
    life->dead = true;
    Py_RETURN_NONE;
}

static PyMethodDef died_method = {"object_died", object_died, METH_O, NULL};

DtGuardProgram *
dt_program_new(DtArena *scratch)
{
    DtGuardProgram *program = PyMem_Calloc(1, sizeof(*program));
    DtLife *life = PyMem_Calloc(1, sizeof(*life));
    if (program == NULL || life == NULL) {
        PyMem_Free(program);
        PyMem_Free(life);
        PyErr_NoMemory();
        return NULL;
    }
    dt_arena_init(&program->arena);
    life->refs = 1;
    program->life = life;
    program->failed = DT_NO_ORIGIN;
    program->scratch = scratch;
    return program;
}

static void
loose_release(DT_STEALS PyObject *tuple)
{
    for (Py_ssize_t i = PyTuple_GET_SIZE(tuple); i-- > 0;) {
        PyTuple_SET_ITEM(tuple, i, NULL);
    }
    Py_DECREF(tuple);
}

void
dt_program_free(DtGuardProgram *program)
{
    if (program == NULL) {
        return;
    }
    /* Releasing an object can run user code, which must not find half a program. */
    PyObject **kept = program->kept.items;
    uint32_t count = program->kept.count;
    program->kept.count = 0;
    program->life->dead = true;
    for (uint32_t i = 0; i < program->loose.count; i++) {
        loose_release(program->loose.items[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        Py_DECREF(kept[i]);
    }
    for (uint32_t i = 0; i < program->dims.count; i++) {
        Py_XDECREF(program->dims.items[i]->object);
    }
    life_decref(program->life);
    dt_arena_release(&program->arena);
    PyMem_Free(program);
}

int
dt_program_traverse(DtGuardProgram *program, visitproc visit, void *arg)
{
    for (uint32_t i = 0; i < program->kept.count; i++) {
        Py_VISIT(program->kept.items[i]);
    }
    return 0;
}

/* How an object is held, as values of `owned`. */
static char watched, kept;

static DtStatus
own(DtGuardProgram *program, PyObject *key, DT_STEALS PyObject *reference, void *how)
{
    if (dt_vec_push(program->scratch, &program->kept, reference) < 0) {
        Py_DECREF(reference);
        return dt_no_memory();
    }
    if (dt_map_set(program->scratch, &program->owned, key, how) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

DtStatus
dt_program_keep(DtGuardProgram *program, PyObject *object)
{
    if (dt_map_get(&program->owned, object) == &kept) {
        return DT_OK;
    }
    Py_INCREF(object);
    return own(program, object, object, &kept);
}

DtStatus
dt_program_settle(DtGuardProgram *program)
{
    DtArena *arena = &program->arena;
    PyObject **objects = DT_ARENA_ARRAY(arena, PyObject *, program->kept.count);
    PyObject **filenames = DT_ARENA_ARRAY(arena, PyObject *, program->filenames.count);
    PyObject **loose = DT_ARENA_ARRAY(arena, PyObject *, program->loose.count);
    if (objects == NULL || filenames == NULL || loose == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < program->loose.count; i++) {
        loose[i] = program->loose.items[i];
    }
    program->loose.items = loose;
    program->loose.capacity = program->loose.count;
    for (uint32_t i = 0; i < program->kept.count; i++) {
        objects[i] = program->kept.items[i];
    }
    for (uint32_t i = 0; i < program->filenames.count; i++) {
        filenames[i] = program->filenames.items[i];
    }
    program->kept.items = objects;
    program->kept.capacity = program->kept.count;
    program->filenames.items = filenames;
    program->filenames.capacity = program->filenames.count;
    program->scratch = NULL;
    program->owned = program->texts = (DtMap){0};
    return DT_OK;
}

static DtStatus
make_callback(DtGuardProgram *program)
{
    PyObject *capsule = PyCapsule_New(program->life, life_name, release_capsule);
    if (capsule == NULL) {
        return DT_ERROR;
    }
    program->life->refs++;
    PyObject *callback = PyCFunction_New(&died_method, capsule);
    Py_DECREF(capsule);
    if (callback == NULL) {
        return DT_ERROR;
    }
    DT_TRY(own(program, callback, callback, &kept));
    program->callback = callback;
    return DT_OK;
}

DtStatus
dt_program_watch(DtGuardProgram *program, PyObject *object)
{
    if (dt_map_get(&program->owned, object) != NULL) {
        return DT_OK;
    }
    bool immortal = PyType_Check(object) && dt_type_is_static((PyTypeObject *)object);
    if (immortal || !PyType_SUPPORTS_WEAKREFS(Py_TYPE(object))) {
        return dt_program_keep(program, object);
    }
    if (program->callback == NULL) {
        DT_TRY(make_callback(program));
    }
    PyObject *reference = PyWeakref_NewRef(object, program->callback);
    if (reference == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return DT_ERROR;
        }
        PyErr_Clear(); /* "cannot create weak reference": a strong one then */
        return dt_program_keep(program, object);
    }
    return own(program, object, reference, &watched);
}

DtStatus
dt_program_hold_key(DtGuardProgram *program, PyObject *key)
{
    return dt_dict_is_plain_key(key) ? dt_program_keep(program, key)
                                     : dt_program_watch(program, key);
}

DtStatus
dt_program_hold_keys(DtGuardProgram *program, PyObject *keys, PyObject **out)
{
    Py_ssize_t count = PyTuple_GET_SIZE(keys);
    *out = keys;
    if (dt_dict_is_plain_key(keys)) {
        return dt_program_keep(program, keys);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(dt_program_hold_key(program, PyTuple_GET_ITEM(keys, i)));
    }
    PyObject *loose = PyTuple_New(count);
    if (loose == NULL) {
        return DT_ERROR;
    }
    PyObject_GC_UnTrack(loose);
    if (dt_vec_push(program->scratch, &program->loose, loose) < 0) {
        Py_DECREF(loose);
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTuple_SET_ITEM(loose, i, PyTuple_GET_ITEM(keys, i)); /* borrowed: held above */
    }
    *out = loose;
    return DT_OK;
}
