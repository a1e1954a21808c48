/* Between trackers and what hooks of Python adapters see; see python_values.h. */
#include "adapters/python_values.h"

#include <string.h>

#include "adapters/symint.h"
#include "variables/kinds.h"

static PyObject *meta_class, *op_class, *method_mark; /* for the life of the process */

int
dt_python_values_init(void)
{
    if (meta_class != NULL) {
        return 0;
    }
    PyObject *module = PyImport_ImportModule("dyntrace.adapters");
    if (module == NULL) {
        return -1;
    }
    op_class = PyObject_GetAttrString(module, "Op");
    method_mark = PyObject_GetAttrString(module, "METHOD");
    PyObject *meta = PyObject_GetAttrString(module, "Meta");
    Py_DECREF(module);
    if (op_class == NULL || method_mark == NULL || meta == NULL) {
        Py_XDECREF(meta);
        return -1;
    }
    meta_class = meta;
    return 0;
}

PyObject *
dt_python_attr(PyObject *object, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *value = key == NULL ? NULL : PyObject_GetAttr(object, key);
    Py_XDECREF(key);
    return value;
}

bool
dt_python_is_method(PyObject *answer)
{
    return answer == method_mark;
}

static DtStatus
bad_answer(DtHook *hook, const char *what)
{
    PyErr_Format(PyExc_TypeError, "adapter '%s': %s", hook->adapter->name, what);
    return DT_ERROR;
}

/* ---- Trackers to objects --------------------------------------------------------------------- */

static DtStatus
show_array(DtHook *hook, DtArrayVar *var, PyObject **out)
{
    const DtMeta *meta = var->meta;
    for (uint32_t i = 0; i < hook->shown.count; i++) {
        if (hook->shown.items[i].var == var) {
            *out = hook->shown.items[i].meta;
            return DT_OK;
        }
    }
    PyObject *shape = PyTuple_New(meta->ndim);
    for (int i = 0; shape != NULL && i < meta->ndim; i++) {
        PyObject *size = dt_symint_new(meta->shape[i]);
        if (size == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, i, size);
    }
    if (shape == NULL) {
        return DT_ERROR;
    }
    bool own = meta->adapter == hook->adapter && meta->extra != NULL;
    PyObject *object = PyObject_CallFunction(meta_class, "OOOOO", (PyObject *)meta->type,
                                             meta->dtype == NULL ? Py_None : meta->dtype, shape,
                                             meta->device == NULL ? Py_None : meta->device,
                                             own ? (PyObject *)meta->extra : Py_None);
    Py_DECREF(shape);
    *out = dt_trace_keep_take(hook->trace, object);
    if (*out == NULL) {
        return DT_ERROR;
    }
    DtShown shown = {*out, var};
    return dt_vec_push(&hook->trace->arena, &hook->shown, shown) < 0 ? dt_no_memory() : DT_OK;
}

static DtStatus
show_items(DtHook *hook, DtSeqVar *seq, PyObject **out)
{
    PyObject *items = dt_trace_keep_take(hook->trace, PyList_New(0));
    if (items == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < seq->count; i++) {
        PyObject *item;
        DT_TRY(dt_python_show(hook, seq->items[i], &item));
        if (PyList_Append(items, item) < 0) {
            return DT_ERROR;
        }
    }
    *out = items;
    return DT_OK;
}

