/* Building containers, adding to them, and unpacking.
 *
 * Lists under construction are DtSeqVar and grow in place through the journal;
 * dicts and sets are changed by their own slots and methods.
 */
#include "symbolic/frame.h"

#include <string.h>

#include "sideeffects/journal.h"
#include "variables/numbers/array_numbers.h"
#include "variables/kinds.h"
#include "variables/text.h"

/* Pops `count` values; the array is the stack itself, valid until the next push. */
static DtVar **
pop_values(DtFrame *frame, int32_t count)
{
    assert(count <= frame->sp);
    frame->sp -= count;
    return &frame->stack[frame->sp];
}

typedef DtStatus (*Make)(DtTrace *, DtVar *const *items, uint32_t count, DtVar **out);

/* Replaces `popped` values by what is made of them: `count` items, or pairs. */
static DtStatus
build(DtTrace *trace, DtFrame *frame, Make make, int32_t count, int32_t popped)
{
    DtVar *value;
    DtVar **items = pop_values(frame, popped);
    DT_TRY(make(trace, items, (uint32_t)count, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_build_tuple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return build(trace, frame, dt_var_tuple, instr->arg, instr->arg);
}

DtStatus
dt_op_build_list(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return build(trace, frame, dt_var_list, instr->arg, instr->arg);
}

DtStatus
dt_op_build_set(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return build(trace, frame, dt_var_set, instr->arg, instr->arg);
}

DtStatus
dt_op_build_map(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    return build(trace, frame, dt_var_dict, instr->arg, 2 * instr->arg);
}

DtStatus
dt_op_build_const_key_map(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    uint32_t count;
    DtVar **keys;
    DT_TRY(dt_var_unpack(trace, dt_frame_pop(frame), &keys, &count));
    DtVar **values = pop_values(frame, instr->arg);
    if (count != (uint32_t)instr->arg) {
        PyErr_SetString(PyExc_SystemError, "a display with as many keys as values was expected");
        return DT_ERROR;
    }
    DtVar **pairs = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2 * count + 1);
    if (pairs == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        pairs[2 * i] = keys[i];
        pairs[2 * i + 1] = values[i];
    }
    DtVar *value;
    DT_TRY(dt_var_dict(trace, pairs, count, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

/* The parts are results of FORMAT_*, hence constants, or texts of the graph. */
DtStatus
dt_op_build_string(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar **parts = pop_values(frame, instr->arg), *value;
    uint32_t count = (uint32_t)instr->arg;
    bool arrays;
    PyObject *empty = dt_trace_keep_take(trace, PyUnicode_New(0, 0));
    if (empty == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_array_among(trace, parts, count, &arrays));
    if (arrays) {
        DT_TRY(dt_text_join(trace, empty, parts, count, &value));
        dt_frame_push(frame, value);
        return DT_OK;
    }
    PyObject *list = PyList_New(0);
    if (list == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *part = dt_var_as_constant(trace, parts[i]);
        if (part == NULL || !PyUnicode_CheckExact(part)) {
            Py_DECREF(list);
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_MISSING_SLOT,
                                               "an f-string with a part that is not constant");
        }
        if (PyList_Append(list, part) < 0) {
            Py_DECREF(list);
            return DT_ERROR;
        }
    }
    PyObject *joined = PyUnicode_Join(empty, list);
    Py_DECREF(list);
    if (joined == NULL) {
        return dt_raise_from_exception(trace);
    }
    DT_TRY(dt_var_const_take(trace, joined, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_build_slice(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value;
    DtVar *step = instr->arg == 3 ? dt_frame_pop(frame) : dt_none(trace);
    DtVar *stop = dt_frame_pop(frame);
    DtVar *start = dt_frame_pop(frame);
    DT_TRY(dt_var_slice(trace, start, stop, step, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

DtStatus
dt_op_list_to_tuple(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    (void)instr;
    uint32_t count;
    DtVar **items;
    DtVar *value;
    DT_TRY(dt_var_unpack(trace, dt_frame_pop(frame), &items, &count));
    DT_TRY(dt_var_tuple(trace, items, count, &value));
    dt_frame_push(frame, value);
    return DT_OK;
}

/* ---- Adding to a container further down ------------------------------------------------------ */

static DtStatus
extend_list(DtTrace *trace, DtVar *var, DtVar *const *items, uint32_t count)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    if (var->type->kind != DT_KIND_LIST) {
        PyErr_SetString(PyExc_SystemError, "a list under construction is no list");
        return DT_ERROR;
    }
    DtSeqVar *list = (DtSeqVar *)var;
    DT_TRY(dt_journal_will_change(trace, var));
    if (dt_vec_reserve(&trace->arena, (void **)&list->items, &list->capacity, list->count,
                       list->count + count, sizeof(DtVar *))
        < 0) {
        return dt_no_memory();
    }
    memcpy(list->items + list->count, items, sizeof(DtVar *) * count);
    list->count += count;
    return DT_OK;
}

DtStatus
dt_op_list_append(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *item = dt_frame_pop(frame);
    return extend_list(trace, *dt_frame_at(frame, instr->arg), &item, 1);
}

DtStatus
dt_op_list_extend(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    uint32_t count;
    DtVar **items;
    DtVar *iterable;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &iterable));
    PyTypeObject *type = dt_var_python_type(trace, iterable);
    if (type != NULL && type->tp_iter == NULL
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
        return dt_raise(trace, PyExc_TypeError, "Value after * must be an iterable, not %.200s",
                        type->tp_name);
    }
    DT_TRY(dt_collect_list(trace, iterable, &items, &count));
    return extend_list(trace, *dt_frame_at(frame, instr->arg), items, count);
}

/* object.name(arg), for what it does. */
static DtStatus
change_by(DtTrace *trace, DtVar *object, const char *name, DtVar *arg)
{
    DtVar *result;
    return dt_var_call_method(trace, object, name, &arg, 1, &result);
}

DtStatus
dt_op_set_add(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *item = dt_frame_pop(frame);
    return change_by(trace, *dt_frame_at(frame, instr->arg), "add", item);
}

/* {1, 2, 3} of constants is a set updated with a frozenset of the code's constants. */
static DtStatus
add_constants(DtTrace *trace, DtVar *set, PyObject *constants)
{
    PyObject *list = PySequence_List(constants);
    if (list == NULL) {
        return DT_ERROR;
    }
    DtStatus status = DT_OK;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list) && status == DT_OK; i++) {
        DtVar *item;
        status = dt_var_const(trace, PyList_GET_ITEM(list, i), &item);
        if (status == DT_OK) {
            status = change_by(trace, set, "add", item);
        }
    }
    Py_DECREF(list);
    return status;
}

DtStatus
dt_op_set_update(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *items = dt_frame_pop(frame);
    PyObject *constants = dt_var_peek_constant(items);
    if (constants != NULL && PyFrozenSet_CheckExact(constants)) {
        return add_constants(trace, *dt_frame_at(frame, instr->arg), constants);
    }
    return change_by(trace, *dt_frame_at(frame, instr->arg), "update", items);
}

DtStatus
dt_op_map_add(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *value = dt_frame_pop(frame);
    DtVar *key = dt_frame_pop(frame);
    return dt_var_ass_subscript(trace, *dt_frame_at(frame, instr->arg), key, value);
}

/* {**a} */
DtStatus
dt_op_dict_update(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *mapping, *dict;
    bool done;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &mapping));
    DT_TRY(dt_var_realize(trace, *dt_frame_at(frame, instr->arg), &dict));
    DT_TRY(dt_dict_merge(trace, (DtDictVar *)dict, mapping, &done));
    if (done) {
        return DT_OK;
    }
    switch (mapping->type->kind) {
    case DT_KIND_INSTANCE:
    case DT_KIND_CONSTANT:
    case DT_KIND_LIST:
    case DT_KIND_TUPLE:
    case DT_KIND_SET:
        return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not a mapping",
                        dt_kinds_type_name(trace, mapping));
    default:
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "** of a %s", mapping->type->name);
    }
}

