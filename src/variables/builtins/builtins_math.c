/* Rows of modules math and cmath.
 *
 * On constants the real function is called; where libm alone decides the
 * result, a symbolic number stays symbolic; objects of user classes are
 * converted first, by the special methods that the real function would call.
 *
 * Not in here: functions of whole sequences (polyfills).
 */
#include <string.h>

#include "compat/import.h"
#include "variables/numbers/array_numbers.h"
#include "variables/kinds.h"
#include "variables/pure.h"
#include "variables/numbers/sym_math.h"

static const char *
row_name(DtVar *self)
{
    return ((DtObjectVar *)self)->row->name;
}

static DtStatus
fold(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return dt_pure_call(trace, ((DtObjectVar *)self)->object, args, out);
}

/* ---- Objects of user classes ----------------------------------------------------------------- */

/* NULL if its class has none of those methods. */
static DtStatus
convert(DtTrace *trace, DtVar *instance, const char *const *names, DtVar **out)
{
    DtVar *payload = dt_payload_of(instance);
    PyTypeObject *own = payload != instance ? dt_var_python_type(trace, payload) : NULL;
    if ((own == &PyFloat_Type && strcmp(names[0], "__float__") == 0)
        || (own == &PyLong_Type && strcmp(names[0], "__index__") == 0)) {
        *out = payload; /* such a number is not asked for what it is */
        return DT_OK;
    }
    return dt_instance_convert(trace, instance, names, out);
}

/* Arguments as numbers: `names` are the special methods to try. */
static DtStatus
number_arguments(DtTrace *trace, DtVar *self, const DtArgs *args, const char *const *names,
                 const char *otherwise, DtArgs *out)
{
    *out = *args;
    out->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    if (out->pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *arg;
        DT_TRY(dt_var_realize(trace, args->pos[i], &arg));
        if (arg->type->kind == DT_KIND_ARRAY) {
            return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s() of an array", row_name(self));
        }
        if (arg->type->kind == DT_KIND_INSTANCE) {
            DtVar *instance = arg;
            DT_TRY(convert(trace, instance, names, &arg));
            if (arg == NULL) {
                return dt_kinds_raise(trace, "TypeError", otherwise,
                                      dt_kinds_type_name(trace, instance));
            }
        }
        out->pos[i] = arg;
    }
    return DT_OK;
}

static DtStatus
call_floats(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"__float__", "__index__", NULL};
    DtArgs numbers;
    bool arrays;
    DT_TRY(dt_array_among(trace, args->pos, args->npos, &arrays));
    if (arrays && args->nkw == 0) {
        return dt_array_number(trace, self, args, out);
    }
    DT_TRY(number_arguments(trace, self, args, names, "must be real number, not %s", &numbers));
    return fold(trace, self, &numbers, out);
}

static DtStatus
call_ints(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"__index__", NULL};
    DtArgs numbers;
    DT_TRY(number_arguments(trace, self, args, names,
                            "'%s' object cannot be interpreted as an integer", &numbers));
    return fold(trace, self, &numbers, out);
}

static DtStatus
call_complexes(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"__complex__", "__float__", "__index__", NULL};
    DtArgs numbers;
    DT_TRY(number_arguments(trace, self, args, names, "must be real number, not %s", &numbers));
    return fold(trace, self, &numbers, out);
}

/* ---- Numbers that stay symbolic -------------------------------------------------------------- */

static const struct {
    const char *module, *name;
    DtSymOp op;
} symbolic_functions[] = {
    {"math", "sqrt", DT_SYM_OP_SQRT},       {"math", "exp", DT_SYM_OP_EXP},
    {"math", "log", DT_SYM_OP_LOG},         {"math", "log2", DT_SYM_OP_LOG2},
    {"math", "log10", DT_SYM_OP_LOG10},     {"math", "sin", DT_SYM_OP_SIN},
    {"math", "cos", DT_SYM_OP_COS},         {"math", "tan", DT_SYM_OP_TAN},
    {"math", "atan", DT_SYM_OP_ATAN},       {"math", "tanh", DT_SYM_OP_TANH},
    {"math", "asin", DT_SYM_OP_ASIN},       {"math", "acos", DT_SYM_OP_ACOS},
    {"math", "sinh", DT_SYM_OP_SINH},       {"math", "cosh", DT_SYM_OP_COSH},
    {"math", "radians", DT_SYM_OP_RADIANS}, {"math", "degrees", DT_SYM_OP_DEGREES},
    {"builtins", "pow", DT_SYM_OP_POW},     {"math", "atan2", DT_SYM_OP_ATAN2},
    {"math", "fmod", DT_SYM_OP_FMOD},       {"math", "copysign", DT_SYM_OP_COPYSIGN},
    {"math", "floor", DT_SYM_OP_FLOOR},     {"math", "ceil", DT_SYM_OP_CEIL},
    {"math", "trunc", DT_SYM_OP_TRUNC},     {"builtins", "round", DT_SYM_OP_ROUND},
};
#define SYMBOLIC_COUNT (sizeof(symbolic_functions) / sizeof(symbolic_functions[0]))

