/* Rows of module `builtins`: numbers and containers, functions and classes alike.
 *
 * Each handler says what the call means over trackers.
 *
 * Not in here: types and attributes (builtins_types.c), math and operator (builtins_math.c).
 */
#include <string.h>

#include "variables/fold.h"
#include "variables/text.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

static DtStatus
bind_keyword(DtTrace *trace, const DtArgs *args, const char *name, DtVar *value, DtVar **out)
{
    *out = value;
    DtVar *found;
    DT_TRY(dt_args_keyword(trace, args, name, &found));
    if (found != NULL) {
        *out = found;
    }
    return DT_OK;
}

/* Whether all keywords are allowed ones. */
static bool
knows_keywords(const DtArgs *args, const char *const *allowed)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        bool known = false;
        for (const char *const *name = allowed; *name != NULL && !known; name++) {
            known = PyUnicode_CompareWithASCIIString(args->kwnames[i], *name) == 0;
        }
        if (!known) {
            return false;
        }
    }
    return true;
}

/* Positional arguments out of positional ones and keywords: names[i] is the name of number i.  A
 * call that does not fit fails as the real one does. */
static DtStatus
bind_names(DtTrace *trace, DtVar *self, const DtArgs *args, const char *const *names,
           uint32_t count, DtVar **out)
{
    memset(out, 0, count * sizeof(DtVar *));
    for (uint32_t i = 0; i < args->npos && i < count; i++) {
        out[i] = args->pos[i];
    }
    bool fits = args->npos <= count;
    for (uint32_t k = 0; k < args->nkw && fits; k++) {
        uint32_t i = 0;
        while (i < count && PyUnicode_CompareWithASCIIString(args->kwnames[k], names[i]) != 0) {
            i++;
        }
        fits = i < count && out[i] == NULL;
        if (fits) {
            out[i] = args->kw[k];
        }
    }
    return fits ? DT_OK : dt_kinds_mismatch(trace, self, "", args);
}

static DtStatus
fail(DtTrace *trace, DtVar *self, const DtArgs *args)
{
    return dt_kinds_mismatch(trace, self, "", args);
}

/* Calls the real builtin type or function on what is known. */
static DtStatus
fold_call(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    return dt_fold_call(trace, ((DtObjectVar *)self)->object, NULL, args, out);
}

DtStatus
dt_builtin_hash(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyObject *value = dt_var_as_constant(trace, var);
    if (value != NULL && dt_constant_has_nan(value)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "hash() of a NaN");
    }
    DtEntry key;
    DT_TRY(dt_dict_key(trace, var, &key));
    if (key.by_identity) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "hash() of a %s, which is its address",
                        dt_var_peek(var)->type->name);
    }
    return dt_var_const_take(trace, PyLong_FromSsize_t(key.hash), out);
}

static DtStatus
call_hash(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_builtin_hash(trace, args->pos[0], out);
}

static DtStatus
realize_first(DtTrace *trace, const DtArgs *args, DtVar **out)
{
    return dt_var_realize(trace, args->pos[0], out);
}

static bool
is_kind(DtVar *var, DtKind kind)
{
    return var->type->kind == kind;
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

/* ---- Numbers --------------------------------------------------------------------------------- */

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

static DtStatus
array_to_scalar(DtTrace *trace, const char *function)
{
    return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s() of an array", function);
}

static DtStatus
call_int(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0) {
        return args->nkw == 0 ? dt_var_int(trace, 0, out) : fold_call(trace, self, args, out);
    }
    if (args->nkw > 0) {
        return fold_call(trace, self, args, out);
    }
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (is_kind(arg, DT_KIND_ARRAY)) {
        return array_to_scalar(trace, "int");
    }
    if (is_kind(arg, DT_KIND_INSTANCE)) {
        static const char *const names[] = {"__int__", "__index__", NULL};
        return args->npos == 1 ? instance_to_number(trace, arg, names, &PyLong_Type, out)
                               : fold_call(trace, self, args, out);
    }
    if (args->npos == 1 && is_kind(arg, DT_KIND_SYMBOLIC)
        && ((DtSymVar *)arg)->sym->type == DT_SYM_INT) {
        *out = arg;
        return DT_OK;
    }
    return fold_call(trace, self, args, out);
}

