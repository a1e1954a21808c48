/* Slices: three trackers.  Bounds are specialised only when a sequence asks. */
#include "variables/fold.h"

DtStatus
dt_var_slice(DtTrace *trace, DtVar *start, DtVar *stop, DtVar *step, DtVar **out)
{
    DtVar *items[3] = {start, stop, step};
    DtVar *made;
    DT_TRY(dt_sequence_new(trace, DT_KIND_SLICE, items, 3, &made));
    ((DtSeqVar *)made)->cls = &PySlice_Type;
    *out = made;
    return DT_OK;
}

/* Parts of an input slice have no source of their own, so they are part of the guard. */
DtStatus
dt_slice_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    PySliceObject *slice = (PySliceObject *)object;
    if (!dt_constant_is_safe(object)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a slice with bounds that are no numbers");
    }
    if (!trusted && source != NULL && source->kind != DT_SOURCE_OBJECT) {
        DT_TRY(dt_guard_constant(trace, source, object));
    }
    DtVar *parts[3];
    PyObject *values[3] = {slice->start, slice->stop, slice->step};
    for (int i = 0; i < 3; i++) {
        DT_TRY(dt_var_const(trace, values[i], &parts[i]));
    }
    DT_TRY(dt_var_slice(trace, parts[0], parts[1], parts[2], out));
    (*out)->source = source;
    return DT_OK;
}

DtStatus
dt_slice_bounds(DtTrace *trace, DtSeqVar *slice, int64_t length, int64_t *start, int64_t *stop,
                int64_t *step, int64_t *count)
{
    static const int order[] = {2, 0, 1}; /* as CPython asks for them */
    PyObject *parts[3];
    for (int k = 0; k < 3; k++) {
        int i = order[k];
        DtVar *part, *number = NULL;
        DT_TRY(dt_var_realize(trace, slice->items[i], &part));
        if (part->type->kind == DT_KIND_ARRAY) {
            return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "a slice whose bound is an array");
        }
        if (part->type->kind == DT_KIND_INSTANCE) {
            DT_TRY(dt_instance_convert(trace, part, (const char *const[]){"__index__", NULL},
                                       &number));
        }
        parts[i] = dt_var_as_constant(trace, number != NULL ? number : part);
        if (parts[i] == NULL || (parts[i] != Py_None && !PyLong_Check(parts[i]))) {
            return dt_raise(trace, PyExc_TypeError,
                            "slice indices must be integers or None or have an __index__ method");
        }
    }
    PyObject *real = PySlice_New(parts[0], parts[1], parts[2]);
    if (real == NULL) {
        return DT_ERROR;
    }
    Py_ssize_t first, last, stride;
    int failed = PySlice_Unpack(real, &first, &last, &stride);
    Py_DECREF(real);
    if (failed < 0) {
        return dt_raise_from_exception(trace);
    }
    *count = PySlice_AdjustIndices(length, &first, &last, stride);
    *start = first;
    *stop = last;
    *step = stride;
    return DT_OK;
}

static PyObject *
slice_as_constant(DtTrace *trace, DtVar *var)
{
    DtSeqVar *self = (DtSeqVar *)var;
    PyObject *parts[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = dt_var_as_constant(trace, self->items[i]);
        if (parts[i] == NULL) {
            return NULL;
        }
    }
    return dt_trace_keep_take(trace, PySlice_New(parts[0], parts[1], parts[2]));
}

static DtStatus
get_start(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = ((DtSeqVar *)self)->items[0];
    return DT_OK;
}

static DtStatus
get_stop(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = ((DtSeqVar *)self)->items[1];
    return DT_OK;
}

static DtStatus
get_step(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = ((DtSeqVar *)self)->items[2];
    return DT_OK;
}

static DtStatus
slice_indices(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    int64_t length, bounds[4];
    bool ok;
    DT_TRY(dt_constant_index(trace, args->pos[0], &length, &ok));
    if (!ok || length < 0) {
        return dt_fold_method_failure(trace, self, "indices", args->pos, 1);
    }
    DT_TRY(dt_slice_bounds(trace, (DtSeqVar *)self, length, &bounds[0], &bounds[1], &bounds[2],
                           &bounds[3]));
    if (bounds[2] >= PY_SSIZE_T_MAX || bounds[2] <= -PY_SSIZE_T_MAX) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a step beyond 64 bits"); /* clipped */
    }
    DtVar *items[3];
    for (int i = 0; i < 3; i++) {
        DT_TRY(dt_var_int(trace, bounds[i], &items[i]));
    }
    return dt_var_tuple(trace, items, 3, out);
}

static DtStatus
slice_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    if (left->type->kind != DT_KIND_SLICE || right->type->kind != DT_KIND_SLICE) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_sequence_compare(trace, op, (DtSeqVar *)left, (DtSeqVar *)right, out);
}

static PyTypeObject *
slice_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PySlice_Type;
}

static DtStatus
slice_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    for (int i = 0; i < 3; i++) {
        DT_TRY(dt_codegen_var(codegen, ((DtSeqVar *)var)->items[i]));
    }
    return dt_codegen_op(codegen, DT_OP_BUILD_SLICE, 3);
}

static void
slice_repr(DtVar *var, DtStrbuf *buf)
{
    dt_strbuf_add(buf, "slice");
    dt_sequence_repr(var, buf);
}

static const DtMethodRow slice_methods[] = {
    {"indices", slice_indices, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

static const DtGetSetRow slice_getsets[] = {
    {"start", get_start},
    {"stop", get_stop},
    {"step", get_step},
    {NULL, NULL},
};

const DtVarType dt_kind_type_SLICE = {
    .kind = DT_KIND_SLICE,
    .tp_richcompare = slice_compare,
    .methods = slice_methods,
    .getsets = slice_getsets,
    .python_type = slice_type,
    .as_constant = slice_as_constant,
    .reconstruct = slice_reconstruct,
    .children = dt_sequence_children,
    .repr = slice_repr,
};
