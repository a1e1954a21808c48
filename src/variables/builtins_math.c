/* Rows of modules math and operator.
 *
 * math: on constants and on numbers specialised for it, by calling the real
 * function.  operator: the same dispatchers that the instructions use.
 */
#include "variables/kinds.h"

static DtStatus
call_math(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *callable = ((DtObjectVar *)self)->object;
    PyObject *values = PyTuple_New(args->npos);
    if (values == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *arg;
        DtStatus status = dt_var_realize(trace, args->pos[i], &arg);
        if (status == DT_OK && arg->type->kind == DT_KIND_ARRAY) {
            status = dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "math.%s() of an array",
                              ((DtObjectVar *)self)->row->name);
        }
        PyObject *value = status == DT_OK ? dt_var_as_constant(trace, arg) : NULL;
        if (status == DT_OK && (value == NULL || !dt_constant_is_safe(value))) {
            status = dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "math.%s() of a %s",
                              ((DtObjectVar *)self)->row->name, arg->type->name);
        }
        if (status != DT_OK) {
            Py_DECREF(values);
            return status;
        }
        Py_INCREF(value);
        PyTuple_SET_ITEM(values, i, value);
    }
    PyObject *result = PyObject_Call(callable, values, NULL);
    Py_DECREF(values);
    return dt_constant_wrap_take(trace, result, out);
}

