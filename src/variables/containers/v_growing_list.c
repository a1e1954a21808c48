/* Lists that existed before and are only appended to.
 *
 *   hist.append(x)   known is what the trace has added at the end, and nothing else
 *       │ anything that looks at what is in it, or at how long it is
 *       ▼ dt_growing_list_read(), in place
 *   LIST             its length guarded, lazy items for what was in it, then what was added
 *
 * A list of results grows from call to call, and who appends to it does not ask how long it is: one
 * entry serves all lengths.
 *
 * Invariants: `items` of the payload are what was added.  Only dt_var_receiver() gives away a list
 * that nobody has read; dt_var_build() and dt_var_realize() read it first.
 *
 * Not in here: what appending does (v_list.c), which works on either.
 */
#include <string.h>

#include "compat/list.h"
#include "variables/kinds.h"

/* Longer input lists are not followed: each item would be a tracker. */
#define MAX_INPUT_ITEMS 65536

DtStatus
dt_list_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    (void)trusted; /* contents change without the type or module that leads to the list */
    DtGrowingListVar *self = DT_KINDS_NEW(trace, GROWING_LIST, DtGrowingListVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->list.cls = &PyList_Type;
    self->object = object;
    *out = &self->list.base;
    return DT_OK;
}

DtStatus
dt_growing_list_read(DtTrace *trace, DtVar *var)
{
    DtSeqVar *self = (DtSeqVar *)var;
    PyObject *object = ((DtGrowingListVar *)var)->object;
    Py_ssize_t before = PyList_GET_SIZE(object);
    if (dt_list_is_being_sorted(object)) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "a list that is being sorted");
    }
    if (before > MAX_INPUT_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a list of %zd items", before);
    }
    DT_TRY(dt_guard_length(trace, var->source, &PyList_Type, before));
    uint32_t count = (uint32_t)before + self->count;
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < before; i++) {
        const DtSource *item = dt_source_index(trace, var->source, i);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, PyList_GET_ITEM(object, i), item, &items[i]));
    }
    if (self->count > 0) {
        memcpy(items + before, self->items, self->count * sizeof(DtVar *));
    }
    DT_TRY(dt_journal_was_read(trace, var, items, (uint32_t)before));
    var->type = dt_var_type_of(DT_KIND_LIST);
    self->items = items;
    self->count = self->capacity = count;
    return DT_OK;
}

DtStatus
dt_growing_list_guard(DtTrace *trace, DtVar *var)
{
    DtGrowingListVar *self = (DtGrowingListVar *)var;
    if (var->type->kind != DT_KIND_GROWING_LIST || self->guarded) {
        return DT_OK;
    }
    self->guarded = true;
    return dt_guard_type(trace, var->source, &PyList_Type);
}

static DtStatus
growing_list_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    static const char *const at_the_end[] = {"append", "extend", NULL};
    const DtVarType *list = dt_var_type_of(DT_KIND_LIST);
    if (!dt_kinds_is_among(name, at_the_end)) {
        DT_TRY(dt_growing_list_read(trace, var));
        return list->tp_getattro(trace, var, name, out);
    }
    DT_TRY(dt_growing_list_guard(trace, var));
    return dt_kinds_method_row(trace, var, dt_kinds_find_method(list, name), name, out);
}

/* history[-1], where the trace has just appended it. */
static DtStatus
growing_list_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    const DtSeqVar *self = (DtSeqVar *)var;
    PyObject *number = dt_var_peek_constant(key);
    int64_t index = number != NULL && PyLong_CheckExact(number) ? PyLong_AsLongLong(number) : 0;
    if (index == -1 && PyErr_Occurred()) {
        PyErr_Clear(); /* OverflowError: none of the last items */
        index = 0;
    }
    if (index < 0 && index >= -(int64_t)self->count) {
        *out = self->items[self->count + index];
        return DT_OK;
    }
    DT_TRY(dt_growing_list_read(trace, var));
    return dt_var_subscript(trace, var, key, out);
}

static PyTypeObject *
growing_list_type(DtTrace *trace, DtVar *self)
{
    return dt_growing_list_guard(trace, self) == DT_OK ? &PyList_Type : NULL;
}

const DtVarType dt_kind_type_GROWING_LIST = {
    .kind = DT_KIND_GROWING_LIST,
    .mp_subscript = growing_list_subscript,
    .tp_getattro = growing_list_getattro,
    .python_type = growing_list_type,
    .children = dt_sequence_children,
};
