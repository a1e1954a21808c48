/* The methods of sets, and set() of anything that is iterated over.
 *
 * Not in here: how whole sets are combined (set_operation.h), operators (v_set.c).
 */
#include <string.h>

#include "variables/containers/set_layout.h"
#include "variables/containers/set_operation.h"
#include "variables/fold.h"

/* ---- Combining whole sets -------------------------------------------------------------------- */

static DtStatus
combine_method(DtTrace *trace, DtVar *self, const char *method, bool mutates, DtBinaryOp op,
               const DtArgs *args, DtVar **out)
{
    DtSetOperation operation = {.self = (DtDictVar *)self, .method = method, .mutates = mutates};
    DT_TRY(dt_set_operation_settle(trace, &operation, args));
    return dt_set_operation_run(trace, &operation, op, out);
}

#define COMBINE(name, mutates, op)                                                                 \
    static DtStatus set_##name(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)       \
    {                                                                                              \
        return combine_method(trace, self, #name, mutates, op, args, out);                         \
    }

COMBINE(difference, false, DT_BINARY_SUBTRACT)
COMBINE(difference_update, true, DT_BINARY_SUBTRACT)
COMBINE(intersection, false, DT_BINARY_AND)
COMBINE(intersection_update, true, DT_BINARY_AND)
COMBINE(symmetric_difference, false, DT_BINARY_XOR)
COMBINE(symmetric_difference_update, true, DT_BINARY_XOR)
COMBINE(union, false, DT_BINARY_OR)

/* ---- Adding and removing --------------------------------------------------------------------- */

static DtStatus
set_add(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DT_TRY(dt_kinds_will_change(trace, self));
    *out = dt_none(trace);
    return dt_set_put(trace, (DtDictVar *)self, args->pos[0]);
}

/* What C walks over in one go rather than by asking an iterator. */
static bool
is_container(DtVar *var)
{
    DtKind kind = var->type->kind;
    return dt_set_is(var) || kind == DT_KIND_DICT || kind == DT_KIND_TUPLE || kind == DT_KIND_LIST;
}

/* A set is walked over by C, whatever its class overrides. */
static DtStatus
realize_source(DtTrace *trace, DtVar *arg, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, arg, out));
    if ((*out)->type->kind == DT_KIND_INSTANCE && dt_set_is(dt_payload_of(*out))) {
        *out = dt_payload_of(*out);
    }
    return DT_OK;
}

/* Element by element, as they come; the journal knows. */
static DtStatus
add_from_iterator(DtTrace *trace, DtDictVar *set, DtVar *iterable)
{
    DtVar *iterator, *item;
    DT_TRY(dt_var_iter(trace, iterable, &iterator));
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item == NULL) {
            return DT_OK;
        }
        DT_TRY(dt_set_put(trace, set, item));
    }
}

static DtStatus
update_from(DtTrace *trace, DtDictVar *self, DtVar *arg)
{
    DtVar *settled;
    DT_TRY(realize_source(trace, arg, &arg));
    if (!is_container(arg)) {
        DT_TRY(dt_kinds_will_change(trace, &self->base));
        return add_from_iterator(trace, self, arg);
    }
    DT_TRY(dt_set_operation_settle_argument(trace, arg, &settled));
    if (settled->type->kind != DT_KIND_TUPLE) {
        /* The table grows at once by what a set or dict holds. */
        DtSetOperation operation = {
            .self = self, .method = "update", .mutates = true, .args = &settled, .nargs = 1};
        DtVar *done;
        return dt_set_operation_run(trace, &operation, DT_BINARY_OR, &done);
    }
    DtSeqVar *items = (DtSeqVar *)settled;
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    for (uint32_t i = 0; i < items->count; i++) {
        DT_TRY(dt_set_put(trace, self, items->items[i]));
    }
    return DT_OK;
}

static DtStatus
set_update(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    *out = dt_none(trace);
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(update_from(trace, (DtDictVar *)self, args->pos[i]));
    }
    return DT_OK;
}

static DtStatus
remove_item(DtTrace *trace, DtDictVar *set, DtVar *item, bool *found)
{
    DtDictEntry key, *entry;
    DT_TRY(dt_set_as_element(trace, item, &item));
    DT_TRY(dt_dict_key(trace, item, &key));
    DT_TRY(dt_dict_find(trace, set, &key, &entry));
    *found = entry != NULL;
    if (entry == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, &set->base));
    uint32_t at = (uint32_t)(entry - set->items);
    DtVar *removed = entry->key_var;
    memmove(set->items + at, set->items + at + 1, (set->count - at - 1) * sizeof(DtDictEntry));
    set->count--;
    set->changes++;
    return dt_layout_call(trace, set, "discard", &removed, 1);
}

static DtStatus
set_discard(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool found;
    *out = dt_none(trace);
    return remove_item(trace, (DtDictVar *)self, args->pos[0], &found);
}

static DtStatus
set_remove(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool found;
    *out = dt_none(trace);
    DT_TRY(remove_item(trace, (DtDictVar *)self, args->pos[0], &found));
    return found ? DT_OK : dt_raise_value(trace, PyExc_KeyError, args->pos[0]);
}

