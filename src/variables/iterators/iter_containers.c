/* Iterators over containers, ranges, arrays and objects with __getitem__: a row for each, beside
 * those of v_iter.c.
 */
#include "compat/iterators.h"
#include "variables/adapter.h"
#include "variables/iterators/iterators.h"

/* ---- Tuples and lists ------------------------------------------------------------------------ */

static DtStatus
position_in_sequence(DtTrace *trace, DtIterVar *self, DtIterPosition *out)
{
    (void)trace;
    out->subject = self->state[0] != NULL ? self->state[0] : self->subject;
    return DT_OK;
}

static DtStatus
next_of_sequence(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    (void)trace;
    DtSeqVar *sequence = (DtSeqVar *)self->subject;
    *out = self->index < (int64_t)sequence->count ? sequence->items[self->index++] : NULL;
    return DT_OK;
}

static DtStatus
next_reversed(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    (void)trace;
    DtSeqVar *sequence = (DtSeqVar *)self->subject;
    bool inside = self->index >= 0 && self->index < (int64_t)sequence->count;
    *out = inside ? sequence->items[self->index--] : NULL;
    return DT_OK;
}

static PyTypeObject *
type_of_sequence_iterator(DtIterVar *self)
{
    return self->subject->type->kind == DT_KIND_LIST ? &PyListIter_Type : &PyTupleIter_Type;
}

static const DtIterRow sequence_row = {.name = "iter",
                                       .next = next_of_sequence,
                                       .python_type = type_of_sequence_iterator,
                                       .position = position_in_sequence,
                                       .latches = true};
bool
dt_iter_is_over_tuple(const DtIterVar *self)
{
    return self->row == &sequence_row && self->state[0] == NULL
           && self->subject->type->kind == DT_KIND_TUPLE;
}

static DtStatus
position_reversed(DtTrace *trace, DtIterVar *self, DtIterPosition *out)
{
    (void)trace;
    out->subject = self->state[0] != NULL ? self->state[0] : self->subject;
    out->reversed = true;
    return DT_OK;
}

static PyTypeObject *
type_of_reversed(DtIterVar *self)
{
    return self->subject->type->kind == DT_KIND_LIST ? &PyListRevIter_Type : &PyReversed_Type;
}

static const DtIterRow reversed_row = {.name = "reversed",
                                       .next = next_reversed,
                                       .python_type = type_of_reversed,
                                       .position = position_reversed,
                                       .latches = true};

DtStatus
dt_iter_sequence(DtTrace *trace, DtVar *sequence, DtVar **out)
{
    return dt_iter_over(trace, &sequence_row, sequence, (DtIterVar **)out);
}

