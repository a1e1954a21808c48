/* Sets and frozensets: the entries of a dict without values (v_dict.c).  Their methods:
 * set_methods.c.
 *
 * Invariant: entries change only after dt_kinds_will_change(), together with
 * the layout (set_layout.h).  Entries stand in order of insertion until the
 * order of iteration is asked for.
 */
#include <string.h>

#include "compat/set.h"
#include "variables/fold.h"
#include "variables/containers/set_layout.h"
#include "variables/containers/set_operation.h"

/* Larger input sets are not followed: each element would be a tracker. */
#define MAX_INPUT_ITEMS 16384

/* ---- Making ---------------------------------------------------------------------------------- */

DtStatus
dt_set_new(DtTrace *trace, PyTypeObject *cls, DtDictVar **out)
{
    *out = DT_KINDS_NEW(trace, SET, DtDictVar, NULL);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->cls = cls;
    (*out)->base.mutation = cls == &PySet_Type ? DT_VALUE_MUTATION_NEW : DT_IMMUTABLE;
    return dt_layout_begin(trace, *out);
}

DtStatus
dt_set_put_entry(DtTrace *trace, DtDictVar *set, DtVar *item, bool *added)
{
    DtDictEntry entry, *found;
    DT_TRY(dt_dict_key(trace, item, &entry));
    DT_TRY(dt_dict_find(trace, set, &entry, &found));
    *added = found == NULL;
    if (*added && dt_vec_push(&trace->arena, set, entry) < 0) {
        return dt_no_memory();
    }
    set->changes += *added;
    return DT_OK;
}

DtStatus
dt_set_put(DtTrace *trace, DtDictVar *set, DtVar *item)
{
    bool added;
    DT_TRY(dt_set_put_entry(trace, set, item, &added));
    /* An equal element changes nothing, not even the table. */
    return added ? dt_layout_add(trace, set, item) : DT_OK;
}

DtStatus
dt_set_make(DtTrace *trace, PyTypeObject *cls, DtVar *const *items, uint32_t count, DtVar **out)
{
    DtDictVar *set;
    DT_TRY(dt_set_new(trace, cls, &set));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_set_put(trace, set, items[i]));
    }
    *out = &set->base;
    return DT_OK;
}

DtStatus
dt_var_set(DtTrace *trace, DtVar *const *items, uint32_t count, DtVar **out)
{
    return dt_set_make(trace, &PySet_Type, items, count, out);
}

static DtStatus
fill_from_real(DtTrace *trace, DtDictVar *self, PyObject *real)
{
    PyObject *item;
    Py_ssize_t slot = 0;
    while (dt_set_next(real, &slot, &item)) {
        DtVar *var;
        bool added;
        DT_TRY(dt_trace_keep(trace, item));
        if (dt_dict_is_followed(item)) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "a %s in a set that existed before",
                            Py_TYPE(item)->tp_name);
        }
        if (dt_constant_is_safe(item)) {
            DT_TRY(dt_var_const(trace, item, &var));
        }
        else {
            DT_TRY(dt_build_known(trace, item, &var));
        }
        DT_TRY(dt_set_put_entry(trace, self, var, &added));
    }
    return DT_OK;
}

static DtStatus
begin(DtTrace *trace, PyObject *object, const DtSource *source, PyTypeObject *cls, DtDictVar **out)
{
    if (PySet_GET_SIZE(object) > MAX_INPUT_ITEMS) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a set of %zd elements",
                        PySet_GET_SIZE(object));
    }
    *out = DT_KINDS_NEW(trace, SET, DtDictVar, source);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->cls = cls;
    (*out)->object = object;
    return DT_OK;
}

/* What the object holds now. */
static DtStatus
read_real(DtTrace *trace, DtDictVar *self, DtVar **out)
{
    DT_TRY(dt_layout_begin_real(trace, self));
    DT_TRY(fill_from_real(trace, self, self->object));
    self->changes = 0;
    *out = &self->base;
    return DT_OK;
}

