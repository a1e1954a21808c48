/* Iterators: a row says what next() does, the tracker holds the position.
 *
 * Invariant: the position changes only after dt_kinds_will_change(), so a
 * rolled back loop starts again where it was.
 *
 * Not in here: the rows of containers (iter_containers.c), iterators that existed before the trace
 * (iter_existing.c), user classes with __next__ (v_instance.c).
 */
#include "compat/iterators.h"
#include "variables/adapter.h"
#include "variables/iterators/iterators.h"

DtStatus
dt_iter_over(DtTrace *trace, const DtIterRow *row, DtVar *subject, DtIterVar **out)
{
    *out = DT_KINDS_NEW(trace, ITERATOR, DtIterVar, NULL);
    if (*out == NULL) {
        return DT_ERROR;
    }
    (*out)->base.mutation = DT_VALUE_MUTATION_NEW;
    (*out)->row = row;
    (*out)->subject = subject;
    return DT_OK;
}

DtStatus
dt_iter_make(DtTrace *trace, const DtIterRow *row, DtVar *cls, DtIterVar **out)
{
    DT_TRY(dt_iter_over(trace, row, NULL, out));
    (*out)->cls = cls != NULL ? (PyTypeObject *)((DtObjectVar *)cls)->object : NULL;
    return DT_OK;
}

DtStatus
dt_iter_parts(DtTrace *trace, DtIterVar *self, DtVar *const *iterables, uint32_t count)
{
    self->parts = DT_ARENA_ARRAY(&trace->arena, DtVar *, count + 1);
    if (self->parts == NULL) {
        return dt_no_memory();
    }
    self->nparts = count;
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_var_iter(trace, iterables[i], &self->parts[i]));
    }
    return DT_OK;
}

DtStatus
dt_iter_append(DtTrace *trace, DtSeqVar *list, DtVar *item)
{
    DT_TRY(dt_kinds_will_change(trace, &list->base));
    if (dt_vec_reserve(&trace->arena, (void **)&list->items, &list->capacity, list->count,
                       list->count + 1, sizeof(DtVar *))
        < 0) {
        return dt_no_memory();
    }
    list->items[list->count++] = item;
    return DT_OK;
}

/* ---- Rebuilding ------------------------------------------------------------------------------ */

DtStatus
dt_iter_rebuild_never(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    (void)args;
    (void)count;
    return dt_break(trace, DT_BREAK_RECONSTRUCT, "a %s iterator leaves the function%s",
                    self->row->name, self->started ? " after it was started" : "");
}

DtStatus
dt_iter_rebuild_parts(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    if (self->nparts + 1 > DT_ITER_REBUILD_MAX) {
        return dt_iter_rebuild_never(trace, self, args, count);
    }
    *count = 0;
    for (uint32_t i = 0; i < self->nparts; i++) {
        args[(*count)++] = self->parts[i];
    }
    return DT_OK;
}

DtStatus
dt_iter_rebuild_untouched(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    return (self->started ? dt_iter_rebuild_never : dt_iter_rebuild_parts)(trace, self, args,
                                                                           count);
}

DtStatus
dt_iter_rebuild_function(DtTrace *trace, DtIterVar *self, DtVar **args, uint32_t *count)
{
    args[0] = self->function;
    DT_TRY(dt_iter_rebuild_parts(trace, self, args + 1, count));
    ++*count;
    return DT_OK;
}

/* ---- One step of any iterator ---------------------------------------------------------------- */

DtStatus
dt_iter_raise_stop(DtTrace *trace, DtVar *value)
{
    DtVar *cls, *exception;
    DT_TRY(dt_var_given(trace, &value));
    DtArgs args = dt_args_of(&value, value != NULL);
    DT_TRY(dt_build_known(trace, PyExc_StopIteration, &cls));
    DT_TRY(dt_exception_make(trace, cls, &args, &exception));
    return dt_raise_var(trace, exception);
}

DtStatus
dt_iter_stop_value(DtTrace *trace, DtVar *exception, DtVar **out)
{
    PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("value"));
    return name != NULL ? dt_exception_get(trace, exception, name, out) : DT_ERROR;
}

DtStatus
dt_iter_take_stop(DtTrace *trace, DtStatus status, DtVar **out, bool *returned)
{
    *returned = status == DT_RAISE && dt_raised_matches(trace, PyExc_StopIteration);
    return *returned ? dt_iter_stop_value(trace, dt_raised_take(trace), out) : status;
}