DtStatus
dt_iter_existing_sequence(DtTrace *trace, DtVar *sequence, const DtSource *source, DtVar **out)
{
    DtIterVar *self = DT_KINDS_NEW(trace, ITERATOR, DtIterVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->row = &sequence_row;
    self->subject = sequence;
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_iter_reversed(DtTrace *trace, DtVar *sequence, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_over(trace, &reversed_row, sequence, &self));
    self->index = (int64_t)((DtSeqVar *)sequence)->count - 1;
    *out = &self->base;
    return DT_OK;
}

/* The class of the iterator that a constant gives: there is one per kind of string. */
static DtStatus
set_class_of_constant(DtIterVar *self, PyObject *value)
{
    PyObject *iterator = PyObject_GetIter(value);
    if (iterator == NULL) {
        return DT_ERROR;
    }
    self->cls = Py_TYPE(iterator); /* static */
    Py_DECREF(iterator);
    return DT_OK;
}

DtStatus
dt_iter_constant(DtTrace *trace, DtVar *constant, DtVar **out)
{
    DtIterVar *self;
    DtVar *items;
    PyObject *value = ((DtConstVar *)constant)->value;
    DT_TRY(dt_constant_wrap_take(trace, PySequence_Tuple(value), &items));
    DT_TRY(dt_iter_over(trace, &sequence_row, items, &self));
    self->state[0] = constant;
    *out = &self->base;
    return set_class_of_constant(self, value);
}

DtStatus
dt_iter_reversed_constant(DtTrace *trace, DtVar *constant, DtVar **out)
{
    DtVar *items;
    PyObject *value = ((DtConstVar *)constant)->value;
    DT_TRY(dt_constant_wrap_take(trace, PySequence_Tuple(value), &items));
    DT_TRY(dt_iter_reversed(trace, items, out));
    ((DtIterVar *)*out)->state[0] = constant;
    return DT_OK;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static DtStatus
next_of_range(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtRangeVar *range;
    DT_TRY(dt_range_close(trace, self->subject, &range));
    if (self->index >= range->length) {
        *out = NULL;
        return DT_OK;
    }
    int64_t at = self->extra ? range->length - 1 - self->index : self->index;
    self->index++;
    return dt_var_int(trace, range->start + at * range->step, out);
}

static PyTypeObject *
type_of_range_iterator(DtIterVar *self)
{
    (void)self;
    return &PyRangeIter_Type;
}

/* What is left is a range of its own. */
static DtStatus
position_in_range(DtTrace *trace, DtIterVar *self, DtIterPosition *out)
{
    DtRangeVar *range = (DtRangeVar *)self->subject;
    if (range->open != NULL) { /* it has not moved, or it would be closed */
        out->moved = true;
        out->subject = self->subject;
        return DT_OK;
    }
    int64_t at = self->exhausted ? range->length : self->index, step = range->step;
    int64_t first = range->start + at * step, stop = range->stop;
    if (self->extra) {
        first = range->start + (range->length - 1 - at) * step;
        stop = range->start - step;
        step = -step;
    }
    out->moved = true;
    return dt_range_new(trace, first, stop, step, &out->subject);
}

static const DtIterRow range_row = {.name = "range iterator",
                                    .next = next_of_range,
                                    .python_type = type_of_range_iterator,
                                    .position = position_in_range,
                                    .latches = true};

bool
dt_iter_is_over_open_range(const DtVar *var)
{
    const DtIterVar *self = (const DtIterVar *)var;
    return var->type->kind == DT_KIND_ITERATOR && self->row == &range_row
           && ((const DtRangeVar *)self->subject)->open != NULL;
}

DtStatus
dt_iter_range(DtTrace *trace, DtVar *range, bool reversed, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_over(trace, &range_row, range, &self));
    self->extra = reversed;
    *out = &self->base;
    return DT_OK;
}

/* ---- Dicts and sets -------------------------------------------------------------------------- */

/* state: the key that the last step gave.  When it is not where it was, keys before it have been
 * deleted, and where CPython goes on depends on the dict's own table. */
enum { LAST_KEY };

static DtStatus
check_unchanged(DtTrace *trace, DtIterVar *self)
{
    DtDictVar *dict = (DtDictVar *)self->subject;
    if (dict->count != (uint32_t)self->extra) {
        return dt_raise(trace, PyExc_RuntimeError, "%s changed size during iteration",
                        dict->base.type->kind == DT_KIND_SET ? "Set" : "dictionary");
    }
    if (dict->changes != self->changes) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT,
                        "iteration over a %s whose keys are exchanged meanwhile",
                        dict->base.type->name);
    }
    return DT_OK;
}

static const DtIterRow reversed_dict_row;

/* The entry that a step gives, of a dict that is as long as when the iteration began. */
static DtDictEntry *
entry_of_step(DtIterVar *self, int64_t step)
{
    DtDictVar *dict = (DtDictVar *)self->subject;
    return &dict->items[self->row == &reversed_dict_row ? (int64_t)dict->count - 1 - step : step];
}

static DtStatus
next_of_dict(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtDictVar *dict = (DtDictVar *)self->subject;
    DT_TRY(check_unchanged(trace, self));
    if (self->index >= (int64_t)dict->count) {
        return DT_OK;
    }
    DtDictEntry *entry = entry_of_step(self, self->index++);
    self->state[LAST_KEY] = entry->key_var;
    if (self->nparts == 2) {
        DtVar *pair[2] = {entry->key_var, entry->value};
        return dt_var_tuple(trace, pair, 2, out);
    }
    *out = self->nparts == 1 ? entry->value : entry->key_var;
    return DT_OK;
}

static PyTypeObject *
type_of_dict_iterator(DtIterVar *self)
{
    PyTypeObject *const types[] = {&PyDictIterKey_Type, &PyDictIterValue_Type,
                                   &PyDictIterItem_Type};
    return self->subject->type->kind == DT_KIND_SET ? &PySetIter_Type : types[self->nparts];
}

static PyTypeObject *
type_of_reversed_dict_iterator(DtIterVar *self)
{
    PyTypeObject *const types[] = {&PyDictRevIterKey_Type, &PyDictRevIterValue_Type,
                                   &PyDictRevIterItem_Type};
    return types[self->nparts];
}

/* The one that is made again walks over the dict as it is then: it must not change any more. */
static DtStatus
position_in_dict(DtTrace *trace, DtIterVar *self, DtIterPosition *out)
{
    DtDictVar *dict = (DtDictVar *)self->subject;
    bool changed = !self->exhausted
                   && (dict->count != (uint32_t)self->extra || dict->changes != self->changes);
    for (uint32_t i = 0; i < trace->changed.count; i++) {
        changed = changed || trace->changed.items[i] == self->subject;
    }
    if (changed
        || (self->index > 0 && !self->exhausted
            && entry_of_step(self, self->index - 1)->key_var != self->state[LAST_KEY])) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT,
                        "an iterator over a %s that was changed leaves the function",
                        dict->base.type->name);
    }
    out->subject = self->subject;
    out->reversed = self->row == &reversed_dict_row;
    return self->nparts > 0 ? dt_dict_view(trace, dict, (int)self->nparts, &out->subject) : DT_OK;
}

