/* Ufuncs and operators of arrays of classes that derive from ndarray: who has the word, and how the
 * results become instances again.
 *
 * Not in here: objects of other classes (overrides.c).
 */
#include "adapters/numpy/parts.h"

#include <string.h>

#include "compat/object.h"

/* Nobody but the class has a word about a ufunc of these: plain arrays and numbers, and instances
 * of the class. */
DtStatus
dt_parts_need_operands(DtTrace *trace, DtInstanceVar *self, const DtArgs *args)
{
    for (uint32_t i = 0; i < args->npos; i++) {
        DtVar *var;
        DT_TRY(dt_var_realize(trace, args->pos[i], &var));
        DtInstanceVar *part = dt_np_part_of(var);
        DtNpOperand operand;
        bool ok = part != NULL && part->cls == self->cls;
        if (!ok) {
            DT_TRY(dt_np_operand(trace, var, &operand, &ok));
        }
        if (!ok) {
            return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %s with a %s",
                            self->cls->tp_name, dt_kinds_type_name(trace, var));
        }
    }
    return DT_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* A result of a ufunc: a view of the class around it, also of what has no dimensions. */
DtStatus
dt_parts_wrap(DtTrace *trace, DtInstanceVar *owner, DtVar *result, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, result, &result));
    if (result->type->kind == DT_KIND_TUPLE) {
        DtSeqVar *tuple = (DtSeqVar *)result;
        DtVar **items = DT_ARENA_ARRAY(&trace->arena, DtVar *, tuple->count + 1);
        for (uint32_t i = 0; items != NULL && i < tuple->count; i++) {
            DT_TRY(dt_parts_wrap(trace, owner, tuple->items[i], &items[i]));
        }
        return items != NULL ? dt_var_tuple(trace, items, tuple->count, out) : dt_no_memory();
    }
    DtArrayVar *array = dt_np_array_of(result);
    if (array == NULL) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "a %s out of arrays of %s", result->type->name,
                        owner->cls->tp_name);
    }
    if (!dt_np_is_ndarray(array)) {
        DtArgs args = dt_args_of(&result, 1);
        DT_TRY(dt_np_fn_asarray(trace, DT_NP_asarray, &args, &result));
    }
    return dt_parts_dress(trace, owner, result, NULL, out);
}

/* May the results be wrapped as ndarray does it, and does the class win over plain arrays? */
/* NumPy asks the instance itself: it must have no attribute of that name. */
static DtStatus
need_unset(DtTrace *trace, DtInstanceVar *self, const char *text)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString(text)), *value;
    bool deleted = false;
    if (name == NULL) {
        return DT_ERROR;
    }
    bool is_set =
        dt_journal_get_attr(trace, &self->base, name, &deleted) != NULL || deleted
        || (self->object != NULL && dt_object_instance_dict_get(self->object, name, &value) != 0);
    if (is_set) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an array of %s with its own %s",
                        self->cls->tp_name, text);
    }
    return self->object != NULL && dt_instance_has_dict(&self->base)
               ? dt_guard_attr_absent(trace, self->base.source, name)
               : DT_OK;
}

/* A number that is no less than the priority of plain arrays. */
static bool
wins(PyObject *priority)
{
    int overflow = 0;
    return PyFloat_CheckExact(priority)
               ? PyFloat_AS_DOUBLE(priority) >= 0
               : PyLong_CheckExact(priority) && PyLong_AsLongAndOverflow(priority, &overflow) >= 0;
}

DtStatus
dt_parts_need_plain_ufuncs(DtTrace *trace, DtInstanceVar *self)
{
    PyObject *own, *wraps, *priority;
    DT_TRY(dt_parts_own(trace, self, "__array_ufunc__", &own));
    DT_TRY(dt_parts_own(trace, self, "__array_wrap__", &wraps));
    DT_TRY(dt_parts_own(trace, self, "__array_priority__", &priority));
    DT_TRY(need_unset(trace, self, "__array_wrap__"));
    if (priority != NULL) {
        DT_TRY(need_unset(trace, self, "__array_priority__"));
    }
    return own == NULL && wraps == NULL && (priority == NULL || wins(priority))
               ? DT_OK
               : dt_break(trace, DT_BREAK_ARRAY_KIND,
                          "an operation of arrays of %s, which has a %s", self->cls->tp_name,
                          own != NULL     ? "word about ufuncs"
                          : wraps != NULL ? "word about results"
                                          : "priority of its own");
}

