/* Functions of NumPy that are written in Python and have no rule: they are followed as the user's
 * are.
 *
 *   function of a numpy module ──► a function like any other (dt_np_follows)
 *   np.polyval, which asks its arguments for an __array_function__ first
 *       ──► nobody has one: the function behind it
 *       ──► an object of the program has one: that is followed, as NumPy calls it
 *
 * A break in such a function is a break at its call: frames of NumPy are never captured (reach.h).
 * Not in here: functions with rules (table.c), __array_ufunc__ (overrides.c).
 */
#include "adapters/numpy/internal.h"

#include "compat/type_names.h"
#include "variables/kinds.h"
#include "variables/substitutes.h"

bool
dt_np_follows(const DtAdapter *adapter, PyObject *callable)
{
    (void)adapter;
    return PyFunction_Check(callable) && !dt_np_has_row(callable);
}

/* The __array_function__ of an argument; *out NULL: it has none but ndarray's.  Guarded. */
static DtStatus
find_override(DtTrace *trace, DtVar *var, PyObject **out)
{
    PyTypeObject *type = dt_var_python_type(trace, var);
    *out = NULL;
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "a function of numpy with a %s", var->type->name);
    }
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return DT_OK; /* those of C that have one are arrays, and numbers of NumPy don't */
    }
    DtClassAttr attr;
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("__array_function__"));
    if (name == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_class_lookup(trace, var, type, name, &attr));
    *out = attr.found != dt_type_find(&PyArray_Type, name) ? attr.found : NULL;
    return DT_OK;
}

typedef struct Asked {
    DtVar *owner; /* whose __array_function__ it is, or NULL */
    PyObject *method;
    bool direct;  /* it is the first argument itself */
    bool several; /* somebody else has one, too ... */
    bool arrays;  /* ... as arrays have: they are told whether they are among those asked */
} Asked;

static DtStatus
ask(DtTrace *trace, DtVar *var, int depth, Asked *asked)
{
    bool none;
    DT_TRY(dt_np_holds_no_array(trace, var, &none));
    if (none) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, var, &var));
    DtKind kind = var->type->kind;
    if (kind == DT_KIND_TUPLE || kind == DT_KIND_LIST) {
        DtSeqVar *sequence = (DtSeqVar *)var;
        if (depth > DT_NP_MAXDIMS) {
            return dt_np_break_deep(trace);
        }
        for (uint32_t i = 0; i < sequence->count; i++) {
            DT_TRY(ask(trace, sequence->items[i], depth + 1, asked));
        }
        return DT_OK;
    }
    if (kind == DT_KIND_CONSTANT) {
        return DT_OK;
    }
    const DtArrayVar *array = dt_np_any_array(var);
    if (array != NULL) {
        asked->arrays = asked->arrays || dt_np_is_ndarray(array);
        return DT_OK;
    }
    PyObject *method;
    DT_TRY(find_override(trace, var, &method));
    if (method != NULL) {
        asked->several = asked->several || (asked->owner != NULL && asked->owner != var);
        asked->owner = var;
        asked->method = method;
        asked->direct = depth == 0;
    }
    else if (PyType_IsSubtype(dt_var_python_type(trace, var), &PyArray_Type)) {
        asked->arrays = true;
    }
    return DT_OK;
}

/* method(func, types, args, kwargs), as NumPy calls it. */
static DtStatus
call_override(DtTrace *trace, PyObject *callable, DtVar *owner, const DtArgs *args, DtVar **out)
{
    DtVar *method, *type, *pos[4];
    DtDictVar *kwargs;
    DT_TRY(dt_instance_special(trace, owner, "__array_function__", &method));
    DT_TRY(dt_class_of(trace, owner, &type));
    DT_TRY(dt_build_known(trace, callable, &pos[0]));
    DT_TRY(dt_var_tuple(trace, &type, 1, &pos[1]));
    DT_TRY(dt_var_tuple(trace, args->pos, args->npos, &pos[2]));
    DT_TRY(dt_dict_new(trace, &kwargs));
    for (uint32_t i = 0; i < args->nkw; i++) {
        DtVar *name;
        DT_TRY(dt_var_const(trace, args->kwnames[i], &name));
        DT_TRY(dt_dict_store(trace, kwargs, name, args->kw[i]));
    }
    pos[3] = &kwargs->base;
    DtArgs all = dt_args_of(pos, 4);
    DT_TRY(dt_var_call(trace, method, &all, out));
    DT_TRY(dt_var_realize(trace, *out, out));
    return dt_var_peek_constant(*out) == Py_NotImplemented
               ? dt_break(trace, DT_BREAK_RAISES,
                          "a function of numpy with an operand that refuses")
               : DT_OK;
}

/* Is it what a module of NumPy's has under its name?  Others may be made by NumPy's means, too, and
 * the function that finds their arguments may do anything. */
static bool
is_numpys_own(PyObject *callable)
{
    PyObject *where = PyObject_GetAttrString(callable, "__module__");
    PyObject *name = where != NULL ? PyObject_GetAttrString(callable, "__name__") : NULL;
    const char *text = name != NULL && PyUnicode_Check(where) ? PyUnicode_AsUTF8(where) : NULL;
    PyObject *found = NULL;
    if (text != NULL && strncmp(text, "numpy", 5) == 0 && (text[5] == '\0' || text[5] == '.')) {
        PyObject *module = PyImport_GetModule(where);
        found = module != NULL ? PyObject_GetAttr(module, name) : NULL;
        Py_XDECREF(module);
    }
    PyErr_Clear(); /* whatever is missing: it is none of NumPy's */
    Py_XDECREF(where);
    Py_XDECREF(name);
    Py_XDECREF(found);
    return found == callable;
}

/* The Python function behind a dispatching one of NumPy's, kept by it; NULL: there is none. */
static PyObject *
implementation_of(PyObject *callable)
{
    if (!is_numpys_own(callable)) {
        return NULL;
    }
    PyObject *function = PyObject_GetAttrString(callable, "_implementation"); /* a member of C */
    if (function == NULL || !PyFunction_Check(function)) {
        Py_XDECREF(function);
        PyErr_Clear(); /* one whose function is of C */
        return NULL;
    }
    Py_DECREF(function);
    return function;
}

DtStatus
dt_np_try_array_function(DtTrace *trace, PyObject *callable, const DtArgs *args, bool *found,
                         DtVar **out)
{
    Asked asked = {0};
    *found = false;
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(ask(trace, args->pos[i], i == 0 ? 0 : 1, &asked));
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        DT_TRY(ask(trace, args->kw[i], 1, &asked));
    }
    if (asked.owner == NULL) {
        return DT_OK;
    }
    PyObject *function = implementation_of(callable);
    if (asked.several || asked.arrays || !asked.direct
        || asked.owner->type->kind != DT_KIND_INSTANCE || !PyFunction_Check(asked.method)
        || function == NULL || !dt_substitute_takes(function, args)) {
        return dt_break(trace, DT_BREAK_ARRAY_OP,
                        "a function of numpy with an __array_function__ that is not followed");
    }
    *found = true;
    return call_override(trace, callable, asked.owner, args, out);
}

DtStatus
dt_np_call_implementation(DtTrace *trace, PyObject *callable, const DtArgs *args, bool *found,
                          DtVar **out)
{
    PyObject *function = implementation_of(callable);
    *found = function != NULL;
    if (function == NULL) {
        return DT_OK;
    }
    DtVar *var;
    DT_TRY(dt_build_known(trace, function, &var));
    return dt_var_call(trace, var, args, out);
}
