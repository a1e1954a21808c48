/* functools.partial objects: existing ones are read through their members,
 * new ones are made by the trace.
 *
 * Not in here: subclasses of partial (known by identity only).
 */
#include <string.h>

#include "variables/kinds.h"

static PyTypeObject *partial_class; /* kept for the life of the process */

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

static DtStatus
set_keywords(DtTrace *trace, DtPartialVar *self, DtVar *const *values, PyObject *const *names,
             uint32_t count)
{
    self->nkw = count;
    self->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    self->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, count + 1);
    if (self->kw == NULL || self->kwnames == NULL) {
        return dt_no_memory();
    }
    if (count > 0) {
        memcpy(self->kw, values, count * sizeof(DtVar *));
        memcpy(self->kwnames, names, count * sizeof(PyObject *));
    }
    return DT_OK;
}

DtStatus
dt_partial_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                 DtVar **out)
{
    if (!trusted) {
        DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    }
    partial_class = Py_TYPE(object);
    DtPartialVar *self = DT_KINDS_NEW(trace, PARTIAL, DtPartialVar, source);
    PyObject *function = dt_trace_keep_take(trace, PyObject_GetAttrString(object, "func"));
    const DtSource *inner = dt_source_get(trace, DT_SOURCE_PARTIAL_FUNC, source, NULL, 0);
    if (self == NULL || function == NULL || inner == NULL) {
        return DT_ERROR;
    }
    self->object = object;
    *out = &self->base;
    DtVar *args, *keywords;
    DT_TRY(dt_var_build(trace, function, inner, &self->function));
    DT_TRY(build_member(trace, object, source, "args", &args));
    DT_TRY(build_member(trace, object, source, "keywords", &keywords));
    DT_TRY(dt_var_unpack(trace, args, &self->pos, &self->npos));
    if (keywords->type->kind != DT_KIND_DICT) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a partial without a dict of keywords");
    }
    DtDictVar *dict = (DtDictVar *)keywords;
    DtVar **values = DT_ARENA_ARRAY(&trace->arena, DtVar *, dict->count + 1);
    PyObject **names = DT_ARENA_ARRAY(&trace->arena, PyObject *, dict->count + 1);
    if (values == NULL || names == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < dict->count; i++) {
        values[i] = dict->items[i].value;
        names[i] = dict->items[i].key;
        if (!PyUnicode_CheckExact(names[i])) {
            return dt_break(trace, DT_BREAK_CALL_MISMATCH, "keywords must be strings");
        }
    }
    return set_keywords(trace, self, values, names, dict->count);
}

/* Given keywords, then those of the call, which replace given ones of the same name in place. */
static DtStatus
merge_keywords(DtTrace *trace, const DtPartialVar *self, const DtArgs *args, DtArgs *out)
{
    out->kw = DT_ARENA_ARRAY(&trace->arena, DtVar *, self->nkw + args->nkw + 1);
    out->kwnames = DT_ARENA_ARRAY(&trace->arena, PyObject *, self->nkw + args->nkw + 1);
    if (out->kw == NULL || out->kwnames == NULL) {
        return dt_no_memory();
    }
    out->nkw = self->nkw;
    for (uint32_t i = 0; i < self->nkw; i++) {
        out->kw[i] = self->kw[i];
        out->kwnames[i] = self->kwnames[i];
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        uint32_t at = 0;
        while (at < self->nkw && PyUnicode_Compare(self->kwnames[at], args->kwnames[i]) != 0) {
            at++;
        }
        at = at < self->nkw ? at : out->nkw++;
        out->kw[at] = args->kw[i];
        out->kwnames[at] = args->kwnames[i];
    }
    return DT_OK;
}

static DtStatus
merge(DtTrace *trace, const DtPartialVar *self, const DtArgs *args, DtArgs *out)
{
    out->npos = self->npos + args->npos;
    out->pos = DT_ARENA_ARRAY(&trace->arena, DtVar *, out->npos + 1);
    if (out->pos == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < out->npos; i++) {
        out->pos[i] = i < self->npos ? self->pos[i] : args->pos[i - self->npos];
    }
    return merge_keywords(trace, self, args, out);
}

static DtStatus
partial_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtPartialVar *self = (DtPartialVar *)var;
    DtArgs all;
    DT_TRY(merge(trace, self, args, &all));
    return dt_var_call(trace, self->function, &all, out);
}

/* functools.partial(function, ...): flattens a partial of a partial, as the class does. */
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
    DtPartialVar *self = DT_KINDS_NEW(trace, PARTIAL, DtPartialVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    DtArgs rest = *args;
    rest.pos++;
    rest.npos--;
    self->function = function;
    if (function->type->kind == DT_KIND_PARTIAL) {
        DtPartialVar *inner = (DtPartialVar *)function;
        self->function = inner->function;
        DT_TRY(merge(trace, inner, &rest, &rest));
    }
    self->pos = rest.pos;
    self->npos = rest.npos;
    *out = &self->base;
    return set_keywords(trace, self, rest.kw, rest.kwnames, rest.nkw);
}

static const DtMethodRow functools_rows[] = {
    {"partial", make_partial, 1, -1, true},
    {NULL, NULL, 0, 0, false},
};

const DtBuiltinTable dt_builtin_functools_table = {"functools", functools_rows};

static DtStatus
get_func(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = ((DtPartialVar *)self)->function;
    return DT_OK;
}

static DtStatus
get_args(DtTrace *trace, DtVar *self, DtVar **out)
{
    return dt_var_tuple(trace, ((DtPartialVar *)self)->pos, ((DtPartialVar *)self)->npos, out);
}

static const DtGetSetRow partial_getsets[] = {
    {"func", get_func},
    {"args", get_args},
    {NULL, NULL},
};

static PyTypeObject *
partial_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    (void)var;
    return partial_class;
}

static DtStatus
partial_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtPartialVar *self = (DtPartialVar *)var;
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    if (self->nkw > 0) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "a partial with keywords leaves the function");
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)partial_class));
    DT_TRY(dt_codegen_var(codegen, self->function));
    for (uint32_t i = 0; i < self->npos; i++) {
        DT_TRY(dt_codegen_var(codegen, self->pos[i]));
    }
    return dt_codegen_call(codegen, self->npos + 1);
}

static DtStatus
partial_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                 void *arg)
{
    DtPartialVar *self = (DtPartialVar *)var;
    DT_TRY(visit(trace, self->function, arg));
    for (uint32_t i = 0; i < self->npos; i++) {
        DT_TRY(visit(trace, self->pos[i], arg));
    }
    for (uint32_t i = 0; i < self->nkw; i++) {
        DT_TRY(visit(trace, self->kw[i], arg));
    }
    return DT_OK;
}

const DtVarType dt_kind_type_PARTIAL = {
    .kind = DT_KIND_PARTIAL,
    .tp_call = partial_call,
    .getsets = partial_getsets,
    .python_type = partial_type,
    .reconstruct = partial_reconstruct,
    .children = partial_children,
};