static DtStatus
call_float(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0) {
        return dt_var_const_take(trace, PyFloat_FromDouble(0.0), out);
    }
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (is_kind(arg, DT_KIND_ARRAY)) {
        return array_to_scalar(trace, "float");
    }
    if (is_kind(arg, DT_KIND_INSTANCE)) {
        static const char *const names[] = {"__float__", NULL};
        return instance_to_number(trace, arg, names, &PyFloat_Type, out);
    }
    if (is_kind(arg, DT_KIND_SYMBOLIC) && ((DtSymVar *)arg)->sym->type == DT_SYM_FLOAT) {
        *out = arg; /* CPython returns the same object */
        return DT_OK;
    }
    if (is_kind(arg, DT_KIND_SYMBOLIC)) {
        const DtSym *sym;
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_FLOAT, ((DtSymVar *)arg)->sym, &sym));
        return dt_var_sym(trace, sym, out);
    }
    return fold_call(trace, self, args, out);
}

static DtStatus
call_bool(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    if (args->npos == 0) {
        return dt_var_bool(trace, false, out);
    }
    DtVar *arg;
    DT_TRY(realize_first(trace, args, &arg));
    if (is_kind(arg, DT_KIND_SYMBOLIC) && ((DtSymVar *)arg)->sym->type == DT_SYM_BOOL) {
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
    if (is_kind(arg, DT_KIND_ARRAY)) {
        DtArrayVar *array = (DtArrayVar *)arg;
        return array->adapter->unary(array->adapter, trace, "absolute", array, out);
    }
    if (is_kind(arg, DT_KIND_INSTANCE)) {
        return call_special(trace, arg, "__abs__", NULL, 0, out);
    }
    if (is_kind(arg, DT_KIND_SYMBOLIC)) {
        const DtSym *sym;
        DT_TRY(dt_sym_unary(&trace->arena, DT_SYM_OP_ABS, ((DtSymVar *)arg)->sym, &sym));
        if (sym != NULL) {
            return dt_var_sym(trace, sym, out);
        }
    }
    return fold_call(trace, self, args, out);
}

/* What min and max go on with: the best item so far and its key. */
typedef struct Best {
    DtVar *item, *key;
} Best;

static DtStatus
offer(DtTrace *trace, DtVar *item, DtVar *key, int op, DtSymOp sym_op, Best *best)
{
    DtVar *item_key;
    DT_TRY(dt_var_realize(trace, item, &item));
    item_key = item;
    bool by_key = dt_var_peek_constant(key) != Py_None;
    if (by_key) {
        DtArgs one = dt_args_of(&item, 1);
        DT_TRY(dt_var_call(trace, key, &one, &item_key));
    }
    if (best->item == NULL) {
        *best = (Best){item, item_key};
        return DT_OK;
    }
    const DtSym *a = dt_symbolic_of(trace, best->item), *b = dt_symbolic_of(trace, item);
    if (!by_key && a != NULL && b != NULL) {
        const DtSym *sym;
        DT_TRY(dt_sym_binary(&trace->arena, sym_op, a, b, &sym));
        if (sym != NULL) {
            DT_TRY(dt_var_sym(trace, sym, &best->item));
            best->key = best->item;
            return DT_OK;
        }
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

/* min and max: the arguments, or the items of the only one, each as it comes. */
static DtStatus
pick(DtTrace *trace, DtVar *self, const DtArgs *args, int op, DtSymOp sym_op, DtVar **out)
{
    static const char *const allowed[] = {"key", "default", NULL};
    DtVar *key, *otherwise, *iterator, *item;
    if (!knows_keywords(args, allowed)) {
        return fail(trace, self, args);
    }
    DT_TRY(bind_keyword(trace, args, "key", dt_none(trace), &key));
    DT_TRY(bind_keyword(trace, args, "default", NULL, &otherwise));
    if (args->npos > 1 && otherwise != NULL) {
        return fail(trace, self, args);
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
        DT_TRY(offer(trace, item, key, op, sym_op, &best));
    }
    *out = best.item != NULL ? best.item : otherwise;
    if (*out != NULL) {
        return DT_OK;
    }
    DtVar *empty;
    DT_TRY(dt_var_tuple(trace, NULL, 0, &empty));
    DtArgs one = dt_args_of(&empty, 1);
    return fail(trace, self, &one);
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
    return fail(trace, self, &two);
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
        return fold_call(trace, self, &folded, total);
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
    DtVar *total, *iterator, *item;
    if (!knows_keywords(args, allowed)) {
        return fail(trace, self, args);
    }
    DT_TRY(dt_var_iter(trace, args->pos[0], &iterator));
    if (args->npos > 1) {
        total = args->pos[1];
    }
    else {
        DT_TRY(dt_var_int(trace, 0, &total));
        DT_TRY(bind_keyword(trace, args, "start", total, &total));
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
    DT_TRY(bind_names(trace, self, args, names, 2, bound));
    if (bound[0] == NULL) {
        return fail(trace, self, args);
    }
    DT_TRY(dt_var_realize(trace, bound[0], &arg));
    if (is_kind(arg, DT_KIND_ARRAY)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "round() of an array");
    }
    bool digits = bound[1] != NULL && dt_var_peek_constant(bound[1]) != Py_None;
    if (is_kind(arg, DT_KIND_INSTANCE)) {
        return call_special(trace, arg, "__round__", bound + 1, digits ? 1 : 0, out);
    }
    return fold_call(trace, self, args, out);
}

/* Followed where one side alone has a say: a plain object on the right, or none on the left. */
static DtStatus
divmod_of_instances(DtTrace *trace, DtVar *left, DtVar *right, DtVar **out)
{
    bool reflected = !is_kind(left, DT_KIND_INSTANCE);
    DtVar *subject = reflected ? right : left, *other = reflected ? left : right, *method;
    bool alone =
        !is_kind(other, DT_KIND_INSTANCE) && (!reflected || dt_payload_of(subject) == subject);
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

/* The floor and the rest of numbers that are not known; of the rest what CPython's own gives. */
static DtStatus
call_divmod(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *pair[2], *left, *right;
    DT_TRY(dt_var_realize(trace, args->pos[0], &left));
    DT_TRY(dt_var_realize(trace, args->pos[1], &right));
    bool symbolic = is_kind(left, DT_KIND_SYMBOLIC) || is_kind(right, DT_KIND_SYMBOLIC);
    const DtSym *divisor = symbolic ? dt_symbolic_of(trace, right) : NULL;
    if (is_kind(left, DT_KIND_INSTANCE) || is_kind(right, DT_KIND_INSTANCE)) {
        return divmod_of_instances(trace, left, right, out);
    }
    if (!symbolic || divisor == NULL || dt_symbolic_of(trace, left) == NULL) {
        return fold_call(trace, self, args, out);
    }
    bool nonzero;
    DT_TRY(dt_var_truth(trace, right, &nonzero)); /* guarded; zero raises what divmod() raises */
    if (!nonzero) {
        return fold_call(trace, self, args, out);
    }
    DT_TRY(dt_var_binary(trace, DT_BINARY_FLOOR_DIVIDE, left, right, &pair[0]));
    DT_TRY(dt_var_binary(trace, DT_BINARY_REMAINDER, left, right, &pair[1]));
    return dt_var_tuple(trace, pair, 2, out);
}

static DtStatus
call_pow(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"base", "exp", "mod"};
    DtVar *bound[3];
    DT_TRY(bind_names(trace, self, args, names, 3, bound));
    if (bound[0] == NULL || bound[1] == NULL) {
        return fail(trace, self, args);
    }
    if (bound[2] != NULL && dt_var_peek_constant(bound[2]) != Py_None) {
        return fold_call(trace, self, args, out);
    }
    return dt_var_binary(trace, DT_BINARY_POWER, bound[0], bound[1], out);
}

/* ---- Containers ------------------------------------------------------------------------------ */

static DtStatus
call_len(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_var_length(trace, args->pos[0], out);
}

static DtStatus
call_range(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    int64_t numbers[3] = {0, 0, 1};
    for (uint32_t i = 0; i < args->npos; i++) {
        bool ok;
        DT_TRY(dt_constant_index(trace, args->pos[i], &numbers[args->npos == 1 ? 1 : i], &ok));
        if (!ok) {
            return fail(trace, self, args);
        }
    }
    return dt_range_new(trace, numbers[0], numbers[1], numbers[2], out);
}

static DtStatus
call_tuple(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar **items = NULL;
    uint32_t count = 0;
    if (args->npos > 0) {
        DtVar *arg;
        DT_TRY(realize_first(trace, args, &arg));
        if (is_kind(arg, DT_KIND_TUPLE) && ((DtSeqVar *)arg)->cls == &PyTuple_Type) {
            *out = arg;
            return DT_OK;
        }
        DT_TRY(dt_collect_list(trace, arg, &items, &count));
    }
    return dt_var_tuple(trace, items, count, out);
}

static DtStatus
call_list(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar **items = NULL;
    uint32_t count = 0;
    if (args->npos > 0) {
        DT_TRY(dt_collect_list(trace, args->pos[0], &items, &count));
    }
    return dt_var_list(trace, items, count, out);
}

static DtStatus
call_dict(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtDictVar *dict;
    DT_TRY(dt_dict_new(trace, &dict));
    if (args->npos > 0) {
        DT_TRY(dt_dict_update_from(trace, dict, args->pos[0]));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        DtVar *key;
        DT_TRY(dt_var_const(trace, args->kwnames[i], &key));
        DT_TRY(dt_dict_store(trace, dict, key, args->kw[i]));
    }
    *out = &dict->base;
    return DT_OK;
}

static DtStatus
make_set(DtTrace *trace, PyTypeObject *cls, const DtArgs *args, DtVar **out)
{
    return args->npos > 0 ? dt_set_from(trace, cls, args->pos[0], out)
                          : dt_set_make(trace, cls, NULL, 0, out);
}

static DtStatus
call_set(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return make_set(trace, &PySet_Type, args, out);
}

static DtStatus
call_frozenset(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return make_set(trace, &PyFrozenSet_Type, args, out);
}

static DtStatus
call_slice(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar *none = dt_none(trace);
    if (args->npos == 1) {
        return dt_var_slice(trace, none, args->pos[0], none, out);
    }
    return dt_var_slice(trace, args->pos[0], args->pos[1], args->npos > 2 ? args->pos[2] : none,
                        out);
}

static DtStatus
call_enumerate(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const char *const names[] = {"iterable", "start"};
    DtVar *bound[2];
    int64_t first = 0;
    bool ok = true;
    DT_TRY(bind_names(trace, self, args, names, 2, bound));
    if (bound[1] != NULL) {
        DT_TRY(dt_constant_index(trace, bound[1], &first, &ok));
    }
    if (bound[0] == NULL || !ok) {
        return fail(trace, self, args);
    }
    return dt_iter_enumerate(trace, bound[0], first, out);
}

static DtStatus
call_zip(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    static const char *const allowed[] = {"strict", NULL};
    DtVar *strict;
    bool truth;
    if (!knows_keywords(args, allowed)) {
        return fail(trace, self, args);
    }
    DT_TRY(bind_keyword(trace, args, "strict", dt_none(trace), &strict));
    DT_TRY(dt_var_truth(trace, strict, &truth));
    return dt_iter_zip(trace, args->pos, args->npos, truth, out);
}

static DtStatus
call_map(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_iter_map(trace, args->pos[0], args->pos + 1, args->npos - 1, out);
}

static DtStatus
call_filter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_iter_filter(trace, args->pos[0], args->pos[1], out);
}

/* A dict or view backwards: as it is now, since it may not change size meanwhile anyway. */
static DtStatus
reversed_entries(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtVar **items, *list;
    uint32_t count;
    DT_TRY(dt_var_unpack(trace, var, &items, &count));
    DT_TRY(dt_var_tuple(trace, items, count, &list));
    return dt_iter_reversed(trace, list, out);
}

/* __reversed__, or backwards by __len__ and __getitem__. */
static DtStatus
reversed_instance(DtTrace *trace, DtVar *arg, DtVar **out)
{
    DtVar *method, *length;
    const DtArgs no_args = {0};
    DT_TRY(dt_instance_special(trace, arg, "__reversed__", &method));
    if (method != NULL) {
        return dt_var_call(trace, method, &no_args, out);
    }
    if (dt_payload_of(arg) != arg || dt_instance_overrides(arg, "__reversed__")) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "reversed() of a %s",
                        dt_kinds_type_name(trace, arg));
    }
    if (!dt_instance_overrides(arg, "__getitem__")) {
        return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not reversible",
                        dt_kinds_type_name(trace, arg));
    }
    DT_TRY(dt_var_length(trace, arg, &length));
    int64_t count;
    bool ok;
    DT_TRY(dt_constant_index(trace, length, &count, &ok));
    return dt_iter_reversed_getitem(trace, arg, count, out);
}

