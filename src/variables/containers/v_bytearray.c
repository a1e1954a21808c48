/* Bytearrays: their contents are known, as a bytes object that is exchanged
 * when they change.
 *
 *   any operation ──► performed on a real bytearray of the contents ──► result
 *                                └─ changed? ──► journal, new contents
 *
 * Invariant: the contents change only after dt_kinds_will_change(); an existing
 * bytearray has its contents guarded, and that no buffer of it is out and no array of the trace
 * shows it (shown_memory.c): an array over it could be written, or show what is written.
 *
 * Not in here: memoryviews of them (a graph break).
 */
#include "compat/bytearray.h"
#include "compat/type.h"
#include "variables/fold.h"

static DtBytesVar *
bytes_of(DtVar *self)
{
    return (DtBytesVar *)self;
}

static DtStatus
new_bytearray(DtTrace *trace, PyObject *real, const DtSource *source, DtBytesVar **out)
{
    PyObject *value = dt_trace_keep_take(trace, PyBytes_FromObject(real));
    *out = value != NULL ? DT_KINDS_NEW(trace, BYTEARRAY, DtBytesVar, source) : NULL;
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->value = value;
    return DT_OK;
}

DtStatus
dt_bytearray_wrap(DtTrace *trace, PyObject *real, DtVar **out)
{
    DtBytesVar *self;
    DT_TRY(new_bytearray(trace, real, NULL, &self));
    self->base.mutation = DT_VALUE_MUTATION_NEW;
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_bytearray_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                   DtVar **out)
{
    (void)trusted; /* contents change without what leads to them */
    if (dt_bytearray_is_shared(object)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT,
                        "a bytearray whose memory an array or a memoryview shows");
    }
    DT_TRY(dt_memory_of_bytes(trace, object, source));
    DtBytesVar *self;
    DT_TRY(new_bytearray(trace, object, source, &self));
    PyObject *copy = dt_trace_keep_take(trace, PyByteArray_FromObject(object));
    if (copy == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_constant(trace, source, copy));
    self->object = object;
    *out = &self->base;
    return DT_OK;
}

PyObject *
dt_bytearray_real(DtVar *self)
{
    return PyByteArray_FromObject(bytes_of(self)->value);
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* What the operation has made of the real bytearray becomes the contents. */
static DtStatus
take_contents(DtTrace *trace, DtVar *self, PyObject *real)
{
    PyObject *value = dt_trace_keep_take(trace, PyBytes_FromObject(real));
    if (value == NULL) {
        return DT_ERROR;
    }
    if (PyObject_RichCompareBool(value, bytes_of(self)->value, Py_EQ) == 1) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, self));
    bytes_of(self)->value = value;
    return DT_OK;
}

/* The result of an operation on `real`, which stands for `self`; takes `result`. */
static DtStatus
finish(DtTrace *trace, DtVar *self, PyObject *real, DT_STEALS PyObject *result, DtVar **out)
{
    if (result == NULL) {
        /* A method that fails half-way (extend) has changed what it had reached. */
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        DtStatus status = take_contents(trace, self, real);
        if (status != DT_OK) {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
            return status;
        }
        PyErr_Restore(type, value, traceback);
        return dt_raise_from_exception(trace);
    }
    DtStatus status = take_contents(trace, self, real);
    if (status == DT_OK && result == real) {
        *out = self;
        Py_DECREF(result);
        return DT_OK;
    }
    if (status != DT_OK) {
        Py_DECREF(result);
        return status;
    }
    return dt_constant_wrap_take(trace, result, out);
}

/* Iterables that are no containers are run through first: their items must be known. */
static DtStatus
settle(DtTrace *trace, const DtArgs *args, DtArgs *out, bool *ran)
{
    *out = *args;
    *ran = false;
    out->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    if (out->pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(dt_var_realize(trace, args->pos[i], &out->pos[i]));
        if (out->pos[i]->type->tp_iternext != NULL && out->pos[i]->type->kind != DT_KIND_INSTANCE) {
            DtVar **items;
            uint32_t count;
            DT_TRY(dt_collect_list(trace, out->pos[i], &items, &count));
            *ran = true;
            DT_TRY(dt_var_list(trace, items, count, &out->pos[i]));
        }
    }
    return DT_OK;
}

/* In place nothing can be appended that is the same memory: a BufferError. */
static DtStatus
check_own_memory(DtTrace *trace, DtVar *self, DtVar *added)
{
    return self == added
               ? dt_break(trace, DT_BREAK_MISSING_SLOT, "a bytearray that is added to itself")
               : DT_OK;
}

