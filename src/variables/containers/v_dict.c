/* Dicts.  Entries stand in order of insertion.
 *
 * Invariants: entries change only after dt_kinds_will_change().  Of an input
 * dict the keys are guarded, its values are lazy.
 *
 * Not in here: what a key is (dict_key.c), views (v_dict_view.c), sets (v_set.c
 * share the entries), iterating (v_iter.c).
 */
#include <string.h>

#include "compat/dict.h"
#include "variables/kinds.h"

/* Larger input dicts are not followed: each key would be guarded. */
#define MAX_INPUT_ITEMS 65536

/* ---- Making ---------------------------------------------------------------------------------- */

DtStatus
dt_dict_new(DtTrace *trace, DtDictVar **out)
{
    *out = DT_KINDS_NEW(trace, DICT, DtDictVar, NULL);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->cls = &PyDict_Type;
    (*out)->base.mutation = DT_VALUE_MUTATION_NEW;
    return DT_OK;
}

DtStatus
dt_dict_append(DtTrace *trace, DtDictVar *dict, DtDictEntry *entry, DtVar *value)
{
    entry->value = value;
    entry->inserted = ++dict->changes;
    return dt_vec_push(&trace->arena, dict, *entry) == 0 ? DT_OK : dt_no_memory();
}

/* Adds or replaces, without the journal. */
static DtStatus
put(DtTrace *trace, DtDictVar *dict, DtDictEntry *entry, DtVar *value)
{
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, dict, entry, &found));
    if (found != NULL) {
        found->value = value;
        return DT_OK;
    }
    return dt_dict_append(trace, dict, entry, value);
}

DtStatus
dt_var_dict(DtTrace *trace, DtVar *const *pairs, uint32_t count, DtVar **out)
{
    DtDictVar *dict;
    DT_TRY(dt_dict_new(trace, &dict));
    for (uint32_t i = 0; i < count; i++) {
        DtDictEntry entry;
        DT_TRY(dt_dict_key(trace, pairs[2 * i], &entry));
        DT_TRY(put(trace, dict, &entry, pairs[2 * i + 1]));
    }
    *out = &dict->base;
    return DT_OK;
}

/* The tracker of key number `index` of an input dict: a plain constant, or an object by identity,
 * which the guard on the keys covers in both cases. */
static DtStatus
build_key(DtTrace *trace, PyObject *key, const DtSource *source, Py_ssize_t index, DtDictEntry *out)
{
    const DtSource *key_source = dt_source_get(trace, DT_SOURCE_DICT_KEY, source, NULL, index);
    if (key_source == NULL) {
        return DT_ERROR;
    }
    DtVar *var;
    if (dt_dict_is_followed(key)) {
        /* Neither a guard nor rewritten code may run its __eq__. */
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a %s as a key", Py_TYPE(key)->tp_name);
    }
    if (dt_constant_is_safe(key)) {
        DT_TRY(dt_var_const(trace, key, &var));
    }
    else {
        DT_TRY(dt_build_trusted(trace, key, key_source, &var));
    }
    return dt_dict_key(trace, var, out);
}

DtStatus
dt_dict_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    if (object == PyImport_GetModuleDict() || object == trace->globals) {
        return dt_namespace_build(trace, object, source, trusted, out);
    }
    if (object != trace->builtins && dt_namespace_is_one(trace, object)) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "a dict that holds the names of a module");
    }
    bool asked = source != NULL && source->kind != DT_SOURCE_ATTR_DICT && !source->synthetic;
    DtKind kind = asked ? DT_KIND_GROWING_DICT : DT_KIND_DICT;
    DtDictVar *self = dt_kinds_new(trace, kind, dt_kinds_size(kind), source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->cls = &PyDict_Type;
    self->object = object;
    *out = &self->base;
    return asked ? DT_OK : dt_dict_fill(trace, self);
}

