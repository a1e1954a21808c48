/* Constants: None, bools, numbers, strings, bytes known while tracing.
 *
 * Operations are folded by calling the real type's slots, which is safe for
 * exact builtin types only: their slots run no user code.  What would make a
 * huge object or print a warning is a graph break instead.
 *
 * Not in here: numbers that are not specialised (v_symbolic.c), tuples of
 * constants (v_tuple.c).
 */
#include <math.h>

#include "compat/set.h"
#include "variables/fold.h"
#include "variables/text.h"

/* Folding never makes an object beyond these sizes. */
#define MAX_FOLDED_ITEMS 1000000
#define MAX_FOLDED_BITS 100000

bool
dt_constant_is_safe(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyUnicode_Type
        || type == &PyBool_Type || type == &PyBytes_Type || type == &PyComplex_Type
        || value == Py_None || value == Py_Ellipsis || type == &PyRange_Type) {
        return true;
    }
    if (type == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)value;
        return dt_constant_is_safe(slice->start) && dt_constant_is_safe(slice->stop)
               && dt_constant_is_safe(slice->step);
    }
    if (type == &PyTuple_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
            if (!dt_constant_is_safe(PyTuple_GET_ITEM(value, i))) {
                return false;
            }
        }
        return true;
    }
    if (type == &PyFrozenSet_Type) {
        PyObject *item;
        Py_ssize_t slot = 0;
        while (dt_set_next(value, &slot, &item)) {
            if (!dt_constant_is_safe(item)) {
                return false;
            }
        }
        return true;
    }
    return false;
}

bool
dt_constant_has_nan(PyObject *value)
{
    if (PyTuple_Check(value)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
            if (dt_constant_has_nan(PyTuple_GET_ITEM(value, i))) {
                return true;
            }
        }
        return false;
    }
    return (PyFloat_Check(value) && isnan(PyFloat_AS_DOUBLE(value)))
           || (PyComplex_Check(value)
               && (isnan(PyComplex_RealAsDouble(value)) || isnan(PyComplex_ImagAsDouble(value))));
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Constants that are containers become trackers of their kind; the object itself stays known, so
 * that a tuple written in the code is returned as that tuple. */
static DtStatus
container_const(DtTrace *trace, PyObject *value, DtVar **out)
{
    if (PyFrozenSet_CheckExact(value)) {
        return dt_build_known(trace, value, out);
    }
    const DtSource *source = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, value, 0);
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (source == NULL || items == NULL) {
        return source == NULL ? DT_ERROR : dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(dt_var_const(trace, PyTuple_GET_ITEM(value, i), &items[i]));
    }
    DT_TRY(dt_var_tuple(trace, items, (uint32_t)count, out));
    (*out)->source = source;
    return DT_OK;
}

DtStatus
dt_var_const(DtTrace *trace, PyObject *value, DtVar **out)
{
    if (PyTuple_CheckExact(value) || PyFrozenSet_CheckExact(value)) {
        return container_const(trace, value, out);
    }
    DT_TRY(dt_trace_keep(trace, value));
    DtConstVar *var = DT_KINDS_NEW(trace, CONSTANT, DtConstVar, NULL);
    if (var == NULL) {
        return DT_ERROR;
    }
    var->value = value;
    *out = &var->base;
    return DT_OK;
}

DtStatus
dt_var_const_take(DtTrace *trace, PyObject *value, DtVar **out)
{
    if (value == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_var_const(trace, value, out);
    Py_DECREF(value);
    return status;
}

DtStatus
dt_var_int(DtTrace *trace, int64_t value, DtVar **out)
{
    return dt_var_const_take(trace, PyLong_FromLongLong(value), out);
}

DtStatus
dt_var_bool(DtTrace *trace, bool value, DtVar **out)
{
    return dt_var_const(trace, value ? Py_True : Py_False, out);
}

static DtStatus
wrap_items(DtTrace *trace, PyObject *sequence, DtVar **out)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
        Py_INCREF(item);
        DT_TRY(dt_constant_wrap_take(trace, item, &items[i]));
    }
    return PyTuple_CheckExact(sequence) ? dt_var_tuple(trace, items, (uint32_t)count, out)
                                        : dt_var_list(trace, items, (uint32_t)count, out);
}

