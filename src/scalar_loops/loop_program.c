/* See loop_program.h: life of programs, and what they read by name. */
#include "scalar_loops/loop_program.h"

#include <string.h>

#include "compat/dict.h"
#include "compat/errors.h"
#include "compat/object.h"
#include "compat/type.h"
#include "scalar_loops/loop_translate.h"

DtStatus
dt_loop_program_new(const DtLoopPlace *place, const DtLoopEntrySlot *entry,
                    PyObject *const *samples, PyObject *globals, PyObject *builtins,
                    DtLoopProgram **out)
{
    *out = NULL;
    DtLoopProgram *program = PyMem_Calloc(1, sizeof(*program));
    if (program == NULL) {
        return dt_no_memory();
    }
    DtArena arena;
    dt_arena_init(&arena);
    dt_arena_init(&program->arena);
    DtLoopTranslation t = {.place = place,
                           .samples = samples,
                           .globals = globals,
                           .builtins = builtins,
                           .arena = &arena,
                           .program = program};
    size_t slots = (size_t)place->nslots + DT_LOOP_ENTRIES;
    program->entry = DT_ARENA_ARRAY(&program->arena, DtLoopEntrySlot, slots);
    program->written = DT_ARENA_ARRAY(&program->arena, bool, slots);
    t.no_memory = program->entry == NULL || program->written == NULL;
    if (!t.no_memory) {
        memcpy(program->entry, entry, sizeof(*entry) * slots);
        if (dt_loop_translate(&t, entry)) {
            *out = program;
        }
    }
    if (*out == NULL) {
        dt_loop_program_free(program);
    }
    dt_arena_release(&arena);
    return t.no_memory ? dt_no_memory() : DT_OK;
}

int
dt_loop_program_look_up(const DtLoopName *name, PyObject *globals, PyObject *builtins,
                        PyObject **object)
{
    int found = dt_dict_get(name->dict != NULL ? name->dict : globals, name->name, object);
    return found == 0 && name->global ? dt_dict_get(builtins, name->name, object) : found;
}

/* An attribute of an instance that no descriptor stands before. */
static PyObject *
read_attribute(PyObject *of, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(of);
    PyObject *of_type = dt_type_lookup(type, name), *value;
    if (type->tp_getattro != PyObject_GenericGetAttr || dt_type_has_odd_keys(type)
        || (of_type != NULL && Py_TYPE(of_type)->tp_descr_set != NULL)) {
        return NULL;
    }
    int found = dt_object_instance_dict_get(of, name, &value);
    if (found != 0) {
        return found > 0 ? value : NULL;
    }
    return of_type != NULL && Py_TYPE(of_type)->tp_descr_get == NULL ? of_type : NULL;
}

PyObject *
dt_loop_program_read_input(const DtLoopInput *input, PyObject *of)
{
    if (input->how == DT_LOOP_INPUT_SLOT) {
        return of;
    }
    if (input->how == DT_LOOP_INPUT_NAME) {
        PyObject *value;
        return dt_dict_get(of, input->name, &value) > 0 ? value : NULL;
    }
    if (input->how == DT_LOOP_INPUT_CELL) {
        return PyCell_Check(of) ? PyCell_GET(of) : NULL;
    }
    return Py_TYPE(of) == input->type && dt_type_has_version(input->type, input->version)
               ? read_attribute(of, input->name)
               : NULL;
}

void
dt_loop_program_free(DtLoopProgram *program)
{
    DtArena arena = program->arena;
    for (uint32_t i = 0; i < program->names.count; i++) {
        DtLoopName *name = &program->names.items[i];
        PyObject *object = name->object, *dict = name->dict;
        name->object = name->dict = NULL;
        Py_XDECREF(object);
        Py_XDECREF(dict);
    }
    for (uint32_t i = 0; i < program->inputs.count; i++) {
        Py_CLEAR(program->inputs.items[i].dict);
    }
    for (uint32_t i = 0; i < program->callees.count; i++) {
        DtLoopCallee *callee = &program->callees.items[i];
        Py_CLEAR(callee->function);
        Py_CLEAR(callee->code);
        Py_CLEAR(callee->defaults);
    }
    PyMem_Free(program);
    dt_arena_release(&arena);
}

int
dt_loop_program_traverse(const DtLoopProgram *program, visitproc visit, void *arg)
{
    for (uint32_t i = 0; i < program->names.count; i++) {
        Py_VISIT(program->names.items[i].object);
        Py_VISIT(program->names.items[i].dict);
    }
    for (uint32_t i = 0; i < program->inputs.count; i++) {
        Py_VISIT(program->inputs.items[i].dict);
    }
    for (uint32_t i = 0; i < program->callees.count; i++) {
        Py_VISIT(program->callees.items[i].function);
        Py_VISIT(program->callees.items[i].defaults);
    }
    return 0;
}
