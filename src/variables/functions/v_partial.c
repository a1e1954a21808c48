/* functools.partial objects: existing ones are read through their members,
 * new ones are made by the trace.
 *
 * A new partial of a partial that the trace made is flattened, as the class
 * does it; one of an existing partial is not, since attributes that somebody
 * may give that object decide: calls mean the same either way.
 *
 * Not in here: subclasses of partial (known by identity only).
 */
#include <string.h>

#include "compat/object.h"
#include "compat/type.h"
#include "variables/kinds.h"

static PyTypeObject *partial_class; /* kept for the life of the process */

static DtPartialVar *
new_partial(DtTrace *trace, const DtSource *source)
{
    return DT_KINDS_NEW(trace, PARTIAL, DtPartialVar, source);
}

/* A member of an existing partial as a tracker of its own, with a source. */
static DtStatus
build_member(DtTrace *trace, PyObject *object, const DtSource *source, const char *text,
             DtVar **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    PyObject *value = name != NULL ? PyObject_GetAttr(object, name) : NULL;
    value = dt_trace_keep_take(trace, value);
    const DtSource *member = value != NULL ? dt_source_attr(trace, source, name) : NULL;
    return member != NULL ? dt_var_build(trace, value, member, out) : DT_ERROR;
}

DtStatus
dt_partial_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                 DtVar **out)
{
    if (!trusted) {
        DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    }
    partial_class = Py_TYPE(object);
    DtPartialVar *self = new_partial(trace, source);
    PyObject *function = dt_trace_keep_take(trace, PyObject_GetAttrString(object, "func"));
    const DtSource *inner = dt_source_get(trace, DT_SOURCE_PARTIAL_FUNC, source, NULL, 0);
    if (self == NULL || function == NULL || inner == NULL) {
        return DT_ERROR;
    }
    self->object = object;
    *out = &self->base;
    DtVar *keywords;
    /* When it is called: it may be the partial itself. */
    DT_TRY(dt_var_build_lazy(trace, function, inner, &self->function));
    DT_TRY(build_member(trace, object, source, "args", &self->args));
    DT_TRY(build_member(trace, object, source, "keywords", &keywords));
    if (keywords->type->kind != DT_KIND_DICT || self->args->type->kind != DT_KIND_TUPLE) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a partial of unusual members");
    }
    self->keywords = (DtDictVar *)keywords;
    return DT_OK;
}

/* ---- Calling --------------------------------------------------------------------------------- */

static DtStatus
merge_args(DtTrace *trace, const DtPartialVar *self, const DtArgs *args, DtArgs *out)
{
    DtVar **given;
    uint32_t count;
    DT_TRY(dt_var_unpack(trace, self->args, &given, &count));
    out->npos = count + args->npos;
    out->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, out->npos + 1);
    if (out->pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < out->npos; i++) {
        out->pos[i] = i < count ? given[i] : args->pos[i - count];
    }
    return DT_OK;
}

/* Given keywords, then those of the call, which replace given ones of the same name in place. */
static DtStatus
merge_keywords(DtTrace *trace, const DtPartialVar *self, const DtArgs *args, DtArgs *out)
{
    const DtDictVar *given = self->keywords;
    out->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, given->count + args->nkw + 1);
    out->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, given->count + args->nkw + 1);
    if (out->kw == NULL || out->kwnames == NULL) {
        return dt_no_memory();
    }
    out->nkw = given->count;
    for (uint32_t i = 0; i < given->count; i++) {
        out->kw[i] = given->items[i].value;
        out->kwnames[i] = given->items[i].key;
        if (given->items[i].by_identity || !PyUnicode_CheckExact(given->items[i].key)) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "TypeError: keywords must be strings");
        }
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        uint32_t at = 0;
        while (at < given->count && PyUnicode_Compare(out->kwnames[at], args->kwnames[i]) != 0) {
            at++;
        }
        at = at < given->count ? at : out->nkw++;
        out->kw[at] = args->kw[i];
        out->kwnames[at] = args->kwnames[i];
    }
    return DT_OK;
}

