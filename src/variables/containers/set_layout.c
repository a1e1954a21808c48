/* Remembering, repeating and emitting the operations of a set: see set_layout.h.
 *
 * Not in here: which operations there are and what they return (set_operation.c, v_set.c).
 */
#include "variables/containers/set_layout.h"

#include <string.h>

#include "compat/set.h"
#include "variables/fold.h"

typedef enum StepKind { STEP_EMPTY, STEP_REAL, STEP_ADD, STEP_CALL, STEP_RESULT } StepKind;

struct DtSetStep {
    const DtSetStep *previous; /* of the same set; NULL: it begins here */
    uint8_t kind;              /* StepKind */
    PyTypeObject *cls;
    const char *method; /* CALL, RESULT; NULL: the type itself is called */
    DtDictVar **args;   /* RESULT: the receiver is the first; sets are copies of their state */
    uint32_t nargs;
    DtVar *item;            /* ADD */
    PyObject *real;         /* REAL */
    const DtSource *source; /* REAL: where a guard reads it */
    /* The set after this step, if it was repeated and no later step took it; kept by the trace. */
    PyObject *live;
};

static DtStatus
add_step(DtTrace *trace, DtDictVar *set, DtSetStep step)
{
    DtSetStep *made = DT_ARENA_NEW(&trace->arena, DtSetStep);
    if (made == NULL) {
        return dt_no_memory();
    }
    *made = step;
    made->cls = set->cls;
    set->layout = made;
    return DT_OK;
}

DtStatus
dt_layout_begin(DtTrace *trace, DtDictVar *set)
{
    return add_step(trace, set, (DtSetStep){.kind = STEP_EMPTY});
}

DtStatus
dt_layout_begin_real(DtTrace *trace, DtDictVar *set)
{
    return add_step(trace, set,
                    (DtSetStep){.kind = STEP_REAL,
                                .real = set->object,
                                .source = dt_var_is_mutable(&set->base) ? set->base.source : NULL});
}

DtStatus
dt_layout_add(DtTrace *trace, DtDictVar *set, DtVar *item)
{
    if (set->layout == NULL) {
        return DT_OK;
    }
    return add_step(trace, set,
                    (DtSetStep){.previous = set->layout, .kind = STEP_ADD, .item = item});
}

/* Arguments as they are now: sets are copied with their entries, the rest does not change. */
static DtStatus
copy_args(DtTrace *trace, DtDictVar *receiver, DtVar *const *args, uint32_t nargs, DtSetStep *step)
{
    uint32_t first = receiver != NULL ? 1 : 0;
    step->nargs = nargs + first;
    step->args = DT_ARENA_ARRAY(&trace->arena, DtDictVar *, step->nargs + 1);
    if (step->args == NULL) {
        return dt_no_memory();
    }
    for (uint32_t i = 0; i < step->nargs; i++) {
        DtVar *arg = i < first ? &receiver->base : args[i - first];
        step->args[i] = (DtDictVar *)arg;
        if (arg->type->kind == DT_KIND_SET) {
            step->args[i] = DT_ARENA_NEW(&trace->arena, DtDictVar);
            if (step->args[i] == NULL) {
                return dt_no_memory();
            }
            *step->args[i] = *(DtDictVar *)arg;
        }
    }
    return DT_OK;
}

DtStatus
dt_layout_call(DtTrace *trace, DtDictVar *set, const char *method, DtVar *const *args,
               uint32_t nargs)
{
    if (set->layout == NULL) {
        return DT_OK;
    }
    DtSetStep step = {.previous = set->layout, .kind = STEP_CALL, .method = method};
    DT_TRY(copy_args(trace, NULL, args, nargs, &step));
    return add_step(trace, set, step);
}

DtStatus
dt_layout_result(DtTrace *trace, DtDictVar *made, DtDictVar *receiver, const char *method,
                 DtVar *const *args, uint32_t nargs)
{
    DtSetStep step = {.kind = STEP_RESULT, .method = method};
    DT_TRY(copy_args(trace, receiver, args, nargs, &step));
    return add_step(trace, made, step);
}

/* ---- Repeating ------------------------------------------------------------------------------- */

static DtStatus repeat(DtTrace *trace, DtSetStep *step, PyObject **out);

