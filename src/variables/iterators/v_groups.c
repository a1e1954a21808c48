/* groupby and tee: iterators that share one source among several.
 *
 * A group and the groupby that made it share the groupby's state; the iterators of a tee share a
 * list of what one of them has read already.
 */
#include "variables/iterators/iterators.h"

/* Types that module itertools makes; found once per process. */
static PyTypeObject *grouper_type, *tee_type;

int
dt_iter_groups_init(void)
{
    PyObject *module = PyImport_ImportModule("itertools");
    if (module == NULL) {
        return -1;
    }
    grouper_type = (PyTypeObject *)PyObject_GetAttrString(module, "_grouper");
    tee_type = (PyTypeObject *)PyObject_GetAttrString(module, "_tee");
    Py_DECREF(module);
    return grouper_type != NULL && tee_type != NULL ? 0 : -1;
}

/* ---- groupby --------------------------------------------------------------------------------- */

/* Of a groupby: state; a NULL key or value is one that was not read yet.  `more` is the group whose
 * turn it is. */
enum { TARGET_KEY, CURRENT_KEY, CURRENT_VALUE };

/* *done: the source is exhausted. */
static DtStatus
read_next(DtTrace *trace, DtIterVar *self, bool *done)
{
    DtVar *value, *key;
    DT_TRY(dt_var_iternext(trace, self->parts[0], &value));
    *done = value == NULL;
    if (*done) {
        return DT_OK;
    }
    key = value;
    if (self->function != NULL) {
        DtArgs args = dt_args_of(&value, 1);
        DT_TRY(dt_var_call(trace, self->function, &args, &key));
    }
    self->state[CURRENT_KEY] = key;
    self->state[CURRENT_VALUE] = value;
    return DT_OK;
}

static DtStatus
next_of_group(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtIterVar *parent = (DtIterVar *)self->subject;
    bool same, done;
    if (parent->more != self) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, &parent->base));
    if (parent->state[CURRENT_VALUE] == NULL) {
        DT_TRY(read_next(trace, parent, &done));
        if (done) {
            return DT_OK;
        }
    }
    DT_TRY(
        dt_sequence_item_equal(trace, self->state[TARGET_KEY], parent->state[CURRENT_KEY], &same));
    if (same) {
        *out = parent->state[CURRENT_VALUE];
        parent->state[CURRENT_VALUE] = NULL;
        parent->state[CURRENT_KEY] = NULL;
    }
    return DT_OK;
}

static const DtIterRow group_row = {
    .name = "group", .next = next_of_group, .rebuild = dt_iter_rebuild_never};

static DtStatus
next_of_groupby(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    bool same, done;
    self->more = NULL;
    for (;;) {
        if (self->state[CURRENT_KEY] != NULL) {
            if (self->state[TARGET_KEY] == NULL) {
                break;
            }
            DT_TRY(dt_sequence_item_equal(trace, self->state[TARGET_KEY], self->state[CURRENT_KEY],
                                          &same));
            if (!same) {
                break;
            }
        }
        DT_TRY(read_next(trace, self, &done));
        if (done) {
            return DT_OK;
        }
    }
    DtIterVar *group;
    DtVar *pair[2] = {self->state[CURRENT_KEY], NULL};
    self->state[TARGET_KEY] = self->state[CURRENT_KEY];
    DT_TRY(dt_iter_make(trace, &group_row, NULL, &group));
    group->cls = grouper_type;
    group->subject = &self->base;
    group->state[TARGET_KEY] = self->state[TARGET_KEY];
    self->more = group;
    pair[1] = &group->base;
    return dt_var_tuple(trace, pair, 2, out);
}

static DtStatus
rebuild_groupby(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    DT_TRY(dt_iter_rebuild_untouched(trace, self, args, count));
    if (self->function != NULL) {
        args[(*count)++] = self->function;
    }
    return DT_OK;
}

static const DtIterRow groupby_row = {
    .name = "groupby", .next = next_of_groupby, .rebuild = rebuild_groupby};

static DtStatus
make_groupby(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtIterVar *made;
    DtVar *iterable = dt_args_keyword(args, "iterable"), *key = dt_args_keyword(args, "key");
    uint32_t known = (iterable != NULL) + (key != NULL);
    if (args->nkw != known || (args->npos > 0 && iterable != NULL)
        || (args->npos > 1 && key != NULL) || (args->npos == 0 && iterable == NULL)) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "arguments of groupby()");
    }
    DT_TRY(dt_iter_make(trace, &groupby_row, self, &made));
    iterable = args->npos > 0 ? args->pos[0] : iterable;
    made->function = args->npos > 1 ? args->pos[1] : key;
    DT_TRY(dt_var_given(trace, &made->function));
    DT_TRY(dt_iter_parts(trace, made, &iterable, 1));
    *out = &made->base;
    return DT_OK;
}

/* ---- tee ------------------------------------------------------------------------------------- */

/* `subject` is the list of all that was read from the source, `index` the place in it. */
static DtStatus
next_of_tee(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtSeqVar *read = (DtSeqVar *)self->subject;
    if (self->index == (int64_t)read->count) {
        DtVar *item;
        DT_TRY(dt_var_iternext(trace, self->parts[0], &item));
        if (item == NULL) {
            return DT_OK;
        }
        DT_TRY(dt_iter_append(trace, read, item));
    }
    *out = read->items[self->index++];
    return DT_OK;
}

static const DtIterRow tee_row = {
    .name = "tee", .next = next_of_tee, .rebuild = dt_iter_rebuild_never};

/* An iterator that says itself how it is copied is not read ahead. */
static DtStatus
check_no_copy(DtTrace *trace, DtVar *source)
{
    DtVar *copy = NULL;
    bool copies = source->type->kind == DT_KIND_ITERATOR && ((DtIterVar *)source)->row == &tee_row;
    if (source->type->kind == DT_KIND_INSTANCE) {
        DT_TRY(dt_instance_special(trace, source, "__copy__", &copy));
    }
    return copies || copy != NULL
               ? dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "tee() of an iterator with __copy__")
               : DT_OK;
}

static DtStatus
make_tee(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    int64_t count = 2;
    bool ok = true;
    if (args->npos > 1) {
        DT_TRY(dt_constant_index(trace, args->pos[1], &count, &ok));
    }
    if (!ok || count > 1000) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "tee() into an odd number of iterators");
    }
    if (count < 0) {
        return dt_kinds_raise(trace, "ValueError", "n must be >= 0");
    }
    DtVar *source, *read;
    DtVar **all = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (all == NULL) {
        return dt_no_memory();
    }
    if (count > 0) {
        DT_TRY(dt_var_iter(trace, args->pos[0], &source));
        DT_TRY(dt_var_realize(trace, source, &source));
        DT_TRY(check_no_copy(trace, source));
        DT_TRY(dt_var_list(trace, NULL, 0, &read));
    }
    for (int64_t i = 0; i < count; i++) {
        DtIterVar *made;
        DT_TRY(dt_iter_make(trace, &tee_row, NULL, &made));
        made->cls = tee_type;
        made->subject = read;
        made->nparts = 1;
        made->parts = DT_ARENA_NEW(&trace->arena, DtVar *);
        if (made->parts == NULL) {
            return dt_no_memory();
        }
        made->parts[0] = source;
        all[i] = &made->base;
    }
    return dt_var_tuple(trace, all, (uint32_t)count, out);
}

static const DtMethodRow rows[] = {
    {"groupby", make_groupby, 0, 2, true},
    {"tee", make_tee, 1, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_itertools_groups_table = {"itertools", rows};
