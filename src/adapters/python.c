/* Adapters written in Python; see python.h and python/dyntrace/adapters.py.
 *
 *   tracker slots ──► hook of the Python object, arrays shown as Meta objects
 *   hook's answer ──► graph node, tracker, or graph break
 *
 * Invariants: every hook runs inside a DtSymScope; a Meta or SymInt that a hook
 * kept from an earlier call is refused.  The DtAdapter of a Python object lives
 * for ever, because programs and graphs refer to it without owning it.
 *
 * Not in here: conversions between trackers and Python objects
 * (python_values.c), SymInt (symint.c).
 */
#include "adapters/python.h"

#include <string.h>

#include "adapters/numbers.h"
#include "adapters/std_random.h"
#include "adapters/python_values.h"
#include "adapters/symint.h"
#include "graph/graph.h"
#include "guards/recipe.h"
#include "variables/classes/payloads.h"

static PyObject *
hooks_of(const DtAdapter *adapter)
{
    return adapter->state;
}

/* Hooks that run in this thread.  Their own code is not captured: to it, nothing is an array. */
static _Thread_local int busy;

/* ---- Calling hooks --------------------------------------------------------------------------- */

/* Calls hook `name` with a tuple of arguments that it takes over, and leaves the answer in *out. */
static DtStatus
call_hook(DtHook *hook, const char *name, DT_STEALS PyObject *args, PyObject **out)
{
    DtSymScope scope;
    *out = NULL;
    if (args == NULL) {
        return DT_ERROR;
    }
    PyObject *method = dt_python_attr(hooks_of(hook->adapter), name);
    if (method == NULL) {
        Py_DECREF(args);
        return DT_ERROR;
    }
    dt_symint_enter(&scope, hook->trace);
    busy++;
    PyObject *answer = PyObject_CallObject(method, args);
    busy--;
    dt_symint_leave(&scope);
    Py_DECREF(method);
    Py_DECREF(args);
    if (scope.status != DT_OK) {
        PyErr_Clear(); /* the exception that unwound the hook; the reason is in the trace */
        Py_XDECREF(answer);
        return scope.status;
    }
    if (answer == NULL) {
        return dt_break_on_exception(hook->trace);
    }
    *out = dt_trace_keep_take(hook->trace, answer);
    return *out == NULL ? DT_ERROR : DT_OK;
}

static DtHook
new_hook(const DtAdapter *adapter, DtTrace *trace)
{
    return (DtHook){.adapter = adapter, .trace = trace};
}

/* The tracker for an answer; *out = NULL for NotImplemented. */
static DtStatus
accept(DtHook *hook, PyObject *answer, DtVar **out)
{
    *out = NULL;
    if (answer == Py_NotImplemented) {
        return DT_OK;
    }
    DtSymScope scope;
    dt_symint_enter(&scope, hook->trace);
    DtStatus status = dt_python_accept(hook, answer, out);
    dt_symint_leave(&scope);
    return status;
}

static DtStatus
refused(DtHook *hook, const char *what, const char *name)
{
    return dt_break(hook->trace, DT_BREAK_ARRAY_OP, "%s%s of %s is not captured by its adapter",
                    what, name, hook->adapter->name);
}

/* The arguments of a hook: trackers shown as Python objects, in a new list that the hook owns. */
static DtStatus
show(DtHook *hook, DtVar *var, PyObject **out)
{
    DtSymScope scope;
    dt_symint_enter(&scope, hook->trace);
    DtStatus status = dt_python_show(hook, var, out);
    dt_symint_leave(&scope);
    return status;
}

/* ---- Slots: operations ----------------------------------------------------------------------- */

static DtStatus
two_operands(const DtAdapter *adapter, DtTrace *trace, const char *name, const char *op, DtVar *l,
             DtVar *r, DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *left, *right, *answer;
    DT_TRY(show(&hook, l, &left));
    DT_TRY(show(&hook, r, &right));
    DT_TRY(call_hook(&hook, name, Py_BuildValue("(sOO)", op, left, right), &answer));
    return accept(&hook, answer, out);
}

