/* Python functions: existing ones and those that the trace makes.
 *
 * Invariant: an existing function is known by identity; its defaults, closure
 * and keyword defaults are lazy, read through the function.  Calling one hands
 * it to the interpreter, which follows it.
 *
 * Not in here: binding arguments and following the call (symbolic/).
 */
#include "compat/code.h"
#include "compat/dict.h"
#include "variables/kinds.h"
#include "variables/rules.h"
#include "variables/substitutes.h"

DtStatus
dt_var_function(DtTrace *trace, PyCodeObject *code, PyObject *globals, PyObject *name,
                DtFunctionVar **out)
{
    DtFunctionVar *self = DT_KINDS_NEW(trace, FUNCTION, DtFunctionVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(trace, (PyObject *)code));
    DT_TRY(dt_trace_keep(trace, globals));
    DT_TRY(dt_trace_keep(trace, name));
    self->base.mutation = DT_ATTRIBUTE_MUTATION_NEW;
    self->code = code;
    self->globals = globals;
    self->name = name;
    *out = self;
    return DT_OK;
}

static DtStatus
build_defaults(DtTrace *trace, DtFunctionVar *self, PyObject *defaults)
{
    Py_ssize_t count = PyTuple_GET_SIZE(defaults);
    DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    /* Counted from the end, as parameters are: their number can change with the tuple. */
    for (Py_ssize_t i = 0; i < count; i++) {
        const DtSource *item =
            dt_source_get(trace, DT_SOURCE_FUNC_DEFAULT, self->base.source, NULL, count - i);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_build_lazy(trace, PyTuple_GET_ITEM(defaults, i), item, &items[i]));
    }
    return dt_var_tuple(trace, items, (uint32_t)count, &self->defaults);
}

static DtStatus
build_kwdefaults(DtTrace *trace, DtFunctionVar *self, PyObject *kwdefaults)
{
    Py_ssize_t count = PyDict_GET_SIZE(kwdefaults), position = 0;
    DtVar **pairs = DT_ARENA_ARRAY(&trace->arena, DtVar *, 2 * count + 1);
    PyObject *key, *value;
    if (pairs == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count && dt_dict_next(kwdefaults, &position, &key, &value); i++) {
        const DtSource *item =
            dt_source_get(trace, DT_SOURCE_FUNC_KWDEFAULT, self->base.source, key, 0);
        if (item == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_const(trace, key, &pairs[2 * i]));
        DT_TRY(dt_var_build_lazy(trace, value, item, &pairs[2 * i + 1]));
    }
    return dt_var_dict(trace, pairs, (uint32_t)count, &self->kwdefaults);
}

static DtStatus
build_closure(DtTrace *trace, DtFunctionVar *self, PyObject *closure)
{
    self->nclosure = (uint32_t)PyTuple_GET_SIZE(closure);
    self->closure = DT_ARENA_ARRAY(&trace->arena, DtCellVar *, self->nclosure + 1);
    if (self->closure == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < self->nclosure; i++) {
        const DtSource *source =
            dt_source_get(trace, DT_SOURCE_FUNC_CLOSURE, self->base.source, NULL, i);
        if (source == NULL) {
            return DT_ERROR;
        }
        /* The function's identity fixes its cells: no alias guard is needed for a shared one. */
        DtVar *cell;
        DT_TRY(dt_build_trusted(trace, PyTuple_GET_ITEM(closure, i), source, &cell));
        self->closure[i] = (DtCellVar *)cell;
    }
    return DT_OK;
}

/* The code of a function can be replaced while the function stays the same object. */
static DtStatus
guard_code(DtTrace *trace, DtFunctionVar *self)
{
    const DtSource *code = dt_source_get(trace, DT_SOURCE_FUNC_CODE, self->base.source, NULL, 0);
    return code != NULL ? dt_guard_identity(trace, code, (PyObject *)self->code) : DT_ERROR;
}

DtStatus
dt_function_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted,
                  DtVar **out)
{
    DT_TRY(dt_build_guard_identity(trace, object, source, trusted));
    PyFunctionObject *function = (PyFunctionObject *)object;
    DtFunctionVar *self = DT_KINDS_NEW(trace, FUNCTION, DtFunctionVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->function = object;
    self->code = (PyCodeObject *)function->func_code;
    self->globals = function->func_globals;
    self->name = function->func_qualname;
    DT_TRY(dt_trace_keep(trace, function->func_code));
    *out = &self->base;
    if (source->kind != DT_SOURCE_OBJECT) {
        DT_TRY(guard_code(trace, self));
    }
    if (function->func_defaults != NULL && PyTuple_CheckExact(function->func_defaults)) {
        DT_TRY(build_defaults(trace, self, function->func_defaults));
    }
    if (function->func_kwdefaults != NULL && PyDict_CheckExact(function->func_kwdefaults)) {
        DT_TRY(build_kwdefaults(trace, self, function->func_kwdefaults));
    }
    return function->func_closure != NULL ? build_closure(trace, self, function->func_closure)
                                          : DT_OK;
}

/* ---- Calling
 * -------------------------------------------------------------------------------------- */

static DtStatus
function_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtFunctionVar *self = (DtFunctionVar *)var;
    DtMark mark;
    DT_TRY(dt_rules_mark(self->function, &mark));
    if (mark == DT_MARK_DISABLED) {
        return dt_break(trace, DT_BREAK_SKIPPED_FUNCTION, "%s() is marked with dyntrace.disable",
                        dt_kinds_text(self->name));
    }
    if (mark == DT_MARK_CONSTANT) {
        return dt_rules_call_constant(trace, self, args, out);
    }
    if (self->function != NULL && !dt_substitute_is_namespace(self->globals)) {
        DT_TRY(guard_code(trace, self)); /* also of one that is known, as in a static method */
    }
    return dt_inline_call(trace, self, args, out);
}