static DtStatus
set_pop(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtDictVar *set = (DtDictVar *)self;
    (void)args;
    if (set->count == 0) {
        return dt_raise(trace, PyExc_KeyError, "pop from an empty set");
    }
    if (set->count == 1) {
        *out = set->items[0].key_var;
        const DtArgs one = dt_args_of(out, 1);
        DtVar *ignored;
        return set_discard(trace, self, &one, &ignored);
    }
    DtSetOperation operation = {.self = set, .method = "pop", .mutates = true};
    if (set->object != NULL) {
        /* Where it begins to search is not guarded. */
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "pop() of a set that existed before");
    }
    DT_TRY(dt_set_operation_perform(trace, &operation, out));
    return *out != NULL
               ? DT_OK
               : dt_break(trace, DT_BREAK_MISSING_SLOT, "pop() of a set whose order is not known");
}

static DtStatus
set_clear(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtDictVar *set = (DtDictVar *)self;
    DT_TRY(dt_kinds_will_change(trace, self));
    set->count = 0;
    set->changes++;
    *out = dt_none(trace);
    return dt_layout_call(trace, set, "clear", NULL, 0);
}

static DtStatus
set_copy(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (((DtDictVar *)self)->cls == &PyFrozenSet_Type) {
        *out = self;
        return DT_OK;
    }
    DtSetOperation operation = {.self = (DtDictVar *)self, .method = "copy"};
    DT_TRY(dt_set_operation_settle(trace, &operation, args));
    return dt_set_operation_run(trace, &operation, DT_BINARY_OR, out);
}

DtStatus
dt_set_from(DtTrace *trace, PyTypeObject *cls, DtVar *iterable, DtVar **out)
{
    DtVar *arg;
    DT_TRY(realize_source(trace, iterable, &iterable));
    if (!is_container(iterable)) {
        DtDictVar *set;
        DT_TRY(dt_set_new(trace, cls, &set));
        *out = &set->base;
        return add_from_iterator(trace, set, iterable);
    }
    DT_TRY(dt_set_operation_settle_argument(trace, iterable, &arg));
    if (arg->type->kind == DT_KIND_TUPLE) {
        return dt_set_make(trace, cls, ((DtSeqVar *)arg)->items, ((DtSeqVar *)arg)->count, out);
    }
    DtDictVar *from = (DtDictVar *)arg, *made;
    bool frozen = cls == &PyFrozenSet_Type && from->cls == cls;
    bool copied = frozen && dt_payload_owner(trace, arg) != NULL; /* of an instance of a subclass */
    if (frozen && !copied) {
        *out = arg;
        return DT_OK;
    }
    PyObject *value = NULL;
    DT_TRY(dt_set_new(trace, cls, &made));
    *out = &made->base;
    if (!copied) {
        DT_TRY(dt_fold_value(trace, arg, &value));
    }
    if (value == NULL) {
        for (uint32_t i = 0; i < from->count; i++) {
            bool added;
            DT_TRY(dt_set_put_entry(trace, made, from->items[i].key_var, &added));
        }
    }
    else {
        PyObject *real = PyObject_CallOneArg((PyObject *)cls, value);
        Py_DECREF(value);
        DtStatus status = real != NULL ? dt_set_operation_take_entries(trace, made, real, &from, 1)
                                       : dt_raise_from_exception(trace);
        Py_XDECREF(real);
        DT_TRY(status);
    }
    if (copied) {
        made->layout = NULL; /* a merge packs the table in its own way */
        return DT_OK;
    }
    return dt_layout_result(trace, made, NULL, NULL, &arg, 1);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static DtStatus
compare_method(DtTrace *trace, DtVar *self, DtVar *arg, int what, DtVar **out)
{
    DtDictVar *a = (DtDictVar *)self, *b;
    DtVar *settled;
    uint32_t common;
    DT_TRY(dt_set_operation_settle_argument(trace, arg, &settled));
    DT_TRY(dt_set_operation_as_set(trace, settled, &b));
    DT_TRY(dt_set_count_common(trace, a, b, &common));
    return dt_var_bool(trace,
                       what < 0   ? common == a->count
                       : what > 0 ? common == b->count
                                  : common == 0,
                       out);
}

static DtStatus
set_issubset(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return compare_method(trace, self, args->pos[0], -1, out);
}

static DtStatus
set_isdisjoint(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return compare_method(trace, self, args->pos[0], 0, out);
}

static DtStatus
set_issuperset(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return compare_method(trace, self, args->pos[0], 1, out);
}

const DtMethodRow dt_set_methods[] = {
    {"add", set_add, 1, 1, false},
    {"clear", set_clear, 0, 0, false},
    {"copy", set_copy, 0, 0, false},
    {"difference", set_difference, 0, -1, false},
    {"difference_update", set_difference_update, 0, -1, false},
    {"discard", set_discard, 1, 1, false},
    {"intersection", set_intersection, 0, -1, false},
    {"intersection_update", set_intersection_update, 0, -1, false},
    {"isdisjoint", set_isdisjoint, 1, 1, false},
    {"issubset", set_issubset, 1, 1, false},
    {"issuperset", set_issuperset, 1, 1, false},
    {"pop", set_pop, 0, 0, false},
    {"remove", set_remove, 1, 1, false},
    {"symmetric_difference", set_symmetric_difference, 1, 1, false},
    {"symmetric_difference_update", set_symmetric_difference_update, 1, 1, false},
    {"union", set_union, 0, -1, false},
    {"update", set_update, 0, -1, false},
    {NULL, NULL, 0, 0, false},
};
