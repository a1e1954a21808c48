/* Iterators: a row says what next() does, the tracker holds the position.
 *
 * Invariant: the position changes only after dt_kinds_will_change(), so a
 * rolled back loop starts again where it was.
 *
 * Not in here: iterators that existed before the trace (iter_existing.c), user classes with
 * __next__ (v_instance.c).
 */
#include "compat/iterators.h"
#include "variables/adapter.h"
#include "variables/iterators.h"

static DtStatus
new_iterator(DtTrace *trace, const DtIterRow *row, DtVar *subject, DtIterVar **out)
{
    *out = DT_KINDS_NEW(trace, ITERATOR, DtIterVar, NULL);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->base.mutation = DT_VALUE_MUTATION_NEW;
    (*out)->row = row;
    (*out)->subject = subject;
    return DT_OK;
}

DtStatus
dt_iter_make(DtTrace *trace, const DtIterRow *row, DtVar *cls, DtIterVar **out)
{
    DT_TRY(new_iterator(trace, row, NULL, out));
    (*out)->cls = cls != NULL ? (PyTypeObject *)((DtObjectVar *)cls)->object : NULL;
    return DT_OK;
}

DtStatus
dt_iter_parts(DtTrace *trace, DtIterVar *self, DtVar *const *iterables, uint32_t count)
{
    self->parts = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (self->parts == NULL) {
        return dt_no_memory();
    }
    self->nparts = count;
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_iter(trace, iterables[i], &self->parts[i]));
    }
    return DT_OK;
}

DtStatus
dt_iter_append(DtTrace *trace, DtSeqVar *list, DtVar *item)
{
    DT_TRY(dt_kinds_will_change(trace, &list->base));
    if (dt_vec_reserve(&trace->arena, (void **)&list->items, &list->capacity, list->count,
                       list->count + 1, sizeof(DtVar *))
        < 0) {
        return dt_no_memory();
    }
    list->items[list->count++] = item;
    return DT_OK;
}

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
    return new_iterator(trace, &sequence_row, sequence, (DtIterVar **)out);
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
    DT_TRY(new_iterator(trace, &reversed_row, sequence, &self));
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
    DT_TRY(new_iterator(trace, &sequence_row, items, &self));
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
    DT_TRY(new_iterator(trace, &range_row, range, &self));
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
static DtEntry *
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
    DtEntry *entry = entry_of_step(self, self->index++);
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
    DT_TRY(new_iterator(trace, row, &dict->base, &self));
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
    return new_iterator(trace, &getitem_row, instance, (DtIterVar **)out);
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
    return new_iterator(trace, &array_row, &array->base, (DtIterVar **)out);
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
    DT_TRY(new_iterator(trace, &reversed_getitem_row, instance, &self));
    self->index = length - 1;
    *out = &self->base;
    return DT_OK;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

DtStatus
dt_iter_rebuild_never(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    (void)args;
    (void)count;
    return dt_break(trace, DT_BREAK_RECONSTRUCT, "a %s iterator leaves the function%s",
                    self->row->name, self->started ? " after it was started" : "");
}

DtStatus
dt_iter_rebuild_parts(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    if (self->nparts + 1 > DT_ITER_REBUILD_MAX) {
        return dt_iter_rebuild_never(trace, self, args, count);
    }
    *count = 0;
    for (uint32_t i = 0; i < self->nparts; i++) {
        args[(*count)++] = self->parts[i];
    }
    return DT_OK;
}

DtStatus
dt_iter_rebuild_untouched(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    return (self->started ? dt_iter_rebuild_never : dt_iter_rebuild_parts)(trace, self, args,
                                                                           count);
}

/* ---- One step of any iterator ---------------------------------------------------------------- */

DtStatus
dt_iter_raise_stop(DtTrace *trace, DtVar *value)
{
    DtVar *cls, *exception;
    DT_TRY(dt_var_given(trace, &value));
    DtArgs args = dt_args_of(&value, value != NULL);
    DT_TRY(dt_build_known(trace, PyExc_StopIteration, &cls));
    DT_TRY(dt_exception_make(trace, cls, &args, &exception));
    return dt_raise_var(trace, exception);
}

