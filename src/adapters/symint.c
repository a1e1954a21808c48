/* dyntrace.SymInt and SymFloat; see symint.h. */
#include "adapters/symint.h"

#include "compat/text.h"

typedef struct SymNumber {
    PyObject_HEAD const DtSym *sym;
    uint64_t serial;
} SymNumber;

static PyTypeObject sym_int_type;
static PyTypeObject sym_float_type;

static _Thread_local DtSymScope *current;

/* Unwinds a hook; derived from BaseException, so that a hook's own handlers let it pass. */
static PyObject *break_exception;

/* ---- Scopes ---------------------------------------------------------------------------------- */

void
dt_symint_enter(DtSymScope *scope, DtTrace *trace)
{
    scope->trace = trace;
    scope->status = DT_OK;
    scope->outer = current;
    /* Hooks of one trace see each other's numbers; the address alone could be another trace's
     * later. */
    scope->serial = (uint64_t)trace->started_ns * 0x9E3779B97F4A7C15u ^ (uintptr_t)trace;
    current = scope;
}

void
dt_symint_leave(DtSymScope *scope)
{
    current = scope->outer;
}

/* ---- Objects --------------------------------------------------------------------------------- */

PyObject *
dt_symint_new(const DtSym *sym)
{
    if (sym->op == DT_SYM_OP_CONST) {
        return sym->type == DT_SYM_INT     ? PyLong_FromLongLong(sym->hint.i)
               : sym->type == DT_SYM_FLOAT ? PyFloat_FromDouble(sym->hint.d)
                                           : PyBool_FromLong(sym->hint.i != 0);
    }
    PyTypeObject *type = sym->type == DT_SYM_FLOAT ? &sym_float_type : &sym_int_type;
    SymNumber *self = PyObject_New(SymNumber, type);
    if (self != NULL) {
        self->sym = sym;
        self->serial = current->serial;
    }
    return (PyObject *)self;
}

static bool
is_sym(PyObject *object)
{
    return Py_IS_TYPE(object, &sym_int_type) || Py_IS_TYPE(object, &sym_float_type);
}

const DtSym *
dt_symint_get(PyObject *object)
{
    if (!is_sym(object)) {
        return NULL;
    }
    SymNumber *self = (SymNumber *)object;
    if (current == NULL || self->serial != current->serial) {
        PyErr_Format(PyExc_RuntimeError, "%s used outside of the hook call that it was made for",
                     Py_TYPE(object)->tp_name);
        return NULL;
    }
    return self->sym;
}

/* A break or restart can't pass through Python frames: it waits in the scope, and an exception
 * unwinds. */
static void *
unwind(DtStatus status)
{
    if (status != DT_ERROR) {
        current->status = status;
        PyErr_SetString(break_exception, "graph break in an adapter's hook");
    }
    return NULL;
}