static DtStatus
repeat_args(DtTrace *trace, const DtSetStep *step, PyObject **out)
{
    *out = PyTuple_New(step->nargs);
    if (*out == NULL) {
        return DT_ERROR;
    }
    for (uint32_t i = 0; i < step->nargs; i++) {
        PyObject *value;
        DtStatus status = dt_fold_value(trace, &step->args[i]->base, &value);
        if (status != DT_OK || value == NULL) {
            Py_CLEAR(*out);
            return status;
        }
        PyTuple_SET_ITEM(*out, i, value);
    }
    return DT_OK;
}

/* A new reference to the method, or to the type itself if there is no name. */
static PyObject *
method_of(PyTypeObject *cls, const char *name)
{
    return name != NULL ? PyObject_GetAttrString((PyObject *)cls, name)
                        : Py_NewRef((PyObject *)cls);
}

/* The method of the type called on `set` and the arguments (RESULT: on the arguments alone). */
static DtStatus
repeat_method(DtTrace *trace, const DtSetStep *step, PyObject *set, PyObject **out)
{
    PyObject *args;
    *out = NULL;
    DT_TRY(repeat_args(trace, step, &args));
    if (args == NULL) {
        return DT_OK;
    }
    PyObject *all = args, *method = NULL;
    if (set != NULL) {
        PyObject *first = PyTuple_Pack(1, set);
        all = first != NULL ? PySequence_Concat(first, args) : NULL;
        Py_XDECREF(first);
        Py_DECREF(args);
    }
    PyObject *receiver = all != NULL ? PyTuple_GET_ITEM(all, 0) : NULL;
    if (receiver != NULL) {
        method = method_of(step->method != NULL ? Py_TYPE(receiver) : step->cls, step->method);
    }
    *out = method != NULL ? PyObject_Call(method, all, NULL) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(all);
    return *out != NULL ? DT_OK : DT_ERROR;
}

