/* count, cycle and repeat: iterators of itertools that need not end, as rows beside those of
 * v_iter.c.
 */
#include "variables/iterators/iterators.h"

/* ---- count ----------------------------------------------------------------------------------- */

enum { COUNT_VALUE, COUNT_STEP };

static DtStatus
next_of_count(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *after;
    DT_TRY(dt_var_binary(trace, DT_BINARY_ADD, self->state[COUNT_VALUE], self->state[COUNT_STEP],
                         &after));
    *out = self->state[COUNT_VALUE];
    self->state[COUNT_VALUE] = after;
    return DT_OK;
}

static DtStatus
rebuild_count(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    (void)trace;
    args[0] = self->state[COUNT_VALUE];
    args[1] = self->state[COUNT_STEP];
    *count = 2;
    return DT_OK;
}

static const DtIterRow count_row = {
    .name = "count", .next = next_of_count, .rebuild = rebuild_count};

static DtStatus
check_number(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type != NULL
        && (PyType_IsSubtype(type, &PyLong_Type) || type == &PyFloat_Type
            || type == &PyComplex_Type)) {
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_CALL_MISMATCH, "count() of a %s", dt_var_peek(var)->type->name);
}

/* With a step of 1 it counts in C, whatever kind of integers both are: from the value of the start,
 * by int's own numbers. */
static DtStatus
count_in_c(DtTrace *trace, DtVar **start, DtVar **step)
{
    PyTypeObject *type = dt_var_python_type(trace, *start);
    PyTypeObject *step_type = dt_var_python_type(trace, *step);
    int64_t first, by;
    bool ok;
    if ((type == &PyLong_Type && step_type == &PyLong_Type) || !PyType_IsSubtype(type, &PyLong_Type)
        || !PyType_IsSubtype(step_type, &PyLong_Type)) {
        return DT_OK;
    }
    DT_TRY(dt_constant_index(trace, *step, &by, &ok));
    if (!ok || by != 1) {
        return DT_OK;
    }
    DT_TRY(dt_constant_index(trace, *start, &first, &ok));
    if (!ok) {
        return DT_OK; /* too large for a counter in C */
    }
    DT_TRY(dt_var_int(trace, first, start));
    return dt_var_int(trace, 1, step);
}

static DtStatus
make_count(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"start", "step", NULL};
    DtIterVar *made;
    DT_TRY(dt_iter_check_keywords(trace, args, names));
    DT_TRY(dt_iter_make(trace, &count_row, self, &made));
    made->state[COUNT_VALUE] = dt_args_at(args, 0, "start");
    made->state[COUNT_STEP] = dt_args_at(args, 1, "step");
    if (made->state[COUNT_VALUE] == NULL) {
        DT_TRY(dt_var_int(trace, 0, &made->state[COUNT_VALUE]));
    }
    if (made->state[COUNT_STEP] == NULL) {
        DT_TRY(dt_var_int(trace, 1, &made->state[COUNT_STEP]));
    }
    DT_TRY(check_number(trace, made->state[COUNT_VALUE]));
    DT_TRY(check_number(trace, made->state[COUNT_STEP]));
    DT_TRY(count_in_c(trace, &made->state[COUNT_VALUE], &made->state[COUNT_STEP]));
    *out = &made->base;
    return DT_OK;
}

/* ---- cycle ----------------------------------------------------------------------------------- */

/* `subject` is the list of what the first round gave; `index` runs over it afterwards. */
static DtStatus
next_of_cycle(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtSeqVar *saved = (DtSeqVar *)self->subject;
    if (!self->extra) {
        DT_TRY(dt_var_iternext(trace, self->parts[0], out));
        if (*out != NULL) {
            return dt_iter_append(trace, saved, *out);
        }
        self->extra = 1;
    }
    if (saved->count == 0) {
        return DT_OK;
    }
    *out = saved->items[self->index];
    self->index = (self->index + 1) % saved->count;
    return DT_OK;
}

static const DtIterRow cycle_row = {
    .name = "cycle", .next = next_of_cycle, .rebuild = dt_iter_rebuild_untouched};

static DtStatus
make_cycle(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtIterVar *made;
    DT_TRY(dt_iter_make(trace, &cycle_row, self, &made));
    DT_TRY(dt_iter_parts(trace, made, args->pos, 1));
    DT_TRY(dt_var_list(trace, NULL, 0, &made->subject));
    *out = &made->base;
    return DT_OK;
}

/* ---- repeat ---------------------------------------------------------------------------------- */

/* `index` is what is left, negative for ever. */
static DtStatus
next_of_repeat(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    (void)trace;
    if (self->index != 0) {
        *out = self->subject;
        self->index -= self->index > 0;
    }
    return DT_OK;
}

static DtStatus
rebuild_repeat(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    args[0] = self->subject;
    *count = self->index < 0 ? 1 : 2;
    return self->index < 0 ? DT_OK : dt_var_int(trace, self->index, &args[1]);
}

static const DtIterRow repeat_row = {
    .name = "repeat", .next = next_of_repeat, .rebuild = rebuild_repeat};

static DtStatus
make_repeat(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"object", "times", NULL};
    DtVar *times = dt_args_at(args, 1, "times");
    DtIterVar *made;
    DT_TRY(dt_iter_check_keywords(trace, args, names));
    DT_TRY(dt_iter_make(trace, &repeat_row, self, &made));
    made->subject = dt_args_at(args, 0, "object");
    DT_TRY(dt_iter_require(trace, made->subject, "object"));
    made->index = -1;
    if (times != NULL) {
        bool ok;
        DT_TRY(dt_constant_index(trace, times, &made->index, &ok));
        if (!ok) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "times that is no integer");
        }
        made->index = made->index < 0 ? 0 : made->index;
    }
    *out = &made->base;
    return DT_OK;
}

static const DtMethodRow rows[] = {
    {"count", make_count, 0, 2, true},
    {"cycle", make_cycle, 1, 1, false},
    {"repeat", make_repeat, 0, 2, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_itertools_endless_table = {"itertools", rows};