DtStatus
dt_builtin_reversed(DtTrace *trace, DtVar *arg, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, arg, &arg));
    switch (arg->type->kind) {
    case DT_KIND_TUPLE:
    case DT_KIND_LIST:
        return dt_iter_reversed(trace, arg, out);
    case DT_KIND_RANGE:
        return dt_iter_range(trace, arg, true, out);
    case DT_KIND_DICT:
    case DT_KIND_DICT_VIEW:
        return reversed_entries(trace, arg, out);
    case DT_KIND_CONSTANT:
        if (PyUnicode_CheckExact(((DtConstVar *)arg)->value)
            || PyBytes_CheckExact(((DtConstVar *)arg)->value)) {
            return dt_iter_reversed_constant(trace, arg, out);
        }
        break;
    case DT_KIND_INSTANCE:
        return reversed_instance(trace, arg, out);
    default:
        break;
    }
    PyTypeObject *type = dt_var_python_type(trace, arg);
    if (type != NULL && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        && (type->tp_as_sequence == NULL || type->tp_as_sequence->sq_item == NULL)
        && !PyObject_HasAttrString((PyObject *)type, "__reversed__")) {
        DtArgs one = dt_args_of(&arg, 1);
        return dt_fold_failure(trace, (PyObject *)&PyReversed_Type, &one);
    }
    return dt_break(trace, DT_BREAK_MISSING_SLOT, "reversed() of a %s", arg->type->name);
}

