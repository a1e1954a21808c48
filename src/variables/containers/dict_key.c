/* Keys: how a tracker hashes and which entry of a dict or set is equal to it.
 *
 *   constants            by value, with the real hash
 *   instances            as object hashes them: by identity
 *                        with __hash__ and __eq__ of Python: those are followed
 *                        with those of int, str or bytes: by their value
 *   classes, functions   by identity
 *   what id() gives      as the object whose address it is
 *
 * Not in here: dicts (v_dict.c) and sets (v_set.c) themselves.
 */
#include <string.h>

#include "compat/dict.h"
#include "variables/kinds.h"

static DtStatus
unhashable(DtTrace *trace, DtVar *var)
{
    return dt_raise(trace, PyExc_TypeError, "unhashable type: '%s'",
                    dt_kinds_type_name(trace, var));
}

static bool
is_mutable_container(DtVar *var)
{
    switch (var->type->kind) {
    case DT_KIND_LIST:
    case DT_KIND_DICT:
    case DT_KIND_BYTEARRAY:
        return true;
    case DT_KIND_SET:
        return ((DtDictVar *)var)->cls == &PySet_Type;
    default:
        return false;
    }
}

/* Whether instances of the type hash and compare as object does. */
static bool
compares_by_identity(PyTypeObject *type)
{
    return type->tp_hash == PyBaseObject_Type.tp_hash
           && type->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

bool
dt_dict_is_followed(PyObject *key)
{
    return !dt_constant_is_safe(key) && !compares_by_identity(Py_TYPE(key))
           && !dt_dict_is_settled_key(key);
}

/* What is not guarded to be this very object, or is not made yet: its hash is good for this trace.
 */
static DtStatus
by_address(DtDictEntry *entry, const void *address)
{
    entry->by_identity = entry->unsaid = true;
    entry->hash = (Py_hash_t)(uintptr_t)address;
    return DT_OK;
}

/* What is known by identity hashes as it really does, unless it only stands for what the trace
 * makes. */
static DtStatus
by_identity(DtTrace *trace, DtDictEntry *entry)
{
    if (dt_map_get(&trace->stand_ins, entry->key) != NULL) {
        return by_address(entry, entry->key);
    }
    entry->by_identity = true;
    entry->hash = PyObject_Hash(entry->key);
    return entry->hash == -1 ? dt_raise_from_exception(trace) : DT_OK;
}

/* What becomes of the int that a __hash__ has returned (as in slot_tp_hash): it is the hash, unless
 * it is too large for one, and -1 means failure. */
static Py_hash_t
hash_of_answer(PyObject *answer)
{
    int overflow;
    long long hash = PyLong_AsLongLongAndOverflow(answer, &overflow);
    if (overflow != 0 || hash < PY_SSIZE_T_MIN || hash > PY_SSIZE_T_MAX) {
        hash = PyObject_Hash(answer);
    }
    return hash != -1 ? (Py_hash_t)hash : -2;
}

/* An instance's __hash__, followed. */
static DtStatus
traced_hash(DtTrace *trace, DtVar *var, DtDictEntry *out)
{
    DtVar *method, *result;
    DT_TRY(dt_instance_special(trace, var, "__hash__", &method));
    if (method == NULL) {
        return unhashable(trace, var); /* __hash__ is None */
    }
    const DtArgs none = {0};
    uint32_t effects = trace->effects;
    trace->hashing++;
    DtStatus status = dt_var_call(trace, method, &none, &result);
    trace->hashing--;
    DT_TRY(status);
    out->acts = trace->effects != effects;
    PyObject *hash = dt_var_as_constant(trace, result);
    if (hash == NULL || !PyLong_CheckExact(hash)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a __hash__ that returns no known int");
    }
    out->traced = true;
    out->hash = hash_of_answer(hash);
    return DT_OK;
}

static DtStatus
instance_key(DtTrace *trace, DtVar *var, DtDictEntry *out)
{
    DtInstanceVar *instance = (DtInstanceVar *)var;
    PyTypeObject *type = instance->object != NULL ? Py_TYPE(instance->object) : instance->cls;
    PyObject *plain =
        dt_dict_hashes_as_base(type) ? dt_var_as_constant(trace, dt_payload_of(var)) : NULL;
    out->key = instance->object;
    if (plain != NULL && dt_constant_is_safe(plain)) { /* members of IntEnum, texts with methods */
        out->traced = true;
        out->hash = PyObject_Hash(plain);
        return out->hash == -1 ? dt_raise_from_exception(trace) : DT_OK;
    }
    if (!compares_by_identity(type)) {
        if (!dt_build_is_user_class(type)) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "a %s as a key", type->tp_name);
        }
        return traced_hash(trace, var, out);
    }
    return by_address(out, instance->object != NULL ? (void *)instance->object : (void *)var);
}

