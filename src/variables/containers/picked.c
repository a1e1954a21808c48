/* Items of existing lists and tuples at a number that is another one in each call.
 *
 *   def step(xs, t): ... xs[t - 1] ...      L['xs'][L['t'] - 1], read at each call
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

/* The source of a number and what is added to it; NULL: it is computed in another way. */
static const DtSource *
place_of(const DtTrace *trace, const DtSym *sym, int64_t *offset)
{
    const DtSym *base;
    dt_sym_split_offset(sym, &base, offset);
    if (base == NULL || base->op != DT_SYM_OP_SYMBOL || base->type != DT_SYM_INT
        || *offset < INT32_MIN || *offset > INT32_MAX) {
        return NULL;
    }
    const DtSource *source = trace->symbols.items[base->id].source;
    return source != NULL && !source->synthetic ? source : NULL;
}

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

DtStatus
dt_picked_item(DtTrace *trace, DtSeqVar *self, DtVar *key, DtVar **out)
{
    int64_t offset;
    *out = NULL;
    PyObject *object = key->type->kind == DT_KIND_SYMBOLIC ? container_of(trace, self) : NULL;
    if (object == NULL || ((DtSymVar *)key)->sym->type != DT_SYM_INT) {
        return DT_OK;
    }
    const DtSym *sym = ((DtSymVar *)key)->sym;
    const DtSource *at = place_of(trace, sym, &offset);
    int64_t index = sym->hint.i + (sym->hint.i < 0 ? Py_SIZE(object) : 0);
    if (at == NULL || index < 0 || index >= Py_SIZE(object)) {
        return DT_OK;
    }
    const DtSource *source = dt_source_picked(trace, self->base.source, at, offset);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_growing_list_guard(trace, &self->base));
    PyObject *item =
        PyList_Check(object) ? PyList_GET_ITEM(object, index) : PyTuple_GET_ITEM(object, index);
    return dt_var_build_lazy(trace, item, source, out);
}