static DtStatus
py_binary(const DtAdapter *adapter, DtTrace *trace, DtBinaryOp op, DtVar *l, DtVar *r, DtVar **out)
{
    DT_TRY(two_operands(adapter, trace, "binary", dt_canonical_binary_symbol((int)op), l, r, out));
    if (*out == NULL && DT_BINARY_IS_INPLACE(op)) {
        /* As in Python, an in-place operator that is not offered is the plain one. */
        op = (DtBinaryOp)DT_BINARY_PLAIN(op);
        DT_TRY(
            two_operands(adapter, trace, "binary", dt_canonical_binary_symbol((int)op), l, r, out));
    }
    DtHook hook = new_hook(adapter, trace);
    return *out != NULL ? DT_OK : refused(&hook, "operator ", dt_canonical_binary_symbol((int)op));
}

static DtStatus
py_compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r, DtVar **out)
{
    static const char *const texts[] = {[Py_LT] = "<",  [Py_LE] = "<=", [Py_EQ] = "==",
                                        [Py_NE] = "!=", [Py_GT] = ">",  [Py_GE] = ">="};
    DT_TRY(two_operands(adapter, trace, "compare", texts[op], l, r, out));
    DtHook hook = new_hook(adapter, trace);
    return *out != NULL ? DT_OK : refused(&hook, "comparison ", texts[op]);
}

/* What the core calls an operator, and what hooks do. */
static const struct {
    const char *name;
    const char *symbol;
} unary_symbols[] = {{"negative", "-"}, {"positive", "+"}, {"invert", "~"}, {"absolute", "abs"}};

static DtStatus
py_unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self, DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *array, *answer;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(unary_symbols); i++) {
        op = strcmp(op, unary_symbols[i].name) == 0 ? unary_symbols[i].symbol : op;
    }
    DT_TRY(show(&hook, &self->base, &array));
    DT_TRY(call_hook(&hook, "unary", Py_BuildValue("(sO)", op, array), &answer));
    DT_TRY(accept(&hook, answer, out));
    return *out != NULL ? DT_OK : refused(&hook, "operator ", op);
}

static DtStatus
py_length(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar **out)
{
    (void)adapter;
    if (self->meta->ndim == 0) {
        return dt_break(trace, DT_BREAK_RAISES, "len() of an array without axes");
    }
    return dt_var_sym(trace, self->meta->shape[0], out);
}

static DtStatus
py_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key, DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *array, *index, *answer;
    DT_TRY(show(&hook, &self->base, &array));
    DT_TRY(show(&hook, key, &index));
    DT_TRY(call_hook(&hook, "getitem", Py_BuildValue("(OO)", array, index), &answer));
    DT_TRY(accept(&hook, answer, out));
    return *out != NULL ? DT_OK : refused(&hook, "[]", "");
}

static DtStatus
py_ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                 DtVar *value)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *array, *index, *item, *answer;
    DtVar *out;
    if (value == NULL) {
        return refused(&hook, "del []", "");
    }
    DT_TRY(show(&hook, &self->base, &array));
    DT_TRY(show(&hook, key, &index));
    DT_TRY(show(&hook, value, &item));
    DT_TRY(call_hook(&hook, "setitem", Py_BuildValue("(OOO)", array, index, item), &answer));
    DT_TRY(accept(&hook, answer, &out));
    return out != NULL ? DT_OK : refused(&hook, "[] =", "");
}

static DtStatus
py_getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *array, *answer;
    DT_TRY(show(&hook, &self->base, &array));
    DT_TRY(call_hook(&hook, "getattr", Py_BuildValue("(OO)", array, name), &answer));
    if (dt_python_is_method(answer)) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    DT_TRY(accept(&hook, answer, out));
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    return *out != NULL ? DT_OK : refused(&hook, "attribute ", text);
}

/* Positional and keyword arguments as a tuple and a dict, kept by the trace. */
static DtStatus
show_args(DtHook *hook, const DtArgs *args, PyObject **pos, PyObject **kw)
{
    *pos = dt_trace_keep_take(hook->trace, PyTuple_New(args->npos));
    *kw = dt_trace_keep_take(hook->trace, PyDict_New());
    if (*pos == NULL || *kw == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        PyObject *value;
        DT_TRY(show(hook, args->pos[i], &value));
        PyTuple_SET_ITEM(*pos, i, Py_NewRef(value));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *value;
        DT_TRY(show(hook, args->kw[i], &value));
        if (PyDict_SetItem(*kw, args->kwnames[i], value) < 0) {
            return DT_ERROR;
        }
    }
    return DT_OK;
}

