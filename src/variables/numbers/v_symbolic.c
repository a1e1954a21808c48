/* Symbolic numbers: Python ints, floats and bools that are not specialised.
 *
 * Arithmetic and comparison stay expressions; a branch adds a guard; whatever
 * has no symbolic form specialises (a guard on the value) and is folded like a
 * constant.
 *
 * Not in here: expressions themselves (sym.c), sizes of arrays (adapters).
 */
#include "compat/text.h"
#include "variables/kinds.h"
#include "variables/numbers/sym_math.h"

static const DtSym *
sym_of(DtVar *self)
{
    return ((DtSymVar *)self)->sym;
}

/* ---- Making ---------------------------------------------------------------------------------- */

DtStatus
dt_var_sym(DtTrace *trace, const DtSym *sym, DtVar **out)
{
    if (dt_sym_is_const(sym)) {
        switch ((DtSymType)sym->type) {
        case DT_SYM_FLOAT:
            return dt_var_const_take(trace, PyFloat_FromDouble(sym->hint.d), out);
        case DT_SYM_BOOL:
            return dt_var_bool(trace, sym->hint.i != 0, out);
        default:
            return dt_var_int(trace, sym->hint.i, out);
        }
    }
    DtSymVar *var = DT_KINDS_NEW(trace, SYMBOLIC, DtSymVar, NULL);
    if (var == NULL) {
        return DT_ERROR;
    }
    var->sym = sym;
    *out = &var->base;
    return DT_OK;
}

bool
dt_symbolic_is_among(PyObject *set, const DtSource *source)
{
    if (set == NULL) {
        return false;
    }
    DtStrbuf text = {0};
    dt_source_print(source, &text);
    PyObject *name = dt_text_take(&text);
    int found = name != NULL ? PySet_Contains(set, name) : -1;
    Py_XDECREF(name);
    PyErr_Clear(); /* MemoryError, or a key that is no UTF-8: a constant then */
    return found == 1;
}

bool
dt_symbolic_has_varied(DtTrace *trace, const DtSource *source)
{
    return dt_symbolic_is_among(trace->options.varied, source);
}

/* Input ints and floats: symbols, unless sizes and numbers are to be specialised or what is read
 * rarely changes. */
