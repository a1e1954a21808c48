/* Ranges of concrete numbers: the bounds of range() are specialised, so that loops can be unrolled.
 *
 * Where a number made too many versions (options.opened), a range that depends on it keeps its
 * bounds open until somebody asks for its numbers. A loop over it need not ask: its iterations are
 * compiled one by one.
 */
#include "variables/fold.h"

DtStatus
dt_range_new(DtTrace *trace, int64_t start, int64_t stop, int64_t step, DtVar **out)
{
    if (step == 0) {
        return dt_raise(trace, PyExc_ValueError, "range() arg 3 must not be zero");
    }
    DtRangeVar *self = DT_KINDS_NEW(trace, RANGE, DtRangeVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->start = start;
    self->stop = stop;
    self->step = step;
    int64_t span;
    bool overflow = step > 0 ? __builtin_sub_overflow(stop, start, &span)
                             : __builtin_sub_overflow(start, stop, &span);
    if (overflow || step == INT64_MIN) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a range beyond 64 bits");
    }
    int64_t stride = step > 0 ? step : -step;
    self->length = span <= 0 ? 0 : (span - 1) / stride + 1;
    *out = &self->base;
    return DT_OK;
}

/* A whole number that is known before the call runs. */
static bool
is_number(DtTrace *trace, DtVar *var)
{
    const DtSym *sym = dt_symbolic_of(trace, var);
    return sym != NULL && sym->type == DT_SYM_INT && !dt_trace_depends_on_data(trace, sym);
}

/* Whether it depends on a number that loops are not unrolled for. */
static bool
is_opened(DtTrace *trace, const DtSym *sym)
{
    if (sym == NULL) {
        return false;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        const DtSource *source = trace->symbols.items[sym->id].source;
        return source != NULL && dt_symbolic_is_among(trace->options.opened, source);
    }
    return is_opened(trace, sym->a) || is_opened(trace, sym->b);
}

/* Its step must be known: a range() with a step of 0 would raise when it is closed. */
static DtStatus
may_stay_open(DtTrace *trace, const DtArgs *args, bool *open)
{
    bool varies = false;
    *open = false;
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *arg;
        DT_TRY(dt_var_realize(trace, args->pos[i], &arg));
        bool symbolic = arg->type->kind == DT_KIND_SYMBOLIC;
        if (!is_number(trace, arg)
            || (i == 2 && (symbolic || dt_symbolic_of(trace, arg)->hint.i == 0))) {
            return DT_OK;
        }
        varies = varies || (symbolic && is_opened(trace, ((DtSymVar *)arg)->sym));
    }
    *open = varies;
    return DT_OK;
}

/* start, stop and step of range(*args), specialised. */
static DtStatus
read_bounds(DtTrace *trace, DtVar *const *args, uint32_t count, int64_t numbers[3], bool *fits)
{
    numbers[0] = 0;
    numbers[2] = 1;
    *fits = true;
    for (uint32_t i = 0; i < count && *fits; i++) {
        DT_TRY(dt_constant_index(trace, args[i], &numbers[count == 1 ? 1 : i], fits));
    }
    return DT_OK;
}

DtStatus
dt_range_of(DtTrace *trace, const DtArgs *args, DtVar **out, bool *fits)
{
    int64_t numbers[3];
    bool open = trace->options.opened != NULL;
    *fits = true;
    if (open) {
        DT_TRY(may_stay_open(trace, args, &open));
    }
    if (!open) {
        DT_TRY(read_bounds(trace, args->pos, args->npos, numbers, fits));
        return *fits ? dt_range_new(trace, numbers[0], numbers[1], numbers[2], out) : DT_OK;
    }
    DtRangeVar *self = DT_KINDS_NEW(trace, RANGE, DtRangeVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->nopen = args->npos;
    self->open = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos);
    if (self->open == NULL) {
        return dt_no_memory();
    }
    memcpy(self->open, args->pos, args->npos * sizeof(DtVar *));
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_range_close(DtTrace *trace, DtVar *range, DtRangeVar **out)
{
    DtRangeVar *self = *out = (DtRangeVar *)range;
    int64_t numbers[3];
    DtVar *closed;
    bool fits;
    if (self->open == NULL) {
        return DT_OK;
    }
    DT_TRY(read_bounds(trace, self->open, self->nopen, numbers, &fits));
    assert(fits);
    DT_TRY(dt_range_new(trace, numbers[0], numbers[1], numbers[2], &closed));
    const DtRangeVar *concrete = (const DtRangeVar *)closed;
    self->start = concrete->start;
    self->stop = concrete->stop;
    self->step = concrete->step;
    self->length = concrete->length;
    self->open = NULL;
    return DT_OK;
}

static bool
read_part(PyObject *object, const char *name, int64_t *out)
{
    PyObject *part = PyObject_GetAttrString(object, name);
    int overflow = 1;
    if (part != NULL) {
        *out = PyLong_AsLongLongAndOverflow(part, &overflow);
        Py_DECREF(part);
    }
    return overflow == 0;
}

DtStatus
dt_range_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    int64_t parts[3];
    if (!read_part(object, "start", &parts[0]) || !read_part(object, "stop", &parts[1])
        || !read_part(object, "step", &parts[2])) {
        return PyErr_Occurred()
                   ? dt_raise_from_exception(trace)
                   : dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a range beyond 64 bits");
    }
    /* The three numbers have no source: the object itself is guarded. */
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_range_new(trace, parts[0], parts[1], parts[2], out));
    (*out)->source = source;
    return DT_OK;
}