static DtStatus
wrap_dict(DtTrace *trace, PyObject *dict, DtVar **out)
{
    DtVar **pairs = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2 * PyDict_GET_SIZE(dict) + 1);
    if (pairs == NULL) {
        return dt_no_memory();
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    uint32_t count = 0;
    while (PyDict_Next(dict, &position, &key, &value)) {
        DT_TRY(dt_constant_wrap_take(trace, Py_NewRef(key), &pairs[2 * count]));
        DT_TRY(dt_constant_wrap_take(trace, Py_NewRef(value), &pairs[2 * count + 1]));
        count++;
    }
    return dt_var_dict(trace, pairs, count, out);
}

DtStatus
dt_constant_wrap_take(DtTrace *trace, PyObject *value, DtVar **out)
{
    if (value == NULL) {
        return dt_raise_from_exception(trace);
    }
    DtStatus status;
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
        status = wrap_items(trace, value, out);
    }
    else if (PyDict_CheckExact(value)) {
        status = wrap_dict(trace, value, out);
    }
    else if (PyByteArray_CheckExact(value)) {
        status = dt_bytearray_wrap(trace, value, out);
    }
    else if (PyAnySet_CheckExact(value)) {
        status = dt_set_wrap(trace, value, out);
    }
    else if (dt_constant_is_safe(value) || value == Py_NotImplemented) {
        status = dt_var_const(trace, value, out);
    }
    else {
        status = dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a computed value of type %s",
                          Py_TYPE(value)->tp_name);
    }
    Py_DECREF(value);
    return status;
}

DtStatus
dt_constant_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                  DtVar **out)
{
    bool singleton = object == Py_None || PyBool_Check(object) || object == Py_Ellipsis
                     || object == Py_NotImplemented;
    /* Which NaN it is decides whether it is found in a container. */
    if (singleton || dt_constant_has_nan(object)) {
        DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    }
    else if (!trusted) {
        DT_TRY(dt_guard_constant(trace, source, object));
        DT_TRY(dt_var_const(trace, object, out));
        (*out)->source = source; /* a later call has an equal object there */
        return DT_OK;
    }
    return dt_var_const(trace, object, out);
}

/* ---- Folding --------------------------------------------------------------------------------- */

static PyObject *
power(PyObject *left, PyObject *right)
{
    return PyNumber_Power(left, right, Py_None);
}

static PyObject *
power_in_place(PyObject *left, PyObject *right)
{
    return PyNumber_InPlacePower(left, right, Py_None);
}

static const binaryfunc number_functions[] = {
    [DT_BINARY_ADD] = PyNumber_Add,
    [DT_BINARY_AND] = PyNumber_And,
    [DT_BINARY_FLOOR_DIVIDE] = PyNumber_FloorDivide,
    [DT_BINARY_LSHIFT] = PyNumber_Lshift,
    [DT_BINARY_MATRIX_MULTIPLY] = PyNumber_MatrixMultiply,
    [DT_BINARY_MULTIPLY] = PyNumber_Multiply,
    [DT_BINARY_REMAINDER] = PyNumber_Remainder,
    [DT_BINARY_OR] = PyNumber_Or,
    [DT_BINARY_POWER] = power,
    [DT_BINARY_RSHIFT] = PyNumber_Rshift,
    [DT_BINARY_SUBTRACT] = PyNumber_Subtract,
    [DT_BINARY_TRUE_DIVIDE] = PyNumber_TrueDivide,
    [DT_BINARY_XOR] = PyNumber_Xor,
};

static double
bit_length(PyObject *value)
{
    return PyLong_Check(value) ? (double)_PyLong_NumBits(value) : 0.0;
}

static Py_ssize_t
item_count(PyObject *value)
{
    return PyUnicode_Check(value)     ? PyUnicode_GET_LENGTH(value)
           : PyBytes_Check(value)     ? PyBytes_GET_SIZE(value)
           : PyTuple_Check(value)     ? PyTuple_GET_SIZE(value)
           : PyByteArray_Check(value) ? PyByteArray_GET_SIZE(value)
                                      : -1;
}

/* Whether the result could be huge. */
static bool
is_too_large(DtBinaryOp op, PyObject *left, PyObject *right)
{
    if (op == DT_BINARY_MULTIPLY) {
        Py_ssize_t items = item_count(left) >= 0 ? item_count(left) : item_count(right);
        PyObject *times = item_count(left) >= 0 ? right : left;
        if (items >= 0) {
            if (!PyLong_Check(times) || bit_length(times) > 62) {
                return PyLong_Check(times);
            }
            double count = (double)PyLong_AsLongLong(times) * (double)items;
            return count > MAX_FOLDED_ITEMS;
        }
        return bit_length(left) + bit_length(right) > MAX_FOLDED_BITS;
    }
    if (!PyLong_Check(left) || !PyLong_Check(right)) {
        return false;
    }
    if (op == DT_BINARY_POWER) {
        if (bit_length(right) > 62) {
            return bit_length(left) > 1;
        }
        double exponent = (double)PyLong_AsLongLong(right);
        return exponent > 0 && exponent * bit_length(left) > MAX_FOLDED_BITS;
    }
    if (op == DT_BINARY_LSHIFT) {
        return bit_length(right) > 62
               || (double)PyLong_AsLongLong(right) + bit_length(left) > MAX_FOLDED_BITS;
    }
    return false;
}