DtStatus
dt_dict_fill(DtTrace *trace, DtDictVar *self)
{
    PyObject *object = self->object;
    const DtSource *source = self->base.source;
    /* Contents change without what leads to the dict. */
    if (PyDict_GET_SIZE(object) > MAX_INPUT_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a dict of %zd items",
                        PyDict_GET_SIZE(object));
    }
    DT_TRY(dt_guard_dict_keys(trace, source, object));
    Py_ssize_t position = 0, index = 0;
    PyObject *key, *value;
    while (dt_dict_next(object, &position, &key, &value)) {
        DtDictEntry entry;
        DT_TRY(dt_trace_tick(trace));
        DT_TRY(dt_trace_keep(trace, key));
        DT_TRY(build_key(trace, key, source, index, &entry));
        const DtSource *item = dt_source_item(trace, source, key);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, value, item, &entry.value));
        if (dt_vec_push(&trace->arena, self, entry) < 0) {
            return dt_no_memory();
        }
        index++;
    }
    return DT_OK;
}

void
dt_dict_drop(DtDictVar *dict, DtDictEntry *entry)
{
    uint32_t at = (uint32_t)(entry - dict->items);
    memmove(dict->items + at, dict->items + at + 1, (dict->count - at - 1) * sizeof(DtDictEntry));
    dict->count--;
    dict->changes++;
}

/* ---- Changing -------------------------------------------------------------------------------- */

DtStatus
dt_dict_replay(DtTrace *trace, DtDictVar *dict, DtVar *key, DtVar *value)
{
    DtDictEntry entry, *found;
    DT_TRY(dt_dict_key(trace, key, &entry));
    if (value != NULL) {
        return put(trace, dict, &entry, value);
    }
    DT_TRY(dt_dict_find(trace, dict, &entry, &found));
    if (found != NULL) {
        dt_dict_drop(dict, found);
    }
    return DT_OK;
}

DtStatus
dt_dict_store(DtTrace *trace, DtDictVar *dict, DtVar *key, DtVar *value)
{
    DtDictEntry entry;
    DT_TRY(dt_dict_key(trace, key, &entry));
    DT_TRY(dt_kinds_will_change(trace, &dict->base));
    return put(trace, dict, &entry, value);
}

static DtStatus
remove_entry(DtTrace *trace, DtDictVar *dict, DtDictEntry *entry)
{
    DT_TRY(dt_kinds_will_change(trace, &dict->base));
    dt_dict_drop(dict, entry);
    return DT_OK;
}

static DtStatus
copy_entries(DtTrace *trace, DtDictVar *dict, const DtDictVar *from)
{
    DT_TRY(dt_kinds_will_change(trace, &dict->base));
    bool was_empty = dict->count == 0 && dict != from;
    for (uint32_t i = 0; i < from->count; i++) {
        DtDictEntry entry = from->items[i];
        if (was_empty && !entry.traced) { /* the keys differ from each other already */
            DT_TRY(dt_dict_append(trace, dict, &entry, entry.value));
            continue;
        }
        DT_TRY(put(trace, dict, &entry, entry.value));
    }
    return DT_OK;
}

/* An object with a method keys(): its keys first, then an item per key. */
static DtStatus
update_from_mapping(DtTrace *trace, DtDictVar *dict, DtVar *mapping, DtVar *keys_method)
{
    const DtArgs no_args = {0};
    DtVar *keys, **names;
    uint32_t count;
    DT_TRY(dt_var_call(trace, keys_method, &no_args, &keys));
    DtStatus status = dt_var_iter(trace, keys, &keys);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_TypeError)) {
        return dt_raised_break(trace); /* the text is another one */
    }
    DT_TRY(status);
    DT_TRY(dt_collect_list(trace, keys, &names, &count));
    for (uint32_t i = 0; i < count; i++) {
        DtVar *value;
        DT_TRY(dt_var_subscript(trace, mapping, names[i], &value));
        DT_TRY(dt_dict_store(trace, dict, names[i], value));
    }
    return DT_OK;
}