DtStatus
dt_iter_find_method(DtTrace *trace, DtVar *var, const char *name, DtVar **out)
{
    PyObject *text = dt_trace_keep_take(trace, PyUnicode_InternFromString(name));
    if (text == NULL) {
        return DT_ERROR;
    }
    DtStatus status = dt_var_getattr(trace, var, text, out);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_AttributeError)) {
        (void)dt_raised_take(trace);
        *out = NULL;
        return DT_OK;
    }
    return status;
}

DtStatus
dt_iter_next(DtTrace *trace, DtVar *iterator, DtVar **out)
{
    DT_TRY(dt_var_realize(trace, iterator, &iterator));
    if (iterator->type->tp_iternext == NULL) {
        PyTypeObject *type = dt_var_python_type(trace, iterator);
        if (type == NULL || type->tp_iternext != NULL) {
            return dt_break(trace, DT_BREAK_MISSING_SLOT,
                            "next() of a %s that existed before the function was called",
                            type != NULL ? type->tp_name : iterator->type->name);
        }
        return dt_raise(trace, PyExc_TypeError, "'%.200s' object is not an iterator",
                        type->tp_name);
    }
    return iterator->type->tp_iternext(trace, iterator, out);
}

DtStatus
dt_var_iternext(DtTrace *trace, DtVar *iterator, DtVar **out)
{
    DtStatus status = dt_iter_next(trace, iterator, out);
    if (status == DT_RAISE && dt_raised_matches(trace, PyExc_StopIteration)) {
        (void)dt_raised_take(trace);
        *out = NULL;
        return DT_OK;
    }
    return status;
}

DtStatus
dt_var_send(DtTrace *trace, DtVar *iterator, DtVar *value, DtVar **out, bool *returned)
{
    DT_TRY(dt_var_realize(trace, iterator, &iterator));
    *returned = false;
    if (iterator->type->kind == DT_KIND_GENERATOR || iterator->type->kind == DT_KIND_COROUTINE) {
        return dt_generator_resume(trace, (DtGeneratorVar *)iterator, value, out, returned);
    }
    if (iterator->type->kind == DT_KIND_ITERATOR && ((DtIterVar *)iterator)->row->send != NULL) {
        DT_TRY(dt_kinds_will_change(trace, iterator));
        return ((DtIterVar *)iterator)
            ->row->send(trace, (DtIterVar *)iterator, value, out, returned);
    }
    DT_TRY(dt_var_realize(trace, value, &value));
    if (dt_var_peek_constant(value) != Py_None) {
        DtVar *method;
        PyObject *name = dt_trace_keep_take(trace, PyUnicode_InternFromString("send"));
        if (name == NULL) {
            return DT_ERROR;
        }
        DT_TRY(dt_var_getattr(trace, iterator, name, &method));
        DtArgs args = dt_args_of(&value, 1);
        return dt_iter_take_stop(trace, dt_var_call(trace, method, &args, out), out, returned);
    }
    DT_TRY(dt_iter_take_stop(trace, dt_iter_next(trace, iterator, out), out, returned));
    if (!*returned && *out == NULL) {
        *returned = true;
        *out = dt_none(trace);
    }
    return DT_OK;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static DtStatus
iterator_iter(DtTrace *trace, DtVar *self, DtVar **out)
{
    (void)trace;
    *out = self;
    return DT_OK;
}

static DtStatus
iterator_iternext(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtIterVar *self = (DtIterVar *)var;
    *out = NULL;
    if (self->exhausted) {
        return DT_OK;
    }
    DT_TRY(dt_kinds_will_change(trace, var));
    self->started = true;
    DT_TRY(self->row->next(trace, self, out));
    if (*out == NULL && self->row->latches) {
        self->exhausted = true;
    }
    return DT_OK;
}

static PyTypeObject *
iterator_type(DtTrace *trace, DtVar *var)
{
    (void)trace;
    DtIterVar *self = (DtIterVar *)var;
    if (self->cls != NULL) {
        return self->cls;
    }
    return self->row->python_type != NULL ? self->row->python_type(self) : NULL;
}

static DtStatus
restore_position(DtCodegen *codegen, DtIterVar *self)
{
    DtTrace *trace = dt_codegen_trace(codegen);
    DtIterPosition at = {0};
    PyObject *restore = dt_iterators_restore();
    if (restore == NULL) {
        return DT_ERROR;
    }
    DT_TRY(self->row->position(trace, self, &at));
    DtVar *index = dt_none(trace);
    if (!self->exhausted || at.moved) {
        DT_TRY(dt_var_int(trace, at.moved ? 0 : self->index, &index));
    }
    DT_TRY(dt_codegen_push_callable(codegen, restore));
    DT_TRY(dt_codegen_var(codegen, dt_payload_whole(trace, at.subject)));
    DT_TRY(dt_codegen_const(codegen, at.reversed ? Py_True : Py_False));
    DT_TRY(dt_codegen_var(codegen, index));
    return dt_codegen_call(codegen, 3);
}

/* A call of the class with what is left, or the iterator of its subject moved to its position. */
static DtStatus
iterator_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtIterVar *self = (DtIterVar *)var;
    DtTrace *trace = dt_codegen_trace(codegen);
    if (self->row->position != NULL) {
        return restore_position(codegen, self);
    }
    PyTypeObject *cls = iterator_type(trace, var);
    if (self->row->rebuild == NULL || cls == NULL) {
        return dt_break(trace, DT_BREAK_RECONSTRUCT, "a %s iterator leaves the function",
                        self->row->name);
    }
    if (self->exhausted) {
        return dt_iter_rebuild_never(trace, self, NULL, NULL);
    }
    for (uint32_t i = 0; self->parts != NULL && i < self->nparts; i++) {
        if (dt_var_peek(self->parts[i])->type->kind == DT_KIND_INSTANCE) {
            return dt_break(trace, DT_BREAK_RECONSTRUCT,
                            "a %s iterator leaves the function, over an iterator of the "
                            "program's own, whose __iter__() would be called again",
                            self->row->name);
        }
    }
    DtVar *args[DT_ITER_REBUILD_MAX];
    uint32_t count = 0;
    DT_TRY(self->row->rebuild(trace, self, args, &count));
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)cls));
    for (uint32_t i = 0; i < count; i++) {
        DT_TRY(dt_codegen_var(codegen, args[i]));
    }
    return dt_codegen_call(codegen, count);
}

