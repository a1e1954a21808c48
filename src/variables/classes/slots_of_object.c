/* Special methods of object and type, called by name: each does what the default does.
 *
 * Not in here: which values come here (inherited.c).
 */
#include <string.h>

#include "compat/type.h"
#include "variables/fold.h"
#include "variables/pure.h"
#include "variables/text.h"
#include "variables/classes/slot_rows.h"

static DtStatus
attribute_name(DtTrace *trace, DtVar *var, PyObject **out)
{
    PyObject *name = dt_var_as_constant(trace, var);
    PyTypeObject *type = dt_var_python_type(trace, var);
    if (name == NULL || !PyUnicode_CheckExact(name)) {
        return type == NULL || PyType_IsSubtype(type, &PyUnicode_Type)
                   ? dt_break(trace, DT_BREAK_ATTRIBUTE, "an attribute whose name is a %s",
                              dt_kinds_type_name(trace, var))
                   : dt_raise(trace, PyExc_TypeError, "attribute name must be string, not '%s'",
                              type->tp_name);
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    *out = dt_trace_keep_take(trace, name);
    return *out != NULL ? DT_OK : DT_ERROR;
}

static DtStatus
object_getattribute(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args,
                    DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    return dt_instance_generic_getattr(trace, self, name, out);
}

static DtStatus
object_setattr(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    *out = dt_none(trace);
    return dt_instance_generic_setattr(trace, self, name, args->npos > 1 ? args->pos[1] : NULL);
}

static DtStatus
object_init(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    *out = dt_none(trace);
    return dt_class_object_init(trace, dt_var_python_type(trace, self), args);
}

static DtStatus
object_compare(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    static const DtSlotRow equal = {"__eq__", dt_slot_compare, 1, 1, Py_EQ, DT_SLOT_OTHER};
    DtVar *method, *answer = NULL;
    PyTypeObject *type = dt_var_python_type(trace, self);
    bool same;
    *out = dt_not_implemented(trace);
    if (row->op == Py_NE) { /* the opposite of the type's own __eq__ */
        if (self->type->kind == DT_KIND_INSTANCE) {
            DT_TRY(dt_instance_special(trace, self, "__eq__", &method));
            if (method != NULL) {
                DT_TRY(dt_var_call(trace, method, args, &answer));
            }
        }
        else if (type == NULL || type->tp_richcompare != PyBaseObject_Type.tp_richcompare) {
            DT_TRY(dt_slot_compare(trace, &equal, self, args, &answer));
        }
        if (answer != NULL) {
            DT_TRY(dt_var_realize(trace, answer, &answer));
            return dt_var_peek_constant(answer) != Py_NotImplemented
                       ? dt_var_not(trace, answer, out)
                       : DT_OK;
        }
    }
    DT_TRY(dt_var_is(trace, self, args->pos[0], &same));
    return same ? dt_var_bool(trace, row->op == Py_EQ, out) : DT_OK;
}

static DtStatus
object_order(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)self;
    (void)args;
    *out = dt_not_implemented(trace);
    return DT_OK;
}

/* str() of an instance without __str__ is its repr(). */
static DtStatus
object_str(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    DtVar *method;
    const DtArgs none = {0};
    DT_TRY(dt_instance_special(trace, self, "__repr__", &method));
    return method != NULL ? dt_var_call(trace, method, &none, out)
                          : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE,
                                     "repr() of a %s, which contains its address",
                                     dt_kinds_type_name(trace, self));
}

static DtStatus
object_repr(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)args;
    (void)out;
    return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "repr() of a %s, which contains its address",
                    dt_kinds_type_name(trace, self));
}

