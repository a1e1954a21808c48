/* What tuples and lists share: indexing, slicing, search, comparison.
 *
 * Not in here: changing a list (v_list.c), slices as values (v_slice.c).
 */
#include <math.h>
#include <string.h>

#include "variables/fold.h"

DtStatus
dt_sequence_new(DtTrace *trace, DtKind kind, DtVar *const *items, uint32_t count, DtVar **out)
{
    DtSeqVar *var = dt_kinds_new(trace, kind, sizeof(DtSeqVar), NULL);
    if (var == NULL) {
        return DT_ERROR;
    }
    var->cls = kind == DT_KIND_LIST ? &PyList_Type : &PyTuple_Type;
    var->count = var->capacity = count;
    var->items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (var->items == NULL) {
        return dt_no_memory();
    }
    if (count > 0) {
        memcpy(var->items, items, count * sizeof(DtVar *));
    }
    if (kind == DT_KIND_LIST) {
        var->base.mutation = DT_VALUE_MUTATION_NEW;
    }
    *out = &var->base;
    return DT_OK;
}

DtStatus
dt_sequence_repeated(DtTrace *trace, DtSeqVar *self, DtVar *times, DtVar ***items, uint32_t *total)
{
    int64_t count;
    bool ok;
    *items = NULL;
    DT_TRY(dt_constant_index(trace, times, &count, &ok));
    if (!ok) {
        return DT_OK;
    }
    count = count < 0 || self->count == 0 ? 0 : count;
    if (count > (int64_t)trace->options.unroll_limit || count * self->count > INT32_MAX) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a %s repeated %lld times",
                        self->base.type->name, (long long)count);
    }
    *total = (uint32_t)(count * self->count);
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, *total + 1);
    if (*items == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < *total; i++) {
        (*items)[i] = self->items[i % self->count];
    }
    return DT_OK;
}

/* A sequence of the same kind as `self` from every step-th item. */
static DtStatus
take_slice(DtTrace *trace, DtSeqVar *self, DtSeqVar *slice, DtVar **out)
{
    int64_t start, stop, step, count;
    DT_TRY(dt_slice_bounds(trace, slice, self->count, &start, &stop, &step, &count));
    if (self->cls == &PyTuple_Type && start == 0 && step == 1 && count == self->count) {
        *out = &self->base; /* all of a tuple is that tuple */
        return DT_OK;
    }
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        items[i] = self->items[start + i * step];
    }
    return dt_sequence_new(trace, self->base.type->kind, items, (uint32_t)count, out);
}

static DtStatus
fail_getitem(DtTrace *trace, DtVar *var, DtVar *key)
{
    DtVar *args[2] = {var, key};
    return dt_fold_operator_failure(trace, "getitem", args, 2);
}

DtStatus
dt_sequence_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    if (key->type->kind == DT_KIND_SLICE) {
        return take_slice(trace, self, (DtSeqVar *)key, out);
    }
    DT_TRY(dt_picked_item(trace, self, key, out));
    if (*out != NULL) {
        return DT_OK;
    }
    int64_t index;
    bool ok;
    DT_TRY(dt_constant_index(trace, key, &index, &ok));
    if (!ok) {
        if (key->type->kind == DT_KIND_ARRAY) {
            return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a %s indexed by an array",
                            var->type->name);
        }
        return fail_getitem(trace, var, key);
    }
    index += index < 0 ? self->count : 0;
    if (index < 0 || index >= self->count) {
        return fail_getitem(trace, var, key);
    }
    *out = self->items[index];
    return DT_OK;
}

/* May it be a NaN in this call or another? */
static bool
may_be_nan(DtVar *var)
{
    return var->type->kind == DT_KIND_SYMBOLIC
               ? ((DtSymVar *)var)->sym->type == DT_SYM_FLOAT
               : var->type->kind == DT_KIND_CONSTANT && dt_constant_has_nan(dt_payload_object(var));
}

static bool
is_nan(DtVar *var)
{
    return var->type->kind == DT_KIND_CONSTANT || isnan(((DtSymVar *)var)->sym->hint.d);
}

/* Two floats that are not equal are two objects, unless they are one NaN. */
static DtStatus
guard_two_floats(DtTrace *trace, DtVar *left, DtVar *right)
{
    DtVar *sides[2] = {left, right};
    const DtSource *sources[2];
    for (int i = 0; i < 2; i++) {
        sources[i] = sides[i]->source;
        if (sources[i] == NULL && dt_var_peek(sides[i])->type->kind == DT_KIND_CONSTANT) {
            sources[i] = dt_source_get(trace, DT_SOURCE_OBJECT, NULL,
                                       dt_payload_object(dt_var_peek(sides[i])), 0);
            if (sources[i] == NULL) {
                return DT_ERROR;
            }
        }
        if (sources[i] == NULL) {
            return DT_OK; /* computed: a new object */
        }
    }
    if (is_nan(dt_var_peek(left)) && is_nan(dt_var_peek(right))) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the identity of a NaN");
    }
    return dt_guard_alias(trace, sources[0], sources[1], false);
}

