/* What dyntrace's own functions mean in traced code.
 *
 * python/dyntrace/api.py defines them for plain execution and registers them
 * here by name; each has a row.
 */
#include "compat/type.h"
#include "variables/apart.h"
#include "variables/kinds.h"
#include "variables/pure.h"
#include "variables/rules.h"

static DtStatus
is_compiling(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    return dt_var_bool(trace, true, out);
}

static DtStatus
graph_break(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    (void)out;
    return dt_break(trace, DT_BREAK_FORCED, "dyntrace.graph_break() was called");
}

/* refuse_breaks(on): error_on_graph_break is entered. */
static DtStatus
refuse_breaks(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *on = dt_var_as_constant(trace, args->pos[0]);
    if (on != Py_True && on != Py_False) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "error_on_graph_break() of what is no bool");
    }
    DT_TRY(dt_rules_refuse(trace, on == Py_True));
    *out = trace->none;
    return DT_OK;
}

/* accept_breaks(): the innermost error_on_graph_break is left. */
static DtStatus
accept_breaks(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)args;
    if (trace->refusing.count > 0) {
        trace->refusing.count--;
        *out = trace->none;
        return DT_OK;
    }
    if (trace->live) {
        /* The running frame has entered it, and leaves it by itself. */
        trace->cut_wanted = true;
        return DT_RESTART;
    }
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                    "error_on_graph_break() is left, not entered");
}

/* unfollowable(reason): a polyfill gives up where its original would go on. */
static DtStatus
unfollowable(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    (void)out;
    PyObject *reason = dt_var_as_constant(trace, args->pos[0]);
    const char *text = reason != NULL && PyUnicode_Check(reason) ? dt_kinds_text(reason) : "?";
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s", text);
}

/* The function to fold, and its arguments. */
static DtStatus
split(DtTrace *trace, const DtArgs *args, PyObject **callable, DtArgs *rest)
{
    *rest = *args;
    rest->pos++;
    rest->npos--;
    *callable = dt_var_as_constant(trace, args->pos[0]);
    return *callable != NULL
               ? DT_OK
               : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a callable that is not known");
}

/* fold(function, *args): what a pure function gives for what is known while tracing. */
static DtStatus
fold(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *callable;
    DtArgs rest;
    DT_TRY(split(trace, args, &callable, &rest));
    return dt_pure_call(trace, callable, &rest, out);
}

/* members(function, *args): the same, with any objects in the result. */
static DtStatus
members(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    PyObject *callable;
    DtArgs rest;
    DT_TRY(split(trace, args, &callable, &rest));
    return dt_pure_members(trace, callable, &rest, out);
}

/* Whether a class of the MRO keeps attributes in slots. */
static DtStatus
has_slots(DtTrace *trace, PyTypeObject *cls, bool *out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__slots__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    *out = dt_type_lookup(cls, name) != NULL;
    return DT_OK;
}

/* A new dict of what the dict of an existing instance holds, whose keys are guarded. */
static DtStatus
existing_attributes(DtTrace *trace, DtVar *object, DtVar **out)
{
    bool slots;
    DtVar *dict, *method;
    DT_TRY(has_slots(trace, ((DtInstanceVar *)object)->cls, &slots));
    if (slots || dt_exception_is(object)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "all attributes of a %s that existed before",
                        dt_kinds_type_name(trace, object));
    }
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__dict__"));
    PyObject *copy = dt_trace_keep_take(trace, PyUnicode_InternFromString("copy"));
    if (name == NULL || copy == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_attr_dict_get(trace, object, name, &dict));
    DT_TRY(dt_var_getattr(trace, dict, copy, &method));
    DtArgs none = dt_args_of(NULL, 0);
    return dt_var_call(trace, method, &none, out);
}

/* own_attributes(obj): a new dict of what is stored in a function, or in an instance of a class
 * without slots. */
