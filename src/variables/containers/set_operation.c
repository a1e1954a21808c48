/* See set_operation.h. */
#include "variables/containers/set_operation.h"

#include "compat/set.h"
#include "variables/fold.h"
#include "variables/containers/set_layout.h"

/* ---- Performing methods on real sets --------------------------------------------------------- */

DtStatus
dt_set_operation_tracker(DtTrace *trace, DtDictVar *const *sets, uint32_t nsets, PyObject *item,
                         DtVar **out)
{
    for (uint32_t s = 0; s < nsets; s++) {
        for (uint32_t i = 0; i < sets[s]->count; i++) {
            if (sets[s]->items[i].key == item) {
                *out = sets[s]->items[i].key_var;
                return DT_OK;
            }
        }
    }
    return dt_var_const(trace, item, out);
}

DtStatus
dt_set_operation_take_entries(DtTrace *trace, DtDictVar *set, PyObject *real,
                              DtDictVar *const *from, uint32_t nfrom)
{
    DtDictVar fresh = *set;
    fresh.items = NULL;
    fresh.count = fresh.capacity = 0;
    PyObject *item;
    Py_ssize_t slot = 0;
    while (dt_set_next(real, &slot, &item)) {
        DtDictEntry entry;
        DtVar *var;
        DT_TRY(dt_set_operation_tracker(trace, from, nfrom, item, &var));
        DT_TRY(dt_dict_key(trace, var, &entry));
        if (dt_vec_push(&trace->arena, &fresh, entry) < 0) {
            return dt_no_memory();
        }
    }
    set->items = fresh.items;
    set->count = fresh.count;
    set->capacity = fresh.capacity;
    set->changes++;
    return DT_OK;
}

/* Each element is hashed as it comes, but here all come first: the effects of a generator must not
 * meet those of __hash__ and __eq__. */
static DtStatus
check_order(DtTrace *trace, const DtVar *iterator, DtVar *const *items, uint32_t count)
{
    if (iterator->type->kind == DT_KIND_ITERATOR && ((const DtIterVar *)iterator)->function == NULL
        && ((const DtIterVar *)iterator)->parts == NULL) {
        return DT_OK; /* over a container: nothing happens between two items */
    }
    for (uint32_t i = 0; i < count; i++) {
        DtVar *item;
        DT_TRY(dt_var_realize(trace, items[i], &item));
        if (item->type->kind == DT_KIND_INSTANCE && dt_instance_overrides(item, "__hash__")) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT,
                            "elements with a __hash__ of their own that come from a %s",
                            iterator->type->name);
        }
    }
    return DT_OK;
}

/* The elements that iterating over an argument gives, all at once. */
static DtStatus
collect(DtTrace *trace, DtVar *arg, DtVar ***items, uint32_t *count)
{
    /* An update that fails has added the elements before: not modelled. */
    DT_TRY(dt_var_iter(trace, arg, &arg));
    DT_TRY(dt_raised_break_if(trace, dt_collect_rest(trace, arg, items, count)));
    return check_order(trace, arg, *items, *count);
}

DtStatus
dt_set_operation_settle_argument(DtTrace *trace, DtVar *arg, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, arg, out));
    if (dt_set_is(*out)) {
        return DT_OK;
    }
    if ((*out)->type->kind == DT_KIND_DICT && ((DtDictVar *)*out)->cls == &PyDict_Type) {
        DtDictVar *copy;
        DT_TRY(dt_dict_new(trace, &copy));
        DT_TRY(dt_dict_update_from(trace, copy, *out));
        *out = &copy->base;
        return DT_OK;
    }
    DtVar **items;
    uint32_t count;
    DT_TRY(collect(trace, *out, &items, &count));
    return dt_var_tuple(trace, items, count, out);
}

DtStatus
dt_set_operation_settle(DtTrace *trace, DtSetOperation *operation, const DtArgs *args)
{
    operation->nargs = args->npos;
    operation->args = DT_ARENA_ARRAY(&trace->arena, DtVar *, args->npos + 1);
    if (operation->args == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < args->npos; i++) {
        DT_TRY(dt_set_operation_settle_argument(trace, args->pos[i], &operation->args[i]));
    }
    return DT_OK;
}

