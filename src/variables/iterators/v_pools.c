/* product, permutations and combinations: rearrangements of pools that are read when they are made.
 *
 *   pools ──► itertools' own object over range(len(pool)) ──► positions ──► items
 *
 * The object iterates over numbers only, so running it runs no code of the user's.  It is shared by
 * all states of the tracker: after a rollback it is ahead of the tracker and is made anew.
 */
#include "variables/iterators/iterators.h"

typedef struct DtPositions {
    PyObject *cls, *args, *kwargs; /* DT_BORROWED from the trace; kwargs may be NULL */
    PyObject *iterator;
    int64_t taken; /* steps that it has made */
} DtPositions;

static DtStatus
restart(DtTrace *trace, DtPositions *positions)
{
    PyObject *iterator = PyObject_Call(positions->cls, positions->args, positions->kwargs);
    if (iterator == NULL) {
        return dt_raise_from_exception(trace);
    }
    positions->iterator = dt_trace_keep_take(trace, iterator);
    positions->taken = 0;
    return positions->iterator != NULL ? DT_OK : DT_ERROR;
}

/* The positions at step `index`, a tuple of ints, or NULL at the end. */
static DtStatus
positions_at(DtTrace *trace, DtPositions *positions, int64_t index, PyObject **out)
{
    if (positions->taken > index) {
        DT_TRY(restart(trace, positions));
    }
    *out = NULL;
    while (positions->taken <= index) {
        Py_XDECREF(*out);
        *out = PyIter_Next(positions->iterator);
        if (*out == NULL) {
            return PyErr_Occurred() ? DT_ERROR : DT_OK;
        }
        positions->taken++;
    }
    return DT_OK;
}

static DtStatus
next_of_pools(DtTrace *trace, DtIterVar *self, DtVar **out)
{
    PyObject *positions;
    DT_TRY(positions_at(trace, self->more, self->index, &positions));
    if (positions == NULL) {
        return DT_OK;
    }
    self->index++;
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(positions);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    for (uint32_t i = 0; items != NULL && i < count; i++) {
        DtSeqVar *pool = (DtSeqVar *)self->parts[i % self->nparts];
        items[i] = pool->items[PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i))];
    }
    Py_DECREF(positions);
    return items != NULL ? dt_var_tuple(trace, items, count, out) : dt_no_memory();
}

static const DtIterRow pools_row = {.name = "iterator over rearrangements",
                                    .next = next_of_pools,
                                    .rebuild = dt_iter_rebuild_never,
                                    .latches = true};

/* Reads the pools into tuples, and makes ranges of their lengths. */
static DtStatus
read_pools(DtTrace *trace, DtIterVar *self, DtVar *const *iterables, uint32_t count,
           PyObject *ranges)
{
    self->parts = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    self->nparts = count;
    if (self->parts == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DtVar **items;
        uint32_t length;
        DT_TRY(dt_collect_list(trace, iterables[i], &items, &length));
        DT_TRY(dt_var_tuple(trace, items, length, &self->parts[i]));
        PyObject *range = PyObject_CallFunction((PyObject *)&PyRange_Type, "I", length);
        if (range == NULL) {
            return DT_ERROR;
        }
        PyTuple_SET_ITEM(ranges, i, range);
    }
    return DT_OK;
}

/* `numbers`: how many arguments behind the pools, a number each; NULL or None ones are passed on.
 */
static DtStatus
make_over_pools(DtTrace *trace, DtVar *cls, DtVar *const *pools, uint32_t npools, DtVar *number,
                PyObject *kwargs, DtVar **out)
{
    DtIterVar *made;
    DT_TRY(dt_iter_make(trace, &pools_row, cls, &made));
    DtPositions *positions = DT_ARENA_NEW(&trace->arena, DtPositions);
    PyObject *args = PyTuple_New((Py_ssize_t)npools + (number != NULL));
    if (positions == NULL || args == NULL) {
        Py_XDECREF(args);
        return dt_no_memory();
    }
    positions->cls = ((DtObjectVar *)cls)->object;
    positions->kwargs = kwargs;
    positions->args = dt_trace_keep_take(trace, args);
    if (positions->args == NULL) {
        return DT_ERROR;
    }
    PyObject *value = number != NULL ? dt_var_as_constant(trace, number) : NULL;
    if (number != NULL && (value == NULL || !(PyLong_CheckExact(value) || value == Py_None))) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "the length of a rearrangement");
    }
    DT_TRY(read_pools(trace, made, pools, npools, args));
    if (number != NULL) {
        Py_INCREF(value);
        PyTuple_SET_ITEM(args, npools, value);
    }
    made->more = positions;
    *out = &made->base;
    return restart(trace, positions);
}

static DtStatus
only_keyword(DtTrace *trace, const DtArgs *args, const char *name, DtVar **out)
{
    *out = dt_args_keyword(args, name);
    return args->nkw == (*out != NULL)
               ? DT_OK
               : dt_break(trace, DT_BREAK_CALL_MISMATCH, "another keyword than '%s'", name);
}

static DtStatus
make_product(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *repeat = NULL;
    PyObject *kwargs = NULL;
    DT_TRY(only_keyword(trace, args, "repeat", &repeat));
    if (repeat != NULL) {
        PyObject *value = dt_var_as_constant(trace, repeat);
        if (value == NULL || !PyLong_CheckExact(value)) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "product() is repeated by no integer");
        }
        if (PyLong_AsLong(value) > 1000 || PyErr_Occurred()) {
            PyErr_Clear(); /* OverflowError: the frame runs plainly and raises */
            return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "product() of very many pools");
        }
        kwargs = dt_trace_keep_take(trace, PyDict_New());
        if (kwargs == NULL || PyDict_SetItemString(kwargs, "repeat", value) < 0) {
            return DT_ERROR;
        }
    }
    return make_over_pools(trace, self, args->pos, args->npos, NULL, kwargs, out);
}

/* One pool, and a length that may be left out. */
static DtStatus
make_selection(DtTrace *trace, DtVar *self, const DtArgs *args, bool optional, DtVar **out)
{
    DtVar *length = NULL;
    if (args->npos < 2) {
        DT_TRY(only_keyword(trace, args, "r", &length));
    }
    else if (args->nkw == 0) {
        length = args->pos[1];
    }
    if (args->npos < 1 || args->npos + args->nkw > 2 || (length == NULL && !optional)) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "arguments of a rearrangement");
    }
    return make_over_pools(trace, self, args->pos, 1, length, NULL, out);
}

static DtStatus
make_permutations(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_selection(trace, self, args, true, out);
}

static DtStatus
make_combinations(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return make_selection(trace, self, args, false, out);
}

static const DtMethodRow rows[] = {
    {"combinations", make_combinations, 0, 2, true},
    {"combinations_with_replacement", make_combinations, 0, 2, true},
    {"permutations", make_permutations, 0, 2, true},
    {"product", make_product, 0, -1, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_itertools_pools_table = {"itertools", rows};