static DtStatus
py_call_method(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name,
               const DtArgs *args, DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *array, *pos, *kw, *answer;
    DT_TRY(show(&hook, &self->base, &array));
    DT_TRY(show_args(&hook, args, &pos, &kw));
    DT_TRY(call_hook(&hook, "method", Py_BuildValue("(OOOO)", array, name, pos, kw), &answer));
    DT_TRY(accept(&hook, answer, out));
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    return *out != NULL ? DT_OK : refused(&hook, "method ", text);
}

static DtStatus
py_call(const DtAdapter *adapter, DtTrace *trace, PyObject *callable, const DtArgs *args,
        DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *pos, *kw, *answer;
    DT_TRY(show_args(&hook, args, &pos, &kw));
    DT_TRY(call_hook(&hook, "call", Py_BuildValue("(OOO)", callable, pos, kw), &answer));
    DT_TRY(accept(&hook, answer, out));
    return *out != NULL ? DT_OK : refused(&hook, "this function", "");
}

/* ---- Slots: arrays and guards ---------------------------------------------------------------- */

/* Calls a hook outside of a trace, with one argument. */
static PyObject *
call_plain(const DtAdapter *adapter, const char *name, PyObject *argument)
{
    PyObject *method = dt_python_attr(hooks_of(adapter), name);
    busy++;
    PyObject *answer = method == NULL ? NULL : PyObject_CallOneArg(method, argument);
    busy--;
    Py_XDECREF(method);
    return answer;
}

/* Calls a hook that answers yes or no: 1, 0, -1. */
static int
ask(const DtAdapter *adapter, const char *name, PyObject *first, PyObject *second)
{
    PyObject *method = PyUnicode_InternFromString(name);
    if (method == NULL) {
        return -1;
    }
    busy++;
    PyObject *answer = PyObject_CallMethodObjArgs(hooks_of(adapter), method, first, second, NULL);
    int truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    busy--;
    Py_DECREF(method);
    Py_XDECREF(answer);
    return truth;
}

/* Builtin objects that no library calls its arrays: spares most of the calls. */
static bool
is_plainly_none(PyObject *object)
{
    return object == Py_None || PyLong_CheckExact(object) || PyFloat_CheckExact(object)
           || PyBool_Check(object) || PyUnicode_CheckExact(object) || PyTuple_CheckExact(object)
           || PyList_CheckExact(object) || PyDict_CheckExact(object) || PyModule_CheckExact(object)
           || PyCode_Check(object) || PyCell_Check(object);
}

/* The slots have no way to fail: a hook that raises says no, and the user hears of it. */
static bool
ask_quietly(const DtAdapter *adapter, const char *name, PyObject *object)
{
    int yes = ask(adapter, name, object, NULL);
    if (yes < 0) {
        PyErr_WriteUnraisable(hooks_of(adapter));
    }
    return yes == 1;
}

static bool
py_is_array(const DtAdapter *adapter, PyObject *object)
{
    return busy == 0 && !is_plainly_none(object) && !PyFunction_Check(object)
           && !PyType_Check(object) && ask_quietly(adapter, "is_array", object);
}

static bool
py_owns_callable(const DtAdapter *adapter, PyObject *object)
{
    return busy == 0 && !is_plainly_none(object) && ask_quietly(adapter, "owns", object);
}

/* What the spec's tuple holds. */
enum { SPEC_TYPE, SPEC_DTYPE, SPEC_DEVICE, SPEC_EXTRA, SPEC_SIZES, SPEC_OWN, SPEC_COUNT };

/* The facts of one array; sizes are 0, 1 or None for any from 2 on. */
static PyObject *
make_spec(const DtAdapter *adapter, PyObject *object, PyObject *meta, bool exact_sizes)
{
    static const char *const fields[] = {"dtype", "device", "extra"};
    PyObject *shape = dt_python_attr(meta, "shape");
    PyObject *spec = PyTuple_New(SPEC_COUNT);
    if (shape == NULL || spec == NULL || !PyTuple_Check(shape)) {
        goto fail;
    }
    PyTuple_SET_ITEM(spec, SPEC_TYPE, PyUnicode_FromString(Py_TYPE(object)->tp_name));
    for (int i = 0; i < 3; i++) {
        PyTuple_SET_ITEM(spec, SPEC_DTYPE + i, dt_python_attr(meta, fields[i]));
    }
    PyObject *sizes = PyTuple_New(PyTuple_GET_SIZE(shape));
    PyTuple_SET_ITEM(spec, SPEC_SIZES, sizes);
    for (Py_ssize_t i = 0; sizes != NULL && i < PyTuple_GET_SIZE(shape); i++) {
        PyObject *size = PyTuple_GET_ITEM(shape, i);
        long value = PyLong_AsLong(size);
        PyTuple_SET_ITEM(sizes, i, Py_NewRef(exact_sizes || value < 2 ? size : Py_None));
    }
    PyTuple_SET_ITEM(spec, SPEC_OWN, call_plain(adapter, "guard", object));
    for (int i = 0; i < SPEC_COUNT; i++) {
        if (PyTuple_GET_ITEM(spec, i) == NULL) {
            goto fail;
        }
    }
    if (PyErr_Occurred()) {
        goto fail;
    }
    Py_DECREF(shape);
    return spec;
fail:
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "describe(): Meta.shape has to be a tuple of ints");
    }
    Py_XDECREF(shape);
    Py_XDECREF(spec);
    return NULL;
}