DtStatus
dt_np_call_ufunc_of_parts(DtTrace *trace, DtNpOp op, const DtArgs *args, DtVar **out)
{
    DtInstanceVar *owner = NULL;
    PyObject *own;
    DtVar *method;
    DtArgs plain;
    for (uint32_t i = 0; i < args->npos && owner == NULL; i++) {
        owner = dt_np_part_of(args->pos[i]);
    }
    if (owner == NULL || args->nkw > 0
        || args->npos != (uint32_t)((PyUFuncObject *)dt_np_callee(op))->nin) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of such an array, with options",
                        dt_np_target(op));
    }
    DT_TRY(dt_parts_need_operands(trace, owner, args));
    DT_TRY(dt_parts_own(trace, owner, "__array_ufunc__", &own));
    if (own != NULL && PyFunction_Check(own)) {
        DT_TRY(dt_instance_special(trace, &owner->base, "__array_ufunc__", &method));
        return dt_np_call_override(trace, op, method, args->pos, args->npos, out);
    }
    DT_TRY(dt_parts_need_plain_ufuncs(trace, owner));
    DT_TRY(dt_parts_plain_args(trace, owner, args, &plain));
    DT_TRY(dt_np_call_ufunc(trace, op, &plain, out));
    return dt_parts_wrap(trace, owner, *out, out);
}

/* The ufunc behind an operator of the class that has a word about ufuncs. */
static DtStatus
find_ufunc(const char *name, bool *reflected, DtNpOp *out)
{
    static const struct {
        const char *name;
        DtNpOp op;
    } rows[] = {
        {"add", DT_NP_add},
        {"sub", DT_NP_subtract},
        {"mul", DT_NP_multiply},
        {"truediv", DT_NP_divide},
        {"floordiv", DT_NP_floor_divide},
        {"mod", DT_NP_remainder},
        {"and", DT_NP_bitwise_and},
        {"or", DT_NP_bitwise_or},
        {"xor", DT_NP_bitwise_xor},
        {"lshift", DT_NP_left_shift},
        {"rshift", DT_NP_right_shift},
        {"matmul", DT_NP_matmul},
        {"lt", DT_NP_less},
        {"le", DT_NP_less_equal},
        {"eq", DT_NP_equal},
        {"ne", DT_NP_not_equal},
        {"gt", DT_NP_greater},
        {"ge", DT_NP_greater_equal},
        {"neg", DT_NP_negative},
        {"pos", DT_NP_positive},
        {"invert", DT_NP_invert},
        {"abs", DT_NP_absolute},
    };
    for (int back = 0; back < 2; back++) {
        for (size_t i = 0; i < Py_ARRAY_LENGTH(rows); i++) {
            size_t length = strlen(rows[i].name);
            const char *middle = name + 2 + back;
            if ((back == 0 || name[2] == 'r') && strncmp(middle, rows[i].name, length) == 0
                && strcmp(middle + length, "__") == 0) {
                *reflected = back != 0;
                *out = rows[i].op;
                return DT_OK;
            }
        }
    }
    return DT_BREAK;
}

DtStatus
dt_parts_ask_array_ufunc(DtTrace *trace, DtInstanceVar *self, const char *name, const DtArgs *args,
                         DtVar **out)
{
    bool reflected;
    DtNpOp op;
    DtVar *inputs[2] = {&self->base, args->npos > 0 ? args->pos[0] : NULL};
    if (find_ufunc(name, &reflected, &op) != DT_OK || args->npos > 1 || args->nkw > 0) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND,
                        "%s of an array of %s, which has a word about it", name,
                        self->cls->tp_name);
    }
    if (reflected) {
        inputs[1] = inputs[0];
        inputs[0] = args->pos[0];
    }
    DtArgs all = dt_args_of(inputs, args->npos + 1);
    return dt_np_call_ufunc_of_parts(trace, op, &all, out);
}

/* ---- A plain array on the left --------------------------------------------------------------- */

DtStatus
dt_np_operator_of_part(DtTrace *trace, DtNpOp ufunc, DtVar *l, DtVar *r, const char *method_name,
                       bool swap, bool in_place, bool *done, DtVar **out)
{
    DtInstanceVar *self = dt_np_part_of(r);
    PyObject *own;
    DtVar *method, *inputs[2] = {swap ? r : l, swap ? l : r};
    *done = self != NULL && dt_np_any_array(l) != NULL;
    if (!*done) {
        return DT_OK;
    }
    if (in_place || !dt_np_is_ndarray(dt_np_any_array(l))) {
        return dt_break(trace, DT_BREAK_ARRAY_KIND, "an operator of an array or number and a %s",
                        self->cls->tp_name);
    }
    DT_TRY(dt_parts_own(trace, self, method_name, &own));
    if (own != NULL) { /* a subclass's own method comes first */
        DT_TRY(dt_instance_special(trace, r, method_name, &method));
        DtArgs args = dt_args_of(&l, 1);
        DT_TRY(method != NULL ? dt_var_call(trace, method, &args, out)
                              : dt_break(trace, DT_BREAK_ARRAY_KIND, "%s of a %s", method_name,
                                         self->cls->tp_name));
        DT_TRY(dt_var_realize(trace, *out, out));
        return dt_var_peek_constant(*out) != Py_NotImplemented
                   ? DT_OK
                   : dt_break(trace, DT_BREAK_ARRAY_KIND, "a %s that refuses", self->cls->tp_name);
    }
    DtArgs all = dt_args_of(inputs, 2);
    return dt_np_call_ufunc_of_parts(trace, ufunc, &all, out);
}