DtStatus
dt_dict_merge(DtTrace *trace, DtDictVar *dict, DtVar *other, bool *done)
{
    static const char *const reading[] = {"__iter__", "keys", "__getitem__", NULL};
    DT_TRY(dt_var_realize(trace, other, &other));
    if (other->type->kind == DT_KIND_MAPPING_PROXY) {
        return dt_dict_merge(trace, dict, ((DtProxyVar *)other)->mapping, done);
    }
    *done = other->type->kind == DT_KIND_DICT;
    if (*done) {
        return copy_entries(trace, dict, (DtDictVar *)other);
    }
    if (other->type->kind != DT_KIND_INSTANCE) {
        return DT_OK;
    }
    DtVar *method;
    DT_TRY(dt_iter_find_method(trace, other, "keys", &method));
    *done = method != NULL;
    if (method == NULL) {
        return DT_OK;
    }
    DtVar *payload = dt_payload_of(other);
    if (payload->type->kind == DT_KIND_DICT && dt_payload_unless(other, reading) != NULL) {
        return copy_entries(trace, dict, (DtDictVar *)payload);
    }
    if (payload->type->kind == DT_KIND_DICT) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT,
                        "an update from a %s, whose reading methods are its own",
                        dt_kinds_type_name(trace, other));
    }
    return update_from_mapping(trace, dict, other, method);
}

static DtStatus
store_pair(DtTrace *trace, DtDictVar *dict, DtVar *item, uint32_t at)
{
    DtVar **pair;
    uint32_t size;
    DtStatus status = dt_collect_fast(trace, item, &pair, &size);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_TypeError)) {
        (void)dt_raised_take(trace);
        return dt_raise(trace, PyExc_TypeError,
                        "cannot convert dictionary update sequence element #%u to a sequence", at);
    }
    DT_TRY(status);
    if (size != 2) {
        return dt_raise(trace, PyExc_ValueError,
                        "dictionary update sequence element #%u has length %u; 2 is required", at,
                        (unsigned)size);
    }
    return dt_dict_store(trace, dict, pair[0], pair[1]);
}

DtStatus
dt_dict_update_from(DtTrace *trace, DtDictVar *dict, DtVar *other)
{
    DtVar *iterator, *item;
    bool done;
    DT_TRY(dt_dict_merge(trace, dict, other, &done));
    if (done) {
        return DT_OK;
    }
    DT_TRY(dt_var_iter(trace, other, &iterator));
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &item));
        if (item == NULL) {
            return DT_OK;
        }
        DT_TRY(store_pair(trace, dict, item, i));
    }
}

/* ---- Methods --------------------------------------------------------------------------------- */

static DtStatus
dict_get(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtDictEntry key;
    DT_TRY(dt_dict_key(trace, args->pos[0], &key));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &key, &found));
    *out = found != NULL ? found->value : args->npos > 1 ? args->pos[1] : dt_none(trace);
    return DT_OK;
}

static DtStatus
dict_setdefault(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtDictEntry key;
    DT_TRY(dt_dict_key(trace, args->pos[0], &key));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &key, &found));
    if (found != NULL) {
        *out = found->value;
        return DT_OK;
    }
    *out = args->npos > 1 ? args->pos[1] : dt_none(trace);
    DT_TRY(dt_kinds_will_change(trace, self));
    return dt_dict_append(trace, (DtDictVar *)self, &key, *out); /* hashed and compared only once */
}

static DtStatus
dict_pop(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtDictEntry key;
    DT_TRY(dt_dict_key(trace, args->pos[0], &key));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &key, &found));
    if (found == NULL) {
        if (args->npos < 2) {
            return dt_raise_value(trace, PyExc_KeyError, args->pos[0]);
        }
        *out = args->pos[1];
        return DT_OK;
    }
    *out = found->value;
    return remove_entry(trace, (DtDictVar *)self, found);
}