static DtStatus
own_attributes(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtVar *object;
    DT_TRY(dt_var_realize(trace, args->pos[0], &object));
    if (object->type->kind == DT_KIND_FUNCTION || object->type->kind == DT_KIND_BUILTIN
        || (object->type->kind == DT_KIND_PARTIAL && ((DtPartialVar *)object)->object == NULL)) {
        DtDictVar *own; /* builtin functions and new partials have no attributes of their own */
        DT_TRY(dt_dict_new(trace, &own));
        *out = &own->base;
        return object->type->kind == DT_KIND_FUNCTION
                   ? dt_function_own_attributes(trace, object, own)
                   : DT_OK;
    }
    if (object->type->kind == DT_KIND_INSTANCE
        && dt_build_is_user_class(((DtInstanceVar *)object)->cls)
        && (((DtInstanceVar *)object)->object != NULL
            || ((DtInstanceVar *)object)->attributes != NULL)) {
        return existing_attributes(trace, object, out);
    }
    if (object->type->kind != DT_KIND_INSTANCE || ((DtInstanceVar *)object)->object != NULL
        || ((DtInstanceVar *)object)->attributes != NULL
        || !(dt_build_is_user_class(((DtInstanceVar *)object)->cls)
             || dt_payload_is_own(((DtInstanceVar *)object)->cls))) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "all attributes of a %s that existed before",
                        dt_kinds_type_name(trace, object));
    }
    PyObject **names;
    uint32_t count;
    DtDictVar *dict;
    DT_TRY(dt_journal_own_names(trace, object, &names, &count));
    DT_TRY(dt_dict_new(trace, &dict));
    for (uint32_t i = 0; i < count; i++) {
        bool deleted;
        DtVar *key, *value = dt_journal_get_attr(trace, object, names[i], &deleted);
        DT_TRY(dt_var_const(trace, names[i], &key));
        DT_TRY(dt_dict_store(trace, dict, key, value));
    }
    *out = &dict->base;
    return DT_OK;
}

/* contents(obj), more(obj): lists that stand for what a C type keeps, which no program sees. */
static DtStatus
hidden_list(DtTrace *trace, DtVar *var, bool more, DtVar **out)
{
    DtVar *object;
    DT_TRY(dt_var_realize(trace, var, &object));
    DtInstanceVar *self = (DtInstanceVar *)object;
    if (object->type->kind != DT_KIND_INSTANCE || self->contents == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a method of a %s that existed before",
                        dt_kinds_type_name(trace, object));
    }
    *out = more ? self->more : self->contents;
    return DT_OK;
}

static DtStatus
contents(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return hidden_list(trace, args->pos[0], false, out);
}

static DtStatus
more(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    return hidden_list(trace, args->pos[0], true, out);
}

/* Known ints; a break if one is not. */
static DtStatus
known_ints(DtTrace *trace, DtVar *const *vars, uint32_t count, int64_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        bool ok;
        DT_TRY(dt_constant_index(trace, vars[i], &out[i], &ok));
        if (!ok) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "a setting that is not known");
        }
    }
    return DT_OK;
}

/* What is ignored, warned of and raised from here on, a bit each as in DtNode; what none of them
 * names stays as it was. */
static DtStatus
set_fp(DtTrace *trace, DtVar *const *vars)
{
    int64_t values[3];
    DT_TRY(known_ints(trace, vars, 3, values));
    if (!trace->options.fp_regions) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "errstate with this backend");
    }
    uint8_t reported = (uint8_t)(values[1] | values[2]), named = (uint8_t)(values[0] | reported);
    trace->fp_region =
        (uint8_t)((trace->fp_region & ~(named | named << 4)) | values[0] | reported << 4);
    trace->fp_warned = (uint8_t)((trace->fp_warned & ~named) | values[1]);
    return DT_OK;
}

/* fp_region(ignored, warned, raised): a region begins; gives what fp_region() takes to end it. */
static DtStatus
fp_region(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    int64_t before = trace->fp_region | trace->fp_warned << 8;
    (void)self;
    if (args->npos == 3) {
        DT_TRY(set_fp(trace, args->pos));
        trace->fp_depth++;
        return dt_var_int(trace, before, out);
    }
    DT_TRY(known_ints(trace, args->pos, 1, &before));
    trace->fp_region = (uint8_t)before;
    trace->fp_warned = (uint8_t)(before >> 8);
    trace->fp_depth--;
    *out = dt_none(trace);
    return DT_OK;
}

/* fp_setting(ignored, warned, raised): the same until it is set again; gives whether a region,
 * whose end takes it back, is all that knows of it. */
static DtStatus
fp_setting(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DT_TRY(dt_var_bool(trace, trace->fp_depth > 0, out));
    return set_fp(trace, args->pos);
}