static DtStatus
call_reversed(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_builtin_reversed(trace, args->pos[0], out);
}

static DtStatus
call_sorted(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    static const char *const allowed[] = {"key", "reverse", NULL};
    DtVar *key, *reverse, **items;
    uint32_t count;
    bool descending;
    if (!knows_keywords(args, allowed)) {
        return fail(trace, self, args);
    }
    DT_TRY(bind_keyword(trace, args, "key", NULL, &key));
    DT_TRY(bind_keyword(trace, args, "reverse", NULL, &reverse));
    DT_TRY(dt_list_descending(trace, reverse, &descending));
    DT_TRY(dt_collect_list(trace, args->pos[0], &items, &count));
    DT_TRY(dt_list_sort(trace, items, count, key, descending));
    return dt_var_list(trace, items, count, out);
}

static DtStatus
call_any(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar *iterator, *item;
    DT_TRY(dt_var_iter(trace, args->pos[0], &iterator));
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item == NULL) {
            return dt_var_bool(trace, false, out);
        }
        bool truth;
        DT_TRY(dt_var_truth(trace, item, &truth));
        if (truth) {
            return dt_var_bool(trace, true, out);
        }
    }
}

static DtStatus
call_all(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar *iterator, *item;
    DT_TRY(dt_var_iter(trace, args->pos[0], &iterator));
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item == NULL) {
            return dt_var_bool(trace, true, out);
        }
        bool truth;
        DT_TRY(dt_var_truth(trace, item, &truth));
        if (!truth) {
            return dt_var_bool(trace, false, out);
        }
    }
}

