/* White-box functions of the graph layer, for `_core._testing`.
 *
 * graph_build makes a graph from a list of steps, without tracing a function,
 * so that tests reach what no adapter does yet: several results, effects,
 * nested tracers.
 */

#include <string.h>

#include "graph/internal.h"
#include "graph/wire.h"
#include "module/testing.h"

typedef struct Builder {
    DtTrace *trace;
    PyObject *names; /* dict: name -> address of a DtOperand in the trace's arena */
} Builder;

static DtStatus
type_error(const char *what, PyObject *object)
{
    PyErr_Format(PyExc_TypeError, "%s: %R", what, object);
    return DT_ERROR;
}

static DtStatus
define(Builder *builder, PyObject *name, const DtOperand *value)
{
    DtOperand *copy = DT_ARENA_NEW(&builder->trace->arena, DtOperand);
    if (copy == NULL) {
        return dt_no_memory();
    }
    *copy = *value;
    PyObject *address = PyLong_FromVoidPtr(copy);
    int failed = address == NULL || PyDict_SetItem(builder->names, name, address) < 0;
    Py_XDECREF(address);
    return failed ? DT_ERROR : DT_OK;
}

static const DtOperand *
lookup(Builder *builder, PyObject *name)
{
    PyObject *address = PyDict_GetItemWithError(builder->names, name);
    if (address == NULL) {
        type_error("no such name", name);
        return NULL;
    }
    return PyLong_AsVoidPtr(address);
}

/* ---- Sizes, metadata ------------------------------------------------------------------------- */

/* A size: an int, or (name, hint) for the symbol of that name, made on first use. */
static DtStatus
parse_size(Builder *builder, PyObject *object, const DtSource *base, int dim, const DtSym **out)
{
    DtArena *arena = &builder->trace->arena;
    if (PyLong_Check(object)) {
        *out = dt_sym_int(arena, PyLong_AsLongLong(object));
        return *out != NULL ? DT_OK : dt_no_memory();
    }
    PyObject *name;
    long long hint;
    if (!PyTuple_Check(object) || !PyArg_ParseTuple(object, "UL", &name, &hint)) {
        return type_error("not a size", object);
    }
    if (PyDict_Contains(builder->names, name) == 1) {
        const DtOperand *known = lookup(builder, name);
        *out = known->u.sym;
        return DT_OK;
    }
    const DtSource *source = dt_source_get(builder->trace, DT_SOURCE_ARRAY_DIM, base, NULL, dim);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_symbol(builder->trace, source, DT_SYM_INT, (DtNumber){.i = hint}, out));
    DtOperand value = {.kind = DT_OPERAND_SYM, .u.sym = *out};
    return define(builder, name, &value);
}

