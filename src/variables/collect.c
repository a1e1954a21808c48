/* Collecting what an iterable gives: list(), tuple(), unpacking, arguments.
 *
 *   dt_var_unpack      iter(), then item by item
 *   dt_collect_list    iter(), the iterable's length hint, then item by item: list(iterable)
 *   dt_collect_fast    the items of a list or tuple; else list(iter(iterable)): what C does where
 *                      it wants a sequence
 *
 * A length hint is a guess that CPython asks for to reserve memory.  Its value means nothing to the
 * program, but __len__ and __length_hint__ of Python run and may act or raise.
 *
 * Not in here: what one step of an iterator does (v_iter.c).
 */
#include <string.h>

#include "variables/iterators/iterators.h"

/* What a larger hint would reserve may not be there: CPython may raise MemoryError. */
#define MAX_HINT (INT64_C(1) << 24)

/* ---- Lengths --------------------------------------------------------------------------------- */

static DtStatus
check_sign(DtTrace *trace, DtVar *number, const char *text)
{
    DtVar *zero, *fits;
    bool truth;
    DT_TRY(dt_var_int(trace, 0, &zero));
    DT_TRY(dt_var_compare(trace, Py_GE, number, zero, &fits));
    DT_TRY(dt_var_truth(trace, fits, &truth));
    return truth ? DT_OK : dt_raise(trace, PyExc_ValueError, "%s", text);
}

DtStatus
dt_collect_length(DtTrace *trace, DtVar *result, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, result, &result));
    PyTypeObject *type = dt_var_python_type(trace, result);
    if (type == &PyBool_Type) {
        bool truth;
        DT_TRY(dt_var_truth(trace, result, &truth));
        return dt_var_int(trace, truth, out);
    }
    if (type == NULL || (type->tp_as_number != NULL && type->tp_as_number->nb_index != NULL)) {
        if (type != &PyLong_Type) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT, "a length that is a %s",
                            dt_kinds_type_name(trace, result));
        }
        DT_TRY(check_sign(trace, result, "__len__() should return >= 0"));
        PyObject *value = dt_var_peek_constant(result);
        if (value != NULL && PyLong_AsSsize_t(value) < 0 && PyErr_Occurred()) {
            PyErr_Clear(); /* OverflowError, raised with its own text below */
            return dt_raise(trace, PyExc_OverflowError,
                            "cannot fit 'int' into an index-sized integer");
        }
        *out = result;
        return DT_OK;
    }
    return dt_raise(trace, PyExc_TypeError, "'%.200s' object cannot be interpreted as an integer",
                    type->tp_name);
}

/* A TypeError means that there is no hint. */
static DtStatus
without_type_error(DtTrace *trace, DtStatus status, bool *none)
{
    *none = status == DT_RAISE && dt_raised_matches(trace, PyExc_TypeError);
    if (*none) {
        (void)dt_raised_take(trace);
        return DT_OK;
    }
    return status;
}

static DtStatus
check_hint(DtTrace *trace, DtVar *hint)
{
    PyObject *value = dt_var_peek_constant(hint);
    int overflow = 0;
    if (value != NULL
        && (PyLong_AsLongLongAndOverflow(value, &overflow) > MAX_HINT || overflow != 0)) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "a length hint that asks for much memory");
    }
    return DT_OK;
}

/* operator.length_hint() of an instance. */
static DtStatus
hint_of_instance(DtTrace *trace, DtVar *var)
{
    DtVar *method, *hint;
    const DtArgs no_args = {0};
    bool none;
    DT_TRY(dt_instance_special(trace, var, "__len__", &method));
    if (method != NULL) {
        DT_TRY(without_type_error(trace, dt_var_length(trace, var, &hint), &none));
        if (!none) {
            return check_hint(trace, hint);
        }
    }
    DT_TRY(dt_instance_special(trace, var, "__length_hint__", &method));
    if (method == NULL) {
        return DT_OK;
    }
    DT_TRY(without_type_error(trace, dt_var_call(trace, method, &no_args, &hint), &none));
    if (none) {
        return DT_OK;
    }
    DT_TRY(dt_var_realize(trace, hint, &hint));
    if (dt_var_peek_constant(hint) == Py_NotImplemented) {
        return DT_OK;
    }
    PyTypeObject *type = dt_var_python_type(trace, hint);
    if (type == NULL
        || (PyType_FastSubclass(type, Py_TPFLAGS_LONG_SUBCLASS) && type != &PyLong_Type
            && type != &PyBool_Type)) {
        return dt_break(trace, DT_BREAK_MISSING_SLOT, "a length hint that is a %s",
                        hint->type->name);
    }
    if (!PyType_FastSubclass(type, Py_TPFLAGS_LONG_SUBCLASS)) {
        return dt_raise(trace, PyExc_TypeError, "__length_hint__ must be an integer, not %.100s",
                        type->tp_name);
    }
    DT_TRY(check_hint(trace, hint));
    return check_sign(trace, hint, "__length_hint__() should return >= 0");
}