/* The set before a step, ready to be changed.  Not known: *out NULL. */
static DtStatus
take_previous(DtTrace *trace, const DtSetStep *step, PyObject **out)
{
    DtSetStep *previous = (DtSetStep *)step->previous;
    DT_TRY(repeat(trace, previous, out));
    if (previous->kind == STEP_REAL) {
        *out = dt_trace_keep_take(trace, dt_set_clone(*out, &PySet_Type));
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    previous->live = NULL;
    return DT_OK;
}

static DtStatus
repeat_add(DtTrace *trace, const DtSetStep *step, PyObject **out)
{
    PyObject *item;
    DT_TRY(dt_fold_value(trace, step->item, &item));
    if (item == NULL) {
        *out = NULL;
        return DT_OK;
    }
    DtStatus status = take_previous(trace, step, out);
    if (status == DT_OK && *out != NULL && PySet_Add(*out, item) < 0) {
        status = DT_ERROR;
    }
    Py_DECREF(item);
    return status;
}

static DtStatus
repeat_step(DtTrace *trace, const DtSetStep *step, PyObject **out)
{
    PyObject *made = NULL;
    switch ((StepKind)step->kind) {
    case STEP_EMPTY:
        made = step->cls == &PyFrozenSet_Type ? PyFrozenSet_New(NULL) : PySet_New(NULL);
        if (made == NULL) {
            return DT_ERROR;
        }
        break;
    case STEP_REAL:
        *out = step->real;
        return step->source != NULL ? dt_guard_set_layout(trace, step->source, step->real) : DT_OK;
    case STEP_ADD:
        return repeat_add(trace, step, out);
    case STEP_CALL: {
        PyObject *ignored;
        DT_TRY(take_previous(trace, step, out));
        if (*out == NULL) {
            return DT_OK;
        }
        DT_TRY(repeat_method(trace, step, *out, &ignored));
        *out = ignored != NULL ? *out : NULL;
        Py_XDECREF(ignored);
        return DT_OK;
    }
    case STEP_RESULT:
        DT_TRY(repeat_method(trace, step, NULL, &made));
        break;
    }
    *out = made != NULL ? dt_trace_keep_take(trace, made) : NULL;
    return made == NULL || *out != NULL ? DT_OK : DT_ERROR;
}

/* Steps are repeated from the newest one whose set is at hand, so that a long history needs no
 * deep recursion. */
static DtStatus
repeat(DtTrace *trace, DtSetStep *step, PyObject **out)
{
    DT_VEC(DtSetStep *) path = {0};
    *out = NULL;
    for (DtSetStep *at = step; at != NULL && at->live == NULL; at = (DtSetStep *)at->previous) {
        if (dt_vec_push(&trace->arena, &path, at) < 0) {
            return dt_no_memory();
        }
    }
    for (uint32_t i = path.count; i-- > 0;) {
        PyObject *made;
        DT_TRY(repeat_step(trace, path.items[i], &made));
        if (made == NULL) {
            return DT_OK;
        }
        path.items[i]->live = made;
    }
    *out = step->live;
    return DT_OK;
}

DtStatus
dt_layout_replay(DtTrace *trace, const DtDictVar *set, PyObject **out)
{
    *out = NULL;
    return set->layout != NULL ? repeat(trace, (DtSetStep *)set->layout, out) : DT_OK;
}

DtStatus
dt_layout_take(DtTrace *trace, const DtDictVar *set, PyObject **out)
{
    DT_TRY(dt_layout_replay(trace, set, out));
    if (*out == NULL) {
        return DT_OK;
    }
    if (set->layout->kind == STEP_REAL) {
        *out = dt_set_clone(*out, &PySet_Type);
        return *out != NULL ? DT_OK : DT_ERROR;
    }
    ((DtSetStep *)set->layout)->live = NULL;
    Py_INCREF(*out);
    return DT_OK;
}

DtStatus
dt_layout_give(DtTrace *trace, DtDictVar *set, PyObject *real)
{
    ((DtSetStep *)set->layout)->live = real;
    return dt_trace_keep_take(trace, real) != NULL ? DT_OK : DT_ERROR;
}

/* ---- Doing it to the set itself -------------------------------------------------------------- */

DtStatus
dt_layout_calls(DtTrace *trace, const DtDictVar *set, DtLayoutCall **out, uint32_t *count)
{
    uint32_t steps = 0;
    bool additions = true;
    const DtSetStep *step = set->layout;
    *count = 0;
    for (; step != NULL && step->kind != STEP_REAL; step = step->previous) {
        if (step->kind != STEP_ADD && (step->kind != STEP_CALL || step->method == NULL)) {
            return DT_OK;
        }
        additions = additions && step->kind == STEP_ADD;
        steps++;
    }
    if (step == NULL || additions) {
        return DT_OK;
    }
    DtLayoutCall *calls = DT_ARENA_ARRAY(&trace->arena, DtLayoutCall, steps);
    if (calls == NULL) {
        return dt_no_memory();
    }
    *count = steps;
    *out = calls;
    for (step = set->layout; steps > 0; step = step->previous) {
        DtLayoutCall *call = &calls[--steps];
        call->nargs = step->kind == STEP_ADD ? 1 : step->nargs;
        call->method = step->kind == STEP_ADD ? "add" : step->method;
        call->args = DT_ARENA_ARRAY(&trace->arena, DtVar *, call->nargs + 1);
        if (call->args == NULL) {
            return dt_no_memory();
        }
        for (uint32_t i = 0; i < call->nargs; i++) {
            call->args[i] = step->kind == STEP_ADD ? step->item : &step->args[i]->base;
        }
    }
    return DT_OK;
}

/* ---- Emitting -------------------------------------------------------------------------------- */

/* chain(object, method, *args): calls method(object, *args) and gives the object. */
static PyObject *
chain(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    (void)self;
    PyObject *items[8];
    if (nargs < 2 || nargs > 8) {
        PyErr_SetString(PyExc_SystemError, "a step of a set has too many arguments");
        return NULL;
    }
    items[0] = args[0];
    for (Py_ssize_t i = 2; i < nargs; i++) {
        items[i - 1] = args[i];
    }
    PyObject *ignored = PyObject_Vectorcall(args[1], items, (size_t)nargs - 1, NULL);
    if (ignored == NULL) {
        return NULL;
    }
    Py_DECREF(ignored);
    return Py_NewRef(args[0]);
}

static PyObject *
clone(PyObject *self, PyObject *set)
{
    (void)self;
    return dt_set_clone(set, &PySet_Type);
}

static PyMethodDef clone_def = {"clone", clone, METH_O, NULL};
static PyMethodDef chain_def = {"chain", (PyCFunction)(void (*)(void))chain, METH_FASTCALL, NULL};

static DtStatus
push_method(DtCodegen *codegen, PyTypeObject *cls, const char *name)
{
    PyObject *method = PyObject_GetAttrString((PyObject *)cls, name);
    method = dt_trace_keep_take(dt_codegen_trace(codegen), method);
    return method != NULL ? dt_codegen_const(codegen, method) : DT_ERROR;
}

static DtStatus
push_function(DtCodegen *codegen, PyMethodDef *def)
{
    PyObject *function = PyCFunction_New(def, NULL);
    function = dt_trace_keep_take(dt_codegen_trace(codegen), function);
    return function != NULL ? dt_codegen_push_callable(codegen, function) : DT_ERROR;
}

static DtStatus emit(DtCodegen *codegen, DtDictVar *set, const DtSetStep *step);

static DtStatus
emit_arg(DtCodegen *codegen, DtDictVar *arg)
{
    if (arg->base.type->kind != DT_KIND_SET) {
        return dt_codegen_var(codegen, &arg->base);
    }
    return emit(codegen, arg, arg->layout);
}

/* The set before a change: one that existed is cloned. */
static DtStatus
emit_begin(DtCodegen *codegen, DtDictVar *set, const DtSetStep *step)
{
    if (step->kind != STEP_REAL) {
        return emit(codegen, set, step);
    }
    DT_TRY(push_function(codegen, &clone_def));
    DT_TRY(emit(codegen, set, step));
    return dt_codegen_call(codegen, 1);
}

/* The elements that were added one after the other, from `first` on. */
static DtStatus
emit_items(DtCodegen *codegen, const DtSetStep *step, const DtSetStep *first, int op)
{
    DT_VEC(const DtSetStep *) added = {0};
    for (; step != first; step = step->previous) {
        if (dt_vec_push(&dt_codegen_trace(codegen)->arena, &added, step) < 0) {
            return dt_no_memory();
        }
    }
    for (uint32_t i = added.count; i-- > 0;) {
        DT_TRY(dt_codegen_var(codegen, added.items[i]->item));
    }
    return dt_codegen_op(codegen, op, (int32_t)added.count);
}

static DtStatus
emit_added(DtCodegen *codegen, DtDictVar *set, const DtSetStep *step)
{
    const DtSetStep *first = step;
    while (first->kind == STEP_ADD) {
        first = first->previous;
    }
    if (first->kind != STEP_EMPTY) {
        DT_TRY(push_function(codegen, &chain_def));
        DT_TRY(emit_begin(codegen, set, first));
        DT_TRY(push_method(codegen, first->cls, "update"));
        DT_TRY(emit_items(codegen, step, first, DT_OP_BUILD_TUPLE));
        return dt_codegen_call(codegen, 3);
    }
    if (step->cls == &PySet_Type) {
        return emit_items(codegen, step, first, DT_OP_BUILD_SET);
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)step->cls));
    DT_TRY(emit_items(codegen, step, first, DT_OP_BUILD_TUPLE));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