DtStatus
dt_iter_stop_value(DtTrace *trace, DtVar *exception, DtVar **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("value"));
    return name != NULL ? dt_exception_get(trace, exception, name, out) : DT_ERROR;
}

DtStatus
dt_iter_take_stop(DtTrace *trace, DtStatus status, DtVar **out, bool *returned)
{
    *returned = status == DT_RAISE && dt_raised_matches(trace, PyExc_StopIteration);
    return *returned ? dt_iter_stop_value(trace, dt_raised_take(trace), out) : status;
}

DtStatus
dt_iter_find_method(DtTrace *trace, DtVar *var, const char *name, DtVar **out)
{
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
    if (text == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_var_getattr(trace, var, text, out);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_AttributeError)) {
        (void)dt_raised_take(trace);
        *out = NULL;
        return DT_OK;
    }
    return status;
}

DtStatus
dt_iter_next(DtTrace *trace, DtVar *iterator, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, iterator, &iterator));
    if (iterator->type->tp_iternext == NULL) {
        PyTypeObject *type = dt_var_python_type(trace, iterator);
        if (type == NULL || type->tp_iternext != NULL) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT,
                            "next() of a %s that existed before the function was called",
                            type != NULL ? type->tp_name : iterator->type->name);
        }
        return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not an iterator",
                        type->tp_name);
    }
    return iterator->type->tp_iternext(trace, iterator, out);
}

DtStatus
dt_var_iternext(DtTrace *trace, DtVar *iterator, DtVar **out)
{
    DtStatus status = dt_iter_next(trace, iterator, out);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_StopIteration)) {
        (void)dt_raised_take(trace);
        *out = NULL;
        return DT_OK;
    }
    return status;
}

DtStatus
dt_var_send(DtTrace *trace, DtVar *iterator, DtVar *value, DtVar **out, bool *returned)
{
    DT_TRY(dt_var_realize(trace, iterator, &iterator));
    *returned = false;
    if (iterator->type->kind == DT_KIND_GENERATOR || iterator->type->kind == DT_KIND_COROUTINE) {
        return dt_generator_resume(trace, (DtGeneratorVar *)iterator, value, out, returned);
    }
    if (iterator->type->kind == DT_KIND_ITERATOR && ((DtIterVar *)iterator)->row->send != NULL) {
        DT_TRY(dt_kinds_will_change(trace, iterator));
        return ((DtIterVar *)iterator)
            ->row->send(trace, (DtIterVar *)iterator, value, out, returned);
    }
    DT_TRY(dt_var_realize(trace, value, &value));
    if (dt_var_peek_constant(value) != Py_None) {
        DtVar *method;
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("send"));
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_getattr(trace, iterator, name, &method));
        DtArgs args = dt_args_of(&value, 1);
        return dt_iter_take_stop(trace, dt_var_call(trace, method, &args, out), out, returned);
    }
    DT_TRY(dt_iter_take_stop(trace, dt_iter_next(trace, iterator, out), out, returned));
    if (!*returned && *out == NULL) {
        *returned = true;
        *out = dt_none(trace);
    }
    return DT_OK;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static DtStatus
iterator_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = self;
    return DT_OK;
}

static DtStatus
iterator_iternext(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtIterVar *self = (DtIterVar *)var;
    *out = NULL;
    if (self->exhausted) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, var));
    self->started = true;
    DT_TRY(self->row->next(trace, self, out));
    if (*out == NULL && self->row->latches) {
        self->exhausted = true;
    }
    return DT_OK;
}

static PyTypeObject *
iterator_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    DtIterVar *self = (DtIterVar *)var;
    if (self->cls != NULL) {
        return self->cls;
    }
    return self->row->python_type != NULL ? self->row->python_type(self) : NULL;
}