/* Mirrors the hash of tuples (xxHash), so that (1, x) meets (1, 2) if x hashes like 2. */
#define PRIME_1 UINT64_C(11400714785074694791)
#define PRIME_2 UINT64_C(14029467366897019727)
#define PRIME_5 UINT64_C(2870177450012600261)

/* A tuple with an instance or a new object in it: equal to another one item by item. */
static DtStatus
tuple_key(DtTrace *trace, DtVar *var, DtDictEntry *out)
{
    DtSeqVar *tuple = (DtSeqVar *)var;
    uint64_t hash = PRIME_5;
    for (uint32_t i = 0; i < tuple->count; i++) {
        DtDictEntry item;
        DT_TRY(dt_dict_key(trace, tuple->items[i], &item));
        out->acts |= item.acts;
        out->unsaid |= item.unsaid;
        hash += (uint64_t)item.hash * PRIME_2;
        hash = (hash << 31 | hash >> 33) * PRIME_1;
    }
    hash += tuple->count ^ (PRIME_5 ^ 3527539u);
    out->traced = true;
    out->hash = hash == UINT64_MAX ? 1546275796 : (Py_hash_t)hash;
    return DT_OK;
}

DtStatus
dt_dict_key(DtTrace *trace, DtVar *var, DtDictEntry *out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    memset(out, 0, sizeof(*out));
    out->key_var = var;
    DtKind kind = var->type->kind;
    bool refuses =
        kind == DT_KIND_SLICE && PySlice_Type.tp_hash == PyObject_HashNotImplemented; /* to 3.11 */
    if (is_mutable_container(var) || refuses) {
        return unhashable(trace, var);
    }
    if (kind == DT_KIND_INSTANCE) {
        return instance_key(trace, var, out);
    }
    if (kind == DT_KIND_IDENTITY) {
        out->unsaid = true;
        out->hash = (Py_hash_t)(uintptr_t)dt_identity_address(var);
        return DT_OK;
    }
    out->key = kind == DT_KIND_FUNCTION ? ((DtFunctionVar *)var)->function
                                        : dt_var_as_constant(trace, var);
    if (kind == DT_KIND_FUNCTION) {
        return by_address(out, out->key != NULL ? (void *)out->key : (void *)var);
    }
    if (kind == DT_KIND_TUPLE && ((DtSeqVar *)var)->cls == &PyTuple_Type
        && (out->key == NULL || !dt_constant_is_safe(out->key))) {
        return tuple_key(trace, var, out);
    }
    if (out->key == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a %s as a key", var->type->name);
    }
    if (dt_constant_is_safe(out->key)) {
        if (dt_constant_has_nan(out->key)) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "a NaN as a key");
        }
        out->hash = PyObject_Hash(out->key);
        return out->hash == -1 ? dt_raise_from_exception(trace) : DT_OK;
    }
    if (!compares_by_identity(Py_TYPE(out->key))) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a %s as a key", Py_TYPE(out->key)->tp_name);
    }
    return by_identity(trace, out);
}

/* Whether the entry of a dict has this key; both hashes are equal. */
static DtStatus
is_equal(DtTrace *trace, const DtDictEntry *entry, const DtDictEntry *key, bool *out)
{
    *out = false;
    if (entry->by_identity || key->by_identity) {
        return DT_OK;
    }
    if (entry->traced || key->traced || entry->unsaid || key->unsaid) {
        return dt_sequence_item_equal(trace, entry->key_var, key->key_var, out);
    }
    int equal = PyObject_RichCompareBool(entry->key, key->key, Py_EQ);
    if (equal < 0) {
        PyErr_Clear(); /* builtin constants compare without errors but for bytes warnings under -bb
                        */
    }
    *out = equal == 1;
    return DT_OK;
}