DtStatus
dt_symbolic_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                  DtVar **out)
{
    bool is_float = PyFloat_CheckExact(object);
    DtNumber hint = {0};
    int overflow = 0;
    if (is_float) {
        hint.d = PyFloat_AS_DOUBLE(object);
    }
    else {
        hint.i = PyLong_AsLongLongAndOverflow(object, &overflow);
    }
    bool specialise = trace->options.dynamic == 0
                      || (trace->options.dynamic < 0 && dt_build_is_static(trace, source)
                          && !dt_symbolic_has_varied(trace, source));
    if (specialise || overflow != 0 || trusted) {
        return dt_constant_build(trace, object, source, trusted, out);
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    DtSymVar *var = DT_KINDS_NEW(trace, SYMBOLIC, DtSymVar, source);
    if (var == NULL) {
        return DT_ERROR;
    }
    *out = &var->base;
    return dt_trace_symbol(trace, source, is_float ? DT_SYM_FLOAT : DT_SYM_INT, hint, &var->sym);
}

const DtSym *
dt_symbolic_of(DtTrace *trace, DtVar *var)
{
    var = dt_var_peek(var);
    if (var->type->kind == DT_KIND_SYMBOLIC) {
        return sym_of(var);
    }
    PyObject *value = dt_var_peek_constant(var);
    if (value == NULL) {
        return NULL;
    }
    if (PyBool_Check(value)) {
        return dt_sym_bool(&trace->arena, value == Py_True);
    }
    if (PyFloat_CheckExact(value)) {
        return dt_sym_float(&trace->arena, PyFloat_AS_DOUBLE(value));
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0 ? dt_sym_int(&trace->arena, number) : NULL;
    }
    return NULL;
}

/* The value as a Python object, guarded. */
static PyObject *
symbolic_as_constant(DtTrace *trace, DtVar *self)
{
    const DtSym *sym = sym_of(self);
    if (dt_trace_specialize(trace, sym) != DT_OK) {
        return NULL;
    }
    switch ((DtSymType)sym->type) {
    case DT_SYM_FLOAT:
        return dt_trace_keep_take(trace, PyFloat_FromDouble(sym->hint.d));
    case DT_SYM_BOOL:
        return sym->hint.i ? Py_True : Py_False;
    default:
        return dt_trace_keep_take(trace, PyLong_FromLongLong(sym->hint.i));
    }
}

/* ---- Operators ------------------------------------------------------------------------------- */

#define NO_SYM_OP DT_SYM_OP_COUNT

static const uint8_t binary_sym_ops[] = {
    [DT_BINARY_ADD] = DT_SYM_OP_ADD,
    [DT_BINARY_AND] = DT_SYM_OP_BITAND,
    [DT_BINARY_FLOOR_DIVIDE] = DT_SYM_OP_FLOORDIV,
    [DT_BINARY_LSHIFT] = DT_SYM_OP_LSHIFT,
    [DT_BINARY_MATRIX_MULTIPLY] = NO_SYM_OP,
    [DT_BINARY_MULTIPLY] = DT_SYM_OP_MUL,
    [DT_BINARY_REMAINDER] = DT_SYM_OP_MOD,
    [DT_BINARY_OR] = DT_SYM_OP_BITOR,
    [DT_BINARY_POWER] = DT_SYM_OP_POW,
    [DT_BINARY_RSHIFT] = DT_SYM_OP_RSHIFT,
    [DT_BINARY_SUBTRACT] = DT_SYM_OP_SUB,
    [DT_BINARY_TRUE_DIVIDE] = DT_SYM_OP_TRUEDIV,
    [DT_BINARY_XOR] = DT_SYM_OP_BITXOR,
};

static const uint8_t compare_sym_ops[] = {
    [Py_LT] = DT_SYM_OP_LT, [Py_LE] = DT_SYM_OP_LE, [Py_EQ] = DT_SYM_OP_EQ,
    [Py_NE] = DT_SYM_OP_NE, [Py_GT] = DT_SYM_OP_GT, [Py_GE] = DT_SYM_OP_GE,
};

/* Small whole powers of ints are products; those of floats are not (pow rounds differently). */
static DtStatus
power_as_product(DtTrace *trace, const DtSym *base, const DtSym *exponent, const DtSym **out)
{
    *out = NULL;
    if (base->type != DT_SYM_INT || exponent->type != DT_SYM_INT || !dt_sym_is_const(exponent)
        || exponent->hint.i < 1 || exponent->hint.i > 4) {
        return DT_OK;
    }
    const DtSym *product = base;
    for (int64_t i = 1; i < exponent->hint.i && product != NULL; i++) {
        DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_MUL, product, base, &product));
    }
    *out = product;
    return DT_OK;
}

static DtStatus
symbolic_expression(DtTrace *trace, DtBinaryOp op, const DtSym *a, const DtSym *b,
                    const DtSym **out)
{
    *out = NULL;
    if (op == DT_BINARY_POWER && a->type != DT_SYM_FLOAT && b->type != DT_SYM_FLOAT) {
        return power_as_product(trace, a, b, out);
    }
    bool bools = a->type == DT_SYM_BOOL && b->type == DT_SYM_BOOL;
    if (bools && (op == DT_BINARY_AND || op == DT_BINARY_OR)) {
        DtSymOp sym_op = op == DT_BINARY_AND ? DT_SYM_OP_AND : DT_SYM_OP_OR;
        return dt_sym_binary(&trace->arena, sym_op, a, b, out);
    }
    if (bools && op == DT_BINARY_XOR) {
        return DT_OK; /* a bool */
    }
    if (binary_sym_ops[op] == NO_SYM_OP) {
        return DT_OK;
    }
    return dt_sym_binary(&trace->arena, (DtSymOp)binary_sym_ops[op], a, b, out);
}

static bool
is_number_or_constant(DtVar *var)
{
    return var->type->kind == DT_KIND_SYMBOLIC || var->type->kind == DT_KIND_CONSTANT;
}

/* A division by zero raises also where nobody uses the quotient, and when its turn comes: that the
 * divisor is not zero is a guard.  There is none on the size of a selection. */