/* A frozenset is known by identity, a set by its elements: no source reads one of them. */
DtStatus
dt_set_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    bool frozen = PyFrozenSet_CheckExact(object);
    DtDictVar *self;
    DT_TRY(begin(trace, object, source, Py_TYPE(object), &self));
    if (frozen) {
        self->base.mutation = DT_IMMUTABLE;
        if (!trusted && source != NULL && source->kind != DT_SOURCE_OBJECT) {
            DT_TRY(dt_guard_constant(trace, source, object)); /* or by identity */
        }
    }
    else {
        DT_TRY(dt_guard_type(trace, source, &PySet_Type));
        DT_TRY(dt_guard_set_items(trace, source, object));
    }
    return read_real(trace, self, out);
}

DtStatus
dt_set_build_part(DtTrace *trace, PyObject *object, const DtSource *source, DtVar **out)
{
    DtDictVar *self;
    DT_TRY(begin(trace, object, source, &PySet_Type, &self));
    DT_TRY(dt_guard_set_items(trace, source, object));
    return read_real(trace, self, out);
}

DtStatus
dt_set_wrap(DtTrace *trace, PyObject *set, DtVar **out)
{
    DtDictVar *self;
    DT_TRY(dt_set_new(trace, Py_TYPE(set), &self));
    PyObject *item;
    Py_ssize_t slot = 0;
    while (dt_set_next(set, &slot, &item)) {
        DtVar *var;
        DT_TRY(dt_constant_wrap_take(trace, Py_NewRef(item), &var));
        DT_TRY(dt_set_put(trace, self, var));
    }
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_set_fold(DtTrace *trace, DtDictVar *set, PyObject **out)
{
    PyObject *real;
    *out = NULL;
    for (uint32_t i = 0; i < set->count; i++) {
        /* Of others neither the hash nor the text is known. */
        if (set->items[i].key == NULL || !dt_constant_is_safe(set->items[i].key)) {
            return DT_OK;
        }
    }
    DT_TRY(dt_layout_replay(trace, set, &real));
    *out = Py_XNewRef(real);
    return DT_OK;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

DtStatus
dt_set_count_common(DtTrace *trace, DtDictVar *a, DtDictVar *b, uint32_t *common)
{
    *common = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        DtDictEntry *found;
        DT_TRY(dt_dict_find(trace, b, &a->items[i], &found));
        *common += found != NULL;
    }
    return DT_OK;
}

static DtStatus
set_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    *out = dt_not_implemented(trace);
    if (!dt_set_is(left) || !dt_set_is(right)) {
        return DT_OK;
    }
    DtDictVar *a = (DtDictVar *)left, *b = (DtDictVar *)right;
    uint32_t common;
    DT_TRY(dt_set_count_common(trace, a, b, &common));
    bool below = common == a->count, above = common == b->count;
    bool result = op == Py_EQ   ? below && above
                  : op == Py_NE ? !(below && above)
                  : op == Py_LE ? below
                  : op == Py_LT ? below && !above
                  : op == Py_GE ? above
                                : above && !below;
    return dt_var_bool(trace, result, out);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

typedef struct OperatorRow {
    const char *plain;
    const char *in_place;
} OperatorRow;

/* The methods that operators are the same as. */
static const OperatorRow operators[] = {
    [DT_BINARY_OR] = {"__or__", "__ior__"},
    [DT_BINARY_AND] = {"__and__", "__iand__"},
    [DT_BINARY_XOR] = {"__xor__", "__ixor__"},
    [DT_BINARY_SUBTRACT] = {"__sub__", "__isub__"},
};

static DtStatus
set_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    DtBinaryOp plain = (DtBinaryOp)DT_BINARY_PLAIN(op);
    *out = dt_not_implemented(trace);
    if (!dt_set_is(left) || !dt_set_is(right)
        || (plain != DT_BINARY_OR && plain != DT_BINARY_AND && plain != DT_BINARY_XOR
            && plain != DT_BINARY_SUBTRACT)) {
        return DT_OK;
    }
    bool in_place = DT_BINARY_IS_INPLACE(op) && ((DtDictVar *)left)->cls == &PySet_Type;
    /* `a |= b` is an update that gives `a`; the others likewise. */
    static const char *const updates[] = {
        [DT_BINARY_OR] = "update",
        [DT_BINARY_AND] = "intersection_update",
        [DT_BINARY_XOR] = "symmetric_difference_update",
        [DT_BINARY_SUBTRACT] = "difference_update",
    };
    DtSetOperation operation = {.self = (DtDictVar *)left,
                                .method = in_place ? updates[plain] : operators[plain].plain,
                                .mutates = in_place,
                                .args = &right,
                                .nargs = 1};
    DT_TRY(dt_set_operation_run(trace, &operation, plain, out));
    if (in_place) {
        *out = left;
    }
    return DT_OK;
}