static DtStatus
object_format(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    PyObject *spec = dt_var_as_constant(trace, args->pos[0]);
    if (spec == NULL || !PyUnicode_CheckExact(spec)) {
        return dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "a format that is no constant");
    }
    if (PyUnicode_GET_LENGTH(spec) > 0) {
        return dt_raise(trace, PyExc_TypeError, "unsupported format string passed to %s.__format__",
                        dt_kinds_type_name(trace, self));
    }
    DtVar *method;
    const DtArgs none = {0};
    DT_TRY(dt_instance_special(trace, self, "__str__", &method));
    return method != NULL ? dt_var_call(trace, method, &none, out)
                          : object_str(trace, row, self, &none, out);
}

static const DtSlotRow object_rows[] = {
    {"__getattribute__", object_getattribute, 1, 1, 0, DT_SLOT_OTHER},
    {"__setattr__", object_setattr, 2, 2, 0, DT_SLOT_OTHER},
    {"__delattr__", object_setattr, 1, 1, 0, DT_SLOT_OTHER},
    {"__init__", object_init, 0, -1, 0, DT_SLOT_OTHER},
    {"__eq__", object_compare, 1, 1, Py_EQ, DT_SLOT_COMPARISON},
    {"__ne__", object_compare, 1, 1, Py_NE, DT_SLOT_COMPARISON},
    {"__lt__", object_order, 1, 1, 0, DT_SLOT_COMPARISON},
    {"__le__", object_order, 1, 1, 0, DT_SLOT_COMPARISON},
    {"__gt__", object_order, 1, 1, 0, DT_SLOT_COMPARISON},
    {"__ge__", object_order, 1, 1, 0, DT_SLOT_COMPARISON},
    {"__str__", object_str, 0, 0, 0, DT_SLOT_OTHER},
    {"__repr__", object_repr, 0, 0, 0, DT_SLOT_OTHER},
    {"__format__", object_format, 1, 1, 0, DT_SLOT_OTHER},
    {NULL, NULL, 0, 0, 0, DT_SLOT_OTHER},
};

/* ---- type ------------------------------------------------------------------------------------ */

static DtStatus
type_call(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    return dt_class_instantiate(trace, self, args, out);
}

static DtStatus
type_getattribute(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args,
                  DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    return dt_class_generic_getattr(trace, self, name, out);
}

static DtStatus
type_check(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    return dt_check_by_type(trace, self, args->pos[0], row->op == 1, out);
}

static DtStatus
type_init(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    (void)self;
    *out = dt_none(trace);
    return args->npos == 1 || args->npos == 3
               ? DT_OK
               : dt_break(trace, DT_BREAK_UNKNOWN_CALLABLE, "type.__init__() of odd arguments");
}

static DtStatus
type_setattr(DtTrace *trace, const DtSlotRow *row, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)row;
    PyObject *name;
    DT_TRY(attribute_name(trace, args->pos[0], &name));
    *out = dt_none(trace);
    return dt_class_setattr(trace, self, name, args->npos == 2 ? args->pos[1] : NULL);
}

static const DtSlotRow type_rows[] = {
    {"__init__", type_init, 0, -1, 0, DT_SLOT_OTHER},
    {"__setattr__", type_setattr, 2, 2, 0, DT_SLOT_OTHER},
    {"__delattr__", type_setattr, 1, 1, 0, DT_SLOT_OTHER},
    {"__instancecheck__", type_check, 1, 1, 1, DT_SLOT_OTHER},
    {"__subclasscheck__", type_check, 1, 1, 0, DT_SLOT_OTHER},
    {"__call__", type_call, 0, -1, 0, DT_SLOT_OTHER},
    {"__getattribute__", type_getattribute, 1, 1, 0, DT_SLOT_OTHER},
    {NULL, NULL, 0, 0, 0, DT_SLOT_OTHER},
};

const DtSlotRow *
dt_slot_row_of_object(PyObject *name)
{
    return dt_slot_row_find(object_rows, name);
}

const DtSlotRow *
dt_slot_row_of_type(PyObject *name)
{
    return dt_slot_row_find(type_rows, name);
}