static DtStatus
require_divisor(DtTrace *trace, DtBinaryOp op, const DtSym *divisor)
{
    bool divides =
        op == DT_BINARY_TRUE_DIVIDE || op == DT_BINARY_FLOOR_DIVIDE || op == DT_BINARY_REMAINDER;
    if (!divides || dt_sym_is_const(divisor)) {
        return DT_OK;
    }
    if (dt_trace_depends_on_data(trace, divisor)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "a division by the size of a selection");
    }
    bool truth;
    return dt_trace_decide(trace, divisor, &truth);
}

/* So does a shift by a negative number ... */
static DtStatus
require_shift(DtTrace *trace, DtBinaryOp op, const DtSym *count)
{
    bool shifts = op == DT_BINARY_LSHIFT || op == DT_BINARY_RSHIFT;
    const DtSym *zero = dt_sym_int(&trace->arena, 0), *valid;
    if (!shifts || dt_sym_is_const(count)) {
        return DT_OK;
    }
    if (zero == NULL) {
        return dt_no_memory();
    }
    if (dt_trace_depends_on_data(trace, count)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "a shift by the size of a selection");
    }
    bool truth;
    DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_GE, count, zero, &valid));
    return dt_trace_decide(trace, valid, &truth);
}

/* ... and a power that is too large, or no float. */
static DtStatus
require_operands(DtTrace *trace, DtBinaryOp op, const DtSym *right, const DtSym *result)
{
    DT_TRY(require_divisor(trace, op, right));
    DT_TRY(require_shift(trace, op, right));
    return result->op == DT_SYM_OP_POW ? dt_math_require(trace, result) : DT_OK;
}

static DtStatus
symbolic_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (!is_number_or_constant(left) || !is_number_or_constant(right)) {
        return DT_OK;
    }
    const DtSym *a = dt_symbolic_of(trace, left), *b = dt_symbolic_of(trace, right);
    if (a != NULL && b != NULL) {
        const DtSym *sym;
        DT_TRY(symbolic_expression(trace, (DtBinaryOp)DT_BINARY_PLAIN(op), a, b, &sym));
        if (sym != NULL) {
            DT_TRY(require_operands(trace, (DtBinaryOp)DT_BINARY_PLAIN(op), b, sym));
            return dt_var_sym(trace, sym, out);
        }
    }
    PyObject *x = dt_var_as_constant(trace, left), *y = dt_var_as_constant(trace, right);
    if (x == NULL || y == NULL) {
        return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a number can't be specialised");
    }
    return dt_constant_binary(trace, op, x, y, out);
}

static DtStatus
symbolic_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (!is_number_or_constant(left) || !is_number_or_constant(right)) {
        return DT_OK;
    }
    const DtSym *a = dt_symbolic_of(trace, left), *b = dt_symbolic_of(trace, right);
    if (a != NULL && b != NULL) {
        const DtSym *sym;
        DT_TRY(dt_sym_binary(&trace->arena, (DtSymOp)compare_sym_ops[op], a, b, &sym));
        if (sym != NULL) {
            return dt_var_sym(trace, sym, out);
        }
    }
    PyObject *other = dt_var_peek_constant(a == NULL ? left : right);
    if ((a == NULL || b == NULL) && other != NULL && !PyLong_Check(other)
        && !(PyComplex_Check(other) && (op == Py_EQ || op == Py_NE))) {
        return DT_OK; /* nothing that compares with a number in this way */
    }
    PyObject *x = dt_var_as_constant(trace, left), *y = dt_var_as_constant(trace, right);
    return x != NULL && y != NULL ? dt_constant_compare(trace, op, x, y, out) : DT_OK;
}

/* The tracker as a constant tracker, the number guarded. */
static DtStatus
specialised(DtTrace *trace, DtVar *self, DtVar **out)
{
    DT_TRY(dt_trace_specialize(trace, sym_of(self))); /* a break for the size of a selection */
    PyObject *value = symbolic_as_constant(trace, self);
    return value != NULL ? dt_var_const(trace, value, out) : DT_ERROR;
}