static DtStatus
add_guard(const DtAdapter *adapter, DtTrace *trace, DtGuardKind kind, const DtSource *source,
          PyObject *spec)
{
    DtPosition where = dt_trace_position(trace);
    DtFact fact = {.kind = (uint8_t)kind,
                   .source = source,
                   .adapter = adapter,
                   .spec = &spec,
                   .spec_size = sizeof(spec),
                   .refs = &spec,
                   .nrefs = 1};
    if (where.code != NULL) {
        fact.filename = where.code->co_filename;
        fact.line = where.line > 0 ? where.line : 0;
    }
    return dt_recipe_add(trace, &fact);
}

static DtStatus
py_build(const DtAdapter *adapter, DtTrace *trace, PyObject *object, const DtSource *source,
         DtVar **out)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *described;
    DtMeta *meta;
    DT_TRY(dt_trace_use_adapter(trace, adapter));
    DT_TRY(call_hook(&hook, "describe", Py_BuildValue("(O)", object), &described));
    DT_TRY(dt_python_meta(&hook, described, &meta));
    bool exact_sizes = trace->options.dynamic == 0;
    PyObject *spec = dt_trace_keep_take(trace, make_spec(adapter, object, described, exact_sizes));
    if (spec == NULL) {
        return dt_break_on_exception(trace);
    }
    DT_TRY(dt_guard_type(trace, source, Py_TYPE(object)));
    DT_TRY(add_guard(adapter, trace, DT_GUARD_ADAPTER, source, spec));
    PyObject *sizes = PyTuple_GET_ITEM(spec, SPEC_SIZES);
    for (int i = 0; i < meta->ndim; i++) {
        if (PyTuple_GET_ITEM(sizes, i) == Py_None) {
            const DtSource *dim = dt_source_get(trace, DT_SOURCE_ARRAY_DIM, source, NULL, i);
            if (dim == NULL) {
                return DT_ERROR;
            }
            DT_TRY(dt_trace_symbol(trace, dim, DT_SYM_INT, meta->shape[i]->hint, &meta->shape[i]));
        }
    }
    DtNode *node;
    DT_TRY(dt_graph_input(trace->graph, source, meta, &node));
    DT_TRY(dt_var_array(trace, node, 0, meta, out));
    (*out)->source = source;
    return DT_OK;
}

/* 1, 0, -1: does attribute `name` of the description equal `expected`? */
static int
attr_equals(PyObject *meta, const char *name, PyObject *expected)
{
    PyObject *found = dt_python_attr(meta, name);
    if (found == NULL) {
        return -1;
    }
    int equal = PyObject_RichCompareBool(found, expected, Py_EQ);
    Py_DECREF(found);
    return equal;
}

static int
sizes_fit(PyObject *meta, PyObject *sizes)
{
    PyObject *shape = dt_python_attr(meta, "shape");
    int fit = shape == NULL
                  ? -1
                  : PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) == PyTuple_GET_SIZE(sizes);
    for (Py_ssize_t i = 0; fit == 1 && i < PyTuple_GET_SIZE(sizes); i++) {
        long size = PyLong_AsLong(PyTuple_GET_ITEM(shape, i));
        PyObject *expected = PyTuple_GET_ITEM(sizes, i);
        fit = PyErr_Occurred()      ? -1
              : expected == Py_None ? size >= 2
                                    : size == PyLong_AsLong(expected);
    }
    Py_XDECREF(shape);
    return fit;
}