/* f(**a) */
DtStatus
dt_op_dict_merge(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    DtVar *mapping, **keys;
    uint32_t count;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &mapping));
    DtVar *dict = *dt_frame_at(frame, instr->arg);
    if (mapping->type->kind != DT_KIND_DICT) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "** of a %s", mapping->type->name);
    }
    DT_TRY(dt_var_unpack(trace, mapping, &keys, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtVar *value, *found;
        bool repeated;
        if (dt_var_peek_constant(keys[i]) == NULL) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "TypeError: keywords must be strings");
        }
        DT_TRY(dt_var_contains(trace, dict, keys[i], &found));
        DT_TRY(dt_var_truth(trace, found, &repeated));
        if (repeated) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                            "TypeError: a keyword argument is given twice");
        }
        DT_TRY(dt_var_subscript(trace, mapping, keys[i], &value));
        DT_TRY(dt_var_ass_subscript(trace, dict, keys[i], value));
    }
    return DT_OK;
}

/* ---- Unpacking ------------------------------------------------------------------------------- */

static DtStatus
raise_unpack(DtTrace *trace, uint32_t wanted, uint32_t found, bool at_least)
{
    if (found > wanted) {
        return dt_raise(trace, PyExc_ValueError, "too many values to unpack (expected %u)", wanted);
    }
    return dt_raise(trace, PyExc_ValueError, "not enough values to unpack (expected %s%u, got %u)",
                    at_least ? "at least " : "", wanted, found);
}