static DtStatus
symbolic_negative(DtTrace *trace, DtVar *self, DtVar **out)
{
    const DtSym *sym;
    DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_NEG, sym_of(self), &sym));
    if (sym != NULL) {
        return dt_var_sym(trace, sym, out);
    }
    DT_TRY(specialised(trace, self, &self));
    return dt_var_negative(trace, self, out);
}

static DtStatus
symbolic_positive(DtTrace *trace, DtVar *self, DtVar **out)
{
    if (sym_of(self)->type != DT_SYM_BOOL) {
        *out = self;
        return DT_OK;
    }
    DT_TRY(specialised(trace, self, &self));
    return dt_var_positive(trace, self, out);
}

static DtStatus
symbolic_invert(DtTrace *trace, DtVar *self, DtVar **out)
{
    const DtSym *sym = NULL;
    if (sym_of(self)->type == DT_SYM_INT) { /* ~n is -n - 1 */
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_NEG, sym_of(self), &sym));
    }
    if (sym != NULL) {
        DT_TRY(dt_sym_offset(&trace->arena, sym, -1, &sym));
    }
    if (sym != NULL) {
        return dt_var_sym(trace, sym, out);
    }
    DT_TRY(specialised(trace, self, &self));
    return dt_var_invert(trace, self, out);
}

static DtStatus
symbolic_bool(DtTrace *trace, DtVar *self, bool *out)
{
    return dt_trace_decide(trace, sym_of(self), out);
}

static DtStatus
symbolic_getattro(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out)
{
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) {
        return dt_class_of(trace, self, out);
    }
    DT_TRY(specialised(trace, self, &self));
    return dt_var_getattr(trace, self, name, out);
}

static PyTypeObject *
symbolic_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    switch ((DtSymType)sym_of(self)->type) {
    case DT_SYM_FLOAT:
        return &PyFloat_Type;
    case DT_SYM_BOOL:
        return &PyBool_Type;
    default:
        return &PyLong_Type;
    }
}

/* ---- Rebuilding: the expression in bytecode -------------------------------------------------- */

static const struct {
    int op; /* of BINARY_OP, COMPARE_OP or a unary operation */
    int arg;
} emitted[DT_SYM_OP_COUNT] = {
    [DT_SYM_OP_ADD] = {DT_OP_BINARY_OP, DT_BINARY_ADD},
    [DT_SYM_OP_SUB] = {DT_OP_BINARY_OP, DT_BINARY_SUBTRACT},
    [DT_SYM_OP_MUL] = {DT_OP_BINARY_OP, DT_BINARY_MULTIPLY},
    [DT_SYM_OP_TRUEDIV] = {DT_OP_BINARY_OP, DT_BINARY_TRUE_DIVIDE},
    [DT_SYM_OP_FLOORDIV] = {DT_OP_BINARY_OP, DT_BINARY_FLOOR_DIVIDE},
    [DT_SYM_OP_MOD] = {DT_OP_BINARY_OP, DT_BINARY_REMAINDER},
    [DT_SYM_OP_BITAND] = {DT_OP_BINARY_OP, DT_BINARY_AND},
    [DT_SYM_OP_BITOR] = {DT_OP_BINARY_OP, DT_BINARY_OR},
    [DT_SYM_OP_BITXOR] = {DT_OP_BINARY_OP, DT_BINARY_XOR},
    [DT_SYM_OP_LSHIFT] = {DT_OP_BINARY_OP, DT_BINARY_LSHIFT},
    [DT_SYM_OP_RSHIFT] = {DT_OP_BINARY_OP, DT_BINARY_RSHIFT},
    [DT_SYM_OP_AND] = {DT_OP_BINARY_OP, DT_BINARY_AND},
    [DT_SYM_OP_OR] = {DT_OP_BINARY_OP, DT_BINARY_OR},
    [DT_SYM_OP_EQ] = {DT_OP_COMPARE_OP, Py_EQ},
    [DT_SYM_OP_NE] = {DT_OP_COMPARE_OP, Py_NE},
    [DT_SYM_OP_LT] = {DT_OP_COMPARE_OP, Py_LT},
    [DT_SYM_OP_LE] = {DT_OP_COMPARE_OP, Py_LE},
    [DT_SYM_OP_GT] = {DT_OP_COMPARE_OP, Py_GT},
    [DT_SYM_OP_GE] = {DT_OP_COMPARE_OP, Py_GE},
    [DT_SYM_OP_NEG] = {DT_OP_UNARY_NEGATIVE, 0},
    [DT_SYM_OP_NOT] = {DT_OP_UNARY_NOT, 0},
};