static const DtIterRow dict_row = {.name = "dict iterator",
                                   .next = next_of_dict,
                                   .python_type = type_of_dict_iterator,
                                   .position = position_in_dict,
                                   .latches = true};

static const DtIterRow reversed_dict_row = {.name = "reversed dict iterator",
                                            .next = next_of_dict,
                                            .python_type = type_of_reversed_dict_iterator,
                                            .position = position_in_dict,
                                            .latches = true};

static DtStatus
iterate_dict(DtTrace *trace, const DtIterRow *row, DtDictVar *dict, int what, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_over(trace, row, &dict->base, &self));
    self->extra = dict->count;
    self->changes = dict->changes;
    self->nparts = (uint32_t)what; /* no inner iterators: says keys, values or items */
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_iter_dict(DtTrace *trace, DtDictVar *dict, int what, DtVar **out)
{
    return iterate_dict(trace, &dict_row, dict, what, out);
}

DtStatus
dt_iter_reversed_dict(DtTrace *trace, DtDictVar *dict, int what, DtVar **out)
{
    return iterate_dict(trace, &reversed_dict_row, dict, what, out);
}

/* ---- Objects with __getitem__ ---------------------------------------------------------------- */

static DtStatus
item_or_end(DtTrace *trace, DtIterVar *self, int64_t at, DtVar **out)
{
    DtVar *index;
    DT_TRY(dt_var_int(trace, at, &index));
    DtStatus status = dt_var_subscript(trace, self->subject, index, out);
    if (status == DT_RAISE
        && (dt_raised_matches(trace, PyExc_IndexError)
            || dt_raised_matches(trace, PyExc_StopIteration))) {
        (void)dt_raised_take(trace);
        *out = NULL;
        return DT_OK;
    }
    return status;
}

static DtStatus
next_of_getitem(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtStatus status = item_or_end(trace, self, self->index, out);
    self->index += status == DT_OK; /* one that raised something else is asked for again */
    return status;
}

/* Both ask the object for its length. */
static DtStatus
hint_of_getitem(DtTrace *trace, DtIterVar *self)
{
    DtVar *length;
    if (self->exhausted || self->subject->type->kind != DT_KIND_INSTANCE
        || !dt_instance_overrides(self->subject, "__len__")) {
        return DT_OK;
    }
    return dt_var_length(trace, self->subject, &length);
}

static PyTypeObject *
type_of_getitem(DtIterVar *self)
{
    (void)self;
    return &PySeqIter_Type;
}

static const DtIterRow getitem_row = {.name = "iterator",
                                      .next = next_of_getitem,
                                      .python_type = type_of_getitem,
                                      .hint = hint_of_getitem,
                                      .latches = true};

DtStatus
dt_iter_getitem(DtTrace *trace, DtVar *instance, DtVar **out)
{
    return dt_iter_over(trace, &getitem_row, instance, (DtIterVar **)out);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Each item is read when its turn comes: the loop may have written it. */
static DtStatus
next_of_array(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    const DtArrayVar *array = (const DtArrayVar *)self->subject;
    DtVar *index;
    *out = NULL;
    if (self->index >= array->meta->shape[0]->hint.i) {
        return DT_OK;
    }
    DT_TRY(dt_var_int(trace, self->index, &index));
    DT_TRY(dt_var_subscript(trace, self->subject, index, out));
    self->index++;
    return DT_OK;
}

static const DtIterRow array_row = {.name = "iterator",
                                    .next = next_of_array,
                                    .python_type = type_of_getitem,
                                    .position = position_in_sequence,
                                    .latches = true};

DtStatus
dt_iter_array(DtTrace *trace, DtArrayVar *array, DtVar **out)
{
    return dt_iter_over(trace, &array_row, &array->base, (DtIterVar **)out);
}

/* ---- Objects with __getitem__, backwards ----------------------------------------------------- */

/* What an item raises ends the iterator for good. */
static DtStatus
next_of_reversed_getitem(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    if (self->index < 0) {
        *out = NULL;
        return DT_OK;
    }
    DtStatus status = item_or_end(trace, self, self->index, out);
    self->index--;
    if (status == DT_RAISE) {
        self->index = -1;
    }
    return status;
}

static const DtIterRow reversed_getitem_row = {.name = "reversed",
                                               .next = next_of_reversed_getitem,
                                               .python_type = type_of_reversed,
                                               .hint = hint_of_getitem,
                                               .latches = true};

DtStatus
dt_iter_reversed_getitem(DtTrace *trace, DtVar *instance, int64_t length, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_over(trace, &reversed_getitem_row, instance, &self));
    self->index = length - 1;
    *out = &self->base;
    return DT_OK;
}
