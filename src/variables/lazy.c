/* Lazy trackers: inputs that nobody has looked at yet.
 *
 * Invariant: a lazy tracker says of its source that it can be read (a later
 * call may find a name deleted), and nothing else; realising it happens once, and all
 * who hold it see the same real tracker afterwards.  One source has one lazy
 * tracker.
 *
 * Not in here: choosing a builder (build.c).
 */
#include "variables/kinds.h"

/* Whether reading the source may fail at a later call although the guards of its base hold.
 * Arguments are always there; a length covers the items of a sequence, a list of keys those of a
 * dict; defaults are read when a call needs them. */
static const bool can_be_missing[DT_SOURCE_COUNT] = {
    [DT_SOURCE_LOCAL_DEREF] = true,   [DT_SOURCE_GLOBAL] = true,     [DT_SOURCE_BUILTIN] = true,
    [DT_SOURCE_ATTR] = true,          [DT_SOURCE_TYPE_ATTR] = true,  [DT_SOURCE_FUNC_GLOBAL] = true,
    [DT_SOURCE_CELL_CONTENTS] = true, [DT_SOURCE_LIST_ITEM] = true,  [DT_SOURCE_DEQUE_ITEM] = true,
    [DT_SOURCE_PICKED] = true,        [DT_SOURCE_LIST_ARRAY] = true,
};

DtStatus
dt_var_build_lazy(DtTrace *trace, PyObject *object, const DtSource *source, DtVar **out)
{
    if (object == NULL) { /* code of C shows a tuple or list before it is filled */
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "an item that is missing");
    }
    if (source == NULL) {
        return dt_var_build(trace, object, source, out);
    }
    DtLazyVar *lazy = dt_map_get(&trace->by_source, source);
    if (lazy != NULL && lazy->object == object) {
        *out = dt_var_peek(&lazy->base);
        return DT_OK;
    }
    DT_TRY(dt_trace_keep(trace, object));
    lazy = DT_KINDS_NEW(trace, LAZY, DtLazyVar, source);
    if (lazy == NULL) {
        return DT_ERROR;
    }
    lazy->object = object;
    if (dt_map_set(&trace->arena, &trace->by_source, source, lazy) < 0) {
        return dt_no_memory();
    }
    *out = &lazy->base;
    return can_be_missing[source->kind] ? dt_guard_present(trace, source) : DT_OK;
}

DtStatus
dt_var_receiver(DtTrace *trace, DtVar *var, DtVar **out)
{
    *out = var;
    if (var->type->kind == DT_KIND_LAZY) {
        DtLazyVar *lazy = (DtLazyVar *)var;
        if (lazy->real == NULL) {
            DtVar *real;
            DT_TRY(dt_build_receiver(trace, lazy->object, lazy->base.source, &real));
            lazy->real = real;
        }
        *out = lazy->real;
    }
    return DT_OK;
}

DtStatus
dt_var_realize(DtTrace *trace, DtVar *var, DtVar **out)
{
    DT_TRY(dt_var_receiver(trace, var, out));
    DtKind kind = (*out)->type->kind;
    return kind == DT_KIND_GROWING_LIST   ? dt_growing_list_read(trace, *out)
           : kind == DT_KIND_GROWING_DICT ? dt_growing_dict_read(trace, *out)
                                          : DT_OK;
}

static DtStatus
lazy_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    DtLazyVar *lazy = (DtLazyVar *)self;
    return lazy->real != NULL ? visit(trace, lazy->real, arg) : DT_OK;
}

static DtStatus
lazy_reconstruct(DtCodegen *codegen, DtVar *self)
{
    DtLazyVar *lazy = (DtLazyVar *)self;
    if (lazy->real != NULL) {
        return dt_codegen_var(codegen, lazy->real);
    }
    return dt_codegen_source(codegen, self->source);
}

static void
lazy_repr(DtVar *self, DtStrbuf *buf)
{
    DtVar *real = dt_var_peek(self);
    if (real != self) {
        dt_var_repr(real, buf);
        return;
    }
    dt_strbuf_add(buf, "<lazy ");
    dt_source_print(self->source, buf);
    dt_strbuf_add(buf, ">");
}

const DtVarType dt_kind_type_LAZY = {
    .kind = DT_KIND_LAZY,
    .reconstruct = lazy_reconstruct,
    .children = lazy_children,
    .repr = lazy_repr,
};
