/* Views of dicts: they see every change of their dict.
 *
 * Not in here: iterating (v_iter.c).
 */
#include "variables/fold.h"

DtStatus
dt_dict_view(DtTrace *trace, DtDictVar *dict, int what, DtVar **out)
{
    DtDictViewVar *view = DT_KINDS_NEW(trace, DICT_VIEW, DtDictViewVar, NULL);
    if (view == NULL) {
        return DT_ERROR;
    }
    view->dict = dict;
    view->what = (uint8_t)what;
    *out = &view->base;
    return DT_OK;
}

static DtStatus
view_length(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_int(trace, ((DtDictViewVar *)self)->dict->count, out);
}

static DtStatus
view_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    DtDictViewVar *view = (DtDictViewVar *)self;
    return dt_iter_dict(trace, view->dict, view->what, out);
}

static DtStatus
view_contains(DtTrace *trace, DtVar *self, DtVar *item, DtVar **out)
{
    DtDictViewVar *view = (DtDictViewVar *)self;
    return view->what == 0 ? dt_var_contains(trace, &view->dict->base, item, out)
                           : dt_kind_base.sq_contains(trace, self, item, out);
}

/* ---- Operators of keys and items: sets are made of them, in the interpreter's own steps ------ */

static bool
is_view(DtVar *var)
{
    return var->type->kind == DT_KIND_DICT_VIEW && ((DtDictViewVar *)var)->what != 1;
}

static bool
is_setlike(DtVar *var)
{
    return var->type->kind == DT_KIND_SET || is_view(var);
}

/* set(view): of keys, set(dict) */
static DtStatus
as_set(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtVar *from = var;
    if (is_view(var) && ((DtDictViewVar *)var)->what == 0) {
        from = &((DtDictViewVar *)var)->dict->base;
    }
    return dt_set_from(trace, &PySet_Type, from, out);
}

static DtStatus
length_of(DtTrace *trace, DtVar *var, int64_t *out)
{
    DtVar *length;
    bool ok;
    DT_TRY(dt_var_length(trace, var, &length));
    return dt_constant_index(trace, length, out, &ok);
}

static DtStatus
intersect(DtTrace *trace, DtVar *self, DtVar *other, DtVar **out)
{
    if (!is_view(self)) {
        DtVar *swap = self;
        self = other;
        other = swap;
    }
    int64_t size, other_size;
    DT_TRY(length_of(trace, self, &size));
    bool set = other->type->kind == DT_KIND_SET && ((DtDictVar *)other)->cls == &PySet_Type;
    if (set || is_view(other)) {
        DT_TRY(length_of(trace, other, &other_size));
        if (set && size <= other_size) {
            return dt_var_call_method(trace, other, "intersection", &self, 1, out);
        }
        if (is_view(other) && other_size > size) {
            DtVar *swap = self;
            self = other;
            other = swap;
        }
    }
    DtVar **items, **found;
    uint32_t count, kept = 0;
    DT_TRY(dt_var_unpack(trace, other, &items, &count));
    found = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (found == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        DtVar *inside;
        bool truth;
        DT_TRY(dt_var_contains(trace, self, items[i], &inside));
        DT_TRY(dt_var_truth(trace, inside, &truth));
        if (truth) {
            found[kept++] = items[i];
        }
    }
    return dt_var_set(trace, found, kept, out);
}

static DtStatus
view_binary(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right, DtVar **out)
{
    static const char *const updates[] = {
        [DT_BINARY_OR] = "update",
        [DT_BINARY_SUBTRACT] = "difference_update",
        [DT_BINARY_XOR] = "symmetric_difference_update",
    };
    DtBinaryOp plain = (DtBinaryOp)DT_BINARY_PLAIN(op);
    *out = dt_not_implemented(trace);
    if ((!is_view(left) && !is_view(right))
        || (plain != DT_BINARY_AND && plain != DT_BINARY_OR && plain != DT_BINARY_SUBTRACT
            && plain != DT_BINARY_XOR)) {
        return DT_OK;
    }
    if (plain == DT_BINARY_AND) {
        return intersect(trace, left, right, out);
    }
    if (plain == DT_BINARY_XOR && is_view(left) && is_view(right)
        && ((DtDictViewVar *)left)->what == 2 && ((DtDictViewVar *)right)->what == 2) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "^ of the items of two dicts");
    }
    DtVar *ignored;
    DT_TRY(as_set(trace, left, out));
    return dt_var_call_method(trace, *out, updates[plain], &right, 1, &ignored);
}

static DtStatus
view_compare(DtTrace *trace, int op, DtVar *left, DtVar *right, DtVar **out)
{
    DtVar *a, *b;
    *out = dt_not_implemented(trace);
    if (!is_view(left) && !is_view(right)) {
        return dt_kind_base.tp_richcompare(trace, op, left, right, out);
    }
    if (!is_setlike(left) || !is_setlike(right)) {
        return DT_OK;
    }
    DT_TRY(as_set(trace, left, &a));
    DT_TRY(as_set(trace, right, &b));
    return dt_var_compare(trace, op, a, b, out);
}

static DtStatus
view_isdisjoint(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *set;
    DT_TRY(as_set(trace, self, &set));
    return dt_var_call_method(trace, set, "isdisjoint", args->pos, 1, out);
}

static const DtMethodRow view_methods[] = {
    {"isdisjoint", view_isdisjoint, 1, 1, false},
    {NULL, NULL, 0, 0, false},
};

static PyTypeObject *
view_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    static PyTypeObject *const types[] = {&PyDictKeys_Type, &PyDictValues_Type, &PyDictItems_Type};
    return types[((DtDictViewVar *)self)->what];
}

static const char *const view_names[] = {"keys", "values", "items"};

/* By the builtin base's own method: a subclass may have another one. */
static DtStatus
view_reconstruct(DtCodegen *codegen, DtVar *self)
{
    DtDictViewVar *view = (DtDictViewVar *)self;
    DtTrace *trace = dt_codegen_trace(codegen);
    DtVar *whole = dt_payload_whole(trace, &view->dict->base);
    PyTypeObject *base =
        whole != &view->dict->base ? dt_build_layout(((DtInstanceVar *)whole)->cls) : &PyDict_Type;
    PyObject *method = PyObject_GetAttrString((PyObject *)base, view_names[view->what]);
    method = dt_trace_keep_take(trace, method);
    if (method == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, method));
    DT_TRY(dt_codegen_var(codegen, whole));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
view_children(DtTrace *trace, DtVar *self, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    return visit(trace, dt_payload_whole(trace, &((DtDictViewVar *)self)->dict->base), arg);
}

const DtVarType dt_kind_type_DICT_VIEW = {
    .kind = DT_KIND_DICT_VIEW,
    .nb_binary = view_binary,
    .sq_length = view_length,
    .sq_contains = view_contains,
    .tp_iter = view_iter,
    .tp_richcompare = view_compare,
    .methods = view_methods,
    .python_type = view_type,
    .reconstruct = view_reconstruct,
    .children = view_children,
};