/* Real objects for everything; operation->values stays NULL if something is not known. */
static DtStatus
make_real(DtTrace *trace, DtSetOperation *operation)
{
    DT_TRY(dt_set_fold(trace, operation->self, &operation->real));
    if (operation->real == NULL) {
        return DT_OK;
    }
    operation->values = PyTuple_New(operation->nargs + 1);
    if (operation->values == NULL) {
        return DT_ERROR;
    }
    PyTuple_SET_ITEM(operation->values, 0, Py_NewRef(operation->real));
    for (uint32_t i = 0; i < operation->nargs; i++) {
        PyObject *value;
        DT_TRY(dt_fold_value(trace, operation->args[i], &value));
        if (value == NULL) {
            Py_CLEAR(operation->values);
            return DT_OK;
        }
        PyTuple_SET_ITEM(operation->values, i + 1, value);
    }
    return DT_OK;
}

/* Sets that elements of the result may come from. */
static DtStatus
origins(DtTrace *trace, const DtSetOperation *operation, DtDictVar ***out, uint32_t *count)
{
    *out = DT_ARENA_ARRAY(&trace->arena, DtDictVar *, operation->nargs + 1);
    if (*out == NULL) {
        return dt_no_memory();
    }
    (*out)[0] = operation->self;
    *count = 1;
    for (uint32_t i = 0; i < operation->nargs; i++) {
        if (operation->args[i]->type->kind != DT_KIND_TUPLE) {
            (*out)[(*count)++] = (DtDictVar *)operation->args[i];
        }
    }
    return DT_OK;
}

static DtStatus
wrap_result(DtTrace *trace, DtSetOperation *operation, PyObject *result, DtVar **out)
{
    DtDictVar *self = operation->self, **from, *made;
    uint32_t nfrom;
    DT_TRY(origins(trace, operation, &from, &nfrom));
    if (operation->mutates) {
        DtVar *element = NULL;
        if (result != Py_None) {
            DT_TRY(dt_set_operation_tracker(trace, from, 1, result, &element));
        }
        DT_TRY(dt_set_operation_take_entries(trace, self, operation->real, from, nfrom));
        DT_TRY(dt_layout_call(trace, self, operation->method, operation->args, operation->nargs));
        if (self->layout != NULL) {
            DT_TRY(dt_layout_give(trace, self, Py_NewRef(operation->real)));
        }
        *out = element != NULL ? element : dt_none(trace);
        return DT_OK;
    }
    if (!PyAnySet_CheckExact(result)) {
        return dt_constant_wrap_take(trace, Py_NewRef(result), out);
    }
    if (result == operation->real) {
        *out = &self->base; /* a frozenset that is its own copy */
        return DT_OK;
    }
    DT_TRY(dt_set_new(trace, Py_TYPE(result), &made));
    DT_TRY(dt_set_operation_take_entries(trace, made, result, from, nfrom));
    *out = &made->base;
    return dt_layout_result(trace, made, self, operation->method, operation->args,
                            operation->nargs);
}

/* A method that changes is performed on the real set that stands for this one, or on a copy if that
 * is an object of the program's. */
static DtStatus
prepare_change(DtTrace *trace, DtSetOperation *operation)
{
    PyObject *taken;
    DT_TRY(dt_kinds_will_change(trace, &operation->self->base));
    DT_TRY(dt_layout_take(trace, operation->self, &taken));
    if (taken == NULL) {
        taken = PySet_New(operation->real);
    }
    if (taken == NULL) {
        return DT_ERROR;
    }
    Py_SETREF(operation->real, taken);
    PyObject *old = PyTuple_GET_ITEM(operation->values, 0);
    PyTuple_SET_ITEM(operation->values, 0, Py_NewRef(taken));
    Py_DECREF(old);
    return DT_OK;
}