/* (type, dtype, shape[, adapter name[, device]]) */
static DtStatus
parse_meta(Builder *builder, PyObject *object, const DtSource *base, DtMeta *out)
{
    PyObject *type, *dtype, *shape, *device = NULL;
    const char *adapter = NULL;
    if (!PyTuple_Check(object)
        || !PyArg_ParseTuple(object, "O!OO!|zO", &PyType_Type, &type, &dtype, &PyTuple_Type, &shape,
                             &adapter, &device)) {
        return DT_ERROR;
    }
    memset(out, 0, sizeof *out);
    out->adapter = adapter != NULL ? dt_adapter_by_name(adapter) : NULL;
    out->type = (PyTypeObject *)type;
    out->dtype = dtype;
    out->device = device != Py_None ? device : NULL;
    out->ndim = (uint8_t)PyTuple_GET_SIZE(shape);
    out->shape = DT_ARENA_ARRAY(&builder->trace->arena, const DtSym *, out->ndim);
    if (out->shape == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < out->ndim; i++) {
        DT_TRY(parse_size(builder, PyTuple_GET_ITEM(shape, i), base, i, &out->shape[i]));
    }
    return DT_OK;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static DtStatus parse_operand(Builder *builder, PyObject *object, DtOperand *out);

static DtStatus
parse_items(Builder *builder, PyObject *sequence, DtOperand **items, uint32_t *count)
{
    PyObject *fast = PySequence_Fast(sequence, "operands must be a sequence");
    if (fast == NULL) {
        return DT_ERROR;
    }
    *count = (uint32_t)PySequence_Fast_GET_SIZE(fast);
    *items = DT_ARENA_ARRAY(&builder->trace->arena, DtOperand, *count);
    DtStatus status = *items != NULL ? DT_OK : dt_no_memory();
    for (uint32_t i = 0; status == DT_OK && i < *count; i++) {
        status = parse_operand(builder, PySequence_Fast_GET_ITEM(fast, i), &(*items)[i]);
    }
    Py_DECREF(fast);
    return status;
}

/* ("sym", operation, operand[, operand]) */
static DtStatus
parse_expression(Builder *builder, PyObject *object, DtOperand *out)
{
    DtOperand parts[2];
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(object, 1));
    if (name == NULL) {
        return DT_ERROR;
    }
    Py_ssize_t arity = PyTuple_GET_SIZE(object) - 2;
    for (Py_ssize_t i = 0; i < arity && i < 2; i++) {
        DT_TRY(parse_operand(builder, PyTuple_GET_ITEM(object, i + 2), &parts[i]));
    }
    DtArena *arena = &builder->trace->arena;
    out->kind = DT_OPERAND_SYM;
    out->u.sym = NULL;
    for (int op = 0; op < DT_SYM_OP_COUNT; op++) {
        if (strcmp(dt_testing_sym_names[op], name) == 0 && arity == dt_wire_sym_arity(op)) {
            DT_TRY(arity == 2 ? dt_sym_binary(arena, (DtSymOp)op, parts[0].u.sym, parts[1].u.sym,
                                              &out->u.sym)
                              : dt_sym_unary(arena, (DtSymOp)op, parts[0].u.sym, &out->u.sym));
        }
    }
    return out->u.sym != NULL ? DT_OK : type_error("not an expression", object);
}

static const struct {
    const char *tag;
    DtOperandKind kind;
} containers[] = {
    {"tuple", DT_OPERAND_TUPLE},
    {"list", DT_OPERAND_LIST},
    {"dict", DT_OPERAND_DICT},
    {"slice", DT_OPERAND_SLICE},
};

/* A str is a name; (tag, ...) anything else; other objects are constants. */
static DtStatus
parse_operand(Builder *builder, PyObject *object, DtOperand *out)
{
    memset(out, 0, sizeof *out);
    if (PyUnicode_Check(object)) {
        const DtOperand *known = lookup(builder, object);
        if (known == NULL) {
            return DT_ERROR;
        }
        *out = *known;
        return DT_OK;
    }
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) < 2) {
        out->kind = DT_OPERAND_CONST;
        out->u.object = object;
        return dt_trace_keep(builder->trace, object);
    }
    const char *tag = PyUnicode_AsUTF8(PyTuple_GET_ITEM(object, 0));
    PyObject *second = PyTuple_GET_ITEM(object, 1);
    if (tag == NULL) {
        return DT_ERROR;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(containers); i++) {
        if (strcmp(tag, containers[i].tag) == 0) {
            out->kind = (uint8_t)containers[i].kind;
            return parse_items(builder, second, &out->items, &out->count);
        }
    }
    if (strcmp(tag, "sym") == 0) {
        return parse_expression(builder, object, out);
    }
    if (strcmp(tag, "int") == 0) {
        out->kind = DT_OPERAND_SYM;
        out->u.sym = dt_sym_int(&builder->trace->arena, PyLong_AsLongLong(second));
        return out->u.sym != NULL ? DT_OK : dt_no_memory();
    }
    if (strcmp(tag, "const") == 0) {
        out->kind = DT_OPERAND_CONST;
        out->u.object = second;
        return dt_trace_keep(builder->trace, second);
    }
    if (strcmp(tag, "result") == 0 && PyTuple_GET_SIZE(object) == 3) {
        DT_TRY(parse_operand(builder, second, out));
        out->result = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GET_ITEM(object, 2));
        return DT_OK;
    }
    return type_error("not an operand", object);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static DtStatus
step_input(Builder *builder, PyObject *step)
{
    PyObject *name, *meta_object;
    DtMeta meta;
    if (!PyArg_ParseTuple(step, "OUO", &(PyObject *){NULL}, &name, &meta_object)) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(builder->trace, name));
    const DtSource *source = dt_source_global(builder->trace, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    DT_TRY(parse_meta(builder, meta_object, source, &meta));
    DtOperand value = {.kind = DT_OPERAND_NODE};
    DT_TRY(dt_graph_input(builder->trace->graph, source, &meta, &value.u.node));
    return define(builder, name, &value);
}