static DtStatus
iterator_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *),
                  void *arg)
{
    DtIterVar *self = (DtIterVar *)var;
    if (self->subject != NULL) {
        DT_TRY(visit(trace, dt_payload_whole(trace, self->subject), arg));
    }
    for (uint32_t i = 0; self->parts != NULL && i < self->nparts; i++) {
        DT_TRY(visit(trace, self->parts[i], arg));
    }
    for (size_t i = 0; i < sizeof(self->state) / sizeof(self->state[0]); i++) {
        if (self->state[i] != NULL) {
            DT_TRY(visit(trace, self->state[i], arg));
        }
    }
    return self->function != NULL ? visit(trace, self->function, arg) : DT_OK;
}

DtStatus
dt_iter_call_next(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    DT_TRY(dt_iter_next(trace, self, out));
    return *out != NULL ? DT_OK : dt_iter_raise_stop(trace, dt_none(trace));
}

static DtStatus
call_iter(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    (void)args;
    return iterator_iter(trace, self, out);
}

static DtStatus
call_send(DtTrace *trace, DtVar *self, const DtArgs *args, DtVar **out)
{
    bool returned;
    DT_TRY(dt_var_send(trace, self, args->pos[0], out, &returned));
    return returned ? dt_iter_raise_stop(trace, *out) : DT_OK;
}

static DtStatus
iterator_getattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar **out)
{
    static const DtMethodRow send = {"send", call_send, 1, 1, false};
    if (((DtIterVar *)var)->row->send != NULL
        && PyUnicode_CompareWithASCIIString(name, send.name) == 0) {
        return dt_kinds_method_row(trace, var, &send, name, out);
    }
    return dt_kind_base.tp_getattro(trace, var, name, out);
}

static const DtMethodRow iterator_methods[] = {
    {"__next__", dt_iter_call_next, 0, 0, false},
    {"__iter__", call_iter, 0, 0, false},
    {NULL, NULL, 0, 0, false},
};

const DtVarType dt_kind_type_ITERATOR = {
    .kind = DT_KIND_ITERATOR,
    .tp_iter = iterator_iter,
    .tp_iternext = iterator_iternext,
    .tp_getattro = iterator_getattro,
    .methods = iterator_methods,
    .python_type = iterator_type,
    .reconstruct = iterator_reconstruct,
    .children = iterator_children,
};
