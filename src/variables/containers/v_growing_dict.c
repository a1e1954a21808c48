/* Dicts that existed before, with any keys.
 *
 *   asked:  key     before    value
 *           state   <lazy>    <lazy>      Q[state] was read: there is such a key, in every call
 *           nxt     -         <array>     `nxt not in Q` was asked, then Q[nxt] = ... stored
 *     │
 *     │ anything that looks at all that is in it
 *     ▼ dt_growing_dict_read(), in place
 *   DICT    its keys guarded, with the changes made again
 *
 * A table that is filled from call to call, and one that is asked for another key in each call,
 * have one entry for all keys: the key is a number, a text, or a tuple of such, that has a source
 * (picked.c), and what is guarded is whether the dict has it.
 *
 * Invariants: two of the keys that were asked for are guarded to be equal, and then they are one,
 * or not to be.  Only dt_var_receiver() gives away a dict that nobody has read.
 *
 * Not in here: dicts whose keys are known (v_dict.c), replaying changes (sideeffects/diff.c).
 */
#include "compat/dict.h"
#include "variables/kinds.h"

/* So many keys are asked for before all of them are looked at. */
#define MOST_ASKED 32

static bool
is_growing(const DtVar *var)
{
    return var->type->kind == DT_KIND_GROWING_DICT;
}

DtStatus
dt_growing_dict_guard(DtTrace *trace, DtVar *var)
{
    DtGrowingDictVar *self = (DtGrowingDictVar *)var;
    if (!is_growing(var) || self->guarded) {
        return DT_OK;
    }
    self->guarded = true;
    return dt_guard_type(trace, var->source, &PyDict_Type);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static DtStatus
find_entry(DtTrace *trace, DtDictVar *dict, const DtAskedKey *asked, DtDictEntry *key,
           DtDictEntry **out)
{
    DT_TRY(dt_dict_key(trace, asked->key, key));
    return dt_dict_find(trace, dict, key, out);
}

/* What the trace has changed, in a dict that holds what it held before. */
static DtStatus
change_again(DtTrace *trace, DtGrowingDictVar *self)
{
    DtDictEntry key, *found;
    for (uint32_t i = 0; i < self->asked.count; i++) {
        const DtAskedKey *asked = &self->asked.items[i];
        if (asked->before == NULL) {
            continue;
        }
        DT_TRY(find_entry(trace, &self->dict, asked, &key, &found));
        if (asked->was_taken || asked->value == NULL) {
            dt_dict_drop(&self->dict, found);
        }
        else {
            found->value = asked->value;
        }
    }
    for (uint32_t step = 1; step <= self->steps; step++) {
        for (uint32_t i = 0; i < self->asked.count; i++) {
            const DtAskedKey *asked = &self->asked.items[i];
            if (asked->value != NULL && asked->step == step) {
                DT_TRY(dt_dict_key(trace, asked->key, &key));
                DT_TRY(dt_dict_append(trace, &self->dict, &key, asked->value));
            }
        }
    }
    return DT_OK;
}

DtStatus
dt_growing_dict_read(DtTrace *trace, DtVar *var)
{
    DtGrowingDictVar *self = (DtGrowingDictVar *)var;
    self->dict.count = 0; /* of an attempt that was taken back */
    DT_TRY(dt_dict_fill(trace, &self->dict));
    var->type = dt_var_type_of(DT_KIND_DICT);
    for (uint32_t i = 0; i < self->asked.count; i++) {
        DtDictEntry key, *found;
        if (self->asked.items[i].before != NULL) {
            DT_TRY(find_entry(trace, &self->dict, &self->asked.items[i], &key, &found));
            found->value = self->asked.items[i].before;
        }
    }
    DT_TRY(dt_journal_was_read_now(trace, var));
    return change_again(trace, self);
}

/* ---- One key --------------------------------------------------------------------------------- */

static DtStatus
find_asked(DtTrace *trace, DtGrowingDictVar *self, DtVar *key, DtAskedKey **out)
{
    *out = NULL;
    for (uint32_t i = 0; i < self->asked.count; i++) {
        bool same;
        DT_TRY(dt_sequence_item_equal(trace, self->asked.items[i].key, key, &same));
        if (same) {
            *out = &self->asked.items[i];
            return DT_OK;
        }
    }
    return DT_OK;
}

/* Whether keys come and go, as far as is known. */
static bool
has_varied(DtTrace *trace, const DtVar *var)
{
    const DtSource *size = dt_source_get(trace, DT_SOURCE_LIST_SIZE, var->source, NULL, 0);
    if (size == NULL) {
        PyErr_Clear(); /* MemoryError, which the next allocation reports */
    }
    return size != NULL && dt_symbolic_has_varied(trace, size);
}

/* What the dict has under the key, now and in every call. */
static DtStatus
ask_dict(DtTrace *trace, DtGrowingDictVar *self, DtVar *key, const DtSource *source, PyObject *now,
         DtAskedKey **out)
{
    const DtSource *item, *dict = self->dict.base.source;
    PyObject *value;
    DtAskedKey asked = {.key = key};
    int found = dt_dict_get(self->dict.object, now, &value);
    if (found < 0 || self->asked.count >= MOST_ASKED) {
        return DT_OK;
    }
    DT_TRY(dt_growing_dict_guard(trace, &self->dict.base));
    if (found == 0) {
        DT_TRY(dt_guard_no_key(trace, dict, source));
    }
    else {
        item = dt_source_by_two(trace, DT_SOURCE_PICKED, dict, source, 0);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, value, item, &asked.before));
        asked.value = asked.before;
    }
    if (dt_vec_push(&trace->arena, &self->asked, asked) < 0) {
        return dt_no_memory();
    }
    *out = &self->asked.items[self->asked.count - 1];
    return DT_OK;
}