static PyObject *math_functions[DT_SYM_OP_COUNT];

int
dt_math_init(void)
{
    int result = 0;
    for (size_t i = 0; i < SYMBOLIC_COUNT && result == 0; i++) {
        PyObject **place = &math_functions[symbolic_functions[i].op];
        *place = dt_import_attr(symbolic_functions[i].module, symbolic_functions[i].name);
        result = *place != NULL ? 0 : -1;
    }
    return result;
}

PyObject *
dt_math_function(DtSymOp op)
{
    return math_functions[op];
}

/* Whether it can be computed is a guard: a value outside of the domain raises also where nobody
 * uses the result.  The comparison holds for every number that there is: nothing equals NaN. */
DtStatus
dt_math_require(DtTrace *trace, const DtSym *sym)
{
    bool is_float = sym->type == DT_SYM_FLOAT;
    const DtSym *bound =
        is_float ? dt_sym_float(&trace->arena, (double)NAN) : dt_sym_int(&trace->arena, INT64_MIN);
    const DtSym *holds;
    if (bound == NULL) {
        return dt_no_memory();
    }
    if (dt_sym_is_const(sym)) {
        return DT_OK;
    }
    if (dt_trace_depends_on_data(trace, sym)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "a function of the size of a selection");
    }
    DT_TRY(
        dt_sym_binary(&trace->arena, is_float ? DT_SYM_OP_NE : DT_SYM_OP_GE, sym, bound, &holds));
    return holds != NULL ? dt_guard_sym(trace, holds)
                         : dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "a long chain of functions");
}

/* Those that take every float: there is nothing to ask. */
static bool
takes_all(DtSymOp op)
{
    return op == DT_SYM_OP_ATAN || op == DT_SYM_OP_TANH;
}

/* `b` is NULL for a function of one number. */
static DtStatus
symbolic_result(DtTrace *trace, DtSymOp op, const DtSym *a, const DtSym *b, DtVar **out)
{
    const DtSym *number = NULL;
    *out = NULL;
    DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, a, &a));
    if (b != NULL) {
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, b, &b));
        DT_TRY(dt_sym_binary(&trace->arena, op, a, b, &number));
    }
    else {
        DT_TRY(dt_sym_unary(&trace->arena, op, a, &number));
    }
    if (number != NULL && !takes_all(op)) {
        DT_TRY(dt_math_require(trace, number));
    }
    return number != NULL ? dt_var_sym(trace, number, out) : DT_OK;
}

DtStatus
dt_math_symbolic(DtTrace *trace, DtSymOp op, DtVar *arg, DtVar **out)
{
    *out = NULL;
    const DtSym *sym = arg->type->kind == DT_KIND_SYMBOLIC ? ((DtSymVar *)arg)->sym : NULL;
    if (sym == NULL) {
        return DT_OK;
    }
    if (dt_sym_math_gives_int(op) && sym->type != DT_SYM_FLOAT) {
        *out = sym->type == DT_SYM_INT ? arg : NULL;
        return DT_OK;
    }
    return symbolic_result(trace, op, sym, NULL, out);
}

/* log(a, b) is log(a) / log(b). */
static DtStatus
symbolic_log(DtTrace *trace, const DtSym *a, const DtSym *b, DtVar **out)
{
    const DtSym *parts[2] = {a, b}, *quotient = NULL;
    *out = NULL;
    for (int i = 0; i < 2; i++) {
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, parts[i], &parts[i]));
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_LOG, parts[i], &parts[i]));
        if (parts[i] == NULL) {
            return DT_OK;
        }
    }
    DT_TRY(dt_sym_binary(&trace->arena, DT_SYM_OP_TRUEDIV, parts[0], parts[1], &quotient));
    if (quotient == NULL) {
        return DT_OK;
    }
    DT_TRY(dt_math_require(trace, quotient));
    return dt_var_sym(trace, quotient, out);
}

