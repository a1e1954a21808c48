/* The iterators of module itertools, as rows beside those of v_iter.c.
 *
 * Each row mirrors what CPython's object does at one step: when it asks its inner iterators, in
 * which order it calls what, and whether it forgets them once it is exhausted.
 *
 * Not in here: those that need not end (v_endless.c), ask a function (v_filters.c), rearrange a
 * pool (v_pools.c); groupby and tee (v_groups.c).
 */
#include "variables/iterators/iterators.h"

/* ---- Arguments ------------------------------------------------------------------------------- */

DtStatus
dt_iter_check_keywords(DtTrace *trace, const DtArgs *args, const char *const *names)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        uint32_t at = 0;
        while (names[at] != NULL
               && PyUnicode_CompareWithASCIIString(args->kwnames[i], names[at]) != 0) {
            at++;
        }
        if (names[at] == NULL || at < args->npos) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "keyword argument '%s'",
                            dt_kinds_text(args->kwnames[i]));
        }
    }
    return DT_OK;
}

DtStatus
dt_iter_require(DtTrace *trace, DtVar *var, const char *name)
{
    return var != NULL ? DT_OK
                       : dt_break(trace, DT_BREAK_CALL_MISMATCH, "argument '%s' is missing", name);
}

/* ---- chain ----------------------------------------------------------------------------------- */

enum { CHAIN_ACTIVE };

static DtStatus
next_of_chain(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    for (;;) {
        if (self->state[CHAIN_ACTIVE] == NULL) {
            DtVar *iterable;
            DT_TRY(dt_var_iternext(trace, self->parts[0], &iterable));
            if (iterable == NULL) {
                return DT_OK;
            }
            DtStatus status = dt_var_iter(trace, iterable, &self->state[CHAIN_ACTIVE]);
            if (status != DT_OK) {
                self->state[CHAIN_ACTIVE] = NULL;
                self->exhausted = true; /* it lets go of its source when that gives no iterable */
                return status;
            }
        }
        DT_TRY(dt_var_iternext(trace, self->state[CHAIN_ACTIVE], out));
        if (*out != NULL) {
            return DT_OK;
        }
        self->state[CHAIN_ACTIVE] = NULL;
    }
}

static DtStatus
rebuild_chain(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    /* Of chain(a, b, ...): the one being read, then those that were not begun. */
    DtIterVar *source = (DtIterVar *)self->parts[0];
    if (source->base.type->kind != DT_KIND_ITERATOR || !dt_iter_is_over_tuple(source)) {
        return dt_iter_rebuild_never(trace, self, args, count);
    }
    DtSeqVar *tuple = (DtSeqVar *)source->subject;
    uint32_t at = source->exhausted ? tuple->count : (uint32_t)source->index;
    *count = 0;
    if (self->state[CHAIN_ACTIVE] != NULL) {
        args[(*count)++] = self->state[CHAIN_ACTIVE];
    }
    while (at < tuple->count) {
        if (*count == DT_ITER_REBUILD_MAX) {
            return dt_iter_rebuild_never(trace, self, args, count);
        }
        args[(*count)++] = tuple->items[at++];
    }
    return DT_OK;
}

static const DtIterRow chain_row = {
    .name = "chain", .next = next_of_chain, .rebuild = rebuild_chain, .latches = true};

static DtStatus
make_chain(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtIterVar *made;
    DtVar *tuple;
    DT_TRY(dt_iter_make(trace, &chain_row, self, &made));
    DT_TRY(dt_var_tuple(trace, args->pos, args->npos, &tuple));
    DT_TRY(dt_iter_parts(trace, made, &tuple, 1));
    *out = &made->base;
    return DT_OK;
}

/* ---- islice ---------------------------------------------------------------------------------- */

typedef struct Slice { /* `index` of the iterator counts what was read */
    int64_t next, stop, step;
} Slice;

/* Three numbers that a step changes: packed in state, as int trackers, they are rolled back. */
enum { SLICE_NEXT, SLICE_STOP, SLICE_STEP };

static int64_t
number_of(DtVar *var)
{
    return PyLong_AsLongLong(((DtConstVar *)var)->value);
}

