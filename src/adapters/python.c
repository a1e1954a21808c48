/* Adapters written in Python; see python.h and python/dyntrace/adapters.py.
 *
 *   tracker slots ──► hook of the Python object, arrays shown as Meta objects
 *   hook's answer ──► graph node, tracker, or graph break
 *
 * Invariants: every hook runs inside a DtSymScope; a Meta or SymInt that a hook
 * kept from an earlier call is refused.  The DtAdapter of a Python object lives
 * for ever, because programs and graphs refer to it without owning it.
 *
 * Not in here: calling hooks (python_hooks.c), arrays and their guards
 * (python_arrays.c), conversions between trackers and Python objects
 * (python_values.c), SymInt (symint.c).
 */
#include "adapters/python.h"

#include <string.h>

#include "adapters/numbers.h"
#include "adapters/std_random.h"
#include "adapters/python_arrays.h"
#include "adapters/python_hooks.h"
#include "adapters/symint.h"
#include "graph/graph.h"

/* ---- Slots: operations ----------------------------------------------------------------------- */

static DtStatus
two_operands(const DtAdapter *adapter, DtTrace *trace, const char *name, const char *op, DtVar *l,
             DtVar *r, DtVar **out)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *left, *right, *answer;
    DT_TRY(dt_python_hook_show(&hook, l, &left));
    DT_TRY(dt_python_hook_show(&hook, r, &right));
    DT_TRY(dt_python_hook_call(&hook, name, Py_BuildValue("(sOO)", op, left, right), &answer));
    return dt_python_hook_accept(&hook, answer, out);
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
    DtHook hook = dt_python_hook_new(adapter, trace);
    return *out != NULL
               ? DT_OK
               : dt_python_hook_refused(&hook, "operator ", dt_canonical_binary_symbol((int)op));
}

static DtStatus
py_compare(const DtAdapter *adapter, DtTrace *trace, int op, DtVar *l, DtVar *r, DtVar **out)
{
    static const char *const texts[] = {[Py_LT] = "<",  [Py_LE] = "<=", [Py_EQ] = "==",
                                        [Py_NE] = "!=", [Py_GT] = ">",  [Py_GE] = ">="};
    DT_TRY(two_operands(adapter, trace, "compare", texts[op], l, r, out));
    DtHook hook = dt_python_hook_new(adapter, trace);
    return *out != NULL ? DT_OK : dt_python_hook_refused(&hook, "comparison ", texts[op]);
}

/* What the core calls an operator, and what hooks do. */
static const struct {
    const char *name;
    const char *symbol;
} unary_symbols[] = {{"negative", "-"}, {"positive", "+"}, {"invert", "~"}, {"absolute", "abs"}};

static DtStatus
py_unary(const DtAdapter *adapter, DtTrace *trace, const char *op, DtArrayVar *self, DtVar **out)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *array, *answer;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(unary_symbols); i++) {
        op = strcmp(op, unary_symbols[i].name) == 0 ? unary_symbols[i].symbol : op;
    }
    DT_TRY(dt_python_hook_show(&hook, &self->base, &array));
    DT_TRY(dt_python_hook_call(&hook, "unary", Py_BuildValue("(sO)", op, array), &answer));
    DT_TRY(dt_python_hook_accept(&hook, answer, out));
    return *out != NULL ? DT_OK : dt_python_hook_refused(&hook, "operator ", op);
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
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *array, *index, *answer;
    DT_TRY(dt_python_hook_show(&hook, &self->base, &array));
    DT_TRY(dt_python_hook_show(&hook, key, &index));
    DT_TRY(dt_python_hook_call(&hook, "getitem", Py_BuildValue("(OO)", array, index), &answer));
    DT_TRY(dt_python_hook_accept(&hook, answer, out));
    return *out != NULL ? DT_OK : dt_python_hook_refused(&hook, "[]", "");
}

