/* The guard services of variables/trace.h: facts are collected while tracing;
 * see recipe.h. */
#include "guards/recipe.h"

#include "guards/read.h"

#include <string.h>

#include "compat/bytearray.h"
#include "compat/code.h"
#include "compat/dict.h"
#include "compat/set.h"

const DtGuardRow dt_guard_rows[DT_GUARD_COUNT] = {
#define GUARD(NAME, TEXT) {#NAME, TEXT},
#include "guards/guards.def"
#undef GUARD
};

DtStatus
dt_recipe_init(DtTrace *trace)
{
    trace->guards = DT_ARENA_NEW(&trace->arena, DtGuardRecipe);
    if (trace->guards == NULL) {
        return dt_no_memory();
    }
    trace->guards->free_start = -1;
    trace->guards->argument_slots = -1;
    return DT_OK;
}

/* ---- Constants ------------------------------------------------------------------------------- */

bool
dt_recipe_is_constant(PyObject *value)
{
    if (value == Py_NotImplemented) {
        return true;
    }
    if (PySlice_Check(value)) {
        PySliceObject *slice = (PySliceObject *)value;
        return dt_dict_is_plain_key(slice->start) && dt_dict_is_plain_key(slice->stop)
               && dt_dict_is_plain_key(slice->step);
    }
    if (PyFrozenSet_CheckExact(value)) {
        Py_ssize_t slot = 0;
        PyObject *item;
        while (dt_set_next(value, &slot, &item)) {
            if (!dt_dict_is_plain_key(item)) {
                return false;
            }
        }
        return true;
    }
    return PyByteArray_CheckExact(value) || dt_dict_is_plain_key(value);
}

/* The same elements in the same slots. */
static bool
same_frozenset(PyObject *a, PyObject *b)
{
    Py_ssize_t at = 0, other = 0;
    PyObject *left, *right;
    if (PySet_GET_SIZE(a) != PySet_GET_SIZE(b)) {
        return false;
    }
    while (dt_set_next(a, &at, &left)) {
        if (!dt_set_next(b, &other, &right) || at != other
            || !dt_recipe_same_constant(left, right)) {
            return false;
        }
    }
    return true;
}

static bool
same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