/* Operations that are calls of a builtin, by its name. */
static const char *
builtin_of(DtSymOp op)
{
    switch (op) {
    case DT_SYM_OP_MIN:
        return "min";
    case DT_SYM_OP_MAX:
        return "max";
    case DT_SYM_OP_ABS:
        return "abs";
    case DT_SYM_OP_FLOAT:
        return "float";
    default:
        return NULL;
    }
}

static DtStatus
emit_number(DtCodegen *codegen, const DtSym *sym)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    DtVar *constant;
    DT_TRY(dt_var_sym(trace, sym, &constant));
    return dt_codegen_const(codegen, ((DtConstVar *)constant)->value);
}

DtStatus
dt_symbolic_emit(DtCodegen *codegen, int op, DtStatus (*emit)(DtCodegen *, const void *),
                 const void *a, const void *b)
{
    bool is_math = dt_sym_math_is((DtSymOp)op);
    const char *builtin = builtin_of((DtSymOp)op);
    bool is_call = builtin != NULL || is_math;
    if (is_call) {
        PyObject *callable = is_math ? dt_math_function((DtSymOp)op)
                                     : PyDict_GetItemString(PyEval_GetBuiltins(), builtin);
        if (callable == NULL) {
            return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT, "builtin %s is gone",
                            builtin);
        }
        DT_TRY(dt_codegen_push_callable(codegen, callable));
    }
    DT_TRY(emit(codegen, a));
    if (b != NULL) {
        DT_TRY(emit(codegen, b));
    }
    return is_call ? dt_codegen_call(codegen, b != NULL ? 2 : 1)
                   : dt_codegen_op(codegen, emitted[op].op, emitted[op].arg);
}

static DtStatus
emit_expression(DtCodegen *codegen, const void *expression)
{
    const DtSym *sym = expression;
    if (dt_sym_is_const(sym)) {
        return emit_number(codegen, sym);
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        const DtSource *source = dt_codegen_trace(codegen)->symbols.items[sym->id].source;
        if (source == NULL) {
            return dt_break(dt_codegen_trace(codegen), DT_BREAK_DATA_SIZE,
                            "the size of a selection as a number");
        }
        return dt_codegen_source(codegen, source);
    }
    return dt_symbolic_emit(codegen, sym->op, emit_expression, sym->a, sym->b);
}

/* What min() or max() has chosen is one of two objects. */
static DtStatus
emit_choice(DtCodegen *codegen, const DtSymVar *self)
{
    DT_TRY(dt_codegen_push_callable(codegen, self->chooser));
    DT_TRY(dt_codegen_var(codegen, self->candidates[0]));
    DT_TRY(dt_codegen_var(codegen, self->candidates[1]));
    return dt_codegen_call(codegen, 2);
}

static DtStatus
symbolic_reconstruct(DtCodegen *codegen, DtVar *self)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, self, &done));
    if (done) {
        return DT_OK;
    }
    return ((DtSymVar *)self)->chooser != NULL ? emit_choice(codegen, (DtSymVar *)self)
                                               : emit_expression(codegen, sym_of(self));
}

static void
symbolic_repr(DtVar *self, DtStrbuf *buf)
{
    dt_sym_print(sym_of(self), buf);
}

const DtVarType dt_kind_type_SYMBOLIC = {
    .kind = DT_KIND_SYMBOLIC,
    .nb_binary = symbolic_binary,
    .nb_negative = symbolic_negative,
    .nb_positive = symbolic_positive,
    .nb_invert = symbolic_invert,
    .nb_bool = symbolic_bool,
    .tp_getattro = symbolic_getattro,
    .tp_richcompare = symbolic_compare,
    .python_type = symbolic_type,
    .as_constant = symbolic_as_constant,
    .reconstruct = symbolic_reconstruct,
    .repr = symbolic_repr,
};