static DtStatus
perform_real(DtTrace *trace, DtSetOperation *operation, DtVar **out)
{
    if (operation->mutates) {
        DT_TRY(prepare_change(trace, operation));
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)operation->self->cls, operation->method);
    if (method == NULL) {
        return DT_ERROR;
    }
    PyObject *result = PyObject_Call(method, operation->values, NULL);
    Py_DECREF(method);
    if (result == NULL) {
        if (operation->mutates && operation->nargs > 1) {
            PyErr_Clear(); /* an argument before the one that failed may have changed the set */
            return dt_break(trace, DT_BREAK_RAISES, "set.%s() of several iterables raises",
                            operation->method);
        }
        return dt_raise_from_exception(trace);
    }
    DtStatus status = wrap_result(trace, operation, result, out);
    Py_DECREF(result);
    return status;
}

DtStatus
dt_set_operation_perform(DtTrace *trace, DtSetOperation *operation, DtVar **out)
{
    *out = NULL;
    DtStatus status = make_real(trace, operation);
    if (status == DT_OK && operation->values != NULL) {
        status = perform_real(trace, operation, out);
    }
    Py_CLEAR(operation->real);
    Py_CLEAR(operation->values);
    return status;
}

/* ---- Following a method element by element --------------------------------------------------- */

DtStatus
dt_set_operation_as_set(DtTrace *trace, DtVar *arg, DtDictVar **out)
{
    if (dt_set_is(arg)) {
        *out = (DtDictVar *)arg;
        return DT_OK;
    }
    DtVar **items, *made;
    uint32_t count;
    DT_TRY(collect(trace, arg, &items, &count));
    DT_TRY(dt_var_set(trace, items, count, &made));
    *out = (DtDictVar *)made;
    return DT_OK;
}

static DtStatus
combine(DtTrace *trace, DtBinaryOp op, DtDictVar *a, DtDictVar *b, DtDictVar **out)
{
    DtDictEntry *found;
    DtDictVar *made;
    bool added;
    DT_TRY(dt_set_new(trace, a->cls, &made));
    for (uint32_t i = 0; i < a->count; i++) {
        DT_TRY(dt_dict_find(trace, b, &a->items[i], &found));
        if (op == DT_BINARY_OR || (op == DT_BINARY_AND) == (found != NULL)) {
            DT_TRY(dt_set_put_entry(trace, made, a->items[i].key_var, &added));
        }
    }
    for (uint32_t i = 0; i < b->count && (op == DT_BINARY_OR || op == DT_BINARY_XOR); i++) {
        DT_TRY(dt_dict_find(trace, a, &b->items[i], &found));
        if (found == NULL) {
            DT_TRY(dt_set_put_entry(trace, made, b->items[i].key_var, &added));
        }
    }
    made->layout = NULL;
    *out = made;
    return DT_OK;
}

static DtStatus
follow(DtTrace *trace, DtSetOperation *operation, DtBinaryOp op, DtVar **out)
{
    DtDictVar *self = operation->self, *result = self;
    for (uint32_t i = 0; i < operation->nargs; i++) {
        DtDictVar *other;
        DT_TRY(dt_set_operation_as_set(trace, operation->args[i], &other));
        DT_TRY(combine(trace, op, result, other, &result));
    }
    if (!operation->mutates) {
        if (result == self) {
            DT_TRY(combine(trace, DT_BINARY_OR, self, self, &result));
        }
        *out = &result->base;
        return DT_OK;
    }
    *out = dt_none(trace);
    if (result == self) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, &self->base));
    self->items = result->items;
    self->count = result->count;
    self->capacity = result->capacity;
    self->layout = NULL;
    self->changes++;
    return DT_OK;
}

DtStatus
dt_set_operation_run(DtTrace *trace, DtSetOperation *operation, DtBinaryOp op, DtVar **out)
{
    DT_TRY(dt_set_operation_perform(trace, operation, out));
    return *out != NULL ? DT_OK : follow(trace, operation, op, out);
}
