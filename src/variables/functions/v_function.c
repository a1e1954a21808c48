/* Python functions: existing ones and those that the trace makes.
 *
 * Invariant: an existing function is known by identity; its defaults, closure
 * and keyword defaults are lazy, read through the function.  Calling one hands
 * it to the interpreter, which follows it.
 *
 * Not in here: attributes (function_attr.c), binding arguments and following
 * the call (symbolic/).
 */
#include "compat/code.h"
#include "compat/function.h"
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

/* The dict itself, which the program may get hold of and change; looked at when a call needs it. */
static DtStatus
build_kwdefaults(DtTrace *trace, DtFunctionVar *self, PyObject *kwdefaults)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__kwdefaults__"));
    const DtSource *source = name != NULL
                                 ? dt_source_get(trace, DT_SOURCE_FUNC_PART, self->base.source,
                                                 name, DT_FUNCTION_KWDEFAULTS)
                                 : NULL;
    return source != NULL ? dt_var_build_lazy(trace, kwdefaults, source, &self->kwdefaults)
                          : DT_ERROR;
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
    if (dt_function_is_diverted(object)) {
        return dt_opaque_build(trace, object, source, trusted, out);
    }
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

/* ---- Calling --------------------------------------------------------------------------------- */

static DtStatus
function_call(DtTrace *trace, DtVar *var, const DtArgs *args, DtVar **out)
{
    DtFunctionVar *self = (DtFunctionVar *)var;
    DtMark mark;
    DT_TRY(dt_rules_check_callable(trace, self->function));
    DT_TRY(dt_rules_mark(self->function, &mark));
    if (mark == DT_MARK_CONSTANT) {
        return dt_rules_call_constant(trace, self, args, out);
    }
    if (self->function != NULL && !dt_substitute_is_namespace(self->globals)) {
        DT_TRY(guard_code(trace, self)); /* also of one that is known, as in a static method */
    }
    DT_TRY(dt_function_as_called(trace, self, &self));
    uint32_t entered;
    DT_TRY(dt_rules_enter(trace, self->function, &entered));
    DtStatus status = dt_inline_call(trace, self, args, out);
    dt_rules_leave(trace, entered);
    return status;
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

/* ---- Rebuilding ------------------------------------------------------------------------------ */

/* make(code, globals, qualname, defaults, kwdefaults, annotations, *cells), None for what is not
 * there: what MAKE_FUNCTION can't do, which takes the globals of the frame. */
static PyObject *
make(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
    PyObject *cells = count > 6 ? PyTuple_New(count - 6) : NULL;
    if (count > 6 && cells == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 6; i < count; i++) {
        PyTuple_SET_ITEM(cells, i - 6, Py_NewRef(args[i]));
    }
    DtFunctionParts parts = {
        .code = args[0],
        .defaults = args[3] != Py_None ? args[3] : NULL,
        .kwdefaults = args[4] != Py_None ? args[4] : NULL,
        .annotations = args[5] != Py_None ? args[5] : NULL,
        .closure = cells,
    };
    PyObject *made = dt_function_make(&parts, args[1], args[2]);
    Py_XDECREF(cells);
    return made;
}

static PyMethodDef make_method = {"make", (PyCFunction)(void (*)(void))make, METH_FASTCALL,
                                  "Makes a function of its parts."};

static DtStatus
reconstruct_by_call(DtCodegen *codegen, DtFunctionVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    PyObject *maker = dt_trace_keep_take(trace, PyCFunction_New(&make_method, NULL));
    if (maker == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, maker));
    DT_TRY(dt_codegen_const(codegen, (PyObject *)self->code));
    DT_TRY(dt_codegen_const(codegen, self->globals));
    DT_TRY(dt_codegen_const(codegen, self->name));
    DtVar *parts[] = {self->defaults, self->kwdefaults, self->annotations};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        DT_TRY(dt_codegen_var(codegen, parts[i] != NULL ? parts[i] : dt_none(trace)));
    }
    for (uint32_t i = 0; i < self->nclosure; i++) {
        DT_TRY(dt_codegen_var(codegen, &self->closure[i]->base));
    }
    return dt_codegen_call(codegen, 6 + self->nclosure);
}

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
    if (dt_substitute_is_namespace(self->globals)) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT,
                        "a function that stands for one of C leaves the function");
    }
    bool has_dict =
        self->annotations != NULL && dt_var_peek(self->annotations)->type->kind == DT_KIND_DICT;
    if (self->globals != trace->globals || has_dict) {
        return reconstruct_by_call(codegen, self);
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

/* f.__get__(obj[, type]) */
static DtStatus
function_get(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    DtVar *object;
    DT_TRY(dt_var_realize(trace, args->pos[0], &object));
    if (dt_var_peek_constant(object) == Py_None) {
        if (args->npos < 2) {
            return dt_raise(trace, PyExc_TypeError, "__get__(None, None) is invalid");
        }
        *out = self;
        return DT_OK;
    }
    return dt_method_new(trace, self, object, out);
}

static const DtMethodRow function_methods[] = {
    {"__get__", function_get, 1, 2, false},
    {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_FUNCTION = {
    .kind = DT_KIND_FUNCTION,
    .tp_call = function_call,
    .tp_getattro = dt_function_getattr,
    .tp_setattro = dt_function_setattr,
    .methods = function_methods,
    .python_type = function_type,
    .as_constant = function_as_constant,
    .reconstruct = function_reconstruct,
    .children = function_children,
    .repr = function_repr,
};
