/* See scalar_frame.h. */
#include "eval_frame/scalar_frame.h"

#include <string.h>

#include "bytecode/loops.h"
#include "compat/dict.h"
#include "compat/iterators.h"
#include "compat/ranges.h"

/* ---- Where a loop stands --------------------------------------------------------------------- */

/* The loop whose iterations are entered at `at`. */
bool
dt_scalar_frame_find_loop(const DtBroken *broken, int32_t at, DtLoopPlace *place)
{
    const DtBytecode *bytecode = broken->bytecode;
    const DtInstr *instrs = bytecode->instrs;
    int32_t head, last;
    if (!dt_loop_around(bytecode, at, &head, &last)) {
        return false;
    }
    for (int32_t i = head; i < (int32_t)bytecode->count; i++) {
        if (instrs[i].target == head && i > last) {
            last = i;
        }
    }
    bool iterates = instrs[head].op == DT_OP_FOR_ITER;
    if (at != dt_broken_iteration(broken, head, last)) {
        return false;
    }
    *place = (DtLoopPlace){
        .bytecode = bytecode,
        .liveness = broken->all_live ? NULL : &broken->liveness,
        .at = at,
        .head = head,
        .last = last,
        .iterates = iterates,
        .pushed = iterates && instrs[at].depth > instrs[head].depth,
    };
    return true;
}

/* The variables of module code that the loop reads or stores; false without memory. */
bool
dt_scalar_frame_find_names(DtBroken *broken, DtLoopPlace *place)
{
    const DtBytecode *bytecode = place->bytecode;
    int32_t count = 0;
    place->nslots = bytecode->layout.nslots;
    if (!broken->module) {
        return true;
    }
    place->names = DT_ARENA_ARRAY(&broken->arena, PyObject *, bytecode->count + 1);
    for (int32_t i = place->head; i <= place->last && place->names != NULL; i++) {
        const DtInstr *instr = &bytecode->instrs[i];
        bool named = instr->op == DT_OP_LOAD_NAME || instr->op == DT_OP_STORE_NAME;
        PyObject *name = named ? dt_decode_name(bytecode, instr) : NULL;
        int known = named ? PySet_Contains(broken->rebound, name) : 0;
        if (known < 0) {
            PyErr_Clear(); /* MemoryError: the frame can still run */
            return false;
        }
        for (int32_t j = 0; j < count && known > 0; j++) {
            known = place->names[j] != name;
        }
        if (known > 0) {
            place->names[count++] = name;
        }
    }
    place->nslots += count;
    return place->names != NULL;
}

/* What lies in a slot, or is the variable of module code; NULL: nothing. */
PyObject *
dt_scalar_frame_slot(const DtLoopPlace *place, const DtDriverSite *site,
                     const DtGuardFrame *guarded, int slot)
{
    PyObject *object;
    if (slot < place->bytecode->layout.nslots) {
        return guarded->locals[dt_driver_slot(site->map, slot)];
    }
    PyObject *name = place->names[slot - place->bytecode->layout.nslots];
    return dt_dict_get(guarded->globals, name, &object) > 0 ? object : NULL;
}

/* Behind an iteration: a jump back to the FOR_ITER, or the head itself. */
int32_t
dt_scalar_frame_find_landing(const DtBroken *broken, const DtLoopPlace *place)
{
    const DtInstr *instrs = place->bytecode->instrs;
    if (!place->iterates) {
        return dt_places_is_edge(&broken->places, place->at, place->at) ? place->at : -1;
    }
    for (int32_t i = place->last; i > place->head; i--) {
        if (instrs[i].op == DT_OP_JUMP && instrs[i].target == place->head
            && instrs[i].depth == instrs[place->head].depth
            && dt_places_is_edge(&broken->places, place->at, i)) {
            return i;
        }
    }
    return -1;
}

/* ---- What lies in the frame ------------------------------------------------------------------ */

static bool
is_live(const DtLoopPlace *place, int slot)
{
    return place->liveness == NULL || slot >= place->bytecode->layout.nslots
           || dt_liveness_is_live(place->liveness, (uint32_t)place->at, slot);
}