static DtStatus
next_of_islice(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    Slice slice = {number_of(self->state[SLICE_NEXT]), number_of(self->state[SLICE_STOP]),
                   number_of(self->state[SLICE_STEP])};
    DtVar *skipped;
    while (self->index < slice.next) {
        DT_TRY(dt_var_iternext(trace, self->parts[0], &skipped));
        if (skipped == NULL) {
            return DT_OK;
        }
        self->index++;
    }
    if (slice.stop >= 0 && self->index >= slice.stop) {
        return DT_OK;
    }
    DT_TRY(dt_var_iternext(trace, self->parts[0], out));
    if (*out == NULL) {
        return DT_OK;
    }
    self->index++;
    slice.next = slice.next > INT64_MAX - slice.step ? INT64_MAX : slice.next + slice.step;
    if (slice.stop >= 0 && slice.next > slice.stop) {
        slice.next = slice.stop;
    }
    return dt_var_int(trace, slice.next, &self->state[SLICE_NEXT]);
}

static DtStatus
rebuild_islice(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    int64_t stop = number_of(self->state[SLICE_STOP]);
    args[0] = self->parts[0];
    args[2] = dt_none(trace);
    args[3] = self->state[SLICE_STEP];
    *count = 4;
    DT_TRY(dt_var_int(trace, number_of(self->state[SLICE_NEXT]) - self->index, &args[1]));
    return stop < 0 ? DT_OK : dt_var_int(trace, stop - self->index, &args[2]);
}

static const DtIterRow islice_row = {
    .name = "islice", .next = next_of_islice, .rebuild = rebuild_islice, .latches = true};

/* A bound that is None or a non-negative integer. */
static DtStatus
slice_bound(DtTrace *trace, DtVar *var, int64_t otherwise, const char *text, DtVar **out)
{
    int64_t number = otherwise;
    bool ok = true;
    DT_TRY(dt_var_given(trace, &var));
    if (var != NULL) {
        DT_TRY(dt_constant_index(trace, var, &number, &ok));
        ok = ok && number >= 0;
    }
    return ok ? dt_var_int(trace, number, out) : dt_kinds_raise(trace, "ValueError", "%s", text);
}

static DtStatus
make_islice(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const of_stop =
        "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
    static const char *const of_indices =
        "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
    static const char *const of_step = "Step for islice() must be a positive integer or None.";
    DtIterVar *made;
    bool only_stop = args->npos == 2;
    DT_TRY(dt_iter_make(trace, &islice_row, self, &made));
    DtVar *start = only_stop ? NULL : args->pos[1], *stop = args->pos[only_stop ? 1 : 2];
    DT_TRY(
        slice_bound(trace, stop, -1, only_stop ? of_stop : of_indices, &made->state[SLICE_STOP]));
    DT_TRY(slice_bound(trace, start, 0, of_indices, &made->state[SLICE_NEXT]));
    DT_TRY(slice_bound(trace, args->npos > 3 ? args->pos[3] : NULL, 1, of_step,
                       &made->state[SLICE_STEP]));
    if (number_of(made->state[SLICE_STEP]) < 1) {
        return dt_kinds_raise(trace, "ValueError", "%s", of_step);
    }
    DT_TRY(dt_iter_parts(trace, made, args->pos, 1));
    *out = &made->base;
    return DT_OK;
}

/* ---- accumulate ------------------------------------------------------------------------------ */

enum { TOTAL, INITIAL };

static DtStatus
next_of_accumulate(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    if (self->state[INITIAL] != NULL) {
        *out = self->state[TOTAL] = self->state[INITIAL];
        self->state[INITIAL] = NULL;
        return DT_OK;
    }
    DtVar *pair[2] = {self->state[TOTAL], NULL};
    DT_TRY(dt_var_iternext(trace, self->parts[0], &pair[1]));
    if (pair[1] == NULL) {
        return DT_OK;
    }
    if (pair[0] == NULL) {
        *out = self->state[TOTAL] = pair[1];
        return DT_OK;
    }
    if (self->function == NULL) {
        DT_TRY(dt_var_binary(trace, DT_BINARY_ADD, pair[0], pair[1], out));
    }
    else {
        DtArgs args = dt_args_of(pair, 2);
        DT_TRY(dt_var_call(trace, self->function, &args, out));
    }
    self->state[TOTAL] = *out;
    return DT_OK;
}

static const DtIterRow accumulate_row = {
    .name = "accumulate", .next = next_of_accumulate, .rebuild = dt_iter_rebuild_never};

static DtStatus
make_accumulate(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"iterable", "func", "initial", NULL};
    DtVar *iterable = dt_args_at(args, 0, "iterable"), *initial = dt_args_keyword(args, "initial");
    DtIterVar *made;
    DT_TRY(dt_iter_check_keywords(trace, args, names));
    DT_TRY(dt_iter_make(trace, &accumulate_row, self, &made));
    made->function = dt_args_at(args, 1, "func");
    DT_TRY(dt_iter_require(trace, iterable, "iterable"));
    DT_TRY(dt_iter_parts(trace, made, &iterable, 1));
    DT_TRY(dt_var_given(trace, &made->function));
    DT_TRY(dt_var_given(trace, &initial));
    made->state[INITIAL] = initial;
    *out = &made->base;
    return DT_OK;
}