static DtStatus
dict_popitem(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtDictVar *dict = (DtDictVar *)self;
    if (dict->count == 0) {
        return dt_raise(trace, PyExc_KeyError, "popitem(): dictionary is empty");
    }
    DtDictEntry *last = &dict->items[dict->count - 1];
    DtVar *pair[2] = {last->key_var, last->value};
    DT_TRY(remove_entry(trace, dict, last));
    return dt_var_tuple(trace, pair, 2, out);
}

DtStatus
dt_dict_update_args(DtTrace *trace, DtDictVar *dict, const DtArgs *args)
{
    if (args->npos > 0) {
        DT_TRY(dt_dict_update_from(trace, dict, args->pos[0]));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        DtVar *key;
        DT_TRY(dt_var_const(trace, args->kwnames[i], &key));
        DT_TRY(dt_dict_store(trace, dict, key, args->kw[i]));
    }
    return DT_OK;
}

static DtStatus
dict_update(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DT_TRY(dt_dict_update_args(trace, (DtDictVar *)self, args));
    *out = dt_none(trace);
    return DT_OK;
}

static DtStatus
dict_copy(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DtDictVar *copy;
    DT_TRY(dt_dict_new(trace, &copy));
    DT_TRY(dt_dict_update_from(trace, copy, self));
    *out = &copy->base;
    return DT_OK;
}

static DtStatus
dict_clear(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DT_TRY(dt_kinds_will_change(trace, self));
    ((DtDictVar *)self)->count = 0;
    ((DtDictVar *)self)->changes++;
    *out = dt_none(trace);
    return DT_OK;
}

static DtStatus
dict_keys(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return dt_dict_view(trace, (DtDictVar *)self, 0, out);
}

static DtStatus
dict_values(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return dt_dict_view(trace, (DtDictVar *)self, 1, out);
}

static DtStatus
dict_items(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return dt_dict_view(trace, (DtDictVar *)self, 2, out);
}

/* dict.fromkeys(iterable, value) */
static DtStatus
dict_fromkeys(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)self;
    DtDictVar *dict;
    DtVar *iterator, *key, *value = args->npos > 1 ? args->pos[1] : dt_none(trace);
    DT_TRY(dt_dict_new(trace, &dict));
    DT_TRY(dt_var_iter(trace, args->pos[0], &iterator));
    *out = &dict->base;
    for (uint32_t i = 0;; i++) {
        DT_TRY(dt_collect_step(trace, iterator, i, &key));
        if (key == NULL) {
            return DT_OK;
        }
        DT_TRY(dt_dict_store(trace, dict, key, value));
    }
}

const DtMethodRow dt_dict_fromkeys_row = {"fromkeys", dict_fromkeys, 1, 2, false};

/* ---- Slots ----------------------------------------------------------------------------------- */

static DtStatus
dict_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (left->type->kind != DT_KIND_DICT || DT_BINARY_PLAIN(op) != DT_BINARY_OR) {
        return DT_OK;
    }
    if (op == DT_BINARY_INPLACE_OR) {
        *out = left;
        return dt_dict_update_from(trace, (DtDictVar *)left, right);
    }
    if (right->type->kind != DT_KIND_DICT) {
        return DT_OK;
    }
    const DtArgs no_args = {0};
    DT_TRY(dict_copy(trace, left, &no_args, out));
    return dt_dict_update_from(trace, (DtDictVar *)*out, right);
}

static DtStatus
dict_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtDictVar *)self)->count, out);
}

static DtStatus
dict_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar **out)
{
    DtDictEntry entry;
    DT_TRY(dt_dict_key(trace, key, &entry));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &entry, &found));
    if (found == NULL) {
        return dt_raise_value(trace, PyExc_KeyError, key);
    }
    *out = found->value;
    return DT_OK;
}

static DtStatus
dict_ass_subscript(DtTrace *trace, DtVar *self, DtVar *key, DtVar *value)
{
    if (value != NULL) {
        return dt_dict_store(trace, (DtDictVar *)self, key, value);
    }
    DtDictEntry entry;
    DT_TRY(dt_dict_key(trace, key, &entry));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &entry, &found));
    return found != NULL ? remove_entry(trace, (DtDictVar *)self, found)
                         : dt_raise_value(trace, PyExc_KeyError, key);
}

