/* See loop_translate.h: objects that the loop finds, and those that it makes. */
#include "scalar_loops/loop_translate.h"

/* Fills what a value of that kind is known by. */
static void
describe(DtLoopValue *value, PyObject *object, const DtLoopArray *array)
{
    if (value->kind == DT_LOOP_SEQUENCE) {
        value->sample = object;
    }
    if (value->kind == DT_LOOP_ARRAY) {
        value->item = array->item;
        value->ndim = array->ndim;
        value->writable = array->writable;
    }
}

DtLoopValue
dt_loop_objects_constant(DtLoopTranslation *t, PyObject *object)
{
    DtLoopRegister number = {.i = 0};
    DtLoopArray array;
    DtLoopKind kind = dt_loop_values_read(object, &number, &array);
    DtLoopValue value = dt_loop_state_new(t, kind, -1);
    value.object = object;
    describe(&value, object, &array);
    if (kind != DT_LOOP_OBJECT && kind != DT_LOOP_ARRAY) {
        value.reg = dt_loop_state_constant(t, number);
    }
    t->program->items |= dt_loop_kind_is_item(kind);
    return value;
}

/* Is it one that may be known by identity, and kept?  Arrays, lists and instances would live longer
 * than the program wants. */
static bool
is_kept(PyObject *object)
{
    DtLoopRegister number;
    DtLoopArray array;
    DtLoopKind kind = dt_loop_values_read(object, &number, &array);
    bool callable = PyType_Check(object)
                    || (PyCallable_Check(object) && !PyMethod_Check(object)
                        && !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE));
    return kind == DT_LOOP_OBJECT ? callable || PyModule_Check(object)
                                  : kind != DT_LOOP_ARRAY && kind != DT_LOOP_SEQUENCE;
}

bool
dt_loop_objects_name(DtLoopTranslation *t, PyObject *dict, bool global, PyObject *name,
                     DtLoopValue *out)
{
    PyObject *object;
    DtLoopName row = {.dict = dict, .global = global, .name = name};
    if (dt_loop_program_look_up(&row, t->globals, t->builtins, &object) <= 0) {
        return false;
    }
    if (!is_kept(object)) {
        DtLoopInput input = {.how = DT_LOOP_INPUT_NAME, .from = -1, .name = name, .dict = dict};
        return dt_loop_objects_input(t, input, dict != NULL ? dict : t->globals, out);
    }
    *out = dt_loop_objects_constant(t, object);
    for (uint32_t i = 0; i < t->program->names.count; i++) {
        const DtLoopName *known = &t->program->names.items[i];
        if (known->dict == dict && known->global == global && known->name == name) {
            return true;
        }
    }
    row.object = object;
    if (dt_vec_push(&t->program->arena, &t->program->names, row) < 0) {
        t->no_memory = true;
        return false;
    }
    Py_INCREF(object);
    Py_XINCREF(dict);
    return true;
}

bool
dt_loop_objects_input(DtLoopTranslation *t, DtLoopInput input, PyObject *of, DtLoopValue *out)
{
    DtLoopProgram *program = t->program;
    DtLoopRegister number;
    DtLoopArray array;
    uint32_t index = 0;
    for (; index < program->inputs.count; index++) {
        const DtLoopInput *known = &program->inputs.items[index];
        if (known->how == input.how && known->from == input.from && known->name == input.name
            && known->dict == input.dict) {
            break;
        }
    }
    PyObject *object = dt_loop_program_read_input(&input, of);
    if (object == NULL) {
        return false;
    }
    *out = dt_loop_state_new(t, dt_loop_values_read(object, &number, &array), -1);
    describe(out, object, &array);
    out->input = (int32_t)index;
    out->sample = out->kind == DT_LOOP_OBJECT ? object : out->sample;
    if (index == program->inputs.count) {
        input.entry = (DtLoopEntrySlot){out->kind, out->item, out->ndim, out->writable};
        input.reg = dt_loop_state_register(t);
        input.box = dt_loop_state_register(t);
        if (dt_vec_push(&program->arena, &program->inputs, input) < 0) {
            t->no_memory = true;
            return false;
        }
        Py_XINCREF(input.dict);
    }
    out->reg = out->kind == DT_LOOP_OBJECT ? -1 : program->inputs.items[index].reg;
    out->box = program->inputs.items[index].box;
    program->items |= dt_loop_kind_is_item(out->kind);
    return true;
}