static DtStatus
py_ass_subscript(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, DtVar *key,
                 DtVar *value)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *array, *index, *item, *answer;
    DtVar *out;
    if (value == NULL) {
        return dt_python_hook_refused(&hook, "del []", "");
    }
    DT_TRY(dt_python_hook_show(&hook, &self->base, &array));
    DT_TRY(dt_python_hook_show(&hook, key, &index));
    DT_TRY(dt_python_hook_show(&hook, value, &item));
    DT_TRY(
        dt_python_hook_call(&hook, "setitem", Py_BuildValue("(OOO)", array, index, item), &answer));
    DT_TRY(dt_python_hook_accept(&hook, answer, &out));
    return out != NULL ? DT_OK : dt_python_hook_refused(&hook, "[] =", "");
}

static DtStatus
py_getattr(const DtAdapter *adapter, DtTrace *trace, DtArrayVar *self, PyObject *name, DtVar **out)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *array, *answer;
    DT_TRY(dt_python_hook_show(&hook, &self->base, &array));
    DT_TRY(dt_python_hook_call(&hook, "getattr", Py_BuildValue("(OO)", array, name), &answer));
    if (dt_python_is_method(answer)) {
        return dt_var_adapter_method(trace, self, name, out);
    }
    DT_TRY(dt_python_hook_accept(&hook, answer, out));
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    return *out != NULL ? DT_OK : dt_python_hook_refused(&hook, "attribute ", text);
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
        DT_TRY(dt_python_hook_show(hook, args->pos[i], &value));
        PyTuple_SET_ITEM(*pos, i, Py_NewRef(value));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        PyObject *value;
        DT_TRY(dt_python_hook_show(hook, args->kw[i], &value));
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
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *array, *pos, *kw, *answer;
    DT_TRY(dt_python_hook_show(&hook, &self->base, &array));
    DT_TRY(show_args(&hook, args, &pos, &kw));
    DT_TRY(dt_python_hook_call(&hook, "method", Py_BuildValue("(OOOO)", array, name, pos, kw),
                               &answer));
    DT_TRY(dt_python_hook_accept(&hook, answer, out));
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return DT_ERROR;
    }
    return *out != NULL ? DT_OK : dt_python_hook_refused(&hook, "method ", text);
}

static DtStatus
py_call(const DtAdapter *adapter, DtTrace *trace, PyObject *callable, const DtArgs *args,
        DtVar **out)
{
    DtHook hook = dt_python_hook_new(adapter, trace);
    PyObject *pos, *kw, *answer;
    DT_TRY(show_args(&hook, args, &pos, &kw));
    DT_TRY(dt_python_hook_call(&hook, "call", Py_BuildValue("(OOO)", callable, pos, kw), &answer));
    DT_TRY(dt_python_hook_accept(&hook, answer, out));
    return *out != NULL ? DT_OK : dt_python_hook_refused(&hook, "this function", "");
}

/* Whose memory an array shows is not told. */
static bool
anywhere(const DtAdapter *adapter, PyObject *array, const char **low, const char **high)
{
    (void)adapter;
    (void)array;
    *low = NULL;
    *high = (const char *)UINTPTR_MAX;
    return true;
}

/* ---- Registration ---------------------------------------------------------------------------- */

static const DtAdapter python_slots = {
    .is_array = dt_python_is_array,
    .owns_callable = dt_python_owns_callable,
    .build = dt_python_build,
    .call = py_call,
    .binary = py_binary,
    .compare = py_compare,
    .unary = py_unary,
    .length = py_length,
    .subscript = py_subscript,
    .ass_subscript = py_ass_subscript,
    .getattr = py_getattr,
    .call_method = py_call_method,
    .check = dt_python_check,
    .print_guard = dt_python_print_guard,
    .print_found = dt_python_print_found,
    .dim = dt_python_dim,
    .extent = anywhere,
    .spec_to_object = dt_python_spec_to_object,
    .spec_from_object = dt_python_spec_from_object,
    .guard_state = dt_python_guard_state,
    .check_state = dt_python_check_state,
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
