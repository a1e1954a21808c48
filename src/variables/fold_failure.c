/* Operations that can't succeed: their exception is found by performing them on stand-ins of the
 * same types: see fold.h.
 */
#include "compat/import.h"
#include <string.h>

#include "compat/type.h"
#include "variables/numbers/array_numbers.h"
#include "variables/fold.h"

/* An instance of a class of the same name, which has no methods at all. */
static PyObject *
namesake_of(PyTypeObject *type)
{
    PyObject *module = NULL, *qualname = NULL, *namespace = PyDict_New();
    bool heap = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
    module = PyUnicode_FromString("builtins");
    if (heap) {
        qualname = Py_NewRef(((PyHeapTypeObject *)type)->ht_qualname);
        PyObject *key = PyUnicode_InternFromString("__module__");
        PyObject *own = key != NULL ? dt_type_own_lookup(type, key) : NULL;
        if (own != NULL && PyUnicode_CheckExact(own)) {
            Py_XDECREF(module);
            module = Py_NewRef(own);
        }
        Py_XDECREF(key);
    }
    PyObject *cls = NULL, *instance = NULL;
    if (namespace != NULL && module != NULL
        && PyDict_SetItemString(namespace, "__module__", module) == 0
        && (qualname == NULL || PyDict_SetItemString(namespace, "__qualname__", qualname) == 0)) {
        cls = PyObject_CallFunction((PyObject *)&PyType_Type, "s()O", type->tp_name, namespace);
    }
    if (cls != NULL) {
        instance = PyObject_CallNoArgs(cls);
    }
    Py_XDECREF(cls);
    Py_XDECREF(module);
    Py_XDECREF(qualname);
    Py_XDECREF(namespace);
    return instance;
}

/* An empty object of a C type whose methods check their first argument; NULL without an exception:
 * it is another sort of type. */
static PyObject *
empty_of(PyTypeObject *type)
{
    PyTypeObject *layout = dt_build_layout(type);
    if (layout == NULL || !dt_payload_is_hidden(layout)) {
        return NULL;
    }
    PyObject *none = PyTuple_New(0);
    PyObject *made = none != NULL ? layout->tp_new(type, none, NULL) : NULL;
    Py_XDECREF(none);
    return made;
}

static PyObject *
filled(DtVar *var)
{
    DtSeqVar *sequence = (DtSeqVar *)var;
    PyObject *list = PyList_New(sequence->count);
    for (uint32_t i = 0; list != NULL && i < sequence->count; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(Py_None));
    }
    if (list != NULL && var->type->kind == DT_KIND_TUPLE) {
        PyObject *tuple = PyList_AsTuple(list);
        Py_DECREF(list);
        return tuple;
    }
    return list;
}

DtStatus
dt_fold_stand_in(DtTrace *trace, DtVar *var, PyObject **out)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    DT_TRY(dt_fold_value(trace, var, out));
    if (*out != NULL) {
        return DT_OK;
    }
    if (var->type->kind == DT_KIND_ARRAY) { /* as an index it fails in ways of its own */
        return dt_break(trace, DT_BREAK_ARRAY_TO_SCALAR, "%s in such a place",
                        dt_array_is_number(var) ? "a number of an array" : "an array");
    }
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (type == NULL) {
        return dt_break(trace, DT_BREAK_UNKNOWN_TYPE, "a failing operation on a %s",
                        var->type->name);
    }
    *out = empty_of(type);
    if (*out != NULL || PyErr_Occurred()) {
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    *out = type == &PyTuple_Type || type == &PyList_Type ? filled(var)
           : type == &PyDict_Type                        ? PyDict_New()
           : type == &PySet_Type                         ? PySet_New(NULL)
           : type == &PyFrozenSet_Type                   ? PyFrozenSet_New(NULL)
                                                         : namesake_of(type);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
stand_ins(DtTrace *trace, const DtArgs *args, PyObject *values, PyObject *keywords)
{
    for (uint32_t i = 0; i < args->npos + args->nkw; i++) {
        PyObject *value;
        DtVar *arg = i < args->npos ? args->pos[i] : args->kw[i - args->npos];
        DT_TRY(dt_fold_stand_in(trace, arg, &value));
        DT_TRY(dt_fold_put_argument(args, i, value, values, keywords));
    }
    return DT_OK;
}

/* Are the classes called the same in messages, as random.Random and _random.Random are? */
static bool
same_name(const PyTypeObject *a, const PyTypeObject *b)
{
    const char *one = strrchr(a->tp_name, '.'), *other = strrchr(b->tp_name, '.');
    return strcmp(one != NULL ? one + 1 : a->tp_name, other != NULL ? other + 1 : b->tp_name) == 0;
}

/* A method of C asks its first argument for its class before anything else, so what stands for it
 * has to be as much of that class.  One that is inherited says which class defines it, and where it
 * was bound before, that of the object. */
static DtStatus
check_receiver(DtTrace *trace, PyObject *callable, const DtArgs *args, PyObject *values)
{
    bool is_method = Py_IS_TYPE(callable, &PyMethodDescr_Type);
    if (args->npos == 0 || !(is_method || Py_IS_TYPE(callable, &PyWrapperDescr_Type))) {
        return DT_OK;
    }
    PyTypeObject *of = ((PyDescrObject *)callable)->d_type;
    PyTypeObject *type = dt_var_python_type(trace, args->pos[0]);
    bool inherits = type != NULL && type != of && PyType_IsSubtype(type, of);
    bool stands = PyObject_TypeCheck(PyTuple_GET_ITEM(values, 0), of);
    if (type != NULL && !(inherits && is_method && !same_name(type, of))
        && stands == (type == of || inherits)) {
        return DT_OK;
    }
    return dt_break(trace, DT_BREAK_CALL_MISMATCH, "%s() of a %s",
                    dt_kinds_text(((PyDescrObject *)callable)->d_name),
                    dt_kinds_type_name(trace, args->pos[0]));
}

/* `result` of something that should have raised. */
static DtStatus
expect_failure(DtTrace *trace, PyObject *result, const char *what)
{
    if (result == NULL) {
        return dt_raise_from_exception(trace);
    }
    Py_DECREF(result);
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "%s with such arguments", what);
}