/* *out is NULL where no argument is symbolic, or one has no such form. */
static DtStatus
stay_symbolic(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtSymOp op = DT_SYM_OP_COUNT;
    DtVar *parts[2];
    *out = NULL;
    for (size_t i = 0; i < SYMBOLIC_COUNT; i++) {
        if (strcmp(symbolic_functions[i].name, row_name(self)) == 0) {
            op = symbolic_functions[i].op;
        }
    }
    bool by_base = op == DT_SYM_OP_LOG && args->npos == 2;
    uint32_t wanted = dt_sym_math_takes_two(op) || by_base ? 2 : 1;
    if (op == DT_SYM_OP_COUNT || args->npos != wanted || args->nkw > 0) {
        return DT_OK;
    }
    bool any = false;
    for (uint32_t i = 0; i < wanted; i++) {
        DT_TRY(dt_var_realize(trace, args->pos[i], &parts[i]));
        any |= parts[i]->type->kind == DT_KIND_SYMBOLIC;
    }
    if (!any || wanted == 1) {
        return any ? dt_math_symbolic(trace, op, parts[0], out) : DT_OK;
    }
    const DtSym *a = dt_symbolic_of(trace, parts[0]), *b = dt_symbolic_of(trace, parts[1]);
    if (a == NULL || b == NULL) {
        return DT_OK;
    }
    return by_base ? symbolic_log(trace, a, b, out) : symbolic_result(trace, op, a, b, out);
}

static DtStatus
call_symbolic(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DT_TRY(stay_symbolic(trace, self, args, out));
    return *out != NULL ? DT_OK : call_floats(trace, self, args, out);
}

/* What asks about a float, as a comparison: with itself, or of its magnitude with infinity. */
static const struct {
    const char *name;
    DtSymOp op;
    bool with_itself;
} questions[] = {
    {"isfinite", DT_SYM_OP_LT, false},
    {"isinf", DT_SYM_OP_EQ, false},
    {"isnan", DT_SYM_OP_NE, true},
};

static DtStatus
call_question(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *arg;
    DT_TRY(dt_var_realize(trace, args->pos[0], &arg));
    const DtSym *a = arg->type->kind == DT_KIND_SYMBOLIC ? ((DtSymVar *)arg)->sym : NULL;
    for (size_t i = 0; a != NULL && i < Py_ARRAY_LENGTH(questions); i++) {
        if (strcmp(questions[i].name, row_name(self)) == 0) {
            const DtSym *b, *answer = NULL;
            DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, a, &a));
            b = a;
            if (!questions[i].with_itself) {
                DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_ABS, a, &a));
                b = dt_sym_float(&trace->arena, Py_HUGE_VAL);
            }
            if (b == NULL) {
                return dt_no_memory();
            }
            if (a != NULL) {
                DT_TRY(dt_sym_binary(&trace->arena, questions[i].op, a, b, &answer));
            }
            return answer != NULL ? dt_var_sym(trace, answer, out)
                                  : call_floats(trace, self, args, out);
        }
    }
    return call_floats(trace, self, args, out);
}

/* The second one has to be an int. */
static DtStatus
call_ldexp(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *exponent;
    DT_TRY(dt_var_realize(trace, args->pos[1], &exponent));
    if (exponent->type->kind == DT_KIND_INSTANCE) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "ldexp() by a %s",
                        dt_kinds_type_name(trace, exponent));
    }
    return call_floats(trace, self, args, out);
}

/* floor, ceil and trunc ask the object first. */
static DtStatus
call_rounding(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *arg;
    DT_TRY(dt_var_realize(trace, args->pos[0], &arg));
    if (arg->type->kind == DT_KIND_INSTANCE) {
        const char *name = dt_arena_printf(&trace->arena, "__%s__", row_name(self));
        if (name == NULL) {
            return dt_no_memory();
        }
        const char *const names[] = {name, NULL};
        DT_TRY(convert(trace, arg, names, out));
        if (*out != NULL) {
            return DT_OK;
        }
        if (strcmp(row_name(self), "trunc") == 0) {
            return dt_kinds_raise(trace, "TypeError", "type %s doesn't define __trunc__ method",
                                  dt_kinds_type_name(trace, arg));
        }
    }
    return call_symbolic(trace, self, args, out);
}

/* fabs of a symbolic number is its abs, as a float. */
static DtStatus
call_fabs(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *arg;
    DT_TRY(dt_var_realize(trace, args->pos[0], &arg));
    if (arg->type->kind == DT_KIND_SYMBOLIC) {
        const DtSym *sym = ((DtSymVar *)arg)->sym;
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, sym, &sym));
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_ABS, sym, &sym));
        if (sym != NULL) {
            return dt_var_sym(trace, sym, out);
        }
    }
    return call_floats(trace, self, args, out);
}

/* ---- Results without bound ------------------------------------------------------------------- */

#define LARGEST_PRODUCT 5000 /* factors */