static DtStatus
dict_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtDictEntry entry;
    DT_TRY(dt_dict_key(trace, item, &entry));
    DtDictEntry *found;
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &entry, &found));
    return dt_var_bool(trace, found != NULL, out);
}

static DtStatus
dict_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_iter_dict(trace, (DtDictVar *)self, 0, out);
}

static DtStatus
dict_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (left->type->kind != DT_KIND_DICT || right->type->kind != DT_KIND_DICT
        || (op != Py_EQ && op != Py_NE)) {
        return DT_OK;
    }
    DtDictVar *a = (DtDictVar *)left, *b = (DtDictVar *)right;
    bool equal = a->count == b->count;
    for (uint32_t i = 0; i < a->count && equal; i++) {
        DtDictEntry *other;
        DT_TRY(dt_dict_find(trace, b, &a->items[i], &other));
        equal = other != NULL;
        if (equal) {
            DT_TRY(dt_sequence_item_equal(trace, a->items[i].value, other->value, &equal));
        }
    }
    return dt_var_bool(trace, equal == (op == Py_EQ), out);
}

static PyTypeObject *
dict_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtDictVar *)self)->cls;
}

static DtStatus
dict_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DtDictVar *self = (DtDictVar *)var;
    if (self->owner != NULL) {
        PyObject *name =
            dt_trace_keep_take(dt_codegen_trace(codegen), PyUnicode_InternFromString("__dict__"));
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_codegen_var(codegen, self->owner));
        return dt_codegen_name(codegen, DT_OP_LOAD_ATTR, name);
    }
    DT_TRY(dt_dict_check_keys(codegen, self));
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(dt_codegen_var(codegen, self->items[i].key_var));
        DT_TRY(dt_codegen_var(codegen, self->items[i].value));
    }
    return dt_codegen_op(codegen, DT_OP_BUILD_MAP, (int32_t)self->count);
}

static DtStatus
dict_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    DtDictVar *self = (DtDictVar *)var;
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(visit(trace, self->items[i].key_var, arg));
        DT_TRY(visit(trace, self->items[i].value, arg));
    }
    return self->owner != NULL ? visit(trace, self->owner, arg) : DT_OK;
}

static void
dict_repr(DtVar *var, DtStrbuf *buf)
{
    DtDictVar *self = (DtDictVar *)var;
    dt_strbuf_add(buf, "{");
    for (uint32_t i = 0; i < self->count; i++) {
        dt_strbuf_add(buf, i > 0 ? ", " : "");
        dt_var_repr(self->items[i].key_var, buf);
        dt_strbuf_add(buf, ": ");
        dt_var_repr(self->items[i].value, buf);
    }
    dt_strbuf_add(buf, "}");
}

static const DtMethodRow dict_methods[] = {
    {"clear", dict_clear, 0, 0, false},
    {"copy", dict_copy, 0, 0, false},
    {"get", dict_get, 1, 2, false},
    {"items", dict_items, 0, 0, false},
    {"keys", dict_keys, 0, 0, false},
    {"pop", dict_pop, 1, 2, false},
    {"popitem", dict_popitem, 0, 0, false},
    {"setdefault", dict_setdefault, 1, 2, false},
    {"update", dict_update, 0, 1, true},
    {"values", dict_values, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_DICT = {
    .kind = DT_KIND_DICT,
    .nb_binary = dict_binary,
    .sq_length = dict_length,
    .mp_subscript = dict_subscript,
    .mp_ass_subscript = dict_ass_subscript,
    .sq_contains = dict_contains,
    .tp_iter = dict_iter,
    .tp_richcompare = dict_compare,
    .methods = dict_methods,
    .python_type = dict_type,
    .reconstruct = dict_reconstruct,
    .children = dict_children,
    .repr = dict_repr,
};
