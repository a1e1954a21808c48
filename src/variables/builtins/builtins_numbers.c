/* Rows of module `builtins`: numbers, and what compares or adds them.
 *
 * Not in here: containers, iteration and texts (builtins.c), types (builtins_types.c), math and
 * operator (builtins_math.c).
 */
#include "variables/numbers/array_numbers.h"
#include "variables/builtins/builtin_args.h"
#include "variables/fold.h"

static DtStatus
realize_first(DtTrace *trace, const DtArgs *args, DtVar **out)
{
    return dt_var_realize(trace, args->pos[0], out);
}

static DtStatus
call_special(DtTrace *trace, DtVar *instance, const char *name, DtVar **pos, uint32_t npos,
             DtVar **out)
{
    DtVar *method;
    DT_TRY(dt_instance_special(trace, instance, name, &method));
    if (method == NULL) {
        return dt_kinds_raise(trace, "TypeError", "a %s has no %s",
                              dt_kinds_type_name(trace, instance), name);
    }
    DtArgs args = dt_args_of(pos, npos);
    return dt_var_call(trace, method, &args, out);
}

/* int() and float() of an instance. */
static DtStatus
instance_to_number(DtTrace *trace, DtVar *instance, const char *const *names, PyTypeObject *exact,
                   DtVar **out)
{
    DT_TRY(dt_instance_convert(trace, instance, names, out));
    return *out != NULL ? DT_OK
                        : dt_break(trace, DT_BREAK_MISSING_SLOT, "%s() of a %s", exact->tp_name,
                                   dt_kinds_type_name(trace, instance));
}

/* int(), float() and bool() of an array, or of a number that the graph computes. */
static DtStatus
array_to_number(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar *arg, DtVar **out)
{
    if (args->npos != 1) {
        return dt_builtin_scalar(trace, "int");
    }
    DtArgs one = dt_args_of(&arg, 1);
    return dt_array_number(trace, self, &one, out);
}

static DtStatus
call_int(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0) {
        return args->nkw == 0 ? dt_var_int(trace, 0, out) : dt_builtin_fold(trace, self, args, out);
    }
    if (args->nkw > 0) {
        return dt_builtin_fold(trace, self, args, out);
    }
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (dt_kinds_is(arg, DT_KIND_ARRAY)) {
        return array_to_number(trace, self, args, arg, out);
    }
    if (dt_kinds_is(arg, DT_KIND_INSTANCE)) {
        static const char *const names[] = {"__int__", "__index__", NULL};
        return args->npos == 1 ? instance_to_number(trace, arg, names, &PyLong_Type, out)
                               : dt_builtin_fold(trace, self, args, out);
    }
    *out = NULL;
    if (args->npos == 1) {
        DT_TRY(dt_math_symbolic(trace, DT_SYM_OP_TRUNC, arg, out));
    }
    return *out != NULL ? DT_OK : dt_builtin_fold(trace, self, args, out);
}

static DtStatus
call_float(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0) {
        return dt_var_const_take(trace, PyFloat_FromDouble(0.0), out);
    }
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (dt_kinds_is(arg, DT_KIND_ARRAY)) {
        return array_to_number(trace, self, args, arg, out);
    }
    if (dt_kinds_is(arg, DT_KIND_INSTANCE)) {
        static const char *const names[] = {"__float__", NULL};
        return instance_to_number(trace, arg, names, &PyFloat_Type, out);
    }
    if (dt_kinds_is(arg, DT_KIND_SYMBOLIC) && ((DtSymVar *)arg)->sym->type == DT_SYM_FLOAT) {
        *out = arg; /* CPython returns the same object */
        return DT_OK;
    }
    if (dt_kinds_is(arg, DT_KIND_SYMBOLIC)) {
        const DtSym *sym;
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, ((DtSymVar *)arg)->sym, &sym));
        return dt_var_sym(trace, sym, out);
    }
    return dt_builtin_fold(trace, self, args, out);
}

