/* What OrderedDict and defaultdict add to dict, and the __init__ of builtin
 * bases, on the payload of an instance.
 *
 * Not in here: methods of dict and list themselves (v_dict.c, v_list.c).
 */
#include <string.h>

#include "compat/type.h"
#include "variables/kinds.h"

typedef struct MethodRow {
    const char *name;
    DtStatus (*call)(DtTrace *, DtInstanceVar *self, const DtArgs *args, DtVar **out);
    int8_t min_args, max_args;
    bool keywords;
} MethodRow;

static DtDictVar *
dict_of(DtInstanceVar *self)
{
    return (DtDictVar *)self->payload;
}

static bool
overrides(DtInstanceVar *self, const char *name)
{
    const char *const names[] = {name, NULL};
    return dt_payload_unless(&self->base, names) == NULL;
}

static DtStatus
call_row_of(DtTrace *trace, DtVar *payload, const char *text, const DtArgs *args)
{
    DtVar *ignored;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    if (name == NULL) {
        return DT_ERROR;
    }
    const DtMethodRow *row = dt_kinds_find_method(payload->type, name);
    if (row == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "%s of a %s", text, payload->type->name);
    }
    return dt_kinds_call_row(trace, payload, row, args, &ignored);
}

/* ---- __init__ -------------------------------------------------------------------------------- */

static DtStatus
too_many(DtTrace *trace, const char *type, uint32_t given)
{
    return dt_kinds_raise(trace, "TypeError", "%s expected at most 1 argument, got %u", type,
                          (unsigned)given);
}

/* list, set: empties what is there, then takes the items of an iterable. */
static DtStatus
fill_with(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, const char *fill)
{
    const DtArgs none = {0};
    DtVar *length;
    if (args->npos > 1 || args->nkw > 0) {
        return too_many(trace, self->payload->type->name, args->npos + args->nkw);
    }
    DT_TRY(dt_var_length(trace, self->payload, &length));
    bool full;
    DT_TRY(dt_var_truth(trace, length, &full));
    if (full) {
        DT_TRY(call_row_of(trace, self->payload, "clear", &none));
    }
    return args->npos == 1 ? call_row_of(trace, self->payload, fill, args) : DT_OK;
}

static DtStatus
fill_dict(DtTrace *trace, DtInstanceVar *self, const DtArgs *args)
{
    PyTypeObject *layout = dt_build_layout(self->cls);
    DtArgs rest = *args;
    if (layout == &PyODict_Type && overrides(self, "__setitem__") && args->npos + args->nkw > 0) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                        "an OrderedDict with a __setitem__ of its own is filled");
    }
    if (layout != &PyODict_Type && layout != &PyDict_Type) { /* defaultdict */
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("default_factory"));
        DtVar *factory = args->npos > 0 ? args->pos[0] : dt_none(trace);
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_realize(trace, factory, &factory));
        PyTypeObject *type = dt_var_python_type(trace, factory);
        if (dt_var_peek_constant(factory) != Py_None && (type == NULL || type->tp_call == NULL)) {
            return dt_raise(trace, PyExc_TypeError, "first argument must be callable or None");
        }
        DT_TRY(dt_instance_generic_setattr(trace, &self->base, name, factory));
        rest.pos += args->npos > 0;
        rest.npos -= args->npos > 0;
    }
    if (rest.npos > 1) {
        return too_many(trace, "dict", rest.npos);
    }
    if (rest.npos + rest.nkw == 0) {
        return DT_OK;
    }
    DtStatus status = call_row_of(trace, self->payload, "update", &rest);
    /* An OrderedDict has texts of its own for what is no mapping. */
    return layout == &PyODict_Type ? dt_raised_break_if(trace, status) : status;
}

