/* Rows of module operator: the same dispatchers that the instructions use.
 *
 * Not in here: the functions that go through their arguments (polyfills), and
 * itemgetter, attrgetter and methodcaller.
 */
#include "variables/kinds.h"

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
BINARY(iand, DT_BINARY_INPLACE_AND)
BINARY(ifloordiv, DT_BINARY_INPLACE_FLOOR_DIVIDE)
BINARY(ilshift, DT_BINARY_INPLACE_LSHIFT)
BINARY(imatmul, DT_BINARY_INPLACE_MATRIX_MULTIPLY)
BINARY(imod, DT_BINARY_INPLACE_REMAINDER)
BINARY(imul, DT_BINARY_INPLACE_MULTIPLY)
BINARY(ior, DT_BINARY_INPLACE_OR)
BINARY(ipow, DT_BINARY_INPLACE_POWER)
BINARY(irshift, DT_BINARY_INPLACE_RSHIFT)
BINARY(isub, DT_BINARY_INPLACE_SUBTRACT)
BINARY(itruediv, DT_BINARY_INPLACE_TRUE_DIVIDE)
BINARY(ixor, DT_BINARY_INPLACE_XOR)
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

static DtStatus
call_index(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar *arg;
    DT_TRY(dt_var_realize(trace, args->pos[0], &arg));
    if (arg->type->kind == DT_KIND_ARRAY) {
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "operator.index() of an array");
    }
    PyTypeObject *type = dt_var_python_type(trace, arg);
    if (type == &PyLong_Type) {
        *out = arg;
        return DT_OK;
    }
    if (type == &PyBool_Type) {
        bool truth;
        DT_TRY(dt_var_truth(trace, arg, &truth));
        return dt_var_int(trace, truth, out);
    }
    if (arg->type->kind != DT_KIND_INSTANCE) {
        if (type == NULL || (type->tp_as_number != NULL && type->tp_as_number->nb_index != NULL)) {
            return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "operator.index() of a %s",
                            arg->type->name);
        }
        return dt_kinds_raise(trace, "TypeError", "'%s' object cannot be interpreted as an integer",
                              dt_kinds_type_name(trace, arg));
    }
    if (dt_payload_of(arg) != arg && PyType_IsSubtype(type, &PyLong_Type)
        && dt_instance_overrides(arg, "__index__")) {
        /* CPython copies the number and does not ask. */
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "operator.index() of a %s",
                        dt_kinds_type_name(trace, arg));
    }
    DT_TRY(dt_instance_convert(trace, arg, (const char *const[]){"__index__", NULL}, out));
    return *out != NULL ? DT_OK
                        : dt_kinds_raise(trace, "TypeError",
                                         "'%s' object cannot be interpreted as an integer",
                                         dt_kinds_type_name(trace, arg));
}

/* Whether a + b joins sequences for these, as concat() demands. */
static bool
is_sequence(DtTrace *trace, DtVar *var)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    return type != NULL && type->tp_as_sequence != NULL && type->tp_as_sequence->sq_concat != NULL
           && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

static DtStatus
concatenate(DtTrace *trace, DtBinaryOp op, const DtArgs *args, DtVar **out)
{
    DtVar *left;
    DT_TRY(dt_var_realize(trace, args->pos[0], &left));
    if (left->type->kind == DT_KIND_ARRAY || left->type->kind == DT_KIND_INSTANCE) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "concat() of a %s", left->type->name);
    }
    if (!is_sequence(trace, left)) {
        return dt_kinds_raise(trace, "TypeError", "'%s' object can't be concatenated",
                              dt_kinds_type_name(trace, left));
    }
    DtVar *right;
    DT_TRY(dt_var_realize(trace, args->pos[1], &right));
    if (right->type->kind != left->type->kind) {
        /* Unlike +, it would not ask the other operand. */
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "concat() of a %s and a %s",
                        left->type->name, right->type->name);
    }
    return dt_var_binary(trace, op, left, right, out);
}

static DtStatus
call_concat(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return concatenate(trace, DT_BINARY_ADD, args, out);
}

static DtStatus
call_iconcat(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return concatenate(trace, DT_BINARY_INPLACE_ADD, args, out);
}

/* operator.call(f, ...), which 3.10 does not have. */
static DtStatus
call_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    return dt_var_call(trace, args->pos[0], &rest, out);
}

static const DtMethodRow operator_rows[] = {
    {"add", call_add, 2, 2, false},
    {"and_", call_and, 2, 2, false},
    {"call", call_call, 1, -1, true},
    {"concat", call_concat, 2, 2, false},
    {"contains", call_contains, 2, 2, false},
    {"delitem", call_delitem, 2, 2, false},
    {"eq", call_eq, 2, 2, false},
    {"floordiv", call_floordiv, 2, 2, false},
    {"ge", call_ge, 2, 2, false},
    {"getitem", call_getitem, 2, 2, false},
    {"gt", call_gt, 2, 2, false},
    {"iadd", call_iadd, 2, 2, false},
    {"iand", call_iand, 2, 2, false},
    {"iconcat", call_iconcat, 2, 2, false},
    {"ifloordiv", call_ifloordiv, 2, 2, false},
    {"ilshift", call_ilshift, 2, 2, false},
    {"imatmul", call_imatmul, 2, 2, false},
    {"imod", call_imod, 2, 2, false},
    {"imul", call_imul, 2, 2, false},
    {"index", call_index, 1, 1, false},
    {"inv", call_invert, 1, 1, false},
    {"invert", call_invert, 1, 1, false},
    {"ior", call_ior, 2, 2, false},
    {"ipow", call_ipow, 2, 2, false},
    {"irshift", call_irshift, 2, 2, false},
    {"is_", call_is_, 2, 2, false},
    {"is_not", call_is_not, 2, 2, false},
    {"isub", call_isub, 2, 2, false},
    {"itruediv", call_itruediv, 2, 2, false},
    {"ixor", call_ixor, 2, 2, false},
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