/* ("number", name, hint) */
static DtStatus
step_number(Builder *builder, PyObject *step)
{
    PyObject *name, *hint;
    if (!PyArg_ParseTuple(step, "OUO", &(PyObject *){NULL}, &name, &hint)) {
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(builder->trace, name));
    const DtSource *source = dt_source_global(builder->trace, name);
    if (source == NULL) {
        return DT_ERROR;
    }
    bool is_float = PyFloat_Check(hint);
    DtNumber number = {.i = is_float ? 0 : PyLong_AsLongLong(hint)};
    if (is_float) {
        number.d = PyFloat_AS_DOUBLE(hint);
    }
    DtOperand value = {.kind = DT_OPERAND_SYM};
    DT_TRY(dt_trace_symbol(builder->trace, source, is_float ? DT_SYM_FLOAT : DT_SYM_INT, number,
                           &value.u.sym));
    return define(builder, name, &value);
}

static DtStatus
parse_results(Builder *builder, PyObject *results, DtCallSpec *spec)
{
    spec->nresults = (uint32_t)PyTuple_GET_SIZE(results);
    DtMeta *metas = DT_ARENA_ARRAY(&builder->trace->arena, DtMeta, spec->nresults);
    if (metas == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < spec->nresults; i++) {
        DT_TRY(parse_meta(builder, PyTuple_GET_ITEM(results, i), NULL, &metas[i]));
    }
    spec->results = metas;
    return DT_OK;
}

/* {"effect": int, "aliases": ((result, operand), ...), "mutated": (operand, ...), ...} */
static DtStatus
parse_options(Builder *builder, PyObject *options, DtCallSpec *spec)
{
    DtArena *arena = &builder->trace->arena;
    PyObject *effect = PyDict_GetItemString(options, "effect");
    PyObject *aliases = PyDict_GetItemString(options, "aliases");
    PyObject *mutated = PyDict_GetItemString(options, "mutated");
    spec->kwnames = PyDict_GetItemString(options, "kwnames");
    spec->effect = effect != NULL ? (DtEffect)PyLong_AsLong(effect) : DT_EFFECT_PURE;
    spec->naliases = aliases != NULL ? (uint32_t)PyTuple_GET_SIZE(aliases) : 0;
    spec->nmutated = mutated != NULL ? (uint32_t)PyTuple_GET_SIZE(mutated) : 0;
    DtAlias *pairs = DT_ARENA_ARRAY(arena, DtAlias, spec->naliases);
    uint32_t *numbers = DT_ARENA_ARRAY(arena, uint32_t, spec->nmutated);
    if (pairs == NULL || numbers == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < spec->naliases; i++) {
        PyObject *pair = PyTuple_GET_ITEM(aliases, i);
        if (!PyArg_ParseTuple(pair, "II", &pairs[i].result, &pairs[i].arg)) {
            return DT_ERROR;
        }
    }
    for (uint32_t i = 0; i < spec->nmutated; i++) {
        numbers[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GET_ITEM(mutated, i));
    }
    spec->aliases = pairs;
    spec->mutated = numbers;
    return PyErr_Occurred() ? DT_ERROR : DT_OK;
}

/* ("call", name, target, callee, operands, results[, options]) */
static DtStatus
step_call(Builder *builder, PyObject *step)
{
    PyObject *name, *callee, *args, *results, *options = NULL;
    DtCallSpec spec = {0};
    DtOperand *items;
    if (!PyArg_ParseTuple(step, "OUsOOO!|O!", &(PyObject *){NULL}, &name, &spec.target, &callee,
                          &args, &PyTuple_Type, &results, &PyDict_Type, &options)) {
        return DT_ERROR;
    }
    spec.callee = callee;
    DT_TRY(parse_items(builder, args, &items, &spec.nargs));
    spec.args = items;
    DT_TRY(parse_results(builder, results, &spec));
    if (options != NULL) {
        DT_TRY(parse_options(builder, options, &spec));
    }
    DtOperand value = {.kind = DT_OPERAND_NODE};
    DT_TRY(dt_graph_call(builder->trace, &spec, &value.u.node));
    return define(builder, name, &value);
}