bool
dt_recipe_same_constant(PyObject *a, PyObject *b)
{
    if (a == b) {
        return true;
    }
    if (Py_TYPE(a) != Py_TYPE(b)) {
        return false;
    }
    if (PyFloat_CheckExact(a)) {
        return same_bits(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b));
    }
    if (PyComplex_CheckExact(a)) {
        Py_complex ca = ((PyComplexObject *)a)->cval, cb = ((PyComplexObject *)b)->cval;
        return same_bits(ca.real, cb.real) && same_bits(ca.imag, cb.imag);
    }
    if (PyTuple_CheckExact(a)) {
        Py_ssize_t size = PyTuple_GET_SIZE(a);
        if (PyTuple_GET_SIZE(b) != size) {
            return false;
        }
        for (Py_ssize_t i = 0; i < size; i++) {
            if (!dt_recipe_same_constant(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) {
                return false;
            }
        }
        return true;
    }
    if (PySlice_Check(a)) {
        PySliceObject *left = (PySliceObject *)a, *right = (PySliceObject *)b;
        return dt_recipe_same_constant(left->start, right->start)
               && dt_recipe_same_constant(left->stop, right->stop)
               && dt_recipe_same_constant(left->step, right->step);
    }
    if (PyFrozenSet_CheckExact(a)) {
        return same_frozenset(a, b);
    }
    if (PyByteArray_CheckExact(a) && (dt_bytearray_is_shared(a) || dt_bytearray_is_shared(b))) {
        return false; /* what else shows the memory may write it */
    }
    if (PyUnicode_CheckExact(a) || PyLong_CheckExact(a) || PyBytes_CheckExact(a)
        || PyByteArray_CheckExact(a)) {
        return PyObject_RichCompareBool(a, b, Py_EQ) == 1; /* of these exact types: can't fail */
    }
    return false;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static bool
same_object(uint8_t kind, PyObject *a, PyObject *b)
{
    if (a == b) {
        return true;
    }
    if (a == NULL || b == NULL) {
        return false;
    }
    switch (kind) {
    case DT_GUARD_CONSTANT:
    case DT_GUARD_ATTR_ABSENT:
    case DT_GUARD_GLOBAL_ABSENT:
    case DT_GUARD_QUIET_ATTR:
    case DT_GUARD_QUIET_GLOBAL:
        return dt_recipe_same_constant(a, b);
    default: /* equal tuples of keys are kept twice: that does no harm */
        return false;
    }
}

static bool
same_fact(const DtFact *a, const DtFact *b)
{
    if (a->kind != b->kind || a->other != b->other || a->number != b->number
        || a->adapter != b->adapter || a->spec_size != b->spec_size
        || !same_object(a->kind, a->object, b->object)) {
        return false;
    }
    if (a->spec_size != 0 && memcmp(a->spec, b->spec, a->spec_size) != 0) {
        return false;
    }
    if (a->sym != b->sym) {
        return a->sym != NULL && b->sym != NULL && dt_sym_equal(a->sym, b->sym);
    }
    return true;
}

/* A fact about a source that was only known to be readable: PRESENT goes, the others keep their
 * order.  It is gone already when there was no memory for the fact that was to follow it. */
static void
drop_present(DtTrace *trace, const DtFact *present)
{
    DtGuardRecipe *recipe = trace->guards;
    DtFact **items = recipe->facts.items;
    uint32_t count = recipe->facts.count;
    for (uint32_t at = count; at > 0; at--) { /* most sources are looked at soon: from the end */
        if (items[at - 1] == present) {
            memmove(&items[at - 1], &items[at], sizeof(items[0]) * (count - at));
            recipe->facts.count--;
            return;
        }
    }
}

/* What the facts among which an equal one would be are kept under: `*key`, or the sourceless ones.
 */
static DtMap *
chain_of(DtGuardRecipe *recipe, const DtFact *fact, const void **key)
{
    *key = fact->source;
    if (fact->source != NULL) {
        return &recipe->by_source;
    }
    if (fact->sym == NULL) {
        return NULL;
    }
    *key = (const void *)(uintptr_t)(dt_sym_hash(fact->sym) | 1);
    return &recipe->by_hash;
}

DtStatus
dt_recipe_add(DtTrace *trace, const DtFact *fact)
{
    DtGuardRecipe *recipe = trace->guards;
    bool sourceless = fact->kind == DT_GUARD_SYM || fact->kind == DT_GUARD_GLOBAL_ABSENT
                      || fact->kind == DT_GUARD_ADAPTER_STATE || fact->kind == DT_GUARD_QUIET_GLOBAL
                      || fact->kind == DT_GUARD_ABC_TOKEN;
    if (fact->source == NULL && !sourceless) {
        return DT_OK; /* made by the trace: nothing outside can change it */
    }
    if ((fact->source != NULL && fact->source->synthetic)
        || (fact->other != NULL && fact->other->synthetic)) {
        return DT_OK;
    }
    const void *key;
    DtMap *chains = chain_of(recipe, fact, &key);
    DtFact *newest = chains != NULL ? dt_map_get(chains, key) : recipe->sourceless;
    if (newest != NULL && fact->source != NULL) {
        if (fact->kind == DT_GUARD_PRESENT) {
            return DT_OK;
        }
        if (newest->kind == DT_GUARD_PRESENT) {
            drop_present(trace, newest);
            newest = NULL;
        }
    }
    for (DtFact *old = newest; old != NULL; old = old->previous) {
        if (same_fact(old, fact)) {
            return DT_OK;
        }
    }
    DtFact *copy = DT_ARENA_NEW(&trace->arena, DtFact);
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = *fact;
    copy->previous = newest;
    if (fact->object != NULL) {
        DT_TRY(dt_trace_keep(trace, fact->object));
    }
    if (fact->filename != NULL) {
        DT_TRY(dt_trace_keep(trace, fact->filename));
    }
    if (fact->spec_size != 0) {
        void *spec = dt_arena_alloc(&trace->arena, fact->spec_size);
        if (spec == NULL) {
            return dt_no_memory();
        }
        memcpy(spec, fact->spec, fact->spec_size);
        copy->spec = spec;
    }
    if (fact->nrefs != 0) {
        PyObject **refs = DT_ARENA_ARRAY(&trace->arena, PyObject *, fact->nrefs);
        if (refs == NULL) {
            return dt_no_memory();
        }
        for (uint32_t i = 0; i < fact->nrefs; i++) {
            refs[i] = fact->refs[i];
            DT_TRY(dt_trace_keep(trace, refs[i]));
        }
        copy->refs = refs;
    }
    if (dt_vec_push(&trace->arena, &recipe->facts, copy) < 0) {
        return dt_no_memory();
    }
    if (chains == NULL) {
        recipe->sourceless = copy;
    }
    else if (dt_map_set(&trace->arena, chains, key, copy) < 0) {
        return dt_no_memory();
    }
    return DT_OK;
}

static bool
is_of_a_load(const DtFact *fact)
{
    return fact->kind == DT_GUARD_PRESENT || fact->kind == DT_GUARD_GLOBAL_ABSENT;
}

DtStatus
dt_recipe_forget_loads(DtTrace *trace, uint32_t count)
{
    DtGuardRecipe *recipe = trace->guards;
    const void *key;
    while (recipe->facts.count > count
           && is_of_a_load(recipe->facts.items[recipe->facts.count - 1])) {
        DtFact *fact = recipe->facts.items[--recipe->facts.count];
        DtMap *chains = chain_of(recipe, fact, &key);
        if (chains == NULL) {
            recipe->sourceless = fact->previous;
        }
        else if (fact->previous == NULL) {
            dt_map_remove(chains, key);
        }
        else if (dt_map_set(&trace->arena, chains, key, fact->previous) < 0) {
            return dt_no_memory();
        }
    }
    return DT_OK;
}

/* Fills in the user's position and adds. */
static DtStatus
add_here(DtTrace *trace, DtFact *fact)
{
    DtPosition where = dt_trace_position(trace);
    if (where.code != NULL) {
        fact->filename = dt_code_filename(where.code);
        fact->line = where.line > 0 ? where.line : 0;
    }
    return dt_recipe_add(trace, fact);
}

/* ---- Services (contracts in variables/trace.h) ----------------------------------------------- */

DtStatus
dt_guard_type(DtTrace *trace, const DtSource *source, PyTypeObject *exact)
{
    DtFact fact = {.kind = DT_GUARD_TYPE, .source = source, .object = (PyObject *)exact};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_identity(DtTrace *trace, const DtSource *source, PyObject *object)
{
    DtFact fact = {.kind = DT_GUARD_IDENTITY, .source = source, .object = object};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_constant(DtTrace *trace, const DtSource *source, PyObject *value)
{
    DtFact fact = {.kind = DT_GUARD_CONSTANT, .source = source, .object = value};
    if (!dt_recipe_is_constant(value)) {
        /* Only identity says that such an object has not changed its value. */
        fact.kind = DT_GUARD_IDENTITY;
    }
    return add_here(trace, &fact);
}

DtStatus
dt_guard_length(DtTrace *trace, const DtSource *source, PyTypeObject *exact, int64_t length)
{
    DtFact fact = {
        .kind = DT_GUARD_LENGTH, .source = source, .object = (PyObject *)exact, .number = length};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_dict_keys(DtTrace *trace, const DtSource *source, PyObject *dict)
{
    PyObject *keys = dt_trace_keep_take(trace, dt_dict_keys_in_order(dict));
    if (keys == NULL) {
        return DT_ERROR;
    }
    DtFact fact = {.kind = DT_GUARD_DICT_KEYS, .source = source, .object = keys};
    return add_here(trace, &fact);
}

/* (first, element, element ...) in the order of the table; `first` may be NULL. */
static PyObject *
elements_of(PyObject *set, PyObject *first)
{
    Py_ssize_t at = first != NULL ? 1 : 0, slot = 0;
    PyObject *items = PyTuple_New(PySet_GET_SIZE(set) + at), *key;
    if (items != NULL && first != NULL) {
        PyTuple_SET_ITEM(items, 0, Py_NewRef(first));
    }
    while (items != NULL && dt_set_next(set, &slot, &key)) {
        PyTuple_SET_ITEM(items, at++, Py_NewRef(key));
    }
    return items;
}

DtStatus
dt_guard_set_items(DtTrace *trace, const DtSource *source, PyObject *set)
{
    PyObject *items = dt_trace_keep_take(trace, elements_of(set, NULL));
    if (items == NULL) {
        return DT_ERROR;
    }
    DtFact fact = {.kind = DT_GUARD_SET_ITEMS, .source = source, .object = items};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_set_layout(DtTrace *trace, const DtSource *source, PyObject *set)
{
    PyObject *slots = dt_set_slots(set);
    PyObject *items = slots != NULL ? elements_of(set, slots) : NULL;
    Py_XDECREF(slots);
    items = dt_trace_keep_take(trace, items);
    if (items == NULL) {
        return DT_ERROR;
    }
    DtFact fact = {.kind = DT_GUARD_SET_LAYOUT, .source = source, .object = items};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_deque(DtTrace *trace, const DtSource *source, PyObject *deque, bool any_length)
{
    PyObject *facts = dt_trace_keep_take(trace, dt_read_deque(deque));
    if (facts != NULL && any_length) {
        facts = dt_trace_keep_take(trace, PyTuple_Pack(2, PyTuple_GET_ITEM(facts, 0), Py_None));
    }
    if (facts == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(deque)));
    DtFact fact = {.kind = DT_GUARD_DEQUE, .source = source, .object = facts};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_attr_absent(DtTrace *trace, const DtSource *source, PyObject *name)
{
    DtFact fact = {.kind = DT_GUARD_ATTR_ABSENT, .source = source, .object = name};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_type_version(DtTrace *trace, const DtSource *source, PyTypeObject *exact)
{
    DtFact fact = {.kind = DT_GUARD_TYPE_VERSION, .source = source, .object = (PyObject *)exact};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_class_version(DtTrace *trace, const DtSource *source, PyTypeObject *cls)
{
    DtFact fact = {.kind = DT_GUARD_CLASS_VERSION, .source = source, .object = (PyObject *)cls};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_alias(DtTrace *trace, const DtSource *a, const DtSource *b, bool same)
{
    DtFact fact = {.kind = same ? DT_GUARD_SAME : DT_GUARD_NOT_SAME, .source = a, .other = b};
    if (a->id > b->id) { /* one form for both orders */
        fact.source = b;
        fact.other = a;
    }
    return add_here(trace, &fact);
}

DtStatus
dt_guard_not_dict_of(DtTrace *trace, const DtSource *instance, const DtSource *dict)
{
    DtFact fact = {.kind = DT_GUARD_NOT_DICT_OF, .source = instance, .other = dict};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_apart(DtTrace *trace, const DtAdapter *adapter, const DtSource *array,
               const DtSource *bytes)
{
    DtFact fact = {.kind = DT_GUARD_APART, .source = array, .other = bytes, .adapter = adapter};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_no_key(DtTrace *trace, const DtSource *dict, const DtSource *key)
{
    DtFact fact = {.kind = DT_GUARD_NO_KEY, .source = dict, .other = key};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_quiet(DtTrace *trace, const DtSource *source, const DtSource *stays)
{
    DtFact fact = {.kind = DT_GUARD_QUIET, .source = source, .other = stays};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_quiet_contents(DtTrace *trace, const DtSource *container)
{
    DtFact fact = {.kind = DT_GUARD_QUIET_CONTENTS, .source = container};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_quiet_attr(DtTrace *trace, const DtSource *owner, PyObject *name, const DtSource *stays)
{
    DtFact fact = {.kind = DT_GUARD_QUIET_ATTR, .source = owner, .object = name, .other = stays};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_quiet_global(DtTrace *trace, const DtSource *globals, PyObject *name,
                      const DtSource *stays)
{
    DtFact fact = {
        .kind = DT_GUARD_QUIET_GLOBAL, .source = globals, .object = name, .other = stays};
    return add_here(trace, &fact);
}

/* Whether the condition mentions a symbol whose source is synthetic. */
static bool
mentions_synthetic(DtTrace *trace, const DtSym *sym)
{
    if (sym == NULL) {
        return false;
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        return trace->symbols.items[sym->id].source->synthetic;
    }
    return mentions_synthetic(trace, sym->a) || mentions_synthetic(trace, sym->b);
}

DtStatus
dt_guard_sym(DtTrace *trace, const DtSym *condition)
{
    if (dt_trace_depends_on_data(trace, condition)) {
        return dt_break(trace, DT_BREAK_DATA_SIZE, "a question about the size of a selection");
    }
    if (dt_sym_is_const(condition) || mentions_synthetic(trace, condition)) {
        return DT_OK;
    }
    DtFact fact = {.kind = DT_GUARD_SYM, .sym = condition};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_global_absent(DtTrace *trace, const DtSource *function, PyObject *name)
{
    DtFact fact = {.kind = DT_GUARD_GLOBAL_ABSENT, .source = function, .object = name};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_abc_token(DtTrace *trace, int64_t token)
{
    DtFact fact = {.kind = DT_GUARD_ABC_TOKEN, .number = token};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_present(DtTrace *trace, const DtSource *source)
{
    DtFact fact = {.kind = DT_GUARD_PRESENT, .source = source};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_cell_empty(DtTrace *trace, const DtSource *cell)
{
    DtFact fact = {.kind = DT_GUARD_CELL_EMPTY, .source = cell};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_adapter(DtTrace *trace, const DtSource *source, const DtAdapter *adapter, const void *spec,
                 size_t size, PyObject *const *refs, uint32_t nrefs)
{
    DtFact fact = {.kind = DT_GUARD_ADAPTER,
                   .source = source,
                   .adapter = adapter,
                   .spec = spec,
                   .spec_size = size,
                   .refs = refs,
                   .nrefs = nrefs};
    return add_here(trace, &fact);
}

DtStatus
dt_guard_adapter_state(DtTrace *trace, const DtAdapter *adapter, const void *spec, size_t size)
{
    DtFact fact = {
        .kind = DT_GUARD_ADAPTER_STATE, .adapter = adapter, .spec = spec, .spec_size = size};
    return add_here(trace, &fact);
}