static DtStatus
base_init(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    *out = dt_none(trace);
    switch (self->payload->type->kind) {
    case DT_KIND_LIST:
        return fill_with(trace, self, args, "extend");
    case DT_KIND_SET:
        return fill_with(trace, self, args, "update");
    case DT_KIND_DICT:
        return fill_dict(trace, self, args);
    default:
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "__init__ of a %s",
                        self->payload->type->name);
    }
}

/* ---- Missing keys ---------------------------------------------------------------------------- */

static DtStatus
dict_getitem(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    DtDictEntry key;
    DtVar *method;
    DT_TRY(dt_dict_key(trace, args->pos[0], &key));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, dict_of(self), &key, &found));
    if (found != NULL) {
        *out = found->value;
        return DT_OK;
    }
    DT_TRY(dt_instance_special(trace, &self->base, "__missing__", &method));
    return method != NULL ? dt_var_call(trace, method, args, out)
                          : dt_var_subscript(trace, self->payload, args->pos[0], out);
}

static DtStatus
default_missing(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *factory;
    const DtArgs none = {0};
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("default_factory"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_instance_generic_getattr(trace, &self->base, name, &factory));
    DT_TRY(dt_var_realize(trace, factory, &factory));
    if (dt_var_peek_constant(factory) == Py_None) {
        return dt_var_subscript(trace, self->payload, args->pos[0], out); /* raises KeyError */
    }
    DT_TRY(dt_var_call(trace, factory, &none, out));
    return dt_var_ass_subscript(trace, &self->base, args->pos[0], *out);
}

/* ---- OrderedDict ----------------------------------------------------------------------------- */

/* The argument `last`, by position or name; the default is true. */
static DtStatus
last_argument(DtTrace *trace, const DtArgs *args, uint32_t at, bool *last)
{
    DtVar *given = dt_args_at(args, at, "last");
    *last = true;
    if (args->nkw > (given != NULL && args->npos <= at)) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH,
                        "an OrderedDict's method is called with a "
                        "name that it has not");
    }
    return given != NULL ? dt_var_truth(trace, given, last) : DT_OK;
}

static DtStatus
ordered_popitem(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    DtDictVar *dict = dict_of(self);
    bool last;
    DT_TRY(last_argument(trace, args, 0, &last));
    if (dict->count == 0) {
        DtVar *text;
        DT_TRY(dt_var_const_take(trace, PyUnicode_FromString("dictionary is empty"), &text));
        return dt_raise_value(trace, PyExc_KeyError, text);
    }
    const DtDictEntry *entry = &dict->items[last ? dict->count - 1 : 0];
    DtVar *pair[2] = {entry->key_var, entry->value};
    DT_TRY(dt_var_ass_subscript(trace, self->payload, pair[0], NULL));
    return dt_var_tuple(trace, pair, 2, out);
}

static DtStatus
ordered_move_to_end(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    DtDictVar *dict = dict_of(self);
    DtDictEntry key;
    bool last;
    *out = dt_none(trace);
    DT_TRY(last_argument(trace, args, 1, &last));
    DT_TRY(dt_dict_key(trace, args->pos[0], &key));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, dict, &key, &found));
    if (found == NULL) {
        return dt_var_subscript(trace, self->payload, args->pos[0], out); /* raises KeyError */
    }
    DT_TRY(dt_kinds_will_change(trace, self->payload));
    uint32_t at = (uint32_t)(found - dict->items), end = last ? dict->count - 1 : 0;
    DtDictEntry moved = dict->items[at];
    if (last) {
        memmove(&dict->items[at], &dict->items[at + 1], (end - at) * sizeof(DtDictEntry));
    }
    else {
        memmove(&dict->items[1], &dict->items[0], at * sizeof(DtDictEntry));
    }
    dict->items[end] = moved;
    dict->changes++;
    return DT_OK;
}

