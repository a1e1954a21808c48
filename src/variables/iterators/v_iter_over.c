/* enumerate, zip, map, filter and iter(callable, sentinel): iterators over others.
 *
 * Not in here: those of itertools (v_itertools.c).
 */
#include "variables/iterators/iterators.h"

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

static DtStatus
rebuild_enumerate(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    args[0] = self->parts[0];
    *count = 2;
    return dt_var_int(trace, self->extra + self->index, &args[1]);
}

static const DtIterRow enumerate_row = {.name = "enumerate",
                                        .next = next_of_enumerate,
                                        .python_type = type_of_enumerate,
                                        .rebuild = rebuild_enumerate};

DtStatus
dt_iter_enumerate(DtTrace *trace, DtVar *iterable, int64_t start, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_make(trace, &enumerate_row, NULL, &self));
    self->extra = start;
    *out = &self->base;
    return dt_iter_parts(trace, self, &iterable, 1);
}

/* zip(strict=True): part `at` is the first that is exhausted. */
static DtStatus
check_lengths(DtTrace *trace, DtIterVar *self, DtVar **values, uint32_t at)
{
    uint32_t i = at;
    const char *text = "zip() argument %u is shorter than argument%s%u";
    if (at == 0) {
        text = "zip() argument %u is longer than argument%s%u";
        do {
            if (++i == self->nparts) {
                return DT_OK;
            }
            DT_TRY(dt_var_iternext(trace, self->parts[i], &values[i]));
        } while (values[i] == NULL);
    }
    return dt_raise(trace, PyExc_ValueError, text, i + 1, i == 1 ? " " : "s 1-", i);
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
            if (self->extra) {
                return check_lengths(trace, self, values, i);
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

static DtStatus
rebuild_zip(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    /* strict= is a keyword. */
    return (self->extra ? dt_iter_rebuild_never : dt_iter_rebuild_parts)(trace, self, args, count);
}

static const DtIterRow zip_row = {
    .name = "zip", .next = next_of_zip, .python_type = type_of_zip, .rebuild = rebuild_zip};

DtStatus
dt_iter_zip(DtTrace *trace, DtVar *const *iterables, uint32_t count, bool strict, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_make(trace, &zip_row, NULL, &self));
    self->extra = strict;
    *out = &self->base;
    return dt_iter_parts(trace, self, iterables, count);
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

static const DtIterRow map_row = {.name = "map",
                                  .next = next_of_map,
                                  .python_type = type_of_map,
                                  .rebuild = dt_iter_rebuild_function};

DtStatus
dt_iter_map(DtTrace *trace, DtVar *function, DtVar *const *iterables, uint32_t count, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_make(trace, &map_row, NULL, &self));
    self->function = function;
    *out = &self->base;
    return dt_iter_parts(trace, self, iterables, count);
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

static const DtIterRow filter_row = {.name = "filter",
                                     .next = next_of_filter,
                                     .python_type = type_of_filter,
                                     .rebuild = dt_iter_rebuild_function};

DtStatus
dt_iter_filter(DtTrace *trace, DtVar *function, DtVar *iterable, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_make(trace, &filter_row, NULL, &self));
    DT_TRY(dt_var_realize(trace, function, &self->function)); /* it may be None */
    *out = &self->base;
    return dt_iter_parts(trace, self, &iterable, 1);
}

/* ---- iter(callable, sentinel) ---------------------------------------------------------------- */

enum { SENTINEL };

static DtStatus
next_of_callable(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *value;
    DtArgs none = {0};
    bool same;
    DT_TRY(dt_var_call(trace, self->function, &none, &value));
    DT_TRY(dt_sequence_item_equal(trace, self->state[SENTINEL], value, &same));
    *out = same ? NULL : value;
    return DT_OK;
}

static PyTypeObject *
type_of_callable(DtIterVar *self)
{
    (void)self;
    return &PyCallIter_Type;
}

static const DtIterRow callable_row = {.name = "callable iterator",
                                       .next = next_of_callable,
                                       .python_type = type_of_callable,
                                       .rebuild = NULL,
                                       .latches = true};

DtStatus
dt_iter_callable(DtTrace *trace, DtVar *callable, DtVar *sentinel, DtVar **out)
{
    DtIterVar *self;
    DT_TRY(dt_iter_make(trace, &callable_row, NULL, &self));
    self->function = callable;
    self->state[SENTINEL] = sentinel;
    *out = &self->base;
    return DT_OK;
}