/* The key, once it was asked for; *out NULL: the dict was read. */
static DtStatus
ask(DtTrace *trace, DtVar *var, DtVar *key, DtAskedKey **out)
{
    DtGrowingDictVar *self = (DtGrowingDictVar *)var;
    bool varies = self->asked.count > 0;
    *out = NULL;
    if (!varies && trace->options.dynamic != 0) {
        DT_TRY(dt_picked_varies(trace, key, &varies));
        varies = varies || has_varied(trace, var);
    }
    const DtSource *source = NULL;
    PyObject *now;
    if (varies) {
        DT_TRY(dt_picked_key(trace, key, &source, &now));
    }
    if (source != NULL) {
        DT_TRY(find_asked(trace, self, key, out));
    }
    if (source != NULL && *out == NULL) {
        DT_TRY(ask_dict(trace, self, key, source, now, out));
    }
    return *out == NULL ? dt_growing_dict_read(trace, var) : DT_OK;
}

static DtStatus
growing_dict_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtAskedKey *asked;
    DT_TRY(ask(trace, var, key, &asked));
    if (asked == NULL) {
        return dt_var_subscript(trace, var, key, out);
    }
    *out = asked->value;
    return *out != NULL ? DT_OK : dt_raise_value(trace, PyExc_KeyError, key);
}

static DtStatus
growing_dict_contains(DtTrace *trace, DtVar *var, DtVar *key, DtVar **out)
{
    DtAskedKey *asked;
    DT_TRY(ask(trace, var, key, &asked));
    return asked != NULL ? dt_var_bool(trace, asked->value != NULL, out)
                         : dt_var_contains(trace, var, key, out);
}

/* Stores, or takes the key out where `value` is NULL. */
static DtStatus
store(DtTrace *trace, DtGrowingDictVar *self, DtAskedKey *asked, DtVar *key, DtVar *value)
{
    uint32_t at = (uint32_t)(asked - self->asked.items);
    DT_TRY(dt_kinds_will_change(trace, &self->dict.base));
    asked = &self->asked.items[at];
    if (value == NULL) {
        asked->was_taken = asked->was_taken || (asked->before != NULL && asked->step == 0);
        asked->step = 0;
    }
    else if (asked->value == NULL) {
        asked->step = ++self->steps;
        asked->key = key; /* the object that the dict gets */
    }
    asked->value = value;
    return DT_OK;
}

static DtStatus
growing_dict_ass_subscript(DtTrace *trace, DtVar *var, DtVar *key, DtVar *value)
{
    DtAskedKey *asked;
    DT_TRY(ask(trace, var, key, &asked));
    if (asked == NULL) {
        return dt_var_ass_subscript(trace, var, key, value);
    }
    if (value == NULL && asked->value == NULL) {
        return dt_raise_value(trace, PyExc_KeyError, key);
    }
    return store(trace, (DtGrowingDictVar *)var, asked, key, value);
}

/* ---- Methods --------------------------------------------------------------------------------- */