static int
py_check(const DtAdapter *adapter, const void *data, PyObject *object)
{
    PyObject *spec = *(PyObject *const *)data;
    int is_array = ask(adapter, "is_array", object, NULL);
    if (is_array != 1) {
        return is_array;
    }
    PyObject *meta = call_plain(adapter, "describe", object);
    if (meta == NULL) {
        return -1;
    }
    int fits = attr_equals(meta, "dtype", PyTuple_GET_ITEM(spec, SPEC_DTYPE));
    if (fits == 1) {
        fits = attr_equals(meta, "device", PyTuple_GET_ITEM(spec, SPEC_DEVICE));
    }
    if (fits == 1) {
        fits = attr_equals(meta, "extra", PyTuple_GET_ITEM(spec, SPEC_EXTRA));
    }
    if (fits == 1) {
        fits = sizes_fit(meta, PyTuple_GET_ITEM(spec, SPEC_SIZES));
    }
    Py_DECREF(meta);
    return fits == 1 ? ask(adapter, "check", PyTuple_GET_ITEM(spec, SPEC_OWN), object) : fits;
}

/* For people: str() of builtin constants, the type's name of anything else. */
static void
add_object(DtStrbuf *buf, PyObject *object)
{
    PyObject *text = PyUnicode_CheckExact(object) ? Py_NewRef(object) : PyObject_Repr(object);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    if (utf8 == NULL) {
        PyErr_Clear(); /* a repr that fails: the text names the type instead */
        utf8 = Py_TYPE(object)->tp_name;
    }
    dt_strbuf_add(buf, utf8);
    Py_XDECREF(text);
}

static void
py_print_guard(const DtAdapter *adapter, const void *data, DtStrbuf *buf)
{
    PyObject *spec = *(PyObject *const *)data;
    (void)adapter;
    if (!PyTuple_Check(spec) || PyTuple_GET_SIZE(spec) != SPEC_COUNT) {
        add_object(buf, spec);
        return;
    }
    add_object(buf, PyTuple_GET_ITEM(spec, SPEC_TYPE));
    dt_strbuf_add(buf, " of ");
    add_object(buf, PyTuple_GET_ITEM(spec, SPEC_DTYPE));
    dt_strbuf_add(buf, ", sizes ");
    add_object(buf, PyTuple_GET_ITEM(spec, SPEC_SIZES));
    for (int i = SPEC_DEVICE; i < SPEC_COUNT; i++) {
        static const char *const titles[] = {
            [SPEC_DEVICE] = ", device ", [SPEC_EXTRA] = ", extra ", [SPEC_OWN] = ", guard "};
        if (titles[i] != NULL && PyTuple_GET_ITEM(spec, i) != Py_None) {
            dt_strbuf_add(buf, titles[i]);
            add_object(buf, PyTuple_GET_ITEM(spec, i));
        }
    }
}

static void
py_print_found(const DtAdapter *adapter, PyObject *object, DtStrbuf *buf)
{
    if (object == NULL || ask(adapter, "is_array", object, NULL) != 1) {
        PyErr_Clear(); /* is_array failed: the type tells enough */
        dt_strbuf_add(buf, object == NULL ? "missing" : Py_TYPE(object)->tp_name);
        return;
    }
    PyObject *meta = call_plain(adapter, "describe", object);
    PyObject *spec = meta == NULL ? NULL : make_spec(adapter, object, meta, true);
    if (spec != NULL) {
        py_print_guard(adapter, &spec, buf);
    }
    else {
        PyErr_Clear(); /* describe failed: the type tells enough */
        dt_strbuf_add(buf, Py_TYPE(object)->tp_name);
    }
    Py_XDECREF(meta);
    Py_XDECREF(spec);
}

static int64_t
py_dim(const DtAdapter *adapter, PyObject *object, int dim)
{
    PyObject *meta = call_plain(adapter, "describe", object);
    PyObject *shape = meta == NULL ? NULL : dt_python_attr(meta, "shape");
    int64_t size = -1;
    if (shape != NULL && PyTuple_Check(shape) && dim < PyTuple_GET_SIZE(shape)) {
        size = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, dim));
    }
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(hooks_of(adapter)); /* -1 is no size: the conditions on it fail */
        size = -1;
    }
    Py_XDECREF(meta);
    Py_XDECREF(shape);
    return size;
}

static PyObject *
py_spec_to_object(const DtAdapter *adapter, const void *data)
{
    (void)adapter;
    return Py_NewRef(*(PyObject *const *)data);
}