/* ---- compress, pairwise, batched, zip_longest ------------------------------------------------ */

static DtStatus
next_of_compress(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    for (;;) {
        DtVar *item, *selector;
        bool truth;
        DT_TRY(dt_var_iternext(trace, self->parts[0], &item));
        if (item == NULL) {
            return DT_OK;
        }
        DT_TRY(dt_var_iternext(trace, self->parts[1], &selector));
        if (selector == NULL) {
            return DT_OK;
        }
        DT_TRY(dt_var_truth(trace, selector, &truth));
        if (truth) {
            *out = item;
            return DT_OK;
        }
    }
}

static const DtIterRow compress_row = {
    .name = "compress", .next = next_of_compress, .rebuild = dt_iter_rebuild_parts};

static DtStatus
make_compress(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"data", "selectors", NULL};
    DtVar *both[2] = {dt_args_at(args, 0, "data"), dt_args_at(args, 1, "selectors")};
    DtIterVar *made;
    DT_TRY(dt_iter_check_keywords(trace, args, names));
    DT_TRY(dt_iter_require(trace, both[0], "data"));
    DT_TRY(dt_iter_require(trace, both[1], "selectors"));
    DT_TRY(dt_iter_make(trace, &compress_row, self, &made));
    DT_TRY(dt_iter_parts(trace, made, both, 2));
    *out = &made->base;
    return DT_OK;
}

enum { PREVIOUS };

static DtStatus
next_of_pairwise(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar *pair[2] = {self->state[PREVIOUS], NULL};
    if (pair[0] == NULL) {
        DT_TRY(dt_var_iternext(trace, self->parts[0], &pair[0]));
        if (pair[0] == NULL) {
            return DT_OK;
        }
        self->state[PREVIOUS] = pair[0];
    }
    DT_TRY(dt_var_iternext(trace, self->parts[0], &pair[1]));
    if (pair[1] == NULL) {
        return DT_OK;
    }
    self->state[PREVIOUS] = pair[1];
    return dt_var_tuple(trace, pair, 2, out);
}

static const DtIterRow pairwise_row = {.name = "pairwise",
                                       .next = next_of_pairwise,
                                       .rebuild = dt_iter_rebuild_untouched,
                                       .latches = true};

static DtStatus
make_pairwise(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtIterVar *made;
    DT_TRY(dt_iter_make(trace, &pairwise_row, self, &made));
    DT_TRY(dt_iter_parts(trace, made, args->pos, 1));
    *out = &made->base;
    return DT_OK;
}

/* `index` is the size of a batch, `extra` that a short one raises. */
static DtStatus
next_of_batched(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->index + 1);
    uint32_t count = 0;
    if (items == NULL) {
        return dt_no_memory();
    }
    while (count < (uint32_t)self->index) {
        DT_TRY(dt_var_iternext(trace, self->parts[0], &items[count]));
        if (items[count] == NULL) {
            self->exhausted = true; /* asks no more, even after a short batch */
            break;
        }
        count++;
    }
    if (count == 0) {
        return DT_OK;
    }
    if (self->extra && count < (uint32_t)self->index) {
        return dt_kinds_raise(trace, "ValueError", "batched(): incomplete batch");
    }
    return dt_var_tuple(trace, items, count, out);
}

static const DtIterRow batched_row = {
    .name = "batched", .next = next_of_batched, .rebuild = dt_iter_rebuild_never, .latches = true};

/* 3.12 does not know the keyword. */
static DtStatus
check_strict(DtTrace *trace, DtVar *cls)
{
    PyObject *made = NULL, *args = Py_BuildValue("(()i)", 1);
    PyObject *kwargs = args != NULL ? Py_BuildValue("{sO}", "strict", Py_False) : NULL;
    if (kwargs != NULL) {
        made = PyObject_Call(((DtObjectVar *)cls)->object, args, kwargs);
    }
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(made);
    return made != NULL ? DT_OK : dt_raise_from_exception(trace);
}

