/* Items of existing lists and tuples at a number that is another one in each call.
 *
 *   def step(xs, t): ... xs[t - 1] ...            L['xs'][L['t'] - 1], read at each call
 *                    ... xs[(t + 1) % n] ...      L['xs'][((L['t'] + <1>) % L['n'])]
 *
 * Which of the items it is nobody asks, so one entry serves all of them; that there is one is
 * guarded, and Python's own meaning of negative numbers holds.  The list may have any length,
 * unless somebody else asks for that.
 *
 * What is read is what was there before: a list that the trace has changed is not asked.
 *
 * Not in here: the item as a source (source.c), reading it (guards/read.c).
 */
#include "compat/list.h"
#include "variables/kinds.h"

/* More operations than that are not done at each call before anybody knows that it is served. */
#define MOST_NODES 8

static DtStatus
source_of_constant(DtTrace *trace, int64_t number, const DtSource **out)
{
    PyObject *object = dt_trace_keep_take(trace, PyLong_FromLongLong(number));
    *out = object != NULL ? dt_source_get(trace, DT_SOURCE_OBJECT, NULL, object, 0) : NULL;
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* A source that gives the number; *out NULL: there is none. */
static DtStatus
source_of_number(DtTrace *trace, const DtSym *sym, const DtSource **out)
{
    const DtSource *a, *b;
    *out = NULL;
    if (sym->type != DT_SYM_INT) {
        return DT_OK;
    }
    if (dt_sym_is_const(sym)) {
        return source_of_constant(trace, sym->hint.i, out);
    }
    if (sym->op == DT_SYM_OP_SYMBOL) {
        const DtSource *source = trace->symbols.items[sym->id].source;
        *out = source != NULL && !source->synthetic ? source : NULL;
        return DT_OK;
    }
    if (sym->op == DT_SYM_OP_NEG) { /* 0 - a */
        DT_TRY(source_of_constant(trace, 0, &a));
        DT_TRY(source_of_number(trace, sym->a, &b));
        *out = b != NULL ? dt_source_by_two(trace, DT_SOURCE_COMPUTED, a, b, DT_SYM_OP_SUB) : NULL;
        return b == NULL || *out != NULL ? DT_OK : DT_ERROR;
    }
    if (!dt_source_computes(sym->op)) {
        return DT_OK;
    }
    DT_TRY(source_of_number(trace, sym->a, &a));
    DT_TRY(source_of_number(trace, sym->b, &b));
    if (a == NULL || b == NULL) {
        return DT_OK;
    }
    *out = dt_source_by_two(trace, DT_SOURCE_COMPUTED, a, b, sym->op);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* The source of a number and what is added to it; *out NULL: there is none. */
static DtStatus
find_place(DtTrace *trace, const DtSym *sym, const DtSource **out, int64_t *offset)
{
    const DtSym *base;
    *out = NULL;
    dt_sym_split_offset(sym, &base, offset);
    if (base == NULL) {
        *offset = 0;
        return source_of_constant(trace, sym->hint.i, out);
    }
    bool fits = base->size <= MOST_NODES && *offset >= INT32_MIN && *offset <= INT32_MAX;
    return fits ? source_of_number(trace, base, out) : DT_OK;
}

/* ---- Keys of dicts --------------------------------------------------------------------------- */

/* An int, or a constant, that may be part of a key: its source, and what it is now. */
static DtStatus
find_part(DtTrace *trace, DtVar *var, const DtSource **out, PyObject **now)
{
    *out = NULL;
    if (var->type->kind == DT_KIND_SYMBOLIC) {
        const DtSym *sym = ((DtSymVar *)var)->sym;
        *now = dt_trace_keep_take(trace, PyLong_FromLongLong(sym->hint.i));
        bool fits = sym->type == DT_SYM_INT && sym->size <= MOST_NODES;
        return *now == NULL ? DT_ERROR : fits ? source_of_number(trace, sym, out) : DT_OK;
    }
    *now = dt_var_peek_constant(var);
    if (*now == NULL || !dt_constant_is_safe(*now) || dt_constant_has_nan(*now)) {
        return DT_OK;
    }
    *out = dt_source_get(trace, DT_SOURCE_OBJECT, NULL, *now, 0);
    return *out != NULL ? DT_OK : DT_ERROR;
}

DtStatus
dt_picked_varies(DtTrace *trace, DtVar *key, bool *varies)
{
    *varies = key->type->kind == DT_KIND_SYMBOLIC;
    for (uint32_t i = 0; key->type->kind == DT_KIND_TUPLE && i < ((DtSeqVar *)key)->count; i++) {
        DtVar *item;
        DT_TRY(dt_var_realize(trace, ((DtSeqVar *)key)->items[i], &item));
        *varies = *varies || item->type->kind == DT_KIND_SYMBOLIC;
    }
    return DT_OK;
}

DtStatus
dt_picked_key(DtTrace *trace, DtVar *key, const DtSource **out, PyObject **now)
{
    DtSeqVar *tuple = (DtSeqVar *)key;
    const DtSource *parts[2] = {NULL, NULL};
    PyObject *items[2] = {NULL, NULL};
    *out = NULL;
    if (key->type->kind != DT_KIND_TUPLE) {
        return find_part(trace, key, out, now);
    }
    bool existing = tuple->object != NULL && key->source != NULL && !key->source->synthetic;
    if (tuple->cls != &PyTuple_Type || (!existing && tuple->count != 2)) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < tuple->count; i++) {
        DtVar *item;
        DT_TRY(dt_var_realize(trace, tuple->items[i], &item));
        DT_TRY(find_part(trace, item, &parts[i % 2], &items[i % 2]));
        if (parts[i % 2] == NULL) {
            return DT_OK;
        }
    }
    *now =
        existing ? tuple->object : dt_trace_keep_take(trace, PyTuple_Pack(2, items[0], items[1]));
    *out = existing ? key->source : dt_source_by_two(trace, DT_SOURCE_PAIR, parts[0], parts[1], 0);
    return *now != NULL && *out != NULL ? DT_OK : DT_ERROR;
}

/* ---- Items of lists and tuples --------------------------------------------------------------- */

/* What the items lie in, if it can be asked; NULL: no. */
static PyObject *
container_of(const DtTrace *trace, DtSeqVar *self)
{
    PyObject *object = self->object;
    if (object == NULL || self->base.source == NULL || self->base.source->synthetic) {
        return NULL;
    }
    if (PyTuple_CheckExact(object)) {
        return object;
    }
    return PyList_CheckExact(object) && !dt_list_is_being_sorted(object)
                   && !dt_journal_has_changed(trace, &self->base)
               ? object
               : NULL;
}

static DtStatus
pick(DtTrace *trace, DtSeqVar *self, PyObject *object, const DtSym *sym, DtVar **out)
{
    int64_t offset;
    const DtSource *at;
    DT_TRY(find_place(trace, sym, &at, &offset));
    int64_t index = sym->hint.i + (sym->hint.i < 0 ? Py_SIZE(object) : 0);
    if (at == NULL || index < 0 || index >= Py_SIZE(object)) {
        return DT_OK;
    }
    const DtSource *source =
        dt_source_by_two(trace, DT_SOURCE_PICKED, self->base.source, at, offset);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_growing_list_guard(trace, &self->base));
    PyObject *item =
        PyList_Check(object) ? PyList_GET_ITEM(object, index) : PyTuple_GET_ITEM(object, index);
    return dt_var_build_lazy(trace, item, source, out);
}

DtStatus
dt_picked_item(DtTrace *trace, DtSeqVar *self, DtVar *key, DtVar **out)
{
    *out = NULL;
    PyObject *object = key->type->kind == DT_KIND_SYMBOLIC ? container_of(trace, self) : NULL;
    return object != NULL && ((DtSymVar *)key)->sym->type == DT_SYM_INT
               ? pick(trace, self, object, ((DtSymVar *)key)->sym, out)
               : DT_OK;
}

DtStatus
dt_picked_before(DtTrace *trace, DtSeqVar *self, const DtSym *at, DtVar **out)
{
    *out = NULL;
    return at->hint.i >= 0 ? pick(trace, self, self->object, at, out) : DT_OK;
}
