/* takewhile, dropwhile, filterfalse and starmap: iterators of itertools that ask a function about
 * each item, as rows beside those of v_iter.c.
 *
 * Not in here: filter and map (v_iter_over.c).
 */
#include "variables/iterators/iterators.h"

static DtStatus
ask(DtTrace *trace, DtIterVar *self, DtVar *item, bool *truth)
{
    DtVar *answer = item, *function = self->function;
    DT_TRY(dt_var_given(trace, &function));
    if (function != NULL) {
        DtArgs args = dt_args_of(&item, 1);
        DT_TRY(dt_var_call(trace, function, &args, &answer));
    }
    return dt_var_truth(trace, answer, truth);
}

static DtStatus
next_of_takewhile(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *item;
    bool truth;
    if (self->extra) {
        return DT_OK;
    }
    DT_TRY(dt_var_iternext(trace, self->parts[0], &item));
    if (item == NULL) {
        return DT_OK;
    }
    DT_TRY(ask(trace, self, item, &truth));
    self->extra = !truth;
    *out = truth ? item : NULL;
    return DT_OK;
}

static DtStatus
next_of_dropwhile(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    for (;;) {
        bool dropped = false;
        DT_TRY(dt_var_iternext(trace, self->parts[0], out));
        if (*out == NULL || self->extra) {
            return DT_OK;
        }
        DT_TRY(ask(trace, self, *out, &dropped));
        if (!dropped) {
            self->extra = 1;
            return DT_OK;
        }
    }
}

static DtStatus
next_of_filterfalse(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    for (;;) {
        bool truth = false;
        DT_TRY(dt_var_iternext(trace, self->parts[0], out));
        if (*out == NULL) {
            return DT_OK;
        }
        DT_TRY(ask(trace, self, *out, &truth));
        if (!truth) {
            return DT_OK;
        }
    }
}

static DtStatus
next_of_starmap(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *item;
    DtArgs args = {0};
    DT_TRY(dt_var_iternext(trace, self->parts[0], &item));
    if (item == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_collect_list(trace, item, &args.pos, &args.npos));
    return dt_var_call(trace, self->function, &args, out);
}

/* The same function over what is left, unless a flag of the iterator stands against it. */
static DtStatus
rebuild_filter(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    return self->extra ? dt_iter_rebuild_never(trace, self, args, count)
                       : dt_iter_rebuild_function(trace, self, args, count);
}

static const DtIterRow takewhile_row = {
    .name = "takewhile", .next = next_of_takewhile, .rebuild = rebuild_filter};
static const DtIterRow dropwhile_row = {
    .name = "dropwhile", .next = next_of_dropwhile, .rebuild = rebuild_filter};
static const DtIterRow filterfalse_row = {
    .name = "filterfalse", .next = next_of_filterfalse, .rebuild = rebuild_filter};
static const DtIterRow starmap_row = {
    .name = "starmap", .next = next_of_starmap, .rebuild = rebuild_filter};

static DtStatus
make_over_function(DtTrace *trace, const DtIterRow *row, DtVar *self, const DtArgs *args,
                   DtVar **out)
{
    DtIterVar *made;
    DT_TRY(dt_iter_make(trace, row, self, &made));
    DT_TRY(dt_iter_parts(trace, made, args->pos + 1, 1));
    made->function = args->pos[0];
    *out = &made->base;
    return DT_OK;
}

static DtStatus
make_takewhile(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_over_function(trace, &takewhile_row, self, args, out);
}

static DtStatus
make_dropwhile(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_over_function(trace, &dropwhile_row, self, args, out);
}

static DtStatus
make_filterfalse(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_over_function(trace, &filterfalse_row, self, args, out);
}

static DtStatus
make_starmap(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_over_function(trace, &starmap_row, self, args, out);
}

static const DtMethodRow rows[] = {
    {"dropwhile", make_dropwhile, 2, 2, false},
    {"filterfalse", make_filterfalse, 2, 2, false},
    {"starmap", make_starmap, 2, 2, false},
    {"takewhile", make_takewhile, 2, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_itertools_filters_table = {"itertools", rows};
