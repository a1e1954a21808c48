/* Rows of module `builtins`: containers, iteration and texts, functions and classes alike.
 *
 * Each handler says what the call means over trackers.
 *
 * Not in here: numbers (builtins_numbers.c), types and attributes (builtins_types.c).
 */
#include "variables/builtins/builtin_args.h"
#include "variables/fold.h"
#include "variables/iterators/iterators.h"
#include "variables/text.h"

DtStatus
dt_builtin_hash(DtTrace *trace, DtVar *var, DtVar **out)
{
    PyObject *value = dt_var_as_constant(trace, var);
    if (value != NULL && dt_constant_has_nan(value)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "hash() of a NaN");
    }
    DtDictEntry key;
    DT_TRY(dt_dict_key(trace, var, &key));
    if (key.by_identity || key.unsaid) {
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
call_len(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return dt_var_length(trace, args->pos[0], out);
}

static DtStatus
call_range(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool fits;
    DT_TRY(dt_range_of(trace, args, out, &fits));
    for (uint32_t i = 0; !fits && i < args->npos; i++) {
        DtVar *arg;
        DT_TRY(dt_var_realize(trace, args->pos[i], &arg));
        if (arg->type->kind == DT_KIND_INSTANCE) { /* another one may be what does not fit */
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "range() of a %s",
                            dt_kinds_type_name(trace, arg));
        }
    }
    return fits ? DT_OK : dt_builtin_misfit(trace, self, args);
}

