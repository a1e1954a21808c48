/* See loop_translate.h: items and sizes of arrays.
 *
 *   a[i, j]      an array and a tuple of as many ints as it has axes
 *   a[i][j]      a[i] is no array of its own as long as nobody but the next index looks at it
 *   a.shape[0]   len(a)
 */
#include "scalar_loops/loop_translate.h"

#include "compat/type.h"

static bool
is_index(const DtLoopValue *value)
{
    return value->kind == DT_LOOP_INT || value->kind == DT_LOOP_ITEM_INT;
}

static DtLoopOp
op_of(DtLoopOp first, const DtLoopValue *array)
{
    int by_item = array->item == DT_LOOP_ITEM_FLOAT ? 0 : array->item == DT_LOOP_ITEM_INT ? 1 : 2;
    return (DtLoopOp)((int)first + 3 * (array->ndim - 1) + by_item);
}

typedef struct Place {
    DtLoopValue array;
    DtLoopValue index[DT_LOOP_MOST_AXES];
    int count;
} Place;

/* Appends the indices of a key; false: it is of another kind. */
static bool
add_key(Place *place, const DtLoopValue *key)
{
    const DtLoopValue *parts = key->kind == DT_LOOP_TUPLE ? key->parts : key;
    int count = key->kind == DT_LOOP_TUPLE ? key->ndim : 1;
    for (int i = 0; i < count; i++) {
        if (!is_index(&parts[i]) || place->count >= place->array.ndim) {
            return false;
        }
        place->index[place->count++] = parts[i];
    }
    return true;
}

static bool
find_place(const DtLoopValue *of, const DtLoopValue *key, Place *place)
{
    place->count = 0;
    if (of->kind == DT_LOOP_ARRAY) {
        place->array = *of;
    }
    else if (of->kind == DT_LOOP_SLICE_OF_ARRAY) {
        place->array = of->parts[0];
        for (int i = 1; i < of->ndim; i++) {
            place->index[place->count++] = of->parts[i];
        }
    }
    else {
        return false;
    }
    return add_key(place, key);
}

static void
get_size(DtLoopTranslation *t, const DtLoopValue *shape, const DtLoopValue *key)
{
    const DtLoopValue *array = &shape->parts[0];
    DtLoopRegister axis;
    DtLoopArray none;
    if (key->object == NULL || dt_loop_values_read(key->object, &axis, &none) != DT_LOOP_INT) {
        dt_loop_state_fail(t);
        return;
    }
    axis.i += axis.i < 0 ? array->ndim : 0;
    if (axis.i < 0 || axis.i >= array->ndim) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push_op(t, DT_LOOP_INT, DT_LOOP_OP_SIZE, array->reg, (int32_t)axis.i);
}

static void
get_of_sequence(DtLoopTranslation *t, const DtLoopValue *of, const DtLoopValue *key)
{
    PyObject *sample = dt_loop_objects_sample(of);
    if (!is_index(key) || (of->kind == DT_LOOP_SEQUENCE && sample == NULL)) {
        dt_loop_state_fail(t);
    }
    else if (of->kind == DT_LOOP_TEXT) {
        dt_loop_state_push_op(t, DT_LOOP_CHAR, DT_LOOP_OP_TEXT_GET, of->reg, key->reg);
    }
    else {
        int32_t box = dt_loop_state_register(t);
        dt_loop_state_emit(t, DT_LOOP_OP_SEQUENCE_GET, box, of->reg, key->reg);
        dt_loop_state_push(t, dt_loop_objects_read(t, box, sample));
    }
}

/* A list keeps the object that the number is. */
static void
set_in_list(DtLoopTranslation *t, const DtLoopValue *of, const DtLoopValue *key,
            const DtLoopValue *value)
{
    int32_t box = is_index(key) ? dt_loop_objects_box(t, value) : -1;
    if (box < 0) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_emit(t, DT_LOOP_OP_LIST_SET, box, of->reg, key->reg);
}

void
dt_loop_items_get(DtLoopTranslation *t)
{
    DtLoopValue key = dt_loop_state_pop(t), of = dt_loop_state_pop(t);
    Place place;
    if (t->ended) {
        return;
    }
    if (of.kind == DT_LOOP_SHAPE) {
        get_size(t, &of, &key);
        return;
    }
    if (of.kind == DT_LOOP_SEQUENCE || of.kind == DT_LOOP_TEXT) {
        get_of_sequence(t, &of, &key);
        return;
    }
    if (!find_place(&of, &key, &place)) {
        dt_loop_state_fail(t);
        return;
    }
    if (place.count < place.array.ndim) {
        DtLoopValue parts[DT_LOOP_MOST_PARTS] = {place.array};
        for (int i = 0; i < place.count; i++) {
            parts[i + 1] = place.index[i];
        }
        dt_loop_state_push(t,
                           dt_loop_state_made(t, DT_LOOP_SLICE_OF_ARRAY, parts, place.count + 1));
        return;
    }
    int32_t reg = dt_loop_state_register(t);
    dt_loop_state_emit_more(t, op_of(DT_LOOP_OP_GET_1_F, &place.array), reg, place.array.reg,
                            place.index[0].reg, place.count > 1 ? place.index[1].reg : 0,
                            place.count > 2 ? place.index[2].reg : 0);
    t->program->items = true;
    dt_loop_state_push(t, dt_loop_state_new(t, (DtLoopKind)place.array.item, reg));
}