static DtStatus
show_dict(DtHook *hook, DtDictVar *dict, PyObject **out)
{
    *out = dt_trace_keep_take(hook->trace, PyDict_New());
    if (*out == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < dict->count; i++) {
        PyObject *value;
        if (dict->items[i].by_identity) {
            return dt_break(hook->trace, DT_BREAK_ARRAY_OP, "a dict with keys known by identity");
        }
        DT_TRY(dt_python_show(hook, dict->items[i].value, &value));
        if (PyDict_SetItem(*out, dict->items[i].key, value) < 0) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

DtStatus
dt_python_show(DtHook *hook, DtVar *var, PyObject **out)
{
    DtTrace *trace = hook->trace;
    DT_TRY(dt_var_realize(trace, var, &var));
    PyObject *items;
    switch (var->type->kind) {
    case DT_KIND_ARRAY:
        return show_array(hook, (DtArrayVar *)var, out);
    case DT_KIND_SYMBOLIC:
        *out = dt_trace_keep_take(trace, dt_symint_new(((DtSymVar *)var)->sym));
        return *out == NULL ? DT_ERROR : DT_OK;
    case DT_KIND_TUPLE:
        DT_TRY(show_items(hook, (DtSeqVar *)var, &items));
        *out = dt_trace_keep_take(trace, PyList_AsTuple(items));
        return *out == NULL ? DT_ERROR : DT_OK;
    case DT_KIND_LIST:
        return show_items(hook, (DtSeqVar *)var, out);
    case DT_KIND_SLICE:
        DT_TRY(show_items(hook, (DtSeqVar *)var, &items));
        *out = dt_trace_keep_take(trace,
                                  PySlice_New(PyList_GET_ITEM(items, 0), PyList_GET_ITEM(items, 1),
                                              PyList_GET_ITEM(items, 2)));
        return *out == NULL ? DT_ERROR : DT_OK;
    case DT_KIND_DICT:
        return show_dict(hook, (DtDictVar *)var, out);
    default:
        break;
    }
    *out = dt_var_as_constant(trace, var);
    if (*out == NULL) {
        *out = dt_payload_object(var);
    }
    if (*out == NULL) {
        DtStrbuf text = {0};
        dt_var_repr(var, &text);
        DtStatus status = dt_break(trace, DT_BREAK_ARRAY_OP, "%s as an operand of %s",
                                   dt_strbuf_text(&text), hook->adapter->name);
        dt_strbuf_release(&text);
        return status;
    }
    return DT_OK;
}

/* ---- Metadata -------------------------------------------------------------------------------- */

/* An attribute, kept by the trace. */
static PyObject *
kept_attr(DtHook *hook, PyObject *object, const char *name)
{
    return dt_trace_keep_take(hook->trace, dt_python_attr(object, name));
}

static DtStatus
read_size(DtHook *hook, PyObject *size, const DtSym **out)
{
    *out = dt_symint_get(size);
    if (*out == NULL && !PyErr_Occurred()) {
        long long value = PyLong_AsLongLong(size);
        if (value < 0) {
            return PyErr_Occurred() ? DT_ERROR : bad_answer(hook, "a size below 0");
        }
        *out = dt_sym_int(&hook->trace->arena, value);
        return *out == NULL ? dt_no_memory() : DT_OK;
    }
    return *out == NULL ? DT_ERROR : DT_OK;
}

DtStatus
dt_python_meta(DtHook *hook, PyObject *object, DtMeta **out)
{
    DtArena *arena = &hook->trace->arena;
    if (!PyObject_TypeCheck(object, (PyTypeObject *)meta_class)) {
        return bad_answer(hook, "expected a dyntrace.adapters.Meta");
    }
    DtMeta *meta = DT_ARENA_NEW(arena, DtMeta);
    if (meta == NULL) {
        return dt_no_memory();
    }
    PyObject *type = kept_attr(hook, object, "type");
    PyObject *device = kept_attr(hook, object, "device");
    PyObject *extra = kept_attr(hook, object, "extra");
    PyObject *shape = kept_attr(hook, object, "shape");
    meta->dtype = kept_attr(hook, object, "dtype");
    if (type == NULL || device == NULL || extra == NULL || shape == NULL || meta->dtype == NULL) {
        return DT_ERROR;
    }
    if (!PyType_Check(type) || !PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > 64) {
        return bad_answer(hook, "Meta.type has to be a class and Meta.shape a tuple of sizes");
    }
    meta->adapter = hook->adapter;
    meta->type = (PyTypeObject *)type;
    meta->device = device == Py_None ? NULL : device;
    meta->extra = extra;
    meta->ndim = (uint8_t)PyTuple_GET_SIZE(shape);
    meta->shape = DT_ARENA_ARRAY(arena, const DtSym *, meta->ndim + 1);
    if (meta->shape == NULL) {
        return dt_no_memory();
    }
    for (int i = 0; i < meta->ndim; i++) {
        DT_TRY(read_size(hook, PyTuple_GET_ITEM(shape, i), &meta->shape[i]));
    }
    *out = meta;
    return DT_OK;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static DtArrayVar *
find_shown(DtHook *hook, PyObject *meta)
{
    for (uint32_t i = 0; i < hook->shown.count; i++) {
        if (hook->shown.items[i].meta == meta) {
            return hook->shown.items[i].var;
        }
    }
    return NULL;
}

static DtStatus read_operand(DtHook *hook, PyObject *value, DtOperand *out);

static DtStatus
read_items(DtHook *hook, PyObject *const *items, Py_ssize_t count, DtOperandKind kind,
           DtOperand *out)
{
    out->kind = (uint8_t)kind;
    out->count = (uint32_t)count;
    out->items = DT_ARENA_ARRAY(&hook->trace->arena, DtOperand, count + 1);
    if (out->items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(read_operand(hook, items[i], &out->items[i]));
    }
    return DT_OK;
}

static DtStatus
read_dict(DtHook *hook, PyObject *dict, DtOperand *out)
{
    Py_ssize_t count = PyDict_GET_SIZE(dict), pos = 0;
    PyObject **items = DT_ARENA_ARRAY(&hook->trace->arena, PyObject *, 2 * count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; PyDict_Next(dict, &pos, &items[i], &items[i + 1]);) {
        i += 2;
    }
    return read_items(hook, items, 2 * count, DT_OPERAND_DICT, out);
}

static DtStatus
read_operand(DtHook *hook, PyObject *value, DtOperand *out)
{
    *out = (DtOperand){0};
    DtArrayVar *array = find_shown(hook, value);
    if (array != NULL) {
        out->kind = DT_OPERAND_NODE;
        out->u.node = array->node;
        out->result = array->result;
        return DT_OK;
    }
    const DtSym *sym = dt_symint_get(value);
    if (sym != NULL) {
        out->kind = DT_OPERAND_SYM;
        out->u.sym = sym;
        return DT_OK;
    }
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    if (PyObject_TypeCheck(value, (PyTypeObject *)meta_class)) {
        return bad_answer(hook, "an Op's operand is a Meta that the hook was not given");
    }
    if (PyTuple_CheckExact(value)) {
        return read_items(hook, &PyTuple_GET_ITEM(value, 0), PyTuple_GET_SIZE(value),
                          DT_OPERAND_TUPLE, out);
    }
    if (PyList_CheckExact(value)) {
        return read_items(hook, ((PyListObject *)value)->ob_item, PyList_GET_SIZE(value),
                          DT_OPERAND_LIST, out);
    }
    if (PyDict_CheckExact(value)) {
        return read_dict(hook, value, out);
    }
    if (PySlice_Check(value)) {
        PySliceObject *slice = (PySliceObject *)value;
        PyObject *items[3] = {slice->start, slice->stop, slice->step};
        return read_items(hook, items, 3, DT_OPERAND_SLICE, out);
    }
    DT_TRY(dt_trace_keep(hook->trace, value));
    out->kind = DT_OPERAND_CONST;
    out->u.object = value;
    return DT_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    DtEffect effect;
} effects[] = {
    {"pure", DT_EFFECT_PURE},
    {"mutates", DT_EFFECT_MUTATES},
    {"random", DT_EFFECT_RANDOM},
    {"called", DT_EFFECT_CALLED},
};

static DtStatus
read_effect(DtHook *hook, PyObject *op, DtCallSpec *spec)
{
    PyObject *effect = kept_attr(hook, op, "effect");
    PyObject *mutates = kept_attr(hook, op, "mutates");
    PyObject *aliases = kept_attr(hook, op, "aliases");
    if (effect == NULL || mutates == NULL || aliases == NULL) {
        return DT_ERROR;
    }
    bool known = false;
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]) && PyUnicode_Check(effect); i++) {
        if (PyUnicode_CompareWithASCIIString(effect, effects[i].text) == 0) {
            spec->effect = effects[i].effect;
            known = true;
        }
    }
    if (!known || !PyTuple_Check(mutates) || !PyDict_Check(aliases)) {
        return bad_answer(hook, "bad effect, mutates or aliases of an Op");
    }
    Py_ssize_t nmutates = PyTuple_GET_SIZE(mutates), pos = 0;
    uint32_t *mutated = DT_ARENA_ARRAY(&hook->trace->arena, uint32_t, nmutates + 1);
    DtAlias *pairs = DT_ARENA_ARRAY(&hook->trace->arena, DtAlias, PyDict_GET_SIZE(aliases) + 1);
    if (mutated == NULL || pairs == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < nmutates; i++) {
        long index = PyLong_AsLong(PyTuple_GET_ITEM(mutates, i));
        if (index < 0 || index >= (long)spec->nargs) {
            return bad_answer(hook, "Op.mutates names no argument");
        }
        mutated[i] = (uint32_t)index;
    }
    PyObject *key, *value;
    while (PyDict_Next(aliases, &pos, &key, &value)) {
        long result = PyLong_AsLong(key), arg = PyLong_AsLong(value);
        if (result < 0 || result >= (long)spec->nresults || arg < 0 || arg >= (long)spec->nargs) {
            return bad_answer(hook, "Op.aliases names no result or no argument");
        }
        pairs[spec->naliases++] = (DtAlias){(uint32_t)result, (uint32_t)arg};
    }
    spec->mutated = mutated;
    spec->nmutated = (uint32_t)nmutates;
    spec->aliases = pairs;
    return DT_OK;
}