emit_call(DtCodegen *codegen, DtDictVar *set, const DtSetStep *step)
{
    DT_TRY(push_function(codegen, &chain_def));
    DT_TRY(emit_begin(codegen, set, step->previous));
    DT_TRY(push_method(codegen, step->cls, step->method));
    for (uint32_t i = 0; i < step->nargs; i++) {
        DT_TRY(emit_arg(codegen, step->args[i]));
    }
    return dt_codegen_call(codegen, step->nargs + 2);
}

static DtStatus
emit_result(DtCodegen *codegen, const DtSetStep *step)
{
    PyTypeObject *cls = step->method != NULL ? step->args[0]->cls : step->cls;
    PyObject *method = method_of(cls, step->method);
    method = dt_trace_keep_take(dt_codegen_trace(codegen), method);
    if (method == NULL) {
        return DT_ERROR;
    }
    DT_TRY(dt_codegen_push_callable(codegen, method));
    for (uint32_t i = 0; i < step->nargs; i++) {
        DT_TRY(emit_arg(codegen, step->args[i]));
    }
    return dt_codegen_call(codegen, step->nargs);
}

/* A display of the entries as they stand. */
static DtStatus
emit_entries(DtCodegen *codegen, DtDictVar *set)
{
    bool frozen = set->cls == &PyFrozenSet_Type;
    if (frozen) {
        DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)set->cls));
    }
    for (uint32_t i = 0; i < set->count; i++) {
        DT_TRY(dt_codegen_var(codegen, set->items[i].key_var));
    }
    DT_TRY(
        dt_codegen_op(codegen, frozen ? DT_OP_BUILD_TUPLE : DT_OP_BUILD_SET, (int32_t)set->count));
    return frozen ? dt_codegen_call(codegen, 1) : DT_OK;
}