static DtStatus
call_bool(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0) {
        return dt_var_bool(trace, false, out);
    }
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (dt_array_is_number(arg)) {
        return array_to_number(trace, self, args, arg, out);
    }
    if (dt_kinds_is(arg, DT_KIND_SYMBOLIC) && ((DtSymVar *)arg)->sym->type == DT_SYM_BOOL) {
        *out = arg;
        return DT_OK;
    }
    bool truth;
    DT_TRY(dt_var_truth(trace, arg, &truth));
    return dt_var_bool(trace, truth, out);
}

static DtStatus
call_abs(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (dt_kinds_is(arg, DT_KIND_ARRAY)) {
        DtArrayVar *array = (DtArrayVar *)arg;
        return array->adapter->unary(array->adapter, trace, "absolute", array, out);
    }
    if (dt_kinds_is(arg, DT_KIND_INSTANCE)) {
        return call_special(trace, arg, "__abs__", NULL, 0, out);
    }
    if (dt_kinds_is(arg, DT_KIND_SYMBOLIC)) {
        const DtSym *sym;
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_ABS, ((DtSymVar *)arg)->sym, &sym));
        if (sym != NULL) {
            return dt_var_sym(trace, sym, out);
        }
    }
    return dt_builtin_fold(trace, self, args, out);
}

/* What min and max go on with: the best item so far and its key. */
typedef struct Best {
    DtVar *item, *key;
} Best;

/* The better of two numbers of which one at least is a symbol: an expression, and the very object
 * of one of them. */
static DtStatus
choose(DtTrace *trace, PyObject *chooser, DtSymOp op, DtVar *item, Best *best, bool *done)
{
    const DtSym *sym, *a = dt_symbolic_of(trace, best->item), *b = dt_symbolic_of(trace, item);
    DtVar *made;
    *done = false;
    if (a == NULL || b == NULL || (dt_sym_is_const(a) && dt_sym_is_const(b))) {
        return DT_OK;
    }
    DT_TRY(dt_sym_binary(&trace->arena, op, a, b, &sym));
    *done = sym != NULL && !dt_sym_is_const(sym);
    if (!*done || sym == a) { /* of equal ones the first */
        return DT_OK;
    }
    DT_TRY(dt_var_sym(trace, sym, &made));
    DtSymVar *choice = (DtSymVar *)made;
    choice->chooser = chooser;
    choice->candidates[0] = best->item;
    choice->candidates[1] = item;
    *best = (Best){made, made};
    return DT_OK;
}

static DtStatus
offer(DtTrace *trace, DtVar *item, DtVar *key, PyObject *chooser, int op, DtSymOp sym_op,
      Best *best)
{
    DtVar *item_key;
    DT_TRY(dt_var_realize(trace, item, &item));
    item_key = item;
    if (key != NULL) {
        DtArgs one = dt_args_of(&item, 1);
        DT_TRY(dt_var_call(trace, key, &one, &item_key));
    }
    if (best->item == NULL) {
        *best = (Best){item, item_key};
        return DT_OK;
    }
    bool chosen = false;
    if (key == NULL) {
        DT_TRY(choose(trace, chooser, sym_op, item, best, &chosen));
    }
    if (chosen) {
        return DT_OK;
    }
    DtVar *better;
    bool truth;
    DT_TRY(dt_var_compare(trace, op, item_key, best->key, &better));
    DT_TRY(dt_var_truth(trace, better, &truth));
    if (truth) {
        *best = (Best){item, item_key};
    }
    return DT_OK;
}

/* Is there an array among what min and max choose from, as far as that can be seen? */
static DtStatus
items_are_arrays(DtTrace *trace, const DtArgs *args, bool *out)
{
    if (args->npos > 1) {
        return dt_array_among(trace, args->pos, args->npos, out);
    }
    DtVar *only;
    DT_TRY(dt_var_realize(trace, args->pos[0], &only));
    *out = false;
    if (dt_kinds_is(only, DT_KIND_TUPLE) || dt_kinds_is(only, DT_KIND_LIST)) {
        DtSeqVar *items = (DtSeqVar *)dt_var_peek(only);
        for (uint32_t i = 0; i < items->count; i++) {
            *out = *out || dt_kinds_is(items->items[i], DT_KIND_ARRAY);
        }
    }
    return DT_OK;
}

