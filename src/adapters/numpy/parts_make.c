/* Instances of classes that derive from ndarray: made around a plain array, told as NumPy tells
 * them, and taken for plain arrays again.
 *
 * Not in here: their methods (parts.c), ufuncs (parts_ufunc.c).
 */
#include "adapters/numpy/parts.h"

#include <string.h>

#include "compat/type_names.h"

DtInstanceVar *
dt_np_part_of(DtVar *var)
{
    DtVar *real = dt_var_peek(var);
    DtInstanceVar *self = real->type->kind == DT_KIND_INSTANCE ? (DtInstanceVar *)real : NULL;
    return self != NULL && dt_array_part_find(self) == &dt_np_part ? self : NULL;
}

/* What nobody has looked at is left so, unless it is such an instance or may hold one: a function
 * may not want to know what a text says. */
static bool
is_of_no_interest(DtVar *var)
{
    PyObject *object = var->type->kind == DT_KIND_LAZY ? ((DtLazyVar *)var)->object : NULL;
    return object != NULL && !PyTuple_Check(object) && !PyList_Check(object)
           && (!PyArray_Check(object) || PyArray_CheckExact(object));
}

DtStatus
dt_np_break_deep(DtTrace *trace)
{
    return dt_break(trace, DT_BREAK_ARRAY_OP, "a sequence nested more than %d deep", DT_NP_MAXDIMS);
}

static DtStatus
look_inside(DtTrace *trace, DtVar *var, int depth, bool *out)
{
    var = dt_var_peek(var);
    bool none = is_of_no_interest(var);
    if (!none) {
        DT_TRY(dt_np_holds_no_array(trace, var, &none));
    }
    if (none) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, var, &var));
    *out = *out || dt_np_part_of(var) != NULL;
    if (var->type->kind == DT_KIND_TUPLE || var->type->kind == DT_KIND_LIST) {
        DtSeqVar *sequence = (DtSeqVar *)var;
        if (depth > DT_NP_MAXDIMS) {
            return dt_np_break_deep(trace);
        }
        for (uint32_t i = 0; i < sequence->count && !*out; i++) {
            DT_TRY(look_inside(trace, sequence->items[i], depth + 1, out));
        }
    }
    return DT_OK;
}

DtStatus
dt_parts_inside(DtTrace *trace, DtVar *var, bool *out)
{
    return look_inside(trace, var, 0, out);
}

DtStatus
dt_np_holds_part(DtTrace *trace, const DtArgs *args, bool *out)
{
    *out = false;
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(dt_parts_inside(trace, args->pos[i], out));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        DT_TRY(dt_parts_inside(trace, args->kw[i], out));
    }
    return DT_OK;
}

/* ---- What the class has of its own ----------------------------------------------------------- */

/* What the class has under the name, if that is not ndarray's own; *out NULL. */
DtStatus
dt_parts_own(DtTrace *trace, DtInstanceVar *self, const char *text, PyObject **out)
{
    DtClassAttr attr;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_class_lookup(trace, &self->base, self->cls, name, &attr));
    *out = attr.found != dt_type_find(&PyArray_Type, name) ? attr.found : NULL;
    return DT_OK;
}

/* self.__array_finalize__(from), as NumPy calls it. */
static DtStatus
finalize(DtTrace *trace, DtInstanceVar *self, DtVar *from)
{
    PyObject *own;
    DtVar *method, *ignored;
    DT_TRY(dt_parts_own(trace, self, "__array_finalize__", &own));
    if (own == NULL) {
        return DT_OK;
    }
    if (!PyFunction_Check(own)) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an __array_finalize__ that is no function");
    }
    DT_TRY(dt_instance_special(trace, &self->base, "__array_finalize__", &method));
    DtArgs args = dt_args_of(&from, 1);
    return dt_var_call(trace, method, &args, &ignored);
}

/* ---- Making instances ------------------------------------------------------------------------ */

/* An instance of the class around the array, which `from` has led to; `owner` as in parts.h. */
static DtStatus
dress(DtTrace *trace, DtVar *cls_var, DtVar *array, DtVar *owner, DtVar *from, DtVar **out)
{
    PyTypeObject *cls = (PyTypeObject *)((DtObjectVar *)cls_var)->object;
    if (cls->tp_finalize != NULL || cls->tp_del != NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %s, which has a finaliser",
                        cls->tp_name);
    }
    DT_TRY(dt_class_guard_unchanged(trace, cls_var));
    DtInstanceVar *self = DT_KINDS_NEW(trace, INSTANCE, DtInstanceVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    self->cls = cls;
    self->cls_var = cls_var;
    self->contents = array;
    self->more = owner;
    *out = &self->base;
    return finalize(trace, self, from);
}

DtStatus
dt_parts_dress(DtTrace *trace, DtInstanceVar *like, DtVar *array, DtVar *owner, DtVar **out)
{
    DtVar *cls;
    DT_TRY(dt_class_of(trace, &like->base, &cls));
    return dress(trace, cls, array, owner, &like->base, out);
}

