/* Rows of module math: on constants and on numbers specialised for it, by
 * calling the real function.
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