static DtStatus
range_length(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtRangeVar *self;
    DT_TRY(dt_range_close(trace, var, &self));
    return dt_var_int(trace, self->length, out);
}

static DtStatus
range_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtRangeVar *self;
    DT_TRY(dt_range_close(trace, var, &self));
    if (key->type->kind == DT_KIND_SLICE) {
        int64_t start, stop, step, count;
        DT_TRY(dt_slice_bounds(trace, (DtSeqVar *)key, self->length, &start, &stop, &step, &count));
        return dt_range_new(trace, self->start + start * self->step,
                            self->start + stop * self->step, self->step * step, out);
    }
    int64_t index;
    bool ok;
    DT_TRY(dt_constant_index(trace, key, &index, &ok));
    if (!ok) {
        DtVar *args[2] = {var, key};
        return dt_fold_operator_failure(trace, "getitem", args, 2);
    }
    index += index < 0 ? self->length : 0;
    if (index < 0 || index >= self->length) {
        return dt_raise(trace, PyExc_IndexError, "range object index out of range");
    }
    return dt_var_int(trace, self->start + index * self->step, out);
}

static DtStatus
range_contains(DtTrace *trace, DtVar *var, DtVar *item, DtVar **out)
{
    DtRangeVar *self;
    DT_TRY(dt_range_close(trace, var, &self));
    int64_t value;
    bool ok;
    DT_TRY(dt_constant_index(trace, item, &value, &ok));
    if (!ok) {
        return dt_kind_base.sq_contains(trace, var, item, out); /* by equality, one by one */
    }
    int64_t distance = value - self->start;
    bool inside = self->step > 0 ? value >= self->start && value < self->stop
                                 : value <= self->start && value > self->stop;
    return dt_var_bool(trace, inside && distance % self->step == 0, out);
}

static DtStatus
range_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_iter_range(trace, self, false, out);
}

static DtStatus
range_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (left->type->kind != DT_KIND_RANGE || right->type->kind != DT_KIND_RANGE
        || (op != Py_EQ && op != Py_NE)) {
        return DT_OK;
    }
    DtRangeVar *a, *b;
    DT_TRY(dt_range_close(trace, left, &a));
    DT_TRY(dt_range_close(trace, right, &b));
    bool equal =
        a->length == b->length
        && (a->length == 0 || (a->start == b->start && (a->length == 1 || a->step == b->step)));
    return dt_var_bool(trace, equal == (op == Py_EQ), out);
}

/* How often an int occurs; other things are compared with each number. */
static DtStatus
range_count(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *value, **items, *list;
    uint32_t count;
    PyTypeObject *type;
    DT_TRY(dt_var_realize(trace, args->pos[0], &value));
    type = dt_var_python_type(trace, value);
    if (type == &PyLong_Type || type == &PyBool_Type) {
        DtVar *found;
        bool truth;
        DT_TRY(range_contains(trace, self, value, &found));
        DT_TRY(dt_var_truth(trace, found, &truth));
        return dt_var_int(trace, truth, out);
    }
    DT_TRY(dt_var_unpack(trace, self, &items, &count));
    DT_TRY(dt_var_tuple(trace, items, count, &list));
    return dt_sequence_count(trace, list, args, out);
}