/* factorial, comb and perm multiply as many factors as an argument says. */
static DtStatus
call_product(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"__index__", NULL};
    DtArgs numbers;
    DT_TRY(number_arguments(trace, self, args, names,
                            "'%s' object cannot be interpreted as an integer", &numbers));
    PyObject *factors = dt_var_as_constant(trace, numbers.pos[numbers.npos - 1]);
    if (factors != NULL && PyLong_Check(factors)) {
        int overflow;
        long count = PyLong_AsLongAndOverflow(factors, &overflow);
        if (overflow > 0 || count > LARGEST_PRODUCT) {
            return dt_break(trace, DT_BREAK_SYMBOLIC_RANGE, "the result of %s() may be very large",
                            row_name(self));
        }
    }
    return fold(trace, self, &numbers, out);
}

static const DtMethodRow math_rows[] = {
    {"acos", call_symbolic, 1, 1, false},     {"acosh", call_floats, 1, 1, false},
    {"asin", call_symbolic, 1, 1, false},     {"asinh", call_floats, 1, 1, false},
    {"atan", call_symbolic, 1, 1, false},     {"atan2", call_symbolic, 2, 2, false},
    {"atanh", call_floats, 1, 1, false},      {"cbrt", call_floats, 1, 1, false},
    {"ceil", call_rounding, 1, 1, false},     {"comb", call_product, 2, 2, false},
    {"copysign", call_symbolic, 2, 2, false}, {"cos", call_symbolic, 1, 1, false},
    {"cosh", call_symbolic, 1, 1, false},     {"degrees", call_symbolic, 1, 1, false},
    {"erf", call_floats, 1, 1, false},        {"erfc", call_floats, 1, 1, false},
    {"exp", call_symbolic, 1, 1, false},      {"exp2", call_floats, 1, 1, false},
    {"expm1", call_floats, 1, 1, false},      {"fabs", call_fabs, 1, 1, false},
    {"factorial", call_product, 1, 1, false}, {"floor", call_rounding, 1, 1, false},
    {"fma", call_floats, 3, 3, false},        {"fmod", call_symbolic, 2, 2, false},
    {"frexp", call_floats, 1, 1, false},      {"gamma", call_floats, 1, 1, false},
    {"gcd", call_ints, 0, -1, false},         {"hypot", call_floats, 0, -1, false},
    {"isclose", call_floats, 2, 2, true},     {"isfinite", call_question, 1, 1, false},
    {"isinf", call_question, 1, 1, false},    {"isnan", call_question, 1, 1, false},
    {"isqrt", call_ints, 1, 1, false},        {"lcm", call_ints, 0, -1, false},
    {"ldexp", call_ldexp, 2, 2, false},       {"lgamma", call_floats, 1, 1, false},
    {"log", call_symbolic, 1, 2, false},      {"log10", call_symbolic, 1, 1, false},
    {"log1p", call_floats, 1, 1, false},      {"log2", call_symbolic, 1, 1, false},
    {"modf", call_floats, 1, 1, false},       {"nextafter", call_floats, 2, 2, true},
    {"perm", call_product, 1, 2, false},      {"pow", call_symbolic, 2, 2, false},
    {"radians", call_symbolic, 1, 1, false},  {"remainder", call_floats, 2, 2, false},
    {"sin", call_symbolic, 1, 1, false},      {"sinh", call_symbolic, 1, 1, false},
    {"sqrt", call_symbolic, 1, 1, false},     {"tan", call_symbolic, 1, 1, false},
    {"tanh", call_symbolic, 1, 1, false},     {"trunc", call_rounding, 1, 1, false},
    {"ulp", call_floats, 1, 1, false},        {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_math_table = {"math", math_rows};

static const DtMethodRow cmath_rows[] = {
    {"acos", call_complexes, 1, 1, false},     {"acosh", call_complexes, 1, 1, false},
    {"asin", call_complexes, 1, 1, false},     {"asinh", call_complexes, 1, 1, false},
    {"atan", call_complexes, 1, 1, false},     {"atanh", call_complexes, 1, 1, false},
    {"cos", call_complexes, 1, 1, false},      {"cosh", call_complexes, 1, 1, false},
    {"exp", call_complexes, 1, 1, false},      {"isclose", call_complexes, 2, 2, true},
    {"isfinite", call_complexes, 1, 1, false}, {"isinf", call_complexes, 1, 1, false},
    {"isnan", call_complexes, 1, 1, false},    {"log", call_complexes, 1, 2, false},
    {"log10", call_complexes, 1, 1, false},    {"phase", call_complexes, 1, 1, false},
    {"polar", call_complexes, 1, 1, false},    {"rect", call_floats, 2, 2, false},
    {"sin", call_complexes, 1, 1, false},      {"sinh", call_complexes, 1, 1, false},
    {"sqrt", call_complexes, 1, 1, false},     {"tan", call_complexes, 1, 1, false},
    {"tanh", call_complexes, 1, 1, false},     {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_cmath_table = {"cmath", cmath_rows};