PyObject *
dt_loop_objects_sample(const DtLoopValue *sequence)
{
    PyObject *sample = sequence->sample;
    return sample != NULL && PySequence_Fast_GET_SIZE(sample) > 0
               ? PySequence_Fast_GET_ITEM(sample, 0)
               : NULL;
}

DtLoopValue
dt_loop_objects_read(DtLoopTranslation *t, int32_t box, PyObject *sample)
{
    DtLoopRegister number;
    DtLoopArray array;
    DtLoopKind kind = dt_loop_values_read(sample, &number, &array);
    bool known = kind != DT_LOOP_OBJECT && kind != DT_LOOP_ARRAY;
    DtLoopValue value = dt_loop_state_new(t, known ? kind : DT_LOOP_OBJECT, -1);
    value.box = box;
    if (known) {
        value.reg = dt_loop_state_register(t);
        value.sample = kind == DT_LOOP_SEQUENCE ? sample : NULL;
        t->program->items |= dt_loop_kind_is_item(kind);
        dt_loop_state_emit(t, DT_LOOP_OP_READ, value.reg, box, kind);
    }
    return value;
}

/* Whatever is the same object has the object's register from then on. */
static void
note_box(DtLoopTranslation *t, uint32_t id, int32_t box)
{
    for (int32_t i = 0; i < t->nslots; i++) {
        if (t->slots[i].kind != DT_LOOP_NOTHING && t->slots[i].id == id) {
            t->slots[i].box = dt_loop_state_box_register(t, i);
            dt_loop_state_evacuate(t, t->slots[i].box);
            dt_loop_state_emit(t, DT_LOOP_OP_MOVE, t->slots[i].box, box, 0);
        }
    }
    for (int32_t i = t->floor; i < t->depth; i++) {
        if (t->stack[i].id == id) {
            t->stack[i].box = box;
        }
    }
}

int32_t
dt_loop_objects_box(DtLoopTranslation *t, const DtLoopValue *value)
{
    bool makes = dt_loop_kind_is_number(value->kind) || value->kind == DT_LOOP_CHAR;
    if (value->box >= 0) {
        return value->box;
    }
    if (value->object != NULL) {
        return dt_loop_state_constant(t, (DtLoopRegister){.object = value->object});
    }
    if (!makes || value->entry >= 0) {
        return -1;
    }
    int32_t box = dt_loop_state_register(t);
    dt_loop_state_emit(t, DT_LOOP_OP_MAKE, box, value->reg, value->kind);
    note_box(t, value->id, box);
    return box;
}

int32_t
dt_loop_objects_pointer(DtLoopTranslation *t, const DtLoopValue *value, PyObject **sample)
{
    DtLoopInput input = {.how = DT_LOOP_INPUT_SLOT, .from = value->entry};
    DtLoopValue found;
    if (value->kind != DT_LOOP_OBJECT) {
        return -1;
    }
    if (value->object != NULL) {
        *sample = value->object;
        return dt_loop_state_constant(t, (DtLoopRegister){.object = value->object});
    }
    if (value->input >= 0) {
        *sample = value->sample;
        return value->box;
    }
    if (value->entry < 0 || value->entry >= t->nroot
        || !dt_loop_objects_input(t, input, t->samples[value->entry], &found)) {
        return -1;
    }
    *sample = t->samples[value->entry];
    return found.box;
}