PyObject *
dt_constant_operate(DtBinaryOp op, PyObject *left, PyObject *right)
{
    static const binaryfunc in_place[] = {
        [DT_BINARY_ADD] = PyNumber_InPlaceAdd,
        [DT_BINARY_AND] = PyNumber_InPlaceAnd,
        [DT_BINARY_FLOOR_DIVIDE] = PyNumber_InPlaceFloorDivide,
        [DT_BINARY_LSHIFT] = PyNumber_InPlaceLshift,
        [DT_BINARY_MATRIX_MULTIPLY] = PyNumber_InPlaceMatrixMultiply,
        [DT_BINARY_MULTIPLY] = PyNumber_InPlaceMultiply,
        [DT_BINARY_REMAINDER] = PyNumber_InPlaceRemainder,
        [DT_BINARY_OR] = PyNumber_InPlaceOr,
        [DT_BINARY_POWER] = power_in_place,
        [DT_BINARY_RSHIFT] = PyNumber_InPlaceRshift,
        [DT_BINARY_SUBTRACT] = PyNumber_InPlaceSubtract,
        [DT_BINARY_TRUE_DIVIDE] = PyNumber_InPlaceTrueDivide,
        [DT_BINARY_XOR] = PyNumber_InPlaceXor,
    };
    return DT_BINARY_IS_INPLACE(op) ? in_place[DT_BINARY_PLAIN(op)](left, right)
                                    : number_functions[op](left, right);
}

bool
dt_constant_is_large_product(PyObject *left, PyObject *right)
{
    return is_too_large(DT_BINARY_MULTIPLY, left, right);
}

DtStatus
dt_constant_binary(DtTrace *trace, DtBinaryOp op, PyObject *left, PyObject *right, DtVar **out)
{
    DtBinaryOp plain = (DtBinaryOp)DT_BINARY_PLAIN(op);
    if (!dt_constant_is_safe(left) || !dt_constant_is_safe(right)) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    if (is_too_large(plain, left, right)) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the result of %s would be very large",
                        dt_canonical_binary_symbol((int)plain));
    }
    return dt_constant_wrap_take(trace, dt_constant_operate(op, left, right), out);
}

DtStatus
dt_constant_compare(DtTrace *trace, int op, PyObject *left, PyObject *right, DtVar **out)
{
    if (!dt_constant_is_safe(left) || !dt_constant_is_safe(right)) {
        *out = dt_not_implemented(trace);
        return DT_OK;
    }
    return dt_constant_wrap_take(trace, PyObject_RichCompare(left, right, op), out);
}

static bool
is_format(DtBinaryOp op, PyObject *left)
{
    return DT_BINARY_PLAIN(op) == DT_BINARY_REMAINDER
           && (PyUnicode_CheckExact(left) || PyBytes_CheckExact(left));
}

static DtStatus
constant_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    PyObject *a = dt_var_peek_constant(left), *b = dt_var_peek_constant(right);
    if (a != NULL && is_format(op, a)) {
        return dt_text_percent(trace, a, right, out);
    }
    return a != NULL && b != NULL ? dt_constant_binary(trace, op, a, b, out) : DT_OK;
}

static DtStatus
constant_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    PyObject *a = dt_var_peek_constant(left), *b = dt_var_peek_constant(right);
    return a != NULL && b != NULL ? dt_constant_compare(trace, op, a, b, out) : DT_OK;
}

static PyObject *
value_of(DtVar *self)
{
    return ((DtConstVar *)self)->value;
}

static DtStatus
constant_negative(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_constant_wrap_take(trace, PyNumber_Negative(value_of(self)), out);
}

static DtStatus
constant_positive(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_constant_wrap_take(trace, PyNumber_Positive(value_of(self)), out);
}

static DtStatus
constant_invert(DtTrace *trace, DtVar *self, DtVar **out)
{
    if (PyBool_Check(value_of(self))) {
        /* Newer versions warn here; the warning belongs to the user's line. */
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "~ of a bool");
    }
    return dt_constant_wrap_take(trace, PyNumber_Invert(value_of(self)), out);
}