/* min and max: the arguments, or the items of the only one, each as it comes. */
static DtStatus
pick(DtTrace *trace, DtVar *self, const DtArgs *args, int op, DtSymOp sym_op, DtVar **out)
{
    static const char *const allowed[] = {"key", "default", NULL};
    DtVar *key = dt_args_keyword(args, "key"), *otherwise = dt_args_keyword(args, "default");
    DtVar *iterator, *item;
    if (!dt_builtin_knows(args, allowed)) {
        return dt_builtin_misfit(trace, self, args);
    }
    DT_TRY(dt_var_given(trace, &key));
    if (args->npos > 1 && otherwise != NULL) {
        return dt_builtin_misfit(trace, self, args);
    }
    DT_TRY(dt_builtin_of_array(trace, self, args, out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (args->nkw == 0) {
        bool arrays;
        DT_TRY(items_are_arrays(trace, args, &arrays));
        if (arrays) {
            return dt_array_number(trace, self, args, out);
        }
    }
    if (args->npos > 1) {
        DT_TRY(dt_var_tuple(trace, args->pos, args->npos, &iterator));
        DT_TRY(dt_var_iter(trace, iterator, &iterator));
    }
    else {
        DT_TRY(dt_var_iter(trace, args->pos[0], &iterator));
    }
    Best best = {0};
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item == NULL) {
            break;
        }
        DT_TRY(offer(trace, item, key, ((DtObjectVar *)self)->object, op, sym_op, &best));
    }
    *out = best.item != NULL ? best.item : otherwise;
    if (*out != NULL) {
        return DT_OK;
    }
    DtVar *empty;
    DT_TRY(dt_var_tuple(trace, NULL, 0, &empty));
    DtArgs one = dt_args_of(&empty, 1);
    return dt_builtin_misfit(trace, self, &one);
}

static DtStatus
call_min(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return pick(trace, self, args, Py_LT, DT_SYM_OP_MIN, out);
}

static DtStatus
call_max(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return pick(trace, self, args, Py_GT, DT_SYM_OP_MAX, out);
}

/* sum() refuses to add texts. */
static DtStatus
refuse_text(DtTrace *trace, DtVar *self, DtVar *start)
{
    PyTypeObject *type = dt_var_python_type(trace, start);
    if (!PyType_FastSubclass(type, Py_TPFLAGS_UNICODE_SUBCLASS)
        && !PyType_FastSubclass(type, Py_TPFLAGS_BYTES_SUBCLASS)
        && !PyType_IsSubtype(type, &PyByteArray_Type)) {
        return DT_OK;
    }
    DtVar *both[2] = {NULL, start};
    DT_TRY(dt_var_tuple(trace, NULL, 0, &both[0]));
    DtArgs two = dt_args_of(both, 2);
    return dt_builtin_misfit(trace, self, &two);
}

/* A number that sum() may add in C. */
static bool
is_number(DtTrace *trace, DtVar *var, bool *is_float)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    *is_float = *is_float || type == &PyFloat_Type || type == &PyComplex_Type;
    return type == &PyFloat_Type || type == &PyComplex_Type || type == &PyLong_Type
           || type == &PyBool_Type;
}

/* The numbers that the items begin with.  Since 3.12 sum() of floats compensates rounding errors:
 * those are added by calling it. */
static DtStatus
add_numbers(DtTrace *trace, DtVar *self, DtVar **items, uint32_t count, bool floats, DtVar **total)
{
    if (floats) {
        DtVar *pos[2] = {NULL, *total};
        DT_TRY(dt_var_tuple(trace, items, count, &pos[0]));
        DtArgs folded = dt_args_of(pos, 2);
        bool arrays, start;
        DT_TRY(dt_array_among(trace, items, count, &arrays));
        DT_TRY(dt_array_among(trace, pos + 1, 1, &start));
        return arrays || start ? dt_array_number(trace, self, &folded, total)
                               : dt_builtin_fold(trace, self, &folded, total);
    }
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_binary(trace, DT_BINARY_ADD, *total, items[i], total));
    }
    return DT_OK;
}