/* A copy of the same class; one of a class that overrides something is not followed. */
static DtStatus
copy_of_own(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    if (!dt_payload_is_own(self->cls)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "copy() of a %s", self->cls->tp_name);
    }
    DtVar *cls, *pos[2];
    uint32_t count = 0;
    if (self->cls != &PyODict_Type) {
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("default_factory"));
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_instance_generic_getattr(trace, &self->base, name, &pos[count++]));
    }
    pos[count++] = self->payload;
    DT_TRY(dt_class_of(trace, &self->base, &cls));
    DtArgs given = dt_args_of(pos, count);
    return dt_var_call(trace, cls, &given, out);
}

/* Two ordered dicts are equal in order; to any other dict it compares as a dict. */
static DtStatus
ordered_compare(DtTrace *trace, DtInstanceVar *self, DtVar *other, bool negate, DtVar **out)
{
    DtVar *equal;
    bool same;
    DT_TRY(dt_var_realize(trace, other, &other));
    DtVar *payload = dt_payload_of(other);
    *out = dt_not_implemented(trace);
    if (payload->type->kind != DT_KIND_DICT) {
        return DT_OK;
    }
    DT_TRY(self->payload->type->tp_richcompare(trace, Py_EQ, self->payload, payload, &equal));
    DT_TRY(dt_var_truth(trace, equal, &same));
    PyTypeObject *type = dt_var_python_type(trace, other);
    const DtDictVar *a = dict_of(self), *b = (const DtDictVar *)payload;
    for (uint32_t i = 0; same && PyType_IsSubtype(type, &PyODict_Type) && i < a->count; i++) {
        DtDictEntry *found;
        DT_TRY(dt_dict_find(trace, (DtDictVar *)payload, &a->items[i], &found));
        same = found == &b->items[i];
    }
    return dt_var_bool(trace, same != negate, out);
}

static DtStatus
ordered_eq(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    return ordered_compare(trace, self, args->pos[0], false, out);
}

static DtStatus
ordered_ne(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtVar **out)
{
    return ordered_compare(trace, self, args->pos[0], true, out);
}

/* ---- Finding one ----------------------------------------------------------------------------- */

static const MethodRow ordered_rows[] = {
    {"__eq__", ordered_eq, 1, 1, false},      {"__ne__", ordered_ne, 1, 1, false},
    {"copy", copy_of_own, 0, 0, false},       {"move_to_end", ordered_move_to_end, 1, 2, true},
    {"popitem", ordered_popitem, 0, 1, true}, {NULL, NULL, 0, 0, false},
};

static const MethodRow default_rows[] = {
    {"__missing__", default_missing, 1, 1, false},
    {"copy", copy_of_own, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

static const MethodRow any_rows[] = {
    {"__init__", base_init, 0, -1, true},
    {NULL, NULL, 0, 0, false},
};

static const MethodRow dict_rows[] = {
    {"__getitem__", dict_getitem, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

static const MethodRow *
find_in(const MethodRow *rows, PyObject *name)
{
    while (rows->name != NULL && PyUnicode_CompareWithASCIIString(name, rows->name) != 0) {
        rows++;
    }
    return rows->name != NULL ? rows : NULL;
}

DtStatus
dt_payload_method(DtTrace *trace, PyTypeObject *of, PyObject *name, DtInstanceVar *self,
                  const DtArgs *args, bool *done, DtVar **out)
{
    const MethodRow *row = of == &PyODict_Type     ? find_in(ordered_rows, name)
                           : dt_payload_is_own(of) ? find_in(default_rows, name)
                           : of == &PyDict_Type    ? find_in(dict_rows, name)
                                                   : NULL;
    if (row == NULL) {
        row = find_in(any_rows, name);
    }
    *done = row != NULL;
    if (row == NULL) {
        return DT_OK;
    }
    if (args->npos < (uint32_t)row->min_args
        || (row->max_args >= 0 && args->npos > (uint32_t)row->max_args)
        || (args->nkw > 0 && !row->keywords)) {
        return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s() is called with %u arguments",
                        row->name, (unsigned)(args->npos + args->nkw));
    }
    return row->call(trace, self, args, out);
}