static DtStatus
call_iter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    if (args->npos == 2) {
        return dt_iter_callable(trace, args->pos[0], args->pos[1], out);
    }
    return dt_var_iter(trace, args->pos[0], out);
}

static DtStatus
call_next(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DT_TRY(args->npos < 2 ? dt_iter_next(trace, args->pos[0], out)
                          : dt_var_iternext(trace, args->pos[0], out));
    if (*out == NULL) {
        if (args->npos < 2) {
            return dt_iter_raise_stop(trace, dt_none(trace));
        }
        *out = args->pos[1];
    }
    return DT_OK;
}

static DtStatus
call_str(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 0 && args->nkw == 0) {
        return dt_var_const_take(trace, PyUnicode_New(0, 0), out);
    }
    if (args->npos == 1 && args->nkw == 0) {
        return dt_text_str(trace, args->pos[0], out);
    }
    return fold_call(trace, self, args, out);
}

/* bytes(iterable) goes through it; everything else is known. */
static DtStatus
call_bytes(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    if (args->npos == 1 && args->nkw == 0) {
        DtVar *arg;
        PyObject *known;
        bool ran = false;
        DT_TRY(dt_var_realize(trace, args->pos[0], &arg));
        if (is_kind(arg, DT_KIND_ARRAY)) {
            return array_to_scalar(trace, "bytes");
        }
        if (is_kind(arg, DT_KIND_CONSTANT) && PyBytes_CheckExact(((DtConstVar *)arg)->value)
            && ((DtObjectVar *)self)->object == (PyObject *)&PyBytes_Type) {
            *out = arg;
            return DT_OK;
        }
        DT_TRY(dt_fold_value(trace, arg, &known));
        if (known == NULL && arg->type->tp_iter != NULL && !is_kind(arg, DT_KIND_INSTANCE)) {
            DtVar **items;
            uint32_t count;
            DT_TRY(dt_collect_list(trace, arg, &items, &count));
            DT_TRY(dt_var_list(trace, items, count, &arg));
            ran = true;
        }
        Py_XDECREF(known);
        DtArgs one = dt_args_of(&arg, 1);
        DtStatus status = fold_call(trace, self, &one, out);
        /* The real one fails at the item that does not fit, before it asks for the next. */
        return ran ? dt_raised_break_if(trace, status) : status;
    }
    return fold_call(trace, self, args, out);
}