static DtStatus
restore_position(DtCodegen *codegen, DtIterVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    DtIterPosition at = {0};
    PyObject *restore = dt_iterators_restore();
    if (restore == NULL) {
        return DT_ERROR;
    }
    DT_TRY(self->row->position(trace, self, &at));
    DtVar *index = dt_none(trace);
    if (!self->exhausted || at.moved) {
        DT_TRY(dt_var_int(trace, at.moved ? 0 : self->index, &index));
    }
    DT_TRY(dt_codegen_push_callable(codegen, restore));
    DT_TRY(dt_codegen_var(codegen, dt_payload_whole(trace, at.subject)));
    DT_TRY(dt_codegen_const(codegen, at.reversed ? Py_True : Py_False));
    DT_TRY(dt_codegen_var(codegen, index));
    return dt_codegen_call(codegen, 3);
}

/* A call of the class with what is left, or the iterator of its subject moved to its position. */
static DtStatus
iterator_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtIterVar *self = (DtIterVar *)var;
    DtTrace *trace = dt_codegen_trace(codegen);
    if (self->row->position != NULL) {
        return restore_position(codegen, self);
    }
    PyTypeObject *cls = iterator_type(trace, var);
    if (self->row->rebuild == NULL || cls == NULL) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT, "a %s iterator leaves the function",
                        self->row->name);
    }
    if (self->exhausted) {
        return dt_iter_rebuild_never(trace, self, NULL, NULL);
    }
    for (uint32_t i = 0; self->parts != NULL && i < self->nparts; i++) {
        if (dt_var_peek(self->parts[i])->type->kind == DT_KIND_INSTANCE) {
            return dt_break(trace, DT_BREAK_RECONSTRUCT,
                            "a %s iterator leaves the function, over an iterator of the "
                            "program's own, whose __iter__() would be called again",
                            self->row->name);
        }
    }
    DtVar *args[DT_ITER_REBUILD_MAX];
    uint32_t count = 0;
    DT_TRY(self->row->rebuild(trace, self, args, &count));
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)cls));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_codegen_var(codegen, args[i]));
    }
    return dt_codegen_call(codegen, count);
}

static DtStatus
iterator_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                  void *arg)
{
    DtIterVar *self = (DtIterVar *)var;
    if (self->subject != NULL) {
        DT_TRY(visit(trace, dt_payload_whole(trace, self->subject), arg));
    }
    for (uint32_t i = 0; self->parts != NULL && i < self->nparts; i++) {
        DT_TRY(visit(trace, self->parts[i], arg));
    }
    for (size_t i = 0; i < sizeof(self->state) / sizeof(self->state[0]); i++) {
        if (self->state[i] != NULL) {
            DT_TRY(visit(trace, self->state[i], arg));
        }
    }
    return self->function != NULL ? visit(trace, self->function, arg) : DT_OK;
}

static DtStatus
call_next(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DT_TRY(dt_iter_next(trace, self, out));
    return *out != NULL ? DT_OK : dt_iter_raise_stop(trace, dt_none(trace));
}

static DtStatus
call_iter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return iterator_iter(trace, self, out);
}

static DtStatus
call_send(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool returned;
    DT_TRY(dt_var_send(trace, self, args->pos[0], out, &returned));
    return returned ? dt_iter_raise_stop(trace, *out) : DT_OK;
}

static DtStatus
iterator_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    static const DtMethodRow send = {"send", call_send, 1, 1, false};
    if (((DtIterVar *)var)->row->send != NULL
        && PyUnicode_CompareWithASCIIString(name, send.name) == 0) {
        return dt_kinds_method_row(trace, var, &send, name, out);
    }
    return dt_kind_base.tp_getattro(trace, var, name, out);
}

static const DtMethodRow iterator_methods[] = {
    {"__next__", call_next, 0, 0, false},
    {"__iter__", call_iter, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_ITERATOR = {
    .kind = DT_KIND_ITERATOR,
    .tp_iter = iterator_iter,
    .tp_iternext = iterator_iternext,
    .tp_getattro = iterator_getattro,
    .methods = iterator_methods,
    .python_type = iterator_type,
    .reconstruct = iterator_reconstruct,
    .children = iterator_children,
};