static DtStatus
call_sum(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const allowed[] = {"start", NULL};
    DtVar *total = dt_args_at(args, 1, "start"), *iterator, *item;
    if (!dt_builtin_knows(args, allowed)) {
        return dt_builtin_misfit(trace, self, args);
    }
    DT_TRY(dt_builtin_of_array(trace, self, args, out));
    if (*out != NULL) {
        return DT_OK;
    }
    DT_TRY(dt_var_iter(trace, args->pos[0], &iterator));
    if (total == NULL) {
        DT_TRY(dt_var_int(trace, 0, &total));
    }
    DT_TRY(dt_var_realize(trace, total, &total));
    DT_TRY(refuse_text(trace, self, total));
    DT_VEC(DtVar *) numbers = {0};
    bool floats = false, only_numbers = is_number(trace, total, &floats);
    floats = false; /* a float to start with counts once something is added */
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item != NULL && only_numbers && is_number(trace, item, &floats)) {
            if (dt_vec_push(&trace->arena, &numbers, item) < 0) {
                return dt_no_memory();
            }
            continue;
        }
        if (only_numbers) {
            DT_TRY(add_numbers(trace, self, numbers.items, numbers.count, floats, &total));
            only_numbers = false;
        }
        if (item == NULL) {
            *out = total;
            return DT_OK;
        }
        DT_TRY(dt_var_binary(trace, DT_BINARY_ADD, total, item, &total));
    }
}

static DtStatus
call_round(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"number", "ndigits"};
    DtVar *bound[2], *arg;
    DT_TRY(dt_builtin_bind(trace, self, args, names, 2, bound));
    if (bound[0] == NULL) {
        return dt_builtin_misfit(trace, self, args);
    }
    DT_TRY(dt_var_realize(trace, bound[0], &arg));
    if (dt_kinds_is(arg, DT_KIND_ARRAY)) {
        DtArgs positional = dt_args_of(bound, bound[1] != NULL ? 2 : 1);
        bound[0] = arg;
        if (bound[1] != NULL) {
            DT_TRY(dt_var_realize(trace, bound[1], &bound[1]));
        }
        return dt_array_number(trace, self, &positional, out);
    }
    DT_TRY(dt_var_given(trace, &bound[1]));
    if (dt_kinds_is(arg, DT_KIND_INSTANCE)) {
        return call_special(trace, arg, "__round__", bound + 1, bound[1] != NULL, out);
    }
    *out = NULL;
    if (bound[1] == NULL) {
        DT_TRY(dt_math_symbolic(trace, DT_SYM_OP_ROUND, arg, out));
    }
    return *out != NULL ? DT_OK : dt_builtin_fold(trace, self, args, out);
}

/* Followed where one side alone has a say: a plain object on the right, or none on the left. */
static DtStatus
divmod_of_instances(DtTrace *trace, DtVar *left, DtVar *right, DtVar **out)
{
    bool reflected = !dt_kinds_is(left, DT_KIND_INSTANCE);
    DtVar *subject = reflected ? right : left, *other = reflected ? left : right, *method;
    bool alone = !dt_kinds_is(other, DT_KIND_INSTANCE) && !dt_kinds_is(other, DT_KIND_ARRAY)
                 && (!reflected || dt_payload_of(subject) == subject);
    DT_TRY(dt_instance_special(trace, subject, reflected ? "__rdivmod__" : "__divmod__", &method));
    if (alone && method != NULL) {
        DtArgs args = dt_args_of(&other, 1);
        DT_TRY(dt_var_call(trace, method, &args, out));
        DT_TRY(dt_var_realize(trace, *out, out));
        if (*out != dt_not_implemented(trace) && dt_var_peek_constant(*out) != Py_NotImplemented) {
            return DT_OK;
        }
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "divmod() of a %s and a %s",
                    dt_kinds_type_name(trace, left), dt_kinds_type_name(trace, right));
}

static DtStatus
floor_and_rest(DtTrace *trace, DtVar *left, DtVar *right, DtVar **out)
{
    DtVar *pair[2];
    DT_TRY(dt_var_binary(trace, DT_BINARY_FLOOR_DIVIDE, left, right, &pair[0]));
    DT_TRY(dt_var_binary(trace, DT_BINARY_REMAINDER, left, right, &pair[1]));
    return dt_var_tuple(trace, pair, 2, out);
}