static DtStatus
call_repr(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_text_repr(trace, args->pos[0], out);
}

static DtStatus
call_ascii(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_text_ascii(trace, args->pos[0], out);
}

static DtStatus
call_format(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_text_format(trace, args->pos[0], args->npos > 1 ? args->pos[1] : NULL, out);
}

static const DtMethodRow builtin_rows[] = {
    {"abs", call_abs, 1, 1, false},
    {"all", call_all, 1, 1, false},
    {"ascii", call_ascii, 1, 1, false},
    {"any", call_any, 1, 1, false},
    {"bin", fold_call, 1, 1, false},
    {"bool", call_bool, 0, 1, false},
    {"bytearray", call_bytes, 0, 3, true},
    {"bytes", call_bytes, 0, 3, true},
    {"chr", fold_call, 1, 1, false},
    {"complex", fold_call, 0, 2, true},
    {"dict", call_dict, 0, 1, true},
    {"divmod", call_divmod, 2, 2, false},
    {"enumerate", call_enumerate, 0, 2, true},
    {"filter", call_filter, 2, 2, false},
    {"float", call_float, 0, 1, false},
    {"format", call_format, 1, 2, false},
    {"frozenset", call_frozenset, 0, 1, false},
    {"hash", call_hash, 1, 1, false},
    {"hex", fold_call, 1, 1, false},
    {"int", call_int, 0, 2, true},
    {"iter", call_iter, 1, 2, false},
    {"len", call_len, 1, 1, false},
    {"list", call_list, 0, 1, false},
    {"map", call_map, 2, -1, false},
    {"max", call_max, 1, -1, true},
    {"min", call_min, 1, -1, true},
    {"next", call_next, 1, 2, false},
    {"oct", fold_call, 1, 1, false},
    {"ord", fold_call, 1, 1, false},
    {"pow", call_pow, 0, 3, true},
    {"range", call_range, 1, 3, false},
    {"repr", call_repr, 1, 1, false},
    {"reversed", call_reversed, 1, 1, false},
    {"round", call_round, 0, 2, true},
    {"set", call_set, 0, 1, false},
    {"slice", call_slice, 1, 3, false},
    {"sorted", call_sorted, 1, 1, true},
    {"str", call_str, 0, 3, true},
    {"sum", call_sum, 1, 2, true},
    {"tuple", call_tuple, 0, 1, false},
    {"zip", call_zip, 0, -1, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_table = {"builtins", builtin_rows};