static DtStatus
partial_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtPartialVar *self = (DtPartialVar *)var;
    DtArgs all;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("partial"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(merge_args(trace, self, args, &all));
    DT_TRY(merge_keywords(trace, self, args, &all));
    DT_TRY(dt_inline_enter(trace, name)); /* a chain of them counts, as it does in C */
    DtStatus status = dt_var_call(trace, self->function, &all, out);
    dt_inline_leave(trace);
    return status;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static DtStatus
set_members(DtTrace *trace, DtPartialVar *self, const DtArgs *args)
{
    DT_TRY(dt_var_tuple(trace, args->pos, args->npos, &self->args));
    DT_TRY(dt_dict_new(trace, &self->keywords));
    for (uint32_t i = 0; i < args->nkw; i++) {
        DtVar *key;
        DT_TRY(dt_var_const(trace, args->kwnames[i], &key));
        DT_TRY(dt_dict_store(trace, self->keywords, key, args->kw[i]));
    }
    return DT_OK;
}

/* functools.partial(function, ...) */
static DtStatus
make_partial(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out)
{
    partial_class = (PyTypeObject *)((DtObjectVar *)cls)->object;
    DtVar *function;
    DT_TRY(dt_var_realize(trace, args->pos[0], &function));
    PyTypeObject *type = dt_var_python_type(trace, function);
    if (type == NULL || type->tp_call == NULL) {
        return dt_kinds_raise(trace, "TypeError", "the first argument must be callable");
    }
    DtPartialVar *self = new_partial(trace, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    DtArgs all = *args;
    all.pos++;
    all.npos--;
    self->function = function;
    uint32_t own = 0;
    PyObject **names;
    if (function->type->kind == DT_KIND_PARTIAL) {
        DT_TRY(dt_journal_own_names(trace, function, &names, &own));
    }
    if (function->type->kind == DT_KIND_PARTIAL && function->source == NULL && own == 0) {
        DtPartialVar *inner = (DtPartialVar *)function;
        DtArgs rest = all;
        self->function = inner->function;
        DT_TRY(merge_args(trace, inner, &rest, &all));
        DT_TRY(merge_keywords(trace, inner, &rest, &all));
    }
    *out = &self->base;
    return set_members(trace, self, &all);
}

static const DtMethodRow functools_rows[] = {
    {"partial", make_partial, 1, -1, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_functools_table = {"functools", functools_rows};

/* ---- Members --------------------------------------------------------------------------------- */

/* Whether its members are what the class would have made of them. */
static DtStatus
check_members(DtTrace *trace, const DtPartialVar *self)
{
    if (self->object == NULL && self->function->type->kind == DT_KIND_PARTIAL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "a member of a partial made of a partial that existed before");
    }
    return DT_OK;
}

static DtStatus
get_func(DtTrace *trace, DtVar *self, DtVar **out)
{
    *out = ((DtPartialVar *)self)->function;
    return check_members(trace, (DtPartialVar *)self);
}

static DtStatus
get_args(DtTrace *trace, DtVar *self, DtVar **out)
{
    *out = ((DtPartialVar *)self)->args;
    return check_members(trace, (DtPartialVar *)self);
}

static DtStatus
get_keywords(DtTrace *trace, DtVar *self, DtVar **out)
{
    *out = &((DtPartialVar *)self)->keywords->base;
    ((DtPartialVar *)self)->exposed = true;
    return check_members(trace, (DtPartialVar *)self);
}

static const DtGetSetRow partial_getsets[] = {
    {"func", get_func},
    {"args", get_args},
    {"keywords", get_keywords},
    {NULL, NULL},
};

/* An attribute of a new partial, in the dict that it has. */
static DtStatus
partial_setattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    if (((DtPartialVar *)var)->object != NULL || dt_type_lookup(partial_class, name) != NULL
        || value == NULL) {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a partial is set",
                        dt_kinds_text(name));
    }
    return dt_journal_set_attr(trace, var, name, value);
}

static DtStatus
partial_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtPartialVar *self = (DtPartialVar *)var;
    PyObject *found = dt_type_lookup(partial_class, name), *value = NULL;
    bool deleted;
    DtVar *stored = dt_journal_get_attr(trace, var, name, &deleted);
    if (stored != NULL) {
        *out = stored;
        return DT_OK;
    }
    if (found != NULL && PyUnicode_CheckExact(found)) {
        DtVar *cls; /* __doc__ and __module__ */
        DT_TRY(dt_build_known(trace, (PyObject *)partial_class, &cls));
        DT_TRY(dt_class_guard_unchanged(trace, cls));
        return dt_var_const(trace, found, out);
    }
    if (found != NULL) {
        return dt_kind_base.tp_getattro(trace, var, name, out);
    }
    int present =
        self->object != NULL ? dt_object_instance_dict_get(self->object, name, &value) : 0;
    if (present == 1) {
        const DtSource *source = dt_source_attr(trace, var->source, name);
        return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
    }
    if (present < 0) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE,
                        "attribute '%s' can't be read without calling code", dt_kinds_text(name));
    }
    if (self->object != NULL) {
        DT_TRY(dt_guard_attr_absent(trace, var->source, name));
    }
    return dt_raise(trace, PyExc_AttributeError, "'%.100s' object has no attribute '%U'",
                    partial_class->tp_name, name);
}