static const DtMethodRow math_rows[] = {
    {"acos", call_math, 1, 1, false},      {"acosh", call_math, 1, 1, false},
    {"asin", call_math, 1, 1, false},      {"asinh", call_math, 1, 1, false},
    {"atan", call_math, 1, 1, false},      {"atan2", call_math, 2, 2, false},
    {"atanh", call_math, 1, 1, false},     {"cbrt", call_math, 1, 1, false},
    {"ceil", call_math, 1, 1, false},      {"copysign", call_math, 2, 2, false},
    {"cos", call_math, 1, 1, false},       {"cosh", call_math, 1, 1, false},
    {"degrees", call_math, 1, 1, false},   {"erf", call_math, 1, 1, false},
    {"erfc", call_math, 1, 1, false},      {"exp", call_math, 1, 1, false},
    {"exp2", call_math, 1, 1, false},      {"expm1", call_math, 1, 1, false},
    {"fabs", call_math, 1, 1, false},      {"floor", call_math, 1, 1, false},
    {"fmod", call_math, 2, 2, false},      {"frexp", call_math, 1, 1, false},
    {"gamma", call_math, 1, 1, false},     {"gcd", call_math, 0, -1, false},
    {"hypot", call_math, 0, -1, false},    {"isfinite", call_math, 1, 1, false},
    {"isinf", call_math, 1, 1, false},     {"isnan", call_math, 1, 1, false},
    {"isqrt", call_math, 1, 1, false},     {"ldexp", call_math, 2, 2, false},
    {"lgamma", call_math, 1, 1, false},    {"log", call_math, 1, 2, false},
    {"log10", call_math, 1, 1, false},     {"log1p", call_math, 1, 1, false},
    {"log2", call_math, 1, 1, false},      {"modf", call_math, 1, 1, false},
    {"pow", call_math, 2, 2, false},       {"radians", call_math, 1, 1, false},
    {"remainder", call_math, 2, 2, false}, {"sin", call_math, 1, 1, false},
    {"sinh", call_math, 1, 1, false},      {"sqrt", call_math, 1, 1, false},
    {"tan", call_math, 1, 1, false},       {"tanh", call_math, 1, 1, false},
    {"trunc", call_math, 1, 1, false},     {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_math_table = {"math", math_rows};

/* ---- operator
 * -------------------------------------------------------------------------------------- */

#define BINARY(name, op)                                                                           \
    static DtStatus call_##name(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)      \
    {                                                                                              \
        (void)self;                                                                                \
        return dt_var_binary(trace, op, args->pos[0], args->pos[1], out);                          \
    }
#define COMPARE(name, op)                                                                          \
    static DtStatus call_##name(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)      \
    {                                                                                              \
        (void)self;                                                                                \
        return dt_var_compare(trace, op, args->pos[0], args->pos[1], out);                         \
    }
#define UNARY(name, function)                                                                      \
    static DtStatus call_##name(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)      \
    {                                                                                              \
        (void)self;                                                                                \
        return function(trace, args->pos[0], out);                                                 \
    }

BINARY(add, DT_BINARY_ADD)
BINARY(and, DT_BINARY_AND)
BINARY(floordiv, DT_BINARY_FLOOR_DIVIDE)
BINARY(iadd, DT_BINARY_INPLACE_ADD)
BINARY(imul, DT_BINARY_INPLACE_MULTIPLY)
BINARY(isub, DT_BINARY_INPLACE_SUBTRACT)
BINARY(itruediv, DT_BINARY_INPLACE_TRUE_DIVIDE)
BINARY(lshift, DT_BINARY_LSHIFT)
BINARY(matmul, DT_BINARY_MATRIX_MULTIPLY)
BINARY(mod, DT_BINARY_REMAINDER)
BINARY(mul, DT_BINARY_MULTIPLY)
BINARY(or, DT_BINARY_OR)
BINARY(pow, DT_BINARY_POWER)
BINARY(rshift, DT_BINARY_RSHIFT)
BINARY(sub, DT_BINARY_SUBTRACT)
BINARY(truediv, DT_BINARY_TRUE_DIVIDE)
BINARY(xor, DT_BINARY_XOR)
COMPARE(lt, Py_LT)
COMPARE(le, Py_LE)
COMPARE(eq, Py_EQ)
COMPARE(ne, Py_NE)
COMPARE(gt, Py_GT)
COMPARE(ge, Py_GE)
UNARY(neg, dt_var_negative)
UNARY(pos, dt_var_positive)
UNARY(invert, dt_var_invert)
UNARY(not_, dt_var_not)

static DtStatus
call_getitem(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_var_subscript(trace, args->pos[0], args->pos[1], out);
}

static DtStatus
call_setitem(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, args->pos[0], args->pos[1], args->pos[2]);
}

static DtStatus
call_delitem(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    *out = dt_none(trace);
    return dt_var_ass_subscript(trace, args->pos[0], args->pos[1], NULL);
}

static DtStatus
call_contains(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_var_contains(trace, args->pos[0], args->pos[1], out);
}

static DtStatus
call_truth(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    bool truth;
    DT_TRY(dt_var_truth(trace, args->pos[0], &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
call_is_(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    bool same;
    DT_TRY(dt_var_is(trace, args->pos[0], args->pos[1], &same));
    return dt_var_bool(trace, same, out);
}

static DtStatus
call_is_not(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    bool same;
    DT_TRY(dt_var_is(trace, args->pos[0], args->pos[1], &same));
    return dt_var_bool(trace, !same, out);
}

static const DtMethodRow operator_rows[] = {
    {"add", call_add, 2, 2, false},
    {"and_", call_and, 2, 2, false},
    {"contains", call_contains, 2, 2, false},
    {"delitem", call_delitem, 2, 2, false},
    {"eq", call_eq, 2, 2, false},
    {"floordiv", call_floordiv, 2, 2, false},
    {"ge", call_ge, 2, 2, false},
    {"getitem", call_getitem, 2, 2, false},
    {"gt", call_gt, 2, 2, false},
    {"iadd", call_iadd, 2, 2, false},
    {"imul", call_imul, 2, 2, false},
    {"invert", call_invert, 1, 1, false},
    {"is_", call_is_, 2, 2, false},
    {"is_not", call_is_not, 2, 2, false},
    {"isub", call_isub, 2, 2, false},
    {"itruediv", call_itruediv, 2, 2, false},
    {"le", call_le, 2, 2, false},
    {"lshift", call_lshift, 2, 2, false},
    {"lt", call_lt, 2, 2, false},
    {"matmul", call_matmul, 2, 2, false},
    {"mod", call_mod, 2, 2, false},
    {"mul", call_mul, 2, 2, false},
    {"ne", call_ne, 2, 2, false},
    {"neg", call_neg, 1, 1, false},
    {"not_", call_not_, 1, 1, false},
    {"or_", call_or, 2, 2, false},
    {"pos", call_pos, 1, 1, false},
    {"pow", call_pow, 2, 2, false},
    {"rshift", call_rshift, 2, 2, false},
    {"setitem", call_setitem, 3, 3, false},
    {"sub", call_sub, 2, 2, false},
    {"truediv", call_truediv, 2, 2, false},
    {"truth", call_truth, 1, 1, false},
    {"xor", call_xor, 2, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_operator_table = {"operator", operator_rows};