static DtStatus
range_index(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtRangeVar *range;
    DtVar *value;
    DT_TRY(dt_range_close(trace, self, &range));
    DT_TRY(dt_var_realize(trace, args->pos[0], &value));
    PyTypeObject *type = dt_var_python_type(trace, value);
    if (type == &PyLong_Type || type == &PyBool_Type) {
        int64_t number;
        bool ok, truth;
        DtVar *found;
        DT_TRY(range_contains(trace, self, value, &found));
        DT_TRY(dt_var_truth(trace, found, &truth));
        if (truth) {
            DT_TRY(dt_constant_index(trace, value, &number, &ok));
            return dt_var_int(trace, (number - range->start) / range->step, out);
        }
    }
    else {
        for (int64_t i = 0; i < range->length && i < (int64_t)trace->options.unroll_limit; i++) {
            DtVar *item;
            bool equal;
            DT_TRY(dt_var_int(trace, range->start + i * range->step, &item));
            DT_TRY(dt_sequence_item_equal(trace, item, value, &equal));
            if (equal) {
                return dt_var_int(trace, i, out);
            }
        }
    }
    return dt_fold_method_failure(trace, self, "index", args->pos, 1);
}

static const DtMethodRow range_methods[] = {
    {"count", range_count, 1, 1, false},
    {"index", range_index, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

static DtStatus
get_start(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtRangeVar *range;
    DT_TRY(dt_range_close(trace, self, &range));
    return dt_var_int(trace, range->start, out);
}

static DtStatus
get_stop(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtRangeVar *range;
    DT_TRY(dt_range_close(trace, self, &range));
    return dt_var_int(trace, range->stop, out);
}

static DtStatus
get_step(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtRangeVar *range;
    DT_TRY(dt_range_close(trace, self, &range));
    return dt_var_int(trace, range->step, out);
}

static PyTypeObject *
range_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyRange_Type;
}

static PyObject *
range_as_constant(DtTrace *trace, DtVar *var)
{
    DtRangeVar *self;
    if (dt_range_close(trace, var, &self) != DT_OK) {
        return NULL;
    }
    PyObject *range =
        PyObject_CallFunction((PyObject *)&PyRange_Type, "LLL", (long long)self->start,
                              (long long)self->stop, (long long)self->step);
    return dt_trace_keep_take(trace, range);
}

static DtStatus
range_reconstruct(DtCodegen *codegen, DtVar *var)
{
    const DtRangeVar *self = (const DtRangeVar *)var;
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    if (self->open != NULL) {
        DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&PyRange_Type));
        for (uint32_t i = 0; i < self->nopen; i++) {
            DT_TRY(dt_codegen_var(codegen, self->open[i]));
        }
        return dt_codegen_call(codegen, self->nopen);
    }
    PyObject *range = range_as_constant(dt_codegen_trace(codegen), var);
    return range != NULL ? dt_codegen_const(codegen, range) : DT_ERROR;
}

static DtStatus
range_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    const DtRangeVar *self = (const DtRangeVar *)var;
    for (uint32_t i = 0; self->open != NULL && i < self->nopen; i++) {
        DT_TRY(visit(trace, self->open[i], arg));
    }
    return DT_OK;
}

static void
range_repr(DtVar *var, DtStrbuf *buf)
{
    DtRangeVar *self = (DtRangeVar *)var;
    if (self->open != NULL) {
        dt_strbuf_add(buf, "range of numbers that vary");
        return;
    }
    dt_strbuf_addf(buf, "range(%lld, %lld, %lld)", (long long)self->start, (long long)self->stop,
                   (long long)self->step);
}

static const DtGetSetRow range_getsets[] = {
    {"start", get_start},
    {"stop", get_stop},
    {"step", get_step},
    {NULL, NULL},
};

const DtVarType dt_kind_type_RANGE = {
    .kind = DT_KIND_RANGE,
    .sq_length = range_length,
    .mp_subscript = range_subscript,
    .sq_contains = range_contains,
    .tp_iter = range_iter,
    .tp_richcompare = range_compare,
    .methods = range_methods,
    .getsets = range_getsets,
    .python_type = range_type,
    .as_constant = range_as_constant,
    .reconstruct = range_reconstruct,
    .children = range_children,
    .repr = range_repr,
};