/* The register with the number as an item of the array; -1: NumPy has to convert it. */
static int32_t
as_item(DtLoopTranslation *t, const DtLoopValue *value, const DtLoopValue *array)
{
    bool real = dt_loop_kind_is_real(value->kind);
    if (!dt_loop_kind_is_number(value->kind)) {
        return -1;
    }
    if (array->item == DT_LOOP_ITEM_FLOAT) {
        return dt_loop_arithmetic_real(t, value);
    }
    if (array->item == DT_LOOP_ITEM_BOOL) {
        return dt_loop_arithmetic_truth(t, value);
    }
    if (!real) {
        return value->reg;
    }
    int32_t reg = dt_loop_state_register(t);
    dt_loop_state_emit(t, DT_LOOP_OP_F_TO_I, reg, value->reg, 0);
    return reg;
}

void
dt_loop_items_set(DtLoopTranslation *t)
{
    DtLoopValue key = dt_loop_state_pop(t), of = dt_loop_state_pop(t);
    DtLoopValue value = dt_loop_state_pop(t);
    Place place;
    if (!t->ended && of.kind == DT_LOOP_SEQUENCE) {
        set_in_list(t, &of, &key, &value);
        return;
    }
    if (t->ended || !find_place(&of, &key, &place) || place.count < place.array.ndim
        || !place.array.writable) {
        dt_loop_state_fail(t);
        return;
    }
    int32_t reg = as_item(t, &value, &place.array);
    if (reg < 0) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_emit_more(t, op_of(DT_LOOP_OP_SET_1_F, &place.array), reg, place.array.reg,
                            place.index[0].reg, place.count > 1 ? place.index[1].reg : 0,
                            place.count > 2 ? place.index[2].reg : 0);
}

/* ---- Attributes, tuples ---------------------------------------------------------------------- */

/* Of an object that was there when the loop was entered; nothing in the loop can change it. */
static bool
read_attribute(DtLoopTranslation *t, const DtLoopValue *of, PyObject *name, DtLoopValue *out)
{
    PyObject *object = NULL;
    DtLoopInput input = {.name = name};
    if (of->input >= 0) {
        input.how = DT_LOOP_INPUT_ATTRIBUTE_OF_INPUT;
        input.from = of->input;
        object = of->sample;
    }
    else if (of->entry >= 0 && of->entry < t->nroot) {
        input.how = DT_LOOP_INPUT_ATTRIBUTE;
        input.from = of->entry;
        object = t->samples[of->entry];
    }
    if (object == NULL || PyType_Check(object)) {
        return false;
    }
    input.type = Py_TYPE(object);
    input.version = dt_type_version(input.type);
    return dt_loop_objects_input(t, input, object, out);
}

void
dt_loop_items_attribute(DtLoopTranslation *t, PyObject *name)
{
    DtLoopValue of = dt_loop_state_pop(t), value;
    if (t->ended) {
        return;
    }
    if (of.kind == DT_LOOP_ARRAY && PyUnicode_CompareWithASCIIString(name, "shape") == 0) {
        dt_loop_state_push(t, dt_loop_state_made(t, DT_LOOP_SHAPE, &of, 1));
        return;
    }
    bool module = of.kind == DT_LOOP_OBJECT && of.object != NULL && PyModule_CheckExact(of.object);
    if (of.kind != DT_LOOP_OBJECT
        || !(module ? dt_loop_objects_name(t, PyModule_GetDict(of.object), false, name, &value)
                    : read_attribute(t, &of, name, &value))) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_push(t, value);
}

static void
unpack_sequence(DtLoopTranslation *t, const DtLoopValue *of, int32_t count)
{
    PyObject *sample = of->sample;
    if (sample == NULL || PySequence_Fast_GET_SIZE(sample) != count || count > UINT16_MAX) {
        dt_loop_state_fail(t);
        return;
    }
    dt_loop_state_emit(t, DT_LOOP_OP_SEQUENCE_HAS, 0, of->reg, count);
    for (int32_t i = count; i-- > 0;) {
        int32_t box = dt_loop_state_register(t);
        int32_t index = dt_loop_state_constant(t, (DtLoopRegister){.i = i});
        dt_loop_state_emit(t, DT_LOOP_OP_SEQUENCE_GET, box, of->reg, index);
        dt_loop_state_push(t, dt_loop_objects_read(t, box, PySequence_Fast_GET_ITEM(sample, i)));
    }
}

void
dt_loop_items_method(DtLoopTranslation *t, PyObject *name)
{
    DtLoopValue of = dt_loop_state_pop(t);
    bool module = of.object != NULL && PyModule_CheckExact(of.object);
    if (t->ended || of.kind != DT_LOOP_OBJECT || module) {
        dt_loop_state_push(t, of);
        dt_loop_items_attribute(t, name);
        return;
    }
    DtLoopValue method = dt_loop_state_made(t, DT_LOOP_METHOD, &of, 1);
    method.object = name;
    dt_loop_state_push(t, method);
}

void
dt_loop_items_unpack(DtLoopTranslation *t, int32_t count)
{
    DtLoopValue of = dt_loop_state_pop(t);
    bool shape = of.kind == DT_LOOP_SHAPE;
    if (!t->ended && of.kind == DT_LOOP_SEQUENCE) {
        unpack_sequence(t, &of, count);
        return;
    }
    int32_t size = shape ? of.parts[0].ndim : of.ndim;
    if (t->ended || (!shape && of.kind != DT_LOOP_TUPLE) || size != count) {
        dt_loop_state_fail(t);
        return;
    }
    for (int32_t i = count; i-- > 0;) {
        if (shape) {
            dt_loop_state_push_op(t, DT_LOOP_INT, DT_LOOP_OP_SIZE, of.parts[0].reg, i);
        }
        else {
            dt_loop_state_push(t, of.parts[i]);
        }
    }
}