/* ---- Attributes
 * ----------------------------------------------------------------------------------- */

static DtStatus
get_name(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtFunctionVar *self = (DtFunctionVar *)var;
    if (self->function != NULL) {
        return dt_break(trace, DT_BREAK_ATTRIBUTE, "the name of function %s, which can be assigned",
                        dt_kinds_text(self->name));
    }
    return dt_var_const(trace, dt_code_name(self->code), out);
}

static DtStatus
get_qualname(DtTrace *trace, DtVar *var, DtVar **out)
{
    if (((DtFunctionVar *)var)->function != NULL) {
        return get_name(trace, var, out);
    }
    return dt_var_const(trace, ((DtFunctionVar *)var)->name, out);
}

static DtStatus
function_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    DtFunctionVar *self = (DtFunctionVar *)var;
    bool deleted;
    DtVar *stored = dt_journal_get_attr(trace, var, name, &deleted);
    if (stored != NULL) {
        *out = stored;
        return DT_OK;
    }
    PyObject *dict =
        self->function != NULL ? ((PyFunctionObject *)self->function)->func_dict : NULL;
    PyObject *value;
    if (!deleted && dict != NULL && PyDict_CheckExact(dict) && dt_dict_get(dict, name, &value) == 1
        && var->source != NULL) {
        const DtSource *source = dt_source_attr(trace, var->source, name);
        return source != NULL ? dt_var_build_lazy(trace, value, source, out) : DT_ERROR;
    }
    return dt_kind_base.tp_getattro(trace, var, name, out);
}

static DtStatus
function_setattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    if (PyUnicode_GET_LENGTH(name) > 2 && PyUnicode_READ_CHAR(name, 0) == '_') {
        return dt_break(trace, DT_BREAK_OBJECT_MUTATION, "attribute '%s' of a function is set",
                        dt_kinds_text(name));
    }
    return dt_journal_set_attr(trace, var, name, value);
}

static PyTypeObject *
function_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    PyObject *function = ((DtFunctionVar *)var)->function;
    return function != NULL ? Py_TYPE(function) : &PyFunction_Type;
}

static PyObject *
function_as_constant(DtTrace *trace, DtVar *var)
{
    (void)trace;
    return ((DtFunctionVar *)var)->function;
}

/* ---- Rebuilding
 * ----------------------------------------------------------------------------------- */

static DtStatus
function_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtFunctionVar *self = (DtFunctionVar *)var;
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    if (self->function != NULL) {
        return dt_codegen_const(codegen, self->function);
    }
    DtTrace *trace = dt_codegen_trace(codegen);
    if (self->globals != trace->globals) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT,
                        "function %s of another module leaves the function",
                        dt_kinds_text(self->name));
    }
    int32_t flags = 0;
    if (self->defaults != NULL) {
        DT_TRY(dt_codegen_var(codegen, self->defaults));
        flags |= 1;
    }
    if (self->kwdefaults != NULL) {
        DT_TRY(dt_codegen_var(codegen, self->kwdefaults));
        flags |= 2;
    }
    if (self->annotations != NULL) {
        DT_TRY(dt_codegen_var(codegen, self->annotations));
        flags |= 4;
    }
    if (self->nclosure > 0) {
        for (uint32_t i = 0; i < self->nclosure; i++) {
            DT_TRY(dt_codegen_var(codegen, &self->closure[i]->base));
        }
        DT_TRY(dt_codegen_op(codegen, DT_OP_BUILD_TUPLE, (int32_t)self->nclosure));
        flags |= 8;
    }
    DT_TRY(dt_codegen_const(codegen, (PyObject *)self->code));
    return dt_codegen_make_function(codegen, self->name, flags);
}

static DtStatus
function_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                  void *arg)
{
    DtFunctionVar *self = (DtFunctionVar *)var;
    DtVar *parts[] = {self->defaults, self->kwdefaults, self->annotations};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i] != NULL) {
            DT_TRY(visit(trace, parts[i], arg));
        }
    }
    for (uint32_t i = 0; i < self->nclosure; i++) {
        DT_TRY(visit(trace, &self->closure[i]->base, arg));
    }
    return DT_OK;
}

static void
function_repr(DtVar *var, DtStrbuf *buf)
{
    dt_strbuf_addf(buf, "<function %s>", dt_kinds_text(((DtFunctionVar *)var)->name));
}

static const DtGetSetRow function_getsets[] = {
    {"__name__", get_name},
    {"__qualname__", get_qualname},
    {NULL, NULL},
};

const DtVarType dt_kind_type_FUNCTION = {
    .kind = DT_KIND_FUNCTION,
    .tp_call = function_call,
    .tp_getattro = function_getattro,
    .tp_setattro = function_setattro,
    .getsets = function_getsets,
    .python_type = function_type,
    .as_constant = function_as_constant,
    .reconstruct = function_reconstruct,
    .children = function_children,
    .repr = function_repr,
};