DtStatus
dt_bytearray_call(DtTrace *trace, DtVar *self, PyObject *descriptor, const DtArgs *args,
                  DtVar **out)
{
    DtArgs settled;
    bool ran;
    DT_TRY(settle(trace, args, &settled, &ran));
    PyObject *name = ((PyDescrObject *)descriptor)->d_name;
    if (settled.npos == 1 && PyUnicode_CompareWithASCIIString(name, "__iadd__") == 0) {
        DT_TRY(check_own_memory(trace, self, settled.pos[0]));
    }
    PyObject *real = dt_bytearray_real(self), *method = NULL, *result = NULL;
    if (real != NULL) {
        method = PyObject_GetAttr(real, name);
    }
    DtStatus status = method == NULL ? DT_ERROR : DT_OK;
    if (status == DT_OK) {
        status = dt_fold_object_call(trace, method, real, &settled, &result);
    }
    if (status == DT_OK) {
        status = finish(trace, self, real, result, out);
    }
    if (ran) {
        /* The real one fails at the item that does not fit, before it asks for the next. */
        status = dt_raised_break_if(trace, status);
    }
    Py_XDECREF(method);
    Py_XDECREF(real);
    return status;
}

static DtStatus
call_named(DtTrace *trace, DtVar *self, const char *name, DtVar **pos, uint32_t npos, DtVar **out)
{
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)&PyByteArray_Type, name);
    if (descriptor == NULL) {
        return DT_ERROR;
    }
    DtArgs args = dt_args_of(pos, npos);
    DtStatus status = dt_bytearray_call(trace, self, descriptor, &args, out);
    Py_DECREF(descriptor);
    return status;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static DtStatus
bytearray_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, PyBytes_GET_SIZE(bytes_of(self)->value), out);
}

static DtStatus
bytearray_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    return call_named(trace, self, "__getitem__", &key, 1, out);
}

static DtStatus
bytearray_ass_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar *value)
{
    DtVar *pos[2] = {key, value}, *ignored;
    return call_named(trace, self, value != NULL ? "__setitem__" : "__delitem__", pos,
                      value != NULL ? 2 : 1, &ignored);
}

static DtStatus
bytearray_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    return call_named(trace, self, "__contains__", &item, 1, out);
}

static DtStatus
bytearray_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_iter_getitem(trace, self, out);
}

static DtStatus
bytearray_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    PyObject *a = NULL, *b = NULL;
    *out = dt_not_implemented(trace);
    DT_TRY(dt_fold_value(trace, left, &a));
    DtStatus status = dt_fold_value(trace, right, &b);
    if (status == DT_OK && a != NULL && b != NULL && (PyBytes_Check(b) || PyByteArray_Check(b))
        && (PyBytes_Check(a) || PyByteArray_Check(a))) {
        status = dt_constant_wrap_take(trace, PyObject_RichCompare(a, b, op), out);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}

static DtStatus
bytearray_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    PyObject *a = NULL, *b = NULL;
    *out = dt_not_implemented(trace);
    DtBinaryOp plain = (DtBinaryOp)DT_BINARY_PLAIN(op);
    if (plain != DT_BINARY_ADD && plain != DT_BINARY_MULTIPLY && plain != DT_BINARY_REMAINDER) {
        return DT_OK;
    }
    if (op == DT_BINARY_INPLACE_ADD) {
        DT_TRY(check_own_memory(trace, left, right));
    }
    DT_TRY(dt_fold_value(trace, left, &a));
    DtStatus status = dt_fold_value(trace, right, &b);
    bool large =
        a != NULL && b != NULL && plain == DT_BINARY_MULTIPLY && dt_constant_is_large_product(a, b);
    if (status == DT_OK && large) {
        status = dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the result of * would be very large");
    }
    else if (status == DT_OK && a != NULL && b != NULL) {
        PyObject *result = dt_constant_operate(op, a, b);
        status = left->type->kind == DT_KIND_BYTEARRAY && DT_BINARY_IS_INPLACE(op)
                     ? finish(trace, left, a, result, out)
                     : dt_constant_wrap_take(trace, result, out);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}

static DtStatus
bytearray_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyObject *found = dt_type_own_lookup(&PyByteArray_Type, name);
    if (found != NULL
        && (Py_IS_TYPE(found, &PyMethodDescr_Type) || Py_IS_TYPE(found, &PyWrapperDescr_Type))) {
        DtVar *function;
        DT_TRY(dt_build_known(trace, found, &function));
        return dt_method_new(trace, function, self, out);
    }
    return dt_kind_base.tp_getattro(trace, self, name, out);
}

static PyTypeObject *
bytearray_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyByteArray_Type;
}

static DtStatus
bytearray_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    if (done) {
        return DT_OK;
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&PyByteArray_Type));
    DT_TRY(dt_codegen_const(codegen, bytes_of(self)->value));
    return dt_codegen_call(codegen, 1);
}

const DtVarType dt_kind_type_BYTEARRAY = {
    .kind = DT_KIND_BYTEARRAY,
    .nb_binary = bytearray_binary,
    .sq_length = bytearray_length,
    .mp_subscript = bytearray_subscript,
    .mp_ass_subscript = bytearray_ass_subscript,
    .sq_contains = bytearray_contains,
    .tp_getattro = bytearray_getattro,
    .tp_iter = bytearray_iter,
    .tp_richcompare = bytearray_compare,
    .python_type = bytearray_type,
    .reconstruct = bytearray_reconstruct,
};