static DtStatus
read_args(DtHook *hook, PyObject *op, DtCallSpec *spec)
{
    PyObject *args = kept_attr(hook, op, "args");
    PyObject *kwargs = kept_attr(hook, op, "kwargs");
    if (args == NULL || kwargs == NULL) {
        return DT_ERROR;
    }
    args = dt_trace_keep_take(hook->trace, PySequence_Tuple(args));
    if (args == NULL || !PyDict_Check(kwargs)) {
        return args == NULL ? DT_ERROR : bad_answer(hook, "Op.kwargs has to be a dict");
    }
    Py_ssize_t npos = PyTuple_GET_SIZE(args), nkw = PyDict_GET_SIZE(kwargs), pos = 0;
    DtOperand *operands = DT_ARENA_ARRAY(&hook->trace->arena, DtOperand, npos + nkw + 1);
    PyObject *names = nkw == 0 ? NULL : dt_trace_keep_take(hook->trace, PyTuple_New(nkw));
    if (operands == NULL || (nkw != 0 && names == NULL)) {
        return operands == NULL ? dt_no_memory() : DT_ERROR;
    }
    for (Py_ssize_t i = 0; i < npos; i++) {
        DT_TRY(read_operand(hook, PyTuple_GET_ITEM(args, i), &operands[i]));
    }
    PyObject *key, *value;
    for (Py_ssize_t i = 0; PyDict_Next(kwargs, &pos, &key, &value); i++) {
        DT_TRY(read_operand(hook, value, &operands[npos + i]));
        PyTuple_SET_ITEM(names, i, Py_NewRef(key));
    }
    spec->args = operands;
    spec->nargs = (uint32_t)(npos + nkw);
    spec->kwnames = names;
    return DT_OK;
}

