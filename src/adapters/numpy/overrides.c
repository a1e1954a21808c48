/* Objects of the program beside arrays: who has the word (NEP 13).
 *
 * An operator of an array gives way to an object whose class says __array_ufunc__ = None, or has
 * none and a greater __array_priority__: its reflected method is followed.  Ufuncs hand the call
 * over to an __array_ufunc__ that is a function, which is followed, too.  Everything else NumPy
 * makes an array of, which is not in a graph.
 */
#include "adapters/numpy/internal.h"

#include "compat/type_names.h"
#include "variables/kinds.h"

static DtStatus
look_up(DtTrace *trace, DtVar *var, PyTypeObject *cls, const char *text, PyObject **name,
        DtClassAttr *out)
{
    *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text));
    return *name != NULL ? dt_class_lookup(trace, var, cls, *name, out) : DT_ERROR;
}

static bool
is_plain_number(PyObject *object)
{
    return object != NULL && (PyFloat_CheckExact(object) || PyLong_CheckExact(object));
}

/* __array_priority__, which an instance may have itself, is greater than an array's. */
static DtStatus
has_priority(DtTrace *trace, DtVar *var, PyTypeObject *cls, bool *out)
{
    PyObject *name;
    DtClassAttr attr;
    DtVar *value;
    DT_TRY(look_up(trace, var, cls, "__array_priority__", &name, &attr));
    *out = false;
    if (!is_plain_number(attr.found)) {
        return DT_OK;
    }
    DT_TRY(dt_var_getattr(trace, var, name, &value));
    DT_TRY(dt_var_realize(trace, value, &value));
    PyObject *priority = dt_var_as_constant(trace, value);
    if (!is_plain_number(priority)) {
        return PyErr_Occurred() ? DT_ERROR : DT_OK;
    }
    double number = PyFloat_AsDouble(priority);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear(); /* a huge int, of which NumPy says what it says */
        return DT_OK;
    }
    *out = number > 0.0;
    return DT_OK;
}

DtStatus
dt_np_overrider(DtTrace *trace, DtVar *var, bool in_place, bool *defers, DtVar **method)
{
    PyObject *name;
    DtClassAttr attr;
    *method = NULL;
    *defers = false;
    PyTypeObject *cls = var->type->kind == DT_KIND_INSTANCE ? dt_var_python_type(trace, var) : NULL;
    if (cls == NULL || PyType_IsSubtype(cls, &PyArray_Type)
        || PyType_IsSubtype(cls, &PyGenericArrType_Type)) {
        return DT_OK;
    }
    DT_TRY(look_up(trace, var, cls, "__array_ufunc__", &name, &attr));
    if (attr.found == NULL) {
        return has_priority(trace, var, cls, defers);
    }
    *defers = attr.found == Py_None && !in_place;
    return PyFunction_Check(attr.found) ? dt_instance_special(trace, var, "__array_ufunc__", method)
                                        : DT_OK;
}

DtStatus
dt_np_call_override(DtTrace *trace, DtNpOp op, DtVar *method, DtVar *const *inputs, uint32_t count,
                    DtVar **out)
{
    DtVar *pos[2 + DT_NP_MAXARGS];
    PyObject *ufunc = dt_np_callee(op);
    PyObject *call = dt_trace_keep_take(trace, PyUnicode_InternFromString("__call__"));
    if (ufunc == NULL || call == NULL || count > DT_NP_MAXARGS) {
        return DT_ERROR;
    }
    DT_TRY(dt_build_known(trace, ufunc, &pos[0]));
    DT_TRY(dt_var_const(trace, call, &pos[1]));
    for (uint32_t i = 0; i < count; i++) {
        pos[i + 2] = inputs[i];
    }
    DtArgs args = dt_args_of(pos, count + 2);
    DT_TRY(dt_var_call(trace, method, &args, out));
    DT_TRY(dt_var_realize(trace, *out, out));
    return dt_var_peek_constant(*out) == Py_NotImplemented
               ? dt_break(trace, DT_BREAK_RAISES, "%s with an operand that refuses",
                          dt_np_target(op))
               : DT_OK;
}

/* Of an operand whose word is not followed: NumPy would ask it, too, and first, perhaps.  None
 * refuses the call, whatever the others say.  Classes of the program are known by their instances
 * only. */
static DtStatus
has_another_word(DtTrace *trace, DtVar *var, bool *out)
{
    PyObject *name;
    DtClassAttr attr;
    PyTypeObject *cls = dt_var_python_type(trace, var);
    *out = cls == NULL
           || (var->type->kind != DT_KIND_INSTANCE && (cls->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0);
    if (*out) {
        return DT_OK;
    }
    DT_TRY(look_up(trace, var, cls, "__array_ufunc__", &name, &attr));
    *out = attr.found != NULL && attr.found != dt_type_find(&PyArray_Type, name);
    return DT_OK;
}

DtStatus
dt_np_try_overrides(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtVar *inputs[DT_NP_MAXARGS], *first = NULL, *owner = NULL;
    *out = NULL;
    for (uint32_t i = 0; i < args->npos && i < DT_NP_MAXARGS; i++) {
        DtVar *method;
        bool defers;
        DT_TRY(dt_np_realize(trace, args->pos[i], &inputs[i]));
        DT_TRY(dt_np_overrider(trace, inputs[i], false, &defers, &method));
        if (first == NULL && method != NULL) {
            first = method;
            owner = inputs[i];
        }
    }
    if (first == NULL) {
        return DT_OK;
    }
    for (uint32_t i = 0; i < args->npos && i < DT_NP_MAXARGS; i++) {
        bool another = false;
        if (dt_var_python_type(trace, inputs[i]) != dt_var_python_type(trace, owner)) {
            DT_TRY(has_another_word(trace, inputs[i], &another));
        }
        if (another) {
            return dt_break(trace, DT_BREAK_ARRAY_OP, "%s with operands of several classes",
                            dt_np_target(op));
        }
    }
    if (args->nkw > 0 || args->npos != (uint32_t)((PyUFuncObject *)dt_np_callee(op))->nin) {
        return dt_break(trace, DT_BREAK_ARRAY_OP, "%s of an object, with options",
                        dt_np_target(op));
    }
    return dt_np_call_override(trace, op, first, inputs, args->npos, out);
}