static DtStatus
emit(DtCodegen *codegen, DtDictVar *set, const DtSetStep *step)
{
    if (step == NULL) {
        if (set->count > 1) {
            return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                            "a set whose order is not known");
        }
        return emit_entries(codegen, set);
    }
    switch ((StepKind)step->kind) {
    case STEP_EMPTY:
    case STEP_ADD:
        return emit_added(codegen, set, step);
    case STEP_REAL:
        return step->source != NULL ? dt_codegen_source(codegen, step->source)
                                    : dt_codegen_const(codegen, step->real);
    case STEP_CALL:
        return emit_call(codegen, set, step);
    case STEP_RESULT:
        return emit_result(codegen, step);
    }
    Py_UNREACHABLE();
}

/* Operations that are not additions to an empty set, up to the limit. */
static uint32_t
count_calls(const DtSetStep *step, uint32_t limit)
{
    uint32_t calls = 0;
    for (; step != NULL && calls < limit; step = step->previous) {
        calls += step->kind != STEP_ADD && step->kind != STEP_EMPTY;
    }
    return calls;
}

/* The same elements in the same order. */
static bool
is_in_order(PyObject *set, PyObject *other)
{
    PyObject *a, *b;
    Py_ssize_t i = 0, k = 0;
    bool more = true, same = true;
    while (more && same) {
        more = dt_set_next(set, &i, &a) != 0;
        same = more == (dt_set_next(other, &k, &b) != 0) && (!more || a == b);
    }
    return same;
}

/* Whether a display of the elements in the order of iteration gives the very table; puts the
 * entries in that order. */
static DtStatus
is_like_display(DtTrace *trace, DtDictVar *set, bool *alike)
{
    PyObject *real, *item;
    Py_ssize_t slot = 0;
    *alike = false;
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i].key == NULL || !dt_constant_is_safe(set->items[i].key)) {
            return DT_OK;
        }
    }
    DT_TRY(dt_layout_replay(trace, set, &real));
    DtDictEntry *sorted = DT_ARENA_ARRAY(&trace->arena, DtDictEntry, set->count + 1);
    PyObject *display = sorted != NULL && real != NULL ? PySet_New(NULL) : NULL;
    if (display == NULL) {
        return sorted == NULL ? dt_no_memory() : real == NULL ? DT_OK : DT_ERROR;
    }
    DtStatus status = DT_OK;
    for (uint32_t i = 0; status == DT_OK && dt_set_next(real, &slot, &item); i++) {
        DtDictEntry *found = NULL;
        for (uint32_t k = 0; k < set->count && found == NULL; k++) {
            found = set->items[k].key == item ? &set->items[k] : NULL;
        }
        if (found == NULL) {
            Py_DECREF(display);
            return DT_OK; /* an equal one came from elsewhere: its object is not at hand */
        }
        sorted[i] = *found;
        status = PySet_Add(display, item) < 0 ? DT_ERROR : DT_OK;
    }
    PyObject *slots = status == DT_OK ? dt_set_slots(real) : NULL;
    if (slots != NULL) {
        *alike = dt_set_has_slots(display, slots) && is_in_order(display, real);
    }
    Py_XDECREF(slots);
    Py_DECREF(display);
    if (*alike && set->count > 0) {
        memcpy(set->items, sorted, set->count * sizeof(DtDictEntry));
    }
    return slots != NULL ? DT_OK : DT_ERROR;
}

/* Each step that is emitted lies within the next one. */
#define MAX_NESTED 64

DtStatus
dt_layout_emit(DtCodegen *codegen, DtDictVar *set)
{
    uint32_t calls = count_calls(set->layout, MAX_NESTED + 1);
    bool alike = false;
    if (calls > 0 && set->layout->kind != STEP_REAL) {
        DT_TRY(is_like_display(dt_codegen_trace(codegen), set, &alike));
    }
    if (alike) {
        return emit_entries(codegen, set);
    }
    if (calls > MAX_NESTED) {
        return dt_break(dt_codegen_trace(codegen), DT_BREAK_RECONSTRUCT,
                        "a set with a long history of removals");
    }
    return emit(codegen, set, set->layout);
}