/* The key that a method is called with, once it was asked for; *asked NULL: the dict was read,
 * maybe since the method was taken from it, and *out is what its own method gives. */
static DtStatus
ask_argument(DtTrace *trace, DtVar *var, const char *name, const DtArgs *args, DtVar **key,
             DtAskedKey **asked, DtVar **out)
{
    DtVar *method;
    *asked = NULL;
    DT_TRY(dt_var_realize(trace, args->pos[0], key));
    if (is_growing(var)) {
        DT_TRY(ask(trace, var, *key, asked));
    }
    if (*asked != NULL) {
        return DT_OK;
    }
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
    if (text == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_var_getattr(trace, var, text, &method));
    return dt_var_call(trace, method, args, out);
}

static DtStatus
growing_dict_get(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtAskedKey *asked;
    DtVar *key;
    DT_TRY(ask_argument(trace, var, "get", args, &key, &asked, out));
    if (asked == NULL) {
        return DT_OK;
    }
    *out = asked->value != NULL ? asked->value : args->npos > 1 ? args->pos[1] : dt_none(trace);
    return DT_OK;
}

static DtStatus
growing_dict_setdefault(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtAskedKey *asked;
    DtVar *key;
    DT_TRY(ask_argument(trace, var, "setdefault", args, &key, &asked, out));
    if (asked == NULL) {
        return DT_OK;
    }
    *out = asked->value;
    if (*out != NULL) {
        return DT_OK;
    }
    *out = args->npos > 1 ? args->pos[1] : dt_none(trace);
    return store(trace, (DtGrowingDictVar *)var, asked, key, *out);
}

static DtStatus
growing_dict_pop(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtAskedKey *asked;
    DtVar *key;
    DT_TRY(ask_argument(trace, var, "pop", args, &key, &asked, out));
    if (asked == NULL) {
        return DT_OK;
    }
    *out = asked->value;
    if (*out != NULL) {
        return store(trace, (DtGrowingDictVar *)var, asked, key, NULL);
    }
    *out = args->npos > 1 ? args->pos[1] : NULL;
    return *out != NULL ? DT_OK : dt_raise_value(trace, PyExc_KeyError, key);
}

static const DtMethodRow growing_dict_methods[] = {
    {"get", growing_dict_get, 1, 2, false},
    {"pop", growing_dict_pop, 1, 2, false},
    {"setdefault", growing_dict_setdefault, 1, 2, false},
    {NULL, NULL, 0, 0, false},
};

static DtStatus
growing_dict_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    const DtMethodRow *row = dt_kinds_find_method(var->type, name);
    if (row == NULL) {
        DT_TRY(dt_growing_dict_read(trace, var));
        return dt_var_getattr(trace, var, name, out);
    }
    DT_TRY(dt_growing_dict_guard(trace, var));
    return dt_kinds_method_row(trace, var, row, name, out);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static DtStatus
growing_dict_length(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_growing_dict_read(trace, var));
    return dt_var_length(trace, var, out);
}

static DtStatus
growing_dict_bool(DtTrace *trace, DtVar *var, bool *out)
{
    DT_TRY(dt_growing_dict_read(trace, var));
    return dt_var_truth(trace, var, out);
}

static PyTypeObject *
growing_dict_type(DtTrace *trace, DtVar *self)
{
    return dt_growing_dict_guard(trace, self) == DT_OK ? &PyDict_Type : NULL;
}

static DtStatus
growing_dict_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                      void *arg)
{
    const DtGrowingDictVar *self = (const DtGrowingDictVar *)var;
    for (uint32_t i = 0; i < self->asked.count; i++) {
        DtVar *value = self->asked.items[i].value;
        DT_TRY(visit(trace, self->asked.items[i].key, arg));
        if (value != NULL) {
            DT_TRY(visit(trace, value, arg));
        }
    }
    return DT_OK;
}

const DtVarType dt_kind_type_GROWING_DICT = {
    .kind = DT_KIND_GROWING_DICT,
    .nb_bool = growing_dict_bool,
    .sq_length = growing_dict_length,
    .sq_contains = growing_dict_contains,
    .mp_subscript = growing_dict_subscript,
    .mp_ass_subscript = growing_dict_ass_subscript,
    .tp_getattro = growing_dict_getattro,
    .methods = growing_dict_methods,
    .python_type = growing_dict_type,
    .children = growing_dict_children,
};