/* An int that the graph computes, or one that is known. */
static bool
is_int(DtVar *var)
{
    PyTypeObject *type = dt_kinds_is(var, DT_KIND_ARRAY) ? ((DtArrayVar *)var)->meta->type : NULL;
    PyObject *constant = type == NULL ? dt_var_peek_constant(var) : NULL;
    return type == &PyLong_Type || (constant != NULL && PyLong_CheckExact(constant))
           || (dt_kinds_is(var, DT_KIND_SYMBOLIC) && ((DtSymVar *)var)->sym->type == DT_SYM_INT);
}

/* The method of the array, which knows arrays and numbers; of ints floor and rest. */
static DtStatus
divmod_of_arrays(DtTrace *trace, DtVar *left, DtVar *right, DtVar **out)
{
    if (is_int(left) && is_int(right)) {
        return floor_and_rest(trace, left, right, out);
    }
    bool reflected = !dt_kinds_is(left, DT_KIND_ARRAY);
    return reflected ? dt_var_call_method(trace, right, "__rdivmod__", &left, 1, out)
                     : dt_var_call_method(trace, left, "__divmod__", &right, 1, out);
}

/* The floor and the rest of numbers that are not known; of the rest what CPython's own gives. */
static DtStatus
call_divmod(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *left, *right;
    DT_TRY(dt_var_realize(trace, args->pos[0], &left));
    DT_TRY(dt_var_realize(trace, args->pos[1], &right));
    bool symbolic = dt_kinds_is(left, DT_KIND_SYMBOLIC) || dt_kinds_is(right, DT_KIND_SYMBOLIC);
    const DtSym *divisor = symbolic ? dt_symbolic_of(trace, right) : NULL;
    if (dt_kinds_is(left, DT_KIND_INSTANCE) || dt_kinds_is(right, DT_KIND_INSTANCE)) {
        return divmod_of_instances(trace, left, right, out);
    }
    if (dt_kinds_is(left, DT_KIND_ARRAY) || dt_kinds_is(right, DT_KIND_ARRAY)) {
        return divmod_of_arrays(trace, left, right, out);
    }
    if (!symbolic || divisor == NULL || dt_symbolic_of(trace, left) == NULL) {
        return dt_builtin_fold(trace, self, args, out);
    }
    bool nonzero;
    DT_TRY(dt_var_truth(trace, right, &nonzero)); /* guarded; zero raises what divmod() raises */
    if (!nonzero) {
        return dt_builtin_fold(trace, self, args, out);
    }
    return floor_and_rest(trace, left, right, out);
}

static DtStatus
call_pow(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"base", "exp", "mod"};
    DtVar *bound[3];
    DT_TRY(dt_builtin_bind(trace, self, args, names, 3, bound));
    if (bound[0] == NULL || bound[1] == NULL) {
        return dt_builtin_misfit(trace, self, args);
    }
    DT_TRY(dt_var_given(trace, &bound[2]));
    if (bound[2] != NULL) {
        return dt_builtin_fold(trace, self, args, out);
    }
    return dt_var_binary(trace, DT_BINARY_POWER, bound[0], bound[1], out);
}
static const DtMethodRow number_rows[] = {
    {"abs", call_abs, 1, 1, false},
    {"bin", dt_builtin_fold, 1, 1, false},
    {"bool", call_bool, 0, 1, false},
    {"chr", dt_builtin_fold, 1, 1, false},
    {"complex", dt_builtin_fold, 0, 2, true},
    {"divmod", call_divmod, 2, 2, false},
    {"float", call_float, 0, 1, false},
    {"hex", dt_builtin_fold, 1, 1, false},
    {"int", call_int, 0, 2, true},
    {"max", call_max, 1, -1, true},
    {"min", call_min, 1, -1, true},
    {"oct", dt_builtin_fold, 1, 1, false},
    {"ord", dt_builtin_fold, 1, 1, false},
    {"pow", call_pow, 0, 3, true},
    {"round", call_round, 0, 2, true},
    {"sum", call_sum, 1, 2, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_numbers_table = {"builtins", number_rows};