static DtStatus
py_spec_from_object(const DtAdapter *adapter, DtTrace *trace, PyObject *object, void **spec,
                    size_t *size)
{
    PyObject **place = DT_ARENA_NEW(&trace->arena, PyObject *);
    (void)adapter;
    if (place == NULL) {
        return dt_no_memory();
    }
    if (!PyTuple_Check(object)
        || (PyTuple_GET_SIZE(object) != SPEC_COUNT && PyTuple_GET_SIZE(object) != 1)
        || (PyTuple_GET_SIZE(object) == SPEC_COUNT
            && !PyTuple_Check(PyTuple_GET_ITEM(object, SPEC_SIZES)))) {
        PyErr_Format(PyExc_ValueError, "guard of adapter '%s' is damaged", adapter->name);
        return DT_ERROR;
    }
    DT_TRY(dt_trace_keep(trace, object));
    *place = object;
    *spec = place;
    *size = sizeof(*place);
    return DT_OK;
}

static DtStatus
py_guard_state(const DtAdapter *adapter, DtTrace *trace)
{
    DtHook hook = new_hook(adapter, trace);
    PyObject *state;
    DT_TRY(call_hook(&hook, "state", PyTuple_New(0), &state));
    if (state == Py_None) {
        return DT_OK;
    }
    PyObject *spec = dt_trace_keep_take(trace, PyTuple_Pack(1, state));
    return spec == NULL ? DT_ERROR : add_guard(adapter, trace, DT_GUARD_ADAPTER_STATE, NULL, spec);
}

static int
py_check_state(const DtAdapter *adapter, const void *data)
{
    return ask(adapter, "check_state", PyTuple_GET_ITEM(*(PyObject *const *)data, 0), NULL);
}

/* ---- Registration ---------------------------------------------------------------------------- */

static const DtAdapter python_slots = {
    .is_array = py_is_array,
    .owns_callable = py_owns_callable,
    .build = py_build,
    .call = py_call,
    .binary = py_binary,
    .compare = py_compare,
    .unary = py_unary,
    .length = py_length,
    .subscript = py_subscript,
    .ass_subscript = py_ass_subscript,
    .getattr = py_getattr,
    .call_method = py_call_method,
    .check = py_check,
    .print_guard = py_print_guard,
    .print_found = py_print_found,
    .dim = py_dim,
    .spec_to_object = py_spec_to_object,
    .spec_from_object = py_spec_from_object,
    .guard_state = py_guard_state,
    .check_state = py_check_state,
};

static PyObject *
register_adapter(PyObject *Py_UNUSED(module), PyObject *object)
{
    PyObject *name = dt_python_attr(object, "name");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    DtAdapter *adapter = text == NULL ? NULL : PyMem_Malloc(sizeof(*adapter));
    if (text == NULL || adapter == NULL || dt_python_values_init() < 0) {
        goto fail;
    }
    *adapter = python_slots;
    adapter->name = text;
    adapter->state = object;
    if (dt_adapter_register(adapter) < 0) {
        goto fail;
    }
    /* The name and the object stay for ever: programs and graphs point to the adapter. */
    Py_INCREF(object);
    Py_RETURN_NONE;
fail:
    PyMem_Free(adapter);
    Py_XDECREF(name);
    return text != NULL && !PyErr_Occurred() ? PyErr_NoMemory() : NULL;
}

static PyObject *
unregister_adapter(PyObject *Py_UNUSED(module), PyObject *object)
{
    PyObject *name = dt_python_attr(object, "name");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    const DtAdapter *adapter = text == NULL ? NULL : dt_adapter_by_name(text);
    if (text != NULL && (adapter == NULL || adapter->state != object)) {
        PyErr_Format(PyExc_ValueError, "adapter '%s' is not registered", text);
        adapter = NULL;
    }
    Py_XDECREF(name);
    if (adapter == NULL) {
        return NULL;
    }
    dt_adapter_unregister(adapter);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"register_adapter", register_adapter, METH_O,
     PyDoc_STR("register_adapter(adapter)\n\nSee dyntrace.adapters.register.")},
    {"unregister_adapter", unregister_adapter, METH_O,
     PyDoc_STR("unregister_adapter(adapter)\n\nSee dyntrace.adapters.unregister.")},
    {NULL, NULL, 0, NULL},
};

int
dt_python_adapter_add(PyObject *module)
{
    return dt_number_init() < 0 || dt_std_random_init() < 0 || dt_symint_add(module) < 0
                   || PyModule_AddFunctions(module, methods) < 0
               ? -1
               : 0;
}