/* Results that share no memory with an argument belong to the graph alone. */
static void
mark_fresh(const DtCallSpec *spec, DtMeta *results)
{
    for (uint32_t i = 0; i < spec->nresults; i++) {
        bool aliased = spec->effect == DT_EFFECT_CALLED || spec->effect == DT_EFFECT_MUTATES;
        for (uint32_t j = 0; j < spec->naliases; j++) {
            aliased = aliased || spec->aliases[j].result == i;
        }
        results[i].layout |= aliased ? 0 : DT_LAYOUT_FRESH;
    }
}

static DtStatus
read_target(DtHook *hook, PyObject *op, DtCallSpec *spec)
{
    spec->callee = kept_attr(hook, op, "callee");
    PyObject *name = spec->callee == NULL ? NULL : kept_attr(hook, op, "name");
    if (name == Py_None) {
        name = kept_attr(hook, spec->callee, "__name__");
    }
    const char *text = name == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return PyErr_Occurred() ? DT_ERROR : bad_answer(hook, "Op.name has to be a string");
    }
    spec->target = dt_arena_printf(&hook->trace->arena, "%s.%s", hook->adapter->name, text);
    return spec->target == NULL ? dt_no_memory() : DT_OK;
}

static DtStatus
accept_op(DtHook *hook, PyObject *op, DtVar **out)
{
    DtTrace *trace = hook->trace;
    DtCallSpec spec = {0};
    DtNode *node;
    PyObject *results = kept_attr(hook, op, "results");
    PyObject *value = results == NULL ? NULL : kept_attr(hook, op, "value");
    if (value == NULL) {
        return DT_ERROR;
    }
    bool several = PyTuple_Check(results);
    spec.nresults = results == Py_None ? 0 : several ? (uint32_t)PyTuple_GET_SIZE(results) : 1;
    DtMeta *metas = DT_ARENA_ARRAY(&trace->arena, DtMeta, spec.nresults + 1);
    DtVar **vars = DT_ARENA_ARRAY(&trace->arena, DtVar *, spec.nresults + 1);
    if (metas == NULL || vars == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < spec.nresults; i++) {
        DtMeta *meta;
        DT_TRY(dt_python_meta(hook, several ? PyTuple_GET_ITEM(results, i) : results, &meta));
        metas[i] = *meta;
    }
    spec.results = metas;
    DT_TRY(read_target(hook, op, &spec));
    DT_TRY(read_args(hook, op, &spec));
    DT_TRY(read_effect(hook, op, &spec));
    mark_fresh(&spec, metas);
    DT_TRY(dt_graph_call(trace, &spec, &node));
    if (value != Py_NotImplemented) {
        return dt_python_accept(hook, value, out);
    }
    for (uint32_t i = 0; i < spec.nresults; i++) {
        DT_TRY(dt_var_array(trace, node, i, &metas[i], &vars[i]));
    }
    if (several) {
        return dt_var_tuple(trace, vars, spec.nresults, out);
    }
    *out = spec.nresults == 0 ? dt_none(trace) : vars[0];
    return DT_OK;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static DtStatus
accept_items(DtHook *hook, PyObject *answer, DtVar **out)
{
    bool is_list = PyList_CheckExact(answer);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(answer);
    DtVar **items = DT_ARENA_ARRAY(&hook->trace->arena, DtVar *, count + 1);
    if (items == NULL) {
        return dt_no_memory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        DT_TRY(dt_python_accept(hook, PySequence_Fast_GET_ITEM(answer, i), &items[i]));
    }
    return is_list ? dt_var_list(hook->trace, items, (uint32_t)count, out)
                   : dt_var_tuple(hook->trace, items, (uint32_t)count, out);
}

DtStatus
dt_python_accept(DtHook *hook, PyObject *answer, DtVar **out)
{
    DtTrace *trace = hook->trace;
    DtArrayVar *array = find_shown(hook, answer);
    if (array != NULL) {
        *out = &array->base;
        return DT_OK;
    }
    if (PyObject_TypeCheck(answer, (PyTypeObject *)op_class)) {
        return accept_op(hook, answer, out);
    }
    if (PyObject_TypeCheck(answer, (PyTypeObject *)meta_class)) {
        return bad_answer(hook,
                          "the answer is a Meta that the hook was not given; wrap it in an Op");
    }
    const DtSym *sym = dt_symint_get(answer);
    if (sym != NULL) {
        return dt_var_sym(trace, sym, out);
    }
    if (PyErr_Occurred()) {
        return DT_ERROR;
    }
    if (PyTuple_CheckExact(answer) || PyList_CheckExact(answer)) {
        return accept_items(hook, answer, out);
    }
    if (answer == Py_None || answer == Py_Ellipsis || PyBool_Check(answer)
        || PyLong_CheckExact(answer) || PyFloat_CheckExact(answer) || PyComplex_CheckExact(answer)
        || PyUnicode_CheckExact(answer) || PyBytes_CheckExact(answer)) {
        return dt_var_const(trace, answer, out);
    }
    DT_TRY(dt_trace_keep(trace, answer));
    return dt_build_known(trace, answer, out);
}
