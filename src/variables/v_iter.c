/* Iterators: a row says what next() does, the tracker holds the position.
 *
 * Invariant: the position changes only after dt_kinds_will_change(), so a
 * rolled back loop starts again where it was.
 *
 * Not in here: iterators that existed before the trace (no source reads their
 * items: a graph break), user classes with __next__ (v_instance.c).
 */
#include "variables/kinds.h"

struct DtIterRow {
    const char *name;
    DtStatus (*next)(DtTrace *trace, DtIterVar *self, DtVar **out); /* NULL: exhausted */
    PyTypeObject *(*python_type)(DtIterVar *self);
};

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

/* Iterators over `count` iterables. */
static DtStatus
iterate_parts(DtTrace *trace, DtIterVar *self, DtVar *const *iterables, uint32_t count)
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

/* ---- Tuples and lists
 * ------------------------------------------------------------------------------- */

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

static const DtIterRow sequence_row = {"iter", next_of_sequence, type_of_sequence_iterator};
static const DtIterRow reversed_row = {"reversed", next_reversed, NULL};

DtStatus
dt_iter_sequence(DtTrace *trace, DtVar *sequence, DtVar **out)
{
    return new_iterator(trace, &sequence_row, sequence, (DtIterVar **)out);
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

/* ---- Ranges
 * ----------------------------------------------------------------------------------------- */

static DtStatus
next_of_range(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtRangeVar *range = (DtRangeVar *)self->subject;
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

static const DtIterRow range_row = {"range iterator", next_of_range, type_of_range_iterator};

DtStatus
dt_iter_range(DtTrace *trace, DtVar *range, bool reversed, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(new_iterator(trace, &range_row, range, &self));
    self->extra = reversed;
    *out = &self->base;
    return DT_OK;
}

/* ---- Dicts and sets
 * --------------------------------------------------------------------------------- */

static DtStatus
next_of_dict(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtDictVar *dict = (DtDictVar *)self->subject;
    if (dict->count != (uint32_t)self->extra) {
        return dt_kinds_raise(trace, "RuntimeError", "%s changed size during iteration",
                              dict->base.type->kind == DT_KIND_SET ? "Set" : "dictionary");
    }
    if (self->index >= (int64_t)dict->count) {
        *out = NULL;
        return DT_OK;
    }
    DtEntry *entry = &dict->items[self->index++];
    if (self->nparts == 2) {
        DtVar *pair[2] = {entry->key_var, entry->value};
        return dt_var_tuple(trace, pair, 2, out);
    }
    *out = self->nparts == 1 ? entry->value : entry->key_var;
    return DT_OK;
}

static const DtIterRow dict_row = {"dict iterator", next_of_dict, NULL};

DtStatus
dt_iter_dict(DtTrace *trace, DtDictVar *dict, int what, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(new_iterator(trace, &dict_row, &dict->base, &self));
    self->extra = dict->count;
    self->nparts = (uint32_t)what; /* no inner iterators: says keys, values or items */
    *out = &self->base;
    return DT_OK;
}

/* ---- Objects with __getitem__
 * ------------------------------------------------------------------------- */

static DtStatus
next_of_getitem(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *index;
    DT_TRY(dt_var_int(trace, self->index++, &index));
    return dt_var_subscript(trace, self->subject, index, out);
}

static const DtIterRow getitem_row = {"iterator", next_of_getitem, NULL};

DtStatus
dt_iter_getitem(DtTrace *trace, DtVar *instance, DtVar **out)
{
    return new_iterator(trace, &getitem_row, instance, (DtIterVar **)out);
}

/* ---- enumerate, zip, map, filter
 * ----------------------------------------------------------------------- */

static DtStatus
next_of_enumerate(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *pair[2];
    DT_TRY(dt_var_iternext(trace, self->parts[0], &pair[1]));
    if (pair[1] == NULL) {
        *out = NULL;
        return DT_OK;
    }
    DT_TRY(dt_var_int(trace, self->extra + self->index++, &pair[0]));
    return dt_var_tuple(trace, pair, 2, out);
}

static PyTypeObject *
type_of_enumerate(DtIterVar *self)
{
    (void)self;
    return &PyEnum_Type;
}

static const DtIterRow enumerate_row = {"enumerate", next_of_enumerate, type_of_enumerate};

DtStatus
dt_iter_enumerate(DtTrace *trace, DtVar *iterable, int64_t start, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(new_iterator(trace, &enumerate_row, NULL, &self));
    self->extra = start;
    *out = &self->base;
    return iterate_parts(trace, self, &iterable, 1);
}

/* One value of each part; *out = NULL when the first short part is exhausted. */
static DtStatus
next_of_parts(DtTrace *trace, DtIterVar *self, DtVar ***out)
{
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->nparts + 1);
    if (values == NULL) {
        return dt_no_memory();
    }
    *out = NULL;
    for (uint32_t i = 0; i < self->nparts; i++) {
        DT_TRY(dt_var_iternext(trace, self->parts[i], &values[i]));
        if (values[i] == NULL) {
            if (i > 0 && self->extra) {
                return dt_kinds_raise(trace, "ValueError",
                                      "zip() argument %u is shorter than "
                                      "argument%s",
                                      (unsigned)i + 1, i == 1 ? " 1" : "s before it");
            }
            if (i == 0 && self->extra) {
                for (uint32_t k = 1; k < self->nparts; k++) {
                    DT_TRY(dt_var_iternext(trace, self->parts[k], &values[k]));
                    if (values[k] != NULL) {
                        return dt_kinds_raise(trace, "ValueError",
                                              "zip() argument %u is longer "
                                              "than argument 1",
                                              (unsigned)k + 1);
                    }
                }
            }
            return DT_OK;
        }
    }
    *out = values;
    return DT_OK;
}

static DtStatus
next_of_zip(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar **values;
    *out = NULL;
    if (self->nparts == 0) {
        return DT_OK;
    }
    DT_TRY(next_of_parts(trace, self, &values));
    return values != NULL ? dt_var_tuple(trace, values, self->nparts, out) : DT_OK;
}

static PyTypeObject *
type_of_zip(DtIterVar *self)
{
    (void)self;
    return &PyZip_Type;
}

static const DtIterRow zip_row = {"zip", next_of_zip, type_of_zip};

DtStatus
dt_iter_zip(DtTrace *trace, DtVar *const *iterables, uint32_t count, bool strict, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(new_iterator(trace, &zip_row, NULL, &self));
    self->extra = strict;
    *out = &self->base;
    return iterate_parts(trace, self, iterables, count);
}

static DtStatus
next_of_map(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar **values;
    *out = NULL;
    DT_TRY(next_of_parts(trace, self, &values));
    if (values == NULL) {
        return DT_OK;
    }
    DtArgs args = dt_args_of(values, self->nparts);
    return dt_var_call(trace, self->function, &args, out);
}

static PyTypeObject *
type_of_map(DtIterVar *self)
{
    (void)self;
    return &PyMap_Type;
}

static const DtIterRow map_row = {"map", next_of_map, type_of_map};

DtStatus
dt_iter_map(DtTrace *trace, DtVar *function, DtVar *const *iterables, uint32_t count, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(new_iterator(trace, &map_row, NULL, &self));
    self->function = function;
    *out = &self->base;
    return iterate_parts(trace, self, iterables, count);
}

static DtStatus
next_of_filter(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    for (;;) {
        DT_TRY(dt_var_iternext(trace, self->parts[0], out));
        if (*out == NULL) {
            return DT_OK;
        }
        DtVar *answer = *out;
        if (dt_var_peek_constant(self->function) != Py_None) {
            DtArgs args = dt_args_of(out, 1);
            DT_TRY(dt_var_call(trace, self->function, &args, &answer));
        }
        bool truth;
        DT_TRY(dt_var_truth(trace, answer, &truth));
        if (truth) {
            return DT_OK;
        }
    }
}

static PyTypeObject *
type_of_filter(DtIterVar *self)
{
    (void)self;
    return &PyFilter_Type;
}

static const DtIterRow filter_row = {"filter", next_of_filter, type_of_filter};

DtStatus
dt_iter_filter(DtTrace *trace, DtVar *function, DtVar *iterable, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(new_iterator(trace, &filter_row, NULL, &self));
    self->function = function;
    *out = &self->base;
    return iterate_parts(trace, self, &iterable, 1);
}

/* ---- One step of any iterator
 * ------------------------------------------------------------------ */

DtStatus
dt_iter_raise_stop(DtTrace *trace, DtVar *value)
{
    (void)value;
    return dt_kinds_raise(trace, "StopIteration", "%s", "");
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
        return dt_kinds_raise(trace, "TypeError", "'%s' object is not an iterator",
                              dt_kinds_type_name(trace, iterator));
    }
    return iterator->type->tp_iternext(trace, iterator, out);
}