static DtStatus
set_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtDictVar *)self)->count, out);
}

DtStatus
dt_set_as_element(DtTrace *trace, DtVar *item, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, item, out));
    if (dt_set_is(*out) && ((DtDictVar *)*out)->cls == &PySet_Type) {
        DtDictVar *set = (DtDictVar *)*out;
        DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, set->count + 1);
        if (items == NULL) {
            return dt_no_memory();
        }
        for (uint32_t i = 0; i < set->count; i++) {
            items[i] = set->items[i].key_var;
        }
        return dt_set_make(trace, &PyFrozenSet_Type, items, set->count, out);
    }
    return DT_OK;
}

static DtStatus
set_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtDictEntry entry, *found;
    DT_TRY(dt_set_as_element(trace, item, &item));
    DT_TRY(dt_dict_key(trace, item, &entry));
    DT_TRY(dt_dict_find(trace, (DtDictVar *)self, &entry, &found));
    return dt_var_bool(trace, found != NULL, out);
}

/* Puts the entries in the order of iteration. */
static DtStatus
put_in_order(DtTrace *trace, DtDictVar *set)
{
    PyObject *real;
    DtDictEntry *sorted = DT_ARENA_ARRAY(&trace->arena, DtDictEntry, set->count + 1);
    if (sorted == NULL) {
        return dt_no_memory();
    }
    DT_TRY(dt_layout_replay(trace, set, &real));
    if (real == NULL) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "the order of a set is not known");
    }
    PyObject *item;
    Py_ssize_t slot = 0;
    for (uint32_t i = 0; i < set->count && dt_set_next(real, &slot, &item); i++) {
        DtDictEntry key, *found;
        DtVar *var;
        DT_TRY(dt_set_operation_tracker(trace, &set, 1, item, &var));
        DT_TRY(dt_dict_key(trace, var, &key));
        DT_TRY(dt_dict_find(trace, set, &key, &found));
        if (found == NULL) {
            PyErr_SetString(PyExc_SystemError, "the layout of a set has another element");
            return DT_ERROR;
        }
        sorted[i] = *found;
    }
    memcpy(set->items, sorted, set->count * sizeof(DtDictEntry));
    return DT_OK;
}

static DtStatus
set_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtDictVar *set = (DtDictVar *)self;
    if (set->count > 1) {
        DT_TRY(put_in_order(trace, set));
    }
    return dt_iter_dict(trace, set, 0, out);
}

static PyTypeObject *
set_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    return ((DtDictVar *)self)->cls;
}

static PyObject *
set_as_constant(DtTrace *trace, DtVar *self)
{
    DtDictVar *set = (DtDictVar *)self;
    if (set->cls != &PyFrozenSet_Type) {
        return NULL;
    }
    if (set->object != NULL) {
        return set->object;
    }
    PyObject *real = NULL;
    if (dt_set_fold(trace, set, &real) != DT_OK || real == NULL) {
        PyErr_Clear(); /* no memory: not known */
        return NULL;
    }
    return dt_trace_keep_take(trace, real);
}

static DtStatus
set_reconstruct(DtCodegen *codegen, DtVar *var)
{
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    DT_TRY(dt_dict_check_keys(codegen, (DtDictVar *)var));
    return dt_layout_emit(codegen, (DtDictVar *)var);
}

static DtStatus
set_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    DtDictVar *self = (DtDictVar *)var;
    for (uint32_t i = 0; i < self->count; i++) {
        DT_TRY(visit(trace, self->items[i].key_var, arg));
    }
    return DT_OK;
}

const DtVarType dt_kind_type_SET = {
    .kind = DT_KIND_SET,
    .nb_binary = set_binary,
    .sq_length = set_length,
    .sq_contains = set_contains,
    .tp_iter = set_iter,
    .tp_richcompare = set_compare,
    .methods = dt_set_methods,
    .python_type = set_type,
    .as_constant = set_as_constant,
    .reconstruct = set_reconstruct,
    .children = set_children,
};