/* A view of all of the array; of that of an existing instance a view of the instance. */
DtStatus
dt_parts_view(DtTrace *trace, DtVar *array, DtVar **out)
{
    DtArgs none = {0};
    const DtNode *node = ((DtArrayVar *)array)->node;
    if (node->kind == DT_NODE_CALL && strcmp(node->target, dt_np_target(DT_NP_plain_part)) == 0) {
        return dt_np_emit_view(trace, DT_NP_plain_part, &node->args[0], 1,
                               ((DtArrayVar *)array)->meta, out);
    }
    return dt_np_m_view(trace, (DtArrayVar *)array, &none, out);
}

DtStatus
dt_np_view_as_part(DtTrace *trace, DtVar *from, DtArrayVar *array, DtVar *cls, bool *done,
                   DtVar **out)
{
    DT_TRY(dt_var_realize(trace, cls, &cls));
    PyTypeObject *type =
        cls->type->kind == DT_KIND_CLASS ? (PyTypeObject *)((DtObjectVar *)cls)->object : NULL;
    *done = type != NULL && PyType_IsSubtype(type, &PyArray_Type);
    if (!*done) {
        return DT_OK;
    }
    DtVar *view;
    DT_TRY(dt_parts_view(trace, &array->base, &view));
    if (type == &PyArray_Type) {
        *out = view;
        return DT_OK;
    }
    if (dt_build_layout(type) != &PyArray_Type) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "a view as a %s", type->tp_name);
    }
    return dress(trace, cls, view, from, from, out);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Instances become their plain arrays, in tuples too; another class than `self` has is a break, as
 * is an object that is no array, number or sequence of those. */
static DtStatus
plain_value(DtTrace *trace, DtInstanceVar *self, DtVar *var, int depth, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, var, out));
    DtInstanceVar *part = dt_np_part_of(*out);
    if (part != NULL && part->cls != self->cls) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "arrays of %s and %s", self->cls->tp_name,
                        part->cls->tp_name);
    }
    if (part != NULL) {
        *out = part->contents;
        return DT_OK;
    }
    DtKind kind = (*out)->type->kind;
    if (kind == DT_KIND_TUPLE) {
        DtSeqVar *tuple = (DtSeqVar *)*out;
        if (depth > DT_NP_MAXDIMS) {
            return dt_np_break_deep(trace);
        }
        DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, tuple->count + 1);
        bool changed = false;
        for (uint32_t i = 0; items != NULL && i < tuple->count; i++) {
            DT_TRY(plain_value(trace, self, tuple->items[i], depth + 1, &items[i]));
            changed = changed || dt_var_peek(tuple->items[i]) != items[i];
        }
        if (items == NULL) {
            return dt_no_memory();
        }
        return changed ? dt_var_tuple(trace, items, tuple->count, out) : DT_OK;
    }
    bool inside = false;
    if (kind == DT_KIND_LIST) {
        DT_TRY(dt_parts_inside(trace, *out, &inside));
    }
    return kind == DT_KIND_INSTANCE || kind == DT_KIND_OPAQUE || inside
               ? dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %s with a %s",
                          self->cls->tp_name, dt_kinds_type_name(trace, *out))
               : DT_OK;
}

DtStatus
dt_parts_plain_args(DtTrace *trace, DtInstanceVar *self, const DtArgs *args, DtArgs *out)
{
    *out = *args;
    out->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    if (out->pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(plain_value(trace, self, args->pos[i], 0, &out->pos[i]));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        bool part = false;
        DT_TRY(dt_parts_inside(trace, args->kw[i], &part));
        if (part) {
            return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %s as an option",
                            self->cls->tp_name);
        }
    }
    return DT_OK;
}

/* ---- np.array() and its like ----------------------------------------------------------------- */

bool
dt_np_takes_parts(DtNpOp op)
{
    return op == DT_NP_array || op == DT_NP_asarray || op == DT_NP_asanyarray;
}

DtStatus
dt_np_array_of_part(DtTrace *trace, DtNpOp op, DtVar *object, PyObject *dtype, bool copy,
                    DtVar **out)
{
    DtInstanceVar *self = dt_np_part_of(object);
    *out = NULL;
    if (self == NULL) {
        return DT_OK;
    }
    const DtMeta *meta = ((DtArrayVar *)self->contents)->meta;
    bool same = dtype == NULL || dtype == meta->dtype;
    if (copy) {
        *out = self->contents;
        DtArgs args = dt_args_of(out, 1);
        return same ? dt_np_fn_copy(trace, DT_NP_copy, &args, out)
                    : dt_np_cast(trace, (DtArrayVar *)self->contents, dtype, out);
    }
    if (!same) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of an array of %s as another dtype",
                        dt_np_target(op), self->cls->tp_name);
    }
    if (op != DT_NP_asanyarray) {
        return dt_parts_view(trace, self->contents, out);
    }
    bool same_object = true;
    if (dtype != NULL) {
        DT_TRY(dt_np_has_usual_dtype(trace, (DtArrayVar *)self->contents, &same_object));
    }
    if (!same_object) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of an array of %s under another dtype",
                        dt_np_target(op), self->cls->tp_name);
    }
    *out = &self->base;
    return DT_OK;
}