DtStatus
dt_fold_failure(DtTrace *trace, PyObject *callable, const DtArgs *args)
{
    PyObject *values = PyTuple_New(args->npos);
    PyObject *keywords = args->nkw > 0 ? PyDict_New() : NULL;
    DtStatus status = DT_ERROR;
    if (values != NULL && (args->nkw == 0 || keywords != NULL)) {
        status = stand_ins(trace, args, values, keywords);
    }
    if (status == DT_OK) {
        status = check_receiver(trace, callable, args, values);
    }
    if (status == DT_OK) {
        char buffer[DT_FOLD_NAME_SIZE];
        status = expect_failure(trace, PyObject_Call(callable, values, keywords),
                                dt_fold_name(callable, buffer));
    }
    Py_XDECREF(values);
    Py_XDECREF(keywords);
    return status;
}

static DtStatus
fail_and_drop(DtTrace *trace, DT_STEALS PyObject *callable, DtVar *const *args, uint32_t nargs)
{
    if (callable == NULL) {
        return DT_ERROR;
    }
    DtArgs all = dt_args_of((DtVar **)(uintptr_t)args, nargs);
    DtStatus status = dt_fold_failure(trace, callable, &all);
    Py_DECREF(callable);
    return status;
}

DtStatus
dt_fold_operator_failure(DtTrace *trace, const char *name, DtVar *const *args, uint32_t nargs)
{
    return fail_and_drop(trace, dt_import_attr("operator", name), args, nargs);
}

DtStatus
dt_fold_method_failure(DtTrace *trace, DtVar *self, const char *name, DtVar *const *args,
                       uint32_t nargs)
{
    PyObject *receiver;
    DT_TRY(dt_fold_stand_in(trace, self, &receiver));
    PyObject *callable = PyObject_GetAttrString(receiver, name);
    Py_DECREF(receiver);
    if (callable == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* what stands for an instance of a subclass has no methods */
        return dt_break(trace, DT_BREAK_RAISES, "%s() of a %s fails", name,
                        dt_kinds_type_name(trace, self));
    }
    return fail_and_drop(trace, callable, args, nargs);
}

DtStatus
dt_fold_builtin_failure(DtTrace *trace, const char *name, DtVar *arg)
{
    return fail_and_drop(trace, dt_import_attr("builtins", name), &arg, 1);
}

/* An operand of an operator that fails: one of a class derived from a builtin type inherits
 * operators, which have errors of their own; its namesake has none. */
static DtStatus
stand_in_operand(DtTrace *trace, DtVar *var, PyObject **out)
{
    DT_TRY(dt_fold_stand_in(trace, var, out));
    PyTypeObject *type = dt_var_python_type(trace, var);
    PyTypeObject *layout = type != NULL ? dt_build_layout(type) : NULL;
    /* The operators of dicts leave the word to the interpreter. */
    bool silent = layout != NULL && PyType_IsSubtype(layout, &PyDict_Type);
    return layout == NULL || silent || PyObject_TypeCheck(*out, layout)
               ? DT_OK
               : dt_break(trace, DT_BREAK_MISSING_SLOT, "an operator that a %s inherits",
                          dt_kinds_type_name(trace, var));
}

DtStatus
dt_fold_binary_failure(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right)
{
    PyObject *a = NULL, *b = NULL;
    DtStatus status = stand_in_operand(trace, left, &a);
    if (status == DT_OK) {
        status = stand_in_operand(trace, right, &b);
    }
    if (status == DT_OK) {
        status = expect_failure(trace, dt_constant_operate(op, a, b),
                                dt_canonical_binary_symbol((int)op));
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    return status;
}