static void
read_value(DtScalarFound *found, int place, PyObject *object)
{
    DtLoopArray *array = &found->arrays[place];
    DtLoopEntrySlot *entry = &found->entry[place];
    entry->kind = (uint8_t)dt_loop_values_read(object, &found->values[place], array);
    found->objects[place] = object;
    if (entry->kind == DT_LOOP_ARRAY) {
        entry->item = array->item;
        entry->ndim = array->ndim;
        entry->writable = array->writable;
    }
}

/* Stack position `above` that of the loop's iterator. */
static PyObject *
on_stack(const DtLoopPlace *place, const DtDriverSite *site, PyObject *const *memory, int above)
{
    int32_t position = place->bytecode->instrs[place->head].depth - 1 + above;
    return memory[dt_driver_slot(site->map, place->bytecode->layout.nslots + position)];
}

/* An iterator over a range, a list, a tuple, or an array of one axis; false: over something else.
 */
static bool
read_iterator(const DtLoopPlace *place, PyObject *iterator, DtScalarFound *found)
{
    int at = place->nslots + DT_LOOP_ENTRY_ITERATOR;
    DtLoopRegister *state = found->iterator;
    DtLoopEntrySlot *entry = &found->entry[at];
    DtRangeState range;
    PyObject *sequence;
    Py_ssize_t index;
    if (dt_ranges_read(iterator, &range)) {
        entry->kind = DT_LOOP_RANGE;
        state[0].i = range.next;
        state[1].i = range.step;
        state[2].i = range.left;
        return true;
    }
    if (!dt_iterators_walk(iterator, &sequence, &index)) {
        return false;
    }
    read_value(found, at, sequence);
    bool array = entry->kind == DT_LOOP_ARRAY && entry->ndim == 1;
    bool walks = array || entry->kind == DT_LOOP_SEQUENCE;
    state[0] = found->values[at];
    state[1].i = index;
    state[2].i = 0;
    entry->kind = DT_LOOP_WALK;
    entry->writable = false;
    return walks;
}

bool
dt_scalar_frame_read(const DtLoopPlace *place, const DtDriverSite *site,
                     const DtGuardFrame *guarded, DtScalarFound *found)
{
    PyObject *const *memory = guarded->locals;
    int count = place->nslots + DT_LOOP_ENTRIES;
    memset(found->entry, 0, sizeof(found->entry[0]) * (size_t)count);
    memset(found->objects, 0, sizeof(found->objects[0]) * (size_t)count);
    if (place->iterates && !read_iterator(place, on_stack(place, site, memory, 0), found)) {
        return false;
    }
    if (place->pushed) {
        read_value(found, place->nslots + DT_LOOP_ENTRY_PUSHED, on_stack(place, site, memory, 1));
    }
    for (int slot = 0; slot < place->nslots; slot++) {
        PyObject *object = dt_scalar_frame_slot(place, site, guarded, slot);
        if (object != NULL && is_live(place, slot)) {
            read_value(found, slot, object);
        }
    }
    return true;
}

/* ---- Putting it back ------------------------------------------------------------------------- */

void
dt_scalar_frame_move_iterator(const DtLoopPlace *place, const DtDriverSite *site,
                              const DtGuardFrame *guarded, const DtLoopRegister *state)
{
    PyObject *iterator = on_stack(place, site, guarded->locals, 0);
    if (Py_IS_TYPE(iterator, &PyRangeIter_Type)) {
        dt_ranges_move(iterator, &(DtRangeState){state[0].i, state[1].i, state[2].i});
    }
    else {
        dt_iterators_walk_to(iterator, state[1].i);
    }
}

/* Puts a value into its slot, or under its name; -1 with MemoryError. */
int
dt_scalar_frame_put(const DtLoopPlace *place, const DtDriverSite *site, const DtGuardFrame *guarded,
                    int slot, DT_STEALS PyObject *value)
{
    int32_t nslots = place->bytecode->layout.nslots;
    if (slot < nslots) {
        PyObject **memory = (PyObject **)guarded->locals; /* the memory of the frame itself */
        PyObject **at = &memory[dt_driver_slot(site->map, slot)], *before = *at;
        *at = value;
        Py_XDECREF(before);
        return 0;
    }
    int failed = PyDict_SetItem(guarded->globals, place->names[slot - nslots], value);
    Py_DECREF(value);
    return failed;
}