DtStatus
dt_collect_hint(DtTrace *trace, DtVar *var)
{
    DT_TRY(dt_var_realize(trace, var, &var));
    if (var->type->kind == DT_KIND_INSTANCE) {
        return hint_of_instance(trace, var);
    }
    bool none;
    if (var->type->kind == DT_KIND_ITERATOR && ((DtIterVar *)var)->row->hint != NULL) {
        DtIterVar *self = (DtIterVar *)var;
        return without_type_error(trace, self->row->hint(trace, self), &none);
    }
    return DT_OK;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static bool
is_plain_sequence(const DtVar *var)
{
    return var->type->kind == DT_KIND_TUPLE || var->type->kind == DT_KIND_LIST;
}

static DtStatus
copy_items(DtTrace *trace, const DtSeqVar *sequence, DtVar ***items, uint32_t *count)
{
    *count = sequence->count;
    *items = DT_ARENA_ARRAY(&trace->arena, DtVar *, sequence->count + 1);
    if (*items == NULL) {
        return dt_no_memory();
    }
    if (sequence->count > 0) {
        memcpy(*items, sequence->items, sequence->count * sizeof(DtVar *));
    }
    return DT_OK;
}

DtStatus
dt_collect_step(DtTrace *trace, DtVar *iterator, uint32_t done, DtVar **out)
{
    DT_TRY(dt_var_iternext(trace, iterator, out));
    if (*out != NULL && done >= trace->options.unroll_limit) {
        return dt_break(trace, DT_BREAK_UNROLL_LIMIT, "more than %u items are iterated over",
                        (unsigned)trace->options.unroll_limit);
    }
    return DT_OK;
}

DtStatus
dt_collect_rest(DtTrace *trace, DtVar *iterator, DtVar ***items, uint32_t *count)
{
    DT_VEC(DtVar *) found = {0};
    for (;;) {
        DtVar *item;
        DT_TRY(dt_collect_step(trace, iterator, found.count, &item));
        if (item == NULL) {
            break;
        }
        if (dt_vec_push(&trace->arena, &found, item) < 0) {
            return dt_no_memory();
        }
    }
    *items = found.items;
    *count = found.count;
    return DT_OK;
}

/* `asks`: for the length, as list() does and an assignment to several names does not. */
static DtStatus
collect_all(DtTrace *trace, DtVar *iterable, bool asks, DtVar ***items, uint32_t *count)
{
    DT_TRY(dt_var_realize(trace, iterable, &iterable));
    if (is_plain_sequence(iterable)) {
        return copy_items(trace, (DtSeqVar *)iterable, items, count);
    }
    DtVar *iterator;
    DT_TRY(dt_var_iter(trace, iterable, &iterator));
    if (asks) {
        DT_TRY(dt_collect_hint(trace, iterable));
    }
    return dt_collect_rest(trace, iterator, items, count);
}

DtStatus
dt_var_unpack(DtTrace *trace, DtVar *iterable, DtVar ***items, uint32_t *count)
{
    return collect_all(trace, iterable, false, items, count);
}

DtStatus
dt_collect_list(DtTrace *trace, DtVar *iterable, DtVar ***items, uint32_t *count)
{
    return collect_all(trace, iterable, true, items, count);
}

DtStatus
dt_collect_fast(DtTrace *trace, DtVar *iterable, DtVar ***items, uint32_t *count)
{
    DT_TRY(dt_var_realize(trace, iterable, &iterable));
    if (!is_plain_sequence(iterable)) {
        DT_TRY(dt_var_iter(trace, iterable, &iterable));
    }
    return dt_collect_list(trace, iterable, items, count);
}