/* printing(options, region): texts of arrays are made with these options from here on, a tuple,
 * which a region takes back; gives what printing() takes to end it. */
static DtStatus
printing(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *options = dt_var_as_constant(trace, args->pos[0]), *before = trace->printing, *made;
    int64_t region = 0, count = before != NULL ? PyTuple_GET_SIZE(before) : 0;
    (void)self;
    if (args->npos == 1) {
        DT_TRY(known_ints(trace, args->pos, 1, &count));
        trace->printing_depth--;
        *out = dt_none(trace);
        made = before != NULL ? PyTuple_GetSlice(before, 0, (Py_ssize_t)count) : NULL;
    }
    else {
        DT_TRY(known_ints(trace, args->pos + 1, 1, &region));
        if (options == NULL || !PyTuple_CheckExact(options)
            || (!region && trace->printing_depth > 0)) {
            return PyErr_Occurred() ? DT_ERROR
                                    : dt_break(trace, DT_BREAK_MISSING_SLOT,
                                               "options of printing that are not known");
        }
        trace->printing_depth += (uint8_t)region;
        DT_TRY(dt_var_int(trace, count, out));
        made = PyTuple_New((Py_ssize_t)count + 1);
        for (Py_ssize_t i = 0; made != NULL && i <= count; i++) {
            PyTuple_SET_ITEM(made, i, Py_NewRef(i < count ? PyTuple_GET_ITEM(before, i) : options));
        }
    }
    trace->printing = dt_trace_keep_take(trace, made);
    return trace->printing != NULL ? DT_OK : DT_ERROR;
}

/* effect(unsettled, function, *args): the call is made behind the graph; `unsettled` (DtUnsettled)
 * says what breaks until then. */
static DtStatus
effect(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    int64_t unsettled;
    (void)self;
    DT_TRY(known_ints(trace, args->pos, 1, &unsettled));
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos);
    if (values == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 1; i < args->npos; i++) {
        DT_TRY(dt_var_realize(trace, args->pos[i], &values[i - 1]));
    }
    trace->unsettled |= (uint8_t)unsettled;
    *out = dt_none(trace);
    return dt_journal_call(trace, values[0], values + 1, args->npos - 2);
}

/* is_known(value): whether fold() would take it. */
static DtStatus
is_known(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool known;
    (void)self;
    DT_TRY(dt_pure_knows(trace, args->pos[0], &known));
    return dt_var_bool(trace, known, out);
}

/* apart(a, b): known to share no memory, one of them being new. */
static DtStatus
apart(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *pair[2];
    (void)self;
    for (uint32_t i = 0; i < 2; i++) {
        DT_TRY(dt_var_realize(trace, args->pos[i], &pair[i]));
        pair[i] = dt_var_peek(pair[i]);
        if (pair[i]->type->kind != DT_KIND_ARRAY) {
            return dt_var_bool(trace, false, out);
        }
    }
    return dt_var_bool(
        trace, dt_arrays_lie_apart((const DtArrayVar *)pair[0], (const DtArrayVar *)pair[1]), out);
}

static const DtMethodRow api_rows[] = {
    {"apart", apart, 2, 2, false},
    {"effect", effect, 2, -1, false},
    {"fp_region", fp_region, 1, 3, false},
    {"fp_setting", fp_setting, 3, 3, false},
    {"printing", printing, 1, 2, false},
    {"contents", contents, 1, 1, false},
    {"more", more, 1, 1, false},
    {"own_attributes", own_attributes, 1, 1, false},
    {"fold", fold, 1, -1, true},
    {"is_known", is_known, 1, 1, false},
    {"members", members, 1, -1, true},
    {"unfollowable", unfollowable, 1, 1, false},
    {"is_compiling", is_compiling, 0, 0, false},
    {"graph_break", graph_break, 0, 0, false},
    {"refuse_breaks", refuse_breaks, 1, 1, false},
    {"accept_breaks", accept_breaks, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

int
dt_api_register(PyObject *name, PyObject *function)
{
    for (const DtMethodRow *row = api_rows; row->name != NULL; row++) {
        if (PyUnicode_CompareWithASCIIString(name, row->name) == 0) {
            return dt_builtin_register(function, row);
        }
    }
    PyErr_Format(PyExc_ValueError, "name: %R has no meaning in traced code", name);
    return -1;
}