/* Unpacking has a text of its own for what can't be iterated over. */
static DtStatus
iterate(DtTrace *trace, DtVar *iterable, DtVar **out)
{
    PyTypeObject *type = dt_var_python_type(trace, iterable);
    if (type != NULL && type->tp_iter == NULL
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)) {
        return dt_raise(trace, PyExc_TypeError, "cannot unpack non-iterable %.200s object",
                        type->tp_name);
    }
    return dt_var_iter(trace, iterable, out);
}

/* No more items than are wanted, and one to see that there are no more: what is left of an iterator
 * can be seen, and it may never end. */
static DtStatus
unpack_some(DtTrace *trace, DtVar *iterable, uint32_t wanted, DtVar ***items, uint32_t *count)
{
    DT_TRY(dt_var_realize(trace, iterable, &iterable));
    if (iterable->type->kind == DT_KIND_TUPLE || iterable->type->kind == DT_KIND_LIST) {
        return dt_var_unpack(trace, iterable, items, count);
    }
    DtVar *iterator, *item = NULL;
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, wanted + 1);
    if (*items == NULL) {
        return dt_no_memory();
    }
    DT_TRY(iterate(trace, iterable, &iterator));
    for (*count = 0; *count <= wanted; (*count)++) {
        DT_TRY(dt_var_iternext(trace, iterator, &item));
        if (item == NULL) {
            break;
        }
        (*items)[*count] = item;
    }
    return DT_OK;
}

DtStatus
dt_op_unpack_sequence(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    uint32_t count;
    DtVar **items;
    DT_TRY(unpack_some(trace, dt_frame_pop(frame), (uint32_t)instr->arg, &items, &count));
    if (count != (uint32_t)instr->arg) {
        return raise_unpack(trace, (uint32_t)instr->arg, count, false);
    }
    for (uint32_t i = count; i > 0; i--) {
        dt_frame_push(frame, items[i - 1]);
    }
    return DT_OK;
}

/* The items before the star, which are taken one by one; the rest becomes list(iterator). */
static DtStatus
take_first(DtTrace *trace, DtVar *iterable, uint32_t before, uint32_t wanted, DtVar **iterator,
           DtVar ***items)
{
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, before + 1);
    if (*items == NULL) {
        return dt_no_memory();
    }
    DT_TRY(iterate(trace, iterable, iterator));
    for (uint32_t i = 0; i < before; i++) {
        DT_TRY(dt_var_iternext(trace, *iterator, &(*items)[i]));
        if ((*items)[i] == NULL) {
            return raise_unpack(trace, wanted, i, true);
        }
    }
    return DT_OK;
}

static DtStatus
prepend(DtTrace *trace, DtVar **first, uint32_t nfirst, DtVar ***items, uint32_t *count)
{
    DtVar **all = DT_ARENA_ARRAY(&trace->arena, DtVar *, nfirst + *count + 1);
    if (all == NULL) {
        return dt_no_memory();
    }
    memcpy(all, first, sizeof(DtVar *) * nfirst);
    if (*count > 0) {
        memcpy(all + nfirst, *items, sizeof(DtVar *) * *count);
    }
    *items = all;
    *count += nfirst;
    return DT_OK;
}

DtStatus
dt_op_unpack_ex(DtTrace *trace, DtFrame *frame, const DtInstr *instr)
{
    uint32_t before = (uint32_t)instr->arg & 255;
    uint32_t after = (uint32_t)instr->arg >> 8;
    uint32_t count;
    DtVar **items, *rest;
    DtVar *iterable;
    DT_TRY(dt_var_realize(trace, dt_frame_pop(frame), &iterable));
    if (iterable->type->kind != DT_KIND_TUPLE && iterable->type->kind != DT_KIND_LIST) {
        DtVar **first;
        DT_TRY(take_first(trace, iterable, before, before + after, &iterable, &first));
        DT_TRY(dt_collect_list(trace, iterable, &items, &count));
        DT_TRY(prepend(trace, first, before, &items, &count));
    }
    else {
        DT_TRY(dt_var_unpack(trace, iterable, &items, &count));
    }
    if (count < before + after) {
        return raise_unpack(trace, before + after, count, true);
    }
    DT_TRY(dt_var_list(trace, items + before, count - before - after, &rest));
    for (uint32_t i = 0; i < after; i++) {
        dt_frame_push(frame, items[count - 1 - i]);
    }
    dt_frame_push(frame, rest);
    for (uint32_t i = before; i > 0; i--) {
        dt_frame_push(frame, items[i - 1]);
    }
    return DT_OK;
}