static DtStatus
constant_bool(DtTrace *trace, DtVar *self, bool *out)
{
    if (value_of(self) == Py_NotImplemented) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the truth of NotImplemented");
    }
    int truth = PyObject_IsTrue(value_of(self));
    if (truth < 0) {
        return dt_raise_from_exception(trace);
    }
    *out = truth != 0;
    return DT_OK;
}

/* ---- Strings and bytes as containers --------------------------------------------------------- */

static DtStatus
constant_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    Py_ssize_t length = PyObject_Size(value_of(self));
    return length < 0 ? dt_raise_from_exception(trace) : dt_var_int(trace, length, out);
}

static DtStatus
constant_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    PyObject *index = dt_var_as_constant(trace, key);
    if (index == NULL || !dt_constant_is_safe(index)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a constant indexed by a %s",
                        key->type->name);
    }
    return dt_constant_wrap_take(trace, PyObject_GetItem(value_of(self), index), out);
}

static DtStatus
constant_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    PyObject *value = dt_var_as_constant(trace, item);
    if (value == NULL || !dt_constant_is_safe(value)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a %s looked for in a constant",
                        item->type->name);
    }
    int found = PySequence_Contains(value_of(self), value);
    return found < 0 ? dt_raise_from_exception(trace) : dt_var_bool(trace, found != 0, out);
}

static DtStatus
constant_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    PyObject *value = value_of(self);
    if (item_count(value) < 0) {
        return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not iterable",
                        Py_TYPE(value)->tp_name);
    }
    if (item_count(value) > (Py_ssize_t)trace->options.unroll_limit) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a string of %zd characters is iterated over",
                        item_count(value));
    }
    return dt_iter_constant(trace, self, out);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static DtStatus
constant_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    PyObject *value = value_of(self);
    if (!dt_constant_is_safe(value)) {
        return dt_kind_base.tp_getattro(trace, self, name, out);
    }
    PyObject *found = PyObject_GetAttr(value, name);
    if (found == NULL) {
        return dt_raise_from_exception(trace);
    }
    if (dt_constant_is_safe(found)) {
        return dt_constant_wrap_take(trace, found, out);
    }
    found = dt_trace_keep_take(trace, found);
    return found != NULL ? dt_build_known(trace, found, out) : DT_ERROR;
}

static PyTypeObject *
constant_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return Py_TYPE(value_of(self));
}

static PyObject *
constant_as_constant(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return value_of(self);
}

static DtStatus
constant_reconstruct(DtCodegen *codegen, DtVar *self)
{
    return dt_codegen_const(codegen, value_of(self));
}

static void
constant_repr(DtVar *self, DtStrbuf *buf)
{
    PyObject *value = value_of(self);
    PyObject *repr = dt_constant_is_safe(value) ? PyObject_Repr(value) : NULL;
    dt_strbuf_add(buf, repr != NULL ? dt_kinds_text(repr) : Py_TYPE(value)->tp_name);
    PyErr_Clear(); /* no memory for the repr: the type's name stands for it */
    Py_XDECREF(repr);
}

const DtVarType dt_kind_type_CONSTANT = {
    .kind = DT_KIND_CONSTANT,
    .nb_binary = constant_binary,
    .nb_negative = constant_negative,
    .nb_positive = constant_positive,
    .nb_invert = constant_invert,
    .nb_bool = constant_bool,
    .sq_length = constant_length,
    .mp_subscript = constant_subscript,
    .sq_contains = constant_contains,
    .tp_getattro = constant_getattro,
    .tp_iter = constant_iter,
    .tp_richcompare = constant_compare,
    .python_type = constant_type,
    .as_constant = constant_as_constant,
    .reconstruct = constant_reconstruct,
    .repr = constant_repr,
};

DtStatus
dt_constant_index(DtTrace *trace, DtVar *var, int64_t *out, bool *ok)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    var = dt_payload_index(var);
    if (var->type->kind == DT_KIND_ARRAY) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "an index that is an array");
    }
    if (var->type->kind == DT_KIND_INSTANCE) {
        DtVar *number;
        DT_TRY(dt_instance_convert(trace, var, (const char *const[]){"__index__", NULL}, &number));
        var = number != NULL ? number : var;
    }
    PyObject *value = dt_var_as_constant(trace, var);
    *ok = value != NULL && PyLong_Check(value);
    if (!*ok) {
        return DT_OK;
    }
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "an index beyond 64 bits");
    }
    return DT_OK;
}