DtStatus
dt_var_iternext(DtTrace *trace, DtVar *iterator, DtVar **out)
{
    return dt_iter_next(trace, iterator, out);
}

DtStatus
dt_var_send(DtTrace *trace, DtVar *iterator, DtVar *value, DtVar **out, bool *returned)
{
    DT_TRY(dt_var_realize(trace, iterator, &iterator));
    if (iterator->type->kind == DT_KIND_GENERATOR || iterator->type->kind == DT_KIND_COROUTINE) {
        return dt_generator_resume(trace, (DtGeneratorVar *)iterator, value, out, returned);
    }
    if (dt_var_peek_constant(value) != Py_None) {
        return dt_break(trace, DT_BREAK_GENERATOR, "a value is sent to a %s", iterator->type->name);
    }
    DT_TRY(dt_var_iternext(trace, iterator, out));
    *returned = *out == NULL;
    if (*returned) {
        *out = dt_none(trace);
    }
    return DT_OK;
}

/* ---- Slots
 * ------------------------------------------------------------------------------------------ */

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
    DT_TRY(self->row->next(trace, self, out));
    self->exhausted = *out == NULL;
    return DT_OK;
}

static PyTypeObject *
iterator_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    DtIterVar *self = (DtIterVar *)var;
    return self->row->python_type != NULL ? self->row->python_type(self) : NULL;
}