/* An input that hashes by its address. */
static bool
is_input_by_address(DtVar *var)
{
    return var->type->kind == DT_KIND_INSTANCE && var->source != NULL
           && compares_by_identity(Py_TYPE(((DtInstanceVar *)var)->object));
}

/* Two keys of different hashes are not compared. Where the hashes are addresses, two inputs are two
 * objects now; that they stay so is a guard. Of two tuples one such pair of items is enough; *out
 * says whether there was one. What id() gives may be any int. */
static DtStatus
guard_apart(DtTrace *trace, DtVar *left, DtVar *right, bool *out)
{
    DT_TRY(dt_var_realize(trace, left, &left));
    DT_TRY(dt_var_realize(trace, right, &right));
    *out = left != right && is_input_by_address(left) && is_input_by_address(right);
    if (*out) {
        bool same;
        return dt_var_is(trace, left, right, &same);
    }
    if (left->type->kind == DT_KIND_IDENTITY || right->type->kind == DT_KIND_IDENTITY) {
        bool left_first = left->type->kind == DT_KIND_IDENTITY;
        DtVar *equal;
        DT_TRY(dt_var_compare(trace, Py_EQ, left_first ? left : right, left_first ? right : left,
                              &equal));
        *out = dt_var_peek_constant(equal) == Py_False;
        return DT_OK;
    }
    DtSeqVar *items = (DtSeqVar *)left, *others = (DtSeqVar *)right;
    if (left->type->kind != DT_KIND_TUPLE || right->type->kind != DT_KIND_TUPLE
        || items->count != others->count) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < items->count && !*out; i++) {
        DT_TRY(guard_apart(trace, items->items[i], others->items[i], out));
    }
    return DT_OK;
}

DtStatus
dt_dict_find(DtTrace *trace, DtDictVar *dict, const DtDictEntry *key, DtDictEntry **out)
{
    *out = NULL;
    dict->acts |= key->acts;
    DT_TRY(dt_trace_search(trace, dict->count));
    for (uint32_t i = 0; i < dict->count; i++) {
        DtDictEntry *entry = &dict->items[i];
        bool same = dt_var_peek(entry->key_var) == dt_var_peek(key->key_var)
                    || (entry->key != NULL && entry->key == key->key);
        bool apart = entry->hash != key->hash;
        if (!same && (entry->unsaid || key->unsaid)) {
            bool guarded;
            DT_TRY(guard_apart(trace, entry->key_var, key->key_var, &guarded));
            apart = apart || guarded;
        }
        if (apart) {
            continue;
        }
        if (!same) {
            uint32_t changes = dict->changes, effects = trace->effects;
            DT_TRY(is_equal(trace, entry, key, &same));
            dict->acts |= trace->effects != effects;
            if (dict->changes != changes) {
                return dt_break(trace, DT_BREAK_MISSING_SLOT, "a __eq__ that changes the %s",
                                dict->base.type->name);
            }
        }
        if (same) {
            *out = entry;
            return DT_OK;
        }
    }
    return DT_OK;
}

DtStatus
dt_dict_check_hashes(DtTrace *trace, const DtDictVar *dict)
{
    if (dict->acts) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT,
                        "a %s is written whose keys have a __hash__ or __eq__ with effects",
                        dict->base.type->name);
    }
    for (uint32_t i = 0; trace->hashed_changed && i < dict->count; i++) {
        if (dict->items[i].traced) {
            return dt_break(trace, DT_BREAK_RECONSTRUCT,
                            "a %s is written, and what its keys' __hash__ reads",
                            dict->base.type->name);
        }
    }
    return DT_OK;
}

DtStatus
dt_dict_check_keys(DtCodegen *codegen, const DtDictVar *dict)
{
    DT_TRY(dt_dict_check_hashes(dt_codegen_trace(codegen), dict));
    for (uint32_t i = 0; dt_codegen_is_operands(codegen) && i < dict->count; i++) {
        if (dict->items[i].traced && dict->items[i].key == NULL) {
            return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                            "a new %s whose keys have a __hash__ of Python is stored",
                            dict->base.type->name);
        }
    }
    return DT_OK;
}