static DtStatus
make_batched(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"iterable", "n", "strict", NULL};
    DtVar *iterable = dt_args_at(args, 0, "iterable"), *size = dt_args_at(args, 1, "n");
    DtVar *strict = dt_args_keyword(args, "strict");
    bool ok, truth = false;
    DtIterVar *made;
    DT_TRY(dt_iter_check_keywords(trace, args, names));
    DT_TRY(dt_iter_require(trace, iterable, "iterable"));
    DT_TRY(dt_iter_require(trace, size, "n"));
    DT_TRY(dt_iter_make(trace, &batched_row, self, &made));
    DT_TRY(dt_constant_index(trace, size, &made->index, &ok));
    if (!ok || made->index > (int64_t)trace->options.unroll_limit) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "batches of another size");
    }
    if (made->index < 1) {
        return dt_kinds_raise(trace, "ValueError", "n must be at least one");
    }
    if (strict != NULL) {
        DT_TRY(check_strict(trace, self));
        DT_TRY(dt_var_truth(trace, strict, &truth));
    }
    made->extra = truth;
    DT_TRY(dt_iter_parts(trace, made, &iterable, 1));
    *out = &made->base;
    return DT_OK;
}

/* A bit of `extra` per part that is exhausted and not asked again. */
#define LONGEST_MAX 62
enum { FILL };

static DtStatus
next_of_zip_longest(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->nparts + 1);
    int64_t all = ((int64_t)1 << self->nparts) - 1;
    if (values == NULL) {
        return dt_no_memory();
    }
    if (self->extra == all) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < self->nparts; i++) {
        values[i] = NULL;
        if (!(self->extra >> i & 1)) {
            DtStatus status = dt_var_iternext(trace, self->parts[i], &values[i]);
            if (status != DT_OK) {
                self->extra = all; /* an exception ends it */
                return status;
            }
        }
        if (values[i] == NULL) {
            self->extra |= (int64_t)1 << i;
            if (self->extra == all) {
                return DT_OK;
            }
            values[i] = self->state[FILL];
        }
    }
    return dt_var_tuple(trace, values, self->nparts, out);
}

static const DtIterRow zip_longest_row = {
    .name = "zip_longest", .next = next_of_zip_longest, .rebuild = dt_iter_rebuild_never};

static DtStatus
make_zip_longest(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtIterVar *made;
    DtVar *fill = dt_args_keyword(args, "fillvalue");
    if (args->nkw != (fill != NULL) || args->npos > LONGEST_MAX) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "zip_longest() with other keywords");
    }
    DT_TRY(dt_iter_make(trace, &zip_longest_row, self, &made));
    DT_TRY(dt_iter_parts(trace, made, args->pos, args->npos));
    made->state[FILL] = fill != NULL ? fill : dt_none(trace);
    *out = &made->base;
    return DT_OK;
}

static const DtMethodRow itertools_rows[] = {
    {"accumulate", make_accumulate, 0, 2, true},
    {"batched", make_batched, 0, 2, true},
    {"chain", make_chain, 0, -1, false},
    {"compress", make_compress, 0, 2, true},
    {"islice", make_islice, 2, 4, false},
    {"pairwise", make_pairwise, 1, 1, false},
    {"zip_longest", make_zip_longest, 0, -1, true},
    {NULL, NULL, 0, 0, false},
};

/* chain.from_iterable(iterable), as a class method of a class that is chain or derived from it. */
static DtStatus
chain_from_iterable(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtIterVar *made;
    PyObject *cls = dt_payload_object(args->pos[0]);
    if (cls == NULL || dt_builtin_find(cls) == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "from_iterable() of a derived class");
    }
    DT_TRY(dt_iter_make(trace, &chain_row, NULL, &made));
    made->cls = (PyTypeObject *)cls;
    DT_TRY(dt_iter_parts(trace, made, args->pos + 1, 1));
    *out = &made->base;
    return DT_OK;
}

int
dt_iter_chain_init(void)
{
    static const DtMethodRow row = {"from_iterable", chain_from_iterable, 2, 2, false};
    PyObject *module = PyImport_ImportModule("itertools");
    PyObject *cls = module != NULL ? PyObject_GetAttrString(module, "chain") : NULL;
    PyObject *dict = cls != NULL ? PyObject_GetAttrString(cls, "__dict__") : NULL;
    PyObject *method = dict != NULL ? PyMapping_GetItemString(dict, "from_iterable") : NULL;
    int result = method != NULL ? dt_builtin_register(method, &row) : -1;
    Py_XDECREF(method);
    Py_XDECREF(dict);
    Py_XDECREF(cls);
    Py_XDECREF(module);
    return result;
}

const DtBuiltinTable dt_builtin_itertools_table = {"itertools", itertools_rows};