/* What is left of a tuple or range can be iterated over anew; other iterators are not rebuilt. */
static DtStatus
iterator_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtIterVar *self = (DtIterVar *)var;
    DtTrace *trace = dt_codegen_trace(codegen);
    DtVar *rest = NULL;
    if (self->row == &sequence_row && self->subject->type->kind == DT_KIND_TUPLE) {
        DtSeqVar *tuple = (DtSeqVar *)self->subject;
        uint32_t at = self->exhausted ? tuple->count : (uint32_t)self->index;
        DT_TRY(dt_var_tuple(trace, tuple->items + at, tuple->count - at, &rest));
    }
    else if (self->row == &range_row && !self->extra) {
        DtRangeVar *range = (DtRangeVar *)self->subject;
        int64_t at = self->exhausted ? range->length : self->index;
        DT_TRY(
            dt_range_new(trace, range->start + at * range->step, range->stop, range->step, &rest));
    }
    else {
        return dt_break(trace, DT_BREAK_RECONSTRUCT, "a %s iterator leaves the function",
                        self->row->name);
    }
    PyObject *iter = PyDict_GetItemString(trace->builtins, "iter");
    if (iter == NULL) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT, "builtin iter is gone");
    }
    DT_TRY(dt_codegen_push_callable(codegen, iter));
    DT_TRY(dt_codegen_var(codegen, rest));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
iterator_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                  void *arg)
{
    DtIterVar *self = (DtIterVar *)var;
    if (self->subject != NULL) {
        DT_TRY(visit(trace, self->subject, arg));
    }
    for (uint32_t i = 0; self->parts != NULL && i < self->nparts; i++) {
        DT_TRY(visit(trace, self->parts[i], arg));
    }
    return self->function != NULL ? visit(trace, self->function, arg) : DT_OK;
}

const DtVarType dt_kind_type_ITERATOR = {
    .kind = DT_KIND_ITERATOR,
    .tp_iter = iterator_iter,
    .tp_iternext = iterator_iternext,
    .python_type = iterator_type,
    .reconstruct = iterator_reconstruct,
    .children = iterator_children,
};