/* An object is equal to itself, whatever its __eq__ says: that two inputs, which are compared, are
 * two objects is a guard where it can make a difference. */
DtStatus
dt_sequence_item_equal(DtTrace *trace, DtVar *left, DtVar *right, bool *out)
{
    DtVar *first = left, *second = right, *equal;
    DT_TRY(dt_trace_tick(trace));
    DT_TRY(dt_var_realize(trace, left, &left));
    DT_TRY(dt_var_realize(trace, right, &right));
    *out = left == right;
    bool instances = left->type->kind == DT_KIND_INSTANCE && right->type->kind == DT_KIND_INSTANCE
                     && left->source != NULL && right->source != NULL;
    bool floats = may_be_nan(left) && may_be_nan(right);
    bool constants = left->type->kind == DT_KIND_CONSTANT && left->type == right->type;
    if (!*out && (instances || (floats && constants))) {
        DT_TRY(dt_var_is(trace, first, second, out));
    }
    if (*out) {
        return DT_OK;
    }
    DT_TRY(dt_var_compare(trace, Py_EQ, left, right, &equal));
    DT_TRY(dt_var_truth(trace, equal, out));
    return floats && !constants && !*out ? guard_two_floats(trace, first, second) : DT_OK;
}

DtStatus
dt_sequence_contains(DtTrace *trace, DtVar *var, DtVar *item, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    bool found = false;
    for (uint32_t i = 0; i < self->count && !found; i++) {
        DT_TRY(dt_sequence_item_equal(trace, self->items[i], item, &found));
    }
    return dt_var_bool(trace, found, out);
}

DtStatus
dt_sequence_index(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    int64_t bounds[2] = {0, self->count};
    for (uint32_t i = 1; i < args->npos; i++) {
        bool ok;
        DT_TRY(dt_constant_index(trace, args->pos[i], &bounds[i - 1], &ok));
        if (!ok) {
            return dt_raise(trace, PyExc_TypeError,
                            "slice indices must be integers or have an __index__ method");
        }
        bounds[i - 1] += bounds[i - 1] < 0 ? self->count : 0;
        bounds[i - 1] = bounds[i - 1] < 0 ? 0 : bounds[i - 1];
    }
    for (int64_t i = bounds[0]; i < bounds[1] && i < self->count; i++) {
        bool found;
        DT_TRY(dt_sequence_item_equal(trace, self->items[i], args->pos[0], &found));
        if (found) {
            return dt_var_int(trace, i, out);
        }
    }
    PyObject *known;
    DT_TRY(dt_fold_value(trace, args->pos[0], &known));
    if (known == NULL && var->type->kind == DT_KIND_LIST) {
        /* Some versions write its repr. */
        return dt_kinds_raise(trace, "ValueError", "list.index(x): x not in list");
    }
    Py_XDECREF(known);
    return dt_fold_method_failure(trace, var, "index", args->pos, args->npos);
}

DtStatus
dt_sequence_count(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtSeqVar *self = (DtSeqVar *)var;
    int64_t total = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        bool found;
        DT_TRY(dt_sequence_item_equal(trace, self->items[i], args->pos[0], &found));
        total += found;
    }
    return dt_var_int(trace, total, out);
}

DtStatus
dt_sequence_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtSeqVar *)self)->count, out);
}

DtStatus
dt_sequence_compare(DtTrace *trace, int op, DtSeqVar *left, DtSeqVar *right, DtVar **out)
{
    /* An item's __eq__ may change the lists; CPython looks at their sizes each time. */
    for (uint32_t i = 0; i < left->count && i < right->count; i++) {
        bool equal;
        DT_TRY(dt_sequence_item_equal(trace, left->items[i], right->items[i], &equal));
        if (!equal && i < left->count && i < right->count) {
            if (op == Py_EQ || op == Py_NE) {
                return dt_var_bool(trace, op == Py_NE, out);
            }
            return dt_var_compare(trace, op, left->items[i], right->items[i], out);
        }
    }
    int64_t a = left->count, b = right->count;
    bool result = op == Py_LT   ? a < b
                  : op == Py_LE ? a <= b
                  : op == Py_EQ ? a == b
                  : op == Py_NE ? a != b
                  : op == Py_GT ? a > b
                                : a >= b;
    return dt_var_bool(trace, result, out);
}

DtStatus
dt_sequence_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                     void *arg)
{
    DtSeqVar *self = (DtSeqVar *)var;
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(visit(trace, self->items[i], arg));
    }
    return DT_OK;
}

void
dt_sequence_repr(DtVar *var, DtStrbuf *buf)
{
    DtSeqVar *self = (DtSeqVar *)var;
    bool list = var->type->kind == DT_KIND_LIST;
    dt_strbuf_add(buf, list ? "[" : "(");
    for (uint32_t i = 0; i < self->count; i++) {
        dt_strbuf_add(buf, i > 0 ? ", " : "");
        dt_var_repr(self->items[i], buf);
    }
    dt_strbuf_add(buf, list ? "]" : self->count == 1 ? ",)" : ")");
}