/* ("unify", a, b): two expressions found equal. */
static DtStatus
step_unify(Builder *builder, PyObject *step)
{
    DtOperand a, b;
    bool same;
    DT_TRY(parse_operand(builder, PyTuple_GetItem(step, 1), &a));
    DT_TRY(parse_operand(builder, PyTuple_GetItem(step, 2), &b));
    DT_TRY(dt_trace_unify(builder->trace, a.u.sym, b.u.sym, &same));
    return same ? DT_OK : type_error("these differ", step);
}

static DtStatus
step_push(Builder *builder, PyObject *step)
{
    const char *name = PyUnicode_AsUTF8(PyTuple_GetItem(step, 1));
    return name != NULL ? dt_graph_push(builder->trace, name) : DT_ERROR;
}

/* ("pop", name, outputs): the name stands for the nested graph afterwards. */
static DtStatus
step_pop(Builder *builder, PyObject *step)
{
    DtOperand *outputs, value;
    uint32_t count;
    DT_TRY(parse_items(builder, PyTuple_GetItem(step, 2), &outputs, &count));
    DT_TRY(dt_graph_pop(builder->trace, outputs, count, &value));
    return define(builder, PyTuple_GetItem(step, 1), &value);
}

static DtStatus
step_abandon(Builder *builder, PyObject *step)
{
    (void)step;
    dt_graph_abandon(builder->trace);
    return DT_OK;
}

static const struct {
    const char *name;
    Py_ssize_t size;
    DtStatus (*run)(Builder *, PyObject *);
} steps[] = {
    {"input", 3, step_input},     {"number", 3, step_number}, {"call", 6, step_call},
    {"unify", 3, step_unify},     {"push", 2, step_push},     {"pop", 3, step_pop},
    {"abandon", 1, step_abandon},
};

static DtStatus
run_step(Builder *builder, PyObject *step)
{
    const char *name = PyTuple_Check(step) && PyTuple_GET_SIZE(step) > 0
                           ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(step, 0))
                           : NULL;
    for (size_t i = 0; name != NULL && i < Py_ARRAY_LENGTH(steps); i++) {
        if (strcmp(name, steps[i].name) == 0 && PyTuple_GET_SIZE(step) >= steps[i].size) {
            return steps[i].run(builder, step);
        }
    }
    return PyErr_Occurred() ? DT_ERROR : type_error("not a step", step);
}

static DtStatus
build(Builder *builder, PyObject *list, PyObject *outputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        DT_TRY(run_step(builder, PyList_GET_ITEM(list, i)));
    }
    DtOperand *operands;
    uint32_t count;
    DT_TRY(parse_items(builder, outputs, &operands, &count));
    return dt_graph_finish(builder->trace, builder->trace->graph, operands, count);
}

static PyObject *
testing_graph_build(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *list, *outputs, *graph = NULL;
    if (!PyArg_ParseTuple(args, "sO!O:graph_build", &name, &PyList_Type, &list, &outputs)) {
        return NULL;
    }
    PyCodeObject *code = PyCode_NewEmpty("built.py", name, 1);
    PyObject *globals = PyDict_New();
    Builder builder = {.names = PyDict_New()};
    if (code != NULL && globals != NULL && builder.names != NULL) {
        builder.trace = dt_trace_new(code, globals, PyEval_GetBuiltins(), NULL, NULL);
    }
    if (builder.trace != NULL) {
        DtStatus status = build(&builder, list, outputs);
        if (status == DT_OK) {
            graph = dt_graph_object(builder.trace->graph);
        }
        else if (status != DT_ERROR) {
            PyErr_Format(PyExc_RuntimeError, "graph break: %s", builder.trace->brk.message);
        }
        dt_trace_release(builder.trace);
    }
    Py_XDECREF(code);
    Py_XDECREF(globals);
    Py_XDECREF(builder.names);
    return graph;
}

PyMethodDef dt_testing_graph_methods[] = {
    {"graph_build", testing_graph_build, METH_VARARGS,
     "graph_build(name, steps, outputs)\n--\n\nA Graph made by hand."},
    {NULL, NULL, 0, NULL},
};