static PyTypeObject *
partial_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    (void)var;
    return partial_class;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

/* rebuild(callable, keywords, *args) */
static PyObject *
rebuild(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
    PyObject *pos = PyTuple_New(count - 2);
    for (Py_ssize_t i = 2; pos != NULL && i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SET_ITEM(pos, i - 2, args[i]);
    }
    PyObject *result = pos != NULL ? PyObject_Call(args[0], pos, args[1]) : NULL;
    Py_XDECREF(pos);
    return result;
}

static PyMethodDef rebuild_method = {"rebuild", (PyCFunction)(void (*)(void))rebuild, METH_FASTCALL,
                                     "Calls with keywords in a dict."};

static DtStatus
partial_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtPartialVar *self = (DtPartialVar *)var;
    DtTrace *trace = dt_codegen_trace(codegen);
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    if (self->exposed) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT,
                        "a partial whose keywords were looked at leaves the function");
    }
    uint32_t count, extra = self->keywords->count > 0 ? 2 : 0;
    DtVar **args;
    if (extra > 0) {
        PyObject *caller = dt_trace_keep_take(trace, PyCFunction_New(&rebuild_method, NULL));
        if (caller == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_codegen_push_callable(codegen, caller));
        DT_TRY(dt_codegen_const(codegen, (PyObject *)partial_class));
        DT_TRY(dt_codegen_var(codegen, &self->keywords->base));
    }
    else {
        DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)partial_class));
    }
    DT_TRY(dt_codegen_var(codegen, self->function));
    DT_TRY(dt_var_unpack(trace, self->args, &args, &count));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_codegen_var(codegen, args[i]));
    }
    return dt_codegen_call(codegen, count + 1 + extra);
}

static DtStatus
partial_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                 void *arg)
{
    DtPartialVar *self = (DtPartialVar *)var;
    DT_TRY(visit(trace, self->function, arg));
    DT_TRY(visit(trace, self->args, arg));
    return visit(trace, &self->keywords->base, arg);
}

const DtVarType dt_kind_type_PARTIAL = {
    .kind = DT_KIND_PARTIAL,
    .tp_call = partial_call,
    .tp_getattro = partial_getattro,
    .tp_setattro = partial_setattro,
    .getsets = partial_getsets,
    .python_type = partial_type,
    .reconstruct = partial_reconstruct,
    .children = partial_children,
};