static DtStatus
call_tuple(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar **items = NULL;
    uint32_t count = 0;
    if (args->npos > 0) {
        DtVar *arg;
        DT_TRY(dt_var_realize(trace, args->pos[0], &arg));
        if (dt_kinds_is(arg, DT_KIND_TUPLE) && ((DtSeqVar *)arg)->cls == &PyTuple_Type) {
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
    DT_TRY(dt_dict_update_args(trace, dict, args));
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
    DT_TRY(dt_builtin_bind(trace, self, args, names, 2, bound));
    if (bound[1] != NULL) {
        DT_TRY(dt_constant_index(trace, bound[1], &first, &ok));
    }
    if (bound[0] == NULL || !ok) {
        return dt_builtin_misfit(trace, self, args);
    }
    return dt_iter_enumerate(trace, bound[0], first, out);
}

static DtStatus
call_zip(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    static const char *const allowed[] = {"strict", NULL};
    DtVar *strict = dt_args_keyword(args, "strict");
    bool truth = false;
    if (!dt_builtin_knows(args, allowed)) {
        return dt_builtin_misfit(trace, self, args);
    }
    if (strict != NULL) {
        DT_TRY(dt_var_truth(trace, strict, &truth));
    }
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

/* By length and items, as of every sequence of C. */
static DtStatus
reversed_array(DtTrace *trace, DtVar *arg, DtVar **out)
{
    DtVar *length;
    int64_t count;
    bool ok;
    DT_TRY(dt_var_length(trace, arg, &length));
    DT_TRY(dt_constant_index(trace, length, &count, &ok));
    return ok ? dt_iter_reversed_getitem(trace, arg, count, out)
              : dt_break(trace, DT_BREAK_DATA_SIZE, "reversed() of a selection");
}

DtStatus
dt_builtin_reversed(DtTrace *trace, DtVar *arg, DtVar **out)
{
    DtRangeVar *range;
    DT_TRY(dt_var_realize(trace, arg, &arg));
    switch (arg->type->kind) {
    case DT_KIND_TUPLE:
    case DT_KIND_LIST:
        return dt_iter_reversed(trace, arg, out);
    case DT_KIND_RANGE:
        DT_TRY(dt_range_close(trace, arg, &range));
        return dt_iter_range(trace, arg, true, out);
    case DT_KIND_DICT:
        return dt_iter_reversed_dict(trace, (DtDictVar *)arg, 0, out);
    case DT_KIND_DICT_VIEW:
        return dt_iter_reversed_dict(trace, ((DtDictViewVar *)arg)->dict,
                                     ((DtDictViewVar *)arg)->what, out);
    case DT_KIND_CONSTANT:
        if (PyUnicode_CheckExact(((DtConstVar *)arg)->value)
            || PyBytes_CheckExact(((DtConstVar *)arg)->value)) {
            return dt_iter_reversed_constant(trace, arg, out);
        }
        break;
    case DT_KIND_INSTANCE:
        return reversed_instance(trace, arg, out);
    case DT_KIND_ARRAY:
        return reversed_array(trace, arg, out);
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
    DtVar **items;
    uint32_t count;
    bool descending;
    if (!dt_builtin_knows(args, allowed)) {
        return dt_builtin_misfit(trace, self, args);
    }
    DT_TRY(dt_list_descending(trace, dt_args_keyword(args, "reverse"), &descending));
    DT_TRY(dt_collect_list(trace, args->pos[0], &items, &count));
    DT_TRY(dt_list_sort(trace, items, count, dt_args_keyword(args, "key"), descending));
    return dt_var_list(trace, items, count, out);
}

static DtStatus
call_any(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *iterator, *item;
    DT_TRY(dt_builtin_of_array(trace, self, args, out));
    if (*out != NULL) {
        return DT_OK;
    }
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
    DtVar *iterator, *item;
    DT_TRY(dt_builtin_of_array(trace, self, args, out));
    if (*out != NULL) {
        return DT_OK;
    }
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
    return dt_builtin_fold(trace, self, args, out);
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
        if (dt_kinds_is(arg, DT_KIND_ARRAY)) {
            return dt_builtin_scalar(trace, "bytes");
        }
        if (dt_kinds_is(arg, DT_KIND_CONSTANT) && PyBytes_CheckExact(((DtConstVar *)arg)->value)
            && ((DtObjectVar *)self)->object == (PyObject *)&PyBytes_Type) {
            *out = arg;
            return DT_OK;
        }
        DT_TRY(dt_fold_value(trace, arg, &known));
        if (known == NULL && arg->type->tp_iter != NULL && !dt_kinds_is(arg, DT_KIND_INSTANCE)) {
            DtVar **items;
            uint32_t count;
            /* It has a text of its own for what can't be iterated over. */
            DT_TRY(dt_raised_break_if(trace, dt_collect_list(trace, arg, &items, &count)));
            DT_TRY(dt_var_list(trace, items, count, &arg));
            ran = true;
        }
        Py_XDECREF(known);
        DtArgs one = dt_args_of(&arg, 1);
        DtStatus status = dt_builtin_fold(trace, self, &one, out);
        /* The real one fails at the item that does not fit, before it asks for the next. */
        return ran ? dt_raised_break_if(trace, status) : status;
    }
    return dt_builtin_fold(trace, self, args, out);
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
    {"all", call_all, 1, 1, false},
    {"ascii", call_ascii, 1, 1, false},
    {"any", call_any, 1, 1, false},
    {"bytearray", call_bytes, 0, 3, true},
    {"bytes", call_bytes, 0, 3, true},
    {"dict", call_dict, 0, 1, true},
    {"enumerate", call_enumerate, 0, 2, true},
    {"filter", call_filter, 2, 2, false},
    {"format", call_format, 1, 2, false},
    {"frozenset", call_frozenset, 0, 1, false},
    {"hash", call_hash, 1, 1, false},
    {"iter", call_iter, 1, 2, false},
    {"len", call_len, 1, 1, false},
    {"list", call_list, 0, 1, false},
    {"map", call_map, 2, -1, false},
    {"next", call_next, 1, 2, false},
    {"range", call_range, 1, 3, false},
    {"repr", call_repr, 1, 1, false},
    {"reversed", call_reversed, 1, 1, false},
    {"set", call_set, 0, 1, false},
    {"slice", call_slice, 1, 3, false},
    {"sorted", call_sorted, 1, 1, true},
    {"str", call_str, 0, 3, true},
    {"tuple", call_tuple, 0, 1, false},
    {"zip", call_zip, 0, -1, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_table = {"builtins", builtin_rows};
