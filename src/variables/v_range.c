/* Ranges of concrete numbers: the bounds of range() are specialised. */
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
                   ? dt_break_from_exception(trace)
                   : dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a range beyond 64 bits");
    }
    /* The three numbers have no source: the object itself is guarded. */
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    DT_TRY(dt_range_new(trace, parts[0], parts[1], parts[2], out));
    (*out)->source = source;
    return DT_OK;
}

static DtStatus
range_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtRangeVar *)self)->length, out);
}

static DtStatus
range_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtRangeVar *self = (DtRangeVar *)var;
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
    DtRangeVar *self = (DtRangeVar *)var;
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
    DtRangeVar *a = (DtRangeVar *)left, *b = (DtRangeVar *)right;
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
    DtRangeVar *range = (DtRangeVar *)self;
    DtVar *value;
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
    return dt_var_int(trace, ((DtRangeVar *)self)->start, out);
}

static DtStatus
get_stop(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtRangeVar *)self)->stop, out);
}

static DtStatus
get_step(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtRangeVar *)self)->step, out);
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
    DtRangeVar *self = (DtRangeVar *)var;
    PyObject *range =
        PyObject_CallFunction((PyObject *)&PyRange_Type, "LLL", (long long)self->start,
                              (long long)self->stop, (long long)self->step);
    return dt_trace_keep_take(trace, range);
}

static DtStatus
range_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    PyObject *range = range_as_constant(dt_codegen_trace(codegen), var);
    return range != NULL ? dt_codegen_const(codegen, range) : DT_ERROR;
}

static void
range_repr(DtVar *var, DtStrbuf *buf)
{
    DtRangeVar *self = (DtRangeVar *)var;
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
    .repr = range_repr,
};