/* The operand as an expression; *out = NULL for what is no number. */
static int
operand(PyObject *object, const DtSym **out)
{
    DtArena *arena = &current->trace->arena;
    *out = NULL;
    if (is_sym(object)) {
        *out = dt_symint_get(object);
        return *out == NULL ? -1 : 0;
    }
    if (PyBool_Check(object) || PyLong_CheckExact(object)) {
        int overflow;
        long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            return 0;
        }
        *out = dt_sym_int(arena, value);
    }
    else if (PyFloat_CheckExact(object)) {
        *out = dt_sym_float(arena, PyFloat_AS_DOUBLE(object));
    }
    else {
        return 0;
    }
    if (*out == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* The operand as it is in the call being traced, guarded. */
static PyObject *
specialized(PyObject *object)
{
    const DtSym *sym = dt_symint_get(object);
    if (sym == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(object);
    }
    DtStatus status = dt_trace_specialize(current->trace, sym);
    if (status != DT_OK) {
        return unwind(status);
    }
    return sym->type == DT_SYM_FLOAT ? PyFloat_FromDouble(sym->hint.d)
                                     : PyLong_FromLongLong(sym->hint.i);
}

/* What has no symbolic form is computed on the numbers of this call. */
static PyObject *
concrete(binaryfunc compute, PyObject *left, PyObject *right)
{
    PyObject *result = NULL;
    PyObject *l = specialized(left);
    PyObject *r = l == NULL ? NULL : specialized(right);
    if (r != NULL) {
        result = compute(l, r);
    }
    Py_XDECREF(l);
    Py_XDECREF(r);
    return result;
}

static int
in_scope(PyObject *left, PyObject *right)
{
    return (!is_sym(left) || dt_symint_get(left) != NULL)
           && (!is_sym(right) || dt_symint_get(right) != NULL);
}

static PyObject *
binary(DtSymOp op, binaryfunc compute, PyObject *left, PyObject *right)
{
    const DtSym *a, *b, *result;
    if (!in_scope(left, right) || operand(left, &a) < 0 || operand(right, &b) < 0) {
        return NULL;
    }
    if (a == NULL || b == NULL) {
        if (PyLong_Check(left) || PyLong_Check(right)) {
            return concrete(compute, left, right); /* an int beyond int64 */
        }
        Py_RETURN_NOTIMPLEMENTED;
    }
    DtStatus status = dt_sym_binary(&current->trace->arena, op, a, b, &result);
    if (status != DT_OK) {
        return unwind(status);
    }
    return result == NULL ? concrete(compute, left, right) : dt_symint_new(result);
}

#define BINARY(NAME, OP, COMPUTE)                                                                  \
    static PyObject *NAME(PyObject *left, PyObject *right)                                         \
    {                                                                                              \
        return binary(DT_SYM_OP_##OP, COMPUTE, left, right);                                       \
    }
BINARY(sym_add, ADD, PyNumber_Add)
BINARY(sym_subtract, SUB, PyNumber_Subtract)
BINARY(sym_multiply, MUL, PyNumber_Multiply)
BINARY(sym_true_divide, TRUEDIV, PyNumber_TrueDivide)
BINARY(sym_floor_divide, FLOORDIV, PyNumber_FloorDivide)
BINARY(sym_remainder, MOD, PyNumber_Remainder)

static PyObject *
unary(DtSymOp op, PyObject *self)
{
    const DtSym *a = dt_symint_get(self), *result;
    if (a == NULL) {
        return NULL;
    }
    DtStatus status = dt_sym_unary(&current->trace->arena, op, a, &result);
    if (status != DT_OK) {
        return unwind(status);
    }
    if (result != NULL) {
        return dt_symint_new(result);
    }
    PyObject *number = specialized(self);
    PyObject *answer = number == NULL        ? NULL
                       : op == DT_SYM_OP_NEG ? PyNumber_Negative(number)
                                             : PyNumber_Absolute(number);
    Py_XDECREF(number);
    return answer;
}

static PyObject *
sym_negative(PyObject *self)
{
    return unary(DT_SYM_OP_NEG, self);
}

static PyObject *
sym_absolute(PyObject *self)
{
    return unary(DT_SYM_OP_ABS, self);
}

static PyObject *
sym_positive(PyObject *self)
{
    return Py_NewRef(self);
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* 1, 0, or -1 with an exception. */
static int
decide(const DtSym *condition)
{
    bool truth;
    if (condition->op == DT_SYM_OP_CONST) {
        return condition->hint.i != 0;
    }
    DtStatus status = dt_trace_decide(current->trace, condition, &truth);
    if (status != DT_OK) {
        unwind(status);
        return -1;
    }
    return truth;
}

static PyObject *
sym_richcompare(PyObject *left, PyObject *right, int op)
{
    static const DtSymOp ops[] = {[Py_LT] = DT_SYM_OP_LT, [Py_LE] = DT_SYM_OP_LE,
                                  [Py_EQ] = DT_SYM_OP_EQ, [Py_NE] = DT_SYM_OP_NE,
                                  [Py_GT] = DT_SYM_OP_GT, [Py_GE] = DT_SYM_OP_GE};
    const DtSym *a, *b, *condition;
    if (!in_scope(left, right) || operand(left, &a) < 0 || operand(right, &b) < 0) {
        return NULL;
    }
    if (a == NULL || b == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    DtStatus status = dt_sym_binary(&current->trace->arena, ops[op], a, b, &condition);
    if (status != DT_OK) {
        return unwind(status);
    }
    if (condition == NULL) {
        PyObject *l = specialized(left), *r = l == NULL ? NULL : specialized(right);
        PyObject *answer = r == NULL ? NULL : PyObject_RichCompare(l, r, op);
        Py_XDECREF(l);
        Py_XDECREF(r);
        return answer;
    }
    int truth = decide(condition);
    return truth < 0 ? NULL : PyBool_FromLong(truth);
}

static int
sym_bool(PyObject *self)
{
    const DtSym *sym = dt_symint_get(self), *condition;
    if (sym == NULL) {
        return -1;
    }
    if (sym->type == DT_SYM_BOOL) {
        return decide(sym);
    }
    DtArena *arena = &current->trace->arena;
    const DtSym *zero = sym->type == DT_SYM_FLOAT ? dt_sym_float(arena, 0.0) : dt_sym_int(arena, 0);
    if (zero == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    DtStatus status = dt_sym_binary(arena, DT_SYM_OP_NE, sym, zero, &condition);
    if (status != DT_OK || condition == NULL) {
        unwind(status == DT_OK ? dt_trace_specialize(current->trace, sym) : status);
        return PyErr_Occurred() ? -1 : sym->hint.i != 0;
    }
    return decide(condition);
}

static PyObject *
sym_float(PyObject *self)
{
    PyObject *number = specialized(self);
    PyObject *result = number == NULL ? NULL : PyNumber_Float(number);
    Py_XDECREF(number);
    return result;
}

static PyObject *
sym_int(PyObject *self)
{
    PyObject *number = specialized(self);
    PyObject *result = number == NULL ? NULL : PyNumber_Long(number);
    Py_XDECREF(number);
    return result;
}

static Py_hash_t
sym_hash(PyObject *self)
{
    PyObject *number = specialized(self);
    Py_hash_t hash = number == NULL ? -1 : PyObject_Hash(number);
    Py_XDECREF(number);
    return hash;
}

static PyObject *
sym_repr(PyObject *self)
{
    DtStrbuf buf = {0};
    const DtSym *sym = dt_symint_get(self);
    if (sym == NULL) {
        PyErr_Clear(); /* a repr must work everywhere, also after the trace */
        return PyUnicode_FromFormat("<%s of a finished trace>", Py_TYPE(self)->tp_name);
    }
    dt_sym_print(sym, &buf);
    return dt_text_take(&buf);
}

#define NUMBER_SLOTS                                                                               \
    .nb_add = sym_add, .nb_subtract = sym_subtract, .nb_multiply = sym_multiply,                   \
    .nb_true_divide = sym_true_divide, .nb_floor_divide = sym_floor_divide,                        \
    .nb_remainder = sym_remainder, .nb_negative = sym_negative, .nb_positive = sym_positive,       \
    .nb_absolute = sym_absolute, .nb_bool = sym_bool, .nb_int = sym_int, .nb_float = sym_float

static PyNumberMethods int_methods = {NUMBER_SLOTS, .nb_index = sym_int};
static PyNumberMethods float_methods = {NUMBER_SLOTS};

#define TYPE_SLOTS                                                                                 \
    .tp_basicsize = sizeof(SymNumber),                                                             \
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, .tp_repr = sym_repr,       \
    .tp_hash = sym_hash, .tp_richcompare = sym_richcompare

static PyTypeObject sym_int_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.SymInt",
    .tp_doc =
        PyDoc_STR("A size or int that a compiled function is not specialised on. Arithmetic stays "
                  "symbolic; comparing, testing or converting it answers for the call being "
                  "traced and adds a guard."),
    .tp_as_number = &int_methods,
    TYPE_SLOTS,
};

static PyTypeObject sym_float_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dyntrace.SymFloat",
    .tp_doc = PyDoc_STR("A float that a compiled function is not specialised on; see SymInt."),
    .tp_as_number = &float_methods,
    TYPE_SLOTS,
};

int
dt_symint_add(PyObject *module)
{
    if (break_exception == NULL) {
        break_exception = PyErr_NewException("dyntrace.TraceBreak", PyExc_BaseException, NULL);
    }
    if (break_exception == NULL || PyType_Ready(&sym_int_type) < 0
        || PyType_Ready(&sym_float_type) < 0
        || PyModule_AddObjectRef(module, "SymInt", (PyObject *)&sym_int_type) < 0
        || PyModule_AddObjectRef(module, "SymFloat", (PyObject *)&sym_float_type) < 0) {
        return -1;
    }
    return 0;
}
